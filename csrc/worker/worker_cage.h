/* worker_cage.h: what a worker may do. Nothing of it can be undone. */
#ifndef SK_WORKER_CAGE_H
#define SK_WORKER_CAGE_H

#include "../core/base/sk_base.h"

/* Sanitizers map terabytes and call the system as they like. gcc says that one is there by a macro, clang in its
   own way. */
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

/* First of all: dies with its parent, gains no rights, leaves no core, has no descriptors from `first_free` on. */
void worker_settle(int first_free);

/* At most `memory` bytes of address space, besides `spare` for code and stack; as much in a file; and `seconds` of computing. */
bool worker_limit(uint64_t memory, uint64_t spare, uint32_t seconds);

/* What the files that may be read lie below: a folder (NULL: none), and a file (NULL: none). `anywhere`: all may be
   read. Nothing may be written, made, removed or run. For this thread and those that it makes; false where the
   system knows no such rules (Landlock). */
bool worker_confine(const char *folder, const char *file, bool anywhere);

/* All threads may from now on read files, and write to what is open; no other file, no socket, no program, no
   process, no signal but to itself, no new code. False where the system has no such filter. */
bool worker_filter(void);

#endif
