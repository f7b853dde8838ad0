/* sk_mean_kernel.c: see sk_mean_kernel.h. */
#include "sk_mean_kernel.h"

#if SK_HAS_KERNELS

SK_KERNEL_BEGIN

#define LANES       sk_f8
#define OP(name)    f8_##name
#define NAME(name)  name##_floats
#define ANY(mask)   (f8_signs(mask) != 0)
#define LEAST_SLOPE SK_MEAN_SLOPE
#include "sk_mean_lanes.inc"
#undef LANES
#undef OP
#undef NAME
#undef ANY
#undef LEAST_SLOPE

#define LANES       sk_d4
#define OP(name)    d4_##name
#define NAME(name)  name##_doubles
#define ANY(mask)   (d4_count(mask) != 0)
#define LEAST_SLOPE 0.0
#include "sk_mean_lanes.inc"

sk_f8 SK_KERNEL(sk_mean_floats)(const sk_f8 m[SK_MEAN_CELLS], const sk_f8 rest[4], sk_f8 v[4]) {
  return find_floats(m, rest, v);
}

void SK_KERNEL(sk_mean_doubles)(const sk_d4 m[SK_MEAN_CELLS], const sk_d4 rest[4], sk_d4 v[4]) {
  find_doubles(m, rest, v);
}

SK_KERNEL_END

#endif
