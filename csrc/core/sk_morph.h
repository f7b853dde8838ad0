/* sk_morph.h: morph targets ("blend shapes"): a mesh plus weighted differences to some of its vertices.

   position' = position + sum over targets of weight * difference; normals likewise, their length being
   mended by the skinning that follows. */
#ifndef SK_MORPH_H
#define SK_MORPH_H

#include "sk_mesh.h"

typedef struct sk_morph {
  int32_t target_count;       /* M */
  const sk_target *targets;   /* (M,) in block */
  const uint32_t *vertices;   /* in block: TARGET_VERTICES */
  const float *positions;     /* in block: TARGET_POSITIONS */
  const float *normals;       /* in block; NULL where the targets have none */
} sk_morph;

/* Shows the targets of a block of either kind. */
void sk_morph_open(const sk_block *block, sk_morph *morph);

/* The weights that the file gives a mesh by default; (M,). */
void sk_morph_default_weights(const sk_morph *morph, float *weights);

typedef struct sk_morph_job {
  const sk_morph *morph;
  const sk_mesh *mesh;
  const float *weights; /* (M,) */
  float *positions;     /* out: (V, 3) */
  float *normals;       /* out: (V, 3), not normalized; or NULL */
} sk_morph_job;

void sk_morph_run(const sk_morph_job *job);

#endif
