/* import_fbx_clip.c: the stacks of an FBX file as clips: the exact motion of every joint, as keys.

   The times at which a component of a joint may change its course are the keys of all curves on which it depends,
   repeated as the curves are extrapolated. Between them it is smooth; import_fit.h makes the keys. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../import_fit.h"
#include "import_fbx.h"
#include "import_fbx_shape.h"

#define MAX_SKIPPED 1e15 /* repetitions of a curve before the clip: beyond, a double does not tell one from the next */

/* ---- times -------------------------------------------------------------------------------------- */

typedef struct time_list {
  const fbx_scene *scene;
  const fbx_stack *stack;
  sk_array times; /* double, units of the file */
  size_t *left; /* keys that may still be made */
  size_t cost; /* of a key: layers of all tracks */
  bool found; /* some track was added */
  bool is_cut; /* there are more repetitions than keys may be made */
  bool no_memory;
} time_list;

static void add_time(time_list *list, double time) {
  double *added;
  if (time < list->stack->start || time > list->stack->stop || list->no_memory) return;
  added = sk_array_room(&list->times, 1);
  if (added) *added = time;
  else list->no_memory = true;
}

/* The keys of a curve that is repeated before its first or after its last key, as far as the clip goes. Repetition 0 is
   next to the keys of the curve. */
static void add_repetitions(time_list *list, const fbx_curve *curve, bool before) {
  fbx_outside kind = before ? curve->before : curve->after;
  int64_t most = before ? curve->before_count : curve->after_count, n;
  double first = (double)curve->keys[0].time, last = (double)curve->keys[curve->count - 1].time, length = last - first;
  double gap = fmax(before ? first - list->stack->stop : list->stack->start - last, 0.0), skipped = gap / length;
  size_t i;
  if (kind == FBX_OUTSIDE_CONSTANT || kind == FBX_OUTSIDE_SLOPE || length < 1.0) return;
  if (most >= 0 && skipped >= (double)most) return;
  list->is_cut |= skipped > MAX_SKIPPED;
  if (list->is_cut) return;
  for (n = (int64_t)skipped; (most < 0 || n < most) && !list->no_memory; n++) {
    double shift = (double)(n + 1) * length;
    if (before ? last - shift < list->stack->start : first + shift > list->stack->stop) return;
    if (*list->left < curve->count) {
      list->is_cut = true;
      return;
    }
    *list->left -= curve->count;
    for (i = 0; i < curve->count; i++) {
      double from_first = (double)(curve->keys[i].time - curve->keys[0].time);
      if (kind == FBX_OUTSIDE_MIRROR && n % 2 == 0) from_first = length - from_first;
      add_time(list, before ? first - shift + from_first : first + shift + from_first);
    }
  }
}

static void add_curve(time_list *list, uint32_t number) {
  const fbx_curve *curve;
  size_t i;
  if (number == FBX_NONE) return;
  curve = (const fbx_curve *)list->scene->curves.data + number;
  if (curve->is_flat) return;
  for (i = 0; i < curve->count; i++) add_time(list, (double)curve->keys[i].time);
  add_repetitions(list, curve, true);
  add_repetitions(list, curve, false);
  if ((double)curve->keys[0].time < list->stack->start || curve->before != FBX_OUTSIDE_CONSTANT)
    add_time(list, list->stack->start);
  if ((double)curve->keys[curve->count - 1].time > list->stack->stop || curve->after != FBX_OUTSIDE_CONSTANT)
    add_time(list, list->stack->stop);
}

static void add_track(void *context, const fbx_track *track) {
  time_list *list = context;
  size_t i;
  int axis;
  list->found = true;
  list->cost += track->count;
  for (i = 0; i < track->count; i++) {
    const fbx_value_source *source = (const fbx_value_source *)list->stack->sources.data + track->first + i;
    const fbx_layer *layer = (const fbx_layer *)list->stack->layers.data + source->layer;
    for (axis = 0; axis < 3; axis++) add_curve(list, source->curves[axis]);
    if (!layer->is_first) add_curve(list, layer->weight_curve);
  }
}

static int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Sorts the times and drops doubles. Without any, the start of the clip is the one time. */
static void finish_times(time_list *list) {
  double *times = list->times.data;
  size_t i, kept = 0;
  if (!list->times.count) {
    times = sk_array_room(&list->times, 1);
    if (times) *times = list->stack->start;
    else list->no_memory = true;
    return;
  }
  qsort(times, list->times.count, sizeof *times, compare_times);
  for (i = 0; i < list->times.count; i++)
    if (!kept || times[i] > times[kept - 1]) times[kept++] = times[i];
  list->times.count = kept;
}

/* ---- channels of joints -------------------------------------------------------------------------------- */

typedef struct joint_motion { /* one component of one joint over time */
  const fbx_scene *scene;
  const fbx_stack *stack;
  fbx_joint joint;
  sk_path path;
} joint_motion;

static void motion_value(const void *context, double time, double out[4]) {
  const joint_motion *m = context;
  fbx_trs trs;
  fbx_node_trs(m->scene, m->stack, (size_t)m->joint.node, time, 1u << m->path, &trs);
  if (m->path == SK_PATH_TRANSLATION) memcpy(out, trs.t, sizeof trs.t);
  else if (m->path == SK_PATH_ROTATION) memcpy(out, trs.r, sizeof trs.r);
  else memcpy(out, trs.s, sizeof trs.s);
}

/* How far the translations of a stack go, along one axis, at most. */
static double reach_of(const fbx_scene *scene, const fbx_stack *stack) {
  const fbx_track *tracks = stack->tracks.data;
  double reach = 0.0;
  size_t i, k, key;
  int axis;
  for (i = 0; i < stack->tracks.count; i++)
    for (k = 0; k < tracks[i].count && tracks[i].path == SK_PATH_TRANSLATION; k++)
      for (axis = 0; axis < 3; axis++) {
        const fbx_value_source *source = (const fbx_value_source *)stack->sources.data + tracks[i].first + k;
        const fbx_curve *curve;
        double low = INFINITY, high = -INFINITY;
        if (source->curves[axis] == FBX_NONE) continue;
        curve = (const fbx_curve *)scene->curves.data + source->curves[axis];
        for (key = 0; key < curve->count; key++)
          low = fmin(low, curve->keys[key].value), high = fmax(high, curve->keys[key].value);
        reach = fmax(reach, high - low);
      }
  return reach;
}

static sk_status add_fitted(import_clip *clip, const import_function *f, time_list *list, int32_t joint, sk_path path) {
  import_fit_times times;
  finish_times(list);
  if (list->no_memory) return import_no_memory(clip->job, sizeof(double));
  times = (import_fit_times){list->times.data, list->times.count, list->left, list->cost, list->is_cut};
  return import_fit_channel(clip, f, &times, joint, path);
}

/* Whether the joint has the component at all. */
static bool has_path(fbx_joint_kind kind, sk_path path) {
  return kind == FBX_JOINT_WHOLE || (kind == FBX_JOINT_SCALE) == (path == SK_PATH_SCALE);
}

static sk_status add_joint_channel(import_clip *clip, const fbx_stack *stack, size_t number, sk_path path,
                                   double size) {
  const fbx_scene *scene = &clip->job->fbx->scene;
  const fbx_joint *joint = (const fbx_joint *)clip->job->fbx->joints.data + number;
  joint_motion motion = {scene, stack, *joint, path};
  import_function f = {motion_value,
                       &motion,
                       path == SK_PATH_ROTATION ? 4 : 3,
                       import_fit_tolerance(clip->job, path, number, size),
                       scene->document.second,
                       stack->start};
  time_list list = {.scene = scene, .stack = stack, .times = SK_ARRAY(double), .left = &clip->job->fbx->keys_left};
  sk_status status = SK_OK;
  if (joint->node < 0 || !has_path(joint->kind, path)) return SK_OK;
  fbx_node_tracks(scene, stack, (size_t)joint->node, path, add_track, &list);
  if (list.found) status = add_fitted(clip, &f, &list, (int32_t)number, path);
  sk_array_free(&list.times);
  return status;
}

/* ---- weights of targets ------------------------------------------------------------------------------------ */

typedef struct weight_motion {
  const fbx_scene *scene;
  const fbx_stack *stack;
  const fbx_track *track;
  const fbx_target *target;
} weight_motion;

static void weight_value(const void *context, double time, double out[4]) {
  const weight_motion *m = context;
  double percent[3] = {m->target->rest_percent, 0, 0};
  fbx_track_values(m->scene, m->stack, m->track, time, NULL, percent);
  out[0] = fbx_target_weight(m->target, percent[0]);
}

/* Between the shapes of a channel the weight of a target has corners, where the percent passes those of its shapes:
   they are found by halving between the times that are known. */
static void add_corners(time_list *list, const weight_motion *m) {
  double corners[FBX_MAX_CORNERS];
  size_t corner_count = fbx_corners(m->target, corners), count, i, k;
  if (!corner_count) return;
  finish_times(list);
  count = list->times.count;
  for (k = 0; k < corner_count; k++)
    for (i = 0; i + 1 < count; i++) {
      const double *times = list->times.data;
      double low = times[i], high = times[i + 1], a[3] = {m->target->rest_percent}, b[3] = {m->target->rest_percent};
      int step;
      fbx_track_values(m->scene, m->stack, m->track, low, NULL, a);
      fbx_track_values(m->scene, m->stack, m->track, high, NULL, b);
      if ((a[0] < corners[k]) == (b[0] < corners[k])) continue;
      for (step = 0; step < 60; step++) {
        double middle = 0.5 * (low + high), c[3] = {m->target->rest_percent};
        fbx_track_values(m->scene, m->stack, m->track, middle, NULL, c);
        if ((c[0] < corners[k]) == (a[0] < corners[k])) low = middle;
        else high = middle;
      }
      add_time(list, high);
    }
}

static sk_status add_weight_channel(import_clip *clip, const fbx_stack *stack, const fbx_target *target,
                                    int32_t number) {
  const fbx_scene *scene = &clip->job->fbx->scene;
  weight_motion motion = {scene, stack, fbx_find_track(stack, target->channel, SK_PATH_WEIGHT), target};
  import_function f = {weight_value,           &motion,     1, import_fit_tolerance(clip->job, SK_PATH_WEIGHT, 0, 1.0),
                       scene->document.second, stack->start};
  time_list list = {.scene = scene, .stack = stack, .times = SK_ARRAY(double), .left = &clip->job->fbx->keys_left};
  sk_status status;
  if (!motion.track || !target->shape) return SK_OK;
  add_track(&list, motion.track);
  add_corners(&list, &motion);
  status = add_fitted(clip, &f, &list, number, SK_PATH_WEIGHT);
  sk_array_free(&list.times);
  return status;
}

/* ---- clips ----------------------------------------------------------------------------------------------------- */

static const fbx_stack *stack_of_clip(const import_job *job, int32_t index) {
  const fbx_scene *scene = &job->fbx->scene;
  return fbx_stack_at(scene, ((const uint32_t *)scene->playing.data)[index]);
}

int32_t fbx_clip_count(const import_job *job) { return (int32_t)job->fbx->scene.playing.count; }

bool fbx_name_clip(import_job *job, int32_t index, sk_text *name) {
  const fbx_object *object = fbx_object_at(&job->fbx->scene.document, stack_of_clip(job, index)->object);
  return sk_text_append(&job->model.text, object->name, object->name_length, name);
}

sk_status fbx_add_channels(import_clip *clip, int32_t index, double *last) {
  import_job *job = clip->job;
  const fbx_stack *stack = stack_of_clip(job, index);
  double size = fmax(import_fit_size(&job->model), reach_of(&job->fbx->scene, stack));
  size_t j, count = job->fbx->joints.count;
  int path;
  sk_status status = index ? SK_OK : fbx_list_targets(job);
  for (j = 0; j < count && !status; j++)
    for (path = 0; path < SK_PATH_WEIGHT && !status; path++)
      status = add_joint_channel(clip, stack, j, (sk_path)path, size);
  for (j = 0; j < job->fbx->targets.count && !status; j++)
    status = add_weight_channel(clip, stack, (const fbx_target *)job->fbx->targets.data + j, (int32_t)j);
  *last = (stack->stop - stack->start) / job->fbx->scene.document.second;
  return status;
}

sk_status fbx_add_extras(import_clip *clip, int32_t index, sk_clip_record *record) {
  (void)index;
  record->ticks_per_second = clip->job->fbx->fps;
  return SK_OK;
}
