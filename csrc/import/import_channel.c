/* import_channel.c: a channel of keys: from the keys of a track to rows of times and values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../core/base/sk_math.h"
#include "import_channel.h"
#include "import_material.h"

#define UNIT_TOLERANCE   1e-6   /* a quaternion whose length is closer to 1 stays bit for bit */
#define REPORT_TOLERANCE 1e-5 /* one whose length is further from 1 is reported */

typedef struct key { /* one usable key of the track */
  double time;       /* seconds */
  uint32_t from;     /* number of its value in the track */
} key;

sk_array import_channel_keys(void) { return SK_ARRAY(key); }

/* ---- keys of one track ----------------------------------------------------------------- */

/* A cubic glTF track has three values for each of its times. */
double import_track_time(const import_clip *clip, const import_track *t, uint32_t i) {
  if (t->quats) return t->quats[i].mTime / clip->ticks_per_second;
  if (t->vectors) return t->vectors[i].mTime / clip->ticks_per_second;
  if (t->weights) return t->weights[i].mTime / clip->ticks_per_second;
  if (t->seconds) return t->seconds[t->interpolation == SK_CUBIC ? i / 3 : i];
  return t->times[t->interpolation == SK_CUBIC ? i / 3 : i];
}

/* The weight of the track's target in a key, which lists some targets only; NULL where it lists others. */
static const double *weight_at(const import_track *t, uint32_t i) {
  const struct aiMeshMorphKey *key = &t->weights[i];
  unsigned k;
  for (k = 0; k < key->mNumValuesAndWeights; k++)
    if (key->mValues[k] == t->column) return &key->mWeights[k];
  return NULL;
}

bool import_track_lists_target(const import_track *t) {
  uint32_t i;
  for (i = 0; i < t->count; i++)
    if (weight_at(t, i)) return true;
  return false;
}

/* Writes x, y, z and, of a rotation, w; of a weight the first number alone. Most keys are Assimp's, so they come first.
   */
static inline void value_of(const import_track *t, uint32_t i, float out[4]) {
  const float *at = t->values;
  if (t->quats) {
    const struct aiQuaternion *q = &t->quats[i].mValue;
    out[0] = q->x, out[1] = q->y, out[2] = q->z, out[3] = q->w;
  } else if (t->vectors) {
    const struct aiVector3D *v = &t->vectors[i].mValue;
    out[0] = v->x, out[1] = v->y, out[2] = v->z;
  } else if (t->weights) {
    out[0] = (float)*weight_at(t, i);
  } else if (t->path == SK_PATH_WEIGHT) {
    out[0] = at[(size_t)i * t->stride + t->column];
  } else if (t->path == SK_PATH_ROTATION) { /* these two are nearly all keys: no call for the width */
    memcpy(out, at + 4 * (size_t)i, 4 * sizeof *out);
  } else if (sk_path_moves_joint(t->path)) {
    memcpy(out, at + 3 * (size_t)i, 3 * sizeof *out);
  } else {
    uint32_t width = sk_path_width(t->path), k;
    for (k = 0; k < width; k++) out[k] = at[(size_t)i * width + k];
  }
}

static double square_of(const float q[4]) {
  return (double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3];
}

static inline bool value_is_usable(const import_track *t, uint32_t i) {
  float value[4] = {0};
  double square;
  value_of(t, i, value);
  square = square_of(value);
  return isfinite(square) && (t->path != SK_PATH_ROTATION || square > 1e-24);
}

/* Counts a case for the report, and names the clip and the joint or target. */
static void note(import_clip *clip, const import_track *t, import_note_code code, const char *what, double number) {
  const import_model *m = &clip->job->model;
  sk_path_owner owner = sk_owner_of(t->path);
  const sk_text *name = owner == SK_OWNER_TARGET     ? &((const sk_target *)m->targets.data + t->joint)->name
                        : owner == SK_OWNER_MATERIAL ? &((const sk_material *)m->materials.data + t->joint)->name
                                                     : (const sk_text *)m->names.data + t->joint;
  import_note_add(clip->job, code, 1, "clip '%.60s', %s '%.*s': %s %g", clip->title, sk_owner_name(t->path),
                  (int)(name->length < 60 ? name->length : 60),
                  name->length ? (const char *)m->text.data + name->offset : "", what, number);
}

static int compare_keys(const void *a, const void *b) {
  const key *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorts the keys where they are not in order. Of keys at one time the first stays. */
static void order_keys(import_clip *clip, const import_track *t) {
  key *keys = clip->keys.data;
  size_t i, kept = 0, count = clip->keys.count;
  for (i = 1; i < count && keys[i].time > keys[i - 1].time; i++) {}
  if (i >= count) return;
  note(clip, t, NOTE_key_times_repaired, "key at", keys[i].time);
  qsort(keys, count, sizeof *keys, compare_keys);
  for (i = 0; i < count; i++)
    if (!kept || keys[i].time > keys[kept - 1].time) keys[kept++] = keys[i];
  clip->keys.count = kept;
}

/* Lists the usable keys in the order of their times. */
static sk_status list_keys(import_clip *clip, const import_track *t) {
  bool cubic = t->interpolation == SK_CUBIC;
  key *added;
  uint32_t i;
  clip->keys.count = 0;
  added = sk_array_room(&clip->keys, t->count);
  if (!added) return import_no_memory(clip->job, t->count * sizeof *added);
  for (i = 0; i < t->count; i++) {
    uint32_t from = cubic ? 3 * i + 1 : i;
    double time = import_track_time(clip, t, from);
    if (t->weights && !weight_at(t, i)) continue;
    if (!isfinite(time)) note(clip, t, NOTE_key_times_repaired, "key number", i);
    else if (!value_is_usable(t, from)) note(clip, t, NOTE_numbers_repaired, "value of the key at", time);
    else *added++ = (key){time, from};
  }
  clip->keys.count = (size_t)(added - (key *)clip->keys.data);
  order_keys(clip, t);
  return SK_OK;
}

/* ---- times and values of the block ------------------------------------------------------- */

/* Channels with equal key times share them: most clips have one or two time lines. */
static sk_status put_times(import_clip *clip, uint64_t *first) {
  import_model *m = &clip->job->model;
  const key *keys = clip->keys.data;
  size_t count = clip->keys.count, i;
  double *times = sk_array_room(&m->times, count);
  uint64_t hash;
  uint32_t k, known = clip->recent_count < IMPORT_RECENT_LINES ? clip->recent_count : IMPORT_RECENT_LINES;
  if (!times) return import_no_memory(clip->job, count * sizeof *times);
  for (i = 0; i < count; i++) times[i] = keys[i].time + 0.0; /* makes -0 to 0 */
  hash = import_hash(times, count * sizeof *times);
  for (k = 0; k < known; k++) {
    const import_time_line *line = &clip->recent[k];
    if (line->count != count || line->hash != hash) continue;
    if (memcmp((const double *)m->times.data + line->first, times, count * sizeof *times)) continue;
    m->times.count -= count;
    *first = line->first;
    return SK_OK;
  }
  *first = m->times.count - count;
  clip->recent[clip->recent_count++ % IMPORT_RECENT_LINES] = (import_time_line){*first, (uint32_t)count, hash};
  return SK_OK;
}

static void normalize(import_clip *clip, const import_track *t, float q[4]) {
  double square = square_of(q), length;
  int i;
  if (fabs(square - 1.0) <= 2.0 * UNIT_TOLERANCE) return;
  length = sqrt(square);
  for (i = 0; i < 4; i++) q[i] = (float)(q[i] / length);
  if (fabs(length - 1.0) > REPORT_TOLERANCE) note(clip, t, NOTE_rotations_normalized, "a key of length", length);
}

static void clamp_factor(import_clip *clip, const import_track *t, float *value, uint32_t width) {
  import_range range = import_range_of(t->path);
  uint32_t k;
  for (k = 0; k < width; k++) {
    if (value[k] >= range.low && value[k] <= range.high) continue;
    note(clip, t, NOTE_material_factors_clamped, "a key has", value[k]);
    value[k] = (float)fmin(fmax(value[k], range.low), range.high);
  }
}

/* `shift` is -1 for the tangents that lead in, 1 for those that lead out, 0 for the values. Keys with bad values are
   gone already; a bad tangent becomes 0. Values of cubic rotations need not be unit quaternions. */
static sk_status put_values(import_clip *clip, const import_track *t, int shift, uint64_t *first) {
  sk_array *values = &clip->job->model.values;
  const key *keys = clip->keys.data;
  uint32_t width = sk_path_width(t->path), k;
  size_t i, count = clip->keys.count;
  bool unit = t->path == SK_PATH_ROTATION && t->interpolation != SK_CUBIC;
  bool factor = sk_owner_of(t->path) == SK_OWNER_MATERIAL && !shift;
  float *out = sk_array_room(values, count * width), value[4] = {0};
  if (!out) return import_no_memory(clip->job, count * width * sizeof *out);
  *first = values->count - count * width;
  for (i = 0; i < count; i++, out += width) {
    value_of(t, (uint32_t)((int64_t)keys[i].from + shift), value);
    if (unit) normalize(clip, t, value);
    if (factor) clamp_factor(clip, t, value, width);
    for (k = 0; k < width; k++) {
      bool bad = shift && import_is_bad(value[k]);
      out[k] = bad ? 0.0f : value[k];
      if (bad) note(clip, t, NOTE_numbers_repaired, "tangent of the key at", keys[i].time);
    }
  }
  return SK_OK;
}

/* ---- one channel ------------------------------------------------------------------------------ */

static uint32_t *taken_of(const import_clip *clip, const import_track *t) {
  const import_model *m = &clip->job->model;
  sk_path_owner owner = sk_owner_of(t->path);
  size_t first = owner == SK_OWNER_JOINT ? 0 : m->nodes.count + (owner == SK_OWNER_TARGET ? 0 : m->targets.count);
  return clip->taken + first + (size_t)t->joint;
}

/* False where the channel is left out, which the report says. */
static bool is_wanted(import_clip *clip, const import_track *t) {
  if (t->path == SK_PATH_SCALE && clip->job->request->ignore_animated_scale) {
    note(clip, t, NOTE_scale_channels_ignored, "keys:", t->count);
    return false;
  }
  if (*taken_of(clip, t) & 1u << t->path) {
    note(clip, t, NOTE_channels_duplicate, "keys:", t->count);
    return false;
  }
  return true;
}

static void note_shear(import_clip *clip, const import_track *t) {
  double *shear = sk_path_moves_joint(t->path) ? &clip->job->model.shear[t->joint] : NULL;
  if (!shear || *shear == 0.0) return;
  note(clip, t, NOTE_shear_lost, "of its largest element", *shear);
  *shear = 0.0; /* the report says it once */
}

sk_status import_add_channel(import_clip *clip, const import_track *t) {
  import_job *job = clip->job;
  sk_channel channel = {.joint = t->joint,
                        .path = (uint8_t)t->path,
                        .interpolation = (uint8_t)t->interpolation,
                        .in_tangents = SK_NONE64,
                        .out_tangents = SK_NONE64},
             *added;
  sk_status status;
  if (!is_wanted(clip, t)) return SK_OK;
  status = list_keys(clip, t);
  if (status) return status;
  if (!clip->keys.count) {
    note(clip, t, NOTE_channels_dropped, "usable keys:", 0);
    return SK_OK;
  }
  *taken_of(clip, t) |= 1u << t->path;
  note_shear(clip, t);
  channel.key_count = (uint32_t)clip->keys.count;
  channel.stride = sk_path_width(t->path);
  status = put_times(clip, &channel.times);
  if (!status) status = put_values(clip, t, 0, &channel.values);
  if (!status && t->interpolation == SK_CUBIC) status = put_values(clip, t, -1, &channel.in_tangents);
  if (!status && t->interpolation == SK_CUBIC) status = put_values(clip, t, 1, &channel.out_tangents);
  added = status ? NULL : sk_array_extend(&job->model.channels, 1);
  if (added) *added = channel;
  return status || added ? status : import_no_memory(job, sizeof *added);
}
