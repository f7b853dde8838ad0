/* sk_lines.h: groups the channels of a clip that move into time lines.

   A time line is a group of channels with the same key times and the same interpolation, so that one search finds the
   keys of all of them. Its keys are stored frame by frame, in cells of four floats: one cell for each translation,
   rotation or scale. The keys around a time are then two neighboring frames. sk_pack stores keys in this layout, and
   sk_compile samples them from it. All time lines of linear channels are merged into one, with the union of their key
   times, unless that wastes memory; the frames of a merged line are made when the clip is compiled. */
#ifndef SK_LINES_H
#define SK_LINES_H

#include "sk_block.h"

typedef enum sk_component {
  SK_COMPONENT_TRANSLATION,
  SK_COMPONENT_ROTATION,
  SK_COMPONENT_SCALE,
  SK_COMPONENT_COUNT
} sk_component;

/* The channels of a clip and their keys; all pointers are borrowed. */
typedef struct sk_keys {
  const sk_channel *channels;
  uint32_t channel_count;
  const double *times; /* the section TIMES of the block, which the channels index */
  const float *values; /* the section VALUES, likewise */
} sk_keys;

/* Whether all keys of `array` (the values, in_tangents or out_tangents of the channel) have the same bits. */
bool sk_keys_are_same(const sk_keys *keys, const sk_channel *channel, uint64_t array);

/* A time line: channels first .. first + count - 1 of sk_plan.order. */
typedef struct sk_plan_line {
  const double *times;
  uint32_t key_count, first, count;
  sk_interpolation interpolation;
} sk_plan_line;

typedef struct sk_plan {
  sk_keys keys;
  uint32_t *order;       /* (moving,): numbers of the channels that move, by time line, joint and component */
  uint32_t *still;       /* (still_count,): numbers of the channels that hold one value, by joint and component */
  sk_plan_line *lines;   /* (line_count,) */
  uint32_t moving, still_count, line_count;
  bool merged;           /* all linear channels are in one merged time line */
  double *merged_times;  /* key times of the merged line; owned */
  void *memory;          /* of the three arrays above; owned */
} sk_plan;

/* Makes the plan of a clip. Channels that move no joint are in no time line, and of several channels that move the same
   component of a joint only the last one counts. Returns false if there is no memory. Call sk_plan_free in both
   cases. */
bool sk_plan_make(sk_keys keys, sk_plan *plan);
void sk_plan_free(sk_plan *plan);

/* Whether the time line of the channels with this interpolation was merged from several. */
bool sk_plan_is_merged(const sk_plan *plan, sk_interpolation interpolation);

/* Floats of one frame. A frame of a cubic line holds in-tangents, values and out-tangents: `count` cells each. */
size_t sk_plan_stride(const sk_plan_line *line);

#endif
