/* sk_lanes.h: arithmetic on eight transforms side by side in vector registers, which kernels of poses share.

   A vector holds the same number of eight lanes: a translation or scale is three vectors, a quaternion x y z w four,
   and the first three rows of a matrix twelve. A lane may be a joint of one pose (sk_octet.h) or a pose of a batch
   (sk_batch.h). All functions do their operations in one order, so that the result of a lane depends neither on the
   kernel that computes it nor on its neighbors. */
#ifndef SK_LANES_H
#define SK_LANES_H

#include "sk_kernel.h"

#include "../pose/sk_compile.h"
#include "../pose/sk_sample.h"

#if SK_HAS_AVX2
#include <immintrin.h>

SK_KERNEL_BEGIN

/* ---- between cells and lanes ---------------------------------------------------------------- */

/* Two cells of four floats in one vector. */
static inline __m256 sk_pair(const float *low, const float *high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

/* Transposes four pairs of cells, of lanes n and n + 4, to one vector for each of the four numbers of a cell. It is its
   own inverse: applied to four vectors of lanes, it gives the pairs. */
static inline void sk_transpose(__m256 r0, __m256 r1, __m256 r2, __m256 r3, __m256 out[4]) {
  __m256 a = _mm256_unpacklo_ps(r0, r1), b = _mm256_unpackhi_ps(r0, r1);
  __m256 c = _mm256_unpacklo_ps(r2, r3), d = _mm256_unpackhi_ps(r2, r3);
  out[0] = _mm256_shuffle_ps(a, c, 0x44);
  out[1] = _mm256_shuffle_ps(a, c, 0xEE);
  out[2] = _mm256_shuffle_ps(b, d, 0x44);
  out[3] = _mm256_shuffle_ps(b, d, 0xEE);
}

/* Loads one cell from each of eight addresses, `offset` floats on, as one vector for each number. */
static inline void sk_load_cells(const float *const at[SK_LANES], size_t offset, __m256 out[4]) {
  sk_transpose(sk_pair(at[0] + offset, at[4] + offset), sk_pair(at[1] + offset, at[5] + offset),
               sk_pair(at[2] + offset, at[6] + offset), sk_pair(at[3] + offset, at[7] + offset), out);
}

/* Loads the first `count` numbers of a cell that is stored lane by lane. */
static inline void sk_load_constants(const float constants[SK_CELL][SK_LANES], int count, __m256 *out) {
  int i;
  for (i = 0; i < count; i++) out[i] = _mm256_loadu_ps(constants[i]);
}

/* ---- interpolation ------------------------------------------------------------------------------------ */

/* sin(t * angle) / sin(angle) is a series in (dot - 1) whose terms depend on t alone (Eberly, "A Fast and
   Accurate Algorithm for Computing SLERP", 2011): a_0 = t, a_i = a_(i-1) * (t^2 - i^2) / (i * (2i + 1)). */
#define SK_SERIES 5 /* terms: enough for rotations up to 46 degrees apart, to float's precision */

/* The terms of the series at one t, for eight lanes. */
typedef struct sk_series {
  __m256 terms[SK_SERIES];
  __m256 rest; /* what rounding to float took from the first term, t: joints of a chain share that error */
} sk_series;

/* The terms at `t`; of `rotation` SK_NLERP needs just the first, which is the straight line. */
static inline sk_series sk_series_of(__m256 t, __m256 rest, sk_rotation rotation) {
  static const float denominators[SK_SERIES] = {1.0f, 1.0f / 3.0f, 1.0f / 10.0f, 1.0f / 21.0f, 1.0f / 36.0f};
  __m256 square = _mm256_mul_ps(t, t);
  sk_series series;
  int i;
  series.terms[0] = t;
  series.rest = rest;
  for (i = 1; i < SK_SERIES; i++) {
    __m256 factor = _mm256_mul_ps(_mm256_sub_ps(square, _mm256_set1_ps((float)(i * i))),
                                  _mm256_set1_ps(rotation == SK_SLERP ? denominators[i] : 0.0f));
    series.terms[i] = _mm256_mul_ps(series.terms[i - 1], factor);
  }
  return series;
}

/* The value of the series at m = dot - 1. */
static inline __m256 sk_series_at(const sk_series *series, __m256 m) {
  __m256 sum = series->terms[SK_SERIES - 1];
  int i;
  for (i = SK_SERIES - 2; i > 0; i--) sum = _mm256_fmadd_ps(sum, m, series->terms[i]);
  return _mm256_add_ps(_mm256_fmadd_ps(sum, m, series->rest), series->terms[0]);
}

/* The angle in radians whose cosine is `dot`, from 0 to 1: a minimax polynomial with an error of 1.2e-8. The result is
   at least 1e-3, because line and arc are the same for nearer rotations. */
static inline __m256 sk_angle(__m256 dot) {
  static const float c[8] = {1.5707963143e+00f, -2.1459989234e-01f, 8.8999263059e-02f, -5.0312772248e-02f,
                             3.1335431447e-02f, -1.7808921212e-02f, 7.2453978511e-03f, -1.4414642867e-03f};
  __m256 x = _mm256_min_ps(dot, _mm256_set1_ps(1.0f)), x2 = _mm256_mul_ps(x, x), x4 = _mm256_mul_ps(x2, x2), pairs[4];
  int i;
  for (i = 0; i < 4; i++) /* Estrin's scheme: pairs side by side take half the time of Horner's chain */
    pairs[i] = _mm256_fmadd_ps(_mm256_set1_ps(c[2 * i + 1]), x, _mm256_set1_ps(c[2 * i]));
  pairs[0] = _mm256_fmadd_ps(pairs[1], x2, pairs[0]);
  pairs[2] = _mm256_fmadd_ps(pairs[3], x2, pairs[2]);
  x = _mm256_sqrt_ps(_mm256_sub_ps(_mm256_set1_ps(1.0f), x));
  return _mm256_max_ps(_mm256_mul_ps(_mm256_fmadd_ps(pairs[2], x4, pairs[0]), x), _mm256_set1_ps(1e-3f));
}

/* The sine of 0 to pi / 2: a minimax polynomial with an error of 4.6e-9. */
static inline __m256 sk_sine(__m256 x) {
  static const float c[4] = {-1.6666657096e-01f, 8.3330172863e-03f, -1.9806614890e-04f, 2.6000541802e-06f};
  __m256 z = _mm256_mul_ps(x, x), z2 = _mm256_mul_ps(z, z), xz = _mm256_mul_ps(x, z);
  __m256 low = _mm256_fmadd_ps(_mm256_set1_ps(c[1]), z, _mm256_set1_ps(c[0]));
  __m256 high = _mm256_fmadd_ps(_mm256_set1_ps(c[3]), z, _mm256_set1_ps(c[2]));
  return _mm256_fmadd_ps(xz, _mm256_fmadd_ps(high, z2, low), x);
}

/* The dot products of quaternions. */
static inline __m256 sk_dot4(const __m256 a[4], const __m256 b[4]) {
  __m256 low = _mm256_fmadd_ps(a[1], b[1], _mm256_mul_ps(a[0], b[0]));
  __m256 high = _mm256_fmadd_ps(a[3], b[3], _mm256_mul_ps(a[2], b[2]));
  return _mm256_add_ps(low, high);
}

/* 1 / sqrt(squared) by the processor's estimate of 12 bits and one step of Newton's method: within about 3e-7 of the
   value. With a square root and a division all of skinning took a quarter longer. */
static inline __m256 sk_inverse_root(__m256 squared) {
  __m256 guess = _mm256_rsqrt_ps(squared);
  __m256 rest = _mm256_fnmadd_ps(_mm256_mul_ps(squared, guess), guess, _mm256_set1_ps(3.0f));
  return _mm256_mul_ps(_mm256_mul_ps(_mm256_set1_ps(0.5f), guess), rest);
}

/* q = wa * a + wb * b. */
static inline void sk_weigh(const __m256 a[4], const __m256 b[4], __m256 wa, __m256 wb, __m256 q[4]) {
  int i;
  for (i = 0; i < 4; i++) q[i] = _mm256_fmadd_ps(wb, b[i], _mm256_mul_ps(wa, a[i]));
}

/* The sign bits of `x`; zeros of either sign give none. */
static inline __m256 sk_sign_of(__m256 x) {
  return _mm256_and_ps(_mm256_add_ps(x, _mm256_setzero_ps()), _mm256_set1_ps(-0.0f));
}

/* The dot products of four lanes, summed in double. */
static inline __m128 sk_exact_dot4(const __m128 a[4], const __m128 b[4]) {
  __m256d dot = _mm256_mul_pd(_mm256_cvtps_pd(a[0]), _mm256_cvtps_pd(b[0]));
  int i;
  for (i = 1; i < 4; i++) dot = _mm256_fmadd_pd(_mm256_cvtps_pd(a[i]), _mm256_cvtps_pd(b[i]), dot);
  return _mm256_cvtpd_ps(dot);
}

/* The sign bits of dot products as the plain path sums them. Quaternions of keys that are 180 degrees apart are
   perpendicular, and rounding to float could choose the other way round. */
static inline __m256 sk_exact_sign(const __m256 a[4], const __m256 b[4]) {
  __m128 low[2][4], high[2][4];
  int i;
  for (i = 0; i < 4; i++) {
    low[0][i] = _mm256_castps256_ps128(a[i]);
    low[1][i] = _mm256_castps256_ps128(b[i]);
    high[0][i] = _mm256_extractf128_ps(a[i], 1);
    high[1][i] = _mm256_extractf128_ps(b[i], 1);
  }
  return sk_sign_of(_mm256_set_m128(sk_exact_dot4(high[0], high[1]), sk_exact_dot4(low[0], low[1])));
}

/* A rotation before it is summed: wa * a + wb * b, a quaternion of any length. */
typedef struct sk_mix {
  __m256 a[4], b[4], wa, wb;
} sk_mix;

/* The weights of two keys that are less than 46 degrees apart; the sum has length 1 up to rounding. It goes along the
   shorter arc: `sign` is the sign bit of the dot product of the keys, and of the weight of b. */
static inline void sk_near_weights(__m256 dot, __m256 sign, const sk_series *from, const sk_series *to, sk_mix *mix) {
  __m256 m = _mm256_sub_ps(_mm256_xor_ps(dot, sign), _mm256_set1_ps(1.0f));
  mix->wa = sk_series_at(from, m);
  mix->wb = _mm256_xor_ps(sk_series_at(to, m), sign);
}

/* sin(t * angle), for the t of the series. */
static inline __m256 sk_sine_at(const sk_series *series, __m256 angle) {
  return sk_sine(_mm256_fmadd_ps(series->terms[0], angle, _mm256_mul_ps(series->rest, angle)));
}

/* The weights of two keys at any angle; the length of the sum is the sine of that angle. */
static inline void sk_wide_weights(__m256 dot, __m256 sign, const sk_series *from, const sk_series *to, sk_mix *mix) {
  __m256 angle = sk_angle(_mm256_xor_ps(dot, sign));
  mix->wa = sk_sine_at(from, angle);
  mix->wb = _mm256_xor_ps(sk_sine_at(to, angle), sign);
}

/* Completes a mix that is mix->a alone. */
static inline void sk_mix_one(sk_mix *mix) {
  int i;
  for (i = 0; i < 4; i++) mix->b[i] = mix->a[i];
  mix->wa = _mm256_set1_ps(1.0f);
  mix->wb = _mm256_setzero_ps();
}

/* The sum of a mix, in float. */
static inline void sk_mix_sum(const sk_mix *mix, __m256 q[4]) { sk_weigh(mix->a, mix->b, mix->wa, mix->wb, q); }

/* `count` vectors on the straight lines from a to b. */
static inline void sk_lerp(const __m256 *a, const __m256 *b, __m256 u, int count, __m256 *out) {
  int i;
  for (i = 0; i < count; i++) out[i] = _mm256_fmadd_ps(u, _mm256_sub_ps(b[i], a[i]), a[i]);
}

/* q / |q|. */
static inline void sk_normalize(__m256 q[4]) {
  __m256 scale = _mm256_div_ps(_mm256_set1_ps(1.0f), _mm256_sqrt_ps(sk_dot4(q, q)));
  int i;
  for (i = 0; i < 4; i++) q[i] = _mm256_mul_ps(q[i], scale);
}

#define SK_POINTS_NOWHERE 1e-24f /* squared length below which a sum of unit quaternions has no direction */

/* ---- matrices ------------------------------------------------------------------------------------------- */

/* 2 / |q|^2. With this factor the products of a quaternion's numbers are twice those of the unit quaternion, which is
   what a rotation matrix is made of; it saves normalizing q. */
static inline __m256 sk_rotation_factor(const __m256 q[4]) {
  return _mm256_div_ps(_mm256_set1_ps(2.0f), sk_dot4(q, q));
}

/* translation * rotation * scale as three rows of four numbers. `two` is the sk_rotation_factor of q; `s` may be NULL,
   for a scale of 1. */
static inline void sk_rows_from_rotation(const __m256 t[3], const __m256 q[4], __m256 two, const __m256 *s,
                                         __m256 rows[12]) {
  const __m256 one = _mm256_set1_ps(1.0f);
  __m256 x = _mm256_mul_ps(q[0], two), y = _mm256_mul_ps(q[1], two), z = _mm256_mul_ps(q[2], two);
  __m256 xw = _mm256_mul_ps(x, q[3]), yw = _mm256_mul_ps(y, q[3]), zw = _mm256_mul_ps(z, q[3]);
  rows[0] = _mm256_sub_ps(one, _mm256_fmadd_ps(y, q[1], _mm256_mul_ps(z, q[2])));
  rows[1] = _mm256_fmsub_ps(x, q[1], zw);
  rows[2] = _mm256_fmadd_ps(x, q[2], yw);
  rows[3] = t[0];
  rows[4] = _mm256_fmadd_ps(x, q[1], zw);
  rows[5] = _mm256_sub_ps(one, _mm256_fmadd_ps(x, q[0], _mm256_mul_ps(z, q[2])));
  rows[6] = _mm256_fmsub_ps(y, q[2], xw);
  rows[7] = t[1];
  rows[8] = _mm256_fmsub_ps(x, q[2], yw);
  rows[9] = _mm256_fmadd_ps(y, q[2], xw);
  rows[10] = _mm256_sub_ps(one, _mm256_fmadd_ps(x, q[0], _mm256_mul_ps(y, q[1])));
  rows[11] = t[2];
  if (s) {
    int i;
    for (i = 0; i < 12; i++)
      if (i % 4 != 3) rows[i] = _mm256_mul_ps(rows[i], s[i % 4]);
  }
}

/* The same for a quaternion of any length but 0. */
static inline void sk_rows_from_trs(const __m256 t[3], const __m256 q[4], const __m256 *s, __m256 rows[12]) {
  sk_rows_from_rotation(t, q, sk_rotation_factor(q), s, rows);
}

/* Lanes 0 to 3 (half 0) or 4 to 7 (half 1) in double. */
static inline __m256d sk_half(__m256 x, int half) {
  return _mm256_cvtps_pd(half ? _mm256_extractf128_ps(x, 1) : _mm256_castps256_ps128(x));
}

/* sk_rows_from_trs in double, for half of the lanes: long chains add up the roundings of their locals. A quaternion of
   length 0 is the identity, and NaN stays NaN, as on the plain path. */
static inline void sk_rows_half(const __m256d q[4], const __m256 t[3], const __m256 *s, int half, __m256d rows[12]) {
  const __m256d one = _mm256_set1_pd(1.0);
  __m256d x, y, z, xw, yw, zw, norm, two;
  int i;
  norm = _mm256_add_pd(_mm256_fmadd_pd(q[1], q[1], _mm256_mul_pd(q[0], q[0])),
                       _mm256_fmadd_pd(q[3], q[3], _mm256_mul_pd(q[2], q[2])));
  two = _mm256_and_pd(_mm256_div_pd(_mm256_set1_pd(2.0), norm), _mm256_cmp_pd(norm, _mm256_setzero_pd(), _CMP_GT_OQ));
  x = _mm256_mul_pd(q[0], two), y = _mm256_mul_pd(q[1], two), z = _mm256_mul_pd(q[2], two);
  xw = _mm256_mul_pd(x, q[3]), yw = _mm256_mul_pd(y, q[3]), zw = _mm256_mul_pd(z, q[3]);
  rows[0] = _mm256_sub_pd(one, _mm256_fmadd_pd(y, q[1], _mm256_mul_pd(z, q[2])));
  rows[1] = _mm256_fmsub_pd(x, q[1], zw);
  rows[2] = _mm256_fmadd_pd(x, q[2], yw);
  rows[4] = _mm256_fmadd_pd(x, q[1], zw);
  rows[5] = _mm256_sub_pd(one, _mm256_fmadd_pd(x, q[0], _mm256_mul_pd(z, q[2])));
  rows[6] = _mm256_fmsub_pd(y, q[2], xw);
  rows[8] = _mm256_fmsub_pd(x, q[2], yw);
  rows[9] = _mm256_fmadd_pd(y, q[2], xw);
  rows[10] = _mm256_sub_pd(one, _mm256_fmadd_pd(x, q[0], _mm256_mul_pd(y, q[1])));
  for (i = 0; s && i < 11; i++)
    if (i % 4 != 3) rows[i] = _mm256_mul_pd(rows[i], sk_half(s[i % 4], half));
  for (i = 0; i < 3; i++) rows[4 * i + 3] = sk_half(t[i], half);
}

/* The sum of a mix in double, for half of the lanes. */
static inline void sk_mix_half(const sk_mix *mix, int half, __m256d q[4]) {
  const __m256d wa = sk_half(mix->wa, half), wb = sk_half(mix->wb, half);
  int i;
  for (i = 0; i < 4; i++)
    q[i] = _mm256_fmadd_pd(wb, sk_half(mix->b[i], half), _mm256_mul_pd(wa, sk_half(mix->a[i], half)));
}

/* Both of these: from a mix, T and S to rows in double. */
static inline void sk_precise_rows(const sk_mix *mix, const __m256 t[3], const __m256 *s, int half, __m256d rows[12]) {
  __m256d q[4];
  sk_mix_half(mix, half, q);
  sk_rows_half(q, t, s, half, rows);
}

/* Stores the rows of half of the lanes as (4, 12) doubles, lane by lane. */
static inline void sk_store_half(const __m256d rows[12], double *out) {
  int row;
  for (row = 0; row < 3; row++, rows += 4, out += 4) {
    __m256d a = _mm256_unpacklo_pd(rows[0], rows[1]), b = _mm256_unpackhi_pd(rows[0], rows[1]);
    __m256d c = _mm256_unpacklo_pd(rows[2], rows[3]), d = _mm256_unpackhi_pd(rows[2], rows[3]);
    _mm256_storeu_pd(out, _mm256_permute2f128_pd(a, c, 0x20));
    _mm256_storeu_pd(out + 12, _mm256_permute2f128_pd(b, d, 0x20));
    _mm256_storeu_pd(out + 24, _mm256_permute2f128_pd(a, c, 0x31));
    _mm256_storeu_pd(out + 36, _mm256_permute2f128_pd(b, d, 0x31));
  }
}

/* Stores the locals of eight lanes, computed in double, as (8, 12) doubles. */
static inline void sk_store_precise(const sk_mix *mix, const __m256 t[3], const __m256 *s, double *out) {
  __m256d rows[12];
  sk_precise_rows(mix, t, s, 0, rows);
  sk_store_half(rows, out);
  sk_precise_rows(mix, t, s, 1, rows);
  sk_store_half(rows, out + 48);
}

/* Stores the locals of eight lanes, computed in float, as (8, 12) floats. */
static inline void sk_store_locals(const __m256 t[3], const __m256 q[4], const __m256 s[3], float *out) {
  __m256 rows[12], transposed[4];
  int row, lane;
  sk_rows_from_trs(t, q, s, rows);
  for (row = 0; row < 3; row++) {
    sk_transpose(rows[4 * row], rows[4 * row + 1], rows[4 * row + 2], rows[4 * row + 3], transposed);
    for (lane = 0; lane < 4; lane++) {
      _mm_storeu_ps(out + lane * 12 + 4 * row, _mm256_castps256_ps128(transposed[lane]));
      _mm_storeu_ps(out + (lane + 4) * 12 + 4 * row, _mm256_extractf128_ps(transposed[lane], 1));
    }
  }
}

SK_KERNEL_END

#endif
#endif
