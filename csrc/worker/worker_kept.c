/* worker_kept.c: see worker_kept.h.

   The heap of one worker after another is the same file in memory, of large pages. Neither can a worker read what the
   one before it left there, nor write what the one after it reads: between them a thread of this process clears it all.
   Its length cannot change, nor can it be without pages where it is cleared, so that no access is a signal. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_kept.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../core/base/sk_threads.h"
#include "worker_cage.h"
#include "worker_order.h"
#include "worker_pages.h"

#define MOST_BLOCK ((size_t)64 << 20)
#define STEP_US 2000   /* between two looks whether other imports go on */
#define QUIET_STEPS 10 /* in which none did */
#define LARGE WORKER_LARGE_PAGE

/* ---- the block --------------------------------------------------------------------------------------------- */

#define COUNT_BITS ((uintptr_t)LARGE - 1)

/* Where its first large page lies, or-ed with their number; 0: none. */
static _Atomic(uintptr_t) block;

static void replace_block(uintptr_t pages) {
  uintptr_t old = atomic_exchange(&block, pages);
  if (old) munmap((void *)(old & ~COUNT_BITS), (size_t)(old & COUNT_BITS) * LARGE);
}

void worker_drop_block(void) { replace_block(0); }

/* ---- the heap ---------------------------------------------------------------------------------------------- */

typedef enum holder { NOBODY, CALLER, CLEANER } holder;

static struct {
  atomic_int imports;  /* that are under way, whether they have it or not */
  _Atomic(int) holder; /* who may change all that follows */
  atomic_bool cleaned; /* the thread has done its work, and ends */
  atomic_bool stop;    /* it is to end without */
  sk_thread thread;
  int file;            /* -1: none is kept */
  dev_t device;        /* what tells it from any other file */
  ino_t number;
  worker_pages pages;  /* all of it, mapped; nobody may touch them but the thread */
  size_t wanted;       /* bytes, whole large pages */
} heap = {.file = -1};

/* Who takes it from the thread waits for its end. False where somebody has it, a thread that is at work included
   unless it is told to stop. */
static bool take_heap(void) {
  int had = atomic_load(&heap.holder);
  do
    if (had == CALLER || (had == CLEANER && !atomic_load(&heap.cleaned) && !atomic_load(&heap.stop))) return false;
  while (!atomic_compare_exchange_weak(&heap.holder, &had, CALLER));
  if (had == CLEANER) sk_join_thread(heap.thread);
  return true;
}

static void leave_heap(void) { atomic_store(&heap.holder, NOBODY); }

/* Who closes all descriptors of the process closes this one too, and the number may be another file's by now. */
static bool is_heap_there(void) {
  struct stat facts;
  return heap.file >= 0 && fstat(heap.file, &facts) == 0 && facts.st_dev == heap.device && facts.st_ino == heap.number;
}

static void close_heap(void) {
  if (is_heap_there()) close(heap.file);
  heap.file = -1;
}

static void drop_heap(void) {
  worker_unmap_pages(&heap.pages);
  close_heap();
}

/* ---- forks --------------------------------------------------------------------------------------------------- */

/* A fork does not wait for more than a page to be cleared, and leaves no thread behind that the child would lack. */
static void before_fork(void) {
  atomic_store(&heap.stop, true);
  if (take_heap()) leave_heap();
}

static void in_parent(void) { atomic_store(&heap.stop, false); }

/* It has the records, and not the pages. */
static void in_child(void) {
  atomic_store(&block, 0);
  heap.pages.memory = NULL;
  atomic_store(&heap.imports, 0);
  close_heap();
  leave_heap();
  in_parent();
}

static bool watches_forks(void) {
  static atomic_int known; /* 1: does, -1: cannot; twice does no harm */
  int found = atomic_load(&known);
  if (!found) atomic_store(&known, found = pthread_atfork(before_fork, in_parent, in_child) ? -1 : 1);
  return found > 0;
}

/* ---- keeping -------------------------------------------------------------------------------------------------- */

/* Nobody reads it any more: it is not this process's own memory, as that is counted, and no child's. */
bool worker_keep_block(void *memory, size_t mapped) {
  if ((uintptr_t)memory & COUNT_BITS || mapped & COUNT_BITS || !mapped || mapped > MOST_BLOCK) return false;
  if (!watches_forks() || !worker_advise(memory, mapped, WORKER_NO_CHILD) ||
      !worker_advise(memory, mapped, WORKER_DROP) || mprotect(memory, mapped, PROT_NONE))
    return false;
  replace_block((uintptr_t)memory | mapped / LARGE);
  return true;
}

/* Where one import follows another at once, to clear what they share would only slow them: they do without it. */
static bool await_quiet(void) {
  const struct timespec step = {0, STEP_US * 1000};
  int quiet = 0;
  while (quiet < QUIET_STEPS && !atomic_load(&heap.stop)) {
    nanosleep(&step, NULL);
    quiet = atomic_load(&heap.imports) ? 0 : quiet + 1;
  }
  return !atomic_load(&heap.stop);
}

static bool open_heap(int access) { return mprotect(heap.pages.memory, heap.pages.mapped, access) == 0; }

/* Page by page, so that no more than one counts as this process's memory. */
static bool clear_heap(void) {
  char *page = heap.pages.memory, *end = page + heap.pages.mapped;
  for (; page < end; page += LARGE) {
    if (atomic_load(&heap.stop) || !worker_advise(page, LARGE, WORKER_TO_WRITE)) return false;
    memset(page, 0, LARGE);
    worker_advise(page, LARGE, WORKER_DROP);
  }
  return true;
}

static bool make_file(void) {
  struct stat facts;
  heap.file = worker_may_write(heap.wanted) ? worker_file("skinpy-heap") : -1;
  if (heap.file < 0) return false;
  if (fstat(heap.file, &facts)) {
    close(heap.file);
    heap.file = -1;
    return false;
  }
  heap.device = facts.st_dev;
  heap.number = facts.st_ino;
  return ftruncate(heap.file, (off_t)heap.wanted) == 0 && worker_fix_length(heap.file);
}

/* Where there are no large pages it would gain nothing. */
static bool make_heap(void) {
  worker_pages *p = &heap.pages;
  *p = (worker_pages){.memory = NULL};
  if (!make_file() || !worker_map(p, heap.file, 0, heap.wanted, true)) return false;
  if (!worker_advise(p->memory, p->mapped, WORKER_NO_CHILD)) return false;
  while (p->ready < p->mapped) {
    size_t at = p->ready;
    if (atomic_load(&heap.stop) || !worker_make_pages(p, at + LARGE) || p->small) return false;
    worker_advise(p->memory + at, LARGE, WORKER_DROP);
  }
  return true;
}

static bool is_long_enough(void) { return heap.pages.memory && heap.pages.mapped >= heap.wanted; }

/* The thread. */
static void *clean_heap(void *nothing) {
  bool done = await_quiet();
  (void)nothing;
  if (!is_long_enough()) drop_heap();
  if (done) done = heap.pages.memory ? open_heap(PROT_READ | PROT_WRITE) && clear_heap() : make_heap();
  if (!done || !open_heap(PROT_NONE)) drop_heap();
  atomic_store(&heap.cleaned, true);
  return NULL;
}

/* ---- lending --------------------------------------------------------------------------------------------------- */

int worker_lend_heap(size_t *bytes) {
  atomic_fetch_add(&heap.imports, 1);
  if (!take_heap()) return -1;
  if (!is_heap_there()) {
    drop_heap();
    leave_heap();
    return -1;
  }
  *bytes = heap.pages.mapped;
  return heap.file;
}

static void start_cleaning(void) {
  atomic_store(&heap.cleaned, false);
  if (watches_forks() && sk_make_thread(&heap.thread, "skinpy-heap", clean_heap, NULL)) {
    atomic_store(&heap.holder, CLEANER);
    return;
  }
  drop_heap();
  leave_heap();
}

void worker_return_heap(int lent, bool gone, size_t wanted) {
  atomic_fetch_sub(&heap.imports, 1);
  if (lent < 0 && (!wanted || !WORKER_ON_GLIBC || WORKER_IS_SANITIZED || !take_heap())) return;
  if (lent >= 0 && !gone) drop_heap();
  heap.wanted = worker_up(wanted < WORKER_MOST_HEAP ? wanted : WORKER_MOST_HEAP);
  if (lent < 0 ? is_long_enough() : !heap.pages.memory) leave_heap();
  else start_cleaning();
}
