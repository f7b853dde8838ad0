/* import_contents.c: the reader of job->contents, which answers the steps of an import from plain arrays. */
#include <math.h>
#include <string.h>

#include "../core/base/sk_math.h"
#include "import_channel.h"
#include "import_contents.h"
#include "import_skeleton.h"
#include "import_slot.h"
#include "import_texture.h"

#define NODE(contents, i)     ((import_contents_node *)(contents)->nodes.data + (i))
#define MESH(contents, i)     ((const import_contents_mesh *)(contents)->meshes.data + (i))
#define SKIN(contents, i)     ((const import_contents_skin *)(contents)->skins.data + (i))
#define INSTANCE(contents, i) ((const import_contents_instance *)(contents)->instances.data + (i))
#define CLIP(contents, i)     ((const import_contents_clip *)(contents)->clips.data + (i))
#define TRACK(contents, i)    ((const import_contents_track *)(contents)->tracks.data + (i))

/* ---- joints ------------------------------------------------------------------------------------ */

/* The joint above several roots is called ROOT, with as many underscores as no other joint has. */
static sk_status add_joint_above(import_job *job) {
  const import_contents *c = job->contents;
  const char *texts = job->model.text.data;
  size_t i, length, underscores = 0;
  char *name;
  sk_status status = import_add_joint(job, NULL, SK_NONE);
  if (status) return status;
  for (i = 0; i < c->nodes.count; i++) {
    sk_text other = NODE(c, i)->name;
    if (other.length < 4 || memcmp(texts + other.offset, "ROOT", 4)) continue;
    for (length = 4; length < other.length && texts[other.offset + length] == '_'; length++) {}
    if (length == other.length && length - 3 > underscores) underscores = length - 3;
  }
  name = sk_array_room(&job->model.text, 4 + underscores);
  if (!name) return import_no_memory(job, 4 + underscores);
  memcpy(name, "ROOT", 4);
  memset(name + 4, '_', underscores);
  *import_joint_name(job, 0) = (sk_text){(uint32_t)(name - (char *)job->model.text.data), (uint32_t)(4 + underscores)};
  return SK_OK;
}

static sk_status add_joints(import_job *job) {
  const import_contents *c = job->contents;
  int32_t above = import_contents_has_root_above(c);
  sk_status status = above ? add_joint_above(job) : SK_OK;
  size_t i;
  for (i = 0; i < c->nodes.count && !status; i++) {
    const import_contents_node *node = NODE(c, i);
    status = import_add_joint(job, NULL, node->parent >= 0 ? node->parent + above : above ? 0 : SK_NONE);
    if (!status) *import_joint_name(job, i + (size_t)above) = node->name;
  }
  return status;
}

/* NULL for the joint that is invented above several roots. */
static import_contents_node *node_of(const import_job *job, size_t joint) {
  size_t above = job->model.nodes.count - job->contents->nodes.count;
  return joint < above ? NULL : NODE(job->contents, joint - above);
}

static bool repair(float *numbers, int count, float fallback) {
  bool bad = false;
  int i;
  for (i = 0; i < count; i++)
    if (import_is_bad(numbers[i])) numbers[i] = fallback, bad = true;
  return bad;
}

static void note_repaired(import_job *job, const import_contents_node *node) {
  import_note_add(job, NOTE_numbers_repaired, 1, "the transform of node '%.*s'",
                  IMPORT_SHORT(import_span_of(job, node->name)));
}

/* Makes the rotation a unit quaternion; the identity where it has no length. */
static void repair_rotation(import_job *job, const import_contents_node *node, float q[4]) {
  double length = sqrt((double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3]);
  int i;
  if (fabs(length - 1.0) > 1e-5)
    import_note_add(job, NOTE_rotations_normalized, 1, "node '%.*s': a rest rotation of length %g",
                    IMPORT_SHORT(import_span_of(job, node->name)), length);
  for (i = 0; i < 4; i++) q[i] = length > 1e-12 ? (float)(q[i] / length) : (float)(i == 3);
}

static bool rest(import_job *job, size_t joint, double local[12], float t[3], float r[4], float s[3]) {
  import_contents_node *node = node_of(job, joint);
  bool bad = false;
  int i;
  memcpy(local, node ? node->local : sk_affine_identity, sizeof sk_affine_identity);
  if (!node) return false;
  if (!node->has_trs) {
    for (i = 0; i < 12; i++)
      if (import_is_bad((float)local[i])) local[i] = sk_affine_identity[i], bad = true;
    if (bad) note_repaired(job, node);
    return false;
  }
  bad |= repair(node->translation, 3, 0.0f);
  bad |= repair(node->rotation, 4, 0.0f);
  bad |= repair(node->scale, 3, 1.0f);
  if (bad) note_repaired(job, node);
  repair_rotation(job, node, node->rotation);
  memcpy(t, node->translation, 3 * sizeof *t);
  memcpy(r, node->rotation, 4 * sizeof *r);
  memcpy(s, node->scale, 3 * sizeof *s);
  sk_affine_from_trs(t, r, s, local);
  return true;
}

/* ---- materials ----------------------------------------------------------------------------------- */

static size_t material_count(const import_job *job) { return job->contents->materials.count; }

static sk_status read_material(import_job *job, size_t index, sk_material *material) {
  const import_contents_material *from = (const import_contents_material *)job->contents->materials.data + index;
  *material = from->material;
  if (!from->image) return SK_OK;
  material->texture = import_find_texture(&job->model, from->image);
  if (material->texture >= 0) return SK_OK;
  if (from->bytes) return import_add_texture(job, from->image, "", from->bytes, from->size, &material->texture);
  return import_texture_file(job, from->image, &material->texture);
}

/* ---- submeshes ------------------------------------------------------------------------------------- */

static const import_contents_mesh *mesh_of(const import_submesh *submesh) { return submesh->contents_mesh; }

static sk_status list_submeshes(import_job *job, sk_array *submeshes) {
  const import_contents *c = job->contents;
  sk_status status = SK_OK;
  size_t i;
  for (i = 0; i < c->instances.count && !status; i++) {
    const import_contents_instance *instance = INSTANCE(c, i);
    const import_contents_mesh *mesh = MESH(c, instance->mesh);
    import_submesh submesh = {.joint = import_contents_joint(job, instance->node),
                              .contents_mesh = mesh,
                              .contents_skin = instance->skin >= 0 ? SKIN(c, instance->skin) : NULL,
                              .vertex_count = mesh->vertex_count,
                              .faces_wanted = mesh->face_count,
                              .material = instance->material,
                              .rigid = instance->skin < 0 || !mesh->starts,
                              .hidden = instance->hidden};
    if (mesh->vertex_count && mesh->face_count) status = import_add_submesh(job, submeshes, &submesh);
    else import_note_add(job, NOTE_meshes_dropped, 1, "mesh '%.*s'", IMPORT_SHORT(import_span_of(job, mesh->name)));
  }
  return status;
}

static bool name_submesh(import_job *job, import_submesh *submesh) {
  (void)job;
  submesh->name = mesh_of(submesh)->name;
  return true;
}

static sk_status copy_faces(import_job *job, import_submesh *submesh, sk_array *faces) {
  const uint32_t *from = mesh_of(submesh)->faces;
  size_t count = submesh->faces_wanted, i;
  uint32_t *out = import_face_room(job, faces, count), *end = out;
  if (!out) return SK_ERROR_MEMORY;
  for (i = 0; i < count; i++, from += 3) end = import_put_face(end, submesh, from[0], from[1], from[2]);
  faces->count -= count - (size_t)(end - out) / 3;
  return SK_OK;
}

static const float *rows_of(const import_contents_mesh *mesh, import_attribute attribute, size_t *width) {
  static const size_t widths[] = {3, 3, 2, 4, 4};
  const float *const rows[] = {mesh->positions, mesh->normals, mesh->uvs, mesh->colors, mesh->tangents};
  *width = widths[attribute];
  return rows[attribute];
}

static bool has(const import_submesh *submesh, import_attribute attribute) {
  size_t width;
  return rows_of(mesh_of(submesh), attribute, &width) != NULL;
}

static sk_status read_rows(import_job *job, const import_submesh *submesh, import_attribute attribute, float *out) {
  size_t width;
  const float *rows = rows_of(mesh_of(submesh), attribute, &width);
  (void)job;
  memcpy(out, rows, width * submesh->vertex_count * sizeof *out);
  return SK_OK;
}

/* ---- influences --------------------------------------------------------------------------------------- */

static void note_without_node(import_skinning *s, const import_contents_skin *skin, uint32_t joint) {
  const sk_text *name = skin->names ? skin->names + joint : NULL;
  if (name) import_note_add(s->job, NOTE_bones_without_node, 1, "'%.*s'", IMPORT_SHORT(import_span_of(s->job, *name)));
  else
    import_note_add(s->job, NOTE_bones_without_node, 1, "joint %u of the skin of mesh '%.80s'", joint,
                    s->submesh->title);
}

static bool has_offsets(const import_job *job, const import_contents_skin *skin) {
  import_offsets seen = {.first = SK_NONE};
  uint32_t i;
  for (i = 0; skin->offsets && i < skin->count; i++) {
    int32_t joint = skin->nodes[i] >= 0 ? import_contents_joint(job, skin->nodes[i]) : SK_NONE;
    import_offsets_add(job, &seen, joint, skin->offsets + 16 * (size_t)i);
  }
  return skin->offsets && (job->contents->means_identities || !import_offsets_are_missing(&seen));
}

static sk_status find_slots(import_skinning *s, uint32_t *slots) {
  import_job *job = s->job;
  const import_contents_skin *skin = s->submesh->contents_skin;
  bool given = has_offsets(job, skin);
  int32_t own = s->submesh->joint;
  float offset[16];
  uint32_t i;
  sk_status status = SK_OK;
  if (!given) import_note_add(job, NOTE_inverse_bind_computed, skin->count, "mesh '%.100s'", s->submesh->title);
  for (i = 0; i < skin->count && !status; i++) {
    int32_t joint = skin->nodes[i] >= 0 ? import_contents_joint(job, skin->nodes[i]) : own;
    if (skin->nodes[i] < 0) note_without_node(s, skin, i);
    if (skin->offsets && (given || skin->nodes[i] < 0))
      import_copy_offset(job, s->submesh, skin->offsets + 16 * (size_t)i, offset);
    else import_compute_offset(&job->model, joint, own, offset);
    status = import_add_slot(job, joint, offset, &slots[i]);
  }
  return status;
}

static uint32_t gather_vertex(import_skinning *s, const uint32_t *slots, uint32_t vertex, import_influence *list) {
  const import_contents_mesh *mesh = mesh_of(s->submesh);
  uint32_t joints = s->submesh->contents_skin->count, count = 0, i;
  uint32_t number = mesh->lists ? mesh->lists[vertex] : vertex;
  for (i = mesh->starts[number]; i < mesh->starts[number + 1]; i++) {
    const import_influence *from = &mesh->influences[i];
    if (!import_weight_counts(s, vertex, from->weight)) continue;
    if (from->slot < joints) list[count++] = (import_influence){slots[from->slot], from->weight};
    else
      import_note_add(s->job, NOTE_joint_index_out_of_range, 1, "vertex %u of mesh '%.80s' follows joint %u of %u",
                      vertex, s->submesh->title, from->slot, joints);
  }
  return count;
}

static sk_status skin(import_skinning *s) {
  const import_contents_mesh *mesh = mesh_of(s->submesh);
  uint32_t *slots = sk_alloc(((size_t)s->submesh->contents_skin->count + 1) * sizeof *slots), v, most = 1;
  import_influence *list;
  sk_status status = slots ? find_slots(s, slots) : import_no_memory(s->job, sizeof *slots);
  for (v = 0; v < (mesh->lists ? mesh->list_count : mesh->vertex_count); v++)
    if (mesh->starts[v + 1] - mesh->starts[v] > most) most = mesh->starts[v + 1] - mesh->starts[v];
  list = sk_alloc(most * sizeof *list);
  if (!list && !status) status = import_no_memory(s->job, most * sizeof *list);
  for (v = 0; v < mesh->vertex_count && !status; v++)
    status = import_finish_vertex(s, v, list, gather_vertex(s, slots, v, list));
  sk_free(list);
  sk_free(slots);
  return status;
}

/* ---- morph targets ---------------------------------------------------------------------------------------- */

static uint32_t target_count(const import_job *job, const import_submesh *submesh) {
  (void)job;
  return mesh_of(submesh)->target_count;
}

static sk_status read_shapes(import_job *job, const import_submesh *submesh, import_shapes *shapes) {
  float *row = shapes->moved;
  uint32_t t, v;
  (void)job;
  for (t = 0; t < shapes->count; t++) {
    const import_contents_target *target = &mesh_of(submesh)->targets[t];
    shapes->has_normals |= target->normals != NULL;
    for (v = 0; v < submesh->vertex_count; v++, row += IMPORT_SHAPE_WIDTH) {
      memcpy(row, target->positions + 3 * (size_t)v, 3 * sizeof *row);
      if (target->normals) memcpy(row + 3, target->normals + 3 * (size_t)v, 3 * sizeof *row);
    }
  }
  return SK_OK;
}

static float default_weight(const import_job *job, const import_submesh *submesh, uint32_t target) {
  float weight = mesh_of(submesh)->targets[target].default_weight;
  (void)job;
  return import_is_bad(weight) ? 0.0f : weight;
}

static bool name_target(import_job *job, const import_submesh *submesh, uint32_t target, sk_text *name) {
  (void)job;
  *name = mesh_of(submesh)->targets[target].name;
  return true;
}

/* ---- clips --------------------------------------------------------------------------------------------------- */

static int32_t clip_count(const import_job *job) { return (int32_t)job->contents->clips.count; }

static bool name_clip(import_job *job, int32_t index, sk_text *name) {
  *name = CLIP(job->contents, index)->name;
  return true;
}

static sk_status add_channel(import_clip *clip, const import_contents_track *from) {
  import_job *job = clip->job;
  import_track track = {.joint = import_contents_joint(job, from->node),
                        .path = from->path,
                        .interpolation = from->interpolation,
                        .count = from->count,
                        .seconds = from->times,
                        .values = from->values,
                        .stride = 1};
  if (from->path == SK_PATH_WEIGHT) {
    uint32_t count, first = import_targets_of(job, track.joint, &count);
    if (from->target < 0 || (uint32_t)from->target >= count) {
      import_note_add(job, NOTE_channels_dropped, 1, "clip '%.60s': there is no morph target %d", clip->title,
                      from->target);
      return SK_OK;
    }
    track.joint = (int32_t)(first + (uint32_t)from->target);
  }
  return import_add_channel(clip, &track);
}

static sk_status add_channels(import_clip *clip, int32_t index, double *last) {
  const import_contents *c = clip->job->contents;
  const import_contents_clip *from = CLIP(c, index);
  sk_status status = SK_OK;
  size_t i;
  uint32_t k;
  if (c->add_channels) return c->add_channels(clip, index, last);
  *last = from->duration >= 0.0 ? from->duration : 0.0;
  for (i = from->first_track; i < from->first_track + from->track_count && !status; i++) {
    const import_contents_track *track = TRACK(c, i);
    for (k = 0; k < track->count && from->duration < 0.0; k++)
      if (isfinite(track->times[k]) && track->times[k] > *last) *last = track->times[k];
    status = add_channel(clip, track);
  }
  return status;
}

static sk_status add_extras(import_clip *clip, int32_t index, sk_clip_record *record) {
  double ticks = CLIP(clip->job->contents, index)->ticks_per_second;
  if (ticks > 0.0 && isfinite(ticks)) record->ticks_per_second = ticks;
  return SK_OK;
}

const import_reader contents_reader = {
    .add_joints = add_joints,
    .rest = rest,
    .material_count = material_count,
    .read_material = read_material,
    .list_submeshes = list_submeshes,
    .name_submesh = name_submesh,
    .copy_faces = copy_faces,
    .has = has,
    .read = read_rows,
    .skin = skin,
    .target_count = target_count,
    .read_shapes = read_shapes,
    .default_weight = default_weight,
    .name_target = name_target,
    .clip_count = clip_count,
    .name_clip = name_clip,
    .add_channels = add_channels,
    .add_extras = add_extras,
};
