/* sk_matrix.h: single matrices with one row in a vector, for kernels that go through the joints one by one.

   A matrix is its first three rows, of four numbers each; the last row is 0 0 0 1. */
#ifndef SK_MATRIX_H
#define SK_MATRIX_H

#include "sk_kernel.h"

#if SK_HAS_AVX2
#include <immintrin.h>

SK_KERNEL_BEGIN

/* out = a * b in double: `a` and `out` in memory, `b` in registers. */
static inline void sk_rows_chain(const double *a, const __m256d b[3], double *out) {
  int row;
  for (row = 0; row < 3; row++, a += 4) {
    __m256d sum = _mm256_mul_pd(_mm256_set1_pd(a[0]), b[0]);
    sum = _mm256_fmadd_pd(_mm256_set1_pd(a[1]), b[1], sum);
    sum = _mm256_fmadd_pd(_mm256_set1_pd(a[2]), b[2], sum);
    sum = _mm256_add_pd(sum, _mm256_blend_pd(_mm256_setzero_pd(), _mm256_loadu_pd(a), 8));
    _mm256_storeu_pd(out + 4 * row, sum);
  }
}

/* Three rows of float, the first two in one vector: a product then takes two thirds of the operations. */
typedef struct sk_matrix {
  __m256 upper;
  __m128 lower;
} sk_matrix;

/* From 12 floats in memory. */
static inline sk_matrix sk_matrix_load(const float rows[12]) {
  return (sk_matrix){_mm256_loadu_ps(rows), _mm_loadu_ps(rows + 8)};
}

/* From 12 doubles in memory, rounded. */
static inline sk_matrix sk_matrix_of_doubles(const double rows[12]) {
  __m128 first = _mm256_cvtpd_ps(_mm256_loadu_pd(rows)), second = _mm256_cvtpd_ps(_mm256_loadu_pd(rows + 4));
  return (sk_matrix){_mm256_set_m128(second, first), _mm256_cvtpd_ps(_mm256_loadu_pd(rows + 8))};
}

/* Stores 12 floats and, where `affine` is false, the last row too. */
static inline void sk_matrix_store(sk_matrix matrix, bool affine, float *out) {
  _mm256_storeu_ps(out, matrix.upper);
  _mm_storeu_ps(out + 8, matrix.lower);
  if (!affine) _mm_storeu_ps(out + 12, _mm_setr_ps(0.0f, 0.0f, 0.0f, 1.0f));
}

/* a * b, where `b` is 12 floats in memory. */
static inline sk_matrix sk_matrix_multiply(sk_matrix a, const float b[12]) {
  __m256 b0 = _mm256_broadcast_ps((const __m128 *)b), b1 = _mm256_broadcast_ps((const __m128 *)(b + 4));
  __m256 b2 = _mm256_broadcast_ps((const __m128 *)(b + 8));
  __m256 upper = _mm256_mul_ps(_mm256_permute_ps(a.upper, 0x00), b0);
  __m128 lower = _mm_mul_ps(_mm_permute_ps(a.lower, 0x00), _mm256_castps256_ps128(b0));
  upper = _mm256_fmadd_ps(_mm256_permute_ps(a.upper, 0x55), b1, upper);
  lower = _mm_fmadd_ps(_mm_permute_ps(a.lower, 0x55), _mm256_castps256_ps128(b1), lower);
  upper = _mm256_fmadd_ps(_mm256_permute_ps(a.upper, 0xAA), b2, upper);
  lower = _mm_fmadd_ps(_mm_permute_ps(a.lower, 0xAA), _mm256_castps256_ps128(b2), lower);
  return (sk_matrix){_mm256_add_ps(upper, _mm256_blend_ps(_mm256_setzero_ps(), a.upper, 0x88)),
                     _mm_add_ps(lower, _mm_blend_ps(_mm_setzero_ps(), a.lower, 8))};
}

SK_KERNEL_END

#endif
#endif
