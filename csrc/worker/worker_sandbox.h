/* worker_sandbox.h: how a worker gives up what it does not need. Nothing here can be undone by the worker.

   Assimp was not written for hostile files, so a worker must expect that a file takes the importer over. Before the
   importer sees the first byte of a model, the worker limits what such an importer could do: take memory and time,
   read files, and use the system.

   The steps are called in this order: worker_settle when the program starts, then, with the libraries opened,
   worker_drop_capabilities, worker_confine and worker_limit, and at last worker_filter. A system that lacks a step (an
   old Linux, or a kernel built without it) makes its function return false. The parent hears of that, and imports
   nevertheless unless isolation is strict. */
#ifndef SK_WORKER_SANDBOX_H
#define SK_WORKER_SANDBOX_H

#include "../core/base/sk_base.h"

/* Sanitizers map terabytes and call the system as they like, so a worker that is built with one has no sandbox.
   gcc defines a macro for its sanitizers, clang answers __has_feature. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WORKER_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define WORKER_IS_SANITIZED 1
#endif
#endif
#ifndef WORKER_IS_SANITIZED
#define WORKER_IS_SANITIZED 0
#endif

/* From now on the process is the first one that Linux ends when memory ends, unless there is no /proc. It ends when its
   parent ends, leaves no core file, cannot be traced by its user's other processes, and gains no rights from programs
   that it might start. All descriptors from `first_free` on are closed. */
void worker_settle(int first_free);

/* From now on the process has no capabilities, as those of root, and cannot get any. If `file` or `folder` (NULL: none)
   belongs to another user, and cannot be read without a capability, the process keeps the one for reading. Call it
   before another thread is made. False where the system forbids that. */
bool worker_drop_capabilities(const char *folder, const char *file);

/* From now on threads of the process may open files to read them only, and only `file` (NULL: none) and what is in
   `folder` or below it (NULL: none), or, if `anywhere` is true, every file that the user may read. Nothing can be
   made, removed, renamed or run. Call it before another thread is made. False without Landlock. */
bool worker_confine(const char *folder, const char *file, bool anywhere);

/* From now on the process may map `memory` bytes beyond its code and `stack` bytes of stack, make files of at most
   `memory` bytes, and compute for at most `seconds`. When memory runs out, allocations fail; the other two limits end
   the process by SIGXFSZ and SIGXCPU. False if a limit could not be set. */
bool worker_limit(uint64_t memory, uint64_t stack, uint32_t seconds);

/* From now on all threads of the process can do no more than read files, write to open ones, and manage their memory
   and themselves. Other system calls fail: the process opens no file to write it, no socket, starts no program and no
   process, makes no code, and signals nobody but itself. False without seccomp or on an unknown processor. */
bool worker_filter(void);

#endif
