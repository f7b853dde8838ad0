/* sk_blend.c: the plain path of blending, joint by joint and in double, which defines what is right. */
#include "sk_blend.h"

#include <math.h>
#include <string.h>

#include "../base/sk_kernels.h"
#include "../base/sk_math.h"
#include "sk_mean.h"

#define TINY 1e-24 /* squared length below which a sum of unit quaternions has no direction */

/* Pointers to T, R and S of one joint in a pose. */
typedef struct joint_view {
  float *t, *r, *s;
} joint_view;

static joint_view view_joint(sk_pose pose, size_t j) {
  return (joint_view){pose.translation + 3 * j, pose.rotation + 4 * j, pose.scale + 3 * j};
}

static void copy_joint(joint_view to, joint_view from) {
  memcpy(to.t, from.t, 3 * sizeof(float));
  memcpy(to.r, from.r, 4 * sizeof(float));
  memcpy(to.s, from.s, 3 * sizeof(float));
}

static bool same_joint(joint_view a, joint_view b) {
  return memcmp(a.r, b.r, 4 * sizeof(float)) == 0 && memcmp(a.t, b.t, 3 * sizeof(float)) == 0 &&
         memcmp(a.s, b.s, 3 * sizeof(float)) == 0;
}

static joint_view rest_joint(const sk_skeleton *skeleton, size_t j) {
  return (joint_view){(float *)skeleton->translation + 3 * j, (float *)skeleton->rotation + 4 * j,
                      (float *)skeleton->scale + 3 * j}; /* read only */
}

static void lerp3(const float *a, const float *b, double u, float *out) {
  int i;
  for (i = 0; i < 3; i++) out[i] = (float)(a[i] + u * ((double)b[i] - a[i]));
}

/* Interpolates from a to b by u: T and S on straight lines, R by nlerp along the shorter arc. `out` may be a or b. */
static void mix_joint(joint_view a, joint_view b, double u, joint_view out) {
  if (u <= 0.0 || same_joint(a, b)) {
    copy_joint(out, a);
  } else if (u >= 1.0) {
    copy_joint(out, b);
  } else {
    lerp3(a.t, b.t, u, out.t);
    lerp3(a.s, b.s, u, out.s);
    sk_quat_nlerp(a.r, b.r, u, out.r);
  }
}

static double quat_sign(const float a[4], const float b[4]) {
  double dot = (double)a[0] * b[0] + (double)a[1] * b[1] + (double)a[2] * b[2] + (double)a[3] * b[3];
  return dot < 0.0 ? -1.0 : 1.0;
}

/* ---- the sources of one priority at one joint -------------------------------------------------- */

static double source_weight(const sk_blend_source *source, size_t n, size_t joint) {
  double weight = source->weights[n * source->weight_stride];
  return source->mask ? weight * source->mask[joint] : weight;
}

/* The sources that weigh, in total. */
typedef struct total {
  double sum;
  size_t count;
  joint_view joints[2]; /* the first two */
  double second; /* the weight of the second one */
  bool plane; /* some that weigh in the pose are of a blend space of the plane */
  bool same;  /* all have the same bits */
} total;

static inline void count_joint(joint_view joint, double weight, total *found) {
  if (found->count == 0) found->joints[0] = joint;
  if (found->count == 1) found->joints[1] = joint, found->second = weight;
  found->same = found->same && same_joint(found->joints[0], joint);
  found->sum += weight;
  found->count++;
}

static joint_view source_joint(const sk_blend_job *job, const sk_blend_source *source, size_t n, size_t j) {
  size_t joints = (size_t)job->skeleton->joint_count;
  return view_joint(source->poses, n * joints + j);
}

static total find_total(const sk_blend_job *job, sk_priority priority, size_t n, size_t j) {
  total found = {.same = true};
  size_t i;
  for (i = 0; i < job->source_count; i++) {
    const sk_blend_source *source = &job->sources[i];
    double weight = source->priority == priority ? source_weight(source, n, j) : 0.0;
    found.plane = found.plane || (source->plane && source->weights[n * source->weight_stride] > 0.0);
    if (weight > 0.0) count_joint(source_joint(job, source, n, j), weight, &found);
  }
  return found;
}

/* Writes the rotation r with the sign that is nearer to the rest rotation. That is tilted by SK_BLEND_TILT, so that
   roundings do not choose the sign of rotations perpendicular to it, such as half a turn about an axis. */
static void write_rotation(double r[4], const float rest[4], float out[4]) {
  double along = 0.0, square = 0.0;
  int k;
  for (k = 0; k < 4; k++) along += r[k] * (rest[k] + SK_BLEND_TILT * (k + 1)), square += r[k] * r[k];
  for (k = 0; k < 4; k++) r[k] = copysign(1.0, along) * r[k] + 0.0; /* and 0 instead of -0, as at rest */
  if (square > TINY) sk_quat_normalize(r, out);
  else memcpy(out, rest, 4 * sizeof(float));
}

/* Writes the mean of the two sources that were counted. */
static void write_mean_of_two(const total *found, const float *rest_rotation, joint_view out) {
  joint_view a = found->joints[0], b = found->joints[1];
  double u = found->second / found->sum, signed_u = quat_sign(a.r, b.r) * u, r[4];
  int k;
  for (k = 0; k < 4; k++) r[k] = (1.0 - u) * a.r[k] + signed_u * b.r[k];
  lerp3(a.t, b.t, u, out.t);
  lerp3(a.s, b.s, u, out.s);
  write_rotation(r, rest_rotation, out.r);
}

/* The mean of many sources on the way. T and S are running means, which keep every bit that all have in common. */
typedef struct mean {
  double t[3], s[3], sum, products[SK_MEAN_CELLS];
} mean;

static void add_to_mean(joint_view joint, double weight, mean *mean) {
  double u = weight / (mean->sum += weight);
  int k;
  for (k = 0; k < 3; k++) mean->t[k] += u * (joint.t[k] - mean->t[k]), mean->s[k] += u * (joint.s[k] - mean->s[k]);
  sk_mean_add(weight, joint.r, mean->products);
}

/* Writes the mean of all sources that were counted, with the weight `missing` of the rest pose. */
static void write_mean_of_many(const sk_blend_job *job, sk_priority priority, size_t n, size_t j, double sum,
                               double missing, joint_view out) {
  joint_view rest = rest_joint(job->skeleton, j);
  mean mean = {.sum = 0.0};
  double r[4];
  size_t i, k;
  for (i = 0; i < job->source_count; i++) {
    const sk_blend_source *source = &job->sources[i];
    double weight = source->priority == priority ? source_weight(source, n, j) : 0.0;
    if (weight > 0.0) add_to_mean(source_joint(job, source, n, j), weight / sum, &mean);
  }
  if (missing > 0.0) add_to_mean(rest, missing / sum, &mean);
  for (k = 0; k < 3; k++) out.t[k] = (float)mean.t[k], out.s[k] = (float)mean.s[k];
  sk_mean_find(mean.products, rest.r, r);
  write_rotation(r, rest.r, out.r);
}

/* Writes the mean of the sources of one priority and returns the sum of the weights. If `completed`, the rest pose is a
   source too, with the weight that is missing to the threshold. Where no source weighs, `out` stays as it is. */
static double mean_joint(const sk_blend_job *job, sk_priority priority, size_t n, size_t j, bool completed,
                         joint_view out) {
  total found = find_total(job, priority, n, j);
  joint_view rest = rest_joint(job->skeleton, j);
  double missing = completed ? SK_BLEND_THRESHOLD - found.sum : 0.0;
  if (found.count == 0) return 0.0;
  if (missing > 0.0) {
    count_joint(rest, missing, &found);
    found.sum = SK_BLEND_THRESHOLD;
  }
  if (found.same) copy_joint(out, found.joints[0]);
  else if (found.count == 2 && !found.plane) write_mean_of_two(&found, rest.r, out);
  else write_mean_of_many(job, priority, n, j, found.sum, missing, out);
  return found.sum;
}

/* The weight of the high priority in the mix of both. A priority fades out as its sum of weights falls below the
   threshold. */
static double high_weight(double low, double high, double blend) {
  low = fmin(1.0, low / SK_BLEND_THRESHOLD) * (1.0 - blend);
  high = fmin(1.0, high / SK_BLEND_THRESHOLD) * blend;
  return low + high > 0.0 ? high / (low + high) : (high > low ? 1.0 : 0.0);
}

static bool weighs(const sk_blend_job *job, sk_priority priority, size_t n, size_t j) {
  size_t i;
  for (i = 0; i < job->source_count; i++)
    if (job->sources[i].priority == priority && source_weight(&job->sources[i], n, j) > 0.0) return true;
  return false;
}

/* Mixes both priorities; returns the sum of weights of the result. A single one that weighs is completed with the rest
   pose if `completed`. */
static double mean_priorities(const sk_blend_job *job, size_t n, size_t j, bool completed, joint_view out) {
  float t[3], r[4], s[3];
  joint_view other = {t, r, s};
  double low, high, u;
  if (!weighs(job, SK_PRIORITY_HIGH, n, j)) return mean_joint(job, SK_PRIORITY_LOW, n, j, completed, out);
  if (!weighs(job, SK_PRIORITY_LOW, n, j)) return mean_joint(job, SK_PRIORITY_HIGH, n, j, completed, out);
  low = mean_joint(job, SK_PRIORITY_LOW, n, j, false, out);
  high = mean_joint(job, SK_PRIORITY_HIGH, n, j, false, other);
  u = high_weight(low, high, job->priority_blend);
  mix_joint(out, other, u, out);
  return (1.0 - u) * low + u * high;
}

/* ---- modes, one joint --------------------------------------------------------------------------- */

static void base_joint(const sk_blend_job *job, size_t n, size_t j, joint_view pose) {
  joint_view rest = rest_joint(job->skeleton, j);
  double sum = mean_priorities(job, n, j, true, pose);
  if (sum == 0.0) copy_joint(pose, rest);
  else if (sum < SK_BLEND_THRESHOLD) mix_joint(rest, pose, sum / SK_BLEND_THRESHOLD, pose);
}

static void override_joint(const sk_blend_job *job, size_t n, size_t j, joint_view pose) {
  float t[3], r[4], s[3];
  joint_view over = {t, r, s};
  double sum = mean_priorities(job, n, j, false, over);
  if (sum > 0.0) mix_joint(pose, over, sum, pose);
}

static void quat_product(const double a[4], const float b[4], double out[4]) {
  out[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
  out[1] = a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2];
  out[2] = a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0];
  out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

static bool is_no_change(joint_view difference) {
  const float *t = difference.t, *r = difference.r, *s = difference.s;
  return t[0] == 0.0f && t[1] == 0.0f && t[2] == 0.0f && r[0] == 0.0f && r[1] == 0.0f && r[2] == 0.0f && s[0] == 1.0f &&
         s[1] == 1.0f && s[2] == 1.0f;
}

static void add_joint(const sk_blend_job *job, size_t n, size_t j, joint_view pose) {
  double t[3] = {0}, r[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1}, rotated[4];
  bool changes = false;
  size_t i, k;
  for (i = 0; i < job->source_count; i++) {
    double weight = source_weight(&job->sources[i], n, j), sign;
    joint_view joint = source_joint(job, &job->sources[i], n, j);
    if (!(weight > 0.0) || is_no_change(joint)) continue;
    changes = true;
    sign = joint.r[3] < 0.0f ? -1.0 : 1.0;
    for (k = 0; k < 3; k++) t[k] += weight * joint.t[k], s[k] += weight * ((double)joint.s[k] - 1.0);
    for (k = 0; k < 4; k++) r[k] += weight * (sign * joint.r[k] - (k == 3));
  }
  if (!changes) return; /* not even by rounding, so that a joint at rest stays at rest */
  for (k = 0; k < 3; k++) pose.t[k] = (float)(pose.t[k] + t[k]), pose.s[k] = (float)(pose.s[k] * s[k]);
  quat_product(r, pose.r, rotated);
  if (rotated[0] * rotated[0] + rotated[1] * rotated[1] + rotated[2] * rotated[2] + rotated[3] * rotated[3] > TINY)
    sk_quat_normalize(rotated, pose.r);
}

/* ---- morph weights -------------------------------------------------------------------------------- */

static double target_sum(const sk_blend_job *job, sk_priority priority, size_t n, size_t m, double *value) {
  size_t targets = (size_t)job->morph->target_count, joint = (size_t)job->morph->targets[m].node, i;
  double sum = 0.0, total = 0.0;
  for (i = 0; i < job->source_count; i++) {
    const sk_blend_source *source = &job->sources[i];
    double weight = source->priority == priority ? source_weight(source, n, joint) : 0.0;
    sum += weight;
    if (weight > 0.0) total += weight * source->poses.weights[n * targets + m];
  }
  *value = sum > 0.0 ? total / sum : 0.0;
  return sum;
}

static float blend_target(const sk_blend_job *job, size_t n, size_t m, float below) {
  double value, high_value, high, low, rest, sum, u;
  if (job->mode == SK_BLEND_ADD) {
    sum = target_sum(job, SK_PRIORITY_LOW, n, m, &value);
    high = target_sum(job, SK_PRIORITY_HIGH, n, m, &high_value);
    return (float)(below + sum * value + high * high_value);
  }
  low = target_sum(job, SK_PRIORITY_LOW, n, m, &value);
  high = target_sum(job, SK_PRIORITY_HIGH, n, m, &high_value);
  u = low == 0.0 ? 1.0 : high == 0.0 ? 0.0 : high_weight(low, high, job->priority_blend);
  value += u * (high_value - value);
  sum = (1.0 - u) * low + u * high;
  rest = job->mode == SK_BLEND_BASE ? job->morph->targets[m].default_weight : below;
  u = job->mode == SK_BLEND_BASE ? sum / SK_BLEND_THRESHOLD : sum;
  return (float)(u >= 1.0 ? value : rest + u * (value - rest));
}

/* ---- the job ---------------------------------------------------------------------------------------- */

typedef void (*joint_blender)(const sk_blend_job *job, size_t n, size_t j, joint_view pose);

static const joint_blender blenders[SK_BLEND_MODE_COUNT] = {
    [SK_BLEND_BASE] = base_joint, [SK_BLEND_OVERRIDE] = override_joint, [SK_BLEND_ADD] = add_joint};

sk_status sk_weights_validate(const double *weights, size_t count, sk_error *error) {
  size_t i;
  for (i = 0; i < count; i++)
    if (!isfinite(weights[i]) || weights[i] < 0.0)
      return sk_fail(error, SK_ERROR_ARGUMENT, "a weight is %g; expected a finite number, 0 or more", weights[i]);
  return SK_OK;
}

/* Whether one source without a mask hides everything below it, so that copying it is enough. */
static bool hides(const sk_blend_job *job, size_t n) {
  const sk_blend_source *source = job->sources;
  double full = job->mode == SK_BLEND_BASE ? SK_BLEND_THRESHOLD : 1.0;
  return job->source_count == 1 && job->mode != SK_BLEND_ADD && !source->mask &&
         source->weights[n * source->weight_stride] >= full;
}

static void copy_pose(sk_pose to, sk_pose from, size_t joints, size_t targets) {
  memcpy(to.translation, from.translation, joints * 3 * sizeof(float));
  memcpy(to.rotation, from.rotation, joints * 4 * sizeof(float));
  memcpy(to.scale, from.scale, joints * 3 * sizeof(float));
  if (to.weights) memcpy(to.weights, from.weights, targets * sizeof(float));
}

void sk_blend_run(const sk_blend_job *job) {
  size_t joints = (size_t)job->skeleton->joint_count, targets = (size_t)job->morph->target_count, n, j;
  joint_blender blend = blenders[job->mode];
  const sk_kernels *kernels = sk_kernels_chosen();
  for (n = 0; n < job->count; n++) {
    sk_pose pose = sk_pose_at(job->poses, n, joints, targets);
    if (hides(job, n)) {
      copy_pose(pose, sk_pose_at(job->sources->poses, n, joints, targets), joints, targets);
      continue;
    }
    if (!kernels || !kernels->blend(job, n))
      for (j = 0; j < joints; j++) blend(job, n, j, view_joint(pose, j));
    if (!pose.weights) continue;
    for (j = 0; j < targets; j++) pose.weights[j] = blend_target(job, n, j, pose.weights[j]);
  }
}
