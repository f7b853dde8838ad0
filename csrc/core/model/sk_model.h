/* sk_model.h: a model: the checked block and the assets that show it. */
#ifndef SK_MODEL_H
#define SK_MODEL_H

#include "sk_clip.h"
#include "sk_mesh.h"
#include "sk_morph.h"
#include "sk_skeleton.h"
#include "sk_skin.h"

typedef struct sk_model {
  sk_block block;
  sk_skeleton skeleton;
  sk_skin skin;
  sk_mesh mesh;
  sk_morph morph;
  uint32_t clip_count;
} sk_model;

/* Opens a block of either kind, checking everything (sk_block_open). A block of clips has a
   skeleton, skin and mesh of count 0. `memory` is borrowed until the last use of the model. */
sk_status sk_model_open(const void *memory, size_t size, sk_model *model, sk_error *error);

#endif
