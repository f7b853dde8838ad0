/* sk_fade.h: what keeps a pose continuous in time while it goes over from one motion to another.

      sk_fade_mix blends two poses that move. Nlerp takes the shorter arc, and where two rotations move through 180
   degrees apart, that arc changes sides: the result jumps. So a fade keeps the side that it took in the frame before.
   What it keeps for each joint is the relation conj(old) * new, with the sign that was taken: both signs of a new
   relation are the same rotation, and the one nearer to the relation before continues it, as long as the two rotations
   turn by less than 180 degrees against each other from frame to frame.

      sk_inertia_apply adds to a pose the difference from a motion that has ended, while that dies out. */
#ifndef SK_FADE_H
#define SK_FADE_H

#include "../model/sk_morph.h"
#include "sk_pose.h"

/* One frame of two poses. The arrays belong to the caller. */
typedef struct sk_fade {
  const sk_skeleton *skeleton;
  const sk_morph *morph;
  sk_pose old, new;
  double share;        /* of `new`, 0 to 1 */
  const float *shares; /* (J,): the same for each joint, in place of `share`; or NULL */
  const float *kept;   /* (J, 4): relations of the frame before; zeros where there was none, for the shorter arc */
  float *seen;         /* out: (J, 4) relations of this frame; zeros where `new` alone counts */
} sk_fade;

/* Writes lerp (T, S, morph weights) and nlerp (R) from `old` to `new`. `out` may be one of them. Where the share is 0
   or 1, or both are the same, the bits are kept. */
void sk_fade_mix(const sk_fade *fade, sk_pose out);

/* A difference x of three numbers that dies out within `span` seconds. Over t seconds it is

      x * r(t * rate) + free * h(t / span)

   r is the quintic of D. Bollo, "Inertialization: High-Performance Animation Transitions in Gears of War" (GDC 2018):
   with the start velocity k (per unit of its time), the start acceleration a = max(0, -8 k - 20), and velocity and
   acceleration 0 at the end, r(u) = 1 + k u + a/2 u^2 - (3a + 12k + 20)/2 u^3 + (3a + 16k + 30)/2 u^4 -
   (a + 6k + 12)/2 u^5. It does not cross 0 for k from -5 to 0. h(u) = u - 6 u^3 + 8 u^4 - 3 u^5 has the start velocity
   1, and all else at its ends is 0; it is 0.2 at most. */
typedef struct sk_inertia {
  float x[3], free[3];
  float rate, k;
} sk_inertia;

/* Adds the differences to one pose: `rows` are J for T, J rotation vectors (radians, in front of R), J for S, and one for
   each morph target, whose first numbers count. Where all are 0 the bits are kept. */
void sk_inertia_apply(const sk_inertia *rows, size_t joints, size_t targets, double seconds, double span, sk_pose pose);

#endif
