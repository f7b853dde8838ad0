/* sk_influence.h: the slots and weights of a mesh, regrouped once for the SIMD twin of skinning.

   In one of two ways. Where many vertices share their slots (sk_shared_slots.h), they are taken eight at once, in another
   order than the mesh has them, with points and normals in that order too; what comes out is put in the mesh's
   order at the end of a block. Else each vertex's matrix is blended by itself, into scratch at the vertex's place:
   a block's vertices are grouped, in their order, by how many influences they have, so that each group runs
   through one unrolled loop without padding, and points and normals stay in the mesh's order. */
#ifndef SK_INFLUENCE_H
#define SK_INFLUENCE_H

#include "sk_shared_slots.h"

/* Vertices of a block whose vertices stay in order: its blended matrices, 48 bytes each, stay in the first-level
   cache until they are used, and leave room there for what is read and written. With 256 a mesh that no cache
   holds took a fifth longer. */
#define SK_ORDERED_BLOCK_VERTICES 128u

typedef struct sk_influence_block {
  size_t code, weight, octet; /* first of the block */
  sk_lane_counts counts;     /* in order: of singles alone */
} sk_influence_block;

typedef struct sk_influences {
  size_t block_count;
  unsigned shift;                   /* a code of a slot << shift: bytes from the first matrix of 64 */
  bool shares_slots;                      /* the first of the two ways */
  const sk_influence_block *blocks; /* (block_count,), as the rest in the one allocation */
  const uint16_t *codes;            /* an octet: k slots; a single: its place, then k slots */
  const float *weights; /* an octet: (k, 8), aligned; a single: k; three more may be read behind the last */

  /* Where vertices share. */
  const float *points; /* (octets, 6, 8), aligned: x y z of points, then of normals; singles come last */
  const uint16_t *offsets; /* (V,): sk_octet_offset in the block's results */
  size_t octets, singles; /* octets of a block at most, and those of singles */
} sk_influences;

/* Vertices of a block. */
static inline size_t sk_influence_vertices(const sk_influences *influences) {
  return influences->shares_slots ? SK_SHARED_BLOCK_VERTICES : SK_ORDERED_BLOCK_VERTICES;
}

/* Where the first row of local vertex, or single, `v` lies in the scratch of blended matrices, in bytes; its other
   two rows follow 128 and 256 bytes later. Eight vertices make a group of 384 bytes: row by row, and in each row
   0 4, 1 5, 2 6, 3 7, so that a register of 32 bytes is a pair that transposes within its halves. */
static inline size_t sk_influence_offset(size_t v) { return v / 8 * 384 + v % 4 * 32 + v % 8 / 4 * 16; }

/* Likewise for the points of octets: x y z and a number that is none, 16 bytes; the normal follows 128 later. */
#define SK_OCTET_BYTES 256u
static inline size_t sk_octet_offset(size_t lane) {
  return lane / 8 * SK_OCTET_BYTES + lane % 4 * 32 + lane % 8 / 4 * 16;
}

/* Vertices whose weights are all zero count as one influence of weight zero. NULL where there is no memory;
   sk_free frees it. */
sk_influences *sk_influences_make(const sk_mesh *mesh, size_t slot_count);

#endif
