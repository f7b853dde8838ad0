/* test_fuzz.c: damaged blocks. Each either opens, and then every job runs on it, or is refused with
   a sentence. The sanitizers watch; blocks and results lie in heap memory of exactly their size. */
#include "check.h"

#include "small_model.h"

#include "../../csrc/core/pose/sk_compile.h"
#include "../../csrc/core/base/sk_cpu.h"
#include "../../csrc/core/skin/sk_deform.h"
#include "../../csrc/core/model/sk_pack.h"
#include "../../csrc/core/pose/sk_palette.h"

static void *heap(size_t floats) {
  void *memory = malloc(floats ? floats * sizeof(float) : 1);
  CHECK(memory);
  return memory;
}

/* Morph weights, palette and points of the model at one time of one clip (NULL: at rest). */
static void run_jobs(const sk_model *model, const sk_clip *clip, double time, sk_loop loop) {
  size_t joints = (size_t)model->skeleton.joint_count, vertices = model->mesh.vertex_count;
  sk_sampling sampling = {&model->skeleton, clip, loop, SK_SLERP, &model->morph};
  sk_pose pose = {heap(joints * 3), heap(joints * 4), heap(joints * 3), heap((size_t)model->morph.target_count)};
  sk_palette_job palette = {.skeleton = &model->skeleton, .skin = &model->skin, .count = 1, .poses = pose,
                            .inverse_root = true, .result = SK_PALETTE, .affine = true};
  sk_deform_job deform = {.mesh = &model->mesh, .slot_count = (size_t)model->skin.slot_count, .count = 1,
                          .matrix_floats = 12, .positions = heap(vertices * 3), .normals = heap(vertices * 3),
                          .morph = &model->morph, .weights = pose.weights};
  sk_influences *influences;
  sk_sample_run(&(sk_sample_job){sampling, &time, 1, pose});
  palette.scratch = malloc(sk_palette_scratch(&palette));
  deform.palettes = palette.out = heap(sk_palette_floats(&palette));
  sk_palette_run(&palette);
  influences = sk_influences_make(&model->mesh, (size_t)model->skin.slot_count);
  deform.influences = influences;
  deform.scratch = sk_alloc(sk_deform_scratch(&deform));
  sk_deform_run(&deform);
  free(pose.translation);
  free(pose.rotation);
  free(pose.scale);
  free(pose.weights);
  free(palette.scratch);
  free(palette.out);
  sk_free(deform.scratch);
  sk_free(influences);
  free(deform.positions);
  free(deform.normals);
}

/* Opens the bytes and, where that works, uses all that is in them. True where they opened. */
static bool use_block(const void *memory, size_t size) {
  static const double times[] = {-1.0, 0.0, 0.7, 1.2, 2.0, 1e300};
  sk_model model;
  sk_error error = {SK_OK, ""};
  uint32_t c;
  size_t t;
  sk_status status = sk_model_open(memory, size, &model, &error);
  if (status) {
    CHECK_EQUAL(status, SK_ERROR_BLOCK);
    CHECK_EQUAL(error.status, SK_ERROR_BLOCK);
    CHECK(strlen(error.message) > 10);
    return false;
  }
  if (model.block.info->kind != SK_BLOCK_MODEL) return true;
  run_jobs(&model, NULL, 0.0, SK_LOOP_WRAP);
  for (c = 0; c < model.clip_count && c < 4; c++) {
    sk_compiled *compiled;
    sk_clip clip;
    sk_clip_open(&model.block, c, &clip);
    for (t = 0; t < COUNT(times); t++) run_jobs(&model, &clip, times[t], (sk_loop)(t % SK_LOOP_COUNT));
    compiled = sk_compile(&clip, &model.skeleton, &model.skin, NULL);
    clip.compiled = sk_simd_chosen() == SK_SIMD_PLAIN ? NULL : compiled;
    for (t = 0; compiled && t < COUNT(times); t++) run_jobs(&model, &clip, times[t], (sk_loop)(t % SK_LOOP_COUNT));
    sk_free(compiled);
  }
  return true;
}

/* The same block with its clips packed. */
static char *pack_block(char *block, size_t *size) {
  sk_error error;
  sk_block opened;
  void *packed;
  CHECK(!sk_block_open(block, *size, &opened, &error) && !sk_pack_block(&opened, &packed, size, &error) && packed);
  sk_free(block);
  return packed;
}

typedef enum good_kind { A_MODEL, A_PACKED_MODEL, CLIPS_ALONE } good_kind;

static char *good_block(good_kind kind, size_t *size) {
  small_model model;
  sk_error error;
  char *block, *copy;
  small_model_set(&model);
  block = kind == CLIPS_ALONE ? small_clips_write(&model, size, &error) : small_model_write(&model, size, &error);
  CHECK(block);
  if (kind == A_PACKED_MODEL) block = pack_block(block, size);
  copy = check_copy(block, *size);
  sk_free(block);
  CHECK(use_block(copy, *size));
  return copy;
}

static void every_truncation_is_refused(void) {
  size_t size, length;
  char *block = good_block(A_MODEL, &size);
  for (length = 0; length < size; length++) {
    char *part = check_copy(block, length);
    CHECK(!use_block(part, length));
    free(part);
  }
  free(block);
}

/* As above, with the size in the header made to fit, so that the sections have to notice. */
static void every_truncation_with_a_fitting_size_is_refused(void) {
  size_t size, length;
  char *block = good_block(A_MODEL, &size);
  for (length = 64; length < size; length++) {
    char *part = check_copy(block, length);
    uint64_t said = length;
    memcpy(part + 16, &said, sizeof said);
    /* The last section's padding may be missing. */
    if (use_block(part, length)) CHECK(size - length < SK_ALIGNMENT);
    free(part);
  }
  free(block);
}

static void bytes_change_one_by_one(good_kind kind) {
  static const unsigned char flips[] = {0x01, 0x80, 0x7f, 0xff};
  size_t size, i, f, opened = 0;
  char *block = good_block(kind, &size);
  for (i = 0; i < size; i++)
    for (f = 0; f < COUNT(flips); f++) {
      block[i] = (char)(block[i] ^ flips[f]);
      opened += use_block(block, size);
      block[i] = (char)(block[i] ^ flips[f]);
    }
  CHECK(opened > 0 && opened < size * COUNT(flips));
  CHECK(use_block(block, size));
  free(block);
}

static void every_byte_of_a_model_may_change(void) { bytes_change_one_by_one(A_MODEL); }
static void every_byte_of_a_packed_model_may_change(void) { bytes_change_one_by_one(A_PACKED_MODEL); }
static void every_byte_of_a_block_of_clips_may_change(void) { bytes_change_one_by_one(CLIPS_ALONE); }

/* Words of four bytes get values that lie at the edges of counts, offsets and floats. */
static void change_words(good_kind kind) {
  static const uint32_t edges[] = {0,          1,          2,          3,          64,         0xffffffffu,
                                   0xfffffffeu, 0x7fffffffu, 0x80000000u, 0x7f800000u, 0xff7fffffu, 0x00000001u,
                                   0x3f800000u, 0xbf800000u, 0x7f7fffffu, 0x00010000u};
  enum { ROUNDS = 20000 };
  uint64_t state = 20240229;
  size_t size, round, i;
  char *block = good_block(kind, &size), *spoiled = check_copy(block, size);
  for (round = 0; round < ROUNDS; round++) {
    size_t changes = 1 + check_random(&state) % 4;
    memcpy(spoiled, block, size);
    for (i = 0; i < changes; i++) {
      /* Behind the magic, or nothing else would ever be seen. */
      size_t place = 8 + check_random(&state) % ((size - 8) / 4) * 4;
      uint32_t value = edges[check_random(&state) % COUNT(edges)];
      if (check_random(&state) % 4 == 0) value = (uint32_t)check_random(&state);
      memcpy(spoiled + place, &value, sizeof value);
    }
    use_block(spoiled, size);
  }
  free(spoiled);
  free(block);
}

static void words_of_a_model_change_at_random(void) { change_words(A_MODEL); }
static void words_of_a_packed_model_change_at_random(void) { change_words(A_PACKED_MODEL); }

const check_test fuzz_tests[] = {
    TEST(every_truncation_is_refused),
    TEST(every_truncation_with_a_fitting_size_is_refused),
    TEST(every_byte_of_a_model_may_change),
    TEST(every_byte_of_a_packed_model_may_change),
    TEST(every_byte_of_a_block_of_clips_may_change),
    TEST(words_of_a_model_change_at_random),
    TEST(words_of_a_packed_model_change_at_random),
    {NULL, NULL},
};
