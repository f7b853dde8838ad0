/* sk_clip.c: see sk_clip.h. */
#include "sk_clip.h"

#include <float.h>
#include <math.h>

void sk_clip_open(const sk_block *block, uint32_t index, sk_clip *clip) {
  const sk_clip_record *record = (const sk_clip_record *)block->sections[SK_SECTION_CLIPS].data + index;
  clip->duration = record->duration;
  clip->key_tolerance = SK_KEY_TOLERANCE_TICKS / record->ticks_per_second;
  clip->additive = record->flags & SK_CLIP_ADDITIVE;
  clip->channel_count = record->channel_count;
  clip->channels = record->channel_count
                       ? (const sk_channel *)block->sections[SK_SECTION_CHANNELS].data + record->first_channel
                       : NULL;
  clip->times = block->sections[SK_SECTION_TIMES].data;
  clip->values = block->sections[SK_SECTION_VALUES].data;
  clip->compiled = NULL;
}

/* time - floor(time / d) * d. A time that differs from a multiple of d by its own rounding counts as the multiple. */
static double wrap(double time, double d) {
  double nearest = nearbyint(time / d), tau;
  if (fabs(time - nearest * d) <= 4.0 * DBL_EPSILON * fabs(time)) return 0.0;
  tau = time - floor(time / d) * d;
  return tau < 0.0 ? 0.0 : tau > d ? d : tau;
}

double sk_clip_local_time(const sk_clip *clip, double time, sk_loop loop) {
  double d = clip->duration;
  if (!(d > 0.0)) return 0.0;
  switch (loop) {
  case SK_LOOP_WRAP:
    /* The end of a clip is a pose of its own; only later repetitions start over. */
    if (fabs(time - d) <= clip->key_tolerance) return d;
    return wrap(time, d);
  case SK_LOOP_PINGPONG: {
    double tau = wrap(time, 2.0 * d);
    return tau > d ? 2.0 * d - tau : tau;
  }
  default: return time < 0.0 ? 0.0 : time > d ? d : time;
  }
}

sk_key sk_clip_find_key(const double *times, uint32_t count, double time, double tolerance) {
  uint32_t low = 0, high = count; /* times[low] <= time + tolerance < times[high] */
  sk_key key = {0, 0.0, 0.0};
  SK_ASSERT(count > 0 && tolerance >= 0.0);
  if (!(times[0] <= time + tolerance)) return key;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (times[middle] <= time + tolerance) low = middle;
    else high = middle;
  }
  key.index = low;
  if (high == count) return key;
  key.span = times[high] - times[low];
  key.fraction = (time - times[low]) / key.span;
  if (!(key.fraction > 0.0)) key.fraction = 0.0;
  return key;
}
