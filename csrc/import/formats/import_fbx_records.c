/* import_fbx_records.c: see import_fbx_records.h. In a text, a record is `Name: value, value { records }`, where values
   and braces may be missing. */
#include "import_fbx_records.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define ENDIAN_BYTE       22 /* offset in a binary file: 1 if numbers have their highest byte first */
#define VERSION_BYTES     23 /* offset of the version */
#define FIRST_RECORD      27 /* offset of the first record */
#define TEXT_BITS_VERSION 7200u /* from this version on, texts write the attributes of keys as bits of floats */
#define WIDE_VERSION      7500u /* from this version on, the numbers of a record's head have 8 bytes */
#define BLOCK             64 /* bytes of a text that are looked at together */
#define MAX_DEFLATED      1032 /* bytes that one byte of deflated data may become */

static bool is_binary(const import_source *file) {
  return file->size > 20 && !memcmp(file->data, "Kaydara FBX Binary", 18);
}

/* A number of `bytes` bytes at `at`, which is there. */
static uint64_t number_at(const fbx_file *file, size_t at, size_t bytes) {
  uint64_t number = 0;
  size_t i;
  if (!file->big_endian) return import_number(file->data + at, bytes);
  for (i = 0; i < bytes; i++) number = number << 8 | file->data[at + i];
  return number;
}

/* A text says its version in the header: "FBXVersion: 7400". */
static uint32_t version_of_text(const fbx_file *file) {
  fbx_record header, record;
  fbx_value value;
  if (!fbx_enter(file, 0, "FBXHeaderExtension", &header)) return 0;
  if (!fbx_find(file, header.inside, file->size, "FBXVersion", &record)) return 0;
  return fbx_read_values(file, &record, &value, 1) && value.whole > 0 && value.whole < 100000 ? (uint32_t)value.whole
                                                                                              : 0;
}

fbx_file fbx_open_file(const import_source *source) {
  fbx_file file = {source->data, source->size, 0, false, 0};
  if (!is_binary(source)) {
    file.version = version_of_text(&file);
    return file;
  }
  if (file.size < FIRST_RECORD) file.size = 0;
  file.big_endian = file.size && file.data[ENDIAN_BYTE] == 1;
  file.version = file.size ? (uint32_t)number_at(&file, VERSION_BYTES, 4) : 0;
  file.width = file.version >= WIDE_VERSION ? 8 : 4;
  return file;
}

size_t fbx_first(const fbx_file *file) { return file->width ? FIRST_RECORD : 0; }

/* ---- binary -------------------------------------------------------------------------- */

static bool read_binary(const fbx_file *file, size_t at, size_t limit, fbx_record *record) {
  size_t width = file->width, head = 3 * width + 1;
  uint64_t end, values;
  if (at > limit || limit - at < head) return false;
  end = number_at(file, at, width);
  values = number_at(file, at + 2 * width, width);
  record->count = (uint32_t)number_at(file, at + width, width);
  record->name = (const char *)file->data + at + head;
  record->length = file->data[at + head - 1];
  at += head + record->length;
  if (!end && record->length) end = at + values; /* some writers leave the end of records without a list at 0 */
  if (end > limit || end < at || values > end - at) return false;
  record->values = at;
  record->inside = record->values_end = at + (size_t)values;
  record->inside_end = record->end = (size_t)end;
  return true;
}

static double real_of(uint64_t bits, size_t width) {
  double wide;
  memcpy(&wide, &bits, sizeof wide);
  return width == 4 ? import_float_of((uint32_t)bits) : wide;
}

/* The number of a type at `at`, which is there. */
static fbx_value binary_number(const fbx_file *file, size_t at, char type, size_t width) {
  uint64_t bits = number_at(file, at, width);
  uint64_t sign = (uint64_t)1 << (8 * width - 1);
  fbx_value value = {.whole = (int64_t)((bits ^ sign) - sign)};
  bool real = type == 'F' || type == 'D' || type == 'f' || type == 'd';
  value.number = real ? real_of(bits, width) : (double)value.whole;
  if (real) value.whole = 0;
  return value;
}

static size_t width_of(char type) {
  switch (type) {
  case 'C':
  case 'B':
  case 'Z': /* a byte; files with audio have it */
  case 'b':
  case 'c': return 1;
  case 'Y': return 2;
  case 'I':
  case 'F':
  case 'i':
  case 'f': return 4;
  case 'L':
  case 'D':
  case 'l':
  case 'd': return 8;
  default: return 0;
  }
}

/* Whether the type is that of an array, which has its own head: count, encoding, bytes. */
static bool is_array(char type) { return type >= 'a' && width_of(type); }

/* Reads one value at `*at`, which is moved behind it. Of an array the first number, unless it is deflated. */
static bool binary_value(const fbx_file *file, size_t *at, size_t end, fbx_value *value) {
  char type = *at < end ? (char)file->data[*at] : 0;
  size_t width = width_of(type), first = *at + 1, bytes = width;
  *value = (fbx_value){0};
  if (type == 'S' || type == 'R') {
    if (end - first < 4) return false;
    bytes = (size_t)number_at(file, first, 4);
    first += 4;
    value->text = (const char *)file->data + first;
    value->length = bytes;
  } else if (is_array(type)) {
    if (end - first < 12 || !number_at(file, first, 4) || number_at(file, first + 4, 4)) return false;
    bytes = (size_t)number_at(file, first + 8, 4);
    first += 12;
  }
  if ((!width && !value->text) || bytes > end - first || bytes < width) return false;
  if (width) *value = binary_number(file, first, type, width);
  *at = first + bytes;
  return true;
}

/* ---- text ------------------------------------------------------------------------------ */

enum { ENDS_WORD = 1, ENDS_SCAN = 2 };

static const uint8_t marks[256] = {[','] = ENDS_WORD,
                                   [':'] = ENDS_WORD,
                                   [';'] = ENDS_WORD | ENDS_SCAN,
                                   ['"'] = ENDS_WORD | ENDS_SCAN,
                                   ['{'] = ENDS_WORD | ENDS_SCAN,
                                   ['}'] = ENDS_WORD | ENDS_SCAN};

static size_t skip_comment(const fbx_file *file, size_t at, size_t limit) {
  while (at < limit && file->data[at] != '\n' && file->data[at] != '\r') at++;
  return at;
}

/* The place behind the quotation mark that closes the string at `at`. */
static size_t skip_string(const fbx_file *file, size_t at, size_t limit) {
  const uint8_t *close = at + 1 < limit ? memchr(file->data + at + 1, '"', limit - at - 1) : NULL;
  return close ? (size_t)(close - file->data) + 1 : limit;
}

static size_t skip_blank(const fbx_file *file, size_t at, size_t limit) {
  for (; at < limit; at++) {
    if (file->data[at] == ';') at = skip_comment(file, at, limit);
    if (at == limit || file->data[at] > ' ') break;
  }
  return at;
}

static size_t skip_word(const fbx_file *file, size_t at, size_t limit) {
  while (at < limit && file->data[at] > ' ' && !(marks[file->data[at]] & ENDS_WORD)) at++;
  return at;
}

/* Most of a text are numbers: so many bytes at once. */
static bool has_mark(const uint8_t *at) {
  uint8_t found = 0;
  int i;
  for (i = 0; i < BLOCK; i++) found |= (uint8_t)((at[i] == '"') | (at[i] == ';') | (at[i] == '{') | (at[i] == '}'));
  return found;
}

static size_t next_mark(const fbx_file *file, size_t at, size_t limit) {
  while (limit - at >= BLOCK && !has_mark(file->data + at)) at += BLOCK;
  while (at < limit && !(marks[file->data[at]] & ENDS_SCAN)) at++;
  return at;
}

/* The brace that closes the list whose records begin at `at`, or `limit`. */
static size_t skip_list(const fbx_file *file, size_t at, size_t limit) {
  size_t depth = 1;
  while ((at = next_mark(file, at, limit)) < limit) {
    uint8_t c = file->data[at];
    if (c == '"') at = skip_string(file, at, limit);
    else if (c == ';') at = skip_comment(file, at, limit);
    else if (c == '}' && !--depth) break;
    else depth += c == '{', at++;
  }
  return at;
}

/* The place behind a record's values: they are separated by commas, and a word before a colon is the next name. */
static size_t skip_values(const fbx_file *file, size_t at, size_t limit) {
  size_t first = skip_blank(file, at, limit);
  if (first < limit && file->data[first] == ',') at = first + 1; /* an image begins with a comma */
  for (;;) {
    size_t from = skip_blank(file, at, limit), end;
    bool quoted = from < limit && file->data[from] == '"';
    end = quoted ? skip_string(file, from, limit) : skip_word(file, from, limit);
    if (end == from || (!quoted && end < limit && file->data[end] == ':')) return at;
    at = skip_blank(file, end, limit);
    if (at == limit || file->data[at] != ',') return end;
    at++;
  }
}

/* A record without what is in it, which begins at `inside`, or is nothing. */
static bool read_head(const fbx_file *file, size_t at, size_t limit, fbx_record *record) {
  size_t from = skip_blank(file, at, limit), end = skip_word(file, from, limit);
  if (end == from || end == limit || file->data[end] != ':') return false;
  *record = (fbx_record){.name = (const char *)file->data + from, .length = end - from};
  record->values = end + 1;
  record->values_end = skip_values(file, record->values, limit);
  at = skip_blank(file, record->values_end, limit);
  record->inside = record->inside_end = record->end = record->values_end;
  if (at == limit || file->data[at] != '{') return true;
  record->inside = at + 1;
  record->inside_end = record->end = limit;
  return true;
}

static bool read_text(const fbx_file *file, size_t at, size_t limit, fbx_record *record) {
  if (!read_head(file, at, limit, record)) return false;
  if (record->inside == record->values_end) return true;
  record->inside_end = skip_list(file, record->inside, limit);
  record->end = record->inside_end + (record->inside_end < limit);
  return true;
}

/* Numbers up to 2^63 are whole; what is none counts as 0. */
static int64_t whole_of(const char *text, size_t length) {
  bool negative = length && *text == '-';
  uint64_t number = 0;
  size_t i;
  for (i = negative; i < length && text[i] >= '0' && text[i] <= '9'; i++)
    number = 10 * number + (uint64_t)(text[i] - '0');
  return (int64_t)(negative ? 0 - number : number);
}

static bool text_value(const fbx_file *file, size_t *at, size_t end, fbx_value *value) {
  size_t from = skip_blank(file, *at, end), behind;
  const char *text;
  double number;
  if (from < end && file->data[from] == ',') from = skip_blank(file, from + 1, end);
  text = (const char *)file->data + from;
  if (from < end && *text == '"') {
    behind = skip_string(file, from, end);
    *value = (fbx_value){.text = text + 1, .length = behind - from < 2 ? 0 : behind - from - 2};
  } else {
    behind = skip_word(file, from, end);
    if (behind == from) return false;
    number = import_decimal(text, behind - from);
    *value = (fbx_value){.number = isnan(number) ? 0.0 : number, .whole = whole_of(text, behind - from)};
  }
  *at = skip_blank(file, behind, end);
  if (*at < end && file->data[*at] == ',') ++*at;
  return true;
}

/* ---- both -------------------------------------------------------------------------------- */

bool fbx_read_record(const fbx_file *file, size_t at, size_t limit, fbx_record *record) {
  return file->width ? read_binary(file, at, limit, record) : read_text(file, at, limit, record);
}

bool fbx_is_named(const fbx_record *record, const char *name) {
  return record->length == strlen(name) && !memcmp(record->name, name, record->length);
}

bool fbx_text_is(const fbx_value *value, const char *word) {
  return value->text && value->length == strlen(word) && !memcmp(value->text, word, value->length);
}

bool fbx_find(const fbx_file *file, size_t at, size_t limit, const char *name, fbx_record *record) {
  for (; fbx_read_record(file, at, limit, record); at = record->end)
    if (fbx_is_named(record, name)) return true;
  return false;
}

bool fbx_enter(const fbx_file *file, size_t at, const char *name, fbx_record *record) {
  for (; (file->width ? read_binary : read_head)(file, at, file->size, record); at = record->end) {
    if (fbx_is_named(record, name)) return true;
    if (!fbx_read_record(file, at, file->size, record)) return false;
  }
  return false;
}

size_t fbx_behind_list(const fbx_file *file, const fbx_record *list, size_t at) {
  if (file->width) return list->end;
  at = skip_list(file, at, file->size);
  return at + (at < file->size);
}

size_t fbx_read_values(const fbx_file *file, const fbx_record *record, fbx_value *values, size_t max_count) {
  size_t at = record->values, count = 0;
  fbx_record array;
  if (!file->width && fbx_find(file, record->inside, record->inside_end, "a", &array)) {
    record = &array; /* "*1 { a: 100 }" */
    at = array.values;
  }
  if (file->width && record->count < max_count) max_count = record->count;
  while (count < max_count && (file->width ? binary_value : text_value)(file, &at, record->values_end, &values[count]))
    count++;
  return count;
}

bool fbx_next_value(const fbx_file *file, const fbx_record *record, size_t *at, fbx_value *value) {
  return (file->width ? binary_value : text_value)(file, at, record->values_end, value);
}

size_t fbx_unescape(char *text, size_t length) {
  static const struct {
    const char *word;
    char meant;
  } table[] = {{"&quot;", '"'}, {"&cr;", '\r'}, {"&lf;", '\n'}};
  size_t from = 0, to = 0, i;
  while (from < length) {
    size_t taken = 1;
    char c = text[from];
    for (i = 0; c == '&' && i < sizeof table / sizeof *table; i++) {
      size_t word = strlen(table[i].word);
      if (word <= length - from && !memcmp(text + from, table[i].word, word)) c = table[i].meant, taken = word;
    }
    text[to++] = c;
    from += taken;
  }
  return to;
}

/* ---- arrays ------------------------------------------------------------------------------ */

/* The bytes of an array in a binary file. */
typedef struct binary_array {
  fbx_file bytes; /* of the numbers, deflated ones after inflating; the endianness of the file */
  size_t count, width;
  char type;
  void *owned; /* NULL: the bytes are those of the file */
} binary_array;

/* Inflates `size` bytes to exactly `full` bytes; NULL in *out if they are something else. False without memory. */
static bool inflate_array(const uint8_t *data, size_t size, size_t full, void **out) {
  uLongf written = (uLongf)full;
  *out = NULL;
  if (full / MAX_DEFLATED > size || full > IMPORT_MAX_BYTES) return true;
  *out = sk_alloc(full);
  if (!*out) return false;
  if (uncompress(*out, &written, data, (uLong)size) == Z_OK && written == full) return true;
  sk_free(*out);
  *out = NULL;
  return true;
}

/* Finds the array that a record has as its value; `count` is 0 if there is none, or if it is broken. */
static sk_status open_array(import_job *job, const fbx_file *file, const fbx_record *record, binary_array *array) {
  size_t at = record->values, bytes, full;
  *array = (binary_array){.bytes = *file};
  if (at >= record->values_end || !is_array((char)file->data[at]) || record->values_end - at < 13) return SK_OK;
  array->type = (char)file->data[at];
  array->width = width_of(array->type);
  full = (size_t)number_at(file, at + 1, 4) * array->width;
  bytes = (size_t)number_at(file, at + 9, 4);
  if (bytes > record->values_end - at - 13) return SK_OK;
  array->bytes.data = file->data + at + 13;
  if (number_at(file, at + 5, 4) == 1) {
    if (!inflate_array(array->bytes.data, bytes, full, &array->owned)) return import_no_memory(job, full);
    if (!array->owned) return SK_OK;
    array->bytes.data = array->owned;
  } else if (bytes < full) {
    return SK_OK;
  }
  array->count = full / array->width;
  return SK_OK;
}

static sk_status read_binary_numbers(import_job *job, const fbx_file *file, const fbx_record *record,
                                     fbx_numbers *numbers) {
  binary_array array;
  sk_status status = open_array(job, file, record, &array);
  size_t i;
  if (!status && array.count) {
    numbers->values = sk_alloc(array.count * sizeof(double));
    if (!numbers->values) status = import_no_memory(job, array.count * sizeof(double));
    else numbers->count = array.count;
  }
  for (i = 0; i < numbers->count; i++)
    numbers->values[i] = binary_number(&array.bytes, i * array.width, array.type, array.width).number;
  sk_free(array.owned);
  return status;
}

/* The numbers of a text stand in a list "a: ..." of the record, or are its values. */
static fbx_record numbers_of_text(const fbx_file *file, const fbx_record *record) {
  fbx_record list;
  return fbx_find(file, record->inside, record->inside_end, "a", &list) ? list : *record;
}

static sk_status read_text_numbers(import_job *job, const fbx_file *file, const fbx_record *record,
                                   fbx_numbers *numbers) {
  fbx_record list = numbers_of_text(file, record);
  sk_array values = SK_ARRAY(double);
  size_t at = list.values;
  fbx_value value;
  while (text_value(file, &at, list.values_end, &value)) {
    double *added = sk_array_room(&values, 1);
    if (!added) {
      sk_array_free(&values);
      return import_no_memory(job, sizeof *added);
    }
    *added = value.text ? 0.0 : value.number;
  }
  *numbers = (fbx_numbers){values.data, values.count};
  return SK_OK;
}

sk_status fbx_read_numbers(import_job *job, const fbx_file *file, const fbx_record *record, fbx_numbers *numbers) {
  *numbers = (fbx_numbers){0};
  return (file->width ? read_binary_numbers : read_text_numbers)(job, file, record, numbers);
}

/* Times may need all 64 bits, so that they are kept as integers; see import_fbx_curve.c. */
sk_status fbx_read_wholes(import_job *job, const fbx_file *file, const fbx_record *record, sk_array *wholes) {
  fbx_record list = file->width ? *record : numbers_of_text(file, record);
  binary_array array = {0};
  sk_status status = file->width ? open_array(job, file, record, &array) : SK_OK;
  size_t at = list.values, i;
  fbx_value value;
  int64_t *added;
  *wholes = SK_ARRAY(int64_t);
  for (i = 0; !status; i++) {
    if (file->width && i == array.count) break;
    if (file->width) value = binary_number(&array.bytes, i * array.width, array.type, array.width);
    else if (!text_value(file, &at, list.values_end, &value)) break;
    added = sk_array_room(wholes, 1);
    if (added) *added = value.whole;
    else status = import_no_memory(job, sizeof *added);
  }
  sk_free(array.owned);
  return status;
}

sk_status fbx_read_bits(import_job *job, const fbx_file *file, const fbx_record *record, sk_array *bits) {
  fbx_record list = file->width ? *record : numbers_of_text(file, record);
  binary_array array = {0};
  sk_status status = file->width ? open_array(job, file, record, &array) : SK_OK;
  size_t at = list.values, i;
  fbx_value value;
  uint32_t *added;
  float number;
  *bits = SK_ARRAY(uint32_t);
  for (i = 0; !status; i++) {
    if (file->width && (i == array.count || array.width != 4)) break;
    added = sk_array_extend(bits, 1);
    if (!added) status = import_no_memory(job, sizeof *added);
    else if (file->width) *added = (uint32_t)number_at(&array.bytes, 4 * i, 4);
    if (status || file->width) continue;
    if (!text_value(file, &at, list.values_end, &value)) {
      bits->count--;
      break;
    }
    number = (float)value.number;
    if (file->version && file->version < TEXT_BITS_VERSION) memcpy(added, &number, sizeof number);
    else *added = (uint32_t)value.whole;
  }
  sk_free(array.owned);
  return status;
}

sk_status fbx_find_numbers(import_job *job, const fbx_file *file, size_t inside, size_t inside_end, const char *name,
                           fbx_numbers *numbers) {
  fbx_record record;
  *numbers = (fbx_numbers){0};
  if (!fbx_find(file, inside, inside_end, name, &record)) return SK_OK;
  return fbx_read_numbers(job, file, &record, numbers);
}

void fbx_free_numbers(fbx_numbers *numbers) {
  sk_free(numbers->values);
  *numbers = (fbx_numbers){0};
}
