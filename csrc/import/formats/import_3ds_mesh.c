/* import_3ds_mesh.c: meshes of .3ds.

   Vertices are in the space of the scene. If a node has the mesh, they are brought to the node's space: by the inverse of
   the mesh's matrix, mirrored if that mirrors, and moved to the pivot. Normals follow from smoothing groups: where two
   faces share a position and a group, their normals are joined. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_bytes.h"
#include "../import_limit.h"
#include "import_3ds_file.h"

#define MAX_GROUPS 64 /* different sets of smoothing groups at one place; further ones are joined */

enum {
  POINTS = 0x4110,
  FACES = 0x4120,
  FACE_MATERIAL = 0x4130,
  COORDINATES = 0x4140,
  SMOOTHING = 0x4150,
  MATRIX = 0x4160
};

typedef struct tds_face {
  uint32_t points[3], smoothing, material; /* a material + 1; 0: none */
  bool usable;
} tds_face;

typedef struct tds_mesh {
  tds *file;
  const tds_object *object;
  float *points;             /* in the node's space */
  uint32_t point_count, face_count;
  tds_face *faces;
  const uint8_t *coordinates; /* two numbers of each point; NULL: none */
  uint32_t *places;           /* points at one place have one number, which is that of a point */
  float *normals;             /* of each corner */
} tds_mesh;

/* ---- points ------------------------------------------------------------------------------------- */

/* The inverse of the mesh's matrix, with the mirror where it needs one. */
static void find_inverse(const tds_chunk *mesh, double out[12]) {
  double m[12], determinant;
  tds_chunk chunk;
  int row, column, i;
  memcpy(out, sk_affine_identity, sizeof sk_affine_identity);
  if (!tds_find(mesh->at, mesh->end, MATRIX, &chunk) || chunk.end - chunk.at < 48) return;
  for (row = 0; row < 3; row++)
    for (column = 0; column < 4; column++) m[4 * row + column] = import_float(chunk.at + 4 * (3 * column + row));
  determinant = sk_affine_determinant(m);
  if (!isfinite(determinant) || !sk_affine_inverse(m, out)) memcpy(out, sk_affine_identity, sizeof sk_affine_identity);
  for (i = 0; i < 4 && determinant < 0.0; i++) out[i] = -out[i];
}

static sk_status read_points(tds_mesh *m, const tds_node *placed) {
  const tds_chunk *mesh = &m->object->mesh;
  double inverse[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  tds_chunk chunk;
  uint32_t v;
  int row;
  if (placed) find_inverse(mesh, inverse);
  if (!tds_find(mesh->at, mesh->end, POINTS, &chunk) || chunk.end - chunk.at < 2) return SK_OK;
  m->point_count = tds_u16(chunk.at);
  if (m->point_count > (size_t)(chunk.end - chunk.at - 2) / 12)
    m->point_count = (uint32_t)(chunk.end - chunk.at - 2) / 12;
  m->points = sk_alloc((m->point_count + 1) * 3 * sizeof *m->points);
  if (!m->points) return import_no_memory(m->file->job, m->point_count * 12);
  for (v = 0; v < m->point_count; v++) {
    const uint8_t *at = chunk.at + 2 + 12 * (size_t)v;
    double x = import_float(at), y = import_float(at + 4), z = import_float(at + 8);
    for (row = 0; row < 3; row++) {
      const double *r = inverse + 4 * row;
      m->points[3 * v + row] = (float)(r[0] * x + r[1] * y + r[2] * z + r[3] - (placed ? placed->pivot[row] : 0.0f));
    }
  }
  return SK_OK;
}

static void find_coordinates(tds_mesh *m) {
  tds_chunk chunk;
  if (!tds_find(m->object->mesh.at, m->object->mesh.end, COORDINATES, &chunk) || chunk.end - chunk.at < 2) return;
  if (tds_u16(chunk.at) >= m->point_count && (size_t)(chunk.end - chunk.at - 2) / 8 >= m->point_count)
    m->coordinates = chunk.at + 2;
  else
    import_note_add(m->file->job, NOTE_attributes_dropped, 1, "texture coordinates of mesh '%.*s'",
                    IMPORT_SHORT(m->object->name));
}

/* ---- faces ----------------------------------------------------------------------------------------- */

static void read_face_materials(tds_mesh *m, tds_chunk chunk) {
  int32_t material = tds_material_of(m->file, tds_text(&chunk));
  uint32_t count = chunk.end - chunk.at >= 2 ? tds_u16(chunk.at) : 0, i;
  for (i = 0; i < count && chunk.end - chunk.at >= 4 + 2 * (ptrdiff_t)i; i++) {
    uint32_t face = tds_u16(chunk.at + 2 + 2 * (size_t)i);
    if (face < m->face_count) m->faces[face].material = (uint32_t)(material + 1);
  }
}

static sk_status read_faces(tds_mesh *m) {
  tds_chunk chunk, below;
  const uint8_t *at;
  uint32_t f, i;
  if (!tds_find(m->object->mesh.at, m->object->mesh.end, FACES, &chunk) || chunk.end - chunk.at < 2) return SK_OK;
  m->face_count = tds_u16(chunk.at);
  if (m->face_count > (size_t)(chunk.end - chunk.at - 2) / 8) m->face_count = (uint32_t)(chunk.end - chunk.at - 2) / 8;
  m->faces = sk_alloc_zero((m->face_count + 1) * sizeof *m->faces);
  if (!m->faces) return import_no_memory(m->file->job, m->face_count * sizeof *m->faces);
  for (f = 0; f < m->face_count; f++) {
    m->faces[f].usable = true;
    for (i = 0; i < 3; i++) {
      m->faces[f].points[i] = tds_u16(chunk.at + 2 + 8 * (size_t)f + 2 * i);
      m->faces[f].usable &= m->faces[f].points[i] < m->point_count;
    }
    if (!m->faces[f].usable)
      import_note_add(m->file->job, NOTE_faces_dropped, 1, "mesh '%.*s'", IMPORT_SHORT(m->object->name));
  }
  for (at = chunk.at + 2 + 8 * (size_t)m->face_count; tds_next(&at, chunk.end, &below);) {
    if (below.id == FACE_MATERIAL) read_face_materials(m, below);
    for (f = 0; below.id == SMOOTHING && f < m->face_count && below.end - below.at >= 4 * ((ptrdiff_t)f + 1); f++)
      m->faces[f].smoothing = import_u32(below.at + 4 * (size_t)f);
  }
  return SK_OK;
}

/* ---- normals --------------------------------------------------------------------------------------------- */

typedef struct tds_place {
  float at[3];
  uint32_t point;
} tds_place;

/* Any order will do in which equal positions are equal. */
static int compare_places(const void *a, const void *b) {
  return memcmp(((const tds_place *)a)->at, ((const tds_place *)b)->at, sizeof((const tds_place *)a)->at);
}

static sk_status find_places(tds_mesh *m) {
  tds_place *sorted = sk_alloc((m->point_count + 1) * sizeof *sorted);
  uint32_t v, i;
  m->places = sk_alloc((m->point_count + 1) * sizeof *m->places);
  if (!sorted || !m->places) {
    sk_free(sorted);
    return import_no_memory(m->file->job, m->point_count * sizeof *sorted);
  }
  for (v = 0; v < m->point_count; v++) {
    for (i = 0; i < 3; i++) sorted[v].at[i] = m->points[3 * v + i] + 0.0f; /* -0 and 0 are one place */
    sorted[v].point = v;
  }
  if (m->point_count) qsort(sorted, m->point_count, sizeof *sorted, compare_places);
  for (v = 0; v < m->point_count; v++) {
    bool same = v && !compare_places(&sorted[v], &sorted[v - 1]);
    m->places[sorted[v].point] = same ? m->places[sorted[v - 1].point] : sorted[v].point;
  }
  sk_free(sorted);
  return SK_OK;
}

static void face_normal(const tds_mesh *m, const tds_face *face, double out[3]) {
  const float *a = m->points + 3 * face->points[0], *b = m->points + 3 * face->points[1],
              *c = m->points + 3 * face->points[2];
  double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
  out[0] = u[1] * v[2] - u[2] * v[1];
  out[1] = u[2] * v[0] - u[0] * v[2];
  out[2] = u[0] * v[1] - u[1] * v[0];
}

typedef struct tds_sum { /* of the normals of faces that have one set of smoothing groups */
  uint32_t groups;
  double normal[3];
} tds_sum;

/* Gives the corners at one position their normals; `corners` are indices of corners. */
static void join_normals(tds_mesh *m, const uint32_t *corners, uint32_t count) {
  tds_sum sums[MAX_GROUPS];
  uint32_t used = 0, i, k, axis;
  for (i = 0; i < count; i++) {
    const tds_face *face = &m->faces[corners[i] / 3];
    double normal[3];
    face_normal(m, face, normal);
    for (k = 0; k < used && sums[k].groups != face->smoothing; k++) continue;
    if (k == MAX_GROUPS) k--;
    if (k == used) sums[used++] = (tds_sum){.groups = face->smoothing};
    sums[k].groups |= face->smoothing;
    for (axis = 0; axis < 3; axis++) sums[k].normal[axis] += normal[axis];
  }
  for (i = 0; i < count; i++) {
    const tds_face *face = &m->faces[corners[i] / 3];
    double normal[3], length;
    face_normal(m, face, normal);
    if (face->smoothing) normal[0] = normal[1] = normal[2] = 0.0;
    for (k = 0; k < used && face->smoothing; k++)
      for (axis = 0; axis < 3 && (sums[k].groups & face->smoothing); axis++) normal[axis] += sums[k].normal[axis];
    length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (axis = 0; axis < 3; axis++)
      m->normals[3 * (size_t)corners[i] + axis] = (float)(length > 0.0 ? normal[axis] / length : 0.0);
  }
}

/* Lists the corners at each position, and joins their normals. */
static sk_status make_normals(tds_mesh *m) {
  size_t corners = 3 * (size_t)m->face_count, i;
  uint32_t *starts = sk_alloc_zero(((size_t)m->point_count + 3) * sizeof *starts), *list = sk_alloc(corners * 4 + 4), v;
  m->normals = sk_alloc_zero((corners + 1) * 3 * sizeof *m->normals);
  if (!starts || !list || !m->normals) {
    sk_free(starts);
    sk_free(list);
    return import_no_memory(m->file->job, corners * 12);
  }
  for (i = 0; i < corners; i++)
    if (m->faces[i / 3].usable) starts[m->places[m->faces[i / 3].points[i % 3]] + 2]++;
  for (v = 2; v < m->point_count + 2; v++) starts[v] += starts[v - 1];
  for (i = 0; i < corners; i++)
    if (m->faces[i / 3].usable) list[starts[m->places[m->faces[i / 3].points[i % 3]] + 1]++] = (uint32_t)i;
  for (v = 0; v < m->point_count; v++)
    if (starts[v + 1] > starts[v]) join_normals(m, list + starts[v], starts[v + 1] - starts[v]);
  sk_free(starts);
  sk_free(list);
  return SK_OK;
}

/* ---- parts: the faces of one material ------------------------------------------------------------------------ */

static sk_status add_part(tds_mesh *m, const uint32_t *faces, uint32_t count, int32_t node) {
  import_job *job = m->file->job;
  import_contents_mesh *part = import_contents_add_mesh(job);
  import_contents_instance *instance;
  size_t corners = 3 * (size_t)count, i, k;
  float *positions = import_contents_take(job, corners, 12), *normals = import_contents_take(job, corners, 12);
  float *uvs = m->coordinates ? import_contents_take(job, corners, 8) : NULL;
  uint32_t *out = import_contents_take(job, corners, sizeof *out);
  if (!part || !positions || !normals || !out || (m->coordinates && !uvs)) return SK_ERROR_MEMORY;
  for (i = 0; i < corners; i++) {
    uint32_t point = m->faces[faces[i / 3]].points[i % 3];
    for (k = 0; k < 3; k++) positions[3 * i + k] = m->points[3 * (size_t)point + k];
    for (k = 0; k < 3; k++) normals[3 * i + k] = m->normals[3 * (3 * (size_t)faces[i / 3] + i % 3) + k];
    if (uvs) uvs[2 * i] = import_float(m->coordinates + 8 * (size_t)point);
    if (uvs) uvs[2 * i + 1] = 1.0f - import_float(m->coordinates + 8 * (size_t)point + 4);
    out[i] = (uint32_t)i;
  }
  *part = (import_contents_mesh){.name = m->object->text,
                                 .vertex_count = (uint32_t)corners,
                                 .face_count = count,
                                 .positions = positions,
                                 .normals = normals,
                                 .uvs = uvs,
                                 .faces = out};
  instance = import_contents_add_instance(job, node, (int32_t)job->contents->meshes.count - 1);
  if (!instance) return SK_ERROR_MEMORY;
  instance->material = (int32_t)m->faces[faces[0]].material - 1;
  instance->hidden = m->object->hidden;
  return SK_OK;
}

static int compare_keys(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* Those without a material come first. A key has a material and, in its lower half, a face. */
static sk_status add_parts(tds_mesh *m, int32_t node) {
  uint64_t *keys = sk_alloc((m->face_count + 1) * sizeof *keys);
  uint32_t *faces = sk_alloc((m->face_count + 1) * sizeof *faces), count = 0, f, first = 0;
  import_counts counts = {.vertices = m->file->vertices += 3 * (uint64_t)m->face_count};
  sk_status status = import_check_counts(m->file->job, &counts);
  if (!keys || !faces) status = import_no_memory(m->file->job, m->face_count * sizeof *keys);
  for (f = 0; f < m->face_count && !status; f++)
    if (m->faces[f].usable) keys[count++] = (uint64_t)m->faces[f].material << 32 | f;
  if (count && !status) qsort(keys, count, sizeof *keys, compare_keys);
  for (f = 0; f < count && !status; f++) faces[f] = (uint32_t)keys[f];
  for (f = 1; f <= count && !status; f++)
    if (f == count || keys[f] >> 32 != keys[first] >> 32) {
      status = add_part(m, faces + first, f - first, node);
      first = f;
    }
  sk_free(keys);
  sk_free(faces);
  return status;
}

sk_status tds_add_mesh(tds *file, tds_object *object, int32_t node, const tds_node *placed) {
  tds_mesh m = {.file = file, .object = object};
  sk_status status;
  if (!object->mesh.id) return SK_OK;
  status = read_points(&m, placed);
  if (!status) status = read_faces(&m);
  if (!status) find_coordinates(&m);
  if (!status && !m.face_count)
    import_note_add(file->job, NOTE_meshes_dropped, 1, "mesh '%.*s'", IMPORT_SHORT(object->name));
  if (!status && m.face_count) status = find_places(&m);
  if (!status && m.face_count) status = make_normals(&m);
  if (!status && m.face_count) status = add_parts(&m, node);
  sk_free(m.points);
  sk_free(m.faces);
  sk_free(m.places);
  sk_free(m.normals);
  return status;
}
