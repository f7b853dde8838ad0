/* sk_batch_lanes.h: what the files of sk_batch.h share: lines at eight times, and parts of joints made of them. */
#ifndef SK_BATCH_LANES_H
#define SK_BATCH_LANES_H

#include "sk_batch.h"

#if SK_HAS_AVX2

SK_KERNEL_BEGIN

#define SK_HALF 4 /* lanes of a vector of double */

/* A line at eight times. */
typedef struct sk_time_line_lanes {
  const float *a[SK_LANES]; /* frames at or before; the next ones are `stride` floats on */
  size_t stride;            /* 0 where nothing is to be mixed */
  size_t third;             /* cubic lines: floats from in-tangents to values to out-tangents; else 0 */
  __m256 u[4];              /* one vector for each number of sk_key_span.u, or the weights of sk_hermite */
  sk_series from, to;       /* where the line has rotations */
} sk_time_line_lanes;

#define SK_PASS_NODES 8 /* of a pass; where clips are blended it goes over joints instead */

/* Nodes of one pass whose rotations stand on one line and are found in one way. */
typedef struct sk_rotation_run {
  uint32_t line;
  bool wide;
  uint8_t count, nodes[SK_PASS_NODES]; /* nodes: which of the pass */
  uint32_t offsets[SK_PASS_NODES];     /* floats from the start of a frame */
} sk_rotation_run;

/* How the rotations of a pass are found. */
typedef struct sk_rotation_pass {
  uint32_t run_count;
  int32_t movers[SK_PASS_NODES]; /* of the nodes; SK_NONE */
  bool alone[SK_PASS_NODES];     /* in none of the runs, though it has a mover */
  sk_rotation_run runs[SK_PASS_NODES];
} sk_rotation_pass;

static inline uint32_t sk_pass_count(uint32_t count) { return (count + SK_PASS_NODES - 1) / SK_PASS_NODES; }

/* Nodes, or joints, of pass `pass` out of `count` of them. */
static inline uint32_t sk_pass_size(uint32_t count, uint32_t pass) {
  uint32_t left = count - pass * SK_PASS_NODES;
  return left < SK_PASS_NODES ? left : SK_PASS_NODES;
}

typedef struct sk_source_lanes {
  const sk_compiled *clip;
  sk_rotation_pass *passes;
  sk_time_line_lanes *lines;
  sk_key_span *spans; /* (8, lines), where a mover is odd */
  float *cubic;     /* (8, cubic_floats) */
} sk_source_lanes;

/* ---- sk_batch_keys.c: keys ---- */

/* Every line of a source's clip at eight times. */
void SK_KERNEL(sk_batch_find_keys)(const sk_clip *clip, const sk_sampling *sampling, const double times[SK_LANES],
                                   const sk_source_lanes *source);

/* ---- T, R and S of a mover; `cell` is its constant where the part does not move ---- */

static inline void sk_load_ends(const sk_time_line_lanes *line, size_t offset, __m256 a[4], __m256 b[4]) {
  sk_load_cells(line->a, offset, a);
  sk_load_cells(line->a, offset + line->stride, b);
}

static inline void sk_cubic_lanes(const sk_time_line_lanes *line, size_t offset, int count, __m256 *out) {
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

static inline void sk_cubic_rotation(const sk_time_line_lanes *line, size_t offset, __m256 q[4]) {
  __m256 has_direction;
  int i;
  sk_cubic_lanes(line, offset, 4, q);
  has_direction = _mm256_cmp_ps(sk_dot4(q, q), _mm256_set1_ps(SK_MIN_SQUARED_LENGTH), _CMP_GT_OQ);
  for (i = 0; i < 4; i++) q[i] = _mm256_blendv_ps(_mm256_set1_ps(i == 3 ? 1.0f : 0.0f), q[i], has_direction);
}

static inline void sk_mover_component(const sk_mover *mover, sk_component component, const sk_time_line_lanes *lines,
                                      const float *cell, __m256 *out) {
  __m256 a[4], b[4];
  const sk_time_line_lanes *line;
  int i;
  if (mover->lines[component] == SK_STILL) {
    for (i = 0; i < 3; i++) out[i] = _mm256_set1_ps(cell[i]);
    return;
  }
  line = &lines[mover->lines[component]];
  if (line->third) {
    sk_cubic_lanes(line, mover->offsets[component], 3, out);
    return;
  }
  sk_load_ends(line, mover->offsets[component], a, b);
  sk_lerp(a, b, line->u[SK_TO], 3, out);
}

/* The rotation of a mover: the cell that stands still, or what is between two keys, before it is summed. */
static inline void sk_mover_mix(const sk_compiled *c, int32_t number, const sk_time_line_lanes *lines,
                                sk_rotation rotation, sk_mix *mix) {
  const sk_mover *mover = &c->movers[number];
  const float *cell = c->constants + ((size_t)number * SK_COMPONENT_COUNT + SK_COMPONENT_ROTATION) * SK_CELL;
  const sk_time_line_lanes *line;
  __m256 dot, sign;
  int i;
  if (mover->lines[SK_COMPONENT_ROTATION] == SK_STILL) {
    for (i = 0; i < 4; i++) mix->a[i] = _mm256_set1_ps(cell[i]);
    sk_mix_one(mix);
    return;
  }
  line = &lines[mover->lines[SK_COMPONENT_ROTATION]];
  if (line->third) {
    sk_cubic_rotation(line, mover->offsets[SK_COMPONENT_ROTATION], mix->a);
    sk_mix_one(mix);
    return;
  }
  sk_load_ends(line, mover->offsets[SK_COMPONENT_ROTATION], mix->a, mix->b);
  dot = sk_dot4(mix->a, mix->b);
  sign = mover->half_turn ? sk_exact_sign(mix->a, mix->b) : sk_sign_of(dot);
  if (mover->wide && rotation == SK_SLERP) sk_wide_weights(dot, sign, &line->from, &line->to, mix);
  else sk_near_weights(dot, sign, &line->from, &line->to, mix);
}

/* ---- sk_batch_rotation.c: rotations of the nodes of a pass ---- */

/* Fills source->passes, over its nodes or over all joints. */
void SK_KERNEL(sk_plan_rotations)(const sk_source_lanes *source, bool joints, sk_rotation rotation);

/* The rotations of those nodes of a pass that have a mover, each as sk_mover_mix has it. */
void SK_KERNEL(sk_mix_rotations)(const sk_source_lanes *source, uint32_t pass, sk_rotation rotation, sk_mix *mixes);

/* A rotation of about length 1. */
typedef struct sk_lane_rotation {
  __m256 q[4];
} sk_lane_rotation;

/* The same, summed in float. */
void SK_KERNEL(sk_sum_rotations)(const sk_source_lanes *source, uint32_t pass, sk_rotation rotation,
                                 sk_lane_rotation *sums);

/* ---- sk_batch_blend.c: blends ---- */

/* The blended local of joint j; false where it is one and the same in all sources: sk_compiled.locals. */
bool SK_KERNEL(sk_batch_blend_joint)(const sk_batch *batch, const sk_source_lanes *sources, size_t j,
                                     __m256d rows[2][SK_ROWS]);

/* The same for the joints of a pass, SK_ROWS * SK_LANES floats each, `stride` from one to the next; returns a bit for
   each that has been written. In float where sk_compiled.blends_all_in_float, and made in double otherwise. */
uint32_t SK_KERNEL(sk_batch_blend_pass)(const sk_batch *batch, const sk_source_lanes *sources, uint32_t pass,
                                        float *rows, size_t stride);

SK_KERNEL_END

#endif
#endif
