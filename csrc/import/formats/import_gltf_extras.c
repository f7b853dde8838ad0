/* import_gltf_extras.c: what skinpy keeps in a glTF animation beside its channels: events and root motion.

   "extras": {"skinpy": {"events": [{"time": 0.5, "name": "step"}, ...],
                         "rootMotion": [[time, x, y, z, qx, qy, qz, qw], ...]}}   seconds, in order */
#include <float.h>
#include <math.h>

#include "import_gltf.h"

#define UNIT_TOLERANCE 5e-4 /* length of a quaternion; the block takes twice that */
#define KEY_WIDTH      (1 + SK_MOTION_WIDTH)

static sk_status add_events(import_clip *clip, int32_t array, sk_clip_record *record) {
  import_job *job = clip->job;
  const json *j = &job->gltf->json;
  double last = 0.0;
  int32_t token;
  for (token = json_first(j, array); token >= 0; token = json_after(j, array, token)) {
    double time = json_number(j, json_member(j, token, "time"), -1.0);
    int32_t name = json_member(j, token, "name");
    sk_event *event;
    if (!(time >= last && time <= record->duration) || !json_is_string(j, name)) {
      import_note_add(job, NOTE_clip_extras_dropped, 1, "clip '%.60s': an event", clip->title);
      continue;
    }
    event = sk_array_extend(&job->model.events, 1);
    if (!event || !json_text(j, name, &job->model.text, &event->name)) return import_no_memory(job, sizeof *event);
    event->time = last = time;
    record->event_count++;
  }
  return SK_OK;
}

/* Whether a key is one that the block may hold, behind one at `last` seconds and within the clip's `duration`. */
static bool key_is_sane(const double key[KEY_WIDTH], double last, double duration) {
  double length = sqrt(key[4] * key[4] + key[5] * key[5] + key[6] * key[6] + key[7] * key[7]);
  int i;
  for (i = 0; i < (int)KEY_WIDTH; i++)
    if (!isfinite((float)key[i])) return false;
  return key[0] > last && key[0] <= duration && fabs(length - 1.0) < UNIT_TOLERANCE;
}

/* Adds all keys or none. */
static sk_status add_motion(import_clip *clip, int32_t array, sk_clip_record *record) {
  import_job *job = clip->job;
  import_model *m = &job->model;
  const json *j = &job->gltf->json;
  size_t first_time = m->times.count, first_value = m->values.count, i;
  double key[KEY_WIDTH], last = -INFINITY;
  int32_t token;
  for (token = json_first(j, array); token >= 0; token = json_after(j, array, token)) {
    double *time;
    float *values;
    bool given = json_numbers(j, token, key, KEY_WIDTH);
    /* The duration is the last key of the channels, which went through float32. */
    if (given && key[0] > record->duration && key[0] <= record->duration * (1.0 + FLT_EPSILON))
      key[0] = record->duration;
    if (!given || !key_is_sane(key, last, record->duration)) {
      import_note_add(job, NOTE_clip_extras_dropped, 1, "clip '%.60s': its root motion", clip->title);
      m->times.count = first_time;
      m->values.count = first_value;
      return SK_OK;
    }
    time = sk_array_extend(&m->times, 1);
    values = sk_array_extend(&m->values, SK_MOTION_WIDTH);
    if (!time || !values) return import_no_memory(job, sizeof key);
    *time = last = key[0];
    for (i = 0; i < SK_MOTION_WIDTH; i++) values[i] = (float)key[1 + i];
  }
  if (m->times.count == first_time) return SK_OK;
  record->motion_count = (uint32_t)(m->times.count - first_time);
  record->motion_times = first_time;
  record->motion_values = first_value;
  return SK_OK;
}

sk_status gltf_add_extras(import_clip *clip, int32_t index, sk_clip_record *record) {
  gltf *g = clip->job->gltf;
  int32_t extras = json_member(&g->json, gltf_item(g, GLTF_ANIMATIONS, index), "extras");
  int32_t own = json_member(&g->json, extras, "skinpy");
  sk_status status = add_events(clip, json_member(&g->json, own, "events"), record);
  return status ? status : add_motion(clip, json_member(&g->json, own, "rootMotion"), record);
}
