/* sk_clip.h: an animation clip: channels of keys for the joints of one skeleton.

   A clip is a view into its block and never changes; times are in seconds. This header also maps a time of playback to
   a time within the clip, and finds the keys around a time. */
#ifndef SK_CLIP_H
#define SK_CLIP_H

#include "sk_block.h"

#define SK_KEY_TOLERANCE_TICKS 1e-4 /* ticks: importers round key times to float32 ticks */

typedef struct sk_clip {
  double duration;            /* seconds */
  double key_tolerance;       /* seconds: SK_KEY_TOLERANCE_TICKS, the rounding error of a key time */
  bool additive;              /* channels hold differences; a pose starts from no difference */
  uint32_t channel_count;
  const sk_channel *channels; /* in block */
  const double *times;        /* in block: TIMES, which sk_channel.times indexes */
  const float *values;        /* in block: VALUES */
  const struct sk_compiled *compiled; /* not owned; for the SIMD kernels, NULL for the plain path */
} sk_clip;

/* Makes `clip` a view of clip number `index` of a checked block of either kind. The block must outlive the clip. */
void sk_clip_open(const sk_block *block, uint32_t index, sk_clip *clip);

/* What a time outside the clip means. */
typedef enum sk_loop { SK_LOOP_WRAP, SK_LOOP_CLAMP, SK_LOOP_PINGPONG, SK_LOOP_ONCE, SK_LOOP_COUNT } sk_loop;

/* Maps a time of playback to a time within the clip, 0 to d = duration, both in seconds:

    time       -d      0       d      2d      3d
    wrap      /|      /|      /|      /|         d itself gives the end of the clip; 2d, 3d, ... give its start
    clamp     _|______/~~~~~~~~~~~~~~~~~~        "once" gives the same
    pingpong  \      / \      / \                has the period 2d

   `time` must be finite; a clip of duration 0 gives 0. */
double sk_clip_local_time(const sk_clip *clip, double time, sk_loop loop);

/* The keys around a time. */
typedef struct sk_key {
  uint32_t index;  /* the key at or before the time; the first key if the time is before it */
  double fraction; /* how far the time is on the way to the next key, 0 to 1; 0 outside the keys */
  double span;     /* seconds from this key to the next; 0 outside the keys */
} sk_key;

/* Finds the keys around `time` among `count` >= 1 increasing key times. A key that is later than `time` by at most
   `tolerance` seconds counts as reached. O(log count). */
sk_key sk_clip_find_key(const double *times, uint32_t count, double time, double tolerance);

#endif
