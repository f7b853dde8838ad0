/* worker_pages.h: the pages of a file in memory, made before they are touched, and large where the system has such.

   A page costs far more than to clear it: where that was dearest, a file in memory of small ones took 0.8 to 1.1 ms a
   megabyte to make, to map twice and to free, and of large ones 0.07. */
#ifndef SK_WORKER_PAGES_H
#define SK_WORKER_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "worker_system.h"

#define WORKER_LARGE_PAGE ((size_t)2 << 20)

/* Bytes of a file that are mapped, from a multiple of a large page on. */
typedef struct worker_pages {
  char *memory;  /* NULL: none */
  size_t mapped; /* bytes */
  size_t given;  /* so many from the first one on get large pages from the other process, which is at it already */
  size_t ready;  /* so many have their pages here */
  worker_advice advice; /* how pages come: to read, or to write where it is mapped for that */
  bool small;    /* large pages are not to be had */
} worker_pages;

/* How long a file for so many bytes is, and how much of it is mapped: up to the end of its last page, a large one where
   half as much again is not exceeded. */
size_t worker_whole(size_t size);

/* Where `size` bytes are expected: how many to make whole large pages for. */
size_t worker_large(size_t size);

/* To the next multiple of a large page. */
size_t worker_up(size_t size);

/* worker_whole(size) bytes from `begin` on: for reading, private, or for writing, shared. `given` is left as it is.
   False: no memory. */
bool worker_map(worker_pages *pages, int file, size_t begin, size_t size, bool for_writing);
void worker_unmap_pages(worker_pages *pages);

/* Makes the pages of the first `end` bytes that are not made yet; none is touched, as the file may have been cut short.
   False where that is so, or the system cannot: each then comes when it is touched. */
bool worker_make_pages(worker_pages *pages, size_t end);

/* The same for a file that is about to be written as far as `end`, from the large page on that begins at `begin` or
   next. */
void worker_make_file(int file, size_t begin, size_t end);

#endif
