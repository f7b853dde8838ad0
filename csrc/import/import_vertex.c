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

#define STREAMS 8
#define SOME 16 /* vertices whose hashes are computed at one go */

typedef struct stream { /* one of the vertex arrays */
  uint8_t *data;
  size_t bytes; /* of one vertex */
} stream;

typedef struct layout {
  stream streams[STREAMS];
  int count;
} layout;

/* Those that differ within the part: a rigid one's influences, all alike, come later. */
static layout layout_of(const import_model *m, const import_part *part) {
  size_t k = import_is_rigid(part) ? 0 : m->info.influences;
  stream all[STREAMS] = {{(uint8_t *)m->positions, 12}, {(uint8_t *)m->normals, 12},
                         {(uint8_t *)m->uvs, 8},        {(uint8_t *)m->colors, 16},
                         {(uint8_t *)m->tangents, 16},  {k ? (uint8_t *)m->weights : NULL, 4 * k},
                         {(uint8_t *)m->shapes, 4},     {k ? (uint8_t *)m->vertex_slots : NULL, 2 * k}};
  layout l = {.count = 0};
  int i;
  for (i = 0; i < STREAMS; i++)
    if (all[i].data) l.streams[l.count++] = all[i];
  return l;
}

typedef struct joining { /* the vertices kept so far: `kept` from `first` on, by their hashes in the table */
  layout layout;
  uint32_t *table;
  size_t mask, first;
  uint32_t kept;
} joining;

static inline uint64_t word_at(const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

/* Eight bytes at a time; the last eight may begin within those before them. */
static inline bool same_bytes(const uint8_t *a, const uint8_t *b, size_t size) {
  size_t i;
  if (size < 8) return !memcmp(a, b, size);
  for (i = 0; i + 8 < size; i += 8)
    if (word_at(a + i) != word_at(b + i)) return false;
  return word_at(a + size - 8) == word_at(b + size - 8);
}

static inline uint64_t mix(uint64_t hash, const float *pair) {
  uint64_t word;
  memcpy(&word, pair, sizeof word);
  hash = (hash ^ word) * 0xff51afd7ed558ccdu;
  return hash ^ hash >> 32;
}

/* Position, normal and texture coordinates tell nearly all vertices apart. */
static uint64_t hash_vertex(const import_model *m, size_t vertex) {
  const float *position = m->positions + 3 * vertex, *normal = m->normals + 3 * vertex;
  float last[2] = {position[2], normal[2]};
  uint64_t hash = mix(mix(mix(0, position), normal), last);
  return m->uvs ? mix(hash, m->uvs + 2 * vertex) : hash;
}

static bool is_equal(const layout *l, size_t a, size_t b) {
  int i;
  for (i = 0; i < l->count; i++) {
    const stream *s = &l->streams[i];
    if (!same_bytes(s->data + a * s->bytes, s->data + b * s->bytes, s->bytes)) return false;
  }
  return true;
}

static void copy_vertex(const layout *l, size_t to, size_t from) {
  int i;
  for (i = 0; i < l->count && to != from; i++) {
    const stream *s = &l->streams[i];
    memcpy(s->data + to * s->bytes, s->data + from * s->bytes, s->bytes);
  }
}

static void move_part(const layout *l, const import_part *part, uint32_t first, uint32_t *map) {
  uint32_t v;
  int i;
  for (v = 0; v < part->vertex_count; v++) map[v] = v;
  for (i = 0; i < l->count && first != part->first_vertex; i++) {
    const stream *s = &l->streams[i];
    memmove(s->data + first * s->bytes, s->data + part->first_vertex * s->bytes,
            part->vertex_count * s->bytes);
  }
}

/* Where the table has no vertex that equals `from`, it is kept as the next one. */
static uint32_t find_or_keep(joining *j, size_t at, size_t from) {
  uint32_t found;
  for (;; at = (at + 1) & j->mask) {
    found = j->table[at];
    if (found == EMPTY) break;
    if (is_equal(&j->layout, j->first + found, from)) return found;
  }
  copy_vertex(&j->layout, j->first + j->kept, from);
  return j->table[at] = j->kept++;
}

static void fetch_vertex(const layout *l, size_t vertex) {
  int i;
  for (i = 0; i < l->count; i++) __builtin_prefetch(l->streams[i].data + vertex * l->streams[i].bytes);
}

/* Some vertices that follow each other: what they are compared with is on its way before it is needed. */
static void join_some(joining *j, const import_model *m, size_t from, uint32_t count, uint32_t *map) {
  size_t at[SOME];
  uint32_t i;
  for (i = 0; i < count; i++) {
    at[i] = hash_vertex(m, from + i) & j->mask;
    __builtin_prefetch(&j->table[at[i]]);
  }
  for (i = 0; i < count; i++)
    if (j->table[at[i]] != EMPTY) fetch_vertex(&j->layout, j->first + j->table[at[i]]);
  for (i = 0; i < count; i++) map[i] = find_or_keep(j, at[i], from + i);
}

/* Whether vertices are equal where they stand at the same place: their normals were made by place, and there is
   nothing else. */
static bool is_told_by_place(const layout *l, const import_part *part) {
  return part->bad_normals == part->vertex_count && l->count == 2;
}

/* `map` has the first vertex at the same place, which is no later one. */
static void join_by_place(joining *j, const import_part *part, uint32_t *map) {
  uint32_t v;
  for (v = 0; v < part->vertex_count; v++) {
    bool is_first = map[v] == v;
    if (is_first) copy_vertex(&j->layout, j->first + j->kept, (size_t)part->first_vertex + v);
    map[v] = is_first ? j->kept++ : map[map[v]];
  }
}

/* The joined vertices are written over the part itself: they are never more than were read. */
uint32_t import_join_part(import_model *m, const import_part *part, uint32_t first, bool join,
                          uint32_t *table, uint32_t *map, size_t mask) {
  joining j = {layout_of(m, part), table, mask, first, 0};
  uint32_t v, left;
  if (!join) {
    move_part(&j.layout, part, first, map);
    return part->vertex_count;
  }
  if (is_told_by_place(&j.layout, part)) {
    join_by_place(&j, part, map);
    return j.kept;
  }
  memset(table, 0xff, (mask + 1) * sizeof *table);
  for (v = 0; v < part->vertex_count; v += SOME) {
    left = part->vertex_count - v;
    join_some(&j, m, (size_t)part->first_vertex + v, left < SOME ? left : SOME, map + v);
  }
  return j.kept;
}
