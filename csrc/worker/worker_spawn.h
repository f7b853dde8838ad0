/* worker_spawn.h: an import in a process of its own, seen from the process that wants it. */
#ifndef SK_WORKER_SPAWN_H
#define SK_WORKER_SPAWN_H

#include "worker_order.h"

typedef struct worker_job {
  const char *program;               /* the worker */
  const char *importer, *libraries;  /* as in worker_order.h */
  const sk_import_request *request;  /* NULL: only find out what keeps a worker in */
  uint64_t memory;                   /* bytes that the import may take */
  double seconds;                    /* until it must be over */
  /* Asked every 50 ms, where it is not NULL; true ends the import. */
  bool (*interrupted)(void *context);
  void *context;
} worker_job;

/* A block that nobody else can change any more: read-only pages. */
typedef struct worker_block {
  void *memory; /* NULL: none; else worker_unmap frees it */
  size_t size;
  uint32_t cage; /* worker_cage */
} worker_block;

/* SK_OK, what the importer says, SK_ERROR_CRASHED, SK_ERROR_LIMIT, SK_ERROR_LIBRARY where no worker can be
   started. Several threads may call it at once. The worker has ended when it returns, whatever happened; after
   an interruption it returns SK_ERROR_CRASHED. */
sk_status worker_run(const worker_job *job, worker_block *block, sk_error *error);

void worker_unmap(void *memory, size_t size);

#endif
