/* sk_blend_kernel.h: blending the T, R and S of poses, eight joints at a time (sk_kernels.blend). */
#ifndef SK_BLEND_KERNEL_H
#define SK_BLEND_KERNEL_H

#include "sk_kernel.h"

#include "../pose/sk_blend.h"

bool SK_KERNEL(sk_blend_kernel)(const sk_blend_job *job, size_t n);

#endif
