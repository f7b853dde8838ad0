/* sk_shared_slots.h: finds the vertices of a mesh that share their slots, so that skinning can take eight at once.

   In a mesh as artists make them most vertices have the same slots as many others: the vertices of a forearm are bound
   to the elbow and the wrist. Eight vertices with the same slots make an octet, whose blended matrix takes one read of
   each slot's matrix for all eight. Vertices that are left over, too few to pay for an octet, stay single. */
#ifndef SK_SHARED_SLOTS_H
#define SK_SHARED_SLOTS_H

#include "../model/sk_mesh.h"

/* Vertices of a block, among which partners are searched. More vertices find more partners; but the results of a
   block, 32 bytes a vertex, should stay in a near cache. */
#define SK_SHARED_BLOCK_VERTICES 512u

/* The largest number of lanes of a block: octets are at least 5/8 full, but for the last one of singles. */
#define SK_SHARED_BLOCK_LANES    (SK_SHARED_BLOCK_VERTICES / 5 * 8 + 16)

/* How the lanes of a block are divided, by the number k of slots; [0] is 0. */
typedef struct sk_lane_counts {
  uint16_t octets[SK_MAX_INFLUENCES + 1];  /* [k]: octets whose vertices have k slots */
  uint16_t singles[SK_MAX_INFLUENCES + 1]; /* [k]: lanes of single vertices with k slots */
} sk_lane_counts;

/* The total number of lanes. */
size_t sk_lane_count(const sk_lane_counts *counts);

typedef struct sk_shared_slots_scratch sk_shared_slots_scratch;

/* Memory for sk_shared_slots_find; sk_free frees it. NULL where there is none. */
sk_shared_slots_scratch *sk_shared_slots_begin(void);

/* Assigns lanes to vertices first .. first + count - 1, at most SK_SHARED_BLOCK_VERTICES of them. Writes the division
   to `counts`, and to `lanes` the vertex of each lane, counted from `first`: octets by rising number of slots, then
   singles likewise, filled up to a whole octet. Lanes that stay free in an octet repeat one of its vertices.

   Returns about how many instructions this saves against skinning the vertices one by one in the mesh's order; the
   number is negative where it costs more. */
double sk_shared_slots_find(const sk_mesh *mesh, size_t first, size_t count, sk_shared_slots_scratch *scratch,
                            sk_lane_counts *counts, uint16_t lanes[SK_SHARED_BLOCK_LANES]);

/* The number of influences of a vertex whose weight is not zero; at least 1. */
uint32_t sk_influence_count(const sk_mesh *mesh, size_t vertex);

/* Writes the slots of these influences in rising order, and their weights; returns their number. */
uint32_t sk_sorted_influences(const sk_mesh *mesh, size_t vertex, uint16_t slots[SK_MAX_INFLUENCES],
                              float weights[SK_MAX_INFLUENCES]);

#endif
