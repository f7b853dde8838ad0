/* sk_crowd_kernel.h: palettes of a group of a crowd's instances, side by side (sk_kernels.crowd). */
#ifndef SK_CROWD_KERNEL_H
#define SK_CROWD_KERNEL_H

#include "sk_kernel.h"

#include "../pose/sk_crowd_groups.h"

size_t SK_KERNEL(sk_crowd_kernel_scratch)(const sk_crowd_job *job);
void SK_KERNEL(sk_crowd_kernel_begin)(void *scratch);
void SK_KERNEL(sk_crowd_kernel)(const sk_crowd_job *job, const sk_crowd_group *group, void *scratch);

#endif
