/* sk_deform.h: from palettes to vertices on the CPU: positions and normals of a mesh in a pose.

   Morph targets are added first. Then each vertex follows its slots,

       v' = (sum over its influences of weight * palette[slot]) * v

   and its normal is multiplied with the inverse transpose of the blended 3x3 matrix, so that it stays perpendicular
   under non-uniform scale, and normalized. Rigid meshes are slots like any other. */
#ifndef SK_DEFORM_H
#define SK_DEFORM_H

#include "sk_deform_block.h"
#include "../base/sk_kernels.h"
#include "../model/sk_morph.h"
#include "../pose/sk_palette.h"

/* Skins one mesh of V vertices with N palettes of S slots. The caller owns all arrays and keeps them until the run
   ends. */
typedef struct sk_deform_job {
  const sk_mesh *mesh;
  size_t slot_count;     /* S */
  size_t count;          /* N palettes */
  const float *palettes; /* (N, S, 12 or 16) */
  size_t matrix_floats;  /* 12 (the first three rows) or 16 */
  float *positions;      /* out: (N, V, 3) in the units of the model */
  float *normals;        /* out: (N, V, 3) of length 1, or zero; NULL: not wanted */

  /* Morph targets, which are added before the skin; all zero to leave them out. */
  const sk_morph *morph;
  const float *weights; /* (N, M), or (M,) for all palettes */
  size_t weight_stride; /* floats from one palette's weights to the next: M or 0 */

  const sk_palette_job *poses;     /* N given poses in place of `palettes`: each worker makes a palette when it needs
                                      it. Outputs and scratch of this job are not looked at. NULL: none */
  const sk_influences *influences; /* of the mesh, for the kernels; NULL: the plain path */

  /* sk_deform_scratch fills these three. */
  size_t workers;            /* threads that have scratch */
  const sk_kernels *kernels; /* NULL: the plain path */
  sk_store_hint store_hint;
  void *scratch; /* sk_deform_scratch(job) bytes, aligned to SK_ALIGNMENT */
} sk_deform_job;

/* Decides how the job will run, all of which is filled but for the last four fields, and returns how many bytes of
   scratch that takes. */
size_t sk_deform_scratch(sk_deform_job *job);

/* Fills the outputs, on several threads where there is much to do. Allocates nothing and cannot fail. The bits of the
   results do not depend on the number of threads. */
void sk_deform_run(const sk_deform_job *job);

#endif
