/* worker_malloc.h: what the worker has in place of functions of the C library, for itself and the libraries that it
   opens. */
#ifndef SK_WORKER_MALLOC_H
#define SK_WORKER_MALLOC_H

#include "worker_cage.h"
#include "worker_system.h"

#if WORKER_ON_GLIBC && !WORKER_IS_SANITIZED
#define WORKER_HAS_OWN 1
#define WORKER_OWN __attribute__((visibility("default")))

/* Whether they lie in the large piece that was asked for last, and that is mapped by itself. */
bool worker_is_mapped_piece(const void *from, size_t size);

/* Whether memory was asked for in vain. Some of Assimp's readers then tell another fault than this one. */
bool worker_lacked_memory(void);

/* How far the heap was used, at most until now: bytes. */
size_t worker_used_heap(void);

/* From now on pieces that are mapped by themselves have large pages. */
void worker_map_large_pages(void);
#else
static inline size_t worker_used_heap(void) { return 0; }
static inline void worker_map_large_pages(void) {}
static inline bool worker_lacked_memory(void) { return false; }
#endif

/* From now on a large piece is filled with this byte without touching it: its pages are those of one file, to be read,
   and come one by one where somebody writes. To be called before the system's calls are filtered. Nothing where that
   cannot be had. */
void worker_fill_by_file(int byte);

#endif
