/* sk_skin.h: palette slots. A slot is a pair (joint, inverse bind matrix): one joint may carry
   different offsets in different meshes, and a rigid part is a slot with the identity. */
#ifndef SK_SKIN_H
#define SK_SKIN_H

#include "sk_block.h"

typedef struct sk_skin {
  int32_t slot_count;
  const int32_t *joints;      /* (S,) in block */
  const float *inverse_bind;  /* (S,4,4) in block */
} sk_skin;

#endif
