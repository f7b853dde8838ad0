/* sk_palette.h: from poses to matrices, one pose at a time or in batches.

   The local of a joint maps its space to the space of its parent, the global maps it to the space of the scene, and
   a palette has one matrix for each slot, which maps vertices from where they are bound to where the pose puts them:

       local   = T * R * S, or the rest matrix itself where T, R and S are bit for bit those of the rest pose
       global  = global of the parent * local; for roots, what stands in front * local
       palette = global of the slot's joint * inverse bind matrix of the slot

   Chains of joints are multiplied in double on the plain path, and on that of the kernels where they are long
   (sk_precise). Matrices are row-major, for column vectors. */
#ifndef SK_PALETTE_H
#define SK_PALETTE_H

#include "sk_sample.h"
#include "../model/sk_skin.h"

/* What a job gives of each pose: J locals, J globals, J positions of joints (the last column of their globals), or S
   matrices of slots. */
typedef enum sk_result { SK_LOCALS, SK_GLOBALS, SK_POSITIONS, SK_PALETTE } sk_result;

/* N poses to matrices. The job owns nothing; whoever fills it keeps every array until the run ends. */
typedef struct sk_palette_job {
  const sk_skeleton *skeleton;
  const sk_skin *skin; /* for SK_PALETTE */
  size_t count;        /* N poses */

  /* Where the poses come from: sampled at N times, or given. */
  const sk_sampling *sampling; /* NULL: `poses` are given */
  const double *times;         /* (N,) seconds, finite */
  sk_pose poses;               /* N poses, whose weights are not looked at */

  /* What stands in front of the locals of all roots: sk_pose_front. */
  const float *root;  /* (4, 4) or (N, 4, 4); NULL: none */
  size_t root_stride; /* floats from one pose's matrix to the next: 0 or 16 */
  bool inverse_root;  /* the inverse of the root's rest global, in front of everything */

  sk_result result;
  bool affine;   /* matrices of 12 floats, their first three rows; else 16 */
  float *out;    /* (N, J or S, 4, 4 or 3, 4), or (N, J, 3) for SK_POSITIONS */
  void *scratch; /* sk_palette_scratch(job) bytes, aligned to 32 */
  size_t workers; /* set by sk_palette_scratch: threads that have scratch; 0 counts as 1 */
} sk_palette_job;

/* Writes the matrix in front of the roots of pose n, as sk_pose_front does; false where there is none. */
static inline bool sk_palette_front(const sk_palette_job *job, size_t n, double out[12]) {
  const float *root = job->root ? job->root + n * job->root_stride : NULL;
  return sk_pose_front(job->skeleton, root, job->inverse_root, out);
}

/* Floats that one pose takes in `out`. */
static inline size_t sk_palette_floats(const sk_palette_job *job) {
  size_t joints = (size_t)job->skeleton->joint_count, matrix = job->affine ? 12 : 16;
  switch (job->result) {
  case SK_POSITIONS: return joints * 3;
  case SK_PALETTE: return (size_t)job->skin->slot_count * matrix;
  default: return joints * matrix;
  }
}

/* Bytes of scratch for all threads that the run will use. Looks at skeleton, sampling, count and result; sets
   `workers`. */
size_t sk_palette_scratch(sk_palette_job *job);

/* Fills `out`, on several threads where there is much to do. Allocates nothing and cannot fail. The bits of a pose's
   result depend neither on the number of threads nor on the other poses of the job. */
void sk_palette_run(const sk_palette_job *job);

#endif
