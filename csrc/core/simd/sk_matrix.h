/* sk_matrix.h: single matrices with one row in a vector, for kernels that go through the joints one by one.

   A matrix is its first three rows, of four numbers each; the last row is 0 0 0 1. */
#ifndef SK_MATRIX_H
#define SK_MATRIX_H

#include "sk_vector.h"

#if SK_HAS_KERNELS

SK_KERNEL_BEGIN

/* out = a * b in double: `a` and `out` in memory, `b` in registers. */
static inline void sk_rows_chain(const double *a, const sk_d4 b[3], double *out) {
  int row;
  for (row = 0; row < 3; row++, a += 4) {
    sk_d4 sum = d4_mul(d4_set(a[0]), b[0]);
    sum = d4_fma(d4_set(a[1]), b[1], sum);
    sum = d4_fma(d4_set(a[2]), b[2], sum);
    sum = d4_add(sum, d4_only_last(d4_load(a)));
    d4_store(out + 4 * row, sum);
  }
}

/* Three rows of float, the first two in one vector: a product then takes two thirds of the operations. */
typedef struct sk_matrix {
  sk_f8 upper;
  sk_f4 lower;
} sk_matrix;

/* From 12 floats in memory. */
static inline sk_matrix sk_matrix_load(const float rows[12]) { return (sk_matrix){f8_load(rows), f4_load(rows + 8)}; }

/* From 12 doubles in memory, rounded. */
static inline sk_matrix sk_matrix_of_doubles(const double rows[12]) {
  sk_f4 first = f4_of(d4_load(rows)), second = f4_of(d4_load(rows + 4));
  return (sk_matrix){f8_join(first, second), f4_of(d4_load(rows + 8))};
}

/* Stores 12 floats and, where `affine` is false, the last row too. */
static inline void sk_matrix_store(sk_matrix matrix, bool affine, float *out) {
  f8_store(out, matrix.upper);
  f4_store(out + 8, matrix.lower);
  if (!affine) f4_store(out + 12, f4_make(0.0f, 0.0f, 0.0f, 1.0f));
}

/* a * b, where `b` is 12 floats in memory. */
static inline sk_matrix sk_matrix_multiply(sk_matrix a, const float b[12]) {
  sk_f8 b0 = f8_repeat(b), b1 = f8_repeat(b + 4);
  sk_f8 b2 = f8_repeat(b + 8);
  sk_f8 upper = f8_mul(F8_PICK(a.upper, 0, 0, 0, 0), b0);
  sk_f4 lower = f4_mul(F4_PICK(a.lower, 0, 0, 0, 0), f8_low(b0));
  upper = f8_fma(F8_PICK(a.upper, 1, 1, 1, 1), b1, upper);
  lower = f4_fma(F4_PICK(a.lower, 1, 1, 1, 1), f8_low(b1), lower);
  upper = f8_fma(F8_PICK(a.upper, 2, 2, 2, 2), b2, upper);
  lower = f4_fma(F4_PICK(a.lower, 2, 2, 2, 2), f8_low(b2), lower);
  return (sk_matrix){f8_add(upper, f8_only_last(a.upper)), f4_add(lower, f4_only_last(a.lower))};
}

SK_KERNEL_END

#endif
#endif
