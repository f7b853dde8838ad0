/* sk_vector_avx2.h: the operations of sk_vector.h, for AVX2 and FMA. */
#ifndef SK_VECTOR_AVX2_H
#define SK_VECTOR_AVX2_H

#include "sk_kernel.h"

#if SK_HAS_KERNELS && SK_HAS_AVX2
#include <immintrin.h>

SK_KERNEL_BEGIN

typedef __m256 sk_f8;
typedef __m128 sk_f4;
typedef __m256d sk_d4;
typedef __m256i sk_i8;

/* ---- eight floats ------------------------------------------------------------------------------------------- */

SK_INLINE sk_f8 f8_set(float number) { return _mm256_set1_ps(number); }
SK_INLINE sk_f8 f8_zero(void) { return _mm256_setzero_ps(); }
SK_INLINE sk_f8 f8_load(const float *p) { return _mm256_loadu_ps(p); }
SK_INLINE sk_f8 f8_load_one(const float *p) { return _mm256_broadcast_ss(p); }
SK_INLINE void f8_store(float *p, sk_f8 a) { _mm256_storeu_ps(p, a); }

SK_INLINE sk_f8 f8_add(sk_f8 a, sk_f8 b) { return _mm256_add_ps(a, b); }
SK_INLINE sk_f8 f8_sub(sk_f8 a, sk_f8 b) { return _mm256_sub_ps(a, b); }
SK_INLINE sk_f8 f8_mul(sk_f8 a, sk_f8 b) { return _mm256_mul_ps(a, b); }
SK_INLINE sk_f8 f8_div(sk_f8 a, sk_f8 b) { return _mm256_div_ps(a, b); }
SK_INLINE sk_f8 f8_sqrt(sk_f8 a) { return _mm256_sqrt_ps(a); }
SK_INLINE sk_f8 f8_min(sk_f8 a, sk_f8 b) { return _mm256_min_ps(a, b); }
SK_INLINE sk_f8 f8_max(sk_f8 a, sk_f8 b) { return _mm256_max_ps(a, b); }
SK_INLINE sk_f8 f8_fma(sk_f8 a, sk_f8 b, sk_f8 c) { return _mm256_fmadd_ps(a, b, c); }
SK_INLINE sk_f8 f8_fms(sk_f8 a, sk_f8 b, sk_f8 c) { return _mm256_fmsub_ps(a, b, c); }
SK_INLINE sk_f8 f8_fnma(sk_f8 a, sk_f8 b, sk_f8 c) { return _mm256_fnmadd_ps(a, b, c); }
SK_INLINE sk_f8 f8_fnms(sk_f8 a, sk_f8 b, sk_f8 c) { return _mm256_fnmsub_ps(a, b, c); }

SK_INLINE sk_f8 f8_less(sk_f8 a, sk_f8 b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
SK_INLINE sk_f8 f8_at_most(sk_f8 a, sk_f8 b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
SK_INLINE sk_f8 f8_greater(sk_f8 a, sk_f8 b) { return _mm256_cmp_ps(a, b, _CMP_GT_OQ); }
SK_INLINE sk_f8 f8_at_least(sk_f8 a, sk_f8 b) { return _mm256_cmp_ps(a, b, _CMP_GE_OQ); }
SK_INLINE sk_f8 f8_equal(sk_f8 a, sk_f8 b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }

SK_INLINE sk_f8 f8_all_set(void) { return _mm256_castsi256_ps(_mm256_set1_epi32(-1)); }
SK_INLINE sk_f8 f8_and(sk_f8 a, sk_f8 b) { return _mm256_and_ps(a, b); }
SK_INLINE sk_f8 f8_or(sk_f8 a, sk_f8 b) { return _mm256_or_ps(a, b); }
SK_INLINE sk_f8 f8_xor(sk_f8 a, sk_f8 b) { return _mm256_xor_ps(a, b); }
SK_INLINE sk_f8 f8_clear(sk_f8 mask, sk_f8 a) { return _mm256_andnot_ps(mask, a); }
SK_INLINE sk_f8 f8_abs(sk_f8 a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
SK_INLINE sk_f8 f8_blend(sk_f8 a, sk_f8 b, sk_f8 mask) { return _mm256_blendv_ps(a, b, mask); }
SK_INLINE int f8_signs(sk_f8 a) { return _mm256_movemask_ps(a); }

/* The processor's estimate has 12 bits, and one step of Newton's method doubles them. With a square root and a
   division all of skinning took a quarter longer. */
SK_INLINE sk_f8 f8_inverse_root(sk_f8 a) {
  sk_f8 guess = _mm256_rsqrt_ps(a);
  sk_f8 rest = _mm256_fnmadd_ps(_mm256_mul_ps(a, guess), guess, _mm256_set1_ps(3.0f));
  return _mm256_mul_ps(_mm256_mul_ps(_mm256_set1_ps(0.5f), guess), rest);
}

/* ---- lanes of eight floats ---------------------------------------------------------------------------------- */

SK_INLINE sk_f8 f8_join(sk_f4 low, sk_f4 high) { return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1); }
SK_INLINE sk_f4 f8_low(sk_f8 a) { return _mm256_castps256_ps128(a); }
SK_INLINE sk_f4 f8_high(sk_f8 a) { return _mm256_extractf128_ps(a, 1); }
SK_INLINE sk_f8 f8_repeat(const float *p) { return _mm256_broadcast_ps((const __m128 *)p); }

SK_INLINE sk_f8 f8_load_some(const float *p, size_t count) {
  static const int32_t there[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_maskload_ps(p, _mm256_loadu_si256((const __m256i *)(there + 8 - count)));
}

#define F8_PICK(a, i, j, k, l)        _mm256_permute_ps(a, _MM_SHUFFLE(l, k, j, i))
#define SK_PICK_TWO(a, b, i, j, k, l) _mm256_shuffle_ps(a, b, _MM_SHUFFLE(l, k, j, i)) /* i, j of a and k, l of b */

SK_INLINE sk_f8 f8_only_last(sk_f8 a) { return _mm256_blend_ps(_mm256_setzero_ps(), a, 0x88); }

SK_INLINE void f8_transpose(sk_f8 a, sk_f8 b, sk_f8 c, sk_f8 d, sk_f8 out[4]) {
  sk_f8 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
  sk_f8 ef = _mm256_unpackhi_ps(a, b), gh = _mm256_unpackhi_ps(c, d);
  out[0] = _mm256_shuffle_ps(ab, cd, 0x44);
  out[1] = _mm256_shuffle_ps(ab, cd, 0xEE);
  out[2] = _mm256_shuffle_ps(ef, gh, 0x44);
  out[3] = _mm256_shuffle_ps(ef, gh, 0xEE);
}

SK_INLINE void f8_load_quads(const float *p, sk_f8 out[4]) {
  f8_transpose(f8_join(_mm_loadu_ps(p), _mm_loadu_ps(p + 16)), f8_join(_mm_loadu_ps(p + 4), _mm_loadu_ps(p + 20)),
               f8_join(_mm_loadu_ps(p + 8), _mm_loadu_ps(p + 24)), f8_join(_mm_loadu_ps(p + 12), _mm_loadu_ps(p + 28)),
               out);
}

SK_INLINE void f8_store_quads(float *p, const sk_f8 v[4]) {
  sk_f8 quads[4];
  int i;
  f8_transpose(v[0], v[1], v[2], v[3], quads);
  for (i = 0; i < 4; i++) {
    _mm_storeu_ps(p + 4 * i, f8_low(quads[i]));
    _mm_storeu_ps(p + 4 * i + 16, f8_high(quads[i]));
  }
}

SK_INLINE void f8_load_cells(const float *p, sk_f8 out[4]) {
  f8_transpose(f8_load(p), f8_load(p + 8), f8_load(p + 16), f8_load(p + 24), out);
}

SK_INLINE void f8_store_cells(float *p, const sk_f8 v[3]) {
  sk_f8 low = _mm256_unpacklo_ps(v[0], v[1]), high = _mm256_unpackhi_ps(v[0], v[1]);
  f8_store(p, SK_PICK_TWO(low, v[2], 0, 1, 0, 0));
  f8_store(p + 8, SK_PICK_TWO(low, v[2], 2, 3, 1, 1));
  f8_store(p + 16, SK_PICK_TWO(high, v[2], 0, 1, 2, 2));
  f8_store(p + 24, SK_PICK_TWO(high, v[2], 2, 3, 3, 3));
}

SK_INLINE void f8_load_triples(const float *p, sk_f8 out[3]) {
  sk_f8 a = f8_join(_mm_loadu_ps(p), _mm_loadu_ps(p + 12)), b = f8_join(_mm_loadu_ps(p + 4), _mm_loadu_ps(p + 16));
  sk_f8 c = f8_join(_mm_loadu_ps(p + 8), _mm_loadu_ps(p + 20));
  sk_f8 xy = SK_PICK_TWO(b, c, 2, 3, 1, 2); /* x2 y2 x3 y3 */
  sk_f8 yz = SK_PICK_TWO(a, b, 1, 2, 0, 1); /* y0 z0 y1 z1 */
  out[0] = SK_PICK_TWO(a, xy, 0, 3, 0, 2);
  out[1] = SK_PICK_TWO(yz, xy, 0, 2, 1, 3);
  out[2] = SK_PICK_TWO(yz, c, 1, 3, 0, 3);
}

SK_INLINE void f8_store_triples(float *p, const sk_f8 v[3], bool past) {
  sk_f8 a = SK_PICK_TWO(v[0], v[1], 0, 2, 0, 2); /* x0 x2 y0 y2 */
  sk_f8 b = SK_PICK_TWO(v[1], v[2], 1, 3, 1, 3); /* y1 y3 z1 z3 */
  sk_f8 c = SK_PICK_TWO(v[2], v[0], 0, 2, 1, 3); /* z0 z2 x1 x3 */
  sk_f8 d = SK_PICK_TWO(a, c, 0, 2, 0, 2);       /* x0 y0 z0 x1 */
  sk_f8 e = SK_PICK_TWO(b, a, 0, 2, 1, 3);       /* y1 z1 x2 y2 */
  sk_f8 f = SK_PICK_TWO(c, b, 1, 3, 1, 3);       /* z2 x3 y3 z3 */
  if (past) {
    _mm_stream_ps(p, f8_low(d));
    _mm_stream_ps(p + 4, f8_low(e));
    _mm_stream_ps(p + 8, f8_low(f));
    _mm_stream_ps(p + 12, f8_high(d));
    _mm_stream_ps(p + 16, f8_high(e));
    _mm_stream_ps(p + 20, f8_high(f));
    return;
  }
  f8_store(p, f8_join(f8_low(d), f8_low(e)));
  f8_store(p + 8, _mm256_blend_ps(f, d, 0xf0));
  f8_store(p + 16, _mm256_permute2f128_ps(e, f, 0x31));
}

/* ---- four floats -------------------------------------------------------------------------------------------- */

SK_INLINE sk_f4 f4_set(float number) { return _mm_set1_ps(number); }
SK_INLINE sk_f4 f4_zero(void) { return _mm_setzero_ps(); }
SK_INLINE sk_f4 f4_make(float a, float b, float c, float d) { return _mm_setr_ps(a, b, c, d); }
SK_INLINE sk_f4 f4_load(const float *p) { return _mm_loadu_ps(p); }
SK_INLINE void f4_store(float *p, sk_f4 a) { _mm_storeu_ps(p, a); }
SK_INLINE void f4_store_three(float *p, sk_f4 a) {
  _mm_storel_pi((__m64 *)p, a);
  _mm_store_ss(p + 2, _mm_movehl_ps(a, a));
}
SK_INLINE sk_f4 f4_add(sk_f4 a, sk_f4 b) { return _mm_add_ps(a, b); }
SK_INLINE sk_f4 f4_mul(sk_f4 a, sk_f4 b) { return _mm_mul_ps(a, b); }
SK_INLINE sk_f4 f4_fma(sk_f4 a, sk_f4 b, sk_f4 c) { return _mm_fmadd_ps(a, b, c); }
SK_INLINE float f4_dot(sk_f4 a, sk_f4 b) { return _mm_cvtss_f32(_mm_dp_ps(a, b, 0xFF)); }
SK_INLINE sk_f4 f4_only_last(sk_f4 a) { return _mm_blend_ps(_mm_setzero_ps(), a, 8); }
#define F4_PICK(a, i, j, k, l) _mm_permute_ps(a, _MM_SHUFFLE(l, k, j, i))

SK_INLINE void f4_store_packed(float *p, sk_f4 a, sk_f4 b, sk_f4 c, sk_f4 d, bool past) {
  sk_f4 first = _mm_insert_ps(a, b, 0x30);                                           /* x0 y0 z0 x1 */
  sk_f4 second = _mm_shuffle_ps(b, c, _MM_SHUFFLE(1, 0, 2, 1));                      /* y1 z1 x2 y2 */
  sk_f4 third = _mm_insert_ps(_mm_shuffle_ps(d, d, _MM_SHUFFLE(2, 1, 0, 0)), c, 0x80); /* z2 x3 y3 z3 */
  if (past) {
    _mm_stream_ps(p, first);
    _mm_stream_ps(p + 4, second);
    _mm_stream_ps(p + 8, third);
    return;
  }
  f4_store(p, first);
  f4_store(p + 4, second);
  f4_store(p + 8, third);
}

/* ---- four doubles ------------------------------------------------------------------------------------------- */

SK_INLINE sk_d4 d4_set(double number) { return _mm256_set1_pd(number); }
SK_INLINE sk_d4 d4_zero(void) { return _mm256_setzero_pd(); }
SK_INLINE sk_d4 d4_load(const double *p) { return _mm256_loadu_pd(p); }
SK_INLINE void d4_store(double *p, sk_d4 a) { _mm256_storeu_pd(p, a); }

SK_INLINE sk_d4 d4_add(sk_d4 a, sk_d4 b) { return _mm256_add_pd(a, b); }
SK_INLINE sk_d4 d4_sub(sk_d4 a, sk_d4 b) { return _mm256_sub_pd(a, b); }
SK_INLINE sk_d4 d4_mul(sk_d4 a, sk_d4 b) { return _mm256_mul_pd(a, b); }
SK_INLINE sk_d4 d4_div(sk_d4 a, sk_d4 b) { return _mm256_div_pd(a, b); }
SK_INLINE sk_d4 d4_sqrt(sk_d4 a) { return _mm256_sqrt_pd(a); }
SK_INLINE sk_d4 d4_min(sk_d4 a, sk_d4 b) { return _mm256_min_pd(a, b); }
SK_INLINE sk_d4 d4_max(sk_d4 a, sk_d4 b) { return _mm256_max_pd(a, b); }
SK_INLINE sk_d4 d4_fma(sk_d4 a, sk_d4 b, sk_d4 c) { return _mm256_fmadd_pd(a, b, c); }
SK_INLINE sk_d4 d4_fms(sk_d4 a, sk_d4 b, sk_d4 c) { return _mm256_fmsub_pd(a, b, c); }
SK_INLINE sk_d4 d4_floor(sk_d4 a) { return _mm256_floor_pd(a); }
SK_INLINE sk_d4 d4_nearest(sk_d4 a) { return _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

SK_INLINE sk_d4 d4_less(sk_d4 a, sk_d4 b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
SK_INLINE sk_d4 d4_at_most(sk_d4 a, sk_d4 b) { return _mm256_cmp_pd(a, b, _CMP_LE_OQ); }
SK_INLINE sk_d4 d4_greater(sk_d4 a, sk_d4 b) { return _mm256_cmp_pd(a, b, _CMP_GT_OQ); }

SK_INLINE sk_d4 d4_and(sk_d4 a, sk_d4 b) { return _mm256_and_pd(a, b); }
SK_INLINE sk_d4 d4_xor(sk_d4 a, sk_d4 b) { return _mm256_xor_pd(a, b); }
SK_INLINE sk_d4 d4_clear(sk_d4 mask, sk_d4 a) { return _mm256_andnot_pd(mask, a); }
SK_INLINE sk_d4 d4_abs(sk_d4 a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
SK_INLINE sk_d4 d4_blend(sk_d4 a, sk_d4 b, sk_d4 mask) { return _mm256_blendv_pd(a, b, mask); }
SK_INLINE uint32_t d4_count(sk_d4 mask) { return (uint32_t)__builtin_popcount((unsigned)_mm256_movemask_pd(mask)); }
SK_INLINE sk_d4 d4_only_last(sk_d4 a) { return _mm256_blend_pd(_mm256_setzero_pd(), a, 8); }

SK_INLINE void d4_transpose(sk_d4 a, sk_d4 b, sk_d4 c, sk_d4 d, sk_d4 out[4]) {
  sk_d4 ab = _mm256_unpacklo_pd(a, b), ef = _mm256_unpackhi_pd(a, b);
  sk_d4 cd = _mm256_unpacklo_pd(c, d), gh = _mm256_unpackhi_pd(c, d);
  out[0] = _mm256_permute2f128_pd(ab, cd, 0x20);
  out[1] = _mm256_permute2f128_pd(ef, gh, 0x20);
  out[2] = _mm256_permute2f128_pd(ab, cd, 0x31);
  out[3] = _mm256_permute2f128_pd(ef, gh, 0x31);
}

/* Single loads are faster than a gather on many processors. */
SK_INLINE void d4_load_beside(const double *p, const size_t at[4], sk_d4 *here, sk_d4 *next) {
  sk_d4 even = _mm256_set_m128d(_mm_loadu_pd(p + at[2]), _mm_loadu_pd(p + at[0]));
  sk_d4 odd_lanes = _mm256_set_m128d(_mm_loadu_pd(p + at[3]), _mm_loadu_pd(p + at[1]));
  *here = _mm256_unpacklo_pd(even, odd_lanes);
  *next = _mm256_unpackhi_pd(even, odd_lanes);
}

SK_INLINE sk_d4 d4_of(sk_f4 a) { return _mm256_cvtps_pd(a); }
SK_INLINE sk_f4 f4_of(sk_d4 a) { return _mm256_cvtpd_ps(a); }
SK_INLINE void d4_truncate(sk_d4 a, int32_t out[4]) {
  __m128i whole = _mm256_cvttpd_epi32(a);
  out[0] = _mm_extract_epi32(whole, 0);
  out[1] = _mm_extract_epi32(whole, 1);
  out[2] = _mm_extract_epi32(whole, 2);
  out[3] = _mm_extract_epi32(whole, 3);
}

/* ---- integers ----------------------------------------------------------------------------------------------- */

SK_INLINE sk_i8 i8_of(sk_f8 a) { return _mm256_castps_si256(a); }
SK_INLINE sk_f8 f8_of_bits(sk_i8 a) { return _mm256_castsi256_ps(a); }
SK_INLINE sk_i8 i8_add(sk_i8 a, sk_i8 b) { return _mm256_add_epi32(a, b); }
SK_INLINE sk_i8 i8_sub(sk_i8 a, sk_i8 b) { return _mm256_sub_epi32(a, b); }
SK_INLINE sk_i8 i8_or(sk_i8 a, sk_i8 b) { return _mm256_or_si256(a, b); }

SK_INLINE bool sk_all_equal(const uint32_t p[8]) {
  __m256i all = _mm256_loadu_si256((const __m256i *)p), first = _mm256_set1_epi32((int)p[0]);
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(all, first)) == -1;
}

SK_INLINE void sk_stores_end(void) { _mm_sfence(); }

SK_KERNEL_END

#endif
#endif
