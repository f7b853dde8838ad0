/* worker_spawn.c: see worker_spawn.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_spawn.h"

#if defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLICE_MS    50                /* between two looks at the deadline and at interruptions */
#define REAP_US     200               /* between two looks at a worker whose end cannot be waited for */
#define LEAVE_MS    500               /* for the end of a killed worker, before the parent goes on without it */
#define MAX_STUCK   64                /* workers that the system keeps from ending */
#define COPY_BYTES  ((size_t)8 << 20) /* of a model in memory, copied between two looks: 2 to 10 ms */
#define MAX_FOLDERS 16384             /* bytes of LD_LIBRARY_PATH */
#define MIN_STACK   ((uint64_t)128 << 10) /* with which a process starts; the import has a stack of its own */

/* One isolated import, from its files to its end. */
typedef struct call {
  const worker_job *job;
  int block, bytes, answer[2]; /* files of worker_io.h; -1: not open */
  pid_t pid; /* 0: not started, or already waited for */
  int process; /* descriptor that is readable once the worker has ended; -1: Linux before 5.3 */
  int ended; /* status of waitpid; -1: another part of this program has waited for the worker */
  double deadline; /* seconds of the monotonic clock */
  bool late, interrupted;
  bool killed; /* interruptions can wait: the worker is about to end */
  worker_answer said;
  size_t said_bytes;
} call;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The resource of getrlimit, of which a limit may be the reason of an error; -1 for none. */
static int limited_by(int number) {
  switch (number) {
  case EFBIG: return RLIMIT_FSIZE;
  case EMFILE: return RLIMIT_NOFILE;
  case EAGAIN: return RLIMIT_NPROC;
  case ENOMEM: return worker_limit_of(RLIMIT_DATA) < worker_limit_of(RLIMIT_AS) ? RLIMIT_DATA : RLIMIT_AS;
  default: return -1;
  }
}

static sk_status fail_system(sk_error *error, const char *doing) {
  int number = errno;
  char words[WORKER_WORDS] = "isolate=False imports without one";
  bool limited = worker_limit_words(limited_by(number), words, sizeof words);
  if (number == ENOMEM && !limited)
    return sk_fail(error, SK_ERROR_MEMORY, "out of memory for the process of the import");
  return sk_fail(error, SK_ERROR_LIBRARY, "cannot start a process for the import (%s: %s); %s%s", doing,
                 strerror(number), words,
                 number == EAGAIN && limited ? "; a container may have a lower limit, pids.max" : "");
}

/* posix_spawn does not tell whether the program or its first files are missing. */
static sk_status fail_spawn(sk_error *error, const char *program) {
  int number = errno, null = number == ENOMEM || number == EAGAIN ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 && number != ENOMEM && number != EAGAIN)
    return sk_fail(error, SK_ERROR_LIBRARY,
                   "cannot start a process for the import: /dev/null cannot be opened (%s), which every program needs; "
                   "mount /dev in this container or chroot",
                   strerror(errno));
  if (null >= 0) close(null);
  if (number == EACCES || number == ENOENT || number == ENOEXEC)
    return sk_fail(error, SK_ERROR_LIBRARY, "cannot start a process for the import (%s: %s); %s", program,
                   strerror(number),
                   number == EACCES ? "make this file executable, on a disk that is not mounted with noexec"
                                    : "install skinpy again");
  errno = number;
  return fail_system(error, program);
}

/* Whether the deadline has passed or the caller was interrupted, so that waiting must end. */
static bool must_stop(call *c) {
  c->late = now() > c->deadline;
  c->interrupted = !c->late && !c->killed && c->job->interrupted && c->job->interrupted(c->job->context);
  return c->late || c->interrupted;
}

/* ---- files ------------------------------------------------------------------------------------------------- */

/* Copies a model in memory to its file. False with `late` or `interrupted` set if it had to stop. */
static bool copy_bytes(call *c) {
  const char *bytes = c->job->request->bytes;
  size_t offset = 0, size = c->job->request->size;
  while (offset < size) {
    size_t count = size - offset < COPY_BYTES ? size - offset : COPY_BYTES;
    if (!worker_write(c->bytes, bytes + offset, count)) return false;
    offset += count;
    if (offset < size && must_stop(c)) return false;
  }
  return true;
}

static bool make_files(call *c) {
  const sk_import_request *request = c->job->request;
  c->block = worker_make_file("skinpy-block");
  if (c->block < 0 || !worker_make_pipe(c->answer)) return false;
  if (!request || request->path) return true;
  c->bytes = worker_make_file("skinpy-bytes");
  return c->bytes >= 0 && copy_bytes(c);
}

static void close_file(int *descriptor) {
  if (*descriptor >= 0) close(*descriptor);
  *descriptor = -1;
}

/* False and ENAMETOOLONG if one of the texts is too long. */
static bool measure_texts(const char *const texts[WORKER_TEXTS], uint32_t lengths[WORKER_TEXTS]) {
  int i;
  for (i = 0; i < WORKER_TEXTS; i++) {
    size_t length = texts[i] ? strlen(texts[i]) : 0;
    errno = ENAMETOOLONG;
    if (length > WORKER_MAX_TEXT) return false;
    lengths[i] = texts[i] ? (uint32_t)length : WORKER_NO_TEXT;
  }
  return true;
}

/* All of a request but the lengths of its texts. */
static void fill_request(const call *c, const sk_import_request *from, worker_request *to) {
  double seconds = c->job->seconds;
  memset(to, 0, sizeof *to); /* no stray bytes of this process may reach the worker between two fields */
  to->magic = WORKER_MAGIC;
  to->size = sizeof *to;
  to->curve_error = from->curve_error;
  to->max_influences = from->max_influences;
  to->join_vertices = from->join_vertices;
  to->ignore_animated_scale = from->ignore_animated_scale;
  to->up = from->up;
  to->frame = from->frame;
  to->external = (uint32_t)from->external;
  to->probe = !c->job->request;
  to->strict = c->job->strict;
  to->seconds = (uint32_t)(seconds < 1e6 ? seconds + 2.0 : 1e6); /* the deadline should end a worker, not this limit */
  to->parent = (uint32_t)getpid();
  to->memory = c->job->memory;
  to->bytes = from->path || to->probe ? WORKER_NO_BYTES : from->size;
  to->limits = from->limits;
}

static bool write_request(const call *c) {
  static const sk_import_request nothing = {.max_influences = 1};
  const sk_import_request *from = c->job->request ? c->job->request : &nothing;
  const char *texts[WORKER_TEXTS] = {c->job->importer, c->job->libraries, from->path,
                                     from->format,     from->formats,     from->scene};
  worker_request request;
  bool done;
  int i;
  fill_request(c, from, &request);
  done = measure_texts(texts, request.lengths) && worker_write(c->block, &request, sizeof request);
  for (i = 0; done && i < WORKER_TEXTS; i++)
    if (texts[i]) done = worker_write(c->block, texts[i], request.lengths[i] + 1);
  return done;
}

/* ---- the process ------------------------------------------------------------------------------------------- */

/* Without a file the number must be closed: it could be a descriptor of this process that programs inherit. */
static int place_file(posix_spawn_file_actions_t *files, int file, int number) {
  return file < 0 ? posix_spawn_file_actions_addclose(files, number)
                  : posix_spawn_file_actions_adddup2(files, file, number);
}

static int prepare_files(const call *c, posix_spawn_file_actions_t *files) {
  int failed = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDWR, 0);
  if (!failed) failed = place_file(files, 0, 1);
  if (!failed) failed = place_file(files, 0, 2);
  if (!failed) failed = place_file(files, c->answer[1], WORKER_ANSWER);
  if (!failed) failed = place_file(files, c->block, WORKER_BLOCK);
  if (!failed) failed = place_file(files, c->bytes, WORKER_BYTES);
  return failed;
}

/* The worker blocks and ignores no signal. It has a process group of its own, because a terminal sends Ctrl-C to the
   whole group of this process. */
static int prepare_signals(posix_spawnattr_t *attributes) {
  sigset_t none, all;
  int failed =
      posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  sigemptyset(&none);
  sigfillset(&all);
  if (!failed) failed = posix_spawnattr_setsigmask(attributes, &none);
  if (!failed) failed = posix_spawnattr_setsigdefault(attributes, &all);
  if (!failed) failed = posix_spawnattr_setpgroup(attributes, 0);
  return failed;
}

/* The environment holds no more than what the loader needs to find Assimp by its name. */
static int spawn_with(call *c, const posix_spawn_file_actions_t *files, const posix_spawnattr_t *attributes) {
  char folders[MAX_FOLDERS], *environment[] = {NULL, NULL}, *arguments[] = {"skinpy-worker", NULL};
  if (*c->job->folders) {
    int length = snprintf(folders, sizeof folders, "LD_LIBRARY_PATH=%s", c->job->folders);
    if (length < 0 || (size_t)length >= sizeof folders) return E2BIG;
    environment[0] = folders;
  }
  return posix_spawn(&c->pid, c->job->program, files, attributes, arguments, environment);
}

/* A descriptor of the worker, or -1: headers or kernels of before Linux 5.3 have none. */
static int watch(pid_t pid) {
#if defined(SYS_pidfd_open)
  return (int)syscall(SYS_pidfd_open, pid, 0u);
#else
  (void)pid;
  return -1;
#endif
}

/* 0, or the number of an error. */
static int spawn(call *c) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  int failed = posix_spawn_file_actions_init(&files);
  if (failed) return failed;
  failed = posix_spawnattr_init(&attributes);
  if (!failed) {
    failed = prepare_files(c, &files);
    if (!failed) failed = prepare_signals(&attributes);
    if (!failed) failed = spawn_with(c, &files, &attributes);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&files);
  if (failed) c->pid = 0;
  else c->process = watch(c->pid);
  return failed;
}

/* The descriptor comes first: if another part of this program has waited for the worker, its number may already
   belong to another process. */
static void kill_worker(const call *c) {
  if (!c->pid) return;
#if defined(SYS_pidfd_send_signal)
  if (c->process >= 0 && (!syscall(SYS_pidfd_send_signal, c->process, SIGKILL, NULL, 0u) || errno == ESRCH)) return;
#endif
  kill(c->pid, SIGKILL);
}

/* ---- waiting ----------------------------------------------------------------------------------------------- */

/* Whether the worker has ended and was waited for; it does not wait itself. */
static bool reap(call *c) {
  pid_t done;
  if (!c->pid) return true;
  do done = waitpid(c->pid, &c->ended, WNOHANG);
  while (done < 0 && errno == EINTR);
  if (done == 0) return false;
  if (done < 0) c->ended = -1; /* ECHILD: SIGCHLD is ignored, or another thread waits for all children */
  c->pid = 0;
  return true;
}

/* Reads the answer as it comes. True if it is complete or nothing more will come. The end of the pipe is not enough to
   tell: a process that another thread forked at the wrong moment may hold its other end. poll looks at the pipe first
   and at the process second, and the worker may write and end in between; so it looks at the pipe once more. */
static bool hear(call *c) {
  struct pollfd waiting[] = {{c->answer[0], POLLIN, 0}, {c->process, POLLIN, 0}};
  double left = (c->deadline - now()) * 1e3;
  int found = poll(waiting, 2, left > SLICE_MS ? SLICE_MS : left > 0.0 ? (int)left + 1 : 0);
  ssize_t got;
  if (found <= 0) return false;
  if (!waiting[0].revents) poll(waiting, 1, 0);
  if (!waiting[0].revents) return true;
  got = read(c->answer[0], (char *)&c->said + c->said_bytes, sizeof c->said - c->said_bytes);
  if (got < 0) return errno != EINTR && errno != EAGAIN;
  c->said_bytes += (size_t)got;
  return got == 0 || c->said_bytes == sizeof c->said;
}

/* Waits for the worker's end. False if waiting had to stop before. The descriptor of a worker that is traced is
   readable before the worker can be waited for: its tracer comes first. */
static bool wait_for_end(call *c) {
  struct pollfd waiting = {c->process, POLLIN, 0};
  struct timespec pause = {0, REAP_US * 1000};
  bool has_ended = c->process < 0;
  while (!reap(c)) {
    if (must_stop(c)) return false;
    if (has_ended) nanosleep(&pause, NULL);
    else has_ended = poll(&waiting, 1, SLICE_MS) > 0;
  }
  return true;
}

static bool has_answered(const call *c) { return c->said_bytes == sizeof c->said && c->said.magic == WORKER_MAGIC; }

/* Waits for the answer, or for the end of a worker that does not answer, or until it must stop. */
static void wait_for_answer(call *c) {
  bool over = false;
  while (!over && !hear(c)) {
    if (must_stop(c)) return;
    over = !c->pid; /* it has ended before the last look at the pipe */
    if (c->process < 0) reap(c);
  }
  if (!has_answered(c)) wait_for_end(c);
}

/* ---- workers that do not end -------------------------------------------------------------------------------- */

/* A killed worker ends at once, unless it waits for a disk that does not answer, or is traced. Its parent and its own
   number, uint32_t each, are kept here until a later import can wait for it; 0: no entry. A forked child inherits the
   entries, but only the parent may wait for the workers. */
static _Atomic(uint64_t) stuck_workers[MAX_STUCK];

static void note_stuck(uint64_t worker) {
  int i;
  for (i = 0; i < MAX_STUCK; i++) {
    uint64_t empty = 0;
    if (atomic_compare_exchange_strong(&stuck_workers[i], &empty, worker)) return;
  }
}

static void reap_stuck(void) {
  int i;
  for (i = 0; i < MAX_STUCK; i++) {
    uint64_t worker = atomic_load(&stuck_workers[i]) ? atomic_exchange(&stuck_workers[i], 0) : 0;
    if (worker >> 32 == (uint64_t)getpid() && waitpid((pid_t)(uint32_t)worker, NULL, WNOHANG) == 0) note_stuck(worker);
  }
}

/* Waits a while for the end of a worker that was killed. */
static void leave(call *c) {
  pid_t pid = c->pid;
  c->deadline = now() + LEAVE_MS * 1e-3;
  c->killed = true;
  if (!wait_for_end(c)) note_stuck((uint64_t)getpid() << 32 | (uint32_t)pid);
}

/* ---- the result --------------------------------------------------------------------------------------------- */

static sk_status fail_late(const call *c, sk_error *error) {
  return sk_fail(error, SK_ERROR_LIMIT,
                 "the import takes longer than its limit of %g seconds; "
                 "allow more with limits=skinpy.Limits(seconds=...)",
                 c->job->seconds);
}

static sk_status fail_signal(const call *c, int number, sk_error *error) {
  char words[WORKER_WORDS];
  if (number == SIGXCPU && (double)worker_limit_of(RLIMIT_CPU) <= c->job->seconds + 2.0 &&
      worker_limit_words(RLIMIT_CPU, words, sizeof words))
    return sk_fail(error, SK_ERROR_LIMIT, "the import took too much processor time: %s", words);
  if (number == SIGXCPU) return fail_late(c, error);
  if ((number == SIGSEGV || number == SIGKILL) && worker_limit_of(RLIMIT_STACK) < MIN_STACK &&
      worker_limit_words(RLIMIT_STACK, words, sizeof words))
    return sk_fail(error, SK_ERROR_LIMIT, "the process of the import has too little stack: %s", words);
  if (number == SIGXFSZ && worker_limit_of(RLIMIT_FSIZE) < c->job->memory &&
      worker_limit_words(RLIMIT_FSIZE, words, sizeof words))
    return sk_fail(error, SK_ERROR_LIMIT, "the model is too large for a file in memory: %s", words);
  if (number == SIGXFSZ)
    return sk_fail(error, SK_ERROR_LIMIT,
                   "the model is larger than its limit of %.4g MiB; "
                   "allow more with limits=skinpy.Limits(memory=...)",
                   (double)c->job->memory / (1 << 20));
  return sk_fail(error, SK_ERROR_CRASHED,
                 "the importer crashed on it (signal %d, %s%s) in a process of its own; "
                 "this process has lost nothing",
                 number, strsignal(number),
                 number == SIGBUS    ? ", as when a file is truncated while it is read"
                 : number == SIGKILL ? ", as when the system has no memory left"
                                     : "");
}

/* Why a worker gave no answer. */
static sk_status fail_silent(const call *c, sk_error *error) {
  if (c->late) return fail_late(c, error);
  if (c->interrupted) return sk_fail(error, SK_ERROR_CRASHED, "the import was interrupted");
  if (c->ended != -1 && WIFSIGNALED(c->ended)) return fail_signal(c, WTERMSIG(c->ended), error);
  if (c->ended != -1 && WEXITSTATUS(c->ended) == 127) /* of posix_spawn: the program could not be executed */
    return sk_fail(error, SK_ERROR_LIBRARY, "%s cannot be run; install skinpy again", c->job->program);
  return sk_fail(error, SK_ERROR_CRASHED, "the importer ended without an answer (exit status %d)",
                 c->ended == -1 ? -1 : WEXITSTATUS(c->ended));
}

/* Maps the first `size` bytes of the block's file; NULL and `error` if that is not possible. Its pages are mapped at
   once, since all of them will be read. */
static void *map_block(const call *c, size_t size, sk_error *error) {
  struct stat facts;
  void *memory;
  if (fstat(c->block, &facts) || !size || (uint64_t)facts.st_size < size) {
    sk_fail(error, SK_ERROR_CRASHED, "the importer's result is not as large as it says");
    return NULL;
  }
  memory = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, c->block, 0);
  if (memory != MAP_FAILED) return memory;
  sk_fail_memory(error, size);
  return NULL;
}

/* The file is sealed before it is mapped, so that nobody can change or cut what was mapped, whether or not the worker
   has ended: a large one takes its time. A worker that keeps the file mapped for writing makes the seal fail. */
static sk_status hand_over(call *c, sk_error *error) {
  size_t size = (size_t)c->said.size;
  void *memory;
  if (!worker_seal(c->block))
    return sk_fail(error, SK_ERROR_CRASHED, "the importer's result cannot be sealed (%s)", strerror(errno));
  memory = map_block(c, size, error);
  if (!memory) return error->status;
  c->job->take(c->job->context, memory, size);
  return SK_OK;
}

static sk_status take_answer(call *c, uint32_t *sandbox, sk_error *error) {
  if (!has_answered(c)) return fail_silent(c, error);
  *sandbox = c->said.sandbox;
  c->said.message[sizeof c->said.message - 1] = 0;
  if (c->said.status < 0 || c->said.status >= SK_STATUS_COUNT)
    return sk_fail(error, SK_ERROR_CRASHED, "the importer's answer makes no sense");
  if (c->said.status) return sk_fail(error, (sk_status)c->said.status, "%s", c->said.message);
  return c->job->request ? hand_over(c, error) : SK_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

/* Refuses a model in memory that is too large before it is copied. The worker does the same for files. */
static sk_status check_bytes(const call *c, sk_error *error) {
  const sk_import_request *request = c->job->request;
  if (!request || request->path || !request->limits.file_bytes || request->size <= request->limits.file_bytes)
    return SK_OK;
  return sk_fail(error, SK_ERROR_LIMIT,
                 "they are %zu bytes, the limit of file_bytes is %llu; allow it with "
                 "limits=skinpy.Limits(file_bytes=%zu)",
                 request->size, (unsigned long long)request->limits.file_bytes, request->size);
}

static sk_status start(call *c, sk_error *error) {
  bool ready = make_files(c) && write_request(c);
  int failed;
  if (c->late || c->interrupted) return fail_silent(c, error);
  if (!ready) return fail_system(error, "a file in memory");
  failed = spawn(c);
  close_file(&c->answer[1]); /* so that the pipe ends with the worker */
  errno = failed;
  return failed ? fail_spawn(error, c->job->program) : SK_OK;
}

sk_status worker_run(const worker_job *job, uint32_t *sandbox, sk_error *error) {
  call c = {.job = job, .block = -1, .bytes = -1, .answer = {-1, -1}, .process = -1, .ended = -1};
  sk_status status = check_bytes(&c, error);
  *sandbox = 0;
  if (status) return status;
  reap_stuck();
  c.deadline = now() + job->seconds;
  status = start(&c, error);
  if (!status) {
    wait_for_answer(&c);
    kill_worker(&c); /* one that has answered has nothing left to do */
    status = take_answer(&c, sandbox, error);
    leave(&c);
  }
  close_file(&c.answer[0]);
  close_file(&c.answer[1]);
  close_file(&c.bytes);
  close_file(&c.block);
  close_file(&c.process);
  return status;
}

void worker_unmap(void *memory, size_t size) { munmap(memory, size); }

#else

sk_status worker_run(const worker_job *job, uint32_t *sandbox, sk_error *error) {
  (void)job;
  *sandbox = 0;
  return sk_fail(error, SK_ERROR_LIBRARY, "this system cannot isolate imports");
}

void worker_unmap(void *memory, size_t size) { (void)memory, (void)size; }

#endif
