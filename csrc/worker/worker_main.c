/* worker_main.c: the program that imports one model and ends.

   worker_spawn.c starts it with its descriptors in place, no arguments and next to no environment. It opens the
   importer and Assimp, gives up its rights, imports the model, writes the block and answers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "worker_io.h"
#include "worker_sandbox.h"

#define MAX_STACK     ((size_t)256 << 20) /* Assimp descends trees by recursion: some 8 KiB for a node in COLLADA */
#define MIN_STACK     ((size_t)8 << 20)   /* the usual stack of a program */
#define STACK_STEP    ((size_t)64 << 10)  /* a stack has whole pages, of at most so many bytes */
#define MAX_LIBRARIES 64
#define BAD_REQUEST   2 /* exit status; the parent sends none */

/* State of this process, which does one import. */
typedef struct worker {
  worker_request request;
  char *texts[WORKER_TEXTS]; /* or NULL; never freed, as the process ends soon */
  const sk_importer *importer;
  sk_import_request job;     /* points into `texts` */
  size_t stack;              /* bytes */
  char outside[WORKER_WORDS]; /* words for a limit of memory that is lower than that of the import; "" for none */
  worker_answer answer;
} worker;

static _Noreturn void send_answer(worker *w) {
  w->answer.magic = WORKER_MAGIC;
  _exit(worker_write(WORKER_ANSWER, &w->answer, sizeof w->answer) ? 0 : 1);
}

static _Noreturn void send_error(worker *w, const sk_error *error) {
  w->answer.status = error->status;
  memcpy(w->answer.message, error->message, sizeof w->answer.message);
  send_answer(w);
}

/* ---- memory that runs out ---------------------------------------------------------------------------------- */

static atomic_bool memory_ran_out;

/* Some of Assimp's readers report a failed allocation as a fault of the file. So this function takes the place of the
   C library's, also for the libraries that are opened later, and remembers a failure. */
#if defined(__GLIBC__) && !WORKER_IS_SANITIZED

void *__libc_malloc(size_t size);

__attribute__((visibility("default"))) void *malloc(size_t size) {
  void *memory = __libc_malloc(size);
  if (!memory) atomic_store_explicit(&memory_ran_out, true, memory_order_relaxed);
  return memory;
}

#endif

/* If memory ran out under a limit, the error names the limit. */
static void blame_limit(const worker *w, sk_error *error) {
  bool lacking = error->status == SK_ERROR_MEMORY || (error->status == SK_ERROR_IMPORT && memory_ran_out);
  if (lacking && w->outside[0])
    sk_fail(error, SK_ERROR_LIMIT, "the import takes more memory than it may: %s", w->outside);
  else if (lacking && w->answer.sandbox & WORKER_HAS_LIMITS)
    sk_fail(error, SK_ERROR_LIMIT,
            "the import takes more memory than its limit of %.4g MiB; "
            "allow more with limits=skinpy.Limits(memory=...)",
            (double)w->request.memory / (1 << 20));
}

/* ---- the request ------------------------------------------------------------------------------------------- */

static bool read_text(worker *w, worker_text which, off_t *offset) {
  uint32_t length = w->request.lengths[which];
  if (length == WORKER_NO_TEXT) return true;
  if (length > WORKER_MAX_TEXT || !(w->texts[which] = calloc(1, length + 1))) return false;
  if (!worker_read(WORKER_BLOCK, w->texts[which], length + 1, *offset) || w->texts[which][length]) return false;
  *offset += (off_t)length + 1;
  return true;
}

/* A worker whose parent ended before worker_settle finds another parent, and ends too. */
static bool read_request(worker *w) {
  off_t offset = sizeof w->request;
  int i;
  if (!worker_read(WORKER_BLOCK, &w->request, sizeof w->request, 0)) return false;
  if (w->request.magic != WORKER_MAGIC || w->request.size != sizeof w->request) return false;
  if (w->request.parent != (uint32_t)getppid()) return false;
  for (i = 0; i < WORKER_TEXTS; i++)
    if (!read_text(w, (worker_text)i, &offset)) return false;
  return w->texts[WORKER_IMPORTER] && w->texts[WORKER_LIBRARIES];
}

/* All of the job but the model's bytes. */
static void make_job(worker *w) {
  const worker_request *r = &w->request;
  w->job = (sk_import_request){.path = w->texts[WORKER_PATH],
                               .size = r->bytes == WORKER_NO_BYTES ? 0 : (size_t)r->bytes,
                               .format = w->texts[WORKER_FORMAT],
                               .max_influences = r->max_influences,
                               .join_vertices = r->join_vertices,
                               .curve_error = r->curve_error,
                               .ignore_animated_scale = r->ignore_animated_scale != 0,
                               .up = r->up,
                               .frame = r->frame,
                               .formats = w->texts[WORKER_FORMATS],
                               .scene = w->texts[WORKER_SCENE],
                               .external = (sk_external)r->external,
                               .limits = r->limits,
                               .isolated = true};
}

static sk_status map_bytes(worker *w, sk_error *error) {
  size_t size = w->job.size;
  void *bytes = (void *)"";
  if (w->request.bytes == WORKER_NO_BYTES) return SK_OK;
  if (size) bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, WORKER_BYTES, 0);
  if (bytes == MAP_FAILED) return sk_fail_memory(error, size);
  w->job.bytes = bytes;
  return SK_OK;
}

/* ---- the importer ------------------------------------------------------------------------------------------ */

static sk_status open_importer(worker *w, sk_error *error) {
  void *library = dlopen(w->texts[WORKER_IMPORTER], RTLD_NOW | RTLD_LOCAL);
  const sk_importer *(*open)(void);
  if (!library) return sk_fail(error, SK_ERROR_LIBRARY, "the importer cannot be opened: %s", dlerror());
  *(void **)&open = dlsym(library, SK_IMPORT_SYMBOL);
  if (open) w->importer = open();
  if (w->importer && w->importer->abi == SK_IMPORT_ABI) return SK_OK;
  return sk_fail(error, SK_ERROR_LIBRARY, "%s is the importer of another version of skinpy; install skinpy again",
                 w->texts[WORKER_IMPORTER]);
}

/* Opens the importer, and lets it open Assimp. */
static sk_status start_importer(worker *w, sk_error *error) {
  const char *paths[MAX_LIBRARIES + 1];
  char *path = w->texts[WORKER_LIBRARIES];
  size_t count = 0;
  sk_status status = open_importer(w, error);
  while (path && *path && count < MAX_LIBRARIES) {
    char *end = strchr(path, WORKER_SEPARATOR);
    if (end) *end = 0;
    paths[count++] = path;
    path = end ? end + 1 : NULL;
  }
  paths[count] = NULL;
  return status ? status : w->importer->start(paths, error);
}

/* ---- the block --------------------------------------------------------------------------------------------- */

/* Receives the finished block, and writes it over the request. A block above the limit of file size ends the process
   by SIGXFSZ. */
static bool write_block(void *context, const sk_block_piece *pieces, size_t count, size_t size) {
  size_t i;
  (void)context;
  if (ftruncate(WORKER_BLOCK, (off_t)size) || lseek(WORKER_BLOCK, 0, SEEK_SET)) return false;
  for (i = 0; i < count; i++)
    if (!worker_write(WORKER_BLOCK, pieces[i].data, pieces[i].size)) return false;
  return true;
}

/* ---- the steps --------------------------------------------------------------------------------------------- */

/* Finds the limit of memory that ends the import first, where skinpy has not set it. The filter of system calls forbids
   to ask later. `space` is that of address space, before it was lowered. */
static void find_outside_limit(worker *w, uint64_t space) {
  uint64_t data = worker_limit_of(RLIMIT_DATA), now = worker_limit_of(RLIMIT_AS);
  bool same = space != RLIM_INFINITY && now == space;
  if (data < (same ? space : w->request.memory + w->stack))
    worker_limit_words(RLIMIT_DATA, w->outside, sizeof w->outside);
  else if (same) worker_limit_words(RLIMIT_AS, w->outside, sizeof w->outside);
}

/* Gives up capabilities, and limits memory, time, and the files that may be read. Without a path the model is in
   memory, and has no folder. */
static void enter_sandbox(worker *w) {
  const char *path = w->texts[WORKER_PATH], *slash = path ? strrchr(path, '/') : NULL;
  bool anywhere = path && w->request.external == SK_EXTERNAL_ANY;
  uint64_t space = worker_limit_of(RLIMIT_AS);
  char *folder = NULL;
  if (path && w->request.external == SK_EXTERNAL_FOLDER)
    folder = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
  if (worker_drop_capabilities(folder, path)) w->answer.sandbox |= WORKER_HAS_NO_RIGHTS;
  if (worker_confine(folder, path, anywhere)) w->answer.sandbox |= WORKER_HAS_FOLDERS;
  if (worker_limit(w->request.memory, w->stack, w->request.seconds)) w->answer.sandbox |= WORKER_HAS_LIMITS;
  find_outside_limit(w, space);
  free(folder);
}

/* Isolation that is strict imports nothing where a part of the sandbox is missing. */
static void require_sandbox(worker *w) {
  static const struct part {
    uint32_t bit;
    const char *name;
  } parts[] = {{WORKER_HAS_LIMITS, "limits of memory and time"},
               {WORKER_HAS_FILTER, "a filter of system calls (seccomp)"},
               {WORKER_HAS_FOLDERS, "rules about folders (Landlock, Linux 5.13)"},
               {WORKER_HAS_NO_RIGHTS, "a way to give up the rights of root (capset)"}};
  char missing[200] = "";
  sk_error error;
  size_t i;
  for (i = 0; i < sizeof parts / sizeof *parts; i++) {
    size_t used = strlen(missing);
    if (w->answer.sandbox & parts[i].bit) continue;
    snprintf(missing + used, sizeof missing - used, "%s%s", used ? ", and " : "", parts[i].name);
  }
  if (!w->request.strict || !*missing) return;
  sk_fail(&error, SK_ERROR_LIBRARY,
          "isolate='strict' needs what this system lacks: %s; isolate=True imports with what there is", missing);
  send_error(w, &error);
}

/* The thread that imports. It has a stack of its own since the main thread's may be small, and cannot always be made
   larger. */
static void *import_model(void *context) {
  worker *w = context;
  const sk_block_sink sink = {write_block, NULL};
  sk_import_result result = {NULL, 0};
  sk_error error = {SK_OK, ""};
  if (worker_filter()) w->answer.sandbox |= WORKER_HAS_FILTER;
  if (w->request.probe) send_answer(w);
  require_sandbox(w);
  w->job.sink = &sink;
  if (w->importer->run(&w->job, &result, &error)) {
    blame_limit(w, &error);
    send_error(w, &error);
  }
  w->answer.size = result.size;
  send_answer(w);
}

/* As large as the memory of the import, within limits. */
static size_t stack_bytes(uint64_t memory) {
  if (memory > MAX_STACK) return MAX_STACK;
  return memory < MIN_STACK ? MIN_STACK : (size_t)memory / STACK_STEP * STACK_STEP;
}

/* The C library has one number for a thread that lacks memory and for one thread too many. */
static sk_status fail_thread(const worker *w, sk_error *error) {
  void *stack = mmap(NULL, w->stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char words[WORKER_WORDS] = "the system allows no more";
  if (stack == MAP_FAILED) return sk_fail_memory(error, w->stack);
  worker_limit_words(RLIMIT_NPROC, words, sizeof words);
  return sk_fail(error, SK_ERROR_LIBRARY, "the import cannot start a thread: %s", words);
}

/* Runs the thread that imports, which ends the process. It returns only if the thread cannot be made. */
static sk_status run_import(worker *w, sk_error *error) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, w->stack))
    return sk_fail_memory(error, w->stack);
  if (pthread_create(&thread, &attributes, import_model, w)) return fail_thread(w, error);
  pthread_join(thread, NULL);
  return SK_OK;
}

int main(void) {
  static worker w;
  sk_error error = {SK_OK, ""};
  worker_settle(WORKER_FIRST_FREE);
#if defined(M_ARENA_MAX)
  mallopt(M_ARENA_MAX, 1); /* a second heap for the thread would take 64 MiB of the limit */
#endif
  if (!read_request(&w)) return BAD_REQUEST;
  make_job(&w);
  w.stack = stack_bytes(w.request.memory);
  if (start_importer(&w, &error)) send_error(&w, &error);
  enter_sandbox(&w);
  if (!map_bytes(&w, &error)) run_import(&w, &error);
  blame_limit(&w, &error);
  send_error(&w, &error);
}
