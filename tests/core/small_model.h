/* small_model.h: a model of three joints with something in every section, as plain arrays that a
   test may change before they are written into a block.

       joint 0 "root"    turned a quarter about z, moved; parent: none
       joint 1 "upper"   one unit along x; its rest matrix holds shear
       joint 2 "lower"   one unit along x, scaled
   Two slots: joint 1 with the inverse of its rest global, joint 2 with the identity (a rigid part).
   Four vertices, two faces, all in submesh 0; submesh 1 is empty and hidden; texture 1 has no bytes; target 0 moves vertices 1 and 3, target 1 moves vertex 2; clip 0 moves all
   three joints, has two events and root motion; clip 1 is empty. */
#ifndef SMALL_MODEL_H
#define SMALL_MODEL_H

#include "../../csrc/core/model/sk_model.h"

enum {
  JOINTS = 3,
  SLOTS = 2,
  VERTICES = 4,
  FACES = 2,
  TARGETS = 2,
  MOVED = 3,
  K = 2,
  CHANNELS = 4,
  EVENTS = 2,
  KEY_TIMES = 8,
  KEY_VALUES = 65
};

typedef struct small_model {
  sk_info info;
  char text[80];
  uint64_t text_length;
  sk_text names[JOINTS];
  int32_t parents[JOINTS];
  float translation[JOINTS * 3], rotation[JOINTS * 4], scale[JOINTS * 3], rest_local[JOINTS * 16];
  int32_t slot_joints[SLOTS];
  float inverse_bind[SLOTS * 16];
  float positions[VERTICES * 3], normals[VERTICES * 3], uvs[VERTICES * 2], colors[VERTICES * 4], tangents[VERTICES * 4];
  uint16_t vertex_slots[VERTICES * K];
  float vertex_weights[VERTICES * K];
  uint32_t faces[FACES * 3];
  sk_target targets[TARGETS];
  uint32_t target_vertices[MOVED];
  float target_positions[MOVED * 3], target_normals[MOVED * 3];
  sk_submesh submeshes[2];
  sk_material materials[1];
  sk_texture textures[2];
  uint8_t texture_data[16];
  sk_clip_record clips[2];
  sk_channel channels[CHANNELS];
  double times[KEY_TIMES];
  float values[KEY_VALUES];
  sk_report_entry report[1];
  sk_event events[EVENTS];
  const char *extras;
} small_model;

/* Where the keys of small_model's channels stand. */
enum {
  STEP_VALUES = 0,        /* channel 0: translation of joint 0, step, 3 keys at 0, 0.5, 2 s */
  LINEAR_VALUES = 9,      /* channel 1: rotation of joint 1, linear, the same times */
  CUBIC_VALUES = 21,      /* channel 2: scale of joint 2, cubic, keys at 1 and 1.5 s */
  CUBIC_IN = 27,
  CUBIC_OUT = 33,
  CUBIC_ROTATION = 39,    /* channel 3: rotation of joint 2, cubic, one key at 1 s */
  CUBIC_ROTATION_IN = 43,
  CUBIC_ROTATION_OUT = 47,
  MOTION_TIMES = 6,        /* root motion of clip 0: keys at 0 and 2 s */
  MOTION_VALUES = 51
};

void small_model_set(small_model *model);

/* The block; sk_free frees it. NULL and `error` where it could not be written. */
void *small_model_write(const small_model *model, size_t *size, sk_error *error);

/* A block of clips alone, of the same clips. */
void *small_clips_write(const small_model *model, size_t *size, sk_error *error);

#endif
