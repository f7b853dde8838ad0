/* sk_lanes.h: arithmetic on eight transforms side by side in vector registers, which kernels of poses share.

   A vector holds the same number of eight lanes: a translation or scale is three vectors, a quaternion x y z w four,
   and the first three rows of a matrix twelve. A lane may be a joint of one pose (sk_octet.h) or a pose of a batch
   (sk_batch.h). All functions do their operations in one order, so that the result of a lane depends neither on the
   kernel that computes it nor on its neighbors. */
#ifndef SK_LANES_H
#define SK_LANES_H

#include "sk_vector.h"

#include "../pose/sk_compile.h"
#include "../pose/sk_sample.h"

#if SK_HAS_KERNELS

SK_KERNEL_BEGIN

/* ---- between cells and lanes ---------------------------------------------------------------- */

/* Two cells of four floats in one vector. */
static inline sk_f8 sk_pair(const float *low, const float *high) { return f8_join(f4_load(low), f4_load(high)); }

/* Loads one cell from each of eight addresses, `offset` floats on, as one vector for each number. */
static inline void sk_load_cells(const float *const at[SK_LANES], size_t offset, sk_f8 out[4]) {
  f8_transpose(sk_pair(at[0] + offset, at[4] + offset), sk_pair(at[1] + offset, at[5] + offset),
               sk_pair(at[2] + offset, at[6] + offset), sk_pair(at[3] + offset, at[7] + offset), out);
}

/* Loads the first `count` numbers of a cell that is stored lane by lane. */
static inline void sk_load_constants(const float constants[SK_CELL][SK_LANES], int count, sk_f8 *out) {
  int i;
  for (i = 0; i < count; i++) out[i] = f8_load(constants[i]);
}

/* ---- interpolation ------------------------------------------------------------------------------------ */

/* sin(t * angle) / sin(angle) is a series in (dot - 1) whose terms depend on t alone (Eberly, "A Fast and
   Accurate Algorithm for Computing SLERP", 2011): a_0 = t, a_i = a_(i-1) * (t^2 - i^2) / (i * (2i + 1)). */
#define SK_SERIES 5 /* terms: enough for rotations up to 46 degrees apart, to float's precision */

/* The terms of the series at one t, for eight lanes. */
typedef struct sk_series {
  sk_f8 terms[SK_SERIES];
  sk_f8 rest; /* what rounding to float took from the first term, t: joints of a chain share that error */
} sk_series;

/* The terms at `t`; of `rotation` SK_NLERP needs just the first, which is the straight line. */
static inline sk_series sk_series_of(sk_f8 t, sk_f8 rest, sk_rotation rotation) {
  static const float denominators[SK_SERIES] = {1.0f, 1.0f / 3.0f, 1.0f / 10.0f, 1.0f / 21.0f, 1.0f / 36.0f};
  sk_f8 square = f8_mul(t, t);
  sk_series series;
  int i;
  series.terms[0] = t;
  series.rest = rest;
  for (i = 1; i < SK_SERIES; i++) {
    sk_f8 factor =
        f8_mul(f8_sub(square, f8_set((float)(i * i))), f8_set(rotation == SK_SLERP ? denominators[i] : 0.0f));
    series.terms[i] = f8_mul(series.terms[i - 1], factor);
  }
  return series;
}

/* The value of the series at m = dot - 1. */
static inline sk_f8 sk_series_at(const sk_series *series, sk_f8 m) {
  sk_f8 sum = series->terms[SK_SERIES - 1];
  int i;
  for (i = SK_SERIES - 2; i > 0; i--) sum = f8_fma(sum, m, series->terms[i]);
  return f8_add(f8_fma(sum, m, series->rest), series->terms[0]);
}

/* The angle in radians whose cosine is `dot`, from 0 to 1: a minimax polynomial with an error of 1.2e-8. The result is
   at least 1e-3, because line and arc are the same for nearer rotations. */
static inline sk_f8 sk_angle(sk_f8 dot) {
  static const float c[8] = {1.5707963143e+00f, -2.1459989234e-01f, 8.8999263059e-02f, -5.0312772248e-02f,
                             3.1335431447e-02f, -1.7808921212e-02f, 7.2453978511e-03f, -1.4414642867e-03f};
  sk_f8 x = f8_min(dot, f8_set(1.0f)), x2 = f8_mul(x, x), x4 = f8_mul(x2, x2), pairs[4];
  int i;
  for (i = 0; i < 4; i++) /* Estrin's scheme: pairs side by side take half the time of Horner's chain */
    pairs[i] = f8_fma(f8_set(c[2 * i + 1]), x, f8_set(c[2 * i]));
  pairs[0] = f8_fma(pairs[1], x2, pairs[0]);
  pairs[2] = f8_fma(pairs[3], x2, pairs[2]);
  x = f8_sqrt(f8_sub(f8_set(1.0f), x));
  return f8_max(f8_mul(f8_fma(pairs[2], x4, pairs[0]), x), f8_set(1e-3f));
}

/* The sine of 0 to pi / 2: a minimax polynomial with an error of 4.6e-9. */
static inline sk_f8 sk_sine(sk_f8 x) {
  static const float c[4] = {-1.6666657096e-01f, 8.3330172863e-03f, -1.9806614890e-04f, 2.6000541802e-06f};
  sk_f8 z = f8_mul(x, x), z2 = f8_mul(z, z), xz = f8_mul(x, z);
  sk_f8 low = f8_fma(f8_set(c[1]), z, f8_set(c[0]));
  sk_f8 high = f8_fma(f8_set(c[3]), z, f8_set(c[2]));
  return f8_fma(xz, f8_fma(high, z2, low), x);
}

/* The dot products of quaternions. */
static inline sk_f8 sk_dot4(const sk_f8 a[4], const sk_f8 b[4]) {
  sk_f8 low = f8_fma(a[1], b[1], f8_mul(a[0], b[0]));
  sk_f8 high = f8_fma(a[3], b[3], f8_mul(a[2], b[2]));
  return f8_add(low, high);
}

/* q = wa * a + wb * b. */
static inline void sk_weigh(const sk_f8 a[4], const sk_f8 b[4], sk_f8 wa, sk_f8 wb, sk_f8 q[4]) {
  int i;
  for (i = 0; i < 4; i++) q[i] = f8_fma(wb, b[i], f8_mul(wa, a[i]));
}

/* The sign bits of `x`; zeros of either sign give none. */
static inline sk_f8 sk_sign_of(sk_f8 x) { return f8_and(f8_add(x, f8_zero()), f8_set(-0.0f)); }

/* The dot products of four lanes, summed in double. */
static inline sk_f4 sk_exact_dot4(const sk_f4 a[4], const sk_f4 b[4]) {
  sk_d4 dot = d4_mul(d4_of(a[0]), d4_of(b[0]));
  int i;
  for (i = 1; i < 4; i++) dot = d4_fma(d4_of(a[i]), d4_of(b[i]), dot);
  return f4_of(dot);
}

/* The sign bits of dot products as the plain path sums them. Quaternions of keys that are 180 degrees apart are
   perpendicular, and rounding to float could choose the other way round. */
static inline sk_f8 sk_exact_sign(const sk_f8 a[4], const sk_f8 b[4]) {
  sk_f4 low[2][4], high[2][4];
  int i;
  for (i = 0; i < 4; i++) {
    low[0][i] = f8_low(a[i]);
    low[1][i] = f8_low(b[i]);
    high[0][i] = f8_high(a[i]);
    high[1][i] = f8_high(b[i]);
  }
  return sk_sign_of(f8_join(sk_exact_dot4(low[0], low[1]), sk_exact_dot4(high[0], high[1])));
}

/* A rotation before it is summed: wa * a + wb * b, a quaternion of any length. */
typedef struct sk_mix {
  sk_f8 a[4], b[4], wa, wb;
} sk_mix;

/* The weights of two keys that are less than 46 degrees apart; the sum has length 1 up to rounding. It goes along the
   shorter arc: `sign` is the sign bit of the dot product of the keys, and of the weight of b. */
static inline void sk_near_weights(sk_f8 dot, sk_f8 sign, const sk_series *from, const sk_series *to, sk_mix *mix) {
  sk_f8 m = f8_sub(f8_xor(dot, sign), f8_set(1.0f));
  mix->wa = sk_series_at(from, m);
  mix->wb = f8_xor(sk_series_at(to, m), sign);
}

/* sin(t * angle), for the t of the series. */
static inline sk_f8 sk_sine_at(const sk_series *series, sk_f8 angle) {
  return sk_sine(f8_fma(series->terms[0], angle, f8_mul(series->rest, angle)));
}

/* The weights of two keys at any angle; the length of the sum is the sine of that angle. */
static inline void sk_wide_weights(sk_f8 dot, sk_f8 sign, const sk_series *from, const sk_series *to, sk_mix *mix) {
  sk_f8 angle = sk_angle(f8_xor(dot, sign));
  mix->wa = sk_sine_at(from, angle);
  mix->wb = f8_xor(sk_sine_at(to, angle), sign);
}

/* Completes a mix that is mix->a alone. */
static inline void sk_mix_one(sk_mix *mix) {
  int i;
  for (i = 0; i < 4; i++) mix->b[i] = mix->a[i];
  mix->wa = f8_set(1.0f);
  mix->wb = f8_zero();
}

/* The sum of a mix, in float. */
static inline void sk_mix_sum(const sk_mix *mix, sk_f8 q[4]) { sk_weigh(mix->a, mix->b, mix->wa, mix->wb, q); }

/* `count` vectors on the straight lines from a to b. */
static inline void sk_lerp(const sk_f8 *a, const sk_f8 *b, sk_f8 u, int count, sk_f8 *out) {
  int i;
  for (i = 0; i < count; i++) out[i] = f8_fma(u, f8_sub(b[i], a[i]), a[i]);
}

/* q / |q|. */
static inline void sk_normalize(sk_f8 q[4]) {
  sk_f8 scale = f8_div(f8_set(1.0f), f8_sqrt(sk_dot4(q, q)));
  int i;
  for (i = 0; i < 4; i++) q[i] = f8_mul(q[i], scale);
}

#define SK_POINTS_NOWHERE 1e-24f /* squared length below which a sum of unit quaternions has no direction */

/* ---- matrices ------------------------------------------------------------------------------------------- */

/* 2 / |q|^2. With this factor the products of a quaternion's numbers are twice those of the unit quaternion, which is
   what a rotation matrix is made of; it saves normalizing q. */
static inline sk_f8 sk_rotation_factor(const sk_f8 q[4]) { return f8_div(f8_set(2.0f), sk_dot4(q, q)); }

/* translation * rotation * scale as three rows of four numbers. `two` is the sk_rotation_factor of q; `s` may be NULL,
   for a scale of 1. */
static inline void sk_rows_from_rotation(const sk_f8 t[3], const sk_f8 q[4], sk_f8 two, const sk_f8 *s,
                                         sk_f8 rows[12]) {
  const sk_f8 one = f8_set(1.0f);
  sk_f8 x = f8_mul(q[0], two), y = f8_mul(q[1], two), z = f8_mul(q[2], two);
  sk_f8 xw = f8_mul(x, q[3]), yw = f8_mul(y, q[3]), zw = f8_mul(z, q[3]);
  rows[0] = f8_sub(one, f8_fma(y, q[1], f8_mul(z, q[2])));
  rows[1] = f8_fms(x, q[1], zw);
  rows[2] = f8_fma(x, q[2], yw);
  rows[3] = t[0];
  rows[4] = f8_fma(x, q[1], zw);
  rows[5] = f8_sub(one, f8_fma(x, q[0], f8_mul(z, q[2])));
  rows[6] = f8_fms(y, q[2], xw);
  rows[7] = t[1];
  rows[8] = f8_fms(x, q[2], yw);
  rows[9] = f8_fma(y, q[2], xw);
  rows[10] = f8_sub(one, f8_fma(x, q[0], f8_mul(y, q[1])));
  rows[11] = t[2];
  if (s) {
    int i;
    for (i = 0; i < 12; i++)
      if (i % 4 != 3) rows[i] = f8_mul(rows[i], s[i % 4]);
  }
}

/* The same for a quaternion of any length but 0. */
static inline void sk_rows_from_trs(const sk_f8 t[3], const sk_f8 q[4], const sk_f8 *s, sk_f8 rows[12]) {
  sk_rows_from_rotation(t, q, sk_rotation_factor(q), s, rows);
}

/* Lanes 0 to 3 (half 0) or 4 to 7 (half 1) in double. */
static inline sk_d4 sk_half(sk_f8 x, int half) { return d4_of(half ? f8_high(x) : f8_low(x)); }

/* sk_rows_from_trs in double, for half of the lanes: long chains add up the roundings of their locals. A quaternion of
   length 0 is the identity, and NaN stays NaN, as on the plain path. */
static inline void sk_rows_half(const sk_d4 q[4], const sk_f8 t[3], const sk_f8 *s, int half, sk_d4 rows[12]) {
  const sk_d4 one = d4_set(1.0);
  sk_d4 x, y, z, xw, yw, zw, norm, two;
  int i;
  norm = d4_add(d4_fma(q[1], q[1], d4_mul(q[0], q[0])), d4_fma(q[3], q[3], d4_mul(q[2], q[2])));
  two = d4_and(d4_div(d4_set(2.0), norm), d4_greater(norm, d4_zero()));
  x = d4_mul(q[0], two), y = d4_mul(q[1], two), z = d4_mul(q[2], two);
  xw = d4_mul(x, q[3]), yw = d4_mul(y, q[3]), zw = d4_mul(z, q[3]);
  rows[0] = d4_sub(one, d4_fma(y, q[1], d4_mul(z, q[2])));
  rows[1] = d4_fms(x, q[1], zw);
  rows[2] = d4_fma(x, q[2], yw);
  rows[4] = d4_fma(x, q[1], zw);
  rows[5] = d4_sub(one, d4_fma(x, q[0], d4_mul(z, q[2])));
  rows[6] = d4_fms(y, q[2], xw);
  rows[8] = d4_fms(x, q[2], yw);
  rows[9] = d4_fma(y, q[2], xw);
  rows[10] = d4_sub(one, d4_fma(x, q[0], d4_mul(y, q[1])));
  for (i = 0; s && i < 11; i++)
    if (i % 4 != 3) rows[i] = d4_mul(rows[i], sk_half(s[i % 4], half));
  for (i = 0; i < 3; i++) rows[4 * i + 3] = sk_half(t[i], half);
}

/* The sum of a mix in double, for half of the lanes. */
static inline void sk_mix_half(const sk_mix *mix, int half, sk_d4 q[4]) {
  const sk_d4 wa = sk_half(mix->wa, half), wb = sk_half(mix->wb, half);
  int i;
  for (i = 0; i < 4; i++) q[i] = d4_fma(wb, sk_half(mix->b[i], half), d4_mul(wa, sk_half(mix->a[i], half)));
}

/* Both of these: from a mix, T and S to rows in double. */
static inline void sk_precise_rows(const sk_mix *mix, const sk_f8 t[3], const sk_f8 *s, int half, sk_d4 rows[12]) {
  sk_d4 q[4];
  sk_mix_half(mix, half, q);
  sk_rows_half(q, t, s, half, rows);
}

/* Stores the rows of half of the lanes as (4, 12) doubles, lane by lane. */
static inline void sk_store_half(const sk_d4 rows[12], double *out) {
  int row;
  for (row = 0; row < 3; row++, rows += 4, out += 4) {
    sk_d4 lanes[4];
    d4_transpose(rows[0], rows[1], rows[2], rows[3], lanes);
    d4_store(out, lanes[0]);
    d4_store(out + 12, lanes[1]);
    d4_store(out + 24, lanes[2]);
    d4_store(out + 36, lanes[3]);
  }
}

/* Stores the locals of eight lanes, computed in double, as (8, 12) doubles. */
static inline void sk_store_precise(const sk_mix *mix, const sk_f8 t[3], const sk_f8 *s, double *out) {
  sk_d4 rows[12];
  sk_precise_rows(mix, t, s, 0, rows);
  sk_store_half(rows, out);
  sk_precise_rows(mix, t, s, 1, rows);
  sk_store_half(rows, out + 48);
}

/* Stores the locals of eight lanes, computed in float, as (8, 12) floats. */
static inline void sk_store_locals(const sk_f8 t[3], const sk_f8 q[4], const sk_f8 s[3], float *out) {
  sk_f8 rows[12], transposed[4];
  int row, lane;
  sk_rows_from_trs(t, q, s, rows);
  for (row = 0; row < 3; row++) {
    f8_transpose(rows[4 * row], rows[4 * row + 1], rows[4 * row + 2], rows[4 * row + 3], transposed);
    for (lane = 0; lane < 4; lane++) {
      f4_store(out + lane * 12 + 4 * row, f8_low(transposed[lane]));
      f4_store(out + (lane + 4) * 12 + 4 * row, f8_high(transposed[lane]));
    }
  }
}

SK_KERNEL_END

#endif
#endif
