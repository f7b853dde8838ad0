/* sk_mean_kernel.h: the mean of rotations (../pose/sk_mean.h) in vectors. No lane depends on the other lanes. */
#ifndef SK_MEAN_KERNEL_H
#define SK_MEAN_KERNEL_H

#include "sk_vector.h"

#include "../pose/sk_mean.h"

#if SK_HAS_KERNELS

SK_KERNEL_BEGIN

/* The slope of p at the largest eigenvalue, for a trace of 1, above which float finds the mean with an error of at most
   some 3e-8 / gap: a gap of 0.15 is always enough, and one of 0.02 sometimes. From a slope of 0.1 on the error is below
   3e-7. */
#define SK_MEAN_SLOPE 5e-3f

/* Adds w q qT to M. */
#define SK_MEAN_ADD(name, lanes, op)                                               \
  SK_INLINE void name(lanes weight, const lanes q[4], lanes m[SK_MEAN_CELLS]) {    \
    int i, k, cell = 0;                                                            \
    for (i = 0; i < 4; i++) {                                                      \
      lanes weighted = op##_mul(weight, q[i]);                                     \
      for (k = i; k < 4; k++, cell++) m[cell] = op##_fma(weighted, q[k], m[cell]); \
    }                                                                              \
  }
SK_MEAN_ADD(sk_mean_add_floats, sk_f8, f8)
SK_MEAN_ADD(sk_mean_add_doubles, sk_d4, d4)

/* What sk_mean_find does, for a trace of about 1; the result is not normalized. Returns the
   slope. */
sk_f8 SK_KERNEL(sk_mean_floats)(const sk_f8 m[SK_MEAN_CELLS], const sk_f8 rest[4], sk_f8 v[4]);

/* The same in double, which is always enough. */
void SK_KERNEL(sk_mean_doubles)(const sk_d4 m[SK_MEAN_CELLS], const sk_d4 rest[4], sk_d4 v[4]);

SK_KERNEL_END

#endif
#endif
