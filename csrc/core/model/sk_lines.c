/* sk_lines.c: see sk_lines.h. */
#include "sk_lines.h"

#include <string.h>

#define MERGE_GROWTH 3  /* cells that a merged line may have per cell of the lines that it replaces */
#define MERGE_SLACK  256 /* and cells that it may have in addition: small clips are always merged */

bool sk_keys_are_same(const sk_keys *keys, const sk_channel *channel, uint64_t array) {
  const float *first = keys->values + array;
  size_t bytes = sk_path_width((sk_path)channel->path) * sizeof *first;
  uint32_t k;
  for (k = 1; k < sk_channel_stored(channel); k++)
    if (memcmp(first, sk_channel_key(keys->values, channel, array, k), bytes) != 0) return false;
  return true;
}

static bool is_zero(const sk_plan *p, const sk_channel *channel, uint64_t array) {
  uint32_t width = sk_path_width((sk_path)channel->path), k, i;
  for (k = 0; k < sk_channel_stored(channel); k++)
    for (i = 0; i < width; i++)
      if (sk_channel_key(p->keys.values, channel, array, k)[i] != 0.0f) return false;
  return true;
}

static bool is_constant(const sk_plan *p, const sk_channel *channel) {
  return sk_keys_are_same(&p->keys, channel, channel->values) &&
         (channel->interpolation != SK_CUBIC || channel->key_count == 1 ||
          (is_zero(p, channel, channel->in_tangents) && is_zero(p, channel, channel->out_tangents)));
}

/* ---- sorting ----------------------------------------------------------------------------------- */

typedef int (*comparison)(const sk_keys *keys, const sk_channel *a, const sk_channel *b);

/* Orders channels by what they move: the joint, then its component. */
static int compare_moved(const sk_keys *keys, const sk_channel *a, const sk_channel *b) {
  (void)keys;
  return a->joint != b->joint ? (a->joint < b->joint ? -1 : 1) : (int)a->path - (int)b->path;
}

/* Orders channels by time line: channels of one line compare as equal. */
static int compare_lines(const sk_keys *keys, const sk_channel *a, const sk_channel *b) {
  if (a->interpolation != b->interpolation) return a->interpolation < b->interpolation ? -1 : 1;
  if (a->key_count != b->key_count) return a->key_count < b->key_count ? -1 : 1;
  if (a->times == b->times) return 0;
  return memcmp(keys->times + a->times, keys->times + b->times, a->key_count * sizeof(double));
}

/* Merge sort of channels, stable; `spare` is as long. */
static void sort_order(const sk_keys *keys, comparison compare, uint32_t *order, uint32_t *spare, uint32_t count) {
  uint32_t half = count / 2, a = 0, b = half, n;
  if (count < 2) return;
  sort_order(keys, compare, order, spare, half);
  sort_order(keys, compare, order + half, spare, count - half);
  memcpy(spare, order, count * sizeof *order);
  for (n = 0; n < count; n++) {
    bool first = b == count || (a < half && compare(keys, &keys->channels[spare[a]], &keys->channels[spare[b]]) <= 0);
    order[n] = spare[first ? a++ : b++];
  }
}

/* ---- which channels move, and on which lines ------------------------------------------------------ */

/* Divides the channels into `order` and `still`. Of several that move the same component, the last one counts. */
static void choose_channels(sk_plan *p, uint32_t *spare) {
  const sk_channel *channels = p->keys.channels;
  uint32_t count = 0, i;
  for (i = 0; i < p->keys.channel_count; i++)
    if (sk_path_moves_joint(channels[i].path)) p->order[count++] = i;
  sort_order(&p->keys, compare_moved, p->order, spare, count);
  for (i = 0; i < count; i++) {
    const sk_channel *channel = &channels[p->order[i]];
    if (i + 1 < count && compare_moved(&p->keys, channel, &channels[p->order[i + 1]]) == 0) continue;
    if (is_constant(p, channel)) p->still[p->still_count++] = p->order[i];
    else p->order[p->moving++] = p->order[i];
  }
}

static void group_lines(sk_plan *p) {
  uint32_t i;
  for (i = 0; i < p->moving; i++) {
    const sk_channel *channel = &p->keys.channels[p->order[i]];
    if (i == 0 || compare_lines(&p->keys, &p->keys.channels[p->order[i - 1]], channel) != 0)
      p->lines[p->line_count++] = (sk_plan_line){p->keys.times + channel->times, channel->key_count, i, 0,
                                                 (sk_interpolation)channel->interpolation};
    p->lines[p->line_count - 1].count++;
  }
}

/* Writes the union of two increasing lists to `out`, which has room for `limit` numbers. Returns the length of the
   union, or limit + 1 if it does not fit. */
static size_t unite(const double *a, size_t a_count, const double *b, size_t b_count, double *out, size_t limit) {
  size_t i = 0, j = 0, count = 0;
  while (i < a_count || j < b_count) {
    bool from_a = j == b_count || (i < a_count && a[i] <= b[j]);
    if (count == limit) return limit + 1;
    out[count] = from_a ? a[i] : b[j];
    if (i < a_count && a[i] == out[count]) i++;
    if (j < b_count && b[j] == out[count]) j++;
    count++;
  }
  return count;
}

/* The union of the key times of lines first .. last - 1, in increasing order; NULL in *times if they are more than
   `limit`. Each step takes time in proportion to `limit`, so that all steps take no longer than writing the merged
   cells. Returns false if there is no memory. */
static bool unite_times(sk_plan *p, uint32_t first, uint32_t last, size_t limit, const double **times, size_t *count) {
  double *room = sk_alloc(2 * limit * sizeof *room), *next = room;
  uint32_t i;
  p->merged_times = room;
  *times = NULL;
  *count = 0;
  if (!room) return false;
  for (i = first; i < last; i++) {
    *count = unite(*times, *count, p->lines[i].times, p->lines[i].key_count, next, limit);
    *times = *count > limit ? NULL : next;
    if (!*times) return true;
    next = next == room ? room + limit : room;
  }
  return true;
}

/* Merges all linear lines, which are neighbors, into one, unless that wastes memory. Returns false if there is no
   memory. */
static bool merge_lines(sk_plan *p) {
  size_t keys = 0, cells = 0, raw = 0, limit;
  uint32_t first = 0, last;
  const double *times;
  while (first < p->line_count && p->lines[first].interpolation != SK_LINEAR) first++;
  for (last = first; last < p->line_count && p->lines[last].interpolation == SK_LINEAR; last++) {
    keys += p->lines[last].key_count;
    cells += p->lines[last].count;
    raw += (size_t)p->lines[last].key_count * p->lines[last].count;
  }
  if (last - first < 2) return true;
  limit = (MERGE_GROWTH * raw + MERGE_SLACK) / cells;
  if (limit > keys) limit = keys;
  if (limit > INT32_MAX) limit = INT32_MAX;
  if (!unite_times(p, first, last, limit, &times, &keys)) return false;
  if (!times) return true;
  p->lines[first] = (sk_plan_line){times, (uint32_t)keys, p->lines[first].first, (uint32_t)cells, SK_LINEAR};
  memmove(p->lines + first + 1, p->lines + last, (p->line_count - last) * sizeof *p->lines);
  p->line_count -= last - first - 1;
  p->merged = true;
  return true;
}

/* ---- the plan --------------------------------------------------------------------------------------- */

/* In debug builds: every channel that moves is in one time line, and the times of every line increase. */
static void check_plan(const sk_plan *plan) {
#ifdef SK_DEBUG
  uint32_t i, k, next = 0;
  for (i = 0; i < plan->line_count; i++) {
    const sk_plan_line *line = &plan->lines[i];
    SK_ASSERT(line->first == next && line->count > 0);
    for (k = 1; k < line->key_count; k++) SK_ASSERT(line->times[k - 1] < line->times[k]);
    next += line->count;
  }
  SK_ASSERT(next == plan->moving);
#else
  (void)plan;
#endif
}

bool sk_plan_make(sk_keys keys, sk_plan *plan) {
  size_t count = keys.channel_count;
  uint32_t *spare;
  *plan = (sk_plan){.keys = keys};
  plan->memory = sk_alloc(count * (sizeof *plan->lines + 3 * sizeof(uint32_t)));
  if (!plan->memory) return false;
  plan->lines = plan->memory;
  plan->order = (uint32_t *)(plan->lines + count);
  plan->still = plan->order + count;
  spare = plan->still + count;
  choose_channels(plan, spare);
  sort_order(&plan->keys, compare_lines, plan->order, spare, plan->moving);
  group_lines(plan);
  if (!merge_lines(plan)) return false;
  check_plan(plan);
  return true;
}

void sk_plan_free(sk_plan *plan) {
  sk_free(plan->merged_times);
  sk_free(plan->memory);
}

bool sk_plan_is_merged(const sk_plan *plan, sk_interpolation interpolation) {
  return plan->merged && interpolation == SK_LINEAR;
}

size_t sk_plan_stride(const sk_plan_line *line) {
  return (size_t)line->count * SK_CELL * (line->interpolation == SK_CUBIC ? 3 : 1);
}
