/* sk_palette.h: poses -> locals, globals, joint positions, palettes; one at a time or in batches.

   local   = T * R * S, or the rest matrix itself where T, R, S are bit-equal to the rest pose
   global  = global(parent) * local
   palette = global(joint of the slot) * inverse bind matrix of the slot */
#ifndef SK_PALETTE_H
#define SK_PALETTE_H

#include "sk_sample.h"
#include "../model/sk_skin.h"

typedef enum sk_result { SK_LOCALS, SK_GLOBALS, SK_POSITIONS, SK_PALETTE } sk_result;

typedef struct sk_palette_job {
  const sk_skeleton *skeleton;
  const sk_skin *skin;         /* for SK_PALETTE */
  size_t count;                /* N poses */

  /* Where the poses come from: sampled at (N,) finite times, or given. */
  const sk_sampling *sampling; /* NULL: `poses` are given */
  const double *times;
  sk_pose poses;               /* (N, J, .); weights are not looked at */

  const float *root;           /* (4,4) or (N,4,4), put in front of the roots' locals; NULL: none */
  size_t root_stride;          /* floats from one root to the next: 0 or 16 */
  bool inverse_root;           /* the inverse of the root's rest global in front of everything */

  sk_result result;
  bool affine;                 /* matrices of 12 floats, the first three rows; else 16 */
  float *out;                  /* (N, J or S, 4,4 or 3,4), or (N, J, 3) for SK_POSITIONS */
  void *scratch;               /* sk_palette_scratch(job) bytes, aligned to 32 */
} sk_palette_job;

/* What stands in front of the roots' locals of pose n, as three rows; false where that is nothing. */
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

/* For all threads that the run will have: to be asked by the thread that runs, right before. */
size_t sk_palette_scratch(const sk_palette_job *job);

void sk_palette_run(const sk_palette_job *job);

#endif
