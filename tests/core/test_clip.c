/* test_clip.c: times within a clip, and the keys around a time. */
#include "check.h"

#include "../../csrc/core/model/sk_clip.h"

/* A clip of 100 ticks at 25 a second: 4 s, and 1e-4 tick is 4e-6 s. */
static sk_clip long_clip(void) {
  sk_clip clip = {.duration = 4.0, .key_tolerance = 4e-6};
  return clip;
}

typedef struct time_case {
  double time, wanted;
} time_case;

static void check_times(sk_loop loop, const time_case *cases, size_t count) {
  sk_clip clip = long_clip();
  size_t i;
  for (i = 0; i < count; i++) {
    double got = sk_clip_local_time(&clip, cases[i].time, loop);
    if (!(fabs(got - cases[i].wanted) <= 1e-9))
      check_failed(__FILE__, __LINE__, "loop %d: time %g becomes %.12g; expected %g", loop, cases[i].time, got,
                   cases[i].wanted);
  }
}

static void wrap_starts_over(void) {
  /* 107 ticks of 100 is 7; the end is a pose of its own, later ends are starts. */
  static const time_case cases[] = {
      {0, 0},  {1.5, 1.5}, {3.999, 3.999}, {4, 4},  {4 + 3e-6, 4}, {4 - 3e-6, 4},  {4.28, 0.28},
      {8, 0},  {12, 0},    {9, 1},         {-1, 3}, {-4, 0},       {-4.28, 3.72}, {4000001, 1}};
  check_times(SK_LOOP_WRAP, cases, COUNT(cases));
}

static void clamp_and_once_stay_at_the_ends(void) {
  static const time_case cases[] = {{-100, 0}, {0, 0}, {2, 2}, {4, 4}, {4.1, 4}, {1e300, 4}};
  check_times(SK_LOOP_CLAMP, cases, COUNT(cases));
  check_times(SK_LOOP_ONCE, cases, COUNT(cases));
}

static void pingpong_goes_back(void) {
  static const time_case cases[] = {{0, 0}, {1, 1}, {4, 4},  {5, 3},  {7, 1},
                                    {8, 0}, {9, 1}, {12, 4}, {-1, 1}, {-5, 3}};
  check_times(SK_LOOP_PINGPONG, cases, COUNT(cases));
}

/* Multiples of a duration that no double holds exactly are starts too. */
static void wrap_knows_multiples_in_spite_of_rounding(void) {
  sk_clip clip = {.duration = 0.1, .key_tolerance = 1e-7};
  int turn;
  for (turn = 2; turn < 5000; turn++) CHECK_NEAR(sk_clip_local_time(&clip, turn * 0.1, SK_LOOP_WRAP), 0, 1e-12);
}

static void every_time_lands_in_the_clip(void) {
  uint64_t state = 3;
  int round;
  for (round = 0; round < 20000; round++) {
    sk_clip clip = {.key_tolerance = 1e-7};
    double time = ldexp((double)(int64_t)check_random(&state), (int)(check_random(&state) % 120) - 120), got;
    clip.duration = ldexp((double)(check_random(&state) >> 12), (int)(check_random(&state) % 100) - 100);
    got = sk_clip_local_time(&clip, time, (sk_loop)(round % SK_LOOP_COUNT));
    CHECK(got >= 0 && got <= clip.duration);
  }
}

static void a_clip_of_no_duration_has_one_time(void) {
  sk_clip clip = {.duration = 0, .key_tolerance = 4e-6};
  int loop;
  for (loop = 0; loop < SK_LOOP_COUNT; loop++) CHECK(sk_clip_local_time(&clip, 17.5, (sk_loop)loop) == 0);
}

/* ---- keys --------------------------------------------------------------------------- */

static void check_key(const double *times, uint32_t count, double time, uint32_t index, double fraction) {
  sk_key key = sk_clip_find_key(times, count, time, 1e-6);
  CHECK_EQUAL(key.index, index);
  CHECK_NEAR(key.fraction, fraction, 1e-12);
  CHECK(key.index + (key.fraction > 0) < count);
}

static void the_key_before_a_time_is_found(void) {
  static const double times[] = {0.5, 1, 3, 7};
  check_key(times, 4, -9, 0, 0);
  check_key(times, 4, 0.5, 0, 0);
  check_key(times, 4, 0.75, 0, 0.5);
  check_key(times, 4, 1, 1, 0);
  check_key(times, 4, 2.5, 1, 0.75);
  check_key(times, 4, 4, 2, 0.25);
  check_key(times, 4, 7, 3, 0);
  check_key(times, 4, 99, 3, 0);
  check_key(times, 1, 0, 0, 0);
  check_key(times, 1, 99, 0, 0);
  CHECK_NEAR(sk_clip_find_key(times, 4, 4, 1e-6).span, 4, 0);
}

/* A time that misses its key by less than the tolerance is on it, so that steps do not come late. */
static void a_time_just_before_a_key_counts_as_on_it(void) {
  static const double times[] = {0, 1, 2};
  check_key(times, 3, 1 - 5e-7, 1, 0);
  check_key(times, 3, 2 - 5e-7, 2, 0);
  CHECK_EQUAL(sk_clip_find_key(times, 3, 1 - 2e-6, 1e-6).index, 0);
}

static void every_key_of_a_long_line_is_found(void) {
  enum { MANY = 1000 };
  double times[MANY];
  uint32_t k;
  for (k = 0; k < MANY; k++) times[k] = k * 0.1 + (k % 7) * 0.01;
  for (k = 0; k < MANY; k++) check_key(times, MANY, times[k], k, 0);
  for (k = 0; k + 1 < MANY; k++) check_key(times, MANY, 0.5 * (times[k] + times[k + 1]), k, 0.5);
}

const check_test clip_tests[] = {
    TEST(wrap_starts_over),
    TEST(clamp_and_once_stay_at_the_ends),
    TEST(pingpong_goes_back),
    TEST(wrap_knows_multiples_in_spite_of_rounding),
    TEST(every_time_lands_in_the_clip),
    TEST(a_clip_of_no_duration_has_one_time),
    TEST(the_key_before_a_time_is_found),
    TEST(a_time_just_before_a_key_counts_as_on_it),
    TEST(every_key_of_a_long_line_is_found),
    {NULL, NULL},
};
