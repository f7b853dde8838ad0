/* import_x_skin.c: SkinWeights, which list the vertices of one joint each. */
#include <stdlib.h>
#include <string.h>

#include "import_x_scene.h"

#define MAX_LISTED 64 /* influences of each vertex, on average: the file's may be used by many corners of faces */

typedef struct x_weights { /* of one SkinWeights */
  uint32_t count;
  const double *vertices, *weights, *matrix;
} x_weights;

/* "name"; count; vertices; weights; matrix. An empty list has no numbers. */
static bool read_weights(const x_scene *x, const x_object *object, x_weights *w) {
  x_numbers n = x_numbers_of(&x->file, object);
  if (!x_take_count(&n, 2, &w->count)) return false;
  w->vertices = x_take(&n, w->count);
  w->weights = x_take(&n, w->count);
  w->matrix = x_take(&n, 16);
  return w->matrix != NULL;
}

static sk_status add_joint(x_scene *x, const x_object *object, x_skin *skin) {
  const x_object *frame;
  x_weights w;
  x_joint *joint;
  if (!read_weights(x, object, &w)) {
    import_note_add(x->job, NOTE_weights_dropped, 1, "of joint '%.*s'", IMPORT_SHORT(object->text));
    return SK_OK;
  }
  if (!w.count) return SK_OK;
  joint = sk_array_extend(&skin->joints, 1);
  if (!joint) return import_no_memory(x->job, sizeof *joint);
  frame = x_find(x, &x->frames, object->text, "joint");
  *joint = (x_joint){.object = object, .node = frame ? x_made_of(x, frame)->index : SK_NONE, .slot = UINT32_MAX};
  return import_add_text(x->job, object->text, &joint->name);
}

/* Counts weights in starts[vertex + 2], or writes them to where starts[vertex + 1] says. */
static void list_weights(x_scene *x, x_skin *skin, uint32_t vertices, bool write) {
  const x_joint *joints = skin->joints.data;
  uint32_t j, k;
  for (j = 0; j < skin->joints.count; j++) {
    x_weights w;
    read_weights(x, joints[j].object, &w);
    for (k = 0; k < w.count; k++) {
      x_numbers one = {w.vertices + k, w.vertices + k + 1};
      uint32_t vertex = x_take_index(&one);
      if (w.weights[k] == 0.0) continue;
      if (vertex < vertices && write)
        skin->influences[skin->starts[vertex + 1]++] = (import_influence){j, (float)w.weights[k]};
      else if (vertex < vertices) skin->starts[vertex + 2]++;
      else if (!write)
        import_note_add(x->job, NOTE_weights_dropped, 1, "joint '%.*s' moves vertex %g of %u",
                        IMPORT_SHORT(joints[j].object->text), w.vertices[k], vertices);
    }
  }
}

sk_status x_read_skin(x_scene *x, const x_object *mesh, uint32_t vertices, x_skin *skin) {
  const x_object *below = NULL;
  sk_status status = SK_OK;
  size_t v;
  *skin = (x_skin){.joints = SK_ARRAY(x_joint)};
  while (!status && (below = x_next_below(x, mesh, below)) != NULL)
    if (below->kind == X_SKIN_WEIGHTS) status = add_joint(x, below, skin);
  if (status || !skin->joints.count) return status;
  skin->starts = sk_alloc_zero(((size_t)vertices + 3) * sizeof *skin->starts);
  if (!skin->starts) return import_no_memory(x->job, vertices * sizeof *skin->starts);
  list_weights(x, skin, vertices, false);
  for (v = 2; v < (size_t)vertices + 2; v++) skin->starts[v] += skin->starts[v - 1];
  skin->influences = sk_alloc(((size_t)skin->starts[vertices + 1] + 1) * sizeof *skin->influences);
  if (!skin->influences) return import_no_memory(x->job, vertices * sizeof *skin->influences);
  list_weights(x, skin, vertices, true);
  return SK_OK;
}

void x_free_skin(x_skin *skin) {
  sk_array_free(&skin->joints);
  sk_free(skin->starts);
  sk_free(skin->influences);
}

/* ---- parts ---------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* Lists the joints that the part needs, in the order of the file. */
static sk_status find_used(x_scene *x, const x_skin *skin, const uint32_t *points, uint32_t count, sk_array *used) {
  x_joint *joints = skin->joints.data;
  uint32_t v, i, *added;
  for (v = 0; v < count; v++)
    for (i = skin->starts[points[v]]; i < skin->starts[points[v] + 1]; i++) {
      uint32_t joint = skin->influences[i].slot;
      if (joints[joint].slot != UINT32_MAX) continue;
      added = sk_array_room(used, 1);
      if (!added) return import_no_memory(x->job, sizeof *added);
      *added = joint;
      joints[joint].slot = 0;
    }
  if (used->count) qsort(used->data, used->count, sizeof *added, compare);
  for (i = 0; i < used->count; i++) joints[((const uint32_t *)used->data)[i]].slot = i;
  return SK_OK;
}

static sk_status add_skin(x_scene *x, const x_skin *skin, const sk_array *used, int32_t *index) {
  import_contents_skin *added = import_contents_add_skin(x->job);
  const x_joint *joints = skin->joints.data;
  int32_t *nodes = import_contents_take(x->job, used->count, sizeof *nodes);
  float *offsets = import_contents_take(x->job, used->count, 16 * sizeof *offsets), *out = offsets;
  sk_text *names = import_contents_take(x->job, used->count, sizeof *names);
  sk_status status = added && nodes && offsets && names ? SK_OK : SK_ERROR_MEMORY;
  size_t i, k;
  for (i = 0; i < used->count && !status; i++, out += 16) {
    const x_joint *joint = &joints[((const uint32_t *)used->data)[i]];
    double affine[12];
    x_weights w;
    read_weights(x, joint->object, &w);
    x_matrix(w.matrix, affine);
    for (k = 0; k < 12; k++) out[k] = (float)affine[k];
    for (k = 0; k < 4; k++) out[12 + k] = (float)w.matrix[4 * k + 3];
    nodes[i] = joint->node;
    names[i] = joint->name;
  }
  if (status) return status;
  *added = (import_contents_skin){nodes, offsets, names, (uint32_t)used->count};
  *index = (int32_t)x->job->contents->skins.count - 1;
  return SK_OK;
}

static sk_status copy_influences(x_scene *x, const x_skin *skin, const uint32_t *points, import_contents_mesh *part) {
  uint32_t *starts = import_contents_take(x->job, (size_t)part->vertex_count + 1, sizeof *starts), v, i;
  import_influence *out;
  uint64_t total = 0;
  for (v = 0; v < part->vertex_count; v++) total += skin->starts[points[v] + 1] - skin->starts[points[v]];
  if (total > MAX_LISTED * (uint64_t)part->vertex_count || total > UINT32_MAX)
    return sk_fail(x->job->error, SK_ERROR_IMPORT, "the vertices of a mesh follow more than %d joints each",
                   MAX_LISTED);
  out = import_contents_take(x->job, (size_t)total, sizeof *out);
  if (!starts || !out) return SK_ERROR_MEMORY;
  part->starts = starts;
  part->influences = out;
  for (v = 0; v < part->vertex_count; v++) {
    for (i = skin->starts[points[v]]; i < skin->starts[points[v] + 1]; i++) {
      const import_influence *from = &skin->influences[i];
      *out++ = (import_influence){((const x_joint *)skin->joints.data)[from->slot].slot, from->weight};
    }
    starts[v + 1] = (uint32_t)(out - part->influences);
  }
  return SK_OK;
}

sk_status x_skin_part(x_scene *x, const x_skin *skin, const uint32_t *points, import_contents_mesh *part,
                      int32_t *index) {
  sk_array used = SK_ARRAY(uint32_t);
  sk_status status;
  size_t i;
  *index = SK_NONE;
  if (!skin->starts) return SK_OK;
  status = find_used(x, skin, points, part->vertex_count, &used);
  if (!status && used.count) status = add_skin(x, skin, &used, index);
  if (!status && used.count) status = copy_influences(x, skin, points, part);
  for (i = 0; i < used.count; i++) ((x_joint *)skin->joints.data)[((const uint32_t *)used.data)[i]].slot = UINT32_MAX;
  sk_array_free(&used);
  return status;
}
