/* rig.h: skeletons, slots and clips drawn at random, each array on heap memory of exactly its size. */
#ifndef RIG_H
#define RIG_H

#include "../../csrc/core/pose/sk_sample.h"

typedef enum rig_lines { RIG_ONE_LINE, RIG_FEW_LINES, RIG_OWN_LINES } rig_lines;

/* What is drawn. Shares are 0 to 1 of all joints, parts or channels. */
typedef struct rig_wish {
  uint64_t seed;
  int32_t joints, roots;
  size_t most_slots; /* of a joint: 0 to so many */
  double moving, constant, sheared, scaled, resting; /* resting: half of the keys have the bits of the rest pose */
  double turn;       /* radians, most that a key is turned from rest */
  unsigned kinds;    /* 1 << sk_interpolation */
  rig_lines lines;
  uint32_t most_keys;
  bool clustered; /* most keys of a line in a thousandth of it */
  bool still_roots, additive, weights;
  bool packed;    /* the same keys, as a block holds them */
  double ticks;   /* a second; 0: 1000 */
} rig_wish;

typedef struct rig {
  sk_skeleton skeleton;
  sk_skin skin;
  sk_morph morph;
  sk_clip clip;
  sk_compiled *compiled;
  int32_t *parents, *slot_joints;
  float *translation, *rotation, *scale, *rest_local, *inverse_bind;
  sk_channel *channels;
  double *times;
  float *values;
} rig;

/* The clip is compiled, but clip.compiled is NULL: the plain path. */
void rig_make(const rig_wish *wish, rig *made);
void rig_free(rig *made);

/* From 0 to below 1, and from -size to below size. */
double rig_share(uint64_t *state);
double rig_spread(uint64_t *state, double size);

#endif
