/* sk_influence.h: the slots and weights of a mesh, regrouped once into the form that the kernels of skinning read.

   There are two forms, and sk_influences_make takes the one that needs fewer instructions:

   - Shared slots. Where many vertices have the same slots (sk_shared_slots.h), eight of them are skinned at once. They
     come in another order than the mesh has them, and so do copies of their points and normals; at the end of a
     block the results are put into the mesh's order.
   - Mesh order. Elsewhere the matrix of each vertex is blended by itself, into scratch at an offset that follows from
     the vertex's number. The vertices of a block are grouped by how many influences they have, so that each group
     runs through one unrolled loop without padding; points and normals stay where the mesh has them. */
#ifndef SK_INFLUENCE_H
#define SK_INFLUENCE_H

#include "sk_shared_slots.h"

/* Vertices of a block in mesh order: its blended matrices, 48 bytes each, stay in the first-level cache until they are
   used, and leave room there for what is read and written. With 256 a mesh that no cache holds took a fifth longer. */
#define SK_ORDERED_BLOCK_VERTICES 128u

/* Where a block begins in the arrays of sk_influences. */
typedef struct sk_influence_block {
  size_t code, weight, octet;
  sk_lane_counts counts; /* in mesh order there are singles alone */
} sk_influence_block;

/* The regrouped influences of V vertices: one allocation, in which all arrays lie. An octet is eight vertices with the
   same k slots; a single is a vertex by itself, with k slots. */
typedef struct sk_influences {
  size_t block_count;
  unsigned shift;                   /* a code << shift is the offset in bytes of its slot's matrix of 64 bytes */
  bool shares_slots;                /* the first of the two forms */
  const sk_influence_block *blocks; /* (block_count,) */
  const uint16_t *codes;            /* an octet: k codes of slots; a single: its sk_influence_offset, then k codes */
  const float *weights;             /* an octet: (k, 8), aligned to 32 bytes; a single: k. Behind the last there are
                                       three more floats, which may be read */

  /* For shared slots alone. */
  const float *points; /* (octets, 6, 8), aligned: x, y, z of points, then of normals; those of singles come last */
  const uint16_t *offsets; /* (V,): where the vertex's result lies in those of its block: sk_octet_offset */
  size_t octets, singles; /* the largest numbers in one block: of octets, and of octets made of singles */
} sk_influences;

/* Vertices of a full block. */
static inline size_t sk_influence_vertices(const sk_influences *influences) {
  return influences->shares_slots ? SK_SHARED_BLOCK_VERTICES : SK_ORDERED_BLOCK_VERTICES;
}

/* Offset in bytes of the first row of the matrix of vertex `v` of the block (or of single number `v`) in the scratch of
   blended matrices; the other two rows follow 128 and 256 bytes later. Eight vertices make a group of 384 bytes: row
   by row, and in each row the vertices 0 4, 1 5, 2 6, 3 7, so that a register of 32 bytes holds a pair, which the
   kernel transposes within the halves of registers. */
static inline size_t sk_influence_offset(size_t v) { return v / 8 * 384 + v % 4 * 32 + v % 8 / 4 * 16; }

/* Offset in bytes of the point of lane `lane` in the results of a block with shared slots: x, y, z and four bytes
   without meaning. The normal follows 128 bytes later. The order of lanes is that of sk_influence_offset. */
#define SK_OCTET_BYTES 256u
static inline size_t sk_octet_offset(size_t lane) {
  return lane / 8 * SK_OCTET_BYTES + lane % 4 * 32 + lane % 8 / 4 * 16;
}

/* Regroups the influences of `mesh`, whose vertices name slots below `slot_count`. Vertices whose weights are all zero
   count as one influence of weight zero. Returns NULL where there is no memory; sk_free frees the result. */
sk_influences *sk_influences_make(const sk_mesh *mesh, size_t slot_count);

#endif
