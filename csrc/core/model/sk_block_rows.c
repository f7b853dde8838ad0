/* sk_block_rows.c: see sk_block_rows.h. A section keeps its rule if each range of its rows does. */
#include "sk_block_rows.h"

#include <math.h>
#include <stdatomic.h>

#include "../base/sk_threads.h"

#define SUM_TOLERANCE  1e-4                /* of the sum of a vertex's weights: rounding of real exporters */
#define RANGE_BYTES    ((uint64_t)128 << 10) /* of a range: 10 to 30 us of work, cached for two passes */
#define THREADED_BYTES ((size_t)4 << 20)  /* smaller blocks are checked before a second thread would be awake */

typedef bool (*rows_rule)(const sk_block *block, const sk_section *section, uint64_t first, uint64_t count);

/* ---- rules ---------------------------------------------------------------------- */

/* A float is finite when its exponent is not all ones; on the bits this loop vectorizes. */
bool sk_floats_are_finite(const void *data, uint64_t count) {
  const uint32_t *bits = data;
  uint32_t bad = 0;
  uint64_t i;
  for (i = 0; i < count; i++) bad |= (bits[i] & 0x7f800000u) == 0x7f800000u;
  return !bad;
}

static const void *row_of(const sk_section *section, uint64_t row) {
  return (const char *)section->data + row * section->stride;
}

static bool are_finite(const sk_block *block, const sk_section *section, uint64_t first, uint64_t count) {
  (void)block;
  return sk_floats_are_finite(row_of(section, first), count * (section->stride / sizeof(float)));
}

static bool slots_exist(const sk_block *block, const sk_section *section, uint64_t first, uint64_t count) {
  const uint16_t *slots = row_of(section, first);
  uint64_t i, all = count * block->info->influences;
  uint16_t highest = 0;
  for (i = 0; i < all; i++) highest = slots[i] > highest ? slots[i] : highest;
  return highest < block->info->slots;
}

static bool vertices_exist(const sk_block *block, const sk_section *section, uint64_t first, uint64_t count) {
  const uint32_t *vertices = row_of(section, first);
  uint64_t i;
  uint32_t highest = 0;
  for (i = 0; i < count * 3; i++) highest = vertices[i] > highest ? vertices[i] : highest;
  return highest < block->info->vertices;
}

/* Weights descend, are not negative and sum to 1. Only the sum has a tolerance: order and sign are exact. */
static inline bool weights_are_sane(const float *weights, uint64_t rows, uint32_t count) {
  bool sane = true;
  for (; rows; rows--, weights += count) {
    double sum = weights[0];
    uint32_t k;
    for (k = 1; k < count; k++) {
      sane &= weights[k] <= weights[k - 1];
      sum += weights[k];
    }
    sane &= (weights[count - 1] >= 0.0f) & (fabs(sum - 1.0) <= SUM_TOLERANCE);
  }
  return sane;
}

/* The loop that looks for infinite numbers comes first: it runs at the speed of memory, and the second loop then finds
   the range in the cache. */
static bool are_weights(const sk_block *block, const sk_section *section, uint64_t first, uint64_t count) {
  const float *weights = row_of(section, first);
  uint32_t influences = block->info->influences;
  if (!are_finite(block, section, first, count)) return false;
  return influences == 4 ? weights_are_sane(weights, count, 4) : weights_are_sane(weights, count, influences);
}

/* ---- errors ----------------------------------------------------------------------- */

/* These functions read the section again to find the first broken row. If another process has changed the memory in
   between, which it must not, the sentence is wrong, but nothing outside the section is read. */

typedef struct section_rule {
  sk_section_kind kind;
  rows_rule rule;
  sk_status (*blame)(const sk_block *block, const struct section_rule *broken, sk_error *error);
} section_rule;

static sk_status blame_numbers(const sk_block *block, const section_rule *broken, sk_error *error) {
  (void)block;
  return sk_fail(error, SK_ERROR_BLOCK, "section %s holds a number that is not finite", sk_section_name(broken->kind));
}

static uint64_t first_broken_row(const sk_block *block, const section_rule *broken) {
  const sk_section *section = &block->sections[broken->kind];
  uint64_t row = 0;
  while (row + 1 < section->rows && broken->rule(block, section, row, 1)) row++;
  return row;
}

static sk_status blame_slots(const sk_block *block, const section_rule *broken, sk_error *error) {
  uint64_t vertex = first_broken_row(block, broken);
  const uint16_t *slot = row_of(&block->sections[broken->kind], vertex), *last = slot + block->info->influences - 1;
  while (slot < last && *slot < block->info->slots) slot++;
  return sk_fail(error, SK_ERROR_BLOCK, "vertex %llu follows slot %u; the model has %u slots",
                 (unsigned long long)vertex, *slot, block->info->slots);
}

static sk_status blame_weights(const sk_block *block, const section_rule *broken, sk_error *error) {
  const sk_section *section = &block->sections[broken->kind];
  if (!are_finite(block, section, 0, section->rows)) return blame_numbers(block, broken, error);
  return sk_fail(error, SK_ERROR_BLOCK,
                 "vertex %llu: its weights are negative, not in falling order, or do not sum to 1",
                 (unsigned long long)first_broken_row(block, broken));
}

static sk_status blame_faces(const sk_block *block, const section_rule *broken, sk_error *error) {
  const uint32_t *vertex = row_of(&block->sections[broken->kind], first_broken_row(block, broken)), *last = vertex + 2;
  while (vertex < last && *vertex < block->info->vertices) vertex++;
  return sk_fail(error, SK_ERROR_BLOCK, "a face uses vertex %u; the model has %llu vertices", *vertex,
                 (unsigned long long)block->info->vertices);
}

/* ---- sections --------------------------------------------------------------------- */

static const section_rule rules[] = {{SK_SECTION_REST_TRANSLATION, are_finite, blame_numbers},
                                     {SK_SECTION_REST_ROTATION, are_finite, blame_numbers},
                                     {SK_SECTION_REST_SCALE, are_finite, blame_numbers},
                                     {SK_SECTION_REST_LOCAL, are_finite, blame_numbers},
                                     {SK_SECTION_SLOT_INVERSE_BIND, are_finite, blame_numbers},
                                     {SK_SECTION_POSITIONS, are_finite, blame_numbers},
                                     {SK_SECTION_NORMALS, are_finite, blame_numbers},
                                     {SK_SECTION_UVS, are_finite, blame_numbers},
                                     {SK_SECTION_COLORS, are_finite, blame_numbers},
                                     {SK_SECTION_TANGENTS, are_finite, blame_numbers},
                                     {SK_SECTION_VALUES, are_finite, blame_numbers},
                                     {SK_SECTION_TARGET_POSITIONS, are_finite, blame_numbers},
                                     {SK_SECTION_TARGET_NORMALS, are_finite, blame_numbers},
                                     {SK_SECTION_VERTEX_SLOTS, slots_exist, blame_slots},
                                     {SK_SECTION_VERTEX_WEIGHTS, are_weights, blame_weights},
                                     {SK_SECTION_FACES, vertices_exist, blame_faces}};

#define RULES (sizeof rules / sizeof *rules)

/* The ranges of all sections, numbered one section after another. */
typedef struct sweep {
  const sk_block *block;
  uint64_t rows[RULES]; /* rows of one range of the section */
  size_t ends[RULES];   /* number of the range after the last one of the section */
  atomic_bool *broken;  /* (RULES,): whether a range broke the rule */
} sweep;

static bool range_holds(const sweep *s, size_t rule, size_t range) {
  const sk_section *section = &s->block->sections[rules[rule].kind];
  uint64_t first = (range - (rule ? s->ends[rule - 1] : 0)) * s->rows[rule], left = section->rows - first;
  return rules[rule].rule(s->block, section, first, left < s->rows[rule] ? left : s->rows[rule]);
}

static void run_ranges(const void *job, size_t worker, size_t first, size_t count) {
  const sweep *s = job;
  size_t rule = 0, range;
  (void)worker;
  for (range = first; range < first + count; range++) {
    while (range >= s->ends[rule]) rule++;
    if (!range_holds(s, rule, range)) atomic_store_explicit(&s->broken[rule], true, memory_order_relaxed);
  }
}

sk_status sk_check_rows(const sk_block *block, sk_error *error) {
  atomic_bool broken[RULES] = {false};
  sweep s = {.block = block, .broken = broken};
  size_t i, ranges = 0;
  for (i = 0; i < RULES; i++) {
    const sk_section *section = &block->sections[rules[i].kind];
    if (section->rows) {
      s.rows[i] = RANGE_BYTES / section->stride;
      ranges += (size_t)((section->rows + s.rows[i] - 1) / s.rows[i]);
    }
    s.ends[i] = ranges;
  }
  if (ranges) sk_parallel(&s, run_ranges, ranges, block->size < THREADED_BYTES ? ranges : 1);
  for (i = 0; i < RULES; i++)
    if (broken[i]) return rules[i].blame(block, &rules[i], error);
  return SK_OK;
}
