/* sk_eight_avx2.c: see sk_eight.h. */
#include "sk_eight.h"

#if SK_HAS_AVX2
#include <float.h>
#include <math.h>
#include <string.h>

SK_AVX2_BEGIN

#define ROWS SK_ROWS
#define HALF 4                        /* lanes of a vector of double */
#define GLOBAL_LANES (2 * ROWS * HALF) /* numbers of eight globals */

/* A line at eight times. */
typedef struct line_lanes {
  const float *a[SK_LANES]; /* frames at or before; the next ones are `stride` floats on */
  size_t stride;            /* 0 where nothing is to be mixed */
  size_t third;             /* cubic lines: floats from in-tangents to values to out-tangents; else 0 */
  __m256 u[4];              /* one vector for each number of sk_place.u, or the weights of sk_hermite */
  sk_series from, to;       /* where the line has rotations */
} line_lanes;

typedef struct source_lanes {
  const sk_compiled *clip;
  line_lanes *lines;
  sk_place *places; /* (8, lines), where a mover is odd */
  float *cubic;     /* (8, cubic_floats) */
} source_lanes;

typedef struct eight_scratch {
  double *front;   /* (2, 12, 4) */
  double *globals; /* (J, 2, 12, 4) */
  source_lanes sources[SK_SOURCES];
  size_t bytes;
} eight_scratch;

static uintptr_t take(uintptr_t *at, size_t bytes) {
  uintptr_t start = *at;
  *at += (bytes + 31) / 32 * 32;
  return start;
}

static eight_scratch lay_out(const sk_compiled *const *clips, size_t count, uintptr_t memory) {
  eight_scratch s;
  uintptr_t at = memory;
  size_t k;
  memset(&s, 0, sizeof s);
  s.front = (double *)take(&at, GLOBAL_LANES * sizeof(double));
  s.globals = (double *)take(&at, (size_t)clips[0]->joint_count * GLOBAL_LANES * sizeof(double));
  for (k = 0; k < count; k++) {
    const sk_compiled *c = clips[k];
    s.sources[k].clip = c;
    s.sources[k].lines = (line_lanes *)take(&at, c->line_count * sizeof(line_lanes));
    s.sources[k].places = (sk_place *)take(&at, c->odd_count ? c->line_count * SK_LANES * sizeof(sk_place) : 0);
    s.sources[k].cubic = (float *)take(&at, SK_LANES * c->cubic_floats * sizeof(float));
  }
  s.bytes = at - memory;
  return s;
}

size_t sk_eight_scratch(const sk_compiled *const *clips, size_t source_count) {
  return lay_out(clips, source_count, 0).bytes;
}

size_t sk_eight_most_scratch(const sk_clip *clips, size_t clip_count, size_t source_count) {
  size_t most = 0, shared = 0, i;
  for (i = 0; i < clip_count; i++) {
    const sk_compiled *c = clips[i].compiled;
    size_t bytes = c ? lay_out(&c, 1, 0).bytes : 0;
    if (c) shared = (1 + (size_t)c->joint_count) * GLOBAL_LANES * sizeof(double);
    if (bytes > most) most = bytes;
  }
  return most ? shared + source_count * (most - shared) : 0;
}

/* ---- times ------------------------------------------------------------------------------------------------- */

/* As sk_clip.c has it, operation by operation. */
static __m256d wrapped(__m256d time, double duration) {
  const __m256d d = _mm256_set1_pd(duration), zero = _mm256_setzero_pd(), no_sign = _mm256_set1_pd(-0.0);
  __m256d turns = _mm256_div_pd(time, d);
  __m256d nearest = _mm256_round_pd(turns, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256d miss = _mm256_andnot_pd(no_sign, _mm256_sub_pd(time, _mm256_mul_pd(nearest, d)));
  __m256d slack = _mm256_mul_pd(_mm256_set1_pd(4.0 * DBL_EPSILON), _mm256_andnot_pd(no_sign, time));
  __m256d tau = _mm256_sub_pd(time, _mm256_mul_pd(_mm256_floor_pd(turns), d));
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

/* sk_along, four lanes at once. */
static void along_four(__m256d u, __m128 out[4]) {
  __m256d back = _mm256_sub_pd(_mm256_set1_pd(1.0), u);
  out[SK_TO] = _mm256_cvtpd_ps(u);
  out[SK_TO_REST] = _mm256_cvtpd_ps(_mm256_sub_pd(u, _mm256_cvtps_pd(out[SK_TO])));
  out[SK_FROM] = _mm256_cvtpd_ps(back);
  out[SK_FROM_REST] = _mm256_cvtpd_ps(_mm256_sub_pd(back, _mm256_cvtps_pd(out[SK_FROM])));
}

/* sk_hermite, four lanes at once. */
static void hermite_four(__m256d u, __m256d span, __m128 out[4]) {
  const __m256d two = _mm256_set1_pd(2.0), three = _mm256_set1_pd(3.0);
  __m256d u2 = _mm256_mul_pd(u, u), u3 = _mm256_mul_pd(u2, u), back = _mm256_sub_pd(u3, u2);
  __m256d next = _mm256_sub_pd(_mm256_mul_pd(three, u2), _mm256_mul_pd(two, u3));
  out[SK_VALUE] = _mm256_cvtpd_ps(_mm256_sub_pd(_mm256_set1_pd(1.0), next));
  out[SK_NEXT] = _mm256_cvtpd_ps(next);
  out[SK_OUT] = _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_add_pd(_mm256_sub_pd(back, u2), u), span));
  out[SK_IN] = _mm256_cvtpd_ps(_mm256_mul_pd(back, span));
}

/* Four lanes of an even line (sk_line_find, without branches): how far they are on to the next keys, and how many
   seconds those lie behind; both 0 from the last key on. */
static __m256d find_four(const sk_line *line, __m256d time, double tolerance, const float **frames, __m256d *span) {
  __m256d limit = _mm256_add_pd(time, _mm256_set1_pd(tolerance)), first = _mm256_set1_pd(line->times[0]), next, here;
  __m256d part = _mm256_mul_pd(_mm256_sub_pd(limit, first), _mm256_set1_pd(line->bucket_scale));
  __m128i key;
  __m256i offset;
  part = _mm256_min_pd(_mm256_max_pd(part, _mm256_setzero_pd()), _mm256_set1_pd(line->bucket_count - 1));
  key = _mm_i32gather_epi32((const int *)line->buckets, _mm256_cvttpd_epi32(part), 4);
  for (;;) {
    __m256d further;
    next = _mm256_i32gather_pd(line->times + 1, key, 8);
    further = _mm256_cmp_pd(next, limit, _CMP_LE_OQ);
    if (_mm256_testz_pd(further, further)) break;
    key = _mm_sub_epi32(key, _mm_castps_si128(_mm_shuffle_ps(_mm_castpd_ps(_mm256_castpd256_pd128(further)),
                                                             _mm_castpd_ps(_mm256_extractf128_pd(further, 1)), 0x88)));
  }
  offset = _mm256_mul_epu32(_mm256_cvtepu32_epi64(key), _mm256_set1_epi64x((long long)(line->stride * sizeof(float))));
  offset = _mm256_add_epi64(offset, _mm256_set1_epi64x((long long)(intptr_t)line->frames));
  _mm256_storeu_si256((__m256i *)frames, offset);
  here = _mm256_i32gather_pd(line->times, key, 8); /* behind the last key lies infinity: u is 0 there */
  *span = _mm256_sub_pd(next, here);
  part = _mm256_div_pd(_mm256_sub_pd(time, here), *span);
  *span = _mm256_and_pd(*span, _mm256_cmp_pd(next, _mm256_set1_pd(INFINITY), _CMP_LT_OQ));
  return line->interpolation == SK_STEP ? _mm256_setzero_pd() : _mm256_max_pd(part, _mm256_setzero_pd());
}

static void find_eight(const sk_line *line, const __m256d times[2], double tolerance, line_lanes *found) {
  __m128 halves[2][4];
  int half, i;
  for (half = 0; half < 2; half++) {
    __m256d span, u = find_four(line, times[half], tolerance, found->a + HALF * half, &span);
    if (line->interpolation == SK_CUBIC) hermite_four(u, span, halves[half]);
    else along_four(u, halves[half]);
  }
  for (i = 0; i < 4; i++) found->u[i] = _mm256_set_m128(halves[1][i], halves[0][i]);
  found->stride = line->stride;
  found->third = line->interpolation == SK_CUBIC ? (size_t)line->cell_count * SK_CELL : 0;
}

static void find_one_by_one(const sk_line *line, const sk_clip *clip, const __m256d times[2], source_lanes *source,
                            size_t number, line_lanes *found) {
  float along[SK_LANES][4];
  const float *at[SK_LANES];
  double time[SK_LANES];
  sk_place place = {0};
  size_t lane;
  _mm256_storeu_pd(time, times[0]);
  _mm256_storeu_pd(time + HALF, times[1]);
  for (lane = 0; lane < SK_LANES; lane++) {
    sk_find_place(line, time[lane], clip->key_tolerance, source->cubic + lane * source->clip->cubic_floats, &place);
    if (source->clip->odd_count) source->places[lane * source->clip->line_count + number] = place;
    found->a[lane] = place.a;
    memcpy(along[lane], place.u, sizeof along[lane]);
    at[lane] = along[lane];
  }
  found->stride = place.stride;
  found->third = 0; /* the cells of a cubic line have been made */
  sk_load_cells(at, 0, found->u);
}

static void find_lines(const sk_clip *clip, const __m256d times[2], sk_rotation rotation, source_lanes *source) {
  const sk_compiled *c = source->clip;
  uint32_t i;
  for (i = 0; i < c->line_count; i++) {
    const sk_line *line = &c->lines[i];
    line_lanes *found = &source->lines[i];
    if (line->even && !c->odd_count) {
      find_eight(line, times, line->interpolation == SK_STEP ? clip->key_tolerance : 0.0, found);
    } else {
      find_one_by_one(line, clip, times, source, i, found);
    }
    if (!line->turns || found->third) continue;
    found->from = sk_series_of(found->u[SK_FROM], found->u[SK_FROM_REST], rotation);
    found->to = sk_series_of(found->u[SK_TO], found->u[SK_TO_REST], rotation);
  }
}

/* ---- locals ------------------------------------------------------------------------------------------------- */

static void load_ends(const line_lanes *line, size_t offset, __m256 a[4], __m256 b[4]) {
  sk_load_cells(line->a, offset, a);
  sk_load_cells(line->a, offset + line->stride, b);
}

static void cubic_lanes(const line_lanes *line, size_t offset, int count, __m256 *out) {
  __m256 value[4], tangent[4], next[4], next_tangent[4];
  int i;
  sk_load_cells(line->a, offset + line->third, value);
  sk_load_cells(line->a, offset + 2 * line->third, tangent);
  sk_load_cells(line->a, offset + line->stride + line->third, next);
  sk_load_cells(line->a, offset + line->stride, next_tangent);
  for (i = 0; i < count; i++) {
    __m256 sum = _mm256_mul_ps(line->u[SK_IN], next_tangent[i]);
    sum = _mm256_fmadd_ps(line->u[SK_NEXT], next[i], sum);
    sum = _mm256_fmadd_ps(line->u[SK_OUT], tangent[i], sum);
    out[i] = _mm256_fmadd_ps(line->u[SK_VALUE], value[i], sum);
  }
}

static void cubic_rotation(const line_lanes *line, size_t offset, __m256 q[4]) {
  __m256 turns;
  int i;
  cubic_lanes(line, offset, 4, q);
  turns = _mm256_cmp_ps(sk_dot4(q, q), _mm256_set1_ps(SK_SHORTEST), _CMP_GT_OQ);
  for (i = 0; i < 4; i++) q[i] = _mm256_blendv_ps(_mm256_set1_ps(i == 3 ? 1.0f : 0.0f), q[i], turns);
}

static void mover_part(const sk_mover *mover, sk_part part, const line_lanes *lines, const float *cell, __m256 *out) {
  __m256 a[4], b[4];
  const line_lanes *line;
  int i;
  if (mover->lines[part] == SK_STILL) {
    for (i = 0; i < 3; i++) out[i] = _mm256_set1_ps(cell[i]);
    return;
  }
  line = &lines[mover->lines[part]];
  if (line->third) {
    cubic_lanes(line, mover->offsets[part], 3, out);
    return;
  }
  load_ends(line, mover->offsets[part], a, b);
  sk_lerp(a, b, line->u[SK_TO], 3, out);
}

static void mover_rotation(const sk_mover *mover, const line_lanes *lines, const float *cell, sk_rotation rotation,
                           __m256 q[4]) {
  __m256 a[4], b[4], sign;
  const line_lanes *line;
  int i;
  if (mover->lines[SK_PART_ROTATION] == SK_STILL) {
    for (i = 0; i < 4; i++) q[i] = _mm256_set1_ps(cell[i]);
    return;
  }
  line = &lines[mover->lines[SK_PART_ROTATION]];
  if (line->third) {
    cubic_rotation(line, mover->offsets[SK_PART_ROTATION], q);
    return;
  }
  load_ends(line, mover->offsets[SK_PART_ROTATION], a, b);
  sign = mover->half_turn ? sk_exact_sign(a, b) : sk_sign_of(sk_dot4(a, b));
  if (mover->wide && rotation == SK_SLERP) sk_slerp_wide(a, b, sign, &line->from, &line->to, q);
  else sk_slerp_near(a, b, sign, &line->from, &line->to, q);
}

static void mover_trs(const source_lanes *source, int32_t number, sk_rotation rotation, __m256 t[3], __m256 q[4],
                      __m256 s[3]) {
  const sk_mover *mover = &source->clip->movers[number];
  const float *cells = source->clip->constants + (size_t)number * SK_PART_COUNT * SK_CELL;
  mover_part(mover, SK_PART_TRANSLATION, source->lines, cells, t);
  mover_rotation(mover, source->lines, cells + SK_CELL, rotation, q);
  if (!mover->unit_scale) mover_part(mover, SK_PART_SCALE, source->lines, cells + 2 * SK_CELL, s);
}

/* Lanes at rest whose rest matrix holds more than T, R and S do. */
static void odd_lanes(const source_lanes *source, const sk_mover *mover, const sk_skeleton *skeleton,
                      float local[ROWS][SK_LANES]) {
  const float *rest = skeleton->rest_local + 16 * (size_t)mover->joint;
  const sk_place *places = source->places;
  int lane, i;
  for (lane = 0; lane < SK_LANES; lane++, places += source->clip->line_count) {
    if (!sk_mover_rests(source->clip, mover, skeleton, places)) continue;
    for (i = 0; i < ROWS; i++) local[i][lane] = rest[i];
  }
}

static void store_local(const __m256 rows[ROWS], float local[ROWS][SK_LANES]) {
  int i;
  for (i = 0; i < ROWS; i++) _mm256_storeu_ps(local[i], rows[i]);
}

static inline void load_local(const float local[ROWS][SK_LANES], __m256 rows[ROWS]) {
  int i;
  for (i = 0; i < ROWS; i++) rows[i] = _mm256_loadu_ps(local[i]);
}

static inline void mover_rows(const sk_eight *eight, const source_lanes *source, int32_t number, __m256 rows[ROWS]) {
  const sk_mover *mover = &source->clip->movers[number];
  __m256 t[3], q[4], s[3];
  float local[ROWS][SK_LANES];
  mover_trs(source, number, eight->job->sampling->rotation, t, q, s);
  sk_rows_from_trs(t, q, mover->unit_scale ? NULL : s, rows);
  if (!mover->odd) return;
  store_local(rows, local);
  odd_lanes(source, mover, eight->job->skeleton, local);
  load_local(local, rows);
}

static void mover_local(const sk_eight *eight, const source_lanes *source, int32_t number,
                        float local[ROWS][SK_LANES]) {
  __m256 rows[ROWS];
  mover_rows(eight, source, number, rows);
  store_local(rows, local);
}

/* ---- blended locals --------------------------------------------------------------------------------------------- */

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
static void source_part(const source_lanes *source, sk_part part, size_t j, sk_rotation rotation, __m256 *out) {
  const sk_compiled *c = source->clip;
  int32_t number = c->mover_of[j];
  if (number == SK_NONE || c->movers[number].lines[part] == SK_STILL) {
    set_part(c, part, j, out);
  } else if (part != SK_PART_ROTATION) {
    mover_part(&c->movers[number], part, source->lines, NULL, out);
  } else {
    mover_rotation(&c->movers[number], source->lines, NULL, rotation, out);
    sk_normalize(out);
  }
}

static bool part_moves(const sk_compiled *c, sk_part part, size_t j) {
  return c->mover_of[j] != SK_NONE && c->movers[c->mover_of[j]].lines[part] != SK_STILL;
}

/* Whether a part of joint j has the same bits in all sources at all times: then it is not summed, because joints
   of a chain would share the rounding. */
static bool part_is_still(const eight_scratch *s, size_t count, sk_part part, size_t j) {
  size_t bytes = (part == SK_PART_ROTATION ? 4 : 3) * sizeof(float), k;
  for (k = 0; k < count; k++) {
    const sk_compiled *c = s->sources[k].clip;
    if (part_moves(c, part, j) || memcmp(part_of(c, part, j), part_of(s->sources[0].clip, part, j), bytes) != 0)
      return false;
  }
  return true;
}

static bool source_rests(const source_lanes *source, size_t j, const sk_skeleton *skeleton, size_t lane) {
  const sk_compiled *c = source->clip;
  int32_t number = c->mover_of[j];
  if (number != SK_NONE) /* places are kept where a mover is odd, and those of one joint all are */
    return c->movers[number].odd &&
           sk_mover_rests(c, &c->movers[number], skeleton, source->places + lane * c->line_count);
  return memcmp(c->translation + 3 * j, skeleton->translation + 3 * j, 3 * sizeof(float)) == 0 &&
         memcmp(c->rotation + 4 * j, skeleton->rotation + 4 * j, 4 * sizeof(float)) == 0 &&
         memcmp(c->scale + 3 * j, skeleton->scale + 3 * j, 3 * sizeof(float)) == 0;
}

static void blend_odd(const sk_eight *eight, const eight_scratch *s, size_t j, float local[ROWS][SK_LANES]) {
  const sk_skeleton *skeleton = eight->job->skeleton;
  size_t lane, k, i;
  for (lane = 0; lane < SK_LANES; lane++) {
    for (k = 0; k < eight->source_count && source_rests(&s->sources[k], j, skeleton, lane); k++) {}
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
static void blend_three(const sk_eight *eight, const eight_scratch *s, sk_part part, size_t j, __m256 sum[3]) {
  __m256 one[3];
  size_t k;
  sum[0] = sum[1] = sum[2] = _mm256_setzero_ps();
  for (k = 0; k < eight->source_count; k++) {
    source_part(&s->sources[k], part, j, eight->job->sampling->rotation, one);
    add_weighted(_mm256_loadu_ps(eight->weights[k]), _mm256_loadu_ps(eight->weight_rests[k]), one, 3, sum);
  }
}

/* The weighted sum of rotations: of just two the one is turned to the other, of more all to rest. */
static void blend_rotation(const sk_eight *eight, const eight_scratch *s, size_t j, __m256 sum[4]) {
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
    source_part(&s->sources[k], SK_PART_ROTATION, j, eight->job->sampling->rotation, one);
    for (i = 0; k == 0 && eight->source_count == 2 && i < 4; i++) reference[i] = one[i];
    sign = sign_against(reference, one);
    add_weighted(_mm256_xor_ps(_mm256_loadu_ps(eight->weights[k]), sign),
                 _mm256_xor_ps(_mm256_loadu_ps(eight->weight_rests[k]), sign), one, 4, sum);
  }
  enough = _mm256_cmp_ps(sk_dot4(sum, sum), _mm256_set1_ps(SK_POINTS_NOWHERE), _CMP_GT_OQ);
  for (i = 0; i < 4; i++) sum[i] = _mm256_blendv_ps(rest[i], sum[i], enough);
}

static bool some_source_is_odd(const sk_eight *eight, const eight_scratch *s, size_t j) {
  size_t k;
  for (k = 0; k < eight->source_count; k++) {
    const sk_compiled *c = s->sources[k].clip;
    if (c->odd_count && c->mover_of[j] != SK_NONE && c->movers[c->mover_of[j]].odd) return true;
  }
  return false;
}

static void blend_rows(const sk_eight *eight, const eight_scratch *s, size_t j, const bool still[SK_PART_COUNT],
                       __m256 rows[ROWS]) {
  const sk_compiled *first = s->sources[0].clip;
  __m256 t[3], q[4], scale[3];
  float local[ROWS][SK_LANES];
  int i;
  if (still[SK_PART_TRANSLATION]) set_part(first, SK_PART_TRANSLATION, j, t);
  else blend_three(eight, s, SK_PART_TRANSLATION, j, t);
  if (still[SK_PART_ROTATION]) set_part(first, SK_PART_ROTATION, j, q);
  else blend_rotation(eight, s, j, q);
  if (still[SK_PART_SCALE]) set_part(first, SK_PART_SCALE, j, scale);
  else blend_three(eight, s, SK_PART_SCALE, j, scale);
  sk_rows_from_trs(t, q, scale, rows);
  if (!some_source_is_odd(eight, s, j)) return;
  store_local(rows, local);
  blend_odd(eight, s, j, local);
  for (i = 0; i < ROWS; i++) rows[i] = _mm256_loadu_ps(local[i]);
}

/* ---- globals -------------------------------------------------------------------------------------------------- */

static void multiply(const double *a, const __m256d b[ROWS], double *out) {
  int row, column;
  for (row = 0; row < 3; row++, a += 4 * HALF, out += 4 * HALF) {
    __m256d a0 = _mm256_loadu_pd(a), a1 = _mm256_loadu_pd(a + HALF), a2 = _mm256_loadu_pd(a + 2 * HALF);
    for (column = 0; column < 4; column++) {
      __m256d sum = _mm256_mul_pd(a0, b[column]);
      sum = _mm256_fmadd_pd(a1, b[4 + column], sum);
      sum = _mm256_fmadd_pd(a2, b[8 + column], sum);
      if (column == 3) sum = _mm256_add_pd(sum, _mm256_loadu_pd(a + 3 * HALF));
      _mm256_storeu_pd(out + HALF * column, sum);
    }
  }
}

/* From the locals of eight lanes or, where they are NULL, from one for all. `above` NULL: the local itself. */
static void chain(const float local[ROWS][SK_LANES], const double *same, const double *above, double *global) {
  int half, i;
  for (half = 0; half < 2; half++, global += ROWS * HALF) {
    __m256d rows[ROWS];
    for (i = 0; i < ROWS; i++)
      rows[i] = local ? _mm256_cvtps_pd(_mm_loadu_ps(&local[i][HALF * half])) : _mm256_set1_pd(same[i]);
    if (above) {
      multiply(above + half * ROWS * HALF, rows, global);
      continue;
    }
    for (i = 0; i < ROWS; i++) _mm256_storeu_pd(global + HALF * i, rows[i]);
  }
}

static const double *front_of(const sk_eight *eight, double *front) {
  double one[ROWS];
  size_t lane, i;
  for (lane = 0; lane < SK_LANES; lane++) {
    if (!sk_palette_front(eight->job, eight->number[lane], one)) return NULL;
    for (i = 0; i < ROWS; i++) front[lane / HALF * (ROWS * HALF) + HALF * i + lane % HALF] = one[i];
  }
  return front;
}

/* ---- results -------------------------------------------------------------------------------------------------- */

static void to_float(const double *global, __m256 rows[ROWS]) {
  int i;
  for (i = 0; i < ROWS; i++)
    rows[i] = _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(global + ROWS * HALF + HALF * i)),
                              _mm256_cvtpd_ps(_mm256_loadu_pd(global + HALF * i)));
}

static inline void store_lanes(const sk_eight *eight, size_t offset, const __m256 rows[ROWS], size_t lanes) {
  size_t lane;
  int row;
  for (row = 0; row < 3; row++, offset += 4) {
    __m256 turned[4];
    sk_turn(rows[4 * row], rows[4 * row + 1], rows[4 * row + 2], rows[4 * row + 3], turned);
    for (lane = 0; lane < HALF; lane++) {
      if (lane < lanes) _mm_storeu_ps(eight->out[lane] + offset, _mm256_castps256_ps128(turned[lane]));
      if (lane + HALF < lanes) _mm_storeu_ps(eight->out[lane + HALF] + offset, _mm256_extractf128_ps(turned[lane], 1));
    }
  }
  if (eight->job->affine) return;
  for (lane = 0; lane < lanes; lane++) _mm_storeu_ps(eight->out[lane] + offset, _mm_setr_ps(0.0f, 0.0f, 0.0f, 1.0f));
}

static void store_rows(const sk_eight *eight, size_t number, const __m256 rows[ROWS]) {
  size_t offset = number * (eight->job->affine ? 12 : 16);
  if (eight->lanes == SK_LANES) store_lanes(eight, offset, rows, SK_LANES); /* without a branch for each lane */
  else store_lanes(eight, offset, rows, eight->lanes);
}

static void store_bind(const sk_eight *eight, const __m256 g[ROWS], const float *bind, int32_t slot) {
  __m256 rows[ROWS];
  int row, column;
  for (column = 0; column < 4; column++) {
    __m256 b0 = _mm256_set1_ps(bind[column]), b1 = _mm256_set1_ps(bind[4 + column]);
    __m256 b2 = _mm256_set1_ps(bind[8 + column]);
    for (row = 0; row < 3; row++) {
      __m256 sum = _mm256_mul_ps(g[4 * row], b0);
      sum = _mm256_fmadd_ps(g[4 * row + 1], b1, sum);
      sum = _mm256_fmadd_ps(g[4 * row + 2], b2, sum);
      rows[4 * row + column] = column == 3 ? _mm256_add_ps(sum, g[4 * row + 3]) : sum;
    }
  }
  store_rows(eight, (size_t)slot, rows);
}

static void store_positions(const sk_eight *eight, const double *global, size_t joint) {
  size_t lane, row;
  for (lane = 0; lane < eight->lanes; lane++)
    for (row = 0; row < 3; row++)
      eight->out[lane][3 * joint + row] =
          (float)global[lane / HALF * (ROWS * HALF) + (4 * row + 3) * HALF + lane % HALF];
}

static void store_joint(const sk_eight *eight, const double *global, size_t joint) {
  __m256 rows[ROWS];
  if (eight->job->result == SK_POSITIONS) {
    store_positions(eight, global, joint);
    return;
  }
  to_float(global, rows);
  store_rows(eight, joint, rows);
}

/* ---- short chains, in float -------------------------------------------------------------------------------- */

static inline void multiply_floats(const float *a, const __m256 b[ROWS], __m256 out[ROWS]) {
  int row, column;
  for (row = 0; row < 3; row++, a += 4 * SK_LANES) {
    __m256 a0 = _mm256_loadu_ps(a), a1 = _mm256_loadu_ps(a + SK_LANES), a2 = _mm256_loadu_ps(a + 2 * SK_LANES);
    for (column = 0; column < 4; column++) {
      __m256 sum = _mm256_mul_ps(a0, b[column]);
      sum = _mm256_fmadd_ps(a1, b[4 + column], sum);
      sum = _mm256_fmadd_ps(a2, b[8 + column], sum);
      out[4 * row + column] = column == 3 ? _mm256_add_ps(sum, _mm256_loadu_ps(a + 3 * SK_LANES)) : sum;
    }
  }
}

static void same_rows(const double *same, __m256 rows[ROWS]) {
  int i;
  for (i = 0; i < ROWS; i++) rows[i] = _mm256_set1_ps((float)same[i]);
}

/* From a local to its global, in `rows` and, where it is not NULL, in memory for the children. */
static inline void chain_floats(const float *above, const __m256 local[ROWS], __m256 rows[ROWS], float *global) {
  int i;
  if (above) multiply_floats(above, local, rows);
  else
    for (i = 0; i < ROWS; i++) rows[i] = local[i];
  for (i = 0; global && i < ROWS; i++) _mm256_storeu_ps(global + SK_LANES * i, rows[i]);
}

static const float *float_front(const double *front, float *out) {
  __m256 rows[ROWS];
  int i;
  if (!front) return NULL;
  to_float(front, rows);
  for (i = 0; i < ROWS; i++) _mm256_storeu_ps(out + SK_LANES * i, rows[i]);
  return out;
}

static void node_rows(const sk_eight *eight, const source_lanes *source, uint32_t number, float local[ROWS][SK_LANES]) {
  const sk_node *node = &source->clip->nodes[number];
  __m256 rows[ROWS];
  if (node->mover != SK_NONE) mover_rows(eight, source, node->mover, rows);
  else same_rows(source->clip->locals + (size_t)node->joint * ROWS, rows);
  store_local(rows, local);
}

/* Whether a node's rotation may be found together with that of another one of the same kind. */
static bool node_pairs(const source_lanes *source, uint32_t number, bool wide) {
  const sk_node *node = &source->clip->nodes[number];
  const sk_mover *mover = node->mover == SK_NONE ? NULL : &source->clip->movers[node->mover];
  return mover && !mover->odd && !mover->half_turn && mover->wide == wide &&
         mover->lines[SK_PART_ROTATION] != SK_STILL && !source->lines[mover->lines[SK_PART_ROTATION]].third;
}

/* Two rotations, each step of both before the next one: while the one waits for a result the other has work. */
static inline void slerp_two(const line_lanes *const line[2], const size_t offset[2], bool wide, __m256 q[2][4]) {
  __m256 a[2][4], b[2][4], x[2], sign[2], wa[2], wb[2];
  int k;
  for (k = 0; k < 2; k++) load_ends(line[k], offset[k], a[k], b[k]);
  for (k = 0; k < 2; k++) x[k] = sk_dot4(a[k], b[k]);
  for (k = 0; k < 2; k++) sign[k] = sk_sign_of(x[k]);
  for (k = 0; k < 2; k++) x[k] = _mm256_xor_ps(x[k], sign[k]);
  for (k = 0; wide && k < 2; k++) x[k] = sk_angle(x[k]);
  for (k = 0; !wide && k < 2; k++) x[k] = _mm256_sub_ps(x[k], _mm256_set1_ps(1.0f));
  for (k = 0; k < 2; k++) wa[k] = wide ? sk_sine_at(&line[k]->from, x[k]) : sk_series_at(&line[k]->from, x[k]);
  for (k = 0; k < 2; k++) wb[k] = wide ? sk_sine_at(&line[k]->to, x[k]) : sk_series_at(&line[k]->to, x[k]);
  for (k = 0; k < 2; k++) sk_weigh(a[k], b[k], wa[k], _mm256_xor_ps(wb[k], sign[k]), q[k]);
}

static void node_two_rows(const source_lanes *source, uint32_t number, bool wide, float local[2][ROWS][SK_LANES]) {
  const sk_mover *mover[2];
  const line_lanes *line[2];
  size_t offset[2];
  __m256 q[2][4];
  int k;
  for (k = 0; k < 2; k++) {
    mover[k] = &source->clip->movers[source->clip->nodes[number + (uint32_t)k].mover];
    line[k] = &source->lines[mover[k]->lines[SK_PART_ROTATION]];
    offset[k] = mover[k]->offsets[SK_PART_ROTATION];
  }
  if (wide) slerp_two(line, offset, true, q);
  else slerp_two(line, offset, false, q);
  for (k = 0; k < 2; k++) {
    const float *cells = source->clip->constants + (size_t)(mover[k] - source->clip->movers) * SK_PART_COUNT * SK_CELL;
    __m256 t[3], s[3], rows[ROWS];
    mover_part(mover[k], SK_PART_TRANSLATION, source->lines, cells, t);
    if (!mover[k]->unit_scale) mover_part(mover[k], SK_PART_SCALE, source->lines, cells + 2 * SK_CELL, s);
    sk_rows_from_trs(t, q[k], mover[k]->unit_scale ? NULL : s, rows);
    store_local(rows, local[k]);
  }
}

/* The locals of nodes start to end - 1. */
static void find_nodes(const sk_eight *eight, const source_lanes *source, uint32_t start, uint32_t end,
                       float (*locals)[ROWS][SK_LANES]) {
  bool slerp = eight->job->sampling->rotation == SK_SLERP;
  uint32_t i;
  for (i = start; i < end; i++, locals++) {
    bool wide = slerp && !node_pairs(source, i, false);
    if (slerp && i + 1 < end && node_pairs(source, i, wide) && node_pairs(source, i + 1, wide)) {
      node_two_rows(source, i++, wide, locals++);
    } else {
      node_rows(eight, source, i, *locals);
    }
  }
}

#define NODES 8 /* of a pass */

/* Some nodes are sampled before they are multiplied: the waits of a short piece of work overlap with those of the
   next one, those of a long piece do not. */
static void run_shallow(const sk_eight *eight, const eight_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  float first[ROWS * SK_LANES], *globals = (float *)s->globals, locals[NODES][ROWS][SK_LANES];
  const float *base = float_front(front, first);
  uint32_t i, b, start;
  for (start = 0; start < c->node_count; start += NODES) {
    uint32_t end = start + NODES < c->node_count ? start + NODES : c->node_count;
    find_nodes(eight, &s->sources[0], start, end, locals);
    for (i = start; i < end; i++) {
      const sk_node *node = &c->nodes[i];
      const float *above = node->parent == SK_NONE ? base : globals + (size_t)node->parent * ROWS * SK_LANES;
      __m256 local[ROWS], rows[ROWS];
      load_local(locals[i - start], local);
      chain_floats(above, local, rows, node->carries ? globals + (size_t)i * ROWS * SK_LANES : NULL);
      for (b = node->first; b < node->first + node->count; b++)
        store_bind(eight, rows, c->binds[b].rows, c->binds[b].slot);
    }
  }
}

/* ---- the run ------------------------------------------------------------------------------------------------------ */

static void run_palette(const sk_eight *eight, const eight_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  uint32_t i, b;
  for (i = 0; i < c->node_count; i++) {
    const sk_node *node = &c->nodes[i];
    double *global = s->globals + (size_t)i * GLOBAL_LANES;
    const double *above = node->parent == SK_NONE ? front : s->globals + (size_t)node->parent * GLOBAL_LANES;
    float local[ROWS][SK_LANES];
    __m256 rows[ROWS];
    if (node->mover != SK_NONE) mover_local(eight, &s->sources[0], node->mover, local);
    chain(node->mover != SK_NONE ? local : NULL, c->locals + (size_t)node->joint * ROWS, above, global);
    if (!node->count) continue;
    to_float(global, rows);
    for (b = node->first; b < node->first + node->count; b++)
      store_bind(eight, rows, c->binds[b].rows, c->binds[b].slot);
  }
}

static void run_joints(const sk_eight *eight, const eight_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  size_t j;
  for (j = 0; j < (size_t)c->joint_count; j++) {
    double *global = s->globals + j * GLOBAL_LANES;
    int32_t parent = eight->job->skeleton->parents[j], mover = c->mover_of[j];
    float local[ROWS][SK_LANES];
    if (mover != SK_NONE) mover_local(eight, &s->sources[0], mover, local);
    chain(mover != SK_NONE ? local : NULL, c->locals + j * ROWS,
          parent < 0 ? front : s->globals + (size_t)parent * GLOBAL_LANES, global);
    store_joint(eight, global, j);
  }
}

/* The blended local of joint j; false where it is one and the same in all sources: sk_compiled.locals. */
static bool find_blended(const sk_eight *eight, const eight_scratch *s, size_t j, __m256 rows[ROWS]) {
  bool still[SK_PART_COUNT], all = true;
  int part;
  for (part = 0; part < SK_PART_COUNT; part++) {
    still[part] = part_is_still(s, eight->source_count, (sk_part)part, j);
    all = all && still[part];
  }
  if (!all) blend_rows(eight, s, j, still, rows);
  return !all;
}

static void store_slots(const sk_eight *eight, const sk_compiled *c, size_t j, const __m256 rows[ROWS]) {
  int32_t slot;
  for (slot = c->first_slot[j]; slot != SK_NONE; slot = c->next_slot[slot])
    store_bind(eight, rows, eight->job->skin->inverse_bind + 16 * (size_t)slot, slot);
}

static void run_blended(const sk_eight *eight, const eight_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  size_t j;
  for (j = 0; j < (size_t)c->joint_count; j++) {
    double *global = s->globals + j * GLOBAL_LANES;
    int32_t parent = eight->job->skeleton->parents[j];
    const double *above = parent < 0 ? front : s->globals + (size_t)parent * GLOBAL_LANES;
    float local[ROWS][SK_LANES];
    __m256 rows[ROWS];
    bool moves = find_blended(eight, s, j, rows);
    if (moves) store_local(rows, local);
    chain(moves ? local : NULL, c->locals + j * ROWS, above, global);
    if (c->first_slot[j] == SK_NONE) continue;
    to_float(global, rows);
    store_slots(eight, c, j, rows);
  }
}

static void run_blended_shallow(const sk_eight *eight, const eight_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  float first[ROWS * SK_LANES], *globals = (float *)s->globals;
  const float *base = float_front(front, first);
  size_t j;
  for (j = 0; j < (size_t)c->joint_count; j++) {
    int32_t parent = eight->job->skeleton->parents[j];
    __m256 local[ROWS], rows[ROWS];
    if (!find_blended(eight, s, j, local)) same_rows(c->locals + j * ROWS, local);
    chain_floats(parent < 0 ? base : globals + (size_t)parent * ROWS * SK_LANES, local, rows,
                 globals + j * ROWS * SK_LANES);
    store_slots(eight, c, j, rows);
  }
}

void sk_eight_run(const sk_eight *eight, void *scratch) {
  const sk_compiled *clips[SK_SOURCES];
  eight_scratch s;
  const double *front;
  size_t k;
  for (k = 0; k < eight->source_count; k++) clips[k] = eight->clips[k]->compiled;
  s = lay_out(clips, eight->source_count, (uintptr_t)scratch);
  front = front_of(eight, s.front);
  for (k = 0; k < eight->source_count; k++) {
    __m256d times[2];
    local_times(eight->clips[k], eight->job->sampling->loop, eight->times[k], times);
    find_lines(eight->clips[k], times, eight->job->sampling->rotation, &s.sources[k]);
  }
  if (eight->source_count > 1 && clips[0]->all_shallow) run_blended_shallow(eight, &s, front);
  else if (eight->source_count > 1) run_blended(eight, &s, front);
  else if (eight->job->result == SK_PALETTE && clips[0]->shallow) run_shallow(eight, &s, front);
  else if (eight->job->result == SK_PALETTE) run_palette(eight, &s, front);
  else run_joints(eight, &s, front);
}

SK_AVX2_END

#endif
