/* test_palette.c: poses to locals, globals, positions and palettes, against matrices multiplied here. */
#include "check.h"

#include "small_model.h"

#include "../../csrc/core/base/sk_cpu.h"
#include "../../csrc/core/pose/sk_palette.h"

typedef struct stage {
  small_model written;
  void *block;
  sk_model model;
  sk_clip clip;
  sk_sampling sampling;
} stage;

static void stage_open(stage *s) {
  sk_error error;
  size_t size;
  s->block = small_model_write(&s->written, &size, &error);
  CHECK(s->block);
  CHECK_EQUAL(sk_model_open(s->block, size, &s->model, &error), SK_OK);
  sk_clip_open(&s->model.block, 0, &s->clip);
  s->sampling = (sk_sampling){&s->model.skeleton, NULL, SK_LOOP_CLAMP, SK_SLERP};
}

static sk_palette_job stage_job(const stage *s, sk_result result, bool affine, size_t count,
                                const double *times) {
  sk_palette_job job = {.skeleton = &s->model.skeleton, .skin = &s->model.skin, .count = count,
                        .sampling = &s->sampling, .times = times, .result = result, .affine = affine};
  return job;
}

/* Runs the job on heap memory of exactly the size that it says; free() frees the result. */
static float *run(sk_palette_job *job) {
  job->scratch = malloc(sk_palette_scratch(job));
  job->out = malloc(job->count * sk_palette_floats(job) * sizeof(float) + 1);
  CHECK(job->scratch && job->out);
  sk_palette_run(job);
  free(job->scratch);
  return job->out;
}

static float *rest(const stage *s, sk_result result, bool affine) {
  static const double zero = 0;
  sk_palette_job job = stage_job(s, result, affine, 1, &zero);
  return run(&job);
}

/* 4x4 products in double, the long way. */
static void product(const float *a, const float *b, float *out) {
  float result[16];
  int row, column, k;
  for (row = 0; row < 4; row++)
    for (column = 0; column < 4; column++) {
      double sum = 0;
      for (k = 0; k < 4; k++) sum += (double)a[4 * row + k] * b[4 * k + column];
      result[4 * row + column] = (float)sum;
    }
  memcpy(out, result, sizeof result);
}

static void rest_globals(const small_model *m, float *globals) {
  memcpy(globals, m->rest_local, 16 * sizeof(float));
  product(globals, m->rest_local + 16, globals + 16);
  product(globals + 16, m->rest_local + 32, globals + 32);
}

/* ---- at rest ------------------------------------------------------------------------ */

static void at_rest_locals_are_the_files_matrices(void) {
  stage s;
  float *got;
  small_model_set(&s.written);
  stage_open(&s);
  got = rest(&s, SK_LOCALS, false);
  CHECK(memcmp(got, s.written.rest_local, sizeof s.written.rest_local) == 0);
  free(got);
  sk_free(s.block);
}

static void globals_multiply_down_the_tree(void) {
  float wanted[JOINTS * 16], *got;
  stage s;
  small_model_set(&s.written);
  stage_open(&s);
  rest_globals(&s.written, wanted);
  got = rest(&s, SK_GLOBALS, false);
  CHECK_FLOATS(got, wanted, JOINTS * 16, 1e-6);
  free(got);
  sk_free(s.block);
}

/* Slot 0 has the inverse of its joint's rest global, slot 1 the identity: that joint's global. */
static void the_bind_pose_gives_the_identity(void) {
  static const float identity[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  float globals[JOINTS * 16], *got;
  stage s;
  small_model_set(&s.written);
  stage_open(&s);
  rest_globals(&s.written, globals);
  got = rest(&s, SK_PALETTE, false);
  CHECK_FLOATS(got, identity, 16, 1e-6);
  CHECK_FLOATS(got + 16, globals + 32, 16, 1e-6);
  free(got);
  sk_free(s.block);
}

static void rows_are_the_first_three_of_four(void) {
  stage s;
  int result, i;
  small_model_set(&s.written);
  stage_open(&s);
  for (result = SK_LOCALS; result <= SK_PALETTE; result++) {
    float *whole, *rows;
    if (result == SK_POSITIONS) continue;
    whole = rest(&s, (sk_result)result, false);
    rows = rest(&s, (sk_result)result, true);
    for (i = 0; i < (result == SK_PALETTE ? SLOTS : JOINTS); i++) {
      CHECK(memcmp(rows + 12 * i, whole + 16 * i, 12 * sizeof(float)) == 0);
      CHECK(whole[16 * i + 12] == 0 && whole[16 * i + 13] == 0 && whole[16 * i + 14] == 0);
      CHECK(whole[16 * i + 15] == 1);
    }
    free(whole);
    free(rows);
  }
  sk_free(s.block);
}

static void positions_are_the_last_columns(void) {
  float globals[JOINTS * 16], *got;
  stage s;
  int j, i;
  small_model_set(&s.written);
  stage_open(&s);
  rest_globals(&s.written, globals);
  got = rest(&s, SK_POSITIONS, false);
  for (j = 0; j < JOINTS; j++)
    for (i = 0; i < 3; i++) CHECK_NEAR(got[3 * j + i], globals[16 * j + 4 * i + 3], 1e-6);
  free(got);
  sk_free(s.block);
}

/* ---- what moves ----------------------------------------------------------------------- */

/* Joint 1's rest matrix holds shear. A pose that is bit-equal to its rest keeps it; any other has T*R*S. */
static void shear_lasts_until_the_joint_moves(void) {
  stage s;
  sk_palette_job job;
  float translation[JOINTS * 3], rotation[JOINTS * 4], scale[JOINTS * 3], *got;
  small_model_set(&s.written);
  stage_open(&s);
  memcpy(translation, s.written.translation, sizeof translation);
  memcpy(rotation, s.written.rotation, sizeof rotation);
  memcpy(scale, s.written.scale, sizeof scale);
  job = stage_job(&s, SK_LOCALS, false, 1, NULL);
  job.sampling = NULL;
  job.poses = (sk_pose){translation, rotation, scale};
  got = run(&job);
  CHECK_NEAR(got[16 + 1], 0.5, 0);
  free(got);
  scale[4] = nextafterf(1, 2);
  got = run(&job);
  CHECK_NEAR(got[16 + 1], 0, 1e-6);
  CHECK_NEAR(got[16 + 3], 1, 0);
  free(got);
  sk_free(s.block);
}

static const float lift[16] = {0, 0, 1, 5, 0, 1, 0, 6, -1, 0, 0, 7, 0, 0, 0, 1};
static const float shift[16] = {1, 0, 0, -2, 0, 1, 0, 0, 0, 0, 1, 9, 0, 0, 0, 1};

static void a_root_moves_the_whole_tree(void) {
  float globals[JOINTS * 16], wanted[16], roots[32], *got;
  static const double times[] = {0, 0};
  stage s;
  sk_palette_job job;
  int n, j;
  small_model_set(&s.written);
  stage_open(&s);
  rest_globals(&s.written, globals);
  memcpy(roots, lift, sizeof lift);
  memcpy(roots + 16, shift, sizeof shift);
  job = stage_job(&s, SK_GLOBALS, false, 2, times);
  job.root = roots;
  for (job.root_stride = 0; job.root_stride <= 16; job.root_stride += 16) {
    got = run(&job);
    for (n = 0; n < 2; n++)
      for (j = 0; j < JOINTS; j++) {
        product(job.root_stride && n ? shift : lift, globals + 16 * j, wanted);
        CHECK_FLOATS(got + 16 * (n * JOINTS + j), wanted, 16, 1e-5);
      }
    free(got);
  }
  sk_free(s.block);
}

/* The inverse of the root's REST global stands in front of everything, of `root` too. */
static void the_inverse_root_stands_in_front(void) {
  static const float inverse_root[16] = {0, 1, 0, -2, -1, 0, 0, 1, 0, 0, 1, -3, 0, 0, 0, 1};
  float globals[JOINTS * 16], wanted[16], *got;
  static const double zero = 0;
  stage s;
  sk_palette_job job;
  int j;
  small_model_set(&s.written);
  stage_open(&s);
  rest_globals(&s.written, globals);
  job = stage_job(&s, SK_GLOBALS, false, 1, &zero);
  job.inverse_root = true;
  got = run(&job);
  for (j = 0; j < JOINTS; j++) {
    product(inverse_root, globals + 16 * j, wanted);
    CHECK_FLOATS(got + 16 * j, wanted, 16, 1e-6);
  }
  free(got);
  job.root = lift;
  got = run(&job);
  for (j = 0; j < JOINTS; j++) {
    product(lift, globals + 16 * j, wanted);
    product(inverse_root, wanted, wanted);
    CHECK_FLOATS(got + 16 * j, wanted, 16, 1e-5);
  }
  free(got);
  sk_free(s.block);
}

static void sampled_and_given_poses_agree(void) {
  enum { MANY = 9 };
  double times[MANY];
  float t[MANY * JOINTS * 3], r[MANY * JOINTS * 4], c[MANY * JOINTS * 3], *sampled, *given;
  sk_simd best = sk_simd_chosen();
  stage s;
  sk_palette_job job;
  int n, result;
  small_model_set(&s.written);
  stage_open(&s);
  s.sampling.clip = &s.clip;
  for (n = 0; n < MANY; n++) times[n] = n * 0.3;
  sk_sample_run(&(sk_sample_job){s.sampling, times, MANY, {t, r, c}});
  for (result = SK_LOCALS; result <= SK_PALETTE; result++) {
    job = stage_job(&s, (sk_result)result, true, MANY, times);
    sampled = run(&job);
    job.sampling = NULL;
    job.poses = (sk_pose){t, r, c};
    given = run(&job);
    CHECK_FLOATS(given, sampled, (int)(MANY * sk_palette_floats(&job)), 1e-6); /* this clip is not compiled */
    free(given);
    CHECK(sk_simd_use(SK_SIMD_PLAIN));
    given = run(&job);
    CHECK(sk_simd_use(best));
    CHECK(memcmp(sampled, given, MANY * sk_palette_floats(&job) * sizeof(float)) == 0);
    free(sampled);
    free(given);
  }
  sk_free(s.block);
}

/* Two trees side by side: a root that is not joint 0 gets `root` too. */
static void every_root_is_a_root(void) {
  stage s;
  sk_palette_job job;
  static const double zero = 0;
  float wanted[16], *got;
  small_model_set(&s.written);
  s.written.parents[2] = SK_NONE;
  stage_open(&s);
  job = stage_job(&s, SK_GLOBALS, false, 1, &zero);
  job.root = lift;
  got = run(&job);
  product(lift, s.written.rest_local + 32, wanted);
  CHECK_FLOATS(got + 32, wanted, 16, 1e-6);
  free(got);
  sk_free(s.block);
}

static void no_poses_write_nothing(void) {
  stage s;
  sk_palette_job job;
  small_model_set(&s.written);
  stage_open(&s);
  job = stage_job(&s, SK_PALETTE, true, 0, NULL);
  free(run(&job));
  sk_free(s.block);
}

const check_test palette_tests[] = {
    TEST(at_rest_locals_are_the_files_matrices),
    TEST(globals_multiply_down_the_tree),
    TEST(the_bind_pose_gives_the_identity),
    TEST(rows_are_the_first_three_of_four),
    TEST(positions_are_the_last_columns),
    TEST(shear_lasts_until_the_joint_moves),
    TEST(a_root_moves_the_whole_tree),
    TEST(the_inverse_root_stands_in_front),
    TEST(sampled_and_given_poses_agree),
    TEST(every_root_is_a_root),
    TEST(no_poses_write_nothing),
    {NULL, NULL},
};
