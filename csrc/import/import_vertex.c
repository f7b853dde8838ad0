/* import_vertex.c: vertices of one part: smooth normals by position, and joining of equal ones. */
#include <math.h>
#include <string.h>

#include "import_internal.h"

#define EMPTY UINT32_MAX

/* ---- smooth normals ------------------------------------------------------------- */

/* Equal floats have equal bits here: -0 became 0 when the positions were copied. */
static size_t hash_position(const float *position) {
  uint64_t low, hash;
  uint32_t high;
  memcpy(&low, position, sizeof low);
  memcpy(&high, position + 2, sizeof high);
  hash = (low ^ (uint64_t)high << 20 ^ high) * 0xff51afd7ed558ccdu;
  return (size_t)(hash ^ hash >> 32);
}

/* The first vertex of the part that stands at the same place as vertex v. */
static uint32_t first_at(const float *positions, uint32_t v, uint32_t *table, size_t mask) {
  const float *position = positions + 3 * (size_t)v;
  size_t at;
  for (at = hash_position(position) & mask;; at = (at + 1) & mask) {
    if (table[at] == EMPTY) return table[at] = v;
    if (!memcmp(position, positions + 3 * (size_t)table[at], 12)) return table[at];
  }
}

/* Twice the triangle's area along its normal, so that large faces count more. */
static void add_face_normal(const float *positions, float *normals, const uint32_t corners[3]) {
  const float *p[3];
  double a[3], b[3], n[3];
  int i;
  for (i = 0; i < 3; i++) p[i] = positions + 3 * (size_t)corners[i];
  for (i = 0; i < 3; i++) a[i] = (double)p[1][i] - p[0][i], b[i] = (double)p[2][i] - p[0][i];
  for (i = 0; i < 3; i++) n[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
  for (i = 0; i < 9; i++) normals[3 * (size_t)corners[i / 3] + i % 3] += (float)n[i % 3];
}

/* A vertex without a face of any area looks along +Z: a zero normal is no direction. */
static void finish_normal(float *n) {
  double length = sqrt((double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2]);
  bool good = length > 1e-30 && length < 1e300;
  int i;
  for (i = 0; i < 3; i++) n[i] = good ? (float)(n[i] / length) : (float)(i == 2);
}

void import_smooth_normals(import_model *m, const import_part *part, const uint32_t *faces, uint32_t *table,
                           uint32_t *owner, size_t mask) {
  const float *positions = m->positions + 3 * (size_t)part->first_vertex;
  float *normals = m->normals + 3 * (size_t)part->first_vertex;
  uint32_t v, f;
  memset(table, 0xff, (mask + 1) * sizeof *table);
  memset(normals, 0, 3 * sizeof(float) * (size_t)part->vertex_count);
  for (v = 0; v < part->vertex_count; v++) owner[v] = first_at(positions, v, table, mask);
  for (f = 0; f < part->face_count; f++, faces += 3) {
    uint32_t corners[3];
    int i;
    for (i = 0; i < 3; i++) corners[i] = owner[faces[i] - part->first_vertex];
    add_face_normal(positions, normals, corners);
  }
  for (v = 0; v < part->vertex_count; v++)
    if (owner[v] == v) finish_normal(normals + 3 * (size_t)v);
  for (v = 0; v < part->vertex_count; v++)
    if (owner[v] != v) memcpy(normals + 3 * (size_t)v, normals + 3 * (size_t)owner[v], 3 * sizeof(float));
}

/* ---- joining ----------------------------------------------------------------------- */

#define MAX_WORDS 33 /* of a vertex: 3 + 3 + 2 + 4 + 4 + 1, and 8 slots and weights */
#define STREAMS 7

/* The vertex arrays as 16-bit and 32-bit words: one loop over words is quicker than many small memcpy. */
typedef struct stream {
  uint32_t *words;
  uint32_t count; /* of one vertex */
} stream;

typedef struct layout {
  stream streams[STREAMS];
  int count;
  uint16_t *slots;
  uint32_t influences;
} layout;

static layout layout_of(const import_model *m) {
  stream all[STREAMS] = {{(uint32_t *)(void *)m->positions, 3}, {(uint32_t *)(void *)m->normals, 3},
                   {(uint32_t *)(void *)m->uvs, 2},       {(uint32_t *)(void *)m->colors, 4},
                   {(uint32_t *)(void *)m->tangents, 4},
                   {(uint32_t *)(void *)m->weights, m->info.influences},
                   {m->shapes, 1}};
  layout l = {.slots = m->vertex_slots, .influences = m->info.influences};
  int i;
  for (i = 0; i < STREAMS; i++)
    if (all[i].words) l.streams[l.count++] = all[i];
  return l;
}

/* All of one vertex in a row; returns the number of words. */
static uint32_t gather(const layout *l, size_t vertex, uint32_t out[MAX_WORDS]) {
  uint32_t used = 0, k;
  int i;
  for (i = 0; i < l->count; i++)
    for (k = 0; k < l->streams[i].count; k++)
      out[used++] = l->streams[i].words[vertex * l->streams[i].count + k];
  for (k = 0; k < l->influences; k++) out[used++] = l->slots[vertex * l->influences + k];
  return used;
}

static void scatter(const layout *l, size_t vertex, const uint32_t *from) {
  uint32_t k;
  int i;
  for (i = 0; i < l->count; i++)
    for (k = 0; k < l->streams[i].count; k++) l->streams[i].words[vertex * l->streams[i].count + k] = *from++;
  for (k = 0; k < l->influences; k++) l->slots[vertex * l->influences + k] = (uint16_t)*from++;
}

static bool is_equal(const layout *l, size_t vertex, const uint32_t *other) {
  uint32_t k;
  int i;
  for (i = 0; i < l->count; i++)
    for (k = 0; k < l->streams[i].count; k++)
      if (l->streams[i].words[vertex * l->streams[i].count + k] != *other++) return false;
  for (k = 0; k < l->influences; k++)
    if (l->slots[vertex * l->influences + k] != *other++) return false;
  return true;
}

static void move_part(const layout *l, const import_part *part, uint32_t first, uint32_t *map) {
  size_t from = part->first_vertex, count = part->vertex_count, width;
  uint32_t v;
  int i;
  for (v = 0; v < part->vertex_count; v++) map[v] = v;
  for (i = 0; i < l->count && first != from; i++) {
    width = l->streams[i].count;
    memmove(l->streams[i].words + first * width, l->streams[i].words + from * width,
            count * width * sizeof(uint32_t));
  }
  width = l->influences;
  if (first != from)
    memmove(l->slots + first * width, l->slots + from * width, count * width * sizeof(uint16_t));
}

/* The joined vertices are written over the part itself: they are never more than were read. */
uint32_t import_join_part(import_model *m, const import_part *part, uint32_t first, bool join,
                          uint32_t *table, uint32_t *map, size_t mask) {
  layout l = layout_of(m);
  uint32_t v, kept = 0, vertex[MAX_WORDS];
  if (!join) {
    move_part(&l, part, first, map);
    return part->vertex_count;
  }
  memset(table, 0xff, (mask + 1) * sizeof *table);
  for (v = 0; v < part->vertex_count; v++) {
    uint32_t words = gather(&l, (size_t)part->first_vertex + v, vertex);
    size_t at = import_hash(vertex, words * sizeof *vertex) & mask;
    while (table[at] != EMPTY && !is_equal(&l, (size_t)first + table[at], vertex)) at = (at + 1) & mask;
    if (table[at] == EMPTY) {
      scatter(&l, (size_t)first + kept, vertex);
      table[at] = kept++;
    }
    map[v] = table[at];
  }
  return kept;
}
