/* sk_skin.h: palette slots, as views into a block.

   A slot is a pair (joint, inverse bind matrix). One joint may have different inverse bind matrices in different
   meshes, and a rigid mesh is a slot of its node with the identity. So skinned and rigid models are drawn the same way:
   palette[s] = global(joints[s]) * inverse_bind[s]. */
#ifndef SK_SKIN_H
#define SK_SKIN_H

#include "sk_block.h"

typedef struct sk_skin {
  int32_t slot_count;         /* S */
  const int32_t *joints;      /* (S,) in block */
  const float *inverse_bind;  /* (S,4,4) in block */
} sk_skin;

#endif
