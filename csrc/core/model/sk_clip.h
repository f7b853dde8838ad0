/* sk_clip.h: an animation clip: channels of keys on the joints of one skeleton. */
#ifndef SK_CLIP_H
#define SK_CLIP_H

#include "sk_block.h"

#define SK_KEY_TOLERANCE_TICKS 1e-4 /* importers pass key times through float32 ticks */

typedef struct sk_clip {
  double duration;            /* seconds */
  double key_tolerance;       /* seconds: 1e-4 tick, what a key time may lose on its way here */
  bool additive;              /* channels hold differences; a pose starts from none of them */
  uint32_t channel_count;
  const sk_channel *channels; /* in block */
  const double *times;        /* in block: TIMES, which sk_channel.times indexes */
  const float *values;        /* in block: VALUES */
  const struct sk_compiled *compiled; /* for the SIMD twins; NULL: the plain path. Not owned */
} sk_clip;

/* Shows clip number `index` of a block of either kind. */
void sk_clip_open(const sk_block *block, uint32_t index, sk_clip *clip);

/* What happens to a time outside the clip. */
typedef enum sk_loop { SK_LOOP_WRAP, SK_LOOP_CLAMP, SK_LOOP_PINGPONG, SK_LOOP_ONCE, SK_LOOP_COUNT } sk_loop;

/*  time       -d      0       d      2d      3d
    wrap      /|      /|      /|      /|         d itself shows the end, 2d, 3d, ... the start
    clamp     _|______/~~~~~~~~~~~~~~~~~~        (once poses the same)
    pingpong  \      / \      / \                period 2d
   Seconds within the clip, 0 to duration. `time` is finite; a clip of duration 0 gives 0. */
double sk_clip_local_time(const sk_clip *clip, double time, sk_loop loop);

/* The key at or before `time` (within the tolerance) and how far it is on to the next, 0 to 1.
   Before the first key and from the last on the fraction is 0. O(log keys). */
typedef struct sk_key {
  uint32_t index;
  double fraction, span; /* span: seconds from this key to the next; 0 at the ends */
} sk_key;

sk_key sk_clip_find_key(const double *times, uint32_t count, double time, double tolerance);

#endif
