/* sk_lines.h: which channels of a clip move, and which of them share a line, their key times and interpolation.

   Keys of a line stand frame after frame in cells of four floats, one for each translation, rotation or scale, so
   that the keys around a time are two neighboring frames. They are stored so (sk_pack) and sampled so (sk_compile).
   Lines of linear channels are merged into one where that does not waste memory: its frames are made when the clip
   is compiled. */
#ifndef SK_LINES_H
#define SK_LINES_H

#include "sk_block.h"

typedef enum sk_part { SK_PART_TRANSLATION, SK_PART_ROTATION, SK_PART_SCALE, SK_PART_COUNT } sk_part;

/* The channels of a clip. All borrowed. */
typedef struct sk_keys {
  const sk_channel *channels;
  uint32_t channel_count;
  const double *times; /* what channels index: TIMES and VALUES */
  const float *values;
} sk_keys;

/* Whether all keys of an array of the channel have the same bits. */
bool sk_keys_are_same(const sk_keys *keys, const sk_channel *channel, uint64_t array);

/* A line: a run of channels in sk_plan.order. */
typedef struct sk_plan_line {
  const double *times;
  uint32_t key_count, first, count;
  sk_interpolation interpolation;
} sk_plan_line;

typedef struct sk_plan {
  sk_keys keys;
  uint32_t *order;       /* (moving,): channels that move, those of a line side by side, by joint and part */
  uint32_t *still;       /* (still_count,): channels that hold one value, by joint and part */
  sk_plan_line *lines;
  uint32_t moving, still_count, line_count;
  bool merged;           /* all linear lines are one */
  double *merged_times;  /* its times */
  void *memory;
} sk_plan;

/* Channels of weights are in no line, nor those after which another moves the same. False where there is no memory;
   sk_plan_free in any case. */
bool sk_plan_make(sk_keys keys, sk_plan *plan);
void sk_plan_free(sk_plan *plan);

/* Whether the line of channels with this interpolation was made of several. */
bool sk_plan_is_merged(const sk_plan *plan, sk_interpolation interpolation);

/* Floats of a frame. Cubic ones hold in-tangents, values and out-tangents, each `count` cells. */
size_t sk_plan_stride(const sk_plan_line *line);

#endif
