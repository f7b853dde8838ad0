/* import_text.h: strings, hashes and tables of names. */
#ifndef IMPORT_TEXT_H
#define IMPORT_TEXT_H

#include "../core/model/sk_block.h"

typedef struct import_job import_job;

typedef struct import_span { /* of a text that somebody else owns */
  const char *at;            /* may be NULL where the length is 0 */
  size_t length;
} import_span;

/* The bytes of a span for "%.*s" in a message: at most 80. */
#define IMPORT_SHORT(span) (int)((span).length < 80 ? (span).length : 80), (span).length ? (span).at : ""

/* Fails with SK_ERROR_MEMORY; returns it. */
sk_status import_no_memory(import_job *job, size_t bytes);

/* Appends a text to job->model.text; SK_ERROR_MEMORY as above. */
sk_status import_add_text(import_job *job, import_span text, sk_text *out);
/* A copy that ends in a zero byte, to be freed with sk_free; NULL where there is no memory. */
char *import_copy_text(const char *bytes, size_t length);
/* 0 to 15; -1: it is none. */
int import_hex_digit(char c);
/* Decodes %xx within the text, %00 only where `zeros` says so; returns the new length. */
size_t import_decode_percent(char *text, size_t length, bool zeros);
/* Decodes up to the first character that is not allowed in base64, and returns the number of bytes; `out` has room for
   length / 4 * 3 + 3 of them, and may be `at`. */
size_t import_decode_base64(const unsigned char *at, size_t length, uint8_t *out);
/* A decimal number, whatever the user's locale; NAN where the text is not one. The first 18 digits count. */
double import_decimal(const char *text, size_t length);
/* The same of a word of at most 64 bytes with a comma for the point, as people of some countries write numbers. */
double import_comma_decimal(import_span word);
/* 10 to the power of a whole number that is not negative; exact up to 22. */
double import_power_of_ten(int power);
uint64_t import_hash(const void *bytes, size_t length);

/* ---- blanks in names ---------------------------------------------------------- */

/* Some of Assimp's readers end a name at its first blank. While they read, this byte stands for it. */
#define IMPORT_BLANK '\x1f'
/* Puts the blanks back, where job->blanks_hidden says that they were replaced. */
void import_show_blanks(const import_job *job, char *name, size_t length);

/* ---- tables of names ------------------------------------------------------------ */

typedef struct import_name {
  const char *bytes; /* not owned; NULL: the slot is empty */
  uint32_t length, index;
} import_name;

typedef struct import_names { /* open addressing: the first index of each name; all 0 is an empty table */
  import_name *slots;
  size_t mask; /* slots - 1 */
} import_names;

/* Room for `count` names; false where there is no memory. The table is freed with import_names_free. */
bool import_names_make(import_names *names, size_t count);
/* The index that already has the name, else `index`, which is stored. The bytes must outlive the table. */
uint32_t import_names_add(import_names *names, const char *name, size_t length, uint32_t index);
/* The index, or SK_NONE. */
int64_t import_names_find(const import_names *names, const char *name, size_t length);
void import_names_free(import_names *names);

#endif
