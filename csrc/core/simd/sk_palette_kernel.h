/* sk_palette_kernel.h: matrices of sampled poses, one at a time or eight side by side (sk_kernels.palette). */
#ifndef SK_PALETTE_KERNEL_H
#define SK_PALETTE_KERNEL_H

#include "sk_kernel.h"

#include "../pose/sk_palette.h"

#define SK_MIN_BATCH 3 /* poses from which on a batch of eight costs less than one pose after another */

size_t SK_KERNEL(sk_palette_kernel_scratch)(const sk_compiled *compiled, size_t count);
void SK_KERNEL(sk_palette_kernel)(const sk_palette_job *job, size_t first, size_t count, void *scratch);

#endif
