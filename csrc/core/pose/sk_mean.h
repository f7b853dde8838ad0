/* sk_mean.h: the mean of rotations.

   The mean of rotations q with weights w is the unit quaternion v for which sum w (q . v)^2 is largest: the eigenvector
   of M = sum w q qT that belongs to its largest eigenvalue (F. L. Markley, Y. Cheng, J. L. Crassidis, Y. Oshman,
   "Averaging Quaternions", Journal of Guidance, Control, and Dynamics 30, 2007). q and -q add the same to M, so neither
   signs nor the order of the rotations matter, and v follows the weights smoothly wherever the largest eigenvalue is
   larger than the second one.

   The largest eigenvalue is the largest root of the characteristic polynomial p(x) = det(M - x I), which is found in
   Halley's steps x - 2 p p' / (2 p'^2 - p p''). (D. L. Theobald, "Rapid calculation of RMSDs using a quaternion-based
   characteristic polynomial", 2005, takes Newton's.) With t the trace of M and n the sum of its squares, no root is above
   t / 4 + sqrt(3 / 4 (n - t^2 / 4)), where x begins (Laguerre's inequality). All roots of p are real, so that every step
   goes down and none passes the root. Limits below are for a trace of 1. With x near the root, each product with the
   adjugate of M - x I makes what is not along v smaller by (x - root) / (x - root + gap), where gap is the largest
   eigenvalue less the second one. There are three products. They begin at the rest
   rotation, so that its projection remains where eigenvalues meet and no direction is better than another; or at an axis
   if the rest rotation is perpendicular to v.

   The error of v is below 1e-6 where the gap is at least 0.002, and below 1e-7 where it is at least 0.02. Where the two
   largest eigenvalues meet, many rotations have the largest sum: v is one of them, of length 1. */
#ifndef SK_MEAN_H
#define SK_MEAN_H

#include "../base/sk_base.h"

#define SK_MEAN_CELLS   10   /* numbers of M that differ: xx xy xz xw yy yz yw zz zw ww */
#define SK_MEAN_STEPS   20   /* at most; where rotations are up to some 50 degrees apart none is needed */
#define SK_MEAN_NEAR    1e-3 /* of the slope of p, which the gap exceeds: a first step up to this is not taken */
#define SK_MEAN_LAST    0.1  /* of the slope too: a step up to this is the last one, as the next is about its cube */
#define SK_MEAN_OFFSET  1e-5 /* added to a root that was found in steps, because its adjugate may be zero */
#define SK_MEAN_ALONG   1e-4 /* squared cosine of the angle to v from which the rest rotation is a good beginning */
#define SK_MEAN_NOWHERE 1e-80 /* length below which a sum points nowhere */

/* Adds w q qT to M. Weights that sum to about 1 keep all products in range. */
void sk_mean_add(double weight, const float q[4], double m[SK_MEAN_CELLS]);

/* The mean, as a unit quaternion of either sign; the rest rotation if M is zero or not finite. */
void sk_mean_find(const double m[SK_MEAN_CELLS], const float rest[4], double v[4]);

#endif
