/* test_deform.c: palettes and vertices to points and normals. */
#include "check.h"

#include "../../csrc/core/sk_deform.h"

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

static void vertices_follow_their_slots(void) {
  float got[9];
  sk_deform_run(&(sk_deform_job){&mesh, 2, 1, matrices, 16, got, NULL});
  CHECK_FLOATS(got, moved, 9, 1e-6);
}

/* x doubled: normals there shrink to a half before they are normalized. The zero normal stays. */
static void normals_take_the_inverse_transpose(void) {
  const float length = sqrtf(0.25f + 1);
  const float wanted[] = {0.5f / length, 1 / length, 0, 0, 1, 0, 0, 0, 0};
  float got[9], turned[9];
  sk_deform_run(&(sk_deform_job){&mesh, 2, 1, matrices, 16, got, turned});
  CHECK_FLOATS(turned, wanted, 9, 1e-6);
}

static void a_mirror_keeps_normals_outside(void) {
  static const float mirror[] = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  static const float wanted[] = {-0.70710678f, 0.70710678f, 0, -1, 0, 0, 0, 0, 0};
  static const uint16_t first[6] = {0};
  sk_mesh mirrored = mesh;
  float got[9], turned[9];
  mirrored.slots = first;
  sk_deform_run(&(sk_deform_job){&mirrored, 1, 1, mirror, 12, got, turned});
  CHECK_FLOATS(turned, wanted, 9, 1e-6);
}

static void a_matrix_of_zeros_gives_zeros(void) {
  static const float zeros[32] = {0};
  float got[9], turned[9];
  sk_deform_run(&(sk_deform_job){&mesh, 2, 1, zeros, 16, got, turned});
  CHECK_FLOATS(got, zeros, 9, 0);
  CHECK_FLOATS(turned, zeros, 9, 0);
}

static void twelve_floats_do_what_sixteen_do(void) {
  float rows[24], a[9], b[9], na[9], nb[9];
  memcpy(rows, matrices, 12 * sizeof(float));
  memcpy(rows + 12, matrices + 16, 12 * sizeof(float));
  sk_deform_run(&(sk_deform_job){&mesh, 2, 1, matrices, 16, a, na});
  sk_deform_run(&(sk_deform_job){&mesh, 2, 1, rows, 12, b, nb});
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
  sk_deform_run(&(sk_deform_job){&mesh, 2, 2, palettes, 16, got, NULL});
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
  sk_deform_run(&(sk_deform_job){&shifted, 2, 1, palette + 1, 16, out + 1, turned + 1});
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
  sk_deform_run(&(sk_deform_job){&one, EIGHT, 1, palette, 12, got, turned});
  CHECK_NEAR(got[0], 1 + wanted, 1e-6);
  CHECK_NEAR(got[1], 1, 1e-6);
  CHECK_FLOATS(turned, normal, 3, 1e-6);
}

static void no_vertices_write_nothing(void) {
  sk_mesh none = {.vertex_count = 0, .influences = 4};
  sk_deform_run(&(sk_deform_job){&none, 0, 3, NULL, 12, NULL, NULL});
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
  float got[9], turned[9], both[18], scratch[18];
  sk_deform_job job = {&mesh, 2, 1, matrices, 16, got, turned, &morph, by_hand, 0, scratch};
  CHECK(sk_deform_scratch(&mesh) == sizeof scratch);
  sk_deform_run(&job);
  CHECK_FLOATS(got, wanted, 9, 1e-6);
  /* normal of vertex 1: (1,0,0) + 2 * (-1,1,0) = (-1,2,0), turned a quarter: (-2,-1,0) */
  CHECK_NEAR(turned[3], -2 / sqrtf(5), 1e-6);
  CHECK_NEAR(turned[4], -1 / sqrtf(5), 1e-6);
  /* Two palettes: the second has weights of 0. */
  job.count = 2;
  job.palettes = (const float[64]){0};
  job.positions = both;
  job.normals = NULL;
  job.weight_stride = 2;
  sk_deform_run(&job);
  CHECK_EQUAL(memcmp(scratch, positions, sizeof positions), 0);
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
    {NULL, NULL},
};
