/* worker_kept.h: memory that this process keeps from one import to the next.

   A virtual machine may hand memory that nobody has to its host, and who takes it again waits 1 to 3 ms a megabyte. A
   process that imports one model after another has its heap at hand; a worker, which starts with none, gets this. */
#ifndef SK_WORKER_KEPT_H
#define SK_WORKER_KEPT_H

#include <stdbool.h>
#include <stddef.h>

/* Of the last block that was let go of: `mapped` bytes, as worker_whole has them. False where it is not kept: it has
   no whole large pages, or too many. */
bool worker_keep_block(void *memory, size_t mapped);
void worker_drop_block(void);

/* A file in memory, cleared, for a worker's heap: it is this caller's until it is returned. Its descriptor, and how
   long it is; -1: none is there, or somebody else has it. worker_return_heap has to follow either way. */
int worker_lend_heap(size_t *bytes);

/* What worker_lend_heap gave, whether the worker is gone for sure, and how much of a heap it took, as far as it says:
   the next one gets as much, but for what is too much to keep. A thread clears it, or makes it, and then ends. */
void worker_return_heap(int lent, bool gone, size_t wanted);

#endif
