/* sk_kernel_table.c: the table of the kernels of one instruction set (../base/sk_kernels.h has what each does). */
#include "sk_kernel.h"

#if SK_HAS_KERNELS

#include "../base/sk_kernels.h"
#include "sk_blend_kernel.h"
#include "sk_crowd_kernel.h"
#include "sk_deform_kernel.h"
#include "sk_given_kernel.h"
#include "sk_palette_kernel.h"
#include "sk_sample_kernel.h"

const sk_kernels SK_KERNEL(sk_kernels) = {
    .sample = SK_KERNEL(sk_sample_kernel),
    .blend = SK_KERNEL(sk_blend_kernel),
    .palette_scratch = SK_KERNEL(sk_palette_kernel_scratch),
    .palette = SK_KERNEL(sk_palette_kernel),
    .given_scratch = SK_KERNEL(sk_given_kernel_scratch),
    .given = SK_KERNEL(sk_given_kernel),
    .crowd_scratch = SK_KERNEL(sk_crowd_kernel_scratch),
    .crowd_begin = SK_KERNEL(sk_crowd_kernel_begin),
    .crowd = SK_KERNEL(sk_crowd_kernel),
    .deform_scratch = SK_KERNEL(sk_deform_kernel_scratch),
    .deform = SK_KERNEL(sk_deform_kernel),
    .deform_shared = SK_KERNEL(sk_deform_shared_kernel),
    .deform_end = SK_KERNEL(sk_deform_kernel_end),
};

#endif
