/* sk_palette_avx2.c: the SIMD twin of sampling a compiled clip into globals, positions and palettes.

   One pose goes eight joints a vector up to the locals, then joint by joint, a row a vector. A batch goes eight
   poses a vector all the way: find the keys of every line; interpolate and multiply joint after joint; multiply
   with the inverse binds and turn the lanes into matrices. Chains are multiplied in double, as on the plain path,
   because float alone leaves too little of 1e-6 after some 50 joints; the last product is in float. Both forms
   do the same operations in the same order, so that a pose has the same bits alone and in a batch. */
#include "sk_lanes.h"
#include "sk_palette_twin.h"

#if SK_HAS_AVX2
#include <string.h>

SK_AVX2_BEGIN

#define ROWS 12

/* ---- one pose: locals ------------------------------------------------------------------------------- */

/* The three rows of eight joints, as (8, 12) floats. */
static void octet_locals(const sk_octet *octet, const sk_place *places, sk_rotation rotation, float *out) {
  __m256 t[3], q[4], s[3], rows[ROWS], turned[4];
  int row, lane;
  sk_octet_parts(octet, places, rotation, t, q, s);
  sk_rows_from_trs(t, q, s, rows);
  for (row = 0; row < 3; row++) {
    sk_turn(rows[4 * row], rows[4 * row + 1], rows[4 * row + 2], rows[4 * row + 3], turned);
    for (lane = 0; lane < 4; lane++) {
      _mm_storeu_ps(out + lane * ROWS + 4 * row, _mm256_castps256_ps128(turned[lane]));
      _mm_storeu_ps(out + (lane + 4) * ROWS + 4 * row, _mm256_extractf128_ps(turned[lane], 1));
    }
  }
}

/* Joints at rest whose rest matrix holds more than T, R and S do. */
static void odd_locals(const sk_palette_job *job, const sk_compiled *c, const sk_place *places, float *moving) {
  uint32_t i;
  for (i = 0; i < c->mover_count; i++)
    if (c->movers[i].odd && sk_mover_rests(c, &c->movers[i], job->skeleton, places))
      memcpy(moving + (size_t)i * ROWS, job->skeleton->rest_local + 16 * (size_t)c->movers[i].joint,
             ROWS * sizeof(float));
}

/* ---- one pose: globals and results ---------------------------------------------------------------------- */

static void rows_multiply(const double *a, const __m256d b[3], double *out) {
  int row;
  for (row = 0; row < 3; row++, a += 4) {
    __m256d sum = _mm256_mul_pd(_mm256_set1_pd(a[0]), b[0]);
    sum = _mm256_fmadd_pd(_mm256_set1_pd(a[1]), b[1], sum);
    sum = _mm256_fmadd_pd(_mm256_set1_pd(a[2]), b[2], sum);
    sum = _mm256_add_pd(sum, _mm256_blend_pd(_mm256_setzero_pd(), _mm256_loadu_pd(a), 8));
    _mm256_storeu_pd(out + 4 * row, sum);
  }
}

/* `globals` holds room for the parent of all roots in front. */
static void pose_globals(const sk_palette_job *job, const sk_compiled *c, const float *moving, size_t n,
                         double *globals) {
  bool front = sk_palette_front(job, n, globals - ROWS);
  int32_t j;
  for (j = 0; j < c->joint_count; j++) {
    double *global = globals + (size_t)j * ROWS;
    int32_t parent = job->skeleton->parents[j], mover = c->mover_of[j];
    __m256d local[3];
    int row;
    for (row = 0; row < 3; row++)
      local[row] = mover == SK_NONE ? _mm256_loadu_pd(c->locals + (size_t)j * ROWS + 4 * row)
                                    : _mm256_cvtps_pd(_mm_loadu_ps(moving + (size_t)mover * ROWS + 4 * row));
    if (parent >= 0) {
      rows_multiply(globals + (size_t)parent * ROWS, local, global);
    } else if (front) {
      rows_multiply(globals - ROWS, local, global);
    } else {
      for (row = 0; row < 3; row++) _mm256_storeu_pd(global + 4 * row, local[row]);
    }
  }
}

static const float last_row[4] = {0.0f, 0.0f, 0.0f, 1.0f};

static void write_rows(const __m128 rows[3], bool affine, float *out) {
  _mm_storeu_ps(out, rows[0]);
  _mm_storeu_ps(out + 4, rows[1]);
  _mm_storeu_ps(out + 8, rows[2]);
  if (!affine) _mm_storeu_ps(out + 12, _mm_loadu_ps(last_row));
}

static void write_slots(const sk_palette_job *job, const sk_compiled *c, int32_t j, const double *global, float *out) {
  size_t floats = job->affine ? 12 : 16;
  int32_t i;
  for (i = c->first_slot[j]; i < c->first_slot[j + 1]; i++) {
    const float *bind = job->skin->inverse_bind + 16 * (size_t)c->slots[i];
    __m128 b0 = _mm_loadu_ps(bind), b1 = _mm_loadu_ps(bind + 4), b2 = _mm_loadu_ps(bind + 8), rows[3];
    int row;
    for (row = 0; row < 3; row++) {
      __m128 g = _mm256_cvtpd_ps(_mm256_loadu_pd(global + 4 * row));
      __m128 sum = _mm_mul_ps(_mm_shuffle_ps(g, g, 0x00), b0);
      sum = _mm_fmadd_ps(_mm_shuffle_ps(g, g, 0x55), b1, sum);
      sum = _mm_fmadd_ps(_mm_shuffle_ps(g, g, 0xAA), b2, sum);
      rows[row] = _mm_add_ps(sum, _mm_blend_ps(_mm_setzero_ps(), g, 8));
    }
    write_rows(rows, job->affine, out + (size_t)c->slots[i] * floats);
  }
}

static void write_pose(const sk_palette_job *job, const sk_compiled *c, const double *globals, float *out) {
  size_t floats = job->affine ? 12 : 16;
  int32_t j;
  for (j = 0; j < c->joint_count; j++, globals += ROWS) {
    __m128 rows[3];
    int row;
    if (job->result == SK_PALETTE) {
      write_slots(job, c, j, globals, out);
      continue;
    }
    for (row = 0; row < 3; row++) rows[row] = _mm256_cvtpd_ps(_mm256_loadu_pd(globals + 4 * row));
    if (job->result == SK_GLOBALS) {
      write_rows(rows, job->affine, out + (size_t)j * floats);
      continue;
    }
    for (row = 0; row < 3; row++) out[3 * (size_t)j + (size_t)row] = (float)globals[4 * row + 3];
  }
}

/* Scratch of one pose, in this order: globals behind the front, places, locals of the movers, cubic cells. */
typedef struct one_scratch {
  double *globals;
  sk_place *places;
  float *moving, *cubic;
  size_t bytes;
} one_scratch;

static one_scratch lay_out_one(const sk_compiled *c, uintptr_t memory) {
  one_scratch s;
  size_t globals = ((size_t)c->joint_count + 1) * ROWS * sizeof(double);
  size_t places = ((size_t)c->line_count + 1) * sizeof(sk_place);
  size_t moving = (size_t)c->octet_count * SK_LANES * ROWS * sizeof(float);
  s.globals = (double *)(memory + ROWS * sizeof(double));
  s.places = (sk_place *)(memory + globals);
  s.moving = (float *)(memory + globals + places);
  s.cubic = (float *)(memory + globals + places + moving);
  s.bytes = globals + places + moving + c->cubic_floats * sizeof(float);
  return s;
}

static void run_one(const sk_palette_job *job, size_t n, void *scratch) {
  const sk_clip *clip = job->sampling->clip;
  const sk_compiled *c = clip->compiled;
  one_scratch s = lay_out_one(c, (uintptr_t)scratch);
  double time = sk_clip_local_time(clip, job->times[n], job->sampling->loop);
  uint32_t i;
  sk_find_places(clip, time, s.cubic, s.places);
  for (i = 0; i < c->octet_count; i++)
    octet_locals(&c->octets[i], s.places, job->sampling->rotation, s.moving + (size_t)i * SK_LANES * ROWS);
  if (c->odd_count) odd_locals(job, c, s.places, s.moving);
  pose_globals(job, c, s.moving, n, s.globals);
  write_pose(job, c, s.globals, job->out + n * sk_palette_floats(job));
}

/* ---- eight poses: keys ------------------------------------------------------------------------------------ */

/* A line at eight times. */
typedef struct line_lanes {
  const float *a[SK_LANES];
  size_t stride;
  sk_series from, to;
} line_lanes;

typedef struct batch_scratch {
  line_lanes *lines;
  double *globals; /* (1 + J, 2, 12, 4): the front of the roots first */
  sk_place *places; /* (8, lines) */
  float *cubic;     /* (8, cubic_floats) */
  size_t bytes;
} batch_scratch;

#define GLOBAL_LANES (2 * ROWS * 4)

static batch_scratch lay_out_batch(const sk_compiled *c, uintptr_t memory) {
  batch_scratch s;
  size_t lines = (size_t)c->line_count * sizeof(line_lanes);
  size_t globals = ((size_t)c->joint_count + 1) * GLOBAL_LANES * sizeof(double);
  size_t places = c->odd_count ? (size_t)c->line_count * SK_LANES * sizeof(sk_place) : 0;
  s.lines = (line_lanes *)memory;
  s.globals = (double *)(memory + lines + GLOBAL_LANES * sizeof(double));
  s.places = (sk_place *)(memory + lines + globals);
  s.cubic = (float *)(memory + lines + globals + places);
  s.bytes = lines + globals + places + SK_LANES * c->cubic_floats * sizeof(float);
  return s;
}

static void find_lines(const sk_sampling *sampling, const double times[SK_LANES], batch_scratch *s) {
  const sk_clip *clip = sampling->clip;
  const sk_compiled *c = clip->compiled;
  uint32_t i;
  for (i = 0; i < c->line_count; i++) {
    line_lanes *line = &s->lines[i];
    _Alignas(32) float along[SK_LANES];
    sk_place place = {NULL, 0, 0.0f};
    __m256 u;
    int lane;
    for (lane = 0; lane < SK_LANES; lane++) {
      sk_find_place(&c->lines[i], times[lane], clip->key_tolerance, s->cubic + (size_t)lane * c->cubic_floats, &place);
      if (c->odd_count) s->places[(size_t)lane * c->line_count + i] = place;
      line->a[lane] = place.a;
      along[lane] = place.u;
    }
    line->stride = place.stride;
    u = _mm256_load_ps(along);
    line->from = sk_series_of(_mm256_sub_ps(_mm256_set1_ps(1.0f), u), sampling->rotation);
    line->to = sk_series_of(u, sampling->rotation);
  }
}

/* ---- eight poses: joints --------------------------------------------------------------------------------- */

static void lane_ends(const line_lanes *line, size_t offset, __m256 a[4], __m256 b[4]) {
  const float *at[SK_LANES];
  int lane;
  for (lane = 0; lane < SK_LANES; lane++) at[lane] = line->a[lane] + offset;
  sk_load_cells(at, a);
  for (lane = 0; lane < SK_LANES; lane++) at[lane] += line->stride;
  sk_load_cells(at, b);
}

static void mover_part(const sk_mover *mover, sk_part part, const line_lanes *lines, const float *cell, __m256 *out) {
  __m256 a[4], b[4];
  int i;
  if (mover->lines[part] == SK_STILL) {
    for (i = 0; i < 3; i++) out[i] = _mm256_set1_ps(cell[i]);
    return;
  }
  lane_ends(&lines[mover->lines[part]], mover->offsets[part], a, b);
  sk_lerp(a, b, lines[mover->lines[part]].to.terms[0], 3, out);
}

static void mover_rotation(const sk_mover *mover, const line_lanes *lines, const float *cell, sk_rotation rotation,
                           __m256 q[4]) {
  const line_lanes *line = &lines[mover->lines[SK_PART_ROTATION]];
  __m256 a[4], b[4];
  int i;
  if (mover->lines[SK_PART_ROTATION] == SK_STILL) {
    for (i = 0; i < 4; i++) q[i] = _mm256_set1_ps(cell[i]);
    return;
  }
  lane_ends(line, mover->offsets[SK_PART_ROTATION], a, b);
  if (mover->wide && rotation == SK_SLERP) sk_slerp_wide(a, b, line->to.terms[0], q);
  else sk_slerp_near(a, b, &line->from, &line->to, q);
}

static void mover_local(const sk_compiled *c, int32_t number, const line_lanes *lines, sk_rotation rotation,
                        float local[ROWS][SK_LANES]) {
  const sk_mover *mover = &c->movers[number];
  const float *cells = c->constants + (size_t)number * SK_PART_COUNT * SK_CELL;
  __m256 t[3], q[4], s[3], rows[ROWS];
  int i;
  mover_part(mover, SK_PART_TRANSLATION, lines, cells, t);
  mover_rotation(mover, lines, cells + SK_CELL, rotation, q);
  if (!mover->unit_scale) mover_part(mover, SK_PART_SCALE, lines, cells + 2 * SK_CELL, s);
  sk_rows_from_trs(t, q, mover->unit_scale ? NULL : s, rows);
  for (i = 0; i < ROWS; i++) _mm256_storeu_ps(local[i], rows[i]);
}

static void odd_lanes(const sk_compiled *c, const sk_mover *mover, const sk_skeleton *skeleton,
                      const sk_place *places, float local[ROWS][SK_LANES]) {
  const float *rest = skeleton->rest_local + 16 * (size_t)mover->joint;
  int lane, i;
  for (lane = 0; lane < SK_LANES; lane++, places += c->line_count) {
    if (!sk_mover_rests(c, mover, skeleton, places)) continue;
    for (i = 0; i < ROWS; i++) local[i][lane] = rest[i];
  }
}

static void lanes_multiply(const double *a, const __m256d b[ROWS], double *out) {
  int row, column;
  for (row = 0; row < 3; row++) {
    __m256d a0 = _mm256_loadu_pd(a + 16 * row), a1 = _mm256_loadu_pd(a + 16 * row + 4);
    __m256d a2 = _mm256_loadu_pd(a + 16 * row + 8);
    for (column = 0; column < 4; column++) {
      __m256d sum = _mm256_mul_pd(a0, b[column]);
      sum = _mm256_fmadd_pd(a1, b[4 + column], sum);
      sum = _mm256_fmadd_pd(a2, b[8 + column], sum);
      if (column == 3) sum = _mm256_add_pd(sum, _mm256_loadu_pd(a + 16 * row + 12));
      _mm256_storeu_pd(out + 16 * row + 4 * column, sum);
    }
  }
}

/* The globals of joint j, four lanes at a time. */
static void lanes_global(const sk_compiled *c, int32_t j, const double *parent, const float local[ROWS][SK_LANES],
                         double *global) {
  int half, i;
  for (half = 0; half < 2; half++, global += ROWS * 4) {
    __m256d rows[ROWS];
    for (i = 0; i < ROWS; i++)
      rows[i] = local ? _mm256_cvtps_pd(_mm_loadu_ps(&local[i][4 * half]))
                      : _mm256_set1_pd(c->locals[(size_t)j * ROWS + (size_t)i]);
    if (parent) {
      lanes_multiply(parent + half * ROWS * 4, rows, global);
      continue;
    }
    for (i = 0; i < ROWS; i++) _mm256_storeu_pd(global + 4 * i, rows[i]);
  }
}

static bool lanes_front(const sk_palette_job *job, size_t first, size_t lanes, double *front) {
  double one[ROWS];
  size_t lane, i;
  for (lane = 0; lane < SK_LANES; lane++) {
    if (!sk_palette_front(job, first + (lane < lanes ? lane : 0), one)) return false;
    for (i = 0; i < ROWS; i++) front[lane / 4 * (ROWS * 4) + 4 * i + lane % 4] = one[i];
  }
  return true;
}

/* ---- eight poses: results --------------------------------------------------------------------------------- */

/* Where the matrices of eight poses go; of fewer poses the first `lanes` count. */
typedef struct lanes_out {
  float *at[SK_LANES];
  size_t lanes;
  bool affine;
} lanes_out;

static void store_rows(const lanes_out *out, size_t offset, const __m256 rows[ROWS]) {
  __m256 turned[4];
  size_t lane;
  int row;
  for (row = 0; row < 3; row++) {
    sk_turn(rows[4 * row], rows[4 * row + 1], rows[4 * row + 2], rows[4 * row + 3], turned);
    for (lane = 0; lane < 4; lane++) {
      if (lane < out->lanes) _mm_storeu_ps(out->at[lane] + offset + 4 * row, _mm256_castps256_ps128(turned[lane]));
      if (lane + 4 < out->lanes)
        _mm_storeu_ps(out->at[lane + 4] + offset + 4 * row, _mm256_extractf128_ps(turned[lane], 1));
    }
  }
  if (out->affine) return;
  for (lane = 0; lane < out->lanes; lane++) _mm_storeu_ps(out->at[lane] + offset + 12, _mm_loadu_ps(last_row));
}

static void lanes_to_float(const double *global, __m256 rows[ROWS]) {
  int i;
  for (i = 0; i < ROWS; i++)
    rows[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(_mm256_loadu_pd(global + 4 * i))),
                                   _mm256_cvtpd_ps(_mm256_loadu_pd(global + ROWS * 4 + 4 * i)), 1);
}

static void lanes_slots(const sk_palette_job *job, const sk_compiled *c, int32_t j, const __m256 g[ROWS],
                        const lanes_out *out) {
  size_t floats = job->affine ? 12 : 16;
  int32_t i;
  for (i = c->first_slot[j]; i < c->first_slot[j + 1]; i++) {
    const float *bind = job->skin->inverse_bind + 16 * (size_t)c->slots[i];
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
    store_rows(out, (size_t)c->slots[i] * floats, rows);
  }
}

static void lanes_positions(const double *global, int32_t j, const lanes_out *out) {
  size_t lane;
  int row;
  for (lane = 0; lane < out->lanes; lane++)
    for (row = 0; row < 3; row++)
      out->at[lane][3 * (size_t)j + (size_t)row] =
          (float)global[lane / 4 * (ROWS * 4) + (size_t)(16 * row + 12) + lane % 4];
}

static void run_eight(const sk_palette_job *job, size_t first, size_t lanes, void *scratch) {
  const sk_sampling *sampling = job->sampling;
  const sk_compiled *c = sampling->clip->compiled;
  batch_scratch s = lay_out_batch(c, (uintptr_t)scratch);
  lanes_out out = {{NULL}, lanes, job->affine};
  double times[SK_LANES];
  size_t lane, floats = sk_palette_floats(job);
  bool front = lanes_front(job, first, lanes, s.globals - GLOBAL_LANES);
  int32_t j;
  for (lane = 0; lane < SK_LANES; lane++) {
    size_t n = first + (lane < lanes ? lane : 0);
    times[lane] = sk_clip_local_time(sampling->clip, job->times[n], sampling->loop);
    out.at[lane] = job->out + n * floats;
  }
  find_lines(sampling, times, &s);
  for (j = 0; j < c->joint_count; j++) {
    double *global = s.globals + (size_t)j * GLOBAL_LANES;
    int32_t parent = job->skeleton->parents[j], mover = c->mover_of[j];
    const double *above = parent >= 0 ? s.globals + (size_t)parent * GLOBAL_LANES
                          : front     ? s.globals - GLOBAL_LANES
                                      : NULL;
    float local[ROWS][SK_LANES];
    __m256 rows[ROWS];
    if (mover != SK_NONE) mover_local(c, mover, s.lines, sampling->rotation, local);
    if (mover != SK_NONE && c->movers[mover].odd) odd_lanes(c, &c->movers[mover], job->skeleton, s.places, local);
    lanes_global(c, j, above, mover != SK_NONE ? local : NULL, global);
    if (job->result == SK_POSITIONS) {
      lanes_positions(global, j, &out);
      continue;
    }
    if (job->result == SK_PALETTE && c->first_slot[j] == c->first_slot[j + 1]) continue;
    lanes_to_float(global, rows);
    if (job->result == SK_GLOBALS) store_rows(&out, (size_t)j * (job->affine ? 12 : 16), rows);
    else lanes_slots(job, c, j, rows, &out);
  }
}

/* ---- the job ------------------------------------------------------------------------------------------------ */

size_t sk_palette_twin_scratch(const sk_compiled *c, size_t count) {
  size_t one = lay_out_one(c, 0).bytes, batch = count >= SK_FEWEST_LANES ? lay_out_batch(c, 0).bytes : 0;
  return one > batch ? one : batch;
}

void sk_palette_twin_run(const sk_palette_job *job, size_t first, size_t count, void *scratch) {
  while (count > 0) {
    size_t lanes = count < SK_LANES ? count : SK_LANES;
    if (lanes >= SK_FEWEST_LANES) {
      run_eight(job, first, lanes, scratch);
    } else {
      size_t n;
      for (n = first; n < first + lanes; n++) run_one(job, n, scratch);
    }
    first += lanes;
    count -= lanes;
  }
}

SK_AVX2_END

#endif
