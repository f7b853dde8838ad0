/* test_vector.c: the vector operations of the kernels against what sk_vector.h says of them, lane by lane. */
#include "check.h"

#include "../../csrc/core/base/sk_kernels.h"
#include "../../csrc/core/simd/sk_vector.h"

#if SK_HAS_KERNELS

SK_KERNEL_BEGIN

static const float a8[8] = {1, -2, 3.5f, -0.0f, 5, 1e-20f, -7, 8}, b8[8] = {2, -2, -3.5f, 0, 0.1f, 3, 1e20f, 8};
static const float c8[8] = {-3, 1, 4, -1, 5, 9, -2, 6};
static const double a4[4] = {1.5, -2.5, 3e5, -0.25}, b4[4] = {2, -2.5, 7, 1e-3}, c4[4] = {0.5, 1, -2, 3};

static uint32_t bits_of(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static void same_floats(const char *what, sk_f8 got, const float wanted[8]) {
  float lanes[8];
  int i;
  f8_store(lanes, got);
  for (i = 0; i < 8; i++) check_equal(what, i, "the lane", bits_of(lanes[i]), bits_of(wanted[i]));
}

static void same_doubles(const char *what, sk_d4 got, const double wanted[4]) {
  double lanes[4];
  int i;
  d4_store(lanes, got);
  for (i = 0; i < 4; i++) check_equal(what, i, "the difference", memcmp(&lanes[i], &wanted[i], sizeof *lanes) != 0, 0);
}

/* Compares an operation to an expression of x, y and z, the lanes of its arguments. */
#define FLOATS(operation, expression)                 \
  do {                                                \
    float wanted[8];                                  \
    int lane;                                         \
    for (lane = 0; lane < 8; lane++) {                \
      float x = a8[lane], y = b8[lane], z = c8[lane]; \
      (void)x, (void)y, (void)z;                      \
      wanted[lane] = (expression);                    \
    }                                                 \
    same_floats(#operation, operation, wanted);       \
  } while (0)
#define DOUBLES(operation, expression)                 \
  do {                                                 \
    double wanted[4];                                  \
    int lane;                                          \
    for (lane = 0; lane < 4; lane++) {                 \
      double x = a4[lane], y = b4[lane], z = c4[lane]; \
      (void)x, (void)y, (void)z;                       \
      wanted[lane] = (expression);                     \
    }                                                  \
    same_doubles(#operation, operation, wanted);       \
  } while (0)

static void check_float_arithmetic(void) {
  sk_f8 a = f8_load(a8), b = f8_load(b8), c = f8_load(c8);
  FLOATS(f8_set(3.0f), 3.0f);
  FLOATS(f8_load_one(a8 + 2), 3.5f);
  FLOATS(f8_repeat(a8), a8[lane % 4]);
  FLOATS(f8_load_some(a8, 3), lane < 3 ? x : 0.0f);
  FLOATS(f8_join(f8_high(a), f8_low(b)), lane < 4 ? a8[lane + 4] : b8[lane - 4]);
  FLOATS(f8_add(a, b), x + y);
  FLOATS(f8_sub(a, b), x - y);
  FLOATS(f8_mul(a, b), x * y);
  FLOATS(f8_div(b, a), y / x);
  FLOATS(f8_sqrt(f8_abs(c)), sqrtf(fabsf(z)));
  FLOATS(f8_fma(a, b, c), fmaf(x, y, z));
  FLOATS(f8_fms(a, b, c), fmaf(x, y, -z));
  FLOATS(f8_fnma(a, b, c), fmaf(-x, y, z));
  FLOATS(f8_fnms(a, b, c), fmaf(-x, y, -z));
  FLOATS(f8_min(f8_add(a, c), c), x + z < z ? x + z : z);
  FLOATS(f8_max(f8_add(a, c), c), x + z > z ? x + z : z);
  FLOATS(f8_xor(a, f8_set(-0.0f)), -x);
  FLOATS(f8_or(f8_abs(a), f8_and(c, f8_set(-0.0f))), copysignf(x, z));
}

static void check_masks(void) {
  sk_f8 a = f8_load(a8), b = f8_load(b8), c = f8_load(c8), zero = f8_zero();
  float with_nan[8];
  sk_f8 n;
  FLOATS(f8_blend(a, b, f8_less(a, b)), x < y ? y : x);
  FLOATS(f8_blend(a, b, f8_at_most(a, b)), x <= y ? y : x);
  FLOATS(f8_blend(a, b, f8_greater(a, b)), x > y ? y : x);
  FLOATS(f8_blend(a, b, f8_at_least(a, b)), x >= y ? y : x);
  FLOATS(f8_blend(a, b, f8_equal(a, b)), x == y ? y : x);
  FLOATS(f8_blend(a, b, f8_all_set()), y);
  FLOATS(f8_clear(f8_less(a, zero), a), x < 0 ? 0.0f : x);
  CHECK_EQUAL(f8_signs(a), 0x4A);
  CHECK_EQUAL(f8_signs(f8_all_set()), 0xFF);
  memcpy(with_nan, a8, sizeof with_nan);
  with_nan[1] = with_nan[6] = NAN;
  n = f8_load(with_nan);
  FLOATS(f8_min(n, c), lane == 1 || lane == 6 || z < x ? z : x);
  FLOATS(f8_max(n, c), lane == 1 || lane == 6 || z > x ? z : x);
  CHECK_EQUAL(f8_signs(f8_or(f8_less(n, b), f8_at_least(n, b))), 0xFF & ~0x42);
  CHECK_EQUAL(f8_signs(f8_equal(n, n)), 0xFF & ~0x42);
}

static void check_lanes(void) {
  sk_f8 a = f8_load(a8), b = f8_load(b8), c = f8_load(c8), out[4];
  float memory[33], three[24];
  int i, k;
  FLOATS(F8_PICK(a, 3, 0, 0, 2), a8[lane / 4 * 4 + (lane % 4 == 0 ? 3 : lane % 4 == 3 ? 2 : 0)]);
  FLOATS(f8_only_last(c), lane % 4 == 3 ? z : 0.0f);
  f8_transpose(a, b, c, f8_set(9.0f), out);
  for (i = 0; i < 4; i++)
    FLOATS(out[i], lane % 4 == 0   ? a8[lane + i]
                   : lane % 4 == 1 ? b8[lane - 1 + i]
                   : lane % 4 == 2 ? c8[lane - 2 + i]
                                   : 9.0f);
  for (i = 0; i < 33; i++) memory[i] = (float)i;
  f8_load_triples(memory, out);
  for (i = 0; i < 3; i++) FLOATS(out[i], (float)(3 * lane + i));
  f8_store_triples(three, out, false);
  CHECK_FLOATS(three, memory, 24, 0);
  f8_load_quads(memory + 1, out);
  for (i = 0; i < 4; i++) FLOATS(out[i], (float)(4 * lane + i + 1));
  memset(three, 0, sizeof three);
  for (i = 0; i < 33; i++) memory[i] = -1.0f;
  f8_store_quads(memory, out);
  for (i = 0; i < 32; i++) CHECK_NEAR(memory[i], i + 1, 0);
  CHECK_NEAR(memory[32], -1, 0);
  f8_store_cells(memory, out);
  for (i = 0; i < 32; i++) CHECK(i % 4 == 3 || memory[i] == (float)(4 * (i / 8 + i / 4 % 2 * 4) + i % 4 + 1));
  CHECK_NEAR(memory[32], -1, 0);
  for (i = 0; i < 32; i++) memory[i] = (float)i;
  f8_load_cells(memory, out);
  for (i = 0; i < 4; i++) FLOATS(out[i], (float)(lane % 4 * 8 + lane / 4 * 4 + i));
  f4_store_packed(three, f4_load(a8), f4_load(b8), f4_load(c8), f4_make(1, 2, 3, 4), false);
  for (k = 0; k < 3; k++)
    for (i = 0; i < 4; i++) CHECK_NEAR(three[3 * i + k], i == 0 ? a8[k] : i == 1 ? b8[k] : i == 2 ? c8[k] : k + 1, 0);
  CHECK_NEAR(three[12], 0, 0);
  f4_store_three(three, f4_load(c8));
  CHECK_NEAR(three[2], c8[2], 0);
  CHECK_NEAR(three[3], b8[0], 0);
  CHECK_NEAR(f4_dot(f4_load(c8), f4_make(1, 2, 3, 4)), -3 + 2 + 12 - 4, 0);
}

static void check_doubles(void) {
  sk_d4 a = d4_load(a4), b = d4_load(b4), c = d4_load(c4), out[4], here, next;
  const size_t at[4] = {2, 0, 1, 2};
  int32_t whole[4];
  int i;
  DOUBLES(d4_set(2.5), 2.5);
  DOUBLES(d4_add(a, b), x + y);
  DOUBLES(d4_sub(a, b), x - y);
  DOUBLES(d4_mul(a, b), x * y);
  DOUBLES(d4_div(a, b), x / y);
  DOUBLES(d4_sqrt(d4_abs(a)), sqrt(fabs(x)));
  DOUBLES(d4_min(a, c), x < z ? x : z);
  DOUBLES(d4_max(a, c), x > z ? x : z);
  DOUBLES(d4_fma(a, b, c), fma(x, y, z));
  DOUBLES(d4_fms(a, b, c), fma(x, y, -z));
  DOUBLES(d4_floor(a), floor(x));
  DOUBLES(d4_nearest(a), lane == 0 ? 2.0 : lane == 1 ? -2.0 : lane == 2 ? x : -0.0);
  DOUBLES(d4_blend(a, b, d4_less(a, b)), x < y ? y : x);
  DOUBLES(d4_blend(a, b, d4_at_most(a, b)), x <= y ? y : x);
  DOUBLES(d4_blend(a, b, d4_greater(a, b)), x > y ? y : x);
  DOUBLES(d4_clear(d4_less(a, d4_zero()), a), x < 0 ? 0.0 : x);
  DOUBLES(d4_and(d4_less(a, d4_zero()), a), x < 0 ? x : 0.0);
  DOUBLES(d4_xor(a, d4_set(-0.0)), -x);
  DOUBLES(d4_only_last(c), lane == 3 ? z : 0.0);
  DOUBLES(d4_of(f4_load(a8)), (double)a8[lane]);
  CHECK_EQUAL(d4_count(d4_less(a, d4_zero())), 2);
  CHECK_EQUAL(d4_count(d4_at_most(a, a)), 4);
  d4_transpose(a, b, c, d4_set(9.0), out);
  for (i = 0; i < 4; i++) DOUBLES(out[i], lane == 0 ? a4[i] : lane == 1 ? b4[i] : lane == 2 ? c4[i] : 9.0);
  d4_load_beside(a4, at, &here, &next);
  DOUBLES(here, a4[at[lane]]);
  DOUBLES(next, a4[at[lane] + 1]);
  d4_truncate(a, whole);
  for (i = 0; i < 4; i++) CHECK_EQUAL(whole[i], (int)a4[i]);
  FLOATS(f8_join(f4_of(a), f4_of(b)), (float)(lane < 4 ? a4[lane] : b4[lane - 4]));
}

static void check_integers(void) {
  uint32_t same[8] = {7, 7, 7, 7, 7, 7, 7, 7};
  sk_i8 a = i8_of(f8_load(a8)), b = i8_of(f8_set(1.0f));
  float wanted[8];
  uint32_t bits;
  int i, k;
  for (k = 0; k < 3; k++) {
    for (i = 0; i < 8; i++) {
      bits = k == 0   ? bits_of(a8[i]) + bits_of(1.0f)
             : k == 1 ? bits_of(a8[i]) - bits_of(1.0f)
                      : bits_of(a8[i]) | bits_of(1.0f);
      memcpy(&wanted[i], &bits, sizeof bits);
    }
    same_floats("i8", f8_of_bits(k == 0 ? i8_add(a, b) : k == 1 ? i8_sub(a, b) : i8_or(a, b)), wanted);
  }
  CHECK(sk_all_equal(same));
  for (i = 0; i < 8; i++) {
    same[i] = 8;
    CHECK(!sk_all_equal(same));
    same[i] = 7;
  }
}

/* 3e-7 of the value, from the smallest normal number to the largest. */
static void check_inverse_roots(void) {
  uint64_t state = 5;
  float lanes[8];
  double exact;
  int n, i;
  for (n = 0; n < 100000; n++) {
    float numbers[8];
    for (i = 0; i < 8; i++)
      numbers[i] =
          ldexpf(1.0f + (float)(check_random(&state) % (1u << 23)) * 0x1p-23f, (int)(check_random(&state) % 253) - 126);
    f8_store(lanes, f8_inverse_root(f8_load(numbers)));
    for (i = 0; i < 8; i++) {
      exact = 1.0 / sqrt(numbers[i]);
      CHECK_NEAR(lanes[i], exact, 3e-7 * exact);
    }
  }
}

SK_KERNEL_END

/* The processor may lack the instructions of the build's kernels. */
static void where_there_are_kernels(void (*check)(void)) {
  if (sk_kernels_chosen()) check();
}

static void floats_compute_as_numbers_do(void) { where_there_are_kernels(check_float_arithmetic); }
static void masks_choose_lanes(void) { where_there_are_kernels(check_masks); }
static void lanes_move_as_told(void) { where_there_are_kernels(check_lanes); }
static void doubles_compute_as_numbers_do(void) { where_there_are_kernels(check_doubles); }
static void integers_compute_as_numbers_do(void) { where_there_are_kernels(check_integers); }
static void inverse_roots_are_near(void) { where_there_are_kernels(check_inverse_roots); }

const check_test vector_tests[] = {TEST(floats_compute_as_numbers_do),
                                   TEST(masks_choose_lanes),
                                   TEST(lanes_move_as_told),
                                   TEST(doubles_compute_as_numbers_do),
                                   TEST(integers_compute_as_numbers_do),
                                   TEST(inverse_roots_are_near),
                                   {NULL, NULL}};
#else
static void there_are_none(void) { CHECK(sk_kernels_chosen() == NULL); }

const check_test vector_tests[] = {TEST(there_are_none), {NULL, NULL}};
#endif
