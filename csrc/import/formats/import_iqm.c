/* import_iqm.c: the joints, meshes and materials of .iqm.

   Z is up and front faces are clockwise. A root above all joints rotates Z to Y, and triangles are reversed. */
#include "import_iqm.h"

#include <math.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_limit.h"
#include "import_iqm_file.h"

#define MAX_SHARED ((uint64_t)1 << 28) /* joints of all meshes: every mesh follows all joints */

/* ---- joints ----------------------------------------------------------------------------------- */

static const uint8_t *joint_at(const iqm *file, uint32_t j) { return file->joints.data + IQM_JOINT * (size_t)j; }

static sk_status add_joint(const iqm *file, uint32_t j, int32_t parent) {
  const uint8_t *row = joint_at(file, j);
  import_contents_node *node = import_contents_add_node(file->job, parent);
  int i;
  if (!node) return SK_ERROR_MEMORY;
  node->has_trs = true;
  for (i = 0; i < 3; i++) node->translation[i] = import_float(row + 8 + 4 * i);
  for (i = 0; i < 4; i++) node->rotation[i] = import_float(row + 20 + 4 * i);
  for (i = 0; i < 3; i++) node->scale[i] = import_float(row + 36 + 4 * i);
  return iqm_name(file, import_u32(row), &node->name);
}

/* Lists for each joint, and for the root in front of them, the first child and the next sibling. */
static sk_status link_joints(const iqm *file, uint32_t *first, uint32_t *next) {
  uint32_t j;
  for (j = file->joints.count; j-- > 0;) {
    uint32_t parent = import_u32(joint_at(file, j) + 4) + 1; /* -1: the root */
    if (parent > j)
      return sk_fail(file->job->error, SK_ERROR_IMPORT, "joint %u has a parent that does not stand before it", j);
    next[j + 1] = first[parent];
    first[parent] = j + 1;
  }
  return SK_OK;
}

/* Depth first: a joint, its first child, and so on; then up to the nearest one that has a sibling. */
static sk_status add_joints(iqm *file) {
  size_t count = (size_t)file->joints.count + 1;
  uint32_t *links = sk_alloc_zero(3 * count * sizeof *links), *first = links, *next = links + count,
           *above = links + 2 * count, j = 0;
  sk_status status = links ? link_joints(file, first, next) : import_no_memory(file->job, count * sizeof *links);
  file->nodes = import_contents_take(file->job, count, sizeof *file->nodes);
  if (!file->nodes && !status) status = SK_ERROR_MEMORY;
  if (!status) status = import_contents_add_turned_root(file->job, "<IQMRoot>");
  while (!status) {
    if (first[j]) above[first[j]] = j, j = first[j];
    else {
      while (j && !next[j]) j = above[j];
      if (!j) break;
      above[next[j]] = above[j], j = next[j];
    }
    file->nodes[j] = (int32_t)file->job->contents->nodes.count;
    status = add_joint(file, j - 1, file->nodes[above[j]]);
  }
  sk_free(links);
  return status;
}

/* The joints as the file has them are the pose to which its vertices are bound. */
static sk_status add_skin(iqm *file) {
  size_t count = file->joints.count, j;
  import_contents_skin *skin = import_contents_add_skin(file->job);
  float *offsets = import_contents_take(file->job, count, 16 * sizeof *offsets);
  double *globals = sk_alloc((count + 1) * 12 * sizeof *globals), local[12], inverse[12];
  sk_status status = skin && offsets ? SK_OK : SK_ERROR_MEMORY;
  if (!globals) status = import_no_memory(file->job, count * 12 * sizeof *globals);
  for (j = 0; j < count && !status; j++) {
    import_contents_node *node = (import_contents_node *)file->job->contents->nodes.data + file->nodes[j + 1];
    int32_t parent = (int32_t)import_u32(joint_at(file, (uint32_t)j) + 4);
    float unit[4];
    const double q[4] = {node->rotation[0], node->rotation[1], node->rotation[2], node->rotation[3]};
    sk_quat_normalize(q, unit);
    sk_affine_from_trs(node->translation, unit, node->scale, local);
    if (parent < 0) memcpy(globals + 12 * j, local, sizeof local);
    else sk_affine_multiply(globals + 12 * (size_t)parent, local, globals + 12 * j);
    sk_affine_inverse(globals + 12 * j, inverse);
    sk_affine_to_mat4(inverse, offsets + 16 * j);
  }
  sk_free(globals);
  if (!status) *skin = (import_contents_skin){.nodes = file->nodes + 1, .offsets = offsets, .count = (uint32_t)count};
  return status;
}

/* ---- vertices: all meshes share their arrays ------------------------------------------------------ */

/* Missing numbers of a vertex are 1: the alpha of a color, the sign of a tangent. */
static sk_status copy_array(const iqm *file, iqm_attribute attribute, uint32_t width, const float **out) {
  const iqm_array *array = &file->arrays[attribute];
  float *to = array->size ? import_contents_take(file->job, file->vertex_count, width * sizeof *to) : NULL;
  bool parts = attribute != IQM_POSITION && attribute != IQM_TEXCOORD;
  uint32_t v, i;
  *out = to;
  if (!array->size) return SK_OK;
  for (v = 0; to && v < file->vertex_count; v++)
    for (i = 0; i < width; i++) *to++ = i < array->size ? iqm_value(array, v, i, parts) : 1.0f;
  return to ? SK_OK : SK_ERROR_MEMORY;
}

/* Without weights a vertex follows its first joint. */
static sk_status copy_influences(const iqm *file, import_contents_mesh *all) {
  const iqm_array *joints = &file->arrays[IQM_BLEND_INDEX], *weights = &file->arrays[IQM_BLEND_WEIGHT];
  uint32_t each = !weights->size ? 1 : joints->size < weights->size ? joints->size : weights->size, v, i;
  uint32_t *starts;
  import_influence *out;
  if (!joints->size || !file->joints.count) return SK_OK;
  if ((uint64_t)each * file->vertex_count > UINT32_MAX)
    return sk_fail(file->job->error, SK_ERROR_IMPORT, "its vertices have more than 2^32 influences");
  starts = import_contents_take(file->job, (size_t)file->vertex_count + 1, sizeof *starts);
  out = import_contents_take(file->job, (size_t)each * file->vertex_count, sizeof *out);
  if (!starts || !out) return SK_ERROR_MEMORY;
  all->starts = starts;
  all->influences = out;
  for (v = 0; v < file->vertex_count; v++) {
    starts[v + 1] = starts[v] + each;
    for (i = 0; i < each; i++) {
      float joint = iqm_value(joints, v, i, false);
      out->slot = joint >= 0.0f && joint < 4294967040.0f ? (uint32_t)joint : UINT32_MAX;
      (out++)->weight = weights->size ? iqm_value(weights, v, i, true) : 1.0f;
    }
  }
  return SK_OK;
}

static sk_status copy_vertices(const iqm *file, import_contents_mesh *all) {
  sk_status status = copy_array(file, IQM_POSITION, 3, &all->positions);
  if (!status) status = copy_array(file, IQM_TEXCOORD, 2, &all->uvs);
  if (!status) status = copy_array(file, IQM_NORMAL, 3, &all->normals);
  if (!status) status = copy_array(file, IQM_TANGENT, 4, &all->tangents);
  if (!status) status = copy_array(file, IQM_COLOR, 4, &all->colors);
  return status ? status : copy_influences(file, all);
}

/* ---- meshes -------------------------------------------------------------------------------------------- */

static const float *rows_from(const float *rows, uint32_t first, size_t width) {
  return rows ? rows + width * first : NULL;
}

/* Faces whose vertices are not those of the mesh are reported where they are copied. */
static sk_status copy_faces(const iqm *file, uint32_t first, uint32_t first_vertex, import_contents_mesh *mesh) {
  uint32_t *out = import_contents_take(file->job, mesh->face_count, 3 * sizeof *out), f;
  const uint8_t *row = file->triangles.data + IQM_TRIANGLE * (size_t)first;
  mesh->faces = out;
  if (!out) return SK_ERROR_MEMORY;
  for (f = 0; f < mesh->face_count; f++, row += IQM_TRIANGLE) {
    *out++ = import_u32(row) - first_vertex;
    *out++ = import_u32(row + 8) - first_vertex;
    *out++ = import_u32(row + 4) - first_vertex;
  }
  return SK_OK;
}

/* The material's name is that of its image. */
static sk_status add_material(const iqm *file, uint32_t offset) {
  import_contents_material *material = import_contents_add_material(file->job);
  import_span text = iqm_text(file, offset);
  if (!material) return SK_ERROR_MEMORY;
  if (text.length) {
    material->image = import_contents_copy(file->job, text);
    if (!material->image) return SK_ERROR_MEMORY;
  }
  return iqm_name(file, offset, &material->material.name);
}

static sk_status set_mesh(const iqm *file, const uint8_t *row, const import_contents_mesh *all,
                          import_contents_mesh *mesh) {
  uint32_t first = import_u32(row + 8), first_face = import_u32(row + 16);
  *mesh = (import_contents_mesh){.vertex_count = import_u32(row + 12), .face_count = import_u32(row + 20)};
  if (first > file->vertex_count || mesh->vertex_count > file->vertex_count - first ||
      first_face > file->triangles.count || mesh->face_count > file->triangles.count - first_face)
    return sk_fail(file->job->error, SK_ERROR_IMPORT, "a mesh has vertices or triangles that the file does not have");
  mesh->positions = rows_from(all->positions, first, 3);
  mesh->uvs = rows_from(all->uvs, first, 2);
  mesh->normals = rows_from(all->normals, first, 3);
  mesh->tangents = rows_from(all->tangents, first, 4);
  mesh->colors = rows_from(all->colors, first, 4);
  if (all->starts) mesh->starts = all->starts + first, mesh->influences = all->influences;
  return copy_faces(file, first_face, first, mesh);
}

/* Meshes may share vertices and triangles, so that they are counted here. */
static sk_status add_mesh(const iqm *file, const uint8_t *row, const import_contents_mesh *all, import_counts *counts) {
  import_contents_mesh *mesh;
  import_contents_instance *instance;
  int32_t number = (int32_t)file->job->contents->meshes.count;
  sk_status status;
  counts->vertices += import_u32(row + 12);
  counts->rows += 3 * (uint64_t)import_u32(row + 20);
  status = import_check_counts(file->job, counts);
  if (status) return status;
  mesh = import_contents_add_mesh(file->job);
  status = mesh ? set_mesh(file, row, all, mesh) : SK_ERROR_MEMORY;
  if (!status) status = iqm_name(file, import_u32(row), &mesh->name);
  if (!status) status = add_material(file, import_u32(row + 4));
  if (status) return status;
  instance = import_contents_add_instance(file->job, 0, number);
  if (!instance) return SK_ERROR_MEMORY;
  instance->material = number;
  if (mesh->starts) instance->skin = 0;
  return SK_OK;
}

static sk_status add_meshes(iqm *file) {
  import_contents_mesh all = {0};
  import_counts counts = {0};
  uint32_t i;
  sk_status status;
  if (!file->meshes.count || !file->arrays[IQM_POSITION].size) {
    import_note_add(file->job, NOTE_meshes_dropped, file->meshes.count, "without positions");
    return SK_OK;
  }
  if ((uint64_t)file->meshes.count * file->joints.count > MAX_SHARED)
    return sk_fail(file->job->error, SK_ERROR_IMPORT, "%u meshes of %u joints are too many", file->meshes.count,
                   file->joints.count);
  status = copy_vertices(file, &all);
  if (!status && all.starts) status = add_skin(file);
  for (i = 0; i < file->meshes.count && !status; i++)
    status = add_mesh(file, file->meshes.data + IQM_MESH * (size_t)i, &all, &counts);
  return status;
}

/* ---- the file --------------------------------------------------------------------------------------------- */

sk_status import_iqm_open(import_job *job) {
  iqm file;
  sk_status status = import_contents_open(job);
  if (!status) status = iqm_open_file(job, &file);
  if (!status) status = add_joints(&file);
  if (!status) status = add_meshes(&file);
  if (!status) status = iqm_make_clips(&file);
  return status ? status : import_contents_check(job);
}
