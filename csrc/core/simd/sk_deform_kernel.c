/* sk_deform_kernel.c: skins a block of vertices in the order of the mesh.

   It takes three passes over the block. The first blends the matrix of one vertex after another. The second takes eight
   vertices at once: it transposes their matrices, moves points and transforms normals. The third normalizes normals; in
   one loop with the second, as one long chain of dependencies, it was 8 % slower. */
#include "sk_deform_kernel.h"

#if SK_HAS_KERNELS

#include <string.h>

#include "../base/sk_math.h"

SK_KERNEL_BEGIN

/* Loads eight triples x y z that are one after another. */
SK_INLINE vectors load_vectors(const float *p) {
  sk_f8 v[3];
  f8_load_triples(p, v);
  return (vectors){v[0], v[1], v[2]};
}

/* Stores eight triples x y z; `stream` is a constant where this is inlined. */
SK_INLINE void store_vectors(float *p, vectors v, bool stream) {
  f8_store_triples(p, (const sk_f8[3]){v.x, v.y, v.z}, stream);
}

/* The normals that come out are of length 1 already, or zero. Normals of zero, which files do have, take no double. */
void SK_KERNEL(sk_normals_in_double)(sk_normal_lanes *lanes, int mask) {
  int i, r, c;
  for (i = 0; i < 8; i++) {
    float n[3] = {lanes->directions[0][i], lanes->directions[1][i], lanes->directions[2][i]}, out[3] = {0};
    sk_rows rows;
    if (!(mask >> i & 1)) continue;
    for (r = 0; r < 3; r++)
      for (c = 0; c < 4; c++) rows[r][c] = lanes->rows[r][c][i];
    if (n[0] != 0.0f || n[1] != 0.0f || n[2] != 0.0f) sk_rows_apply_normal(rows, n, out);
    for (r = 0; r < 3; r++) lanes->normals[r][i] = out[r];
    lanes->length[i] = 1.0f;
  }
}

/* Stores eight points, and transforms eight normals where `directions` is not NULL. */
SK_INLINE void apply_group(const char *group, const float *points, const float *directions, float *positions,
                           lane_normals *out, bool stream) {
  matrix_row m0 = load_row(group), m1 = load_row(group + 128), m2 = load_row(group + 256);
  vectors p = load_vectors(points);
  store_vectors(positions, (vectors){move(m0, p), move(m1, p), move(m2, p)}, stream);
  if (directions) *out = transform_normals(m0, m1, m2, load_vectors(directions));
}

/* Where a later block will read, in bytes. */
typedef struct coming {
  const char *codes, *weights;
} coming;

#define BLOCKS_AHEAD 2

static coming coming_of(const sk_deform_block *block) {
  const sk_influences *influences = block->influences;
  size_t last = influences->block_count - 1, number = block->number + BLOCKS_AHEAD;
  const sk_influence_block *later = &influences->blocks[number < last ? number : last];
  return (coming){(const char *)(influences->codes + later->code), (const char *)(influences->weights + later->weight)};
}

/* Prefetches what eight vertices of a later block will read and write; for vertices with many influences, some of it.
   Of 670,000 vertices between other work each took a third less time; repeated with nothing between, up to 8 % more. */
SK_INLINE void fetch_group(const sk_deform_block *block, const coming *coming, size_t i, sk_store_hint store_hint) {
  size_t ahead = 3 * (i + BLOCKS_AHEAD * SK_ORDERED_BLOCK_VERTICES), line;
  for (line = 0; line < 2; line++, ahead += 16) {
    __builtin_prefetch(coming->codes + 16 * i + 64 * line, 0, 2);
    __builtin_prefetch(coming->weights + 16 * i + 64 * line, 0, 2);
    __builtin_prefetch(block->points + ahead, 0, 2);
    if (block->normals) __builtin_prefetch(block->directions + ahead, 0, 2);
    if (store_hint == SK_STORE_STREAMED) continue;
    __builtin_prefetch(block->positions + ahead, 1);
    if (block->normals) __builtin_prefetch(block->normals + ahead, 1);
  }
}

/* Skins `count` vertices, a multiple of eight; `store_hint` is a constant where this is inlined. */
SK_INLINE void apply_whole(const char *rows, const sk_deform_block *block, size_t count, sk_store_hint store_hint) {
  bool past = store_hint == SK_STORE_STREAMED;
  lane_normals kept[SK_ORDERED_BLOCK_VERTICES / 8];
  coming coming = coming_of(block);
  size_t i;
  for (i = 0; i < count; i += 8) {
    const float *directions = block->normals ? block->directions + 3 * i : NULL;
    if (store_hint != SK_STORE_CACHED) fetch_group(block, &coming, i, store_hint);
    apply_group(rows + 48 * i, block->points + 3 * i, directions, block->positions + 3 * i, &kept[i / 8], past);
  }
  for (i = 0; block->normals && i < count; i += 8) store_vectors(block->normals + 3 * i, unit(kept[i / 8]), past);
}

/* Skins the last `count` vertices, fewer than eight, in memory that has room for eight. */
static void apply_rest(const char *group, const sk_deform_block *block, size_t count) {
  float points[24] = {0}, directions[24] = {0}, out[24];
  size_t first = 3 * (block->count - count), bytes = count * 3 * sizeof(float);
  lane_normals t;
  memcpy(points, block->points + first, bytes);
  if (block->normals) memcpy(directions, block->directions + first, bytes);
  apply_group(group, points, directions, out, &t, false);
  memcpy(block->positions + first, out, bytes);
  if (!block->normals) return;
  store_vectors(out, unit(t), false);
  memcpy(block->normals + first, out, bytes);
}

void SK_KERNEL(sk_deform_kernel)(const sk_deform_block *block) {
  const sk_influences *influences = block->influences;
  const sk_influence_block *own = &influences->blocks[block->number];
  const uint16_t *codes = influences->codes + own->code;
  const float *weights = influences->weights + own->weight;
  size_t whole = block->count / 8 * 8;
  _Alignas(32) char rows[SK_ORDERED_BLOCK_VERTICES * 48];
  if (block->count > whole) memset(rows + sk_influence_offset(whole), 0, 384);
  if (influences->shift == 3) blend_singles(codes, weights, own->counts.singles, block->palette, 3, rows);
  else blend_singles(codes, weights, own->counts.singles, block->palette, 6, rows);
  if (block->store_hint == SK_STORE_CACHED) apply_whole(rows, block, whole, SK_STORE_CACHED);
  else if (block->store_hint == SK_STORE_PREFETCHED) apply_whole(rows, block, whole, SK_STORE_PREFETCHED);
  else apply_whole(rows, block, whole, SK_STORE_STREAMED);
  if (whole < block->count) apply_rest(rows + 48 * whole, block, block->count - whole);
}

void SK_KERNEL(sk_deform_kernel_end)(void) { sk_stores_end(); }

SK_KERNEL_END

#endif
