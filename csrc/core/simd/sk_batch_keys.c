/* sk_batch_keys.c: finds the keys around eight times, one time line after another. */
#include "sk_batch_lanes.h"

#if SK_HAS_AVX2
#include <float.h>
#include <math.h>
#include <string.h>

SK_KERNEL_BEGIN

#define HALF   SK_HALF
#define INLINE static inline __attribute__((always_inline))

/* ---- times ------------------------------------------------------------------------------------------------- */

/* The time within a clip that wraps around: the operations of sk_clip_local_time, in the same order. */
static __m256d wrapped(__m256d time, double duration) {
  const __m256d d = _mm256_set1_pd(duration), zero = _mm256_setzero_pd(), no_sign = _mm256_set1_pd(-0.0);
  __m256d cycles = _mm256_div_pd(time, d);
  __m256d nearest = _mm256_round_pd(cycles, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256d miss = _mm256_andnot_pd(no_sign, _mm256_sub_pd(time, _mm256_mul_pd(nearest, d)));
  __m256d slack = _mm256_mul_pd(_mm256_set1_pd(4.0 * DBL_EPSILON), _mm256_andnot_pd(no_sign, time));
  __m256d tau = _mm256_sub_pd(time, _mm256_mul_pd(_mm256_floor_pd(cycles), d));
  tau = _mm256_min_pd(_mm256_max_pd(tau, zero), d);
  return _mm256_andnot_pd(_mm256_cmp_pd(miss, slack, _CMP_LE_OQ), tau);
}

static void local_times(const sk_clip *clip, sk_loop loop, const double given[SK_LANES], __m256d times[2]) {
  double d = clip->duration, one[SK_LANES];
  int half, lane;
  for (half = 0; half < 2; half++) {
    __m256d time = _mm256_loadu_pd(given + HALF * half), duration = _mm256_set1_pd(d), past;
    if (loop == SK_LOOP_WRAP && d > 0.0) {
      past = _mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_sub_pd(time, duration));
      times[half] = _mm256_blendv_pd(wrapped(time, d), duration,
                                     _mm256_cmp_pd(past, _mm256_set1_pd(clip->key_tolerance), _CMP_LE_OQ));
      continue;
    }
    for (lane = HALF * half; lane < HALF * half + HALF; lane++) one[lane] = sk_clip_local_time(clip, given[lane], loop);
    times[half] = _mm256_loadu_pd(one + HALF * half);
  }
}

/* ---- keys -------------------------------------------------------------------------------------------------- */

/* sk_along for four lanes. */
static void along_four(__m256d u, __m128 out[4]) {
  __m256d back = _mm256_sub_pd(_mm256_set1_pd(1.0), u);
  out[SK_TO] = _mm256_cvtpd_ps(u);
  out[SK_TO_REST] = _mm256_cvtpd_ps(_mm256_sub_pd(u, _mm256_cvtps_pd(out[SK_TO])));
  out[SK_FROM] = _mm256_cvtpd_ps(back);
  out[SK_FROM_REST] = _mm256_cvtpd_ps(_mm256_sub_pd(back, _mm256_cvtps_pd(out[SK_FROM])));
}

/* sk_hermite for four lanes. */
static void hermite_four(__m256d u, __m256d span, __m128 out[4]) {
  const __m256d two = _mm256_set1_pd(2.0), three = _mm256_set1_pd(3.0);
  __m256d u2 = _mm256_mul_pd(u, u), u3 = _mm256_mul_pd(u2, u), back = _mm256_sub_pd(u3, u2);
  __m256d next = _mm256_sub_pd(_mm256_mul_pd(three, u2), _mm256_mul_pd(two, u3));
  out[SK_VALUE] = _mm256_cvtpd_ps(_mm256_sub_pd(_mm256_set1_pd(1.0), next));
  out[SK_NEXT] = _mm256_cvtpd_ps(next);
  out[SK_OUT] = _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_add_pd(_mm256_sub_pd(back, u2), u), span));
  out[SK_IN] = _mm256_cvtpd_ps(_mm256_mul_pd(back, span));
}

/* Moves four keys on to the last ones at or before four times; they are not behind these yet. */
INLINE void go_on_four(const double *times, __m256d limit, size_t key[HALF]) {
  double limits[HALF];
  unsigned all = 0;
  int lane;
  _mm256_storeu_pd(limits, limit);
  for (lane = 0; lane < HALF; lane++) {
    unsigned passed = sk_times_passed(times, key[lane], limits[lane]);
    all |= passed;
    key[lane] += (size_t)__builtin_popcount(passed);
  }
  if (__builtin_expect(!(all & 8), 1)) return;
  for (lane = 0; lane < HALF; lane++)
    while (times[key[lane] + 1] <= limits[lane]) key[lane]++;
}

/* Finds the keys of four lanes on an even time line, as sk_time_line_find does. Returns the fractions of the way to the
   next keys; `span` gets the seconds to them. Both are 0 from the last key on. Single loads are faster than a gather on
   many processors. */
INLINE __m256d find_four(const sk_time_line *line, __m256d time, double tolerance, const float **frames,
                         __m256d *span) {
  const double *times = line->times;
  const uint32_t *buckets = line->buckets;
  __m256d limit = _mm256_add_pd(time, _mm256_set1_pd(tolerance)), even, odd_lanes, here, next, position;
  size_t key[HALF];
  __m128i bucket;
  int lane;
  position = _mm256_mul_pd(_mm256_sub_pd(limit, _mm256_set1_pd(times[0])), _mm256_set1_pd(line->bucket_scale));
  position = _mm256_min_pd(_mm256_max_pd(position, _mm256_setzero_pd()), _mm256_set1_pd(line->bucket_count - 1));
  bucket = _mm256_cvttpd_epi32(position);
  key[0] = buckets[_mm_extract_epi32(bucket, 0)], key[1] = buckets[_mm_extract_epi32(bucket, 1)];
  key[2] = buckets[_mm_extract_epi32(bucket, 2)], key[3] = buckets[_mm_extract_epi32(bucket, 3)];
  go_on_four(times, limit, key);
  for (lane = 0; lane < HALF; lane++) frames[lane] = line->frames + key[lane] * line->stride;
  even = _mm256_set_m128d(_mm_loadu_pd(times + key[2]), _mm_loadu_pd(times + key[0]));
  odd_lanes = _mm256_set_m128d(_mm_loadu_pd(times + key[3]), _mm_loadu_pd(times + key[1]));
  here = _mm256_unpacklo_pd(even, odd_lanes);
  next = _mm256_unpackhi_pd(even, odd_lanes); /* the time behind the last key is infinite, which gives u = 0 */
  *span = _mm256_sub_pd(next, here);
  position = _mm256_div_pd(_mm256_sub_pd(time, here), *span);
  *span = _mm256_and_pd(*span, _mm256_cmp_pd(next, _mm256_set1_pd(INFINITY), _CMP_LT_OQ));
  return line->interpolation == SK_STEP ? _mm256_setzero_pd() : _mm256_max_pd(position, _mm256_setzero_pd());
}

static inline __m256 both(__m128 low, __m128 high) { return _mm256_set_m128(high, low); }

static void find_lanes(const sk_time_line *line, const __m256d times[2], double tolerance, sk_time_line_lanes *found) {
  __m128 low[4], high[4];
  __m256d span[2], u[2];
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
    found->u[SK_TO] = both(_mm256_cvtpd_ps(u[0]), _mm256_cvtpd_ps(u[1]));
    return;
  }
  for (i = 0; i < 4; i++) found->u[i] = both(low[i], high[i]);
}

static void find_one_by_one(const sk_time_line *line, const sk_clip *clip, const __m256d times[2],
                            const sk_source_lanes *source, size_t number, sk_time_line_lanes *found) {
  float along[SK_LANES][4];
  const float *at[SK_LANES];
  double time[SK_LANES];
  sk_key_span span = {0};
  size_t lane;
  _mm256_storeu_pd(time, times[0]);
  _mm256_storeu_pd(time + HALF, times[1]);
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
  __m256d times[2];
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
