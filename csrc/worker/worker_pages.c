/* worker_pages.c: see worker_pages.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(MAP_NORESERVE)
#define MAP_NORESERVE 0 /* no memory is put aside for a mapping anyway */
#endif

#define LARGE WORKER_LARGE_PAGE

static size_t small_page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* To a multiple of `page`. */
static size_t down(size_t bytes, size_t page) { return bytes / page * page; }

static size_t up(size_t bytes, size_t page) { return down(bytes + page - 1, page); }

size_t worker_whole(size_t size) {
  size_t large = up(size, LARGE);
  return large - size <= size / 2 ? large : up(size, small_page());
}

size_t worker_large(size_t size) { return down(worker_whole(size), LARGE); }

size_t worker_up(size_t size) { return up(size, LARGE); }

/* Room in which a large page can begin; NULL: none. */
static char *find_room(size_t size) {
  char *room = mmap(NULL, size + LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *first;
  size_t before;
  if (room == MAP_FAILED) return NULL;
  before = up((uintptr_t)room, LARGE) - (uintptr_t)room;
  first = room + before;
  if (before) munmap(room, before);
  munmap(first + size, LARGE - before);
  return first;
}

bool worker_map(worker_pages *pages, int file, size_t begin, size_t size, bool for_writing) {
  size_t mapped = worker_whole(size);
  char *room = mapped < LARGE ? NULL : find_room(mapped);
  int protection = for_writing ? PROT_READ | PROT_WRITE : PROT_READ;
  int flags = (for_writing ? MAP_SHARED : MAP_PRIVATE) | (room ? MAP_FIXED : 0);
  void *memory = mmap(room, mapped, protection, flags, file, (off_t)begin);
  if (memory == MAP_FAILED) {
    if (room) munmap(room, mapped);
    return false;
  }
  pages->memory = memory;
  pages->mapped = mapped;
  pages->ready = 0;
  pages->advice = for_writing ? WORKER_TO_WRITE : WORKER_TO_READ;
  pages->small = !room;
  return true;
}

void worker_unmap_pages(worker_pages *pages) {
  if (pages->memory) munmap(pages->memory, pages->mapped);
  pages->memory = NULL;
}

static bool advise(const worker_pages *pages, size_t from, size_t to, worker_advice advice) {
  return from >= to || worker_advise(pages->memory + from, to - from, advice);
}

/* What becomes a large page has to have a small one before. */
static bool make_large_pages(worker_pages *pages, size_t end) {
  size_t at;
  for (at = pages->ready; at < end; at += LARGE)
    if (!advise(pages, at, at + small_page(), pages->advice)) return false;
  pages->small = !advise(pages, pages->ready, end, WORKER_COLLAPSE);
  if (!pages->small) pages->ready = end;
  return true;
}

/* The small ones, or those that are there already. */
static bool make_pages(worker_pages *pages, size_t end) {
  if (end <= pages->ready) return true;
  if (!advise(pages, pages->ready, end, pages->advice)) return false;
  pages->ready = down(end, small_page());
  return true;
}

bool worker_make_pages(worker_pages *pages, size_t end) {
  size_t large = up(end, LARGE) <= pages->mapped ? up(end, LARGE) : down(pages->mapped, LARGE);
  if (!make_pages(pages, end < pages->given ? end : pages->given)) return false;
  if (!pages->small && pages->given <= pages->ready && pages->ready < large && !make_large_pages(pages, large))
    return false;
  return make_pages(pages, end);
}

void worker_make_file(int file, size_t begin, size_t end) {
  worker_pages pages = {.memory = NULL};
  size_t first = up(begin, LARGE), last = worker_whole(end);
  if (first + LARGE > last || !worker_map(&pages, file, first, last - first, true)) return;
  worker_make_pages(&pages, end - first);
  worker_unmap_pages(&pages);
}
