/* sk_key_span.c: see sk_key_span.h. */
#include "sk_key_span.h"

#if SK_HAS_KERNELS

#include <math.h>
#include <string.h>

SK_KERNEL_BEGIN

static sk_f4 cubic_cell(const float *key, const float *next, size_t third, const float weights[4]) {
  sk_f4 sum = f4_mul(f4_set(weights[SK_IN]), f4_load(next));
  sum = f4_fma(f4_set(weights[SK_NEXT]), f4_load(next + third), sum);
  sum = f4_fma(f4_set(weights[SK_OUT]), f4_load(key + 2 * third), sum);
  return f4_fma(f4_set(weights[SK_VALUE]), f4_load(key + third), sum);
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
    sk_f4 value = cubic_cell(frame, frame + line->stride, third, weights);
    if (line->rotations[i] && !(f4_dot(value, value) > SK_MIN_SQUARED_LENGTH)) value = f4_make(0.0f, 0.0f, 0.0f, 1.0f);
    f4_store(cells, value);
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

void SK_KERNEL(sk_find_key_spans)(const sk_clip *clip, double time, float *cubic, sk_key_span *spans) {
  const sk_compiled *c = clip->compiled;
  uint32_t i;
  for (i = 0; i < c->line_count; i++) sk_find_key_span(&c->lines[i], time, clip->key_tolerance, cubic, &spans[i]);
}

SK_KERNEL_END

#endif
