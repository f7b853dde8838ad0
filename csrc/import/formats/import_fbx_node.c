/* import_fbx_node.c: the nodes of an FBX file, their order, and their transforms; see import_fbx_scene.h. */
#include <math.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_fit.h"
#include "import_fbx_scene.h"

#define RADIANS  (3.14159265358979323846 / 180.0)
#define SPHERIC  6    /* an order of rotation that nobody plays differently from XYZ */
#define UNSCALED 1e-6 /* a scale no farther from 1 counts as 1 */

/* ---- rotations ------------------------------------------------------------------------------ */

/* The axis that is applied first stands on the right: XYZ is Rz * Ry * Rx. */
void fbx_quat_from_euler(const double degrees[3], int order, double out[4]) {
  static const uint8_t axes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}};
  const uint8_t *sequence = axes[order >= 0 && order < SPHERIC ? order : 0];
  int i;
  out[0] = out[1] = out[2] = 0.0, out[3] = 1.0;
  for (i = 0; i < 3; i++) {
    double half = 0.5 * RADIANS * degrees[sequence[i]], turn[4] = {0.0, 0.0, 0.0, cos(half)};
    turn[sequence[i]] = sin(half);
    import_quat_multiply(turn, out, out);
  }
}

/* q * v for a unit quaternion. */
static void rotate(const double q[4], const double v[3], double out[3]) {
  double x = 2.0 * (q[1] * v[2] - q[2] * v[1]), y = 2.0 * (q[2] * v[0] - q[0] * v[2]);
  double z = 2.0 * (q[0] * v[1] - q[1] * v[0]);
  double rx = v[0] + q[3] * x + q[1] * z - q[2] * y, ry = v[1] + q[3] * y + q[2] * x - q[0] * z;
  double rz = v[2] + q[3] * z + q[0] * y - q[1] * x;
  out[0] = rx, out[1] = ry, out[2] = rz;
}

/* ---- one node --------------------------------------------------------------------------------- */

/* The local transform of the node from its three values. */
static void local_trs(const fbx_node *node, const double values[3][3], fbx_trs *out) {
  double euler[4], inner[3];
  int i;
  fbx_quat_from_euler(values[SK_PATH_ROTATION], node->order, euler);
  import_quat_multiply(node->pre, euler, out->r);
  import_quat_multiply(out->r, node->post_inverse, out->r);
  for (i = 0; i < 3; i++) {
    out->s[i] = values[SK_PATH_SCALE][i];
    inner[i] =
        node->scaling_offset[i] + node->scaling_pivot[i] - node->rotation_pivot[i] - out->s[i] * node->scaling_pivot[i];
  }
  rotate(out->r, inner, inner);
  for (i = 0; i < 3; i++)
    out->t[i] = values[SK_PATH_TRANSLATION][i] + node->rotation_offset[i] + node->rotation_pivot[i] + inner[i];
}

/* The values on which the wanted components depend. */
static unsigned needed_values(const fbx_node *node, unsigned wanted) {
  return node->has_pivots && wanted & 1u << SK_PATH_TRANSLATION ? FBX_ALL_PATHS : wanted;
}

static void own_trs(const fbx_scene *scene, const fbx_stack *stack, const fbx_node *node, double time, unsigned wanted,
                    fbx_trs *out) {
  unsigned needed = needed_values(node, wanted);
  double values[3][3];
  int path;
  memcpy(values, node->values, sizeof values);
  for (path = 0; path < 3; path++) {
    const fbx_track *track = needed >> path & 1 ? fbx_find_track(stack, node->object, (sk_path)path) : NULL;
    if (track) fbx_track_values(scene, stack, track, time, node, values[path]);
  }
  local_trs(node, (const double (*)[3])values, out);
}

/* The scale that a node has from all that it inherits by components: its own and that of its scale nodes. */
static void whole_scale(const fbx_scene *scene, const fbx_stack *stack, int32_t index, double time, double scale[3]) {
  scale[0] = scale[1] = scale[2] = 1.0;
  while (index >= 0) {
    const fbx_node *node = fbx_node_at(scene, (size_t)index);
    double own[3] = {node->values[SK_PATH_SCALE][0], node->values[SK_PATH_SCALE][1], node->values[SK_PATH_SCALE][2]};
    const fbx_track *track = fbx_find_track(stack, node->object, SK_PATH_SCALE);
    int i;
    if (track) fbx_track_values(scene, stack, track, time, node, own);
    for (i = 0; i < 3; i++) scale[i] *= own[i];
    index = node->inherit == FBX_INHERIT_ALL ? SK_NONE : node->scale_node;
  }
}

/* Whether the translation of a node is multiplied by the scale of its parent, from which it does not get it. */
static bool is_below_unscaled(const fbx_scene *scene, const fbx_node *node) {
  return node->inherit != FBX_INHERIT_ALL && node->parent >= 0 && fbx_node_at(scene, (size_t)node->parent)->is_split;
}

void fbx_node_tracks(const fbx_scene *scene, const fbx_stack *stack, size_t index, sk_path path,
                     void (*take)(void *context, const fbx_track *track), void *context) {
  const fbx_node *node = fbx_node_at(scene, index);
  unsigned needed = needed_values(node, 1u << path);
  int32_t from = SK_NONE;
  int p;
  for (p = 0; p < 3; p++) {
    const fbx_track *track = needed >> p & 1 ? fbx_find_track(stack, node->object, (sk_path)p) : NULL;
    if (track) take(context, track);
  }
  if (path == SK_PATH_SCALE && node->inherit != FBX_INHERIT_ALL) from = node->scale_node;
  if (path == SK_PATH_TRANSLATION && is_below_unscaled(scene, node)) from = node->parent;
  while (from >= 0) {
    const fbx_node *above = fbx_node_at(scene, (size_t)from);
    const fbx_track *track = fbx_find_track(stack, above->object, SK_PATH_SCALE);
    if (track) take(context, track);
    from = above->inherit == FBX_INHERIT_ALL ? SK_NONE : above->scale_node;
  }
}

void fbx_node_trs(const fbx_scene *scene, const fbx_stack *stack, size_t index, double time, unsigned wanted,
                  fbx_trs *trs) {
  const fbx_node *node = fbx_node_at(scene, index);
  double scale[3];
  int i;
  own_trs(scene, stack, node, time, wanted, trs);
  if (node->inherit == FBX_INHERIT_ALL) return;
  if (wanted & 1u << SK_PATH_SCALE) whole_scale(scene, stack, node->scale_node, time, scale);
  for (i = 0; i < 3 && wanted & 1u << SK_PATH_SCALE; i++) trs->s[i] *= scale[i];
  if (!is_below_unscaled(scene, node) || !(wanted & 1u << SK_PATH_TRANSLATION)) return;
  whole_scale(scene, stack, node->parent, time, scale);
  for (i = 0; i < 3; i++) trs->t[i] *= scale[i];
}

/* ---- reading ------------------------------------------------------------------------------------- */

static void affine_of(const double t[3], const double degrees[3], const double s[3], double out[12]) {
  double q[4];
  float translation[3], rotation[4], scale[3];
  int i;
  fbx_quat_from_euler(degrees, 0, q);
  for (i = 0; i < 3; i++) translation[i] = (float)t[i], scale[i] = (float)s[i];
  for (i = 0; i < 4; i++) rotation[i] = (float)q[i];
  sk_affine_from_trs(translation, rotation, scale, out);
}

/* The properties of a model that say how it is transformed, as the file has them. */
typedef struct model_values {
  double lcl[3][3]; /* by sk_path */
  double pre[3], post[3], rotation_offset[3], rotation_pivot[3], scaling_offset[3], scaling_pivot[3];
  double geometric_t[3], geometric_r[3], geometric_s[3];
  double order, active, limit_only, inherit, visible, inherits_visible, shown;
} model_values;

/* What the SDK takes where neither the model nor its template says something. */
static const model_values standard_values = {.lcl = {[SK_PATH_SCALE] = {1, 1, 1}},
                                             .geometric_s = {1, 1, 1},
                                             .active = 1,
                                             .inherit = FBX_INHERIT_ALL,
                                             .visible = 1,
                                             .inherits_visible = 1,
                                             .shown = 1};

static void read_values(const fbx_document *d, uint32_t object, bool of_template, model_values *v) {
  const fbx_wanted wanted[] = {{"Lcl Translation", v->lcl[SK_PATH_TRANSLATION], 3, NULL},
                               {"Lcl Rotation", v->lcl[SK_PATH_ROTATION], 3, NULL},
                               {"Lcl Scaling", v->lcl[SK_PATH_SCALE], 3, NULL},
                               {"PreRotation", v->pre, 3, NULL},
                               {"PostRotation", v->post, 3, NULL},
                               {"RotationOffset", v->rotation_offset, 3, NULL},
                               {"RotationPivot", v->rotation_pivot, 3, NULL},
                               {"ScalingOffset", v->scaling_offset, 3, NULL},
                               {"ScalingPivot", v->scaling_pivot, 3, NULL},
                               {"GeometricTranslation", v->geometric_t, 3, NULL},
                               {"GeometricRotation", v->geometric_r, 3, NULL},
                               {"GeometricScaling", v->geometric_s, 3, NULL},
                               {"RotationOrder", &v->order, 1, NULL},
                               {"RotationActive", &v->active, 1, NULL},
                               {"RotationSpaceForLimitOnly", &v->limit_only, 1, NULL},
                               {"InheritType", &v->inherit, 1, NULL},
                               {"Visibility", &v->visible, 1, NULL},
                               {"Visibility Inheritance", &v->inherits_visible, 1, NULL},
                               {"Show", &v->shown, 1, NULL}};
  size_t count = sizeof wanted / sizeof *wanted;
  if (of_template) fbx_read_template(d, object, wanted, count);
  else fbx_read_own_properties(d, object, wanted, count);
}

static void set_geometric(const model_values *v, fbx_node *node) {
  int i;
  for (i = 0; i < 3; i++)
    node->has_geometric |= v->geometric_t[i] != 0.0 || v->geometric_r[i] != 0.0 || v->geometric_s[i] != 1.0;
  affine_of(v->geometric_t, v->geometric_r, v->geometric_s, node->geometric);
}

/* As MotionBuilder shows it ("Showing and hiding objects in the Viewer window"): a node whose Visibility is 0 hides all
   below it, down to one whose Visibility Inheritance is 0; Show is of the node's own mesh alone. (ufbx's `visible` is the
   own Visibility, and leaves the parents to its caller.) */
static void set_visible(const fbx_scene *scene, const model_values *v, fbx_node *node) {
  node->is_visible = v->visible != 0.0;
  if (v->inherits_visible != 0.0 && node->parent >= 0)
    node->is_visible &= fbx_node_at(scene, (size_t)node->parent)->is_visible;
  node->is_hidden = !node->is_visible || v->shown == 0.0;
}

/* `template_values` are those of the template of models, which is the same for all of them. */
static void read_node(const fbx_scene *scene, const model_values *template_values, fbx_node *node) {
  static const double none[3] = {0, 0, 0};
  model_values v = *template_values;
  bool uses_space;
  int i;
  read_values(&scene->document, node->object, false, &v);
  uses_space = v.active != 0.0 && v.limit_only == 0.0;
  memcpy(node->values, v.lcl, sizeof node->values);
  memcpy(node->rotation_offset, v.rotation_offset, sizeof v.rotation_offset);
  memcpy(node->rotation_pivot, v.rotation_pivot, sizeof v.rotation_pivot);
  memcpy(node->scaling_offset, v.scaling_offset, sizeof v.scaling_offset);
  memcpy(node->scaling_pivot, v.scaling_pivot, sizeof v.scaling_pivot);
  node->order = uses_space && v.order > 0.0 && v.order < SPHERIC ? (uint8_t)v.order : 0;
  node->inherit = v.inherit == 0.0 ? FBX_INHERIT_COMPONENTS : v.inherit == 2.0 ? FBX_INHERIT_NONE : FBX_INHERIT_ALL;
  set_visible(scene, &v, node);
  fbx_quat_from_euler(uses_space ? v.pre : none, 0, node->pre);
  fbx_quat_from_euler(uses_space ? v.post : none, 0, node->post_inverse);
  for (i = 0; i < 3; i++) {
    node->post_inverse[i] = -node->post_inverse[i];
    node->has_pivots |= v.rotation_pivot[i] != 0.0 || v.scaling_pivot[i] != 0.0 || v.scaling_offset[i] != 0.0;
  }
  set_geometric(&v, node);
}

/* ---- the tree ---------------------------------------------------------------------------------------- */

typedef struct pending { /* a model that waits to become a node */
  uint32_t object;
  int32_t parent;
} pending;

static sk_status push_children(fbx_scene *scene, sk_array *stack, uint32_t object, int32_t parent) {
  size_t at = 0, first = stack->count, low, high;
  uint32_t child;
  while ((child = fbx_next_child(&scene->document, object, FBX_MODEL, &at, NULL)) != FBX_NONE) {
    pending *added = sk_array_extend(stack, 1);
    if (!added) return import_no_memory(scene->document.job, sizeof *added);
    *added = (pending){child, parent};
  }
  for (low = first, high = stack->count; low + 1 < high; low++) { /* the first child is to be taken first */
    pending *list = stack->data, held = list[low];
    list[low] = list[--high];
    list[high] = held;
  }
  return SK_OK;
}

static sk_status add_node(fbx_scene *scene, const model_values *template_values, const pending *next) {
  fbx_node *node = sk_array_extend(&scene->nodes, 1);
  if (!node) return import_no_memory(scene->document.job, sizeof *node);
  if (scene->nodes.count > SK_MAX_JOINTS)
    return sk_fail(scene->document.job->error, SK_ERROR_IMPORT, "the model has more than %u nodes", SK_MAX_JOINTS);
  *node = (fbx_node){.object = next->object, .parent = next->parent, .scale_node = SK_NONE};
  scene->node_of[next->object] = (int32_t)scene->nodes.count - 1;
  read_node(scene, template_values, node);
  if (node->inherit == FBX_INHERIT_COMPONENTS) node->scale_node = node->parent;
  if (node->inherit == FBX_INHERIT_NONE && node->parent >= 0) {
    const fbx_node *parent = fbx_node_at(scene, (size_t)node->parent);
    node->scale_node = parent->inherit == FBX_INHERIT_ALL ? SK_NONE : parent->scale_node;
  }
  return SK_OK;
}

/* Models that no other one is above, and that are not below the root, count as being below it. */
static sk_status push_roots(fbx_scene *scene, sk_array *stack) {
  const fbx_document *d = &scene->document;
  sk_status status = SK_OK;
  uint32_t i;
  for (i = (uint32_t)d->objects.count; i-- > 0 && !status;) {
    size_t at = 0, above = 0;
    pending *added;
    if (fbx_object_at(d, i)->class != FBX_MODEL) continue;
    if (fbx_next_parent(d, i, FBX_MODEL, &at, NULL) != FBX_NONE) continue;
    if (fbx_next_parent(d, i, FBX_ROOT, &above, NULL) != FBX_NONE) continue;
    added = sk_array_extend(stack, 1);
    if (added) *added = (pending){i, SK_NONE};
    else status = import_no_memory(d->job, sizeof *added);
  }
  return status ? status : push_children(scene, stack, d->root, SK_NONE);
}

sk_status fbx_read_nodes(fbx_scene *scene) {
  const fbx_document *d = &scene->document;
  sk_array stack = SK_ARRAY(pending);
  model_values template_values = standard_values;
  sk_status status;
  size_t i;
  scene->nodes = SK_ARRAY(fbx_node);
  scene->node_of = sk_alloc(d->objects.count * sizeof *scene->node_of);
  if (!scene->node_of) return import_no_memory(d->job, d->objects.count * sizeof *scene->node_of);
  for (i = 0; i < d->objects.count; i++) scene->node_of[i] = SK_NONE;
  status = push_roots(scene, &stack);
  if (stack.count) read_values(d, ((pending *)stack.data)->object, true, &template_values);
  while (!status && stack.count) {
    pending next = ((pending *)stack.data)[--stack.count];
    if (scene->node_of[next.object] >= 0) { /* a second parent, or a circle */
      const fbx_object *object = fbx_object_at(d, next.object);
      import_note_add(d->job, NOTE_nodes_with_two_parents, 1, "'%.*s'", fbx_short_length(object), object->name);
      continue;
    }
    status = add_node(scene, &template_values, &next);
    if (!status) status = push_children(scene, &stack, next.object, (int32_t)scene->nodes.count - 1);
  }
  sk_array_free(&stack);
  return status;
}

/* ---- scale inheritance ---------------------------------------------------------------------------------- */

static bool differs_from_1(double scale) { return fabs(scale - 1.0) > UNSCALED; }

/* Whether a track, or any value of its sources, is a scale other than 1. */
static bool track_scales(const fbx_scene *scene, const fbx_stack *stack, const fbx_track *track) {
  const fbx_value_source *source = (const fbx_value_source *)stack->sources.data + track->first;
  const fbx_value_source *end = source + track->count;
  size_t key;
  int axis;
  for (; source < end; source++)
    for (axis = 0; axis < 3; axis++) {
      uint32_t number = source->curves[axis];
      const fbx_curve *curve = number == FBX_NONE ? NULL : (const fbx_curve *)scene->curves.data + number;
      if (!curve && differs_from_1(source->fixed[axis])) return true;
      for (key = 0; curve && key < curve->count; key++)
        if (differs_from_1(curve->keys[key].value)) return true;
    }
  return false;
}

/* Marks the nodes whose scale differs from 1, at rest or in any stack. */
static void mark_scaled(fbx_scene *scene) {
  size_t i, k;
  for (i = 0; i < scene->nodes.count; i++) {
    fbx_node *node = fbx_node_at(scene, i);
    const double *scale = node->values[SK_PATH_SCALE];
    node->is_scaled = differs_from_1(scale[0]) || differs_from_1(scale[1]) || differs_from_1(scale[2]);
  }
  for (i = 0; i < scene->stacks.count; i++) {
    const fbx_stack *stack = fbx_stack_at(scene, i);
    for (k = 0; k < stack->tracks.count; k++) {
      const fbx_track *track = (const fbx_track *)stack->tracks.data + k;
      if (track->path == SK_PATH_SCALE && track_scales(scene, stack, track))
        fbx_node_at(scene, (size_t)scene->node_of[track->object])->is_scaled = true;
    }
  }
}

/* The nearest node whose scale is not 1 among those whose scale multiplies that of `from`, itself included. All nodes
   above know theirs already. */
static int32_t next_scaled(const fbx_scene *scene, int32_t from) {
  const fbx_node *node = from < 0 ? NULL : fbx_node_at(scene, (size_t)from);
  if (!node || node->is_scaled) return from;
  return node->inherit == FBX_INHERIT_ALL ? SK_NONE : node->scale_node;
}

/* A node is split if a child does not inherit its scale and the scale is one, or if it has one of others in turn. Nodes
   whose scale is always 1 are left out of the chains of scale nodes: a file may have very long ones. */
void fbx_split_nodes(fbx_scene *scene) {
  size_t i;
  mark_scaled(scene);
  for (i = 0; i < scene->nodes.count; i++) {
    fbx_node *node = fbx_node_at(scene, i);
    node->scale_node = next_scaled(scene, node->scale_node);
    if (node->inherit != FBX_INHERIT_ALL && next_scaled(scene, node->parent) >= 0)
      fbx_node_at(scene, (size_t)node->parent)->is_split = true;
  }
}
