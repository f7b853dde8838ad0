/* import_fbx.c: the records of an FBX file, binary or text.

   A binary file is a tree of records, each of which says where it ends, and what it holds stands behind its
   values: https://code.blender.org/2013/08/fbx-binary-file-format-specification
   In a text a record is `Name: value, value { records }`, where values and braces may be missing. */
#include <math.h>
#include <string.h>

#include "../import_bytes.h"
#include "import_fbx.h"

#define FIRST_RECORD    27 /* behind the magic, two bytes and the version */
#define WIDE_VERSION    7500u /* from here on numbers of a record take 8 bytes */
#define BLOCK           64           /* bytes of a text */
#define PROPERTY_VALUES 7  /* name, type, label, flags, and three numbers */

bool fbx_is_binary(const import_source *file) {
  return file->size > 20 && !memcmp(file->data, "Kaydara FBX Binary", 18);
}

fbx_file fbx_open(const import_source *source) {
  fbx_file file = {source->data, source->size, 0};
  if (!fbx_is_binary(source)) return file;
  if (file.size < FIRST_RECORD) file.size = 0;
  file.width = file.size && import_number(file.data + FIRST_RECORD - 4, 4) >= WIDE_VERSION ? 8 : 4;
  return file;
}

size_t fbx_first(const fbx_file *file) { return file->width ? FIRST_RECORD : 0; }

/* ---- binary -------------------------------------------------------------------------- */

static bool read_binary(const fbx_file *file, size_t at, size_t limit, fbx_record *record) {
  size_t width = file->width, head = 3 * width + 1;
  uint64_t end, values;
  if (at > limit || limit - at < head) return false;
  end = import_number(file->data + at, width);
  values = import_number(file->data + at + 2 * width, width);
  record->count = (uint32_t)import_number(file->data + at + width, 4);
  record->name = (const char *)file->data + at + head;
  record->length = file->data[at + head - 1];
  at += head + record->length;
  if (end > limit || end < at || values > end - at) return false;
  record->values = at;
  record->inside = record->values_end = at + (size_t)values;
  record->inside_end = record->end = (size_t)end;
  return true;
}

static double real_of(uint64_t bits, size_t width) {
  uint32_t half = (uint32_t)bits;
  float narrow;
  double wide;
  memcpy(&narrow, &half, sizeof narrow);
  memcpy(&wide, &bits, sizeof wide);
  return width == 4 ? (double)narrow : wide;
}

/* The number of a type at `at`, which is there. */
static fbx_value binary_number(const fbx_file *file, size_t at, char type, size_t width) {
  uint64_t bits = import_number(file->data + at, width);
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

/* One value at `*at`, which moves behind it. Of an array the first number, where it is not compressed. */
static bool binary_value(const fbx_file *file, size_t *at, size_t end, fbx_value *value) {
  char type = *at < end ? (char)file->data[*at] : 0;
  size_t width = width_of(type), place = *at + 1, bytes = width;
  *value = (fbx_value){0};
  if (type == 'S' || type == 'R') {
    if (end - place < 4) return false;
    bytes = (size_t)import_number(file->data + place, 4);
    place += 4;
    value->text = (const char *)file->data + place;
    value->length = bytes;
  } else if (width && type >= 'a') {
    bool plain = end - place >= 12 && import_number(file->data + place, 4) && !import_number(file->data + place + 4, 4);
    if (!plain) return false;
    bytes = (size_t)import_number(file->data + place + 8, 4);
    place += 12;
  }
  if ((!width && !value->text) || bytes > end - place || bytes < width) return false;
  if (width) *value = binary_number(file, place, type, width);
  *at = place + bytes;
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
  const char *text = (const char *)file->data + from;
  double number;
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

size_t fbx_read_values(const fbx_file *file, const fbx_record *record, fbx_value *values, size_t room) {
  size_t at = record->values, count = 0;
  fbx_record array;
  if (!file->width && fbx_find(file, record->inside, record->inside_end, "a", &array)) {
    record = &array; /* "*1 { a: 100 }" */
    at = array.values;
  }
  if (file->width && record->count < room) room = record->count;
  while (count < room && (file->width ? binary_value : text_value)(file, &at, record->values_end, &values[count]))
    count++;
  return count;
}

bool fbx_property(const fbx_file *file, size_t inside, size_t inside_end, const char *name, fbx_value *out,
                  size_t count) {
  fbx_record list, record;
  fbx_value values[PROPERTY_VALUES];
  size_t at, found;
  if (!fbx_find(file, inside, inside_end, "Properties70", &list)) return false;
  for (at = list.inside; fbx_read_record(file, at, list.inside_end, &record); at = record.end) {
    if (!fbx_is_named(&record, "P")) continue;
    found = fbx_read_values(file, &record, values, 4 + count);
    if (!found || !fbx_text_is(&values[0], name)) continue;
    if (found == 4 + count) memcpy(out, values + 4, count * sizeof *out);
    return found == 4 + count;
  }
  return false;
}
