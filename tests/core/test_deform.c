/* test_deform.c: palettes and vertices to points and normals. */
#include "check.h"

#include "../../csrc/core/base/sk_cpu.h"
#include "../../csrc/core/skin/sk_deform.h"
#include "../../csrc/core/base/sk_threads.h"

/* Slot 0 doubles x; slot 1 turns a quarter about z and moves up; 4x4 each. */
static const float matrices[32] = {2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,
                                   0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 5, 0, 0, 0, 1};

static const float positions[] = {1, 2, 3, 1, 0, 0, 4, 0, 0};
static const float normals[] = {0.70710678f, 0.70710678f, 0, 1, 0, 0, 0, 0, 0};
static const uint16_t slots[] = {0, 1, 1, 0, 0, 1};
static const float weights[] = {1, 0, 1, 0, 0.5f, 0.5f};

static const sk_mesh mesh = {.vertex_count = 3, .influences = 2, .positions = positions, .normals = normals,
                             .slots = slots, .weights = weights};

static const float moved[] = {2, 2, 3, 0, 1, 5, 4, 2, 2.5f};

/* Wherever results are said to lie, in arrays of exactly their size, they are the same. */
static void run_at_all_reaches(sk_deform_job job) {
  size_t bytes = job.count * job.mesh->vertex_count * 3 * sizeof(float);
  float *positions = job.positions, *normals = job.normals;
  bool aligned = job.count == 1 || job.mesh->vertex_count % 4 == 0; /* of each palette's results */
  sk_store_hint reach;
  for (reach = SK_STORE_CACHED; reach <= SK_STORE_STREAMED; reach++) {
    if (reach == SK_STORE_STREAMED && !aligned) continue;
    job.store_hint = reach;
    job.positions = malloc(bytes + 1);
    if (normals) job.normals = malloc(bytes + 1);
    CHECK((uintptr_t)job.positions % 16 == 0 && (uintptr_t)job.normals % 16 == 0);
    sk_deform_run(&job);
    CHECK(memcmp(job.positions, positions, bytes) == 0);
    if (normals) CHECK(memcmp(job.normals, normals, bytes) == 0);
    free(job.positions);
    if (normals) free(job.normals);
  }
}

static void run_with(sk_deform_job job, const sk_influences *influences) {
  job.influences = influences;
  job.scratch = sk_alloc(sk_deform_scratch(&job));
  CHECK(job.scratch && (job.kernels != NULL) == (influences != NULL));
  sk_deform_run(&job);
  if (job.kernels) run_at_all_reaches(job);
  sk_free(job.scratch);
}

static bool has_kernels(void) { return sk_simd_chosen() != SK_SIMD_PLAIN; }

/* The plain path into the job's arrays; and the kernel, where this processor has it, into arrays of exactly their size
   that have to hold nearly the same: some products of numbers up to 5, and the kernel's unit length. */
static void run(sk_deform_job job) {
  size_t floats = job.count * job.mesh->vertex_count * 3;
  float *positions = job.positions, *normals = job.normals;
  sk_influences *influences = sk_influences_make(job.mesh, job.slot_count);
  run_with(job, NULL);
  if (has_kernels()) {
    job.positions = malloc(floats * sizeof(float) + 1);
    if (normals) job.normals = malloc(floats * sizeof(float) + 1);
    run_with(job, influences);
    CHECK_FLOATS(job.positions, positions, floats, 2e-6);
    if (normals) CHECK_FLOATS(job.normals, normals, floats, 2e-6);
    free(job.positions);
    if (normals) free(job.normals);
  }
  sk_free(influences);
}

static void vertices_follow_their_slots(void) {
  float got[9];
  run((sk_deform_job){&mesh, 2, 1, matrices, 16, got, NULL});
  CHECK_FLOATS(got, moved, 9, 1e-6);
}

/* x doubled: normals there shrink to a half before they are normalized. The zero normal stays. */
static void normals_take_the_inverse_transpose(void) {
  const float length = sqrtf(0.25f + 1);
  const float wanted[] = {0.5f / length, 1 / length, 0, 0, 1, 0, 0, 0, 0};
  float got[9], turned[9];
  run((sk_deform_job){&mesh, 2, 1, matrices, 16, got, turned});
  CHECK_FLOATS(turned, wanted, 9, 1e-6);
}

static void a_mirror_keeps_normals_outside(void) {
  static const float mirror[] = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  static const float wanted[] = {-0.70710678f, 0.70710678f, 0, -1, 0, 0, 0, 0, 0};
  static const uint16_t first[6] = {0};
  sk_mesh mirrored = mesh;
  float got[9], turned[9];
  mirrored.slots = first;
  run((sk_deform_job){&mirrored, 1, 1, mirror, 12, got, turned});
  CHECK_FLOATS(turned, wanted, 9, 1e-6);
}

static void a_matrix_of_zeros_gives_zeros(void) {
  static const float zeros[32] = {0};
  float got[9], turned[9];
  run((sk_deform_job){&mesh, 2, 1, zeros, 16, got, turned});
  CHECK_FLOATS(got, zeros, 9, 0);
  CHECK_FLOATS(turned, zeros, 9, 0);
}

static void twelve_floats_do_what_sixteen_do(void) {
  float rows[24], a[9], b[9], na[9], nb[9];
  memcpy(rows, matrices, 12 * sizeof(float));
  memcpy(rows + 12, matrices + 16, 12 * sizeof(float));
  run((sk_deform_job){&mesh, 2, 1, matrices, 16, a, na});
  run((sk_deform_job){&mesh, 2, 1, rows, 12, b, nb});
  CHECK(memcmp(a, b, sizeof a) == 0 && memcmp(na, nb, sizeof na) == 0);
}

static void a_batch_takes_one_palette_each(void) {
  float palettes[64], got[18];
  int i;
  for (i = 0; i < 2; i++) { /* two identities */
    static const float identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    memcpy(palettes + 16 * i, identity, sizeof identity);
  }
  memcpy(palettes + 32, matrices, sizeof matrices);
  run((sk_deform_job){&mesh, 2, 2, palettes, 16, got, NULL});
  CHECK_FLOATS(got, positions, 9, 0);
  CHECK_FLOATS(got + 9, moved, 9, 1e-6);
}

/* NumPy's slices start where they like: all arrays stand one float off any alignment, in memory
   that ends with them. */
static void memory_need_not_be_aligned(void) {
  float *palette = malloc(sizeof matrices + 4), *points = malloc(sizeof positions + 4),
        *directions = malloc(sizeof normals + 4), *shares = malloc(sizeof weights + 4), *out = malloc(40),
        *turned = malloc(40);
  sk_mesh shifted = mesh;
  memcpy(palette + 1, matrices, sizeof matrices);
  memcpy(points + 1, positions, sizeof positions);
  memcpy(directions + 1, normals, sizeof normals);
  memcpy(shares + 1, weights, sizeof weights);
  shifted.positions = points + 1;
  shifted.normals = directions + 1;
  shifted.weights = shares + 1;
  run((sk_deform_job){&shifted, 2, 1, palette + 1, 16, out + 1, turned + 1});
  CHECK_FLOATS(out + 1, moved, 9, 1e-6);
  free(palette);
  free(points);
  free(directions);
  free(shares);
  free(out);
  free(turned);
}

static void eight_influences_all_count(void) {
  enum { EIGHT = 8 };
  float palette[EIGHT * 12] = {0}, point[] = {1, 1, 1}, normal[] = {0, 0, 1}, got[3], turned[3];
  uint16_t all[EIGHT];
  float shares[EIGHT];
  sk_mesh one = {1, EIGHT, point, normal, all, shares};
  double wanted = 0;
  int k;
  for (k = 0; k < EIGHT; k++) {
    all[k] = (uint16_t)k;
    shares[k] = (float)(EIGHT - k) / 36;
    palette[12 * k] = palette[12 * k + 5] = palette[12 * k + 10] = 1;
    palette[12 * k + 3] = (float)k;
    wanted += shares[k] * k;
  }
  run((sk_deform_job){&one, EIGHT, 1, palette, 12, got, turned});
  CHECK_NEAR(got[0], 1 + wanted, 1e-6);
  CHECK_NEAR(got[1], 1, 1e-6);
  CHECK_FLOATS(turned, normal, 3, 1e-6);
}

static void no_vertices_write_nothing(void) {
  sk_mesh none = {.vertex_count = 0, .influences = 4};
  run((sk_deform_job){&none, 0, 3, NULL, 12, NULL, NULL});
}

/* Target 0 lifts vertex 1 by 1, target 1 moves vertices 0 and 2 along x; weights 2 and -1. */
static void targets_are_added_before_the_skin(void) {
  static const sk_target targets[] = {{.first = 0, .count = 1}, {.first = 1, .count = 2}};
  static const uint32_t vertices[] = {1, 0, 2};
  static const float differences[] = {0, 0, 1, 1, 0, 0, 0.5f, 0, 0};
  static const float turns[] = {-1, 1, 0, 0, 0, 0, 0, 0, 0};
  const sk_morph morph = {2, targets, vertices, differences, turns};
  static const float by_hand[] = {2, -1, 0, 0};
  /* vertex 0: (0,2,3) doubled in x; 1: (1,0,2) turned; 2: (3.5,0,0) half and half */
  static const float wanted[] = {0, 2, 3, 0, 1, 7, 3.5f, 1.75f, 2.5f};
  float got[9], turned[9], both[18], palettes[64];
  sk_deform_job job = {&mesh, 2, 1, matrices, 16, got, turned, &morph, by_hand, 0};
  run(job);
  CHECK_FLOATS(got, wanted, 9, 1e-6);
  /* normal of vertex 1: (1,0,0) + 2 * (-1,1,0) = (-1,2,0), turned a quarter: (-2,-1,0) */
  CHECK_NEAR(turned[3], -2 / sqrtf(5), 1e-6);
  CHECK_NEAR(turned[4], -1 / sqrtf(5), 1e-6);
  /* Two palettes: the second has weights of 0. */
  memcpy(palettes, matrices, sizeof matrices);
  memcpy(palettes + 32, matrices, sizeof matrices);
  job.count = 2;
  job.palettes = palettes;
  job.positions = both;
  job.normals = NULL;
  job.weight_stride = 2;
  run(job);
  CHECK_FLOATS(both, wanted, 9, 1e-6);
  CHECK_FLOATS(both + 9, moved, 9, 1e-6);
}

/* ---- the kernel, in memory of exactly the needed size -------------------------------------------------- */

static float random_float(uint64_t *state) { return (float)(check_random(state) >> 40) / (float)(1 << 23) - 1.0f; }

static float *random_floats(uint64_t *state, size_t count) {
  float *floats = malloc(count * sizeof(float) + 1);
  size_t i;
  for (i = 0; i < count; i++) floats[i] = random_float(state);
  return floats;
}

/* A third of the vertices have all influences, the others fewer; slots up to the last one. Weights fall. Where
   `sets` is not 0, so many sets of slots are all there are, in any order. */
static void fill_influences(uint64_t *state, size_t vertices, uint32_t influences, size_t slot_count, size_t sets,
                            uint16_t *all, float *shares) {
  size_t v;
  uint32_t k;
  for (v = 0; v < vertices; v++) {
    uint64_t set = sets ? check_random(state) % sets + 1 : 0, *own = sets ? &set : state;
    uint32_t count = check_random(own) % 3 ? 1 + (uint32_t)(check_random(own) % influences) : influences;
    uint32_t turn = (uint32_t)(check_random(state) % count);
    for (k = 0; k < influences; k++) {
      shares[v * influences + k] = k < count ? (float)(2 * (count - k)) / (float)(count * (count + 1)) : 0.0f;
      all[v * influences + (k < count ? (k + turn) % count : k)] =
          (uint16_t)(slot_count - 1 - check_random(own) % (slot_count < 50 ? slot_count : 50));
    }
  }
}

typedef struct random_mesh {
  sk_mesh mesh;
  float *points, *directions, *shares, *palettes;
  uint16_t *all;
} random_mesh;

/* Palettes near the identity, so that normals are well defined. */
static random_mesh make_random(uint64_t seed, size_t vertices, uint32_t influences, size_t slot_count, size_t sets,
                               size_t floats) {
  uint64_t state = seed;
  size_t i;
  random_mesh made = {.points = random_floats(&state, vertices * 3),
                      .directions = random_floats(&state, vertices * 3),
                      .shares = malloc(vertices * influences * sizeof(float) + 1),
                      .palettes = random_floats(&state, slot_count * floats),
                      .all = malloc(vertices * influences * sizeof(uint16_t) + 1)};
  for (i = 0; i < slot_count * floats; i++)
    made.palettes[i] = 0.1f * made.palettes[i] + (i % floats % 5 == 0 ? 1.0f : 0.0f);
  fill_influences(&state, vertices, influences, slot_count, sets, made.all, made.shares);
  made.mesh = (sk_mesh){vertices, influences, made.points, made.directions, made.all, made.shares};
  return made;
}

static void free_random(random_mesh *made) {
  free(made->points);
  free(made->directions);
  free(made->shares);
  free(made->palettes);
  free(made->all);
}

static void compare(uint64_t seed, size_t vertices, uint32_t influences, size_t slot_count, size_t sets,
                    size_t matrix_floats) {
  random_mesh made = make_random(seed, vertices, influences, slot_count, sets, matrix_floats);
  float *got = malloc(vertices * 12 + 1), *turned = malloc(vertices * 12 + 1);
  run((sk_deform_job){&made.mesh, slot_count, 1, made.palettes, matrix_floats, got, turned});
  free(got);
  free(turned);
  free_random(&made);
}

/* Many palettes of a small mesh, and one of a large mesh whose target moves every tenth vertex; ranges of both begin
   within a palette or within a target. */
static void threads_do_not_change_a_bit(void) {
  enum { SMALL = 600, PALETTES = 60, LARGE = SMALL * PALETTES, MOVED = LARGE / 10 };
  random_mesh small = make_random(5, SMALL, 3, 4 * PALETTES, 0, 12), large = make_random(6, LARGE, 4, 4, 0, 12);
  sk_influences *influences[2];
  static float alone[2][LARGE * 3], shared[2][LARGE * 3];
  static uint32_t moved[MOVED];
  const sk_target target = {.first = 0, .count = MOVED};
  const sk_morph morph = {1, &target, moved, large.directions, NULL};
  const float weight = 0.5f;
  int i, by_kernel;
  for (i = 0; i < MOVED; i++) moved[i] = (uint32_t)(10 * i);
  for (i = 0; i < SMALL * 3; i++) small.all[i] %= 4; /* slots of one palette */
  influences[0] = sk_influences_make(&small.mesh, 4);
  influences[1] = sk_influences_make(&large.mesh, 4);
  for (i = 0; i < 2; i++) {
    sk_deform_job job = {&large.mesh, 4, 1, large.palettes, 12, alone[0], alone[1], &morph, &weight, 0};
    if (i == 0) job = (sk_deform_job){&small.mesh, 4, PALETTES, small.palettes, 12, alone[0], alone[1]};
    for (by_kernel = 0; by_kernel <= has_kernels(); by_kernel++) {
      job.positions = alone[0];
      job.normals = alone[1];
      sk_set_thread_count(1);
      run_with(job, by_kernel ? influences[i] : NULL);
      job.positions = shared[0];
      job.normals = shared[1];
      sk_set_thread_count(3);
      run_with(job, by_kernel ? influences[i] : NULL);
      CHECK(memcmp(alone, shared, sizeof alone) == 0);
    }
  }
  sk_set_thread_count(0);
  sk_free(influences[0]);
  sk_free(influences[1]);
  free_random(&small);
  free_random(&large);
}

static void both_paths_agree_on_all_counts(void) {
  static const size_t vertices[] = {0, 1, 7, 8, 9, 127, 128, 129, 136, 255, 256, 257, 511, 512, 513, 515, 1030};
  size_t i;
  uint32_t k;
  for (i = 0; i < COUNT(vertices); i++)
    for (k = 1; k <= SK_MAX_INFLUENCES; k++) {
      compare(7 * i + k, vertices[i], k, 3, 0, k % 2 ? 12 : 16);
      compare(7 * i + k, vertices[i], k, 40, 6, k % 2 ? 12 : 16);
      compare(7 * i + k, vertices[i], k, 40, 0, k % 2 ? 12 : 16);
    }
}

static void both_paths_agree_on_many_slots(void) {
  static const size_t slot_counts[] = {1, 8191, 8192, 8193, SK_MAX_SLOTS};
  size_t i;
  for (i = 0; i < COUNT(slot_counts); i++) {
    compare(90 + i, 100, 4, slot_counts[i], 0, i % 2 ? 16 : 12);
    compare(90 + i, 100, 4, slot_counts[i], 5, i % 2 ? 16 : 12);
  }
}

static bool have_one_set(const sk_mesh *mesh, size_t first, size_t second) {
  uint16_t slots[2][SK_MAX_INFLUENCES];
  float weights[SK_MAX_INFLUENCES];
  uint32_t count = sk_sorted_influences(mesh, first, slots[0], weights);
  return sk_sorted_influences(mesh, second, slots[1], weights) == count &&
         memcmp(slots[0], slots[1], count * sizeof slots[0][0]) == 0;
}

/* In the order that sk_shared_slots_find promises; each vertex once, but for lanes that repeat the one before. */
static void check_lanes(const sk_mesh *mesh, size_t count, const sk_lane_counts *counts, const uint16_t *lanes) {
  static uint8_t seen[SK_SHARED_BLOCK_VERTICES];
  uint16_t slots[SK_MAX_INFLUENCES];
  float weights[SK_MAX_INFLUENCES];
  size_t i, lane = 0, octets = 0, found = 0, all = sk_lane_count(counts);
  uint32_t k;
  memset(seen, 0, sizeof seen);
  CHECK(all % 8 == 0 && all <= SK_SHARED_BLOCK_LANES);
  for (k = 1; k <= SK_MAX_INFLUENCES; k++)
    for (i = 0; i < counts->octets[k] * 8u; i++, lane++) {
      CHECK(have_one_set(mesh, lanes[lane], lanes[lane / 8 * 8]));
      CHECK_EQUAL(sk_sorted_influences(mesh, lanes[lane], slots, weights), k);
    }
  octets = lane;
  for (k = 1; k <= SK_MAX_INFLUENCES; k++)
    for (i = 0; i < counts->singles[k]; i++, lane++)
      CHECK_EQUAL(sk_sorted_influences(mesh, lanes[lane], slots, weights), k);
  CHECK_EQUAL(lane, all);
  for (lane = 0; lane < all; lane++) {
    CHECK(lanes[lane] < count);
    if (lane % 8 && lanes[lane] == lanes[lane - 1]) continue;
    CHECK(!seen[lanes[lane]]);
    found += !seen[lanes[lane]];
    seen[lanes[lane]] = 1;
  }
  CHECK_EQUAL(found, count);
  CHECK(octets <= all);
}

static void lanes_hold_every_vertex_once(void) {
  static const size_t sets[] = {0, 1, 2, 9, 64, 100, 1000};
  static uint16_t lanes[SK_SHARED_BLOCK_LANES];
  sk_shared_slots_scratch *scratch = sk_shared_slots_begin();
  sk_lane_counts counts;
  size_t i, count;
  for (i = 0; i < COUNT(sets); i++)
    for (count = 1; count <= SK_SHARED_BLOCK_VERTICES; count += count < 20 ? 1 : 41) {
      random_mesh made = make_random(i + count, count + 3, 1 + (uint32_t)(count % 8), 60, sets[i], 12);
      double gain = sk_shared_slots_find(&made.mesh, 0, count, scratch, &counts, lanes);
      CHECK(sets[i] != 1 || count < 32 || gain > 0);
      check_lanes(&made.mesh, count, &counts, lanes);
      free_random(&made);
    }
  sk_free(scratch);
}

/* So many sets of five vertices as fit: each is an octet, which takes the most lanes. */
static void the_most_lanes_have_room(void) {
  static uint16_t slots[SK_SHARED_BLOCK_VERTICES], lanes[SK_SHARED_BLOCK_LANES];
  static float points[SK_SHARED_BLOCK_VERTICES * 3], weights[SK_SHARED_BLOCK_VERTICES];
  sk_mesh one = {SK_SHARED_BLOCK_VERTICES, 1, points, points, slots, weights};
  sk_shared_slots_scratch *scratch = sk_shared_slots_begin();
  sk_lane_counts counts;
  size_t i;
  for (i = 0; i < SK_SHARED_BLOCK_VERTICES; i++) {
    slots[i] = (uint16_t)(i / 5);
    weights[i] = 1.0f;
  }
  sk_shared_slots_find(&one, 0, SK_SHARED_BLOCK_VERTICES, scratch, &counts, lanes);
  CHECK_EQUAL(counts.octets[1], SK_SHARED_BLOCK_VERTICES / 5);
  check_lanes(&one, SK_SHARED_BLOCK_VERTICES, &counts, lanes);
  sk_free(scratch);
}

/* Every allocation in turn is refused: there are no influences, and nothing leaks. */
static void influences_need_memory(void) {
  long n = 0;
  sk_influences *made;
  do {
    sk_fail_allocation(++n);
    made = sk_influences_make(&mesh, 2);
    sk_fail_allocation(0);
    CHECK(n < 10);
  } while (!made);
  CHECK_EQUAL(n, 5);
  CHECK(!made->shares_slots);
  CHECK_EQUAL(made->block_count, 1);
  CHECK_EQUAL(made->blocks[0].counts.singles[1], 2);
  CHECK_EQUAL(made->blocks[0].counts.singles[2], 1);
  sk_free(made);
}

const check_test deform_tests[] = {
    TEST(vertices_follow_their_slots),
    TEST(normals_take_the_inverse_transpose),
    TEST(a_mirror_keeps_normals_outside),
    TEST(a_matrix_of_zeros_gives_zeros),
    TEST(twelve_floats_do_what_sixteen_do),
    TEST(a_batch_takes_one_palette_each),
    TEST(memory_need_not_be_aligned),
    TEST(eight_influences_all_count),
    TEST(no_vertices_write_nothing),
    TEST(targets_are_added_before_the_skin),
    TEST(both_paths_agree_on_all_counts),
    TEST(both_paths_agree_on_many_slots),
    TEST(lanes_hold_every_vertex_once),
    TEST(the_most_lanes_have_room),
    TEST(influences_need_memory),
    TEST(threads_do_not_change_a_bit),
    {NULL, NULL},
};
