/* import_md5_mesh.c: a mesh of a .md5mesh.

     mesh { shader "name" numverts n vert i ( u v ) first count ... numtris n tri i a b c ...
            numweights n weight i joint weight ( position ) ... }

   A vertex has no position. Each of its weights has a position relative to the weight's joint, and the vertex is their
   weighted sum. In a sound file all weights of a vertex have the same position at rest, which becomes the vertex's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_contents.h"
#include "import_md5.h"

#define SAME_POINT 2e-3 /* of the numbers that place a weight: files have six digits or more */
#define SHARED     16   /* times a weight may count, on average */

typedef struct md5_vertex {
  float uv[2];
  uint32_t first, count; /* of its weights */
} md5_vertex;

typedef struct md5_weight {
  uint32_t joint;
  double weight, position[3];
} md5_weight;

typedef struct md5_mesh {
  md5 *m;
  import_span shader;
  double stated[3]; /* numbers of vertices, triangles and weights; NaN: the file does not say it */
  sk_array lists[3]; /* md5_vertex, uint32_t[3], md5_weight */
  sk_array used;    /* uint32_t: joints of its skin, in their order */
} md5_mesh;

enum { VERTICES, TRIANGLES, WEIGHTS, LISTS };

static const char *const counts[LISTS] = {"numverts", "numtris", "numweights"};

static md5_vertex *vertex_at(const md5_mesh *mesh, size_t v) { return (md5_vertex *)mesh->lists[VERTICES].data + v; }
static md5_weight *weight_at(const md5_mesh *mesh, size_t w) { return (md5_weight *)mesh->lists[WEIGHTS].data + w; }

/* ---- reading ---------------------------------------------------------------------------- */

/* Takes the number of an entry and makes room for it; NULL: it fails. What the number skips is 0; the bytes of a file
   justify so many entries alone. */
static void *take_entry(md5_mesh *mesh, int list) {
  md5 *m = mesh->m;
  sk_array *array = &mesh->lists[list];
  int64_t index;
  size_t missing;
  void *added;
  if (!import_take_integer(&m->words, 0, UINT32_MAX - 1, &index)) {
    import_words_fail(&m->words, "the number of a vertex, triangle or weight");
    return NULL;
  }
  missing = (size_t)index < array->count ? 0 : (size_t)index + 1 - array->count;
  if (missing > m->budget) {
    sk_fail(m->job->error, SK_ERROR_IMPORT,
            "line %zu: a vertex, triangle or weight has the number %lld in a short file", import_line_number(&m->words),
            (long long)index);
    return NULL;
  }
  m->budget -= missing;
  added = missing ? sk_array_extend(array, missing) : NULL;
  if (missing && !added) {
    import_no_memory(m->job, missing * array->stride);
    return NULL;
  }
  return (char *)array->data + (size_t)index * array->stride;
}

/* vert i ( u v ) first count */
static sk_status read_vertex(md5_mesh *mesh) {
  import_words *w = &mesh->m->words;
  md5_vertex *vertex = take_entry(mesh, VERTICES);
  double uv[2];
  int64_t first, count;
  if (!vertex) return mesh->m->job->error->status;
  if (!import_take_word(w, "(") || !import_take_number(w, &uv[0]) || !import_take_number(w, &uv[1]) ||
      !import_take_word(w, ")"))
    return import_words_fail(w, "( u v )");
  if (!import_take_integer(w, 0, UINT32_MAX, &first) || !import_take_integer(w, 0, UINT32_MAX, &count))
    return import_words_fail(w, "a number of weights");
  *vertex = (md5_vertex){{(float)uv[0], (float)uv[1]}, (uint32_t)first, (uint32_t)count};
  return SK_OK;
}

/* tri i a b c, clockwise; here counterclockwise. */
static sk_status read_triangle(md5_mesh *mesh) {
  uint32_t *corners = take_entry(mesh, TRIANGLES);
  int64_t vertex;
  int i;
  if (!corners) return mesh->m->job->error->status;
  for (i = 2; i >= 0; i--) {
    if (!import_take_integer(&mesh->m->words, 0, UINT32_MAX, &vertex))
      return import_words_fail(&mesh->m->words, "a vertex of a triangle");
    corners[i] = (uint32_t)vertex;
  }
  return SK_OK;
}

/* weight i joint weight ( x y z ) */
static sk_status read_weight(md5_mesh *mesh) {
  import_words *w = &mesh->m->words;
  md5_weight *weight = take_entry(mesh, WEIGHTS);
  int64_t joint;
  if (!weight) return mesh->m->job->error->status;
  if (!import_take_integer(w, 0, UINT32_MAX, &joint)) return import_words_fail(w, "the joint of a weight");
  if (!import_take_number(w, &weight->weight)) return import_words_fail(w, "a weight");
  weight->joint = (uint32_t)joint;
  return md5_read_triple(mesh->m, weight->position);
}

static sk_status read_entries(md5_mesh *mesh) {
  import_words *w = &mesh->m->words;
  sk_status status = SK_OK;
  while (!status && md5_goes_on(mesh->m)) {
    import_span word = import_next_word(w);
    int list = 0;
    while (list < LISTS && !import_is_word(word, counts[list])) list++;
    if (list < LISTS) import_take_number(w, &mesh->stated[list]);
    else if (import_is_word(word, "shader")) mesh->shader = import_next_word(w);
    else if (import_is_word(word, "vert")) status = read_vertex(mesh);
    else if (import_is_word(word, "tri")) status = read_triangle(mesh);
    else if (import_is_word(word, "weight")) status = read_weight(mesh);
    else if (!word.length) return import_words_fail(w, "'}'");
  }
  if (mesh->shader.length && *mesh->shader.at == '"') {
    mesh->shader.at++, mesh->shader.length--;
    mesh->shader.length -= mesh->shader.length && mesh->shader.at[mesh->shader.length - 1] == '"';
  }
  return status;
}

/* ---- weights ------------------------------------------------------------------------------- */

/* Reports lists that are shorter than the file states, and counts the weights of all vertices. */
static sk_status check_lists(md5_mesh *mesh, size_t *influences) {
  import_job *job = mesh->m->job;
  size_t weights = mesh->lists[WEIGHTS].count, v;
  int i;
  for (i = 0; i < LISTS; i++)
    if (isfinite(mesh->stated[i]) && mesh->stated[i] != (double)mesh->lists[i].count)
      import_note_add(job, NOTE_numbers_repaired, 1, "mesh %u: %s is %g, but there are %zu", mesh->m->meshes, counts[i],
                      mesh->stated[i], mesh->lists[i].count);
  for (v = 0, *influences = 0; v < mesh->lists[VERTICES].count; v++) {
    md5_vertex *vertex = vertex_at(mesh, v);
    size_t left = vertex->first < weights ? weights - vertex->first : 0;
    if (vertex->count > left) {
      import_note_add(job, NOTE_weights_dropped, vertex->count - left, "vertex %zu of mesh %u: weight %zu of %zu", v,
                      mesh->m->meshes, vertex->first + left, weights);
      vertex->count = (uint32_t)left;
    }
    *influences += vertex->count;
  }
  if (*influences <= SHARED * (weights + v) && *influences < UINT32_MAX) return SK_OK;
  return sk_fail(job->error, SK_ERROR_IMPORT, "the vertices of mesh %u have %zu weights, of which %zu are listed",
                 mesh->m->meshes, *influences, weights);
}

static int compare_joints(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Makes the skin, of the joints to which weights refer. */
static sk_status find_joints(md5_mesh *mesh) {
  size_t joints = mesh->m->joints.count, i;
  uint32_t *used;
  for (i = 0; i < mesh->lists[WEIGHTS].count; i++) {
    uint32_t j = weight_at(mesh, i)->joint, *added;
    if (j >= joints || md5_joint_at(mesh->m, j)->mesh == mesh->m->meshes) continue;
    md5_joint_at(mesh->m, j)->mesh = mesh->m->meshes;
    added = sk_array_extend(&mesh->used, 1);
    if (!added) return import_no_memory(mesh->m->job, sizeof *added);
    *added = j;
  }
  used = mesh->used.data;
  if (mesh->used.count) qsort(used, mesh->used.count, sizeof *used, compare_joints);
  for (i = 0; i < mesh->used.count; i++) md5_joint_at(mesh->m, used[i])->slot = (uint32_t)i;
  return SK_OK;
}

/* The inverse of a joint's transform, relative to the skeleton. */
static void invert(const md5_joint *joint, float out[16]) {
  static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const double *q = joint->rotation, inverse[4] = {-q[0], -q[1], -q[2], q[3]};
  double affine[12], column[3];
  int i, k;
  for (i = 0; i < 4; i++) {
    md5_rotate(inverse, i < 3 ? axes[i] : joint->translation, column);
    for (k = 0; k < 3; k++) affine[4 * k + i] = i < 3 ? column[k] : -column[k];
  }
  sk_affine_to_mat4(affine, out);
}

static sk_status add_skin(md5_mesh *mesh, import_contents_instance *instance) {
  import_job *job = mesh->m->job;
  size_t count = mesh->used.count, i;
  const uint32_t *used = mesh->used.data;
  int32_t *nodes = import_contents_take(job, count, sizeof *nodes);
  float *offsets = nodes ? import_contents_take(job, 16 * count, sizeof *offsets) : NULL;
  import_contents_skin *skin = offsets ? import_contents_add_skin(job) : NULL;
  if (!skin) return SK_ERROR_MEMORY;
  for (i = 0; i < count; i++) {
    nodes[i] = md5_joint_at(mesh->m, used[i])->node;
    invert(md5_joint_at(mesh->m, used[i]), offsets + 16 * i);
  }
  *skin = (import_contents_skin){.nodes = nodes, .offsets = offsets, .count = (uint32_t)count};
  instance->skin = (int32_t)job->contents->skins.count - 1;
  return SK_OK;
}

/* ---- vertices --------------------------------------------------------------------------------- */

static int compare_influences(const void *a, const void *b) {
  const import_influence *x = a, *y = b;
  return (x->slot > y->slot) - (x->slot < y->slot);
}

/* The position of a weight, relative to the skeleton, and how inexact it may be. */
static double place(const md5_joint *joint, const md5_weight *weight, double out[3]) {
  double reach = 0.0;
  int i;
  md5_rotate(joint->rotation, weight->position, out);
  for (i = 0; i < 3; i++) {
    out[i] += joint->translation[i];
    reach += fabs(weight->position[i]) + fabs(joint->translation[i]);
  }
  return SAME_POINT * reach;
}

/* If the weights of a vertex have different positions, one position cannot show how the vertex moves. */
static void note_points(const md5_mesh *mesh, size_t v, const double mean[3]) {
  const md5_vertex *vertex = vertex_at(mesh, v);
  size_t joints = mesh->m->joints.count;
  double point[3], tolerance, distance;
  uint32_t i;
  for (i = 0; i < vertex->count; i++) {
    const md5_weight *weight = weight_at(mesh, vertex->first + i);
    if (weight->joint >= joints || !(weight->weight > 0.0)) continue;
    tolerance = place(md5_joint_at(mesh->m, weight->joint), weight, point);
    distance = sqrt((point[0] - mean[0]) * (point[0] - mean[0]) + (point[1] - mean[1]) * (point[1] - mean[1]) +
                    (point[2] - mean[2]) * (point[2] - mean[2]));
    if (!(weight->weight * distance > tolerance)) continue;
    import_note_add(mesh->m->job, NOTE_weight_positions_lost, 1, "vertex %zu of mesh %u: a weight is %g off", v,
                    mesh->m->meshes, distance);
    return;
  }
}

/* Sets the position to the weighted sum of the weights' positions, as the game does even if the weights do not sum to 1.
   Returns the number of influences, in the order of the skin's joints. */
static uint32_t read_influences(const md5_mesh *mesh, size_t v, float position[3], import_influence *out) {
  const md5_vertex *vertex = vertex_at(mesh, v);
  size_t joints = mesh->m->joints.count;
  double sum = 0.0, lost = 0.0, total[3] = {0, 0, 0}, point[3];
  uint32_t count = 0, i;
  int k;
  for (i = 0; i < vertex->count; i++) {
    const md5_weight *weight = weight_at(mesh, vertex->first + i);
    if (weight->joint >= joints) {
      import_note_add(mesh->m->job, NOTE_joint_index_out_of_range, 1, "vertex %zu of mesh %u follows joint %u of %zu",
                      v, mesh->m->meshes, weight->joint, joints);
      lost += weight->weight;
      continue;
    }
    place(md5_joint_at(mesh->m, weight->joint), weight, point);
    for (k = 0; k < 3; k++) total[k] += weight->weight * point[k];
    sum += weight->weight;
    out[count++] = (import_influence){md5_joint_at(mesh->m, weight->joint)->slot, (float)weight->weight};
  }
  for (k = 0; k < 3; k++) position[k] = (float)(lost != 0.0 && sum != 0.0 ? total[k] / sum : total[k]);
  for (k = 0; k < 3 && sum != 0.0; k++) total[k] /= sum;
  if (sum != 0.0) note_points(mesh, v, total);
  if (count > 1) qsort(out, count, sizeof *out, compare_influences);
  return count;
}

static sk_status add_vertices(md5_mesh *mesh, import_contents_mesh *to, size_t influences) {
  import_job *job = mesh->m->job;
  size_t count = mesh->lists[VERTICES].count, faces = mesh->lists[TRIANGLES].count, v;
  float *positions = import_contents_take(job, 3 * count, sizeof *positions);
  float *uvs = positions ? import_contents_take(job, 2 * count, sizeof *uvs) : NULL;
  uint32_t *starts = uvs ? import_contents_take(job, count + 1, sizeof *starts) : NULL;
  import_influence *list = starts ? import_contents_take(job, influences, sizeof *list) : NULL;
  uint32_t *corners = list ? import_contents_take(job, 3 * faces, sizeof *corners) : NULL;
  if (!corners) return SK_ERROR_MEMORY;
  for (v = 0; v < count; v++) {
    memcpy(uvs + 2 * v, vertex_at(mesh, v)->uv, 2 * sizeof *uvs);
    starts[v + 1] = starts[v] + read_influences(mesh, v, positions + 3 * v, list + starts[v]);
  }
  if (faces) memcpy(corners, mesh->lists[TRIANGLES].data, 3 * faces * sizeof *corners);
  to->vertex_count = (uint32_t)count;
  to->face_count = (uint32_t)faces;
  to->positions = positions;
  to->uvs = uvs;
  to->faces = corners;
  to->starts = starts;
  to->influences = list;
  return SK_OK;
}

/* ---- the look ------------------------------------------------------------------------------------ */

/* A shader is the name of an image, or of a material of the game, whose color is usually in NAME_d.tga. */
static sk_status add_material(md5_mesh *mesh, int32_t *index) {
  import_job *job = mesh->m->job;
  import_span shader = mesh->shader;
  bool is_image = shader.length && memchr(shader.at, '.', shader.length);
  import_contents_material *material = import_contents_add_material(job);
  char *image = material ? import_contents_take(job, shader.length + sizeof "_d.tga", 1) : NULL;
  if (!image) return SK_ERROR_MEMORY;
  if (shader.length) memcpy(image, shader.at, shader.length);
  if (!is_image) memcpy(image + shader.length, "_d.tga", sizeof "_d.tga");
  if (shader.length) material->image = image;
  *index = (int32_t)job->contents->materials.count - 1;
  return is_image ? SK_OK : import_add_text(job, shader, &material->material.name);
}

static sk_status name_mesh(md5_mesh *mesh, sk_text *name) {
  sk_array *pool = &mesh->m->job->model.text;
  sk_text end;
  if (!sk_text_append(pool, mesh->shader.at, mesh->shader.length, name) || !sk_text_append(pool, ".msh", 4, &end))
    return import_no_memory(mesh->m->job, mesh->shader.length);
  name->offset = end.offset - name->length;
  name->length += end.length;
  return SK_OK;
}

/* ---- the mesh --------------------------------------------------------------------------------------- */

static sk_status add_mesh(md5_mesh *mesh) {
  import_job *job = mesh->m->job;
  import_contents_mesh to = {.vertex_count = 0}, *added;
  import_contents_instance *instance;
  int32_t material = SK_NONE;
  size_t influences;
  sk_status status = check_lists(mesh, &influences);
  if (!status) status = name_mesh(mesh, &to.name);
  if (!status) status = find_joints(mesh);
  if (!status) status = add_vertices(mesh, &to, influences);
  if (!status && to.vertex_count && to.face_count) status = add_material(mesh, &material);
  if (status) return status;
  added = import_contents_add_mesh(job);
  instance = added ? import_contents_add_instance(job, 1, (int32_t)job->contents->meshes.count - 1) : NULL;
  if (!instance) return SK_ERROR_MEMORY;
  *added = to;
  instance->material = material;
  return mesh->used.count ? add_skin(mesh, instance) : SK_OK;
}

sk_status md5_read_mesh(md5 *m) {
  md5_mesh mesh = {.m = m,
                   .stated = {NAN, NAN, NAN},
                   .lists = {SK_ARRAY(md5_vertex), SK_ARRAY(uint32_t[3]), SK_ARRAY(md5_weight)},
                   .used = SK_ARRAY(uint32_t)};
  sk_status status;
  int i;
  if (!m->has_model) return import_words_fail(&m->words, "a list of joints in front of the meshes");
  if (!import_take_word(&m->words, "{")) return import_words_fail(&m->words, "'{'");
  m->meshes++;
  status = read_entries(&mesh);
  if (!status && (mesh.lists[VERTICES].count || mesh.lists[TRIANGLES].count)) status = add_mesh(&mesh);
  for (i = 0; i < LISTS; i++) sk_array_free(&mesh.lists[i]);
  sk_array_free(&mesh.used);
  return status;
}
