/* sk_model.h: a model: a checked block, and the assets that are views into it. A model never changes, so that threads
   may share it. */
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

/* Checks a block of either kind (sk_block_open) and makes `model` a view of it. In a block of clips, skeleton, skin and
   mesh have the count 0. The model owns nothing: `memory` must stay until the last use of the model. */
sk_status sk_model_open(const void *memory, size_t size, sk_model *model, sk_error *error);

#endif
