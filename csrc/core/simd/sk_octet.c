/* sk_octet.c: see sk_octet.h. */
#include "sk_octet.h"

#if SK_HAS_KERNELS

SK_KERNEL_BEGIN

/* Loads the cells of eight lanes from one frame. */
static inline void load_offsets(const float *frame, const uint32_t offsets[SK_LANES], sk_f8 out[4]) {
  f8_transpose(sk_pair(frame + offsets[0], frame + offsets[4]), sk_pair(frame + offsets[1], frame + offsets[5]),
               sk_pair(frame + offsets[2], frame + offsets[6]), sk_pair(frame + offsets[3], frame + offsets[7]), out);
}

/* What load_ends does where the lanes stand on different time lines. */
static __attribute__((noinline)) void load_lines(const sk_octet *octet, sk_component component,
                                                 const sk_key_span *spans, sk_f8 a[4], sk_f8 b[4], sk_f8 u[4]) {
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
                                                            const sk_key_span *spans, sk_f8 a[4], sk_f8 b[4],
                                                            sk_f8 u[4]) {
  const sk_key_span *span = &spans[octet->lines[component][0]];
  int i;
  if (!sk_all_equal(octet->lines[component])) {
    load_lines(octet, component, spans, a, b, u);
    return;
  }
  load_offsets(span->a, octet->offsets[component], a);
  load_offsets(span->a + span->stride, octet->offsets[component], b);
  for (i = 0; i < 4; i++) u[i] = f8_set(span->u[i]);
}

/* Overwrites still lanes with their constants. */
static inline void hold_still(const sk_octet *octet, sk_component component, int count, sk_f8 *values) {
  sk_f8 still = f8_load((const float *)octet->still[component]);
  int i;
  for (i = 0; i < count; i++) values[i] = f8_blend(values[i], f8_load(octet->constants[component][i]), still);
}

static void octet_component(const sk_octet *octet, sk_component component, const sk_key_span *spans, sk_f8 *out) {
  sk_f8 a[4], b[4], u[4];
  if (!octet->moves[component]) {
    sk_load_constants(octet->constants[component], 3, out);
    return;
  }
  load_ends(octet, component, spans, a, b, u);
  sk_lerp(a, b, u[SK_TO], 3, out);
  hold_still(octet, component, 3, out);
}

static void octet_rotation(const sk_octet *octet, const sk_key_span *spans, sk_rotation rotation, sk_mix *mix) {
  sk_f8 u[4], dot, sign, still = f8_load((const float *)octet->still[SK_COMPONENT_ROTATION]);
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
    sk_f8 wa = mix->wa, wb = mix->wb, near = f8_load((const float *)octet->near_rotation);
    sk_wide_weights(dot, sign, &from, &to, mix);
    mix->wa = f8_blend(mix->wa, wa, near);
    mix->wb = f8_blend(mix->wb, wb, near);
  }
  mix->wa = f8_blend(mix->wa, f8_set(1.0f), still);
  mix->wb = f8_clear(still, mix->wb);
}

void SK_KERNEL(sk_octet_components)(const sk_octet *octet, const sk_key_span *spans, sk_rotation rotation, sk_f8 t[3],
                                    sk_mix *mix, sk_f8 s[3]) {
  octet_component(octet, SK_COMPONENT_TRANSLATION, spans, t);
  octet_rotation(octet, spans, rotation, mix);
  octet_component(octet, SK_COMPONENT_SCALE, spans, s);
}

SK_KERNEL_END

#endif
