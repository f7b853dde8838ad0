/* worker_ahead.h: the memory of the block that a worker will make. The parent prepares it while the worker starts, on
   another core. */
#ifndef SK_WORKER_AHEAD_H
#define SK_WORKER_AHEAD_H

#include "../import/sk_import.h"
#include "worker_pages.h"

typedef struct worker_ahead {
  bool large_import;  /* it will take megabytes, and touch each page of them for the first time */
  bool takes_heap;    /* megabytes of it */
  bool fills_lines;   /* it will fill megabytes with line ends, and use few of them */
  bool other_core;    /* there is one that could prepare memory for it */
  size_t bytes;       /* of the block that get their pages here, whole large ones; 0: none */
  worker_pages block; /* the file that it is made in */
} worker_ahead;

/* How much, going by the model's format and length. Where it may take as much, the block that is kept is let go of. */
void worker_plan_ahead(worker_ahead *ahead, const sk_import_request *request);

/* Before the worker is there: later the file's length is its own affair. */
void worker_map_ahead(worker_ahead *ahead, int block);

/* Some more of it; false when all is done. */
bool worker_make_ahead(worker_ahead *ahead);

/* When the worker has answered: the block's first `size` bytes, to be read, with their pages; worker_unmap_block frees
   them. NULL: no memory. Of a file that is sealed. */
void *worker_take_block(worker_ahead *ahead, int block, size_t size);

/* The same of any other file: a copy, which nobody else has. NULL: no memory, or the file is shorter by now. */
void *worker_copy_block(int block, size_t size);
void worker_unmap_block(void *memory, size_t size);

#endif
