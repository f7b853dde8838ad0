/* sk_batch_rotation.c: interpolates the rotations of the nodes of a pass at eight times.

   Rotations of one time line are handled in a run, so that the addresses of its eight frames and the terms of its
   series stay in registers. Where float is enough they are summed at once, so that neither keys nor weights go through
   memory. */
#include "sk_batch_lanes.h"

#if SK_HAS_KERNELS

SK_KERNEL_BEGIN

/* ---- which rotations go together ----------------------------------------------------------------------------- */

static bool goes_alone(const sk_compiled *c, const sk_mover *mover) {
  uint32_t line = mover->lines[SK_COMPONENT_ROTATION];
  return mover->half_turn || line == SK_STILL || c->lines[line].interpolation == SK_CUBIC;
}

/* Finds the run of the pass for this time line and kind of weights, or begins one. */
static sk_rotation_run *find_run(sk_rotation_pass *pass, uint32_t line, bool wide) {
  uint32_t i;
  for (i = 0; i < pass->run_count; i++)
    if (pass->runs[i].line == line && pass->runs[i].wide == wide) return &pass->runs[i];
  pass->runs[i].line = line;
  pass->runs[i].wide = wide;
  pass->runs[i].count = 0;
  pass->run_count++;
  return &pass->runs[i];
}

void SK_KERNEL(sk_plan_rotations)(const sk_source_lanes *source, bool joints, sk_rotation rotation) {
  const sk_compiled *c = source->clip;
  uint32_t count = joints ? (uint32_t)c->joint_count : c->node_count, i;
  for (i = 0; i < count; i++) {
    sk_rotation_pass *pass = &source->passes[i / SK_PASS_NODES];
    int32_t number = joints ? c->mover_of[i] : c->nodes[i].mover;
    const sk_mover *mover = number == SK_NONE ? NULL : &c->movers[number];
    uint32_t node = i % SK_PASS_NODES;
    sk_rotation_run *run;
    if (node == 0) pass->run_count = 0;
    pass->movers[node] = number;
    pass->alone[node] = mover && goes_alone(c, mover);
    if (!mover || pass->alone[node]) continue;
    run = find_run(pass, mover->lines[SK_COMPONENT_ROTATION], mover->wide && rotation == SK_SLERP);
    run->nodes[run->count] = (uint8_t)node;
    run->offsets[run->count++] = mover->offsets[SK_COMPONENT_ROTATION];
  }
  for (; i % SK_PASS_NODES; i++) source->passes[i / SK_PASS_NODES].alone[i % SK_PASS_NODES] = false;
}

/* ---- rotations ------------------------------------------------------------------------------------------------- */

/* Finds the rotations of a run. They go into `mixes` or, summed, into `sums`; the other one is NULL. Which one, and
   `wide`, are constants where this is inlined. */
SK_INLINE void find_rotations(const sk_rotation_run *run, const sk_time_line_lanes *line, bool wide, sk_mix *mixes,
                              sk_lane_rotation *sums) {
  const float *p0 = line->a[0], *p1 = line->a[1], *p2 = line->a[2], *p3 = line->a[3];
  const float *p4 = line->a[4], *p5 = line->a[5], *p6 = line->a[6], *p7 = line->a[7];
  const sk_series from = line->from, to = line->to;
  size_t stride = line->stride;
  uint32_t i;
  for (i = 0; i < run->count; i++) {
    size_t n = run->offsets[i];
    sk_f8 dot, sign;
    sk_mix mix;
    f8_transpose(sk_pair(p0 + n, p4 + n), sk_pair(p1 + n, p5 + n), sk_pair(p2 + n, p6 + n), sk_pair(p3 + n, p7 + n),
                 mix.a);
    n += stride;
    f8_transpose(sk_pair(p0 + n, p4 + n), sk_pair(p1 + n, p5 + n), sk_pair(p2 + n, p6 + n), sk_pair(p3 + n, p7 + n),
                 mix.b);
    dot = sk_dot4(mix.a, mix.b);
    sign = sk_sign_of(dot);
    if (wide) sk_wide_weights(dot, sign, &from, &to, &mix);
    else sk_near_weights(dot, sign, &from, &to, &mix);
    if (mixes) mixes[run->nodes[i]] = mix;
    else sk_mix_sum(&mix, sums[run->nodes[i]].q);
  }
}

void SK_KERNEL(sk_mix_rotations)(const sk_source_lanes *source, uint32_t pass, sk_rotation rotation, sk_mix *mixes) {
  const sk_rotation_pass *planned = &source->passes[pass];
  uint32_t i;
  for (i = 0; i < SK_PASS_NODES; i++)
    if (planned->alone[i]) sk_mover_mix(source->clip, planned->movers[i], source->lines, rotation, &mixes[i]);
  for (i = 0; i < planned->run_count; i++) {
    const sk_rotation_run *run = &planned->runs[i];
    if (run->wide) find_rotations(run, &source->lines[run->line], true, mixes, NULL);
    else find_rotations(run, &source->lines[run->line], false, mixes, NULL);
  }
}

void SK_KERNEL(sk_sum_rotations)(const sk_source_lanes *source, uint32_t pass, sk_rotation rotation,
                                 sk_lane_rotation *sums) {
  const sk_rotation_pass *planned = &source->passes[pass];
  sk_mix mix;
  uint32_t i;
  for (i = 0; i < SK_PASS_NODES; i++) {
    if (!planned->alone[i]) continue;
    sk_mover_mix(source->clip, planned->movers[i], source->lines, rotation, &mix);
    sk_mix_sum(&mix, sums[i].q);
  }
  for (i = 0; i < planned->run_count; i++) {
    const sk_rotation_run *run = &planned->runs[i];
    if (run->wide) find_rotations(run, &source->lines[run->line], true, NULL, sums);
    else find_rotations(run, &source->lines[run->line], false, NULL, sums);
  }
}

SK_KERNEL_END

#endif
