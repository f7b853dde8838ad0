/* import_clip.c: animations as clips: seconds, sorted keys, one channel for each joint and path. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/model/sk_pack.h"
#include "formats/import_fbx.h"

#define UNIT_TOLERANCE 1e-6 /* a quaternion whose length is closer to 1 stays bit for bit */
#define REPORT_TOLERANCE 1e-5
#define SAME_TICK 1e-4      /* of a tick: times went through float32 */
#define B3D_DEFAULT_TPS 60.0 /* what 0 stands for there */
#define RANGE_TOLERANCE 2e-7 /* seconds that a key may lie outside its clip's range */
#define LAST_EDGE (UINT32_MAX - 1) /* instead of a value of the track: the clip's edges */
#define FIRST_EDGE UINT32_MAX

typedef struct key { double time; uint32_t from; } key; /* `from`: which value of the track */

/* ---- keys of one track ----------------------------------------------------------------- */

/* Assimp's time in seconds. FBX's own are whole numbers, which Assimp divides and shifts. */
static inline double seconds_of(const import_clip *clip, double ticks) {
  double seconds = ticks / clip->ticks_per_second;
  if (!clip->shifted) return seconds;
  return (rint((seconds + FBX_EARLIEST) * FBX_SECOND) - clip->range.start) / FBX_SECOND;
}

/* Time of value i in seconds. A cubic glTF track has three values for each of its times. */
static inline double time_of(const import_clip *clip, const import_track *t, uint32_t i) {
  if (t->quats) return seconds_of(clip, t->quats[i].mTime);
  if (t->vectors) return seconds_of(clip, t->vectors[i].mTime);
  if (t->weights) return seconds_of(clip, t->weights[i].mTime);
  return t->times[t->interpolation == SK_CUBIC ? i / 3 : i];
}

/* A key of weights lists some targets only; NULL where it does not list the track's. */
static const double *weight_at(const import_track *t, uint32_t i) {
  const struct aiMeshMorphKey *key = &t->weights[i];
  unsigned k;
  for (k = 0; k < key->mNumValuesAndWeights; k++)
    if (key->mValues[k] == t->column) return &key->mWeights[k];
  return NULL;
}

/* x, y, z and, of a rotation, w; of weights one. Most keys are Assimp's. */
static inline void value_of(const import_track *t, uint32_t i, float out[4]) {
  const float *at = t->values;
  if (t->quats) {
    const struct aiQuaternion *q = &t->quats[i].mValue;
    out[0] = q->x, out[1] = q->y, out[2] = q->z, out[3] = q->w;
  } else if (t->vectors) {
    const struct aiVector3D *v = &t->vectors[i].mValue;
    out[0] = v->x, out[1] = v->y, out[2] = v->z;
  } else if (t->weights) {
    out[0] = (float)(*weight_at(t, i) / t->full);
  } else if (t->path == SK_PATH_WEIGHT) {
    out[0] = at[(size_t)i * t->stride + t->column];
  } else {
    at += (size_t)i * (t->path == SK_PATH_ROTATION ? 4 : 3);
    out[0] = at[0], out[1] = at[1], out[2] = at[2];
    if (t->path == SK_PATH_ROTATION) out[3] = at[3];
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

/* Counts a case for the report: a clip, a joint and what is said of it. */
static void note(import_clip *clip, const import_track *t, import_note_kind kind, const char *what,
                 double number) {
  const import_model *m = &clip->job->model;
  bool target = t->path == SK_PATH_WEIGHT;
  const sk_text *name = target ? &((const sk_target *)m->targets.data + t->joint)->name
                               : (const sk_text *)m->names.data + t->joint;
  import_note_add(clip->job, kind, 1, "clip '%.60s', %s '%.*s': %s %g", clip->title,
                  target ? "target" : "joint", (int)(name->length < 60 ? name->length : 60),
                  name->length ? (const char *)m->text.data + name->offset : "", what, number);
}

static int compare_keys(const void *a, const void *b) {
  const key *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorts where that is needed; of keys at one time the first stays. */
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
  key *place;
  uint32_t i;
  clip->keys.count = 0;
  place = sk_array_room(&clip->keys, t->count);
  if (!place) return import_no_memory(clip->job, t->count * sizeof *place);
  for (i = 0; i < t->count; i++) {
    uint32_t from = cubic ? 3 * i + 1 : i;
    double time = time_of(clip, t, from);
    if (t->weights && !weight_at(t, i)) continue;
    if (!isfinite(time)) note(clip, t, NOTE_key_times_repaired, "key number", i);
    else if (!value_is_usable(t, from)) note(clip, t, NOTE_numbers_repaired, "value of the key at", time);
    else *place++ = (key){time, from};
  }
  clip->keys.count = (size_t)(place - (key *)clip->keys.data);
  order_keys(clip, t);
  return SK_OK;
}

/* ---- a range: of FBX alone ----------------------------------------------------------------- */

/* The value between key k and the one before it. */
static void value_between(const import_clip *clip, const import_track *t, size_t k, double time, float out[4]) {
  const key *keys = clip->keys.data;
  double u = (time - keys[k - 1].time) / (keys[k].time - keys[k - 1].time);
  float from[4] = {0}, to[4] = {0};
  int i;
  value_of(t, keys[k - 1].from, from);
  value_of(t, keys[k].from, to);
  if (t->path == SK_PATH_ROTATION) sk_quat_slerp(from, to, u, out);
  for (i = 0; i < 4 && t->path != SK_PATH_ROTATION; i++) out[i] = (float)(from[i] + u * ((double)to[i] - from[i]));
}

/* Leaves the keys from 0 to the range's end. Where it cuts the line between two keys, a key on that line takes the
   place of the one outside; of a channel that has no key inside, and no line through it, the nearest one stays. */
static void cut_keys(import_clip *clip, const import_track *t) {
  double end = (clip->range.stop - clip->range.start) / FBX_SECOND;
  key *keys = clip->keys.data;
  size_t first = 0, last = clip->keys.count - 1;
  if (!clip->range.ends || !clip->keys.count) return;
  while (first < last && keys[first + 1].time <= RANGE_TOLERANCE) first++;
  while (last > first && keys[last - 1].time >= end - RANGE_TOLERANCE) last--;
  if (first < last && keys[first].time < -RANGE_TOLERANCE) value_between(clip, t, first + 1, 0.0, clip->edges[0]);
  if (first < last && keys[last].time > end + RANGE_TOLERANCE) value_between(clip, t, last, end, clip->edges[1]);
  if (first == last) value_of(t, keys[first].from, clip->edges[0]);
  if (first == last) value_of(t, keys[first].from, clip->edges[1]);
  if (keys[first].time < -RANGE_TOLERANCE) keys[first] = (key){0.0, FIRST_EDGE};
  if (keys[last].time > end + RANGE_TOLERANCE) keys[last] = (key){end, LAST_EDGE};
  memmove(keys, keys + first, (last - first + 1) * sizeof *keys);
  clip->keys.count = last - first + 1;
}

/* ---- times and values of the block ------------------------------------------------------- */

/* Channels with equal key times share them: most clips have one or two time lines. */
static sk_status put_times(import_clip *clip, uint64_t *first) {
  import_model *m = &clip->job->model;
  const key *keys = clip->keys.data;
  size_t count = clip->keys.count, i;
  double *times = sk_array_room(&m->times, count);
  uint64_t hash;
  uint32_t k, known = clip->recent_count < IMPORT_RECENT ? clip->recent_count : IMPORT_RECENT;
  if (!times) return import_no_memory(clip->job, count * sizeof *times);
  for (i = 0; i < count; i++) times[i] = keys[i].time + 0.0; /* one zero */
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
  clip->recent[clip->recent_count++ % IMPORT_RECENT] = (import_time_line){*first, (uint32_t)count, hash};
  return SK_OK;
}

static void normalize(import_clip *clip, const import_track *t, float q[4]) {
  double square = square_of(q), length;
  int i;
  if (fabs(square - 1.0) <= 2.0 * UNIT_TOLERANCE) return;
  length = sqrt(square);
  for (i = 0; i < 4; i++) q[i] = (float)(q[i] / length);
  if (fabs(length - 1.0) > REPORT_TOLERANCE)
    note(clip, t, NOTE_rotations_normalized, "a key of length", length);
}

/* `shift` is -1 for the tangents that lead in, 1 for those that lead out, 0 for the values. Keys
   with bad values are gone; a bad tangent becomes 0. Cubic rotations are no unit quaternions. */
static sk_status put_values(import_clip *clip, const import_track *t, int shift, uint64_t *first) {
  sk_array *values = &clip->job->model.values;
  const key *keys = clip->keys.data;
  uint32_t width = sk_path_width(t->path), k;
  size_t i, count = clip->keys.count;
  bool unit = t->path == SK_PATH_ROTATION && t->interpolation != SK_CUBIC;
  float *out = sk_array_room(values, count * width), value[4] = {0};
  if (!out) return import_no_memory(clip->job, count * width * sizeof *out);
  *first = values->count - count * width;
  for (i = 0; i < count; i++, out += width) {
    if (keys[i].from >= LAST_EDGE) memcpy(value, clip->edges[keys[i].from == LAST_EDGE], sizeof value);
    else value_of(t, (uint32_t)((int64_t)keys[i].from + shift), value);
    if (unit) normalize(clip, t, value);
    for (k = 0; k < width; k++) {
      bool bad = shift && import_is_bad(value[k]);
      out[k] = bad ? 0.0f : value[k];
      if (bad) note(clip, t, NOTE_numbers_repaired, "tangent of the key at", keys[i].time);
    }
  }
  return SK_OK;
}

/* ---- one channel ------------------------------------------------------------------------------ */

static uint8_t *taken_of(const import_clip *clip, const import_track *t) {
  size_t first = t->path == SK_PATH_WEIGHT ? clip->job->model.nodes.count : 0;
  return clip->taken + first + (size_t)t->joint;
}

/* False where the channel is left out, which is reported. */
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
  double *shear = t->path == SK_PATH_WEIGHT ? NULL : &clip->job->model.shear[t->joint];
  if (!shear || *shear == 0.0) return;
  note(clip, t, NOTE_shear_lost, "of its largest element", *shear);
  *shear = 0.0; /* said once */
}

sk_status import_add_channel(import_clip *clip, const import_track *t) {
  import_job *job = clip->job;
  sk_channel channel = {.joint = t->joint, .path = (uint8_t)t->path,
                        .interpolation = (uint8_t)t->interpolation,
                        .in_tangents = SK_NONE64, .out_tangents = SK_NONE64}, *place;
  sk_status status;
  if (!is_wanted(clip, t)) return SK_OK;
  status = list_keys(clip, t);
  if (status) return status;
  cut_keys(clip, t);
  if (!clip->keys.count) {
    note(clip, t, NOTE_channels_dropped, "usable keys:", 0);
    return SK_OK;
  }
  *taken_of(clip, t) |= (uint8_t)(1u << t->path);
  note_shear(clip, t);
  channel.key_count = (uint32_t)clip->keys.count;
  channel.stride = sk_path_width(t->path);
  status = put_times(clip, &channel.times);
  if (!status) status = put_values(clip, t, 0, &channel.values);
  if (!status && t->interpolation == SK_CUBIC) status = put_values(clip, t, -1, &channel.in_tangents);
  if (!status && t->interpolation == SK_CUBIC) status = put_values(clip, t, 1, &channel.out_tangents);
  place = status ? NULL : sk_array_extend(&job->model.channels, 1);
  if (place) *place = channel;
  return status || place ? status : import_no_memory(job, sizeof *place);
}

/* ---- Assimp's channels -------------------------------------------------------------------------- */

static sk_interpolation interpolation_of(enum aiAnimInterpolation kind) {
  if (kind == aiAnimInterpolation_Step) return SK_STEP;
  return kind == aiAnimInterpolation_Cubic_Spline ? SK_CUBIC : SK_LINEAR;
}

/* Cubic keys come as three, of one time: tangent in, value, tangent out; the tangents per second. */
static import_track track_of(const struct aiNodeAnim *source, int32_t joint, sk_path path) {
  import_track t = {.joint = joint, .path = path};
  if (path == SK_PATH_ROTATION) t.count = source->mNumRotationKeys, t.quats = source->mRotationKeys;
  else if (path == SK_PATH_SCALE) t.count = source->mNumScalingKeys, t.vectors = source->mScalingKeys;
  else t.count = source->mNumPositionKeys, t.vectors = source->mPositionKeys;
  if (!t.quats && !t.vectors) t.count = 0;
  if (t.count)
    t.interpolation = interpolation_of(t.quats ? t.quats->mInterpolation : t.vectors->mInterpolation);
  if (t.interpolation == SK_CUBIC) t.count /= 3;
  return t;
}

static void measure(const import_clip *clip, const import_track *t, double *last) {
  uint32_t i, count = t->interpolation == SK_CUBIC ? 3 * t->count : t->count;
  for (i = 0; i < count; i++) {
    double time = time_of(clip, t, i);
    if (isfinite(time) && time > *last) *last = time;
  }
}

/* Assimp calls it after the node, with "*" and the mesh's number behind it. */
static int32_t find_morphed(const import_job *job, const struct aiString *name) {
  struct aiString node = {0, ""};
  const char *star = strrchr(name->data, '*');
  size_t length = star ? (size_t)(star - name->data) : strlen(name->data);
  if (length >= AI_MAXLEN) return SK_NONE;
  memcpy(node.data, name->data, length);
  node.length = (ai_uint32)length;
  return import_find_joint(job, &node);
}

static bool lists_target(const import_track *t) {
  uint32_t i;
  for (i = 0; i < t->count; i++)
    if (weight_at(t, i)) return true;
  return false;
}

/* A key has some of the targets only: each target gets a channel of its own keys. */
static sk_status add_morph_channel(import_clip *clip, const struct aiMeshMorphAnim *source, double *last) {
  int32_t joint = find_morphed(clip->job, &source->mName);
  uint32_t count = 0, first = joint < 0 ? 0 : import_targets_of(clip->job, joint, &count);
  import_track t = {.path = SK_PATH_WEIGHT, .interpolation = SK_LINEAR, .count = source->mNumKeys,
                    .weights = source->mKeys};
  sk_status status = SK_OK;
  if (!source->mKeys) return SK_OK;
  measure(clip, &t, last);
  if (!count)
    import_note_add(clip->job, NOTE_channels_dropped, 1, "clip '%.60s': no morph targets at '%.60s'",
                    clip->title, source->mName.data);
  for (t.column = 0; t.column < count && !status; t.column++) {
    t.joint = (int32_t)(first + t.column);
    t.full = ((const float *)clip->job->model.target_full.data)[t.joint];
    if (lists_target(&t)) status = import_add_channel(clip, &t);
  }
  return status;
}

/* `*last` is the time of the last key over all channels, also of those that are left out. */
static sk_status add_assimp_channels(import_clip *clip, const struct aiAnimation *source, double *last) {
  unsigned c;
  int path;
  sk_status status = SK_OK;
  *last = -INFINITY;
  for (c = 0; c < source->mNumChannels && !status; c++) {
    const struct aiNodeAnim *channel = source->mChannels[c];
    int32_t joint = channel ? import_find_joint(clip->job, &channel->mNodeName) : SK_NONE;
    if (channel && joint < 0)
      import_note_add(clip->job, NOTE_channels_dropped, 1, "clip '%.60s': no joint '%.60s'", clip->title,
                      channel->mNodeName.data);
    for (path = 0; channel && path < SK_PATH_WEIGHT && !status; path++) {
      import_track t = track_of(channel, joint, (sk_path)path);
      measure(clip, &t, last);
      if (joint >= 0 && t.count) status = import_add_channel(clip, &t);
    }
  }
  for (c = 0; c < source->mNumMorphMeshChannels && !status; c++)
    if (source->mMorphMeshChannels[c])
      status = add_morph_channel(clip, source->mMorphMeshChannels[c], last);
  return status;
}

/* Only FBX stores a range of its own; elsewhere a duration that goes more than a frame beyond the
   last key is a mistake of the reader. */
static double duration_of(import_clip *clip, const struct aiAnimation *source, double last) {
  double stated = source->mDuration / clip->ticks_per_second, tick = 1.0 / clip->ticks_per_second;
  bool ranged = !strcmp(clip->job->format, "fbx");
  if (clip->shifted) stated = clip->range.ends ? (clip->range.stop - clip->range.start) / FBX_SECOND : last;
  if (clip->shifted && clip->range.ends && last > stated) last = stated; /* keys outside are cut */
  if (!isfinite(stated) || stated < 0.0) stated = 0.0;
  if (!isfinite(last)) return stated;
  if (last < 0.0) last = 0.0;
  if (last <= stated && (ranged || stated <= last + tick)) return stated;
  if (last > stated + SAME_TICK * tick || last < stated)
    import_note_add(clip->job, NOTE_duration_repaired, 1, "clip '%.60s': %g s, last key at %g s", clip->title,
                    stated, last);
  return last;
}

/* ---- clips ---------------------------------------------------------------------------------------- */

/* `source` is NULL for glTF. */
static sk_status name_clip(import_clip *clip, const struct aiAnimation *source, int32_t index,
                           sk_text *name) {
  import_job *job = clip->job;
  sk_array *pool = &job->model.text;
  char fallback[24];
  bool good;
  if (source) {
    good = sk_text_append(pool, source->mName.data,
                          source->mName.length < AI_MAXLEN ? source->mName.length : AI_MAXLEN - 1, name);
  } else {
    int32_t token = gltf_item(job->gltf, GLTF_ANIMATIONS, index);
    good = json_text(&job->gltf->json, json_member(&job->gltf->json, token, "name"), pool, name);
  }
  snprintf(fallback, sizeof fallback, "clip%d", index);
  if (good && !name->length) good = sk_text_append(pool, fallback, strlen(fallback), name);
  if (!good) return import_no_memory(job, sizeof fallback);
  snprintf(clip->title, sizeof clip->title, "%.*s", (int)(name->length < 90 ? name->length : 90),
           (const char *)pool->data + name->offset);
  return SK_OK;
}

/* glTF counts in seconds, Assimp would have it in milliseconds: 1000 ticks per second. SMD has frames alone, of
   which Assimp says 25. */
static double ticks_of(import_clip *clip, const struct aiAnimation *source) {
  double rate = import_md5_rate(clip->job);
  double ticks = rate > 0.0 ? rate : source ? source->mTicksPerSecond : 1000.0;
  if (import_is_smd(clip->job)) ticks = 0.0;
  if (ticks > 0.0 && isfinite(ticks)) return ticks;
  if (ticks == 0.0 && !strcmp(clip->job->format, "b3d")) return B3D_DEFAULT_TPS;
  import_note_add(clip->job, NOTE_ticks_per_second_assumed, 1, "clip '%.60s'", clip->title);
  return IMPORT_FALLBACK_TPS;
}

/* FBX may state ticks that cannot be used, and has made its times with them all the same. */
static void take_range(import_clip *clip, const struct aiAnimation *source, unsigned index) {
  double ticks = source->mTicksPerSecond;
  clip->shifted = clip->job->fbx.widened && isfinite(ticks) && ticks != 0.0;
  clip->range = clip->shifted ? import_fbx_range(clip->job, index) : (fbx_range){0.0, 0.0, false};
  if (clip->shifted) clip->ticks_per_second = ticks;
}

static sk_status make_clip(import_clip *clip, int32_t index) {
  import_job *job = clip->job;
  const struct aiAnimation *source = job->gltf ? NULL : job->scene->mAnimations[index];
  sk_clip_record record = {.first_channel = (uint32_t)job->model.channels.count,
                           .motion_times = SK_NONE64, .motion_values = SK_NONE64}, *place;
  double last = 0.0;
  sk_status status = name_clip(clip, source, index, &record.name);
  if (status) return status;
  memset(clip->taken, 0, job->model.nodes.count + job->model.targets.count);
  clip->ticks_per_second = record.ticks_per_second = ticks_of(clip, source);
  if (source) take_range(clip, source, (unsigned)index);
  if (source)
    import_note_add(job, NOTE_morph_targets_dropped, source->mNumMeshChannels, "clip '%.60s'",
                    clip->title);
  status = source ? add_assimp_channels(clip, source, &last) : gltf_add_channels(clip, index, &last);
  if (status) return status;
  record.channel_count = (uint32_t)job->model.channels.count - record.first_channel;
  record.duration = source ? duration_of(clip, source, last) : last; /* glTF has none of its own */
  record.first_event = (uint32_t)job->model.events.count;
  if (!source) status = gltf_add_extras(clip, index, &record);
  if (status) return status;
  place = sk_array_extend(&job->model.clips, 1);
  if (!place) return import_no_memory(job, sizeof *place);
  *place = record;
  return SK_OK;
}

static sk_status note_duplicates(import_job *job) {
  const sk_clip_record *clips = job->model.clips.data;
  import_names names = {NULL, 0};
  size_t i;
  if (!import_names_make(&names, job->model.clips.count))
    return import_no_memory(job, job->model.clips.count);
  for (i = 0; i < job->model.clips.count; i++) {
    const char *name = (const char *)job->model.text.data + clips[i].name.offset;
    uint32_t length = clips[i].name.length;
    if (import_names_add(&names, name, length, (uint32_t)i) != i)
      import_note_add(job, NOTE_duplicate_clip_names, 1, "'%.*s'", (int)(length < 100 ? length : 100), name);
  }
  import_names_free(&names);
  return SK_OK;
}

sk_status import_clips(import_job *job) {
  import_model *m = &job->model;
  import_clip clip = {.job = job, .keys = SK_ARRAY(key)};
  int32_t i, count;
  sk_status status = SK_OK;
  m->clips = SK_ARRAY(sk_clip_record);
  m->channels = SK_ARRAY(sk_channel);
  m->times = SK_ARRAY(double);
  m->values = SK_ARRAY(float);
  m->events = SK_ARRAY(sk_event);
  count = job->gltf ? job->gltf->lists[GLTF_ANIMATIONS].count : (int32_t)job->scene->mNumAnimations;
  clip.taken = sk_alloc(m->nodes.count + m->targets.count);
  if (!clip.taken) status = import_no_memory(job, m->nodes.count);
  for (i = 0; i < count && !status; i++) status = make_clip(&clip, i);
  if (!status) status = note_duplicates(job);
  sk_array_free(&clip.keys);
  sk_free(clip.taken);
  return status;
}

sk_status import_pack_clips(import_job *job) {
  import_model *m = &job->model;
  sk_packing packing = {m->clips.data, m->clips.count, m->channels.data, m->times.data,
                        m->values.data, SK_ARRAY(float)};
  bool good = sk_pack_run(&packing);
  sk_array_free(&m->values);
  m->values = packing.packed;
  return good ? SK_OK : import_no_memory(job, m->values.count * sizeof(float));
}
