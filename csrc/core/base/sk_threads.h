/* sk_threads.h: a pool of threads that run the ranges of a batch.

   The first use starts the threads, which sleep between calls. The ranges do not depend on the number of threads.
   Results are bit-identical for any number as long as the result of an element depends on that element only. */
#ifndef SK_THREADS_H
#define SK_THREADS_H

#include "sk_base.h"

#define SK_MAX_THREADS 256u /* including the caller's: the maximum that sk_set_thread_count accepts */

/* Works on elements first .. first + count - 1 of the job. It cannot fail, must not fork and must not set the number
   of threads. `worker` is the number of the thread, 0 for the caller's: it selects the scratch memory of this call. */
typedef void (*sk_range_run)(const void *job, size_t worker, size_t first, size_t count);

/* Runs elements 0 .. count - 1 in ranges of `grain` elements (0 counts as 1), of which the last may be shorter. Each
   range runs once, in any order; the call returns when all are done. A range should take about 10 us: each worker begins
   with a contiguous part of the ranges, at least two, and then helps with what is left of the others' parts.

   The calling thread is worker 0. It works alone if there are fewer than four ranges, if it is inside a range already,
   while the pool serves another caller, and for a while after threads cost more time than they saved: on a busy machine
   they may wait for a core. Then it is not much slower than with one thread.

   The caller has scratch memory for `workers` workers. Worker numbers stay below that, even if another thread raises the
   number of threads meanwhile. 0 workers mean 1, and SK_MAX_THREADS gives as many as there are threads. */
void sk_parallel(const void *job, sk_range_run run, size_t count, size_t grain, size_t workers);

/* Returns for how many workers of such a run to take scratch memory; `grain` is at least 1. */
size_t sk_worker_count(size_t count, size_t grain);

/* Number of threads that sk_parallel may use, including the caller's: 1 .. SK_MAX_THREADS. */
size_t sk_thread_count(void);

/* Sets the number of threads, after running work has ended. Superfluous threads end before the call returns; missing
   ones start at the next use. 0 means the default, sk_core_count() but at most 64; larger numbers than SK_MAX_THREADS
   count as SK_MAX_THREADS. */
void sk_set_thread_count(size_t count);

/* Calls use threads again, whatever they cost before. For tests, which run on busy machines too. */
void sk_end_rest(void);

#endif
