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

#define DEFAULT_LIMIT 64u         /* more rarely help, and each keeps a stack */
#define STACK_BYTES (512u << 10)  /* also holds the thread-local data of every loaded library */
#define LAST_NANOSECONDS 10000    /* of waiting for the last range, before sleeping */
#define LINGER_NANOSECONDS 125000 /* and for more work: in a loop of calls it comes soon */

/* One call of sk_parallel, on its caller's stack. */
typedef struct work {
  const void *job;
  sk_range_run run;
  size_t count, grain, ranges;
  size_t workers;     /* at most so many, the caller's thread included */
  atomic_size_t next; /* number of the next range that nobody took */
} work;

typedef struct pool {
  pthread_mutex_t lock; /* guards all below but `threads` and `made`; not held while ranges run */
  pthread_cond_t wake;  /* for the threads: there is work, or too many of them */
  pthread_cond_t done;  /* for callers: the last thread left the work, or the pool is free */
  work *work;           /* what a thread may join; NULL: nothing */
  size_t joined;        /* threads that ever joined it; the last one's worker number */
  size_t to_wake;       /* threads still to be woken for it */
  atomic_size_t active; /* threads in it now */
  size_t keep;          /* threads with a higher number end */
  size_t setters;       /* callers that wait to change the count */
  bool busy;            /* one caller has the pool: only it touches the two below */
  size_t made;
  sk_thread threads[SK_MAX_THREADS];
} pool;

#define FRESH_POOL                                                                           \
  {                                                                                          \
    .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER,                     \
    .done = PTHREAD_COND_INITIALIZER, .keep = SIZE_MAX                                       \
  }

static pool the = FRESH_POOL;
static atomic_size_t opened;       /* works that were shown to the threads so far; written with the lock held */
static atomic_size_t wanted;       /* threads in all; 0: the default, not asked for yet */
static _Thread_local size_t told;  /* what sk_thread_count last told this thread; 0: nothing yet */

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

/* With the lock held and the pool taken: threads beyond `keep` are told to end, and waited for. */
static void end_threads(size_t keep) {
  the.keep = keep;
  pthread_cond_broadcast(&the.wake);
  pthread_mutex_unlock(&the.lock);
  while (the.made > keep) sk_join_thread(the.threads[--the.made]);
  pthread_mutex_lock(&the.lock);
}

/* With the lock held. */
static void leave_pool(void) {
  the.busy = false;
  if (the.setters) pthread_cond_broadcast(&the.done);
}

/* ---- fork ------------------------------------------------------------------------------------ */

/* Idle threads end before a fork, as they would be missing in the child; Python warns of forks of processes
   with many threads, too. Where the pool is busy it is left alone, and the child makes itself a new one. */
static void before_fork(void) {
  pthread_mutex_lock(&the.lock);
  if (!the.busy && the.made) {
    size_t keep = the.keep;
    the.busy = true;
    end_threads(0);
    the.keep = keep;
    leave_pool();
  }
  pthread_mutex_unlock(&the.lock);
}

/* The child has one thread, whatever the pool was doing. */
static void in_child(void) { the = (pool)FRESH_POOL; }

static void watch_forks(void) { pthread_atfork(before_fork, NULL, in_child); }

static void lock_pool(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  pthread_mutex_lock(&the.lock);
}

void sk_set_thread_count(size_t count) {
  if (!count) count = standard_count();
  if (count > SK_MAX_THREADS) count = SK_MAX_THREADS;
  lock_pool();
  the.setters++;
  while (the.busy) pthread_cond_wait(&the.done, &the.lock);
  the.setters--;
  the.busy = true;
  told = 0;
  atomic_store(&wanted, count);
  end_threads(count - 1);
  leave_pool();
  pthread_mutex_unlock(&the.lock);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void run_ranges(work *work, size_t worker) {
  size_t range;
  while ((range = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed)) < work->ranges) {
    size_t first = range * work->grain, left = work->count - first;
    work->run(work->job, worker, first, left < work->grain ? left : work->grain);
  }
}

/* With the lock held: takes up to two of the wake-ups that are due. Each thread that joins wakes two more, so
   that many are awake in the time of a few. */
static size_t take_wakes(void) {
  size_t count = the.to_wake < 2 ? the.to_wake : 2;
  the.to_wake -= count;
  return count;
}

/* Without the lock, which the woken one needs first. */
static void wake_threads(size_t count) {
  while (count--) pthread_cond_signal(&the.wake);
}

/* With the lock held. */
static bool may_join(void) {
  return the.work && the.joined + 1 < the.work->workers &&
         atomic_load_explicit(&the.work->next, memory_order_relaxed) < the.work->ranges;
}

/* Waiting without sleeping. Counted by the clock: a pause takes 10 ns on one processor and 25 on another. */
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

/* False where the time is up. */
static bool goes_on(spin *spin) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
  return ++spin->pauses % 16 || now() < spin->end;
}

/* With the lock held, which it has again at the end: waits for a work after `seen`, and for a while without
   sleeping, because to be woken takes as long as a small work does. */
static void linger(size_t seen) {
  spin spin = spin_for(LINGER_NANOSECONDS);
  pthread_mutex_unlock(&the.lock);
  while (atomic_load_explicit(&opened, memory_order_relaxed) == seen && goes_on(&spin)) continue;
  pthread_mutex_lock(&the.lock);
}

/* With the lock held, which it has again at the end. */
static void join_work(void) {
  work *work = the.work;
  size_t worker = ++the.joined, wakes = take_wakes();
  atomic_fetch_add_explicit(&the.active, 1, memory_order_relaxed);
  pthread_mutex_unlock(&the.lock);
  wake_threads(wakes);
  run_ranges(work, worker);
  pthread_mutex_lock(&the.lock);
  if (atomic_fetch_sub_explicit(&the.active, 1, memory_order_release) == 1) pthread_cond_broadcast(&the.done);
}

static void *thread_main(void *argument) {
  size_t number = (size_t)(uintptr_t)argument, lingered = 0; /* 1, 2, ...; the work after which it last did */
  pthread_mutex_lock(&the.lock);
  while (number <= the.keep) {
    size_t seen = atomic_load_explicit(&opened, memory_order_relaxed);
    if (may_join()) join_work();
    else if (lingered != seen) linger(lingered = seen);
    else pthread_cond_wait(&the.wake, &the.lock);
  }
  pthread_mutex_unlock(&the.lock);
  return NULL;
}

/* Signals for the process go to other threads; those that a fault raises stay deadly where they happen. */
static void block_signals(sigset_t *before) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  sigset_t all;
  size_t i;
  sigfillset(&all);
  for (i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&all, faults[i]);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

/* Seen in debuggers and top. */
static void name_thread(pthread_t thread, const char *name) {
#if defined(__linux__)
  pthread_setname_np(thread, name);
#else
  (void)thread, (void)name;
#endif
}

_Static_assert(sizeof(pthread_t) <= sizeof(uintptr_t), "it fits in an sk_thread");

bool sk_make_thread(sk_thread *thread, const char *name, void *(*run)(void *argument), void *argument) {
  pthread_attr_t attributes;
  pthread_t system;
  sigset_t before;
  bool made;
  if (pthread_attr_init(&attributes)) return false;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  block_signals(&before); /* a new thread inherits the mask */
  made = pthread_create(&system, &attributes, run, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (!made) return false;
  name_thread(system, name);
  *thread = (sk_thread){(uintptr_t)system};
  return true;
}

void sk_join_thread(sk_thread thread) { pthread_join((pthread_t)thread.system, NULL); }

/* For who has taken the pool: `count` threads, or as many as the system gives. */
static void make_threads(size_t count) {
  char name[16];
  while (the.made < count) {
    size_t number = the.made + 1;
    snprintf(name, sizeof name, "skinpy-%u", (unsigned)number);
    if (!sk_make_thread(&the.threads[the.made], name, thread_main, (void *)(uintptr_t)number)) return;
    the.made++;
  }
}

/* ---- work ------------------------------------------------------------------------------------ */

/* False where somebody else has the pool, or waits to change it. */
static bool take_pool(void) {
  bool free;
  lock_pool();
  free = !the.busy && !the.setters;
  if (free) the.busy = true;
  pthread_mutex_unlock(&the.lock);
  return free;
}

/* Shows the work to the threads of the pool, which the caller has taken. */
static void open_work(work *work) {
  size_t wakes;
  make_threads(work->workers - 1);
  pthread_mutex_lock(&the.lock);
  the.work = work;
  atomic_fetch_add_explicit(&opened, 1, memory_order_relaxed);
  the.joined = 0;
  the.to_wake = work->workers - 1;
  wakes = take_wakes();
  pthread_mutex_unlock(&the.lock);
  wake_threads(wakes);
}

/* No thread joins any more, so those that are still waking up need not be waited for. */
static void close_work(void) {
  spin spin = spin_for(LAST_NANOSECONDS);
  pthread_mutex_lock(&the.lock);
  the.work = NULL;
  pthread_mutex_unlock(&the.lock);
  while (atomic_load_explicit(&the.active, memory_order_acquire) && goes_on(&spin)) continue;
  pthread_mutex_lock(&the.lock);
  while (atomic_load_explicit(&the.active, memory_order_acquire)) pthread_cond_wait(&the.done, &the.lock);
  leave_pool();
  pthread_mutex_unlock(&the.lock);
}

/* What may work on so many ranges: no more than the caller was told, whose scratch ends there. */
static size_t workers_for(size_t ranges) {
  size_t count = current_count();
  if (told && told < count) count = told;
  return count < ranges ? count : ranges;
}

void sk_parallel(const void *job, sk_range_run run, size_t count, size_t grain) {
  work work = {.job = job, .run = run, .count = count, .grain = grain ? grain : 1};
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
