/* worker_spawn.h: an import in a process of its own, seen from the process that wants it. */
#ifndef SK_WORKER_SPAWN_H
#define SK_WORKER_SPAWN_H

#include "worker_order.h"

typedef struct worker_job {
  const char *program;               /* the worker */
  const char *importer, *libraries;  /* as in worker_order.h */
  const char *folders;               /* WORKER_FOLDERS of its environment, "" for none */
  const sk_import_request *request;  /* NULL: only find out what keeps a worker in */
  uint64_t memory;                   /* bytes that the import may take */
  double seconds;                    /* until it must be over */
  /* Asked every 50 ms, where it is not NULL; true ends the import. */
  bool (*interrupted)(void *context);
  /* Called once with the block, where there is one: read-only pages that nobody else can change any more.
     worker_unmap frees them. The worker, which has said all that it has to, ends meanwhile. */
  void (*take)(void *context, void *memory, size_t size);
  void *context;
} worker_job;

/* SK_OK, what the importer says, SK_ERROR_CRASHED, SK_ERROR_LIMIT, SK_ERROR_LIBRARY where no worker can be
   started. `cage` is what kept the worker in, of worker_cage. Several threads may call it at once. The worker has
   ended when it returns, whatever happened; after an interruption it returns SK_ERROR_CRASHED. */
sk_status worker_run(const worker_job *job, uint32_t *cage, sk_error *error);

void worker_unmap(void *memory, size_t size);

#endif
