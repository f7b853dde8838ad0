/* sk_morph.c: see sk_morph.h. */
#include "sk_morph.h"

#include <string.h>

void sk_morph_open(const sk_block *block, sk_morph *morph) {
  morph->target_count = (int32_t)block->info->targets;
  morph->targets = block->sections[SK_SECTION_TARGETS].data;
  morph->vertices = block->sections[SK_SECTION_TARGET_VERTICES].data;
  morph->positions = block->sections[SK_SECTION_TARGET_POSITIONS].data;
  morph->normals = block->sections[SK_SECTION_TARGET_NORMALS].data;
}

void sk_morph_default_weights(const sk_morph *morph, float *weights) {
  int32_t m;
  for (m = 0; m < morph->target_count; m++) weights[m] = morph->targets[m].default_weight;
}

void sk_morph_begin(sk_morph_walk *walk, const float *weights) {
  int32_t m;
  walk->vertex = 0;
  walk->cursor_count = 0;
  for (m = 0; m < walk->morph->target_count; m++) {
    const sk_target *target = &walk->morph->targets[m];
    if (weights[m] == 0.0f || target->count == 0) continue;
    walk->cursors[walk->cursor_count++] = (sk_morph_cursor){target, weights[m], target->first};
  }
}

/* The first row of `target` for `vertex` or a later vertex; the vertices of a target increase. */
static uint64_t find_row(const sk_morph *morph, const sk_target *target, size_t vertex) {
  uint64_t low = target->first, high = target->first + target->count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (morph->vertices[middle] < vertex) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void move_to(sk_morph_walk *walk, size_t vertex) {
  size_t i;
  for (i = 0; i < walk->cursor_count; i++)
    walk->cursors[i].next = find_row(walk->morph, walk->cursors[i].target, vertex);
}

/* Whether the next row of the cursor is for a vertex before `end`. */
static bool moves_before(const sk_morph *morph, const sk_morph_cursor *cursor, size_t end) {
  return cursor->next < cursor->target->first + cursor->target->count && morph->vertices[cursor->next] < end;
}

static void add(const float difference[3], float weight, float *out) {
  out[0] += weight * difference[0];
  out[1] += weight * difference[1];
  out[2] += weight * difference[2];
}

static void add_target(const sk_morph *morph, sk_morph_cursor *cursor, size_t first, size_t end, float *positions,
                       float *normals) {
  for (; moves_before(morph, cursor, end); cursor->next++) {
    size_t offset = 3 * (morph->vertices[cursor->next] - first);
    add(morph->positions + 3 * cursor->next, cursor->weight, positions + offset);
    if (normals && morph->normals) add(morph->normals + 3 * cursor->next, cursor->weight, normals + offset);
  }
}

bool sk_morph_vertices(sk_morph_walk *walk, size_t first, size_t count, float *positions, float *normals) {
  size_t i, end = first + count;
  bool moved = false;
  SK_ASSERT(end <= walk->mesh->vertex_count);
  if (walk->vertex != first) move_to(walk, first);
  walk->vertex = end;
  for (i = 0; i < walk->cursor_count; i++) {
    if (!moves_before(walk->morph, &walk->cursors[i], end)) continue;
    if (!moved) {
      memcpy(positions, walk->mesh->positions + 3 * first, count * 3 * sizeof(float));
      if (normals) memcpy(normals, walk->mesh->normals + 3 * first, count * 3 * sizeof(float));
      moved = true;
    }
    add_target(walk->morph, &walk->cursors[i], first, end, positions, normals);
  }
  return moved;
}
