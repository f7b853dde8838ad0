/* sk_batch_lanes.h: what the files of a batch share (sk_batch.h): time lines at eight times, and the components of
   joints that follow from them. */
#ifndef SK_BATCH_LANES_H
#define SK_BATCH_LANES_H

#include "sk_batch.h"

#if SK_HAS_KERNELS

SK_KERNEL_BEGIN

#define SK_HALF 4 /* lanes of a vector of double: half of the batch */

/* A time line at eight times. */
typedef struct sk_time_line_lanes {
  const float *a[SK_LANES]; /* the frames at or before the times; the next ones are `stride` floats on */
  size_t stride;            /* 0 where nothing is interpolated */
  size_t third;             /* cubic lines: floats from in-tangents to values, and to out-tangents; else 0 */
  sk_f8 u[4];              /* one vector for each number of sk_key_span.u or, on cubic lines, of sk_hermite */
  sk_series from, to;       /* for rotations: the series of the key behind and of the key ahead */
} sk_time_line_lanes;

#define SK_PASS_NODES 8 /* nodes of a pass; where clips are blended, passes go over joints instead */

/* Nodes of one pass whose rotations are on one time line and need the same weights (near or wide). */
typedef struct sk_rotation_run {
  uint32_t line;
  bool wide;
  uint8_t count, nodes[SK_PASS_NODES]; /* numbers of the nodes within the pass */
  uint32_t offsets[SK_PASS_NODES];     /* floats from the start of a frame */
} sk_rotation_run;

/* How the rotations of a pass are found: in runs, and those that fit in none alone. */
typedef struct sk_rotation_pass {
  uint32_t run_count;
  int32_t movers[SK_PASS_NODES]; /* of the nodes, or SK_NONE */
  bool alone[SK_PASS_NODES];     /* the node has a mover, but is in none of the runs */
  sk_rotation_run runs[SK_PASS_NODES];
} sk_rotation_pass;

/* The number of passes over `count` nodes or joints. */
static inline uint32_t sk_pass_count(uint32_t count) { return (count + SK_PASS_NODES - 1) / SK_PASS_NODES; }

/* The number of nodes, or joints, in pass `pass` of `count` of them. */
static inline uint32_t sk_pass_size(uint32_t count, uint32_t pass) {
  uint32_t left = count - pass * SK_PASS_NODES;
  return left < SK_PASS_NODES ? left : SK_PASS_NODES;
}

/* One clip of the batch, at eight times. */
typedef struct sk_source_lanes {
  const sk_compiled *clip;
  sk_rotation_pass *passes;
  sk_time_line_lanes *lines;
  sk_key_span *spans; /* (8, line_count), where some mover is sheared */
  float *cubic;     /* (8, cubic_floats): cells of cubic lines that are evaluated one time after another */
} sk_source_lanes;

/* ---- keys (sk_batch_keys.c) ---------------------------------------------------------------------------------- */

/* Finds the keys of every time line of a source's clip at eight times, in seconds and of any loop. */
void SK_KERNEL(sk_batch_find_keys)(const sk_clip *clip, const sk_sampling *sampling, const double times[SK_LANES],
                                   const sk_source_lanes *source);

/* ---- T, R and S of a mover ------------------------------------------------------------------------------------ */

/* Loads the cells before and after the times. */
static inline void sk_load_ends(const sk_time_line_lanes *line, size_t offset, sk_f8 a[4], sk_f8 b[4]) {
  sk_load_cells(line->a, offset, a);
  sk_load_cells(line->a, offset + line->stride, b);
}

/* The first `count` numbers of a cell on a cubic line. */
static inline void sk_cubic_lanes(const sk_time_line_lanes *line, size_t offset, int count, sk_f8 *out) {
  sk_f8 value[4], tangent[4], next[4], next_tangent[4];
  int i;
  sk_load_cells(line->a, offset + line->third, value);
  sk_load_cells(line->a, offset + 2 * line->third, tangent);
  sk_load_cells(line->a, offset + line->stride + line->third, next);
  sk_load_cells(line->a, offset + line->stride, next_tangent);
  for (i = 0; i < count; i++) {
    sk_f8 sum = f8_mul(line->u[SK_IN], next_tangent[i]);
    sum = f8_fma(line->u[SK_NEXT], next[i], sum);
    sum = f8_fma(line->u[SK_OUT], tangent[i], sum);
    out[i] = f8_fma(line->u[SK_VALUE], value[i], sum);
  }
}

/* A rotation on a cubic line, of any length; the identity where it has no direction. */
static inline void sk_cubic_rotation(const sk_time_line_lanes *line, size_t offset, sk_f8 q[4]) {
  sk_f8 has_direction;
  int i;
  sk_cubic_lanes(line, offset, 4, q);
  has_direction = f8_greater(sk_dot4(q, q), f8_set(SK_MIN_SQUARED_LENGTH));
  for (i = 0; i < 4; i++) q[i] = f8_blend(f8_set(i == 3 ? 1.0f : 0.0f), q[i], has_direction);
}

/* Translation or scale of a mover; `cell` is its constant, for a component that does not move. */
static inline void sk_mover_component(const sk_mover *mover, sk_component component, const sk_time_line_lanes *lines,
                                      const float *cell, sk_f8 *out) {
  sk_f8 a[4], b[4];
  const sk_time_line_lanes *line;
  int i;
  if (mover->lines[component] == SK_STILL) {
    for (i = 0; i < 3; i++) out[i] = f8_set(cell[i]);
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

/* The rotation of a mover before it is summed: its constant, or a mix of two keys. */
static inline void sk_mover_mix(const sk_compiled *c, int32_t number, const sk_time_line_lanes *lines,
                                sk_rotation rotation, sk_mix *mix) {
  const sk_mover *mover = &c->movers[number];
  const float *cell = c->constants + ((size_t)number * SK_COMPONENT_COUNT + SK_COMPONENT_ROTATION) * SK_CELL;
  const sk_time_line_lanes *line;
  sk_f8 dot, sign;
  int i;
  if (mover->lines[SK_COMPONENT_ROTATION] == SK_STILL) {
    for (i = 0; i < 4; i++) mix->a[i] = f8_set(cell[i]);
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

/* ---- rotations of a pass (sk_batch_rotation.c) ---------------------------------------------------------------- */

/* Plans the passes of a source, over its nodes or, where `joints` is true, over all joints. */
void SK_KERNEL(sk_plan_rotations)(const sk_source_lanes *source, bool joints, sk_rotation rotation);

/* The rotations of those nodes of a pass that have a mover, each as sk_mover_mix gives it. */
void SK_KERNEL(sk_mix_rotations)(const sk_source_lanes *source, uint32_t pass, sk_rotation rotation, sk_mix *mixes);

/* Quaternions of about length 1. */
typedef struct sk_lane_rotation {
  sk_f8 q[4];
} sk_lane_rotation;

/* The same rotations, summed in float. */
void SK_KERNEL(sk_sum_rotations)(const sk_source_lanes *source, uint32_t pass, sk_rotation rotation,
                                 sk_lane_rotation *sums);

/* ---- blends (sk_batch_blend.c) --------------------------------------------------------------------------------- */

/* The blended local of joint j in double, one half of the lanes after the other. Returns false, with nothing written,
   where all sources have the same local at all times, which is in sk_compiled.locals. */
bool SK_KERNEL(sk_batch_blend_joint)(const sk_batch *batch, const sk_source_lanes *sources, size_t j,
                                     sk_d4 rows[2][SK_ROWS]);

/* The blended locals of the joints of a pass as floats, SK_ROWS * SK_LANES for each joint and `stride` from one to the
   next. Returns one bit for each joint of the pass: whether its local was written, as above. They are computed in float
   if sk_compiled.blends_all_in_float, else in double and rounded. */
uint32_t SK_KERNEL(sk_batch_blend_pass)(const sk_batch *batch, const sk_source_lanes *sources, uint32_t pass,
                                        float *rows, size_t stride);

SK_KERNEL_END

#endif
#endif
