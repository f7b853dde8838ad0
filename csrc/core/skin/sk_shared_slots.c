/* sk_shared_slots.c: see sk_shared_slots.h. */
#include "sk_shared_slots.h"

#include <string.h>

/* About how many instructions a single, an octet, and storing a vertex in the mesh's order take. */
#define SINGLE_COST(k)     (27.0 + 4.0 * (k))
#define OCTET_COST(k)      (105.0 + 25.0 * (k))
#define ORDER_COST         7.0

/* Vertices from which on one more octet pays, though some of its lanes stay free. */
#define MIN_OCTET_VERTICES 5u
#define TABLE_SIZE         (2 * SK_SHARED_BLOCK_VERTICES) /* a power of two, half empty */

/* The vertices of a block that have the same slots. */
typedef struct slot_set {
  uint16_t slots[SK_MAX_INFLUENCES]; /* in rising order; zeros behind the last */
  uint16_t size, vertices;           /* number of slots; number of vertices */
  uint16_t taken, lane,
      room;        /* octets begin at `lane` and have room for `room` vertices, of which `taken` are assigned */
} slot_set;

struct sk_shared_slots_scratch {
  uint16_t table[TABLE_SIZE];            /* a hash table of sets: 1 + number of the set, or 0 */
  uint16_t set_of[SK_SHARED_BLOCK_VERTICES];
  slot_set sets[SK_SHARED_BLOCK_VERTICES];
};

sk_shared_slots_scratch *sk_shared_slots_begin(void) { return sk_alloc(sizeof(sk_shared_slots_scratch)); }

/* Weights are sorted in falling order, so the first zero ends the vertex's influences. */
uint32_t sk_influence_count(const sk_mesh *mesh, size_t vertex) {
  const float *weights = mesh->weights + vertex * mesh->influences;
  uint32_t k = 1;
  while (k < mesh->influences && weights[k] > 0.0f) k++;
  return k;
}

uint32_t sk_sorted_influences(const sk_mesh *mesh, size_t vertex, uint16_t slots[SK_MAX_INFLUENCES],
                              float weights[SK_MAX_INFLUENCES]) {
  const uint16_t *given = mesh->slots + vertex * mesh->influences;
  const float *given_weights = mesh->weights + vertex * mesh->influences;
  uint32_t k, i, count = sk_influence_count(mesh, vertex);
  for (k = 0; k < count; k++) {
    for (i = k; i > 0 && slots[i - 1] > given[k]; i--) {
      slots[i] = slots[i - 1];
      weights[i] = weights[i - 1];
    }
    slots[i] = given[k];
    weights[i] = given_weights[k] > 0.0f ? given_weights[k] : 0.0f;
  }
  return count;
}

static uint32_t hash_of(const uint16_t slots[SK_MAX_INFLUENCES]) {
  uint64_t halves[2];
  memcpy(halves, slots, sizeof halves);
  halves[0] = (halves[0] ^ halves[1] * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
  return (uint32_t)(halves[0] >> 40);
}

/* Finds the set with these slots, or makes it; returns its number. */
static uint16_t find_set(sk_shared_slots_scratch *scratch, uint16_t *set_count, const uint16_t slots[SK_MAX_INFLUENCES],
                         uint32_t size) {
  uint32_t slot_hash = hash_of(slots) + size;
  slot_set *set;
  for (;; slot_hash++) {
    uint16_t *entry = &scratch->table[slot_hash % TABLE_SIZE];
    if (!*entry) {
      *entry = ++*set_count;
      set = &scratch->sets[*entry - 1];
      memset(set, 0, sizeof *set);
      memcpy(set->slots, slots, sizeof set->slots);
      set->size = (uint16_t)size;
      return (uint16_t)(*entry - 1);
    }
    set = &scratch->sets[*entry - 1];
    if (set->size == size && memcmp(set->slots, slots, sizeof set->slots) == 0) return (uint16_t)(*entry - 1);
  }
}

static uint16_t find_sets(const sk_mesh *mesh, size_t first, size_t count, sk_shared_slots_scratch *scratch) {
  uint16_t set_count = 0;
  size_t v;
  memset(scratch->table, 0, sizeof scratch->table);
  for (v = 0; v < count; v++) {
    uint16_t slots[SK_MAX_INFLUENCES] = {0};
    float weights[SK_MAX_INFLUENCES];
    uint32_t size = sk_sorted_influences(mesh, first + v, slots, weights);
    scratch->set_of[v] = find_set(scratch, &set_count, slots, size);
    scratch->sets[scratch->set_of[v]].vertices++;
  }
  return set_count;
}

/* Gives each set the lanes of its octets, by number of slots; returns the first lane of singles. */
static size_t assign_lanes(sk_shared_slots_scratch *scratch, uint16_t set_count, sk_lane_counts *counts, double *gain) {
  size_t lane = 0;
  uint32_t k, i;
  for (k = 1; k <= SK_MAX_INFLUENCES; k++)
    for (i = 0; i < set_count; i++) {
      slot_set *set = &scratch->sets[i];
      uint32_t octets = set->vertices / 8u + (set->vertices % 8u >= MIN_OCTET_VERTICES);
      if (set->size != k) continue;
      set->lane = (uint16_t)lane;
      set->room = (uint16_t)(set->vertices < 8 * octets ? set->vertices : 8 * octets);
      counts->octets[k] = (uint16_t)(counts->octets[k] + octets);
      counts->singles[k] = (uint16_t)(counts->singles[k] + set->vertices - set->room);
      lane += 8 * octets;
      *gain += set->room * SINGLE_COST(k) - octets * OCTET_COST(k);
    }
  return lane;
}

/* Assigns each vertex to a lane; returns the first lane that is free. */
static size_t assign_vertices(sk_shared_slots_scratch *scratch, size_t count, size_t lane, const sk_lane_counts *counts,
                              uint16_t *lanes) {
  size_t v, single[SK_MAX_INFLUENCES + 1];
  uint32_t k;
  for (k = 1; k <= SK_MAX_INFLUENCES; k++) {
    single[k] = lane;
    lane += counts->singles[k];
  }
  for (v = 0; v < count; v++) {
    slot_set *set = &scratch->sets[scratch->set_of[v]];
    lanes[set->taken < set->room ? set->lane + set->taken++ : single[set->size]++] = (uint16_t)v;
  }
  return lane;
}

/* Fills free lanes, in octets of sets and in the last octet of singles, with a vertex of the same octet. */
static void fill_up(const sk_shared_slots_scratch *scratch, uint16_t set_count, size_t lane, sk_lane_counts *counts,
                    uint16_t *lanes) {
  uint32_t i, v, k = SK_MAX_INFLUENCES;
  for (i = 0; i < set_count; i++) {
    const slot_set *set = &scratch->sets[i];
    for (v = set->room; v % 8; v++) lanes[set->lane + v] = lanes[set->lane + v - 1];
  }
  if (lane % 8 == 0) return;
  while (!counts->singles[k]) k--; /* the number of slots of the last single, whose lane is the last one */
  for (; lane % 8; lane++) {
    lanes[lane] = lanes[lane - 1];
    counts->singles[k]++;
  }
}

double sk_shared_slots_find(const sk_mesh *mesh, size_t first, size_t count, sk_shared_slots_scratch *scratch,
                            sk_lane_counts *counts, uint16_t lanes[SK_SHARED_BLOCK_LANES]) {
  uint16_t set_count = find_sets(mesh, first, count, scratch);
  double gain = -ORDER_COST * (double)count;
  size_t lane;
  memset(counts, 0, sizeof *counts);
  lane = assign_lanes(scratch, set_count, counts, &gain);
  lane = assign_vertices(scratch, count, lane, counts, lanes);
  fill_up(scratch, set_count, lane, counts, lanes);
  SK_ASSERT(sk_lane_count(counts) <= SK_SHARED_BLOCK_LANES && sk_lane_count(counts) % 8 == 0);
  return gain;
}

size_t sk_lane_count(const sk_lane_counts *counts) {
  size_t k, lanes = 0;
  for (k = 1; k <= SK_MAX_INFLUENCES; k++) lanes += counts->octets[k] * 8u + counts->singles[k];
  return lanes;
}
