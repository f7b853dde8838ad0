/* sk_batch_blend.c: the weighted sums of up to four clips, eight poses at a time (the mode SK_BLEND_BASE of
   sk_blend.h, where the weights sum to SK_BLEND_THRESHOLD or more). */
#include "sk_batch_lanes.h"

#if SK_HAS_AVX2
#include <string.h>

SK_KERNEL_BEGIN

#define ROWS SK_ROWS
#define INLINE static inline __attribute__((always_inline))

/* ---- what sources share ------------------------------------------------------------------------------------ */

static const float *part_of(const sk_compiled *c, sk_part part, size_t j) {
  if (part == SK_PART_ROTATION) return c->rotation + 4 * j;
  return (part == SK_PART_TRANSLATION ? c->translation : c->scale) + 3 * j;
}

static bool part_moves(const sk_compiled *c, sk_part part, size_t j) {
  return c->mover_of[j] != SK_NONE && c->movers[c->mover_of[j]].lines[part] != SK_STILL;
}

static bool part_is_shared(const sk_batch *batch, sk_part part, size_t j) {
  const sk_compiled *first = batch->clips[0]->compiled;
  size_t bytes = (part == SK_PART_ROTATION ? 4 : 3) * sizeof(float), k;
  for (k = 0; k < batch->source_count; k++) {
    const sk_compiled *c = batch->clips[k]->compiled;
    if (part_moves(c, part, j) || memcmp(part_of(c, part, j), part_of(first, part, j), bytes) != 0) return false;
  }
  return true;
}

static bool some_source_is_odd(const sk_batch *batch, size_t j) {
  size_t k;
  for (k = 0; k < batch->source_count; k++) {
    const sk_compiled *c = batch->clips[k]->compiled;
    if (c->odd_count && c->mover_of[j] != SK_NONE && c->movers[c->mover_of[j]].odd) return true;
  }
  return false;
}

void SK_KERNEL(sk_batch_find_common)(const sk_batch *batch, uint8_t *shared) {
  const sk_compiled *first = batch->clips[0]->compiled;
  size_t j;
  int part;
  for (j = 0; j < (size_t)first->joint_count; j++) {
    const float *scale = first->scale + 3 * j;
    shared[j] = some_source_is_odd(batch, j) ? SK_SHARED_ODD : 0;
    for (part = 0; part < SK_PART_COUNT; part++)
      if (part_is_shared(batch, (sk_part)part, j)) shared[j] |= (uint8_t)(1 << part);
    if (shared[j] & 1 << SK_PART_SCALE && scale[0] == 1.0f && scale[1] == 1.0f && scale[2] == 1.0f)
      shared[j] |= SK_SHARED_UNIT;
  }
}

/* ---- parts of one source ----------------------------------------------------------------------------------- */

INLINE void set_part(const sk_compiled *c, sk_part part, size_t j, __m256 *out) {
  const float *values = part_of(c, part, j);
  int i, count = part == SK_PART_ROTATION ? 4 : 3;
  for (i = 0; i < count; i++) out[i] = _mm256_set1_ps(values[i]);
}

/* Where the constants of a mover's part stand. */
static const float *cell_of(const sk_compiled *c, int32_t mover, sk_part part) {
  return c->constants + ((size_t)mover * SK_PART_COUNT + part) * SK_CELL;
}

/* T or S of joint j as one source has it. */
static void source_part(const sk_source_lanes *source, sk_part part, size_t j, __m256 out[3]) {
  const sk_compiled *c = source->clip;
  int32_t mover = c->mover_of[j];
  if (mover == SK_NONE) set_part(c, part, j, out);
  else sk_mover_component(&c->movers[mover], part, source->lines, cell_of(c, mover, part), out);
}

INLINE void source_mix(const sk_source_lanes *source, size_t j, sk_rotation rotation, sk_mix *mix) {
  const sk_compiled *c = source->clip;
  int32_t mover = c->mover_of[j];
  if (mover != SK_NONE) {
    sk_mover_mix(c, mover, source->lines, rotation, mix);
    return;
  }
  set_part(c, SK_PART_ROTATION, j, mix->a);
  sk_mix_one(mix);
}

static bool source_rests(const sk_source_lanes *source, size_t j, const sk_skeleton *skeleton, size_t lane) {
  const sk_compiled *c = source->clip;
  int32_t number = c->mover_of[j];
  if (number != SK_NONE) /* places are kept where a mover is odd, and those of one joint all are */
    return c->movers[number].odd &&
           SK_KERNEL(sk_mover_rests)(c, &c->movers[number], skeleton, source->places + lane * c->line_count);
  return memcmp(c->translation + 3 * j, skeleton->translation + 3 * j, 3 * sizeof(float)) == 0 &&
         memcmp(c->rotation + 4 * j, skeleton->rotation + 4 * j, 4 * sizeof(float)) == 0 &&
         memcmp(c->scale + 3 * j, skeleton->scale + 3 * j, 3 * sizeof(float)) == 0;
}

/* Lanes of one half that rest in all sources. */
static void blend_odd(const sk_batch *batch, const sk_source_lanes *sources, size_t j, int half, __m256d rows[ROWS]) {
  const sk_skeleton *skeleton = batch->job->skeleton;
  double local[ROWS][SK_HALF];
  size_t lane, k, i;
  for (i = 0; i < ROWS; i++) _mm256_storeu_pd(local[i], rows[i]);
  for (lane = 0; lane < SK_HALF; lane++) {
    size_t at = SK_HALF * (size_t)half + lane;
    for (k = 0; k < batch->source_count && source_rests(&sources[k], j, skeleton, at); k++) {}
    for (i = 0; k == batch->source_count && i < ROWS; i++) local[i][lane] = skeleton->rest_local[16 * j + i];
  }
  for (i = 0; i < ROWS; i++) rows[i] = _mm256_loadu_pd(local[i]);
}

INLINE void add_weighted(__m256 weight, __m256 rest, const __m256 *values, int count, __m256 *sums) {
  int i;
  for (i = 0; i < count; i++) sums[i] = _mm256_fmadd_ps(weight, values[i], _mm256_fmadd_ps(rest, values[i], sums[i]));
}

/* The weighted sum of a translation or scale over the sources. */
INLINE void blend_three(const sk_batch *batch, const sk_source_lanes *sources, sk_part part, size_t j, __m256 sum[3]) {
  __m256 one[3];
  size_t k;
  sum[0] = sum[1] = sum[2] = _mm256_setzero_ps();
  for (k = 0; k < batch->source_count; k++) {
    source_part(&sources[k], part, j, one);
    add_weighted(_mm256_loadu_ps(batch->weights[k]), _mm256_loadu_ps(batch->weight_rests[k]), one, 3, sum);
  }
}

/* T or S over all sources. */
INLINE void blend_part(const sk_batch *batch, const sk_source_lanes *sources, sk_part part, size_t j, __m256 out[3]) {
  if (batch->shared[j] & 1 << part) set_part(sources[0].clip, part, j, out);
  else blend_three(batch, sources, part, j, out);
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
static void blend_rotation(const sk_batch *batch, const sk_mix *mixes, size_t j, int half, __m256d sum[4]) {
  const float *rest_rotation = batch->job->skeleton->rotation + 4 * j;
  __m256d rest[4], reference[4], one[4], enough;
  size_t k;
  int i;
  for (i = 0; i < 4; i++) {
    reference[i] = rest[i] = _mm256_set1_pd(rest_rotation[i]);
    sum[i] = _mm256_setzero_pd();
  }
  for (k = 0; k < batch->source_count; k++) {
    __m256d weight = _mm256_add_pd(_mm256_cvtps_pd(_mm_loadu_ps(batch->weights[k] + SK_HALF * half)),
                                   _mm256_cvtps_pd(_mm_loadu_ps(batch->weight_rests[k] + SK_HALF * half)));
    if (half) sk_mix_half(&mixes[k], 1, one);
    else sk_mix_half(&mixes[k], 0, one);
    for (i = 0; k == 0 && batch->source_count == 2 && i < 4; i++) reference[i] = one[i];
    add_rotation(weight, one, reference, sum);
  }
  enough = _mm256_cmp_pd(dot4(sum, sum), _mm256_set1_pd(SK_POINTS_NOWHERE), _CMP_GT_OQ);
  for (i = 0; i < 4; i++) sum[i] = _mm256_blendv_pd(rest[i], sum[i], enough);
}

static void blend_rows(const sk_batch *batch, const sk_source_lanes *sources, size_t j, __m256d rows[2][ROWS]) {
  const sk_compiled *first = sources[0].clip;
  bool turns = !(batch->shared[j] & 1 << SK_PART_ROTATION);
  __m256 t[3], scale[3];
  __m256d q[4];
  sk_mix mixes[SK_SOURCES];
  size_t k;
  int half, i;
  blend_part(batch, sources, SK_PART_TRANSLATION, j, t);
  blend_part(batch, sources, SK_PART_SCALE, j, scale);
  for (k = 0; turns && k < batch->source_count; k++)
    source_mix(&sources[k], j, batch->job->sampling->rotation, &mixes[k]);
  for (half = 0; half < 2; half++) {
    if (turns) blend_rotation(batch, mixes, j, half, q);
    else
      for (i = 0; i < 4; i++) q[i] = _mm256_set1_pd(first->rotation[4 * j + (size_t)i]);
    if (half) sk_rows_half(q, t, scale, 1, rows[1]);
    else sk_rows_half(q, t, scale, 0, rows[0]);
    if (batch->shared[j] & SK_SHARED_ODD) blend_odd(batch, sources, j, half, rows[half]);
  }
}

bool SK_KERNEL(sk_batch_blend_joint)(const sk_batch *batch, const sk_source_lanes *sources, size_t j, __m256d rows[2][ROWS]) {
  if ((batch->shared[j] & SK_SHARED_PARTS) == SK_SHARED_PARTS) return false;
  blend_rows(batch, sources, j, rows);
  return true;
}

/* ---- the same in float ------------------------------------------------------------------------------------- */

#define CLEAR_COSINE 1e-3f /* rotations nearer to a half turn from the reference get their sign in double */
#define CLEAR_LENGTH 0.25f /* squared, of a sum: of shorter ones float has lost digits */

/* The weighted sum of the rotations of a joint, its sk_rotation_factor, and the lanes, all bits of each set, in which it
   is as good as in double. */
typedef struct turn_sum {
  __m256 sum[4], two, clear;
} turn_sum;

/* The rotations of the joints of a pass, source by source. */
typedef sk_lane_rotation pass_turns[SK_PASS_NODES];

static void find_turns(const sk_batch *batch, const sk_source_lanes *source, uint32_t pass, sk_lane_rotation *turns) {
  const int32_t *movers = source->passes[pass].movers;
  uint32_t count = sk_pass_size((uint32_t)source->clip->joint_count, pass), n;
  SK_KERNEL(sk_sum_rotations)(source, pass, batch->job->sampling->rotation, turns);
  for (n = 0; n < count; n++)
    if (movers[n] == SK_NONE)
      set_part(source->clip, SK_PART_ROTATION, (size_t)pass * SK_PASS_NODES + n, turns[n].q);
}

/* Joint n of a pass; of just two sources the first one is the reference, of more it is rest. */
INLINE void sum_turn(const sk_batch *batch, pass_turns *turns, uint32_t n, const float *rest, turn_sum *out) {
  const __m256 no_sign = _mm256_set1_ps(-0.0f), zero = _mm256_setzero_ps();
  __m256 sum[4] = {zero, zero, zero, zero}, reference[4], squared, clear = _mm256_set1_ps(1.0f);
  size_t k;
  int i;
  for (i = 0; i < 4; i++) reference[i] = _mm256_set1_ps(rest[i]);
  for (k = 0; k < batch->source_count; k++) {
    const __m256 *one = turns[k][n].q;
    __m256 scale, cosine;
    for (i = 0; k == 0 && batch->source_count == 2 && i < 4; i++) reference[i] = one[i];
    scale = sk_inverse_root(sk_dot4(one, one));
    cosine = _mm256_mul_ps(sk_dot4(reference, one), scale);
    clear = _mm256_min_ps(_mm256_andnot_ps(no_sign, cosine), clear); /* what is no number gives 1: the sum is none */
    scale = _mm256_xor_ps(_mm256_mul_ps(_mm256_loadu_ps(batch->weights[k]), scale), _mm256_and_ps(cosine, no_sign));
    for (i = 0; i < 4; i++) sum[i] = _mm256_fmadd_ps(scale, one[i], sum[i]);
  }
  squared = sk_dot4(sum, sum);
  out->two = _mm256_div_ps(_mm256_set1_ps(2.0f), squared);
  out->clear = _mm256_and_ps(_mm256_cmp_ps(clear, _mm256_set1_ps(CLEAR_COSINE), _CMP_GT_OQ),
                             _mm256_cmp_ps(squared, _mm256_set1_ps(CLEAR_LENGTH), _CMP_GT_OQ));
  out->sum[0] = sum[0], out->sum[1] = sum[1], out->sum[2] = sum[2], out->sum[3] = sum[3];
}

static void sum_turns(const sk_batch *batch, const sk_source_lanes *sources, uint32_t pass, turn_sum *sums) {
  const float *rest = batch->job->skeleton->rotation + 4 * (size_t)pass * SK_PASS_NODES;
  uint32_t count = sk_pass_size((uint32_t)sources[0].clip->joint_count, pass), n;
  pass_turns turns[SK_SOURCES];
  size_t k;
  for (k = 0; k < batch->source_count; k++) find_turns(batch, &sources[k], pass, turns[k]);
  for (n = 0; n < count; n++) sum_turn(batch, turns, n, rest + 4 * (size_t)n, &sums[n]);
}

static void store_rows(const __m256 rows[ROWS], float *out) {
  int i;
  for (i = 0; i < ROWS; i++) _mm256_storeu_ps(out + SK_LANES * i, rows[i]);
}

static void blend_doubles(const sk_batch *batch, const sk_source_lanes *sources, size_t j, float *out) {
  __m256d halves[2][ROWS];
  int i;
  blend_rows(batch, sources, j, halves);
  for (i = 0; i < ROWS; i++) {
    _mm_storeu_ps(out + SK_LANES * i, _mm256_cvtpd_ps(halves[0][i]));
    _mm_storeu_ps(out + SK_LANES * i + SK_HALF, _mm256_cvtpd_ps(halves[1][i]));
  }
}

/* Lanes that are not `clear` over again in double: lane by lane, so that neighbors change nothing. */
static __attribute__((noinline)) void mend_lanes(const sk_batch *batch, const sk_source_lanes *sources, size_t j,
                                                 __m256 clear, float *out) {
  float right[ROWS * SK_LANES];
  int i;
  blend_doubles(batch, sources, j, right);
  for (i = 0; i < ROWS * SK_LANES; i += SK_LANES)
    _mm256_storeu_ps(out + i, _mm256_blendv_ps(_mm256_loadu_ps(right + i), _mm256_loadu_ps(out + i), clear));
}

/* The local of joint j, which is not shared as a whole; `turn` of its rotations. */
INLINE void blend_floats(const sk_batch *batch, const sk_source_lanes *sources, size_t j, const turn_sum *turn,
                         float *out) {
  uint8_t shared = batch->shared[j];
  bool turns = !(shared & 1 << SK_PART_ROTATION);
  __m256 t[3], q[4], s[3], rows[ROWS], *scale = shared & SK_SHARED_UNIT ? NULL : s;
  blend_part(batch, sources, SK_PART_TRANSLATION, j, t);
  if (scale) blend_part(batch, sources, SK_PART_SCALE, j, s);
  if (!turns) set_part(sources[0].clip, SK_PART_ROTATION, j, q);
  if (turns) sk_rows_from_rotation(t, turn->sum, turn->two, scale, rows);
  else sk_rows_from_trs(t, q, scale, rows);
  store_rows(rows, out);
  if (turns && _mm256_movemask_ps(turn->clear) != 0xff) mend_lanes(batch, sources, j, turn->clear, out);
}

uint32_t SK_KERNEL(sk_batch_blend_pass)(const sk_batch *batch, const sk_source_lanes *sources, uint32_t pass, float *out,
                             size_t stride) {
  const sk_compiled *c = sources[0].clip;
  uint32_t count = sk_pass_size((uint32_t)c->joint_count, pass), written = 0, n;
  turn_sum sums[SK_PASS_NODES];
  if (c->blends_all_in_float) sum_turns(batch, sources, pass, sums);
  for (n = 0; n < count; n++, out += stride) {
    size_t j = (size_t)pass * SK_PASS_NODES + n;
    uint8_t shared = batch->shared[j];
    if ((shared & SK_SHARED_PARTS) == SK_SHARED_PARTS) continue;
    if (!c->blends_all_in_float || shared & SK_SHARED_ODD) blend_doubles(batch, sources, j, out);
    else blend_floats(batch, sources, j, &sums[n], out);
    written |= 1u << n;
  }
  return written;
}

/* ---- weights ------------------------------------------------------------------------------------------------- */

void SK_KERNEL(sk_batch_set_weights)(sk_batch *batch, double weights[SK_SOURCES][SK_LANES]) {
  int lane;
  for (lane = 0; lane < SK_LANES; lane += SK_HALF) {
    __m256d sum = _mm256_setzero_pd();
    size_t k;
    for (k = 0; k < batch->source_count; k++) sum = _mm256_add_pd(sum, _mm256_loadu_pd(weights[k] + lane));
    for (k = 0; k < batch->source_count; k++) {
      __m256d share = _mm256_div_pd(_mm256_loadu_pd(weights[k] + lane), sum);
      __m128 rounded = _mm256_cvtpd_ps(share);
      _mm_storeu_ps(batch->weights[k] + lane, rounded);
      _mm_storeu_ps(batch->weight_rests[k] + lane, _mm256_cvtpd_ps(_mm256_sub_pd(share, _mm256_cvtps_pd(rounded))));
    }
  }
}

SK_KERNEL_END

#endif
