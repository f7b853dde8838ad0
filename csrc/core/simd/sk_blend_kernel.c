/* sk_blend_kernel.c: blends T, R and S of eight joints at a time, in float: each lane is a joint. Lanes in which rotations are
   so far apart that float would lose digits of their mean (sk_mean_kernel.h) get it in double.

   Sums are running means, m += w / (sum of w so far) * (x - m), which keep every bit that all sources have in common. A base
   layer is an override of the rest pose by sum / threshold; only where two sources or more leave some weight to the rest
   pose, their rotations are averaged with its own. */
#include "sk_blend_kernel.h"

#include "sk_mean_kernel.h"

#if SK_HAS_KERNELS
#include <string.h>

SK_KERNEL_BEGIN

#define LANES        8
#define MAX_SOURCES  32
#define MAX_WEIGHT   1e30 /* sums of weights up to this are finite in float */
#define MIN_ROTATION 1e-9f /* of a quaternion's x, y and z: smaller ones are roundings */
#define TINY         1e-13f /* squared length below which a sum of unit quaternions is rounding noise */

/* A source that weighs in the pose that is blended; one that does not may hold anything. */
typedef struct active {
  sk_pose pose;
  float weight;
  const float *mask; /* or NULL */
} active;

/* The sources of one pose. */
typedef struct blend {
  size_t count;
  bool single; /* the job has one source, which is its own mean, also with the rest pose */
  bool plane; /* some source that weighs is of a blend space of the plane */
  active sources[MAX_SOURCES];
} blend;

/* Eight joints of the pose. The last octet begins early enough to be full, so that it computes some joints again, which
   are then not stored; only poses of fewer than eight joints have fewer lanes. */
typedef struct octet {
  const blend *blend;
  size_t first, lanes, stored; /* of the lanes, those from `stored` on are stored */
  sk_f8 fractions[MAX_SOURCES]; /* of the blend's sources: the weight over the sum of weights so far */
  sk_f8 sum; /* of all weights */
} octet;

/* ---- loads and stores ---------------------------------------------------------------------------------- */

static __attribute__((noinline)) void load_few(const float *p, size_t count, float few[4 * LANES]) {
  memset(few, 0, 4 * LANES * sizeof(float));
  memcpy(few, p, count * sizeof(float));
}

/* T or S of the octet, out of the array of some pose. */
SK_INLINE void load_three(const octet *o, const float *row, sk_f8 out[3]) {
  float few[4 * LANES];
  const float *p = row + 3 * o->first;
  if (o->lanes < LANES) load_few(p, 3 * o->lanes, few);
  f8_load_triples(o->lanes < LANES ? few : p, out);
}

SK_INLINE void load_four(const octet *o, const float *row, sk_f8 out[4]) {
  float few[4 * LANES];
  const float *p = row + 4 * o->first;
  if (o->lanes < LANES) load_few(p, 4 * o->lanes, few);
  f8_load_quads(o->lanes < LANES ? few : p, out);
}

/* Whether all eight lanes are stored. */
SK_INLINE bool is_whole(const octet *o) { return o->lanes == LANES && o->stored == 0; }

SK_INLINE void store_three(const octet *o, const sk_f8 v[3], float *row) {
  float few[4 * LANES], *p = row + 3 * o->first;
  size_t skip = 3 * o->stored;
  f8_store_triples(is_whole(o) ? p : few, v, false);
  if (!is_whole(o)) memcpy(p + skip, few + skip, (3 * o->lanes - skip) * sizeof(float));
}

SK_INLINE void store_four(const octet *o, const sk_f8 v[4], float *row) {
  float few[4 * LANES], *p = row + 4 * o->first;
  size_t skip = 4 * o->stored;
  f8_store_quads(is_whole(o) ? p : few, v);
  if (!is_whole(o)) memcpy(p + skip, few + skip, (4 * o->lanes - skip) * sizeof(float));
}

SK_INLINE sk_f8 load_weights(const octet *o, const active *source) {
  sk_f8 weight = f8_set(source->weight);
  return source->mask ? f8_mul(weight, f8_load_some(source->mask + o->first, o->lanes)) : weight;
}

/* ---- eight vectors or quaternions ---------------------------------------------------------------------- */

/* a = b in the lanes of the mask. */
SK_INLINE void put(sk_f8 *a, const sk_f8 *b, int count, sk_f8 mask) {
  int k;
  for (k = 0; k < count; k++) a[k] = f8_blend(a[k], b[k], mask);
}

/* a += u * (b - a) in the lanes of the mask. */
SK_INLINE void approach(sk_f8 *a, const sk_f8 *b, int count, sk_f8 u, sk_f8 mask) {
  int k;
  for (k = 0; k < count; k++) a[k] = f8_blend(a[k], f8_fma(u, f8_sub(b[k], a[k]), a[k]), mask);
}

SK_INLINE sk_f8 dot(const sk_f8 a[4], const sk_f8 b[4]) {
  return f8_add(f8_add(f8_mul(a[0], b[0]), f8_mul(a[1], b[1])), f8_add(f8_mul(a[2], b[2]), f8_mul(a[3], b[3])));
}

/* Negates b where that makes it nearer to a. */
SK_INLINE void turn_toward(const sk_f8 a[4], sk_f8 b[4]) {
  sk_f8 sign = f8_and(f8_less(dot(a, b), f8_zero()), f8_set(-0.0f));
  int k;
  for (k = 0; k < 4; k++) b[k] = f8_xor(b[k], sign);
}

/* The mask of the lanes where both are the same. */
SK_INLINE sk_f8 are_equal(const sk_f8 a[4], const sk_f8 b[4]) {
  return f8_and(f8_and(f8_equal(a[0], b[0]), f8_equal(a[1], b[1])), f8_and(f8_equal(a[2], b[2]), f8_equal(a[3], b[3])));
}

/* q = q / |q|, or `other` where q has no direction. */
SK_INLINE void normalize(sk_f8 q[4], const sk_f8 other[4]) {
  sk_f8 square = dot(q, q), there = f8_greater(square, f8_set(TINY)), length = f8_sqrt(square);
  int k;
  for (k = 0; k < 4; k++) q[k] = f8_blend(other[k], f8_div(q[k], length), there);
}

/* out = a * b, which rotates by b first. */
SK_INLINE void multiply(const sk_f8 a[4], const sk_f8 b[4], sk_f8 out[4]) {
  int k;
  for (k = 0; k < 3; k++) {
    int next = (k + 1) % 3, last = (k + 2) % 3;
    sk_f8 sum = f8_add(f8_mul(a[k], b[3]), f8_mul(a[next], b[last]));
    out[k] = f8_fnma(a[last], b[next], f8_add(f8_mul(a[3], b[k]), sum));
  }
  out[3] = f8_sub(f8_mul(a[3], b[3]), f8_add(f8_mul(a[0], b[0]), f8_mul(a[1], b[1])));
  out[3] = f8_fnma(a[2], b[2], out[3]);
}

/* ---- the mean ------------------------------------------------------------------------------------------ */

/* Finds the octet's weights: with the fractions its sources go into running means. */
static void find_fractions(octet *o) {
  const blend *blend = o->blend;
  size_t i;
  o->sum = f8_zero();
  for (i = 0; i < blend->count; i++) {
    sk_f8 weights = load_weights(o, &blend->sources[i]);
    o->sum = f8_add(o->sum, weights);
    o->fractions[i] = f8_and(f8_greater(weights, f8_zero()), f8_div(weights, o->sum));
  }
}

/* The mean of T or S over the sources, zero where none weighs. */
SK_INLINE void mean_three(const octet *o, bool scale, sk_f8 mean[3]) {
  const active *source = o->blend->sources, *end = source + o->blend->count;
  const sk_f8 *fraction = o->fractions;
  sk_f8 x[3] = {f8_zero(), f8_zero(), f8_zero()};
  mean[0] = mean[1] = mean[2] = f8_zero();
  for (; source < end; source++, fraction++) {
    load_three(o, scale ? source->pose.scale : source->pose.translation, x);
    approach(mean, x, 3, *fraction, f8_greater(*fraction, f8_zero()));
  }
  if (o->blend->single) mean[0] = x[0], mean[1] = x[1], mean[2] = x[2];
}

/* What the rotations of an octet's sources have in common, and their sum for the mean of many. */
typedef struct rotations {
  sk_f8 first[4]; /* of the sources that weigh */
  sk_f8 count; /* of the sources that weigh */
  sk_f8 same; /* mask: all that weigh have the bits of the first one */
  sk_f8 products[SK_MEAN_CELLS];
} rotations;

/* Looks at all sources; sums products with the weights times `scale` if `sums`. */
SK_INLINE void look_at_rotations(const octet *o, bool sums, sk_f8 scale, rotations *found) {
  sk_f8 x[4];
  size_t i;
  int k;
  found->count = found->first[0] = found->first[1] = found->first[2] = found->first[3] = f8_zero();
  found->same = f8_all_set();
  for (k = 0; sums && k < SK_MEAN_CELLS; k++) found->products[k] = f8_zero();
  for (i = 0; i < o->blend->count; i++) {
    sk_f8 weighs = f8_greater(o->fractions[i], f8_zero());
    load_four(o, o->blend->sources[i].pose.rotation, x);
    put(found->first, x, 4, f8_and(weighs, f8_equal(found->count, f8_zero())));
    found->same = f8_and(found->same, f8_blend(f8_all_set(), are_equal(x, found->first), weighs));
    found->count = f8_add(found->count, f8_and(weighs, f8_set(1.0f)));
    if (!sums) continue;
    for (k = 0; k < 4; k++) x[k] = f8_and(weighs, x[k]); /* where it does not weigh it may be NaN */
    sk_mean_add_floats(f8_mul(load_weights(o, &o->blend->sources[i]), scale), x, found->products);
  }
}

/* The mean of two rotations along the shorter arc, of any length. */
SK_INLINE void mean_of_two(const octet *o, const sk_f8 first[4], sk_f8 mean[4]) {
  sk_f8 x[4];
  size_t i;
  mean[0] = mean[1] = mean[2] = mean[3] = f8_zero();
  for (i = 0; i < o->blend->count; i++) {
    load_four(o, o->blend->sources[i].pose.rotation, x);
    turn_toward(first, x);
    approach(mean, x, 4, o->fractions[i], f8_greater(o->fractions[i], f8_zero()));
  }
}

/* Finds the mean of one lane in double, as the plain path does. */
static __attribute__((noinline)) void mend_lane(const octet *o, size_t lane, const float *rest, double missing,
                                                float out[4]) {
  double products[SK_MEAN_CELLS] = {0}, mean[4];
  size_t joint = o->first + lane, i;
  for (i = 0; i < o->blend->count; i++) {
    const active *source = &o->blend->sources[i];
    double weight = source->mask ? (double)source->weight * source->mask[joint] : source->weight;
    if (weight > 0.0) sk_mean_add(weight, source->pose.rotation + 4 * joint, products);
  }
  if (missing > 0.0) sk_mean_add(missing, rest, products);
  sk_mean_find(products, rest, mean);
  for (i = 0; i < 4; i++) out[i] = (float)mean[i];
}

/* Does so in the lanes of the mask. */
static void mend_lanes(const octet *o, const sk_f8 rest[4], sk_f8 missing, sk_f8 mask, sk_f8 mean[4]) {
  float rests[4 * LANES], means[4 * LANES], weights[LANES];
  int lanes = f8_signs(mask);
  size_t lane;
  f8_store_quads(rests, rest);
  f8_store_quads(means, mean);
  f8_store(weights, missing);
  for (lane = 0; lane < o->lanes; lane++)
    if (lanes >> lane & 1) mend_lane(o, lane, rests + 4 * lane, weights[lane], means + 4 * lane);
  f8_load_quads(means, mean);
}

/* The mean of the rotations; of both signs the one nearer to the rest rotation, as write_rotation of sk_blend.c chooses
   it. `missing` is the weight that the rest pose has besides sources that weigh. It is a part of the mean in the lanes
   of the mask that is returned. */
static sk_f8 mean_rotation(const octet *o, const sk_f8 rest[4], sk_f8 missing, sk_f8 mean[4]) {
  sk_f8 tilted[4], scale = f8_zero(), misses = f8_greater(missing, f8_zero()), completed, many;
  size_t least = o->blend->plane ? 2 : 3; /* sources of which many are made */
  bool sums = o->blend->count + (f8_signs(misses) != 0) >= least;
  rotations found;
  int k;
  if (sums) scale = f8_div(f8_set(1.0f), f8_add(o->sum, missing));
  if (sums) look_at_rotations(o, true, scale, &found);
  else look_at_rotations(o, false, scale, &found);
  many = f8_at_least(f8_add(found.count, f8_and(misses, f8_set(1.0f))), f8_set((float)least));
  completed = f8_and(many, misses);
  if (f8_signs(many) != 0xff) mean_of_two(o, found.first, mean);
  if (f8_signs(many)) {
    sk_f8 best[4], clear;
    if (f8_signs(misses)) sk_mean_add_floats(f8_mul(missing, scale), rest, found.products);
    clear = f8_greater(SK_KERNEL(sk_mean_floats)(found.products, rest, best), f8_set(SK_MEAN_SLOPE));
    if (f8_signs(f8_clear(clear, many))) mend_lanes(o, rest, missing, f8_clear(clear, many), best);
    for (k = 0; k < 4; k++) mean[k] = f8_signs(many) == 0xff ? best[k] : f8_blend(mean[k], best[k], many);
  }
  for (k = 0; k < 4; k++) tilted[k] = f8_add(rest[k], f8_set((float)SK_BLEND_TILT * (float)(k + 1)));
  turn_toward(tilted, mean);
  for (k = 0; k < 4; k++) mean[k] = f8_add(mean[k], f8_zero()); /* 0 instead of -0, as at rest */
  normalize(mean, rest);
  found.same = f8_and(found.same, f8_or(f8_clear(completed, f8_all_set()), are_equal(rest, found.first)));
  put(mean, found.first, 4, found.same);
  return completed;
}

/* ---- the modes ----------------------------------------------------------------------------------------- */

/* Moves T or S of the pose below towards the mean by u, from 0 to 1, on straight lines. The result is exactly the mean
   at u = 1, and exactly what is below at u = 0, whatever the mean holds. */
static void lay_three(const octet *o, const float *from, float *to, bool scale, sk_f8 u) {
  sk_f8 below[3], over[3];
  load_three(o, from, below);
  mean_three(o, scale, over);
  approach(below, over, 3, u, f8_greater(u, f8_zero()));
  put(below, over, 3, f8_at_least(u, f8_set(1.0f)));
  store_three(o, below, to);
}

/* The same for R, by nlerp along the shorter arc. */
static void lay_rotation(const octet *o, const sk_skeleton *skeleton, bool is_base, float *to, sk_f8 u) {
  sk_f8 below[4], over[4], rest[4], r[4], still, missing = f8_zero();
  int k;
  load_four(o, is_base ? skeleton->rotation : to, below);
  load_four(o, skeleton->rotation, rest);
  if (is_base) missing = f8_max(f8_sub(f8_set((float)SK_BLEND_THRESHOLD), o->sum), f8_zero());
  if (o->blend->single && o->blend->count) load_four(o, o->blend->sources[0].pose.rotation, over);
  else u = f8_blend(u, f8_set(1.0f), mean_rotation(o, rest, missing, over));
  still = f8_or(f8_at_most(u, f8_zero()), are_equal(below, over));
  for (k = 0; k < 4; k++) r[k] = over[k];
  turn_toward(below, r);
  for (k = 0; k < 4; k++) r[k] = f8_fma(u, f8_sub(r[k], below[k]), below[k]);
  normalize(r, below);
  put(r, over, 4, f8_at_least(u, f8_set(1.0f)));
  put(r, below, 4, still);
  store_four(o, r, to);
}

/* Lays the mean over the rest pose (SK_BLEND_BASE) or over the pose below. */
static void lay_over(const octet *o, const sk_skeleton *skeleton, bool is_base, sk_pose pose) {
  sk_f8 u = f8_min(is_base ? f8_div(o->sum, f8_set((float)SK_BLEND_THRESHOLD)) : o->sum, f8_set(1.0f));
  lay_three(o, is_base ? skeleton->translation : pose.translation, pose.translation, false, u);
  lay_rotation(o, skeleton, is_base, pose.rotation, u);
  lay_three(o, is_base ? skeleton->scale : pose.scale, pose.scale, true, u);
}

/* sum += weight * x in the lanes of the mask. */
SK_INLINE sk_f8 add_weighted(sk_f8 sum, sk_f8 weight, sk_f8 x, sk_f8 mask) {
  return f8_add(sum, f8_and(mask, f8_mul(weight, x)));
}

/* Adds the weighted differences of T, or multiplies with those of S. */
static void add_three(const octet *o, sk_pose pose, bool scale) {
  const sk_f8 one = f8_set(1.0f);
  float *row = scale ? pose.scale : pose.translation;
  sk_f8 sum[3] = {f8_zero(), f8_zero(), f8_zero()}, x[3];
  size_t i;
  int k;
  for (i = 0; i < o->blend->count; i++) {
    const active *source = &o->blend->sources[i];
    sk_f8 weights = load_weights(o, source), weighs = f8_greater(weights, f8_zero());
    load_three(o, scale ? source->pose.scale : source->pose.translation, x);
    for (k = 0; k < 3; k++) sum[k] = add_weighted(sum[k], weights, scale ? f8_sub(x[k], one) : x[k], weighs);
  }
  load_three(o, row, x);
  for (k = 0; k < 3; k++) x[k] = scale ? f8_mul(x[k], f8_add(one, sum[k])) : f8_add(x[k], sum[k]);
  store_three(o, x, row);
}

/* Where a sum rotates by more than rounding noise; elsewhere the pose's rotation keeps its bits. */
SK_INLINE sk_f8 rotates(const sk_f8 sum[4]) {
  const sk_f8 least = f8_set(MIN_ROTATION);
  return f8_or(f8_or(f8_greater(f8_abs(sum[0]), least), f8_greater(f8_abs(sum[1]), least)),
               f8_greater(f8_abs(sum[2]), least));
}

static void add_rotation(const octet *o, sk_pose pose) {
  const sk_f8 identity[4] = {f8_zero(), f8_zero(), f8_zero(), f8_set(1.0f)};
  sk_f8 sum[4] = {f8_zero(), f8_zero(), f8_zero(), f8_zero()}, x[4], q[4], r[4];
  size_t i;
  int k;
  for (i = 0; i < o->blend->count; i++) {
    const active *source = &o->blend->sources[i];
    sk_f8 weights = load_weights(o, source), weighs = f8_greater(weights, f8_zero());
    load_four(o, source->pose.rotation, x);
    turn_toward(identity, x);
    for (k = 0; k < 4; k++) sum[k] = add_weighted(sum[k], weights, f8_sub(x[k], identity[k]), weighs);
  }
  load_four(o, pose.rotation, x);
  for (k = 0; k < 4; k++) q[k] = f8_add(identity[k], sum[k]);
  multiply(q, x, r);
  normalize(r, x);
  put(x, r, 4, rotates(sum));
  store_four(o, x, pose.rotation);
}

static void add_differences(const octet *o, sk_pose pose) {
  add_three(o, pose, false);
  add_rotation(o, pose);
  add_three(o, pose, true);
}

/* ---- the job ------------------------------------------------------------------------------------------- */

/* Whether the kernel can blend pose n: not so many sources that weigh, two priorities, or weights whose sums may leave
   float's range. */
static bool fits(const sk_blend_job *job, size_t n) {
  size_t i, weighing = 0;
  for (i = 0; i < job->source_count; i++) {
    const sk_blend_source *source = &job->sources[i];
    double weight = source->weights[n * source->weight_stride];
    if (!(weight <= MAX_WEIGHT)) return false;
    if (job->mode != SK_BLEND_ADD && source->priority != SK_PRIORITY_LOW) return false;
    weighing += weight > 0.0;
  }
  return weighing <= MAX_SOURCES;
}

static void find_sources(const sk_blend_job *job, size_t n, blend *blend) {
  size_t i;
  blend->count = 0;
  blend->plane = false;
  for (i = 0; i < job->source_count; i++) {
    const sk_blend_source *source = &job->sources[i];
    double weight = source->weights[n * source->weight_stride];
    sk_pose pose = sk_pose_at(source->poses, n, (size_t)job->skeleton->joint_count, 0);
    if (!(weight > 0.0)) continue;
    blend->sources[blend->count++] = (active){pose, (float)weight, source->mask};
    blend->plane = blend->plane || source->plane;
  }
  blend->single = job->source_count == 1 && !blend->plane;
}

bool SK_KERNEL(sk_blend_kernel)(const sk_blend_job *job, size_t n) {
  size_t joints = (size_t)job->skeleton->joint_count, j;
  sk_pose pose = sk_pose_at(job->poses, n, joints, 0);
  blend blend;
  octet o;
  if (!fits(job, n)) return false;
  find_sources(job, n, &blend);
  o.blend = &blend;
  for (j = 0; j < joints; j += LANES) {
    o.first = j + LANES <= joints ? j : joints > LANES ? joints - LANES : 0;
    o.lanes = joints < LANES ? joints : LANES;
    o.stored = j - o.first;
    find_fractions(&o);
    if (job->mode == SK_BLEND_ADD) add_differences(&o, pose);
    else lay_over(&o, job->skeleton, job->mode == SK_BLEND_BASE, pose);
  }
  return true;
}

SK_KERNEL_END

#endif
