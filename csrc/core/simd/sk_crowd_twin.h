/* sk_crowd_twin.h: the SIMD twin of a group of a crowd, as sk_crowd.c sees it. */
#ifndef SK_CROWD_TWIN_H
#define SK_CROWD_TWIN_H

#include "../base/sk_cpu.h"
#include "../pose/sk_crowd.h"

/* Bytes of scratch, aligned to 32, for any group of the job; 0 where no clip is compiled. */
size_t sk_crowd_twin_scratch(const sk_crowd_job *job);

/* Before the first group of a range; the scratch is kept from group to group. */
void sk_crowd_twin_begin(void *scratch);

/* Up to eight instances whose clips that weigh are the same, compiled, and weigh SK_BLEND_THRESHOLD or more. */
typedef struct sk_crowd_group {
  const size_t *instances; /* (count + more,): behind the group's own those that will come later */
  size_t count, more;
  size_t source_count;     /* clips that weigh */
  const uint8_t *slots;    /* (N,) of all instances: sk_crowd_groups */
} sk_crowd_group;

void sk_crowd_twin_run(const sk_crowd_job *job, const sk_crowd_group *group, void *scratch);
SK_HAS_AVX512_TWIN(sk_crowd_twin_run);

#endif
