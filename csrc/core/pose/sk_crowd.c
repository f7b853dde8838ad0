/* sk_crowd.c: crowds. The plain path goes instance by instance and defines what is right; kernels take the groups of
   instances that blend the same clips. */
#include "sk_crowd.h"

#include <math.h>
#include <stdio.h>

#include "../base/sk_kernels.h"
#include "../base/sk_threads.h"
#include "sk_crowd_groups.h"

/* ---- checks ------------------------------------------------------------------------------------ */

typedef struct array_index {
  char words[48];
} array_index;

/* "[n]", or "[n, k]" where there are several clips. */
static array_index index_text(const sk_crowd_job *job, size_t i) {
  array_index at;
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
      return sk_fail(error, SK_ERROR_ARGUMENT, "clip_index%s is %d; expected -1 to %lld", index_text(job, i).words,
                     (int)index, (long long)job->clip_count - 1);
  }
  for (i = 0; i < cells; i++)
    if (!isfinite(job->times[i]))
      return sk_fail(error, SK_ERROR_ARGUMENT, "time%s is %g; expected finite seconds", index_text(job, i).words,
                     job->times[i]);
  for (i = 0; job->weights && i < cells; i++)
    if (!(job->weights[i] >= 0.0 && job->weights[i] <= SK_CROWD_WEIGHT))
      return sk_fail(error, SK_ERROR_ARGUMENT, "weights%s is %g; expected 0 or more, and at most %g",
                     index_text(job, i).words, job->weights[i], SK_CROWD_WEIGHT);
  return SK_OK;
}

/* ---- scratch --------------------------------------------------------------------------------------- */

/* Scratch of a palette of a given pose. */
static size_t palette_scratch(const sk_crowd_job *job) {
  sk_palette_job palette = {.skeleton = job->skeleton};
  return sk_palette_scratch(&palette);
}

static size_t pose_floats(const sk_skeleton *skeleton) { return (size_t)skeleton->joint_count * 10; }

static size_t rounded(size_t bytes) { return (bytes + SK_ALIGNMENT - 1) / SK_ALIGNMENT * SK_ALIGNMENT; }

/* Scratch of one worker: that of the palette, the poses of the clips and the blended pose; or what the kernel takes. */
static size_t worker_bytes(const sk_crowd_job *job) {
  size_t plain = palette_scratch(job) + (job->slots + 1) * pose_floats(job->skeleton) * sizeof(float);
  const sk_kernels *kernels = sk_kernels_chosen();
  size_t side_by_side = kernels ? kernels->crowd_scratch(job) : 0;
  return rounded(plain > side_by_side ? plain : side_by_side); /* so that no two workers write to one cache line */
}

#define JOINT_NANOSECONDS 5.0  /* about what one joint of one clip takes, from keys to matrix */
#define RANGE_NANOSECONDS 10e3 /* a thread range, about (sk_threads.h) */

/* Groups of a thread range. */
static size_t grain_of(const sk_crowd_job *job) {
  double joints = (double)job->skeleton->joint_count * (double)job->slots * SK_GROUP_LANES;
  return 1 + (size_t)(RANGE_NANOSECONDS / (JOINT_NANOSECONDS * fmax(1.0, joints)));
}

size_t sk_crowd_scratch(sk_crowd_job *job) {
  job->workers = sk_worker_count(job->count, grain_of(job));
  return rounded(sk_crowd_groups_bytes(job->count)) + job->workers * worker_bytes(job);
}

/* ---- the plain path ---------------------------------------------------------------------------------- */

/* Pose number `number` in a worker's scratch. */
static sk_pose pose_of(const sk_crowd_job *job, char *scratch, size_t number) {
  size_t joints = (size_t)job->skeleton->joint_count;
  float *first = (float *)(scratch + palette_scratch(job));
  first += number * pose_floats(job->skeleton);
  return (sk_pose){first, first + 3 * joints, first + 7 * joints, NULL};
}

/* Samples and blends the clips of instance n that weigh. */
static sk_pose pose_instance(const sk_crowd_job *job, char *scratch, size_t n) {
  sk_sampling sampling = {job->skeleton, NULL, job->loop, job->rotation, job->morph};
  sk_blend_source sources[SK_CROWD_SLOTS];
  double weights[SK_CROWD_SLOTS];
  size_t used = 0, slot;
  sk_blend_job blend;
  for (slot = 0; slot < job->slots; slot++) {
    weights[used] = sk_crowd_weight(job, n, slot);
    if (!(weights[used] > 0.0)) continue;
    sources[used] = (sk_blend_source){pose_of(job, scratch, used), &weights[used], 0, NULL, SK_PRIORITY_LOW, false};
    sampling.clip = &job->clips[job->clip_index[n * job->slots + slot]];
    sk_sample_one(&sampling, job->times[n * job->slots + slot], sources[used].poses);
    used++;
  }
  blend = (sk_blend_job){job->skeleton, job->morph,    1,   sources,
                         used,          SK_BLEND_BASE, 0.5, pose_of(job, scratch, job->slots)};
  sk_blend_run(&blend);
  return blend.poses;
}

static void run_instance(const sk_crowd_job *job, size_t n, char *scratch) {
  sk_palette_job palette = {.skeleton = job->skeleton,
                            .skin = job->skin,
                            .count = 1,
                            .root = job->root ? job->root + n * job->root_stride : NULL,
                            .inverse_root = job->inverse_root,
                            .result = SK_PALETTE,
                            .affine = job->affine,
                            .scratch = scratch};
  palette.out = job->out + n * sk_palette_floats(&palette);
  palette.poses = pose_instance(job, scratch, n);
  sk_palette_run(&palette);
}

/* ---- the job ------------------------------------------------------------------------------------------ */

typedef struct crowd_run {
  const sk_crowd_job *job;
  sk_crowd_groups groups;
  char *scratch; /* of worker 0; that of the others follows */
  size_t worker_bytes;
  const sk_kernels *kernels; /* NULL: the plain path takes all groups. Chosen once, which looks at all clips */
} crowd_run;

static void run_range(const void *data, size_t worker, size_t first, size_t count) {
  const crowd_run *run = data;
  char *scratch = run->scratch + worker * run->worker_bytes;
  size_t group, i;
  for (group = first; group < first + count; group++) {
    size_t start = run->groups.starts[group], end = run->groups.starts[group + 1];
    if (run->kernels && run->groups.keys[start] != SK_GROUP_PLAIN) {
      sk_crowd_group one = {run->groups.order + start, end - start, run->job->count - end,
                            sk_crowd_key_count(run->groups.keys[start]), run->groups.slots};
      run->kernels->crowd(run->job, &one, scratch);
      continue;
    }
    for (i = start; i < end; i++) run_instance(run->job, run->groups.order[i], scratch);
  }
}

void sk_crowd_run(const sk_crowd_job *job) {
  const sk_kernels *kernels = sk_kernels_chosen();
  crowd_run run = {.job = job, .worker_bytes = worker_bytes(job)};
  size_t i;
  run.groups = sk_crowd_groups_make(job, job->workers, job->scratch);
  if (kernels && kernels->crowd_scratch(job) > 0) run.kernels = kernels;
  run.scratch = (char *)job->scratch + rounded(sk_crowd_groups_bytes(job->count));
  for (i = 0; i < job->workers && run.kernels; i++) run.kernels->crowd_begin(run.scratch + i * run.worker_bytes);
  sk_parallel(&run, run_range, run.groups.group_count, grain_of(job), job->workers);
}
