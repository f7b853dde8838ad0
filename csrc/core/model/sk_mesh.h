/* sk_mesh.h: the vertices of the whole scene as one set of streams. */
#ifndef SK_MESH_H
#define SK_MESH_H

#include "sk_block.h"

typedef struct sk_mesh {
  size_t vertex_count;
  uint32_t influences;    /* K */
  const float *positions; /* (V,3) in block */
  const float *normals;   /* (V,3) in block */
  const uint16_t *slots;  /* (V,K) in block: indices into the palette */
  const float *weights;   /* (V,K) in block: falling, sum 1 */
} sk_mesh;

#endif
