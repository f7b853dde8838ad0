/* sk_batch.h: eight poses side by side, from keys to matrices: the heart of batches and crowds.

   Find the keys of every line at eight times; then, joint after joint, interpolate, multiply with the parent and
   with the inverse binds, and turn the lanes into matrices. Deep trees go all the way in double, because what float
   rounds at each joint adds up to more than 1e-6 of the size there; others in float. Included by sk_..._avx2.c alone. */
#ifndef SK_BATCH_H
#define SK_BATCH_H

#include "sk_lanes.h"

#include "../base/sk_cores.h"
#include "../pose/sk_palette.h"

#define SK_ROWS    12    /* numbers of the three rows of a matrix */
#define SK_SOURCES 4  /* clips that one pose may blend */

typedef struct sk_batch {
  const sk_palette_job *job;             /* skeleton, skin, sampling's loop and rotation, root, result, affine */
  size_t source_count;                   /* 1 to SK_SOURCES; more than 1 are blended, for SK_PALETTE alone */
  const sk_clip *clips[SK_SOURCES];      /* compiled */
  double times[SK_SOURCES][SK_LANES];    /* as the caller gave them */
  float weights[SK_SOURCES][SK_LANES];   /* where blended: > 0, sum 1 */
  float weight_rests[SK_SOURCES][SK_LANES]; /* what they lost when they were rounded to float */
  size_t number[SK_LANES];               /* which of the job's poses: for its root */
  float *out[SK_LANES];                  /* where fewer poses are left, lanes repeat one of them, result and all */
  const float *next[SK_LANES];           /* where the next run will put its results, or any result, */
  bool far;                              /* and whether no near cache holds them all */
  const uint8_t *common; /* (J,) what blended sources share: sk_batch_find_common */
} sk_batch;

/* Of a joint: the parts (1 << sk_component) that have the same bits in all sources at all times, which are not summed,
   because joints of a chain would share the rounding; whether that is a scale of 1; and whether some source may rest
   there where rest is more than T, R and S. */
enum {
  SK_COMMON_COMPONENTS = (1 << SK_COMPONENT_COUNT) - 1,
  SK_COMMON_UNIT_SCALE = 1 << SK_COMPONENT_COUNT,
  SK_COMMON_SHEARED = 1 << (SK_COMPONENT_COUNT + 1)
};

/* For all poses that blend the same clips. */
void SK_KERNEL(sk_batch_find_common)(const sk_batch *batch, uint8_t *common);

/* Sets the weights: those given, so that they sum to 1. */
void SK_KERNEL(sk_batch_set_weights)(sk_batch *batch, double weights[SK_SOURCES][SK_LANES]);

/* Bytes of scratch, aligned to 32, for clips of one model. */
size_t SK_KERNEL(sk_batch_scratch)(const sk_compiled *const *clips, size_t source_count);

/* The same for any `source_count` of the clips that are compiled; 0 where none is. */
size_t SK_KERNEL(sk_batch_max_scratch)(const sk_clip *clips, size_t clip_count, size_t source_count);

/* Before the first of some runs with the same clips, and the same job but for its poses and results. */
void SK_KERNEL(sk_batch_begin)(const sk_batch *batch, void *scratch);

void SK_KERNEL(sk_batch_run)(const sk_batch *batch, void *scratch);

#endif
