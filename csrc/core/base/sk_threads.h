/* sk_threads.h: a kept pool of threads that shares out the ranges of a batch.

   Threads are made at first use and then sleep between calls. Every range is the same whatever the number of
   threads, so results are bit-identical as long as a range's result depends on the range alone. */
#ifndef SK_THREADS_H
#define SK_THREADS_H

#include "sk_base.h"

#define SK_MAX_THREADS 256u /* the caller's included: what sk_set_thread_count takes at most */

/* Work on elements first .. first + count - 1. Cannot fail, does not fork, does not set the count of threads;
   `worker` says which piece of scratch belongs to this call. */
typedef void (*sk_range_run)(const void *job, size_t worker, size_t first, size_t count);

/* Runs 0 .. count - 1 in ranges that start at multiples of `grain` (0 counts as 1) and hold `grain` elements,
   the last one the rest; each once, in any order. Returns when all are done. The caller works too, as worker 0,
   and alone where there is one range, within another range, and while the pool serves another caller. A range
   should last some 20 us or more: waking a thread takes as long.

   worker < what sk_thread_count() last told the calling thread: ask, take scratch for so many, then run. */
void sk_parallel(const void *job, sk_range_run run, size_t count, size_t grain);

/* Threads that sk_parallel may use, the caller's included: 1 .. SK_MAX_THREADS. */
size_t sk_thread_count(void);

/* Waits for running work; threads that are too many end here, those that lack are made at next use. 0 is the
   default: sk_core_count(), at most 64. More than SK_MAX_THREADS count as so many. */
void sk_set_thread_count(size_t count);

typedef struct sk_thread { uintptr_t system; } sk_thread; /* the system's own, whatever that is */

/* A thread beside the pool, to be joined, that takes no signals from other processes. `name`: at most 15 characters.
   False where the system gives none. */
bool sk_make_thread(sk_thread *thread, const char *name, void *(*run)(void *argument), void *argument);
void sk_join_thread(sk_thread thread);

#endif
