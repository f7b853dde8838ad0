/* sk_deform_block.h: one block of vertices, for the twins of skinning alone. */
#ifndef SK_DEFORM_BLOCK_H
#define SK_DEFORM_BLOCK_H

#include "sk_influence.h"

/* Where results lie, and what they are made of: in a near cache; in a far one or none, from where it is asked for
   before it is used; or there, and written past all caches, to addresses that are aligned to 16. */
typedef enum sk_store_hint { SK_STORE_CACHED, SK_STORE_PREFETCHED, SK_STORE_STREAMED } sk_store_hint;

typedef struct sk_deform_block {
  const sk_influences *influences;
  size_t number;           /* of the block */
  size_t count;            /* vertices */
  const float *palette;    /* (S,16) */
  const float *points;     /* (count,3), as all the following */
  const float *directions;
  float *positions;        /* out */
  float *normals;          /* out, or NULL */
  sk_store_hint store_hint;
  bool morphed;            /* points and directions are not the mesh's */
  char *scratch;           /* sk_kernels.deform_scratch, aligned */
} sk_deform_block;

#endif
