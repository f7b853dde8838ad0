/* sk_influence.c: see sk_influence.h. */
#include "sk_influence.h"

#include <string.h>

/* With few slots a code is the slot times 8, which one addressing mode of x86-64 scales to the offset of a matrix. */
#define SMALL_SLOTS  8192u
#define SMALL_FACTOR 8u

/* ---- which vertices go together --------------------------------------------------------------------- */

typedef struct plan {
  const sk_mesh *mesh;
  bool shares_slots;
  size_t block_vertices, block_count, block_lanes;
  sk_influence_block *blocks;
  uint16_t
      *lanes; /* (block_count, block_lanes): the vertex of each lane; in mesh order they are grouped by influences */
} plan;

static bool begin_plan(plan *p, const sk_mesh *mesh, bool shares_slots) {
  size_t vertices = shares_slots ? SK_SHARED_BLOCK_VERTICES : SK_ORDERED_BLOCK_VERTICES;
  size_t lanes = shares_slots ? SK_SHARED_BLOCK_LANES : vertices;
  size_t count = (mesh->vertex_count + vertices - 1) / vertices;
  sk_influence_block *blocks = sk_alloc_zero(count * (sizeof *blocks + lanes * sizeof(uint16_t)));
  *p = (plan){mesh, shares_slots, vertices, count, lanes, blocks, NULL};
  if (!blocks) return false;
  p->lanes = (uint16_t *)(blocks + count);
  return true;
}

static size_t vertices_of(const plan *p, size_t block) {
  size_t left = p->mesh->vertex_count - block * p->block_vertices;
  return left < p->block_vertices ? left : p->block_vertices;
}

/* Blocks that are tried: where sharing does not pay in these, the others are not searched. */
#define TRIAL_BLOCKS 8u

/* Plans octets. `gain` is the number of instructions that they save; negative where they do not pay. */
static bool plan_to_share(plan *p, const sk_mesh *mesh, double *gain) {
  sk_shared_slots_scratch *scratch = sk_shared_slots_begin();
  bool made = scratch && begin_plan(p, mesh, true);
  size_t b;
  for (b = 0; made && b < p->block_count && (b < TRIAL_BLOCKS || *gain > 0.0); b++)
    *gain += sk_shared_slots_find(mesh, b * p->block_vertices, vertices_of(p, b), scratch, &p->blocks[b].counts,
                                  p->lanes + b * p->block_lanes);
  sk_free(scratch);
  return made;
}

/* Plans the mesh's order: a counting sort of each block by number of influences. */
static bool plan_in_order(plan *p, const sk_mesh *mesh) {
  size_t b, v;
  uint32_t k;
  if (!begin_plan(p, mesh, false)) return false;
  for (b = 0; b < p->block_count; b++) {
    size_t first = b * p->block_vertices, count = vertices_of(p, b), next[SK_MAX_INFLUENCES + 1] = {0};
    uint16_t *singles = p->blocks[b].counts.singles;
    for (v = 0; v < count; v++) singles[sk_influence_count(mesh, first + v)]++;
    for (k = 1; k <= SK_MAX_INFLUENCES; k++) next[k] = next[k - 1] + singles[k - 1];
    for (v = 0; v < count; v++)
      p->lanes[b * p->block_lanes + next[sk_influence_count(mesh, first + v)]++] = (uint16_t)v;
  }
  return true;
}

static bool make_plan(plan *p, const sk_mesh *mesh) {
  double gain = 0.0;
  if (!plan_to_share(p, mesh, &gain)) return false;
  if (gain > 0.0) return true;
  sk_free(p->blocks);
  return plan_in_order(p, mesh);
}

/* ---- what skinning reads ------------------------------------------------------------------------------- */

/* Lengths of the arrays, over all blocks. */
typedef struct sizes {
  size_t codes, weights, octets;
} sizes;

/* Fills in where each block begins in the arrays; returns the lengths of these. */
static sizes lay_out(const plan *p, sk_influences *made) {
  sizes all = {0};
  size_t b;
  uint32_t k;
  for (b = 0; b < p->block_count; b++) {
    sk_influence_block *block = &p->blocks[b];
    size_t octets = 0, singles = 0;
    block->code = all.codes;
    block->weight = all.weights = (all.weights + 7) / 8 * 8;
    block->octet = all.octets;
    for (k = 1; k <= SK_MAX_INFLUENCES; k++) {
      size_t shared = block->counts.octets[k], lone = block->counts.singles[k];
      all.codes += shared * k + lone * (k + 1);
      all.weights += (shared * 8 + lone) * k;
      octets += shared;
      singles += lone;
    }
    singles /= 8;
    all.octets += octets + singles;
    if (made->octets < octets + singles) made->octets = octets + singles;
    if (made->singles < singles) made->singles = singles;
  }
  return all;
}

typedef struct writer {
  const plan *plan;
  uint32_t factor; /* a code is the slot times `factor` */
  uint16_t *codes, *offsets;
  float *weights, *points;
} writer;

static void write_octet(writer *w, size_t first, const uint16_t *lanes, uint32_t k) {
  uint16_t slots[SK_MAX_INFLUENCES];
  float weights[SK_MAX_INFLUENCES];
  uint32_t i, lane;
  for (lane = 0; lane < 8; lane++) {
    sk_sorted_influences(w->plan->mesh, first + lanes[lane], slots, weights);
    for (i = 0; i < k; i++) w->weights[8 * i + lane] = weights[i];
  }
  for (i = 0; i < k; i++) *w->codes++ = (uint16_t)(slots[i] * w->factor);
  w->weights += 8 * k;
}

static void write_single(writer *w, size_t vertex, size_t position, uint32_t k) {
  const sk_mesh *mesh = w->plan->mesh;
  const uint16_t *slots = mesh->slots + vertex * mesh->influences;
  const float *weights = mesh->weights + vertex * mesh->influences;
  uint32_t i;
  *w->codes++ = (uint16_t)sk_influence_offset(position);
  for (i = 0; i < k; i++) {
    *w->codes++ = (uint16_t)(slots[i] * w->factor);
    *w->weights++ = weights[i] > 0.0f ? weights[i] : 0.0f;
  }
}

/* Copies points and normals in the order of lanes, and notes where each vertex of the mesh finds its result. */
static void write_points(writer *w, size_t first, const uint16_t *lanes, size_t count) {
  const sk_mesh *mesh = w->plan->mesh;
  size_t lane, i;
  for (lane = 0; lane < count; lane++) {
    size_t vertex = first + lanes[lane];
    float *point = w->points + lane / 8 * 48 + lane % 8;
    for (i = 0; i < 3; i++) {
      point[8 * i] = mesh->positions[3 * vertex + i];
      point[8 * i + 24] = mesh->normals[3 * vertex + i];
    }
    w->offsets[vertex] = (uint16_t)sk_octet_offset(lane);
  }
  w->points += 6 * count;
}

static void write_block(writer *w, const sk_influence_block *block, size_t number) {
  const plan *p = w->plan;
  const uint16_t *lanes = p->lanes + number * p->block_lanes;
  size_t i, lane = 0, single = 0, first = number * p->block_vertices;
  uint32_t k;
  for (k = 1; k <= SK_MAX_INFLUENCES; k++)
    for (i = 0; i < block->counts.octets[k]; i++, lane += 8) write_octet(w, first, lanes + lane, k);
  for (k = 1; k <= SK_MAX_INFLUENCES; k++)
    for (i = 0; i < block->counts.singles[k]; i++, lane++, single++)
      write_single(w, first + lanes[lane], p->shares_slots ? single : lanes[lane], k);
  if (p->shares_slots) write_points(w, first, lanes, lane);
}

static sk_influences *write_all(const plan *p, size_t slot_count) {
  uint32_t factor = slot_count <= SMALL_SLOTS ? SMALL_FACTOR : 1;
  sk_influences head = {.block_count = p->block_count, .shift = factor == 1 ? 6 : 3, .shares_slots = p->shares_slots};
  sizes all = lay_out(p, &head);
  size_t points = p->shares_slots ? all.octets * 48 : 0, offsets = p->shares_slots ? p->mesh->vertex_count : 0, b;
  size_t start = (sizeof head + p->block_count * sizeof *p->blocks + SK_ALIGNMENT - 1) / SK_ALIGNMENT * SK_ALIGNMENT;
  sk_influences *made =
      sk_alloc(start + (points + all.weights + 3) * sizeof(float) + (all.codes + offsets) * sizeof(uint16_t));
  sk_influence_block *blocks;
  writer w = {.plan = p, .factor = factor};
  float *weights;
  if (!made) return NULL;
  *made = head;
  blocks = memcpy(made + 1, p->blocks, p->block_count * sizeof *blocks);
  made->blocks = blocks;
  w.points = (float *)((char *)made + start);
  made->points = w.points;
  weights = w.points + points;
  made->weights = weights;
  w.codes = (uint16_t *)(weights + all.weights + 3);
  w.offsets = w.codes + all.codes;
  made->codes = w.codes;
  made->offsets = w.offsets;
  for (b = 0; b < p->block_count; b++) {
    w.weights = weights + blocks[b].weight;
    write_block(&w, &blocks[b], b);
  }
  return made;
}

sk_influences *sk_influences_make(const sk_mesh *mesh, size_t slot_count) {
  sk_influences *made = NULL;
  plan p = {0};
  if (make_plan(&p, mesh)) made = write_all(&p, slot_count);
  sk_free(p.blocks);
  return made;
}
