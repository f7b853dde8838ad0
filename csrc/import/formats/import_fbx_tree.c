/* import_fbx_tree.c: the nodes of an FBX file as joints.

   Every node becomes one joint, below a root that turns the axes of the file to +Y up. A node whose children do not all
   inherit its scale becomes two: NAME/unscaled, which carries the children that do without the scale, and below it NAME,
   which has the scale, the mesh, and the children that inherit it. */
#include <stdio.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_skeleton.h"
#include "import_fbx.h"

#define ROOT_NAME "RootNode"
#define UNSCALED  "/unscaled"

typedef struct waiting { /* a node that waits to become a joint */
  int32_t node, parent;
  fbx_joint_kind kind;
} waiting;

static sk_status add_joint(import_job *job, const waiting *w, const char *name, size_t length, const char *suffix) {
  import_fbx *fbx = job->fbx;
  fbx_joint *joint = sk_array_extend(&fbx->joints, 1);
  sk_text *text;
  size_t number = fbx->joints.count - 1, tail = strlen(suffix);
  char *bytes;
  sk_status status = joint ? import_add_joint(job, NULL, w->parent) : import_no_memory(job, sizeof *joint);
  if (status) return status;
  *joint = (fbx_joint){w->node, w->kind};
  text = import_joint_name(job, number);
  if (!sk_text_append(&job->model.text, name, length, text)) return import_no_memory(job, length);
  if (!tail) return SK_OK;
  bytes = sk_array_extend(&job->model.text, tail); /* behind the name */
  if (!bytes) return import_no_memory(job, tail);
  memcpy(bytes, suffix, tail);
  import_joint_name(job, number)->length += (uint32_t)tail;
  return SK_OK;
}

/* The children of a node that inherit its scale, or those that do not; in the order in which they are to be taken. */
static sk_status push_children(import_job *job, sk_array *stack, const int32_t *first, const int32_t *next,
                               int32_t node, int32_t joint, bool inheriting, bool all) {
  const fbx_scene *scene = &job->fbx->scene;
  int32_t child;
  for (child = first[node + 1]; child >= 0; child = next[child]) { /* the lists are in reverse order */
    const fbx_node *n = fbx_node_at(scene, (size_t)child);
    waiting *added;
    if (!all && (n->inherit == FBX_INHERIT_ALL) != inheriting) continue;
    added = sk_array_extend(stack, 1);
    if (!added) return import_no_memory(job, sizeof *added);
    *added = (waiting){child, joint, n->is_split ? FBX_JOINT_UNSCALED : FBX_JOINT_WHOLE};
  }
  return SK_OK;
}

static sk_status take(import_job *job, sk_array *stack, const int32_t *first, const int32_t *next, const waiting *w) {
  const fbx_scene *scene = &job->fbx->scene;
  fbx_node *node = fbx_node_at(scene, (size_t)w->node);
  const fbx_object *object = fbx_object_at(&scene->document, node->object);
  int32_t joint = (int32_t)job->fbx->joints.count;
  bool upper = w->kind == FBX_JOINT_UNSCALED;
  sk_status status = add_joint(job, w, object->name, object->name_length, upper ? UNSCALED : "");
  waiting *added;
  if (status) return status;
  if (upper) node->unscaled = joint;
  else node->joint = joint;
  if (w->kind == FBX_JOINT_WHOLE) node->unscaled = joint;
  status = push_children(job, stack, first, next, w->node, joint, !upper, w->kind == FBX_JOINT_WHOLE);
  if (status || !upper) return status;
  added = sk_array_extend(stack, 1); /* is taken next */
  if (!added) return import_no_memory(job, sizeof *added);
  *added = (waiting){w->node, joint, FBX_JOINT_SCALE};
  return SK_OK;
}

sk_status fbx_add_joints(import_job *job) {
  import_fbx *fbx = job->fbx;
  const fbx_scene *scene = &fbx->scene;
  size_t count = scene->nodes.count, i;
  int32_t *first = sk_alloc((2 * count + 1) * sizeof *first), *next = first ? first + count + 1 : NULL;
  sk_array stack = SK_ARRAY(waiting);
  waiting root = {SK_NONE, SK_NONE, FBX_JOINT_ROOT};
  sk_status status = first ? SK_OK : import_no_memory(job, count * sizeof *first);
  fbx->joints = SK_ARRAY(fbx_joint);
  for (i = 0; i <= count && !status; i++) first[i] = SK_NONE;
  for (i = 0; i < count && !status; i++) { /* first[0] is the list of the root */
    int32_t parent = fbx_node_at(scene, i)->parent;
    next[i] = first[parent + 1];
    first[parent + 1] = (int32_t)i;
  }
  if (!status) status = add_joint(job, &root, ROOT_NAME, strlen(ROOT_NAME), "");
  if (!status) status = push_children(job, &stack, first, next, SK_NONE, 0, true, true);
  while (!status && stack.count) {
    waiting w = ((waiting *)stack.data)[--stack.count];
    status = take(job, &stack, first, next, &w);
  }
  sk_array_free(&stack);
  sk_free(first);
  return status;
}

static bool all_fit_float(const double *numbers, size_t count) {
  size_t i;
  for (i = 0; i < count; i++)
    if (import_is_bad((float)numbers[i])) return false;
  return true;
}

bool fbx_rest(import_job *job, size_t index, double local[12], float t[3], float r[4], float s[3]) {
  const import_fbx *fbx = job->fbx;
  const fbx_joint *joint = (const fbx_joint *)fbx->joints.data + index;
  static const fbx_trs still = {{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
  fbx_trs trs = still;
  int i;
  if (joint->kind == FBX_JOINT_ROOT) {
    sk_affine_decompose(fbx->scene.axes, t, r, s);
  } else {
    fbx_node_trs(&fbx->scene, NULL, (size_t)joint->node, 0.0, FBX_ALL_PATHS, &trs);
    fbx_part_of_trs(joint->kind, &trs);
    if (!all_fit_float(trs.t, 3) || !all_fit_float(trs.r, 4) || !all_fit_float(trs.s, 3)) {
      const fbx_node *node = fbx_node_at(&fbx->scene, (size_t)joint->node);
      const fbx_object *object = fbx_object_at(&fbx->scene.document, node->object);
      import_note_add(job, NOTE_numbers_repaired, 1, "the transform of node '%.*s'", fbx_short_length(object),
                      object->name);
      trs = still;
    }
    for (i = 0; i < 3; i++) t[i] = (float)trs.t[i], s[i] = (float)trs.s[i];
    for (i = 0; i < 4; i++) r[i] = (float)trs.r[i];
  }
  sk_affine_from_trs(t, r, s, local);
  return true;
}

void fbx_part_of_trs(fbx_joint_kind kind, fbx_trs *trs) {
  static const double none[3] = {0, 0, 0}, identity[4] = {0, 0, 0, 1}, one[3] = {1, 1, 1};
  if (kind == FBX_JOINT_UNSCALED) memcpy(trs->s, one, sizeof one);
  if (kind != FBX_JOINT_SCALE) return;
  memcpy(trs->t, none, sizeof none);
  memcpy(trs->r, identity, sizeof identity);
}
