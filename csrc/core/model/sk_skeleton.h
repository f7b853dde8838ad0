/* sk_skeleton.h: the tree of joints and its rest pose, as views into a block. It never changes after it is opened.

   Joints are in depth-first order, so that every parent comes before its children and one loop over the joints can
   compute all global transforms. */
#ifndef SK_SKELETON_H
#define SK_SKELETON_H

#include "sk_block.h"

typedef struct sk_skeleton {
  int32_t joint_count;        /* J */
  const int32_t *parents;     /* (J,) in block; SK_NONE for a root */
  const float *translation;   /* (J,3) in block: the rest pose */
  const float *rotation;      /* (J,4) in block, x y z w */
  const float *scale;         /* (J,3) in block */
  const float *rest_local;    /* (J,4,4) in block; may hold shear that T, R and S cannot express */
  double root_inverse[12];    /* affine: inverse of the rest global of joint 0, for the option "inverse_root" */
} sk_skeleton;

/* Makes `skeleton` a view of a checked block of kind SK_BLOCK_MODEL, which must outlive it. */
void sk_skeleton_open(const sk_block *block, sk_skeleton *skeleton);

#endif
