/* sk_deform.h: palette + mesh -> points and normals, on the CPU.

   Morph targets are added first. Then
   v' = (sum of weight_k * palette[slot_k]) * v; normals by the inverse transpose of the blended
   3x3, so that they stay right under non-uniform scale. Rigid parts are slots like any other. */
#ifndef SK_DEFORM_H
#define SK_DEFORM_H

#include "sk_deform_block.h"
#include "../base/sk_kernels.h"
#include "../model/sk_morph.h"
#include "../pose/sk_palette.h"

typedef struct sk_deform_job {
  const sk_mesh *mesh;
  size_t slot_count;     /* S */
  size_t count;          /* N palettes */
  const float *palettes; /* (N, S, 12 or 16) */
  size_t matrix_floats;  /* 12 or 16 */
  float *positions;      /* out: (N, V, 3) */
  float *normals;        /* out: (N, V, 3), or NULL */

  /* Morph targets, added before the skin; all zero to leave them out. */
  const sk_morph *morph;
  const float *weights;  /* (N, M) or (M,) */
  size_t weight_stride;  /* floats from one palette's weights to the next: M or 0 */

  const sk_palette_job *poses;     /* N poses that are given, instead of `palettes`; its outputs and scratch are
                                      not looked at. NULL: none */
  const sk_influences *influences; /* of the mesh, for the SIMD twin; NULL: the plain path */

  size_t workers; /* these three are set by sk_deform_scratch */
  const sk_kernels *kernels; /* NULL: the plain path */
  sk_store_hint store_hint;
  void *scratch;  /* so many bytes of sk_alloc */
} sk_deform_job;

/* Decides how the job, filled but for the last lines, will run, and says how many bytes of scratch that takes. */
size_t sk_deform_scratch(sk_deform_job *job);

/* On all threads where there is much to do. The same bits whatever their number. */
void sk_deform_run(const sk_deform_job *job);

#endif
