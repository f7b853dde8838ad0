/* sk_skeleton.h: the tree of joints and its rest pose. Never changes after it is opened. */
#ifndef SK_SKELETON_H
#define SK_SKELETON_H

#include "sk_block.h"

typedef struct sk_skeleton {
  int32_t joint_count;
  const int32_t *parents;     /* (J,) in block; -1 = root; parents come first */
  const float *translation;   /* (J,3) in block: the rest pose */
  const float *rotation;      /* (J,4) in block, x y z w */
  const float *scale;         /* (J,3) in block */
  const float *rest_local;    /* (J,4,4) in block; may hold shear */
  double root_inverse[12];    /* inverse of joint 0's rest global: "inverse_root" */
} sk_skeleton;

/* Shows the skeleton of a block of kind SK_BLOCK_MODEL. */
void sk_skeleton_open(const sk_block *block, sk_skeleton *skeleton);

#endif
