/* sk_octet.h: T, R and S of the eight movers of an octet, for one pose. */
#ifndef SK_OCTET_H
#define SK_OCTET_H

#include "sk_key_span.h"
#include "sk_lanes.h"

#if SK_HAS_KERNELS

SK_KERNEL_BEGIN

/* Interpolates the components of eight movers, one in each lane. `spans` are those of sk_find_key_spans at the time of
   the pose. Translation and scale come as three vectors each; the rotation comes as a mix, which is not summed yet, so
   that the caller can sum it in float or in double. */
void SK_KERNEL(sk_octet_components)(const sk_octet *octet, const sk_key_span *spans, sk_rotation rotation, sk_f8 t[3],
                                    sk_mix *mix, sk_f8 s[3]);

SK_KERNEL_END

#endif
#endif
