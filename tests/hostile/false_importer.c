/* false_importer.c: an importer as if a file had taken control of it. The worker loads it instead of the true one. It
   tries to do what no import needs, and its error lists the things that succeeded, one word for each. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../csrc/import/sk_import.h"

static char report[1000];

static void tell(const char *what, bool done) {
  if (done) snprintf(report + strlen(report), sizeof report - strlen(report), "%s ", what);
}

static bool opens(const char *path, int flags) {
  int descriptor = open(path, flags, 0600);
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0;
}

static bool beside(const char *path, const char *name, int flags) {
  char joined[4096];
  const char *slash = strrchr(path, '/');
  snprintf(joined, sizeof joined, "%.*s/%s", (int)(slash - path), path, name);
  return opens(joined, flags);
}

static bool forks(void) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0) waitpid(child, NULL, 0);
  return child > 0;
}

static bool executes(void) {
  char *arguments[] = {"true", NULL};
  execve("/bin/true", arguments, NULL);
  return errno == 0;
}

static pid_t parent; /* as it was before the sandbox was entered */

/* Two ways around kill(2): a signal to a thread, and a descriptor that signals its readiness. */
static bool signals_parent(void) {
  return syscall(SYS_tgkill, parent, parent, 0) == 0 || fcntl(STDOUT_FILENO, F_SETOWN, parent) == 0 ||
         fcntl(STDOUT_FILENO, F_SETSIG, SIGKILL) == 0;
}

/* Advice about no pages, which would do nothing if it were let through: some advice of root breaks memory. */
static bool advises(char *page) {
  int advice;
  for (advice = 0; advice < 200; advice++)
    if (advice != MADV_DONTNEED && (madvise(page, 0, advice) == 0 || errno != EPERM)) return true;
  return false;
}

/* Moves a page to an address of its own choice, and takes a lock with priorities (futex(2), FUTEX_LOCK_PI). */
static bool moves(char *page) {
  return mremap(page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, page + 4096) == page + 4096;
}
static bool locks(char *page) { return syscall(SYS_futex, page, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0) == 0; }

static sk_status run(const sk_import_request *request, sk_import_result *result, sk_error *error) {
  char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  (void)result;
  while (request->path && strstr(request->path, "endless")) continue;
  if (request->path) {
    tell("model", opens(request->path, O_RDONLY));
    tell("neighbor", beside(request->path, "neighbor", O_RDONLY));
    tell("parent", beside(request->path, "../outside", O_RDONLY));
    tell("link", beside(request->path, "link", O_RDONLY));
    tell("writes", beside(request->path, "neighbor", O_WRONLY));
    tell("makes", beside(request->path, "made", O_WRONLY | O_CREAT));
  }
  tell("passwd", opens("/etc/passwd", O_RDONLY));
  tell("environ", opens("/proc/self/environ", O_RDONLY));
  tell("socket", socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || socket(AF_INET, SOCK_STREAM, 0) >= 0);
  tell("fork", forks());
  tell("kill", kill(getppid(), 0) == 0);
  tell("signal", signals_parent());
  tell("code", mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  tell("protect", mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
  tell("advice", advises(page));
  tell("frees", madvise(page, 4096, MADV_DONTNEED) == 0);
  tell("lock", locks(page));
  tell("move", moves(page));
  tell("ptrace", syscall(SYS_ptrace, 0, 0, 0, 0) == 0);
  tell("unlink", request->path && unlink(request->path) == 0);
  tell("execute", executes());
  return sk_fail(error, SK_ERROR_IMPORT, "done: %s", report);
}

static sk_status start(const char *const *paths, sk_error *error) {
  (void)paths, (void)error;
  parent = getppid();
  return SK_OK;
}

static const char *nothing(void) { return ""; }

const sk_importer *sk_importer_open(void);
const sk_importer *sk_importer_open(void) {
  static const sk_importer importer = {SK_IMPORT_ABI, start, run, free, nothing, nothing, nothing};
  return &importer;
}
