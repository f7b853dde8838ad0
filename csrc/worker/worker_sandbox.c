/* worker_sandbox.c: see worker_sandbox.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_sandbox.h"

#include "worker_io.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_include) && __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif

#define MAX_DESCRIPTORS 4096              /* closed one by one where Linux cannot close a range, before 5.9 */
#define HIGHEST_SCORE   "1000"            /* proc(5), oom_score_adj */
#define UNSEEN_BYTES    ((size_t)2 << 20) /* first stack, loader and heap until the limit is set: 1 to 1.5 MiB */

/* ---- the process ------------------------------------------------------------------------------------------ */

static void close_from(int first) {
  int i;
#if defined(SYS_close_range)
  if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0) return;
#endif
  for (i = first; i < MAX_DESCRIPTORS; i++) close(i);
}

/* When memory ends, Linux ends the process with the highest score. Everyone may raise the own one, but only while the
   process is dumpable. */
static void end_before_others(void) {
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  worker_write(file, HIGHEST_SCORE, sizeof HIGHEST_SCORE - 1);
  close(file);
}

void worker_settle(int first_free) {
  const struct rlimit none = {0, 0};
  end_before_others();
  close_from(first_free);
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* ---- capabilities ------------------------------------------------------------------------------------------ */

/* Numbers and structs of capset(2) and capabilities(7). */
enum { VERSION_3 = 0x20080522, DAC_OVERRIDE = 1 << 1, DAC_READ_SEARCH = 1 << 2 };
typedef struct capability_words {
  uint32_t effective, permitted, inheritable;
} capability_words; /* capabilities 0 to 31, or 32 to 63 */
static const struct {
  uint32_t version;
  int process;
} of_this_thread = {VERSION_3, 0};

/* Gives up all capabilities but these, of which `effective` are in use. */
static bool keep_capabilities(uint32_t permitted, uint32_t effective) {
  const capability_words words[2] = {{effective, permitted, 0}, {0, 0, 0}};
  return syscall(SYS_capset, &of_this_thread, words) == 0;
}

/* Whether the effective capabilities suffice. False before Linux 5.8, which cannot tell. */
static bool can_access(const char *path, int mode) {
#if defined(SYS_faccessat2)
  return !path || syscall(SYS_faccessat2, AT_FDCWD, path, mode, AT_EACCESS) == 0;
#else
  return !path;
#endif
}

bool worker_drop_capabilities(const char *folder, const char *file) {
  capability_words words[2] = {{0, 0, 0}, {0, 0, 0}};
  uint32_t reading;
  int i = 0;
  if (WORKER_IS_SANITIZED || syscall(SYS_capget, &of_this_thread, words)) return false;
  if (!words[0].permitted && !words[1].permitted) return true;
  reading = words[0].permitted & DAC_READ_SEARCH ? DAC_READ_SEARCH : words[0].permitted & DAC_OVERRIDE;
  while (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) == 0) i++; /* fails at the first number that Linux does not know */
  if (!keep_capabilities(reading, 0)) return false;
  if (can_access(file, R_OK) && can_access(folder, R_OK | X_OK)) reading = 0;
  return keep_capabilities(reading, reading);
}

/* ---- folders: Landlock ------------------------------------------------------------------------------------ */

#if defined(LANDLOCK_ACCESS_FS_MAKE_SYM) && defined(SYS_landlock_create_ruleset)

/* All rights of Landlock's first version: to run, write, read, list, remove and make things of every kind. */
#define ALL_RIGHTS  ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)
#define READ_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

static bool allow_below(int rules, const char *path, uint64_t rights) {
  struct landlock_path_beneath_attr rule = {.allowed_access = rights};
  bool done;
  rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
  if (rule.parent_fd < 0) return true; /* a path that does not exist cannot be read either */
  done = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0u) == 0;
  close(rule.parent_fd);
  return done;
}

bool worker_confine(const char *folder, const char *file, bool anywhere) {
  struct landlock_ruleset_attr all = {.handled_access_fs = ALL_RIGHTS};
  int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0u);
  bool done = rules >= 0 && !WORKER_IS_SANITIZED;
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

/* ---- limits ------------------------------------------------------------------------------------------------ */

/* Adds the address space of one library. The loader maps a library as one piece, and gaps between its segments
   count too. */
static int add_library(struct dl_phdr_info *library, size_t size, void *sum) {
  uintptr_t from = UINTPTR_MAX, to = 0;
  int i;
  (void)size;
  for (i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD) continue;
    if (segment->p_vaddr < from) from = segment->p_vaddr;
    if (segment->p_vaddr + segment->p_memsz > to) to = segment->p_vaddr + segment->p_memsz;
  }
  if (from < to) *(uint64_t *)sum += to - from;
  return 0;
}

/* Address space that the program and its libraries have taken until now, or about 1 MiB more than that. */
static uint64_t taken_bytes(void) {
  uint64_t sum = UNSEEN_BYTES;
  dl_iterate_phdr(add_library, &sum);
  return sum;
}

/* A limit that the process has already stays if it is lower. The hard limit is `spare` above. */
static bool lower(int resource, uint64_t value, uint64_t spare) {
  struct rlimit limit;
  if (getrlimit(resource, &limit)) return false;
  if (limit.rlim_max == RLIM_INFINITY || (uint64_t)limit.rlim_max > value + spare)
    limit.rlim_max = (rlim_t)(value + spare);
  if (limit.rlim_cur == RLIM_INFINITY || (uint64_t)limit.rlim_cur > value) limit.rlim_cur = (rlim_t)value;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  return setrlimit(resource, &limit) == 0;
}

bool worker_limit(uint64_t memory, uint64_t stack, uint32_t seconds) {
  bool done = true;
  if (WORKER_IS_SANITIZED) return false;
  done &= lower(RLIMIT_AS, taken_bytes() + stack + memory, 0);
  done &= lower(RLIMIT_FSIZE, memory, 0);
  done &= lower(RLIMIT_CPU, seconds, 1); /* SIGXCPU, which says why, comes at the soft limit, SIGKILL at the hard one */
  return done;
}

/* ---- system calls: seccomp --------------------------------------------------------------------------------- */

#if defined(__x86_64__) || defined(__aarch64__)

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* The filter is a list of rules, most of them for one system call. A rule compares the number of the call, which stays
   loaded from one rule to the next, with its own. If they are equal, the rule ends with an answer; otherwise it is
   skipped. The last rule answers for all calls that no other rule has.

   IF runs the instructions that follow `value` if the test of the loaded word is true, and skips them if it is false.
   UNLESS does the opposite. A jump needs the number of instructions to skip, which the compiler counts. */
#define COUNT(...)               (sizeof((struct sock_filter[]){__VA_ARGS__}) / sizeof(struct sock_filter))
#define IF(test, value, ...)     BPF_JUMP(BPF_JMP | test | BPF_K, value, 0, COUNT(__VA_ARGS__)), __VA_ARGS__
#define UNLESS(test, value, ...) BPF_JUMP(BPF_JMP | test | BPF_K, value, COUNT(__VA_ARGS__), 0), __VA_ARGS__
#define EQUALS                   BPF_JEQ
#define IS_ABOVE                 BPF_JGT
#define HAS_ANY_OF               BPF_JSET /* of the bits of the value */

#define LOAD(field)              BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_ARGUMENT(n)         LOAD(args[n]) /* its low word, which is first: both architectures are little-endian */
#define KEEP_BITS(bits)          BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits)
#define ANSWER(action)           BPF_STMT(BPF_RET | BPF_K, action)
#define PERMIT                   ANSWER(SECCOMP_RET_ALLOW)
#define REFUSE                   ANSWER(SECCOMP_RET_ERRNO | EPERM)
#define IS_ABSENT   ANSWER(SECCOMP_RET_ERRNO | ENOSYS) /* the C library then tries an older call instead of a new one */

/* Rules that allow a call always, or by its argument n. */
#define ALLOW(name) IF(EQUALS, SYS_##name, PERMIT)
#define ALLOW_EQUAL(name, n, value)  IF(EQUALS, SYS_##name, LOAD_ARGUMENT(n), IF(EQUALS, value, PERMIT), REFUSE)
#define ALLOW_UP_TO(name, n, value)  IF(EQUALS, SYS_##name, LOAD_ARGUMENT(n), UNLESS(IS_ABOVE, value, PERMIT), REFUSE)
#define ALLOW_WITHOUT(name, n, bits) IF(EQUALS, SYS_##name, LOAD_ARGUMENT(n), UNLESS(HAS_ANY_OF, bits, PERMIT), REFUSE)

/* futex(2): the low seven bits of the command are its number. Waiting and waking, without and with a mask of bits, are
   allowed. The other commands are for locks with priorities, which this program has none of. */
enum { WAIT = 0, WAKE = 1, WAIT_BITS = 9, WAKE_BITS = 10, COMMAND_BITS = 0x7F };
#define ALLOW_FUTEX                                                                                                    \
  IF(EQUALS, SYS_futex, LOAD_ARGUMENT(1), KEEP_BITS(COMMAND_BITS), IF(EQUALS, WAIT, PERMIT), IF(EQUALS, WAKE, PERMIT), \
     IF(EQUALS, WAIT_BITS, PERMIT), IF(EQUALS, WAKE_BITS, PERMIT), REFUSE)

#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)

bool worker_filter(void) {
  uint32_t self = (uint32_t)getpid(); /* abort() signals the process itself, so tgkill is allowed for that */
  /* clang-format off */
  struct sock_filter filter[] = {
      LOAD(arch), UNLESS(EQUALS, ARCHITECTURE, ANSWER(SECCOMP_RET_KILL)), LOAD(nr),
      ALLOW(read), ALLOW(pread64), ALLOW(readv), ALLOW(write), ALLOW(close), ALLOW(lseek),
      ALLOW(fstat), ALLOW(newfstatat), ALLOW(statx), ALLOW(readlinkat), ALLOW(faccessat), ALLOW(getcwd), ALLOW(getdents64),
      ALLOW_UP_TO(fcntl, 1, F_GETFL), ALLOW(ftruncate), ALLOW_WITHOUT(openat, 2, WRITES),
#if defined(__x86_64__)
      ALLOW(stat), ALLOW(lstat), ALLOW(readlink), ALLOW(access), ALLOW_WITHOUT(open, 1, WRITES),
#endif
      ALLOW(brk), ALLOW(munmap), ALLOW_UP_TO(mremap, 3, MREMAP_MAYMOVE), ALLOW_EQUAL(madvise, 2, MADV_DONTNEED),
      ALLOW_WITHOUT(mmap, 2, PROT_EXEC), ALLOW_WITHOUT(mprotect, 2, PROT_EXEC),
      ALLOW_FUTEX, ALLOW(sched_yield), ALLOW(clock_gettime), ALLOW(clock_nanosleep), ALLOW(gettimeofday),
      ALLOW(getrandom), ALLOW(sysinfo), ALLOW(getpid), ALLOW(gettid), ALLOW_EQUAL(tgkill, 0, self),
      ALLOW(rt_sigreturn), ALLOW(rt_sigprocmask), ALLOW(rt_sigaction), ALLOW(restart_syscall), ALLOW(exit),
      ALLOW(exit_group), IS_ABSENT};
  /* clang-format on */
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (WORKER_IS_SANITIZED) return false;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

#else

bool worker_filter(void) { return false; }

#endif
