/* test_base.c: errors, memory and growing arrays. */
#include "check.h"

#include "../../csrc/core/base/sk_base.h"
#include "small_model.h"

static void an_error_carries_its_sentence(void) {
  sk_error error;
  CHECK_EQUAL(sk_fail(&error, SK_ERROR_IMPORT, "key %d of \"%s\"", 3, "arm"), SK_ERROR_IMPORT);
  CHECK_EQUAL(error.status, SK_ERROR_IMPORT);
  CHECK(strcmp(error.message, "key 3 of \"arm\"") == 0);
  CHECK_EQUAL(sk_fail(NULL, SK_ERROR_BLOCK, "nobody asks"), SK_ERROR_BLOCK);
  CHECK_EQUAL(sk_fail_memory(&error, 4096), SK_ERROR_MEMORY);
  CHECK_WORDS(error.message, "4096");
}

static void a_long_sentence_is_cut(void) {
  static char words[2 * SK_ERROR_LENGTH];
  sk_error error;
  memset(words, 'x', sizeof words - 1);
  sk_fail(&error, SK_ERROR_BLOCK, "%s", words);
  CHECK_EQUAL(strlen(error.message), SK_ERROR_LENGTH - 1);
}

static void memory_is_aligned_and_counted(void) {
  static const size_t sizes[] = {0, 1, 63, 64, 65, 1000};
  size_t i, before = sk_bytes_in_use();
  for (i = 0; i < COUNT(sizes); i++) {
    char *memory = sk_alloc(sizes[i]);
    CHECK(memory);
    CHECK_EQUAL((uintptr_t)memory % SK_ALIGNMENT, 0);
    CHECK_EQUAL(sk_bytes_in_use(), before + sizes[i]);
    memset(memory, 1, sizes[i]);
    sk_free(memory);
  }
  CHECK_EQUAL(sk_bytes_in_use(), before);
  sk_free(NULL);
}

static void realloc_keeps_what_fits(void) {
  char *memory = sk_alloc_zero(8);
  int i;
  for (i = 0; i < 8; i++) CHECK_EQUAL(memory[i], 0);
  memcpy(memory, "skinpy!", 8);
  memory = sk_realloc(memory, 200);
  CHECK(strcmp(memory, "skinpy!") == 0);
  memory = sk_realloc(memory, 4);
  CHECK(memcmp(memory, "skin", 4) == 0);
  sk_fail_allocation(1);
  CHECK(!sk_realloc(memory, 4000));
  CHECK(memcmp(memory, "skin", 4) == 0);
  sk_free(memory);
}

static void the_wanted_allocation_fails_once(void) {
  void *first, *third;
  sk_fail_allocation(2);
  first = sk_alloc(1);
  CHECK(first);
  CHECK(!sk_alloc(1));
  third = sk_alloc_zero(1);
  CHECK(third);
  sk_free(first);
  sk_free(third);
  sk_fail_allocation(1);
  sk_fail_allocation(0);
  first = sk_alloc(1);
  CHECK(first);
  sk_free(first);
}

static void impossible_sizes_give_null(void) {
  size_t product;
  CHECK(!sk_alloc(SIZE_MAX));
  CHECK(!sk_alloc_zero(SIZE_MAX - 64));
  CHECK(!sk_multiply(SIZE_MAX / 2, 3, &product));
  CHECK(!sk_multiply(3, SIZE_MAX / 2, &product));
  CHECK(sk_multiply(0, SIZE_MAX, &product) && product == 0);
  CHECK(sk_multiply(SIZE_MAX, 1, &product) && product == SIZE_MAX);
  CHECK(sk_multiply(1000, 1000, &product) && product == 1000000);
}

static void an_array_grows_zeroed(void) {
  sk_array array = SK_ARRAY(int32_t);
  int32_t i, *place;
  for (i = 0; i < 1000; i++) {
    place = sk_array_extend(&array, 1);
    CHECK(place && *place == 0);
    *place = i;
  }
  place = sk_array_extend(&array, 24);
  CHECK(place && place[0] == 0 && place[23] == 0);
  CHECK_EQUAL(array.count, 1024);
  for (i = 0; i < 1000; i++) CHECK_EQUAL(((int32_t *)array.data)[i], i);
  CHECK(!sk_array_extend(&array, SIZE_MAX));
  CHECK(!sk_array_extend(&array, SIZE_MAX / 8));
  CHECK_EQUAL(array.count, 1024);
  sk_array_free(&array);
  sk_array_free(&array);
  CHECK_EQUAL(array.count, 0);
}

/* NULL means "no memory" and nothing else. */
static void no_more_elements_are_a_valid_place(void) {
  sk_array array = SK_ARRAY(int32_t);
  CHECK(sk_array_extend(&array, 0));
  CHECK_EQUAL(array.count, 0);
  sk_array_free(&array);
}

static void an_array_survives_a_failed_extension(void) {
  sk_array array = SK_ARRAY(double);
  double *place = sk_array_extend(&array, 1);
  size_t capacity = array.capacity;
  CHECK(place);
  *place = 2.5;
  sk_fail_allocation(1);
  CHECK(!sk_array_extend(&array, capacity + 1));
  CHECK_EQUAL(array.count, 1);
  CHECK(*(double *)array.data == 2.5);
  sk_array_free(&array);
}

static void text_is_appended_or_refused(void) {
  sk_array pool = SK_ARRAY(char);
  sk_text text;
  CHECK(sk_text_append(&pool, NULL, 0, &text) && text.length == 0);
  sk_fail_allocation(1);
  CHECK(!sk_text_append(&pool, "arm", 3, &text));
  CHECK(sk_text_append(&pool, "arm", 3, &text));
  CHECK(text.offset == 0 && text.length == 3);
  CHECK(sk_text_append(&pool, "leg", 3, &text));
  CHECK(memcmp((char *)pool.data + text.offset, "leg", 3) == 0);
  sk_array_free(&pool);
}

/* Whichever allocation of writing a block fails: an answer, no block, nothing lost. */
static void writing_a_block_survives_every_failed_allocation(void) {
  small_model model;
  long n;
  small_model_set(&model);
  for (n = 1; n < 100; n++) {
    sk_error error = {SK_OK, ""};
    size_t size, before = sk_bytes_in_use();
    void *block;
    sk_fail_allocation(n);
    block = small_model_write(&model, &size, &error);
    sk_fail_allocation(0);
    sk_free(block);
    CHECK_EQUAL(sk_bytes_in_use(), before);
    if (block) break;
    CHECK_EQUAL(error.status, SK_ERROR_MEMORY);
    CHECK_WORDS(error.message, "memory");
  }
  CHECK(n > 1 && n < 100);
}

const check_test base_tests[] = {
    TEST(an_error_carries_its_sentence),
    TEST(a_long_sentence_is_cut),
    TEST(memory_is_aligned_and_counted),
    TEST(realloc_keeps_what_fits),
    TEST(the_wanted_allocation_fails_once),
    TEST(impossible_sizes_give_null),
    TEST(an_array_grows_zeroed),
    TEST(no_more_elements_are_a_valid_place),
    TEST(an_array_survives_a_failed_extension),
    TEST(text_is_appended_or_refused),
    TEST(writing_a_block_survives_every_failed_allocation),
    {NULL, NULL},
};
