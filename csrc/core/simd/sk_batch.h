/* sk_batch.h: eight poses of one model side by side, from keys to matrices: the heart of batches and crowds.

   A vector holds one number of eight poses. A run finds the keys of every time line at eight times; then it goes from
   joint to joint, interpolates, multiplies with the global of the parent and with inverse binds, and transposes lanes
   into matrices. Deep trees go all the way in double, because what float rounds at each joint would add up to more than
   1e-6 of the pose's size; others go in float (sk_precise).

   Poses may blend up to four clips, with weights of their own. What all these clips have in common at a joint is found
   once for many batches (sk_batch_find_common). Files: sk_batch.c chains locals into globals and stores results,
   sk_batch_keys.c finds keys, sk_batch_rotation.c interpolates rotations, sk_batch_blend.c blends. */
#ifndef SK_BATCH_H
#define SK_BATCH_H

#include "sk_key_span.h"
#include "sk_lanes.h"

#include "../base/sk_cores.h"
#include "../pose/sk_palette.h"

#define SK_ROWS    12 /* numbers of the three rows of a matrix */
#define SK_SOURCES 4  /* clips that one pose may blend */

/* A batch to run. Where fewer than eight poses are left, the remaining lanes repeat one of them: its times, its
   weights and where its result goes. The caller fills everything; fields of unused sources stay unset. */
typedef struct sk_batch {
  const sk_palette_job *job;           /* skeleton, skin, loop and rotation of its sampling, root, result, affine */
  size_t source_count;                 /* 1 to SK_SOURCES; more than 1 are blended, for SK_PALETTE alone */
  const sk_clip *clips[SK_SOURCES];    /* compiled, all for the same skeleton and skin */
  double times[SK_SOURCES][SK_LANES];  /* seconds, as the caller of the job gave them */
  float weights[SK_SOURCES][SK_LANES]; /* of blended sources: more than 0, with sum 1 (sk_batch_set_weights) */
  float weight_rests[SK_SOURCES][SK_LANES]; /* what rounding to float took from the weights */
  size_t number[SK_LANES];                  /* which of the job's poses: for its root */
  float *out[SK_LANES];                     /* where the results go */
  const float *next[SK_LANES]; /* where the results of the next batch will go, or any address of results, */
  bool far; /* which are prefetched if no near cache holds all results of the job */
  const uint8_t *common; /* (J,) flags of blended sources, by sk_batch_find_common */
} sk_batch;

/* What blended sources have in common at a joint. Components with the same bits in all sources at all times
   (1 << sk_component) are not summed, because the joints of a chain would share the rounding of the weights. */
enum {
  SK_COMMON_COMPONENTS = (1 << SK_COMPONENT_COUNT) - 1,
  SK_COMMON_UNIT_SCALE = 1 << SK_COMPONENT_COUNT, /* the scale is common, and it is 1 */
  SK_COMMON_SHEARED = 1 << (SK_COMPONENT_COUNT + 1) /* some source may be at a rest that is more than T, R and S */
};

/* Fills (J,) flags for all batches that blend the clips of `batch`. */
void SK_KERNEL(sk_batch_find_common)(const sk_batch *batch, uint8_t *common);

/* Divides `weights` by their sum in each lane and keeps them in the batch. */
void SK_KERNEL(sk_batch_set_weights)(sk_batch *batch, double weights[SK_SOURCES][SK_LANES]);

/* Bytes of scratch, aligned to 32, for batches of these compiled clips of one model. */
size_t SK_KERNEL(sk_batch_scratch)(const sk_compiled *const *clips, size_t source_count);

/* Bytes of scratch that are enough for any `source_count` of the clips that are compiled; 0 where none is. */
size_t SK_KERNEL(sk_batch_max_scratch)(const sk_clip *clips, size_t clip_count, size_t source_count);

/* Prepares the scratch for batches that differ in their poses and results alone: the same clips and the same job. */
void SK_KERNEL(sk_batch_begin)(const sk_batch *batch, void *scratch);

/* Writes the results of the batch. */
void SK_KERNEL(sk_batch_run)(const sk_batch *batch, void *scratch);

#endif
