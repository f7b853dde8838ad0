/* worker_spawn.h: an import in a process of its own, as the parent sees it.

   worker_run starts the worker, waits for its answer, ends it, and hands over the block. Whatever the worker does, the
   parent gets a block that nobody can change any more, or an error. On systems other than Linux there is no worker, and
   worker_run always returns SK_ERROR_LIBRARY. */
#ifndef SK_WORKER_SPAWN_H
#define SK_WORKER_SPAWN_H

#include "worker_io.h"

/* Inputs of one import. All pointers are borrowed until worker_run returns. */
typedef struct worker_job {
  const char *program;              /* path of the worker */
  const char *importer, *libraries; /* texts of worker_io.h */
  const char *folders; /* LD_LIBRARY_PATH of the worker; "" for none. Nothing else of this environment reaches it */
  const sk_import_request *request; /* NULL: import nothing, only find out how a worker is confined */
  bool strict; /* an error that names what is missing, where the system lacks a part of the sandbox */
  uint64_t memory; /* bytes that the import may take, and that the block may have */
  double seconds; /* from the start of worker_run until its answer must be there */
  /* Asked every 50 ms while worker_run waits, if it is not NULL; true ends the import. */
  bool (*interrupted)(void *context);
  /* Called at most once, with the block in pages that can only be read. The receiver owns them, and frees them with
     worker_unmap. The bytes are still unchecked. */
  void (*take)(void *context, void *memory, size_t size);
  void *context; /* the first argument of both functions */
} worker_job;

/* Returns SK_OK, an error of the importer, SK_ERROR_CRASHED if the worker ended without a valid answer or was
   interrupted, SK_ERROR_LIMIT if it took too long or wrote too much, or SK_ERROR_LIBRARY if it could not be started.
   `sandbox` gets the worker_protection bits of the worker, 0 if it did not answer. Several threads may call it at the
   same time. The worker has ended when it returns, unless the system could not end it within half a second; a later
   call then waits for it. */
sk_status worker_run(const worker_job *job, uint32_t *sandbox, sk_error *error);

void worker_unmap(void *memory, size_t size);

#endif
