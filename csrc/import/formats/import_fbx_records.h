/* import_fbx_records.h: the records of an FBX file, binary or text.

   Both forms are the same tree of records: a name, values, and a list of records or none. Nothing here keeps more than
   offsets into the bytes of the file, and no number of the file is trusted. The binary form is described at
   https://code.blender.org/2013/08/fbx-binary-file-format-specification */
#ifndef IMPORT_FBX_RECORDS_H
#define IMPORT_FBX_RECORDS_H

#include "../import_bytes.h"
#include "../import_job.h"

typedef struct fbx_file {
  const uint8_t *data;
  size_t size;
  size_t width;     /* bytes of each number in the head of a record; 0: the file is text */
  bool big_endian;  /* the highest byte of a number comes first */
  uint32_t version; /* 7400 is 7.4; 0 if the file does not tell */
} fbx_file;

typedef struct fbx_record {
  const char *name;
  size_t length;             /* bytes of the name */
  size_t values, values_end; /* offsets of its values */
  size_t inside, inside_end; /* offsets of the list of records inside it; equal if there is none */
  size_t end;                /* offset of what follows the record */
  uint32_t count;            /* number of its values; unknown for text */
} fbx_record;

typedef struct fbx_value {
  const char *text; /* NULL: the value is a number */
  size_t length;    /* bytes of the text */
  double number;
  int64_t whole;    /* the number as an integer, such as the id of an object */
} fbx_value;

/* The numbers of an array, converted to double. */
typedef struct fbx_numbers {
  double *values; /* owned; NULL if count is 0 */
  size_t count;
} fbx_numbers;

fbx_file fbx_open_file(const import_source *source);
/* Offset of the first record. */
size_t fbx_first(const fbx_file *file);

/* Reads the record at `at`. False at the end of the list, and if the record does not end before `limit`. */
bool fbx_read_record(const fbx_file *file, size_t at, size_t limit, fbx_record *record);
/* Finds the first record of that name in the list at `at`. */
bool fbx_find(const fbx_file *file, size_t at, size_t limit, const char *name, fbx_record *record);
/* Finds a record at the top of the file, from offset `at` on. In a text, the end of the record is not looked for. */
bool fbx_enter(const fbx_file *file, size_t at, const char *name, fbx_record *record);
/* Offset of what follows a record of fbx_enter, of whose list nothing is left at `at`. */
size_t fbx_behind_list(const fbx_file *file, const fbx_record *list, size_t at);

bool fbx_is_named(const fbx_record *record, const char *name);
bool fbx_text_is(const fbx_value *value, const char *text);

/* The value at `*at`, which begins as record->values and moves on; false behind the last one. */
bool fbx_next_value(const fbx_file *file, const fbx_record *record, size_t *at, fbx_value *value);
/* Texts escape a few characters, such as "&quot;". Replaces them in place, and returns the new length. */
size_t fbx_unescape(char *text, size_t length);
/* Reads up to `max_count` values and returns their number; of an array only its first number. */
size_t fbx_read_values(const fbx_file *file, const fbx_record *record, fbx_value *values, size_t max_count);
/* Reads all numbers of an array, plain or deflated, or of a record whose values are numbers. What cannot be read
   counts as no numbers. Fails only if there is no memory. */
sk_status fbx_read_numbers(import_job *job, const fbx_file *file, const fbx_record *record, fbx_numbers *numbers);
/* The same for integers of up to 64 bits: an array of int64_t, which the caller frees. */
sk_status fbx_read_wholes(import_job *job, const fbx_file *file, const fbx_record *record, sk_array *wholes);
/* The same for 32-bit numbers whose bits matter: floats that hold packed integers. In a text, a number without a point
   gives the bits themselves. An array of uint32_t, which the caller frees. */
sk_status fbx_read_bits(import_job *job, const fbx_file *file, const fbx_record *record, sk_array *bits);
/* The same for the record of that name in the list of an object. */
sk_status fbx_find_numbers(import_job *job, const fbx_file *file, size_t inside, size_t inside_end, const char *name,
                           fbx_numbers *numbers);
void fbx_free_numbers(fbx_numbers *numbers);

#endif
