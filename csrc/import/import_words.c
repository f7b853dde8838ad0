/* import_words.c: the words, names and numbers of a text.

   Most of such a file is plain decimal numbers, which have a reader of their own: it reads eight digits at a time. */
#include <math.h>
#include <string.h>

#include "import_words.h"

#define MAX_PLAIN 32 /* bytes: a sign, 17 digits, a point, a space, and what is read at once */

/* ---- words ------------------------------------------------------------------------- */

/* Does what isspace() does in the C locale, whatever the user's locale, and takes other control characters as well. */
static bool is_space(char c) { return (unsigned char)c <= ' '; }
static bool is_line_end(char c) { return c == '\n' || c == '\r'; }
static bool is_brace(char c) { return c == '{' || c == '}'; }
static bool is_mark(char c) { return is_brace(c) || c == '(' || c == ')'; }
static char lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c | 32 : c); }

static bool is_comment(const import_words *w, const char *at) {
  return *at == '#' || (w->end - at >= 2 && at[0] == '/' && at[1] == '/');
}

import_words import_words_of(import_job *job, const import_source *file) {
  const char *start = (const char *)file->data;
  bool marked = file->size >= 3 && !memcmp(start, "\xef\xbb\xbf", 3);
  return (import_words){job, start, start + (marked ? 3 : 0), start + file->size};
}

static void skip_comment(import_words *w) {
  while (w->at < w->end && !is_line_end(*w->at)) w->at++;
}

static void skip_spaces(import_words *w) {
  for (; w->at < w->end && *w->at <= '/'; w->at++) {
    if (is_space(*w->at)) continue;
    if (!is_comment(w, w->at)) return;
    skip_comment(w);
    if (w->at == w->end) return;
  }
}

/* Most of a file is digits, which the first comparison tells. */
static const char *end_of_word(const import_words *w) {
  const char *at = w->at;
  for (; at < w->end; at++) {
    if (*at > '/' && *at < '{') continue;
    if (is_space(*at) || is_mark(*at) || (*at == '/' && is_comment(w, at))) break;
  }
  return at;
}

char import_peek(import_words *w) {
  skip_spaces(w);
  return w->at < w->end ? *w->at : 0;
}

import_span import_next_word(import_words *w) {
  import_span word;
  skip_spaces(w);
  word.at = w->at;
  if (w->at < w->end && *w->at == '"') {
    w->at++;
    while (w->at < w->end && *w->at != '"' && !is_line_end(*w->at)) w->at++;
    w->at += w->at < w->end && *w->at == '"';
  } else if (w->at < w->end && is_mark(*w->at)) {
    w->at++;
  } else {
    w->at = end_of_word(w);
  }
  word.length = (size_t)(w->at - word.at);
  return word;
}

import_span import_next_name(import_words *w) {
  const char *start, *end;
  while (w->at < w->end && is_space(*w->at) && !is_line_end(*w->at)) w->at++;
  for (start = end = w->at; w->at < w->end && !is_line_end(*w->at) && !is_brace(*w->at); w->at++) {
    if (w->end - w->at >= 2 && w->at[0] == '/' && w->at[1] == '/') break;
    if (!is_space(*w->at)) end = w->at + 1;
  }
  return (import_span){start, (size_t)(end - start)};
}

bool import_is_word(import_span word, const char *text) {
  size_t i, length = strlen(text);
  for (i = 0; i < length && i < word.length && lower(word.at[i]) == lower(text[i]); i++) {}
  return i == length && i == word.length;
}

bool import_take_word(import_words *w, const char *text) {
  const char *at = w->at;
  if (import_is_word(import_next_word(w), text)) return true;
  w->at = at;
  return false;
}

/* ---- numbers -------------------------------------------------------------------------- */

/* As a number, with the first byte lowest. */
static uint64_t eight_bytes(const char *at) {
  uint64_t bytes;
  memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

static bool are_eight_digits(uint64_t bytes) {
  uint64_t high = UINT64_C(0xF0F0F0F0F0F0F0F0), zeros = UINT64_C(0x3030303030303030);
  return (bytes & high) == zeros && ((bytes + UINT64_C(0x0606060606060606)) & high) == zeros;
}

/* Neighbors become pairs, pairs fours, fours the number. */
static uint64_t eight_digits(uint64_t bytes) {
  bytes = ((bytes & UINT64_C(0x0F0F0F0F0F0F0F0F)) * (1 + (10 << 8))) >> 8;
  bytes = ((bytes & UINT64_C(0x00FF00FF00FF00FF)) * (1 + (100 << 16))) >> 16;
  return ((bytes & UINT64_C(0x0000FFFF0000FFFF)) * (1 + (UINT64_C(10000) << 32))) >> 32;
}

/* At most 17 digits, a point among them, a space behind them, with at least MAX_PLAIN bytes to come.
   Returns where it ends; NULL where anything else stands there. The usual one has a digit, the point and
   eight digits or more. */
static inline const char *plain_number(const char *at, double *out) {
  const char *point, *last;
  uint64_t digits = (uint64_t)*at - '0', digit, bytes;
  bool negative = *at == '-';
  double number;
  if (negative) digits = (uint64_t)*++at - '0';
  if (digits > 9) return NULL;
  last = at++ + 17;
  for (; *at != '.' && (digit = (uint64_t)*at - '0') < 10 && at < last; at++) digits = 10 * digits + digit;
  point = at;
  if (*at == '.') {
    at++, last++;
    bytes = eight_bytes(at);
    if (last - at >= 8 && are_eight_digits(bytes)) digits = 100000000u * digits + eight_digits(bytes), at += 8;
    for (; (digit = (uint64_t)*at - '0') < 10 && at < last; at++) digits = 10 * digits + digit;
  }
  if (!is_space(*at)) return NULL;
  number = (double)(int64_t)digits;
  if (at > point + 1) number /= import_power_of_ten((int)(at - point - 1));
  *out = negative ? -number : number;
  return at;
}

/* "nan", "-nan(ind)", "inf", "1.#QNAN", "-1.#IND" */
static bool is_not_finite(import_span word) {
  size_t i = word.length && (*word.at == '-' || *word.at == '+');
  if (memchr(word.at, '#', word.length)) return true;
  word = (import_span){word.at + i, word.length - i};
  return import_is_word(word, "nan") || import_is_word(word, "inf") || import_is_word(word, "infinity");
}

static bool number_of(import_span word, double *number) {
  *number = import_decimal(word.at, word.length);
  if (!isnan(*number)) return true;
  if (!word.length || !memchr("+-.0123456789nNiI", *word.at, 17)) return false;
  *number = import_comma_decimal(word);
  return !isnan(*number) || is_not_finite(word);
}

bool import_take_number(import_words *w, double *number) {
  const char *before = w->at, *at;
  skip_spaces(w);
  at = w->end - w->at < MAX_PLAIN ? NULL : plain_number(w->at, number);
  if (at) w->at = at;
  else if (!number_of(import_next_word(w), number)) w->at = before;
  else if (isnan(*number) && w->end - w->at >= 5 && !memcmp(w->at, "(ind)", 5)) w->at += 5;
  return w->at != before;
}

bool import_take_integer(import_words *w, int64_t least, int64_t largest, int64_t *number) {
  const char *before = w->at;
  double value;
  if (import_take_number(w, &value) && value >= (double)least && value <= (double)largest && value == floor(value)) {
    *number = (int64_t)value;
    return true;
  }
  w->at = before;
  return false;
}

bool import_line_goes_on(import_words *w) {
  while (w->at < w->end && is_space(*w->at) && !is_line_end(*w->at)) w->at++;
  if (w->at < w->end && is_comment(w, w->at)) skip_comment(w);
  if (w->at < w->end && !is_line_end(*w->at)) return true;
  if (w->end - w->at >= 2 && w->at[0] == '\r' && w->at[1] == '\n') w->at++;
  w->at += w->at < w->end;
  return false;
}

bool import_take_numbers(import_words *w, sk_array *numbers) {
  for (;;) {
    const char *at = w->at, *next;
    double number, *added;
    while (at < w->end && is_space(*at) && !is_line_end(*at)) at++;
    w->at = at;
    next = w->end - at < MAX_PLAIN ? NULL : plain_number(at, &number);
    if (next) w->at = next;
    else if (at == w->end || is_line_end(*at) || is_comment(w, at) || !import_take_number(w, &number)) return true;
    if (numbers->count < numbers->capacity) added = (double *)numbers->data + numbers->count++;
    else added = sk_array_room(numbers, 1);
    if (!added) return false;
    *added = number;
  }
}

/* ---- messages ---------------------------------------------------------------------------- */

void import_quote(import_span name, char out[64]) {
  size_t length = name.length < 60 ? name.length : 60, i;
  for (i = 0; i < length; i++) out[i] = (char)((unsigned char)name.at[i] < ' ' || name.at[i] == 127 ? '?' : name.at[i]);
  memcpy(out + length, "...", 4);
  if (length == name.length) out[length] = 0;
}

size_t import_line_number(const import_words *w) {
  const char *at = w->start;
  size_t lines = 1;
  for (; at < w->at; at++) lines += *at == '\n' || (*at == '\r' && at + 1 < w->end && at[1] != '\n');
  return lines;
}

sk_status import_words_fail(import_words *w, const char *wish) {
  char quote[64];
  import_span word;
  size_t line;
  if (w->end - w->start >= 2 && (!memcmp(w->start, "\xff\xfe", 2) || !memcmp(w->start, "\xfe\xff", 2)))
    return sk_fail(w->job->error, SK_ERROR_IMPORT, "this is text in UTF-16; save it as UTF-8");
  skip_spaces(w);
  line = import_line_number(w);
  word = import_next_word(w);
  import_quote(word, quote);
  if (!word.length)
    return sk_fail(w->job->error, SK_ERROR_IMPORT, "the file ends in line %zu, where %s is expected", line, wish);
  return sk_fail(w->job->error, SK_ERROR_IMPORT, "line %zu: there is '%s' where %s is expected", line, quote, wish);
}
