/* test_blend.c: weighted sums of poses, layer over layer, with results worked out by hand. */
#include "check.h"

#include "../../csrc/core/base/sk_cpu.h"
#include "../../csrc/core/base/sk_kernels.h"
#include "../../csrc/core/pose/sk_blend.h"

enum { JOINTS = 2, TARGETS = 1, POSE = JOINTS * 10 + TARGETS };

/* Rest: joint 0 at x = 1, joint 1 at x = 2; no turn, scale 1. The target's weight is 0.5 by default. */
static const int32_t parents[JOINTS] = {-1, 0};
static const float rest_t[] = {1, 0, 0, 2, 0, 0}, rest_r[] = {0, 0, 0, 1, 0, 0, 0, 1}, rest_s[] = {1, 1, 1, 1, 1, 1};
static const sk_target target = {{0, 0}, 1, 0.5f, 0, 0};
static const sk_skeleton skeleton = {JOINTS, parents, rest_t, rest_r, rest_s, NULL, {0}};
static const sk_morph morph = {TARGETS, &target, NULL, NULL, NULL};

/* Heap memory of exactly one pose. */
static float *new_pose(void) { return calloc(POSE, sizeof(float)); }

static sk_pose pose_of(float *memory) {
  return (sk_pose){memory, memory + 3 * JOINTS, memory + 7 * JOINTS, memory + 10 * JOINTS};
}

/* Both joints at (x, 0, 0), turned by `degrees` about z, with a scale and the target's weight. */
static float *make_pose(float x, double degrees, float scale, float weight) {
  float *memory = new_pose();
  sk_pose pose = pose_of(memory);
  int j, i;
  for (j = 0; j < JOINTS; j++) {
    pose.translation[3 * j] = x;
    pose.rotation[4 * j + 2] = (float)sin(degrees * 3.14159265358979 / 360);
    pose.rotation[4 * j + 3] = (float)cos(degrees * 3.14159265358979 / 360);
    for (i = 0; i < 3; i++) pose.scale[3 * j + i] = scale;
  }
  pose.weights[0] = weight;
  return memory;
}

static float *run(sk_blend_mode mode, const sk_blend_source *sources, size_t count, double factor, float *below) {
  sk_blend_job job = {&skeleton, &morph, 1, sources, count, mode, factor, pose_of(below)};
  sk_blend_run(&job);
  return below;
}

static double degrees_of(const float *memory, int j) {
  const float *r = memory + 3 * JOINTS + 4 * j;
  return atan2(r[2], r[3]) * 360 / 3.14159265358979;
}

static void a_base_is_the_normalized_sum(void) {
  const double weights[] = {1, 3};
  float *a = make_pose(0, 0, 1, 0), *b = make_pose(4, 90, 2, 1), *out = new_pose();
  sk_blend_source sources[] = {{pose_of(a), &weights[0], 0, NULL, SK_PRIORITY_LOW},
                               {pose_of(b), &weights[1], 0, NULL, SK_PRIORITY_LOW}};
  run(SK_BLEND_BASE, sources, 2, 0.5, out);
  CHECK_NEAR(out[0], 3, 1e-6);
  CHECK_NEAR(out[7 * JOINTS], 1.75, 1e-6);
  CHECK_NEAR(out[10 * JOINTS], 0.75, 1e-6);
  /* tan of half the angle: 3 sin 45 / (1 + 3 cos 45) */
  CHECK_NEAR(degrees_of(out, 0), atan2(3 * sqrt(0.5), 1 + 3 * sqrt(0.5)) * 360 / 3.14159265358979, 1e-4);
  free(a), free(b), free(out);
}

static void nothing_that_weighs_leaves_the_rest_pose(void) {
  const double none = 0, little = 0.05;
  float *a = make_pose(5, 60, 3, 1), *out = make_pose(9, 9, 9, 9);
  sk_blend_source source = {pose_of(a), &none, 0, NULL, SK_PRIORITY_LOW};
  run(SK_BLEND_BASE, &source, 1, 0.5, out);
  CHECK_NEAR(out[3], 2, 0);
  CHECK_NEAR(out[10 * JOINTS], 0.5, 0);
  source.weights = &little; /* half of the threshold: half way from the rest pose */
  run(SK_BLEND_BASE, &source, 1, 0.5, out);
  CHECK_NEAR(out[3], 3.5, 1e-6);
  CHECK_NEAR(degrees_of(out, 1), 30, 1e-4);
  CHECK_NEAR(out[10 * JOINTS], 0.75, 1e-6);
  run(SK_BLEND_BASE, NULL, 0, 0.5, out);
  CHECK_NEAR(out[0], 1, 0);
  free(a), free(out);
}

static void an_override_goes_by_weight_and_mask(void) {
  static const float mask[] = {0, 0.5f};
  const double weight = 0.5;
  float *a = make_pose(8, 80, 1, 1), *out = make_pose(0, 0, 1, 0);
  sk_blend_source source = {pose_of(a), &weight, 0, mask, SK_PRIORITY_LOW};
  run(SK_BLEND_OVERRIDE, &source, 1, 0.5, out);
  CHECK_NEAR(out[0], 0, 0);
  CHECK_NEAR(out[3], 2, 1e-6);
  CHECK_NEAR(out[10 * JOINTS], 0.25, 1e-6); /* the target hangs on joint 1 */
  free(a), free(out);
}

static void differences_are_added(void) {
  const double weight = 1, half = 0.5;
  float *a = make_pose(2, 40, 3, 0.25f), *out = make_pose(1, 30, 2, 0.5f);
  sk_blend_source source = {pose_of(a), &weight, 0, NULL, SK_PRIORITY_LOW};
  run(SK_BLEND_ADD, &source, 1, 0.5, out);
  CHECK_NEAR(out[0], 3, 1e-6);
  CHECK_NEAR(degrees_of(out, 0), 70, 1e-4);
  CHECK_NEAR(out[7 * JOINTS], 6, 1e-5);
  CHECK_NEAR(out[10 * JOINTS], 0.75, 1e-6);
  source.weights = &half;
  run(SK_BLEND_ADD, &source, 1, 0.5, out);
  CHECK_NEAR(degrees_of(out, 0), 90, 1e-4);
  CHECK_NEAR(out[7 * JOINTS], 12, 1e-5);
  free(a), free(out);
}

static void priorities_are_summed_apart(void) {
  const double weights[] = {1, 3, 0.2};
  float *a = make_pose(0, 0, 1, 0), *b = make_pose(4, 0, 1, 1), *c = make_pose(10, 0, 1, 0), *out = new_pose();
  sk_blend_source sources[] = {{pose_of(a), &weights[0], 0, NULL, SK_PRIORITY_LOW},
                               {pose_of(b), &weights[1], 0, NULL, SK_PRIORITY_LOW},
                               {pose_of(c), &weights[2], 0, NULL, SK_PRIORITY_HIGH}};
  CHECK_NEAR(run(SK_BLEND_BASE, sources, 3, 0.0, out)[0], 3, 1e-6);
  CHECK_NEAR(run(SK_BLEND_BASE, sources, 3, 0.25, out)[0], 3 + 0.25 * 7, 1e-6);
  CHECK_NEAR(run(SK_BLEND_BASE, sources, 3, 1.0, out)[0], 10, 1e-6);
  CHECK_NEAR(run(SK_BLEND_BASE, sources + 2, 1, 0.0, out)[0], 10, 1e-6);
  free(a), free(b), free(c), free(out);
}

static void opposite_turns_give_a_rotation_all_the_same(void) {
  const double one = 1;
  float *a = make_pose(0, 90, 1, 0), *b = make_pose(0, 270, 1, 0), *out = new_pose(), *r = out + 3 * JOINTS;
  sk_blend_source sources[] = {{pose_of(a), &one, 0, NULL, SK_PRIORITY_LOW},
                               {pose_of(b), &one, 0, NULL, SK_PRIORITY_LOW}};
  run(SK_BLEND_BASE, sources, 2, 0.5, out);
  CHECK_NEAR(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3], 1, 1e-6);
  free(a), free(b), free(out);
}

/* By hand: the mean of angles about one axis is the direction of sum w (cos, sin), for the eigenvector too. */
static void three_turns_about_an_axis_have_the_mean_of_directions(void) {
  static const double weights[] = {1, 2, 1.5}, degrees[] = {-130, 100, 20}, radian = 3.14159265358979 / 180;
  sk_blend_source sources[3];
  float *poses[3], *out = new_pose();
  double x = 0, y = 0;
  int i, first;
  for (i = 0; i < 3; i++) {
    poses[i] = make_pose((float)i, degrees[i], 1, 0);
    x += weights[i] * cos(degrees[i] * radian), y += weights[i] * sin(degrees[i] * radian);
  }
  for (first = 0; first < 3; first++) { /* in any order */
    for (i = 0; i < 3; i++)
      sources[i] =
          (sk_blend_source){pose_of(poses[(first + i) % 3]), &weights[(first + i) % 3], 0, NULL, SK_PRIORITY_LOW};
    run(SK_BLEND_BASE, sources, 3, 0.5, out);
    CHECK_NEAR(degrees_of(out, 0), atan2(y, x) / radian, 1e-4);
    CHECK_NEAR(out[0], 5 / 4.5, 1e-6);
  }
  for (i = 0; i < 3; i++) free(poses[i]);
  free(out);
}

static void a_third_source_of_little_weight_turns_nothing(void) {
  static const double weights[] = {1, 1, 1e-6};
  float *a = make_pose(0, 120, 1, 0), *b = make_pose(0, -120, 1, 0), *c = make_pose(0, 0, 1, 0), *out = new_pose();
  sk_blend_source sources[] = {{pose_of(a), &weights[0], 0, NULL, SK_PRIORITY_LOW},
                               {pose_of(b), &weights[1], 0, NULL, SK_PRIORITY_LOW},
                               {pose_of(c), &weights[2], 0, NULL, SK_PRIORITY_LOW}};
  CHECK_NEAR(degrees_of(run(SK_BLEND_BASE, sources, 2, 0.5, out), 0), 180, 1e-4);
  CHECK_NEAR(degrees_of(run(SK_BLEND_BASE, sources, 3, 0.5, out), 0), 180, 1e-4);
  free(a), free(b), free(c), free(out);
}

/* Turns by thirds: the eigenvalues meet, and the one nearest to the rest rotation is taken. */
static void where_no_mean_is_better_there_is_the_nearest_to_rest(void) {
  static const double one = 1;
  float *a = make_pose(0, 240, 1, 0), *b = make_pose(0, 120, 1, 0), *c = make_pose(0, 0, 1, 0), *out = new_pose();
  sk_blend_source sources[] = {{pose_of(a), &one, 0, NULL, SK_PRIORITY_LOW},
                               {pose_of(b), &one, 0, NULL, SK_PRIORITY_LOW},
                               {pose_of(c), &one, 0, NULL, SK_PRIORITY_LOW}};
  CHECK_NEAR(degrees_of(run(SK_BLEND_BASE, sources, 3, 0.5, out), 0), 0, 1e-4);
  free(a), free(b), free(c), free(out);
}

static void weights_are_checked(void) {
  const double good[] = {0, 1e30}, negative[] = {1, -1e-9}, wrong[] = {NAN, INFINITY};
  sk_error error;
  CHECK_EQUAL(sk_weights_validate(good, 2, &error), SK_OK);
  CHECK_EQUAL(sk_weights_validate(negative, 2, &error), SK_ERROR_ARGUMENT);
  CHECK_EQUAL(sk_weights_validate(wrong, 1, &error), SK_ERROR_ARGUMENT);
  CHECK_EQUAL(sk_weights_validate(wrong + 1, 1, &error), SK_ERROR_ARGUMENT);
}

/* ---- the kernel against the plain path --------------------------------------------------------------------- */

enum { MOST_JOINTS = 40, MOST_SOURCES = 5, MOST_FLOATS = MOST_JOINTS * 10 };

static float draw(uint64_t *state) { return (float)((double)(check_random(state) >> 11) * 0x1p-52 - 1.0); }

/* Numbers from -1 to 1; rotations up to some 80 degrees from the identity, so that no two cancel each other. */
static void draw_pose(uint64_t *state, int joints, bool same, float *memory) {
  int i, k;
  for (i = 0; i < joints * 10; i++) memory[i] = same ? 0.5f : draw(state);
  for (i = 0; i < joints; i++) {
    float *q = memory + 3 * joints + 4 * i, length = 0.0f;
    for (k = 0; k < 3; k++) q[k] *= 0.5f;
    q[3] = 1.0f;
    for (k = 0; k < 4; k++) length += q[k] * q[k];
    for (k = 0; k < 4; k++) q[k] /= sqrtf(length);
    for (k = 0; !same && i % 3 == 0 && k < 4; k++) q[k] = -q[k];
  }
}

static sk_pose pose_in(float *memory, int joints) {
  return (sk_pose){memory, memory + 3 * joints, memory + 7 * joints, NULL};
}

static void compare_blends(uint64_t *state, int joints, size_t count, sk_blend_mode mode) {
  float *rest = malloc(MOST_FLOATS * sizeof(float)), *wanted, *got, *memory[MOST_SOURCES], masks[MOST_JOINTS];
  double weights[MOST_SOURCES];
  sk_blend_source sources[MOST_SOURCES];
  sk_skeleton drawn = {joints, parents, rest, rest + 3 * joints, rest + 7 * joints, NULL, {0}};
  sk_morph none = {0, NULL, NULL, NULL, NULL};
  sk_blend_job job = {&drawn, &none, 1, sources, count, mode, 0.5, {NULL, NULL, NULL, NULL}};
  sk_simd simd = sk_simd_chosen();
  size_t k, bytes = (size_t)joints * 10 * sizeof(float);
  CHECK(rest);
  draw_pose(state, joints, false, rest);
  got = check_copy(rest, bytes);
  draw_pose(state, joints, false, got);
  wanted = check_copy(got, bytes);
  for (k = 0; k < (size_t)joints; k++) masks[k] = check_random(state) % 3 ? fabsf(draw(state)) : 0.0f;
  for (k = 0; k < count; k++) {
    memory[k] = check_copy(rest, bytes);
    draw_pose(state, joints, check_random(state) % 3 == 0, memory[k]);
    weights[k] = check_random(state) % 4 ? fabs(draw(state)) : 0.0;
    sources[k] = (sk_blend_source){pose_in(memory[k], joints),
                                   &weights[k],
                                   0,
                                   check_random(state) % 2 ? check_copy(masks, (size_t)joints * sizeof(float)) : NULL,
                                   SK_PRIORITY_LOW,
                                   check_random(state) % 4 == 0};
  }
  job.poses = pose_in(got, joints);
  CHECK(sk_kernels_chosen()->blend(&job, 0));
  job.poses = pose_in(wanted, joints);
  CHECK(sk_simd_use(SK_SIMD_PLAIN));
  sk_blend_run(&job);
  CHECK(sk_simd_use(simd));
  CHECK_FLOATS(got, wanted, (size_t)joints * 10, 2e-6); /* a few roundings of numbers up to 4 */
  for (k = 0; k < count; k++) free(memory[k]), free((float *)sources[k].mask);
  free(rest), free(got), free(wanted);
}

static void the_kernel_does_what_the_plain_path_does(void) {
  uint64_t state = 21;
  int joints, round;
  if (!sk_kernels_chosen()) return;
  for (joints = 1; joints <= MOST_JOINTS; joints++)
    for (round = 0; round < 30; round++)
      compare_blends(&state, joints, check_random(&state) % (MOST_SOURCES + 1),
                     (sk_blend_mode)(check_random(&state) % SK_BLEND_MODE_COUNT));
}

static void many_sources_take_the_plain_path(void) {
  const double weight = 1;
  float *a = make_pose(3, 40, 1, 0), *out = new_pose();
  sk_blend_source sources[100];
  size_t i;
  for (i = 0; i < COUNT(sources); i++) sources[i] = (sk_blend_source){pose_of(a), &weight, 0, NULL, SK_PRIORITY_LOW};
  run(SK_BLEND_BASE, sources, COUNT(sources), 0.5, out);
  CHECK_NEAR(out[0], 3, 1e-6);
  CHECK_NEAR(degrees_of(out, 1), 40, 1e-4);
  free(a), free(out);
}

const check_test blend_tests[] = {
    TEST(a_base_is_the_normalized_sum),
    TEST(nothing_that_weighs_leaves_the_rest_pose),
    TEST(an_override_goes_by_weight_and_mask),
    TEST(differences_are_added),
    TEST(priorities_are_summed_apart),
    TEST(opposite_turns_give_a_rotation_all_the_same),
    TEST(three_turns_about_an_axis_have_the_mean_of_directions),
    TEST(a_third_source_of_little_weight_turns_nothing),
    TEST(where_no_mean_is_better_there_is_the_nearest_to_rest),
    TEST(weights_are_checked),
    TEST(the_kernel_does_what_the_plain_path_does),
    TEST(many_sources_take_the_plain_path),
    {NULL, NULL},
};
