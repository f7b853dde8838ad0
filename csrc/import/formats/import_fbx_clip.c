/* import_fbx_clip.c: what FBX says of its clips and Assimp's animations do not have.

   A curve node moves a property of a model by up to three curves, one for each axis. An axis without a curve has the
   value that the node gives it. Where Assimp splits a model into helper nodes, because it has pivots or a joint orient,
   such an axis comes as 0 (of a scale 1). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import_fbx.h"

#define RADIANS (3.14159265358979323846 / 180.0)

typedef struct fbx_track { /* a curve node, by what it moves */
  const fbx_object *node, *model;
  uint32_t stack; /* in the file's order */
} fbx_track;

static const fbx_object *object_at(const import_job *job, uint32_t index) {
  return index == FBX_NONE ? NULL : (const fbx_object *)job->fbx->objects.data + index;
}

/* ---- which curve nodes move a channel ------------------------------------------------------ */

static int compare_names(const char *a, size_t length, const char *b, size_t other) {
  int order = memcmp(a, b, length < other ? length : other);
  return order ? order : length < other ? -1 : length > other;
}

/* Of nodes that move the same the file's order counts. */
static int compare_tracks(const void *a, const void *b) {
  const fbx_track *x = a, *y = b;
  int order = compare_names(x->model->name, x->model->length, y->model->name, y->model->length);
  if (x->stack != y->stack) return x->stack < y->stack ? -1 : 1;
  if (order) return order;
  if (x->node->path != y->node->path) return x->node->path < y->node->path ? -1 : 1;
  return x->node->order < y->node->order ? -1 : x->node->order > y->node->order;
}

static const struct aiNode *above(const struct aiNode *node) {
  node = node->mParent;
  while (node && strstr(node->mName.data, FBX_HELPER)) node = node->mParent;
  return node;
}

/* Channels go by the name alone: where models share one, the first joint of that name may be below another parent. */
static void note_misplaced(import_job *job, const fbx_object *model) {
  const fbx_object *owner = object_at(job, model->owner);
  int64_t joint = model->shares_name ? import_names_find(&job->model.joint_of, model->name, model->length) : SK_NONE;
  const struct aiNode *parent;
  if (joint < 0 || !owner || owner->kind != FBX_MODEL) return;
  parent = above(((const struct aiNode *const *)job->model.nodes.data)[joint]);
  if (parent && !compare_names(parent->mName.data, parent->mName.length, owner->name, owner->length)) return;
  import_note_add(job, NOTE_channels_misplaced, 1, "'%.*s' below '%.*s'",
                  (int)(model->length < 60 ? model->length : 60), model->name,
                  (int)(owner->length < 60 ? owner->length : 60), owner->name);
}

static sk_status list_tracks(import_job *job, sk_array *tracks) {
  const fbx_object *objects = job->fbx->objects.data;
  size_t i;
  for (i = 0; i < job->fbx->objects.count; i++) {
    const fbx_object *node = &objects[i], *model = object_at(job, node->target);
    const fbx_object *layer = object_at(job, node->owner), *stack = layer ? object_at(job, layer->owner) : NULL;
    fbx_track *track;
    if (node->kind != FBX_CURVE_NODE || !model || !stack || !node->axes) continue;
    note_misplaced(job, model);
    track = sk_array_extend(tracks, 1);
    if (!track) return import_no_memory(job, sizeof *track);
    *track = (fbx_track){node, model, stack->order};
  }
  if (tracks->count) qsort(tracks->data, tracks->count, sizeof(fbx_track), compare_tracks);
  return SK_OK;
}

/* The first track that moves so; `*end` is behind the last one. NULL: there is none. */
static const fbx_track *find_tracks(const sk_array *tracks, const fbx_track *wanted, const fbx_track **end) {
  const fbx_track *list = tracks->data, *last = list + tracks->count;
  size_t low = 0, high = tracks->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_tracks(&list[middle], wanted) < 0) low = middle + 1;
    else high = middle;
  }
  for (*end = list + low; *end < last; ++*end)
    if ((*end)->stack != wanted->stack || (*end)->node->path != wanted->node->path ||
        compare_names((*end)->model->name, (*end)->model->length, wanted->model->name, wanted->model->length))
      break;
  return *end > list + low ? list + low : NULL;
}

/* ---- the values of axes without a curve ------------------------------------------------------ */

/* The node's own default, or else the model's value. */
static void read_values(const fbx_file *file, const fbx_track *track, double out[3]) {
  static const char *const axes[] = {"d|X", "d|Y", "d|Z"};
  static const char *const paths[] = {
      [SK_PATH_TRANSLATION] = "Lcl Translation", [SK_PATH_ROTATION] = "Lcl Rotation", [SK_PATH_SCALE] = "Lcl Scaling"};
  const fbx_object *node = track->node, *model = track->model;
  fbx_value values[3];
  bool given = fbx_property(file, model->inside, model->inside_end, paths[node->path], values, 3);
  int i;
  for (i = 0; i < 3; i++) {
    out[i] = given ? values[i].number : node->path == SK_PATH_SCALE;
    if (fbx_property(file, node->inside, node->inside_end, axes[i], &values[i], 1)) out[i] = values[i].number;
  }
}

static void fill_vectors(struct aiVectorKey *keys, unsigned count, unsigned missing, const double values[3]) {
  unsigned i;
  for (i = 0; keys && i < count; i++) {
    struct aiVector3D *v = &keys[i].mValue;
    if (missing & 1) v->x = (float)values[0];
    if (missing & 2) v->y = (float)values[1];
    if (missing & 4) v->z = (float)values[2];
  }
}

/* ---- rotations: x, y, z, w --------------------------------------------------------------------- */

static void multiply(const double a[4], const double b[4], double out[4]) {
  double x = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
  double y = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
  double z = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
  out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
  out[0] = x, out[1] = y, out[2] = z;
}

static void turn_about(int axis, double degrees, double out[4]) {
  memset(out, 0, 4 * sizeof *out);
  out[axis] = sin(0.5 * RADIANS * degrees);
  out[3] = cos(0.5 * RADIANS * degrees);
}

/* q = a turn about `last`, times a turn about `first` before it. Its numbers are the products of their halves'
   cosines and sines, a matrix of rank 1: its longer row has the direction of one, which gives the other. */
static void split(const double q[4], int last, int first, double a[4], double b[4]) {
  int middle = 3 - last - first;
  double sign = (last + 1) % 3 == first ? 1.0 : -1.0;
  double rows[2][2] = {{q[3], q[first]}, {q[last], sign * q[middle]}};
  double squares[2] = {rows[0][0] * rows[0][0] + rows[0][1] * rows[0][1],
                       rows[1][0] * rows[1][0] + rows[1][1] * rows[1][1]};
  const double *row = rows[squares[1] > squares[0]];
  double length = sqrt(squares[1] > squares[0] ? squares[1] : squares[0]);
  memset(a, 0, 4 * sizeof *a);
  memset(b, 0, 4 * sizeof *b);
  b[3] = row[0] / length, b[first] = row[1] / length;
  a[3] = rows[0][0] * b[3] + rows[0][1] * b[first];
  a[last] = rows[1][0] * b[3] + rows[1][1] * b[first];
}

/* What stands before, after or amid Assimp's rotations, which lack the turns about missing axes. */
typedef struct filling {
  int first, last;    /* axes: about which it turns first and last */
  double left[4], right[4], amid[4];
  bool splits;        /* the axis between is missing alone */
} filling;

static filling plan_filling(const uint8_t order[3], unsigned missing, const double degrees[3]) {
  filling f = {.first = order[0], .last = order[2], .left = {0, 0, 0, 1}, .right = {0, 0, 0, 1}};
  bool first = missing >> order[0] & 1, middle = missing >> order[1] & 1, last = missing >> order[2] & 1;
  turn_about(order[1], middle ? degrees[order[1]] : 0.0, f.amid);
  if (first) turn_about(order[0], degrees[order[0]], f.right);
  if (last) turn_about(order[2], degrees[order[2]], f.left);
  f.splits = middle && !first && !last;
  if (first) multiply(f.amid, f.right, f.right);
  else if (last) multiply(f.left, f.amid, f.left);
  return f;
}

static void fill_rotations(struct aiQuatKey *keys, unsigned count, const filling *f) {
  unsigned i;
  for (i = 0; keys && i < count; i++) {
    struct aiQuaternion *q = &keys[i].mValue;
    double turn[4] = {q->x, q->y, q->z, q->w}, a[4], b[4];
    if (!(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3] > 0.25)) continue;
    if (f->splits) {
      split(turn, f->last, f->first, a, b);
      multiply(a, f->amid, a);
      multiply(a, b, turn);
    } else {
      multiply(f->left, turn, turn);
      multiply(turn, f->right, turn);
    }
    q->x = (float)turn[0], q->y = (float)turn[1], q->z = (float)turn[2], q->w = (float)turn[3];
  }
}

/* ---- channels ------------------------------------------------------------------------------------ */

/* Whether it is a helper's channel; then for which model, and what it moves. */
static bool is_helper(const struct aiString *name, fbx_object *model, fbx_object *node) {
  static const char *const ends[] = {[SK_PATH_TRANSLATION] = FBX_HELPER "Translation",
                                     [SK_PATH_ROTATION] = FBX_HELPER "Rotation",
                                     [SK_PATH_SCALE] = FBX_HELPER "Scaling"};
  uint8_t i;
  for (i = 0; i < 3; i++) {
    size_t length = strlen(ends[i]);
    if (name->length < length || strcmp(name->data + name->length - length, ends[i])) continue;
    *model = (fbx_object){.name = name->data, .length = name->length - length};
    *node = (fbx_object){.path = i};
    return true;
  }
  return false;
}

static unsigned missing_axes(const fbx_track *track, const fbx_track *end, const double values[3]) {
  double usual = track->node->path == SK_PATH_SCALE;
  unsigned missing = 7, i;
  for (; track < end; track++) missing &= ~(unsigned)track->node->axes;
  for (i = 0; i < 3; i++)
    if (values[i] == usual || !isfinite(values[i])) missing &= ~(1u << i);
  return missing;
}

static void fill_channel(const fbx_file *file, struct aiNodeAnim *channel, const fbx_track *track,
                         const fbx_track *end) {
  static const uint8_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}};
  const fbx_object *model = track->model;
  fbx_value order = {0};
  double values[3];
  unsigned missing;
  filling plan;
  read_values(file, track, values);
  missing = missing_axes(track, end, values);
  if (!missing) return;
  if (track->node->path == SK_PATH_TRANSLATION)
    fill_vectors(channel->mPositionKeys, channel->mNumPositionKeys, missing, values);
  else if (track->node->path == SK_PATH_SCALE)
    fill_vectors(channel->mScalingKeys, channel->mNumScalingKeys, missing, values);
  if (track->node->path != SK_PATH_ROTATION) return;
  fbx_property(file, model->inside, model->inside_end, "RotationOrder", &order, 1);
  if (order.whole < 0 || order.whole >= (int64_t)(sizeof orders / sizeof *orders)) return;
  plan = plan_filling(orders[order.whole], missing, values);
  fill_rotations(channel->mRotationKeys, channel->mNumRotationKeys, &plan);
}

static void fill_channels(import_job *job, const sk_array *tracks) {
  fbx_file file = fbx_open(job->files.sources.data);
  unsigned a, c;
  for (a = 0; a < job->scene->mNumAnimations; a++) {
    const struct aiAnimation *animation = job->scene->mAnimations[a];
    uint32_t stack = ((const uint32_t *)job->fbx->stacks.data)[a];
    for (c = 0; c < animation->mNumChannels && stack != FBX_NONE; c++) {
      struct aiNodeAnim *channel = animation->mChannels[c];
      fbx_object model, node;
      const fbx_track wanted = {&node, &model, stack}, *end, *track;
      if (!channel || !is_helper(&channel->mNodeName, &model, &node)) continue;
      track = find_tracks(tracks, &wanted, &end);
      if (track) fill_channel(&file, channel, track, end);
    }
  }
}

/* ---- clips ----------------------------------------------------------------------------------------- */

typedef struct fbx_stack {
  const fbx_object *object;
  uint32_t next;       /* stack of the same name, or FBX_NONE */
  uint32_t left, last; /* of the first of a name: the first of its chain that has no animation yet, and its end */
} fbx_stack;

/* Stacks by their order; `names` finds the first of a name. */
static bool list_stacks(const import_job *job, fbx_stack *list, size_t count, import_names *names) {
  const fbx_object *objects = job->fbx->objects.data;
  uint32_t i, first;
  if (!list || !import_names_make(names, count)) return false;
  for (i = 0; i < job->fbx->objects.count; i++)
    if (objects[i].kind == FBX_STACK && objects[i].order < count) list[objects[i].order].object = &objects[i];
  for (i = 0; i < count; i++) {
    list[i] = (fbx_stack){list[i].object, FBX_NONE, i, i};
    if (!list[i].object) continue;
    first = import_names_add(names, list[i].object->name, list[i].object->length, i);
    if (first != i) list[list[first].last].next = i;
    list[first].last = i;
  }
  return true;
}

/* Assimp leaves out stacks that move nothing, and else keeps names and order. */
static uint32_t take_stack(const struct aiString *name, fbx_stack *list, const import_names *names) {
  int64_t first = import_names_find(names, name->data, name->length);
  uint32_t stack = first < 0 ? FBX_NONE : list[first].left;
  if (stack != FBX_NONE) list[first].left = list[stack].next;
  return stack;
}

static sk_status match_stacks(import_job *job) {
  size_t count = job->fbx->ranges.count, i;
  fbx_stack *list = sk_alloc_zero(count * sizeof *list);
  import_names names = {NULL, 0};
  uint32_t *stacks = NULL;
  if (list_stacks(job, list, count, &names)) stacks = sk_array_extend(&job->fbx->stacks, job->scene->mNumAnimations);
  for (i = 0; stacks && i < job->scene->mNumAnimations; i++)
    stacks[i] = take_stack(&job->scene->mAnimations[i]->mName, list, &names);
  import_names_free(&names);
  sk_free(list);
  return stacks ? SK_OK : import_no_memory(job, count * sizeof *list);
}

/* Without a file that was widened, Assimp has cut the keys itself. The file may state ticks that cannot be used; Assimp
   has made its times with them all the same. */
import_range import_fbx_range(const import_job *job, unsigned animation) {
  const import_fbx *fbx = job->fbx;
  double ticks = job->scene->mAnimations[animation]->mTicksPerSecond;
  import_range range = {FBX_SECOND, FBX_EARLIEST, 0.0, 0.0, false};
  uint32_t stack = FBX_NONE;
  if (!fbx->widened || !isfinite(ticks) || ticks == 0.0) return (import_range){0};
  if (animation < fbx->stacks.count) stack = ((const uint32_t *)fbx->stacks.data)[animation];
  if (stack != FBX_NONE) {
    const fbx_range *stated = (const fbx_range *)fbx->ranges.data + stack;
    range.start = stated->start, range.stop = stated->stop, range.ends = stated->ends;
  }
  return range;
}

static bool has_targets(const struct aiScene *scene) {
  unsigned i;
  for (i = 0; i < scene->mNumMeshes; i++)
    if (scene->mMeshes[i]->mNumAnimMeshes) return true;
  return false;
}

sk_status import_fbx_correct(import_job *job) {
  sk_array tracks = SK_ARRAY(fbx_track);
  sk_status status;
  if (!job->scene->mNumAnimations && !has_targets(job->scene)) return SK_OK;
  status = fbx_index(job);
  if (!status && job->scene->mNumAnimations) status = match_stacks(job);
  if (!status) status = list_tracks(job, &tracks);
  if (!status) fill_channels(job, &tracks);
  sk_array_free(&tracks);
  return status;
}
