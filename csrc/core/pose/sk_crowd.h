/* sk_crowd.h: many instances of one model at once, each with up to four clips, times and weights -> palettes.

   An instance is what sampling each of its clips, blending the poses in the mode SK_BLEND_BASE (sk_blend.h)
   and the palette of the result give: its weights are normalized, and where their sum is below
   SK_BLEND_THRESHOLD the rest pose takes what is missing to it. Nothing but the rest pose is shown where
   no clip weighs. */
#ifndef SK_CROWD_H
#define SK_CROWD_H

#include "sk_blend.h"
#include "sk_palette.h"

#define SK_CROWD_SLOTS  4       /* clips that one instance may blend: what a vec4 of weights holds */
#define SK_CROWD_CLIPS  65535u  /* clips of a crowd: an instance may then name its own, or none, by a uint16 */
#define SK_CROWD_WEIGHT 1e30   /* most that a weight may be: the sum of four stays finite in float too */

typedef struct sk_crowd_job {
  const sk_skeleton *skeleton;
  const sk_skin *skin;
  const sk_morph *morph;
  const sk_clip *clips; /* none of them additive: a difference has no pose to be shown in */
  size_t clip_count;
  size_t count, slots;       /* N instances, K clips each: 1 to SK_CROWD_SLOTS */
  const int32_t *clip_index; /* (N,K) of `clips`, or SK_NONE: unused */
  const double *times;       /* (N,K) seconds, finite, also where unused */
  const double *weights;     /* (N,K), 0 to SK_CROWD_WEIGHT; NULL: 1 for each that is used */
  sk_loop loop;
  sk_rotation rotation;
  const float *root;         /* (4,4) or (N,4,4), put in front of the roots' locals; NULL: none */
  size_t root_stride;        /* floats from one root to the next: 0 or 16 */
  bool inverse_root;         /* the inverse of the root's rest global in front of everything */
  bool affine;               /* matrices of 12 floats, the first three rows; else 16 */
  float *out;                /* (N,S,4,4) or (N,S,3,4) */
  void *scratch;             /* sk_crowd_scratch(job) bytes, aligned to 32 */
} sk_crowd_job;

/* SK_ERROR_ARGUMENT names the first index, time or weight that is wrong, and its place: [n, k], or [n] where
   K is 1. Looks at none of root, out and scratch. */
sk_status sk_crowd_validate(const sk_crowd_job *job, sk_error *error);

/* For all threads that the run will have: to be asked by the thread that runs, right before. Looks at skeleton,
   clips, count and slots alone. */
size_t sk_crowd_scratch(const sk_crowd_job *job);

/* Over threads, where there is enough to do; the same bits whatever their number. */
void sk_crowd_run(const sk_crowd_job *job);

#endif
