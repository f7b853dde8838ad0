/* check.h: the harness of the core's tests: suites of small functions, and checks that say
   where they failed and with which numbers. A failed check ends its test, not the run. */
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check_test {
  const char *name;
  void (*run)(void);
} check_test;

#define TEST(function) {#function, function}
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* One per file of tests; main.c lists them. An empty row ends the table. */
extern const check_test base_tests[], block_tests[], clip_tests[], deform_tests[], frames_tests[], fuzz_tests[],
    goal_tests[], blend_tests[], compile_tests[], crowd_tests[], kernels_tests[],
    math_tests[], pack_tests[], palette_tests[], sample_tests[], threads_tests[], vector_tests[];

/* Prints where and why, and leaves the test. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4), noreturn))
#endif
void check_failed(const char *file, int line, const char *format, ...);

#define CHECK(condition) \
  ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, "not so: %s", #condition))

#define CHECK_EQUAL(got, wanted) check_equal(__FILE__, __LINE__, #got, (long long)(got), (long long)(wanted))
#define CHECK_NEAR(got, wanted, tolerance) \
  check_near(__FILE__, __LINE__, #got, (double)(got), (double)(wanted), (double)(tolerance))
#define CHECK_FLOATS(got, wanted, count, tolerance) \
  check_floats(__FILE__, __LINE__, #got, got, wanted, count, tolerance)
/* A sentence that holds the words. */
#define CHECK_WORDS(sentence, words) check_words(__FILE__, __LINE__, sentence, words)

void check_equal(const char *file, int line, const char *what, long long got, long long wanted);
void check_near(const char *file, int line, const char *what, double got, double wanted, double tolerance);
void check_floats(const char *file, int line, const char *what, const float *got, const float *wanted,
                  size_t count, double tolerance);
void check_words(const char *file, int line, const char *sentence, const char *words);

/* The same numbers on every machine: xorshift64*, Vigna 2016. `*state` is not 0. */
uint64_t check_random(uint64_t *state);

/* A heap copy of exactly this size, so that the address sanitizer sees one byte too far. */
void *check_copy(const void *memory, size_t size);

#endif
