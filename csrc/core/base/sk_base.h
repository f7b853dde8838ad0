/* sk_base.h: what every other file of the core uses.

   - status codes, and an error that carries a sentence for the user
   - assertions for the assumptions of our own code
   - the limits of the model format
   - an allocator that counts its bytes and that tests can make fail
   - a growing array

   Three kinds of check are kept apart. What comes from outside (arguments, files, blocks) is always checked and
   answered with a status. What our own code relies on is stated with SK_ASSERT, which only debug builds evaluate.
   Checks that walk over a whole structure of ours stand between #ifdef SK_DEBUG and #endif. */
#ifndef SK_BASE_H
#define SK_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks and files are read where they lie, and their numbers are little-endian. GCC and Clang define both macros. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "skinpy needs a little-endian processor: it reads the numbers of model blocks where they lie"
#endif

/* ---- limits: each is defined here once, with its unit and its reason ------- */

#define SK_MAX_INFLUENCES  8       /* joints a vertex may follow: two vec4 attributes on the GPU */
#define SK_MAX_SLOTS       65535u       /* palette slots of a model: vertices store them as uint16 */
#define SK_MAX_JOINTS      1048576u    /* joints of a model: 2^20, so that joint * 16 fits int32 */
#define SK_MAX_SHARED_TEXT ((uint64_t)64 << 20) /* bytes that strings may share: one name on 2^20 joints */
#define SK_ERROR_LENGTH    1024      /* bytes of an error's sentence, including the final zero */
#define SK_NONE            (-1)              /* "no such index", for every signed index */
#define SK_NONE64          UINT64_MAX      /* "no such array", for every uint64 offset of a block */

/* ---- status ---------------------------------------------------------------- */

typedef enum sk_status {
  SK_OK,
  SK_ERROR_MEMORY,   /* out of memory */
  SK_ERROR_ARGUMENT, /* bad argument */
  SK_ERROR_BLOCK,    /* broken model block */
  SK_ERROR_MISSING,  /* no such file */
  SK_ERROR_IMPORT,   /* the file cannot be imported */
  SK_ERROR_LIBRARY,  /* the import library cannot be used */
  SK_ERROR_FORMAT,   /* the file's format is not allowed */
  SK_ERROR_LIMIT,    /* the file would take more than is allowed */
  SK_ERROR_CRASHED,  /* the import ended without an answer */
  SK_STATUS_COUNT
} sk_status;

/* A status and the sentence that explains it: which thing is wrong, which value it has, and what was expected. The
   caller owns the struct. */
typedef struct sk_error {
  sk_status status;
  char message[SK_ERROR_LENGTH];
} sk_error;

/* Writes `status` and the formatted sentence into `error`, which may be NULL, and returns `status`, so that a check
   reads `return sk_fail(error, SK_ERROR_BLOCK, "...")`. A sentence that is too long is cut. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
sk_status sk_fail(sk_error *error, sk_status status, const char *format, ...);

/* SK_ERROR_MEMORY, with the number of bytes that could not be allocated. */
sk_status sk_fail_memory(sk_error *error, size_t bytes);

/* ---- assertions ------------------------------------------------------------ */

/* States an assumption of our own code. A debug build (SKINPY_DEBUG=1, or any sanitizer) ends the process with the
   place and the condition where the assumption is wrong; other builds do not evaluate the condition, so that it may
   not have side effects. Never use this for input: that gets an error. */
#ifdef SK_DEBUG
#define SK_ASSERT(condition) ((condition) ? (void)0 : sk_assertion_failed(#condition, __FILE__, __LINE__))
#else
#define SK_ASSERT(condition) ((void)sizeof(condition))
#endif

/* Prints the failed assumption to stderr and aborts. Called by SK_ASSERT only. */
_Noreturn void sk_assertion_failed(const char *condition, const char *file, int line);

/* ---- memory ---------------------------------------------------------------- */

#define SK_ALIGNMENT 64 /* bytes: a cache line, and the widest vector register */

/* Memory aligned to SK_ALIGNMENT bytes, which only sk_free may free. The contents are undefined after sk_alloc and
   zero after sk_alloc_zero. Returns NULL if there is no memory; a request of 0 bytes gives a valid pointer. */
void *sk_alloc(size_t bytes);
void *sk_alloc_zero(size_t bytes);

/* Changes the size of an allocation and returns its new address; `memory` may be NULL. The first min(old, new) bytes
   keep their contents. On failure the result is NULL and the old allocation stays valid. */
void *sk_realloc(void *memory, size_t bytes);

/* Frees an allocation; NULL is allowed. */
void sk_free(void *memory);

/* Bytes that are allocated at present, over all threads. Tests compare this before and after. */
size_t sk_bytes_in_use(void);
/* For tests: makes the n-th allocation from now (1 = the next) fail, once; 0 switches this off. Returns how many
   allocations were still to come before the failure that an earlier call asked for; 0 if it has happened, or if none
   was asked for. */
long sk_fail_allocation(long n);

/* *product = a * b. False, with *product unchanged, if the product does not fit size_t. */
bool sk_multiply(size_t a, size_t b, size_t *product);

/* ---- a growing array ------------------------------------------------------- */

/* A growing array of elements of one size. It owns `data`; free it with sk_array_free. Make an empty one with
   SK_ARRAY(type). */
typedef struct sk_array {
  void *data;
  size_t count, capacity;
  size_t stride; /* bytes of one element */
} sk_array;

#define SK_ARRAY(type) ((sk_array){NULL, 0, 0, sizeof(type)})

/* Appends `count` zeroed elements and returns the first of them, which stays valid until the next call. NULL, with the
   array unchanged, if there is no memory. */
void *sk_array_extend(sk_array *array, size_t count);

/* Like sk_array_extend, but the new elements are undefined: for callers that write them at once. */
void *sk_array_room(sk_array *array, size_t count);

/* Frees the elements and leaves an empty array of the same element size. */
void sk_array_free(sk_array *array);

#endif
