/* import_vertex.c: vertices of one submesh: smooth normals by position, and joining of equal ones. */
#include <math.h>
#include <string.h>

#include "import_mesh.h"

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

/* The first vertex of the submesh at the position of vertex v. */
static uint32_t first_at(const float *positions, uint32_t v, uint32_t *table, size_t mask) {
  const float *position = positions + 3 * (size_t)v;
  size_t at;
  for (at = hash_position(position) & mask;; at = (at + 1) & mask) {
    if (table[at] == EMPTY) return table[at] = v;
    if (!memcmp(position, positions + 3 * (size_t)table[at], 12)) return table[at];
  }
}

typedef struct smoothing { /* one submesh, whose vertices count from 0 here */
  const float *positions;
  float *normals;
  float *areas;          /* the lengths of all face normals at a vertex, added up */
  const uint32_t *owner; /* of each vertex the first one at its position, which stands for all of them */
  const uint32_t *faces;
  uint32_t first, vertex_count, face_count;
} smoothing;

static void find_corners(const smoothing *s, uint32_t face, uint32_t corners[3]) {
  int i;
  for (i = 0; i < 3; i++) corners[i] = s->owner[s->faces[3 * (size_t)face + i] - s->first];
}

/* Twice the triangle's area along its normal, so that large faces count more. */
static void face_normal(const smoothing *s, const uint32_t corners[3], double n[3]) {
  const float *p[3];
  double a[3], b[3];
  int i;
  for (i = 0; i < 3; i++) p[i] = s->positions + 3 * (size_t)corners[i];
  for (i = 0; i < 3; i++) a[i] = (double)p[1][i] - p[0][i], b[i] = (double)p[2][i] - p[0][i];
  for (i = 0; i < 3; i++) n[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double length_of(const double n[3]) { return sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]); }

static void add_face_normals(const smoothing *s) {
  uint32_t f, corners[3];
  double n[3];
  int i;
  for (f = 0; f < s->face_count; f++) {
    float area;
    find_corners(s, f, corners);
    face_normal(s, corners, n);
    area = (float)length_of(n);
    for (i = 0; i < 9; i++) s->normals[3 * (size_t)corners[i / 3] + i % 3] += (float)n[i % 3];
    for (i = 0; i < 3; i++) s->areas[corners[i]] += area;
  }
}

/* False where there is no normal: no face has an area, or the faces of both sides of a card cancel each other. What
   float32 leaves of that is a few millionths. */
static bool finish_normal(float *normal, float area) {
  const double n[3] = {normal[0], normal[1], normal[2]}, length = length_of(n);
  bool good = length > 1e-30 && length < 1e300 && length > 1e-5 * (double)area;
  int i;
  for (i = 0; i < 3; i++) normal[i] = good ? (float)(n[i] / length) : (float)(i == 2);
  return good;
}

/* A vertex whose faces cancel each other gets the normal of the first one. A vertex without a face of any area keeps
   +Z, because a zero normal is not a direction. `areas` is negative at the vertices that wait. */
static void take_first_faces(const smoothing *s) {
  uint32_t f, corners[3];
  double n[3];
  int i, k;
  for (f = 0; f < s->face_count; f++) {
    find_corners(s, f, corners);
    for (i = 0; i < 3; i++) {
      double length;
      if (!(s->areas[corners[i]] < 0.0f)) continue;
      face_normal(s, corners, n);
      length = length_of(n);
      if (!(length > 1e-30 && length < 1e300)) continue;
      for (k = 0; k < 3; k++) s->normals[3 * (size_t)corners[i] + k] = (float)(n[k] / length);
      s->areas[corners[i]] = 0.0f;
    }
  }
}

static void finish_normals(const smoothing *s) {
  bool any = false;
  uint32_t v;
  for (v = 0; v < s->vertex_count; v++) {
    if (s->owner[v] != v || finish_normal(s->normals + 3 * (size_t)v, s->areas[v])) continue;
    s->areas[v] = -1.0f;
    any = true;
  }
  if (any) take_first_faces(s);
  for (v = 0; v < s->vertex_count; v++)
    if (s->owner[v] != v) memcpy(s->normals + 3 * (size_t)v, s->normals + 3 * (size_t)s->owner[v], 3 * sizeof(float));
}

void import_smooth_normals(import_model *m, const import_submesh *submesh, const uint32_t *faces, uint32_t *table,
                           uint32_t *owner, size_t mask) {
  smoothing s = {m->positions + 3 * (size_t)submesh->first_vertex,
                 m->normals + 3 * (size_t)submesh->first_vertex,
                 (float *)table,
                 owner,
                 faces,
                 submesh->first_vertex,
                 submesh->vertex_count,
                 submesh->face_count};
  uint32_t v;
  memset(table, 0xff, (mask + 1) * sizeof *table);
  for (v = 0; v < submesh->vertex_count; v++) owner[v] = first_at(s.positions, v, table, mask);
  memset(s.areas, 0, s.vertex_count * sizeof *s.areas); /* the table, which is longer, is not needed any more */
  memset(s.normals, 0, 3 * sizeof(float) * (size_t)s.vertex_count);
  add_face_normals(&s);
  finish_normals(&s);
}

/* ---- joining ----------------------------------------------------------------------- */

#define STREAMS 8
#define RUN     16 /* vertices whose hashes are computed together */

typedef struct stream { /* one of the vertex arrays */
  uint8_t *data;
  size_t bytes; /* of one vertex */
} stream;

typedef struct layout {
  stream streams[STREAMS];
  int count;
} layout;

/* The arrays that may differ within the submesh. The influences of a rigid one are all alike, and are made later. */
static layout layout_of(const import_model *m, const import_submesh *submesh) {
  size_t k = submesh->rigid ? 0 : m->info.influences;
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

typedef struct joining { /* the vertices kept so far, `kept` of them from `first` on, by their hashes in the table */
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

static void move_part(const layout *l, const import_submesh *submesh, uint32_t first, uint32_t *map) {
  uint32_t v;
  int i;
  for (v = 0; v < submesh->vertex_count; v++) map[v] = v;
  for (i = 0; i < l->count && first != submesh->first_vertex; i++) {
    const stream *s = &l->streams[i];
    memmove(s->data + first * s->bytes, s->data + submesh->first_vertex * s->bytes, submesh->vertex_count * s->bytes);
  }
}

/* The vertex of the table that equals `from`; where there is none, `from` is kept as the next one. */
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

/* Joins a few vertices in a row, and fetches what they will be compared with before it is needed. */
static void join_run(joining *j, const import_model *m, size_t from, uint32_t count, uint32_t *map) {
  size_t at[RUN];
  uint32_t i;
  for (i = 0; i < count; i++) {
    at[i] = hash_vertex(m, from + i) & j->mask;
    __builtin_prefetch(&j->table[at[i]]);
  }
  for (i = 0; i < count; i++)
    if (j->table[at[i]] != EMPTY) fetch_vertex(&j->layout, j->first + j->table[at[i]]);
  for (i = 0; i < count; i++) map[i] = find_or_keep(j, at[i], from + i);
}

/* Whether vertices at one position are equal: their normals were made by position, and they have nothing else. */
static bool is_told_by_position(const layout *l, const import_submesh *submesh) {
  return submesh->bad_normals == submesh->vertex_count && l->count == 2;
}

/* `map` has the first vertex at each vertex's position, which is the vertex itself or an earlier one. */
static void join_by_position(joining *j, const import_submesh *submesh, uint32_t *map) {
  uint32_t v;
  for (v = 0; v < submesh->vertex_count; v++) {
    bool is_first = map[v] == v;
    if (is_first) copy_vertex(&j->layout, j->first + j->kept, (size_t)submesh->first_vertex + v);
    map[v] = is_first ? j->kept++ : map[map[v]];
  }
}

/* The joined vertices are written over the submesh itself: there are never more than were read. */
uint32_t import_join_vertices(import_model *m, const import_submesh *submesh, uint32_t first, bool join,
                              uint32_t *table, uint32_t *map, size_t mask) {
  joining j = {layout_of(m, submesh), table, mask, first, 0};
  uint32_t v, left;
  if (!join) {
    move_part(&j.layout, submesh, first, map);
    return submesh->vertex_count;
  }
  if (is_told_by_position(&j.layout, submesh)) {
    join_by_position(&j, submesh, map);
    return j.kept;
  }
  memset(table, 0xff, (mask + 1) * sizeof *table);
  for (v = 0; v < submesh->vertex_count; v += RUN) {
    left = submesh->vertex_count - v;
    join_run(&j, m, (size_t)submesh->first_vertex + v, left < RUN ? left : RUN, map + v);
  }
  return j.kept;
}
