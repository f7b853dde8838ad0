/* test_frames.c: where a time stands among stored frames, and the vertices there. */
#include "check.h"

#include "../../csrc/core/skin/sk_frames.h"

enum { FRAMES = 3, POINTS = 2, FLOATS = POINTS * 3 };

static const double frame_times[FRAMES] = {0, 1, 3};
static const sk_frame_times line = {frame_times, FRAMES, 3, 25};

static const float positions[FRAMES * FLOATS] = {0, 0, 0, 1, 1, 1, /**/ 2, 0, 0, 1, 3, 1, /**/ 2, 0, 8, 1, 3, 0};
/* The second point's normal turns to its opposite between frames 1 and 2. */
static const float normals[FRAMES * FLOATS] = {1, 0, 0, 0, 1, 0, /**/ 0, 1, 0, 0, 0, 1, /**/ 0, 1, 0, 0, 0, -1};

static void a_time_is_found_among_the_frames(void) {
  static const struct {
    double time;
    sk_loop loop;
    double place;
  } cases[] = {
      {0, SK_LOOP_WRAP, 0},      {0.25, SK_LOOP_WRAP, 0.25}, {1, SK_LOOP_WRAP, 1},    {2.5, SK_LOOP_WRAP, 1.75},
      {3, SK_LOOP_WRAP, 2},      {3.5, SK_LOOP_WRAP, 0.5},   {6, SK_LOOP_WRAP, 0},    {-1, SK_LOOP_WRAP, 1.5},
      {9, SK_LOOP_CLAMP, 2},     {-9, SK_LOOP_ONCE, 0},      {4, SK_LOOP_PINGPONG, 1.5}};
  size_t i;
  for (i = 0; i < COUNT(cases); i++)
    CHECK_NEAR(sk_frames_find(&line, cases[i].time, cases[i].loop), cases[i].place, 1e-9);
}

static void one_frame_is_always_there(void) {
  static const double only = 0.5;
  const sk_frame_times single = {&only, 1, 0, 25};
  CHECK_NEAR(sk_frames_find(&single, 17, SK_LOOP_WRAP), 0, 0);
}

/* Results lie in heap memory of exactly their size. */
static void run_at(const double *places, size_t count, bool with_normals, float **points, float **directions) {
  sk_frames_job job = {positions, with_normals ? normals : NULL, FRAMES, POINTS, places, count, NULL, NULL};
  *points = job.out_positions = malloc(count * FLOATS * sizeof(float));
  *directions = job.out_normals = with_normals ? malloc(count * FLOATS * sizeof(float)) : NULL;
  sk_frames_run(&job);
}

static void a_whole_place_copies_its_frame(void) {
  static const double places[] = {2, 0, 1};
  float *points, *directions;
  int n;
  run_at(places, 3, true, &points, &directions);
  for (n = 0; n < 3; n++) {
    CHECK(memcmp(points + n * FLOATS, positions + (int)places[n] * FLOATS, FLOATS * sizeof(float)) == 0);
    CHECK(memcmp(directions + n * FLOATS, normals + (int)places[n] * FLOATS, FLOATS * sizeof(float)) == 0);
  }
  free(points);
  free(directions);
}

static void between_frames_lies_a_straight_line(void) {
  static const double places[] = {0.25, 1.5};
  static const float wanted[] = {0.5f, 0, 0, 1, 1.5f, 1, /**/ 2, 0, 4, 1, 3, 0.5f};
  const float length = sqrtf(0.75f * 0.75f + 0.25f * 0.25f);
  const float turned[] = {0.75f / length, 0.25f / length, 0, 0, 0.75f / length, 0.25f / length,
                          0,              1,              0, 0, 0,              0};
  float *points, *directions;
  run_at(places, 2, true, &points, &directions);
  CHECK_FLOATS(points, wanted, 2 * FLOATS, 1e-6);
  CHECK_FLOATS(directions, turned, 2 * FLOATS, 1e-6);
  free(points);
  free(directions);
  run_at(places, 2, false, &points, &directions);
  CHECK_FLOATS(points, wanted, 2 * FLOATS, 1e-6);
  free(points);
}

static void places_outside_count_as_the_nearest(void) {
  static const double places[] = {-1, -INFINITY, 2.5, 1e300, NAN};
  float *points, *directions;
  int n;
  run_at(places, 5, false, &points, &directions);
  for (n = 0; n < 2; n++) CHECK_FLOATS(points + n * FLOATS, positions, FLOATS, 0);
  for (; n < 4; n++) CHECK_FLOATS(points + n * FLOATS, positions + 2 * FLOATS, FLOATS, 0);
  free(points);
}

const check_test frames_tests[] = {
    TEST(a_time_is_found_among_the_frames),
    TEST(one_frame_is_always_there),
    TEST(a_whole_place_copies_its_frame),
    TEST(between_frames_lies_a_straight_line),
    TEST(places_outside_count_as_the_nearest),
    {NULL, NULL},
};
