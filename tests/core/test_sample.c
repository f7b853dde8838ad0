/* test_sample.c: small_model's first clip, whose values at its keys and between were worked out by hand. */
#include "check.h"

#include "small_model.h"

#include "../../csrc/core/pose/sk_sample.h"

#define HALF 0.70710678f

typedef struct stage {
  small_model written;
  void *block;
  sk_model model;
  sk_clip clip;
  float translation[JOINTS * 3], rotation[JOINTS * 4], scale[JOINTS * 3];
} stage;

/* Opens what stands in `written`. */
static void stage_show(stage *s) {
  sk_error error;
  size_t size;
  s->block = small_model_write(&s->written, &size, &error);
  CHECK(s->block);
  CHECK_EQUAL(sk_model_open(s->block, size, &s->model, &error), SK_OK);
  sk_clip_open(&s->model.block, 0, &s->clip);
}

static void stage_open(stage *s) {
  small_model_set(&s->written);
  stage_show(s);
}

static void stage_sample(stage *s, double time, sk_rotation rotation) {
  sk_sampling sampling = {&s->model.skeleton, &s->clip, SK_LOOP_CLAMP, rotation};
  sk_sample_one(&sampling, time, (sk_pose){s->translation, s->rotation, s->scale});
}

/* Channel 0 has joint 0's translation; what no channel has is no difference, not the rest pose. */
static void an_additive_clip_starts_from_no_difference(void) {
  static const float translation[] = {7, 8, 9, 0, 0, 0, 0, 0, 0}, scale[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  static const float rotation[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const float weights[TARGETS] = {0, 0};
  float found[TARGETS] = {5, 5};
  stage s;
  small_model_set(&s.written);
  s.written.clips[0].flags = SK_CLIP_ADDITIVE;
  s.written.clips[0].channel_count = 1;
  s.written.clips[1].first_channel = 1;
  s.written.clips[1].channel_count = CHANNELS - 1;
  s.written.clips[1].duration = 2; /* that of its channels */
  stage_show(&s);
  {
    const sk_sampling sampling = {&s.model.skeleton, &s.clip, SK_LOOP_CLAMP, SK_SLERP, &s.model.morph};
    sk_sample_one(&sampling, 2.0, (sk_pose){s.translation, s.rotation, s.scale, found});
  }
  CHECK(s.clip.additive);
  CHECK_FLOATS(s.translation, translation, JOINTS * 3, 0);
  CHECK_FLOATS(s.rotation, rotation, JOINTS * 4, 0);
  CHECK_FLOATS(s.scale, scale, JOINTS * 3, 0);
  CHECK_FLOATS(found, weights, TARGETS, 0);
  sk_free(s.block);
}

static void without_a_clip_it_is_the_rest_pose(void) {
  stage s;
  sk_sampling sampling = {NULL, NULL, SK_LOOP_WRAP, SK_SLERP};
  stage_open(&s);
  sampling.skeleton = &s.model.skeleton;
  sk_sample_one(&sampling, 5, (sk_pose){s.translation, s.rotation, s.scale});
  CHECK_FLOATS(s.translation, s.written.translation, JOINTS * 3, 0);
  CHECK_FLOATS(s.rotation, s.written.rotation, JOINTS * 4, 0);
  CHECK_FLOATS(s.scale, s.written.scale, JOINTS * 3, 0);
  sk_free(s.block);
}

static void a_joint_without_a_channel_rests(void) {
  stage s;
  stage_open(&s);
  stage_sample(&s, 1.3, SK_SLERP);
  CHECK_FLOATS(s.translation + 3, s.written.translation + 3, 6, 0);
  CHECK_FLOATS(s.rotation, s.written.rotation, 4, 0);
  CHECK_FLOATS(s.scale, s.written.scale, 6, 0);
  sk_free(s.block);
}

static void step_keys_hold_until_the_next(void) {
  static const struct {
    double time;
    int key;
  } cases[] = {{-1, 0}, {0, 0}, {0.499, 0}, {0.5, 1}, {1.999, 1}, {2, 2}, {9, 2}};
  stage s;
  size_t i;
  stage_open(&s);
  for (i = 0; i < COUNT(cases); i++) {
    stage_sample(&s, cases[i].time, SK_SLERP);
    CHECK_FLOATS(s.translation, s.written.values + STEP_VALUES + 3 * cases[i].key, 3, 0);
  }
  sk_free(s.block);
}

/* 0 degrees at 0 s, 90 at 0.5 s; from there to 2 s the stored key is the negative of +180 degrees. */
static void linear_rotations_turn_by_the_shorter_arc(void) {
  static const struct {
    double time, degrees;
  } cases[] = {{0, 0}, {0.25, 45}, {0.125, 22.5}, {0.5, 90}, {1.25, 135}, {1, 120}};
  stage s;
  size_t i;
  stage_open(&s);
  for (i = 0; i < COUNT(cases); i++) {
    double half = cases[i].degrees * (3.14159265358979323846 / 360);
    float wanted[4] = {0, 0, (float)sin(half), (float)cos(half)};
    stage_sample(&s, cases[i].time, SK_SLERP);
    CHECK_FLOATS(s.rotation + 4, wanted, 4, 2e-7);
  }
  sk_free(s.block);
}

/* On a key the pose has the key's own bits, sign included. */
static void a_key_is_met_exactly(void) {
  stage s;
  int k;
  stage_open(&s);
  for (k = 0; k < 3; k++) {
    stage_sample(&s, s.written.times[k], SK_SLERP);
    CHECK(memcmp(s.rotation + 4, s.written.values + LINEAR_VALUES + 4 * k, 16) == 0);
  }
  sk_free(s.block);
}

static void nlerp_is_the_chord(void) {
  /* A quarter of the way from 0 to 90 degrees: 3/4 a + 1/4 b, normalized. */
  double x = 0.25 * HALF, w = 0.75 + 0.25 * HALF, length = sqrt(x * x + w * w);
  float wanted[4] = {0, 0, (float)(x / length), (float)(w / length)};
  stage s;
  stage_open(&s);
  stage_sample(&s, 0.125, SK_NLERP);
  CHECK_FLOATS(s.rotation + 4, wanted, 4, 2e-7);
  sk_free(s.block);
}

/* The scale of joint 2: 1 at 1 s leaving with slope 4 a second, 3 at 1.5 s arriving with slope 2.
   Half way: (1 + 3) / 2 + (4 - 2) * 0.5 / 8 = 2.125. */
static void cubic_keys_use_their_tangents_per_second(void) {
  static const struct {
    double time, scale;
  } cases[] = {{0, 1}, {1, 1}, {1.25, 2.125}, {1.5, 3}, {2, 3}};
  stage s;
  size_t i;
  stage_open(&s);
  for (i = 0; i < COUNT(cases); i++) {
    stage_sample(&s, cases[i].time, SK_SLERP);
    CHECK_NEAR(s.scale[6], cases[i].scale, 2e-7);
    CHECK_NEAR(s.scale[7], 1, 2e-7);
  }
  sk_free(s.block);
}

static void cubic_rotations_come_out_normalized(void) {
  static const float wanted[] = {0, 0, 0, 1};
  stage s;
  stage_open(&s);
  stage_sample(&s, 1, SK_SLERP);
  CHECK_FLOATS(s.rotation + 8, wanted, 4, 0);
  sk_free(s.block);
}

static void a_batch_is_its_single_poses(void) {
  enum { MANY = 37 };
  stage s;
  double times[MANY];
  float *t = malloc(MANY * sizeof s.translation), *r = malloc(MANY * sizeof s.rotation),
        *c = malloc(MANY * sizeof s.scale);
  sk_sample_job job;
  int n;
  stage_open(&s);
  for (n = 0; n < MANY; n++) times[n] = (n * 7 % MANY) * 0.1 - 0.5;
  job = (sk_sample_job){{&s.model.skeleton, &s.clip, SK_LOOP_CLAMP, SK_SLERP}, times, MANY, {t, r, c}};
  sk_sample_run(&job);
  for (n = 0; n < MANY; n++) {
    stage_sample(&s, times[n], SK_SLERP);
    CHECK_FLOATS(t + n * JOINTS * 3, s.translation, JOINTS * 3, 0);
    CHECK_FLOATS(r + n * JOINTS * 4, s.rotation, JOINTS * 4, 0);
    CHECK_FLOATS(c + n * JOINTS * 3, s.scale, JOINTS * 3, 0);
  }
  free(t);
  free(r);
  free(c);
  sk_free(s.block);
}

/* Channel 0 now moves target 1 by step keys 1, 2, 3; target 0 keeps the file's weight. */
static void weights_follow_their_channel_or_the_file(void) {
  static const double times[] = {0, 0.7, 5};
  stage s;
  sk_sample_job job;
  float t[3 * JOINTS * 3], r[3 * JOINTS * 4], c[3 * JOINTS * 3], weights[3 * TARGETS];
  int n;
  small_model_set(&s.written);
  s.written.channels[0].path = SK_PATH_WEIGHT;
  s.written.channels[0].stride = 1;
  s.written.channels[0].joint = 1;
  stage_show(&s);
  job = (sk_sample_job){{&s.model.skeleton, &s.clip, SK_LOOP_CLAMP, SK_SLERP, &s.model.morph},
                        times, 3, {t, r, c, weights}};
  sk_sample_run(&job);
  for (n = 0; n < 3; n++) {
    CHECK_NEAR(weights[TARGETS * n], s.written.targets[0].default_weight, 0);
    CHECK_NEAR(weights[TARGETS * n + 1], n + 1, 0);
    CHECK_FLOATS(t + n * JOINTS * 3, s.written.translation, 3, 0);
  }
  job.poses.weights = NULL; /* not wanted */
  sk_sample_run(&job);
  sk_free(s.block);
}

static void a_time_that_is_not_finite_is_named(void) {
  static const double bad[][3] = {{0, 1, NAN}, {0, 1, INFINITY}, {0, 1, -INFINITY}}, good[] = {0, -1e300};
  sk_error error;
  size_t i;
  for (i = 0; i < COUNT(bad); i++) {
    CHECK_EQUAL(sk_times_validate(bad[i], 3, &error), SK_ERROR_ARGUMENT);
    CHECK_WORDS(error.message, "2");
  }
  CHECK_EQUAL(sk_times_validate(good, 2, &error), SK_OK);
  CHECK_EQUAL(sk_times_validate(NULL, 0, &error), SK_OK);
}

const check_test sample_tests[] = {
    TEST(without_a_clip_it_is_the_rest_pose),
    TEST(an_additive_clip_starts_from_no_difference),
    TEST(a_joint_without_a_channel_rests),
    TEST(step_keys_hold_until_the_next),
    TEST(linear_rotations_turn_by_the_shorter_arc),
    TEST(a_key_is_met_exactly),
    TEST(nlerp_is_the_chord),
    TEST(cubic_keys_use_their_tangents_per_second),
    TEST(cubic_rotations_come_out_normalized),
    TEST(a_batch_is_its_single_poses),
    TEST(weights_follow_their_channel_or_the_file),
    TEST(a_time_that_is_not_finite_is_named),
    {NULL, NULL},
};
