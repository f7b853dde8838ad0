/* sk_deform_block.h: a block of vertices, the unit of work that skinning gives to the plain path or to a kernel. */
#ifndef SK_DEFORM_BLOCK_H
#define SK_DEFORM_BLOCK_H

#include "sk_influence.h"

/* How a kernel reads its inputs and stores its results, by the size of all results of a job. */
typedef enum sk_store_hint {
  SK_STORE_CACHED,     /* a near cache holds everything: nothing is prefetched */
  SK_STORE_PREFETCHED, /* a far cache or none holds everything: the kernel prefetches inputs and results */
  SK_STORE_STREAMED /* no cache holds the results: on x86-64 they are stored past the caches, to addresses aligned to
                          16 bytes, and inputs are prefetched */
} sk_store_hint;

/* One block of one palette. Its inputs and outputs begin with the block's first vertex. */
typedef struct sk_deform_block {
  const sk_influences *influences; /* for kernels */
  size_t number; /* of the block in the mesh */
  size_t count; /* vertices */
  const float *palette; /* (S, 16), aligned to 64 bytes for kernels; (S, 12 or 16) on the plain path */
  const float *points; /* (count, 3): the mesh's positions, or morphed ones */
  const float *directions; /* (count, 3): the mesh's normals, or morphed ones, not normalized */
  float *positions; /* out: (count, 3) */
  float *normals; /* out: (count, 3), or NULL */
  sk_store_hint store_hint;
  bool morphed; /* points and directions are not the mesh's */
  char *scratch; /* sk_kernels.deform_scratch bytes, aligned to SK_ALIGNMENT; of the worker */
} sk_deform_block;

#endif
