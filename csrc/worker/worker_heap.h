/* worker_heap.h: the memory that a worker's import takes. */
#ifndef SK_WORKER_HEAP_H
#define SK_WORKER_HEAP_H

#include "../core/sk_base.h"

/* First of all: it comes in large steps, and what was freed is never given back, as the worker ends soon. Its first
   `size` bytes, whole large pages, are those of a file, of which the parent makes the pages; 0: none are. False: no
   memory. */
bool worker_tune_heap(int file, size_t size);

#endif
