/* worker_malloc.c: memory for the small pieces of an import, instead of the C library's functions of these names.

   Assimp makes and frees small objects by the hundred thousand, and its process ends soon after. So each size has pages
   of its own, which stay its own: a piece has no header, what was freed comes back first, and neighbours are never
   joined. The pages, and all larger pieces, are the C library's; and as there, to free a piece twice ends the process.
   The worker has no second thread that asks for memory, and its filter lets it make none. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_malloc.h"

#if WORKER_HAS_OWN

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define GRAIN 16    /* sizes are multiples of it, and each piece begins at one */
#define LARGEST 256 /* small piece */
#define PAGE ((size_t)16 << 10)
#define PAGES_BYTES ((size_t)256 << 10) /* that are asked for at once */
#define MOST_PAGES ((size_t)1 << 18)    /* 4 GiB; what is beyond has no small pieces of ours */

#define LARGE ((size_t)4 << 20) /* piece, of which is remembered where it lies */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *piece, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *piece);

typedef struct freed {
  struct freed *next;
  const void *mark; /* FREED; in what is in use it can be that by chance alone */
} freed;

typedef struct pieces { /* of one size */
  freed *list;          /* those that were freed */
  char *fresh, *end;    /* in between are those that nobody had yet */
} pieces;

static pieces sizes[LARGEST / GRAIN + 1]; /* by grains */
static char *pages, *pages_end;           /* free ones, of those last asked for */
static char *first;                       /* of all pages */
static uint8_t grains[MOST_PAGES];        /* that a piece of each page has; 0: the page is none of ours */

static bool lacked; /* memory that was asked for */

static char *highest; /* that a piece of the C library's heap reached, pages included */

static bool maps_large_pages;

static char *large_from, *large_to; /* the last large piece that was asked for; NULL when it is gone */

#define FREED ((const void *)grains)

static inline size_t page_of(const void *piece) { return (size_t)((const char *)piece - first) / PAGE; }

/* Of a piece, 0 where it is the C library's. */
static inline size_t grains_of(const void *piece) {
  size_t page = page_of(piece);
  return page < MOST_PAGES ? grains[page] : 0;
}

bool worker_lacked_memory(void) { return lacked; }

size_t worker_used_heap(void) { return first && highest > first ? (size_t)(highest - first) : 0; }

static void *noted(void *piece, size_t size) {
  if (!piece) lacked = true;
  else if ((char *)piece + size > highest && page_of(piece) < MOST_PAGES) highest = (char *)piece + size;
  return piece;
}

static bool ask_for_pages(void) {
  char *more = __libc_memalign(PAGE, PAGES_BYTES);
  if (!more) return false;
  if (!first) first = more; /* one before it would be far beyond */
  if (page_of(more) + PAGES_BYTES / PAGE > MOST_PAGES) {
    __libc_free(more);
    return false;
  }
  pages = noted(more, PAGES_BYTES);
  pages_end = more + PAGES_BYTES;
  return true;
}

/* The first piece of a new page. */
static __attribute__((noinline)) void *open_page(pieces *p, size_t size) {
  char *page;
  if (pages == pages_end && !ask_for_pages()) return noted(__libc_malloc(size), size);
  page = pages;
  pages += PAGE;
  grains[page_of(page)] = (uint8_t)(size / GRAIN);
  p->fresh = page + size;
  p->end = page + PAGE / size * size;
  return page;
}

void worker_map_large_pages(void) { maps_large_pages = true; }

static void advise_large(char *piece, size_t size) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)piece / page * page;
  worker_advise((void *)from, ((uintptr_t)piece + size - from + page - 1) / page * page, WORKER_LARGE);
}

static __attribute__((noinline)) void *malloc_large(size_t size) {
  char *piece = noted(__libc_malloc(size), size);
  if (size >= LARGE && piece) {
    large_from = piece;
    large_to = piece + size;
    if (maps_large_pages && page_of(piece) >= MOST_PAGES) advise_large(piece, size);
  }
  return piece;
}

bool worker_is_mapped_piece(const void *from, size_t size) {
  const char *at = from;
  if (at < large_from || at > large_to || size > (size_t)(large_to - at)) return false;
  return large_from >= (char *)sbrk(0); /* as the heap ends before what is mapped */
}

WORKER_OWN void *malloc(size_t size) {
  size_t whole = (size + GRAIN - 1) / GRAIN + !size;
  pieces *p;
  char *piece;
  if (size > LARGEST) return malloc_large(size);
  p = &sizes[whole];
  if (p->list) {
    freed *f = p->list;
    p->list = f->next;
    f->mark = NULL;
    return f;
  }
  if (p->fresh == p->end) return open_page(p, whole * GRAIN);
  piece = p->fresh;
  p->fresh += whole * GRAIN;
  return piece;
}

static __attribute__((noinline)) bool is_listed(const freed *f, const freed *list) {
  while (list && list != f) list = list->next;
  return list != NULL;
}

static void forget_large(const void *piece) {
  if (piece == large_from) large_from = large_to = NULL;
}

WORKER_OWN void free(void *piece) {
  size_t whole = grains_of(piece);
  freed *f = piece;
  if (!whole) {
    forget_large(piece);
    __libc_free(piece);
    return;
  }
  if (f->mark == FREED && is_listed(f, sizes[whole].list)) abort();
  f->mark = FREED;
  f->next = sizes[whole].list;
  sizes[whole].list = f;
}

WORKER_OWN void *calloc(size_t count, size_t size) {
  void *volatile piece; /* else the compiler makes a call of calloc of it */
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
  if (bytes > LARGEST)
    return noted(__libc_calloc(count, size), bytes);
  piece = malloc(bytes);
  return piece ? memset(piece, 0, bytes) : NULL;
}

WORKER_OWN void *realloc(void *piece, size_t size) {
  size_t whole = piece ? grains_of(piece) : 0, had = whole * GRAIN;
  void *other;
  if (!piece) return malloc(size);
  if (!whole) {
    forget_large(piece);
    other = __libc_realloc(piece, size);
    return size ? noted(other, size) : other;
  }
  if (size && size <= had) return piece;
  other = size ? malloc(size) : NULL;
  if (other) memcpy(other, piece, had < size ? had : size);
  if (other || !size) free(piece);
  return other;
}

#endif
