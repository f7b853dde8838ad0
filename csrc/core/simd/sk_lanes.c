/* sk_lanes.c: see sk_lanes.h. */
#include "sk_lanes.h"

#include <math.h>
#include <string.h>

#if SK_HAS_AVX2

SK_KERNEL_BEGIN

static __m128 cubic_cell(const float *key, const float *next, size_t third, const float weights[4]) {
  __m128 sum = _mm_mul_ps(_mm_set1_ps(weights[SK_IN]), _mm_loadu_ps(next));
  sum = _mm_fmadd_ps(_mm_set1_ps(weights[SK_NEXT]), _mm_loadu_ps(next + third), sum);
  sum = _mm_fmadd_ps(_mm_set1_ps(weights[SK_OUT]), _mm_loadu_ps(key + 2 * third), sum);
  return _mm_fmadd_ps(_mm_set1_ps(weights[SK_VALUE]), _mm_loadu_ps(key + third), sum);
}

void SK_KERNEL(sk_cubic_cells)(const sk_time_line *line, double time, float *cells) {
  uint32_t key = sk_time_line_find(line, time), i;
  size_t third = (size_t)line->cell_count * SK_CELL;
  const float *frame = line->frames + key * line->stride;
  bool last = key + 1 == line->key_count;
  double span = last ? 0.0 : line->times[key + 1] - line->times[key];
  float weights[4];
  sk_hermite(last ? 0.0 : fmax((time - line->times[key]) / span, 0.0), span, weights);
  for (i = 0; i < line->cell_count; i++, frame += SK_CELL, cells += SK_CELL) {
    __m128 value = cubic_cell(frame, frame + line->stride, third, weights);
    if (line->rotations[i] && !(_mm_cvtss_f32(_mm_dp_ps(value, value, 0xFF)) > SK_MIN_SQUARED_LENGTH))
      value = _mm_setr_ps(0.0f, 0.0f, 0.0f, 1.0f);
    _mm_storeu_ps(cells, value);
  }
}

bool SK_KERNEL(sk_mover_rests)(const sk_compiled *c, const sk_mover *mover, const sk_skeleton *skeleton,
                               const sk_key_span *spans) {
  size_t j = (size_t)mover->joint;
  const float *rest[SK_COMPONENT_COUNT] = {skeleton->translation + 3 * j, skeleton->rotation + 4 * j,
                                           skeleton->scale + 3 * j};
  const float *constants = c->constants + (size_t)(mover - c->movers) * SK_COMPONENT_COUNT * SK_CELL;
  int component;
  for (component = 0; component < SK_COMPONENT_COUNT; component++) {
    bool still = mover->lines[component] == SK_STILL;
    const sk_key_span *span = &spans[still ? 0 : mover->lines[component]];
    const float *a = still ? constants + component * SK_CELL : span->a + mover->offsets[component];
    size_t bytes = (component == SK_COMPONENT_ROTATION ? 4 : 3) * sizeof(float);
    if (memcmp(a, rest[component], bytes) != 0) return false;
    if (!still && span->u[SK_TO] > 0.0f && memcmp(a, a + span->stride, bytes) != 0) return false;
  }
  return true;
}

/* ---- eight joints of one pose -------------------------------------------------------------------- */

static inline void load_offsets(const float *frame, const uint32_t offsets[SK_LANES], __m256 out[4]) {
  sk_transpose(sk_pair(frame + offsets[0], frame + offsets[4]), sk_pair(frame + offsets[1], frame + offsets[5]),
               sk_pair(frame + offsets[2], frame + offsets[6]), sk_pair(frame + offsets[3], frame + offsets[7]), out);
}

static inline bool are_equal(const uint32_t lines[SK_LANES]) {
  __m256i all = _mm256_loadu_si256((const __m256i *)lines), first = _mm256_set1_epi32((int)lines[0]);
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(all, first)) == -1;
}

/* Lanes on lines of their own. */
static __attribute__((noinline)) void load_lines(const sk_octet *octet, sk_component component,
                                                 const sk_key_span *spans, __m256 a[4], __m256 b[4], __m256 u[4]) {
  const float *at[SK_LANES], *to[SK_LANES], *along[SK_LANES];
  int lane;
  for (lane = 0; lane < SK_LANES; lane++) {
    const sk_key_span *span = &spans[octet->lines[component][lane]];
    at[lane] = span->a + octet->offsets[component][lane];
    to[lane] = at[lane] + span->stride;
    along[lane] = span->u;
  }
  sk_load_cells(at, 0, a);
  sk_load_cells(to, 0, b);
  sk_load_cells(along, 0, u);
}

/* `u` gets one vector for each number of sk_key_span.u. Lanes that do not move get what stands first on line 0. */
static inline __attribute__((always_inline)) void load_ends(const sk_octet *octet, sk_component component,
                                                            const sk_key_span *spans, __m256 a[4], __m256 b[4],
                                                            __m256 u[4]) {
  const sk_key_span *span = &spans[octet->lines[component][0]];
  int i;
  if (!are_equal(octet->lines[component])) {
    load_lines(octet, component, spans, a, b, u);
    return;
  }
  load_offsets(span->a, octet->offsets[component], a);
  load_offsets(span->a + span->stride, octet->offsets[component], b);
  for (i = 0; i < 4; i++) u[i] = _mm256_set1_ps(span->u[i]);
}

/* Puts the constants of the lanes that do not move over what is there. */
static inline void hold_still(const sk_octet *octet, sk_component component, int count, __m256 *values) {
  __m256 still = _mm256_loadu_ps((const float *)octet->still[component]);
  int i;
  for (i = 0; i < count; i++)
    values[i] = _mm256_blendv_ps(values[i], _mm256_loadu_ps(octet->constants[component][i]), still);
}

static void octet_component(const sk_octet *octet, sk_component component, const sk_key_span *spans, __m256 *out) {
  __m256 a[4], b[4], u[4];
  if (!octet->moves[component]) {
    sk_load_constants(octet->constants[component], 3, out);
    return;
  }
  load_ends(octet, component, spans, a, b, u);
  sk_lerp(a, b, u[SK_TO], 3, out);
  hold_still(octet, component, 3, out);
}

static void octet_rotation(const sk_octet *octet, const sk_key_span *spans, sk_rotation rotation, sk_mix *mix) {
  __m256 u[4], dot, sign, still = _mm256_loadu_ps((const float *)octet->still[SK_COMPONENT_ROTATION]);
  sk_series from, to;
  if (!octet->moves[SK_COMPONENT_ROTATION]) {
    sk_load_constants(octet->constants[SK_COMPONENT_ROTATION], 4, mix->a);
    sk_mix_one(mix);
    return;
  }
  load_ends(octet, SK_COMPONENT_ROTATION, spans, mix->a, mix->b, u);
  hold_still(octet, SK_COMPONENT_ROTATION, 4, mix->a);
  hold_still(octet, SK_COMPONENT_ROTATION, 4, mix->b);
  from = sk_series_of(u[SK_FROM], u[SK_FROM_REST], rotation);
  to = sk_series_of(u[SK_TO], u[SK_TO_REST], rotation);
  dot = sk_dot4(mix->a, mix->b);
  sign = octet->half_turn ? sk_exact_sign(mix->a, mix->b) : sk_sign_of(dot);
  sk_near_weights(dot, sign, &from, &to, mix);
  if (octet->wide && rotation == SK_SLERP) {
    __m256 wa = mix->wa, wb = mix->wb, near = _mm256_loadu_ps((const float *)octet->near_rotation);
    sk_wide_weights(dot, sign, &from, &to, mix);
    mix->wa = _mm256_blendv_ps(mix->wa, wa, near);
    mix->wb = _mm256_blendv_ps(mix->wb, wb, near);
  }
  mix->wa = _mm256_blendv_ps(mix->wa, _mm256_set1_ps(1.0f), still);
  mix->wb = _mm256_andnot_ps(still, mix->wb);
}

void SK_KERNEL(sk_octet_components)(const sk_octet *octet, const sk_key_span *spans, sk_rotation rotation, __m256 t[3],
                                    sk_mix *mix, __m256 s[3]) {
  octet_component(octet, SK_COMPONENT_TRANSLATION, spans, t);
  octet_rotation(octet, spans, rotation, mix);
  octet_component(octet, SK_COMPONENT_SCALE, spans, s);
}

void SK_KERNEL(sk_find_key_spans)(const sk_clip *clip, double time, float *cubic, sk_key_span *spans) {
  const sk_compiled *c = clip->compiled;
  uint32_t i;
  for (i = 0; i < c->line_count; i++) sk_find_key_span(&c->lines[i], time, clip->key_tolerance, cubic, &spans[i]);
}

SK_KERNEL_END

#endif
