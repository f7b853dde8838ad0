/* test_kernels.c: the SIMD kernels against the plain path, on scratch and results of exactly the sizes they ask for.

   Tolerance: 1e-6 of the largest number of a pose's matrices, the project's own, growing with the depth of chains
   of more than 64 joints, of which there are none here. */
#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include "check.h"
#include "rig.h"

#include "../../csrc/core/base/sk_cpu.h"
#include "../../csrc/core/base/sk_kernels.h"
#include "../../csrc/core/pose/sk_crowd.h"
#include "../../csrc/core/pose/sk_crowd_groups.h"
#include "../../csrc/core/pose/sk_palette.h"

#include "../../csrc/core/simd/sk_kernel.h"

#if SK_HAS_KERNELS
#include "../../csrc/core/simd/sk_batch.h"

enum { MOST_POSES = 40 };

static bool has_kernels(void) { return sk_kernels_chosen() != NULL; }

static void *aligned(size_t bytes) {
  void *memory = NULL;
  CHECK(posix_memalign(&memory, 32, bytes + !bytes) == 0);
  return memory;
}

static const rig_wish wish_list[] = {
    {.joints = 1, .roots = 1, .most_slots = 1, .moving = 1.0, .turn = 0.5, .kinds = 7, .most_keys = 9},
    {.joints = 8, .roots = 1, .most_slots = 2, .moving = 1.0, .turn = 0.5, .kinds = 2, .most_keys = 9},
    {.joints = 17, .roots = 1, .most_slots = 3, .moving = 0.8, .turn = 0.5, .kinds = 7, .lines = RIG_FEW_LINES,
     .most_keys = 20},
    {.joints = 30, .roots = 1, .most_slots = 1, .moving = 0.8, .turn = 3.1, .kinds = 2, .lines = RIG_FEW_LINES,
     .most_keys = 30},
    {.joints = 30, .roots = 1, .most_slots = 2, .moving = 0.8, .turn = 3.1, .kinds = 3, .lines = RIG_OWN_LINES,
     .most_keys = 30},
    {.joints = 12, .roots = 3, .most_slots = 2, .moving = 0.5, .turn = 0.5, .kinds = 7, .lines = RIG_OWN_LINES,
     .most_keys = 2},
    {.joints = 12, .roots = 3, .most_slots = 2, .moving = 0.7, .turn = 0.5, .kinds = 2, .lines = RIG_FEW_LINES,
     .most_keys = 9, .still_roots = true},
    {.joints = 25, .roots = 1, .most_slots = 1, .moving = 0.6, .turn = 1.5, .kinds = 7, .lines = RIG_FEW_LINES,
     .most_keys = 9, .constant = 0.4, .scaled = 0.5, .weights = true},
    {.joints = 25, .roots = 2, .most_slots = 2, .moving = 0.3, .turn = 0.5, .kinds = 7, .lines = RIG_FEW_LINES,
     .most_keys = 9, .sheared = 0.5, .resting = 0.8},
    {.joints = 20, .roots = 1, .most_slots = 2, .moving = 0.5, .turn = 0.5, .kinds = 1, .lines = RIG_FEW_LINES,
     .most_keys = 9, .sheared = 0.5, .resting = 0.8, .constant = 0.3},
    {.joints = 20, .roots = 1, .most_slots = 1, .moving = 0.8, .turn = 0.5, .kinds = 2, .lines = RIG_FEW_LINES,
     .most_keys = 40, .clustered = true},
    {.joints = 20, .roots = 1, .most_slots = 1, .moving = 0.8, .turn = 0.5, .kinds = 7, .lines = RIG_OWN_LINES,
     .most_keys = 40, .clustered = true},
    {.joints = 9, .roots = 1, .most_slots = 2, .moving = 0.7, .turn = 0.5, .kinds = 4, .lines = RIG_FEW_LINES,
     .most_keys = 5},
    {.joints = 9, .roots = 1, .most_slots = 0, .moving = 0.7, .turn = 0.5, .kinds = 7, .most_keys = 5},
    {.joints = 9, .roots = 1, .most_slots = 2, .moving = 0.0, .turn = 0.5, .kinds = 7, .most_keys = 5,
     .sheared = 0.5},
    {.joints = 9, .roots = 1, .most_slots = 2, .moving = 0.0, .turn = 0.5, .kinds = 7, .most_keys = 5,
     .weights = true},
    {.joints = 15, .roots = 1, .most_slots = 2, .moving = 0.8, .turn = 0.5, .kinds = 7, .lines = RIG_FEW_LINES,
     .most_keys = 9, .additive = true, .sheared = 0.3},
    {.joints = 15, .roots = 15, .most_slots = 2, .moving = 0.8, .turn = 0.5, .kinds = 7, .lines = RIG_OWN_LINES,
     .most_keys = 9},
    {.joints = 40, .roots = 1, .most_slots = 9, .moving = 0.1, .turn = 0.5, .kinds = 2, .lines = RIG_FEW_LINES,
     .most_keys = 9},
};

enum { WISHES = COUNT(wish_list), ROUNDS = 6 };

static void make_rig(size_t number, size_t round, rig *r) {
  rig_wish wish = wish_list[number];
  wish.seed = number * 100 + round + 1;
  wish.packed = round % 2;
  rig_make(&wish, r);
  CHECK(r->compiled);
}

/* Before, in and after the clip; on its keys and right beside them, but where a joint comes to rest: there the
   plain path's result may round to the rest pose, whose matrix may hold shear, a little earlier. */
static void draw_times(const rig *r, uint64_t *state, size_t count, double *times) {
  size_t i;
  for (i = 0; i < count; i++) {
    uint64_t kind = check_random(state) % 4;
    const sk_channel *channel = &r->channels[r->clip.channel_count ? check_random(state) % r->clip.channel_count : 0];
    times[i] = kind == 0 ? rig_spread(state, 7.0) : rig_share(state) * r->clip.duration;
    if (kind > 1 && r->clip.channel_count) {
      times[i] = r->times[channel->times + check_random(state) % channel->key_count];
      if (kind == 3 && !r->compiled->sheared_count) times[i] += rig_spread(state, 1e-9);
    }
  }
}

/* ---- palettes ------------------------------------------------------------------------------------------- */

static void set_roots(uint64_t *state, sk_palette_job *job, float *roots) {
  size_t n, i;
  uint64_t kind = check_random(state) % 3;
  job->inverse_root = check_random(state) % 2;
  job->root = kind ? roots : NULL;
  job->root_stride = kind == 2 ? 16 : 0;
  for (n = 0; n < MOST_POSES; n++)
    for (i = 0; i < 16; i++) roots[16 * n + i] = (float)((i % 5 == 0) + (i < 12 ? rig_spread(state, 0.5) : 0.0));
}

static float *results_of(sk_palette_job *job, bool by_kernel) {
  job->scratch = aligned(by_kernel ? sk_kernels_chosen()->palette_scratch(job->sampling->clip->compiled, job->count)
                              : sk_palette_scratch(job));
  job->out = malloc(job->count * sk_palette_floats(job) * sizeof(float) + !job->count);
  CHECK(job->out);
  if (by_kernel) sk_kernels_chosen()->palette(job, 0, job->count, job->scratch);
  else sk_palette_run(job);
  free(job->scratch);
  return job->out;
}

static void compare_poses(const float *got, const float *wanted, size_t count, size_t floats) {
  size_t n, i;
  for (n = 0; n < count; n++, got += floats, wanted += floats) {
    double largest = 1.0;
    for (i = 0; i < floats; i++) largest = fmax(largest, fabs(wanted[i]));
    CHECK_FLOATS(got, wanted, floats, 1e-6 * largest);
  }
}

static void compare_palettes(rig *r, uint64_t *state, size_t count) {
  static const sk_result results[] = {SK_GLOBALS, SK_POSITIONS, SK_PALETTE};
  double times[MOST_POSES];
  float roots[MOST_POSES * 16], *got, *wanted;
  sk_sampling sampling = {&r->skeleton, &r->clip, (sk_loop)(check_random(state) % SK_LOOP_COUNT), SK_SLERP, NULL};
  sk_palette_job job = {.skeleton = &r->skeleton, .skin = &r->skin, .count = count, .sampling = &sampling,
                        .times = times};
  size_t i;
  sampling.rotation = !r->compiled->merged && check_random(state) % 2 ? SK_NLERP : SK_SLERP;
  draw_times(r, state, count, times);
  set_roots(state, &job, roots);
  for (i = 0; i < COUNT(results); i++) {
    job.result = results[i];
    job.affine = check_random(state) % 2;
    r->clip.compiled = NULL;
    wanted = results_of(&job, false);
    r->clip.compiled = r->compiled;
    got = results_of(&job, true);
    compare_poses(got, wanted, count, sk_palette_floats(&job));
    free(got);
    free(wanted);
  }
  r->clip.compiled = NULL;
}

static void palettes_are_those_of_the_plain_path(void) {
  uint64_t state = 5;
  size_t number, round, count = 1;
  if (!has_kernels()) return;
  for (number = 0; number < WISHES; number++)
    for (round = 0; round < ROUNDS; round++) {
      rig r;
      make_rig(number, round, &r);
      compare_palettes(&r, &state, count);
      compare_palettes(&r, &state, 1);
      count = count % MOST_POSES + 1;
      rig_free(&r);
    }
}

/* The same bits alone and among others. */
static void a_pose_has_the_same_bits_alone(void) {
  uint64_t state = 6;
  size_t number, n;
  if (!has_kernels()) return;
  for (number = 0; number < WISHES; number++) {
    rig r;
    double times[11];
    float *all, *one;
    sk_sampling sampling = {&r.skeleton, &r.clip, SK_LOOP_CLAMP, SK_SLERP, NULL};
    sk_palette_job job = {.skeleton = &r.skeleton, .skin = &r.skin, .count = COUNT(times), .sampling = &sampling,
                          .times = times, .result = SK_PALETTE, .affine = true};
    make_rig(number, 50, &r);
    r.clip.compiled = r.compiled;
    draw_times(&r, &state, COUNT(times), times);
    all = results_of(&job, true);
    job.count = 1;
    for (n = 0; n < COUNT(times); n++, job.times++) {
      one = results_of(&job, true);
      CHECK(memcmp(one, all + n * sk_palette_floats(&job), sk_palette_floats(&job) * sizeof(float)) == 0);
      free(one);
    }
    free(all);
    rig_free(&r);
  }
}

/* Locals have no kernel: a compiled clip must not be taken for one. */
static void sampled_locals_take_the_plain_path(void) {
  static const double time = 0.7;
  float *got, *wanted;
  rig r;
  sk_sampling sampling = {&r.skeleton, &r.clip, SK_LOOP_WRAP, SK_SLERP, NULL};
  sk_palette_job job = {.skeleton = &r.skeleton, .count = 1, .sampling = &sampling, .times = &time,
                        .result = SK_LOCALS};
  if (!has_kernels()) return;
  make_rig(2, 0, &r);
  wanted = results_of(&job, false);
  r.clip.compiled = r.compiled;
  got = results_of(&job, false);
  compare_poses(got, wanted, 1, sk_palette_floats(&job));
  free(got);
  free(wanted);
  rig_free(&r);
}

/* ---- given poses -------------------------------------------------------------------------------------------- */

/* Rotations of any length, also none; a third of the joints at rest. */
static sk_pose draw_poses(const rig *r, uint64_t *state, size_t count) {
  static const double lengths[] = {1.0, 1.0, 1.0, 0.5, 3.0, 0.0, 1e-22, 1e22};
  size_t joints = (size_t)r->skeleton.joint_count, n, j, i;
  sk_pose pose = {malloc(count * joints * 3 * sizeof(float)), malloc(count * joints * 4 * sizeof(float)),
                  malloc(count * joints * 3 * sizeof(float)), NULL};
  CHECK(pose.translation && pose.rotation && pose.scale);
  for (n = 0; n < count; n++)
    for (j = 0; j < joints; j++) {
      float *t = pose.translation + 3 * (n * joints + j), *q = pose.rotation + 4 * (n * joints + j);
      float *c = pose.scale + 3 * (n * joints + j);
      bool rests = check_random(state) % 3 == 0;
      double length = lengths[check_random(state) % COUNT(lengths)];
      for (i = 0; i < 3; i++) t[i] = r->translation[3 * j + i] + (rests ? 0.0f : (float)rig_spread(state, 0.3));
      for (i = 0; i < 3; i++) c[i] = r->scale[3 * j + i] + (rests ? 0.0f : (float)rig_spread(state, 0.1));
      for (i = 0; i < 4; i++) q[i] = rests ? r->rotation[4 * j + i] : (float)(length * rig_spread(state, 1.0));
    }
  return pose;
}

static float *given_results(sk_palette_job *job, bool by_kernel) {
  sk_simd best = sk_simd_chosen();
  CHECK(sk_simd_use(by_kernel ? best : SK_SIMD_PLAIN));
  job->scratch = aligned(by_kernel ? sk_kernels_chosen()->given_scratch(job->skeleton->joint_count) : sk_palette_scratch(job));
  job->out = malloc(job->count * sk_palette_floats(job) * sizeof(float) + !job->skin->slot_count);
  CHECK(job->out);
  if (by_kernel) sk_kernels_chosen()->given(job, 0, job->count, job->scratch);
  else sk_palette_run(job);
  CHECK(sk_simd_use(best));
  free(job->scratch);
  return job->out;
}

static void given_poses_are_those_of_the_plain_path(void) {
  uint64_t state = 14;
  size_t number, result;
  if (!has_kernels()) return;
  for (number = 0; number < WISHES; number++)
    for (result = SK_LOCALS; result <= SK_PALETTE; result++) {
      float roots[MOST_POSES * 16], *got, *wanted;
      rig r;
      sk_palette_job job = {.skeleton = &r.skeleton, .skin = &r.skin, .count = 1 + number % 4,
                            .result = (sk_result)result, .affine = number % 2};
      make_rig(number, 60, &r);
      job.poses = draw_poses(&r, &state, job.count);
      set_roots(&state, &job, roots);
      wanted = given_results(&job, false);
      got = given_results(&job, true);
      compare_poses(got, wanted, job.count, sk_palette_floats(&job));
      free(got);
      free(wanted);
      free(job.poses.translation);
      free(job.poses.rotation);
      free(job.poses.scale);
      rig_free(&r);
    }
}

/* ---- poses -------------------------------------------------------------------------------------------------- */

static void compare_rotations(const float *got, const float *wanted, size_t joints) {
  size_t j, i;
  for (j = 0; j < joints; j++, got += 4, wanted += 4) {
    double dot = 0.0;
    for (i = 0; i < 4; i++) dot += (double)got[i] * wanted[i];
    for (i = 0; i < 4; i++) CHECK_NEAR(got[i], dot < 0.0 ? -wanted[i] : wanted[i], 1e-6);
  }
}

static bool fits_the_kernel(const sk_sampling *sampling, double time, sk_pose pose) {
  return sk_kernels_chosen()->sample(sampling, sk_clip_local_time(sampling->clip, time, sampling->loop), pose);
}

static void poses_are_those_of_the_plain_path(void) {
  uint64_t state = 8;
  size_t number, round, n;
  if (!has_kernels()) return;
  for (number = 0; number < WISHES; number++)
    for (round = 0; round < ROUNDS; round++) {
      rig r;
      double times[10];
      size_t joints;
      float *memory[6];
      sk_sampling sampling = {&r.skeleton, &r.clip, SK_LOOP_PINGPONG, SK_SLERP, NULL};
      make_rig(number, round, &r);
      joints = (size_t)r.skeleton.joint_count;
      for (n = 0; n < 6; n++) CHECK(memory[n] = malloc(joints * (n % 3 == 1 ? 4 : 3) * sizeof(float)));
      draw_times(&r, &state, COUNT(times), times);
      for (n = 0; n < COUNT(times); n++) {
        sk_sample_one(&sampling, times[n], (sk_pose){memory[0], memory[1], memory[2], NULL});
        r.clip.compiled = r.compiled;
        CHECK(fits_the_kernel(&sampling, times[n], (sk_pose){memory[3], memory[4], memory[5], NULL}));
        sk_sample_one(&sampling, times[n], (sk_pose){memory[3], memory[4], memory[5], NULL});
        r.clip.compiled = NULL;
        CHECK_FLOATS(memory[3], memory[0], joints * 3, 1e-6);
        compare_rotations(memory[4], memory[1], joints);
        CHECK_FLOATS(memory[5], memory[2], joints * 3, 1.5e-6);
      }
      for (n = 0; n < 6; n++) free(memory[n]);
      rig_free(&r);
    }
}

/* A clip of more lines than the kernel's stack holds. */
static void many_lines_take_the_plain_path(void) {
  static const double time = 1.1;
  rig_wish wish = {.seed = 3, .joints = 300, .roots = 1, .moving = 1.0, .turn = 0.5, .kinds = 7,
                   .lines = RIG_OWN_LINES, .most_keys = 3};
  float *memory[6];
  rig r;
  sk_sampling sampling = {&r.skeleton, &r.clip, SK_LOOP_WRAP, SK_SLERP, NULL};
  size_t n;
  if (!has_kernels()) return;
  rig_make(&wish, &r);
  CHECK(r.compiled);
  for (n = 0; n < 6; n++) CHECK(memory[n] = malloc(300 * 4 * sizeof(float)));
  sk_sample_one(&sampling, time, (sk_pose){memory[0], memory[1], memory[2], NULL});
  r.clip.compiled = r.compiled;
  CHECK(!fits_the_kernel(&sampling, time, (sk_pose){memory[3], memory[4], memory[5], NULL}));
  sk_sample_one(&sampling, time, (sk_pose){memory[3], memory[4], memory[5], NULL});
  CHECK_FLOATS(memory[3], memory[0], 900, 0);
  CHECK_FLOATS(memory[4], memory[1], 1200, 0);
  for (n = 0; n < 6; n++) free(memory[n]);
  rig_free(&r);
}

/* ---- half turns --------------------------------------------------------------------------------------------- */

/* Two rotations half a turn apart, whose dot product rounding may take to either side of 0; the first ones exact,
   with zeros of either sign. */
static void draw_half_turn(uint64_t *state, size_t number, float q[8]) {
  static const float identity[4] = {0, 0, 0, 1};
  double length = 0.0;
  size_t i;
  if (number < 16) { /* half a turn about x */
    memcpy(q, identity, sizeof identity);
    for (i = 0; i < 4; i++) q[4 + i] = copysignf(i == 0 ? 1.0f : 0.0f, number & (size_t)1 << i ? -1.0f : 1.0f);
    return;
  }
  for (i = 0; i < 4; i++) q[i] = (float)rig_spread(state, 1.0);
  for (i = 0; i < 4; i++) length += (double)q[i] * q[i];
  for (i = 0; i < 4; i++) q[i] = (float)(q[i] / sqrt(length));
  q[4] = -q[1];
  q[5] = q[0];
  q[6] = q[3];
  q[7] = -q[2];
  for (i = 4; i < 8; i++) q[i] = nextafterf(q[i], check_random(state) % 2 ? 2.0f : -2.0f);
}

/* A rig whose clip turns its one joint from the first rotation to the second. */
static void make_turning(const float q[8], rig *r) {
  static const double times[2] = {0, 1};
  rig_wish wish = {.seed = 4, .joints = 1, .roots = 1, .most_slots = 1, .kinds = 1u << SK_LINEAR, .most_keys = 1};
  rig_make(&wish, r);
  sk_free(r->compiled);
  free(r->channels);
  free(r->times);
  free(r->values);
  r->times = check_copy(times, sizeof times);
  r->values = check_copy(q, 8 * sizeof *q);
  r->channels = malloc(sizeof *r->channels);
  CHECK(r->channels);
  *r->channels = (sk_channel){0, SK_PATH_ROTATION, SK_LINEAR, 0, 2, 4, 0, 0, SK_NONE64, SK_NONE64};
  r->clip = (sk_clip){.duration = 1.0, .key_tolerance = 1e-7, .channel_count = 1, .channels = r->channels,
                      .times = r->times, .values = r->values};
  r->compiled = sk_compile(&r->clip, &r->skeleton, &r->skin, NULL);
  CHECK(r->compiled);
}

static void half_turns_go_the_same_way_round(void) {
  static const double middle[4] = {0.25, 0.5, 0.6, 0.7};
  uint64_t state = 11;
  size_t n;
  if (!has_kernels()) return;
  for (n = 0; n < 400; n++) {
    float q[8], *got, *wanted;
    rig r;
    sk_sampling sampling = {&r.skeleton, &r.clip, SK_LOOP_CLAMP, n % 2 ? SK_NLERP : SK_SLERP, NULL};
    sk_palette_job job = {.skeleton = &r.skeleton, .skin = &r.skin, .sampling = &sampling, .times = middle,
                          .count = n % 3 ? 4 : 1, .result = SK_GLOBALS, .affine = true};
    draw_half_turn(&state, n, q);
    make_turning(q, &r);
    wanted = results_of(&job, false);
    r.clip.compiled = r.compiled;
    got = results_of(&job, true);
    compare_poses(got, wanted, job.count, sk_palette_floats(&job));
    free(got);
    free(wanted);
    rig_free(&r);
  }
}

/* ---- crowds --------------------------------------------------------------------------------------------------- */

enum { CLIPS = 5, MOST_INSTANCES = 40 };

/* Clips of rigs that are alike but for the kinds of their channels, played by the first; one is not compiled. */
typedef struct crowd {
  rig rigs[CLIPS];
  sk_clip clips[CLIPS];
  sk_compiled *compiled[CLIPS];
} crowd;

static void crowd_open(size_t number, crowd *c) {
  static const unsigned kinds[CLIPS] = {2, 7, 2, 1, 3};
  rig_wish wish = wish_list[number];
  size_t i;
  for (i = 0; i < CLIPS; i++) {
    wish.seed = number * 100 + 77;
    wish.kinds = kinds[i];
    wish.lines = (rig_lines)(i % 3);
    wish.turn = fmin(wish.turn, 0.5); /* farther apart, blends are at the mercy of rounding */
    wish.additive = false;
    rig_make(&wish, &c->rigs[i]);
    c->clips[i] = c->rigs[i].clip;
    c->compiled[i] = i == 3 ? NULL : sk_compile(&c->clips[i], &c->rigs[0].skeleton, &c->rigs[0].skin, NULL);
    CHECK(i == 3 || c->compiled[i]);
  }
}

static void crowd_close(crowd *c) {
  size_t i;
  for (i = 0; i < CLIPS; i++) {
    sk_free(c->compiled[i]);
    rig_free(&c->rigs[i]);
  }
}

static void crowd_compile(crowd *c, bool compiled) {
  size_t i;
  for (i = 0; i < CLIPS; i++) c->clips[i].compiled = compiled ? c->compiled[i] : NULL;
}

static void draw_instances(uint64_t *state, size_t cells, int32_t *index, double *times, double *weights) {
  size_t i;
  for (i = 0; i < cells; i++) {
    index[i] = (int32_t)(check_random(state) % (CLIPS + 1)) - 1;
    times[i] = rig_spread(state, 5.0);
    weights[i] = check_random(state) % 4 ? rig_share(state) : check_random(state) % 2 ? 0.0 : 0.01;
  }
}

static float *crowd_results(sk_crowd_job *job) {
  job->scratch = aligned(sk_crowd_scratch(job));
  job->out = malloc(job->count * (size_t)job->skin->slot_count * (job->affine ? 12 : 16) * sizeof(float) + 1);
  CHECK(job->out);
  sk_crowd_run(job);
  free(job->scratch);
  return job->out;
}

static void compare_crowds(crowd *c, uint64_t *state, size_t count, size_t slots) {
  int32_t index[MOST_INSTANCES * SK_CROWD_SLOTS];
  double times[MOST_INSTANCES * SK_CROWD_SLOTS], weights[MOST_INSTANCES * SK_CROWD_SLOTS];
  sk_crowd_job job = {.skeleton = &c->rigs[0].skeleton, .skin = &c->rigs[0].skin, .morph = &c->rigs[0].morph,
                      .clips = c->clips, .clip_count = CLIPS, .count = count, .slots = slots, .clip_index = index,
                      .times = times, .weights = check_random(state) % 4 ? weights : NULL,
                      .loop = (sk_loop)(check_random(state) % SK_LOOP_COUNT), .affine = check_random(state) % 2};
  sk_error error;
  float *got, *wanted;
  draw_instances(state, count * slots, index, times, weights);
  CHECK_EQUAL(sk_crowd_validate(&job, &error), SK_OK);
  crowd_compile(c, false);
  wanted = crowd_results(&job);
  crowd_compile(c, true);
  got = crowd_results(&job);
  compare_poses(got, wanted, count, (size_t)job.skin->slot_count * (job.affine ? 12 : 16));
  free(got);
  free(wanted);
}

static void crowds_are_those_of_the_plain_path(void) {
  uint64_t state = 9;
  size_t number, slots, count = 1;
  if (!has_kernels()) return;
  for (number = 0; number < WISHES; number++) {
    crowd c;
    crowd_open(number, &c);
    for (slots = 1; slots <= SK_CROWD_SLOTS; slots++) {
      compare_crowds(&c, &state, count, slots);
      count = count % MOST_INSTANCES + 1;
    }
    crowd_close(&c);
  }
}

/* Groups of 1 to 8 instances, of 1 to 4 clips, on just the scratch that is asked for any of them. */
static void scratch_is_enough_for_any_group(void) {
  size_t number, slots, count, i, k;
  if (!has_kernels()) return;
  for (number = 2; number < WISHES; number += 3) {
    crowd c;
    crowd_open(number, &c);
    crowd_compile(&c, true);
    for (slots = 1; slots <= SK_CROWD_SLOTS; slots++)
      for (count = 1; count <= SK_GROUP_LANES; count++) {
        int32_t index[SK_GROUP_LANES * SK_CROWD_SLOTS];
        double times[SK_GROUP_LANES * SK_CROWD_SLOTS];
        size_t instances[SK_GROUP_LANES];
        uint8_t given[SK_GROUP_LANES];
        sk_crowd_job job = {.skeleton = &c.rigs[0].skeleton, .skin = &c.rigs[0].skin, .morph = &c.rigs[0].morph,
                            .clips = c.clips, .clip_count = CLIPS, .count = count, .slots = slots,
                            .clip_index = index, .times = times, .affine = count % 2};
        void *scratch = aligned(sk_kernels_chosen()->crowd_scratch(&job));
        job.out = malloc(count * (size_t)job.skin->slot_count * (job.affine ? 12 : 16) * sizeof(float) + 1);
        for (i = 0; i < count; i++) {
          instances[i] = count - 1 - i;
          given[i] = 0xE4; /* slots 0, 1, 2 and 3 */
          for (k = 0; k < slots; k++) {
            index[i * slots + k] = (int32_t)((k + count) % 3); /* clip 3 is not compiled */
            times[i * slots + k] = 0.1 * (double)(i + k);
          }
        }
        sk_kernels_chosen()->crowd_begin(scratch);
        sk_kernels_chosen()->crowd(&job, &(sk_crowd_group){instances, count, 0, slots, given}, scratch);
        free(job.out);
        free(scratch);
      }
    crowd_close(&c);
  }
}

/* sk_batch_max_scratch says no less than sk_batch_scratch of any choice of the clips. */
static void most_scratch_bounds_every_choice(void) {
  size_t number, choice, sources, k;
  if (!has_kernels()) return;
  for (number = 0; number < WISHES; number++) {
    crowd c;
    crowd_open(number, &c);
    crowd_compile(&c, true);
    for (sources = 1; sources <= SK_SOURCES; sources++)
      for (choice = 0; choice < CLIPS * CLIPS * CLIPS * CLIPS; choice++) {
        const sk_compiled *clips[SK_SOURCES];
        size_t rest = choice;
        bool all = true;
        for (k = 0; k < SK_SOURCES; k++, rest /= CLIPS) {
          clips[k] = c.compiled[rest % CLIPS];
          all = all && clips[k];
        }
        if (all)
          CHECK(SK_KERNEL(sk_batch_scratch)(clips, sources) <=
                SK_KERNEL(sk_batch_max_scratch)(c.clips, CLIPS, sources));
      }
    crowd_close(&c);
  }
}

#define KERNELS                                                                                                      \
  TEST(palettes_are_those_of_the_plain_path), TEST(a_pose_has_the_same_bits_alone),                                \
      TEST(sampled_locals_take_the_plain_path), TEST(given_poses_are_those_of_the_plain_path),                     \
      TEST(poses_are_those_of_the_plain_path), TEST(many_lines_take_the_plain_path),                               \
      TEST(half_turns_go_the_same_way_round), TEST(crowds_are_those_of_the_plain_path),                            \
      TEST(scratch_is_enough_for_any_group), TEST(most_scratch_bounds_every_choice),
#else
#define KERNELS
#endif

/* ---- groups ---------------------------------------------------------------------------------------------------- */

enum { ALL = 3000 };

/* The section of a group, by its middle instance. */
static size_t section_of(const sk_crowd_groups *g, size_t group, size_t count, size_t sections) {
  return g->order[(g->starts[group] + g->starts[group + 1]) / 2] / ((count + sections - 1) / sections);
}

/* Each instance once; those of a group have its key; in a section keys do not fall; no more than eight a group. */
static void groups_hold_every_instance_once(void) {
  static int32_t index[ALL * SK_CROWD_SLOTS];
  static double times[ALL * SK_CROWD_SLOTS], weights[ALL * SK_CROWD_SLOTS];
  static unsigned char seen[ALL];
  static const size_t counts[] = {0, 1, 8, 9, 300, ALL};
  static const size_t clip_counts[] = {3, 7, 40}; /* sorted in one pass, in two, and byte by byte */
  sk_clip clips[40];
  sk_compiled compiled = {0};
  sk_skeleton skeleton = {0};
  uint64_t state = 12;
  size_t i, n, c, group;
  memset(clips, 0, sizeof clips);
  for (c = 0; c < COUNT(counts) * COUNT(clip_counts); c++) {
    size_t count = counts[c / COUNT(clip_counts)], clip_count = clip_counts[c % COUNT(clip_counts)];
    size_t sections = 1 + c % 5 % 3, before = 0;
    bool all = c % 2; /* or the last one fits no kernel */
    sk_crowd_job job = {.skeleton = &skeleton, .clips = clips, .clip_count = clip_count, .count = count,
                        .slots = 1 + c % 4, .clip_index = index, .times = times, .weights = weights};
    void *memory = malloc(sk_crowd_groups_bytes(count));
    sk_crowd_groups g;
    CHECK(memory);
    for (i = 0; i < clip_count; i++) clips[i].compiled = all || i + 1 < clip_count ? &compiled : NULL;
    for (i = 0; i < count * job.slots; i++) {
      index[i] = (int32_t)(check_random(&state) % (clip_count + 1)) - 1;
      weights[i] = check_random(&state) % 3 ? rig_share(&state) : 0.0;
    }
    memset(seen, 0, sizeof seen);
    g = sk_crowd_groups_make(&job, sections, memory);
    CHECK_EQUAL(g.starts[g.group_count], count);
    for (group = 0; group < g.group_count; group++) {
      size_t section = section_of(&g, group, count, sections);
      CHECK(section >= before && section < sections);
      CHECK(g.starts[group + 1] > g.starts[group] && g.starts[group + 1] - g.starts[group] <= SK_GROUP_LANES);
      for (n = g.starts[group]; n < g.starts[group + 1]; n++) {
        CHECK_EQUAL(g.keys[n], g.keys[g.starts[group]]);
        CHECK_EQUAL(seen[g.order[n]]++, 0);
        CHECK(n == 0 || section > before || g.keys[n] > g.keys[n - 1] ||
              (g.keys[n] == g.keys[n - 1] && g.order[n] > g.order[n - 1]));
        before = section;
      }
    }
    free(memory);
  }
}

/* Clips that weigh, and nothing else, say which group an instance is in. */
static void places_do_not_part_instances(void) {
  static const int32_t index[] = {0, SK_NONE, 1, 1, 0, SK_NONE, 0, 2, 1};
  static const double times[9] = {0}, weights[] = {1, 1, 1, 1, 1, 9, 1, 0, 1};
  sk_compiled compiled = {0};
  sk_skeleton skeleton = {0};
  sk_clip clips[3];
  sk_crowd_job job = {.skeleton = &skeleton, .clips = clips, .clip_count = 3, .count = 3, .slots = 3,
                      .clip_index = index, .times = times, .weights = weights};
  void *memory = malloc(sk_crowd_groups_bytes(3));
  sk_crowd_groups g;
  int i;
  memset(clips, 0, sizeof clips);
  for (i = 0; i < 3; i++) clips[i].compiled = &compiled;
  CHECK(memory);
  g = sk_crowd_groups_make(&job, 1, memory);
  CHECK_EQUAL(g.group_count, 1);
  CHECK_EQUAL(g.keys[0], (long long)0xFFFFFFFF00010000u);
  CHECK_EQUAL(g.slots[0] & 0xF, 2 << 2 | 0);
  CHECK_EQUAL(g.slots[1] & 0xF, 0 << 2 | 1);
  CHECK_EQUAL(g.slots[2] & 0xF, 2 << 2 | 0);
  free(memory);
}

const check_test kernels_tests[] = {
    KERNELS TEST(groups_hold_every_instance_once), TEST(places_do_not_part_instances), {NULL, NULL}};
