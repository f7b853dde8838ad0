/* import_vertex.c: vertices of one part: smooth normals by position, and joining of equal ones. */
#include <math.h>
#include <string.h>

#include "import_internal.h"

#define EMPTY UINT32_MAX

/* ---- smooth normals ------------------------------------------------------------- */

/* -0 and 0 are one place. */
static void position_key(const float *position, float key[3]) {
  int i;
  for (i = 0; i < 3; i++) key[i] = position[i] + 0.0f;
}

/* The first vertex of the part that stands at the same place as vertex v. */
static uint32_t first_at(const float *positions, uint32_t v, uint32_t *table, size_t mask) {
  float key[3], other[3];
  size_t at;
  position_key(positions + 3 * (size_t)v, key);
  for (at = import_hash(key, sizeof key) & mask;; at = (at + 1) & mask) {
    if (table[at] == EMPTY) return table[at] = v;
    position_key(positions + 3 * (size_t)table[at], other);
    if (!memcmp(key, other, sizeof key)) return table[at];
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

typedef struct stream { /* one vertex array: where it starts and how wide it is */
  char *data;
  size_t bytes;
} stream;

static int list_streams(const import_model *m, stream out[7]) {
  size_t k = m->info.influences;
  stream all[7] = {{(char *)m->positions, 12},      {(char *)m->normals, 12}, {(char *)m->uvs, 8},
                   {(char *)m->colors, 16},         {(char *)m->tangents, 16},
                   {(char *)m->vertex_slots, 2 * k}, {(char *)m->weights, 4 * k}};
  int i, count = 0;
  for (i = 0; i < 7; i++)
    if (all[i].data) out[count++] = all[i];
  return count;
}

/* All bytes of one vertex, one stream after another: at most 12+12+8+16+16 + 6*8. */
static size_t gather(const stream *streams, int count, size_t vertex, char *out) {
  char *at = out;
  int i;
  for (i = 0; i < count; at += streams[i].bytes, i++)
    memcpy(at, streams[i].data + vertex * streams[i].bytes, streams[i].bytes);
  return (size_t)(at - out);
}

static void scatter(const stream *streams, int count, size_t vertex, const char *from) {
  int i;
  for (i = 0; i < count; from += streams[i].bytes, i++)
    memcpy(streams[i].data + vertex * streams[i].bytes, from, streams[i].bytes);
}

static void move_part(const stream *streams, int count, const import_part *part, uint32_t first, uint32_t *map) {
  uint32_t v;
  int i;
  for (v = 0; v < part->vertex_count; v++) map[v] = v;
  for (i = 0; i < count && first != part->first_vertex; i++)
    memmove(streams[i].data + first * streams[i].bytes, streams[i].data + part->first_vertex * streams[i].bytes,
            part->vertex_count * streams[i].bytes);
}

/* The joined vertices are written over the part itself: they are never more than were read. */
uint32_t import_join_part(import_model *m, const import_part *part, uint32_t first, bool join, uint32_t *table,
                          uint32_t *map, size_t mask) {
  stream streams[7];
  int count = list_streams(m, streams);
  uint32_t v, kept = 0;
  char vertex[128], other[128];
  if (!join) {
    move_part(streams, count, part, first, map);
    return part->vertex_count;
  }
  memset(table, 0xff, (mask + 1) * sizeof *table);
  for (v = 0; v < part->vertex_count; v++) {
    size_t bytes = gather(streams, count, (size_t)part->first_vertex + v, vertex);
    size_t at = import_hash(vertex, bytes) & mask;
    for (; table[at] != EMPTY; at = (at + 1) & mask) {
      gather(streams, count, (size_t)first + table[at], other);
      if (!memcmp(vertex, other, bytes)) break;
    }
    if (table[at] == EMPTY) {
      scatter(streams, count, (size_t)first + kept, vertex);
      table[at] = kept++;
    }
    map[v] = table[at];
  }
  return kept;
}
