/* ext_compiled.c: compiled clips, kept by the block that holds the clip.

   A clip is compiled for one model: its skeleton, rest pose and slots. A block keeps one form for each model that
   played it; they are found by the number of the model's block, because an address comes again. */
#include "../core/sk_cpu.h"
#include "ext_state.h"

#define MOST_MODELS 8 /* forms of one clip that are kept; further models play it on the plain path */

typedef struct ext_compiled_entry {
  struct ext_compiled_entry *next;
  uint64_t serial;
  sk_compiled *compiled; /* NULL: the plain path alone is exact */
} ext_compiled_entry;

/* NULL without memory, also for the form itself: it is tried again at the next play. */
static ext_compiled_entry *add_entry(ext_state *state, ext_block *block, uint32_t index, ext_block *model) {
  ext_compiled_entry *entry = PyMem_Malloc(sizeof *entry);
  bool lacks_memory;
  sk_clip clip;
  if (!entry) return NULL;
  sk_clip_open(&block->model.block, index, &clip);
  entry->compiled = sk_compile(&clip, &model->model.skeleton, &model->model.skin, &lacks_memory);
  if (lacks_memory) {
    PyMem_Free(entry);
    return NULL;
  }
  if (!model->serial) model->serial = ++state->last_serial;
  entry->serial = model->serial;
  entry->next = block->compiled[index];
  block->compiled[index] = entry;
  return entry;
}

const sk_compiled *ext_compiled(ext_state *state, ext_block *block, uint32_t index, ext_block *model) {
  ext_compiled_entry *entry;
  int count = 0;
  if (sk_simd_chosen() == SK_SIMD_PLAIN) return NULL;
  if (!block->compiled) block->compiled = PyMem_Calloc(block->model.clip_count, sizeof *block->compiled);
  if (!block->compiled) return NULL;
  for (entry = block->compiled[index]; entry; entry = entry->next, count++)
    if (entry->serial == model->serial) return entry->compiled;
  entry = count < MOST_MODELS ? add_entry(state, block, index, model) : NULL;
  return entry ? entry->compiled : NULL;
}

size_t ext_compiled_bytes(const ext_block *block, uint32_t index) {
  const ext_compiled_entry *entry = block->compiled ? block->compiled[index] : NULL;
  size_t bytes = 0;
  for (; entry; entry = entry->next) bytes += entry->compiled ? entry->compiled->bytes : 0;
  return bytes;
}

void ext_compiled_free(ext_block *block) {
  uint32_t i;
  for (i = 0; block->compiled && i < block->model.clip_count; i++)
    while (block->compiled[i]) {
      ext_compiled_entry *entry = block->compiled[i];
      block->compiled[i] = entry->next;
      sk_free(entry->compiled);
      PyMem_Free(entry);
    }
  PyMem_Free(block->compiled);
  block->compiled = NULL;
}
