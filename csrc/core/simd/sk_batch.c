/* sk_batch.c: from locals to globals and results, eight poses at a time; see sk_batch.h. */
#include "sk_batch_lanes.h"

#if SK_HAS_KERNELS
#include <string.h>

SK_KERNEL_BEGIN

#define ROWS         SK_ROWS
#define HALF         SK_HALF
#define GLOBAL_LANES (2 * ROWS * HALF) /* doubles of the globals of one joint in eight poses */

/* The scratch of a batch, which begins with this: what stays the same for all batches of the same clips. */
typedef struct batch_scratch {
  double *front;   /* (2, 12, 4): what stands in front of the roots, by halves of the lanes */
  double *globals; /* (J, 2, 12, 4); for short chains (J, 12, 8) floats */
  sk_source_lanes sources[SK_SOURCES];
  size_t bytes;
} batch_scratch;

static uintptr_t take(uintptr_t *at, size_t bytes) {
  uintptr_t start = *at;
  *at += (bytes + 31) / 32 * 32;
  return start;
}

static batch_scratch lay_out(const sk_compiled *const *clips, size_t count, uintptr_t memory) {
  batch_scratch s;
  uintptr_t at = memory;
  size_t k;
  take(&at, sizeof s);
  s.front = (double *)take(&at, GLOBAL_LANES * sizeof(double));
  s.globals = (double *)take(&at, (size_t)clips[0]->joint_count * GLOBAL_LANES * sizeof(double));
  for (k = 0; k < count; k++) {
    const sk_compiled *c = clips[k];
    s.sources[k].clip = c;
    s.sources[k].passes =
        (sk_rotation_pass *)take(&at, sk_pass_count((uint32_t)c->joint_count) * sizeof(sk_rotation_pass));
    s.sources[k].lines = (sk_time_line_lanes *)take(&at, c->line_count * sizeof(sk_time_line_lanes));
    s.sources[k].spans =
        (sk_key_span *)take(&at, c->sheared_count ? c->line_count * SK_LANES * sizeof(sk_key_span) : 0);
    s.sources[k].cubic = (float *)take(&at, SK_LANES * c->cubic_floats * sizeof(float));
  }
  s.bytes = at - memory;
  return s;
}

size_t SK_KERNEL(sk_batch_scratch)(const sk_compiled *const *clips, size_t source_count) {
  return lay_out(clips, source_count, 0).bytes;
}

size_t SK_KERNEL(sk_batch_max_scratch)(const sk_clip *clips, size_t clip_count, size_t source_count) {
  size_t most = 0, shared = 0, i;
  for (i = 0; i < clip_count; i++) {
    const sk_compiled *c = clips[i].compiled;
    size_t bytes = c ? lay_out(&c, 1, 0).bytes : 0;
    if (c) shared = sizeof(batch_scratch) + (1 + (size_t)c->joint_count) * GLOBAL_LANES * sizeof(double);
    if (bytes > most) most = bytes;
  }
  return most ? shared + source_count * (most - shared) : 0;
}

/* ---- locals ------------------------------------------------------------------------------------------------- */

/* The local of a joint in eight poses until it is multiplied: in float, or in double by halves of the lanes. */
typedef union kept_local {
  float floats[ROWS][SK_LANES];
  double doubles[2][ROWS][HALF];
} kept_local;

static inline void keep_floats(const sk_f8 rows[ROWS], kept_local *kept) {
  int i;
  for (i = 0; i < ROWS; i++) f8_store(kept->floats[i], rows[i]);
}

static inline void keep_half(const sk_d4 rows[ROWS], int half, kept_local *kept) {
  int i;
  for (i = 0; i < ROWS; i++) d4_store(kept->doubles[half][i], rows[i]);
}

/* Keeps one matrix for all lanes. */
static inline void keep_same(const double *same, sk_precise precise, kept_local *kept) {
  int i;
  for (i = 0; i < ROWS; i++) {
    if (precise < SK_PRECISE_LOCALS) {
      f8_store(kept->floats[i], f8_set((float)same[i]));
    } else {
      d4_store(kept->doubles[0][i], d4_set(same[i]));
      d4_store(kept->doubles[1][i], d4_set(same[i]));
    }
  }
}

/* Puts the rest matrix into the lanes that are at rest, for a mover whose rest matrix is more than T, R and S. */
static void keep_sheared(const sk_source_lanes *source, const sk_mover *mover, const sk_skeleton *skeleton,
                         sk_precise precise, kept_local *kept) {
  const float *rest = skeleton->rest_local + 16 * (size_t)mover->joint;
  const sk_key_span *spans = source->spans;
  int lane, i;
  for (lane = 0; lane < SK_LANES; lane++, spans += source->clip->line_count) {
    if (!SK_KERNEL(sk_mover_rests)(source->clip, mover, skeleton, spans)) continue;
    for (i = 0; i < ROWS; i++) {
      if (precise < SK_PRECISE_LOCALS) kept->floats[i][lane] = rest[i];
      else kept->doubles[lane / HALF][i][lane % HALF] = rest[i];
    }
  }
}

/* Translation and scale of a mover. Returns `s`, or NULL for a scale of 1. */
SK_INLINE const sk_f8 *mover_translation_and_scale(const sk_source_lanes *source, int32_t number, sk_f8 t[3],
                                                   sk_f8 s[3]) {
  const sk_mover *mover = &source->clip->movers[number];
  const float *cells = source->clip->constants + (size_t)number * SK_COMPONENT_COUNT * SK_CELL;
  sk_mover_component(mover, SK_COMPONENT_TRANSLATION, source->lines, cells, t);
  if (mover->unit_scale) return NULL;
  sk_mover_component(mover, SK_COMPONENT_SCALE, source->lines, cells + 2 * SK_CELL, s);
  return s;
}

/* Keeps the local of a mover in float; `q` is its rotation. */
SK_INLINE void keep_float_local(const sk_batch *batch, const sk_source_lanes *source, int32_t number, const sk_f8 q[4],
                                kept_local *kept) {
  const sk_mover *mover = &source->clip->movers[number];
  sk_f8 t[3], s[3], rows[ROWS];
  const sk_f8 *scale = mover_translation_and_scale(source, number, t, s);
  sk_rows_from_trs(t, q, scale, rows);
  keep_floats(rows, kept);
  if (mover->sheared) keep_sheared(source, mover, batch->job->skeleton, SK_PRECISE_NOTHING, kept);
}

/* Keeps it in double; `mix` is its rotation. */
SK_INLINE void keep_double_local(const sk_batch *batch, const sk_source_lanes *source, int32_t number,
                                 const sk_mix *mix, kept_local *kept) {
  const sk_mover *mover = &source->clip->movers[number];
  sk_f8 t[3], s[3];
  const sk_f8 *scale = mover_translation_and_scale(source, number, t, s);
  sk_d4 half[ROWS];
  sk_precise_rows(mix, t, scale, 0, half);
  keep_half(half, 0, kept);
  sk_precise_rows(mix, t, scale, 1, half);
  keep_half(half, 1, kept);
  if (mover->sheared) keep_sheared(source, mover, batch->job->skeleton, SK_PRECISE_LOCALS, kept);
}

#define NODES SK_PASS_NODES

/* Keeps the locals of the nodes of a pass. It is inlined because the call and its copies took a tenth of the time. */
SK_INLINE void keep_nodes(const sk_batch *batch, const sk_source_lanes *source, uint32_t pass, sk_precise precise,
                          kept_local *kept) {
  const sk_node *nodes = source->clip->nodes + (size_t)pass * NODES;
  uint32_t count = sk_pass_size(source->clip->node_count, pass), i;
  sk_rotation rotation = batch->job->sampling->rotation;
  sk_lane_rotation sums[NODES];
  sk_mix mixes[NODES];
  if (precise < SK_PRECISE_LOCALS) SK_KERNEL(sk_sum_rotations)(source, pass, rotation, sums);
  else SK_KERNEL(sk_mix_rotations)(source, pass, rotation, mixes);
  for (i = 0; i < count; i++) {
    int32_t number = nodes[i].mover;
    if (number == SK_NONE) keep_same(source->clip->locals + (size_t)nodes[i].joint * ROWS, precise, &kept[i]);
    else if (precise < SK_PRECISE_LOCALS) keep_float_local(batch, source, number, sums[i].q, &kept[i]);
    else keep_double_local(batch, source, number, &mixes[i], &kept[i]);
  }
}

/* ---- globals -------------------------------------------------------------------------------------------------- */

static inline sk_d4 kept_number(const kept_local *kept, sk_precise precise, int half, int i) {
  if (precise < SK_PRECISE_LOCALS) return d4_of(f4_load(kept->floats[i] + HALF * half));
  return d4_load(kept->doubles[half][i]);
}

/* From a local to its global in double, for half of the lanes; `rounded` gets it in float. `above` is the global of the
   parent or what stands in front; where it is NULL the global is the local. */
SK_INLINE void chain_half(const double *above, const kept_local *kept, sk_precise precise, int half, double *global,
                          float *rounded) {
  sk_d4 local[ROWS], product[ROWS];
  int row, column, i;
  for (i = 0; i < ROWS; i++) product[i] = local[i] = kept_number(kept, precise, half, i);
  for (row = 0; above && row < 3; row++, above += 4 * HALF) {
    sk_d4 a0 = d4_load(above), a1 = d4_load(above + HALF), a2 = d4_load(above + 2 * HALF);
    for (column = 0; column < 4; column++) {
      sk_d4 sum = d4_mul(a0, local[column]);
      sum = d4_fma(a1, local[4 + column], sum);
      product[4 * row + column] = d4_fma(a2, local[8 + column], sum);
    }
    product[4 * row + 3] = d4_add(product[4 * row + 3], d4_load(above + 3 * HALF));
  }
  for (i = 0; i < ROWS; i++) {
    d4_store(global + HALF * i, product[i]);
    f4_store(rounded + SK_LANES * i, f4_of(product[i]));
  }
}

/* The same for all lanes; `precise` is a constant where this is inlined. */
SK_INLINE void chain(const double *above, const kept_local *kept, sk_precise precise, double *global, float *rounded) {
  chain_half(above, kept, precise, 0, global, rounded);
  chain_half(above ? above + ROWS * HALF : NULL, kept, precise, 1, global + ROWS * HALF, rounded + HALF);
}

static const double *front_of(const sk_batch *batch, double *front) {
  double one[ROWS];
  size_t lane, i;
  for (lane = 0; lane < SK_LANES; lane++) {
    if (!sk_palette_front(batch->job, batch->number[lane], one)) return NULL;
    for (i = 0; i < ROWS; i++) front[lane / HALF * (ROWS * HALF) + HALF * i + lane % HALF] = one[i];
  }
  return front;
}

/* ---- results -------------------------------------------------------------------------------------------------- */

static inline size_t matrix_floats(const sk_batch *batch) { return batch->job->affine ? 12 : 16; }

/* Stores one row of eight matrices, `offset` floats behind the start of each pose's result. */
SK_INLINE void store_row(float *const out[SK_LANES], size_t offset, const sk_f8 row[4]) {
  sk_f8 transposed[4];
  int lane;
  f8_transpose(row[0], row[1], row[2], row[3], transposed);
  for (lane = 0; lane < HALF; lane++) {
    f4_store(out[lane] + offset, f8_low(transposed[lane]));
    f4_store(out[lane + HALF] + offset, f8_high(transposed[lane]));
  }
}

static void store_last_row(float *const out[SK_LANES], size_t offset) {
  int lane;
  for (lane = 0; lane < SK_LANES; lane++) f4_store(out[lane] + offset, f4_make(0.0f, 0.0f, 0.0f, 1.0f));
}

/* Stores eight matrices that are in memory, (12, SK_LANES) floats, as number `number` of each pose's result. */
static void store_rows(const sk_batch *batch, size_t number, const float *rows) {
  size_t offset = number * matrix_floats(batch);
  int row, column;
  for (row = 0; row < 3; row++, rows += 4 * SK_LANES) {
    sk_f8 one[4];
    for (column = 0; column < 4; column++) one[column] = f8_load(rows + SK_LANES * column);
    store_row(batch->out, offset + 4 * (size_t)row, one);
  }
  if (!batch->job->affine) store_last_row(batch->out, offset + ROWS);
}

/* Prefetches where the next batch will store. Results that no near cache holds, such as those of 10,000 poses, took a
   third less time; those that a cache would hold, 2 or 3 % more. */
SK_INLINE void fetch_next(const sk_batch *batch, size_t offset) {
  int lane;
  for (lane = 0; batch->far && lane < SK_LANES; lane++) __builtin_prefetch(batch->next[lane] + offset, 1);
}

/* Stores eight globals, (12, SK_LANES) floats, times an inverse bind. Going column by column needs only three numbers
   of the bind in registers. */
SK_INLINE void store_product(float *const out[SK_LANES], size_t offset, const float *global, const float *bind) {
  sk_f8 product[3][4];
  int row, column;
  for (column = 0; column < 4; column++) {
    sk_f8 b0 = f8_set(bind[column]), b1 = f8_set(bind[4 + column]);
    sk_f8 b2 = f8_set(bind[8 + column]);
    for (row = 0; row < 3; row++) {
      const float *g = global + 4 * SK_LANES * row;
      sk_f8 sum = f8_mul(b0, f8_load(g));
      sum = f8_fma(b1, f8_load(g + SK_LANES), sum);
      sum = f8_fma(b2, f8_load(g + 2 * SK_LANES), sum);
      product[row][column] = column == 3 ? f8_add(sum, f8_load(g + 3 * SK_LANES)) : sum;
    }
  }
  for (row = 0; row < 3; row++) store_row(out, offset + 4 * (size_t)row, product[row]);
}

/* Stores one slot. The addresses in `out` are in registers where this is inlined. */
SK_INLINE void store_slot(const sk_batch *batch, float *const out[SK_LANES], size_t slot, const float *global,
                          const float *bind) {
  size_t floats = matrix_floats(batch), offset = slot * floats;
  fetch_next(batch, offset);
  store_product(out, offset, global, bind);
  if (floats > ROWS) store_last_row(out, offset + ROWS);
}

/* Stores the slots of some nodes, whose globals are one after another. It is not inlined, so that the eight addresses
   stay in registers. */
static __attribute__((noinline)) void store_nodes(const sk_batch *batch, const sk_node *nodes, uint32_t count,
                                                  const float *globals) {
  float *out[SK_LANES];
  const sk_bind *bind = batch->clips[0]->compiled->binds + nodes->first;
  uint32_t b;
  memcpy(out, batch->out, sizeof out); /* a copy, which the compiler can keep in registers */
  for (; count; count--, nodes++, globals += ROWS * SK_LANES)
    for (b = 0; b < nodes->count; b++, bind++) store_slot(batch, out, (size_t)bind->slot, globals, bind->rows);
}

/* Stores the slots of joints first to end - 1, with the inverse binds of the skin. */
static __attribute__((noinline)) void store_slots(const sk_batch *batch, size_t first, size_t end,
                                                  const float *globals) {
  float *out[SK_LANES];
  const sk_compiled *c = batch->clips[0]->compiled;
  const float *binds = batch->job->skin->inverse_bind;
  int32_t slot;
  memcpy(out, batch->out, sizeof out);
  for (; first < end; first++, globals += ROWS * SK_LANES)
    for (slot = c->first_slot[first]; slot != SK_NONE; slot = c->next_slot[slot])
      store_slot(batch, out, (size_t)slot, globals, binds + 16 * (size_t)slot);
}

/* Stores one slot, multiplied in double. */
static void store_precise_bind(const sk_batch *batch, const double *global, const float *bind, int32_t slot) {
  float rows[ROWS * SK_LANES];
  int h, row, column;
  for (h = 0; h < 2; h++)
    for (row = 0; row < 3; row++, global += 4 * HALF) {
      sk_d4 a0 = d4_load(global), a1 = d4_load(global + HALF);
      sk_d4 a2 = d4_load(global + 2 * HALF);
      for (column = 0; column < 4; column++) {
        sk_d4 sum = d4_mul(a0, d4_set(bind[column]));
        sum = d4_fma(a1, d4_set(bind[4 + column]), sum);
        sum = d4_fma(a2, d4_set(bind[8 + column]), sum);
        if (column == 3) sum = d4_add(sum, d4_load(global + 3 * HALF));
        f4_store(rows + SK_LANES * (4 * row + column) + HALF * h, f4_of(sum));
      }
    }
  store_rows(batch, (size_t)slot, rows);
}

static void store_joint(const sk_batch *batch, const float *rounded, size_t joint) {
  size_t lane, row;
  if (batch->job->result != SK_POSITIONS) {
    store_rows(batch, joint, rounded);
    return;
  }
  for (lane = 0; lane < SK_LANES; lane++)
    for (row = 0; row < 3; row++) batch->out[lane][3 * joint + row] = rounded[SK_LANES * (4 * row + 3) + lane];
}

/* ---- short chains, in float ------------------------------------------------------------------------------- */

/* out = a * b for eight lanes, all (12, SK_LANES) floats; where `a` is NULL, out = b. */
SK_INLINE void multiply_floats(const float *a, const float *b, float *out) {
  int row, column, i;
  for (i = 0; !a && i < ROWS; i++) f8_store(out + SK_LANES * i, f8_load(b + SK_LANES * i));
  for (row = 0; a && row < 3; row++, a += 4 * SK_LANES, out += 4 * SK_LANES) {
    sk_f8 a0 = f8_load(a), a1 = f8_load(a + SK_LANES), a2 = f8_load(a + 2 * SK_LANES);
    for (column = 0; column < 4; column++, b += SK_LANES) {
      sk_f8 sum = f8_mul(a0, f8_load(b));
      sum = f8_fma(a1, f8_load(b + 4 * SK_LANES), sum);
      sum = f8_fma(a2, f8_load(b + 8 * SK_LANES), sum);
      if (column == 3) sum = f8_add(sum, f8_load(a + 3 * SK_LANES));
      f8_store(out + SK_LANES * column, sum);
    }
    b -= 4 * SK_LANES;
  }
}

static const float *float_front(const double *front, float *out) {
  int half, i;
  if (!front) return NULL;
  for (half = 0; half < 2; half++)
    for (i = 0; i < ROWS; i++, front += HALF) f4_store(out + SK_LANES * i + HALF * half, f4_of(d4_load(front)));
  return out;
}

/* Nodes go through a step in passes of a few: the latencies of short steps overlap with those of their neighbors, those
   of long steps do not. */
static void run_floats(const sk_batch *batch, const batch_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  float first[ROWS * SK_LANES], *globals = (float *)s->globals;
  const float *base = float_front(front, first);
  kept_local locals[NODES];
  uint32_t pass, i;
  for (pass = 0; pass < sk_pass_count(c->node_count); pass++) {
    const sk_node *nodes = c->nodes + pass * NODES;
    float *own = globals + (size_t)pass * NODES * ROWS * SK_LANES;
    keep_nodes(batch, &s->sources[0], pass, SK_PRECISE_NOTHING, locals);
    for (i = 0; i < sk_pass_size(c->node_count, pass); i++) {
      int32_t parent = nodes[i].parent;
      multiply_floats(parent == SK_NONE ? base : globals + (size_t)parent * ROWS * SK_LANES, locals[i].floats[0],
                      own + i * ROWS * SK_LANES);
    }
    store_nodes(batch, nodes, sk_pass_size(c->node_count, pass), own);
  }
}

/* ---- longer chains, in double ------------------------------------------------------------------------------ */

/* `precise` is a constant where this is inlined. */
SK_INLINE void run_doubles(const sk_batch *batch, const batch_scratch *s, const double *front, sk_precise precise) {
  const sk_compiled *c = s->sources[0].clip;
  float rounded[NODES * ROWS * SK_LANES];
  kept_local locals[NODES];
  uint32_t pass, i, b;
  for (pass = 0; pass < sk_pass_count(c->node_count); pass++) {
    const sk_node *nodes = c->nodes + pass * NODES;
    double *global = s->globals + (size_t)pass * NODES * GLOBAL_LANES;
    keep_nodes(batch, &s->sources[0], pass, precise, locals);
    for (i = 0; i < sk_pass_size(c->node_count, pass); i++, global += GLOBAL_LANES) {
      const sk_node *node = &nodes[i];
      const double *above = node->parent == SK_NONE ? front : s->globals + (size_t)node->parent * GLOBAL_LANES;
      chain(above, &locals[i], precise, global, rounded + i * ROWS * SK_LANES);
      for (b = node->first; precise == SK_PRECISE_BINDS && b < node->first + node->count; b++)
        store_precise_bind(batch, global, c->binds[b].rows, c->binds[b].slot);
    }
    if (precise != SK_PRECISE_BINDS) store_nodes(batch, nodes, sk_pass_size(c->node_count, pass), rounded);
  }
}

static void run_chains(const sk_batch *batch, const batch_scratch *s, const double *front) {
  run_doubles(batch, s, front, SK_PRECISE_CHAINS);
}

static void run_locals(const sk_batch *batch, const batch_scratch *s, const double *front) {
  run_doubles(batch, s, front, SK_PRECISE_LOCALS);
}

static void run_binds(const sk_batch *batch, const batch_scratch *s, const double *front) {
  run_doubles(batch, s, front, SK_PRECISE_BINDS);
}

/* ---- the run -------------------------------------------------------------------------------------------------- */

static void run_joints(const sk_batch *batch, const batch_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  float rounded[ROWS * SK_LANES];
  kept_local local;
  sk_mix mix;
  size_t j;
  for (j = 0; j < (size_t)c->joint_count; j++) {
    double *global = s->globals + j * GLOBAL_LANES;
    int32_t parent = batch->job->skeleton->parents[j], mover = c->mover_of[j];
    const double *above = parent < 0 ? front : s->globals + (size_t)parent * GLOBAL_LANES;
    if (mover != SK_NONE) {
      sk_mover_mix(c, mover, s->sources[0].lines, batch->job->sampling->rotation, &mix);
      keep_double_local(batch, &s->sources[0], mover, &mix, &local);
    } else {
      keep_same(c->locals + j * ROWS, SK_PRECISE_LOCALS, &local);
    }
    chain(above, &local, SK_PRECISE_LOCALS, global, rounded);
    store_joint(batch, rounded, j);
  }
}

static void run_blended(const sk_batch *batch, const batch_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  float rounded[ROWS * SK_LANES];
  kept_local local;
  sk_d4 halves[2][ROWS];
  size_t j;
  for (j = 0; j < (size_t)c->joint_count; j++) {
    double *global = s->globals + j * GLOBAL_LANES;
    int32_t parent = batch->job->skeleton->parents[j], slot;
    const double *above = parent < 0 ? front : s->globals + (size_t)parent * GLOBAL_LANES;
    if (SK_KERNEL(sk_batch_blend_joint)(batch, s->sources, j, halves)) {
      keep_half(halves[0], 0, &local);
      keep_half(halves[1], 1, &local);
    } else {
      keep_same(c->locals + j * ROWS, SK_PRECISE_LOCALS, &local);
    }
    chain(above, &local, SK_PRECISE_LOCALS, global, rounded);
    for (slot = c->first_slot[j]; slot != SK_NONE; slot = c->next_slot[slot])
      store_precise_bind(batch, global, batch->job->skin->inverse_bind + 16 * (size_t)slot, slot);
  }
}

static void run_blended_floats(const sk_batch *batch, const batch_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  float first[ROWS * SK_LANES], *globals = (float *)s->globals;
  const float *base = float_front(front, first);
  kept_local locals[NODES];
  uint32_t joints = (uint32_t)c->joint_count, pass, j;
  for (pass = 0; pass < sk_pass_count(joints); pass++) {
    uint32_t start = pass * NODES, end = start + sk_pass_size(joints, pass);
    uint32_t blended =
        SK_KERNEL(sk_batch_blend_pass)(batch, s->sources, pass, locals[0].floats[0], sizeof *locals / sizeof(float));
    for (j = start; j < end; j++) {
      int32_t parent = batch->job->skeleton->parents[j];
      kept_local *local = &locals[j - start];
      if (!(blended >> (j - start) & 1)) keep_same(c->locals + (size_t)j * ROWS, SK_PRECISE_NOTHING, local);
      multiply_floats(parent < 0 ? base : globals + (size_t)parent * ROWS * SK_LANES, local->floats[0],
                      globals + (size_t)j * ROWS * SK_LANES);
    }
    store_slots(batch, start, end, globals + (size_t)start * ROWS * SK_LANES);
  }
}

void SK_KERNEL(sk_batch_begin)(const sk_batch *batch, void *scratch) {
  const sk_compiled *clips[SK_SOURCES] = {NULL};
  batch_scratch *s = scratch;
  size_t k;
  SK_ASSERT(batch->source_count >= 1 && batch->source_count <= SK_SOURCES);
  SK_ASSERT((uintptr_t)scratch % 32 == 0);
  for (k = 0; k < batch->source_count; k++) clips[k] = batch->clips[k]->compiled;
  *s = lay_out(clips, batch->source_count, (uintptr_t)scratch);
  for (k = 0; k < batch->source_count; k++)
    SK_KERNEL(sk_plan_rotations)(&s->sources[k], batch->source_count > 1, batch->job->sampling->rotation);
}

void SK_KERNEL(sk_batch_run)(const sk_batch *batch, void *scratch) {
  const batch_scratch *s = scratch;
  const sk_compiled *c = s->sources[0].clip;
  const double *front = front_of(batch, s->front);
  size_t k;
  for (k = 0; k < batch->source_count; k++)
    SK_KERNEL(sk_batch_find_keys)(batch->clips[k], batch->job->sampling, batch->times[k], &s->sources[k]);
  if (batch->source_count > 1 && c->blends_in_float) run_blended_floats(batch, s, front);
  else if (batch->source_count > 1) run_blended(batch, s, front);
  else if (batch->job->result != SK_PALETTE) run_joints(batch, s, front);
  else if (c->precise == SK_PRECISE_NOTHING) run_floats(batch, s, front);
  else if (c->precise == SK_PRECISE_CHAINS) run_chains(batch, s, front);
  else if (c->precise == SK_PRECISE_LOCALS) run_locals(batch, s, front);
  else run_binds(batch, s, front);
}

SK_KERNEL_END

#endif
