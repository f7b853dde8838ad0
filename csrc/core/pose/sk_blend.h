/* sk_blend.h: poses x weights x masks -> one pose; one after another or in batches.

   A layer is laid over the pose below it. At each joint, with w = weight * mask of each source:

   base      the normalized sum of the sources; where the sum of w is below SK_BLEND_THRESHOLD, the
             rest pose takes what is missing to it (ozz-animation's BlendingJob has the same rule)
   override  lerp (T, S) or nlerp (R) from the pose below to the normalized sum, by min(1, sum of w)
   add       the sources are differences: T += sum w dT, S *= 1 + sum w (dS - 1),
             R = normalize(identity + sum w (dR - identity)) * R

   The normalized sum is (sum w x) / (sum w), for rotations normalize(sum w q). So that the order
   of the sources does not matter, the sign of q is taken against the rest rotation; where just two
   weigh, against each other, which makes it the nlerp of the two along the shorter arc. What all
   sources have bit by bit is copied bit by bit.

   Sources of priority high and low are summed apart; where both weigh, the two sums are mixed by
   `priority_blend`: 0 is low alone, 1 is high alone. Added layers do not look at it. */
#ifndef SK_BLEND_H
#define SK_BLEND_H

#include "../model/sk_morph.h"
#include "sk_pose.h"

#define SK_BLEND_THRESHOLD 0.1

typedef enum sk_priority { SK_PRIORITY_LOW, SK_PRIORITY_HIGH, SK_PRIORITY_COUNT } sk_priority;
typedef enum sk_blend_mode { SK_BLEND_BASE, SK_BLEND_OVERRIDE, SK_BLEND_ADD, SK_BLEND_MODE_COUNT } sk_blend_mode;

typedef struct sk_blend_source {
  sk_pose poses;         /* (N, J, .) and (N, M) */
  const double *weights; /* (N,) or one for all: finite, >= 0 */
  size_t weight_stride;  /* 1 or 0 */
  const float *mask;     /* (J,) 0 to 1; NULL: 1. A morph target has the mask of its node */
  sk_priority priority;
} sk_blend_source;

typedef struct sk_blend_job {
  const sk_skeleton *skeleton;
  const sk_morph *morph;
  size_t count; /* N */
  const sk_blend_source *sources;
  size_t source_count;
  sk_blend_mode mode;
  double priority_blend; /* 0 to 1 */
  sk_pose poses;         /* in: the poses below, not looked at by SK_BLEND_BASE; out: the result */
} sk_blend_job;

/* SK_ERROR_ARGUMENT names the first weight that is negative or not finite. */
sk_status sk_weights_validate(const double *weights, size_t count, sk_error *error);

void sk_blend_run(const sk_blend_job *job);

#endif
