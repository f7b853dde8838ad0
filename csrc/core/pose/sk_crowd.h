/* sk_crowd.h: palettes of many instances of one model, each with its own clips, times and weights.

   An instance blends up to four clips. Its palette is what three steps give: sample each of its clips, blend the
   poses in the mode SK_BLEND_BASE (sk_blend.h), and make the palette of the result. Weights are therefore normalized;
   where their sum is below SK_BLEND_THRESHOLD the rest pose takes what is missing to it, and where no clip weighs the
   instance shows the rest pose. */
#ifndef SK_CROWD_H
#define SK_CROWD_H

#include "sk_blend.h"
#include "sk_palette.h"

#define SK_CROWD_SLOTS  4      /* clips that one instance may blend: what a vec4 of weights holds */
#define SK_CROWD_CLIPS  65535u /* clips of a crowd, so that a uint16 can name a clip or none */
#define SK_CROWD_WEIGHT 1e30   /* largest weight: the sum of four stays finite in float too */

/* N instances that blend up to K clips each. The job owns nothing. */
typedef struct sk_crowd_job {
  const sk_skeleton *skeleton;
  const sk_skin *skin;
  const sk_morph *morph;
  const sk_clip *clips; /* none of them additive: a difference is no pose that could be shown */
  size_t clip_count;
  size_t count, slots;       /* N instances, K clips each: 1 to SK_CROWD_SLOTS */
  const int32_t *clip_index; /* (N, K) numbers of `clips`, or SK_NONE: unused */
  const double *times;       /* (N, K) seconds, finite even where unused */
  const double *weights;     /* (N, K) from 0 to SK_CROWD_WEIGHT; NULL: 1 for each clip that is used */
  sk_loop loop;
  sk_rotation rotation;
  const float *root;  /* (4, 4) or (N, 4, 4), in front of the roots' locals; NULL: none */
  size_t root_stride; /* floats from one instance's matrix to the next: 0 or 16 */
  bool inverse_root;  /* the inverse of the root's rest global, in front of everything */
  bool affine;        /* matrices of 12 floats, their first three rows; else 16 */
  float *out;         /* (N, S, 4, 4) or (N, S, 3, 4) */
  void *scratch;      /* sk_crowd_scratch(job) bytes, aligned to 32 */
  size_t workers;     /* set by sk_crowd_scratch: threads that have scratch */
} sk_crowd_job;

/* Checks the numbers of the job. SK_ERROR_ARGUMENT names the first index, time or weight that is wrong and its index
   in the array: [n, k], or [n] where K is 1. Does not look at root, out and scratch. */
sk_status sk_crowd_validate(const sk_crowd_job *job, sk_error *error);

/* Bytes of scratch for all threads that the run will use. Looks at skeleton, clips, count and slots; sets `workers`. */
size_t sk_crowd_scratch(sk_crowd_job *job);

/* Fills `out`, on several threads where there is much to do. Allocates nothing and cannot fail. The bits of an
   instance's palette depend neither on the number of threads nor on the other instances. */
void sk_crowd_run(const sk_crowd_job *job);

#endif
