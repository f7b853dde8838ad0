/* worker_system.h: what the system has for a worker, and what stands in for what it lacks. Which system has what is
   decided here, in worker_system.c, and nowhere else. */
#ifndef SK_WORKER_SYSTEM_H
#define SK_WORKER_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h> /* says which C library it is */
#include <sys/types.h>

/* With SKINPY_PLAIN_SYSTEM, for tests, each system has what POSIX has, and no more. */
#if defined(__linux__) && !defined(SKINPY_PLAIN_SYSTEM)
#define WORKER_ON_LINUX 1 /* filters of calls, rules of folders, large pages */
#else
#define WORKER_ON_LINUX 0
#endif
#if defined(__FreeBSD__) && !defined(SKINPY_PLAIN_SYSTEM)
#define WORKER_ON_FREEBSD 1 /* 13 or newer */
#else
#define WORKER_ON_FREEBSD 0
#endif
#if defined(__GLIBC__) && WORKER_ON_LINUX
#define WORKER_ON_GLIBC 1 /* its malloc can be told how to grow, and be replaced; contexts */
#else
#define WORKER_ON_GLIBC 0
#endif

/* A file in memory of which nobody can change a byte any more. Where there is none, what lies in it is copied. */
#define WORKER_HAS_SEALS (WORKER_ON_LINUX || WORKER_ON_FREEBSD)

#if defined(__APPLE__)
#define WORKER_HAS_MOST_MEMORY false /* RLIMIT_AS can be set there, and limits nothing */
#define WORKER_FOLDERS "DYLD_LIBRARY_PATH"
#define WORKER_SPAWN_CLOSES POSIX_SPAWN_CLOEXEC_DEFAULT /* a new process has what it is given alone */
#else
#define WORKER_HAS_MOST_MEMORY true
#define WORKER_FOLDERS "LD_LIBRARY_PATH"
#define WORKER_SPAWN_CLOSES 0
#endif

/* ---- files ----------------------------------------------------------------------------------------------- */

#define WORKER_OUT_OF_REACH 10 /* the least number of a descriptor that is made here: none of those a worker has */

/* All are closed where another program begins. The file has no name, or has it no longer; -1 and errno. */
int worker_file(const char *name);
bool worker_pipe(int ends[2]);

/* Whether a file may have so many bytes: where it may not, the system answers with a deadly signal. */
bool worker_may_write(size_t size);

/* From now on it has the length that it has, and all may go on writing to it; false as for worker_seal. */
bool worker_fix_length(int file);
bool worker_has_fixed_length(int file, size_t size);

/* No byte of it can change any more; false and errno where somebody could still write, or there are no seals. */
bool worker_seal(int file);

void worker_close_from(int first);

/* ---- memory ---------------------------------------------------------------------------------------------- */

typedef enum worker_advice {
  WORKER_TO_READ,   /* the pages come now, and none is touched */
  WORKER_TO_WRITE,
  WORKER_COLLAPSE,  /* what are small pages becomes large ones */
  WORKER_LARGE,     /* they come as large ones, when they are touched */
  WORKER_COLD,      /* nobody will need it soon */
  WORKER_DROP,      /* the pages go */
  WORKER_NO_CHILD,  /* a child that is forked does not have it */
} worker_advice;

/* Of whole pages. False where the system does not do it. */
bool worker_advise(void *memory, size_t size, worker_advice advice);

/* ---- processes ------------------------------------------------------------------------------------------- */

/* A descriptor that can be read when the child has ended; -1: the system cannot say so. */
int worker_watch(pid_t child);

/* By the descriptor, where it is one: the number may be another process's by now. */
void worker_kill(int process, pid_t child);

/* This process ends with its parent, at once or within a second, and gains no rights. */
void worker_end_with_parent(void);

/* `work`, which never returns, on a stack of its own, and below it `guard` bytes that nobody may touch. Of the stack
   only what is used takes memory. It returns where there is no memory. */
void worker_run_on_stack(void (*work)(void), size_t size, size_t guard);

#endif
