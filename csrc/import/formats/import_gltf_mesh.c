/* import_gltf_mesh.c: the primitives of a glTF as submeshes: vertices and faces. */
#include <stdio.h>
#include <string.h>

#include "../import_mesh.h"
#include "import_gltf.h"

/* ---- which there are ------------------------------------------------------------------------ */

/* How many faces the primitive should have. */
static size_t face_count(const gltf_primitive *p) {
  return p->mode == GLTF_TRIANGLES ? p->corners / 3 : p->corners < 3 ? 0 : p->corners - 2;
}

static sk_status add_primitive(import_job *job, sk_array *submeshes, int32_t joint, const gltf_node *node,
                               const gltf_primitive *p) {
  import_submesh submesh = {.joint = joint,
                            .primitive = p,
                            .gltf_node = node,
                            .vertex_count = p->vertices,
                            .faces_wanted = face_count(p),
                            .material = p->material,
                            .rigid = node->skin < 0,
                            .hidden = node->hidden};
  int32_t *shown = sk_array_extend(&job->gltf->shown, 1);
  if (!shown) return import_no_memory(job, sizeof *shown);
  *shown = (int32_t)(p - (const gltf_primitive *)job->gltf->primitives.data);
  return import_add_submesh(job, submeshes, &submesh);
}

/* The primitives of the node's mesh, at the node or at each of its instances. */
static sk_status add_mesh(import_job *job, sk_array *submeshes, const gltf_node *node) {
  const gltf *g = job->gltf;
  const gltf_mesh *mesh = &g->meshes[node->mesh];
  int32_t joint = gltf_joint_of_mesh(node), end = joint + (node->instance_count ? node->instance_count : 1), k;
  sk_status status = SK_OK;
  for (; joint < end && !status; joint++)
    for (k = mesh->first_primitive; k < mesh->first_primitive + mesh->primitive_count && !status; k++)
      status = add_primitive(job, submeshes, joint, node, (const gltf_primitive *)g->primitives.data + k);
  return status;
}

sk_status gltf_list_submeshes(import_job *job, sk_array *submeshes) {
  const gltf *g = job->gltf;
  sk_status status = SK_OK;
  int32_t i;
  for (i = 0; i < g->order_count && !status; i++) {
    const gltf_node *node = &g->nodes[g->order[i]];
    if (node->mesh >= 0) status = add_mesh(job, submeshes, node);
  }
  return status;
}

/* The mesh's name or meshes[i], with the number of the primitive behind it where there are several. */
bool gltf_name_submesh(import_job *job, import_submesh *submesh) {
  sk_array *pool = &job->model.text;
  const gltf_primitive *p = submesh->primitive;
  const json *j = &job->gltf->json;
  int32_t token = gltf_item(job->gltf, GLTF_MESHES, p->mesh);
  char words[48] = "", *added;
  size_t more = 0;
  if (!json_text(j, json_member(j, token, "name"), pool, &submesh->name)) return false;
  if (!submesh->name.length) more = (size_t)snprintf(words, sizeof words, "meshes[%d]", p->mesh);
  if (json_length(j, json_member(j, token, "primitives")) > 1)
    more += (size_t)snprintf(words + more, sizeof words - more, "-%d", p->number);
  added = sk_array_extend(pool, more);
  if (!added) return false;
  memcpy(added, words, more);
  if (!submesh->name.length) submesh->name.offset = (uint32_t)(pool->count - more);
  submesh->name.length += (uint32_t)more;
  return true;
}

/* ---- vertices -------------------------------------------------------------------------------- */

static int32_t accessor_of(const gltf_primitive *p, import_attribute attribute) {
  switch (attribute) {
  case IMPORT_POSITIONS: return p->positions;
  case IMPORT_NORMALS: return p->normals;
  case IMPORT_UVS: return p->uvs;
  case IMPORT_COLORS: return p->colors;
  default: return p->normals >= 0 ? p->tangents : -1; /* tangents say nothing without normals */
  }
}

bool gltf_has(const import_submesh *submesh, import_attribute attribute) {
  return attribute == IMPORT_POSITIONS || accessor_of(submesh->primitive, attribute) >= 0;
}

/* Reads a whole accessor as floats into a stream of `width` numbers a vertex. */
static sk_status read_numbers(import_job *job, int32_t index, uint32_t width, size_t count, float *out) {
  gltf_accessor a;
  sk_status status = gltf_open_numbers(job, index, &a);
  float *wide;
  size_t i;
  if (status) return status;
  if (a.width == width) return gltf_accessor_floats(job, index, &a, out);
  wide = sk_alloc(count * a.width * sizeof *wide); /* RGB becomes RGBA with alpha 1 */
  if (!wide) return import_no_memory(job, count * a.width * sizeof *wide);
  status = gltf_accessor_floats(job, index, &a, wide);
  for (i = 0; i < count; i++) {
    memcpy(out + i * width, wide + i * a.width, a.width * sizeof *wide);
    out[i * width + width - 1] = 1.0f;
  }
  sk_free(wide);
  return status;
}

sk_status gltf_read(import_job *job, const import_submesh *submesh, import_attribute attribute, float *out) {
  static const uint32_t widths[] = {3, 3, 2, 4, 4};
  int32_t index = accessor_of(submesh->primitive, attribute);
  gltf_accessor a;
  sk_status status = read_numbers(job, index, widths[attribute], submesh->vertex_count, out);
  if (status || attribute != IMPORT_NORMALS) return status;
  status = gltf_open_numbers(job, index, &a);
  if (!status) gltf_restore_lengths(&a, out);
  return status;
}

/* ---- faces -------------------------------------------------------------------------------------- */

/* Writes the faces of a list of triangles, a strip (in which every second face is reversed) or a fan. `at` has the
   indices; NULL: 0, 1, 2, ... Faces may be written over their own indices and those before them. */
static uint32_t *put_faces(uint32_t *out, const import_submesh *submesh, const uint32_t *at, size_t faces) {
  size_t i;
  for (i = 0; i < faces; i++) {
    size_t k[3] = {i, i + 1, i + 2};
    if (submesh->primitive->mode == GLTF_TRIANGLES) k[0] = 3 * i, k[1] = 3 * i + 1, k[2] = 3 * i + 2;
    else if (submesh->primitive->mode == GLTF_FAN) k[0] = 0;
    else if (i % 2) k[0] = i + 1, k[1] = i;
    out = import_put_face(out, submesh, at ? at[k[0]] : (uint32_t)k[0], at ? at[k[1]] : (uint32_t)k[1],
                          at ? at[k[2]] : (uint32_t)k[2]);
  }
  return out;
}

/* Reads the indices of a primitive. Those of a list of triangles are read to `faces`, where the faces will be written.
   Otherwise the caller frees the indices with sk_free. */
static sk_status read_indices(import_job *job, const gltf_primitive *p, const gltf_accessor *a, uint32_t *faces,
                              uint32_t **indices) {
  *indices = p->mode == GLTF_TRIANGLES ? faces : sk_alloc(a->count * sizeof **indices);
  return *indices ? gltf_accessor_integers(job, p->indices, a, *indices)
                  : import_no_memory(job, a->count * sizeof **indices);
}

sk_status gltf_copy_faces(import_job *job, import_submesh *submesh, sk_array *faces) {
  const gltf_primitive *p = submesh->primitive;
  gltf_accessor a;
  uint32_t *indices = NULL, *out = import_face_room(job, faces, submesh->faces_wanted + 1);
  sk_status status = out ? SK_OK : SK_ERROR_MEMORY;
  if (!status && p->indices >= 0) status = gltf_open_numbers(job, p->indices, &a);
  if (!status && p->indices >= 0) status = read_indices(job, p, &a, out, &indices);
  if (!status) {
    faces->count -= submesh->faces_wanted + 1;
    faces->count += (size_t)(put_faces(out, submesh, indices, submesh->faces_wanted) - out) / 3;
  }
  if (indices != out) sk_free(indices);
  return status;
}
