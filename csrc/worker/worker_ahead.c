/* worker_ahead.c: see worker_ahead.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_ahead.h"

#include <stdatomic.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../core/base/sk_cores.h"
#include "worker_io.h"
#include "worker_kept.h"

#define LARGE_BYTES ((size_t)512 << 10) /* of a model: its import takes large pages */
#define MOST_BYTES ((size_t)48 << 20)   /* prepared, whatever the model's size */
#define STEP_BYTES ((size_t)8 << 20)    /* prepared at one go: some 25 ms where the host has the memory */

/* ---- how much --------------------------------------------------------------------------------------------- */

/* Whether that is its format, as far as the request says it. */
static bool has_suffix(const sk_import_request *request, const char *suffix) {
  const char *dot = request->path ? strrchr(request->path, '.') : NULL;
  return !strcasecmp(request->format ? request->format : dot ? dot + 1 : "", suffix);
}

static size_t model_bytes(const sk_import_request *request) {
  struct stat facts;
  if (!request->path) return request->size;
  return stat(request->path, &facts) == 0 && facts.st_size > 0 ? (size_t)facts.st_size : 0;
}

static bool is_glb(const sk_import_request *request) {
  if (!request->path && !request->format) return request->size >= 4 && !memcmp(request->bytes, "glTF", 4);
  return has_suffix(request, "glb") || has_suffix(request, "vrm");
}

/* Whether the block will be about as large as the file, and made in place. */
static bool is_made_in_place(const sk_import_request *request) {
  return is_glb(request) && request->join_vertices != 1;
}

/* Of the file's length: a text's block is shorter. */
static size_t part_of_file(const sk_import_request *request, size_t length) {
  bool plain = has_suffix(request, "obj") || has_suffix(request, "ply") || has_suffix(request, "stl");
  return is_made_in_place(request) ? length : plain ? length / 2 : length / 4;
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

void worker_plan_ahead(worker_ahead *ahead, const sk_import_request *request) {
  size_t model = request ? model_bytes(request) : 0;
  if (!request || !WORKER_ON_LINUX) return;
  ahead->large_import = model >= LARGE_BYTES;
  ahead->fills_lines = !ahead->large_import && has_suffix(request, "obj");
  ahead->other_core = has_other_core();
  if (!ahead->large_import) return;
  ahead->takes_heap = ahead->other_core && !is_glb(request);
  worker_drop_block();
  if (ahead->other_core) ahead->bytes = worker_large(part_of_file(request, model < MOST_BYTES ? model : MOST_BYTES));
  if (!worker_may_write(ahead->bytes)) ahead->bytes = 0;
}

/* ---- making it -------------------------------------------------------------------------------------------- */

/* Where the block is somewhat larger than what is expected, it still fits. */
void worker_map_ahead(worker_ahead *ahead, int block) {
  if (!ahead->bytes || ftruncate(block, (off_t)ahead->bytes)) return;
  worker_map(&ahead->block, block, 0, ahead->bytes + ahead->bytes / 4, false);
}

bool worker_make_ahead(worker_ahead *ahead) {
  size_t left = ahead->bytes - ahead->block.ready;
  if (!ahead->block.memory || !left) return false;
  return worker_make_pages(&ahead->block, ahead->block.ready + (left < STEP_BYTES ? left : STEP_BYTES));
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
  worker_advise(memory, size, WORKER_TO_READ); /* should some have gone, they come when they are read */
  ahead->block.memory = NULL;
  return memory;
}

void worker_unmap_block(void *memory, size_t size) {
  if (!worker_keep_block(memory, worker_whole(size))) munmap(memory, worker_whole(size));
}

void *worker_copy_block(int block, size_t size) {
  size_t mapped = worker_whole(size);
  void *memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  if (worker_read(block, memory, size, 0) && !mprotect(memory, mapped, PROT_READ)) return memory;
  munmap(memory, mapped);
  return NULL;
}
