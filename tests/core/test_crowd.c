/* test_crowd.c: instances of a crowd against sampling, blending and the palette one after another. */
#include "check.h"

#include "small_model.h"

#include "../../csrc/core/pose/sk_crowd.h"
#include "../../csrc/core/base/sk_threads.h"

enum { CLIPS = 2, INSTANCES = 5, FLOATS = SLOTS * 12 };

typedef struct stage {
  small_model written;
  void *block;
  sk_model model;
  sk_clip clips[CLIPS];
} stage;

static void stage_open(stage *s) {
  sk_error error;
  size_t size;
  uint32_t i;
  small_model_set(&s->written);
  s->block = small_model_write(&s->written, &size, &error);
  CHECK(s->block);
  CHECK_EQUAL(sk_model_open(s->block, size, &s->model, &error), SK_OK);
  for (i = 0; i < CLIPS; i++) sk_clip_open(&s->model.block, i, &s->clips[i]);
}

static sk_crowd_job stage_job(const stage *s, size_t count, size_t slots, const int32_t *index, const double *times,
                              const double *weights) {
  return (sk_crowd_job){.skeleton = &s->model.skeleton, .skin = &s->model.skin, .morph = &s->model.morph,
                        .clips = s->clips, .clip_count = CLIPS, .count = count, .slots = slots,
                        .clip_index = index, .times = times, .weights = weights, .loop = SK_LOOP_WRAP,
                        .rotation = SK_SLERP, .affine = true};
}

/* Runs the job on heap memory of exactly the size that it says; free() frees the result. */
static float *run(sk_crowd_job *job) {
  sk_error error;
  CHECK_EQUAL(sk_crowd_validate(job, &error), SK_OK);
  job->scratch = malloc(sk_crowd_scratch(job));
  job->out = malloc(job->count * SLOTS * (job->affine ? 12 : 16) * sizeof(float) + 1);
  CHECK(job->scratch && job->out);
  sk_crowd_run(job);
  free(job->scratch);
  return job->out;
}

/* The palette of the clips' poses, blended: 3x4, one instance. */
static void blended(const stage *s, size_t count, const int32_t *index, const double *times, const double *weights,
                    float *out) {
  float memory[SK_CROWD_SLOTS + 1][JOINTS * 10];
  sk_sampling sampling = {&s->model.skeleton, NULL, SK_LOOP_WRAP, SK_SLERP, &s->model.morph};
  sk_blend_source sources[SK_CROWD_SLOTS];
  sk_palette_job palette = {.skeleton = &s->model.skeleton, .skin = &s->model.skin, .count = 1,
                            .result = SK_PALETTE, .affine = true, .out = out};
  sk_blend_job blend = {&s->model.skeleton, &s->model.morph, 1, sources, count, SK_BLEND_BASE, 0.5, {0}};
  size_t i;
  for (i = 0; i <= count; i++) {
    sk_pose pose = {memory[i], memory[i] + 3 * JOINTS, memory[i] + 7 * JOINTS, NULL};
    if (i == count) {
      blend.poses = palette.poses = pose;
      break;
    }
    sampling.clip = &s->clips[index[i]];
    sk_sample_one(&sampling, times[i], pose);
    sources[i] = (sk_blend_source){pose, &weights[i], 0, NULL, SK_PRIORITY_LOW};
  }
  sk_blend_run(&blend);
  palette.scratch = malloc(sk_palette_scratch(&palette));
  sk_palette_run(&palette);
  free(palette.scratch);
}

static void an_instance_is_the_palette_of_the_blended_poses(void) {
  static const int32_t index[] = {0, 0, 1, 1, 0, 0, 0, 1, 0, 0};
  static const double times[] = {0.1, 1.9, -0.7, 0, 5.3, 2, 1, 1, 1.2, 1.3};
  static const double weights[] = {1, 3, 0.25, 0.75, 0.02, 0.03, 0, 1, 1e-9, 1e30};
  float wanted[FLOATS], *got;
  sk_crowd_job job;
  stage s;
  int n;
  stage_open(&s);
  job = stage_job(&s, INSTANCES, 2, index, times, weights);
  got = run(&job);
  for (n = 0; n < INSTANCES; n++) {
    blended(&s, 2, index + 2 * n, times + 2 * n, weights + 2 * n, wanted);
    CHECK_FLOATS(got + n * FLOATS, wanted, FLOATS, 1e-6);
  }
  free(got);
  sk_free(s.block);
}

static void without_weights_the_shares_are_equal(void) {
  static const int32_t index[] = {0, SK_NONE, 0, 1};
  static const double times[] = {0.3, 7, 1.7, 0}, thirds[] = {1, 1, 1};
  static const int32_t used[] = {0, 0, 1};
  static const double used_times[] = {0.3, 1.7, 0};
  float wanted[FLOATS], *got;
  sk_crowd_job job;
  stage s;
  stage_open(&s);
  job = stage_job(&s, 1, 4, index, times, NULL);
  got = run(&job);
  blended(&s, 3, used, used_times, thirds, wanted);
  CHECK_FLOATS(got, wanted, FLOATS, 1e-6);
  free(got);
  sk_free(s.block);
}

/* No clip at all, unused ones with weights, used ones without: the palette of the rest pose, with its shear. */
static void where_nothing_weighs_there_is_the_rest_pose(void) {
  static const int32_t index[] = {SK_NONE, SK_NONE, SK_NONE, 0, 0, 1};
  static const double times[6] = {0}, weights[] = {0, 0, 5, 0, 0, 0};
  float wanted[FLOATS], *got;
  sk_crowd_job job;
  stage s;
  int n;
  stage_open(&s);
  blended(&s, 0, NULL, NULL, NULL, wanted);
  job = stage_job(&s, 3, 2, index, times, weights);
  got = run(&job);
  for (n = 0; n < 3; n++) CHECK(memcmp(got + n * FLOATS, wanted, sizeof wanted) == 0);
  free(got);
  sk_free(s.block);
}

/* Roots one for all and one each, put in front of what there is without them. */
static void roots_and_rows(void) {
  static const float roots[] = {0, -1, 0, 1, 1, 0, 0, 2, 0, 0, 1, 3, 0, 0, 0, 1,
                                2, 0,  0, 0, 0, 2, 0, 0, 0, 0, 2, 5, 0, 0, 0, 1};
  static const int32_t index[] = {0, 0};
  static const double times[] = {0.4, 1.1};
  float *plain, *one, *each;
  sk_crowd_job job;
  stage s;
  int k;
  stage_open(&s);
  job = stage_job(&s, 2, 1, index, times, NULL);
  job.affine = false;
  plain = run(&job);
  job.root = roots;
  one = run(&job);
  job.root_stride = 16;
  each = run(&job);
  CHECK(memcmp(one, each, SLOTS * 16 * sizeof(float)) == 0);
  for (k = 0; k < 4; k++) {
    const float *from = plain + SLOTS * 16, *first = one + SLOTS * 16, *second = each + SLOTS * 16;
    CHECK_NEAR(first[k], -from[4 + k] + (k == 3 ? 1 : 0), 1e-5);
    CHECK_NEAR(second[k], 2 * from[k], 1e-5);
    CHECK_NEAR(second[8 + k], 2 * from[8 + k] + (k == 3 ? 5 : 0), 1e-5);
    CHECK_NEAR(second[12 + k], k == 3, 0);
  }
  free(plain), free(one), free(each);
  sk_free(s.block);
}

/* Random instances, enough for several ranges and not a multiple of any. */
static void threads_do_not_change_a_bit(void) {
  enum { MANY = 701, CELLS = MANY * 2 };
  static const size_t threads[] = {1, 2, 3, 8};
  int32_t *index = malloc(CELLS * sizeof *index);
  double *times = malloc(CELLS * sizeof *times), *weights = malloc(CELLS * sizeof *weights);
  float *wanted = NULL;
  uint64_t random = 7;
  sk_crowd_job job;
  stage s;
  size_t i;
  stage_open(&s);
  for (i = 0; i < CELLS; i++) {
    index[i] = (int32_t)(check_random(&random) % (CLIPS + 1)) - 1;
    times[i] = (double)(check_random(&random) % 4000) / 1000 - 1;
    weights[i] = (double)(check_random(&random) % 100) / 100;
  }
  job = stage_job(&s, MANY, 2, index, times, weights);
  for (i = 0; i < COUNT(threads); i++) {
    float *got;
    sk_set_thread_count(threads[i]);
    got = run(&job);
    if (i == 0) wanted = got;
    else CHECK(memcmp(got, wanted, MANY * FLOATS * sizeof(float)) == 0);
    if (i > 0) free(got);
  }
  sk_set_thread_count(0);
  free(wanted), free(weights), free(times), free(index);
  sk_free(s.block);
}

static void nobody_is_a_crowd_too(void) {
  sk_crowd_job job;
  stage s;
  stage_open(&s);
  job = stage_job(&s, 0, 4, NULL, NULL, NULL);
  free(run(&job));
  sk_free(s.block);
}

static void what_is_wrong_is_named(void) {
  static const int32_t good[] = {0, 1, -1, 0}, high[] = {0, 1, 2, 0}, low[] = {0, 1, 0, -2};
  static const double times[4] = {0}, late[] = {0, NAN, 0, 0}, negative[] = {0, 0, 0, -0.5};
  static const double vast[] = {1, 1, 1e31, 1}, endless[] = {NAN, 1, 1, 1};
  const struct {
    size_t clips, slots;
    const int32_t *index;
    const double *times, *weights;
    const char *words;
  } cases[] = {
      {CLIPS, 1, high, times, NULL, "clip_index[2] is 2; expected -1 to 1"},
      {CLIPS, 2, low, times, NULL, "clip_index[1, 1] is -2; expected -1 to 1"},
      {CLIPS, 2, good, late, NULL, "time[0, 1] is nan"},
      {CLIPS, 1, good, times, negative, "weights[3] is -0.5; expected 0 or more"},
      {CLIPS, 4, good, times, vast, "weights[0, 2] is 1e+31"},
      {CLIPS, 4, good, times, endless, "weights[0, 0] is nan"},
      {CLIPS, 0, good, times, NULL, "K = 0; expected 1 to 4"},
      {CLIPS, 5, good, times, NULL, "K = 5; expected 1 to 4"},
      {SK_CROWD_CLIPS + 1, 1, good, times, NULL, "clips holds 65536 clips; expected at most 65535"},
  };
  sk_error error;
  stage s;
  size_t i;
  stage_open(&s);
  for (i = 0; i < COUNT(cases); i++) {
    size_t count = cases[i].slots ? 4 / cases[i].slots : 1;
    sk_crowd_job job = stage_job(&s, count, cases[i].slots, cases[i].index, cases[i].times, cases[i].weights);
    job.clip_count = cases[i].clips;
    CHECK_EQUAL(sk_crowd_validate(&job, &error), SK_ERROR_ARGUMENT);
    CHECK_WORDS(error.message, cases[i].words);
  }
  sk_free(s.block);
}

const check_test crowd_tests[] = {
    TEST(an_instance_is_the_palette_of_the_blended_poses),
    TEST(without_weights_the_shares_are_equal),
    TEST(where_nothing_weighs_there_is_the_rest_pose),
    TEST(roots_and_rows),
    TEST(threads_do_not_change_a_bit),
    TEST(nobody_is_a_crowd_too),
    TEST(what_is_wrong_is_named),
    {NULL, NULL},
};
