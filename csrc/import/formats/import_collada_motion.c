/* import_collada_motion.c: the motion of nodes and morph targets of COLLADA as keys.

   A node whose transforms are translations, rotations and scales in this order has its parts from these; of another node
   the matrix is made at each time and split. Both are exact functions of time, to which import_fit.h fits keys. The keys
   of a single matrix are taken as they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_fit.h"
#include "import_collada.h"

/* ---- the motion of a node ---------------------------------------------------------------------------------------- */

typedef struct motion { /* of one node, or of one target */
  const import_dae *dae;
  const dae_chain *chain;
  const uint32_t *channels; /* of the node in this clip, ordered by transform */
  uint32_t count;
  sk_path path;
} motion;

/* Sets the numbers of a transform at a time from the channels, of which *next is the first for it. True where a matrix
   comes from a curve as a whole, which is in *parts. */
static bool transform_at(const motion *m, uint32_t number, double time, uint32_t *next, dae_transform *out,
                         dae_trs *parts) {
  bool whole = false;
  uint32_t k;
  *out = *dae_transform_at(m->dae, number);
  for (; *next < m->count && dae_channel_at(m->dae, m->channels[*next])->transform == number; ++*next) {
    const dae_channel *channel = dae_channel_at(m->dae, m->channels[*next]);
    const dae_curve *curve = dae_curve_of(m->dae, channel);
    if (channel->column >= 0) {
      out->values[channel->column] = dae_curve_value(curve, 0, time);
    } else if (curve->parts) {
      dae_matrix_at(curve, time, parts);
      whole = true;
    } else if (out->word == DAE_rotate && curve->width == 1) {
      out->values[3] = dae_curve_value(curve, 0, time);
    } else {
      for (k = 0; k < curve->width && k < 16; k++) out->values[k] = dae_curve_value(curve, k, time);
    }
  }
  return whole;
}

static void parts_of_chain(const motion *m, double time, dae_trs *out) {
  uint32_t i, next = 0;
  dae_transform transform;
  double turn[4];
  int k;
  *out = (dae_trs){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
  for (i = m->chain->first; i < m->chain->first + m->chain->count; i++) {
    transform_at(m, i, time, &next, &transform, NULL);
    for (k = 0; k < 3 && transform.word == DAE_translate; k++) out->t[k] += transform.values[k];
    for (k = 0; k < 3 && transform.word == DAE_scale; k++) out->s[k] *= transform.values[k];
    if (transform.word != DAE_rotate) continue;
    dae_axis_rotation(transform.values, turn);
    import_quat_multiply(out->r, turn, out->r);
  }
}

static void matrix_of_chain(const motion *m, double time, double out[12]) {
  uint32_t i, next = 0;
  dae_transform transform;
  double matrix[12];
  dae_trs parts;
  memcpy(out, sk_affine_identity, sizeof sk_affine_identity);
  for (i = m->chain->first; i < m->chain->first + m->chain->count; i++) {
    if (transform_at(m, i, time, &next, &transform, &parts)) sk_affine_compose(parts.t, parts.r, parts.s, matrix);
    else dae_transform_matrix(&transform, matrix);
    sk_affine_multiply(out, matrix, out);
  }
}

/* Whether the node has one transform, a matrix with one curve for all of it. */
static const dae_curve *only_matrix(const motion *m) {
  const dae_curve *curve = dae_curve_of(m->dae, dae_channel_at(m->dae, m->channels[0]));
  return m->chain->count == 1 && m->count == 1 && curve->parts ? curve : NULL;
}

static void motion_value(const void *context, double time, double out[4]) {
  const motion *m = context;
  const dae_curve *curve = only_matrix(m);
  double matrix[12];
  dae_trs parts;
  if (curve) {
    dae_matrix_at(curve, time, &parts);
  } else if (m->chain->is_trs) {
    parts_of_chain(m, time, &parts);
  } else {
    matrix_of_chain(m, time, matrix);
    sk_affine_split(matrix, parts.t, parts.r, parts.s);
  }
  if (m->path == SK_PATH_ROTATION) memcpy(out, parts.r, sizeof parts.r);
  else memcpy(out, m->path == SK_PATH_TRANSLATION ? parts.t : parts.s, sizeof parts.t);
}

typedef struct weight { /* of one target */
  const dae_curve *curve;
  uint32_t column;
} weight;

static void weight_value(const void *context, double time, double out[4]) {
  const weight *w = context;
  out[0] = dae_curve_value(w->curve, w->column, time);
}

/* ---- times ---------------------------------------------------------------------------------------------------------- */

typedef struct range { /* of a clip */
  double start, end; /* infinite, where all keys belong to it */
  double size;       /* of the model, and of its motion */
} range;

static int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static bool add_time(sk_array *times, double time) {
  double *added = sk_array_room(times, 1);
  if (added) *added = time;
  return added != NULL;
}

/* The keys of a curve within the range, and the ends of the range where keys are beyond them. */
static bool add_times(sk_array *times, const dae_curve *curve, const range *r) {
  size_t i;
  for (i = 0; i < curve->count; i++)
    if (curve->keys[i].time >= r->start && curve->keys[i].time <= r->end && !add_time(times, curve->keys[i].time))
      return false;
  if (curve->keys[0].time < r->start && !add_time(times, r->start)) return false;
  return curve->keys[curve->count - 1].time <= r->end || add_time(times, r->end);
}

/* In order, each once. A range without keys has its start. */
static bool finish_times(sk_array *times, const range *r) {
  double *time;
  size_t i, kept = 0;
  if (!times->count && !add_time(times, r->start)) return false;
  time = times->data;
  qsort(time, times->count, sizeof *time, compare_times);
  for (i = 0; i < times->count; i++)
    if (!kept || time[i] > time[kept - 1]) time[kept++] = time[i];
  times->count = kept;
  return true;
}

/* ---- channels of nodes -------------------------------------------------------------------------------------------------- */

static bool concerns(const motion *m, const dae_channel *channel) {
  static const dae_word words[] = {DAE_translate, DAE_rotate, DAE_scale};
  if (!m->chain->is_trs) return true;
  return dae_transform_at(m->dae, channel->transform)->word == words[m->path];
}

/* The keys as they are: linear, or steps, of one matrix. */
static sk_status add_matrix_keys(import_clip *clip, const motion *m, const dae_curve *curve, const range *r,
                                 int32_t joint) {
  uint32_t width = sk_path_width(m->path), k;
  double origin = isfinite(r->start) ? r->start : 0.0, *seconds = sk_alloc(curve->count * sizeof *seconds);
  float *values = sk_alloc(curve->count * width * sizeof *values), *out = values;
  import_track track = {.joint = joint,
                        .path = m->path,
                        .interpolation = curve->is_straight ? SK_LINEAR : SK_STEP,
                        .count = (uint32_t)curve->count,
                        .values = values,
                        .seconds = seconds,
                        .stride = 1};
  size_t i;
  sk_status status = seconds && values ? SK_OK : import_no_memory(clip->job, curve->count * width * sizeof *values);
  for (i = 0; i < curve->count && !status; i++) {
    const dae_trs *part = &curve->parts[i];
    const double *from = m->path == SK_PATH_TRANSLATION ? part->t : m->path == SK_PATH_ROTATION ? part->r : part->s;
    seconds[i] = curve->keys[i].time - origin;
    for (k = 0; k < width; k++) *out++ = (float)from[k];
  }
  if (!status) status = import_add_channel(clip, &track);
  sk_free(seconds);
  sk_free(values);
  return status;
}

static sk_status add_path(import_clip *clip, const motion *m, const range *r, int32_t joint) {
  import_dae *dae = clip->job->dae;
  const dae_curve *curve = only_matrix(m);
  sk_array times = SK_ARRAY(double);
  import_function f = {motion_value,
                       m,
                       sk_path_width(m->path),
                       import_fit_tolerance(clip->job, m->path, (size_t)joint, r->size),
                       1.0,
                       isfinite(r->start) ? r->start : 0.0};
  bool found = false, good = true;
  uint32_t i;
  sk_status status = SK_OK;
  if (curve && (curve->is_straight || curve->is_stepped) && curve->keys[0].time >= r->start &&
      curve->keys[curve->count - 1].time <= r->end)
    return add_matrix_keys(clip, m, curve, r, joint);
  for (i = 0; i < m->count && good; i++) {
    const dae_channel *channel = dae_channel_at(dae, m->channels[i]);
    if (!concerns(m, channel)) continue;
    found = true;
    good = add_times(&times, dae_curve_of(dae, channel), r);
  }
  if (found && good && (good = finish_times(&times, r))) {
    import_fit_times list = {times.data, times.count, &dae->keys_left, m->chain->count, false};
    status = import_fit_channel(clip, &f, &list, joint, m->path);
  }
  sk_array_free(&times);
  return good ? status : import_no_memory(clip->job, sizeof(double));
}

/* What T, R and S cannot hold of the matrices at the keys. */
static void note_shear(import_clip *clip, const motion *m, int32_t joint) {
  const sk_text *name = (const sk_text *)clip->job->model.names.data + joint;
  uint32_t i;
  size_t k;
  if (m->chain->is_trs || only_matrix(m)) return;
  for (i = 0; i < m->count; i++) {
    const dae_curve *curve = dae_curve_of(m->dae, dae_channel_at(m->dae, m->channels[i]));
    for (k = 0; k < curve->count; k++) {
      double matrix[12];
      dae_trs trs;
      matrix_of_chain(m, curve->keys[k].time, matrix);
      if (!dae_is_sheared(matrix, &trs)) continue;
      import_note_add(clip->job, NOTE_shear_lost, 1, "clip '%.60s', joint '%.*s': at %g s", clip->title,
                      (int)(name->length < 60 ? name->length : 60),
                      (const char *)clip->job->model.text.data + name->offset, curve->keys[k].time);
      return;
    }
  }
}

static sk_status add_node(import_clip *clip, motion *m, const range *r, uint32_t node) {
  int32_t joint = import_contents_joint(clip->job, (int32_t)node);
  int path;
  sk_status status = SK_OK;
  for (path = 0; path < 3 && !status; path++) {
    m->path = (sk_path)path;
    status = add_path(clip, m, r, joint);
  }
  note_shear(clip, m, joint);
  return status;
}

/* The channels of a node, for all of its instances. Two curves for one number are reported; the last one counts. */
static sk_status add_nodes(import_clip *clip, const uint32_t *channels, uint32_t count, const range *r) {
  import_dae *dae = clip->job->dae;
  uint32_t node = dae_channel_at(dae, channels[0])->node, i;
  motion m = {dae, dae_chain_of(dae, node), channels, count, SK_PATH_TRANSLATION};
  sk_status status = SK_OK;
  for (i = 0; i < count && !status; i++) {
    const dae_channel *channel = dae_channel_at(dae, channels[i]),
                      *last = i ? dae_channel_at(dae, channels[i - 1]) : NULL;
    const dae_transform *transform = dae_transform_at(dae, channel->transform);
    if (channel->column < 0 && transform->word == DAE_matrix)
      status = dae_split_matrices(clip->job, dae_curve_of(dae, channel));
    if (last && last->transform == channel->transform && last->column == channel->column)
      import_note_add(clip->job, NOTE_channels_duplicate, 1, "clip '%.60s': target '%.*s'", clip->title,
                      IMPORT_SHORT(dae_attribute(&dae->tree, channel->element, DAE_target)));
  }
  for (i = dae->of_element.starts[node]; i < dae->of_element.starts[node + 1] && !status; i++)
    status = add_node(clip, &m, r, dae->of_element.items[i]);
  return status;
}

/* ---- weights --------------------------------------------------------------------------------------------------------------- */

static sk_status add_weight(import_clip *clip, const dae_curve *curve, uint32_t column, const range *r,
                            int32_t target) {
  import_dae *dae = clip->job->dae;
  weight w = {curve, column};
  sk_array times = SK_ARRAY(double);
  import_function f = {weight_value,
                       &w,
                       1,
                       import_fit_tolerance(clip->job, SK_PATH_WEIGHT, 0, 1.0),
                       1.0,
                       isfinite(r->start) ? r->start : 0.0};
  sk_status status = SK_OK;
  if (add_times(&times, curve, r) && finish_times(&times, r)) {
    import_fit_times list = {times.data, times.count, &dae->keys_left, 1, false};
    status = import_fit_channel(clip, &f, &list, target, SK_PATH_WEIGHT);
  } else {
    status = import_no_memory(clip->job, sizeof(double));
  }
  sk_array_free(&times);
  return status;
}

/* A curve of several numbers has one for each target, from the one that the channel names on. */
static sk_status add_weights(import_clip *clip, const dae_channel *channel, const range *r) {
  import_dae *dae = clip->job->dae;
  const dae_curve *curve = dae_curve_of(dae, channel);
  const dae_use *uses = dae->morphs.data;
  uint32_t i, column;
  bool found = false;
  sk_status status = SK_OK;
  for (i = dae->of_morph.starts[channel->morph]; i < dae->of_morph.starts[channel->morph + 1]; i++) {
    uint32_t count, first;
    first = import_targets_of(clip->job, import_contents_joint(clip->job, uses[dae->of_morph.items[i]].node), &count);
    for (column = 0; column < curve->width && channel->target + column < count && !status; column++) {
      found = true;
      status = add_weight(clip, curve, column, r, (int32_t)(first + channel->target + column));
    }
  }
  if (!found && !status)
    import_note_add(clip->job, NOTE_channels_dropped, 1, "target '%.*s' is not in the scene",
                    IMPORT_SHORT(dae_attribute(&dae->tree, channel->element, DAE_target)));
  return status;
}

/* ---- one clip ------------------------------------------------------------------------------------------------------------------ */

/* How far the translations of a channel go along one axis. */
static double reach_of(const import_dae *dae, const dae_channel *channel) {
  const dae_curve *curve = dae_curve_of(dae, channel);
  double reach = 0.0;
  uint32_t column;
  size_t k;
  if (!channel->node || dae_transform_at(dae, channel->transform)->word != DAE_translate) return 0.0;
  for (column = 0; column < curve->width; column++) {
    double low = INFINITY, high = -INFINITY;
    for (k = 0; k < curve->count; k++) {
      double value = dae_number_at(&curve->values, curve->keys[k].row, column);
      low = fmin(low, value), high = fmax(high, value);
    }
    reach = fmax(reach, high - low);
  }
  return reach;
}

static range range_of(const import_job *job, const dae_clip *clip, double *last) {
  const import_dae *dae = job->dae;
  range r = {-INFINITY, INFINITY, import_fit_size(&job->model)};
  size_t i;
  *last = 0.0;
  for (i = 0; i < clip->channels.count; i++) {
    const dae_channel *channel = dae_channel_at(dae, ((const uint32_t *)clip->channels.data)[i]);
    const dae_curve *curve = dae_curve_of(dae, channel);
    *last = fmax(*last, curve->keys[curve->count - 1].time);
    r.size = fmax(r.size, reach_of(dae, channel) * import_fit_unit(&job->model));
  }
  if (!clip->has_range) return r;
  r.start = clip->start;
  r.end = clip->end >= clip->start ? clip->end : fmax(*last, clip->start);
  *last = r.end - r.start;
  return r;
}

sk_status dae_add_channels(import_clip *clip, int32_t index, double *last) {
  import_dae *dae = clip->job->dae;
  const dae_clip *from = (const dae_clip *)dae->clips.data + index;
  const uint32_t *channels = from->channels.data;
  range r = range_of(clip->job, from, last);
  size_t i, next;
  sk_status status = SK_OK;
  for (i = 0; i < from->channels.count && !status; i = next) {
    const dae_channel *channel = dae_channel_at(dae, channels[i]);
    next = i + 1;
    while (channel->node && next < from->channels.count && dae_channel_at(dae, channels[next])->node == channel->node)
      next++;
    if (channel->node) status = add_nodes(clip, channels + i, (uint32_t)(next - i), &r);
    else status = add_weights(clip, channel, &r);
  }
  return status;
}
