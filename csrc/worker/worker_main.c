/* worker_main.c: the program that imports one model and ends.

   It is started by worker_spawn.c with its descriptors in place, no arguments and next to no environment. The
   importer and Assimp are opened first; then it locks itself in, reads the model, writes the block and answers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker_cage.h"
#include "worker_heap.h"
#include "worker_io.h"
#include "worker_malloc.h"
#include "worker_order.h"
#include "worker_pages.h"
#include "worker_system.h"

#define STACK_MOST ((size_t)256 << 20)  /* Assimp descends trees by calling itself: some 8 KiB a node in COLLADA */
#define STACK_LEAST ((size_t)8 << 20)   /* as much as a program mostly has */
#define GUARD_BYTES ((size_t)64 << 10)  /* below it, which nobody may touch; of whole pages everywhere */
#define MOST_LIBRARIES 64
#define EXPECTED_BYTES ((size_t)1 << 17) /* pages of less come one by one */
#define PREPARED_PART 8 /* of the memory that an import may take, so much is prepared for it at most */
#define ROOM_BYTES ((size_t)1 << 20) /* a mesh of fewer bytes is copied into the block, as all else is */

typedef struct worker {
  worker_order order;
  char *texts[WORKER_TEXTS]; /* or NULL */
  const sk_importer *importer;
  sk_import_request request;
  worker_answer answer;
} worker;

static worker the_worker;

/* Ends the worker; what it has to say stands in `answer`. */
static _Noreturn void answer_and_end(worker *w) {
  w->answer.magic = WORKER_MAGIC;
  _exit(write(WORKER_ANSWER, &w->answer, sizeof w->answer) == (ssize_t)sizeof w->answer ? 0 : 1);
}

static _Noreturn void fail(worker *w, const sk_error *error) {
  w->answer.status = error->status;
  memcpy(w->answer.message, error->message, sizeof w->answer.message);
  answer_and_end(w);
}

/* ---- the order --------------------------------------------------------------------------------------- */

static bool read_text(worker *w, worker_text which, off_t *at) {
  uint32_t length = w->order.lengths[which];
  if (length == WORKER_NO_TEXT) return true;
  if (length > WORKER_LONGEST_TEXT || !(w->texts[which] = calloc(1, length + 1))) return false;
  if (!worker_read(WORKER_BLOCK, w->texts[which], length + 1, *at) || w->texts[which][length]) return false;
  *at += (off_t)length + 1;
  return true;
}

/* What takes no memory. */
static bool read_head(worker *w) {
  return worker_read(WORKER_BLOCK, &w->order, sizeof w->order, 0) && w->order.magic == WORKER_MAGIC &&
         w->order.size == sizeof w->order;
}

static bool read_texts(worker *w) {
  off_t at = sizeof w->order;
  int i;
  for (i = 0; i < WORKER_TEXTS; i++)
    if (!read_text(w, (worker_text)i, &at)) return false;
  return w->texts[WORKER_IMPORTER] && w->texts[WORKER_LIBRARIES] && lseek(WORKER_BLOCK, 0, SEEK_SET) == 0;
}

/* All but the model's bytes. */
static void make_request(worker *w) {
  const worker_order *o = &w->order;
  w->request = (sk_import_request){.path = w->texts[WORKER_PATH],
                                   .size = o->bytes == WORKER_NO_BYTES ? 0 : (size_t)o->bytes,
                                   .format = w->texts[WORKER_FORMAT],
                                   .max_influences = o->max_influences,
                                   .join_vertices = o->join_vertices,
                                   .ignore_animated_scale = o->ignore_animated_scale != 0,
                                   .up = o->up,
                                   .frame = o->frame,
                                   .formats = w->texts[WORKER_FORMATS],
                                   .external = (sk_external)o->external,
                                   .limits = o->limits,
                                   .process_ends = true};
}

/* ---- the importer ------------------------------------------------------------------------------------ */

static sk_status open_importer(worker *w, sk_error *error) {
  void *library = dlopen(w->texts[WORKER_IMPORTER], RTLD_NOW | RTLD_LOCAL);
  const sk_importer *(*open)(void);
  if (!library) return sk_fail(error, SK_ERROR_LIBRARY, "the importer cannot be opened: %s", dlerror());
  *(void **)&open = dlsym(library, SK_IMPORT_SYMBOL);
  if (open) w->importer = open();
  if (w->importer && w->importer->abi == SK_IMPORT_ABI) return SK_OK;
  return sk_fail(error, SK_ERROR_LIBRARY, "%s is the importer of another version of skinpy; install it afresh",
                 w->texts[WORKER_IMPORTER]);
}

static sk_status start_importer(worker *w, sk_error *error) {
  const char *paths[MOST_LIBRARIES + 1];
  char *at = w->texts[WORKER_LIBRARIES];
  size_t count = 0;
  sk_status status = open_importer(w, error);
  while (at && *at && count < MOST_LIBRARIES) {
    char *end = strchr(at, WORKER_SEPARATOR);
    if (end) *end = 0;
    paths[count++] = at;
    at = end ? end + 1 : NULL;
  }
  paths[count] = NULL;
  return status ? status : w->importer->start(paths, &w->request, error);
}

/* ---- the model's bytes --------------------------------------------------------------------------------- */

static sk_status find_bytes(worker *w, sk_error *error) {
  size_t size = w->request.size;
  void *bytes = (void *)"";
  if (w->order.bytes == WORKER_NO_BYTES) return SK_OK;
  if (size) bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, WORKER_BYTES, 0);
  if (bytes == MAP_FAILED) return sk_fail_memory(error, size);
  w->request.bytes = bytes;
  return SK_OK;
}

/* ---- the block, in the file that the parent maps ---------------------------------------------------------- */

/* Of the file. Large pages that are there serve, however little of the last one is used; of a small block none does. */
static size_t block_length(const worker_pages *room, size_t size) {
  size_t large = worker_up(size), whole = size >= ROOM_BYTES && large <= room->given ? large : worker_whole(size);
  return whole > room->mapped ? whole : room->mapped;
}

/* Where it is over the limit, it ends the worker. A large page that the file would end in goes as a whole before: to
   cut it would leave the system hundreds of small ones. */
static bool set_length(const worker_pages *room, size_t length) {
  size_t large = length / WORKER_LARGE_PAGE * WORKER_LARGE_PAGE;
  if (large < length && large < room->given && ftruncate(WORKER_BLOCK, (off_t)large)) return false;
  return ftruncate(WORKER_BLOCK, (off_t)length) == 0;
}

/* Its first bytes, mapped. */
static void *reserve_block(void *context, size_t size) {
  worker_pages *room = context;
  size_t length = block_length(room, size);
  if (size < ROOM_BYTES || room->memory || !set_length(room, length)) return NULL;
  return worker_map(room, WORKER_BLOCK, 0, length, true) ? room->memory : NULL;
}

static void expect_pages(void *context, const void *memory, size_t size) {
  worker_pages *room = context;
  if (size >= EXPECTED_BYTES) worker_make_pages(room, (size_t)((const char *)memory - room->memory) + size);
}

/* What was made in the room is there. */
static bool put_piece(const worker_pages *room, const sk_block_piece *piece, size_t at) {
  if (room->memory && piece->data == room->memory + at) return true;
  return lseek(WORKER_BLOCK, (off_t)at, SEEK_SET) == (off_t)at && worker_write(WORKER_BLOCK, piece->data, piece->size);
}

/* Pages that were just made wait in a list of this processor, which counts as a use of them: the file could be sealed
   only when the processor has come to it. To ask for any page to be put last brings the list up to date at once. */
static void settle_pages(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  worker_advise((void *)((uintptr_t)&the_worker / page * page), page, WORKER_COLD);
}

static bool take_block(void *context, const sk_block_piece *pieces, size_t count, size_t size) {
  worker_pages *room = context;
  size_t i, at = 0;
  if (!set_length(room, block_length(room, size))) return false;
  worker_make_file(WORKER_BLOCK, room->mapped > room->given ? room->mapped : room->given, size);
  for (i = 0; i < count; i++) {
    if (!put_piece(room, &pieces[i], at)) return false;
    at += pieces[i].size;
  }
  worker_unmap_pages(room); /* it can be sealed when nobody can write it */
  settle_pages();
  return true;
}

/* ---- the import -------------------------------------------------------------------------------------- */

static size_t most_ahead(const worker *w) { return w->order.large ? (size_t)(w->order.memory / PREPARED_PART) : 0; }

/* While this thread goes on. */
static void prepare_memory(const worker *w) {
  size_t most = w->order.ahead ? most_ahead(w) : 0, size = most ? w->importer->appetite(&w->request) : 0;
  worker_clear_heap(size < most ? size : most);
}

static sk_status import_model(worker *w, sk_import_result *result, sk_error *error) {
  worker_pages room = {.given = w->order.given};
  const sk_block_sink sink = {take_block, reserve_block, expect_pages, &room};
  w->request.sink = &sink;
  return w->importer->run(&w->request, result, error);
}

static bool was_memory(const sk_error *error) {
  return error->status == SK_ERROR_MEMORY || (error->status == SK_ERROR_IMPORT && worker_lacked_memory());
}

/* Where the limit, and not the machine, was in the way. */
static void blame_limit(const worker *w, sk_error *error) {
  if (was_memory(error) && w->answer.cage & WORKER_HAS_LIMITS)
    sk_fail(error, SK_ERROR_LIMIT,
            "%s: its import takes more than the %.4g MiB of memory that it may; "
            "more is allowed by limits=skinpy.Limits(memory=...)",
            w->texts[WORKER_PATH] ? w->texts[WORKER_PATH] : "the model's bytes",
            (double)w->order.memory / (1 << 20));
}

/* Both end the process; `work` on a stack of its own. */
static _Noreturn void fail_import(worker *w, sk_error *error) {
  blame_limit(w, error);
  fail(w, error);
}

static void work(void) {
  worker *w = &the_worker;
  sk_import_result result = {NULL, 0};
  sk_error error = {SK_OK, ""};
  if (worker_filter()) w->answer.cage |= WORKER_HAS_FILTER;
  if (w->order.probe) answer_and_end(w);
  if (import_model(w, &result, &error)) fail_import(w, &error);
  w->answer.size = result.size;
  w->answer.heap = (uint32_t)(worker_used_heap() >> 20) + 1;
  answer_and_end(w);
}

/* No more than the import may take besides, or little. */
static size_t stack_bytes(const worker *w) {
  uint64_t memory = w->order.memory;
  return memory > STACK_MOST ? STACK_MOST : memory < STACK_LEAST ? STACK_LEAST : (size_t)memory / GUARD_BYTES * GUARD_BYTES;
}

/* Sanitizers read files of their own. */
static void confine(worker *w) {
  const char *path = w->texts[WORKER_PATH], *slash = path ? strrchr(path, '/') : NULL;
  bool anywhere = w->order.external == SK_EXTERNAL_ANY && path;
  char *folder = NULL;
  if (WORKER_IS_SANITIZED) return;
  if (path && w->order.external == SK_EXTERNAL_FOLDER)
    folder = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
  if (worker_confine(folder, path, anywhere)) w->answer.cage |= WORKER_HAS_FOLDERS;
  free(folder);
}

int main(void) {
  worker *w = &the_worker;
  sk_error error = {SK_OK, ""};
  size_t stack;
  worker_settle(WORKER_FIRST_FREE);
  if (!read_head(w)) return 2;
  if (w->order.parent != (uint32_t)getppid()) return 2; /* it ended before its end could end this */
  worker_tune_heap(most_ahead(w), w->order.heap);
  if (!read_texts(w)) return 2;
  if (w->order.filled) worker_fill_by_file((int)w->order.filled - 1);
  make_request(w);
  if (start_importer(w, &error)) fail(w, &error);
  confine(w);
  stack = stack_bytes(w);
  if (worker_limit(w->order.memory, stack + worker_taken_bytes(), w->order.seconds))
    w->answer.cage |= WORKER_HAS_LIMITS;
  if (find_bytes(w, &error)) fail_import(w, &error);
  prepare_memory(w);
  worker_run_on_stack(work, stack, GUARD_BYTES);
  sk_fail_memory(&error, stack);
  fail(w, &error);
}
