/* sk_deform.h: palette + mesh -> points and normals, on the CPU.

   v' = (sum of weight_k * palette[slot_k]) * v; normals by the inverse transpose of the blended
   3x3, so that they stay right under non-uniform scale. Rigid parts are slots like any other. */
#ifndef SK_DEFORM_H
#define SK_DEFORM_H

#include "sk_mesh.h"

typedef struct sk_deform_job {
  const sk_mesh *mesh;
  size_t slot_count;     /* S */
  size_t count;          /* N palettes */
  const float *palettes; /* (N, S, 12 or 16) */
  size_t matrix_floats;  /* 12 or 16 */
  float *positions;      /* out: (N, V, 3) */
  float *normals;        /* out: (N, V, 3), or NULL */
} sk_deform_job;

void sk_deform_run(const sk_deform_job *job);

#endif
