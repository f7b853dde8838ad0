/* sk_crowd_twin.h: the SIMD twin of a group of a crowd, as sk_crowd.c sees it. */
#ifndef SK_CROWD_TWIN_H
#define SK_CROWD_TWIN_H

#include "sk_cpu.h"
#include "sk_crowd.h"

/* Bytes of scratch, aligned to 32, for any group of the job; 0 where no clip is compiled. */
size_t sk_crowd_twin_scratch(const sk_crowd_job *job);

/* Before the first group of a range; the scratch is kept from group to group. */
void sk_crowd_twin_begin(void *scratch);

/* Up to eight instances whose clips that weigh are the same, compiled, and weigh SK_BLEND_THRESHOLD or more. Behind
   them in `instances` stand `more` that will come later. */
void sk_crowd_twin_run(const sk_crowd_job *job, const size_t *instances, size_t count, size_t more,
                       void *scratch);
SK_HAS_AVX512_TWIN(sk_crowd_twin_run);

#endif
