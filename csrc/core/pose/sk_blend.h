/* sk_blend.h: blends poses with weights and masks into one pose.

   A job lays one layer over the poses below it. With w = weight * mask of each source at a joint, its mode says how:

   base      the normalized sum of the sources; where the sum of w is below SK_BLEND_THRESHOLD, the rest pose takes
             what is missing to it (the rule of BlendingJob in ozz-animation)
   override  lerp (T, S) or nlerp (R) from the pose below to the normalized sum, by min(1, sum of w)
   add       the sources are differences: T += sum w dT, S *= 1 + sum w (dS - 1),
             R = normalize(identity + sum w (dR - identity)) * R

   The normalized sum is (sum w x) / (sum w), and normalize(sum w q) for rotations. A rotation is both q and -q: the
   sign is taken against the rest rotation, so that the order of the sources does not matter. Where just two sources
   weigh, the sign of the second is taken against the first, which makes the sum their nlerp along the shorter arc.
   Where all sources have the same bits, the sum has them too.

   Sources of high and low priority are summed apart. Where both weigh, `priority_blend` mixes the two sums: 0 is low
   alone, 1 is high alone. The mode `add` does not look at priorities. */
#ifndef SK_BLEND_H
#define SK_BLEND_H

#include "../model/sk_morph.h"
#include "sk_pose.h"

#define SK_BLEND_THRESHOLD 0.1 /* sum of weights below which the rest pose shows through a base layer */

typedef enum sk_priority { SK_PRIORITY_LOW, SK_PRIORITY_HIGH, SK_PRIORITY_COUNT } sk_priority;
typedef enum sk_blend_mode { SK_BLEND_BASE, SK_BLEND_OVERRIDE, SK_BLEND_ADD, SK_BLEND_MODE_COUNT } sk_blend_mode;

/* N poses that take part in a blend, and how much each weighs. */
typedef struct sk_blend_source {
  sk_pose poses;         /* N poses; those that do not weigh may hold anything */
  const double *weights; /* (N,), or one for all: finite, 0 or more (sk_weights_validate) */
  size_t weight_stride;  /* doubles from one pose's weight to the next: 1, or 0 for one weight */
  const float *mask;     /* (J,) from 0 to 1; NULL: 1 everywhere. A morph target has the mask of its mesh's node */
  sk_priority priority;
} sk_blend_source;

/* Blends K sources into N poses in place. All arrays belong to the caller. */
typedef struct sk_blend_job {
  const sk_skeleton *skeleton;
  const sk_morph *morph;
  size_t count;                   /* N */
  const sk_blend_source *sources; /* (K,) */
  size_t source_count;            /* K */
  sk_blend_mode mode;
  double priority_blend; /* 0 to 1 */
  sk_pose poses;         /* in: the poses below, which SK_BLEND_BASE does not look at; out: the result */
} sk_blend_job;

/* Checks `count` weights; SK_ERROR_ARGUMENT names the value of the first one that is negative or not finite. */
sk_status sk_weights_validate(const double *weights, size_t count, sk_error *error);

/* Blends all poses of the job. Allocates nothing and cannot fail. */
void sk_blend_run(const sk_blend_job *job);

#endif
