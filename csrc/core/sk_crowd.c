/* sk_crowd.c: the plain path of crowds; the definition of right. */
#include "sk_crowd.h"

#include <math.h>
#include <stdio.h>

#include "sk_threads.h"

/* ---- checks ------------------------------------------------------------------------------------ */

typedef struct place {
  char words[48];
} place;

/* "[n]", or "[n, k]" where there are several clips. */
static place place_of(const sk_crowd_job *job, size_t i) {
  place at;
  if (job->slots == 1) snprintf(at.words, sizeof at.words, "[%zu]", i);
  else snprintf(at.words, sizeof at.words, "[%zu, %zu]", i / job->slots, i % job->slots);
  return at;
}

static sk_status check_counts(const sk_crowd_job *job, sk_error *error) {
  if (job->clip_count > SK_CROWD_CLIPS)
    return sk_fail(error, SK_ERROR_ARGUMENT, "clips holds %zu clips; expected at most %u", job->clip_count,
                   SK_CROWD_CLIPS);
  if (job->slots < 1 || job->slots > SK_CROWD_SLOTS)
    return sk_fail(error, SK_ERROR_ARGUMENT, "clip_index, time and weights have K = %zu; expected 1 to %d", job->slots,
                   SK_CROWD_SLOTS);
  return SK_OK;
}

sk_status sk_crowd_validate(const sk_crowd_job *job, sk_error *error) {
  size_t i, cells = job->count * job->slots;
  sk_status status = check_counts(job, error);
  if (status) return status;
  for (i = 0; i < cells; i++) {
    int32_t index = job->clip_index[i];
    if (index < SK_NONE || index >= (int64_t)job->clip_count)
      return sk_fail(error, SK_ERROR_ARGUMENT, "clip_index%s is %d; expected -1 to %lld", place_of(job, i).words,
                     (int)index, (long long)job->clip_count - 1);
  }
  for (i = 0; i < cells; i++)
    if (!isfinite(job->times[i]))
      return sk_fail(error, SK_ERROR_ARGUMENT, "time%s is %g; expected finite seconds", place_of(job, i).words,
                     job->times[i]);
  for (i = 0; job->weights && i < cells; i++)
    if (!(job->weights[i] >= 0.0 && job->weights[i] <= SK_CROWD_WEIGHT))
      return sk_fail(error, SK_ERROR_ARGUMENT, "weights%s is %g; expected 0 or more, and at most %g",
                     place_of(job, i).words, job->weights[i], SK_CROWD_WEIGHT);
  return SK_OK;
}

/* ---- threads ------------------------------------------------------------------------------------ */

#define JOINT_NANOSECONDS 150.0  /* about what one joint of one clip takes here, to its matrix */
#define RANGE_NANOSECONDS 50e3   /* what is worth waking a thread for (sk_threads.h) */

/* Instances of a range. The same whatever the number of threads. */
static size_t grain_of(const sk_crowd_job *job) {
  double joints = (double)job->skeleton->joint_count * (double)job->slots;
  return 1 + (size_t)(RANGE_NANOSECONDS / (JOINT_NANOSECONDS * fmax(1.0, joints)));
}

static size_t worker_count(const sk_crowd_job *job) {
  size_t grain = grain_of(job), ranges = job->count / grain + 1, threads = sk_thread_count();
  return threads < ranges ? threads : ranges;
}

/* ---- instances ---------------------------------------------------------------------------------- */

/* For poses that are given. */
static size_t palette_scratch(const sk_crowd_job *job) {
  sk_palette_job palette = {.skeleton = job->skeleton};
  return sk_palette_scratch(&palette);
}

/* One worker's scratch: that of the palette, then the poses of the clips, then the blended one. */
static size_t pose_floats(const sk_skeleton *skeleton) { return (size_t)skeleton->joint_count * 10; }

static size_t worker_bytes(const sk_crowd_job *job) {
  size_t bytes = palette_scratch(job) +
                 (job->slots + 1) * pose_floats(job->skeleton) * sizeof(float);
  return (bytes + SK_ALIGNMENT - 1) / SK_ALIGNMENT * SK_ALIGNMENT; /* no two workers write to one cache line */
}

size_t sk_crowd_scratch(const sk_crowd_job *job) { return worker_count(job) * worker_bytes(job); }

/* Pose `number` of a worker. */
static sk_pose pose_of(const sk_crowd_job *job, char *scratch, size_t number) {
  size_t joints = (size_t)job->skeleton->joint_count;
  float *first = (float *)(scratch + palette_scratch(job));
  first += number * pose_floats(job->skeleton);
  return (sk_pose){first, first + 3 * joints, first + 7 * joints, NULL};
}

static double weight_of(const sk_crowd_job *job, size_t i) {
  if (job->clip_index[i] == SK_NONE) return 0.0;
  return job->weights ? job->weights[i] : 1.0;
}

/* The clips of instance n that weigh, sampled and blended. */
static sk_pose pose_instance(const sk_crowd_job *job, char *scratch, size_t n) {
  sk_sampling sampling = {job->skeleton, NULL, job->loop, job->rotation, job->morph};
  sk_blend_source sources[SK_CROWD_SLOTS];
  double weights[SK_CROWD_SLOTS];
  size_t used = 0, i;
  sk_blend_job blend;
  for (i = n * job->slots; i < (n + 1) * job->slots; i++) {
    weights[used] = weight_of(job, i);
    if (!(weights[used] > 0.0)) continue;
    sources[used] = (sk_blend_source){pose_of(job, scratch, used), &weights[used], 0, NULL, SK_PRIORITY_LOW};
    sampling.clip = &job->clips[job->clip_index[i]];
    sk_sample_one(&sampling, job->times[i], sources[used].poses);
    used++;
  }
  blend = (sk_blend_job){
      job->skeleton, job->morph, 1, sources, used, SK_BLEND_BASE, 0.5, pose_of(job, scratch, job->slots)};
  sk_blend_run(&blend);
  return blend.poses;
}

static void run_range(const void *data, size_t worker, size_t first, size_t count) {
  const sk_crowd_job *job = data;
  char *scratch = (char *)job->scratch + worker * worker_bytes(job);
  sk_palette_job palette = {.skeleton = job->skeleton,
                            .skin = job->skin,
                            .count = 1,
                            .inverse_root = job->inverse_root,
                            .result = SK_PALETTE,
                            .affine = job->affine,
                            .scratch = scratch};
  size_t n, floats = sk_palette_floats(&palette);
  for (n = first; n < first + count; n++) {
    palette.out = job->out + n * floats;
    palette.root = job->root ? job->root + n * job->root_stride : NULL;
    palette.poses = pose_instance(job, scratch, n);
    sk_palette_run(&palette);
  }
}

void sk_crowd_run(const sk_crowd_job *job) { sk_parallel(job, run_range, job->count, grain_of(job)); }
