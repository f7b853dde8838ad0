/* sk_compile.h: a clip made ready for one skeleton and skin, in the form that the SIMD kernels sample.

   The channels of a clip are stored one by one; the compiled form has what a kernel needs side by side:

   - Time lines (sk_lines.h). Channels with the same key times and interpolation share one, so that one search finds
     the keys of all of them. Their frames are sampled where they lie in the block, if it is packed. Frames of merged
     lines are made here, which changes no result: a key on the straight line or on the arc between two others leaves
     everything between them as it was.
   - Movers: the joints that some channel moves. Components that no channel moves are constants of the mover.
   - One pose and the local matrices of all joints that do not move.
   - Nodes: the joints that palettes need, and binds, which fold joints that do not move into inverse bind matrices.

   What the forms of a pose may lose in float follows from the depth of the tree and is decided once, here. */
#ifndef SK_COMPILE_H
#define SK_COMPILE_H

#include "../model/sk_clip.h"
#include "../model/sk_lines.h"
#include "../model/sk_skeleton.h"
#include "../model/sk_skin.h"

#define SK_LANES        8          /* lanes of a vector: floats that a kernel handles at once */
#define SK_TIMES_BEHIND 4          /* infinite times behind those of the keys, so that four can be read at any key */
#define SK_STILL        UINT32_MAX /* "no time line": the component does not move */

/* A time line: channels that share their K key times and their interpolation. Each has one cell of four floats in
   every frame. Buckets divide the time from the first key to the last into equal spans, which makes the search for a
   key one multiplication and a few comparisons. */
typedef struct sk_time_line {
  sk_interpolation interpolation;
  uint32_t key_count, cell_count; /* K; cells of a frame */
  const double *times;            /* (K + SK_TIMES_BEHIND,) seconds, those behind the keys infinite */
  const float *frames;            /* (K + 1, cell_count) cells, the last frame twice; cubic lines: (K + 1, 3,
                                     cell_count), in-tangents, values and out-tangents per second. The frames lie in
                                     this allocation or in the clip's block */
  const uint8_t *rotations;       /* (cell_count,): 1 for cells that are rotations */
  size_t stride;                  /* floats from a frame to the next */
  const uint32_t *buckets;        /* (bucket_count,): the last key before the start of each bucket */
  uint32_t bucket_count;
  bool even;           /* no bucket holds more than a few keys, and offsets into frames fit 31 bits */
  bool has_rotations;  /* some cells are rotations */
  double bucket_scale; /* buckets a second */
  size_t scratch;      /* cubic lines: first float of their cells among sk_compiled.cubic_floats */
} sk_time_line;

/* A joint that moves. Its components that do not move have their value in sk_compiled.constants. */
typedef struct sk_mover {
  int32_t joint;
  bool wide;       /* some neighboring rotation keys lie more than 46 degrees apart, */
  bool half_turn;  /* and some even about 180 degrees */
  bool unit_scale; /* its scale is always 1 */
  bool sheared;    /* its rest matrix is more than T * R * S: where the joint is at rest, that matrix counts */
  uint32_t lines[SK_COMPONENT_COUNT];   /* its time line for each component, or SK_STILL */
  uint32_t offsets[SK_COMPONENT_COUNT]; /* floats from the start of a frame to its cell */
} sk_mover;

/* A joint whose global palettes need: for each slot the first joint that moves, at or above the slot's joint, or else
   the root; and all ancestors of these. The joints below a node down to the slot's joint do not move and are folded
   into the slot's inverse bind. */
typedef struct sk_node {
  int32_t joint, parent; /* parent: an earlier node, or SK_NONE */
  int32_t mover;         /* SK_NONE: its local is in sk_compiled.locals */
  uint32_t first, count; /* its binds: first .. first + count - 1 of sk_compiled.binds */
  bool carries;          /* other nodes have it as their parent */
} sk_node;

/* A slot of the palette, seen from its node. */
typedef struct sk_bind {
  int32_t slot;
  float rows[12]; /* the locals of the joints between the node and the slot's joint, times the slot's inverse bind */
} sk_bind;

/* The depth in joints or nodes up to which a step may be done in float: what each joint of a chain rounds then adds up
   to less than 1e-6 of the size of the pose. */
#define SK_FLOAT_DEPTH  12 /* everything in float; in blends but for what nearly cancels. At most 7e-7 was measured */
#define SK_BLEND_DEPTH  16 /* blends: chains multiplied in float, of locals made in double */
#define SK_LOCAL_DEPTH  16 /* chains multiplied in double, of locals made in float */
#define SK_SAMPLE_DEPTH 24 /* poses sampled in float */

/* Which steps of a palette are done in double. Each level includes those before it: the product of a chain, the locals
   too, and the product with inverse binds too (where those stretch so much that float would lose digits). */
typedef enum sk_precise { SK_PRECISE_NOTHING, SK_PRECISE_CHAINS, SK_PRECISE_LOCALS, SK_PRECISE_BINDS } sk_precise;

/* Eight movers side by side, to sample one pose. Where fewer are left the last one is repeated. "Still" lanes are those
   whose component does not move; they read what stands first on time line 0 and are then overwritten. */
typedef struct sk_octet {
  bool moves[SK_COMPONENT_COUNT];                 /* some lane moves */
  bool wide, half_turn;                           /* some lane's mover is so */
  uint32_t lines[SK_COMPONENT_COUNT][SK_LANES];   /* 0 for still lanes */
  uint32_t offsets[SK_COMPONENT_COUNT][SK_LANES]; /* floats from the start of a frame; 0 for still lanes */
  int32_t still[SK_COMPONENT_COUNT][SK_LANES];    /* all bits set for still lanes */
  int32_t near_rotation[SK_LANES];                /* all bits set where the mover is not wide */
  float constants[SK_COMPONENT_COUNT][SK_CELL][SK_LANES];
} sk_octet;

/* The compiled form: one allocation, in which all arrays lie. J joints, S slots. */
typedef struct sk_compiled {
  size_t bytes; /* of the allocation; frames that lie in the block are not counted */
  int32_t joint_count;
  uint32_t line_count, mover_count, octet_count, weight_count, sheared_count, node_count;
  uint32_t active_count;    /* movers that are nodes: the first ones */
  bool merged;              /* some time lines were merged, which is exact for slerp alone */
  int32_t depth;            /* joints of the longest chain */
  sk_precise precise;       /* what palettes of one clip do in double */
  bool blends_in_float;     /* palettes of blended clips: chains may be multiplied in float, */
  bool blends_all_in_float; /* and their locals summed in float too */
  sk_time_line *lines;
  sk_mover *movers;                      /* (mover_count,): those of nodes first */
  sk_octet *octets;                      /* (octet_count,): the movers, eight by eight */
  int32_t *mover_of;                     /* (J,): a number of `movers`, or SK_NONE */
  double *locals;                        /* (J, 12): local matrices; they count for joints that do not move */
  float *constants;                      /* (mover_count, SK_COMPONENT_COUNT) cells */
  float *translation, *rotation, *scale; /* (J, 3), (J, 4), (J, 3): the pose of everything that does not move */
  sk_node *nodes;                        /* (node_count,), parents first */
  sk_bind *binds;                        /* (S,), those of a node side by side */
  int32_t *first_slot, *next_slot;       /* (J,), (S,): the slots of a joint as a list, ended by SK_NONE */
  uint32_t *weights;                     /* (weight_count,): channels of morph targets, left to the plain path */
  size_t cubic_floats;                   /* floats of the cells of all cubic lines at one time */
} sk_compiled;

/* Compiles `clip` for `skeleton` and `skin`. The caller frees the result with sk_free, and keeps the block that holds
   the clip's keys for as long.

   Returns NULL where only the plain path is exact, because some numbers come near the end of float's or double's
   range, and where there is no memory; *lacks_memory, if not NULL, tells the second case. */
sk_compiled *sk_compile(const sk_clip *clip, const sk_skeleton *skeleton, const sk_skin *skin, bool *lacks_memory);

#endif
