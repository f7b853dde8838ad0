/* import_clip.c: animations as clips: which channels there are, and for how long a clip lasts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../core/model/sk_pack.h"
#include "import_reader.h"

#define SAME_TICK      1e-4        /* of a tick: times went through float32 */
#define FALLBACK_TICKS 25.0   /* per second, where a file gives none */
#define READER_TICKS   1000.0   /* per second, of a file that counts in seconds */

/* ---- Assimp's channels -------------------------------------------------------------------------- */

static sk_interpolation interpolation_of(enum aiAnimInterpolation given) {
  if (given == aiAnimInterpolation_Step) return SK_STEP;
  return given == aiAnimInterpolation_Cubic_Spline ? SK_CUBIC : SK_LINEAR;
}

/* Assimp's cubic keys are three at one time: tangent in, value, tangent out. The tangents are per second. */
static import_track track_of(const struct aiNodeAnim *source, int32_t joint, sk_path path) {
  import_track t = {.joint = joint, .path = path};
  if (path == SK_PATH_ROTATION) t.count = source->mNumRotationKeys, t.quats = source->mRotationKeys;
  else if (path == SK_PATH_SCALE) t.count = source->mNumScalingKeys, t.vectors = source->mScalingKeys;
  else t.count = source->mNumPositionKeys, t.vectors = source->mPositionKeys;
  if (!t.quats && !t.vectors) t.count = 0;
  if (t.count) t.interpolation = interpolation_of(t.quats ? t.quats->mInterpolation : t.vectors->mInterpolation);
  if (t.interpolation == SK_CUBIC) t.count /= 3;
  return t;
}

static void measure(const import_clip *clip, const import_track *t, double *last) {
  uint32_t i, count = t->interpolation == SK_CUBIC ? 3 * t->count : t->count;
  for (i = 0; i < count; i++) {
    double time = import_track_time(clip, t, i);
    if (isfinite(time) && time > *last) *last = time;
  }
}

/* The joint of a morph channel, which Assimp names after the node, with "*" and the number of the mesh behind it. */
static int32_t find_morphed(const import_job *job, const struct aiString *name) {
  struct aiString node = {0, ""};
  const char *star = strrchr(name->data, '*');
  size_t length = star ? (size_t)(star - name->data) : strlen(name->data);
  if (length >= AI_MAXLEN) return SK_NONE;
  memcpy(node.data, name->data, length);
  node.length = (ai_uint32)length;
  return import_find_joint(job, &node);
}

/* A key lists some of the targets only, so each target gets a channel of the keys that list it. */
static sk_status add_morph_channel(import_clip *clip, const struct aiMeshMorphAnim *source, double *last) {
  int32_t joint = find_morphed(clip->job, &source->mName);
  uint32_t count = 0, first = joint < 0 ? 0 : import_targets_of(clip->job, joint, &count);
  import_track t = {
      .path = SK_PATH_WEIGHT, .interpolation = SK_LINEAR, .count = source->mNumKeys, .weights = source->mKeys};
  sk_status status = SK_OK;
  if (!source->mKeys) return SK_OK;
  measure(clip, &t, last);
  if (!count)
    import_note_add(clip->job, NOTE_channels_dropped, 1, "clip '%.60s': no morph targets at '%.60s'", clip->title,
                    source->mName.data);
  for (t.column = 0; t.column < count && !status; t.column++) {
    t.joint = (int32_t)(first + t.column);
    if (import_track_lists_target(&t)) status = import_add_channel(clip, &t);
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
    int32_t joint = channel ? import_bind_joint(clip->job, &channel->mNodeName, "channel") : SK_NONE;
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
    if (source->mMorphMeshChannels[c]) status = add_morph_channel(clip, source->mMorphMeshChannels[c], last);
  return status;
}

/* Where a format has no durations of its own, one that goes more than a frame beyond the last key is a mistake of
   Assimp's reader. */
static double duration_of(import_clip *clip, const struct aiAnimation *source, double last) {
  double stated = source->mDuration / clip->ticks_per_second, tick = 1.0 / clip->ticks_per_second;
  if (!isfinite(stated) || stated < 0.0) stated = 0.0;
  if (!isfinite(last)) return stated;
  if (last < 0.0) last = 0.0;
  if (last <= stated && stated <= last + tick) return stated;
  if (last > stated + SAME_TICK * tick || last < stated)
    import_note_add(clip->job, NOTE_duration_repaired, 1, "clip '%.60s': %g s, last key at %g s", clip->title, stated,
                    last);
  return last;
}

/* ---- clips ---------------------------------------------------------------------------------------- */

static sk_status name_clip(import_clip *clip, int32_t index, sk_text *name) {
  import_job *job = clip->job;
  const import_reader *reader = job->format->reader;
  sk_array *pool = &job->model.text;
  char fallback[24];
  bool good;
  if (reader) {
    good = reader->name_clip(job, index, name);
  } else {
    const struct aiString *given = &job->scene->mAnimations[index]->mName;
    good = sk_text_append(pool, given->data, given->length < AI_MAXLEN ? given->length : AI_MAXLEN - 1, name);
  }
  snprintf(fallback, sizeof fallback, "clip%d", index);
  if (good && !name->length) good = sk_text_append(pool, fallback, strlen(fallback), name);
  if (!good) return import_no_memory(job, sizeof fallback);
  snprintf(clip->title, sizeof clip->title, "%.*s", IMPORT_SHORT(import_span_of(clip->job, *name)));
  return SK_OK;
}

/* Ticks per second of an animation of Assimp's. */
static double ticks_of(import_clip *clip, double stated) {
  const import_format *format = clip->job->format;
  double ticks = format->ticks ? format->ticks(clip->job, stated) : stated;
  if (ticks > 0.0 && isfinite(ticks)) return ticks;
  import_note_add(clip->job, NOTE_ticks_per_second_assumed, 1, "clip '%.60s'", clip->title);
  return FALLBACK_TICKS;
}

/* Sets the record's channels, duration and ticks. */
static sk_status read_animation(import_clip *clip, int32_t index, sk_clip_record *record) {
  import_job *job = clip->job;
  const struct aiAnimation *source = job->scene->mAnimations[index];
  double last = 0.0;
  sk_status status;
  clip->ticks_per_second = record->ticks_per_second = ticks_of(clip, source->mTicksPerSecond);
  import_note_add(job, NOTE_morph_targets_dropped, source->mNumMeshChannels, "clip '%.60s'", clip->title);
  status = add_assimp_channels(clip, source, &last);
  if (!status) record->duration = duration_of(clip, source, last);
  return status;
}

/* A reader gives seconds. The record says milliseconds, which Assimp would count in. */
static sk_status ask_reader(import_clip *clip, int32_t index, sk_clip_record *record) {
  clip->ticks_per_second = record->ticks_per_second = READER_TICKS;
  return clip->job->format->reader->add_channels(clip, index, &record->duration);
}

static size_t taken_bytes(const import_job *job) {
  return (job->model.nodes.count + job->model.targets.count + job->model.materials.count) * sizeof(uint32_t);
}

/* No key lies beyond the clip's end: where one does, the clip lasts until there. */
static void reach_last_key(import_clip *clip, sk_clip_record *record) {
  const import_model *m = &clip->job->model;
  const sk_channel *channels = m->channels.data;
  double last = record->duration;
  uint32_t i;
  for (i = 0; i < record->channel_count; i++) {
    const sk_channel *channel = &channels[record->first_channel + i];
    last = fmax(last, ((const double *)m->times.data)[channel->times + channel->key_count - 1]);
  }
  if (last > record->duration + SAME_TICK / record->ticks_per_second)
    import_note_add(clip->job, NOTE_duration_repaired, 1, "clip '%.60s': %g s, last key at %g s", clip->title,
                    record->duration, last);
  record->duration = last;
}

static sk_status make_clip(import_clip *clip, int32_t index) {
  import_job *job = clip->job;
  const import_reader *reader = job->format->reader;
  sk_clip_record record = {.first_channel = (uint32_t)job->model.channels.count,
                           .motion_times = SK_NONE64,
                           .motion_values = SK_NONE64},
                 *added;
  sk_status status = name_clip(clip, index, &record.name);
  if (status) return status;
  memset(clip->taken, 0, taken_bytes(job));
  status = reader ? ask_reader(clip, index, &record) : read_animation(clip, index, &record);
  if (status) return status;
  record.channel_count = (uint32_t)job->model.channels.count - record.first_channel;
  reach_last_key(clip, &record);
  record.first_event = (uint32_t)job->model.events.count;
  if (reader) status = reader->add_extras(clip, index, &record);
  if (status) return status;
  added = sk_array_extend(&job->model.clips, 1);
  if (!added) return import_no_memory(job, sizeof *added);
  *added = record;
  return SK_OK;
}

static sk_status note_duplicates(import_job *job) {
  const sk_clip_record *clips = job->model.clips.data;
  import_names names = {NULL, 0};
  size_t i;
  if (!import_names_make(&names, job->model.clips.count)) return import_no_memory(job, job->model.clips.count);
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
  import_clip clip = {.job = job, .keys = import_channel_keys()};
  int32_t i, count;
  sk_status status = SK_OK;
  m->clips = SK_ARRAY(sk_clip_record);
  m->channels = SK_ARRAY(sk_channel);
  m->times = SK_ARRAY(double);
  m->values = SK_ARRAY(float);
  m->events = SK_ARRAY(sk_event);
  count = job->format->reader ? job->format->reader->clip_count(job) : (int32_t)job->scene->mNumAnimations;
  clip.taken = sk_alloc(taken_bytes(job));
  if (!clip.taken) status = import_no_memory(job, taken_bytes(job));
  for (i = 0; i < count && !status; i++) status = make_clip(&clip, i);
  if (!status) status = note_duplicates(job);
  sk_array_free(&clip.keys);
  sk_free(clip.taken);
  return status;
}

sk_status import_pack_clips(import_job *job) {
  import_model *m = &job->model;
  sk_packing packing = {m->clips.data, m->clips.count, m->channels.data,
                        m->times.data, m->values.data, SK_ARRAY(float)};
  bool good = sk_pack_run(&packing);
  sk_array_free(&m->values);
  m->values = packing.packed;
  return good ? SK_OK : import_no_memory(job, m->values.count * sizeof(float));
}
