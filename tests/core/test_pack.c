/* test_pack.c: clips packed for the block: nothing is lost, nothing is stored twice, and the compiled form samples
   the frames where they lie. */
#include "check.h"
#include "rig.h"
#include "small_model.h"

#include "../../csrc/core/model/sk_pack.h"

/* All kinds of channels, of few lines and of one for each, of which some do not move; merged and not. */
static const rig_wish wish_list[] = {
    {.joints = 9, .roots = 1, .most_slots = 2, .moving = 1.0, .turn = 0.5, .kinds = 7, .most_keys = 20},
    {.joints = 9, .roots = 1, .most_slots = 2, .moving = 1.0, .turn = 0.5, .kinds = 7, .lines = RIG_FEW_LINES,
     .most_keys = 20, .constant = 0.5, .weights = true},
    {.joints = 12, .roots = 3, .most_slots = 2, .moving = 0.5, .turn = 3.1, .kinds = 7, .lines = RIG_OWN_LINES,
     .most_keys = 9, .constant = 0.3},
    {.joints = 12, .roots = 1, .most_slots = 1, .moving = 0.7, .turn = 0.5, .kinds = 2, .lines = RIG_FEW_LINES,
     .most_keys = 9, .sheared = 0.4, .resting = 0.5},
    {.joints = 5, .roots = 1, .most_slots = 1, .moving = 1.0, .turn = 0.5, .kinds = 6, .most_keys = 1},
    {.joints = 5, .roots = 1, .most_slots = 1, .moving = 0.0, .kinds = 2, .most_keys = 5},
};

enum { ROUNDS = 20 };

/* The rig as it is drawn, and packed. */
static void make_both(size_t number, size_t round, rig *plain, rig *packed) {
  rig_wish wish = wish_list[number];
  wish.seed = 1000 * number + round + 1;
  rig_make(&wish, plain);
  wish.packed = true;
  rig_make(&wish, packed);
  CHECK(plain->compiled && packed->compiled);
}

typedef void (*rig_pair_test)(const rig *plain, const rig *packed);

static void for_all_rigs(rig_pair_test test) {
  size_t number, round;
  for (number = 0; number < COUNT(wish_list); number++)
    for (round = 0; round < ROUNDS; round++) {
      rig plain, packed;
      make_both(number, round, &plain, &packed);
      test(&plain, &packed);
      rig_free(&plain);
      rig_free(&packed);
    }
}

/* ---- nothing is lost ------------------------------------------------------------------------------------ */

static void compare_keys(const rig *a, const sk_channel *of_a, uint64_t from_a, const rig *b, const sk_channel *of_b,
                         uint64_t from_b) {
  size_t bytes = sk_path_width((sk_path)of_a->path) * sizeof(float);
  uint32_t k;
  for (k = 0; k < of_a->key_count; k++)
    CHECK(!memcmp(sk_channel_key(a->values, of_a, from_a, k), sk_channel_key(b->values, of_b, from_b, k), bytes));
}

static void compare_channels(const rig *plain, const rig *packed) {
  uint32_t i;
  for (i = 0; i < plain->clip.channel_count; i++) {
    const sk_channel *a = &plain->channels[i], *b = &packed->channels[i];
    CHECK(a->joint == b->joint && a->path == b->path && a->interpolation == b->interpolation);
    CHECK(a->key_count == b->key_count && a->times == b->times);
    compare_keys(plain, a, a->values, packed, b, b->values);
    if (a->interpolation == SK_CUBIC) {
      compare_keys(plain, a, a->in_tangents, packed, b, b->in_tangents);
      compare_keys(plain, a, a->out_tangents, packed, b, b->out_tangents);
    } else {
      CHECK(b->in_tangents == SK_NONE64 && b->out_tangents == SK_NONE64);
    }
  }
}

static void packed_keys_are_the_same(void) { for_all_rigs(compare_channels); }

static void sample_rig(const rig *r, double time, float *pose) {
  size_t joints = (size_t)r->skeleton.joint_count;
  sk_sampling sampling = {&r->skeleton, &r->clip, SK_LOOP_WRAP, SK_SLERP, &r->morph};
  sk_sample_one(&sampling, time, (sk_pose){pose, pose + 3 * joints, pose + 7 * joints, NULL});
}

static void compare_samples(const rig *plain, const rig *packed) {
  float a[120], b[120];
  size_t joints = (size_t)plain->skeleton.joint_count;
  double time;
  CHECK(joints * 10 <= COUNT(a));
  for (time = -0.5; time < 6.0; time += 0.17) {
    sample_rig(plain, time, a);
    sample_rig(packed, time, b);
    CHECK(!memcmp(a, b, joints * 10 * sizeof(float)));
  }
}

static void the_plain_path_samples_the_same_bits(void) { for_all_rigs(compare_samples); }

/* ---- what is compiled ------------------------------------------------------------------------------------- */

static size_t frame_bytes(const sk_time_line *line) {
  return ((line->key_count + (size_t)1) * line->stride * sizeof(float) + 31) / 32 * 32;
}

static bool is_copied(const rig *r, const float *frames) {
  const char *form = (const char *)r->compiled;
  return (const char *)frames >= form && (const char *)frames < form + r->compiled->bytes;
}

/* The same frames in both forms; those of lines that are not merged lie among the packed values, once. */
static void compare_forms(const rig *plain, const rig *packed) {
  const sk_compiled *a = plain->compiled, *b = packed->compiled;
  size_t shared = 0, i;
  CHECK_EQUAL(b->line_count, a->line_count);
  CHECK_EQUAL(b->mover_count, a->mover_count);
  for (i = 0; i < a->line_count; i++) {
    const sk_time_line *line = &a->lines[i];
    bool merged = a->merged && line->interpolation == SK_LINEAR;
    CHECK_EQUAL(b->lines[i].stride, line->stride);
    CHECK_EQUAL(is_copied(packed, b->lines[i].frames), merged);
    CHECK(is_copied(plain, line->frames));
    CHECK(!memcmp(b->lines[i].frames, line->frames, (line->key_count + (size_t)1) * line->stride * sizeof(float)));
    shared += merged ? 0 : frame_bytes(line);
  }
  CHECK_EQUAL(b->bytes, a->bytes - shared);
  CHECK(!memcmp(a->octets, b->octets, a->octet_count * sizeof *a->octets));
}

static void the_compiled_form_points_at_the_frames(void) { for_all_rigs(compare_forms); }

/* Cells in another order, not known as cells, or every other key of one channel: copied. */
static void other_layouts_are_copied(void) {
  rig_wish wish = {.seed = 2, .joints = 9, .roots = 1, .most_slots = 2, .moving = 1.0, .turn = 0.5, .kinds = 2,
                   .most_keys = 20, .packed = true};
  int way;
  for (way = 0; way < 4; way++) {
    rig r;
    rig_make(&wish, &r);
    CHECK(r.compiled && r.compiled->line_count == 1 && r.channels[0].in_cells && r.channels[0].key_count > 2);
    if (way == 1) r.channels[0].in_cells = 0;
    if (way == 2) r.channels[0].joint = 1, r.channels[3].joint = 0;
    if (way == 3) r.channels[0].stride *= 2, r.channels[0].key_count = r.channels[0].key_count / 2;
    sk_free(r.compiled);
    r.compiled = sk_compile(&r.clip, &r.skeleton, &r.skin, NULL);
    CHECK(r.compiled);
    CHECK_EQUAL(is_copied(&r, r.compiled->lines[0].frames), way > 0);
    rig_free(&r);
  }
}

/* ---- what is stored ----------------------------------------------------------------------------------------- */

/* One after another, each as wide as one key and its tangents. */
static void check_still(unsigned kinds, uint32_t most_keys) {
  rig_wish wish = {.seed = 5, .joints = 7, .roots = 1, .most_slots = 1, .moving = 1.0, .turn = 0.5, .constant = 1.0,
                   .kinds = kinds, .lines = RIG_FEW_LINES, .most_keys = most_keys, .weights = true, .packed = true};
  uint64_t floats = 0;
  uint32_t i;
  rig r;
  rig_make(&wish, &r);
  for (i = 0; i < r.clip.channel_count; i++) {
    const sk_channel *channel = &r.channels[i];
    CHECK(channel->stride == 0 && !channel->in_cells);
    CHECK_EQUAL(channel->values, floats);
    floats += sk_path_width((sk_path)channel->path) * (channel->interpolation == SK_CUBIC ? 3 : 1);
  }
  rig_free(&r);
}

static void still_channels_are_stored_once(void) {
  check_still(1u << SK_STEP | 1u << SK_LINEAR, 30);
  check_still(1u << SK_CUBIC, 1);
}

/* 19 joints of 48 keys: all turn, a fifth shift and stretch as well. Elsewhere a key of three numbers takes 24 bytes,
   one of four 32. */
static void a_walking_clip_takes_less_than_half(void) {
  enum { WALKERS = 19, KEYS = 48, WIDTH = 10 };
  static float values[WALKERS * KEYS * WIDTH];
  static double times[KEYS];
  sk_channel channels[3 * WALKERS];
  sk_clip_record record = {.channel_count = COUNT(channels)};
  sk_packing packing = {.clips = &record, .clip_count = 1, .channels = channels, .times = times, .values = values};
  size_t place = 0, moving = 0, i, k;
  for (k = 0; k < KEYS; k++) times[k] = (double)k;
  for (i = 0; i < COUNT(channels); i++) {
    sk_path path = (sk_path)(i % 3);
    uint32_t width = sk_path_width(path);
    bool moves = path == SK_PATH_ROTATION || i / 3 % 5 == 0;
    channels[i] = (sk_channel){.joint = (int32_t)(i / 3), .path = (uint8_t)path, .interpolation = SK_LINEAR,
                               .key_count = KEYS, .stride = width, .values = place, .in_tangents = SK_NONE64,
                               .out_tangents = SK_NONE64};
    for (k = 0; k < KEYS; k++) values[place + k * width] = moves ? (float)k : 1.0f;
    place += KEYS * width;
    moving += moves;
  }
  CHECK(sk_pack_run(&packing));
  CHECK_EQUAL(packing.packed.count, moving * (KEYS + 1) * SK_CELL + (COUNT(channels) - moving) * 3);
  CHECK(2 * (packing.packed.count * sizeof(float) + sizeof times) <= WALKERS * KEYS * (24 + 32 + 24));
  sk_array_free(&packing.packed);
}

/* ---- blocks ---------------------------------------------------------------------------------------------------- */

static void *write_small(size_t *size) {
  small_model model;
  sk_error error;
  void *block;
  small_model_set(&model);
  block = small_model_write(&model, size, &error);
  CHECK(block);
  return block;
}

static void a_block_is_packed_once(void) {
  sk_error error = {SK_OK, ""};
  sk_block block, packed;
  void *memory, *again, *written;
  size_t size, packed_size;
  sk_clip clip, same;
  written = write_small(&size);
  CHECK_EQUAL(sk_block_open(written, size, &block, &error), SK_OK);
  CHECK_EQUAL(sk_pack_block(&block, &memory, &packed_size, &error), SK_OK);
  CHECK(memory);
  CHECK_EQUAL(sk_block_open(memory, packed_size, &packed, &error), SK_OK);
  sk_clip_open(&block, 0, &clip);
  sk_clip_open(&packed, 0, &same);
  compare_channels(&(rig){.clip = clip, .channels = (sk_channel *)clip.channels, .values = (float *)clip.values},
                   &(rig){.clip = same, .channels = (sk_channel *)same.channels, .values = (float *)same.values});
  CHECK(!memcmp(clip.values + MOTION_VALUES,
                same.values + ((const sk_clip_record *)packed.sections[SK_SECTION_CLIPS].data)->motion_values,
                2 * SK_MOTION_WIDTH * sizeof(float)));
  CHECK_EQUAL(sk_pack_block(&packed, &again, &size, &error), SK_OK);
  CHECK(!again);
  sk_free(memory);
  sk_free(written);
}

/* Whichever allocation fails: it is said, and nothing leaks. */
static void packing_without_memory_fails(void) {
  sk_error error = {SK_OK, ""};
  sk_block block;
  void *memory = NULL, *written;
  size_t size, packed_size, before;
  sk_status status = SK_ERROR_MEMORY;
  long n;
  written = write_small(&size);
  CHECK_EQUAL(sk_block_open(written, size, &block, &error), SK_OK);
  before = sk_bytes_in_use();
  for (n = 1; status; n++) {
    sk_fail_allocation(n);
    status = sk_pack_block(&block, &memory, &packed_size, &error);
    sk_fail_allocation(0);
    CHECK_EQUAL(status, memory ? SK_OK : SK_ERROR_MEMORY);
    CHECK(memory || sk_bytes_in_use() == before);
  }
  CHECK(n > 5); /* copies of clips and channels, the lines, the floats, the block */
  sk_free(memory);
  sk_free(written);
}

const check_test pack_tests[] = {TEST(packed_keys_are_the_same),
                                 TEST(the_plain_path_samples_the_same_bits),
                                 TEST(the_compiled_form_points_at_the_frames),
                                 TEST(other_layouts_are_copied),
                                 TEST(still_channels_are_stored_once),
                                 TEST(a_walking_clip_takes_less_than_half),
                                 TEST(a_block_is_packed_once),
                                 TEST(packing_without_memory_fails),
                                 {NULL, NULL}};
