/* sk_blend.h: blends poses with weights and masks into one pose.

   A job lays one layer over the poses below it. With w = weight * mask of each source at a joint, its mode says how:

   base      the mean of the sources; where the sum of w is below SK_BLEND_THRESHOLD, the rest pose is one more source,
             with the weight that is missing to it (the rule of BlendingJob in ozz-animation)
   override  lerp (T, S) or nlerp (R) from the pose below to the mean, by min(1, sum of w)
   add       the sources are differences: T += sum w dT, S *= 1 + sum w (dS - 1),
             R = normalize(identity + sum w (dR - identity)) * R

   The mean of T and S is (sum w x) / (sum w). A rotation is both q and -q, so that no sum of quaternions is a mean of
   rotations. Where two sources weigh, R is their nlerp along the shorter arc; where three or more do, it is the
   eigenvector of sum w q qT with the largest eigenvalue (sk_mean.h). The order of the sources therefore does not
   matter, and of both signs of R the one nearer to the rest rotation is taken. Where all sources have the same bits, the
   mean has them too.

   The two rules give one rotation where two weights are equal, but not where they differ: when a third weight becomes
   0, two rotations that are 90 degrees apart may change by 3.2 degrees, and more if they are farther apart. The
   weights of a blend space of the plane cross that edge while it plays, so that two sources of one have the eigenvector
   too (plane).

   Sources of high and low priority are averaged apart. Where both weigh, `priority_blend` mixes the two means: 0 is low
   alone, 1 is high alone, and the rest pose is mixed with the result by nlerp. The mode `add` does not look at
   priorities. */
#ifndef SK_BLEND_H
#define SK_BLEND_H

#include "../model/sk_morph.h"
#include "sk_pose.h"

#define SK_BLEND_THRESHOLD 0.1 /* sum of weights below which the rest pose shows through a base layer */
#define SK_BLEND_TILT      1e-6 /* of the rest rotation where it chooses signs; more than what float rounds */

typedef enum sk_priority { SK_PRIORITY_LOW, SK_PRIORITY_HIGH, SK_PRIORITY_COUNT } sk_priority;
typedef enum sk_blend_mode { SK_BLEND_BASE, SK_BLEND_OVERRIDE, SK_BLEND_ADD, SK_BLEND_MODE_COUNT } sk_blend_mode;

/* N poses that take part in a blend, and how much each weighs. */
typedef struct sk_blend_source {
  sk_pose poses;         /* N poses; those that do not weigh may hold anything */
  const double *weights; /* (N,), or one for all: finite, 0 or more (sk_weights_validate) */
  size_t weight_stride;  /* doubles from one pose's weight to the next: 1, or 0 for one weight */
  const float *mask;     /* (J,) from 0 to 1; NULL: 1 everywhere. A morph target has the mask of its mesh's node */
  sk_priority priority;
  bool plane; /* of a blend space of the plane: its mean with another one is the eigenvector too */
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
