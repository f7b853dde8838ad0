/* sk_base.c: see sk_base.h. */
#include "sk_base.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- status ---------------------------------------------------------------- */

sk_status sk_fail(sk_error *error, sk_status status, const char *format, ...) {
  if (error) {
    va_list arguments;
    error->status = status;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
  }
  return status;
}

sk_status sk_fail_memory(sk_error *error, size_t bytes) {
  return sk_fail(error, SK_ERROR_MEMORY, "out of memory: %zu bytes could not be allocated", bytes);
}

/* ---- assertions ------------------------------------------------------------ */

_Noreturn void sk_assertion_failed(const char *condition, const char *file, int line) {
  fprintf(stderr, "skinpy: %s:%d: this should always hold: %s\n", file, line, condition);
  abort();
}

/* ---- memory ---------------------------------------------------------------- */

/* The note in front of each allocation: its size, and the address that malloc gave. */
typedef struct {
  size_t bytes;
  void *whole;
} allocation;

static atomic_size_t bytes_in_use;
static atomic_long allocations_until_failure;

static bool allocation_must_fail(void) {
  if (atomic_load_explicit(&allocations_until_failure, memory_order_relaxed) <= 0) return false;
  return atomic_fetch_sub(&allocations_until_failure, 1) == 1;
}

static allocation *allocation_of(void *memory) { return (allocation *)memory - 1; }

/* malloc, and the first aligned address behind the note: much faster than aligned_alloc for small allocations. */
void *sk_alloc(size_t bytes) {
  const size_t before = sizeof(allocation) + SK_ALIGNMENT - 1;
  size_t padded;
  char *whole, *memory;
  if (bytes > SIZE_MAX - before - SK_ALIGNMENT || allocation_must_fail()) return NULL;
  padded = (bytes + SK_ALIGNMENT - 1) / SK_ALIGNMENT * SK_ALIGNMENT;
  whole = malloc(before + padded);
  if (!whole) return NULL;
  memory = whole + before - ((uintptr_t)whole + before) % SK_ALIGNMENT;
  *allocation_of(memory) = (allocation){bytes, whole};
  atomic_fetch_add_explicit(&bytes_in_use, bytes, memory_order_relaxed);
  return memory;
}

void *sk_alloc_zero(size_t bytes) {
  void *memory = sk_alloc(bytes);
  if (memory) memset(memory, 0, bytes);
  return memory;
}

void *sk_realloc(void *memory, size_t bytes) {
  void *fresh = sk_alloc(bytes);
  if (!fresh || !memory) return fresh;
  memcpy(fresh, memory, allocation_of(memory)->bytes < bytes ? allocation_of(memory)->bytes : bytes);
  sk_free(memory);
  return fresh;
}

void sk_free(void *memory) {
  if (!memory) return;
  SK_ASSERT(allocation_of(memory)->bytes <= sk_bytes_in_use());
  atomic_fetch_sub_explicit(&bytes_in_use, allocation_of(memory)->bytes, memory_order_relaxed);
  free(allocation_of(memory)->whole);
}

size_t sk_bytes_in_use(void) { return atomic_load_explicit(&bytes_in_use, memory_order_relaxed); }

long sk_fail_allocation(long n) {
  long before = atomic_exchange(&allocations_until_failure, n);
  return before > 0 ? before : 0;
}

bool sk_multiply(size_t a, size_t b, size_t *product) {
  if (a && b > SIZE_MAX / a) return false;
  *product = a * b;
  return true;
}

/* ---- a growing array ------------------------------------------------------- */

void *sk_array_room(sk_array *array, size_t count) {
  char *first;
  SK_ASSERT(array->stride > 0 && array->count <= array->capacity);
  if (!array->data || count > array->capacity - array->count) {
    size_t wanted = array->capacity + array->capacity / 2 + 16, bytes;
    void *data;
    if (count > SIZE_MAX - array->count) return NULL;
    if (wanted < array->count + count) wanted = array->count + count;
    if (!sk_multiply(wanted, array->stride, &bytes)) return NULL;
    data = sk_realloc(array->data, bytes);
    if (!data) return NULL;
    array->data = data;
    array->capacity = wanted;
  }
  first = (char *)array->data + array->count * array->stride;
  array->count += count;
  return first;
}

void *sk_array_extend(sk_array *array, size_t count) {
  void *first = sk_array_room(array, count);
  if (first) memset(first, 0, count * array->stride);
  return first;
}

void sk_array_free(sk_array *array) {
  sk_free(array->data);
  array->data = NULL;
  array->count = array->capacity = 0;
}
