/* sk_influence.c: see sk_influence.h. */
#include "sk_influence.h"

#include <string.h>

/* A code that is a slot times 8 reaches any of the first 8,192 matrices in one addressing mode of x86. */
#define SMALL_SLOTS 8192u
#define SMALL_FACTOR 8u

/* Weights fall, so the first zero ends the vertex's influences. */
static uint32_t influences_of(const sk_mesh *mesh, size_t v) {
  const float *weights = mesh->weights + v * mesh->influences;
  uint32_t k = 1;
  while (k < mesh->influences && weights[k] > 0.0f) k++;
  return k;
}

static size_t block_vertices(const sk_mesh *mesh, size_t block) {
  size_t left = mesh->vertex_count - block * SK_BLOCK_VERTICES;
  return left < SK_BLOCK_VERTICES ? left : SK_BLOCK_VERTICES;
}

static void write_vertex(const sk_mesh *mesh, size_t v, uint32_t k, uint32_t factor, uint16_t *codes,
                         float *weights) {
  const uint16_t *slots = mesh->slots + v * mesh->influences;
  const float *shares = mesh->weights + v * mesh->influences;
  uint32_t i;
  codes[0] = (uint16_t)sk_influence_place(v % SK_BLOCK_VERTICES);
  for (i = 0; i < k; i++) {
    codes[1 + i] = (uint16_t)(slots[i] * factor);
    weights[i] = shares[i] > 0.0f ? shares[i] : 0.0f;
  }
}

/* A counting sort of one block. */
static void write_block(const sk_mesh *mesh, size_t block, uint32_t factor, sk_influence_block *out,
                        uint16_t *codes, float *weights) {
  size_t v, first = block * SK_BLOCK_VERTICES, end = first + block_vertices(mesh, block);
  uint16_t *code[SK_MAX_INFLUENCES + 1];
  float *weight[SK_MAX_INFLUENCES + 1];
  uint32_t k;
  codes += out->code;
  weights += out->weight;
  for (k = 1; k <= SK_MAX_INFLUENCES; k++) {
    code[k] = codes;
    weight[k] = weights;
    codes += out->vertices[k] * (k + 1);
    weights += out->vertices[k] * k;
  }
  for (v = first; v < end; v++) {
    k = influences_of(mesh, v);
    write_vertex(mesh, v, k, factor, code[k], weight[k]);
    code[k] += k + 1;
    weight[k] += k;
  }
}

/* Fills `blocks` but for what they hold; returns the number of weights. */
static size_t count_influences(const sk_mesh *mesh, sk_influence_block *blocks, size_t block_count) {
  size_t b, i, weights = 0;
  for (b = 0; b < block_count; b++) {
    blocks[b] = (sk_influence_block){.code = weights + b * SK_BLOCK_VERTICES, .weight = weights};
    for (i = 0; i < block_vertices(mesh, b); i++) {
      uint32_t k = influences_of(mesh, b * SK_BLOCK_VERTICES + i);
      blocks[b].vertices[k]++;
      weights += k;
    }
  }
  return weights;
}

sk_influences *sk_influences_make(const sk_mesh *mesh, size_t slot_count) {
  size_t b, block_count = (mesh->vertex_count + SK_BLOCK_VERTICES - 1) / SK_BLOCK_VERTICES;
  uint32_t factor = slot_count <= SMALL_SLOTS ? SMALL_FACTOR : 1;
  size_t head = sizeof(sk_influences) + block_count * sizeof(sk_influence_block), count;
  sk_influences *made;
  sk_influence_block *blocks = sk_alloc(head);
  float *weights;
  uint16_t *codes;
  if (!blocks) return NULL;
  count = count_influences(mesh, blocks, block_count);
  made = sk_alloc(head + (count + 3) * sizeof(float) + (count + mesh->vertex_count) * sizeof(uint16_t));
  if (made) {
    sk_influence_block *kept = (sk_influence_block *)(made + 1);
    memcpy(kept, blocks, block_count * sizeof *kept);
    weights = (float *)(kept + block_count);
    codes = (uint16_t *)(weights + count + 3);
    *made = (sk_influences){block_count, factor == 1 ? 6 : 3, kept, codes, weights};
    for (b = 0; b < block_count; b++) write_block(mesh, b, factor, &kept[b], codes, weights);
  }
  sk_free(blocks);
  return made;
}
