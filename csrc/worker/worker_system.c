/* worker_system.c: see worker_system.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_system.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#if WORKER_ON_LINUX
#include <sys/prctl.h>
#include <sys/syscall.h>
#elif WORKER_ON_FREEBSD
#include <sys/procctl.h>
#include <sys/wait.h>
#endif
#if WORKER_ON_GLIBC
#include <ucontext.h>
#endif

#define MOST_DESCRIPTORS 4096 /* closed one by one where the system cannot close a range */
#define LONGEST_NAME 1024     /* of a file that has one for a moment */

/* ---- files ----------------------------------------------------------------------------------------------- */

/* The same file on a number that is out of reach. */
static int out_of_reach(int descriptor) {
  int moved;
  if (descriptor < 0 || descriptor >= WORKER_OUT_OF_REACH) return descriptor;
  moved = fcntl(descriptor, F_DUPFD_CLOEXEC, WORKER_OUT_OF_REACH);
  if (moved < 0 && errno == EINVAL) errno = EMFILE; /* so many may not be open */
  close(descriptor);
  return moved;
}

bool worker_may_write(size_t size) {
  struct rlimit most;
  return getrlimit(RLIMIT_FSIZE, &most) == 0 && (uint64_t)most.rlim_cur >= size;
}

#if WORKER_HAS_SEALS

#define FIXED (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int make_file(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

bool worker_seal(int file) { return fcntl(file, F_ADD_SEALS, FIXED | F_SEAL_WRITE) == 0; }

bool worker_fix_length(int file) { return fcntl(file, F_ADD_SEALS, FIXED) == 0; }

bool worker_has_fixed_length(int file, size_t size) {
  struct stat facts;
  return fcntl(file, F_GET_SEALS) == FIXED && fstat(file, &facts) == 0 && (uint64_t)facts.st_size == size;
}

static bool make_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0; }

#else

/* For this user alone, and without its name at once. */
static int file_below(const char *folder, const char *name) {
  char path[LONGEST_NAME];
  int file, written = snprintf(path, sizeof path, "%s/%s-XXXXXX", folder, name);
  errno = ENAMETOOLONG;
  if (written < 0 || (size_t)written >= sizeof path) return -1;
  file = mkostemp(path, O_CLOEXEC);
  if (file >= 0) unlink(path);
  return file;
}

/* The environment is not asked: another thread may be changing it. */
static int make_file(const char *name) {
  static const char *const folders[] = {"/tmp", "/var/tmp"};
  int file = -1;
  size_t i;
#if defined(_CS_DARWIN_USER_TEMP_DIR)
  char own[LONGEST_NAME];
  size_t length = confstr(_CS_DARWIN_USER_TEMP_DIR, own, sizeof own);
  if (length && length <= sizeof own) file = file_below(own, name);
#endif
  for (i = 0; file < 0 && i < sizeof folders / sizeof *folders; i++) file = file_below(folders[i], name);
  return file;
}

bool worker_seal(int file) {
  (void)file;
  errno = ENOSYS;
  return false;
}

bool worker_fix_length(int file) { return worker_seal(file); }

bool worker_has_fixed_length(int file, size_t size) {
  (void)file, (void)size;
  return false;
}

/* Who forks and runs a program in between has them too. */
static bool make_pipe(int ends[2]) {
  if (pipe(ends)) return false;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  return true;
}

#endif

int worker_file(const char *name) { return out_of_reach(make_file(name)); }

bool worker_pipe(int ends[2]) {
  if (!make_pipe(ends)) return false;
  ends[0] = out_of_reach(ends[0]);
  ends[1] = out_of_reach(ends[1]);
  if (ends[0] >= 0 && ends[1] >= 0) return true;
  if (ends[0] >= 0) close(ends[0]);
  if (ends[1] >= 0) close(ends[1]);
  return false;
}

void worker_close_from(int first) {
#if WORKER_ON_FREEBSD
  closefrom(first);
#else
  int i;
#if WORKER_ON_LINUX && defined(SYS_close_range)
  if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0) return;
#endif
  for (i = first; i < MOST_DESCRIPTORS; i++) close(i);
#endif
}

/* ---- memory ---------------------------------------------------------------------------------------------- */

#if WORKER_ON_LINUX

/* Older systems refuse these, and headers as old know no names. */
bool worker_advise(void *memory, size_t size, worker_advice advice) {
  static const int numbers[] = {[WORKER_TO_READ] = 22,  /* MADV_POPULATE_READ, Linux 5.14 */
                                [WORKER_TO_WRITE] = 23, /* MADV_POPULATE_WRITE, Linux 5.14 */
                                [WORKER_COLLAPSE] = 25, /* MADV_COLLAPSE, Linux 6.1 */
                                [WORKER_LARGE] = MADV_HUGEPAGE,
                                [WORKER_COLD] = 20,     /* MADV_COLD, Linux 5.4 */
                                [WORKER_DROP] = MADV_DONTNEED,
                                [WORKER_NO_CHILD] = MADV_DONTFORK};
  return madvise(memory, size, numbers[advice]) == 0;
}

#else

bool worker_advise(void *memory, size_t size, worker_advice advice) {
  (void)memory, (void)size, (void)advice;
  return false;
}

#endif

/* ---- processes ------------------------------------------------------------------------------------------- */

int worker_watch(pid_t child) {
#if WORKER_ON_LINUX && defined(SYS_pidfd_open)
  return (int)syscall(SYS_pidfd_open, child, 0u);
#else
  (void)child;
  return -1;
#endif
}

void worker_kill(int process, pid_t child) {
#if WORKER_ON_LINUX && defined(SYS_pidfd_send_signal)
  if (process >= 0 && (!syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0u) || errno == ESRCH)) return;
#else
  (void)process;
#endif
  kill(child, SIGKILL);
}

#if WORKER_ON_LINUX

void worker_end_with_parent(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

#elif WORKER_ON_FREEBSD

void worker_end_with_parent(void) {
  int deadly = SIGKILL, none = PROC_NO_NEW_PRIVS_ENABLE;
  procctl(P_PID, 0, PROC_PDEATHSIG_CTL, &deadly);
  procctl(P_PID, 0, PROC_NO_NEW_PRIVS_CTL, &none);
}

#else

static pid_t parent;

static void look_for_parent(int number) {
  (void)number;
  if (getppid() != parent) _exit(2);
}

/* It looks every second. */
void worker_end_with_parent(void) {
  const struct itimerval every = {{1, 0}, {1, 0}};
  struct sigaction action = {.sa_handler = look_for_parent, .sa_flags = SA_RESTART};
  parent = getppid();
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &every, NULL);
}

#endif

#if WORKER_ON_GLIBC

/* A thread would have one too, but a process with two of them starts later, ends later and locks more. */
void worker_run_on_stack(void (*work)(void), size_t size, size_t guard) {
  static ucontext_t context;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (stack == MAP_FAILED || mprotect(stack, guard, PROT_NONE) || getcontext(&context)) return;
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = size;
  makecontext(&context, work, 0);
  setcontext(&context);
}

#else

static void *run_work(void *work) {
  (*(void (**)(void))work)();
  return NULL;
}

/* Contexts are absent from musl, and on macOS for no new programs. */
void worker_run_on_stack(void (*work)(void), size_t size, size_t guard) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes)) return;
  if (!pthread_attr_setstacksize(&attributes, size) && !pthread_attr_setguardsize(&attributes, guard) &&
      !pthread_create(&thread, &attributes, run_work, &work))
    pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
}

#endif
