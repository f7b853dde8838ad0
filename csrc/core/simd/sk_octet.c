/* sk_octet.c: see sk_octet.h. */
#include "sk_octet.h"

#if SK_HAS_AVX2

SK_KERNEL_BEGIN

/* Loads the cells of eight lanes from one frame. */
static inline void load_offsets(const float *frame, const uint32_t offsets[SK_LANES], __m256 out[4]) {
  sk_transpose(sk_pair(frame + offsets[0], frame + offsets[4]), sk_pair(frame + offsets[1], frame + offsets[5]),
               sk_pair(frame + offsets[2], frame + offsets[6]), sk_pair(frame + offsets[3], frame + offsets[7]), out);
}

static inline bool are_equal(const uint32_t lines[SK_LANES]) {
  __m256i all = _mm256_loadu_si256((const __m256i *)lines), first = _mm256_set1_epi32((int)lines[0]);
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(all, first)) == -1;
}

/* What load_ends does where the lanes stand on different time lines. */
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

/* Loads the frames before and after the time, and one vector for each number of sk_key_span.u. Still lanes get what
   stands first on time line 0. */
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

/* Overwrites still lanes with their constants. */
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

SK_KERNEL_END

#endif
