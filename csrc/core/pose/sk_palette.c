/* sk_palette.c: the plain path from a pose to matrices, which defines what is right, and the choice of a kernel. */
#include "sk_palette.h"

#include <string.h>

#include "../base/sk_kernels.h"
#include "../base/sk_math.h"
#include "../base/sk_threads.h"

/* Scratch of the plain path: J globals in double, then one pose for sampling. */
static size_t plain_scratch(const sk_palette_job *job) {
  return (size_t)job->skeleton->joint_count * (12 * sizeof(double) + 10 * sizeof(float));
}

static sk_pose scratch_pose(const sk_palette_job *job, double *scratch) {
  size_t joints = (size_t)job->skeleton->joint_count;
  float *memory = (float *)(scratch + 12 * joints);
  return (sk_pose){memory, memory + 3 * joints, memory + 7 * joints, NULL};
}

static sk_pose pose_at(const sk_palette_job *job, size_t n, double *scratch) {
  size_t joints = (size_t)job->skeleton->joint_count;
  sk_pose pose;
  if (!job->sampling) return sk_pose_at(job->poses, n, joints, 0);
  pose = scratch_pose(job, scratch);
  sk_sample_one(job->sampling, job->times[n], pose);
  return pose;
}

static void pose_globals(const sk_palette_job *job, size_t n, sk_pose pose, double *globals) {
  const sk_skeleton *skeleton = job->skeleton;
  double front[12];
  bool has_front = sk_palette_front(job, n, front);
  int32_t j;
  for (j = 0; j < skeleton->joint_count; j++) {
    double *global = globals + 12 * (size_t)j;
    int32_t parent = skeleton->parents[j];
    sk_pose_local(skeleton, pose, (size_t)j, global);
    if (parent >= 0) sk_affine_multiply(globals + 12 * (size_t)parent, global, global);
    else if (has_front) sk_affine_multiply(front, global, global);
  }
}

/* ---- results ------------------------------------------------------------------------ */

static float *write_matrix(const double affine[12], bool rows_only, float *out) {
  if (rows_only) sk_affine_to_rows(affine, out);
  else sk_affine_to_mat4(affine, out);
  return out + (rows_only ? 12 : 16);
}

static void write_locals(const sk_palette_job *job, sk_pose pose, float *out) {
  double local[12];
  int32_t j;
  for (j = 0; j < job->skeleton->joint_count; j++) {
    sk_pose_local(job->skeleton, pose, (size_t)j, local);
    out = write_matrix(local, job->affine, out);
  }
}

static void write_globals(const sk_palette_job *job, const double *globals, float *out) {
  int32_t j;
  for (j = 0; j < job->skeleton->joint_count; j++, globals += 12) out = write_matrix(globals, job->affine, out);
}

static void write_positions(const sk_palette_job *job, const double *globals, float *out) {
  int32_t j;
  for (j = 0; j < job->skeleton->joint_count; j++, globals += 12, out += 3) {
    out[0] = (float)globals[3];
    out[1] = (float)globals[7];
    out[2] = (float)globals[11];
  }
}

static void write_palette(const sk_palette_job *job, const double *globals, float *out) {
  double matrix[12];
  int32_t s;
  for (s = 0; s < job->skin->slot_count; s++) {
    sk_affine_from_mat4(job->skin->inverse_bind + 16 * (size_t)s, matrix);
    sk_affine_multiply(globals + 12 * (size_t)job->skin->joints[s], matrix, matrix);
    out = write_matrix(matrix, job->affine, out);
  }
}

static void run_plain(const sk_palette_job *job, size_t first, size_t count, double *globals) {
  size_t n, floats = sk_palette_floats(job);
  for (n = first; n < first + count; n++) {
    sk_pose pose = pose_at(job, n, globals);
    float *out = job->out + n * floats;
    if (job->result == SK_LOCALS) {
      write_locals(job, pose, out);
      continue;
    }
    pose_globals(job, n, pose, globals);
    if (job->result == SK_GLOBALS) write_globals(job, globals, out);
    else if (job->result == SK_POSITIONS) write_positions(job, globals, out);
    else write_palette(job, globals, out);
  }
}

/* ---- the plain path or a kernel -------------------------------------------------------- */

#define RANGE_JOINTS 2500 /* joints of a thread range: about 10 us of work (sk_threads.h) */

static size_t grain_of(const sk_palette_job *job) {
  size_t joints = (size_t)job->skeleton->joint_count;
  return 8 * (1 + RANGE_JOINTS / 8 / (joints ? joints : 1)); /* full batches of a kernel */
}

/* Whether the kernel for given poses fits: without a clip the rest pose counts as given. */
static bool is_given(const sk_palette_job *job) { return !job->sampling || !job->sampling->clip; }

/* The compiled clip that the kernel for sampled poses takes; NULL where it does not fit. It gives no locals. */
static const sk_compiled *compiled_of(const sk_palette_job *job) {
  return job->result == SK_LOCALS ? NULL : sk_compiled_for(job->sampling);
}

static size_t worker_bytes(const sk_palette_job *job) {
  const sk_kernels *kernels = sk_kernels_chosen();
  const sk_compiled *compiled = compiled_of(job);
  size_t bytes = plain_scratch(job);
  if (kernels && compiled) bytes = kernels->palette_scratch(compiled, job->count);
  else if (kernels && is_given(job)) bytes = kernels->given_scratch(job->skeleton->joint_count);
  return (bytes + SK_ALIGNMENT - 1) / SK_ALIGNMENT * SK_ALIGNMENT; /* so that no two workers write to one cache line */
}

size_t sk_palette_scratch(sk_palette_job *job) {
  job->workers = sk_worker_count(job->count, grain_of(job));
  return job->workers * worker_bytes(job);
}

static void run_range(const void *data, size_t worker, size_t first, size_t count) {
  const sk_palette_job *job = data;
  const sk_kernels *kernels = sk_kernels_chosen();
  void *scratch = (char *)job->scratch + worker * worker_bytes(job);
  if (kernels && compiled_of(job)) kernels->palette(job, first, count, scratch);
  else if (kernels && is_given(job)) kernels->given(job, first, count, scratch);
  else run_plain(job, first, count, scratch);
}

void sk_palette_run(const sk_palette_job *job) {
  if (job->count <= grain_of(job)) run_range(job, 0, 0, job->count);
  else sk_parallel(job, run_range, job->count, grain_of(job), job->workers);
}
