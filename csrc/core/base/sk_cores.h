/* sk_cores.h: how many processors this process may use, and what the caches hold. */
#ifndef SK_CORES_H
#define SK_CORES_H

#include "sk_base.h"

/* Number of processors that this process may use, at least 1: those on which the system may schedule it, but no more
   than the CPU quota of its control groups, rounded up. */
size_t sk_core_count(void);

/* The CPU quota in a file cpu.max, in processors, rounded up. The file holds two numbers: microseconds of work per
   period, and the length of the period; "250000 100000" gives 3. Returns 0 if there is no quota ("max 100000") or no
   file. */
size_t sk_core_quota(const char *path);

/* Bytes of results. Kernels prefetch the memory of larger results before they write it, because these results and
   their inputs do not stay in the caches of one processor. */
#define SK_NEAR_BYTES ((size_t)1 << 20)

/* Bytes of the last-level cache, which other programs share; 0 if the system does not tell. */
size_t sk_cache_bytes(void);

#endif
