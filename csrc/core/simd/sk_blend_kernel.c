/* sk_blend_kernel.c: blends T, R and S of eight joints at a time, in float, in the order in which poses hold them.

   T and S of eight joints are three vectors each, R four; the weights of the joints are spread over them. Sums are
   running means, m += w / (sum of w so far) * (x - m), which keep every bit that all sources have in common. A base
   layer is an override of the rest pose by sum / threshold. */
#include "sk_blend_kernel.h"

#if SK_HAS_AVX2
#include <immintrin.h>
#include <string.h>

SK_KERNEL_BEGIN

#define LANES        8
#define MAX_WEIGHT   1e30 /* sums of weights up to this are finite in float */
#define MIN_ROTATION 1e-9f /* of a quaternion's x, y and z: smaller ones are roundings */
#define TINY         1e-13f      /* squared length below which a sum of unit quaternions is rounding noise */

/* T, R and S of eight joints. */
typedef struct octet {
  __m256 t[3], r[4], s[3];
} octet;

/* One number for each of eight joints, repeated in the order of an octet's vectors. */
typedef struct spread {
  __m256 three[3], four[4];
} spread;

/* ---- loads and stores; the last joints of a pose may be fewer than eight -------------------- */

static octet load_full(const float *t, const float *r, const float *s) {
  octet o;
  int i;
  for (i = 0; i < 3; i++) o.t[i] = _mm256_loadu_ps(t + 8 * i), o.s[i] = _mm256_loadu_ps(s + 8 * i);
  for (i = 0; i < 4; i++) o.r[i] = _mm256_loadu_ps(r + 8 * i);
  return o;
}

/* Vector number i of a row of `count` floats, with zeros behind the last one. */
static __m256 load_some(const float *row, size_t count, int i) {
  static const int32_t there[64] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  const int32_t *mask = there + 32 + 8 * i - count; /* count is at most 4 * LANES */
  return _mm256_maskload_ps(row + 8 * i, _mm256_loadu_si256((const __m256i *)mask));
}

static octet load(const float *t, const float *r, const float *s, size_t lanes) {
  octet o;
  int i;
  if (lanes == LANES) return load_full(t, r, s);
  for (i = 0; i < 3; i++) o.t[i] = load_some(t, 3 * lanes, i), o.s[i] = load_some(s, 3 * lanes, i);
  for (i = 0; i < 4; i++) o.r[i] = load_some(r, 4 * lanes, i);
  return o;
}

static octet load_pose(sk_pose pose, size_t j, size_t lanes) {
  return load(pose.translation + 3 * j, pose.rotation + 4 * j, pose.scale + 3 * j, lanes);
}

static octet load_rest(const sk_skeleton *skeleton, size_t j, size_t lanes) {
  return load(skeleton->translation + 3 * j, skeleton->rotation + 4 * j, skeleton->scale + 3 * j, lanes);
}

static void store_full(const octet *o, float *t, float *r, float *s) {
  int i;
  for (i = 0; i < 3; i++) _mm256_storeu_ps(t + 8 * i, o->t[i]), _mm256_storeu_ps(s + 8 * i, o->s[i]);
  for (i = 0; i < 4; i++) _mm256_storeu_ps(r + 8 * i, o->r[i]);
}

static void store_pose(const octet *o, sk_pose pose, size_t j, size_t lanes) {
  float few[10 * LANES], *t = pose.translation + 3 * j, *r = pose.rotation + 4 * j, *s = pose.scale + 3 * j;
  if (lanes == LANES) {
    store_full(o, t, r, s);
    return;
  }
  store_full(o, few, few + 3 * LANES, few + 7 * LANES);
  memcpy(t, few, lanes * 3 * sizeof(float));
  memcpy(r, few + 3 * LANES, lanes * 4 * sizeof(float));
  memcpy(s, few + 7 * LANES, lanes * 3 * sizeof(float));
}

static __m256 load_weights(const sk_blend_source *source, size_t n, size_t j, size_t lanes) {
  __m256 weight = _mm256_set1_ps((float)source->weights[n * source->weight_stride]);
  return source->mask ? _mm256_mul_ps(weight, load_some(source->mask + j, lanes, 0)) : weight;
}

static spread spread_over(__m256 w) {
  static const int32_t three[3][LANES] = {{0, 0, 0, 1, 1, 1, 2, 2}, {2, 3, 3, 3, 4, 4, 4, 5}, {5, 5, 6, 6, 6, 7, 7, 7}};
  static const int32_t four[4][LANES] = {
      {0, 0, 0, 0, 1, 1, 1, 1}, {2, 2, 2, 2, 3, 3, 3, 3}, {4, 4, 4, 4, 5, 5, 5, 5}, {6, 6, 6, 6, 7, 7, 7, 7}};
  spread s;
  int i;
  for (i = 0; i < 3; i++) s.three[i] = _mm256_permutevar8x32_ps(w, _mm256_loadu_si256((const __m256i *)three[i]));
  for (i = 0; i < 4; i++) s.four[i] = _mm256_permutevar8x32_ps(w, _mm256_loadu_si256((const __m256i *)four[i]));
  return s;
}

/* ---- quaternions, two in a vector ------------------------------------------------------------------- */

/* The dot products, each in all four lanes of its quaternion. */
static __m256 dot(__m256 a, __m256 b) { return _mm256_dp_ps(a, b, 0xFF); }

/* b or -b, whichever is nearer to a. */
static __m256 toward(__m256 a, __m256 b) {
  __m256 wrong = _mm256_cmp_ps(dot(a, b), _mm256_setzero_ps(), _CMP_LT_OQ);
  return _mm256_xor_ps(b, _mm256_and_ps(wrong, _mm256_set1_ps(-0.0f)));
}

/* Sets all four lanes of a quaternion where all of them are set (in_all), or any (in_any). */
static __m256 in_all(__m256 set) {
  set = _mm256_and_ps(set, _mm256_permute_ps(set, 0xB1));
  return _mm256_and_ps(set, _mm256_permute_ps(set, 0x4E));
}

static __m256 in_any(__m256 set) {
  set = _mm256_or_ps(set, _mm256_permute_ps(set, 0xB1));
  return _mm256_or_ps(set, _mm256_permute_ps(set, 0x4E));
}

/* q / |q|, or `other` where q has no direction. */
static __m256 normalized(__m256 q, __m256 other) {
  __m256 square = dot(q, q), there = _mm256_cmp_ps(square, _mm256_set1_ps(TINY), _CMP_GT_OQ);
  return _mm256_blendv_ps(other, _mm256_div_ps(q, _mm256_sqrt_ps(square)), there);
}

/* a * b, which rotates by b first. */
static __m256 product(__m256 a, __m256 b) {
  const __m256 last = _mm256_setr_ps(0.0f, 0.0f, 0.0f, -0.0f, 0.0f, 0.0f, 0.0f, -0.0f);
  __m256 sum = _mm256_mul_ps(_mm256_permute_ps(a, 0xFF), b);
  __m256 xyzx = _mm256_mul_ps(_mm256_permute_ps(a, 0x24), _mm256_permute_ps(b, 0x3F));
  __m256 yzxy = _mm256_mul_ps(_mm256_permute_ps(a, 0x49), _mm256_permute_ps(b, 0x52));
  sum = _mm256_add_ps(sum, _mm256_xor_ps(_mm256_add_ps(xyzx, yzxy), last));
  return _mm256_fnmadd_ps(_mm256_permute_ps(a, 0x92), _mm256_permute_ps(b, 0x89), sum);
}

/* ---- the normalized sum ------------------------------------------------------------------------------- */

/* Sum and number of the sources that weigh at eight joints, and the rotation of the first one. */
typedef struct totals {
  __m256 sum, count, first[4];
} totals;

static totals find_totals(const sk_blend_job *job, size_t n, size_t j, size_t lanes) {
  totals found = {_mm256_setzero_ps(), _mm256_setzero_ps(), {_mm256_setzero_ps()}};
  size_t i, joints = (size_t)job->skeleton->joint_count;
  int k;
  for (k = 1; k < 4; k++) found.first[k] = _mm256_setzero_ps();
  for (i = 0; i < job->source_count; i++) {
    const sk_blend_source *source = &job->sources[i];
    __m256 weights, weighs;
    octet x;
    spread new;
    if (!(source->weights[n * source->weight_stride] > 0.0)) continue; /* its pose may hold anything */
    weights = load_weights(source, n, j, lanes);
    weighs = _mm256_cmp_ps(weights, _mm256_setzero_ps(), _CMP_GT_OQ);
    new = spread_over(_mm256_and_ps(weighs, _mm256_cmp_ps(found.count, _mm256_setzero_ps(), _CMP_EQ_OQ)));
    x = load_pose(source->poses, n * joints + j, lanes);
    for (k = 0; k < 4; k++) found.first[k] = _mm256_blendv_ps(found.first[k], x.r[k], new.four[k]);
    found.sum = _mm256_add_ps(found.sum, weights);
    found.count = _mm256_add_ps(found.count, _mm256_and_ps(weighs, _mm256_set1_ps(1.0f)));
  }
  return found;
}

/* Adds one source to the running means. `fraction` is its weight over the sum of weights so far; `same` stays set where
   all rotations so far have the bits of the first one. */
static void add_mean(octet *mean, const octet *x, __m256 fraction, const octet *reference, const totals *found,
                     __m256 same[4]) {
  spread fractions = spread_over(fraction);
  int k;
  for (k = 0; k < 3; k++) {
    __m256 weighs = _mm256_cmp_ps(fractions.three[k], _mm256_setzero_ps(), _CMP_GT_OQ);
    __m256 t = _mm256_fmadd_ps(fractions.three[k], _mm256_sub_ps(x->t[k], mean->t[k]), mean->t[k]);
    __m256 s = _mm256_fmadd_ps(fractions.three[k], _mm256_sub_ps(x->s[k], mean->s[k]), mean->s[k]);
    mean->t[k] = _mm256_blendv_ps(mean->t[k], t, weighs);
    mean->s[k] = _mm256_blendv_ps(mean->s[k], s, weighs);
  }
  for (k = 0; k < 4; k++) {
    __m256 weighs = _mm256_cmp_ps(fractions.four[k], _mm256_setzero_ps(), _CMP_GT_OQ);
    __m256 q = toward(reference->r[k], x->r[k]);
    __m256 r = _mm256_fmadd_ps(fractions.four[k], _mm256_sub_ps(q, mean->r[k]), mean->r[k]);
    __m256 equal = in_all(_mm256_cmp_ps(x->r[k], found->first[k], _CMP_EQ_OQ));
    mean->r[k] = _mm256_blendv_ps(mean->r[k], r, weighs);
    same[k] = _mm256_and_ps(same[k], _mm256_blendv_ps(_mm256_castsi256_ps(_mm256_set1_epi32(-1)), equal, weighs));
  }
}

/* The normalized sum of several sources at eight joints, or zero where none weighs. Returns the sums of the weights. */
static __m256 find_mean(const sk_blend_job *job, size_t n, size_t j, size_t lanes, octet *mean) {
  totals found = find_totals(job, n, j, lanes);
  spread two = spread_over(_mm256_cmp_ps(found.count, _mm256_set1_ps(2.0f), _CMP_EQ_OQ));
  octet rest = load_rest(job->skeleton, j, lanes), reference = rest;
  __m256 so_far = _mm256_setzero_ps(), same[4];
  size_t i, joints = (size_t)job->skeleton->joint_count;
  int k;
  memset(mean, 0, sizeof *mean);
  for (k = 0; k < 4; k++) {
    reference.r[k] = _mm256_blendv_ps(rest.r[k], found.first[k], two.four[k]);
    same[k] = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
  }
  for (i = 0; i < job->source_count; i++) {
    const sk_blend_source *source = &job->sources[i];
    __m256 weights, weighs;
    octet x;
    if (!(source->weights[n * source->weight_stride] > 0.0)) continue;
    weights = load_weights(source, n, j, lanes);
    weighs = _mm256_cmp_ps(weights, _mm256_setzero_ps(), _CMP_GT_OQ);
    so_far = _mm256_add_ps(so_far, weights);
    x = load_pose(source->poses, n * joints + j, lanes);
    add_mean(mean, &x, _mm256_and_ps(weighs, _mm256_div_ps(weights, so_far)), &reference, &found, same);
  }
  for (k = 0; k < 4; k++) {
    __m256 r = toward(rest.r[k], mean->r[k]); /* of both signs the one nearer to the rest rotation */
    mean->r[k] = _mm256_blendv_ps(normalized(r, rest.r[k]), found.first[k], same[k]);
  }
  return found.sum;
}

/* The same for any number of sources; one source is its own sum. */
static __m256 find_sum(const sk_blend_job *job, size_t n, size_t j, size_t lanes, octet *mean) {
  const sk_blend_source *source = job->sources;
  if (job->source_count != 1) return find_mean(job, n, j, lanes, mean);
  *mean = load_pose(source->poses, n * (size_t)job->skeleton->joint_count + j, lanes);
  return load_weights(source, n, j, lanes);
}

/* ---- the modes ------------------------------------------------------------------------------------------ */

/* Moves `below` towards `over` by u: T and S on straight lines, R by nlerp along the shorter arc. The result is exactly
   `over` from u = 1 on, and exactly `below` at u = 0, whatever `over` holds. */
static void lay_over(octet *below, const octet *over, __m256 u) {
  const __m256 one = _mm256_set1_ps(1.0f);
  spread fractions = spread_over(_mm256_min_ps(u, one));
  int k;
  for (k = 0; k < 3; k++) {
    __m256 weighs = _mm256_cmp_ps(fractions.three[k], _mm256_setzero_ps(), _CMP_GT_OQ);
    __m256 full = _mm256_cmp_ps(fractions.three[k], one, _CMP_GE_OQ);
    __m256 t = _mm256_fmadd_ps(fractions.three[k], _mm256_sub_ps(over->t[k], below->t[k]), below->t[k]);
    __m256 s = _mm256_fmadd_ps(fractions.three[k], _mm256_sub_ps(over->s[k], below->s[k]), below->s[k]);
    t = _mm256_blendv_ps(t, over->t[k], full);
    s = _mm256_blendv_ps(s, over->s[k], full);
    below->t[k] = _mm256_blendv_ps(below->t[k], t, weighs);
    below->s[k] = _mm256_blendv_ps(below->s[k], s, weighs);
  }
  for (k = 0; k < 4; k++) {
    __m256 full = _mm256_cmp_ps(fractions.four[k], one, _CMP_GE_OQ), a = below->r[k], b = over->r[k];
    __m256 still = _mm256_or_ps(_mm256_cmp_ps(fractions.four[k], _mm256_setzero_ps(), _CMP_LE_OQ),
                                in_all(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)));
    __m256 r = normalized(_mm256_fmadd_ps(fractions.four[k], _mm256_sub_ps(toward(a, b), a), a), a);
    below->r[k] = _mm256_blendv_ps(_mm256_blendv_ps(r, b, full), a, still);
  }
}

static __m256 identity_pair(void) { return _mm256_setr_ps(0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 1.0f); }

/* Adds one source to the sums of differences. */
static void add_difference(octet *sums, const octet *x, __m256 weights) {
  const __m256 zero = _mm256_setzero_ps(), one = _mm256_set1_ps(1.0f);
  spread w = spread_over(weights);
  int k;
  for (k = 0; k < 3; k++) {
    __m256 weighs = _mm256_cmp_ps(w.three[k], zero, _CMP_GT_OQ);
    __m256 t = _mm256_mul_ps(w.three[k], x->t[k]), s = _mm256_mul_ps(w.three[k], _mm256_sub_ps(x->s[k], one));
    sums->t[k] = _mm256_add_ps(sums->t[k], _mm256_and_ps(weighs, t));
    sums->s[k] = _mm256_add_ps(sums->s[k], _mm256_and_ps(weighs, s));
  }
  for (k = 0; k < 4; k++) {
    __m256 weighs = _mm256_cmp_ps(w.four[k], zero, _CMP_GT_OQ);
    __m256 r = _mm256_mul_ps(w.four[k], _mm256_sub_ps(toward(identity_pair(), x->r[k]), identity_pair()));
    sums->r[k] = _mm256_add_ps(sums->r[k], _mm256_and_ps(weighs, r));
  }
}

/* Where a sum rotates by more than rounding noise; elsewhere the pose's rotation keeps its bits. */
static __m256 rotates(__m256 sum) {
  __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), sum);
  __m256 rotation = _mm256_cmp_ps(size, _mm256_set1_ps(MIN_ROTATION), _CMP_GT_OQ);
  return in_any(_mm256_blend_ps(rotation, _mm256_setzero_ps(), 0x88)); /* x, y or z */
}

static void add_octet(const sk_blend_job *job, size_t n, size_t j, size_t lanes, octet *pose) {
  const __m256 one = _mm256_set1_ps(1.0f);
  size_t i, joints = (size_t)job->skeleton->joint_count;
  octet sums;
  int k;
  memset(&sums, 0, sizeof sums);
  for (i = 0; i < job->source_count; i++) {
    const sk_blend_source *source = &job->sources[i];
    octet x;
    if (!(source->weights[n * source->weight_stride] > 0.0)) continue;
    x = load_pose(source->poses, n * joints + j, lanes);
    add_difference(&sums, &x, load_weights(source, n, j, lanes));
  }
  for (k = 0; k < 3; k++) {
    pose->t[k] = _mm256_add_ps(pose->t[k], sums.t[k]);
    pose->s[k] = _mm256_mul_ps(pose->s[k], _mm256_add_ps(one, sums.s[k]));
  }
  for (k = 0; k < 4; k++) {
    __m256 r = normalized(product(_mm256_add_ps(identity_pair(), sums.r[k]), pose->r[k]), pose->r[k]);
    pose->r[k] = _mm256_blendv_ps(pose->r[k], r, rotates(sums.r[k]));
  }
}

/* Whether the kernel can blend pose n: two priorities, and weights whose sums may leave float's range, it cannot. */
static bool fits(const sk_blend_job *job, size_t n) {
  size_t i;
  for (i = 0; i < job->source_count; i++) {
    const sk_blend_source *source = &job->sources[i];
    if (!(source->weights[n * source->weight_stride] <= MAX_WEIGHT)) return false;
    if (job->mode != SK_BLEND_ADD && source->priority != SK_PRIORITY_LOW) return false;
  }
  return true;
}

bool SK_KERNEL(sk_blend_kernel)(const sk_blend_job *job, size_t n) {
  size_t joints = (size_t)job->skeleton->joint_count, j;
  sk_pose poses = sk_pose_at(job->poses, n, joints, 0);
  if (!fits(job, n)) return false;
  for (j = 0; j < joints; j += LANES) {
    size_t lanes = joints - j < LANES ? joints - j : LANES;
    bool is_base = job->mode == SK_BLEND_BASE;
    octet pose = is_base ? load_rest(job->skeleton, j, lanes) : load_pose(poses, j, lanes), over;
    if (job->mode == SK_BLEND_ADD) {
      add_octet(job, n, j, lanes, &pose);
    } else {
      __m256 sum = find_sum(job, n, j, lanes, &over);
      lay_over(&pose, &over, is_base ? _mm256_div_ps(sum, _mm256_set1_ps((float)SK_BLEND_THRESHOLD)) : sum);
    }
    store_pose(&pose, poses, j, lanes);
  }
  return true;
}

SK_KERNEL_END

#endif
