/* sk_given_kernel.h: matrices of poses that the caller gives, eight joints at a time (sk_kernels.given). */
#ifndef SK_GIVEN_KERNEL_H
#define SK_GIVEN_KERNEL_H

#include "sk_kernel.h"

#include "../pose/sk_palette.h"

size_t SK_KERNEL(sk_given_kernel_scratch)(int32_t joint_count);
void SK_KERNEL(sk_given_kernel)(const sk_palette_job *job, size_t first, size_t count, void *scratch);

#endif
