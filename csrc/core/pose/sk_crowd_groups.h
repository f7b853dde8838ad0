/* sk_crowd_groups.h: sorts the instances of a crowd into groups that blend the same clips.

   A kernel poses the up to eight instances of a group side by side, because their time lines and joints are the same
   ones. An instance may name its clips in any order of its slots. Grouping changes the order of the work and never
   a result. */
#ifndef SK_CROWD_GROUPS_H
#define SK_CROWD_GROUPS_H

#include "sk_crowd.h"

#define SK_GROUP_LANES 8          /* instances of a group at most */
#define SK_GROUP_PLAIN UINT64_MAX /* key of the instances that the plain path has to take */

/* All instances, section by section (sk_crowd_groups_make), and in each section in the order of their keys. A key lists
   the clips that weigh, in rising order, 16 bits each from the lowest bits up, with 0xFFFF behind the last one. Instances
   with equal keys blend the same clips. */
typedef struct sk_crowd_groups {
  size_t *order, *spare_order; /* (N,): numbers of instances, sorted; the spare arrays are for sorting */
  uint64_t *keys, *spare_keys; /* (N,): the keys in that order */
  uint8_t *slots; /* (N,) by instance: the slots of its key's clips, two bits each from the lowest up */
  size_t *starts; /* (groups + 1,): where each group begins in `order` */
  size_t group_count;
} sk_crowd_groups;

/* One group as a kernel takes it. Its clips that weigh are compiled, and their weights sum to SK_BLEND_THRESHOLD or
   more. */
typedef struct sk_crowd_group {
  const size_t *instances; /* (count + more,): the group's own; behind them those that come after the group */
  size_t count, more; /* the kernel prefetches where the results of `more` will go */
  size_t source_count; /* clips that weigh: 1 to SK_CROWD_SLOTS */
  const uint8_t *slots; /* sk_crowd_groups.slots, of all instances */
} sk_crowd_group;

/* Bytes of the arrays of sk_crowd_groups for `count` instances. */
size_t sk_crowd_groups_bytes(size_t count);

/* The weight of the clip in slot `slot` of instance n; 0 where the slot is unused. */
static inline double sk_crowd_weight(const sk_crowd_job *job, size_t n, size_t slot) {
  size_t i = n * job->slots + slot;
  if (job->clip_index[i] == SK_NONE) return 0.0;
  return job->weights ? job->weights[i] : 1.0;
}

/* The number of clips in a key. */
static inline size_t sk_crowd_key_count(uint64_t key) {
  size_t count = 0;
  for (; count < SK_CROWD_SLOTS && (key & 0xFFFF) != 0xFFFF; count++) key = key >> 16 | (uint64_t)0xFFFF << 48;
  return count;
}

/* Sorts the job's instances into groups, which lie in `sections` sections (1 to SK_MAX_THREADS), one for each worker. A
   group is in the section where its middle instance is in the crowd. So each worker writes to its own part of the
   result, as far as the keys allow: the palettes of two neighbors often share a line of the cache, for which two cores
   would contend. `memory`, sk_crowd_groups_bytes(job->count) bytes aligned to 8, holds the arrays of the result and belongs to the
   caller. */
sk_crowd_groups sk_crowd_groups_make(const sk_crowd_job *job, size_t sections, void *memory);

#endif
