/* import_fbx_skin.c: skins of FBX geometries: which joints move a control point, and how the mesh was bound to them.

   A cluster is a joint with its control points and weights. `Transform` is the mesh's node as the joint saw it at bind
   time: with the node's geometric transform, it is the inverse bind matrix. Without it, `TransformLink`, the joint's global
   transform at bind time, is inverted; without both, the rest pose counts. */
#include <math.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_slot.h"
#include "import_fbx_mesh.h"

typedef struct listed { /* an influence before all are sorted by their control points */
  uint32_t point, bone;
  float weight;
} listed;

/* FBX writes matrices column by column. */
static bool read_matrix(import_job *job, const fbx_object *object, const char *name, double out[12],
                        sk_status *status) {
  const fbx_document *d = &job->fbx->scene.document;
  fbx_numbers numbers;
  bool good;
  int row, column;
  *status = fbx_find_numbers(job, &d->file, object->inside, object->inside_end, name, &numbers);
  good = !*status && numbers.count == 16;
  for (row = 0; row < 3 && good; row++)
    for (column = 0; column < 4; column++) {
      out[4 * row + column] = numbers.values[4 * column + row];
      if (!isfinite(out[4 * row + column])) out[4 * row + column] = row == column;
    }
  fbx_free_numbers(&numbers);
  return good;
}

/* The node of a cluster's joint, or SK_NONE. */
static int32_t node_of_cluster(const import_job *job, uint32_t cluster) {
  const fbx_scene *scene = &job->fbx->scene;
  size_t at = 0;
  uint32_t model = fbx_next_child(&scene->document, cluster, FBX_MODEL, &at, NULL);
  return model == FBX_NONE ? SK_NONE : scene->node_of[model];
}

/* The first node that has the geometry, or NULL. */
static const fbx_node *node_of_mesh(const import_job *job, const fbx_mesh *mesh) {
  const fbx_scene *scene = &job->fbx->scene;
  size_t at = 0;
  uint32_t model = fbx_next_parent(&scene->document, mesh->object, FBX_MODEL, &at, NULL);
  int32_t number = model == FBX_NONE ? SK_NONE : scene->node_of[model];
  return number < 0 ? NULL : fbx_node_at(scene, (size_t)number);
}

/* Numbers of the file may be too large for a float. */
static void repair_offset(import_job *job, const fbx_object *cluster, fbx_bone *bone) {
  bool bad = false;
  int i;
  for (i = 0; i < 16; i++) bad |= import_is_bad(bone->offset[i]);
  if (!bad) return;
  memcpy(bone->offset, import_identity, sizeof bone->offset);
  import_note_add(job, NOTE_numbers_repaired, 1, "the inverse bind matrix of cluster '%.*s'", fbx_short_length(cluster),
                  cluster->name);
}

/* The mesh's node as a joint saw it, for a cluster that does not say so: at bind time if the file has the joint's global
   transform of then, else at rest. */
static sk_status offset_without_transform(import_job *job, const fbx_node *mesh_node, const fbx_object *cluster,
                                          const fbx_bone *bone, double out[12]) {
  const fbx_scene *scene = &job->fbx->scene;
  double link[12];
  sk_status status;
  sk_affine_from_mat4(import_identity, out);
  if (read_matrix(job, cluster, "TransformLink", link, &status)) {
    sk_affine_multiply(scene->axes, link, link); /* the file's axes */
    sk_affine_inverse(link, out);
  } else {
    sk_affine_inverse(job->model.globals + 12 * (size_t)fbx_node_at(scene, (size_t)bone->node)->joint, out);
    import_note_add(job, NOTE_inverse_bind_computed, 1, "cluster '%.*s'", fbx_short_length(cluster), cluster->name);
  }
  if (mesh_node) sk_affine_multiply(out, job->model.globals + 12 * (size_t)mesh_node->joint, out);
  return status;
}

/* The inverse bind matrix of a cluster. */
static sk_status read_offset(import_job *job, const fbx_mesh *mesh, const fbx_object *cluster, fbx_bone *bone) {
  const fbx_node *node = node_of_mesh(job, mesh);
  double offset[12];
  sk_status status;
  bool given = read_matrix(job, cluster, "Transform", offset, &status);
  if (!given && !status) status = offset_without_transform(job, node, cluster, bone, offset);
  if (status) return status;
  if (node) sk_affine_multiply(offset, node->geometric, offset);
  sk_affine_to_mat4(offset, bone->offset);
  return SK_OK;
}

static sk_status read_cluster(import_job *job, fbx_mesh *mesh, uint32_t index, sk_array *list) {
  const fbx_document *d = &job->fbx->scene.document;
  const fbx_object *object = fbx_object_at(d, index);
  int32_t node = node_of_cluster(job, index);
  fbx_bone *bone;
  uint32_t number = (uint32_t)mesh->bones.count;
  sk_array points = SK_ARRAY(int64_t);
  fbx_numbers weights = {0};
  fbx_record record;
  size_t i;
  sk_status status;
  if (node < 0) {
    import_note_add(job, NOTE_bones_without_node, 1, "cluster '%.*s'", fbx_short_length(object), object->name);
    return SK_OK;
  }
  bone = sk_array_extend(&mesh->bones, 1);
  if (!bone) return import_no_memory(job, sizeof *bone);
  memcpy(bone->offset, import_identity, sizeof bone->offset);
  bone->node = node;
  status = read_offset(job, mesh, object, bone);
  repair_offset(job, object, bone);
  if (!status && fbx_find(&d->file, object->inside, object->inside_end, "Indexes", &record))
    status = fbx_read_wholes(job, &d->file, &record, &points);
  if (!status) status = fbx_find_numbers(job, &d->file, object->inside, object->inside_end, "Weights", &weights);
  for (i = 0; i < points.count && i < weights.count && !status; i++) {
    int64_t point = ((const int64_t *)points.data)[i];
    listed *added;
    if (point < 0 || (uint64_t)point >= fbx_point_count(mesh)) {
      import_note_add(job, NOTE_weights_dropped, 1, "cluster '%.*s'", fbx_short_length(object), object->name);
      continue;
    }
    added = sk_array_extend(list, 1);
    if (added) *added = (listed){(uint32_t)point, number, (float)weights.values[i]};
    else status = import_no_memory(job, sizeof *added);
  }
  sk_array_free(&points);
  fbx_free_numbers(&weights);
  return status;
}

/* Sorts the influences by control points, with the order of the clusters kept. */
static sk_status sort_influences(import_job *job, fbx_mesh *mesh, const sk_array *list) {
  size_t points = fbx_point_count(mesh), i;
  const listed *from = list->data;
  uint32_t *starts = mesh->starts = sk_alloc_zero((points + 2) * sizeof *starts);
  mesh->influences = sk_alloc((list->count + 1) * sizeof *mesh->influences);
  if (!starts || !mesh->influences) return import_no_memory(job, points * sizeof *starts);
  for (i = 0; i < list->count; i++) starts[from[i].point + 2]++;
  for (i = 2; i < points + 2; i++) starts[i] += starts[i - 1];
  for (i = 0; i < list->count; i++)
    mesh->influences[starts[from[i].point + 1]++] = (import_influence){from[i].bone, from[i].weight};
  return SK_OK;
}

/* Adds the weights that one cluster gives a point several times: a vertex takes as many steps as its point has
   influences, and many vertices may have the same point. */
static void merge_influences(import_job *job, fbx_mesh *mesh) {
  uint32_t points = (uint32_t)fbx_point_count(mesh), from = 0, kept = 0, p, i;
  import_influence *list = mesh->influences;
  for (p = 0; p < points; p++) {
    uint32_t end = mesh->starts[p + 1], first = kept;
    mesh->starts[p] = first;
    for (i = from; i < end; i++) {
      bool again =
          kept > first && list[kept - 1].slot == list[i].slot && list[kept - 1].weight > 0.0f && list[i].weight > 0.0f;
      if (again) list[kept - 1].weight += list[i].weight;
      else list[kept++] = list[i];
      if (again) import_note_add(job, NOTE_influences_merged, 1, "control point %u", p);
    }
    from = end;
  }
  mesh->starts[points] = kept;
}

sk_status fbx_read_skin(import_job *job, fbx_mesh *mesh) {
  const fbx_document *d = &job->fbx->scene.document;
  sk_array list = SK_ARRAY(listed);
  size_t at = 0;
  uint32_t skin, cluster;
  sk_status status = SK_OK;
  while (!status && (skin = fbx_next_child(d, mesh->object, FBX_SKIN, &at, NULL)) != FBX_NONE) {
    fbx_record record;
    fbx_value type;
    size_t inner = 0;
    const fbx_object *object = fbx_object_at(d, skin);
    if (fbx_find(&d->file, object->inside, object->inside_end, "SkinningType", &record) &&
        fbx_read_values(&d->file, &record, &type, 1) &&
        (fbx_text_is(&type, "DualQuaternion") || fbx_text_is(&type, "Blend")))
      import_note_add(job, NOTE_dual_quaternions_ignored, 1, "skin '%.*s'", fbx_short_length(object), object->name);
    while (!status && (cluster = fbx_next_child(d, skin, FBX_CLUSTER, &inner, NULL)) != FBX_NONE)
      status = read_cluster(job, mesh, cluster, &list);
  }
  if (!status && mesh->bones.count) status = sort_influences(job, mesh, &list);
  if (!status && mesh->bones.count) merge_influences(job, mesh);
  sk_array_free(&list);
  return status;
}

/* ---- submeshes ----------------------------------------------------------------------------------- */

static sk_status find_slots(import_skinning *s, uint32_t *slots) {
  import_job *job = s->job;
  const fbx_mesh *mesh = s->submesh->source.mesh;
  const fbx_bone *bones = mesh->bones.data;
  size_t b;
  sk_status status = SK_OK;
  for (b = 0; b < mesh->bones.count && !status; b++) {
    int32_t joint = fbx_node_at(&job->fbx->scene, (size_t)bones[b].node)->joint;
    status = import_add_slot(job, joint, bones[b].offset, &slots[b]);
  }
  return status;
}

sk_status fbx_skin(import_skinning *s) {
  const fbx_mesh *mesh = s->submesh->source.mesh;
  uint32_t *slots = sk_alloc(mesh->bones.count * sizeof *slots), v, i, most = 1;
  import_influence *list;
  sk_status status = slots ? find_slots(s, slots) : import_no_memory(s->job, mesh->bones.count * sizeof *slots);
  for (v = 0; v < fbx_point_count(mesh); v++)
    if (mesh->starts[v + 1] - mesh->starts[v] > most) most = mesh->starts[v + 1] - mesh->starts[v];
  list = sk_alloc(most * sizeof *list);
  if (!list && !status) status = import_no_memory(s->job, most * sizeof *list);
  for (v = 0; v < s->submesh->vertex_count && !status; v++) {
    uint32_t point = fbx_point_of(mesh, s->submesh->source.part, v), count = 0;
    for (i = mesh->starts[point]; i < mesh->starts[point + 1]; i++)
      if (import_weight_counts(s, v, mesh->influences[i].weight))
        list[count++] = (import_influence){slots[mesh->influences[i].slot], mesh->influences[i].weight};
    status = import_finish_vertex(s, v, list, count);
  }
  sk_free(list);
  sk_free(slots);
  return status;
}
