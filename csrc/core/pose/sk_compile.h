/* sk_compile.h: a clip made ready for one skeleton, in the form that the SIMD twins sample.

   Lines and their frames are those of sk_lines.h. Frames are sampled where they lie in the block, if it is packed;
   those of merged lines are made here, which changes nothing: a key put on the straight line or on the arc between
   two others leaves all between them as it was. Channels that do not move are folded into one pose; joints that do
   not move at all have their local matrix here. */
#ifndef SK_COMPILE_H
#define SK_COMPILE_H

#include "../model/sk_clip.h"
#include "../model/sk_lines.h"
#include "../model/sk_skeleton.h"
#include "../model/sk_skin.h"

#define SK_TIMES_BEHIND 4 /* so that the four times behind a key can be read at once */

/* Channels that share their key times and interpolation. */
typedef struct sk_time_line {
  sk_interpolation interpolation;
  uint32_t key_count, cell_count;
  const double *times;        /* (K + SK_TIMES_BEHIND,) seconds, those behind the keys infinite */
  const float *frames;        /* (K + 1, cell_count) cells, the last frame twice; cubic lines: (K + 1, 3,
                                 cell_count), in-tangents, values and out-tangents per second. Here or in
                                 the clip's block */
  const uint8_t *rotations;   /* (cell_count,): which cells are rotations */
  size_t stride;              /* floats from a frame to the next */
  const uint32_t *buckets;    /* (bucket_count,): the last key before the start of each equal part of the line */
  uint32_t bucket_count;
  bool even;                  /* no part holds more than a few keys, and offsets into frames fit 31 bits */
  bool has_rotations;                 /* some of its cells are rotations */
  double bucket_scale;        /* parts a second */
  size_t scratch;             /* cubic lines: first float of their cells among sk_compiled.cubic_floats */
} sk_time_line;

/* A joint that moves. Parts that do not have a cell in sk_compiled.constants. */
typedef struct sk_mover {
  int32_t joint;
  bool wide;                       /* neighboring rotation keys may lie far apart, */
  bool half_turn;                  /* and even half a turn */
  bool unit_scale;                 /* its scale is always 1 */
  bool sheared;                        /* its rest matrix is not T * R * S: where it is at rest, that matrix counts */
  uint32_t lines[SK_COMPONENT_COUNT];   /* SK_STILL = the part does not move */
  uint32_t offsets[SK_COMPONENT_COUNT]; /* floats from the start of a frame */
} sk_mover;

#define SK_STILL UINT32_MAX
#define SK_LANES 8

/* What palettes need: joints that move something with a slot. Joints that do not move are folded into the inverse
   binds of their slots, as far up as the next one that does. */
typedef struct sk_node {
  int32_t joint, parent; /* parent: an earlier node, or SK_NONE */
  int32_t mover;         /* SK_NONE: sk_compiled.locals has its local */
  uint32_t first, count; /* its slots in sk_compiled.binds */
  bool carries;          /* other nodes hang on it */
} sk_node;

/* How deep a tree of joints may be: so that what each rounds to float adds up to less than 1e-6 of the size. */
#define SK_FLOAT_DEPTH  12  /* all of it in float; of blends but what nearly cancels: at most 7e-7 was measured */
#define SK_BLEND_DEPTH  16  /* chains of blends, whose locals are made in double, multiplied in float */
#define SK_SAMPLE_DEPTH 24 /* poses sampled in float */
#define SK_LOCAL_DEPTH  16  /* chains multiplied in double, of locals made in float */

/* What of a palette is made in double: each holds what the one before does. */
typedef enum sk_precise { SK_PRECISE_NOTHING, SK_PRECISE_CHAINS, SK_PRECISE_LOCALS, SK_PRECISE_BINDS } sk_precise;

typedef struct sk_bind {
  int32_t slot;
  float rows[12]; /* the locals of the joints between node and slot * the slot's inverse bind */
} sk_bind;

/* Eight movers side by side, for one pose; the last ones are repeated where fewer are left. */
typedef struct sk_octet {
  bool moves[SK_COMPONENT_COUNT], wide, half_turn;
  uint32_t lines[SK_COMPONENT_COUNT][SK_LANES];   /* 0 where the part does not move */
  uint32_t offsets[SK_COMPONENT_COUNT][SK_LANES]; /* floats from the start of a frame; 0 where it does not move */
  int32_t still[SK_COMPONENT_COUNT][SK_LANES];    /* all bits set where it does not move */
  int32_t near_rotation[SK_LANES];           /* all bits set where the mover is not wide */
  float constants[SK_COMPONENT_COUNT][SK_CELL][SK_LANES];
} sk_octet;

typedef struct sk_compiled {
  size_t bytes; /* all of it, without what lies in the block */
  int32_t joint_count;
  uint32_t line_count, mover_count, octet_count, weight_count, sheared_count, node_count;
  uint32_t active_count; /* movers that palettes need: the first ones */
  bool merged;                           /* exact for slerp alone */
  int32_t depth;                         /* joints of the longest chain */
  sk_precise precise;                    /* in palettes of one clip */
  bool blends_in_float;                  /* chains of palettes of blended clips may be multiplied in float, */
  bool blends_all_in_float;              /* and their locals summed in it */
  sk_time_line *lines;
  sk_mover *movers;                      /* (mover_count,): those of nodes first */
  sk_octet *octets;                      /* (octet_count,) */
  int32_t *mover_of;                     /* (J,): index into movers, or SK_NONE */
  double *locals;                        /* (J, 12): local matrices of the joints that do not move */
  float *constants;                      /* (mover_count, SK_COMPONENT_COUNT) cells */
  float *translation, *rotation, *scale; /* (J, 3|4|3): the pose of everything that does not move */
  sk_node *nodes;                        /* (node_count,), parents first */
  sk_bind *binds;                        /* (S,), those of a node side by side */
  int32_t *first_slot, *next_slot;       /* (J,), (S,): the slots of a joint, ended by SK_NONE */
  uint32_t *weights;                     /* (weight_count,): channels of morph targets, left to the plain path */
  size_t cubic_floats;                   /* the cells of all cubic lines at one time */
} sk_compiled;

/* A new compiled form of `clip`, which sk_free frees; the memory of the clip's keys has to outlive it. NULL where only
   the plain path is exact, with numbers near the end of float, or where there is no memory: *lacks_memory (which may
   be NULL) says that it was that. */
sk_compiled *sk_compile(const sk_clip *clip, const sk_skeleton *skeleton, const sk_skin *skin, bool *lacks_memory);

#endif
