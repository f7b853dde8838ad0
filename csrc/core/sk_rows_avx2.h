/* sk_rows_avx2.h: one matrix, a row a vector: what the twins share that go joint by joint. */
#ifndef SK_ROWS_AVX2_H
#define SK_ROWS_AVX2_H

#include "sk_cpu.h"

#if SK_HAS_AVX2
#include <immintrin.h>

SK_AVX2_BEGIN

/* Three rows of doubles, a * b. */
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

/* Three rows, and the last one where the matrix is not affine. */
static inline void sk_rows_store(const __m128 rows[3], bool affine, float *out) {
  _mm_storeu_ps(out, rows[0]);
  _mm_storeu_ps(out + 4, rows[1]);
  _mm_storeu_ps(out + 8, rows[2]);
  if (!affine) _mm_storeu_ps(out + 12, _mm_setr_ps(0.0f, 0.0f, 0.0f, 1.0f));
}

static inline void sk_rows_to_float(const double *global, __m128 rows[3]) {
  int row;
  for (row = 0; row < 3; row++) rows[row] = _mm256_cvtpd_ps(_mm256_loadu_pd(global + 4 * row));
}

/* Rows a * b in float. */
static inline void sk_rows_multiply(const __m128 a[3], const __m128 b[3], __m128 rows[3]) {
  int row;
  for (row = 0; row < 3; row++) {
    __m128 sum = _mm_mul_ps(_mm_shuffle_ps(a[row], a[row], 0x00), b[0]);
    sum = _mm_fmadd_ps(_mm_shuffle_ps(a[row], a[row], 0x55), b[1], sum);
    sum = _mm_fmadd_ps(_mm_shuffle_ps(a[row], a[row], 0xAA), b[2], sum);
    rows[row] = _mm_add_ps(sum, _mm_blend_ps(_mm_setzero_ps(), a[row], 8));
  }
}

SK_AVX2_END

#endif
#endif
