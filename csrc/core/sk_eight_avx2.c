/* sk_eight_avx2.c: see sk_eight.h. */
#include "sk_eight_parts.h"

#if SK_HAS_AVX2
#include <string.h>

SK_AVX2_BEGIN

#define ROWS SK_ROWS
#define INLINE static inline __attribute__((always_inline))
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

/* T, R and S of a mover; S is left alone where it is always 1. */
static void mover_parts(const sk_source_lanes *source, int32_t number, sk_rotation rotation, __m256 t[3], sk_mix *mix,
                        __m256 s[3]) {
  const sk_mover *mover = &source->clip->movers[number];
  const float *cells = source->clip->constants + (size_t)number * SK_PART_COUNT * SK_CELL;
  sk_mover_part(mover, SK_PART_TRANSLATION, source->lines, cells, t);
  sk_mover_mix(mover, source->lines, cells + SK_CELL, rotation, mix);
  if (!mover->unit_scale) sk_mover_part(mover, SK_PART_SCALE, source->lines, cells + 2 * SK_CELL, s);
}

/* The local of eight lanes until it is multiplied: in float, or in double, one half of the lanes after the other. */
typedef union kept_local {
  float floats[ROWS][SK_LANES];
  double doubles[2][ROWS][HALF];
} kept_local;

static inline void keep_floats(const __m256 rows[ROWS], kept_local *kept) {
  int i;
  for (i = 0; i < ROWS; i++) _mm256_storeu_ps(kept->floats[i], rows[i]);
}

static inline void keep_half(const __m256d rows[ROWS], int half, kept_local *kept) {
  int i;
  for (i = 0; i < ROWS; i++) _mm256_storeu_pd(kept->doubles[half][i], rows[i]);
}

/* Made of T, R and S. `precise` is a constant where this is inlined. */
INLINE void keep_local(const sk_mix *mix, const __m256 t[3], const __m256 *s, sk_precise precise, kept_local *kept) {
  __m256 q[4], rows[ROWS];
  __m256d half[ROWS];
  if (precise >= SK_PRECISE_LOCALS) {
    sk_precise_rows(mix, t, s, 0, half);
    keep_half(half, 0, kept);
    sk_precise_rows(mix, t, s, 1, half);
    keep_half(half, 1, kept);
    return;
  }
  sk_mix_sum(mix, q);
  sk_rows_from_trs(t, q, s, rows);
  keep_floats(rows, kept);
}

/* One matrix for all lanes. */
static inline void keep_same(const double *same, sk_precise precise, kept_local *kept) {
  int i;
  for (i = 0; i < ROWS; i++) {
    if (precise < SK_PRECISE_LOCALS) {
      _mm256_storeu_ps(kept->floats[i], _mm256_set1_ps((float)same[i]));
    } else {
      _mm256_storeu_pd(kept->doubles[0][i], _mm256_set1_pd(same[i]));
      _mm256_storeu_pd(kept->doubles[1][i], _mm256_set1_pd(same[i]));
    }
  }
}

/* Lanes at rest whose rest matrix holds more than T, R and S do. */
static void keep_odd(const sk_source_lanes *source, const sk_mover *mover, const sk_skeleton *skeleton,
                     sk_precise precise, kept_local *kept) {
  const float *rest = skeleton->rest_local + 16 * (size_t)mover->joint;
  const sk_place *places = source->places;
  int lane, i;
  for (lane = 0; lane < SK_LANES; lane++, places += source->clip->line_count) {
    if (!sk_mover_rests(source->clip, mover, skeleton, places)) continue;
    for (i = 0; i < ROWS; i++) {
      if (precise < SK_PRECISE_LOCALS) kept->floats[i][lane] = rest[i];
      else kept->doubles[lane / HALF][i][lane % HALF] = rest[i];
    }
  }
}

INLINE void keep_mover(const sk_eight *eight, const sk_source_lanes *source, int32_t number, sk_precise precise,
                       kept_local *kept) {
  const sk_mover *mover = &source->clip->movers[number];
  __m256 t[3], s[3];
  sk_mix mix;
  mover_parts(source, number, eight->job->sampling->rotation, t, &mix, s);
  keep_local(&mix, t, mover->unit_scale ? NULL : s, precise, kept);
  if (mover->odd) keep_odd(source, mover, eight->job->skeleton, precise, kept);
}

/* ---- globals -------------------------------------------------------------------------------------------------- */

static inline __m256d kept_number(const kept_local *kept, sk_precise precise, int half, int i) {
  if (precise < SK_PRECISE_LOCALS) return _mm256_cvtps_pd(_mm_loadu_ps(kept->floats[i] + HALF * half));
  return _mm256_loadu_pd(kept->doubles[half][i]);
}

/* From a local to its global, half the lanes, and what that is in float. `above` NULL: the local itself. */
INLINE void chain_half(const double *above, const kept_local *kept, sk_precise precise, int half, double *global,
                       __m128 rows[ROWS]) {
  __m256d local[ROWS], product[ROWS];
  int row, column, i;
  for (i = 0; i < ROWS; i++) product[i] = local[i] = kept_number(kept, precise, half, i);
  for (row = 0; above && row < 3; row++, above += 4 * HALF) {
    __m256d a0 = _mm256_loadu_pd(above), a1 = _mm256_loadu_pd(above + HALF), a2 = _mm256_loadu_pd(above + 2 * HALF);
    for (column = 0; column < 4; column++) {
      __m256d sum = _mm256_mul_pd(a0, local[column]);
      sum = _mm256_fmadd_pd(a1, local[4 + column], sum);
      product[4 * row + column] = _mm256_fmadd_pd(a2, local[8 + column], sum);
    }
    product[4 * row + 3] = _mm256_add_pd(product[4 * row + 3], _mm256_loadu_pd(above + 3 * HALF));
  }
  for (i = 0; i < ROWS; i++) {
    _mm256_storeu_pd(global + HALF * i, product[i]);
    rows[i] = _mm256_cvtpd_ps(product[i]);
  }
}

/* The same of all lanes; `precise` is a constant where this is inlined. */
INLINE void chain(const double *above, const kept_local *kept, sk_precise precise, double *global,
                  __m256 rows[ROWS]) {
  __m128 half[2][ROWS];
  int i;
  chain_half(above, kept, precise, 0, global, half[0]);
  chain_half(above ? above + ROWS * HALF : NULL, kept, precise, 1, global + ROWS * HALF, half[1]);
  for (i = 0; i < ROWS; i++) rows[i] = _mm256_set_m128(half[1][i], half[0][i]);
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

/* One row of eight matrices; `offset` counts floats from the start of a pose's result. */
static inline void store_row(const sk_eight *eight, size_t offset, const __m256 row[4], size_t lanes) {
  __m256 turned[4];
  size_t lane;
  sk_turn(row[0], row[1], row[2], row[3], turned);
  for (lane = 0; lane < HALF; lane++) {
    if (lane < lanes) _mm_storeu_ps(eight->out[lane] + offset, _mm256_castps256_ps128(turned[lane]));
    if (lane + HALF < lanes) _mm_storeu_ps(eight->out[lane + HALF] + offset, _mm256_extractf128_ps(turned[lane], 1));
  }
}

static inline void store_last_row(const sk_eight *eight, size_t offset, size_t lanes) {
  size_t lane;
  for (lane = 0; lane < lanes; lane++)
    _mm_storeu_ps(eight->out[lane] + offset, _mm_setr_ps(0.0f, 0.0f, 0.0f, 1.0f));
}

static inline size_t matrix_floats(const sk_eight *eight) { return eight->job->affine ? 12 : 16; }

static void store_rows(const sk_eight *eight, size_t number, const __m256 rows[ROWS]) {
  size_t offset = number * matrix_floats(eight);
  int row;
  for (row = 0; row < 3; row++) store_row(eight, offset + 4 * (size_t)row, rows + 4 * row, eight->lanes);
  if (!eight->job->affine) store_last_row(eight, offset + ROWS, eight->lanes);
}

/* `lanes` is a constant where this is inlined and all count: then there is no branch for each of them. */
static inline void store_product(const sk_eight *eight, const __m256 g[ROWS], const float *bind, int32_t slot,
                                 size_t lanes) {
  size_t offset = (size_t)slot * matrix_floats(eight);
  int row, column;
  for (row = 0; row < 3; row++) {
    __m256 product[4];
    for (column = 0; column < 4; column++) {
      __m256 sum = _mm256_mul_ps(g[4 * row], _mm256_set1_ps(bind[column]));
      sum = _mm256_fmadd_ps(g[4 * row + 1], _mm256_set1_ps(bind[4 + column]), sum);
      product[column] = _mm256_fmadd_ps(g[4 * row + 2], _mm256_set1_ps(bind[8 + column]), sum);
    }
    product[3] = _mm256_add_ps(product[3], g[4 * row + 3]);
    store_row(eight, offset + 4 * (size_t)row, product, lanes);
  }
  if (!eight->job->affine) store_last_row(eight, offset + ROWS, lanes);
}

static void store_bind(const sk_eight *eight, const __m256 g[ROWS], const float *bind, int32_t slot) {
  if (eight->lanes == SK_LANES) store_product(eight, g, bind, slot, SK_LANES);
  else store_product(eight, g, bind, slot, eight->lanes);
}

/* The same, multiplied in double. */
static void store_precise_bind(const sk_eight *eight, const double *global, const float *bind, int32_t slot) {
  __m128 half[2][ROWS];
  __m256 rows[ROWS];
  int h, row, column, i;
  for (h = 0; h < 2; h++)
    for (row = 0; row < 3; row++, global += 4 * HALF) {
      __m256d a0 = _mm256_loadu_pd(global), a1 = _mm256_loadu_pd(global + HALF);
      __m256d a2 = _mm256_loadu_pd(global + 2 * HALF);
      for (column = 0; column < 4; column++) {
        __m256d sum = _mm256_mul_pd(a0, _mm256_set1_pd(bind[column]));
        sum = _mm256_fmadd_pd(a1, _mm256_set1_pd(bind[4 + column]), sum);
        sum = _mm256_fmadd_pd(a2, _mm256_set1_pd(bind[8 + column]), sum);
        if (column == 3) sum = _mm256_add_pd(sum, _mm256_loadu_pd(global + 3 * HALF));
        half[h][4 * row + column] = _mm256_cvtpd_ps(sum);
      }
    }
  for (i = 0; i < ROWS; i++) rows[i] = _mm256_set_m128(half[1][i], half[0][i]);
  store_rows(eight, (size_t)slot, rows);
}

static inline void store_binds(const sk_eight *eight, const __m256 rows[ROWS], const sk_node *node) {
  const sk_bind *bind = eight->clips[0]->compiled->binds + node->first;
  uint32_t i;
  for (i = 0; i < node->count; i++) store_bind(eight, rows, bind[i].rows, bind[i].slot);
}

static void store_positions(const sk_eight *eight, const double *global, size_t joint) {
  size_t lane, row;
  for (lane = 0; lane < eight->lanes; lane++)
    for (row = 0; row < 3; row++)
      eight->out[lane][3 * joint + row] =
          (float)global[lane / HALF * (ROWS * HALF) + (4 * row + 3) * HALF + lane % HALF];
}

static void store_joint(const sk_eight *eight, const double *global, const __m256 rows[ROWS], size_t joint) {
  if (eight->job->result == SK_POSITIONS) store_positions(eight, global, joint);
  else store_rows(eight, joint, rows);
}

/* ---- locals, a few nodes at a time -------------------------------------------------------------------------------- */

INLINE void keep_node(const sk_eight *eight, const sk_source_lanes *source, uint32_t number, sk_precise precise,
                      kept_local *kept) {
  const sk_node *node = &source->clip->nodes[number];
  if (node->mover != SK_NONE) keep_mover(eight, source, node->mover, precise, kept);
  else keep_same(source->clip->locals + (size_t)node->joint * ROWS, precise, kept);
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
  for (k = 0; k < 2; k++) sk_load_ends(line[k], offset[k], mix[k].a, mix[k].b);
  for (k = 0; k < 2; k++) x[k] = sk_dot4(mix[k].a, mix[k].b);
  for (k = 0; k < 2; k++) sign[k] = sk_sign_of(x[k]);
  for (k = 0; k < 2; k++) x[k] = _mm256_xor_ps(x[k], sign[k]);
  for (k = 0; wide && k < 2; k++) x[k] = sk_angle(x[k]);
  for (k = 0; !wide && k < 2; k++) x[k] = _mm256_sub_ps(x[k], _mm256_set1_ps(1.0f));
  for (k = 0; k < 2; k++) mix[k].wa = wide ? sk_sine_at(&line[k]->from, x[k]) : sk_series_at(&line[k]->from, x[k]);
  for (k = 0; k < 2; k++) mix[k].wb = wide ? sk_sine_at(&line[k]->to, x[k]) : sk_series_at(&line[k]->to, x[k]);
  for (k = 0; k < 2; k++) mix[k].wb = _mm256_xor_ps(mix[k].wb, sign[k]);
}

INLINE void keep_two_nodes(const sk_source_lanes *source, uint32_t number, bool wide, sk_precise precise,
                           kept_local kept[2]) {
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
    __m256 t[3], s[3];
    sk_mover_part(mover[k], SK_PART_TRANSLATION, source->lines, cells, t);
    if (!mover[k]->unit_scale) sk_mover_part(mover[k], SK_PART_SCALE, source->lines, cells + 2 * SK_CELL, s);
    keep_local(&mix[k], t, mover[k]->unit_scale ? NULL : s, precise, &kept[k]);
  }
}

/* The locals of nodes start to end - 1. Inlined wherever it is called: the call and its copies took a tenth. */
INLINE void keep_nodes(const sk_eight *eight, const sk_source_lanes *source, uint32_t start, uint32_t end,
                       sk_precise precise, kept_local *kept) {
  bool slerp = eight->job->sampling->rotation == SK_SLERP;
  uint32_t i;
  for (i = start; i < end; i++, kept++) {
    bool wide = slerp && !node_pairs(source, i, false);
    if (slerp && i + 1 < end && node_pairs(source, i, wide) && node_pairs(source, i + 1, wide)) {
      keep_two_nodes(source, i++, wide, precise, kept++);
    } else {
      keep_node(eight, source, i, precise, kept);
    }
  }
}

#define NODES 8 /* of a pass */

/* ---- short chains, in float ------------------------------------------------------------------------------- */

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

/* From a local to its global, in `rows` and, where it is not NULL, in memory for the children. */
static inline void chain_floats(const float *above, const kept_local *kept, __m256 rows[ROWS], float *global) {
  __m256 local[ROWS];
  int i;
  for (i = 0; i < ROWS; i++) local[i] = _mm256_loadu_ps(kept->floats[i]);
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

/* Some nodes are sampled before they are multiplied: the waits of a short piece of work overlap with those of the
   next one, those of a long piece do not. */
static void run_floats(const sk_eight *eight, const eight_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  float first[ROWS * SK_LANES], *globals = (float *)s->globals;
  const float *base = float_front(front, first);
  kept_local locals[NODES];
  uint32_t i, start;
  for (start = 0; start < c->node_count; start += NODES) {
    uint32_t end = start + NODES < c->node_count ? start + NODES : c->node_count;
    keep_nodes(eight, &s->sources[0], start, end, SK_PRECISE_NOTHING, locals);
    for (i = start; i < end; i++) {
      const sk_node *node = &c->nodes[i];
      const float *above = node->parent == SK_NONE ? base : globals + (size_t)node->parent * ROWS * SK_LANES;
      __m256 rows[ROWS];
      chain_floats(above, &locals[i - start], rows, node->carries ? globals + (size_t)i * ROWS * SK_LANES : NULL);
      store_binds(eight, rows, node);
    }
  }
}

/* ---- longer chains, in double ------------------------------------------------------------------------------ */

/* `precise` is a constant where this is inlined. */
INLINE void run_doubles(const sk_eight *eight, const eight_scratch *s, const double *front, sk_precise precise) {
  const sk_compiled *c = s->sources[0].clip;
  kept_local locals[NODES];
  uint32_t i, b, start;
  for (start = 0; start < c->node_count; start += NODES) {
    uint32_t end = start + NODES < c->node_count ? start + NODES : c->node_count;
    keep_nodes(eight, &s->sources[0], start, end, precise, locals);
    for (i = start; i < end; i++) {
      const sk_node *node = &c->nodes[i];
      const double *above = node->parent == SK_NONE ? front : s->globals + (size_t)node->parent * GLOBAL_LANES;
      double *global = s->globals + (size_t)i * GLOBAL_LANES;
      __m256 rows[ROWS];
      chain(above, &locals[i - start], precise, global, rows);
      if (precise != SK_PRECISE_BINDS) store_binds(eight, rows, node);
      for (b = node->first; precise == SK_PRECISE_BINDS && b < node->first + node->count; b++)
        store_precise_bind(eight, global, c->binds[b].rows, c->binds[b].slot);
    }
  }
}

static void run_chains(const sk_eight *eight, const eight_scratch *s, const double *front) {
  run_doubles(eight, s, front, SK_PRECISE_CHAINS);
}

static void run_locals(const sk_eight *eight, const eight_scratch *s, const double *front) {
  run_doubles(eight, s, front, SK_PRECISE_LOCALS);
}

static void run_binds(const sk_eight *eight, const eight_scratch *s, const double *front) {
  run_doubles(eight, s, front, SK_PRECISE_BINDS);
}

/* ---- the run -------------------------------------------------------------------------------------------------- */

static void run_joints(const sk_eight *eight, const eight_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  kept_local local;
  __m256 rows[ROWS];
  size_t j;
  for (j = 0; j < (size_t)c->joint_count; j++) {
    double *global = s->globals + j * GLOBAL_LANES;
    int32_t parent = eight->job->skeleton->parents[j], mover = c->mover_of[j];
    const double *above = parent < 0 ? front : s->globals + (size_t)parent * GLOBAL_LANES;
    if (mover != SK_NONE) keep_mover(eight, &s->sources[0], mover, SK_PRECISE_LOCALS, &local);
    else keep_same(c->locals + j * ROWS, SK_PRECISE_LOCALS, &local);
    chain(above, &local, SK_PRECISE_LOCALS, global, rows);
    store_joint(eight, global, rows, j);
  }
}

static void run_blended(const sk_eight *eight, const eight_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  kept_local local;
  __m256d halves[2][ROWS];
  __m256 rows[ROWS];
  size_t j;
  for (j = 0; j < (size_t)c->joint_count; j++) {
    double *global = s->globals + j * GLOBAL_LANES;
    int32_t parent = eight->job->skeleton->parents[j], slot;
    const double *above = parent < 0 ? front : s->globals + (size_t)parent * GLOBAL_LANES;
    if (sk_eight_blended(eight, s->sources, j, halves)) {
      keep_half(halves[0], 0, &local);
      keep_half(halves[1], 1, &local);
    } else {
      keep_same(c->locals + j * ROWS, SK_PRECISE_LOCALS, &local);
    }
    chain(above, &local, SK_PRECISE_LOCALS, global, rows);
    for (slot = c->first_slot[j]; slot != SK_NONE; slot = c->next_slot[slot])
      store_precise_bind(eight, global, eight->job->skin->inverse_bind + 16 * (size_t)slot, slot);
  }
}

static void run_blended_floats(const sk_eight *eight, const eight_scratch *s, const double *front) {
  const sk_compiled *c = s->sources[0].clip;
  float first[ROWS * SK_LANES], *globals = (float *)s->globals;
  const float *base = float_front(front, first);
  size_t j;
  for (j = 0; j < (size_t)c->joint_count; j++) {
    int32_t parent = eight->job->skeleton->parents[j], slot;
    kept_local local;
    __m256 rows[ROWS];
    if (sk_eight_blended_floats(eight, s->sources, j, rows)) keep_floats(rows, &local);
    else keep_same(c->locals + j * ROWS, SK_PRECISE_NOTHING, &local);
    chain_floats(parent < 0 ? base : globals + (size_t)parent * ROWS * SK_LANES, &local, rows,
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
  if (eight->source_count > 1 && clips[0]->blends_in_float) run_blended_floats(eight, &s, front);
  else if (eight->source_count > 1) run_blended(eight, &s, front);
  else if (eight->job->result != SK_PALETTE) run_joints(eight, &s, front);
  else if (clips[0]->precise == SK_PRECISE_NOTHING) run_floats(eight, &s, front);
  else if (clips[0]->precise == SK_PRECISE_CHAINS) run_chains(eight, &s, front);
  else if (clips[0]->precise == SK_PRECISE_LOCALS) run_locals(eight, &s, front);
  else run_binds(eight, &s, front);
}

SK_AVX2_END

#endif
