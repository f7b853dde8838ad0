/* worker_heap.c: see worker_heap.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_heap.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker_cage.h"
#include "worker_order.h"
#include "worker_pages.h"

#define STEP_BYTES ((size_t)1 << 20)    /* that the heap grows by */
#define ROOM_BYTES ((size_t)64 << 20)   /* that are there from the start where it will take megabytes */
#define MAPPED_BYTES ((size_t)16 << 20) /* pieces from here on have a place of their own */
#define FIRST_BYTES ((size_t)8 << 10)   /* before the first large page, for what the C library writes at once */
#define FIRST_PIECE ((size_t)512)       /* too large for the functions of worker_malloc.c */

/* The heap begins anywhere: up to the next multiple of a large page it would have small ones. */
static char *begin_before_large_page(void) {
  uintptr_t here = (uintptr_t)sbrk(0);
  uintptr_t next = (here + FIRST_BYTES + WORKER_LARGE_PAGE - 1) / WORKER_LARGE_PAGE * WORKER_LARGE_PAGE;
  sbrk((intptr_t)(next - FIRST_BYTES - here));
  return (char *)next;
}

bool worker_tune_heap(int file, size_t size) {
  char *large = begin_before_large_page();
  size_t room = (getenv(WORKER_LARGE_PAGES) ? ROOM_BYTES : STEP_BYTES) + size;
  void *volatile first; /* else the compiler leaves out what is freed at once */
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, (int)MAPPED_BYTES);
  mallopt(M_TOP_PAD, (int)room);
  first = malloc(FIRST_PIECE);
  free(first);
  mallopt(M_TOP_PAD, (int)STEP_BYTES);
  if (WORKER_IS_SANITIZED || !size || (char *)first >= large || (char *)sbrk(0) < large + size) return true;
  return mmap(large, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == large;
}
