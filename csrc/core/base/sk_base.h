/* sk_base.h: what every other file stands on.

   Status codes, an error that carries a sentence, the limits of the format, and
   an allocator that counts its bytes and can be told to fail (for tests). */
#ifndef SK_BASE_H
#define SK_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- limits: each stands here once, with its unit and its reason ---------- */

#define SK_MAX_INFLUENCES 8       /* joints a vertex may follow: two vec4 attributes on the GPU */
#define SK_MAX_SLOTS 65535u       /* palette slots of a model: vertices store them as uint16 */
#define SK_MAX_JOINTS 1048576u    /* joints of a model: 2^20, so that joint * 16 fits int32 */
#define SK_SHARED_TEXT ((uint64_t)64 << 20) /* bytes that strings may share: a name on 2^20 joints */
#define SK_ERROR_LENGTH 1024      /* bytes of an error's sentence, with its ending zero */
#define SK_NONE (-1)              /* "no such index", for every signed index */
#define SK_NONE64 UINT64_MAX      /* "no such array", for every uint64 offset of a block */

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

/* A status and the sentence that explains it: the thing, the value, the wish. */
typedef struct sk_error {
  sk_status status;
  char message[SK_ERROR_LENGTH];
} sk_error;

/* Writes status and sentence into `error` (which may be NULL) and returns status,
   so that a check reads `return sk_fail(error, SK_ERROR_BLOCK, "...")`. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
sk_status sk_fail(sk_error *error, sk_status status, const char *format, ...);

/* SK_ERROR_MEMORY with the number of bytes that could not be had. */
sk_status sk_fail_memory(sk_error *error, size_t bytes);

/* ---- memory ---------------------------------------------------------------- */

/* Memory aligned to SK_ALIGNMENT bytes, freed by sk_free alone. NULL when there is none;
   a request of 0 bytes gives a valid pointer. */
#define SK_ALIGNMENT 64
void *sk_alloc(size_t bytes);
void *sk_alloc_zero(size_t bytes);
/* Keeps the first min(old, new) bytes; on failure the old memory stays as it is. */
void *sk_realloc(void *memory, size_t bytes);
void sk_free(void *memory);

/* Bytes handed out and not yet freed, over all threads. */
size_t sk_bytes_in_use(void);
/* The n-th allocation from now (1 = the next) fails, once; 0 switches that off. Gives the number that was still
   to come before one failed, 0 where one has failed or none was to. For tests. */
long sk_fail_allocation(long n);

/* a * b, or false where that does not fit size_t. */
bool sk_multiply(size_t a, size_t b, size_t *product);

/* ---- a growing array ------------------------------------------------------- */

/* Elements of one size, appended one after another. Zero-initialize all but `stride`. */
typedef struct sk_array {
  void *data;
  size_t count, capacity;
  size_t stride; /* bytes of one element */
} sk_array;

#define SK_ARRAY(type) ((sk_array){NULL, 0, 0, sizeof(type)})

/* Room for `count` more elements, zeroed, counted in; NULL when there is no memory.
   The pointer holds until the next call. */
void *sk_array_extend(sk_array *array, size_t count);
/* The same, not zeroed: for what is written at once. */
void *sk_array_room(sk_array *array, size_t count);
void sk_array_free(sk_array *array);

#endif
