/* main.c: runs the suites and tests (suite.test) that are named, or all of them; one line a test, status 1 on failure. */
#include <stdarg.h>

#include "check.h"

#include "../../csrc/core/base/sk_base.h"

typedef struct suite {
  const char *name;
  const check_test *tests;
} suite;

static const suite suites[] = {
    {"base", base_tests},       {"math", math_tests},     {"block", block_tests}, {"fuzz", fuzz_tests},
    {"clip", clip_tests},       {"sample", sample_tests}, {"palette", palette_tests},
    {"deform", deform_tests},   {"frames", frames_tests}, {"goal", goal_tests},
    {"blend", blend_tests},     {"threads", threads_tests}, {"crowd", crowd_tests},
    {"compile", compile_tests}, {"kernels", kernels_tests},   {"pack", pack_tests},
    {"vector", vector_tests},
};

static jmp_buf leave_test;

#if defined(__SANITIZE_ADDRESS__)
/* The sanitizer asks for this: a request that is far too large shall give NULL, as it does without it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
#endif

#if defined(__SANITIZE_THREAD__)
/* The same; and children of a process with threads make threads of their own. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1 die_after_fork=0"; }
#endif

/* ---- checks --------------------------------------------------------------------- */

void check_failed(const char *file, int line, const char *format, ...) {
  va_list arguments;
  const char *name = strrchr(file, '/');
  printf("    %s:%d: ", name ? name + 1 : file, line);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  longjmp(leave_test, 1);
}

void check_equal(const char *file, int line, const char *what, long long got, long long wanted) {
  if (got != wanted) check_failed(file, line, "%s is %lld; expected %lld", what, got, wanted);
}

void check_near(const char *file, int line, const char *what, double got, double wanted, double tolerance) {
  if (!(fabs(got - wanted) <= tolerance))
    check_failed(file, line, "%s is %.9g; expected %.9g within %g", what, got, wanted, tolerance);
}

void check_floats(const char *file, int line, const char *what, const float *got, const float *wanted,
                  size_t count, double tolerance) {
  size_t i;
  for (i = 0; i < count; i++)
    if (!(fabs((double)got[i] - wanted[i]) <= tolerance))
      check_failed(file, line, "%s[%zu] is %.9g; expected %.9g within %g", what, i, got[i], wanted[i],
                   tolerance);
}

void check_words(const char *file, int line, const char *sentence, const char *words) {
  if (!strstr(sentence, words)) check_failed(file, line, "\"%s\" lacks \"%s\"", sentence, words);
}

uint64_t check_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

void *check_copy(const void *memory, size_t size) {
  void *copy = malloc(size ? size : 1);
  CHECK(copy);
  if (size) memcpy(copy, memory, size);
  return copy;
}

/* ---- running --------------------------------------------------------------------- */

/* 1 where the test failed. What the core handed out must be back when a test ends. */
static int run_test(const char *suite_name, const check_test *test) {
  size_t before = sk_bytes_in_use();
  int failed = setjmp(leave_test);
  if (!failed) {
    test->run();
    CHECK_EQUAL(sk_bytes_in_use(), before);
  }
  sk_fail_allocation(0);
  printf("%s %s.%s\n", failed ? "FAILED" : "ok    ", suite_name, test->name);
  return failed;
}

static bool is_wanted(const char *suite_name, const char *test_name, int count, char **names) {
  char full[200];
  int i;
  snprintf(full, sizeof full, "%s.%s", suite_name, test_name);
  for (i = 1; i < count; i++)
    if (strcmp(names[i], suite_name) == 0 || strcmp(names[i], full) == 0) return true;
  return count < 2;
}

int main(int count, char **names) {
  int failed = 0, ran = 0;
  size_t i;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (i = 0; i < COUNT(suites); i++) {
    const check_test *test;
    for (test = suites[i].tests; test->name; test++) {
      if (!is_wanted(suites[i].name, test->name, count, names)) continue;
      failed += run_test(suites[i].name, test);
      ran++;
    }
  }
  printf("%d tests, %d failed\n", ran, failed);
  return failed || !ran;
}
