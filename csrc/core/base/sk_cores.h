/* sk_cores.h: how many processors this process may use, and what the caches hold. */
#ifndef SK_CORES_H
#define SK_CORES_H

#include "sk_base.h"

/* Those it may be scheduled on, and no more than the CPU quota of its control groups gives it, rounded up;
   at least 1. */
size_t sk_core_count(void);

/* The quota in a file cpu.max as processors, rounded up: "250000 100000", microseconds of work in each period of
   so many, are 3. 0 where there is none ("max 100000"), or no such file. */
size_t sk_core_quota(const char *path);

/* Of more bytes of results than that, the memory is asked for before they are written: with what they are made of they
   do not stay in the caches of one processor. */
#define SK_NEAR_BYTES ((size_t)1 << 20)

/* Bytes of the last-level cache, which other programs may use too; 0 where the system does not say. */
size_t sk_cache_bytes(void);

#endif
