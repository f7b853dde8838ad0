/* sk_sample_kernel.c: samples T, R and S of one pose, eight movers at a time. */
#include "sk_sample_kernel.h"

#include "sk_octet.h"

#if SK_HAS_KERNELS
#include <string.h>

SK_KERNEL_BEGIN

static sk_f4 lane_of(const sk_f8 transposed[4], uint32_t lane) {
  return lane < 4 ? f8_low(transposed[lane]) : f8_high(transposed[lane - 4]);
}

/* The key of a rotation where the time is exactly on a key or between two equal ones, which then keeps its bits; else
   NULL. */
static const float *rotation_key(const sk_octet *octet, const sk_key_span *spans, uint32_t lane) {
  const sk_key_span *span = &spans[octet->lines[SK_COMPONENT_ROTATION][lane]];
  const float *a = span->a + octet->offsets[SK_COMPONENT_ROTATION][lane];
  if (!span->stride) return NULL; /* cells of cubic lines are no keys */
  return span->u[SK_TO] == 0.0f || memcmp(a, a + span->stride, 4 * sizeof(float)) == 0 ? a : NULL;
}

static void store_octet(const sk_compiled *c, uint32_t number, const sk_key_span *spans, const sk_f8 t[3],
                        const sk_f8 q[4], const sk_f8 s[3], sk_pose pose) {
  const sk_octet *octet = &c->octets[number];
  sk_f8 zero = f8_zero(), t_cells[4], q_cells[4], s_cells[4];
  uint32_t lane, lanes = c->mover_count - number * SK_LANES;
  f8_transpose(t[0], t[1], t[2], zero, t_cells);
  f8_transpose(q[0], q[1], q[2], q[3], q_cells);
  f8_transpose(s[0], s[1], s[2], zero, s_cells);
  for (lane = 0; lane < SK_LANES && lane < lanes; lane++) {
    size_t j = (size_t)c->movers[number * SK_LANES + lane].joint;
    if (octet->moves[SK_COMPONENT_TRANSLATION]) f4_store_three(pose.translation + 3 * j, lane_of(t_cells, lane));
    if (octet->moves[SK_COMPONENT_ROTATION] && !octet->still[SK_COMPONENT_ROTATION][lane]) {
      const float *key = rotation_key(octet, spans, lane);
      f4_store(pose.rotation + 4 * j, key ? f4_load(key) : lane_of(q_cells, lane));
    }
    if (octet->moves[SK_COMPONENT_SCALE]) f4_store_three(pose.scale + 3 * j, lane_of(s_cells, lane));
  }
}

/* Gives sheared movers that are at rest the bits of the rest pose, by which sk_pose_local knows their rest matrix. */
static void keep_rest(const sk_sampling *sampling, const sk_key_span *spans, sk_pose pose) {
  const sk_compiled *c = sampling->clip->compiled;
  const sk_skeleton *skeleton = sampling->skeleton;
  uint32_t i;
  for (i = 0; i < c->mover_count; i++) {
    size_t j = (size_t)c->movers[i].joint;
    if (!c->movers[i].sheared || !SK_KERNEL(sk_mover_rests)(c, &c->movers[i], skeleton, spans)) continue;
    memcpy(pose.translation + 3 * j, skeleton->translation + 3 * j, 3 * sizeof(float));
    memcpy(pose.rotation + 4 * j, skeleton->rotation + 4 * j, 4 * sizeof(float));
    memcpy(pose.scale + 3 * j, skeleton->scale + 3 * j, 3 * sizeof(float));
  }
}

static bool fits(const sk_compiled *c) {
  return c->depth <= SK_SAMPLE_DEPTH && c->line_count <= SK_STACK_LINES && c->cubic_floats <= SK_STACK_CUBIC;
}

bool SK_KERNEL(sk_sample_kernel)(const sk_sampling *sampling, double time, sk_pose pose) {
  const sk_compiled *c = sampling->clip->compiled;
  size_t joints = (size_t)c->joint_count;
  sk_key_span spans[SK_STACK_LINES];
  float cubic[SK_STACK_CUBIC];
  uint32_t i;
  if (!fits(c)) return false;
  memcpy(pose.translation, c->translation, joints * 3 * sizeof(float));
  memcpy(pose.rotation, c->rotation, joints * 4 * sizeof(float));
  memcpy(pose.scale, c->scale, joints * 3 * sizeof(float));
  SK_KERNEL(sk_find_key_spans)(sampling->clip, time, cubic, spans);
  for (i = 0; i < c->octet_count; i++) {
    sk_f8 t[3], q[4], s[3];
    sk_mix mix;
    SK_KERNEL(sk_octet_components)(&c->octets[i], spans, sampling->rotation, t, &mix, s);
    sk_mix_sum(&mix, q);
    sk_normalize(q);
    store_octet(c, i, spans, t, q, s, pose);
  }
  if (c->sheared_count) keep_rest(sampling, spans, pose);
  return true;
}

SK_KERNEL_END

#endif
