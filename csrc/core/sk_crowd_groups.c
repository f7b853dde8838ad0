/* sk_crowd_groups.c: see sk_crowd_groups.h. */
#include "sk_crowd_groups.h"

#include <string.h>

#include "sk_compile.h"

#define UNUSED 0xFFFFu /* 16 bits of a key behind the last clip */

size_t sk_crowd_groups_bytes(size_t count) { return count * (3 * sizeof(size_t) + 2 * sizeof(uint64_t)) + sizeof(size_t); }

double sk_crowd_weight(const sk_crowd_job *job, size_t n, size_t slot) {
  size_t i = n * job->slots + slot;
  if (job->clip_index[i] == SK_NONE) return 0.0;
  return job->weights ? job->weights[i] : 1.0;
}

static bool has_twin(const sk_crowd_job *job, uint32_t clip) {
  sk_sampling sampling = {job->skeleton, &job->clips[clip], job->loop, job->rotation, job->morph};
  return sk_compiled_for(&sampling) != NULL;
}

/* Instances that show some of the rest pose go the plain path too. */
static uint64_t key_of(const sk_crowd_job *job, size_t n) {
  uint64_t key = SK_GROUP_PLAIN;
  double sum = 0.0;
  unsigned used = 0;
  size_t slot;
  for (slot = 0; slot < job->slots; slot++) {
    double weight = sk_crowd_weight(job, n, slot);
    uint64_t clip = (uint64_t)(uint32_t)job->clip_index[n * job->slots + slot];
    if (!(weight > 0.0)) continue;
    if (!has_twin(job, (uint32_t)clip)) return SK_GROUP_PLAIN;
    key ^= (UNUSED ^ clip) << 16 * used++;
    sum += weight;
  }
  return sum < SK_BLEND_THRESHOLD ? SK_GROUP_PLAIN : key;
}

/* One pass of a radix sort from the lowest byte up; stable. */
static void sort_by_byte(sk_crowd_groups *g, size_t count, int shift) {
  size_t ends[256] = {0}, before = 0, i;
  uint64_t *keys = g->keys;
  size_t *order = g->order;
  for (i = 0; i < count; i++) ends[keys[i] >> shift & 0xFF]++;
  for (i = 0; i < 256; i++) {
    size_t own = ends[i];
    ends[i] = before;
    before += own;
  }
  for (i = 0; i < count; i++) {
    size_t place = ends[keys[i] >> shift & 0xFF]++;
    g->spare_keys[place] = keys[i];
    g->spare_order[place] = order[i];
  }
  g->keys = g->spare_keys;
  g->spare_keys = keys;
  g->order = g->spare_order;
  g->spare_order = order;
}

static void sort(sk_crowd_groups *g, size_t count) {
  uint64_t differences = 0;
  size_t i;
  int shift;
  for (i = 1; i < count; i++) differences |= g->keys[i] ^ g->keys[0];
  for (shift = 0; shift < 64; shift += 8)
    if (differences >> shift & 0xFF) sort_by_byte(g, count, shift);
}

sk_crowd_groups sk_crowd_groups_make(const sk_crowd_job *job, void *memory) {
  size_t count = job->count, n;
  sk_crowd_groups g;
  g.keys = memory;
  g.spare_keys = g.keys + count;
  g.order = (size_t *)(g.spare_keys + count);
  g.spare_order = g.order + count;
  g.starts = g.spare_order + count;
  g.group_count = 0;
  for (n = 0; n < count; n++) {
    g.keys[n] = key_of(job, n);
    g.order[n] = n;
  }
  sort(&g, count);
  for (n = 0; n < count; n++)
    if (n == 0 || g.keys[n] != g.keys[n - 1] || n - g.starts[g.group_count - 1] == SK_GROUP_LANES)
      g.starts[g.group_count++] = n;
  g.starts[g.group_count] = count;
  return g;
}
