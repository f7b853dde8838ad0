/* sk_eight_avx2.c: see sk_eight.h. */
#include "sk_eight_parts.h"

#if SK_HAS_AVX2
#include <string.h>

SK_AVX2_BEGIN

#define ROWS SK_ROWS
#define HALF SK_HALF
#define GLOBAL_LANES (2 * ROWS * HALF) /* numbers of eight globals */

typedef struct eight_scratch {
  double *front;   /* (2, 12, 4) */
  double *globals; /* (J, 2, 12, 4) */
  sk_source_lanes sources[SK_SOURCES];
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
    s.sources[k].lines = (sk_line_lanes *)take(&at, c->line_count * sizeof(sk_line_lanes));
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

/* ---- locals ------------------------------------------------------------------------------------------------- */

static void load_ends(const sk_line_lanes *line, size_t offset, __m256 a[4], __m256 b[4]) {
  sk_load_cells(line->a, offset, a);
  sk_load_cells(line->a, offset + line->stride, b);
}

static void cubic_lanes(const sk_line_lanes *line, size_t offset, int count, __m256 *out) {
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

static void cubic_rotation(const sk_line_lanes *line, size_t offset, __m256 q[4]) {
  __m256 turns;
  int i;
  cubic_lanes(line, offset, 4, q);
  turns = _mm256_cmp_ps(sk_dot4(q, q), _mm256_set1_ps(SK_SHORTEST), _CMP_GT_OQ);
  for (i = 0; i < 4; i++) q[i] = _mm256_blendv_ps(_mm256_set1_ps(i == 3 ? 1.0f : 0.0f), q[i], turns);
}

void sk_mover_part(const sk_mover *mover, sk_part part, const sk_line_lanes *lines, const float *cell, __m256 *out) {
  __m256 a[4], b[4];
  const sk_line_lanes *line;
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

void sk_mover_mix(const sk_mover *mover, const sk_line_lanes *lines, const float *cell, sk_rotation rotation,
                  sk_mix *mix) {
  const sk_line_lanes *line;
  __m256 sign;
  int i;
  if (mover->lines[SK_PART_ROTATION] == SK_STILL) {
    for (i = 0; i < 4; i++) mix->a[i] = _mm256_set1_ps(cell[i]);
    sk_mix_one(mix);
    return;
  }
  line = &lines[mover->lines[SK_PART_ROTATION]];
  if (line->third) {
    cubic_rotation(line, mover->offsets[SK_PART_ROTATION], mix->a);
    sk_mix_one(mix);
    return;
  }
  load_ends(line, mover->offsets[SK_PART_ROTATION], mix->a, mix->b);
  sign = mover->half_turn ? sk_exact_sign(mix->a, mix->b) : sk_sign_of(sk_dot4(mix->a, mix->b));
  if (mover->wide && rotation == SK_SLERP) sk_wide_weights(sign, &line->from, &line->to, mix);
  else sk_near_weights(sign, &line->from, &line->to, mix);
}

/* T, R and S of a mover; S is left alone where it is always 1. */
static void mover_parts(const sk_source_lanes *source, int32_t number, sk_rotation rotation, __m256 t[3], sk_mix *mix,
                        __m256 s[3]) {
  const sk_mover *mover = &source->clip->movers[number];
  const float *cells = source->clip->constants + (size_t)number * SK_PART_COUNT * SK_CELL;
  sk_mover_part(mover, SK_PART_TRANSLATION, source->lines, cells, t);
  sk_mover_mix(mover, source->lines, cells + SK_CELL, rotation, mix);
  if (!mover->unit_scale) sk_mover_part(mover, SK_PART_SCALE, source->lines, cells + 2 * SK_CELL, s);
}

/* Lanes at rest whose rest matrix holds more than T, R and S do. */
static void odd_lanes(const sk_source_lanes *source, const sk_mover *mover, const sk_skeleton *skeleton,
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

static inline void halves_to_float(const __m256d low[ROWS], const __m256d high[ROWS], __m256 rows[ROWS]) {
  int i;
  for (i = 0; i < ROWS; i++) rows[i] = _mm256_set_m128(_mm256_cvtpd_ps(high[i]), _mm256_cvtpd_ps(low[i]));
}

/* The local of a mover; made in double where the clip asks for it. */
static inline void mix_rows(const sk_compiled *c, const sk_mix *mix, const __m256 t[3], const __m256 *s,
                            __m256 rows[ROWS]) {
  __m256d low[ROWS], high[ROWS];
  __m256 q[4];
  if (!c->careful) {
    sk_mix_sum(mix, q);
    sk_rows_from_trs(t, q, s, rows);
    return;
  }
  sk_precise_rows(mix, t, s, 0, low);
  sk_precise_rows(mix, t, s, 1, high);
  halves_to_float(low, high, rows);
}

static inline void mover_rows(const sk_eight *eight, const sk_source_lanes *source, int32_t number, __m256 rows[ROWS]) {
  const sk_mover *mover = &source->clip->movers[number];
  __m256 t[3], s[3];
  float local[ROWS][SK_LANES];
  sk_mix mix;
  mover_parts(source, number, eight->job->sampling->rotation, t, &mix, s);
  mix_rows(source->clip, &mix, t, mover->unit_scale ? NULL : s, rows);
  if (!mover->odd) return;
  store_local(rows, local);
  odd_lanes(source, mover, eight->job->skeleton, local);
  load_local(local, rows);
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

/* From a local in double, half the lanes each, to its global. `above` NULL: the local itself. */
static void chain_halves(const __m256d rows[2][ROWS], const double *above, double *global) {
  int half, i;
  for (half = 0; half < 2; half++, global += ROWS * HALF) {
    if (above) multiply(above + half * ROWS * HALF, rows[half], global);
    else
      for (i = 0; i < ROWS; i++) _mm256_storeu_pd(global + HALF * i, rows[half][i]);
  }
}

/* The same from one local for all lanes. */
static void chain(const double *same, const double *above, double *global) {
  __m256d rows[2][ROWS];
  int i;
  for (i = 0; i < ROWS; i++) rows[0][i] = rows[1][i] = _mm256_set1_pd(same[i]);
  chain_halves(rows, above, global);
}

/* Lanes of one half that rest, as odd_lanes has them. */
static void odd_half(const sk_source_lanes *source, const sk_mover *mover, const sk_skeleton *skeleton, int half,
                     __m256d rows[ROWS]) {
  const float *rest = skeleton->rest_local + 16 * (size_t)mover->joint;
  double local[ROWS][HALF];
  int lane, i;
  for (i = 0; i < ROWS; i++) _mm256_storeu_pd(local[i], rows[i]);
  for (lane = 0; lane < HALF; lane++) {
    const sk_place *places = source->places + (size_t)(HALF * half + lane) * source->clip->line_count;
    if (!sk_mover_rests(source->clip, mover, skeleton, places)) continue;
    for (i = 0; i < ROWS; i++) local[i][lane] = rest[i];
  }
  for (i = 0; i < ROWS; i++) rows[i] = _mm256_loadu_pd(local[i]);
}

/* From a mover's parent to its global, all of it in double. */
static void chain_mover(const sk_eight *eight, const sk_source_lanes *source, int32_t number, const double *above,
                        double *global) {
  const sk_mover *mover = &source->clip->movers[number];
  __m256d rows[2][ROWS];
  __m256 t[3], s[3];
  sk_mix mix;
  int half;
  mover_parts(source, number, eight->job->sampling->rotation, t, &mix, s);
  sk_precise_rows(&mix, t, mover->unit_scale ? NULL : s, 0, rows[0]);
  sk_precise_rows(&mix, t, mover->unit_scale ? NULL : s, 1, rows[1]);
  for (half = 0; mover->odd && half < 2; half++) odd_half(source, mover, eight->job->skeleton, half, rows[half]);
  chain_halves(rows, above, global);
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

/* The same, multiplied in double. */
static void store_precise_bind(const sk_eight *eight, const double *global, const float *bind, int32_t slot) {
  double inverse[ROWS], product[GLOBAL_LANES];
  __m256 rows[ROWS];
  int i;
  for (i = 0; i < ROWS; i++) inverse[i] = bind[i];
  chain(inverse, global, product);
  to_float(product, rows);
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

static void node_rows(const sk_eight *eight, const sk_source_lanes *source, uint32_t number,
                      float local[ROWS][SK_LANES]) {
  const sk_node *node = &source->clip->nodes[number];
  __m256 rows[ROWS];
  if (node->mover != SK_NONE) mover_rows(eight, source, node->mover, rows);
  else same_rows(source->clip->locals + (size_t)node->joint * ROWS, rows);
  store_local(rows, local);
}

/* Whether a node's rotation may be found together with that of another one of the same kind. */
static bool node_pairs(const sk_source_lanes *source, uint32_t number, bool wide) {
  const sk_node *node = &source->clip->nodes[number];
  const sk_mover *mover = node->mover == SK_NONE ? NULL : &source->clip->movers[node->mover];
  return mover && !mover->odd && !mover->half_turn && mover->wide == wide &&
         mover->lines[SK_PART_ROTATION] != SK_STILL && !source->lines[mover->lines[SK_PART_ROTATION]].third;
}

/* Two rotations, each step of both before the next one: while the one waits for a result the other has work. */
static inline void slerp_two(const sk_line_lanes *const line[2], const size_t offset[2], bool wide, sk_mix mix[2]) {
  __m256 x[2], sign[2];
  int k;
  for (k = 0; k < 2; k++) load_ends(line[k], offset[k], mix[k].a, mix[k].b);
  for (k = 0; k < 2; k++) x[k] = sk_dot4(mix[k].a, mix[k].b);
  for (k = 0; k < 2; k++) sign[k] = sk_sign_of(x[k]);
  for (k = 0; k < 2; k++) x[k] = _mm256_xor_ps(x[k], sign[k]);
  for (k = 0; wide && k < 2; k++) x[k] = sk_angle(x[k]);
  for (k = 0; !wide && k < 2; k++) x[k] = _mm256_sub_ps(x[k], _mm256_set1_ps(1.0f));
  for (k = 0; k < 2; k++) mix[k].wa = wide ? sk_sine_at(&line[k]->from, x[k]) : sk_series_at(&line[k]->from, x[k]);
  for (k = 0; k < 2; k++) mix[k].wb = wide ? sk_sine_at(&line[k]->to, x[k]) : sk_series_at(&line[k]->to, x[k]);
  for (k = 0; k < 2; k++) mix[k].wb = _mm256_xor_ps(mix[k].wb, sign[k]);
}

static void node_two_rows(const sk_source_lanes *source, uint32_t number, bool wide, float local[2][ROWS][SK_LANES]) {
  const sk_mover *mover[2];
  const sk_line_lanes *line[2];
  size_t offset[2];
  sk_mix mix[2];
  int k;
  for (k = 0; k < 2; k++) {
    mover[k] = &source->clip->movers[source->clip->nodes[number + (uint32_t)k].mover];
    line[k] = &source->lines[mover[k]->lines[SK_PART_ROTATION]];
    offset[k] = mover[k]->offsets[SK_PART_ROTATION];
  }
  if (wide) slerp_two(line, offset, true, mix);
  else slerp_two(line, offset, false, mix);
  for (k = 0; k < 2; k++) {
    const float *cells = source->clip->constants + (size_t)(mover[k] - source->clip->movers) * SK_PART_COUNT * SK_CELL;
    __m256 t[3], s[3], rows[ROWS];
    sk_mover_part(mover[k], SK_PART_TRANSLATION, source->lines, cells, t);
    if (!mover[k]->unit_scale) sk_mover_part(mover[k], SK_PART_SCALE, source->lines, cells + 2 * SK_CELL, s);
    mix_rows(source->clip, &mix[k], t, mover[k]->unit_scale ? NULL : s, rows);
    store_local(rows, local[k]);
  }
}

/* The locals of nodes start to end - 1. */
static void find_nodes(const sk_eight *eight, const sk_source_lanes *source, uint32_t start, uint32_t end,
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

/* ---- the run -------------------------------------------------------------------------------------------------- */

static void run_palette(const sk_eight *eight, const eight_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  uint32_t i, b;
  for (i = 0; i < c->node_count; i++) {
    const sk_node *node = &c->nodes[i];
    double *global = s->globals + (size_t)i * GLOBAL_LANES;
    const double *above = node->parent == SK_NONE ? front : s->globals + (size_t)node->parent * GLOBAL_LANES;
    if (node->mover != SK_NONE) chain_mover(eight, &s->sources[0], node->mover, above, global);
    else chain(c->locals + (size_t)node->joint * ROWS, above, global);
    for (b = node->first; b < node->first + node->count; b++)
      store_precise_bind(eight, global, c->binds[b].rows, c->binds[b].slot);
  }
}

static void run_joints(const sk_eight *eight, const eight_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  size_t j;
  for (j = 0; j < (size_t)c->joint_count; j++) {
    double *global = s->globals + j * GLOBAL_LANES;
    int32_t parent = eight->job->skeleton->parents[j], mover = c->mover_of[j];
    const double *above = parent < 0 ? front : s->globals + (size_t)parent * GLOBAL_LANES;
    if (mover != SK_NONE) chain_mover(eight, &s->sources[0], mover, above, global);
    else chain(c->locals + j * ROWS, above, global);
    store_joint(eight, global, j);
  }
}

static void run_blended(const sk_eight *eight, const eight_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  size_t j;
  for (j = 0; j < (size_t)c->joint_count; j++) {
    double *global = s->globals + j * GLOBAL_LANES;
    int32_t parent = eight->job->skeleton->parents[j], slot;
    const double *above = parent < 0 ? front : s->globals + (size_t)parent * GLOBAL_LANES;
    __m256d rows[2][ROWS];
    if (sk_eight_blended(eight, s->sources, j, rows)) chain_halves(rows, above, global);
    else chain(c->locals + j * ROWS, above, global);
    for (slot = c->first_slot[j]; slot != SK_NONE; slot = c->next_slot[slot])
      store_precise_bind(eight, global, eight->job->skin->inverse_bind + 16 * (size_t)slot, slot);
  }
}

static void run_blended_shallow(const sk_eight *eight, const eight_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  float first[ROWS * SK_LANES], *globals = (float *)s->globals;
  const float *base = float_front(front, first);
  size_t j;
  for (j = 0; j < (size_t)c->joint_count; j++) {
    int32_t parent = eight->job->skeleton->parents[j], slot;
    __m256d halves[2][ROWS];
    __m256 local[ROWS], rows[ROWS];
    if (sk_eight_blended(eight, s->sources, j, halves)) halves_to_float(halves[0], halves[1], local);
    else same_rows(c->locals + j * ROWS, local);
    chain_floats(parent < 0 ? base : globals + (size_t)parent * ROWS * SK_LANES, local, rows,
                 globals + j * ROWS * SK_LANES);
    for (slot = c->first_slot[j]; slot != SK_NONE; slot = c->next_slot[slot])
      store_bind(eight, rows, eight->job->skin->inverse_bind + 16 * (size_t)slot, slot);
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
  for (k = 0; k < eight->source_count; k++)
    sk_eight_find(eight->clips[k], eight->job->sampling, eight->times[k], &s.sources[k]);
  if (eight->source_count > 1 && clips[0]->all_shallow) run_blended_shallow(eight, &s, front);
  else if (eight->source_count > 1) run_blended(eight, &s, front);
  else if (eight->job->result == SK_PALETTE && clips[0]->shallow) run_shallow(eight, &s, front);
  else if (eight->job->result == SK_PALETTE) run_palette(eight, &s, front);
  else run_joints(eight, &s, front);
}

SK_AVX2_END

#endif
