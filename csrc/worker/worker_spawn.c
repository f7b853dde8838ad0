/* worker_spawn.c: see worker_spawn.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker_ahead.h"
#include "worker_io.h"
#include "worker_kept.h"
#include "worker_system.h"

#define SLICE_MS 50    /* between two looks for signals */
#define REAP_US 200    /* between two looks whether the worker can be waited for, where the system does not tell when */
#define LEAVE_MS 500   /* for its end once it is not wanted any more; the system may hold it longer */
#define MOST_HELD 64   /* workers that it holds so */
#define PIECE_BYTES ((size_t)8 << 20) /* of a model, copied between two looks for signals; of whole large pages */
#define LONGEST_FOLDERS 16384 /* bytes of where libraries are looked for */

typedef struct call {
  const worker_job *job;
  int block, bytes, answer[2]; /* -1: not open */
  int heap;                    /* -1: none is lent */
  size_t heap_bytes;
  pid_t pid;                   /* 0: not started, or reaped */
  int process;                 /* readable when it has ended; -1: the system cannot say so */
  int ended;                   /* as waitpid has it; -1: somebody else has it */
  double deadline;             /* seconds of the monotonic clock */
  worker_ahead ahead;
  bool late, interrupted;
  bool unwanted;               /* it was told to end: signals of ours wait */
  bool held;                   /* the system holds it nevertheless */
  worker_answer said;
  size_t said_bytes;
} call;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *title(const call *c) {
  const sk_import_request *request = c->job->request;
  return request && request->path ? request->path : "the model's bytes";
}

static sk_status fail_system(sk_error *error, const char *doing) {
  int number = errno;
  if (number == ENOMEM) return sk_fail_memory(error, 0);
  return sk_fail(error, SK_ERROR_LIBRARY,
                 "a process for the import cannot be made (%s: %s); isolate=False imports without one", doing,
                 strerror(number));
}

/* True where waiting has to end. */
static bool look_up(call *c) {
  c->late = now() > c->deadline;
  c->interrupted = !c->late && !c->unwanted && c->job->interrupted && c->job->interrupted(c->job->context);
  return c->late || c->interrupted;
}

/* ---- descriptors ------------------------------------------------------------------------------------- */

/* The model's, piece by piece: a file of large pages, as it is read more than once. False with `late` or `interrupted`
   where waiting has to end. */
static bool write_bytes(call *c) {
  const char *bytes = c->job->request->bytes;
  size_t at = 0, size = c->job->request->size;
  if (ftruncate(c->bytes, (off_t)size)) return false; /* pages are made of what lies in a file alone */
  while (at < size) {
    size_t end = size - at < PIECE_BYTES ? size : at + PIECE_BYTES;
    worker_make_file(c->bytes, at, end);
    if (!worker_write(c->bytes, bytes + at, end - at)) return false;
    at = end;
    if (at < size && look_up(c)) return false;
  }
  return true;
}

static bool open_files(call *c) {
  const sk_import_request *request = c->job->request;
  c->block = worker_file("skinpy-block");
  if (c->block < 0 || !worker_pipe(c->answer)) return false;
  if (!request || request->path) return true;
  c->bytes = worker_file("skinpy-bytes");
  return c->bytes >= 0 && write_bytes(c);
}

static void close_file(int *descriptor) {
  if (*descriptor >= 0) close(*descriptor);
  *descriptor = -1;
}

static bool write_text(call *c, const char *text) { return !text || worker_write(c->block, text, strlen(text) + 1); }

static bool write_order(call *c) {
  static const sk_import_request nothing = {.max_influences = 1};
  const sk_import_request *request = c->job->request ? c->job->request : &nothing;
  const char *texts[WORKER_TEXTS] = {c->job->importer, c->job->libraries, request->path, request->format,
                                     request->formats};
  worker_order order;
  int i;
  memset(&order, 0, sizeof order); /* no byte of ours that is not meant to goes there */
  order.magic = WORKER_MAGIC;
  order.size = sizeof order;
  order.max_influences = request->max_influences;
  order.join_vertices = request->join_vertices;
  order.ignore_animated_scale = request->ignore_animated_scale;
  order.up = request->up;
  order.frame = request->frame;
  order.external = (uint32_t)request->external;
  order.probe = !c->job->request;
  order.seconds = (uint32_t)(c->job->seconds < 1e6 ? c->job->seconds + 2.0 : 1e6);
  order.ahead = c->ahead.large_import && c->ahead.other_core;
  order.given = (uint32_t)c->ahead.bytes;
  order.heap = c->heap < 0 ? 0 : (uint32_t)c->heap_bytes;
  order.large = c->ahead.large_import;
  order.filled = c->ahead.fills_lines ? 1 + '\n' : 0;
  order.parent = (uint32_t)getpid();
  order.memory = c->job->memory;
  order.bytes = request->path || order.probe ? WORKER_NO_BYTES : request->size;
  order.limits = request->limits;
  for (i = 0; i < WORKER_TEXTS; i++) {
    size_t length = texts[i] ? strlen(texts[i]) : 0;
    if (length > WORKER_LONGEST_TEXT) {
      errno = ENAMETOOLONG;
      return false;
    }
    order.lengths[i] = texts[i] ? (uint32_t)length : WORKER_NO_TEXT;
  }
  if (!worker_write(c->block, &order, sizeof order)) return false;
  for (i = 0; i < WORKER_TEXTS; i++)
    if (!write_text(c, texts[i])) return false;
  return true;
}

/* ---- the process --------------------------------------------------------------------------------------- */

/* Nothing there where there is no such file: the number might be a descriptor of ours that programs inherit. */
static int place_file(posix_spawn_file_actions_t *files, int file, int number) {
  if (file < 0) return WORKER_SPAWN_CLOSES ? 0 : posix_spawn_file_actions_addclose(files, number);
  return posix_spawn_file_actions_adddup2(files, file, number);
}

static int prepare_files(const call *c, posix_spawn_file_actions_t *files) {
  int failed = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDWR, 0);
  if (!failed) failed = place_file(files, 0, 1);
  if (!failed) failed = place_file(files, 0, 2);
  if (!failed) failed = place_file(files, c->answer[1], WORKER_ANSWER);
  if (!failed) failed = place_file(files, c->block, WORKER_BLOCK);
  if (!failed) failed = place_file(files, c->bytes, WORKER_BYTES);
  if (!failed) failed = place_file(files, c->heap, WORKER_HEAP);
  return failed;
}

/* No signal is blocked or ignored; a group of its own keeps Ctrl-C for us. */
static int prepare_signals(posix_spawnattr_t *attributes) {
  const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP | WORKER_SPAWN_CLOSES;
  sigset_t none, all;
  int failed;
  sigemptyset(&none);
  sigfillset(&all);
  failed = posix_spawnattr_setflags(attributes, (short)flags);
  if (!failed) failed = posix_spawnattr_setsigmask(attributes, &none);
  if (!failed) failed = posix_spawnattr_setsigdefault(attributes, &all);
  if (!failed) failed = posix_spawnattr_setpgroup(attributes, 0);
  return failed;
}

/* What the loader needs to find a library by its name alone, and nothing else. False where that is too long. */
static bool make_environment(const call *c, char *environment[2], char *room, size_t size) {
  if (*c->job->folders) {
    if ((size_t)snprintf(room, size, WORKER_FOLDERS "=%s", c->job->folders) >= size) return false;
    *environment++ = room;
  }
  *environment = NULL;
  return true;
}

static int spawn(call *c) {
  char room[LONGEST_FOLDERS], *environment[2], *arguments[] = {"skinpy-worker", NULL};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  int failed = posix_spawn_file_actions_init(&files);
  if (failed) return failed;
  failed = posix_spawnattr_init(&attributes);
  if (!failed) {
    failed = prepare_files(c, &files);
    if (!failed) failed = prepare_signals(&attributes);
    if (!failed && !make_environment(c, environment, room, sizeof room)) failed = E2BIG;
    if (!failed) failed = posix_spawn(&c->pid, c->job->program, &files, &attributes, arguments, environment);
    if (failed) c->pid = 0;
    else c->process = worker_watch(c->pid);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

/* ---- waiting --------------------------------------------------------------------------------------------- */

/* Whether the worker has been waited for, without waiting. */
static bool reap(call *c) {
  pid_t done;
  if (!c->pid) return true;
  do done = waitpid(c->pid, &c->ended, WNOHANG);
  while (done < 0 && errno == EINTR);
  if (done == 0) return false;
  if (done < 0) c->ended = -1; /* ECHILD: who set SIGCHLD to be ignored, or waits for any child, has it */
  c->pid = 0;
  return true;
}

/* Where somebody else has waited for it, its number may be another process's by now: its file is not. */
static void kill_worker(const call *c) {
  if (c->pid) worker_kill(c->process, c->pid);
}

/* Prepares memory while the worker needs none of it yet; false where waiting has to end. */
static bool make_ahead(call *c) {
  struct pollfd answer = {c->answer[0], POLLIN, 0};
  double look = now() + SLICE_MS * 1e-3;
  while (!poll(&answer, 1, 0) && worker_make_ahead(&c->ahead)) {
    if (now() < look) continue;
    if (look_up(c)) return false;
    look = now() + SLICE_MS * 1e-3;
  }
  return true;
}

/* Reads the answer as it comes; true when it is whole, or nothing will come any more. The pipe alone does not tell: a
   process that another thread forked at that moment may have its other end too. The system looks at the one after the
   other, and what was written in between lies there when the worker has ended. */
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

/* Until it is waited for; false where waiting has to end before. Who traces it has it first, although it has ended. */
static bool see_end(call *c) {
  struct pollfd waiting = {c->process, POLLIN, 0};
  struct timespec pause = {0, REAP_US * 1000};
  bool ended = c->process < 0; /* or nobody says when */
  while (!reap(c)) {
    if (look_up(c)) return false;
    if (ended) nanosleep(&pause, NULL);
    else ended = poll(&waiting, 1, SLICE_MS) > 0;
  }
  return true;
}

static bool has_answered(const call *c) { return c->said_bytes == sizeof c->said && c->said.magic == WORKER_MAGIC; }

/* Until it has answered, has ended without, or has to. */
static void wait_for(call *c) {
  bool over = false; /* what it had to say has come */
  while (!over && !hear(c)) {
    if (look_up(c)) return;
    over = !c->pid;
    if (c->process < 0) reap(c);
  }
  if (!has_answered(c)) see_end(c);
}

/* ---- workers that the system holds on to ------------------------------------------------------------------- */

/* Who left them, and their numbers: uint32_t each; 0: nobody. A child that is forked has the record, and none of them. */
static _Atomic(uint64_t) held_back[MOST_HELD];

static void note_held(uint64_t worker) {
  int i;
  for (i = 0; i < MOST_HELD; i++) {
    uint64_t nobody = 0;
    if (atomic_compare_exchange_strong(&held_back[i], &nobody, worker)) return;
  }
}

/* Those that have ended by now. */
static void reap_held(void) {
  int i;
  for (i = 0; i < MOST_HELD; i++) {
    uint64_t worker = atomic_load(&held_back[i]) ? atomic_exchange(&held_back[i], 0) : 0;
    if (worker >> 32 == (uint64_t)getpid() && waitpid((pid_t)(uint32_t)worker, NULL, WNOHANG) == 0) note_held(worker);
  }
}

/* It was told to end, and mostly has; one that waits for a disk which does not answer goes when a later load looks. */
static void leave(call *c) {
  pid_t pid = c->pid;
  c->deadline = now() + LEAVE_MS * 1e-3;
  c->unwanted = true;
  c->held = !see_end(c);
  if (c->held) note_held((uint64_t)getpid() << 32 | (uint32_t)pid);
}

/* ---- what came of it ---------------------------------------------------------------------------------------- */

static sk_status fail_late(const call *c, sk_error *error) {
  return sk_fail(error, SK_ERROR_LIMIT,
                 "%s: its import takes more than the %g seconds that it may; "
                 "more are allowed by limits=skinpy.Limits(seconds=...)",
                 title(c), c->job->seconds);
}

static sk_status fail_signal(const call *c, int number, sk_error *error) {
  if (number == SIGXCPU) return fail_late(c, error);
  if (number == SIGXFSZ)
    return sk_fail(error, SK_ERROR_LIMIT,
                   "%s: the model would be larger than the %.4g MiB that it may; "
                   "more are allowed by limits=skinpy.Limits(memory=...)",
                   title(c), (double)c->job->memory / (1 << 20));
  return sk_fail(error, SK_ERROR_CRASHED,
                 "%s: the importer crashed on it (signal %d, %s%s), "
                 "in a process of its own: nothing of this one is lost",
                 title(c), number, strsignal(number),
                 number == SIGBUS ? ", as where a file is cut short while it is read" : "");
}

static sk_status fail_silent(const call *c, sk_error *error) {
  if (c->late) return fail_late(c, error);
  if (c->interrupted) return sk_fail(error, SK_ERROR_CRASHED, "%s: the import was interrupted", title(c));
  if (c->ended != -1 && WIFSIGNALED(c->ended)) return fail_signal(c, WTERMSIG(c->ended), error);
  if (c->ended != -1 && WEXITSTATUS(c->ended) == 127)
    return sk_fail(error, SK_ERROR_LIBRARY, "%s cannot be run; install skinpy afresh, or import with isolate=False",
                   c->job->program);
  return sk_fail(error, SK_ERROR_CRASHED, "%s: the importer ended without an answer (exit status %d)", title(c),
                 c->ended == -1 ? -1 : WEXITSTATUS(c->ended));
}

static sk_status fail_held(const call *c, sk_error *error) {
  if (c->interrupted) return fail_silent(c, error);
  return sk_fail(error, SK_ERROR_CRASHED, "%s: the importer has answered, but its process does not end", title(c));
}

/* What is handed over nobody can change any more, and the worker is gone. Seals are refused while somebody could still
   write, so that the block can be mapped while the worker's memory is torn down; where there are none, its end is
   waited for first, and what it left is copied, no more than it may take. */
static sk_status hand_over(call *c, sk_error *error) {
  struct stat facts;
  size_t size = (size_t)c->said.size;
  void *memory;
  if (!WORKER_HAS_SEALS && !see_end(c)) return fail_held(c, error);
  if (WORKER_HAS_SEALS && !worker_seal(c->block))
    return sk_fail(error, SK_ERROR_CRASHED, "%s: the importer's result cannot be sealed (%s)", title(c),
                   strerror(errno));
  if (fstat(c->block, &facts) || !size || (uint64_t)facts.st_size < c->said.size)
    return sk_fail(error, SK_ERROR_CRASHED, "%s: the importer's result is not as large as it says", title(c));
  if (!WORKER_HAS_SEALS && c->said.size > c->job->memory) return fail_signal(c, SIGXFSZ, error);
  memory = WORKER_HAS_SEALS ? worker_take_block(&c->ahead, c->block, size) : worker_copy_block(c->block, size);
  if (!memory) return sk_fail_memory(error, size);
  if (!see_end(c)) {
    worker_unmap_block(memory, size);
    return fail_held(c, error);
  }
  c->job->take(c->job->context, memory, size);
  return SK_OK;
}

static sk_status take_answer(call *c, uint32_t *cage, sk_error *error) {
  if (!has_answered(c)) return fail_silent(c, error);
  c->deadline = now() + LEAVE_MS * 1e-3; /* it was in time; that it ends is the system's affair */
  *cage = c->said.cage;
  c->said.message[sizeof c->said.message - 1] = 0;
  if (c->said.status < 0 || c->said.status >= SK_STATUS_COUNT)
    return sk_fail(error, SK_ERROR_CRASHED, "%s: the importer's answer makes no sense", title(c));
  if (c->said.status) return sk_fail(error, (sk_status)c->said.status, "%s", c->said.message);
  return c->job->request ? hand_over(c, error) : SK_OK;
}

/* Before they are copied: what is in a file the worker refuses as soon. */
static sk_status check_bytes(const call *c, sk_error *error) {
  const sk_import_request *request = c->job->request;
  if (!request || request->path || !request->limits.file_bytes || request->size <= request->limits.file_bytes)
    return SK_OK;
  return sk_fail(error, SK_ERROR_LIMIT,
                 "%s: they are %zu bytes, the limit of file_bytes is %llu; allow it with "
                 "limits=skinpy.Limits(file_bytes=%zu)",
                 title(c), request->size, (unsigned long long)request->limits.file_bytes, request->size);
}

sk_status worker_run(const worker_job *job, uint32_t *cage, sk_error *error) {
  call c = {.job = job, .block = -1, .bytes = -1, .answer = {-1, -1}, .heap = -1, .process = -1, .ended = -1};
  bool ready;
  sk_status status = check_bytes(&c, error);
  int failed;
  *cage = 0;
  if (status) return status;
  reap_held();
  c.deadline = now() + job->seconds;
  worker_plan_ahead(&c.ahead, job->request);
  if (c.ahead.takes_heap) c.heap = worker_lend_heap(&c.heap_bytes);
  ready = open_files(&c) && write_order(&c);
  if (ready) worker_map_ahead(&c.ahead, c.block);
  if (c.late || c.interrupted) {
    status = fail_silent(&c, error);
  } else if (!ready) {
    status = fail_system(error, "a file in memory");
  } else if ((failed = spawn(&c)) != 0) {
    errno = failed;
    status = fail_system(error, job->program);
  } else {
    close_file(&c.answer[1]);
    if (make_ahead(&c)) wait_for(&c);
    kill_worker(&c);
    status = take_answer(&c, cage, error);
    leave(&c);
  }
  if (c.ahead.takes_heap) worker_return_heap(c.heap, !c.held, has_answered(&c) ? (size_t)c.said.heap << 20 : 0);
  worker_unmap_pages(&c.ahead.block);
  close_file(&c.answer[0]);
  close_file(&c.answer[1]);
  close_file(&c.bytes);
  close_file(&c.block);
  close_file(&c.process);
  return status;
}

void worker_unmap(void *memory, size_t size) { worker_unmap_block(memory, size); }
