/* sk_crowd_groups.c: see sk_crowd_groups.h. */
#include "sk_crowd_groups.h"

#include "../base/sk_threads.h"
#include "sk_compile.h"

_Static_assert(SK_CROWD_SLOTS == 4, "a key has room for four clips, and five steps bring four into order");

#define INLINE static inline __attribute__((always_inline))
#define UNUSED 0xFFFFu /* the 16 bits of a key behind its last clip */

size_t sk_crowd_groups_bytes(size_t count) {
  return count * (3 * sizeof(size_t) + 2 * sizeof(uint64_t) + 1) + sizeof(size_t);
}

static bool is_compiled(const sk_crowd_job *job, uint32_t clip) {
  sk_sampling sampling = {job->skeleton, &job->clips[clip], job->loop, job->rotation, job->morph};
  return sk_compiled_for(&sampling) != NULL;
}

/* A clip and its slot as one number, by which they are sorted; the largest number where the clip does not weigh. */
static inline uint64_t source_of(const sk_crowd_job *job, size_t n, size_t slot) {
  uint64_t clip;
  if (slot >= job->slots) return UINT64_MAX;
  clip = (uint64_t)(uint32_t)job->clip_index[n * job->slots + slot];
  return sk_crowd_weight(job, n, slot) > 0.0 ? clip << 2 | slot : UINT64_MAX;
}

/* Sorts two numbers without a branch, because no processor could predict it. */
static inline void arrange(uint64_t *a, uint64_t *b) {
  uint64_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
  *a = low;
  *b = high;
}

/* The key of instance n, and the slots of its clips, by a sorting network. */
static uint64_t arranged_key(const sk_crowd_job *job, size_t n, uint8_t *slots) {
  uint64_t a = source_of(job, n, 0), b = source_of(job, n, 1), c = source_of(job, n, 2), d = source_of(job, n, 3);
  if (job->slots > 1) arrange(&a, &b);
  if (job->slots > 2) {
    arrange(&c, &d);
    arrange(&a, &c);
    arrange(&b, &d);
    arrange(&b, &c);
  }
  *slots = (uint8_t)((a & 3) | (b & 3) << 2 | (c & 3) << 4 | (d & 3) << 6);
  return (a >> 2 & UNUSED) | (b >> 2 & UNUSED) << 16 | (c >> 2 & UNUSED) << 32 | (d >> 2 & UNUSED) << 48;
}

static bool all_are_compiled(const sk_crowd_job *job) {
  size_t i;
  for (i = 0; i < job->clip_count; i++)
    if (!is_compiled(job, (uint32_t)i)) return false;
  return true;
}

/* The key by which instance n is grouped. The plain path takes instances with a clip that is not compiled, and those
   that show some of the rest pose. */
static uint64_t key_of(const sk_crowd_job *job, size_t n, bool all_are_compiled, uint8_t *slots) {
  uint64_t key = arranged_key(job, n, slots), rest;
  double sum = 0.0;
  size_t slot;
  for (rest = key; !all_are_compiled && (rest & UNUSED) != UNUSED; rest = rest >> 16 | (uint64_t)UNUSED << 48)
    if (!is_compiled(job, (uint32_t)(rest & UNUSED))) return SK_GROUP_PLAIN;
  for (slot = 0; slot < job->slots; slot++) sum += sk_crowd_weight(job, n, slot);
  return sum < SK_BLEND_THRESHOLD ? SK_GROUP_PLAIN : key;
}

/* The eight bits of a key that one pass sorts by: from bit `shift` on, the lowest `bits` of each of 8 / bits clips.
   Unused clips stay the largest. `bits` is a constant where this is inlined. */
INLINE unsigned digit_of(uint64_t key, int shift, int bits) {
  unsigned digit = 0;
  int i;
  for (i = 0; i < 8 / bits; i++) digit |= (unsigned)(key >> (shift + 16 * i) & ((1u << bits) - 1)) << bits * i;
  return digit;
}

/* What was sorted into the spare arrays becomes the order. */
static void use_spare(sk_crowd_groups *g) {
  uint64_t *keys = g->keys;
  size_t *order = g->order;
  g->keys = g->spare_keys;
  g->spare_keys = keys;
  g->order = g->spare_order;
  g->spare_order = order;
}

/* One pass of a stable radix sort, which goes from the lowest digit up. */
INLINE void sort_by_digit(sk_crowd_groups *g, size_t count, int shift, int bits) {
  size_t ends[256] = {0}, before = 0, i;
  for (i = 0; i < count; i++) ends[digit_of(g->keys[i], shift, bits)]++;
  for (i = 0; i < 256; i++) {
    size_t own = ends[i];
    ends[i] = before;
    before += own;
  }
  for (i = 0; i < count; i++) {
    size_t position = ends[digit_of(g->keys[i], shift, bits)]++;
    g->spare_keys[position] = g->keys[i];
    g->spare_order[position] = g->order[i];
  }
  use_spare(g);
}

/* Sorts by key: in one pass with up to three clips, in two with up to fifteen. */
static void sort(sk_crowd_groups *g, size_t count, size_t clip_count) {
  uint64_t differences = 0;
  size_t i;
  int shift;
  for (i = 1; i < count; i++) differences |= g->keys[i] ^ g->keys[0];
  if (!differences) return;
  if (clip_count < 4) {
    sort_by_digit(g, count, 0, 2);
  } else if (clip_count < 16) {
    if (differences & UINT32_MAX) sort_by_digit(g, count, 0, 4);
    if (differences >> 32) sort_by_digit(g, count, 32, 4);
  } else {
    for (shift = 0; shift < 64; shift += 8)
      if (differences >> shift & 0xFF) sort_by_digit(g, count, shift, 8);
  }
}

/* Finds where the groups begin among the sorted instances. */
static void find_groups(sk_crowd_groups *g, size_t count) {
  size_t n;
  g->group_count = 0;
  for (n = 0; n < count; n++)
    if (n == 0 || g->keys[n] != g->keys[n - 1] || n - g->starts[g->group_count - 1] == SK_GROUP_LANES)
      g->starts[g->group_count++] = n;
  g->starts[g->group_count] = count;
  SK_ASSERT(g->group_count <= count);
}

/* The section of a group, by its middle instance. */
static size_t section_of(const sk_crowd_groups *g, size_t group, size_t count, size_t sections) {
  size_t middle = g->order[(g->starts[group] + g->starts[group + 1]) / 2], each = (count + sections - 1) / sections;
  return middle / each;
}

/* Sorts the groups by section, and leaves them in the order of their keys there. */
static void sort_by_section(sk_crowd_groups *g, size_t count, size_t sections) {
  size_t ends[SK_MAX_THREADS] = {0}, before = 0, i, n;
  for (i = 0; i < g->group_count; i++) ends[section_of(g, i, count, sections)] += g->starts[i + 1] - g->starts[i];
  for (i = 0; i < sections; i++) {
    size_t own = ends[i];
    ends[i] = before;
    before += own;
  }
  for (i = 0; i < g->group_count; i++) {
    size_t *end = &ends[section_of(g, i, count, sections)];
    for (n = g->starts[i]; n < g->starts[i + 1]; n++, (*end)++) {
      g->spare_keys[*end] = g->keys[n];
      g->spare_order[*end] = g->order[n];
    }
  }
  use_spare(g);
}

sk_crowd_groups sk_crowd_groups_make(const sk_crowd_job *job, size_t sections, void *memory) {
  size_t count = job->count, n;
  bool all = all_are_compiled(job);
  sk_crowd_groups g;
  g.keys = memory;
  g.spare_keys = g.keys + count;
  g.order = (size_t *)(g.spare_keys + count);
  g.spare_order = g.order + count;
  g.starts = g.spare_order + count;
  g.slots = (uint8_t *)(g.starts + count + 1);
  for (n = 0; n < count; n++) {
    g.keys[n] = key_of(job, n, all, &g.slots[n]);
    g.order[n] = n;
  }
  sort(&g, count, job->clip_count);
  find_groups(&g, count);
  if (sections > 1) {
    sort_by_section(&g, count, sections);
    find_groups(&g, count);
  }
  return g;
}
