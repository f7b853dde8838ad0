/* worker_heap.h: the memory that a worker's import takes. It is fresh, and has to be cleared by the system, but for
   what was kept from the import before. */
#ifndef SK_WORKER_HEAP_H
#define SK_WORKER_HEAP_H

#include "../core/base/sk_base.h"

/* First of all: it comes in large steps, and what was freed is never given back, as the worker ends soon.
   There is room for `ahead` bytes of large pages, of which none is touched yet. At their beginning lie the `kept` bytes
   of WORKER_HEAP, as far as there is room; it is closed then. 0: there is no such file. */
void worker_tune_heap(size_t ahead, size_t kept);

/* Address space that the program and its libraries have taken until now, and that no import can use; about 1 MiB more
   than that, as not all of it can be seen. Where none can, what they take at most. */
size_t worker_taken_bytes(void);

/* Another processor clears the next `size` bytes of it while this one goes on. Nothing where there is no other one,
   or where it would not be quicker. To be called before the system's calls are filtered. */
void worker_clear_heap(size_t size);

#endif
