/* sk_block_extras.c: checks that the section EXTRAS is JSON after RFC 8259. Python reads the section when one of its
   values is first needed; it must not fail then.

   One pass over the bytes, without recursion. Strings may hold control characters and bytes that are not UTF-8, because
   names in files do; Python's reader takes both. */
#include <string.h>

#include "sk_block_check.h"

#define MAX_NESTING 129u /* brackets: values of a file nest 128 deep at most, and EXTRAS puts them into an object */
#define MAX_NUMBER  1000 /* bytes: Python refuses integers of more than 4300 digits */

typedef struct reader {
  const char *at, *end;
  uint32_t depth;
  uint8_t is_object[MAX_NESTING]; /* for each bracket that is open: whether it is "{" */
} reader;

static void skip_blanks(reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

/* Takes the character if it comes next. */
static bool take(reader *r, char c) {
  bool found = r->at < r->end && *r->at == c;
  r->at += found;
  return found;
}

static bool take_word(reader *r, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0) return false;
  r->at += length;
  return true;
}

static bool is_digit(const reader *r) { return r->at < r->end && *r->at >= '0' && *r->at <= '9'; }

static bool take_digits(reader *r) {
  bool found = is_digit(r);
  while (is_digit(r)) r->at++;
  return found;
}

static bool take_number(reader *r) {
  const char *start = r->at;
  take(r, '-');
  if (!take(r, '0') && !take_digits(r)) return false;
  if (take(r, '.') && !take_digits(r)) return false;
  if (take(r, 'e') || take(r, 'E')) {
    if (!take(r, '+')) take(r, '-');
    if (!take_digits(r)) return false;
  }
  return r->at - start <= MAX_NUMBER;
}

static bool take_hex_quad(reader *r) {
  int i;
  for (i = 0; i < 4; i++, r->at++)
    if (r->at == r->end || !*r->at || !strchr("0123456789abcdefABCDEF", *r->at)) return false;
  return true;
}

/* A string, of which the opening quote was taken. */
static bool take_string(reader *r) {
  while (r->at < r->end) {
    char c = *r->at++;
    if (c == '"') return true;
    if (c != '\\') continue;
    if (r->at == r->end || !*r->at || !strchr("\"\\/bfnrtu", *r->at)) return false;
    if (*r->at++ == 'u' && !take_hex_quad(r)) return false;
  }
  return false;
}

static bool take_key(reader *r) {
  skip_blanks(r);
  if (!take(r, '"') || !take_string(r)) return false;
  skip_blanks(r);
  return take(r, ':');
}

/* Takes a value, or the bracket that opens one: then *opened is set unless the bracket is closed at once. */
static bool take_value(reader *r, bool *opened) {
  bool object;
  *opened = false;
  skip_blanks(r);
  if (take(r, '"')) return take_string(r);
  if (take_word(r, "true") || take_word(r, "false") || take_word(r, "null")) return true;
  object = take(r, '{');
  if (!object && !take(r, '[')) return take_number(r);
  if (r->depth == MAX_NESTING) return false;
  skip_blanks(r);
  if (take(r, object ? '}' : ']')) return true;
  r->is_object[r->depth++] = object;
  *opened = true;
  return true;
}

/* Closes brackets behind a value, and takes the comma in front of the next one. False at what is neither. */
static bool take_end_of_value(reader *r) {
  while (r->depth) {
    skip_blanks(r);
    if (take(r, ',')) return true;
    if (!take(r, r->is_object[r->depth - 1] ? '}' : ']')) return false;
    r->depth--;
  }
  return true;
}

static bool take_object(reader *r) {
  bool opened;
  skip_blanks(r);
  if (r->at == r->end || *r->at != '{' || !take_value(r, &opened)) return false;
  while (r->depth) {
    if (r->is_object[r->depth - 1] && !take_key(r)) return false;
    if (!take_value(r, &opened) || (!opened && !take_end_of_value(r))) return false;
  }
  skip_blanks(r);
  return r->at == r->end;
}

sk_status sk_check_extras(const sk_block *block, sk_error *error) {
  const sk_section *section = sk_section_of(block, SK_SECTION_EXTRAS);
  const char *start = section->data;
  reader r = {.at = start};
  if (!section->rows) return SK_OK;
  r.end = start + section->rows;
  if (take_object(&r)) return SK_OK;
  return sk_fail(error, SK_ERROR_BLOCK,
                 "section EXTRAS is not a JSON object with values nested at most %u deep and numbers of at most %d "
                 "bytes: wrong near byte %llu of %llu",
                 MAX_NESTING, MAX_NUMBER, (unsigned long long)(r.at - start), (unsigned long long)section->rows);
}
