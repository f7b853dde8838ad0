/* test_compile.c: clips made ready for the SIMD kernels: lines, keys, and what is left to the plain path. */
#include "check.h"
#include "../../csrc/core/simd/sk_key_span.h"
#include "rig.h"

/* Keys of all kinds at several lines; one channel of each path and joint, all moving. */
static const rig_wish plain_wish = {.seed = 1, .joints = 9, .roots = 1, .most_slots = 2, .moving = 1.0, .turn = 0.5,
                                    .kinds = 7, .lines = RIG_FEW_LINES, .most_keys = 20};

/* ---- keys of a line --------------------------------------------------------------------------------- */

/* One translation of joint 0 with these times, compiled alone. */
static const sk_compiled *compile_line(const double *times, uint32_t count, double tolerance, double duration, rig *r) {
  rig_wish wish = {.seed = 7, .joints = 1, .roots = 1, .kinds = 1u << SK_LINEAR, .most_keys = 1};
  size_t i;
  rig_make(&wish, r);
  free(r->channels);
  free(r->times);
  free(r->values);
  r->channels = malloc(sizeof *r->channels);
  r->times = check_copy(times, count * sizeof *times);
  r->values = malloc(count * 3 * sizeof(float));
  CHECK(r->channels && r->values);
  for (i = 0; i < count * 3; i++) r->values[i] = (float)i;
  *r->channels = (sk_channel){0, SK_PATH_TRANSLATION, SK_LINEAR, 0, count, 3, 0, 0, SK_NONE64, SK_NONE64};
  r->clip = (sk_clip){.duration = duration, .key_tolerance = tolerance, .channel_count = 1, .channels = r->channels,
                      .times = r->times, .values = r->values};
  sk_free(r->compiled);
  r->compiled = sk_compile(&r->clip, &r->skeleton, &r->skin, NULL);
  return r->compiled;
}

#if SK_HAS_KERNELS
static bool has_kernels(void) { return sk_simd_chosen() != SK_SIMD_PLAIN; }
static uint32_t find(const sk_time_line *line, double limit) { return sk_time_line_find(line, limit); }
#else
static bool has_kernels(void) { return false; }
static uint32_t find(const sk_time_line *line, double limit) { return (void)line, (void)limit, 0; }
#endif

static void find_both(const sk_time_line *line, double time, double tolerance) {
  uint32_t got = has_kernels() ? find(line, time + tolerance) : 0;
  uint32_t wanted = sk_clip_find_key(line->times, line->key_count, time, tolerance).index;
  if (has_kernels() && got != wanted)
    check_failed(__FILE__, __LINE__, "key %u of %u at %.17g s (+ %g); expected %u", got, line->key_count, time,
                 tolerance, wanted);
}

/* On, beside, between, before and after the keys, near and far. */
static void find_many(const sk_time_line *line, double tolerance, uint64_t *state) {
  double first = line->times[0], length = line->times[line->key_count - 1] - first;
  uint32_t n;
  for (n = 0; n < line->key_count; n++) {
    double key = line->times[n], next = n + 1 < line->key_count ? line->times[n + 1] : key + 1.0;
    find_both(line, key, tolerance);
    find_both(line, nextafter(key, -INFINITY), tolerance);
    find_both(line, nextafter(key, INFINITY), tolerance);
    find_both(line, key - tolerance, tolerance);
    find_both(line, key - 1.5 * tolerance, tolerance);
    find_both(line, key + (next - key) * rig_share(state), tolerance);
  }
  for (n = 0; n < 300; n++) {
    find_both(line, first + length * (1.4 * rig_share(state) - 0.2), tolerance);
    find_both(line, first + length * n / line->bucket_count, tolerance);
    find_both(line, nextafter(first + length * n / line->bucket_count, -INFINITY), tolerance);
  }
  find_both(line, 0.0, tolerance);
  find_both(line, -1e300, tolerance);
  find_both(line, 1e299, tolerance);
}

typedef double (*spacing)(uint64_t *state, uint32_t k, double last);

/* Times of key k after `last`. */
static double even_spacing(uint64_t *state, uint32_t k, double last) { return (void)state, (void)last, k / 30.0; }

static double random_spacing(uint64_t *state, uint32_t k, double last) {
  return k ? last + rig_share(state) + 1e-9 : -3.0;
}

static double growing_spacing(uint64_t *state, uint32_t k, double last) {
  return (void)state, k ? last * 1.5 + 1e-6 : 0.0;
}

static double shrinking_spacing(uint64_t *state, uint32_t k, double last) {
  return (void)state, k < 200 ? 1.0 - pow(0.9, k) : last + 1e-9;
}

/* One bit apart, and now and then some more. */
static double late_spacing(uint64_t *state, uint32_t k, double last) {
  return k ? nextafter(last, INFINITY) + (check_random(state) % 4 ? 0.0 : 1e-6) : 1e9;
}

static double negative_spacing(uint64_t *state, uint32_t k, double last) {
  return k ? (last < -1.0 && check_random(state) % 2 ? last * 0.5 : last + rig_share(state) + 1e-6) : -1e9;
}

static double clustered_spacing(uint64_t *state, uint32_t k, double last) {
  return (void)state, k == 0 ? 1.0 : k < 60 ? nextafter(last, INFINITY) : k * 1.0;
}

static double tiny_spacing(uint64_t *state, uint32_t k, double last) {
  return k ? last + 1e-280 * (1.0 + rig_share(state)) : 0.0;
}

static double huge_spacing(uint64_t *state, uint32_t k, double last) {
  return k ? last + 1e297 * (1.0 + rig_share(state)) : -5e299;
}

static void keys_are_found_as_on_the_plain_path(void) {
  static const spacing spacings[] = {even_spacing, random_spacing,   growing_spacing,   shrinking_spacing, late_spacing,
                                     tiny_spacing, negative_spacing, clustered_spacing, huge_spacing};
  static const uint32_t counts[] = {2, 3, 17, 100, 300};
  static const double tolerances[] = {0.0, 1e-7, 1e-4};
  double times[300];
  uint64_t state = 99;
  size_t s, c, t;
  uint32_t k;
  for (s = 0; s < COUNT(spacings); s++)
    for (c = 0; c < COUNT(counts); c++)
      for (t = 0; t < COUNT(tolerances); t++) {
        rig r;
        for (k = 0; k < counts[c]; k++) times[k] = spacings[s](&state, k, k ? times[k - 1] : 0.0);
        CHECK(compile_line(times, counts[c], tolerances[t], 1.0, &r));
        CHECK_EQUAL(r.compiled->line_count, 1);
        CHECK_EQUAL(r.compiled->lines[0].key_count, counts[c]);
        find_many(&r.compiled->lines[0], tolerances[t], &state);
        rig_free(&r);
      }
}

/* Keys crowded into a small part of the line are found by halving: only then its steps are few. */
static void crowded_keys_are_not_even(void) {
  double times[300];
  rig r;
  uint32_t k;
  for (k = 0; k < COUNT(times); k++) times[k] = clustered_spacing(NULL, k, k ? times[k - 1] : 0.0);
  CHECK(compile_line(times, COUNT(times), 0.0, 1.0, &r));
  CHECK(!r.compiled->lines[0].even);
  rig_free(&r);
  for (k = 0; k < COUNT(times); k++) times[k] = even_spacing(NULL, k, 0.0);
  CHECK(compile_line(times, COUNT(times), 0.0, 1.0, &r));
  CHECK(r.compiled->lines[0].even);
  rig_free(&r);
}

/* ---- what only the plain path does ---------------------------------------------------------------------- */

static void times_near_the_end_of_double_stay_plain(void) {
  static const double bad[][2] = {{-1e308, 1e308}, {0, 1.7e308}, {-1e301, 0}, {0, 5e-324}, {1e-310, 3e-300}};
  static const double good[2] = {0, 1};
  size_t i;
  rig r;
  for (i = 0; i < COUNT(bad); i++) {
    CHECK(!compile_line(bad[i], 2, 1e-7, 1.0, &r));
    rig_free(&r);
  }
  CHECK(!compile_line(good, 2, INFINITY, 1.0, &r)); /* 1e-4 of a tick where a second has 1e-320 of them */
  rig_free(&r);
  CHECK(!compile_line(good, 2, 1e308, 1.7e308, &r));
  rig_free(&r);
  CHECK(compile_line(good, 2, 1e-7, 1.0, &r));
  rig_free(&r);
}

/* Each number that a clip is compiled from, as 1e30, infinity and NaN. */
static void numbers_near_the_end_of_float_stay_plain(void) {
  static const float numbers[] = {1e30f, -1e30f, INFINITY, NAN};
  size_t n, i;
  for (n = 0; n < COUNT(numbers); n++)
    for (i = 0; i < 6; i++) {
      rig_wish wish = plain_wish;
      rig r;
      wish.kinds = 1u << SK_CUBIC;
      rig_make(&wish, &r);
      CHECK(r.compiled);
      sk_free(r.compiled);
      if (i == 0) r.values[r.channels[4].values] = numbers[n];
      if (i == 1) r.values[r.channels[4].in_tangents] = numbers[n];
      if (i == 2) r.values[r.channels[4].out_tangents] = numbers[n];
      if (i == 3) r.translation[5] = numbers[n];
      if (i == 4) r.rest_local[16 + 3] = numbers[n];
      if (i == 5) r.inverse_bind[2] = numbers[n];
      r.compiled = sk_compile(&r.clip, &r.skeleton, &r.skin, NULL);
      CHECK(!r.compiled);
      rig_free(&r);
    }
}

/* Tangents that are as large as the rest only with the seconds between keys. */
static void steep_splines_stay_plain(void) {
  static const double lengths[] = {2.0, 1e8, 1e20};
  size_t i;
  for (i = 0; i < COUNT(lengths); i++) {
    rig_wish wish = plain_wish;
    rig r;
    wish.kinds = 1u << SK_CUBIC;
    wish.constant = 0.0;
    rig_make(&wish, &r);
    sk_free(r.compiled);
    CHECK(r.channels[0].key_count > 1);
    r.times[r.channels[0].times + r.channels[0].key_count - 1] = lengths[i] + 1.0;
    r.values[r.channels[0].in_tangents] = i == 2 ? 0.0f : 1e10f;
    r.compiled = sk_compile(&r.clip, &r.skeleton, &r.skin, NULL);
    CHECK_EQUAL(r.compiled != NULL, i == 0);
    rig_free(&r);
  }
}

static void denormal_numbers_are_compiled(void) {
  rig r;
  size_t i;
  rig_make(&plain_wish, &r);
  sk_free(r.compiled);
  for (i = 0; i < 3; i++) r.values[r.channels[0].values + i] = 1e-44f;
  r.compiled = sk_compile(&r.clip, &r.skeleton, &r.skin, NULL);
  CHECK(r.compiled);
  rig_free(&r);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

/* Whichever allocation fails: no form, and nothing that leaks. */
static void compiling_without_memory_gives_nothing(void) {
  rig_wish wish = plain_wish;
  bool lacks_memory;
  size_t before;
  long n;
  rig r;
  wish.kinds = 1u << SK_LINEAR; /* several linear lines: they are merged, which takes memory */
  rig_make(&wish, &r);
  CHECK(r.compiled && r.compiled->merged);
  sk_free(r.compiled);
  before = sk_bytes_in_use();
  for (n = 1;; n++) {
    sk_fail_allocation(n);
    r.compiled = sk_compile(&r.clip, &r.skeleton, &r.skin, &lacks_memory);
    sk_fail_allocation(0);
    CHECK_EQUAL(lacks_memory, !r.compiled);
    if (r.compiled) break;
    CHECK_EQUAL(sk_bytes_in_use(), before);
  }
  CHECK_EQUAL(n, 5); /* the lines, the merged times, the plan, the form */
  rig_free(&r);
}

static void bytes_are_what_was_taken(void) {
  size_t before;
  rig r;
  rig_make(&plain_wish, &r);
  CHECK(r.compiled);
  sk_free(r.compiled);
  before = sk_bytes_in_use();
  r.compiled = sk_compile(&r.clip, &r.skeleton, &r.skin, NULL);
  CHECK_EQUAL(sk_bytes_in_use() - before, r.compiled->bytes);
  rig_free(&r);
}

/* ---- lines and movers ---------------------------------------------------------------------------------- */

static void linear_lines_become_one_where_that_wastes_little(void) {
  rig_wish wish = plain_wish;
  rig r;
  wish.kinds = 1u << SK_LINEAR;
  rig_make(&wish, &r);
  CHECK(r.compiled && r.compiled->merged);
  CHECK_EQUAL(r.compiled->line_count, 1);
  rig_free(&r);
  wish.lines = RIG_OWN_LINES;
  rig_make(&wish, &r);
  CHECK(r.compiled && !r.compiled->merged);
  CHECK(r.compiled->line_count > 9);
  rig_free(&r);
}

static void channels_that_hold_one_value_do_not_move(void) {
  rig_wish wish = plain_wish;
  rig r;
  wish.constant = 1.0;
  wish.weights = true;
  rig_make(&wish, &r);
  CHECK(r.compiled);
  CHECK_EQUAL(r.compiled->mover_count, 0);
  CHECK_EQUAL(r.compiled->line_count, 0);
  CHECK_EQUAL(r.compiled->weight_count, 3);
  CHECK_EQUAL(r.compiled->node_count, 1); /* the root: all slots are folded into it */
  CHECK_FLOATS(r.compiled->translation, r.values + r.channels[0].values, 3, 0);
  rig_free(&r);
}

static void a_clip_without_channels_is_the_rest_pose(void) {
  rig_wish wish = plain_wish;
  rig r;
  wish.moving = 0.0;
  rig_make(&wish, &r);
  CHECK(r.compiled);
  CHECK_EQUAL(r.compiled->mover_count, 0);
  CHECK_FLOATS(r.compiled->translation, r.translation, 27, 0);
  CHECK_FLOATS(r.compiled->rotation, r.rotation, 36, 0);
  rig_free(&r);
}

/* Of two channels for one part the last counts, whichever of them moves. */
static void of_two_channels_the_last_counts(void) {
  rig r;
  sk_channel *twice;
  rig_make(&plain_wish, &r);
  CHECK(r.compiled && r.compiled->octets[0].moves[SK_COMPONENT_TRANSLATION]);
  twice = malloc(2 * sizeof *twice);
  CHECK(twice);
  twice[0] = twice[1] = r.channels[0];
  twice[1].key_count = 1;
  free(r.channels);
  r.clip.channels = r.channels = twice;
  r.clip.channel_count = 2;
  sk_free(r.compiled);
  r.compiled = sk_compile(&r.clip, &r.skeleton, &r.skin, NULL);
  CHECK(r.compiled);
  CHECK_EQUAL(r.compiled->mover_count, 0);
  twice[1] = twice[0];
  twice[0].key_count = 1;
  sk_free(r.compiled);
  r.compiled = sk_compile(&r.clip, &r.skeleton, &r.skin, NULL);
  CHECK(r.compiled);
  CHECK_EQUAL(r.compiled->mover_count, 1);
  rig_free(&r);
}

const check_test compile_tests[] = {TEST(keys_are_found_as_on_the_plain_path),
                                    TEST(crowded_keys_are_not_even),
                                    TEST(times_near_the_end_of_double_stay_plain),
                                    TEST(numbers_near_the_end_of_float_stay_plain),
                                    TEST(steep_splines_stay_plain),
                                    TEST(denormal_numbers_are_compiled),
                                    TEST(compiling_without_memory_gives_nothing),
                                    TEST(bytes_are_what_was_taken),
                                    TEST(linear_lines_become_one_where_that_wastes_little),
                                    TEST(channels_that_hold_one_value_do_not_move),
                                    TEST(a_clip_without_channels_is_the_rest_pose),
                                    TEST(of_two_channels_the_last_counts),
                                    {NULL, NULL}};
