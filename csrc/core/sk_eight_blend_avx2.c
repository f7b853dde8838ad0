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

/* T, R of length 1 or S of joint j as one source has it. */
static void source_part(const sk_source_lanes *source, sk_part part, size_t j, sk_rotation rotation, __m256 *out) {
  const sk_compiled *c = source->clip;
  int32_t number = c->mover_of[j];
  if (number == SK_NONE || c->movers[number].lines[part] == SK_STILL) {
    set_part(c, part, j, out);
  } else if (part != SK_PART_ROTATION) {
    sk_mover_part(&c->movers[number], part, source->lines, NULL, out);
  } else {
    sk_mover_rotation(&c->movers[number], source->lines, NULL, rotation, out);
    sk_normalize(out);
  }
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

static void blend_odd(const sk_eight *eight, const sk_source_lanes *sources, size_t j, float local[ROWS][SK_LANES]) {
  const sk_skeleton *skeleton = eight->job->skeleton;
  size_t lane, k, i;
  for (lane = 0; lane < SK_LANES; lane++) {
    for (k = 0; k < eight->source_count && source_rests(&sources[k], j, skeleton, lane); k++) {}
    for (i = 0; k == eight->source_count && i < ROWS; i++) local[i][lane] = skeleton->rest_local[16 * j + i];
  }
}

/* The sign that takes q to the hemisphere of `reference`, as sk_blend.h has it. */
static __m256 sign_against(const __m256 reference[4], const __m256 q[4]) {
  return sk_sign_of(sk_dot4(reference, q));
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
    source_part(&sources[k], part, j, eight->job->sampling->rotation, one);
    add_weighted(_mm256_loadu_ps(eight->weights[k]), _mm256_loadu_ps(eight->weight_rests[k]), one, 3, sum);
  }
}

/* The weighted sum of rotations: of just two the one is turned to the other, of more all to rest. */
static void blend_rotation(const sk_eight *eight, const sk_source_lanes *sources, size_t j, __m256 sum[4]) {
  const float *rest_rotation = eight->job->skeleton->rotation + 4 * j;
  __m256 rest[4], reference[4], one[4], enough;
  size_t k;
  int i;
  for (i = 0; i < 4; i++) {
    reference[i] = rest[i] = _mm256_set1_ps(rest_rotation[i]);
    sum[i] = _mm256_setzero_ps();
  }
  for (k = 0; k < eight->source_count; k++) {
    __m256 sign;
    source_part(&sources[k], SK_PART_ROTATION, j, eight->job->sampling->rotation, one);
    for (i = 0; k == 0 && eight->source_count == 2 && i < 4; i++) reference[i] = one[i];
    sign = sign_against(reference, one);
    add_weighted(_mm256_xor_ps(_mm256_loadu_ps(eight->weights[k]), sign),
                 _mm256_xor_ps(_mm256_loadu_ps(eight->weight_rests[k]), sign), one, 4, sum);
  }
  enough = _mm256_cmp_ps(sk_dot4(sum, sum), _mm256_set1_ps(SK_POINTS_NOWHERE), _CMP_GT_OQ);
  for (i = 0; i < 4; i++) sum[i] = _mm256_blendv_ps(rest[i], sum[i], enough);
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
                       __m256 rows[ROWS]) {
  const sk_compiled *first = sources[0].clip;
  __m256 t[3], q[4], scale[3];
  float local[ROWS][SK_LANES];
  int i;
  if (still[SK_PART_TRANSLATION]) set_part(first, SK_PART_TRANSLATION, j, t);
  else blend_three(eight, sources, SK_PART_TRANSLATION, j, t);
  if (still[SK_PART_ROTATION]) set_part(first, SK_PART_ROTATION, j, q);
  else blend_rotation(eight, sources, j, q);
  if (still[SK_PART_SCALE]) set_part(first, SK_PART_SCALE, j, scale);
  else blend_three(eight, sources, SK_PART_SCALE, j, scale);
  sk_rows_from_trs(t, q, scale, rows);
  if (!some_source_is_odd(eight, sources, j)) return;
  for (i = 0; i < ROWS; i++) _mm256_storeu_ps(local[i], rows[i]);
  blend_odd(eight, sources, j, local);
  for (i = 0; i < ROWS; i++) rows[i] = _mm256_loadu_ps(local[i]);
}

bool sk_eight_blended(const sk_eight *eight, const sk_source_lanes *sources, size_t j, __m256 rows[ROWS]) {
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
