/* sk_sample.c: the plain path from keys to T, R and S, one channel after another, which defines what is right.

   A new interpolation is one function and one row of the table `samplers`. */
#include "sk_sample.h"

#include <math.h>
#include <string.h>

#include "../base/sk_kernels.h"
#include "../base/sk_math.h"

/* A channel at one key. `values` are the numbers of the clip, `width` is how many a key has. */
typedef struct channel_sample {
  const sk_channel *channel;
  const float *values;
  uint32_t width;
  sk_key key;
  sk_rotation rotation;
} channel_sample;

static const float *key_value(const channel_sample *sample, uint64_t array, uint32_t index) {
  return sk_channel_key(sample->values, sample->channel, array, index);
}

static void sample_step(const channel_sample *sample, float *out) {
  const float *value = key_value(sample, sample->channel->values, sample->key.index);
  memcpy(out, value, sample->width * sizeof(float));
}

static void sample_linear(const channel_sample *sample, float *out) {
  const float *a = key_value(sample, sample->channel->values, sample->key.index), *b = a + sample->channel->stride;
  double u = sample->key.fraction;
  uint32_t i;
  if (u == 0.0 || memcmp(a, b, sample->width * sizeof(float)) == 0) { /* what does not change keeps its bits */
    sample_step(sample, out);
  } else if (sample->width == 4) {
    (sample->rotation == SK_SLERP ? sk_quat_slerp : sk_quat_nlerp)(a, b, u, out);
  } else {
    for (i = 0; i < sample->width; i++) out[i] = (float)(a[i] + u * ((double)b[i] - a[i]));
  }
}

/* Cubic Hermite spline with tangents per second (glTF 2.0, appendix C.5). Rotations are normalized and never negated,
   because the tangents belong to the signs that the file has. */
static void sample_cubic(const channel_sample *sample, float *out) {
  const sk_channel *channel = sample->channel;
  uint32_t k = sample->key.index, i;
  double u = sample->key.fraction, u2 = u * u, u3 = u2 * u, span = sample->key.span, result[4];
  const float *v0 = key_value(sample, channel->values, k);
  for (i = 0; i < sample->width; i++) result[i] = v0[i];
  if (span > 0.0) {
    const float *v1 = v0 + channel->stride;
    const float *out0 = key_value(sample, channel->out_tangents, k);
    const float *in1 = key_value(sample, channel->in_tangents, k + 1);
    for (i = 0; i < sample->width; i++)
      result[i] = (2.0 * u3 - 3.0 * u2 + 1.0) * v0[i] + (u3 - 2.0 * u2 + u) * span * out0[i] +
                  (3.0 * u2 - 2.0 * u3) * v1[i] + (u3 - u2) * span * in1[i];
  }
  if (sample->width == 4) sk_quat_normalize(result, out);
  else
    for (i = 0; i < sample->width; i++) out[i] = (float)result[i];
}

typedef void (*sampler)(const channel_sample *sample, float *out);

static const sampler samplers[SK_INTERPOLATION_COUNT] = {
    [SK_STEP] = sample_step, [SK_LINEAR] = sample_linear, [SK_CUBIC] = sample_cubic};

/* ---- one pose --------------------------------------------------------------------- */

static float *pose_value(sk_pose pose, const sk_channel *channel) {
  size_t joint = (size_t)channel->joint;
  switch (channel->path) {
  case SK_PATH_TRANSLATION: return pose.translation + 3 * joint;
  case SK_PATH_ROTATION: return pose.rotation + 4 * joint;
  case SK_PATH_SCALE: return pose.scale + 3 * joint;
  case SK_PATH_WEIGHT: return pose.weights ? pose.weights + joint : NULL; /* `joint` is the morph target */
  default: return NULL;                                                  /* no part of a pose */
  }
}

static void start_weights(const sk_sampling *sampling, float *weights) {
  if (sampling->clip && sampling->clip->additive)
    memset(weights, 0, (size_t)sampling->morph->target_count * sizeof(float));
  else sk_morph_default_weights(sampling->morph, weights);
}

/* Samples the channels of a clip at a time within it: all of them, or the `count` whose numbers are in `chosen`. */
static void sample_channels(const sk_sampling *sampling, const uint32_t *chosen, uint32_t count, double time,
                            sk_pose pose) {
  const sk_clip *clip = sampling->clip;
  const double *line = NULL; /* times of the last key that was found: neighboring channels often share them */
  uint32_t line_count = 0, i;
  double line_tolerance = 0.0;
  sk_key key = {0, 0.0, 0.0};
  for (i = 0; i < count; i++) {
    const sk_channel *channel = &clip->channels[chosen ? chosen[i] : i];
    float *value = pose_value(pose, channel);
    channel_sample sample;
    double tolerance; /* only steps jump, and so need one */
    if (!value) continue;
    tolerance = channel->interpolation == SK_STEP ? clip->key_tolerance : 0.0;
    if (line != clip->times + channel->times || line_count != channel->key_count || line_tolerance != tolerance) {
      line = clip->times + channel->times;
      line_count = channel->key_count;
      line_tolerance = tolerance;
      key = sk_clip_find_key(line, line_count, time, tolerance);
    }
    sample = (channel_sample){channel, clip->values, sk_path_width(channel->path), key, sampling->rotation};
    samplers[channel->interpolation](&sample, value);
  }
}

static void sample_plain(const sk_sampling *sampling, double time, sk_pose pose) {
  const sk_clip *clip = sampling->clip;
  sk_pose_start(sampling->skeleton, clip && clip->additive, pose);
  if (clip) sample_channels(sampling, NULL, clip->channel_count, time, pose);
}

void sk_sample_one(const sk_sampling *sampling, double time, sk_pose pose) {
  const sk_compiled *compiled = sk_compiled_for(sampling);
  const sk_kernels *kernels = sk_kernels_chosen();
  if (pose.weights) start_weights(sampling, pose.weights);
  if (sampling->clip) time = sk_clip_local_time(sampling->clip, time, sampling->loop);
  if (compiled && kernels && kernels->sample(sampling, time, pose)) {
    if (pose.weights) sample_channels(sampling, compiled->weights, compiled->weight_count, time, pose);
    return;
  }
  sample_plain(sampling, time, pose);
}

/* ---- many poses -------------------------------------------------------------------- */

sk_status sk_times_validate(const double *times, size_t count, sk_error *error) {
  size_t i;
  for (i = 0; i < count; i++)
    if (!isfinite(times[i]))
      return sk_fail(error, SK_ERROR_ARGUMENT, "time[%zu] is %g; expected finite seconds", i, times[i]);
  return SK_OK;
}

void sk_sample_run(const sk_sample_job *job) {
  size_t joints = (size_t)job->sampling.skeleton->joint_count, n;
  size_t targets = job->poses.weights ? (size_t)job->sampling.morph->target_count : 0;
  for (n = 0; n < job->time_count; n++)
    sk_sample_one(&job->sampling, job->times[n], sk_pose_at(job->poses, n, joints, targets));
}
