/* worker_cage.c: see worker_cage.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_cage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "worker_system.h"

#if WORKER_ON_LINUX
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#if defined(__has_include) && __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#define HAS_LANDLOCK 1
#endif
#endif

void worker_settle(int first_free) {
  const struct rlimit none = {0, 0};
  worker_close_from(first_free);
  setrlimit(RLIMIT_CORE, &none);
  worker_end_with_parent();
}

/* Never above what the process has anyway. */
static bool lower(int resource, uint64_t most) {
  struct rlimit limit;
  if (getrlimit(resource, &limit)) return false;
  if (limit.rlim_max == RLIM_INFINITY || (uint64_t)limit.rlim_max > most) limit.rlim_max = (rlim_t)most;
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  return setrlimit(resource, &limit) == 0;
}

bool worker_limit(uint64_t memory, uint64_t spare, uint32_t seconds) {
  bool done = true;
  if (WORKER_IS_SANITIZED) return false;
  done &= lower(RLIMIT_AS, memory + spare) && WORKER_HAS_MOST_MEMORY;
  done &= lower(RLIMIT_FSIZE, memory);
  done &= lower(RLIMIT_CPU, seconds);
  return done;
}

#if defined(HAS_LANDLOCK) && defined(SYS_landlock_create_ruleset)

/* The rights of its first version, which all have: to run, write, read, list, remove and make anything. */
#define ALL_RIGHTS ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)
#define READ_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

static bool allow_below(int rules, const char *path, uint64_t rights) {
  struct landlock_path_beneath_attr rule = {.allowed_access = rights};
  bool done;
  rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
  if (rule.parent_fd < 0) return true; /* what is not there cannot be read either */
  done = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0u) == 0;
  close(rule.parent_fd);
  return done;
}

bool worker_confine(const char *folder, const char *file, bool anywhere) {
  struct landlock_ruleset_attr all = {.handled_access_fs = ALL_RIGHTS};
  int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0u);
  bool done = rules >= 0;
  if (done && anywhere) done = allow_below(rules, "/", READ_RIGHTS);
  if (done && folder) done = allow_below(rules, folder, READ_RIGHTS);
  if (done && file) done = allow_below(rules, file, LANDLOCK_ACCESS_FS_READ_FILE);
  done = done && syscall(SYS_landlock_restrict_self, rules, 0u) == 0;
  if (rules >= 0) close(rules);
  return done;
}

#else

bool worker_confine(const char *folder, const char *file, bool anywhere) {
  (void)folder, (void)file, (void)anywhere;
  return false;
}

#endif

#if WORKER_ON_LINUX && (defined(__x86_64__) || defined(__aarch64__))

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOW_WORD(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, action)
#define REFUSE ANSWER(SECCOMP_RET_ERRNO | EPERM)
#define IS_ABSENT ANSWER(SECCOMP_RET_ERRNO | ENOSYS) /* for a new call the C library then takes an old one */
#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ANSWER(SECCOMP_RET_ALLOW)
/* Allowed where a test of argument n (both architectures are little-endian) is true, with `met` 1, or false, with 0. */
#define ALLOW_WHERE(name, n, test, value, met)                                                             \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOW_WORD(n),                                      \
      BPF_JUMP(BPF_JMP | test | BPF_K, value, met, !(met)), REFUSE, ANSWER(SECCOMP_RET_ALLOW)
#define ALLOW_WITHOUT(name, n, bits) ALLOW_WHERE(name, n, BPF_JSET, bits, 0)
#define ALLOW_EQUAL(name, n, value) ALLOW_WHERE(name, n, BPF_JEQ, value, 1)
#define ALLOW_UP_TO(name, n, value) ALLOW_WHERE(name, n, BPF_JGT, value, 0)

#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)

bool worker_filter(void) {
  uint32_t self = (uint32_t)getpid(); /* it may end itself, and nobody else: abort() does so */
  struct sock_filter filter[] = {
      LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0), ANSWER(SECCOMP_RET_KILL), LOAD(nr),
      ALLOW(read), ALLOW(pread64), ALLOW(readv), ALLOW(write), ALLOW(close), ALLOW(lseek),
      ALLOW(fstat), ALLOW(newfstatat), ALLOW(statx), ALLOW(readlinkat), ALLOW(faccessat), ALLOW(getcwd),
      ALLOW_UP_TO(fcntl, 1, F_GETFL), ALLOW(ftruncate), ALLOW_WITHOUT(openat, 2, WRITES),
#if defined(__x86_64__)
      ALLOW(stat), ALLOW(lstat), ALLOW(readlink), ALLOW(access), ALLOW_WITHOUT(open, 1, WRITES),
#endif
      ALLOW(brk), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise), ALLOW_WITHOUT(mmap, 2, PROT_EXEC),
      ALLOW_WITHOUT(mprotect, 2, PROT_EXEC),
      ALLOW(futex), ALLOW(sched_yield), ALLOW(clock_gettime), ALLOW(clock_nanosleep), ALLOW(gettimeofday),
      ALLOW(getrandom), ALLOW(sysinfo), ALLOW(getpid), ALLOW(gettid), ALLOW_EQUAL(tgkill, 0, self),
      ALLOW(rt_sigreturn), ALLOW(rt_sigprocmask), ALLOW(rt_sigaction), ALLOW(restart_syscall), ALLOW(exit),
      ALLOW(exit_group), IS_ABSENT};
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (WORKER_IS_SANITIZED) return false;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

#else

/* At least no process may be made from now on; root may. */
bool worker_filter(void) {
  if (!WORKER_IS_SANITIZED) lower(RLIMIT_NPROC, 0);
  return false;
}

#endif
