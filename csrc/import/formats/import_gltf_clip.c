/* import_gltf_clip.c: the channels of a glTF's animations. */
#include <stdio.h>

#include "import_gltf.h"

typedef struct channel { /* one channel of the file while it is read */
  int32_t animation, number, path, input, output;
  int32_t index; /* of the node or material */
  uint32_t first, count; /* the targets that it moves, or 0 and 1 */
  uint32_t instances;    /* how often these follow each other */
  sk_interpolation interpolation;
  gltf_accessor times, values;
} channel;

static bool drop(import_job *job, const channel *c, const char *why) {
  import_note_add(job, NOTE_channels_dropped, 1, "animations[%d].channels[%d]: %s", c->animation, c->number, why);
  return false;
}

static bool has_material(import_job *job, channel *c) {
  if (import_material_of(job, c->index) < 0) return drop(job, c, "its material does not exist");
  return true;
}

/* Whether the channel changes a joint, morph targets or a material. Without a node it may belong to an extension. */
static bool has_target(import_job *job, int32_t token, channel *c) {
  gltf *g = job->gltf;
  gltf_target target = gltf_read_target(&g->json, json_member(&g->json, token, "target"));
  c->path = target.path;
  c->index = target.index;
  c->count = c->instances = 1;
  if (c->path < 0 && target.pointer[0]) {
    char words[160];
    snprintf(words, sizeof words, "%s is not played", target.pointer);
    return drop(job, c, words);
  }
  if (c->path < 0) return drop(job, c, "it has no path that moves a joint");
  if (sk_owner_of((sk_path)c->path) == SK_OWNER_MATERIAL) return has_material(job, c);
  if (gltf_item(g, GLTF_NODES, c->index) < 0) return drop(job, c, "its node does not exist");
  if (g->nodes[c->index].joint < 0) return drop(job, c, "its node is not in the scene");
  if (c->path != SK_PATH_WEIGHT) return true;
  c->first = import_targets_of(job, gltf_joint_of_mesh(&g->nodes[c->index]), &c->count);
  if (g->nodes[c->index].instance_count) c->instances = (uint32_t)g->nodes[c->index].instance_count;
  if (!c->count) return drop(job, c, "its node has no morph targets");
  return true;
}

/* Opens the sampler's key times; false where there are none. */
static sk_status open_times(import_job *job, int32_t sampler, channel *c, bool *usable) {
  const json *j = &job->gltf->json;
  sk_status status;
  *usable = false;
  if (sampler < 0) return drop(job, c, "its sampler does not exist"), SK_OK;
  c->input = (int32_t)json_index(j, json_member(j, sampler, "input"), -1);
  status = gltf_accessor_open(job, c->input, &c->times);
  if (status) return status;
  *usable = c->times.width == 1 && c->times.component == 5126 && c->times.count && c->times.count < UINT32_MAX / 3;
  if (!*usable) drop(job, c, "its key times are not float32 numbers");
  return SK_OK;
}

static sk_status open_values(import_job *job, int32_t sampler, channel *c, bool *usable) {
  const json *j = &job->gltf->json;
  int32_t word = json_member(j, sampler, "interpolation");
  size_t needed;
  sk_status status;
  c->interpolation = json_equals(j, word, "STEP")          ? SK_STEP
                     : json_equals(j, word, "CUBICSPLINE") ? SK_CUBIC
                                                           : SK_LINEAR;
  c->output = (int32_t)json_index(j, json_member(j, sampler, "output"), -1);
  status = gltf_accessor_open(job, c->output, &c->values);
  if (status) return status;
  if (c->path == SK_PATH_VISIBILITY) c->interpolation = SK_STEP; /* a truth has nothing in between */
  needed = c->times.count * (c->interpolation == SK_CUBIC ? 3 : 1);
  *usable = c->values.width == sk_path_width((sk_path)c->path) && c->values.count / c->count >= needed;
  if (!*usable) {
    drop(job, c, "it has fewer values than keys");
  } else if (c->values.count != needed * c->count) {
    import_note_add(job, NOTE_values_without_times, 1, "animations[%d].channels[%d]: %zu values for %zu times",
                    c->animation, c->number, c->values.count, c->times.count);
    c->values.count = needed * c->count;
  }
  return SK_OK;
}

static void measure(const float *times, size_t count, double *last) {
  size_t i;
  for (i = 0; i < count; i++)
    if (!import_is_bad(times[i]) && times[i] > *last) *last = times[i];
}

/* One channel of the file becomes one for each of its targets, whose weights stand side by side. */
static sk_status add_tracks(import_clip *clip, const channel *c, import_track *track) {
  uint32_t i;
  sk_status status = SK_OK;
  track->stride = c->count;
  track->joint = sk_owner_of(track->path) == SK_OWNER_MATERIAL ? c->index : clip->job->gltf->nodes[c->index].joint;
  for (i = 0; i < c->count * c->instances && !status; i++) {
    track->column = i % c->count;
    if (c->path == SK_PATH_WEIGHT) track->joint = (int32_t)(c->first + i);
    status = import_add_channel(clip, track);
  }
  return status;
}

static sk_status add_keys(import_clip *clip, const channel *c, double *last) {
  import_job *job = clip->job;
  size_t values = c->values.count * c->values.width;
  float *times = sk_alloc((c->times.count + values) * sizeof *times);
  import_track track = {.path = (sk_path)c->path, .interpolation = c->interpolation, .count = (uint32_t)c->times.count};
  sk_status status = times ? gltf_accessor_floats(job, c->input, &c->times, times)
                           : import_no_memory(job, (c->times.count + values) * sizeof *times);
  if (!status) measure(times, c->times.count, last);
  if (!status) {
    track.times = times;
    track.values = times + c->times.count;
    status = gltf_accessor_floats(job, c->output, &c->values, times + c->times.count);
    if (!status && c->path == SK_PATH_ROTATION && c->interpolation != SK_CUBIC)
      gltf_restore_lengths(&c->values, times + c->times.count);
    if (!status) status = add_tracks(clip, c, &track);
  }
  sk_free(times);
  return status;
}

/* Measures a channel that is left out: the clip lasts as long as its keys all the same. Times that cannot be read do
   not count. */
static void measure_sampler(import_job *job, int32_t sampler, double *last) {
  int64_t input = json_index(&job->gltf->json, json_member(&job->gltf->json, sampler, "input"), -1);
  gltf_accessor a;
  float *times;
  if (gltf_accessor_open(job, input, &a) || a.width != 1 || a.component != 5126) return;
  times = sk_alloc(a.count * sizeof *times);
  if (times && !gltf_accessor_floats(job, input, &a, times)) measure(times, a.count, last);
  sk_free(times);
}

static sk_status add_channel(import_clip *clip, channel *c, int32_t token, int32_t sampler, double *last) {
  import_job *job = clip->job;
  bool usable;
  sk_status status;
  usable = has_target(job, token, c);
  status = usable ? open_times(job, sampler, c, &usable) : SK_OK;
  if (!status && usable) status = open_values(job, sampler, c, &usable);
  if (!status && !usable) measure_sampler(job, sampler, last);
  return status || !usable ? status : add_keys(clip, c, last);
}

sk_status gltf_add_channels(import_clip *clip, int32_t index, double *last) {
  import_job *job = clip->job;
  const json *j = &job->gltf->json;
  int32_t animation = gltf_item(job->gltf, GLTF_ANIMATIONS, index), token, count, i = 0;
  int32_t array = json_member(j, animation, "samplers"), *samplers;
  sk_status status = SK_OK;
  count = json_length(j, array);
  samplers = sk_alloc(sizeof *samplers * ((size_t)count + 1));
  if (!samplers) return import_no_memory(job, sizeof *samplers * (size_t)count);
  for (token = json_first(j, array); token >= 0; token = json_after(j, array, token)) samplers[i++] = token;
  array = json_member(j, animation, "channels");
  *last = 0.0;
  i = 0;
  for (token = json_first(j, array); token >= 0 && !status; token = json_after(j, array, token)) {
    channel c = {.animation = index, .number = i++};
    int64_t wanted = json_index(j, json_member(j, token, "sampler"), -1);
    status = add_channel(clip, &c, token, wanted >= 0 && wanted < count ? samplers[wanted] : -1, last);
  }
  sk_free(samplers);
  return status;
}

int32_t gltf_clip_count(const import_job *job) { return job->gltf->lists[GLTF_ANIMATIONS].count; }

bool gltf_name_clip(import_job *job, int32_t index, sk_text *name) {
  const json *j = &job->gltf->json;
  return json_text(j, json_member(j, gltf_item(job->gltf, GLTF_ANIMATIONS, index), "name"), &job->model.text, name);
}
