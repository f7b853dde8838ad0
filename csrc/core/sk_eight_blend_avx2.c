/* sk_eight_blend_avx2.c: the weighted sums of up to four clips, eight poses at a time (the mode SK_BLEND_BASE of
   sk_blend.h, where the weights sum to SK_BLEND_THRESHOLD or more). */
#include "sk_eight_parts.h"

#if SK_HAS_AVX2
#include <string.h>

SK_AVX2_BEGIN

#define ROWS SK_ROWS

static const float *part_of(const sk_compiled *c, sk_part part, size_t j) {
  if (part == SK_PART_ROTATION) return c->rotation + 4 * j;
  return (part == SK_PART_TRANSLATION ? c->translation : c->scale) + 3 * j;
}

static void set_part(const sk_compiled *c, sk_part part, size_t j, __m256 *out) {
  const float *values = part_of(c, part, j);
  int i, count = part == SK_PART_ROTATION ? 4 : 3;
  for (i = 0; i < count; i++) out[i] = _mm256_set1_ps(values[i]);
}

/* T or S of joint j as one source has it. */
static void source_part(const sk_source_lanes *source, sk_part part, size_t j, __m256 out[3]) {
  const sk_compiled *c = source->clip;
  int32_t number = c->mover_of[j];
  if (number == SK_NONE || c->movers[number].lines[part] == SK_STILL) set_part(c, part, j, out);
  else sk_mover_part(&c->movers[number], part, source->lines, NULL, out);
}

static void source_mix(const sk_source_lanes *source, size_t j, sk_rotation rotation, sk_mix *mix) {
  const sk_compiled *c = source->clip;
  int32_t number = c->mover_of[j];
  if (number != SK_NONE && c->movers[number].lines[SK_PART_ROTATION] != SK_STILL) {
    sk_mover_mix(&c->movers[number], source->lines, NULL, rotation, mix);
    return;
  }
  set_part(c, SK_PART_ROTATION, j, mix->a);
  sk_mix_one(mix);
}

static bool part_moves(const sk_compiled *c, sk_part part, size_t j) {
  return c->mover_of[j] != SK_NONE && c->movers[c->mover_of[j]].lines[part] != SK_STILL;
}

/* Whether a part of joint j has the same bits in all sources at all times: then it is not summed, because joints
   of a chain would share the rounding. */
static bool part_is_still(const sk_source_lanes *sources, size_t count, sk_part part, size_t j) {
  size_t bytes = (part == SK_PART_ROTATION ? 4 : 3) * sizeof(float), k;
  for (k = 0; k < count; k++) {
    const sk_compiled *c = sources[k].clip;
    if (part_moves(c, part, j) || memcmp(part_of(c, part, j), part_of(sources[0].clip, part, j), bytes) != 0)
      return false;
  }
  return true;
}

static bool source_rests(const sk_source_lanes *source, size_t j, const sk_skeleton *skeleton, size_t lane) {
  const sk_compiled *c = source->clip;
  int32_t number = c->mover_of[j];
  if (number != SK_NONE) /* places are kept where a mover is odd, and those of one joint all are */
    return c->movers[number].odd &&
           sk_mover_rests(c, &c->movers[number], skeleton, source->places + lane * c->line_count);
  return memcmp(c->translation + 3 * j, skeleton->translation + 3 * j, 3 * sizeof(float)) == 0 &&
         memcmp(c->rotation + 4 * j, skeleton->rotation + 4 * j, 4 * sizeof(float)) == 0 &&
         memcmp(c->scale + 3 * j, skeleton->scale + 3 * j, 3 * sizeof(float)) == 0;
}

/* Lanes of one half that rest in all sources. */
static void blend_odd(const sk_eight *eight, const sk_source_lanes *sources, size_t j, int half, __m256d rows[ROWS]) {
  const sk_skeleton *skeleton = eight->job->skeleton;
  double local[ROWS][SK_HALF];
  size_t lane, k, i;
  for (i = 0; i < ROWS; i++) _mm256_storeu_pd(local[i], rows[i]);
  for (lane = 0; lane < SK_HALF; lane++) {
    size_t at = SK_HALF * (size_t)half + lane;
    for (k = 0; k < eight->source_count && source_rests(&sources[k], j, skeleton, at); k++) {}
    for (i = 0; k == eight->source_count && i < ROWS; i++) local[i][lane] = skeleton->rest_local[16 * j + i];
  }
  for (i = 0; i < ROWS; i++) rows[i] = _mm256_loadu_pd(local[i]);
}

static void add_weighted(__m256 weight, __m256 rest, const __m256 *values, int count, __m256 *sums) {
  int i;
  for (i = 0; i < count; i++) sums[i] = _mm256_fmadd_ps(weight, values[i], _mm256_fmadd_ps(rest, values[i], sums[i]));
}

/* The weighted sum of a translation or scale over the sources. */
static void blend_three(const sk_eight *eight, const sk_source_lanes *sources, sk_part part, size_t j, __m256 sum[3]) {
  __m256 one[3];
  size_t k;
  sum[0] = sum[1] = sum[2] = _mm256_setzero_ps();
  for (k = 0; k < eight->source_count; k++) {
    source_part(&sources[k], part, j, one);
    add_weighted(_mm256_loadu_ps(eight->weights[k]), _mm256_loadu_ps(eight->weight_rests[k]), one, 3, sum);
  }
}

static __m256d dot4(const __m256d a[4], const __m256d b[4]) {
  return _mm256_add_pd(_mm256_fmadd_pd(a[1], b[1], _mm256_mul_pd(a[0], b[0])),
                       _mm256_fmadd_pd(a[3], b[3], _mm256_mul_pd(a[2], b[2])));
}

/* One source's share of a sum of rotations: of length 1, in the hemisphere of `reference`, weighted. */
static void add_rotation(__m256d weight, const __m256d q[4], const __m256d reference[4], __m256d sum[4]) {
  __m256d sign = _mm256_and_pd(_mm256_add_pd(dot4(reference, q), _mm256_setzero_pd()), _mm256_set1_pd(-0.0));
  int i;
  weight = _mm256_xor_pd(_mm256_div_pd(weight, _mm256_sqrt_pd(dot4(q, q))), sign);
  for (i = 0; i < 4; i++) sum[i] = _mm256_fmadd_pd(weight, q[i], sum[i]);
}

/* The weighted sum of rotations in half the lanes, in double: of just two the one is turned to the other, of more
   all to rest. */
static void blend_rotation(const sk_eight *eight, const sk_mix *mixes, size_t j, int half, __m256d sum[4]) {
  const float *rest_rotation = eight->job->skeleton->rotation + 4 * j;
  __m256d rest[4], reference[4], one[4], enough;
  size_t k;
  int i;
  for (i = 0; i < 4; i++) {
    reference[i] = rest[i] = _mm256_set1_pd(rest_rotation[i]);
    sum[i] = _mm256_setzero_pd();
  }
  for (k = 0; k < eight->source_count; k++) {
    __m256d weight = _mm256_add_pd(_mm256_cvtps_pd(_mm_loadu_ps(eight->weights[k] + SK_HALF * half)),
                                   _mm256_cvtps_pd(_mm_loadu_ps(eight->weight_rests[k] + SK_HALF * half)));
    if (half) sk_mix_half(&mixes[k], 1, one);
    else sk_mix_half(&mixes[k], 0, one);
    for (i = 0; k == 0 && eight->source_count == 2 && i < 4; i++) reference[i] = one[i];
    add_rotation(weight, one, reference, sum);
  }
  enough = _mm256_cmp_pd(dot4(sum, sum), _mm256_set1_pd(SK_POINTS_NOWHERE), _CMP_GT_OQ);
  for (i = 0; i < 4; i++) sum[i] = _mm256_blendv_pd(rest[i], sum[i], enough);
}

static bool some_source_is_odd(const sk_eight *eight, const sk_source_lanes *sources, size_t j) {
  size_t k;
  for (k = 0; k < eight->source_count; k++) {
    const sk_compiled *c = sources[k].clip;
    if (c->odd_count && c->mover_of[j] != SK_NONE && c->movers[c->mover_of[j]].odd) return true;
  }
  return false;
}

static void blend_rows(const sk_eight *eight, const sk_source_lanes *sources, size_t j, const bool still[SK_PART_COUNT],
                       __m256d rows[2][ROWS]) {
  const sk_compiled *first = sources[0].clip;
  bool odd = some_source_is_odd(eight, sources, j);
  __m256 t[3], scale[3];
  __m256d q[4];
  sk_mix mixes[SK_SOURCES];
  size_t k;
  int half, i;
  if (still[SK_PART_TRANSLATION]) set_part(first, SK_PART_TRANSLATION, j, t);
  else blend_three(eight, sources, SK_PART_TRANSLATION, j, t);
  if (still[SK_PART_SCALE]) set_part(first, SK_PART_SCALE, j, scale);
  else blend_three(eight, sources, SK_PART_SCALE, j, scale);
  for (k = 0; !still[SK_PART_ROTATION] && k < eight->source_count; k++)
    source_mix(&sources[k], j, eight->job->sampling->rotation, &mixes[k]);
  for (half = 0; half < 2; half++) {
    if (!still[SK_PART_ROTATION]) blend_rotation(eight, mixes, j, half, q);
    else
      for (i = 0; i < 4; i++) q[i] = _mm256_set1_pd(first->rotation[4 * j + (size_t)i]);
    if (half) sk_rows_half(q, t, scale, 1, rows[1]);
    else sk_rows_half(q, t, scale, 0, rows[0]);
    if (odd) blend_odd(eight, sources, j, half, rows[half]);
  }
}

bool sk_eight_blended(const sk_eight *eight, const sk_source_lanes *sources, size_t j, __m256d rows[2][ROWS]) {
  bool still[SK_PART_COUNT], all = true;
  int part;
  for (part = 0; part < SK_PART_COUNT; part++) {
    still[part] = part_is_still(sources, eight->source_count, (sk_part)part, j);
    all = all && still[part];
  }
  if (!all) blend_rows(eight, sources, j, still, rows);
  return !all;
}

SK_AVX2_END

#endif
