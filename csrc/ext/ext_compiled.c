/* ext_compiled.c: compiled clips, owned by the block that contains the clip.

      A clip is compiled for one model: its skeleton, rest pose and slots. A block keeps one compiled form for each
   model that has played the clip. The forms are found by the serial number of the model's block, because another block
   may get the address of a freed one.

      A new form is added in front of a list, the rest of which never changes, and lives as long as the block. So a
   form can be found without a lock. */
#include "../core/base/sk_cpu.h"
#include "ext_state.h"

#define MAX_MODELS 8 /* compiled forms of one clip; further models play it on the plain path */

typedef struct ext_compiled_entry {
  struct ext_compiled_entry *next;
  uint64_t serial;
  sk_compiled *compiled; /* NULL: only the plain path is exact */
} ext_compiled_entry;

/* Returns the lists of the clips, one for each, which are made when a clip is first played. Returns NULL if there is no
   memory. */
static ext_compiled_list *find_lists(ext_block *block) {
  ext_compiled_list *made, *kept = atomic_load_explicit(&block->compiled, memory_order_acquire);
  if (kept) return kept;
  made = PyMem_Calloc(block->model.clip_count, sizeof *made);
  if (!made || atomic_compare_exchange_strong(&block->compiled, &kept, made)) return made;
  PyMem_Free((void *)made); /* another thread was faster */
  return kept;
}

/* Finds the entry of a model; `count` gets the number of entries before it, or of all entries if it is not there. */
static ext_compiled_entry *find_entry(ext_compiled_entry *entry, uint64_t serial, int *count) {
  for (*count = 0; entry && entry->serial != serial; entry = entry->next) ++*count;
  return entry;
}

/* Compiles a clip. Returns NULL if there is no memory; the next play tries again. */
static ext_compiled_entry *make_entry(const ext_block *block, uint32_t index, const ext_block *model) {
  ext_compiled_entry *entry = PyMem_Malloc(sizeof *entry);
  bool lacks_memory;
  sk_clip clip;
  if (!entry) return NULL;
  sk_clip_open(&block->model.block, index, &clip);
  entry->serial = model->serial;
  entry->compiled = sk_compile(&clip, &model->model.skeleton, &model->model.skin, &lacks_memory);
  if (!lacks_memory) return entry;
  PyMem_Free(entry);
  return NULL;
}

static void free_entry(ext_compiled_entry *entry) {
  sk_free(entry->compiled);
  PyMem_Free(entry);
}

/* Adds `made` in front of a list whose first entry was `first`, and returns it. If another thread has added an entry
   for the same model meanwhile, frees `made` and returns the other one. */
static ext_compiled_entry *add_entry(ext_compiled_list *list, ext_compiled_entry *first, ext_compiled_entry *made) {
  made->next = first;
  while (!atomic_compare_exchange_weak(list, &made->next, made)) {
    int count;
    ext_compiled_entry *other = find_entry(made->next, made->serial, &count);
    if (!other && count < MAX_MODELS) continue;
    free_entry(made);
    return other;
  }
  return made;
}

const sk_compiled *ext_compiled(ext_block *block, uint32_t index, const ext_block *model) {
  ext_compiled_list *lists;
  ext_compiled_entry *first, *entry;
  int count;
  if (sk_simd_chosen() == SK_SIMD_PLAIN) return NULL;
  lists = find_lists(block);
  if (!lists) return NULL;
  first = atomic_load_explicit(&lists[index], memory_order_acquire);
  entry = find_entry(first, model->serial, &count);
  if (!entry && count < MAX_MODELS) {
    entry = make_entry(block, index, model);
    if (entry) entry = add_entry(&lists[index], first, entry);
  }
  return entry ? entry->compiled : NULL;
}

size_t ext_compiled_bytes(const ext_block *block, uint32_t index) {
  const ext_compiled_list *lists = atomic_load(&block->compiled);
  const ext_compiled_entry *entry = lists ? atomic_load(&lists[index]) : NULL;
  size_t bytes = 0;
  for (; entry; entry = entry->next) bytes += entry->compiled ? entry->compiled->bytes : 0;
  return bytes;
}

void ext_compiled_free(ext_block *block) {
  ext_compiled_list *lists = atomic_load(&block->compiled);
  uint32_t i;
  for (i = 0; lists && i < block->model.clip_count; i++) {
    ext_compiled_entry *entry = atomic_load(&lists[i]);
    while (entry) {
      ext_compiled_entry *next = entry->next;
      free_entry(entry);
      entry = next;
    }
  }
  PyMem_Free((void *)lists);
}
