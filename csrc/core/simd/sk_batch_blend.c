/* sk_batch_blend.c: blends up to four clips in eight poses at a time: the mode SK_BLEND_BASE of sk_blend.h, for weights
   whose sum is SK_BLEND_THRESHOLD or more. */
#include "sk_batch_lanes.h"
#include "sk_mean_kernel.h"

#if SK_HAS_KERNELS
#include <string.h>

SK_KERNEL_BEGIN

#define ROWS SK_ROWS

/* ---- what sources have in common --------------------------------------------------------------------------- */

static const float *values_of_component(const sk_compiled *c, sk_component component, size_t j) {
  if (component == SK_COMPONENT_ROTATION) return c->rotation + 4 * j;
  return (component == SK_COMPONENT_TRANSLATION ? c->translation : c->scale) + 3 * j;
}

static bool component_moves(const sk_compiled *c, sk_component component, size_t j) {
  return c->mover_of[j] != SK_NONE && c->movers[c->mover_of[j]].lines[component] != SK_STILL;
}

static bool component_is_common(const sk_batch *batch, sk_component component, size_t j) {
  const sk_compiled *first = batch->clips[0]->compiled;
  size_t bytes = (component == SK_COMPONENT_ROTATION ? 4 : 3) * sizeof(float), k;
  for (k = 0; k < batch->source_count; k++) {
    const sk_compiled *c = batch->clips[k]->compiled;
    if (component_moves(c, component, j) ||
        memcmp(values_of_component(c, component, j), values_of_component(first, component, j), bytes) != 0)
      return false;
  }
  return true;
}

static bool some_source_is_sheared(const sk_batch *batch, size_t j) {
  size_t k;
  for (k = 0; k < batch->source_count; k++) {
    const sk_compiled *c = batch->clips[k]->compiled;
    if (c->sheared_count && c->mover_of[j] != SK_NONE && c->movers[c->mover_of[j]].sheared) return true;
  }
  return false;
}

void SK_KERNEL(sk_batch_find_common)(const sk_batch *batch, uint8_t *common) {
  const sk_compiled *first = batch->clips[0]->compiled;
  size_t j;
  int component;
  for (j = 0; j < (size_t)first->joint_count; j++) {
    const float *scale = first->scale + 3 * j;
    common[j] = some_source_is_sheared(batch, j) ? SK_COMMON_SHEARED : 0;
    for (component = 0; component < SK_COMPONENT_COUNT; component++)
      if (component_is_common(batch, (sk_component)component, j)) common[j] |= (uint8_t)(1 << component);
    if (common[j] & 1 << SK_COMPONENT_SCALE && scale[0] == 1.0f && scale[1] == 1.0f && scale[2] == 1.0f)
      common[j] |= SK_COMMON_UNIT_SCALE;
  }
}

/* ---- components of one source ----------------------------------------------------------------------------------- */

SK_INLINE void set_component(const sk_compiled *c, sk_component component, size_t j, sk_f8 *out) {
  const float *values = values_of_component(c, component, j);
  int i, count = component == SK_COMPONENT_ROTATION ? 4 : 3;
  for (i = 0; i < count; i++) out[i] = f8_set(values[i]);
}

/* The constant of a mover's component. */
static const float *cell_of(const sk_compiled *c, int32_t mover, sk_component component) {
  return c->constants + ((size_t)mover * SK_COMPONENT_COUNT + component) * SK_CELL;
}

/* Translation or scale of joint j in one source. */
static void source_component(const sk_source_lanes *source, sk_component component, size_t j, sk_f8 out[3]) {
  const sk_compiled *c = source->clip;
  int32_t mover = c->mover_of[j];
  if (mover == SK_NONE) set_component(c, component, j, out);
  else sk_mover_component(&c->movers[mover], component, source->lines, cell_of(c, mover, component), out);
}

SK_INLINE void source_mix(const sk_source_lanes *source, size_t j, sk_rotation rotation, sk_mix *mix) {
  const sk_compiled *c = source->clip;
  int32_t mover = c->mover_of[j];
  if (mover != SK_NONE) {
    sk_mover_mix(c, mover, source->lines, rotation, mix);
    return;
  }
  set_component(c, SK_COMPONENT_ROTATION, j, mix->a);
  sk_mix_one(mix);
}

static bool source_rests(const sk_source_lanes *source, size_t j, const sk_skeleton *skeleton, size_t lane) {
  const sk_compiled *c = source->clip;
  int32_t number = c->mover_of[j];
  if (number != SK_NONE) /* a joint is sheared in all sources or in none, and sheared movers have key spans */
    return c->movers[number].sheared &&
           SK_KERNEL(sk_mover_rests)(c, &c->movers[number], skeleton, source->spans + lane * c->line_count);
  return memcmp(c->translation + 3 * j, skeleton->translation + 3 * j, 3 * sizeof(float)) == 0 &&
         memcmp(c->rotation + 4 * j, skeleton->rotation + 4 * j, 4 * sizeof(float)) == 0 &&
         memcmp(c->scale + 3 * j, skeleton->scale + 3 * j, 3 * sizeof(float)) == 0;
}

/* Puts the rest matrix into the lanes of one half that are at rest in all sources. */
static void blend_sheared(const sk_batch *batch, const sk_source_lanes *sources, size_t j, int half, sk_d4 rows[ROWS]) {
  const sk_skeleton *skeleton = batch->job->skeleton;
  double local[ROWS][SK_HALF];
  size_t lane, k, i;
  for (i = 0; i < ROWS; i++) d4_store(local[i], rows[i]);
  for (lane = 0; lane < SK_HALF; lane++) {
    size_t at = SK_HALF * (size_t)half + lane;
    for (k = 0; k < batch->source_count && source_rests(&sources[k], j, skeleton, at); k++) {}
    for (i = 0; k == batch->source_count && i < ROWS; i++) local[i][lane] = skeleton->rest_local[16 * j + i];
  }
  for (i = 0; i < ROWS; i++) rows[i] = d4_load(local[i]);
}

SK_INLINE void add_weighted(sk_f8 weight, sk_f8 rest, const sk_f8 *values, int count, sk_f8 *sums) {
  int i;
  for (i = 0; i < count; i++) sums[i] = f8_fma(weight, values[i], f8_fma(rest, values[i], sums[i]));
}

/* The weighted sum of translations or scales over all sources. */
SK_INLINE void blend_three(const sk_batch *batch, const sk_source_lanes *sources, sk_component component, size_t j,
                           sk_f8 sum[3]) {
  sk_f8 one[3];
  size_t k;
  sum[0] = sum[1] = sum[2] = f8_zero();
  for (k = 0; k < batch->source_count; k++) {
    source_component(&sources[k], component, j, one);
    add_weighted(f8_load(batch->weights[k]), f8_load(batch->weight_rests[k]), one, 3, sum);
  }
}

/* Translation or scale of the blend. */
SK_INLINE void blend_component(const sk_batch *batch, const sk_source_lanes *sources, sk_component component, size_t j,
                               sk_f8 out[3]) {
  if (batch->common[j] & 1 << component) set_component(sources[0].clip, component, j, out);
  else blend_three(batch, sources, component, j, out);
}

static sk_d4 dot4(const sk_d4 a[4], const sk_d4 b[4]) {
  return d4_add(d4_fma(a[1], b[1], d4_mul(a[0], b[0])), d4_fma(a[3], b[3], d4_mul(a[2], b[2])));
}

/* Adds one source to a sum of rotations: normalized, with the sign that is nearer to `first`, and weighted. */
static void add_rotation(sk_d4 weight, const sk_d4 q[4], const sk_d4 first[4], sk_d4 sum[4]) {
  sk_d4 sign = d4_and(d4_add(dot4(first, q), d4_zero()), d4_set(-0.0));
  int i;
  weight = d4_xor(d4_div(weight, d4_sqrt(dot4(q, q))), sign);
  for (i = 0; i < 4; i++) sum[i] = d4_fma(weight, q[i], sum[i]);
}

static sk_d4 source_weight(const sk_batch *batch, size_t k, int half) {
  return d4_add(d4_of(f4_load(batch->weights[k] + SK_HALF * half)),
                d4_of(f4_load(batch->weight_rests[k] + SK_HALF * half)));
}

/* The nlerp of two rotations of any length along the shorter arc in double, for half of the lanes. */
static void blend_two(const sk_batch *batch, const sk_mix *mixes, size_t j, int half, sk_d4 mean[4]) {
  const float *rest = batch->job->skeleton->rotation + 4 * j;
  sk_d4 first[4], one[4], enough;
  size_t k;
  int i;
  for (i = 0; i < 4; i++) mean[i] = d4_zero();
  for (k = 0; k < 2; k++) {
    if (half) sk_mix_half(&mixes[k], 1, one);
    else sk_mix_half(&mixes[k], 0, one);
    for (i = 0; k == 0 && i < 4; i++) first[i] = one[i];
    add_rotation(source_weight(batch, k, half), one, first, mean);
  }
  enough = d4_greater(dot4(mean, mean), d4_set(SK_POINTS_NOWHERE));
  for (i = 0; i < 4; i++) mean[i] = d4_blend(d4_set(rest[i]), mean[i], enough);
}

/* Adds one of more rotations than two, of any length, to a mean. */
SK_INLINE void add_to_mean(sk_d4 weight, const sk_d4 q[4], sk_d4 products[SK_MEAN_CELLS]) {
  sk_mean_add_doubles(d4_div(weight, dot4(q, q)), q, products);
}

static void find_mean(const sk_batch *batch, const sk_d4 products[SK_MEAN_CELLS], size_t j, sk_d4 mean[4]) {
  const float *rest = batch->job->skeleton->rotation + 4 * j;
  sk_d4 start[4] = {d4_set(rest[0]), d4_set(rest[1]), d4_set(rest[2]), d4_set(rest[3])};
  SK_KERNEL(sk_mean_doubles)(products, start, mean);
}

/* The mean of three rotations or more in double, for half of the lanes. */
static void blend_many(const sk_batch *batch, const sk_mix *mixes, size_t j, int half, sk_d4 mean[4]) {
  sk_d4 products[SK_MEAN_CELLS], one[4];
  size_t k;
  int i;
  for (i = 0; i < SK_MEAN_CELLS; i++) products[i] = d4_zero();
  for (k = 0; k < batch->source_count; k++) {
    if (half) sk_mix_half(&mixes[k], 1, one);
    else sk_mix_half(&mixes[k], 0, one);
    add_to_mean(source_weight(batch, k, half), one, products);
  }
  find_mean(batch, products, j, mean);
}

static void blend_rows(const sk_batch *batch, const sk_source_lanes *sources, size_t j, sk_d4 rows[2][ROWS]) {
  const sk_compiled *first = sources[0].clip;
  bool rotates = !(batch->common[j] & 1 << SK_COMPONENT_ROTATION);
  sk_f8 t[3], scale[3];
  sk_d4 q[4];
  sk_mix mixes[SK_SOURCES];
  size_t k;
  int half, i;
  blend_component(batch, sources, SK_COMPONENT_TRANSLATION, j, t);
  blend_component(batch, sources, SK_COMPONENT_SCALE, j, scale);
  for (k = 0; rotates && k < batch->source_count; k++)
    source_mix(&sources[k], j, batch->job->sampling->rotation, &mixes[k]);
  for (half = 0; half < 2; half++) {
    if (rotates && batch->source_count > 2) blend_many(batch, mixes, j, half, q);
    else if (rotates) blend_two(batch, mixes, j, half, q);
    else
      for (i = 0; i < 4; i++) q[i] = d4_set(first->rotation[4 * j + (size_t)i]);
    if (half) sk_rows_half(q, t, scale, 1, rows[1]);
    else sk_rows_half(q, t, scale, 0, rows[0]);
    if (batch->common[j] & SK_COMMON_SHEARED) blend_sheared(batch, sources, j, half, rows[half]);
  }
}

bool SK_KERNEL(sk_batch_blend_joint)(const sk_batch *batch, const sk_source_lanes *sources, size_t j,
                                     sk_d4 rows[2][ROWS]) {
  if ((batch->common[j] & SK_COMMON_COMPONENTS) == SK_COMMON_COMPONENTS) return false;
  blend_rows(batch, sources, j, rows);
  return true;
}

/* ---- the same in float ------------------------------------------------------------------------------------- */

#define CLEAR_COSINE 1e-3f /* rotations nearer to 180 degrees from the reference get their sign in double */
#define CLEAR_SLOPE  0.1f /* of means of more than two rotations (sk_mean_kernel.h): flatter ones have lost digits */
#define CLEAR_ALONG 0.06f /* squared cosine to the rest rotation: matrices of half turns from it lose digits in float */
#define CLEAR_LENGTH 0.25f /* squared length: shorter sums have lost digits in float */

/* The mean of the rotations of a joint, of any length, and its sk_rotation_factor. All bits of a lane of `clear` are set where
   float is as good as double. */
typedef struct rotation_sum {
  sk_f8 sum[4], two, clear;
} rotation_sum;

/* The rotations of the joints of a pass in one source. */
typedef sk_lane_rotation pass_rotations[SK_PASS_NODES];

static void find_rotations(const sk_batch *batch, const sk_source_lanes *source, uint32_t pass,
                           sk_lane_rotation *rotations) {
  const int32_t *movers = source->passes[pass].movers;
  uint32_t count = sk_pass_size((uint32_t)source->clip->joint_count, pass), n;
  SK_KERNEL(sk_sum_rotations)(source, pass, batch->job->sampling->rotation, rotations);
  for (n = 0; n < count; n++)
    if (movers[n] == SK_NONE)
      set_component(source->clip, SK_COMPONENT_ROTATION, (size_t)pass * SK_PASS_NODES + n, rotations[n].q);
}

/* Sums two rotations of joint n of a pass along the shorter arc, as blend_two does. */
SK_INLINE void sum_two(const sk_batch *batch, pass_rotations *rotations, uint32_t n, rotation_sum *out) {
  const sk_f8 no_sign = f8_set(-0.0f), zero = f8_zero();
  const sk_f8 *first = rotations[0][n].q;
  sk_f8 sum[4] = {zero, zero, zero, zero}, squared, clear = f8_set(1.0f);
  size_t k;
  int i;
  for (k = 0; k < 2; k++) {
    const sk_f8 *one = rotations[k][n].q;
    sk_f8 scale = f8_inverse_root(sk_dot4(one, one)), cosine = f8_mul(sk_dot4(first, one), scale);
    clear = f8_min(f8_abs(cosine), clear); /* NaN gives 1 here; the sum is NaN too */
    scale = f8_xor(f8_mul(f8_load(batch->weights[k]), scale), f8_and(cosine, no_sign));
    for (i = 0; i < 4; i++) sum[i] = f8_fma(scale, one[i], sum[i]);
  }
  squared = sk_dot4(sum, sum);
  out->two = f8_div(f8_set(2.0f), squared);
  out->clear = f8_and(f8_greater(clear, f8_set(CLEAR_COSINE)), f8_greater(squared, f8_set(CLEAR_LENGTH)));
  out->sum[0] = sum[0], out->sum[1] = sum[1], out->sum[2] = sum[2], out->sum[3] = sum[3];
}

/* The mean of three rotations or more, likewise. */
static void sum_many(const sk_batch *batch, pass_rotations *rotations, uint32_t n, const float *rest,
                     rotation_sum *out) {
  sk_f8 products[SK_MEAN_CELLS], start[4], slope, along, least;
  size_t k;
  int i;
  for (i = 0; i < 4; i++) start[i] = f8_set(rest[i]);
  for (i = 0; i < SK_MEAN_CELLS; i++) products[i] = f8_zero();
  for (k = 0; k < batch->source_count; k++) {
    const sk_f8 *one = rotations[k][n].q;
    sk_mean_add_floats(f8_div(f8_load(batch->weights[k]), sk_dot4(one, one)), one, products);
  }
  slope = SK_KERNEL(sk_mean_floats)(products, start, out->sum);
  out->two = sk_rotation_factor(out->sum);
  along = sk_dot4(start, out->sum); /* as a cosine squared, times half of `two` */
  least = f8_set(2.0f * CLEAR_ALONG);
  out->clear =
      f8_and(f8_greater(slope, f8_set(CLEAR_SLOPE)), f8_greater(f8_mul(f8_mul(along, along), out->two), least));
}

static void sum_rotations(const sk_batch *batch, const sk_source_lanes *sources, uint32_t pass, rotation_sum *sums) {
  const float *rest = batch->job->skeleton->rotation + 4 * (size_t)pass * SK_PASS_NODES;
  uint32_t count = sk_pass_size((uint32_t)sources[0].clip->joint_count, pass), n;
  pass_rotations rotations[SK_SOURCES];
  size_t k;
  for (k = 0; k < batch->source_count; k++) find_rotations(batch, &sources[k], pass, rotations[k]);
  for (n = 0; n < count; n++)
    if (batch->source_count == 2) sum_two(batch, rotations, n, &sums[n]);
    else sum_many(batch, rotations, n, rest + 4 * (size_t)n, &sums[n]);
}

static void store_rows(const sk_f8 rows[ROWS], float *out) {
  int i;
  for (i = 0; i < ROWS; i++) f8_store(out + SK_LANES * i, rows[i]);
}

static void blend_doubles(const sk_batch *batch, const sk_source_lanes *sources, size_t j, float *out) {
  sk_d4 halves[2][ROWS];
  int i;
  blend_rows(batch, sources, j, halves);
  for (i = 0; i < ROWS; i++) {
    f4_store(out + SK_LANES * i, f4_of(halves[0][i]));
    f4_store(out + SK_LANES * i + SK_HALF, f4_of(halves[1][i]));
  }
}

/* Computes lanes that are not `clear` again in double; each lane by itself, so that neighbors change nothing. */
static __attribute__((noinline)) void mend_lanes(const sk_batch *batch, const sk_source_lanes *sources, size_t j,
                                                 sk_f8 clear, float *out) {
  float right[ROWS * SK_LANES];
  int i;
  blend_doubles(batch, sources, j, right);
  for (i = 0; i < ROWS * SK_LANES; i += SK_LANES)
    f8_store(out + i, f8_blend(f8_load(right + i), f8_load(out + i), clear));
}

/* The blended local of joint j in float; `rotation` is the sum of its rotations, where these are not common. */
SK_INLINE void blend_floats(const sk_batch *batch, const sk_source_lanes *sources, size_t j,
                            const rotation_sum *rotation, float *out) {
  uint8_t common = batch->common[j];
  bool rotates = !(common & 1 << SK_COMPONENT_ROTATION);
  sk_f8 t[3], q[4], s[3], rows[ROWS], *scale = common & SK_COMMON_UNIT_SCALE ? NULL : s;
  blend_component(batch, sources, SK_COMPONENT_TRANSLATION, j, t);
  if (scale) blend_component(batch, sources, SK_COMPONENT_SCALE, j, s);
  if (!rotates) set_component(sources[0].clip, SK_COMPONENT_ROTATION, j, q);
  if (rotates) sk_rows_from_rotation(t, rotation->sum, rotation->two, scale, rows);
  else sk_rows_from_trs(t, q, scale, rows);
  store_rows(rows, out);
  if (rotates && f8_signs(rotation->clear) != 0xff) mend_lanes(batch, sources, j, rotation->clear, out);
}

uint32_t SK_KERNEL(sk_batch_blend_pass)(const sk_batch *batch, const sk_source_lanes *sources, uint32_t pass,
                                        float *out, size_t stride) {
  const sk_compiled *c = sources[0].clip;
  uint32_t count = sk_pass_size((uint32_t)c->joint_count, pass), written = 0, n;
  rotation_sum sums[SK_PASS_NODES];
  if (c->blends_all_in_float) sum_rotations(batch, sources, pass, sums);
  for (n = 0; n < count; n++, out += stride) {
    size_t j = (size_t)pass * SK_PASS_NODES + n;
    uint8_t common = batch->common[j];
    if ((common & SK_COMMON_COMPONENTS) == SK_COMMON_COMPONENTS) continue;
    if (!c->blends_all_in_float || common & SK_COMMON_SHEARED) blend_doubles(batch, sources, j, out);
    else blend_floats(batch, sources, j, &sums[n], out);
    written |= 1u << n;
  }
  return written;
}

/* ---- weights ------------------------------------------------------------------------------------------------- */

void SK_KERNEL(sk_batch_set_weights)(sk_batch *batch, double weights[SK_SOURCES][SK_LANES]) {
  int lane;
  for (lane = 0; lane < SK_LANES; lane += SK_HALF) {
    sk_d4 sum = d4_zero();
    size_t k;
    for (k = 0; k < batch->source_count; k++) sum = d4_add(sum, d4_load(weights[k] + lane));
    for (k = 0; k < batch->source_count; k++) {
      sk_d4 fraction = d4_div(d4_load(weights[k] + lane), sum);
      sk_f4 rounded = f4_of(fraction);
      f4_store(batch->weights[k] + lane, rounded);
      f4_store(batch->weight_rests[k] + lane, f4_of(d4_sub(fraction, d4_of(rounded))));
    }
  }
}

SK_KERNEL_END

#endif
