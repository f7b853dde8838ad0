/* sk_vector_neon.h: the operations of sk_vector.h, for the NEON of 64-bit ARM: every vector is one or two registers. */
#ifndef SK_VECTOR_NEON_H
#define SK_VECTOR_NEON_H

#include "sk_kernel.h"

#if SK_HAS_KERNELS && SK_HAS_NEON
#include <arm_neon.h>
#include <string.h>

typedef float32x4_t sk_f4;

typedef struct sk_f8 {
  float32x4_t low, high;
} sk_f8;

typedef struct sk_d4 {
  float64x2_t low, high;
} sk_d4;

typedef struct sk_i8 {
  int32x4_t low, high;
} sk_i8;

/* Lanes of two registers, the second one's numbered from 4 (from 2 for doubles); the numbers are constants. */
#if defined(__clang__)
#define SK_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define SK_SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, (uint32x4_t){i, j, k, l})
#endif

/* ---- masks and numbers as bits ------------------------------------------------------------------------------ */

SK_INLINE uint32x4_t sk_bits(float32x4_t a) { return vreinterpretq_u32_f32(a); }
SK_INLINE float32x4_t sk_floats(uint32x4_t a) { return vreinterpretq_f32_u32(a); }
SK_INLINE uint64x2_t sk_long_bits(float64x2_t a) { return vreinterpretq_u64_f64(a); }
SK_INLINE float64x2_t sk_doubles(uint64x2_t a) { return vreinterpretq_f64_u64(a); }

/* ---- eight floats ------------------------------------------------------------------------------------------- */

SK_INLINE sk_f8 f8_join(sk_f4 low, sk_f4 high) { return (sk_f8){low, high}; }
SK_INLINE sk_f4 f8_low(sk_f8 a) { return a.low; }
SK_INLINE sk_f4 f8_high(sk_f8 a) { return a.high; }

SK_INLINE sk_f8 f8_set(float number) { return (sk_f8){vdupq_n_f32(number), vdupq_n_f32(number)}; }
SK_INLINE sk_f8 f8_zero(void) { return f8_set(0.0f); }
SK_INLINE sk_f8 f8_load(const float *p) { return (sk_f8){vld1q_f32(p), vld1q_f32(p + 4)}; }
SK_INLINE sk_f8 f8_load_one(const float *p) { return (sk_f8){vld1q_dup_f32(p), vld1q_dup_f32(p)}; }
SK_INLINE sk_f8 f8_repeat(const float *p) { return (sk_f8){vld1q_f32(p), vld1q_f32(p)}; }
SK_INLINE void f8_store(float *p, sk_f8 a) {
  vst1q_f32(p, a.low);
  vst1q_f32(p + 4, a.high);
}

SK_INLINE sk_f8 f8_add(sk_f8 a, sk_f8 b) { return (sk_f8){vaddq_f32(a.low, b.low), vaddq_f32(a.high, b.high)}; }
SK_INLINE sk_f8 f8_sub(sk_f8 a, sk_f8 b) { return (sk_f8){vsubq_f32(a.low, b.low), vsubq_f32(a.high, b.high)}; }
SK_INLINE sk_f8 f8_mul(sk_f8 a, sk_f8 b) { return (sk_f8){vmulq_f32(a.low, b.low), vmulq_f32(a.high, b.high)}; }
SK_INLINE sk_f8 f8_div(sk_f8 a, sk_f8 b) { return (sk_f8){vdivq_f32(a.low, b.low), vdivq_f32(a.high, b.high)}; }
SK_INLINE sk_f8 f8_sqrt(sk_f8 a) { return (sk_f8){vsqrtq_f32(a.low), vsqrtq_f32(a.high)}; }
SK_INLINE sk_f8 f8_abs(sk_f8 a) { return (sk_f8){vabsq_f32(a.low), vabsq_f32(a.high)}; }
SK_INLINE sk_f8 f8_neg(sk_f8 a) { return (sk_f8){vnegq_f32(a.low), vnegq_f32(a.high)}; }
SK_INLINE sk_f8 f8_min(sk_f8 a, sk_f8 b) { return (sk_f8){vminnmq_f32(a.low, b.low), vminnmq_f32(a.high, b.high)}; }
SK_INLINE sk_f8 f8_max(sk_f8 a, sk_f8 b) { return (sk_f8){vmaxnmq_f32(a.low, b.low), vmaxnmq_f32(a.high, b.high)}; }
SK_INLINE sk_f8 f8_fma(sk_f8 a, sk_f8 b, sk_f8 c) {
  return (sk_f8){vfmaq_f32(c.low, a.low, b.low), vfmaq_f32(c.high, a.high, b.high)};
}
SK_INLINE sk_f8 f8_fnma(sk_f8 a, sk_f8 b, sk_f8 c) {
  return (sk_f8){vfmsq_f32(c.low, a.low, b.low), vfmsq_f32(c.high, a.high, b.high)};
}
SK_INLINE sk_f8 f8_fms(sk_f8 a, sk_f8 b, sk_f8 c) { return f8_fma(a, b, f8_neg(c)); }
SK_INLINE sk_f8 f8_fnms(sk_f8 a, sk_f8 b, sk_f8 c) { return f8_fnma(a, b, f8_neg(c)); }

SK_INLINE sk_f8 f8_greater(sk_f8 a, sk_f8 b) {
  return (sk_f8){sk_floats(vcgtq_f32(a.low, b.low)), sk_floats(vcgtq_f32(a.high, b.high))};
}
SK_INLINE sk_f8 f8_at_least(sk_f8 a, sk_f8 b) {
  return (sk_f8){sk_floats(vcgeq_f32(a.low, b.low)), sk_floats(vcgeq_f32(a.high, b.high))};
}
SK_INLINE sk_f8 f8_equal(sk_f8 a, sk_f8 b) {
  return (sk_f8){sk_floats(vceqq_f32(a.low, b.low)), sk_floats(vceqq_f32(a.high, b.high))};
}
SK_INLINE sk_f8 f8_less(sk_f8 a, sk_f8 b) { return f8_greater(b, a); }
SK_INLINE sk_f8 f8_at_most(sk_f8 a, sk_f8 b) { return f8_at_least(b, a); }

SK_INLINE sk_f8 f8_all_set(void) { return (sk_f8){sk_floats(vdupq_n_u32(~0u)), sk_floats(vdupq_n_u32(~0u))}; }
SK_INLINE sk_f8 f8_and(sk_f8 a, sk_f8 b) {
  return (sk_f8){sk_floats(vandq_u32(sk_bits(a.low), sk_bits(b.low))),
                 sk_floats(vandq_u32(sk_bits(a.high), sk_bits(b.high)))};
}
SK_INLINE sk_f8 f8_or(sk_f8 a, sk_f8 b) {
  return (sk_f8){sk_floats(vorrq_u32(sk_bits(a.low), sk_bits(b.low))),
                 sk_floats(vorrq_u32(sk_bits(a.high), sk_bits(b.high)))};
}
SK_INLINE sk_f8 f8_xor(sk_f8 a, sk_f8 b) {
  return (sk_f8){sk_floats(veorq_u32(sk_bits(a.low), sk_bits(b.low))),
                 sk_floats(veorq_u32(sk_bits(a.high), sk_bits(b.high)))};
}
SK_INLINE sk_f8 f8_clear(sk_f8 mask, sk_f8 a) {
  return (sk_f8){sk_floats(vbicq_u32(sk_bits(a.low), sk_bits(mask.low))),
                 sk_floats(vbicq_u32(sk_bits(a.high), sk_bits(mask.high)))};
}
SK_INLINE sk_f8 f8_blend(sk_f8 a, sk_f8 b, sk_f8 mask) {
  return (sk_f8){vbslq_f32(sk_bits(mask.low), b.low, a.low), vbslq_f32(sk_bits(mask.high), b.high, a.high)};
}

SK_INLINE int f8_signs(sk_f8 a) {
  const int32x4_t places = {0, 1, 2, 3};
  uint32x4_t low = vshrq_n_u32(sk_bits(a.low), 31), high = vshrq_n_u32(sk_bits(a.high), 31);
  return (int)vaddvq_u32(vshlq_u32(vsliq_n_u32(low, high, 4), places));
}

/* One step doubles the digits of a root's estimate: the processor's has 8 bits, the result two steps on has 23. It is
   computed as it is so that zero gives infinity. */
SK_INLINE sk_f4 f4_inverse_root(sk_f4 a) {
  sk_f4 guess = vrsqrteq_f32(a);
  guess = vmulq_f32(guess, vrsqrtsq_f32(vmulq_f32(guess, guess), a));
  return vmulq_f32(guess, vrsqrtsq_f32(vmulq_f32(guess, guess), a));
}
SK_INLINE sk_f8 f8_inverse_root(sk_f8 a) { return (sk_f8){f4_inverse_root(a.low), f4_inverse_root(a.high)}; }

/* ---- four floats -------------------------------------------------------------------------------------------- */

SK_INLINE sk_f4 f4_set(float number) { return vdupq_n_f32(number); }
SK_INLINE sk_f4 f4_zero(void) { return vdupq_n_f32(0.0f); }
SK_INLINE sk_f4 f4_make(float a, float b, float c, float d) { return (sk_f4){a, b, c, d}; }
SK_INLINE sk_f4 f4_load(const float *p) { return vld1q_f32(p); }
SK_INLINE void f4_store(float *p, sk_f4 a) { vst1q_f32(p, a); }
SK_INLINE void f4_store_three(float *p, sk_f4 a) {
  vst1_f32(p, vget_low_f32(a));
  vst1q_lane_f32(p + 2, a, 2);
}
SK_INLINE sk_f4 f4_add(sk_f4 a, sk_f4 b) { return vaddq_f32(a, b); }
SK_INLINE sk_f4 f4_mul(sk_f4 a, sk_f4 b) { return vmulq_f32(a, b); }
SK_INLINE sk_f4 f4_fma(sk_f4 a, sk_f4 b, sk_f4 c) { return vfmaq_f32(c, a, b); }
SK_INLINE sk_f4 f4_dot_in_all(sk_f4 a, sk_f4 b) {
  sk_f4 products = vmulq_f32(a, b), pairs = vpaddq_f32(products, products);
  return vpaddq_f32(pairs, pairs);
}
SK_INLINE float f4_dot(sk_f4 a, sk_f4 b) { return vgetq_lane_f32(f4_dot_in_all(a, b), 0); }
SK_INLINE sk_f4 f4_only_last(sk_f4 a) {
  const uint32x4_t last = {0, 0, 0, ~0u};
  return sk_floats(vandq_u32(sk_bits(a), last));
}
#define F4_PICK(a, i, j, k, l) SK_SHUFFLE(a, a, i, j, k, l)

/* Stores past the caches are not asked for: no instruction stores triples so, and processors notice by themselves
   that results come one after another. Each store but the last writes one number too many, which the next one
   overwrites. */
SK_INLINE void f4_store_packed(float *p, sk_f4 a, sk_f4 b, sk_f4 c, sk_f4 d, bool past) {
  (void)past;
  f4_store(p, a);
  f4_store(p + 3, b);
  f4_store(p + 6, c);
  f4_store_three(p + 9, d);
}

/* ---- lanes of eight floats ---------------------------------------------------------------------------------- */

SK_INLINE sk_f8 f8_load_some(const float *p, size_t count) {
  float some[8] = {0};
  if (count == 8) return f8_load(p);
  memcpy(some, p, count * sizeof(float));
  return f8_load(some);
}

#define F8_PICK(a, i, j, k, l) ((sk_f8){F4_PICK((a).low, i, j, k, l), F4_PICK((a).high, i, j, k, l)})

SK_INLINE sk_f8 f8_only_last(sk_f8 a) { return (sk_f8){f4_only_last(a.low), f4_only_last(a.high)}; }
SK_INLINE sk_f8 sk_zip_low(sk_f8 a, sk_f8 b) { return (sk_f8){vzip1q_f32(a.low, b.low), vzip1q_f32(a.high, b.high)}; }
SK_INLINE sk_f8 sk_zip_high(sk_f8 a, sk_f8 b) { return (sk_f8){vzip2q_f32(a.low, b.low), vzip2q_f32(a.high, b.high)}; }

/* Puts the first two lanes of `b`, or the last two, behind those of `a`. */
SK_INLINE sk_f4 f4_firsts(sk_f4 a, sk_f4 b) {
  return vreinterpretq_f32_f64(vzip1q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}
SK_INLINE sk_f4 f4_lasts(sk_f4 a, sk_f4 b) {
  return vreinterpretq_f32_f64(vzip2q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}

SK_INLINE void f8_transpose(sk_f8 a, sk_f8 b, sk_f8 c, sk_f8 d, sk_f8 out[4]) {
  sk_f8 ab = sk_zip_low(a, b), cd = sk_zip_low(c, d), ef = sk_zip_high(a, b), gh = sk_zip_high(c, d);
  out[0] = (sk_f8){f4_firsts(ab.low, cd.low), f4_firsts(ab.high, cd.high)};
  out[1] = (sk_f8){f4_lasts(ab.low, cd.low), f4_lasts(ab.high, cd.high)};
  out[2] = (sk_f8){f4_firsts(ef.low, gh.low), f4_firsts(ef.high, gh.high)};
  out[3] = (sk_f8){f4_lasts(ef.low, gh.low), f4_lasts(ef.high, gh.high)};
}

SK_INLINE void f8_load_quads(const float *p, sk_f8 out[4]) {
  float32x4x4_t low = vld4q_f32(p), high = vld4q_f32(p + 16);
  int i;
  for (i = 0; i < 4; i++) out[i] = (sk_f8){low.val[i], high.val[i]};
}

SK_INLINE void f8_store_quads(float *p, const sk_f8 v[4]) {
  float32x4x4_t low = {{v[0].low, v[1].low, v[2].low, v[3].low}};
  float32x4x4_t high = {{v[0].high, v[1].high, v[2].high, v[3].high}};
  vst4q_f32(p, low);
  vst4q_f32(p + 16, high);
}

SK_INLINE void f8_load_cells(const float *p, sk_f8 out[4]) {
  float32x4x4_t a = vld4q_f32(p), b = vld4q_f32(p + 16);
  int i;
  for (i = 0; i < 4; i++) out[i] = (sk_f8){vuzp1q_f32(a.val[i], b.val[i]), vuzp2q_f32(a.val[i], b.val[i])};
}

SK_INLINE void f8_store_cells(float *p, const sk_f8 v[3]) {
  float32x4x4_t a, b;
  int i;
  for (i = 0; i < 4; i++) {
    a.val[i] = vzip1q_f32(v[i < 3 ? i : 2].low, v[i < 3 ? i : 2].high);
    b.val[i] = vzip2q_f32(v[i < 3 ? i : 2].low, v[i < 3 ? i : 2].high);
  }
  vst4q_f32(p, a);
  vst4q_f32(p + 16, b);
}

SK_INLINE void f8_load_triples(const float *p, sk_f8 out[3]) {
  float32x4x3_t low = vld3q_f32(p), high = vld3q_f32(p + 12);
  int i;
  for (i = 0; i < 3; i++) out[i] = (sk_f8){low.val[i], high.val[i]};
}

SK_INLINE void f8_store_triples(float *p, const sk_f8 v[3], bool past) {
  float32x4x3_t low = {{v[0].low, v[1].low, v[2].low}}, high = {{v[0].high, v[1].high, v[2].high}};
  (void)past; /* see f4_store_packed */
  vst3q_f32(p, low);
  vst3q_f32(p + 12, high);
}

/* ---- four doubles ------------------------------------------------------------------------------------------- */

SK_INLINE sk_d4 d4_set(double number) { return (sk_d4){vdupq_n_f64(number), vdupq_n_f64(number)}; }
SK_INLINE sk_d4 d4_zero(void) { return d4_set(0.0); }
SK_INLINE sk_d4 d4_load(const double *p) { return (sk_d4){vld1q_f64(p), vld1q_f64(p + 2)}; }
SK_INLINE void d4_store(double *p, sk_d4 a) {
  vst1q_f64(p, a.low);
  vst1q_f64(p + 2, a.high);
}

SK_INLINE sk_d4 d4_add(sk_d4 a, sk_d4 b) { return (sk_d4){vaddq_f64(a.low, b.low), vaddq_f64(a.high, b.high)}; }
SK_INLINE sk_d4 d4_sub(sk_d4 a, sk_d4 b) { return (sk_d4){vsubq_f64(a.low, b.low), vsubq_f64(a.high, b.high)}; }
SK_INLINE sk_d4 d4_mul(sk_d4 a, sk_d4 b) { return (sk_d4){vmulq_f64(a.low, b.low), vmulq_f64(a.high, b.high)}; }
SK_INLINE sk_d4 d4_div(sk_d4 a, sk_d4 b) { return (sk_d4){vdivq_f64(a.low, b.low), vdivq_f64(a.high, b.high)}; }
SK_INLINE sk_d4 d4_sqrt(sk_d4 a) { return (sk_d4){vsqrtq_f64(a.low), vsqrtq_f64(a.high)}; }
SK_INLINE sk_d4 d4_abs(sk_d4 a) { return (sk_d4){vabsq_f64(a.low), vabsq_f64(a.high)}; }
SK_INLINE sk_d4 d4_min(sk_d4 a, sk_d4 b) { return (sk_d4){vminnmq_f64(a.low, b.low), vminnmq_f64(a.high, b.high)}; }
SK_INLINE sk_d4 d4_max(sk_d4 a, sk_d4 b) { return (sk_d4){vmaxnmq_f64(a.low, b.low), vmaxnmq_f64(a.high, b.high)}; }
SK_INLINE sk_d4 d4_fma(sk_d4 a, sk_d4 b, sk_d4 c) {
  return (sk_d4){vfmaq_f64(c.low, a.low, b.low), vfmaq_f64(c.high, a.high, b.high)};
}
SK_INLINE sk_d4 d4_fms(sk_d4 a, sk_d4 b, sk_d4 c) {
  return (sk_d4){vfmaq_f64(vnegq_f64(c.low), a.low, b.low), vfmaq_f64(vnegq_f64(c.high), a.high, b.high)};
}
SK_INLINE sk_d4 d4_floor(sk_d4 a) { return (sk_d4){vrndmq_f64(a.low), vrndmq_f64(a.high)}; }
SK_INLINE sk_d4 d4_nearest(sk_d4 a) { return (sk_d4){vrndnq_f64(a.low), vrndnq_f64(a.high)}; }

SK_INLINE sk_d4 d4_greater(sk_d4 a, sk_d4 b) {
  return (sk_d4){sk_doubles(vcgtq_f64(a.low, b.low)), sk_doubles(vcgtq_f64(a.high, b.high))};
}
SK_INLINE sk_d4 d4_less(sk_d4 a, sk_d4 b) { return d4_greater(b, a); }
SK_INLINE sk_d4 d4_at_most(sk_d4 a, sk_d4 b) {
  return (sk_d4){sk_doubles(vcleq_f64(a.low, b.low)), sk_doubles(vcleq_f64(a.high, b.high))};
}

SK_INLINE sk_d4 d4_and(sk_d4 a, sk_d4 b) {
  return (sk_d4){sk_doubles(vandq_u64(sk_long_bits(a.low), sk_long_bits(b.low))),
                 sk_doubles(vandq_u64(sk_long_bits(a.high), sk_long_bits(b.high)))};
}
SK_INLINE sk_d4 d4_xor(sk_d4 a, sk_d4 b) {
  return (sk_d4){sk_doubles(veorq_u64(sk_long_bits(a.low), sk_long_bits(b.low))),
                 sk_doubles(veorq_u64(sk_long_bits(a.high), sk_long_bits(b.high)))};
}
SK_INLINE sk_d4 d4_clear(sk_d4 mask, sk_d4 a) {
  return (sk_d4){sk_doubles(vbicq_u64(sk_long_bits(a.low), sk_long_bits(mask.low))),
                 sk_doubles(vbicq_u64(sk_long_bits(a.high), sk_long_bits(mask.high)))};
}
SK_INLINE sk_d4 d4_blend(sk_d4 a, sk_d4 b, sk_d4 mask) {
  return (sk_d4){vbslq_f64(sk_long_bits(mask.low), b.low, a.low), vbslq_f64(sk_long_bits(mask.high), b.high, a.high)};
}
SK_INLINE uint32_t d4_count(sk_d4 mask) {
  uint32x4_t lanes = vuzp1q_u32(vreinterpretq_u32_f64(mask.low), vreinterpretq_u32_f64(mask.high));
  return vaddvq_u32(vshrq_n_u32(lanes, 31));
}
SK_INLINE sk_d4 d4_only_last(sk_d4 a) { return (sk_d4){vdupq_n_f64(0.0), vsetq_lane_f64(0.0, a.high, 0)}; }

SK_INLINE void d4_transpose(sk_d4 a, sk_d4 b, sk_d4 c, sk_d4 d, sk_d4 out[4]) {
  out[0] = (sk_d4){vzip1q_f64(a.low, b.low), vzip1q_f64(c.low, d.low)};
  out[1] = (sk_d4){vzip2q_f64(a.low, b.low), vzip2q_f64(c.low, d.low)};
  out[2] = (sk_d4){vzip1q_f64(a.high, b.high), vzip1q_f64(c.high, d.high)};
  out[3] = (sk_d4){vzip2q_f64(a.high, b.high), vzip2q_f64(c.high, d.high)};
}

SK_INLINE void d4_load_beside(const double *p, const size_t at[4], sk_d4 *here, sk_d4 *next) {
  float64x2_t a = vld1q_f64(p + at[0]), b = vld1q_f64(p + at[1]);
  float64x2_t c = vld1q_f64(p + at[2]), d = vld1q_f64(p + at[3]);
  *here = (sk_d4){vzip1q_f64(a, b), vzip1q_f64(c, d)};
  *next = (sk_d4){vzip2q_f64(a, b), vzip2q_f64(c, d)};
}

SK_INLINE sk_d4 d4_of(sk_f4 a) { return (sk_d4){vcvt_f64_f32(vget_low_f32(a)), vcvt_high_f64_f32(a)}; }
SK_INLINE sk_f4 f4_of(sk_d4 a) { return vcvt_high_f32_f64(vcvt_f32_f64(a.low), a.high); }
SK_INLINE void d4_truncate(sk_d4 a, int32_t out[4]) {
  int64x2_t low = vcvtq_s64_f64(a.low), high = vcvtq_s64_f64(a.high);
  out[0] = (int32_t)vgetq_lane_s64(low, 0);
  out[1] = (int32_t)vgetq_lane_s64(low, 1);
  out[2] = (int32_t)vgetq_lane_s64(high, 0);
  out[3] = (int32_t)vgetq_lane_s64(high, 1);
}

/* ---- integers ----------------------------------------------------------------------------------------------- */

SK_INLINE sk_i8 i8_of(sk_f8 a) { return (sk_i8){vreinterpretq_s32_f32(a.low), vreinterpretq_s32_f32(a.high)}; }
SK_INLINE sk_f8 f8_of_bits(sk_i8 a) { return (sk_f8){vreinterpretq_f32_s32(a.low), vreinterpretq_f32_s32(a.high)}; }
SK_INLINE sk_i8 i8_add(sk_i8 a, sk_i8 b) { return (sk_i8){vaddq_s32(a.low, b.low), vaddq_s32(a.high, b.high)}; }
SK_INLINE sk_i8 i8_sub(sk_i8 a, sk_i8 b) { return (sk_i8){vsubq_s32(a.low, b.low), vsubq_s32(a.high, b.high)}; }
SK_INLINE sk_i8 i8_or(sk_i8 a, sk_i8 b) { return (sk_i8){vorrq_s32(a.low, b.low), vorrq_s32(a.high, b.high)}; }

SK_INLINE bool sk_all_equal(const uint32_t p[8]) {
  uint32x4_t low = vld1q_u32(p), high = vld1q_u32(p + 4), first = vdupq_n_u32(p[0]);
  return vminvq_u32(vandq_u32(vceqq_u32(low, first), vceqq_u32(high, first))) != 0;
}

SK_INLINE void sk_stores_end(void) {}

#endif
#endif
