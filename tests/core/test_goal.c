/* test_goal.c: two-bone IK, aim and FABRIK on a chain along x, with numbers derived by hand. */
#include "check.h"

#include "../../csrc/core/pose/sk_goal.h"
#include "../../csrc/core/pose/sk_palette.h"

enum { CHAIN = 5, POSES = 2 };

/* Joint 0 at the origin with scale 2; joints 1 to 4 follow one unit along x each. */
typedef struct stage {
  sk_skeleton skeleton;
  float translation[POSES * CHAIN * 3], *rotation, scale[POSES * CHAIN * 3];
  float rest_translation[CHAIN * 3], rest_rotation[CHAIN * 4], rest_scale[CHAIN * 3], rest_local[CHAIN * 16];
  double targets[POSES * 3], poles[POSES * 3], weights[POSES], misses[POSES];
} stage;

static const int32_t parents[CHAIN] = {-1, 0, 1, 2, 3};

/* Rotations lie in heap memory of exactly their size. The rest scale is another, so that no joint rests. */
static void stage_set(stage *s) {
  size_t j;
  memset(s, 0, sizeof *s);
  s->rotation = calloc(POSES * CHAIN * 4, sizeof(float));
  for (j = 0; j < POSES * CHAIN; j++) {
    s->translation[3 * j] = j % CHAIN ? 1.0f : 0.0f;
    s->rotation[4 * j + 3] = 1.0f;
    s->scale[3 * j] = s->scale[3 * j + 1] = s->scale[3 * j + 2] = j % CHAIN ? 1.0f : 2.0f;
  }
  s->weights[0] = s->weights[1] = 1.0;
  s->skeleton = (sk_skeleton){.joint_count = CHAIN,
                              .parents = parents,
                              .translation = s->rest_translation,
                              .rotation = s->rest_rotation,
                              .scale = s->rest_scale,
                              .rest_local = s->rest_local};
}

static sk_goal stage_goal(stage *s, bool with_poles) {
  return (sk_goal){.skeleton = &s->skeleton,
                   .poses = {s->translation, s->rotation, s->scale, NULL},
                   .count = POSES,
                   .targets = s->targets,
                   .poles = with_poles ? s->poles : NULL,
                   .weights = s->weights,
                   .misses = s->misses};
}

/* Places of the joints of both poses. */
static void stage_places(const stage *s, float *out) {
  sk_palette_job job = {.skeleton = &s->skeleton,
                        .count = POSES,
                        .poses = {(float *)s->translation, s->rotation, (float *)s->scale, NULL},
                        .result = SK_POSITIONS,
                        .out = out};
  job.scratch = malloc(sk_palette_scratch(&job));
  sk_palette_run(&job);
  free(job.scratch);
}

static void two_bones_make_a_right_angle(void) {
  /* From joint 1 at (2,0,0), links of 2: the target at 2 sqrt(2) along y; out of reach at (2,9,0). */
  const double far = 2.0 * sqrt(2.0);
  const float wanted[] = {2, 0, 0, 2 + (float)sqrt(2), (float)sqrt(2), 0, 2, (float)far, 0, /**/ 2, 0, 0, 2, 2, 0, 2, 4, 0};
  float places[POSES * CHAIN * 3];
  sk_two_bone_job job;
  sk_error error;
  stage s;
  stage_set(&s);
  s.targets[0] = s.targets[3] = 2, s.targets[1] = far, s.targets[4] = 9;
  s.poles[0] = s.poles[3] = 50;
  job = (sk_two_bone_job){stage_goal(&s, true), 1, 2, 3, 1.0};
  CHECK_EQUAL(sk_two_bone_validate(&job, &error), SK_OK);
  sk_two_bone_run(&job);
  stage_places(&s, places);
  CHECK_FLOATS(places + 3, wanted, 9, 2e-6);
  CHECK_FLOATS(places + 3 * CHAIN + 3, wanted + 9, 9, 2e-6);
  CHECK_NEAR(s.misses[0], 0, 1e-12);
  CHECK_NEAR(s.misses[1], 5.0 / 4.0, 1e-12);
  free(s.rotation);
}

static void an_axis_points_up_and_a_weight_stops_halfway(void) {
  /* Joint 1 at (2,0,0): x turned to y is 90 degrees about z; nlerp by a half is 45. */
  const float quarter[] = {0, 0, sqrtf(0.5f), sqrtf(0.5f)}, eighth[] = {0, 0, sinf(0.3926991f), cosf(0.3926991f)};
  sk_aim_job job = {.joint = 1, .axis = {1, 0, 0}, .up = {0, 1, 0}};
  sk_error error;
  stage s;
  stage_set(&s);
  s.targets[0] = s.targets[3] = 2, s.targets[1] = s.targets[4] = 7, s.weights[1] = 0.5;
  job.goal = stage_goal(&s, false);
  CHECK_EQUAL(sk_aim_validate(&job, &error), SK_OK);
  sk_aim_run(&job);
  CHECK_FLOATS(s.rotation + 4, quarter, 4, 1e-7);
  CHECK_FLOATS(s.rotation + 4 * CHAIN + 4, eighth, 4, 1e-7);
  CHECK_EQUAL(s.misses[0] == 0.0 && s.misses[1] == 0.0, 1);
  s.targets[1] = 0; /* on the joint */
  sk_aim_run(&job);
  CHECK(isinf(s.misses[0]));
  CHECK_FLOATS(s.rotation + 4, quarter, 4, 1e-7);
  free(s.rotation);
}

static void a_chain_reaches_or_stretches(void) {
  const float stretched[] = {0, 0, 0, 0, 2, 0, 0, 4, 0, 0, 6, 0, 0, 8, 0};
  float places[POSES * CHAIN * 3];
  sk_fabrik_job job;
  sk_error error;
  stage s;
  stage_set(&s);
  s.targets[0] = 3, s.targets[4] = 20; /* on the chain's own line; far above */
  job = (sk_fabrik_job){stage_goal(&s, false), 0, 4, 500, 1e-6, NULL};
  CHECK_EQUAL(sk_fabrik_validate(&job, &error), SK_OK);
  job.scratch = malloc(sk_fabrik_scratch(&job));
  sk_fabrik_run(&job);
  stage_places(&s, places);
  CHECK_NEAR(places[3 * 4], 3, 2e-5);
  CHECK_NEAR(places[3 * 4 + 1], 0, 2e-5);
  CHECK_NEAR(places[3 * 4 + 2], 0, 2e-5);
  CHECK_FLOATS(places + 3 * CHAIN, stretched, 15, 4e-6);
  CHECK(s.misses[0] <= 1e-6);
  CHECK_NEAR(s.misses[1], 12.0 / 8.0, 1e-12);
  free(job.scratch);
  free(s.rotation);
}

static void two_links_are_a_limb(void) {
  /* Links of 2 from the origin, one iteration: the target at 2 sqrt(2) along y has the knee at a right angle,
     sqrt(2) up and as far aside; one at 0 folds the limb. */
  float places[POSES * CHAIN * 3];
  sk_fabrik_job job;
  stage s;
  stage_set(&s);
  s.targets[1] = 2.0 * sqrt(2.0);
  job = (sk_fabrik_job){stage_goal(&s, false), 0, 2, 1, 1e-12, NULL};
  job.scratch = malloc(sk_fabrik_scratch(&job));
  sk_fabrik_run(&job);
  stage_places(&s, places);
  CHECK_NEAR(places[4], sqrt(2.0), 2e-6);
  CHECK_NEAR(places[3] * places[3] + places[5] * places[5], 2, 4e-6);
  CHECK_NEAR(places[6], 0, 2e-6);
  CHECK_NEAR(places[7], 2.0 * sqrt(2.0), 2e-6);
  CHECK_NEAR(places[8], 0, 2e-6);
  CHECK_NEAR(s.misses[0], 0, 1e-12);
  CHECK_NEAR(s.misses[1], 0, 1e-12);
  free(job.scratch);
  free(s.rotation);
}

static void what_is_no_chain_or_no_number_is_refused(void) {
  sk_two_bone_job bones;
  sk_fabrik_job chain;
  sk_aim_job aim = {.joint = CHAIN, .axis = {1, 0, 0}};
  sk_error error;
  stage s;
  stage_set(&s);
  bones = (sk_two_bone_job){stage_goal(&s, true), 2, 1, 3, 1.0};
  CHECK_EQUAL(sk_two_bone_validate(&bones, &error), SK_ERROR_ARGUMENT);
  CHECK_WORDS(error.message, "joint 2 is not an ancestor of joint 1");
  bones.root = 0, bones.soften = NAN;
  CHECK_EQUAL(sk_two_bone_validate(&bones, &error), SK_ERROR_ARGUMENT);
  CHECK_WORDS(error.message, "soften is");
  bones.soften = 0.5, s.poles[5] = INFINITY;
  CHECK_EQUAL(sk_two_bone_validate(&bones, &error), SK_ERROR_ARGUMENT);
  CHECK_WORDS(error.message, "pole 1 is not finite");
  aim.goal = stage_goal(&s, false);
  CHECK_EQUAL(sk_aim_validate(&aim, &error), SK_ERROR_ARGUMENT);
  CHECK_WORDS(error.message, "joint is 5; the skeleton has 5 joints");
  aim.joint = 0, s.weights[1] = NAN;
  CHECK_EQUAL(sk_aim_validate(&aim, &error), SK_ERROR_ARGUMENT);
  CHECK_WORDS(error.message, "weight 1 is");
  chain = (sk_fabrik_job){stage_goal(&s, false), -1, 4, 1, 0.1, NULL};
  CHECK_EQUAL(sk_fabrik_validate(&chain, &error), SK_ERROR_ARGUMENT);
  chain.root = 4;
  CHECK_EQUAL(sk_fabrik_validate(&chain, &error), SK_ERROR_ARGUMENT);
  chain.root = 0, chain.tolerance = 0;
  CHECK_EQUAL(sk_fabrik_validate(&chain, &error), SK_ERROR_ARGUMENT);
  CHECK_WORDS(error.message, "tolerance is 0");
  free(s.rotation);
}

static void random_limbs_stay_finite(void) {
  uint64_t state = 11;
  int round, i;
  for (round = 0; round < 300; round++) {
    sk_two_bone_job bones;
    sk_fabrik_job chain;
    stage s;
    stage_set(&s);
    for (i = 0; i < POSES * CHAIN * 3; i++) {
      /* Small whole numbers: zeros, and directions that are equal or opposite, are frequent. */
      s.translation[i] = (float)(check_random(&state) >> 62) - 1.0f;
      s.scale[i] = (float)(check_random(&state) >> 62) - 1.0f;
    }
    for (i = 0; i < POSES * CHAIN * 4; i++) s.rotation[i] = (float)(check_random(&state) >> 62) - 1.0f;
    for (i = 0; i < POSES * 3; i++) {
      s.targets[i] = (double)(check_random(&state) >> 61) - 3.0;
      s.poles[i] = (double)(check_random(&state) >> 61) - 3.0;
    }
    bones = (sk_two_bone_job){stage_goal(&s, round % 2), 1, 2, 4, 1.0};
    sk_two_bone_run(&bones);
    chain = (sk_fabrik_job){stage_goal(&s, false), 0, 4, 20, 1e-4, NULL};
    chain.scratch = malloc(sk_fabrik_scratch(&chain));
    sk_fabrik_run(&chain);
    chain.end = 2;
    sk_fabrik_run(&chain);
    for (i = 0; i < POSES * CHAIN * 4; i++) CHECK(isfinite(s.rotation[i]));
    free(chain.scratch);
    free(s.rotation);
  }
}

const check_test goal_tests[] = {
    TEST(two_bones_make_a_right_angle),
    TEST(an_axis_points_up_and_a_weight_stops_halfway),
    TEST(a_chain_reaches_or_stretches),
    TEST(two_links_are_a_limb),
    TEST(what_is_no_chain_or_no_number_is_refused),
    TEST(random_limbs_stay_finite),
    {NULL, NULL},
};
