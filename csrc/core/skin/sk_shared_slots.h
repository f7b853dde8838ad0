/* sk_shared_slots.h: which vertices of a mesh share their slots, so that skinning blends their matrices eight at once.

   In a mesh as artists make them most vertices have the slots of many others: a forearm is bound to elbow and
   wrist. Eight with the same slots make an octet; those that are left over, too few to pay for one, stay single. */
#ifndef SK_SHARED_SLOTS_H
#define SK_SHARED_SLOTS_H

#include "../model/sk_mesh.h"

/* Vertices that are searched at a time for those that share. More find more partners; what skinning writes for
   so many, 32 bytes each, should stay in a near cache. */
#define SK_SHARED_BLOCK_VERTICES 512u

/* Lanes at most: octets are at least 5/8 full, but for the last one of singles. */
#define SK_SHARED_BLOCK_LANES    (SK_SHARED_BLOCK_VERTICES / 5 * 8 + 16)

typedef struct sk_lane_counts {
  uint16_t octets[SK_MAX_INFLUENCES + 1];  /* [k]: so many octets share k slots; [0] is 0 */
  uint16_t singles[SK_MAX_INFLUENCES + 1]; /* [k]: so many lanes of singles have k slots */
} sk_lane_counts;

typedef struct sk_shared_slots_scratch sk_shared_slots_scratch;

/* NULL where there is no memory; sk_free frees it. */
sk_shared_slots_scratch *sk_shared_slots_begin(void);

/* Vertices first .. first + count - 1, at most SK_SHARED_BLOCK_VERTICES. `lanes` gets the vertex, counted from `first`,
   of each lane: the octets that share, by the number of their slots, then the singles likewise, filled up to a
   whole octet. Lanes that are left over in an octet repeat one of its vertices. Returns about how many instructions
   this saves against skinning them one by one, in their order; negative where it costs more. */
double sk_shared_slots_find(const sk_mesh *mesh, size_t first, size_t count, sk_shared_slots_scratch *scratch,
                            sk_lane_counts *counts, uint16_t lanes[SK_SHARED_BLOCK_LANES]);

/* How many lanes. */
size_t sk_lane_count(const sk_lane_counts *counts);

/* How many influences a vertex has, without those of weight zero; but one at least. */
uint32_t sk_influence_count(const sk_mesh *mesh, size_t vertex);

/* Those, their slots rising; returns how many. */
uint32_t sk_sorted_influences(const sk_mesh *mesh, size_t vertex, uint16_t slots[SK_MAX_INFLUENCES],
                              float weights[SK_MAX_INFLUENCES]);

#endif
