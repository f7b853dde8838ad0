/* sk_threads.c: see sk_threads.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setname_np */
#endif
#include "sk_threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "sk_cores.h"

#define DEFAULT_LIMIT      64u         /* more rarely help, and each keeps a stack */
#define STACK_BYTES        (512u << 10)  /* also holds the thread-local data of every loaded library */
#define FINISH_NANOSECONDS 10000  /* the caller waits so long without sleeping for the last ranges */
#define LINGER_NANOSECONDS 125000 /* a thread waits so long for more work: in a loop of calls it comes soon */

/* One call of sk_parallel, on its caller's stack. */
typedef struct work {
  const void *job;
  sk_range_run run;
  size_t count, grain, ranges;
  size_t workers;     /* maximum number of threads, including the caller's */
  atomic_size_t next; /* number of the next range that no thread has taken */
} work;

typedef struct pool {
  pthread_mutex_t lock; /* guards all below but `threads` and `made`; not held while ranges run */
  pthread_cond_t wake;  /* wakes threads: there is work, or there are too many threads */
  pthread_cond_t done;  /* wakes callers: the last thread has left the work, or the pool is free */
  work *work;           /* the work that threads may join, or NULL */
  size_t joined;        /* threads that have joined the work so far: the worker number of the latest */
  size_t to_wake;       /* threads that still have to be woken for the work */
  atomic_size_t active; /* threads that are running ranges of the work */
  size_t keep;          /* threads with a higher number than this end */
  size_t setters;       /* callers that wait to change the count */
  bool busy;            /* a caller has the pool: only that caller may change `made` and `threads` */
  size_t made;
  pthread_t threads[SK_MAX_THREADS];
} pool;

#define FRESH_POOL                    \
  {.lock = PTHREAD_MUTEX_INITIALIZER, \
   .wake = PTHREAD_COND_INITIALIZER,  \
   .done = PTHREAD_COND_INITIALIZER,  \
   .keep = SIZE_MAX}

static pool thread_pool = FRESH_POOL;
static atomic_size_t opened;       /* number of works that were opened to the threads; written with the lock held */
static atomic_size_t wanted;       /* threads in all; 0: the default, which was not determined yet */
static _Thread_local size_t told;  /* what sk_thread_count last returned to this thread; 0: nothing so far */

/* ---- the count ------------------------------------------------------------------------------- */

static size_t standard_count(void) {
  size_t cores = sk_core_count();
  return cores < DEFAULT_LIMIT ? cores : DEFAULT_LIMIT;
}

static size_t current_count(void) {
  size_t count = atomic_load_explicit(&wanted, memory_order_relaxed);
  if (!count) {
    size_t unset = 0;
    count = standard_count();
    if (!atomic_compare_exchange_strong(&wanted, &unset, count)) count = unset;
  }
  return count;
}

size_t sk_thread_count(void) { return told = current_count(); }

/* Ends the threads with numbers above `keep`. The lock is held and the pool is taken by this caller. */
static void end_threads(size_t keep) {
  SK_ASSERT(thread_pool.busy);
  thread_pool.keep = keep;
  pthread_cond_broadcast(&thread_pool.wake);
  pthread_mutex_unlock(&thread_pool.lock);
  while (thread_pool.made > keep) pthread_join(thread_pool.threads[--thread_pool.made], NULL);
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
  told = 0;
  atomic_store(&wanted, count);
  end_threads(count - 1);
  leave_pool();
  pthread_mutex_unlock(&thread_pool.lock);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void run_ranges(work *work, size_t worker) {
  size_t range;
  while ((range = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed)) < work->ranges) {
    size_t first = range * work->grain, left = work->count - first;
    work->run(work->job, worker, first, left < work->grain ? left : work->grain);
  }
}

/* Takes up to two of the wake-ups that are due. Each thread that joins wakes two more, so that the time until all are
   awake grows with the logarithm of their number. The lock is held. */
static size_t take_wakes(void) {
  size_t count = thread_pool.to_wake < 2 ? thread_pool.to_wake : 2;
  thread_pool.to_wake -= count;
  return count;
}

/* Wakes `count` threads. The lock is not held: a woken thread needs it first. */
static void wake_threads(size_t count) {
  while (count--) pthread_cond_signal(&thread_pool.wake);
}

/* Whether there is work that one more thread may join. The lock is held. */
static bool may_join(void) {
  return thread_pool.work && thread_pool.joined + 1 < thread_pool.work->workers &&
         atomic_load_explicit(&thread_pool.work->next, memory_order_relaxed) < thread_pool.work->ranges;
}

/* Waiting without sleeping, measured by the clock: a pause takes 10 ns on one processor and 25 ns on another. */
typedef struct spin {
  int64_t end; /* nanoseconds */
  unsigned pauses;
} spin;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static spin spin_for(int64_t nanoseconds) { return (spin){now() + nanoseconds, 0}; }

/* Pauses for a moment. False when the time is up. */
static bool spin_on(spin *spin) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
  return ++spin->pauses % 16 || now() < spin->end;
}

/* Waits, without sleeping, until a work after number `seen` is opened or the time is up: being woken takes as long as
   a small work does. The lock is held before and after, and free in between. */
static void linger(size_t seen) {
  spin spin = spin_for(LINGER_NANOSECONDS);
  pthread_mutex_unlock(&thread_pool.lock);
  while (atomic_load_explicit(&opened, memory_order_relaxed) == seen && spin_on(&spin)) continue;
  pthread_mutex_lock(&thread_pool.lock);
}

/* Joins the work and runs ranges until none is left. The lock is held before and after, and free in between. */
static void join_work(void) {
  work *work = thread_pool.work;
  size_t worker = ++thread_pool.joined, wakes = take_wakes();
  atomic_fetch_add_explicit(&thread_pool.active, 1, memory_order_relaxed);
  pthread_mutex_unlock(&thread_pool.lock);
  wake_threads(wakes);
  run_ranges(work, worker);
  pthread_mutex_lock(&thread_pool.lock);
  if (atomic_fetch_sub_explicit(&thread_pool.active, 1, memory_order_release) == 1)
    pthread_cond_broadcast(&thread_pool.done);
}

static void *thread_main(void *argument) {
  size_t number = (size_t)(uintptr_t)argument, lingered = 0; /* the number is 1, 2, ... */
  pthread_mutex_lock(&thread_pool.lock);
  while (number <= thread_pool.keep) {
    size_t seen = atomic_load_explicit(&opened, memory_order_relaxed);
    if (may_join()) join_work();
    else if (lingered != seen) linger(lingered = seen);
    else pthread_cond_wait(&thread_pool.wake, &thread_pool.lock);
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

/* Starts a thread of the pool that takes no signals from other processes. False if the system does not give one. */
static bool start_thread(pthread_t *thread, const char *name, size_t number) {
  pthread_attr_t attributes;
  sigset_t before;
  bool started;
  if (pthread_attr_init(&attributes)) return false;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  block_signals(&before); /* a new thread inherits the mask */
  started = pthread_create(thread, &attributes, thread_main, (void *)(uintptr_t)number) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (started) name_thread(*thread, name);
  return started;
}

/* Starts threads until there are `count`, or as many as the system allows. The caller has taken the pool. */
static void make_threads(size_t count) {
  char name[16];
  while (thread_pool.made < count) {
    size_t number = thread_pool.made + 1;
    snprintf(name, sizeof name, "skinpy-%u", (unsigned)number);
    if (!start_thread(&thread_pool.threads[thread_pool.made], name, number)) return;
    thread_pool.made++;
  }
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

/* Opens the work to the threads of the pool, which the caller has taken. */
static void open_work(work *work) {
  size_t wakes;
  make_threads(work->workers - 1);
  pthread_mutex_lock(&thread_pool.lock);
  thread_pool.work = work;
  atomic_fetch_add_explicit(&opened, 1, memory_order_relaxed);
  thread_pool.joined = 0;
  thread_pool.to_wake = work->workers - 1;
  wakes = take_wakes();
  pthread_mutex_unlock(&thread_pool.lock);
  wake_threads(wakes);
}

/* Closes the work: no thread can join any more, so that nobody waits for those that are still waking up. Returns when
   the threads that did join have finished, and gives the pool back. */
static void close_work(void) {
  spin spin = spin_for(FINISH_NANOSECONDS);
  pthread_mutex_lock(&thread_pool.lock);
  thread_pool.work = NULL;
  pthread_mutex_unlock(&thread_pool.lock);
  while (atomic_load_explicit(&thread_pool.active, memory_order_acquire) && spin_on(&spin)) continue;
  pthread_mutex_lock(&thread_pool.lock);
  while (atomic_load_explicit(&thread_pool.active, memory_order_acquire))
    pthread_cond_wait(&thread_pool.done, &thread_pool.lock);
  leave_pool();
  pthread_mutex_unlock(&thread_pool.lock);
}

/* Number of threads for this number of ranges: at most as many as the caller was told, for whom it has scratch. */
static size_t workers_for(size_t ranges) {
  size_t count = current_count();
  if (told && told < count) count = told;
  return count < ranges ? count : ranges;
}

void sk_parallel(const void *job, sk_range_run run, size_t count, size_t grain) {
  work work = {.job = job, .run = run, .count = count, .grain = grain ? grain : 1};
  SK_ASSERT(run != NULL);
  work.ranges = count / work.grain + (count % work.grain != 0);
  if (work.ranges == 1) {
    run(job, 0, 0, count);
    return;
  }
  work.workers = workers_for(work.ranges);
  if (work.workers > 1 && take_pool()) {
    open_work(&work);
    run_ranges(&work, 0);
    close_work();
  } else {
    run_ranges(&work, 0);
  }
}
