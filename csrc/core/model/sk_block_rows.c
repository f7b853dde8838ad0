/* sk_block_rows.c: see sk_block_rows.h. A section keeps its rule if each range of its rows does. */
#include "sk_block_rows.h"

#include <math.h>
#include <stdatomic.h>

#include "../base/sk_threads.h"

#define SUM_TOLERANCE    1e-4                /* of the sum of a vertex's weights: rounding of real exporters */
#define LENGTH_TOLERANCE 2e-3f /* of the length of a normal or tangent: the importer keeps what is within 1e-3 */
#define RANGE_BYTES      ((uint64_t)128 << 10) /* of a range: 10 to 30 us of work, cached for two passes */
#define THREADED_BYTES   ((size_t)4 << 20) /* smaller blocks are checked before a second thread would be awake */

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

/* Whether `rows` vectors, `stride` floats apart, have the length 1 or are 0. False for what is not finite. */
static inline bool are_directions(const float *v, uint64_t rows, uint32_t stride) {
  uint32_t bad = 0;
  for (; rows; rows--, v += stride) {
    float square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    bad |= (uint32_t)!(fabsf(square - 1.0f) <= 2.0f * LENGTH_TOLERANCE) &
           ((v[0] != 0.0f) | (v[1] != 0.0f) | (v[2] != 0.0f));
  }
  return !bad;
}

static bool are_normals(const sk_block *block, const sk_section *section, uint64_t first, uint64_t count) {
  (void)block;
  return are_directions(row_of(section, first), count, 3);
}

/* The fourth number of a tangent is the side of the third axis: 1 or -1. */
static bool are_tangents(const sk_block *block, const sk_section *section, uint64_t first, uint64_t count) {
  const float *tangents = row_of(section, first);
  uint32_t bad = 0;
  uint64_t i;
  (void)block;
  for (i = 0; i < count; i++) bad |= fabsf(tangents[4 * i + 3]) != 1.0f;
  return !bad && are_directions(tangents, count, 4);
}

/* The submesh that has the face. Submeshes follow one another and have all faces; some may have none. */
static const sk_submesh *submesh_of_face(const sk_block *block, uint64_t face) {
  const sk_submesh *low = block->sections[SK_SECTION_SUBMESHES].data;
  const sk_submesh *high = low + block->sections[SK_SECTION_SUBMESHES].rows;
  while (high - low > 1) {
    const sk_submesh *middle = low + (high - low) / 2;
    if (middle->first_face <= face) low = middle;
    else high = middle;
  }
  return low;
}

static bool uses_vertices(const uint32_t *vertices, uint64_t count, const sk_submesh *submesh) {
  uint32_t lowest = UINT32_MAX, highest = 0;
  uint64_t i;
  for (i = 0; i < count; i++) {
    highest = vertices[i] > highest ? vertices[i] : highest;
    lowest = vertices[i] < lowest ? vertices[i] : lowest;
  }
  return lowest >= submesh->first_vertex && highest - submesh->first_vertex < submesh->vertex_count;
}

/* Each face uses vertices of its own submesh. */
static bool faces_keep_to_submeshes(const sk_block *block, const sk_section *section, uint64_t first, uint64_t count) {
  const sk_submesh *submesh = submesh_of_face(block, first);
  while (count) {
    uint64_t left = (uint64_t)submesh->first_face + submesh->face_count - first, some = left < count ? left : count;
    if (some && !uses_vertices(row_of(section, first), some * 3, submesh)) return false;
    first += some;
    count -= some;
    submesh++;
  }
  return true;
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

static sk_status blame_directions(const sk_block *block, const section_rule *broken, sk_error *error) {
  const sk_section *section = &block->sections[broken->kind];
  const float *v;
  uint64_t vertex;
  if (!are_finite(block, section, 0, section->rows)) return blame_numbers(block, broken, error);
  vertex = first_broken_row(block, broken);
  v = row_of(section, vertex);
  return sk_fail(error, SK_ERROR_BLOCK, "vertex %llu: its row in %s has the length %g; expected 1, or 0 for none%s",
                 (unsigned long long)vertex, sk_section_name(broken->kind),
                 sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]),
                 broken->kind == SK_SECTION_TANGENTS ? ", and a side of 1 or -1" : "");
}

static sk_status blame_faces(const sk_block *block, const section_rule *broken, sk_error *error) {
  uint64_t face = first_broken_row(block, broken);
  const sk_submesh *submesh = submesh_of_face(block, face);
  const uint32_t *vertex = row_of(&block->sections[broken->kind], face), *last = vertex + 2;
  while (vertex < last && *vertex >= submesh->first_vertex && *vertex - submesh->first_vertex < submesh->vertex_count)
    vertex++;
  return sk_fail(error, SK_ERROR_BLOCK, "face %llu uses vertex %u; its submesh has %u vertices from %u on",
                 (unsigned long long)face, *vertex, submesh->vertex_count, submesh->first_vertex);
}

/* ---- sections --------------------------------------------------------------------- */

static const section_rule rules[] = {{SK_SECTION_REST_TRANSLATION, are_finite, blame_numbers},
                                     {SK_SECTION_REST_ROTATION, are_finite, blame_numbers},
                                     {SK_SECTION_REST_SCALE, are_finite, blame_numbers},
                                     {SK_SECTION_REST_LOCAL, are_finite, blame_numbers},
                                     {SK_SECTION_SLOT_INVERSE_BIND, are_finite, blame_numbers},
                                     {SK_SECTION_POSITIONS, are_finite, blame_numbers},
                                     {SK_SECTION_NORMALS, are_normals, blame_directions},
                                     {SK_SECTION_UVS, are_finite, blame_numbers},
                                     {SK_SECTION_COLORS, are_finite, blame_numbers},
                                     {SK_SECTION_TANGENTS, are_tangents, blame_directions},
                                     {SK_SECTION_VALUES, are_finite, blame_numbers},
                                     {SK_SECTION_TARGET_POSITIONS, are_finite, blame_numbers},
                                     {SK_SECTION_TARGET_NORMALS, are_finite, blame_numbers},
                                     {SK_SECTION_VERTEX_SLOTS, slots_exist, blame_slots},
                                     {SK_SECTION_VERTEX_WEIGHTS, are_weights, blame_weights},
                                     {SK_SECTION_FACES, faces_keep_to_submeshes, blame_faces}};

#define RULES (sizeof rules / sizeof *rules)

/* The ranges of all sections, numbered one section after another. */
typedef struct sweep {
  const sk_block *block;
  uint64_t rows[RULES]; /* rows of one range of the section */
  size_t ends[RULES]; /* number of the range after the last one of the section */
  atomic_bool *broken; /* (RULES,): whether a range broke the rule */
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
  if (ranges) sk_parallel(&s, run_ranges, ranges, block->size < THREADED_BYTES ? ranges : 1, SK_MAX_THREADS);
  for (i = 0; i < RULES; i++)
    if (broken[i]) return rules[i].blame(block, &rules[i], error);
  return SK_OK;
}
