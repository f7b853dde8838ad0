/* sk_batch_keys.c: finds the keys around eight times, one time line after another. */
#include "sk_batch_lanes.h"

#if SK_HAS_KERNELS
#include <float.h>
#include <math.h>
#include <string.h>

SK_KERNEL_BEGIN

#define HALF SK_HALF

/* ---- times ------------------------------------------------------------------------------------------------- */

/* The time within a clip that wraps around: the operations of sk_clip_local_time, in the same order. */
static sk_d4 wrapped(sk_d4 time, double duration) {
  const sk_d4 d = d4_set(duration), zero = d4_zero();
  sk_d4 cycles = d4_div(time, d);
  sk_d4 nearest = d4_nearest(cycles);
  sk_d4 miss = d4_abs(d4_sub(time, d4_mul(nearest, d)));
  sk_d4 slack = d4_mul(d4_set(4.0 * DBL_EPSILON), d4_abs(time));
  sk_d4 tau = d4_sub(time, d4_mul(d4_floor(cycles), d));
  tau = d4_min(d4_max(tau, zero), d);
  return d4_clear(d4_at_most(miss, slack), tau);
}

static void local_times(const sk_clip *clip, sk_loop loop, const double given[SK_LANES], sk_d4 times[2]) {
  double d = clip->duration, one[SK_LANES];
  int half, lane;
  for (half = 0; half < 2; half++) {
    sk_d4 time = d4_load(given + HALF * half), duration = d4_set(d), past;
    if (loop == SK_LOOP_WRAP && d > 0.0) {
      past = d4_abs(d4_sub(time, duration));
      times[half] = d4_blend(wrapped(time, d), duration, d4_at_most(past, d4_set(clip->key_tolerance)));
      continue;
    }
    for (lane = HALF * half; lane < HALF * half + HALF; lane++) one[lane] = sk_clip_local_time(clip, given[lane], loop);
    times[half] = d4_load(one + HALF * half);
  }
}

/* ---- keys -------------------------------------------------------------------------------------------------- */

/* sk_along for four lanes. */
static void along_four(sk_d4 u, sk_f4 out[4]) {
  sk_d4 back = d4_sub(d4_set(1.0), u);
  out[SK_TO] = f4_of(u);
  out[SK_TO_REST] = f4_of(d4_sub(u, d4_of(out[SK_TO])));
  out[SK_FROM] = f4_of(back);
  out[SK_FROM_REST] = f4_of(d4_sub(back, d4_of(out[SK_FROM])));
}

/* sk_hermite for four lanes. */
static void hermite_four(sk_d4 u, sk_d4 span, sk_f4 out[4]) {
  const sk_d4 two = d4_set(2.0), three = d4_set(3.0);
  sk_d4 u2 = d4_mul(u, u), u3 = d4_mul(u2, u), back = d4_sub(u3, u2);
  sk_d4 next = d4_sub(d4_mul(three, u2), d4_mul(two, u3));
  out[SK_VALUE] = f4_of(d4_sub(d4_set(1.0), next));
  out[SK_NEXT] = f4_of(next);
  out[SK_OUT] = f4_of(d4_mul(d4_add(d4_sub(back, u2), u), span));
  out[SK_IN] = f4_of(d4_mul(back, span));
}

/* Moves four keys on to the last ones at or before four times; they are not behind these yet. */
SK_INLINE void go_on_four(const double *times, sk_d4 limit, size_t key[HALF]) {
  double limits[HALF];
  uint32_t any = 0;
  int lane;
  d4_store(limits, limit);
  for (lane = 0; lane < HALF; lane++) {
    uint32_t passed = sk_times_passed(times, key[lane], limits[lane]);
    any |= passed;
    key[lane] += passed;
  }
  if (__builtin_expect(any < 4, 1)) return; /* none of them is 4 */
  for (lane = 0; lane < HALF; lane++)
    while (times[key[lane] + 1] <= limits[lane]) key[lane]++;
}

/* Finds the keys of four lanes on an even time line, as sk_time_line_find does. Returns the fractions of the way to the
   next keys; `span` gets the seconds to them. Both are 0 from the last key on. Single loads are faster than a gather on
   many processors. */
SK_INLINE sk_d4 find_four(const sk_time_line *line, sk_d4 time, double tolerance, const float **frames, sk_d4 *span) {
  const double *times = line->times;
  const uint32_t *buckets = line->buckets;
  sk_d4 limit = d4_add(time, d4_set(tolerance)), here, next, position;
  size_t key[HALF];
  int32_t bucket[HALF];
  int lane;
  position = d4_mul(d4_sub(limit, d4_set(times[0])), d4_set(line->bucket_scale));
  position = d4_min(d4_max(position, d4_zero()), d4_set(line->bucket_count - 1));
  d4_truncate(position, bucket);
  for (lane = 0; lane < HALF; lane++) key[lane] = buckets[bucket[lane]];
  go_on_four(times, limit, key);
  for (lane = 0; lane < HALF; lane++) frames[lane] = line->frames + key[lane] * line->stride;
  d4_load_beside(times, key, &here, &next); /* the time behind the last key is infinite, which gives u = 0 */
  *span = d4_sub(next, here);
  position = d4_div(d4_sub(time, here), *span);
  *span = d4_and(*span, d4_less(next, d4_set(INFINITY)));
  return line->interpolation == SK_STEP ? d4_zero() : d4_max(position, d4_zero());
}

static void find_lanes(const sk_time_line *line, const sk_d4 times[2], double tolerance, sk_time_line_lanes *found) {
  sk_f4 low[4], high[4];
  sk_d4 span[2], u[2];
  int i;
  u[0] = find_four(line, times[0], tolerance, found->a, &span[0]);
  u[1] = find_four(line, times[1], tolerance, found->a + HALF, &span[1]);
  found->stride = line->stride;
  found->third = 0;
  if (line->interpolation == SK_CUBIC) {
    found->third = (size_t)line->cell_count * SK_CELL;
    hermite_four(u[0], span[0], low);
    hermite_four(u[1], span[1], high);
  } else if (line->has_rotations) {
    along_four(u[0], low);
    along_four(u[1], high);
  } else { /* without rotations nothing else is needed */
    found->u[SK_TO] = f8_join(f4_of(u[0]), f4_of(u[1]));
    return;
  }
  for (i = 0; i < 4; i++) found->u[i] = f8_join(low[i], high[i]);
}

static void find_one_by_one(const sk_time_line *line, const sk_clip *clip, const sk_d4 times[2],
                            const sk_source_lanes *source, size_t number, sk_time_line_lanes *found) {
  float along[SK_LANES][4];
  const float *at[SK_LANES];
  double time[SK_LANES];
  sk_key_span span = {0};
  size_t lane;
  d4_store(time, times[0]);
  d4_store(time + HALF, times[1]);
  for (lane = 0; lane < SK_LANES; lane++) {
    sk_find_key_span(line, time[lane], clip->key_tolerance, source->cubic + lane * source->clip->cubic_floats, &span);
    if (source->clip->sheared_count) source->spans[lane * source->clip->line_count + number] = span;
    found->a[lane] = span.a;
    memcpy(along[lane], span.u, sizeof along[lane]);
    at[lane] = along[lane];
  }
  found->stride = span.stride;
  found->third = 0; /* cells of cubic lines are evaluated already */
  sk_load_cells(at, 0, found->u);
}

void SK_KERNEL(sk_batch_find_keys)(const sk_clip *clip, const sk_sampling *sampling, const double given[SK_LANES],
                                   const sk_source_lanes *source) {
  const sk_compiled *c = source->clip;
  sk_d4 times[2];
  uint32_t i;
  local_times(clip, sampling->loop, given, times);
  for (i = 0; i < c->line_count; i++) {
    const sk_time_line *line = &c->lines[i];
    sk_time_line_lanes *found = &source->lines[i];
    if (line->even && !c->sheared_count) {
      find_lanes(line, times, line->interpolation == SK_STEP ? clip->key_tolerance : 0.0, found);
    } else {
      find_one_by_one(line, clip, times, source, i, found);
    }
    if (!line->has_rotations || found->third) continue;
    found->from = sk_series_of(found->u[SK_FROM], found->u[SK_FROM_REST], sampling->rotation);
    found->to = sk_series_of(found->u[SK_TO], found->u[SK_TO_REST], sampling->rotation);
  }
}

SK_KERNEL_END

#endif
