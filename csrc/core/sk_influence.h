/* sk_influence.h: the slots and weights of a mesh, regrouped once for the SIMD twin of skinning.

   Vertices are taken in blocks; inside of a block they are grouped, in their order, by how many influences they
   have, so that each group runs through one unrolled loop without padding. Only the blending of matrices goes in
   this order, into scratch at the vertex's place; points and normals are read and written in the mesh's own. */
#ifndef SK_INFLUENCE_H
#define SK_INFLUENCE_H

#include "sk_mesh.h"

/* Vertices of a block: its blended matrices, 48 bytes each, stay in the first-level cache until they are used, and
   leave room there for what is read and written. With 256 a mesh that no cache holds took a fifth longer. */
#define SK_BLOCK_VERTICES 128u

typedef struct sk_influence_block {
  size_t code, weight;                       /* first of the block */
  uint16_t vertices[SK_MAX_INFLUENCES + 1];  /* [k]: so many of the block have k influences; [0] is 0 */
} sk_influence_block;

typedef struct sk_influences {
  size_t block_count;
  unsigned shift;                   /* a code of a slot << shift: bytes from the first matrix of 64 */
  const sk_influence_block *blocks; /* (block_count,), as the rest in the one allocation */
  const uint16_t *codes;            /* a vertex: its place, then k slots */
  const float *weights;             /* a vertex: k; three more may be read behind the last */
} sk_influences;

/* Where the first row of local vertex `v` lies in the scratch of blended matrices, in bytes; its other two rows
   follow 128 and 256 bytes later. Eight vertices make a group of 384 bytes: row by row, and in each row 0 4, 1 5,
   2 6, 3 7, so that a register of 32 bytes is a pair that transposes within its halves. */
static inline size_t sk_influence_place(size_t v) {
  return v / 8 * 384 + v % 4 * 32 + v % 8 / 4 * 16;
}

/* Vertices whose weights are all zero count as one influence of weight zero. NULL where there is no memory;
   sk_free frees it. */
sk_influences *sk_influences_make(const sk_mesh *mesh, size_t slot_count);

#endif
