/* worker_ahead.h: memory that the parent prepares for a worker while that one starts, and keeps until the next.

   A worker's heap and the block that it makes are files in memory, whose pages the parent makes on another core. What
   the last import took is let go of when the next one begins, and not before: a virtual machine may hand memory that
   nobody has to its host, and who takes it again waits 1 to 3 ms a megabyte. */
#ifndef SK_WORKER_AHEAD_H
#define SK_WORKER_AHEAD_H

#include "../import/sk_import.h"
#include "worker_pages.h"

typedef struct worker_ahead {
  size_t heap_bytes, block_bytes; /* whole large pages; 0: none */
  bool large_import;              /* it will take megabytes */
  worker_pages heap, block;
} worker_ahead;

/* How much, going by the model's format and length: at most a part of `memory`, which the import may take. Nothing where
   no other core could prepare it meanwhile. What is kept is let go of. */
void worker_plan_ahead(worker_ahead *ahead, const sk_import_request *request, uint64_t memory);

/* Before the worker is there: later the files' lengths are its own affair. */
void worker_map_ahead(worker_ahead *ahead, int heap, int block);

/* Some more of it; false when all is done. */
bool worker_make_ahead(worker_ahead *ahead);

/* The block's first `size` bytes, to be read, with their pages; worker_unmap_block frees them. NULL: no memory. */
void *worker_take_block(worker_ahead *ahead, int block, size_t size);
void worker_unmap_block(void *memory, size_t size);

/* When the worker has ended. */
void worker_end_ahead(worker_ahead *ahead);

#endif
