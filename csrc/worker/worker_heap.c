/* worker_heap.c: see worker_heap.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_heap.h"

#include "worker_system.h"

#if WORKER_ON_GLIBC

#include <link.h>
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker_cage.h"
#include "worker_malloc.h"
#include "worker_order.h"

#define STEP_BYTES ((size_t)1 << 20)    /* that the heap grows by */
#define MAPPED_BYTES ((size_t)16 << 20) /* pieces from here on do */
#define MOST_MAPPED ((size_t)32 << 20)  /* more the C library does not take for it */
#define CLEAR_LEAST ((size_t)8 << 20)   /* to be quicker than to do it oneself */
#define SMALL_PIECE ((size_t)64 << 10)  /* larger than what is mostly free before its end */
#define LARGE_PAGE ((size_t)2 << 20)
#define SMALL_PAGE ((size_t)4 << 10) /* or larger */
#define FIRST_BYTES ((uintptr_t)8 << 10) /* before the first large page */
#define FIRST_PIECE ((size_t)512)       /* too large for the functions of worker_malloc.c */
#define UNSEEN_BYTES ((size_t)2 << 20) /* the first stack, the loader's own data and the like: under 1 MiB */

static char *heap_begin;
static uintptr_t kept_end; /* of the file that lies at the beginning of it; 0: none does */

static uintptr_t next_large_page(uintptr_t at) { return (at + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE; }

/* The heap begins anywhere. Let it be shortly before a large page: the C library writes something at once. */
static uintptr_t begin_before_large_page(void) {
  uintptr_t here = (uintptr_t)sbrk(0), next = next_large_page(here + FIRST_BYTES);
  sbrk((intptr_t)(next - FIRST_BYTES - here));
  return next;
}

/* The file takes the place of the large pages between the addresses, as far as it goes. */
static void map_kept(uintptr_t from, uintptr_t to, size_t kept) {
  size_t size = kept < to - from ? kept : to - from;
  if (size && worker_has_fixed_length(WORKER_HEAP, kept)) {
    void *at = mmap((void *)from, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, WORKER_HEAP, 0);
    if (at == MAP_FAILED) _exit(2); /* there is a hole in the heap */
    kept_end = from + size;
  }
}

/* From a large page on, where nothing stands in the heap yet: its one piece lies before. What the file does not have
   are small pages, which come sooner after a pause. */
static void give_large_pages(uintptr_t from, uintptr_t piece, size_t kept) {
  uintptr_t end = (uintptr_t)sbrk(0), to = end / LARGE_PAGE * LARGE_PAGE;
  bool fits = from < to && piece >= from - FIRST_BYTES && piece <= from - 2 * FIRST_PIECE;
  if (fits && kept) map_kept(from, to, kept);
  if (fits && !kept) worker_advise((void *)from, to - from, WORKER_LARGE);
  if (!kept) worker_map_large_pages();
}

/* The room for what will be cleared ahead is there from the start: to extend the heap later would touch a page. */
void worker_tune_heap(size_t ahead, size_t kept) {
  size_t room = ahead < WORKER_MOST_HEAP ? ahead : WORKER_MOST_HEAP;
  void *volatile first; /* else the compiler leaves out what is freed at once */
  uintptr_t large = 0;
  heap_begin = sbrk(0);
  if (room) large = begin_before_large_page();
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, (int)(kept ? MOST_MAPPED : MAPPED_BYTES));
  mallopt(M_TOP_PAD, (int)(room > STEP_BYTES ? room : STEP_BYTES));
  first = malloc(FIRST_PIECE);
  if (room && !WORKER_IS_SANITIZED) give_large_pages(large, (uintptr_t)first, kept);
  if (kept) close(WORKER_HEAP);
  free(first);
  mallopt(M_TOP_PAD, (int)STEP_BYTES);
}

typedef struct region { uintptr_t from, to; } region; /* addresses */

/* The next `size` bytes that it will take, or fewer: they begin where a small piece of it would lie now. */
static bool find_free_end(size_t size, region *r) {
  char *piece = malloc(SMALL_PIECE);
  uintptr_t at = (uintptr_t)piece, end = (uintptr_t)sbrk(0);
  free(piece);
  if (!at || at >= end) return false; /* it lies elsewhere */
  *r = (region){at, size < end - at ? at + size : end};
  return true;
}

/* ---- what is taken ------------------------------------------------------------------------------------- */

/* The loader maps a library as one piece, with gaps between its segments that count too. */
static int add_library(struct dl_phdr_info *library, size_t size, void *sum) {
  uintptr_t from = UINTPTR_MAX, to = 0;
  int i;
  (void)size;
  for (i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD) continue;
    if (segment->p_vaddr < from) from = segment->p_vaddr;
    if (segment->p_vaddr + segment->p_memsz > to) to = segment->p_vaddr + segment->p_memsz;
  }
  if (from < to) *(size_t *)sum += to - from;
  return 0;
}

size_t worker_taken_bytes(void) {
  size_t sum = UNSEEN_BYTES + (size_t)((char *)sbrk(0) - heap_begin);
  region free_end;
  dl_iterate_phdr(add_library, &sum);
  if (find_free_end(SIZE_MAX, &free_end)) sum -= free_end.to - free_end.from;
  return sum;
}

/* ---- clearing ahead -------------------------------------------------------------------------------------- */

/* The thread: has each page given by the system, and changes no byte, as others may stand there by now. It has no
   thread-local memory of its own and calls nothing. */
static int clear_pages(void *argument) {
  const region *r = argument;
  char *at, nothing;
  for (at = (char *)r->from; at < (char *)r->to; at += SMALL_PAGE) {
    nothing = 0;
    __atomic_compare_exchange_n(at, &nothing, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
  return 0;
}

/* Where it is made it would wait for this thread, which does not pause. False where there is nowhere else. */
static bool processors_beside(cpu_set_t *others) {
  int here = sched_getcpu();
  if (here < 0 || sched_getaffinity(0, sizeof *others, others)) return false;
  if (here < CPU_SETSIZE) CPU_CLR(here, others);
  return CPU_COUNT(others) > 0;
}

/* Made by the system's own call: a process with a thread that the C library knows of locks each piece of memory. */
static pid_t start_clearing(region *r) {
  static char stack[16384] __attribute__((aligned(64)));
  const int shared = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  return clone(clear_pages, stack + sizeof stack, shared, r);
}

void worker_clear_heap(size_t size) {
  static region r;
  cpu_set_t others;
  pid_t thread;
  if (WORKER_IS_SANITIZED || size < CLEAR_LEAST || !processors_beside(&others)) return;
  if (!find_free_end(size, &r)) return;
  if (r.from < kept_end) r.from = kept_end;
  if (r.from + CLEAR_LEAST > r.to) return;
  thread = start_clearing(&r);
  if (thread > 0) sched_setaffinity(thread, sizeof others, &others);
}

#else

#define MOST_TAKEN ((size_t)192 << 20) /* by libraries, and what they set up */

void worker_tune_heap(size_t ahead, size_t kept) { (void)ahead, (void)kept; }
size_t worker_taken_bytes(void) { return MOST_TAKEN; }
void worker_clear_heap(size_t size) { (void)size; }

#endif
