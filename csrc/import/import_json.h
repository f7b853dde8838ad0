/* import_json.h: a JSON text as a list of tokens, numbered in the order of the text.

   A token is known by its number. -1 stands for a token that does not exist, and every function takes it and answers
   as for an empty value; so chains of json_member need no checks in between. */
#ifndef IMPORT_JSON_H
#define IMPORT_JSON_H

#include "../core/base/sk_base.h"
#include "../core/model/sk_block.h"

typedef struct json {
  const char *text; /* not owned */
  void *tokens;     /* jsmntok_t */
  int32_t *next;    /* of each token: the token behind it and all that it holds */
  int32_t count;
} json;

/* Fails with SK_ERROR_IMPORT and the byte at which the text stops being JSON. `text` must not move until json_close. */
sk_status json_open(json *j, const char *text, size_t length, sk_error *error);
void json_close(json *j);

int32_t json_member(const json *j, int32_t object, const char *key); /* the value, or -1 */
int32_t json_first(const json *j, int32_t array);                    /* the first element, or -1 */
int32_t json_after(const json *j, int32_t array, int32_t element);   /* the next element, or -1 */
int32_t json_length(const json *j, int32_t array);                   /* 0 where it is not an array */
int32_t json_size(const json *j, int32_t object);                    /* pairs; 0 where it is not an object */
int32_t json_first_key(const json *j, int32_t object);               /* the first key, or -1; its value is key + 1 */
int32_t json_key_after(const json *j, int32_t object, int32_t key);  /* the next key, or -1 */
bool json_is_object(const json *j, int32_t token);
bool json_is_string(const json *j, int32_t token);
bool json_equals(const json *j, int32_t token, const char *word);
bool json_truth(const json *j, int32_t token);
double json_number(const json *j, int32_t token, double fallback);
/* `count` numbers of an array of just that length; false leaves `out` as it is. */
bool json_numbers(const json *j, int32_t array, double *out, int32_t count);
/* A whole number from 0 to 2^53, else `fallback`. */
int64_t json_index(const json *j, int32_t token, int64_t fallback);
/* The bytes between the quotes, as they stand in the text. */
const char *json_raw(const json *j, int32_t token, size_t *length);
/* A string with its escapes decoded, appended to a pool of strings; false where there is no memory. */
bool json_text(const json *j, int32_t token, sk_array *pool, sk_text *text);
/* Appends a value to an array of char, as strict JSON, although the tokenizer accepts more than that. -1 becomes null.
   False: there is no memory. */
bool json_write(const json *j, int32_t token, sk_array *out);

#endif
