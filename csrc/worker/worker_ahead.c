/* worker_ahead.c: see worker_ahead.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_ahead.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../core/sk_cores.h"

#define LARGE_BYTES ((size_t)512 << 10) /* of a model: its import takes megabytes */
#define MOST_HEAP ((size_t)64 << 20)    /* prepared, whatever the model's size */
#define MOST_BLOCK ((size_t)48 << 20)
#define MOST_KEPT ((size_t)64 << 20)    /* of either */
#define MEMORY_PART 8                   /* of what an import may take, so much is prepared at most */
#define STEP_BYTES ((size_t)16 << 20)   /* at one go, but for the heap's first page, which is needed soon */
#define HEAD_BYTES 84                   /* of a file, which show whether it is text */

/* ---- what is kept ------------------------------------------------------------------------------------------ */

typedef enum place { SMALL_HEAP, LARGE_HEAP, BLOCK, PLACES } place;

#define COUNT_BITS ((uintptr_t)WORKER_LARGE_PAGE - 1)

/* Of each the newest: where the first large page lies, or-ed with their number; 0: none. */
static _Atomic(uintptr_t) kept[PLACES];

static place heap_place(size_t bytes) { return bytes == WORKER_LARGE_PAGE ? SMALL_HEAP : LARGE_HEAP; }

static void replace(place where, uintptr_t pages) {
  uintptr_t old = atomic_exchange(&kept[where], pages);
  if (old) munmap((void *)(old & ~COUNT_BITS), (size_t)(old & COUNT_BITS) * WORKER_LARGE_PAGE);
}

/* A child has the record, and not the pages. */
static void forget(void) {
  int i;
  for (i = 0; i < PLACES; i++) atomic_store(&kept[i], 0);
}

static bool is_child_told(void) {
  static atomic_int known; /* 1: told, -1: cannot be; twice does no harm */
  int found = atomic_load(&known);
  if (!found) atomic_store(&known, found = pthread_atfork(NULL, NULL, forget) ? -1 : 1);
  return found > 0;
}

/* Nobody reads them any more: they are not this process's own memory, as it is counted, and no child's. */
static void keep(place where, void *memory, size_t mapped) {
  bool whole = !((uintptr_t)memory & COUNT_BITS) && !(mapped & COUNT_BITS) && mapped && mapped <= MOST_KEPT;
  if (whole && is_child_told() && !madvise(memory, mapped, MADV_DONTFORK) && !madvise(memory, mapped, MADV_DONTNEED) &&
      !mprotect(memory, mapped, PROT_NONE))
    replace(where, (uintptr_t)memory | mapped / WORKER_LARGE_PAGE);
  else
    munmap(memory, mapped);
}

/* ---- how much --------------------------------------------------------------------------------------------- */

/* What an import takes, at least and for each byte of the file, in the middle of some models of each format, or for FBX
   of most: 4 to 9 bytes, and in text 14 to 21, as Assimp keeps each word, and a number is two of them. For the smallest
   OBJ it clears 16 MiB; of a large glTF it gets the small part alone. */
typedef struct appetite {
  const char *format;
  size_t least;
  uint8_t binary, text;
  double block; /* bytes of it for each byte of the file: that of a text is shorter */
} appetite;

static const appetite table[] = {{"fbx", 0, 8, 20, 0.25}, {"stl", 0, 6, 2, 0.5}, {"dae", 0, 5, 5, 0.25},
                                 {"obj", (size_t)16 << 20, 9, 9, 0.5}, {"ply", 0, 3, 3, 0.5}, {"x", 0, 3, 3, 0.25},
                                 {"glb", 0, 0, 0, 1.0}, {"vrm", 0, 0, 0, 1.0}, {"", 0, 0, 0, 0.25}};

/* The last row where the format is another one, or not said. */
static const appetite *appetite_of(const sk_import_request *request) {
  const char *dot = request->path ? strrchr(request->path, '.') : NULL;
  const char *format = request->format ? request->format : dot ? dot + 1 : "";
  const appetite *row = table;
  if (!request->path && !request->format && request->size >= 4 && !memcmp(request->bytes, "glTF", 4)) format = "glb";
  while (*row->format && strcasecmp(row->format, format)) row++;
  return row;
}

static size_t model_bytes(const sk_import_request *request) {
  struct stat facts;
  if (!request->path) return request->size;
  return stat(request->path, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0 ? (size_t)facts.st_size : 0;
}

/* What is no file does not hold us up. */
static void read_head(const sk_import_request *request, char head[HEAD_BYTES]) {
  int file = request->path ? open(request->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
  memset(head, 0, HEAD_BYTES);
  if (!request->path) memcpy(head, request->bytes, request->size < HEAD_BYTES ? request->size : HEAD_BYTES);
  else if (pread(file, head, HEAD_BYTES, 0) < 0) head[0] = 0;
  if (file >= 0) close(file);
}

/* A binary STL says in its 81st byte and the next three how many faces come, of 50 bytes each. */
static bool is_text(const sk_import_request *request, const appetite *row, size_t model) {
  char head[HEAD_BYTES];
  uint32_t faces;
  if (row->binary == row->text) return false;
  read_head(request, head);
  memcpy(&faces, head + 80, sizeof faces);
  return strcmp(row->format, "stl") ? memcmp(head, "Kaydara FBX Binary", 18) != 0 : model != 84 + (size_t)50 * faces;
}

static size_t lesser(size_t a, size_t b) { return a < b ? a : b; }

static size_t heap_bytes(const sk_import_request *request, const appetite *row, size_t model, size_t most) {
  size_t factor = model < LARGE_BYTES ? 0 : is_text(request, row, model) ? row->text : row->binary;
  size_t bytes = WORKER_LARGE_PAGE + row->least + factor * lesser(model, MOST_HEAP);
  return lesser(bytes, lesser(most, MOST_HEAP)) / WORKER_LARGE_PAGE * WORKER_LARGE_PAGE;
}

static size_t block_bytes(const sk_import_request *request, const appetite *row, size_t model, size_t most) {
  double part = row->block == 1.0 && request->join_vertices == 1 ? 0.25 : row->block; /* not made in place */
  return worker_large((size_t)(part * (double)lesser(model, lesser(most, MOST_BLOCK))));
}

/* Asked once: to find out takes as long as to prepare a hundred pages. */
static bool has_other_core(void) {
  static atomic_int known; /* 0: not asked yet */
  int found = atomic_load_explicit(&known, memory_order_relaxed);
  if (!found) {
    found = sk_core_count() > 1 ? 1 : -1;
    atomic_store_explicit(&known, found, memory_order_relaxed);
  }
  return found > 0;
}

void worker_plan_ahead(worker_ahead *ahead, const sk_import_request *request, uint64_t memory) {
  const appetite *row = request ? appetite_of(request) : NULL;
  size_t model = request ? model_bytes(request) : 0;
  struct rlimit most; /* of a file, whose excess would be a signal */
  if (!request) return;
  ahead->large_import = model >= LARGE_BYTES || row->least;
  if (!has_other_core() || getrlimit(RLIMIT_FSIZE, &most)) return;
  memory = memory / MEMORY_PART < most.rlim_cur ? memory / MEMORY_PART : most.rlim_cur;
  ahead->heap_bytes = heap_bytes(request, row, model, (size_t)memory);
  ahead->block_bytes = block_bytes(request, row, model, (size_t)memory);
  replace(heap_place(ahead->heap_bytes), 0);
  if (ahead->large_import) replace(BLOCK, 0);
}

/* ---- making it -------------------------------------------------------------------------------------------- */

static void map(worker_pages *pages, int file, size_t bytes, size_t room) {
  if (bytes && ftruncate(file, (off_t)bytes) == 0) worker_map(pages, file, 0, room, false);
}

/* Where the block is somewhat larger than what is expected, it still fits. */
void worker_map_ahead(worker_ahead *ahead, int heap, int block) {
  map(&ahead->heap, heap, ahead->heap_bytes, ahead->heap_bytes);
  map(&ahead->block, block, ahead->block_bytes, ahead->block_bytes + ahead->block_bytes / 4);
}

static bool make(worker_pages *pages, size_t bytes, size_t step) {
  if (!pages->memory || pages->ready >= bytes) return false;
  return worker_make_pages(pages, lesser(bytes, pages->ready + step));
}

bool worker_make_ahead(worker_ahead *ahead) {
  return make(&ahead->heap, ahead->heap_bytes, ahead->heap.ready ? STEP_BYTES : WORKER_LARGE_PAGE) ||
         make(&ahead->block, ahead->block_bytes, STEP_BYTES);
}

void *worker_take_block(worker_ahead *ahead, int block, size_t size) {
  size_t mapped = worker_whole(size);
  char *memory;
  if (mapped > ahead->block.mapped) {
    worker_unmap_pages(&ahead->block);
    if (!worker_map(&ahead->block, block, 0, size, false)) return NULL;
  }
  memory = ahead->block.memory;
  if (mapped < ahead->block.mapped) munmap(memory + mapped, ahead->block.mapped - mapped);
  madvise(memory, size, MADV_POPULATE_READ); /* should some have gone, they come when they are read */
  ahead->block.memory = NULL;
  return memory;
}

void worker_unmap_block(void *memory, size_t size) { keep(BLOCK, memory, worker_whole(size)); }

void worker_end_ahead(worker_ahead *ahead) {
  worker_unmap_pages(&ahead->block);
  if (ahead->heap.memory) keep(heap_place(ahead->heap.mapped), ahead->heap.memory, ahead->heap.mapped);
  ahead->heap.memory = NULL;
}
