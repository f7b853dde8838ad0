/* sk_key_span.h: where a time line of a compiled clip stands at a time: which frames are around it, and what each of
   them weighs.

   One key span is enough for all components that share the time line. Weights are computed in double and kept as pairs
   of floats, the rounded number and what rounding took from it, because the joints of a chain all share that error and
   would add it up. */
#ifndef SK_KEY_SPAN_H
#define SK_KEY_SPAN_H

#include "sk_vector.h"

#include "../pose/sk_compile.h"

#if SK_HAS_KERNELS

SK_KERNEL_BEGIN

/* ---- the search for a key ------------------------------------------------------------------------------------- */

/* How many of the four times behind a key are at or before `limit`. They are compared together, because a processor
   would mispredict a branch for each of them half the time. */
static inline uint32_t sk_times_passed(const double *times, size_t key, double limit) {
  return d4_count(d4_at_most(d4_load(times + key + 1), d4_set(limit)));
}

/* The last key at or before a time, as sk_clip_find_key finds it. `limit` is the time plus the clip's tolerance, in
   seconds; before the first key the result is 0. */
static inline uint32_t sk_time_line_find(const sk_time_line *line, double limit) {
  const double *times = line->times;
  double position = (limit - times[0]) * line->bucket_scale;
  uint32_t bucket, key;
  if (!(position > 0.0)) return 0;
  bucket = position < line->bucket_count - 1 ? (uint32_t)position : line->bucket_count - 1;
  key = line->buckets[bucket];
  if (line->even) {
    uint32_t passed = sk_times_passed(times, key, limit);
    key += passed;
    if (passed < 4) return key;
  } else { /* bucket + 2, because rounding may have put keys of this bucket behind the start of the next one */
    uint32_t beyond = bucket + 2 < line->bucket_count ? line->buckets[bucket + 2] + 1 : line->key_count - 1;
    while (key + 4 < beyond) { /* a binary search in a bucket with many keys */
      uint32_t middle = key + (beyond - key) / 2;
      if (times[middle] <= limit) key = middle;
      else beyond = middle;
    }
  }
  while (times[key + 1] <= limit) key++;
  return key;
}

/* ---- weights --------------------------------------------------------------------------------------------------- */

/* A time line at one time. */
typedef struct sk_key_span {
  const float *a; /* the frame at or before the time; the next one is `stride` floats on */
  size_t stride;  /* 0 where nothing is interpolated */
  float u[4];     /* SK_TO .. SK_FROM_REST, by sk_along */
} sk_key_span;

/* The fraction u of the way to the next frame and the fraction 1 - u back, each rounded to float and followed by what
   rounding took from it. */
enum { SK_TO, SK_TO_REST, SK_FROM, SK_FROM_REST };

/* Writes these four for u from 0 to 1. */
static inline void sk_along(double u, float out[4]) {
  out[SK_TO] = (float)u;
  out[SK_TO_REST] = (float)(u - out[SK_TO]);
  out[SK_FROM] = (float)(1.0 - u);
  out[SK_FROM_REST] = (float)(1.0 - u - out[SK_FROM]);
}

/* The weights of a cubic Hermite spline (glTF 2.0, appendix C.5): of the value and the out-tangent of a key, and of the
   value and the in-tangent of the next key. */
enum { SK_VALUE, SK_OUT, SK_NEXT, SK_IN };

/* Writes these four for u from 0 to 1 between keys that are `span` seconds apart. */
static inline void sk_hermite(double u, double span, float out[4]) {
  double u2 = u * u, u3 = u2 * u;
  double next = 3.0 * u2 - 2.0 * u3;
  out[SK_VALUE] = (float)(1.0 - next);
  out[SK_OUT] = (float)(((u3 - u2) - u2 + u) * span);
  out[SK_NEXT] = (float)next;
  out[SK_IN] = (float)((u3 - u2) * span);
}

/* Squared length below which a spline of rotations has no direction and counts as the identity. */
#define SK_MIN_SQUARED_LENGTH 1e-30f

/* Evaluates all cells of a cubic time line at a time within the clip, in seconds, into (cell_count, 4) floats.
   Rotations may have any length. */
void SK_KERNEL(sk_cubic_cells)(const sk_time_line *line, double time, float *cells);

/* The key span of one time line at a time within the clip; `tolerance` is the clip's, in seconds. Cells of cubic lines
   are evaluated into `cubic`, which has sk_compiled.cubic_floats floats and is where the span then points to. */
static inline void sk_find_key_span(const sk_time_line *line, double time, double tolerance, float *cubic,
                                    sk_key_span *span) {
  uint32_t key;
  sk_along(0.0, span->u);
  if (line->interpolation == SK_CUBIC) {
    SK_KERNEL(sk_cubic_cells)(line, time, cubic + line->scratch);
    span->a = cubic + line->scratch;
    span->stride = 0;
    return;
  }
  key = sk_time_line_find(line, line->interpolation == SK_STEP ? time + tolerance : time);
  span->a = line->frames + key * line->stride;
  span->stride = line->stride;
  if (line->interpolation == SK_LINEAR && key + 1 < line->key_count) {
    double u = (time - line->times[key]) / (line->times[key + 1] - line->times[key]);
    if (u > 0.0) sk_along(u, span->u);
  }
}

/* The key spans of all time lines of a compiled clip: line_count of them. */
void SK_KERNEL(sk_find_key_spans)(const sk_clip *clip, double time, float *cubic, sk_key_span *spans);

/* Whether T, R and S of a mover are bit for bit those of the rest pose where its time lines stand at `spans`. */
bool SK_KERNEL(sk_mover_rests)(const sk_compiled *c, const sk_mover *mover, const sk_skeleton *skeleton,
                               const sk_key_span *spans);

SK_KERNEL_END

#endif
#endif
