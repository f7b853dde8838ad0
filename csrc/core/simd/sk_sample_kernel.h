/* sk_sample_kernel.h: sampling the T, R and S of one pose, eight joints at a time (sk_kernels.sample). */
#ifndef SK_SAMPLE_KERNEL_H
#define SK_SAMPLE_KERNEL_H

#include "sk_kernel.h"

#include "../pose/sk_sample.h"

#define SK_STACK_LINES 256  /* time lines that the kernel's stack holds, */
#define SK_STACK_CUBIC 4096 /* and floats of cubic cells */

bool SK_KERNEL(sk_sample_kernel)(const sk_sampling *sampling, double time, sk_pose pose);

#endif
