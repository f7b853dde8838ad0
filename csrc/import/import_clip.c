/* import_clip.c: animations as clips: seconds, sorted keys, one channel for each joint and path. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import_internal.h"

#define UNIT_TOLERANCE 1e-6 /* a quaternion whose length is closer to 1 stays bit for bit */
#define REPORT_TOLERANCE 1e-5
#define SAME_TICK 1e-4      /* of a tick: times went through float32 */
#define RECENT 32           /* time lines that a new channel is compared with */

typedef struct track { /* the keys of one channel as Assimp has them, vectors or quaternions */
  int32_t joint;
  sk_path path;
  unsigned count;                    /* three for each key where cubic */
  const struct aiVectorKey *vectors;
  const struct aiQuatKey *quats;
  const float *times;                /* glTF: seconds of each key, as the file has them; else NULL */
  const char *name;
} track;

typedef struct key { double time; uint32_t from; } key;

typedef struct time_line { uint64_t first; uint32_t count; uint64_t hash; } time_line;

typedef struct clip_maker { /* what lives as long as one clip is made */
  import_job *job;
  double ticks_per_second;
  sk_array keys;               /* key: scratch of one channel */
  sk_array exact;              /* float: scratch for a glTF's times */
  uint8_t *taken;              /* a bit for each path of each joint that has its channel */
  time_line recent[RECENT];
  uint32_t recent_count;
  char title[100];             /* the clip in messages */
} clip_maker;

/* ---- keys of one channel ------------------------------------------------------------- */

static enum aiAnimInterpolation kind_of(const track *t) {
  return t->quats ? t->quats[0].mInterpolation : t->vectors[0].mInterpolation;
}

static double time_of(const track *t, unsigned i) { return t->quats ? t->quats[i].mTime : t->vectors[i].mTime; }

/* x, y, z and, of a rotation, w. */
static void value_of(const track *t, unsigned i, float out[4]) {
  if (t->quats) {
    const struct aiQuaternion *q = &t->quats[i].mValue;
    out[0] = q->x, out[1] = q->y, out[2] = q->z, out[3] = q->w;
  } else {
    const struct aiVector3D *v = &t->vectors[i].mValue;
    out[0] = v->x, out[1] = v->y, out[2] = v->z;
  }
}

static double length_of(const float q[4]) {
  return sqrt((double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3]);
}

static bool value_is_usable(const track *t, unsigned i) {
  float value[4] = {0};
  double length;
  value_of(t, i, value);
  length = length_of(value);
  return length - length == 0.0 && (!t->quats || length > 1e-12);
}

static int compare_keys(const void *a, const void *b) {
  const key *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorts where that is needed; of keys at one time the first stays. */
static void order_keys(clip_maker *maker, const track *t) {
  key *keys = maker->keys.data;
  size_t i, kept = 0, count = maker->keys.count;
  for (i = 1; i < count && keys[i].time > keys[i - 1].time; i++) {}
  if (i >= count) return;
  qsort(keys, count, sizeof *keys, compare_keys);
  for (i = 0; i < count; i++)
    if (!kept || keys[i].time > keys[kept - 1].time) keys[kept++] = keys[i];
  maker->keys.count = kept;
  import_note_add(maker->job, NOTE_key_times_repaired, 1, "clip '%s', joint '%.60s', key at %g s", maker->title,
                  t->name, keys[kept - 1].time);
}

/* Lists the usable keys in the order of their times. */
static sk_status list_keys(clip_maker *maker, const track *t, bool cubic) {
  unsigned step = cubic ? 3 : 1, count = t->count / step, i;
  maker->keys.count = 0;
  for (i = 0; i < count; i++) {
    unsigned from = i * step + (cubic ? 1 : 0);
    double time = t->times ? t->times[i] : time_of(t, from) / maker->ticks_per_second;
    key *place;
    if (time - time != 0.0) {
      import_note_add(maker->job, NOTE_key_times_repaired, 1, "clip '%s', joint '%.60s', key %u", maker->title, t->name, i);
      continue;
    }
    if (!value_is_usable(t, from)) {
      import_note_add(maker->job, NOTE_numbers_repaired, 1, "clip '%s', joint '%.60s', key %u", maker->title, t->name, i);
      continue;
    }
    place = sk_array_extend(&maker->keys, 1);
    if (!place) return import_no_memory(maker->job, sizeof *place);
    *place = (key){time, from};
  }
  order_keys(maker, t);
  return SK_OK;
}

/* ---- times and values of a block ---------------------------------------------------------- */

/* Channels with equal key times share them: most clips have one or two time lines. */
static sk_status put_times(clip_maker *maker, uint64_t *first) {
  import_model *m = &maker->job->model;
  const key *keys = maker->keys.data;
  size_t count = maker->keys.count, i;
  double *times = sk_array_extend(&m->times, count);
  uint64_t hash;
  uint32_t k, known = maker->recent_count < RECENT ? maker->recent_count : RECENT;
  if (!times) return import_no_memory(maker->job, count * sizeof *times);
  for (i = 0; i < count; i++) times[i] = keys[i].time + 0.0; /* one zero */
  hash = import_hash(times, count * sizeof *times);
  for (k = 0; k < known; k++) {
    const time_line *line = &maker->recent[k];
    const double *other = (const double *)m->times.data + line->first;
    if (line->count != count || line->hash != hash || memcmp(other, times, count * sizeof *times)) continue;
    m->times.count -= count;
    *first = line->first;
    return SK_OK;
  }
  *first = m->times.count - count;
  maker->recent[maker->recent_count++ % RECENT] = (time_line){*first, (uint32_t)count, hash};
  return SK_OK;
}

static void normalize(clip_maker *maker, const track *t, float q[4]) {
  double length = length_of(q);
  int i;
  if (fabs(length - 1.0) <= UNIT_TOLERANCE) return;
  for (i = 0; i < 4; i++) q[i] = (float)(q[i] / length);
  if (fabs(length - 1.0) > REPORT_TOLERANCE)
    import_note_add(maker->job, NOTE_rotations_normalized, 1, "clip '%s', joint '%.60s': a key of length %g",
                    maker->title, t->name, length);
}

/* `shift` is -1 for the tangents that lead in, 1 for those that lead out, 0 for the values. */
static sk_status put_values(clip_maker *maker, const track *t, int shift, bool cubic, uint64_t *first) {
  sk_array *values = &maker->job->model.values;
  const key *keys = maker->keys.data;
  uint32_t width = sk_path_width(t->path), k;
  size_t i, count = maker->keys.count;
  float *out = sk_array_extend(values, count * width), value[4] = {0};
  if (!out) return import_no_memory(maker->job, count * width * sizeof *out);
  *first = values->count - count * width;
  for (i = 0; i < count; i++, out += width) {
    value_of(t, (unsigned)((int64_t)keys[i].from + shift), value);
    if (t->quats && !cubic) normalize(maker, t, value);
    for (k = 0; k < width; k++) {
      bool bad = import_is_bad(value[k]); /* of a tangent: keys with bad values are gone */
      out[k] = bad ? 0.0f : value[k];
      if (bad) import_note_add(maker->job, NOTE_numbers_repaired, 1, "a tangent of clip '%s', joint '%.60s'", maker->title, t->name);
    }
  }
  return SK_OK;
}

/* ---- channels --------------------------------------------------------------------------------- */

/* False where the channel is left out, which is reported. */
static bool is_wanted(clip_maker *maker, const track *t) {
  import_job *job = maker->job;
  if (t->path == SK_PATH_SCALE && job->request->ignore_animated_scale) {
    import_note_add(job, NOTE_scale_channels_ignored, 1, "clip '%s', joint '%.60s'", maker->title, t->name);
    return false;
  }
  if (maker->taken[t->joint] & 1u << t->path) {
    import_note_add(job, NOTE_channels_duplicate, 1, "clip '%s', joint '%.60s'", maker->title, t->name);
    return false;
  }
  return true;
}

static void note_shear(clip_maker *maker, const track *t) {
  double *shear = &maker->job->model.shear[t->joint];
  if (*shear == 0.0) return;
  import_note_add(maker->job, NOTE_shear_lost, 1, "joint '%.60s': %g of its largest element", t->name, *shear);
  *shear = 0.0;
}

static sk_status add_channel(clip_maker *maker, const track *t) {
  import_job *job = maker->job;
  sk_channel channel = {.joint = t->joint, .path = (uint8_t)t->path, .in_tangents = SK_NONE64, .out_tangents = SK_NONE64}, *place;
  enum aiAnimInterpolation kind;
  bool cubic;
  sk_status status;
  if (!t->count || !(t->vectors || t->quats) || !is_wanted(maker, t)) return SK_OK;
  kind = kind_of(t);
  cubic = kind == aiAnimInterpolation_Cubic_Spline;
  channel.interpolation = cubic ? SK_CUBIC : kind == aiAnimInterpolation_Step ? SK_STEP : SK_LINEAR;
  status = list_keys(maker, t, cubic);
  if (status) return status;
  if (!maker->keys.count) {
    import_note_add(job, NOTE_channels_dropped, 1, "clip '%s', joint '%.60s': no usable key", maker->title, t->name);
    return SK_OK;
  }
  maker->taken[t->joint] |= (uint8_t)(1u << t->path);
  note_shear(maker, t);
  channel.key_count = (uint32_t)maker->keys.count;
  status = put_times(maker, &channel.times);
  if (!status) status = put_values(maker, t, 0, cubic, &channel.values);
  if (!status && cubic) status = put_values(maker, t, -1, true, &channel.in_tangents);
  if (!status && cubic) status = put_values(maker, t, 1, true, &channel.out_tangents);
  place = status ? NULL : sk_array_extend(&job->model.channels, 1);
  if (place) *place = channel;
  return status || place ? status : import_no_memory(job, sizeof *place);
}

static track track_of(const struct aiNodeAnim *source, int32_t joint, sk_path path) {
  track t = {.joint = joint, .path = path, .name = source->mNodeName.data};
  if (path == SK_PATH_ROTATION) t.count = source->mNumRotationKeys, t.quats = source->mRotationKeys;
  else if (path == SK_PATH_SCALE) t.count = source->mNumScalingKeys, t.vectors = source->mScalingKeys;
  else t.count = source->mNumPositionKeys, t.vectors = source->mPositionKeys;
  return t;
}

static sk_status add_channels(clip_maker *maker, const struct aiAnimation *source) {
  unsigned c;
  int path;
  sk_status status = SK_OK;
  for (c = 0; c < source->mNumChannels && !status; c++) {
    const struct aiNodeAnim *channel = source->mChannels[c];
    int32_t joint = channel ? import_find_joint(maker->job, &channel->mNodeName) : SK_NONE;
    if (channel && joint < 0)
      import_note_add(maker->job, NOTE_channels_dropped, 1, "clip '%s': no joint '%.60s'", maker->title, channel->mNodeName.data);
    for (path = 0; joint >= 0 && path < SK_PATH_COUNT && !status; path++) {
      track t = track_of(channel, joint, (sk_path)path);
      status = add_channel(maker, &t);
    }
  }
  return status;
}

/* ---- glTF: the file says which channels there are ------------------------------------------------ */

/* Assimp adds one-key channels for what the file does not animate; those are not looked at. */
static sk_status add_gltf_channel(clip_maker *maker, const gltf_channel *wanted, const struct aiNodeAnim *source) {
  import_job *job = maker->job;
  track t = track_of(source, job->gltf->nodes[wanted->node].joint, (sk_path)wanted->path);
  const sk_text *name = (const sk_text *)job->model.names.data + t.joint;
  char words[64];
  gltf_accessor times;
  sk_status status = gltf_accessor_open(job, wanted->times, &times);
  if (status) return status;
  maker->exact.count = 0;
  t.times = sk_array_extend(&maker->exact, times.count);
  if (!t.times) return import_no_memory(job, times.count * sizeof(float));
  status = gltf_accessor_floats(job, wanted->times, &times, (float *)t.times);
  snprintf(words, sizeof words, "%.*s", (int)(name->length < 60 ? name->length : 60),
           name->length ? (const char *)job->model.text.data + name->offset : "");
  t.name = words;
  if (!status && t.count / (kind_of(&t) == aiAnimInterpolation_Cubic_Spline ? 3 : 1) != times.count)
    status = sk_fail(job->error, SK_ERROR_IMPORT, "Assimp delivered %u keys where the file has %zu", t.count, times.count);
  return status ? status : add_channel(maker, &t);
}

/* `by_node` has room for every node; `next` is the first record of this animation or a later one. */
static sk_status add_gltf_channels(clip_maker *maker, const struct aiAnimation *source, int32_t animation,
                                   const struct aiNodeAnim **by_node, size_t *next) {
  const gltf *g = maker->job->gltf;
  const gltf_channel *channels = g->channels.data;
  sk_status status = SK_OK;
  unsigned c;
  for (c = 0; c < source->mNumChannels; c++) {
    int32_t node = gltf_node_of(maker->job, &source->mChannels[c]->mNodeName);
    if (node >= 0) by_node[node] = source->mChannels[c];
  }
  for (; *next < g->channels.count && channels[*next].animation == animation && !status; ++*next)
    if (by_node[channels[*next].node]) status = add_gltf_channel(maker, &channels[*next], by_node[channels[*next].node]);
  for (c = 0; c < source->mNumChannels; c++) {
    int32_t node = gltf_node_of(maker->job, &source->mChannels[c]->mNodeName);
    if (node >= 0) by_node[node] = NULL;
  }
  return status;
}

/* ---- duration --------------------------------------------------------------------------------------- */

/* Seconds of the last key over all channels, also of those that are left out; -INFINITY = no key. */
static double last_key(const clip_maker *maker, const struct aiAnimation *source) {
  double last = -INFINITY;
  unsigned c, k;
  int path;
  for (c = 0; c < source->mNumChannels; c++)
    for (path = 0; path < SK_PATH_COUNT; path++) {
      track t = track_of(source->mChannels[c], 0, (sk_path)path);
      for (k = 0; k < t.count; k++)
        if (isfinite(time_of(&t, k))) last = fmax(last, time_of(&t, k));
    }
  for (c = 0; c < source->mNumMorphMeshChannels; c++)
    for (k = 0; k < source->mMorphMeshChannels[c]->mNumKeys; k++)
      if (isfinite(source->mMorphMeshChannels[c]->mKeys[k].mTime))
        last = fmax(last, source->mMorphMeshChannels[c]->mKeys[k].mTime);
  return last / maker->ticks_per_second;
}

/* Only FBX stores a range of its own; elsewhere a duration that goes more than a frame beyond the
   last key is a mistake of the reader. */
static double duration_of(clip_maker *maker, const struct aiAnimation *source) {
  double stated = source->mDuration / maker->ticks_per_second, last = last_key(maker, source);
  double tick = 1.0 / maker->ticks_per_second;
  bool ranged = !strcmp(maker->job->format, "fbx");
  if (!isfinite(stated) || stated < 0.0) stated = 0.0;
  if (!isfinite(last)) return stated;
  if (last < 0.0) last = 0.0;
  if (last <= stated && (ranged || stated <= last + tick)) return stated;
  if (last > stated + SAME_TICK * tick || last < stated)
    import_note_add(maker->job, NOTE_duration_repaired, 1, "clip '%s': %g s, last key at %g s", maker->title, stated, last);
  return last;
}

/* glTF has no duration: it ends with the last key, morph weights included. */
static double gltf_duration(const clip_maker *maker, const sk_clip_record *clip, int32_t animation) {
  const import_model *m = &maker->job->model;
  double last = maker->job->gltf->ends[animation];
  size_t c;
  for (c = clip->first_channel; c < m->channels.count; c++) {
    const sk_channel *channel = (const sk_channel *)m->channels.data + c;
    last = fmax(last, ((const double *)m->times.data)[channel->times + channel->key_count - 1]);
  }
  return last;
}

/* ---- clips -------------------------------------------------------------------------------------------- */

static sk_status name_clip(clip_maker *maker, const struct aiAnimation *source, unsigned index, sk_text *name) {
  import_job *job = maker->job;
  sk_array *pool = &job->model.text;
  size_t length = source->mName.length < AI_MAXLEN ? source->mName.length : AI_MAXLEN - 1;
  bool good = job->gltf ? json_text(&job->gltf->json, json_member(&job->gltf->json, gltf_item(job->gltf, GLTF_ANIMATIONS, index), "name"), pool, name)
                        : sk_text_append(pool, source->mName.data, length, name);
  char fallback[24];
  snprintf(fallback, sizeof fallback, "clip%u", index);
  if (good && !name->length) good = sk_text_append(pool, fallback, strlen(fallback), name);
  if (!good) return import_no_memory(job, length);
  snprintf(maker->title, sizeof maker->title, "%.*s", (int)(name->length < 90 ? name->length : 90),
           (const char *)pool->data + name->offset);
  return SK_OK;
}

static double ticks_of(clip_maker *maker, const struct aiAnimation *source) {
  double ticks = source->mTicksPerSecond;
  if (ticks > 0.0 && isfinite(ticks)) return ticks;
  import_note_add(maker->job, NOTE_ticks_per_second_assumed, 1, "clip '%s'", maker->title);
  return IMPORT_FALLBACK_TPS;
}

static sk_status make_clip(clip_maker *maker, unsigned index, const struct aiNodeAnim **by_node, size_t *next) {
  import_job *job = maker->job;
  const struct aiAnimation *source = job->scene->mAnimations[index];
  sk_clip_record clip = {.first_channel = (uint32_t)job->model.channels.count}, *place;
  sk_status status = name_clip(maker, source, index, &clip.name);
  if (status) return status;
  memset(maker->taken, 0, job->model.nodes.count);
  maker->ticks_per_second = clip.ticks_per_second = ticks_of(maker, source);
  import_note_add(job, NOTE_morph_targets_dropped, source->mNumMorphMeshChannels + source->mNumMeshChannels, "clip '%s'", maker->title);
  status = job->gltf ? add_gltf_channels(maker, source, (int32_t)index, by_node, next) : add_channels(maker, source);
  if (status) return status;
  clip.channel_count = (uint32_t)job->model.channels.count - clip.first_channel;
  clip.duration = job->gltf ? gltf_duration(maker, &clip, (int32_t)index) : duration_of(maker, source);
  place = sk_array_extend(&job->model.clips, 1);
  if (!place) return import_no_memory(job, sizeof *place);
  *place = clip;
  return SK_OK;
}

static sk_status note_duplicates(import_job *job) {
  const sk_clip_record *clips = job->model.clips.data;
  import_names names = {NULL, 0};
  size_t i;
  if (!import_names_make(&names, job->model.clips.count)) return import_no_memory(job, job->model.clips.count);
  for (i = 0; i < job->model.clips.count; i++) {
    const char *name = (const char *)job->model.text.data + clips[i].name.offset;
    if (import_names_add(&names, name, clips[i].name.length, (uint32_t)i) != i)
      import_note_add(job, NOTE_duplicate_clip_names, 1, "%.*s", (int)(clips[i].name.length < 100 ? clips[i].name.length : 100), name);
  }
  import_names_free(&names);
  return SK_OK;
}

sk_status import_clips(import_job *job) {
  import_model *m = &job->model;
  clip_maker maker = {.job = job, .keys = SK_ARRAY(key), .exact = SK_ARRAY(float)};
  size_t nodes = job->gltf ? (size_t)job->gltf->lists[GLTF_NODES].count : 0, next = 0;
  const struct aiNodeAnim **by_node = sk_alloc_zero((nodes + 1) * sizeof *by_node);
  unsigned i;
  sk_status status = SK_OK;
  m->clips = SK_ARRAY(sk_clip_record);
  m->channels = SK_ARRAY(sk_channel);
  m->times = SK_ARRAY(double);
  m->values = SK_ARRAY(float);
  maker.taken = sk_alloc(m->nodes.count);
  if (!by_node || !maker.taken) status = import_no_memory(job, nodes * sizeof *by_node);
  for (i = 0; i < job->scene->mNumAnimations && !status; i++) status = make_clip(&maker, i, by_node, &next);
  if (!status) status = note_duplicates(job);
  sk_array_free(&maker.keys);
  sk_array_free(&maker.exact);
  sk_free(maker.taken);
  sk_free(by_node);
  return status;
}
