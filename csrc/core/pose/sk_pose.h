/* sk_pose.h: the pose, which everything in this room reads or writes.

   A pose gives every joint of a skeleton its local transform as translation, rotation and scale (T, R, S), and every
   morph target its weight. Sampling fills poses from clips, blending and goals change them, and palettes turn them
   into matrices:

       clip, time --sk_sample--> pose --sk_blend, sk_goal--> pose --sk_palette--> matrices --sk_deform--> vertices

   T, R and S are parallel arrays, one entry for each joint in the skeleton's order, so that a pose can lie in the
   arrays of the caller and many poses can follow each other without gaps. */
#ifndef SK_POSE_H
#define SK_POSE_H

#include "../model/sk_skeleton.h"

/* One pose, or N poses one after another. The arrays belong to whoever made them; a pose only points to them.
   J is the number of joints and M the number of morph targets. */
typedef struct sk_pose {
  float *translation; /* (J, 3) or (N, J, 3): in the units of the model */
  float *rotation;    /* (J, 4) or (N, J, 4): quaternions x y z w of length 1 */
  float *scale;       /* (J, 3) or (N, J, 3) */
  float *weights;     /* (M,) or (N, M): morph weights; NULL where they are not wanted */
} sk_pose;

/* Pose number `n` of the poses that follow each other in `poses`, for `joints` joints and `targets` morph targets. */
sk_pose sk_pose_at(sk_pose poses, size_t n, size_t joints, size_t targets);

/* Fills T, R and S of one pose with what holds before any channel is sampled: the rest pose or, where `additive` is
   true, no difference at all (translation 0, rotation identity, scale 1). An additive clip thereby leaves alone
   what it has no channel for. Morph weights stay as they are. */
void sk_pose_start(const sk_skeleton *skeleton, bool additive, sk_pose pose);

/* Writes the local matrix of joint `j` in `pose` as three rows of four numbers. That is T * R * S, except where T, R
   and S are bit for bit those of the rest pose: there it is the rest matrix of the file, which may hold shear that
   T, R and S cannot express. */
void sk_pose_local(const sk_skeleton *skeleton, sk_pose pose, size_t j, double out[12]);

/* Writes the matrix that stands in front of the locals of all root joints as three rows of four numbers, and returns
   true; returns false and writes nothing where there is no such matrix.

   `root` is a 4x4 matrix in row-major order that the caller puts in front, or NULL. With `inverse_root` the inverse
   of joint 0's rest global stands before that, which moves the rest position of the skeleton's root to the origin. */
bool sk_pose_front(const sk_skeleton *skeleton, const float *root, bool inverse_root, double out[12]);

#endif
