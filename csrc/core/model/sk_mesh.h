/* sk_mesh.h: the vertices of the whole scene as one set of streams, which are views into a block.

   Only the streams that skinning needs are here; texture coordinates, colors and faces are read from the block. */
#ifndef SK_MESH_H
#define SK_MESH_H

#include "sk_block.h"

typedef struct sk_mesh {
  size_t vertex_count;    /* V */
  uint32_t influences;    /* K, 1 to SK_MAX_INFLUENCES */
  const float *positions; /* (V,3) in block */
  const float *normals;   /* (V,3) in block, unit length */
  const uint16_t *slots;  /* (V,K) in block: indices into the palette, not joints */
  const float *weights;   /* (V,K) in block: in descending order, with the sum 1 */
} sk_mesh;

#endif
