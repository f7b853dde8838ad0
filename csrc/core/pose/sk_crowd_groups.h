/* sk_crowd_groups.h: the instances of a crowd sorted into groups that blend the same clips, up to eight each, for
   the SIMD twin, whatever slots they have them in. Which instances share a group says nothing about their results. */
#ifndef SK_CROWD_GROUPS_H
#define SK_CROWD_GROUPS_H

#include "sk_crowd.h"

#define SK_GROUP_LANES 8
#define SK_GROUP_PLAIN UINT64_MAX /* key of the instances that the plain path has to take */

typedef struct sk_crowd_groups {
  size_t *order, *spare_order; /* (N,): instances in the order of their keys */
  uint64_t *keys, *spare_keys; /* (N,): clips that weigh, lower ones first, 16 bits each from below, 0xFFFF behind */
  uint8_t *slots;              /* (N,): of which slots they are, two bits each from below */
  size_t *starts;              /* (groups + 1,): positions in `order` */
  size_t group_count;
} sk_crowd_groups;

/* One group, as a kernel takes it: up to eight instances whose clips that weigh are the same, compiled, and weigh
   SK_BLEND_THRESHOLD or more. */
typedef struct sk_crowd_group {
  const size_t *instances; /* (count + more,): behind the group's own those that will come later */
  size_t count, more;
  size_t source_count;     /* clips that weigh */
  const uint8_t *slots;    /* (N,) of all instances: sk_crowd_groups */
} sk_crowd_group;

size_t sk_crowd_groups_bytes(size_t count);

/* What instance n's clip number `slot` weighs, 0 where it is unused. */
static inline double sk_crowd_weight(const sk_crowd_job *job, size_t n, size_t slot) {
  size_t i = n * job->slots + slot;
  if (job->clip_index[i] == SK_NONE) return 0.0;
  return job->weights ? job->weights[i] : 1.0;
}

/* How many clips weigh. */
static inline size_t sk_crowd_key_count(uint64_t key) {
  size_t count = 0;
  for (; count < SK_CROWD_SLOTS && (key & 0xFFFF) != 0xFFFF; count++) key = key >> 16 | (uint64_t)0xFFFF << 48;
  return count;
}

/* Sorts the job's instances; `memory` takes sk_crowd_groups_bytes and is aligned to 8. */
sk_crowd_groups sk_crowd_groups_make(const sk_crowd_job *job, void *memory);

#endif
