/* sk_threads.c: see sk_threads.h.

   A call of sk_parallel that uses threads has these steps, all in run_together:
   - take_pool: one caller at a time has the pool. A caller that finds it taken runs its ranges alone.
   - open_work: each worker gets a contiguous part of the ranges, and the first two threads are woken. These wake the
     next ones.
   - run_ranges: every worker runs the ranges of its own part, and then what is left of the others'.
   - close_work: threads that are still waking up can no longer join. The caller waits for those that have joined.
   - note_saved: what the threads saved or lost decides whether the next calls use them.
   A thread does the same from its side in thread_main: it joins open work, lingers in a loop of calls, and sleeps.

   What is shared: the lock of the pool orders the opening and closing of a work and what threads read of it. Ranges are
   taken by an atomic counter in each part, without the lock. What a range wrote reaches the caller through `active`,
   which a thread decrements with release, and the caller reads with acquire. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setname_np, sched_getcpu */
#endif
#include "sk_threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "sk_cores.h"

#define DEFAULT_LIMIT 64u          /* more rarely help, and each keeps a stack */
#define STACK_BYTES   (512u << 10) /* also holds the thread-local data of every loaded library */
#define WORKER_RANGES 2            /* ranges for which a thread is worth waking */

/* In nanoseconds. To wake a thread takes 7 us of the caller's time, and 15 us until it runs. */
#define FINISH_LIMIT  10000      /* the caller waits so long without sleeping for the last ranges */
#define LINGER_LIMIT  50000      /* in a loop of calls, a thread waits so long without sleeping for the next call */
#define SAVED_LIMIT   20000000   /* of the time that threads have saved, so much may be lost again */
#define REST_LIMIT    1000000000 /* the longest rest: the process may have been stopped for hours */
#define REST_TIMES    20         /* a rest is so many times as long as the loss that it follows */

/* The ranges that one worker runs first. They are contiguous, so that the same core writes the same memory when a call
   is repeated. No two parts are in one cache line. */
typedef struct part {
  _Alignas(SK_ALIGNMENT) atomic_size_t next; /* the first range that no worker has taken; `end` or more: none is left */
  size_t end;
} part;

/* One call of sk_parallel, on its caller's stack. */
typedef struct work {
  const void *job;
  sk_range_run run;
  size_t count, grain, ranges;
  size_t workers; /* the caller, and the threads that may join */
  atomic_size_t elsewhere; /* ranges that ran on other cores than the caller's */
} work;

/* A thread of the pool, and what wakes it: there is work, or there are too many threads. */
typedef struct pool_thread {
  pthread_t thread;
  pthread_cond_t wake;
} pool_thread;

typedef struct pool {
  pthread_mutex_t lock; /* guards all below but `made` and `rest`; not held while ranges run */
  pthread_cond_t done; /* wakes callers: the last thread has left the work, or the pool is free */
  work *work; /* the work that threads may join, or NULL */
  int core; /* on which the caller of the latest work runs */
  bool loop; /* the latest work began soon after the end of the one before */
  int64_t closed; /* when the work before ended */
  int64_t saved; /* nanoseconds that threads have saved and not lost again, 0 .. SAVED_LIMIT */
  atomic_llong rest; /* nanoseconds of work that calls are still to do alone, because threads lost time */
  atomic_size_t active; /* threads that are running ranges of the work */
  size_t keep; /* threads with a higher number than this end */
  size_t setters; /* callers that wait to change the count */
  bool busy; /* a caller has the pool: only that caller may change `made` and `threads` */
  size_t made; /* number of threads */
} pool;

#define FRESH_POOL {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER, .keep = SIZE_MAX}

static pool thread_pool = FRESH_POOL;
static pool_thread threads[SK_MAX_THREADS]; /* by number: 1 .. made */
static part parts[SK_MAX_THREADS]; /* of the work, by worker: the caller has 0, thread n has n */
static atomic_size_t opened; /* number of works so far; written with the lock held */
static atomic_size_t wanted; /* threads in all; 0: the default, which was not determined yet */

/* ---- the count ------------------------------------------------------------------------------- */

static size_t standard_count(void) {
  size_t cores = sk_core_count();
  return cores < DEFAULT_LIMIT ? cores : DEFAULT_LIMIT;
}

size_t sk_thread_count(void) {
  size_t count = atomic_load_explicit(&wanted, memory_order_relaxed);
  if (!count) {
    size_t unset = 0;
    count = standard_count();
    if (!atomic_compare_exchange_strong(&wanted, &unset, count)) count = unset;
  }
  return count;
}

/* Ends the threads with numbers above `keep`. The lock is held and the pool is taken by this caller. */
static void end_threads(size_t keep) {
  size_t number;
  SK_ASSERT(thread_pool.busy);
  thread_pool.keep = keep;
  for (number = thread_pool.made; number > keep; number--) pthread_cond_signal(&threads[number].wake);
  pthread_mutex_unlock(&thread_pool.lock);
  for (; thread_pool.made > keep; thread_pool.made--) {
    pthread_join(threads[thread_pool.made].thread, NULL);
    pthread_cond_destroy(&threads[thread_pool.made].wake);
  }
  pthread_mutex_lock(&thread_pool.lock);
}

/* Gives the pool back. The lock is held. */
static void leave_pool(void) {
  thread_pool.busy = false;
  if (thread_pool.setters) pthread_cond_broadcast(&thread_pool.done);
}

/* ---- fork ------------------------------------------------------------------------------------ */

/* Ends idle threads before a fork, because the child would not have them, and because Python warns about forks of
   processes that have many threads. A busy pool is left as it is; the child starts with a new one. */
static void before_fork(void) {
  pthread_mutex_lock(&thread_pool.lock);
  if (!thread_pool.busy && thread_pool.made) {
    size_t keep = thread_pool.keep;
    thread_pool.busy = true;
    end_threads(0);
    thread_pool.keep = keep;
    leave_pool();
  }
  pthread_mutex_unlock(&thread_pool.lock);
}

/* The child has only the thread that forked, whatever the pool was doing. */
static void in_child(void) { thread_pool = (pool)FRESH_POOL; }

static void watch_forks(void) { pthread_atfork(before_fork, NULL, in_child); }

static void lock_pool(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  pthread_mutex_lock(&thread_pool.lock);
}

void sk_set_thread_count(size_t count) {
  if (!count) count = standard_count();
  if (count > SK_MAX_THREADS) count = SK_MAX_THREADS;
  lock_pool();
  thread_pool.setters++;
  while (thread_pool.busy) pthread_cond_wait(&thread_pool.done, &thread_pool.lock);
  thread_pool.setters--;
  thread_pool.busy = true;
  atomic_store(&wanted, count);
  end_threads(count - 1);
  leave_pool();
  pthread_mutex_unlock(&thread_pool.lock);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static void run_range(const work *work, size_t worker, size_t range) {
  size_t first = range * work->grain, left = work->count - first;
  work->run(work->job, worker, first, left < work->grain ? left : work->grain);
}

/* Gives each worker a part of the ranges. */
static void set_parts(const work *work) {
  size_t n, each = work->ranges / work->workers, more = work->ranges % work->workers, next = 0;
  for (n = 0; n < work->workers; n++) {
    atomic_store_explicit(&parts[n].next, next, memory_order_relaxed);
    parts[n].end = next += each + (n < more);
  }
}

static bool has_ranges(const part *part) { return atomic_load_explicit(&part->next, memory_order_relaxed) < part->end; }

/* Runs the ranges of the worker's own part, then those that are left of the others'. Returns how many it ran. */
static size_t run_ranges(const work *work, size_t worker) {
  size_t done = 0, i, range;
  for (i = 0; i < work->workers; i++) {
    part *part = &parts[(worker + i) % work->workers];
    while (has_ranges(part)) {
      range = atomic_fetch_add_explicit(&part->next, 1, memory_order_relaxed);
      if (range >= part->end) break; /* another worker was faster */
      run_range(work, worker, range);
      done++;
    }
  }
  return done;
}

static void run_alone(const work *work) {
  size_t range;
  for (range = 0; range < work->ranges; range++) run_range(work, 0, range);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Pauses for a moment, without sleeping. False when it is later than `end`. */
static bool pause_until(int64_t end) {
  int i;
  for (i = 0; i < 4; i++) {
#if defined(__x86_64__)
    __builtin_ia32_pause(); /* takes 10 ns on one processor and 25 ns on another */
#elif defined(__aarch64__)
    __asm__ __volatile__("isb"); /* waits until the pipeline is empty; `yield` does nothing on most processors */
#endif
  }
  return now() < end;
}

/* The core on which this thread runs, until the system moves it; -1 where the system does not tell. */
static int own_core(void) {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

/* Whether this thread runs on the core of the caller of the latest work. */
static bool is_beside_caller(void) { return thread_pool.core >= 0 && own_core() == thread_pool.core; }

/* ---- threads --------------------------------------------------------------------------------- */

/* Wakes two of the work's threads. Each thread that joins does so, and the time until all are awake grows with the
   logarithm of their number. The lock is not held: a woken thread needs it first. */
static void wake_two(const work *work, size_t worker) {
  size_t number;
  for (number = 2 * worker + 1; number <= 2 * worker + 2 && number < work->workers; number++)
    pthread_cond_signal(&threads[number].wake);
}

/* Whether there is work that the thread may join. The lock is held. */
static bool may_join(size_t number) {
  return thread_pool.work && number < thread_pool.work->workers && has_ranges(&parts[number]);
}

/* Joins the work and runs ranges until none is left. The lock is held before and after, and free in between. */
static void join_work(size_t number) {
  work *work = thread_pool.work;
  bool elsewhere = !is_beside_caller();
  size_t done;
  atomic_fetch_add_explicit(&thread_pool.active, 1, memory_order_relaxed);
  pthread_mutex_unlock(&thread_pool.lock);
  wake_two(work, number);
  done = run_ranges(work, number);
  if (elsewhere) atomic_fetch_add_explicit(&work->elsewhere, done, memory_order_relaxed);
  pthread_mutex_lock(&thread_pool.lock);
  if (atomic_fetch_sub_explicit(&thread_pool.active, 1, memory_order_release) == 1)
    pthread_cond_broadcast(&thread_pool.done);
}

/* In a loop of calls, waits for the next one without sleeping, but not on the core that the caller needs. The lock is
   held before and after, and free in between. */
static void linger(size_t seen) {
  int64_t end = now() + LINGER_LIMIT;
  if (!thread_pool.loop || is_beside_caller()) return;
  pthread_mutex_unlock(&thread_pool.lock);
  while (atomic_load_explicit(&opened, memory_order_relaxed) == seen && pause_until(end)) continue;
  pthread_mutex_lock(&thread_pool.lock);
}

static void *thread_main(void *argument) {
  size_t number = (size_t)(uintptr_t)argument, lingered = 0; /* after which work */
  pthread_mutex_lock(&thread_pool.lock);
  while (number <= thread_pool.keep) {
    size_t seen = atomic_load_explicit(&opened, memory_order_relaxed);
    if (may_join(number)) join_work(number);
    else if (lingered != seen) linger(lingered = seen);
    else pthread_cond_wait(&threads[number].wake, &thread_pool.lock);
  }
  pthread_mutex_unlock(&thread_pool.lock);
  return NULL;
}

/* Blocks the signals that are sent to the process, so that they reach other threads. Signals that a fault raises stay
   deliverable in the thread where the fault happens. */
static void block_signals(sigset_t *before) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  sigset_t all;
  size_t i;
  sigfillset(&all);
  for (i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&all, faults[i]);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

/* Debuggers and top show the name. */
static void name_thread(pthread_t thread, const char *name) {
#if defined(__linux__)
  pthread_setname_np(thread, name);
#else
  (void)thread, (void)name;
#endif
}

/* Starts the thread with this number, which takes no signals from other processes. False if the system gives none. */
static bool start_thread(size_t number) {
  pool_thread *made = &threads[number];
  pthread_attr_t attributes;
  sigset_t before;
  char name[16];
  bool started;
  if (pthread_attr_init(&attributes)) return false;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  pthread_cond_init(&made->wake, NULL);
  block_signals(&before); /* a new thread inherits the mask */
  started = pthread_create(&made->thread, &attributes, thread_main, (void *)(uintptr_t)number) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  snprintf(name, sizeof name, "skinpy-%u", (unsigned)number);
  if (started) name_thread(made->thread, name);
  else pthread_cond_destroy(&made->wake);
  return started;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Takes the pool for the calling thread. False if another caller has it, or waits to change its size. */
static bool take_pool(void) {
  bool free;
  lock_pool();
  free = !thread_pool.busy && !thread_pool.setters;
  if (free) thread_pool.busy = true;
  pthread_mutex_unlock(&thread_pool.lock);
  return free;
}

/* Opens the work to the threads of the pool, which the caller has taken. There may be fewer than the work was made for:
   the system gives no more, or another caller has set a lower number since. */
static void open_work(work *work, int64_t time) {
  if (work->workers - 1 > thread_pool.keep) work->workers = thread_pool.keep + 1;
  while (thread_pool.made + 1 < work->workers && start_thread(thread_pool.made + 1)) thread_pool.made++;
  if (work->workers > thread_pool.made + 1) work->workers = thread_pool.made + 1;
  set_parts(work);
  pthread_mutex_lock(&thread_pool.lock);
  thread_pool.work = work;
  thread_pool.core = own_core();
  thread_pool.loop = time - thread_pool.closed < LINGER_LIMIT;
  atomic_fetch_add_explicit(&opened, 1, memory_order_relaxed);
  pthread_mutex_unlock(&thread_pool.lock);
  wake_two(work, 0);
}

static bool is_running(void) { return atomic_load_explicit(&thread_pool.active, memory_order_acquire) > 0; }

/* Closes the work: no thread can join any more, so that nobody waits for those that are still waking up. Returns when
   the threads that did join have finished. The lock is held before and after, and free in between. */
static void close_work(void) {
  int64_t end = now() + FINISH_LIMIT;
  thread_pool.work = NULL;
  pthread_mutex_unlock(&thread_pool.lock);
  while (is_running() && pause_until(end)) continue;
  pthread_mutex_lock(&thread_pool.lock);
  while (is_running()) pthread_cond_wait(&thread_pool.done, &thread_pool.lock);
}

/* Nanoseconds that the work would have taken without threads, if the ranges on the caller's core took `worked`. */
static int64_t time_alone(work *work, int64_t worked) {
  size_t own = work->ranges - atomic_load_explicit(&work->elsewhere, memory_order_relaxed);
  return own ? (int64_t)((double)worked * (double)work->ranges / (double)own) : 0;
}

/* Adds up the time that threads saved, or lost if it is negative: a thread that shares the caller's core helps nobody,
   and one that another process drives off its core in the middle of a range keeps the caller waiting. Threads may lose
   what they have saved; for what they lose beyond that they rest, so that they never cost more than 1 / REST_TIMES of
   the time. Beside one busy process on two cores, calls of 35 to 150 us reach 0.99 of one thread's speed by this, and
   0.90 to 0.96 without it. The lock is held. */
static void note_saved(int64_t nanoseconds) {
  int64_t saved = thread_pool.saved + nanoseconds, rest = saved < 0 ? -saved : 0;
  if (saved > SAVED_LIMIT) saved = SAVED_LIMIT;
  if (rest > REST_LIMIT / REST_TIMES) rest = REST_LIMIT / REST_TIMES;
  thread_pool.saved = rest ? 0 : saved;
  if (rest) atomic_store_explicit(&thread_pool.rest, rest * REST_TIMES, memory_order_relaxed);
}

/* Runs the work with the threads of the pool, which the caller has taken, and gives the pool back. */
static void run_together(work *work) {
  int64_t start = now(), begun, worked;
  open_work(work, start);
  begun = now();
  run_ranges(work, 0);
  worked = now() - begun;
  pthread_mutex_lock(&thread_pool.lock);
  close_work();
  thread_pool.closed = now();
  note_saved(time_alone(work, worked) - (thread_pool.closed - start));
  leave_pool();
  pthread_mutex_unlock(&thread_pool.lock);
}

void sk_end_rest(void) { atomic_store_explicit(&thread_pool.rest, 0, memory_order_relaxed); }

/* Runs the work without the threads, which are to rest. */
static void run_in_rest(const work *work) {
  int64_t start = now();
  run_alone(work);
  atomic_fetch_sub_explicit(&thread_pool.rest, now() - start, memory_order_relaxed);
}

static bool is_resting(void) { return atomic_load_explicit(&thread_pool.rest, memory_order_relaxed) > 0; }

static size_t range_count(size_t count, size_t grain) { return count / grain + (count % grain != 0); }

static size_t workers_for(size_t ranges) {
  size_t most = ranges / WORKER_RANGES, threads = sk_thread_count();
  if (most < 2) return 1;
  return threads < most ? threads : most;
}

size_t sk_worker_count(size_t count, size_t grain) { return is_resting() ? 1 : workers_for(range_count(count, grain)); }

void sk_parallel(const void *job, sk_range_run run, size_t count, size_t grain, size_t workers) {
  work work = {.job = job, .run = run, .count = count, .grain = grain ? grain : 1};
  SK_ASSERT(run != NULL);
  work.ranges = range_count(count, work.grain);
  work.workers = workers_for(work.ranges);
  if (work.workers > 1 && is_resting()) {
    run_in_rest(&work);
    return;
  }
  if (work.workers > workers) work.workers = workers;
  if (work.workers > 1 && take_pool()) run_together(&work);
  else run_alone(&work); /* maybe because another caller has the pool */
}
