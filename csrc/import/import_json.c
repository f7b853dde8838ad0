/* import_json.c: a JSON text as a list of tokens. The jsmn tokenizer finds the tokens; a table of "the token behind
   this one and all that it holds" makes siblings reachable in one step. Nothing recurses, and a text is walked once. */
#define _GNU_SOURCE /* strtod_l: the decimal point must not depend on the user's locale */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__) || defined(__FreeBSD__)
#include <xlocale.h> /* macOS and FreeBSD have strtod_l here */
#endif

#include "import_json.h"

#define JSMN_STATIC
#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#include <jsmn.h>

#define MAX_TEXT       ((size_t)0x7fffffff) /* the tokenizer counts bytes in int */
#define MAX_NESTING    128               /* brackets; glTF needs 10, and Python walks through them by recursion */
#define STEP           1024 /* tokens that are read at once: the tokenizer's time for each grows with their depth */
#define BYTES_OF_TOKEN 8 /* bytes of text for a token: common files have more, so this much room is made at first */

static const jsmntok_t *token_at(const json *j, int32_t token) { return (const jsmntok_t *)j->tokens + token; }

/* ---- parsing ------------------------------------------------------------------- */

static bool is_bracket(const jsmntok_t *token) { return token->type == JSMN_OBJECT || token->type == JSMN_ARRAY; }

static sk_status fail_nesting(sk_error *error) {
  return sk_fail(error, SK_ERROR_IMPORT, "its JSON is nested more than %d deep", MAX_NESTING);
}

/* How many brackets are open at the tokenizer's position. */
static int open_brackets(const jsmn_parser *parser, const jsmntok_t *tokens) {
  int depth = 0, token;
  for (token = parser->toksuper; token >= 0; token = tokens[token].parent) depth += is_bracket(&tokens[token]);
  return depth;
}

/* Works in steps of STEP tokens, so that a text that is nested too deep is refused within one step. */
static sk_status tokenize(json *j, const char *text, size_t length, sk_error *error) {
  jsmn_parser parser;
  size_t room = 0, limit = 0;
  int count = JSMN_ERROR_NOMEM;
  jsmn_init(&parser);
  while (count == JSMN_ERROR_NOMEM) {
    limit += STEP;
    if (limit > room) {
      size_t wanted = room ? 2 * room : length / BYTES_OF_TOKEN + STEP;
      void *more = sk_realloc(j->tokens, wanted * sizeof(jsmntok_t));
      if (!more) return sk_fail_memory(error, wanted * sizeof(jsmntok_t));
      j->tokens = more;
      room = wanted;
    }
    count = jsmn_parse(&parser, text, length, j->tokens, (unsigned)limit);
    if (open_brackets(&parser, j->tokens) > MAX_NESTING) return fail_nesting(error);
  }
  if (count < 0)
    return sk_fail(error, SK_ERROR_IMPORT, "the file is not valid JSON: it %s at byte %u; download or export it again",
                   count == JSMN_ERROR_PART ? "ends too early" : "has a character that cannot stand", parser.pos);
  j->count = (int32_t)parser.toknext;
  return SK_OK;
}

/* `depths` has room for all tokens. */
static bool is_shallow(const json *j, int32_t *depths) {
  int32_t deepest = 0, i;
  for (i = 0; i < j->count; i++) {
    const jsmntok_t *token = token_at(j, i);
    depths[i] = (token->parent < 0 ? 0 : depths[token->parent]) + is_bracket(token);
    if (depths[i] > deepest) deepest = depths[i];
  }
  return deepest <= MAX_NESTING;
}

/* From the last token to the first: each ends where its last descendant ends. */
static sk_status link_siblings(json *j, sk_error *error) {
  size_t bytes = (size_t)j->count * sizeof *j->next;
  int32_t i;
  j->next = sk_alloc(bytes);
  if (!j->next) return sk_fail_memory(error, bytes);
  if (!is_shallow(j, j->next)) return fail_nesting(error);
  memset(j->next, 0, bytes);
  for (i = j->count - 1; i >= 0; i--) {
    int parent = token_at(j, i)->parent;
    if (!j->next[i]) j->next[i] = i + 1;
    if (parent >= 0 && j->next[parent] < j->next[i]) j->next[parent] = j->next[i];
  }
  return SK_OK;
}

sk_status json_open(json *j, const char *text, size_t length, sk_error *error) {
  sk_status status;
  memset(j, 0, sizeof *j);
  if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) text += 3, length -= 3;
  if (length > MAX_TEXT) return sk_fail(error, SK_ERROR_IMPORT, "its JSON is longer than 2 GiB");
  j->text = text;
  status = tokenize(j, text, length, error);
  if (!status && (!j->count || !json_is_object(j, 0) || token_at(j, 0)->parent != -1))
    status = sk_fail(error, SK_ERROR_IMPORT,
                     "the file is not valid JSON: no object at its start; download or export it again");
  return status ? status : link_siblings(j, error);
}

void json_close(json *j) {
  sk_free(j->tokens);
  sk_free(j->next);
  memset(j, 0, sizeof *j);
}

/* ---- walking --------------------------------------------------------------------- */

static bool is_type(const json *j, int32_t token, jsmntype_t type) {
  return token >= 0 && token_at(j, token)->type == type;
}

bool json_is_object(const json *j, int32_t token) { return is_type(j, token, JSMN_OBJECT); }
bool json_is_string(const json *j, int32_t token) { return is_type(j, token, JSMN_STRING); }

const char *json_raw(const json *j, int32_t token, size_t *length) {
  const jsmntok_t *t = token_at(j, token);
  *length = (size_t)(t->end - t->start);
  return j->text + t->start;
}

static bool is_word(const json *j, int32_t token, const char *word, size_t length) {
  const jsmntok_t *t = token_at(j, token);
  return t->type == JSMN_STRING && (size_t)(t->end - t->start) == length && !memcmp(j->text + t->start, word, length);
}

bool json_equals(const json *j, int32_t token, const char *word) {
  return token >= 0 && is_word(j, token, word, strlen(word));
}

/* The key of a pair holds its value, which is the token behind it. A key that is spelled with escapes is not found: no
   exporter writes one. */
int32_t json_member(const json *j, int32_t object, const char *key) {
  size_t length = strlen(key);
  int32_t i, end;
  if (!json_is_object(j, object)) return -1;
  end = j->next[object];
  for (i = object + 1; i < end; i = j->next[i])
    if (is_word(j, i, key, length) && token_at(j, i)->size == 1) return i + 1;
  return -1;
}

int32_t json_length(const json *j, int32_t array) {
  return is_type(j, array, JSMN_ARRAY) ? token_at(j, array)->size : 0;
}

int32_t json_size(const json *j, int32_t object) { return json_is_object(j, object) ? token_at(j, object)->size : 0; }

int32_t json_first(const json *j, int32_t array) { return json_length(j, array) ? array + 1 : -1; }

int32_t json_after(const json *j, int32_t array, int32_t element) {
  int32_t next = j->next[element];
  return next < j->next[array] ? next : -1;
}

/* jsmn takes a text in which a key has no value, such as {"a"}; that ends the pairs. */
static int32_t pair_at(const json *j, int32_t object, int32_t key) {
  return key < j->next[object] && token_at(j, key)->size == 1 ? key : -1;
}

int32_t json_first_key(const json *j, int32_t object) {
  return json_is_object(j, object) ? pair_at(j, object, object + 1) : -1;
}

int32_t json_key_after(const json *j, int32_t object, int32_t key) { return pair_at(j, object, j->next[key]); }

/* ---- values ------------------------------------------------------------------------ */

bool json_truth(const json *j, int32_t token) {
  return is_type(j, token, JSMN_PRIMITIVE) && j->text[token_at(j, token)->start] == 't';
}

static locale_t plain_locale(void) {
  static locale_t plain; /* made once and kept; the caller of sk_importer.run holds a lock */
  if (!plain) plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  return plain;
}

double json_number(const json *j, int32_t token, double fallback) {
  const char *start;
  char *end, copy[64];
  double value;
  size_t length;
  locale_t plain = plain_locale();
  if (!is_type(j, token, JSMN_PRIMITIVE)) return fallback;
  start = json_raw(j, token, &length);
  if (length >= sizeof copy || (*start != '-' && (*start < '0' || *start > '9'))) return fallback;
  memcpy(copy, start, length);
  copy[length] = 0;
  value = plain ? strtod_l(copy, &end, plain) : strtod(copy, &end);
  return *end ? fallback : value;
}

bool json_numbers(const json *j, int32_t array, double *out, int32_t count) {
  int32_t i = json_first(j, array), k;
  double numbers[16];
  if (json_length(j, array) != count || count > 16) return false;
  for (k = 0; k < count; k++, i = json_after(j, array, i)) {
    if (!is_type(j, i, JSMN_PRIMITIVE)) return false;
    numbers[k] = json_number(j, i, 0.0);
  }
  memcpy(out, numbers, (size_t)count * sizeof *out);
  return true;
}

/* A number of plain digits, as nearly all are, in a tenth of the time of strtod. -1 where the token is something else.
   */
static int64_t plain_digits(const json *j, int32_t token) {
  size_t length, i;
  const char *at;
  int64_t value = 0;
  if (!is_type(j, token, JSMN_PRIMITIVE)) return -1;
  at = json_raw(j, token, &length);
  for (i = 0; i < length && i < 15 && at[i] >= '0' && at[i] <= '9'; i++) value = 10 * value + (at[i] - '0');
  return i == length ? value : -1;
}

int64_t json_index(const json *j, int32_t token, int64_t fallback) {
  int64_t digits = plain_digits(j, token);
  double value = digits < 0 ? json_number(j, token, -1.0) : 0.0;
  if (digits >= 0) return digits;
  return value >= 0.0 && value <= 9007199254740992.0 && value == (double)(int64_t)value ? (int64_t)value : fallback;
}

/* ---- strings ------------------------------------------------------------------------- */

static int hex_quad(const char *at) {
  int value = 0, i;
  for (i = 0; i < 4; i++) {
    char c = at[i];
    value = value * 16 + (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  return value;
}

static size_t put_utf8(uint32_t point, char *out) {
  if (point < 0x80) return out[0] = (char)point, 1;
  if (point < 0x800) return out[0] = (char)(0xc0 | point >> 6), out[1] = (char)(0x80 | (point & 63)), 2;
  if (point < 0x10000) {
    out[0] = (char)(0xe0 | point >> 12), out[1] = (char)(0x80 | (point >> 6 & 63));
    return out[2] = (char)(0x80 | (point & 63)), 3;
  }
  out[0] = (char)(0xf0 | point >> 18), out[1] = (char)(0x80 | (point >> 12 & 63));
  return out[2] = (char)(0x80 | (point >> 6 & 63)), out[3] = (char)(0x80 | (point & 63)), 4;
}

/* `at` stands behind "\u"; returns the bytes read. Half a surrogate pair becomes U+FFFD. */
static size_t take_point(const char *at, const char *end, uint32_t *point) {
  *point = (uint32_t)hex_quad(at);
  if (*point < 0xd800 || *point > 0xdfff) return 4;
  if (*point < 0xdc00 && end - at >= 10 && at[4] == '\\' && at[5] == 'u') {
    uint32_t low = (uint32_t)hex_quad(at + 6);
    if (low >= 0xdc00 && low <= 0xdfff) {
      *point = 0x10000 + ((*point - 0xd800) << 10) + (low - 0xdc00);
      return 10;
    }
  }
  *point = 0xfffd;
  return 4;
}

/* The decoded text is never longer than the raw one. */
static size_t decode(const char *at, size_t length, char *out) {
  static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
  const char *end = at + length;
  char *start = out;
  while (at < end) {
    const char *letter;
    uint32_t point;
    if (*at != '\\' || at + 1 >= end) {
      *out++ = *at++;
    } else if (at[1] == 'u' && end - at >= 6) {
      at += 2;
      at += take_point(at, end, &point);
      out += put_utf8(point, out);
    } else {
      letter = strchr(letters, at[1]);
      *out++ = letter ? controls[letter - letters] : at[1];
      at += 2;
    }
  }
  return (size_t)(out - start);
}

bool json_text(const json *j, int32_t token, sk_array *pool, sk_text *text) {
  size_t length, used = pool->count;
  const char *raw;
  char *added;
  *text = (sk_text){0, 0};
  if (!json_is_string(j, token)) return true;
  raw = json_raw(j, token, &length);
  if (!length) return true;
  if (used + length > UINT32_MAX) return false;
  added = sk_array_extend(pool, length);
  if (!added) return false;
  *text = (sk_text){(uint32_t)used, (uint32_t)decode(raw, length, added)};
  pool->count = used + text->length;
  return true;
}

/* ---- writing --------------------------------------------------------------------------- */

static bool put(sk_array *out, const char *bytes, size_t length) {
  char *added = sk_array_room(out, length);
  if (added && length) memcpy(added, bytes, length);
  return added != NULL;
}

static size_t digits(const char *at, size_t length, size_t from) {
  while (from < length && at[from] >= '0' && at[from] <= '9') from++;
  return from;
}

/* Whether the bytes are a number after RFC 8259: an integer, then a fraction and an exponent where it has them. */
static bool is_number(const char *at, size_t length) {
  size_t start = length && at[0] == '-', end = digits(at, length, start);
  if (end == start || (at[start] == '0' && end > start + 1) || length > 64) return false;
  if (end < length && at[end] == '.') {
    start = end + 1;
    end = digits(at, length, start);
    if (end == start) return false;
  }
  if (end < length && (at[end] | 32) == 'e') {
    start = end + 1 + (end + 1 < length && (at[end + 1] == '+' || at[end + 1] == '-'));
    end = digits(at, length, start);
    if (end == start) return false;
  }
  return end == length;
}

/* A string, a word, a number, or the bracket that opens an object or an array. */
static bool put_token(const json *j, int32_t token, sk_array *out) {
  size_t length;
  const char *raw = json_raw(j, token, &length);
  switch (token_at(j, token)->type) {
  case JSMN_OBJECT: return put(out, "{", 1);
  case JSMN_ARRAY: return put(out, "[", 1);
  case JSMN_STRING: return put(out, "\"", 1) && put(out, raw, length) && put(out, "\"", 1);
  default: break;
  }
  if (*raw == 't') return put(out, "true", 4);
  if (*raw == 'f') return put(out, "false", 5);
  return is_number(raw, length) ? put(out, raw, length) : put(out, "null", 4);
}

typedef struct open_bracket {
  int32_t token, next; /* next: the key or element that is written next, or -1 */
  bool begun;
} open_bracket;

/* Writes what goes before the next value of an open bracket, and returns the value; -1: no memory. */
static int32_t put_next(const json *j, open_bracket *open, sk_array *out) {
  int32_t at = open->next;
  bool object = json_is_object(j, open->token), good = !open->begun || put(out, ",", 1);
  open->begun = true;
  open->next = object ? json_key_after(j, open->token, at) : json_after(j, open->token, at);
  if (object) good = good && put_token(j, at, out) && put(out, ":", 1);
  return good ? at + object : -1;
}

bool json_write(const json *j, int32_t token, sk_array *out) {
  open_bracket open[MAX_NESTING + 1], *top = open; /* json_open has refused what is nested deeper */
  if (token < 0) return put(out, "null", 4);
  for (;;) {
    if (!put_token(j, token, out)) return false;
    if (is_bracket(token_at(j, token)))
      *top++ = (open_bracket){token, json_is_object(j, token) ? json_first_key(j, token) : json_first(j, token), false};
    while (top > open && top[-1].next < 0) {
      top--;
      if (!put(out, json_is_object(j, top->token) ? "}" : "]", 1)) return false;
    }
    if (top == open) return true;
    token = put_next(j, &top[-1], out);
    if (token < 0) return false;
  }
}
