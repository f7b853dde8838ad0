/* test_math.c: quaternions and matrices against values from the formulas' other ends: angles,
   products of elementary matrices, and properties. */
#include "check.h"

#include "../../csrc/core/base/sk_math.h"

#define TURN_Z(degrees) \
  {0, 0, (float)sin((degrees) * (M_PI / 360)), (float)cos((degrees) * (M_PI / 360))}

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

static double uniform(uint64_t *state) { return (double)(check_random(state) >> 11) / 9007199254740992.0; }

static void random_quat(uint64_t *state, float q[4]) {
  double raw[4];
  int i;
  for (i = 0; i < 4; i++) raw[i] = 2.0 * uniform(state) - 1.0;
  sk_quat_normalize(raw, q);
}

static double length4(const float q[4]) {
  return sqrt((double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3]);
}

/* ---- quaternions ----------------------------------------------------------------- */

static void slerp_turns_evenly(void) {
  static const double spans[] = {170, 90, 10, 1, 0.01, 1e-5, 0};
  size_t i;
  int step;
  for (i = 0; i < COUNT(spans); i++)
    for (step = 0; step <= 10; step++) {
      float a[4] = TURN_Z(20), b[4] = TURN_Z(20 + spans[i]), got[4];
      float wanted[4] = TURN_Z(20 + spans[i] * step / 10);
      sk_quat_slerp(a, b, step / 10.0, got);
      CHECK_FLOATS(got, wanted, 4, 2e-7);
    }
}

static void slerp_takes_the_shorter_arc(void) {
  float a[4] = TURN_Z(0), b[4] = TURN_Z(60), away[4], got[4], wanted[4] = TURN_Z(15);
  int i;
  for (i = 0; i < 4; i++) away[i] = -b[i];
  sk_quat_slerp(a, away, 0.25, got);
  CHECK_FLOATS(got, wanted, 4, 2e-7);
  sk_quat_nlerp(a, away, 0.5, got);
  sk_quat_slerp(a, b, 0.5, wanted);
  CHECK_FLOATS(got, wanted, 4, 2e-7);
}

/* Opposite rotations: any arc will do, but it has unit length. */
static void slerp_of_a_half_turn_stays_unit(void) {
  float a[4] = TURN_Z(0), b[4] = TURN_Z(180), got[4];
  int step;
  for (step = 0; step <= 8; step++) {
    sk_quat_slerp(a, b, step / 8.0, got);
    CHECK_NEAR(length4(got), 1, 1e-6);
  }
}

static void interpolation_stays_unit_and_hits_its_ends(void) {
  uint64_t state = 7;
  int round;
  for (round = 0; round < 500; round++) {
    float a[4], b[4], got[4];
    double u = uniform(&state), sign;
    random_quat(&state, a);
    random_quat(&state, b);
    sk_quat_slerp(a, b, u, got);
    CHECK_NEAR(length4(got), 1, 3e-7);
    sk_quat_nlerp(a, b, u, got);
    CHECK_NEAR(length4(got), 1, 3e-7);
    sk_quat_slerp(a, b, 0, got);
    CHECK_FLOATS(got, a, 4, 2e-7);
    sk_quat_slerp(a, b, 1, got);
    sign = got[0] * b[0] + got[1] * b[1] + got[2] * b[2] + got[3] * b[3];
    CHECK_NEAR(fabs(sign), 1, 5e-7);
  }
}

static void a_quaternion_without_length_is_the_identity(void) {
  static const double bad[][4] = {{0, 0, 0, 0}, {NAN, 0, 0, 1}, {INFINITY, 0, 0, 0}};
  static const float identity[] = {0, 0, 0, 1};
  size_t i;
  for (i = 0; i < COUNT(bad); i++) {
    float got[4];
    sk_quat_normalize(bad[i], got);
    CHECK_FLOATS(got, identity, 4, 0);
  }
}

/* ---- matrices -------------------------------------------------------------------- */

static void check_affine(const double *got, const double *wanted, double tolerance) {
  int i;
  for (i = 0; i < 12; i++) CHECK_NEAR(got[i], wanted[i], tolerance);
}

/* A quarter about z sends x to y; scale comes first, translation last. */
static void trs_scales_turns_and_moves(void) {
  const float t[] = {10, 20, 30}, r[] = TURN_Z(90), s[] = {2, 3, 4};
  static const double wanted[] = {0, -3, 0, 10, 2, 0, 0, 20, 0, 0, 4, 30};
  double got[12];
  float twice[4];
  int i;
  sk_affine_from_trs(t, r, s, got);
  check_affine(got, wanted, 1e-6);
  for (i = 0; i < 4; i++) twice[i] = 2 * r[i];
  sk_affine_from_trs(t, twice, s, got);
  check_affine(got, wanted, 1e-6);
}

/* q v q* computed by the cross product form, as the other way to turn a vector. */
static void trs_turns_like_the_quaternion(void) {
  static const float zero[] = {0, 0, 0}, one[] = {1, 1, 1};
  uint64_t state = 11;
  int round, i;
  for (round = 0; round < 200; round++) {
    float q[4], v[3];
    double m[12], cross[3], wanted[3];
    random_quat(&state, q);
    for (i = 0; i < 3; i++) v[i] = (float)(uniform(&state) * 4 - 2);
    sk_affine_from_trs(zero, q, one, m);
    for (i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      cross[i] = 2.0 * ((double)q[j] * v[k] - (double)q[k] * v[j]);
    }
    for (i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      wanted[i] = v[i] + q[3] * cross[i] + q[j] * cross[k] - q[k] * cross[j];
      CHECK_NEAR(m[4 * i] * v[0] + m[4 * i + 1] * v[1] + m[4 * i + 2] * v[2], wanted[i], 1e-6);
    }
  }
}

static void multiply_is_the_matrix_product(void) {
  static const double a[] = {1, 2, 3, 4, 0, 1, 5, 6, 7, 0, 1, 8}, b[] = {2, 0, 1, 1, 1, 3, 0, 2, 0, 1, 4, 3};
  /* Row by column, by hand. */
  static const double wanted[] = {4, 9, 13, 18, 1, 8, 20, 23, 14, 1, 11, 18};
  double got[12];
  sk_affine_multiply(a, b, got);
  check_affine(got, wanted, 0);
  memcpy(got, a, sizeof got);
  sk_affine_multiply(got, b, got);
  check_affine(got, wanted, 0);
  memcpy(got, b, sizeof got);
  sk_affine_multiply(a, got, got);
  check_affine(got, wanted, 0);
}

static void inverse_undoes(void) {
  static const double identity[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  uint64_t state = 13;
  int round, i;
  for (round = 0; round < 200; round++) {
    double m[12], inverse[12], product[12];
    for (i = 0; i < 12; i++) m[i] = uniform(&state) * 2 - 1 + (i % 5 == 0 ? 3 : 0);
    CHECK(sk_affine_inverse(m, inverse));
    sk_affine_multiply(m, inverse, product);
    check_affine(product, identity, 1e-12);
    sk_affine_multiply(inverse, m, product);
    check_affine(product, identity, 1e-12);
  }
}

static void a_matrix_without_inverse_says_so(void) {
  static const double identity[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  static const double flat[] = {1, 0, 0, 5, 0, 1, 0, 5, 0, 0, 0, 5};
  double got[12];
  CHECK(!sk_affine_inverse(flat, got));
  check_affine(got, identity, 0);
}

static void matrices_convert_without_loss(void) {
  float m[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 1}, back[16], rows[12];
  double affine[12];
  sk_affine_from_mat4(m, affine);
  sk_affine_to_mat4(affine, back);
  CHECK_FLOATS(back, m, 16, 0);
  sk_affine_to_rows(affine, rows);
  CHECK_FLOATS(rows, m, 12, 0);
}

/* ---- decomposition ----------------------------------------------------------------- */

static void decompose_finds_its_factors_again(void) {
  uint64_t state = 17;
  int round, i;
  for (round = 0; round < 500; round++) {
    float t[3], r[4], s[3], t2[3], r2[4], s2[3];
    double m[12], again[12], residual;
    random_quat(&state, r);
    for (i = 0; i < 3; i++) {
      t[i] = (float)(uniform(&state) * 20 - 10);
      s[i] = (float)(uniform(&state) * 4 + 0.01);
    }
    if (round % 2) s[round % 3] = -s[round % 3];
    sk_affine_from_trs(t, r, s, m);
    residual = sk_affine_decompose(m, t2, r2, s2);
    CHECK_NEAR(residual, 0, 2e-6);
    CHECK_NEAR(length4(r2), 1, 1e-6);
    CHECK_FLOATS(t2, t, 3, 0);
    CHECK_EQUAL(s2[0] < 0, s2[1] < 0);
    sk_affine_from_trs(t2, r2, s2, again);
    check_affine(again, m, 1e-5);
  }
}

static void decompose_measures_shear(void) {
  static const double sheared[] = {1, 0.5, 0, 1, 0, 1, 0, 2, 0, 0, 1, 3};
  float t[3], r[4], s[3];
  double residual = sk_affine_decompose(sheared, t, r, s);
  CHECK(residual > 0.05 && residual < 1);
}

static void decompose_bears_flat_matrices(void) {
  static const double flat[][12] = {
      {0}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0},
      {1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0}};
  size_t i;
  for (i = 0; i < COUNT(flat); i++) {
    float t[3], r[4], s[3];
    sk_affine_decompose(flat[i], t, r, s);
    CHECK_NEAR(length4(r), 1, 1e-6);
  }
}

const check_test math_tests[] = {
    TEST(slerp_turns_evenly),
    TEST(slerp_takes_the_shorter_arc),
    TEST(slerp_of_a_half_turn_stays_unit),
    TEST(interpolation_stays_unit_and_hits_its_ends),
    TEST(a_quaternion_without_length_is_the_identity),
    TEST(trs_scales_turns_and_moves),
    TEST(trs_turns_like_the_quaternion),
    TEST(multiply_is_the_matrix_product),
    TEST(inverse_undoes),
    TEST(a_matrix_without_inverse_says_so),
    TEST(matrices_convert_without_loss),
    TEST(decompose_finds_its_factors_again),
    TEST(decompose_measures_shear),
    TEST(decompose_bears_flat_matrices),
    {NULL, NULL},
};
