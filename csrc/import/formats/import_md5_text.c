/* import_md5_text.c: words, numbers and sections of MD5.

   Most of a file is plain decimal numbers, which have a reader of their own: it reads eight digits at a time. */
#include <math.h>
#include <string.h>

#include "import_md5_text.h"

/* ---- words ------------------------------------------------------------------------- */

static bool is_space(char c) { return (unsigned char)c <= ' '; }
static bool is_mark(char c) { return c == '(' || c == ')' || c == '{' || c == '}'; }
static bool is_comment(const md5 *m) { return m->end - m->at >= 2 && m->at[0] == '/' && m->at[1] == '/'; }

static void skip_spaces(md5 *m) {
  while (m->at < m->end && *m->at <= '/' && (is_space(*m->at) || is_comment(m))) {
    bool comment = !is_space(*m->at);
    while (comment && m->at < m->end && *m->at != '\n' && *m->at != '\r') m->at++;
    if (!comment) m->at++;
  }
}

/* Most of a file is digits, which the first comparison tells. */
static const char *end_of_word(const md5 *m) {
  const char *at = m->at, *end = m->end;
  for (; at < end; at++) {
    if (*at > '/' && *at < '{') continue;
    if (is_space(*at) || is_mark(*at) || (end - at >= 2 && at[0] == '/' && at[1] == '/')) break;
  }
  return at;
}

import_span md5_next_word(md5 *m) {
  import_span word;
  skip_spaces(m);
  word.at = m->at;
  if (m->at < m->end && *m->at == '"') {
    m->at++;
    while (m->at < m->end && *m->at != '"' && *m->at != '\n' && *m->at != '\r') m->at++;
    if (m->at < m->end && *m->at == '"') m->at++;
  } else if (m->at < m->end && is_mark(*m->at)) {
    m->at++;
  } else {
    m->at = end_of_word(m);
  }
  word.length = (size_t)(m->at - word.at);
  return word;
}

bool md5_equals(import_span word, const char *text) {
  return word.length == strlen(text) && !memcmp(word.at, text, word.length);
}

void md5_skip_if_without(md5 *m, const char *word) {
  size_t length = strlen(word);
  const char *at = m->at;
  while ((at = memchr(at, *word, (size_t)(m->end - at))) != NULL && (size_t)(m->end - at) >= length) {
    if (!memcmp(at, word, length)) return;
    at++;
  }
  m->at = m->end;
}

bool md5_expect(md5 *m, const char *mark) { return md5_equals(md5_next_word(m), mark); }

/* Whether the section goes on; takes the brace that ends it. */
static bool goes_on(md5 *m) {
  skip_spaces(m);
  if (m->at < m->end && *m->at != '}') return true;
  m->at += m->at < m->end;
  return false;
}

static double number_of(import_span word) { return import_decimal(word.at, word.length); }

static uint64_t eight_bytes(const char *at) {
  uint64_t bytes;
  memcpy(&bytes, at, sizeof bytes);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  bytes = __builtin_bswap64(bytes);
#endif
  return bytes; /* the first one lowest */
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

#define MAX_PLAIN 32 /* bytes: a sign, 17 digits, a point, a space, and what is read at once */

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

/* False, and nothing is taken, where no plain number stands there. */
static bool take_plain_number(md5 *m, double *out) {
  const char *at = m->at;
  while (at < m->end && is_space(*at)) at++;
  at = m->end - at < MAX_PLAIN ? NULL : plain_number(at, out);
  if (at) m->at = at;
  return at != NULL;
}

static double next_number(md5 *m) {
  double number;
  return take_plain_number(m, &number) ? number : number_of(md5_next_word(m));
}

bool md5_next_integer(md5 *m, double least, double largest, double *out) {
  *out = next_number(m);
  return *out >= least && *out <= largest && *out == floor(*out);
}

/* ( x y z ) */
static bool next_triple(md5 *m, double out[3]) {
  int i;
  if (!md5_expect(m, "(")) return false;
  for (i = 0; i < 3; i++) {
    out[i] = next_number(m);
    if (!isfinite(out[i])) return false;
  }
  return md5_expect(m, ")");
}

/* ---- sections ------------------------------------------------------------------------ */

/* "name" parent; a parent stands before its children, as every exporter has it. */
static md5_joint *next_joint(md5 *m) {
  import_span name = md5_next_word(m);
  double parent;
  md5_joint *joint;
  if (name.length < 2 || *name.at != '"' || name.at[name.length - 1] != '"') return NULL;
  if (m->joints.count >= SK_MAX_JOINTS) return NULL;
  if (!md5_next_integer(m, -1.0, (double)m->joints.count - 1.0, &parent)) return NULL;
  joint = sk_array_extend(&m->joints, 1);
  m->no_memory |= !joint;
  if (!joint) return NULL;
  joint->name = (import_span){name.at + 1, name.length - 2};
  joint->parent = (int32_t)parent;
  return joint;
}

/* "name" parent ( translation ) ( rotation ), both below the skeleton */
bool md5_read_joints(md5 *m) {
  while (goes_on(m)) {
    md5_joint *joint = next_joint(m);
    if (!joint || !next_triple(m, joint->rest) || !next_triple(m, joint->rest + 3)) return false;
    m->rest_count++;
  }
  return true;
}

/* "name" parent flags first */
bool md5_read_hierarchy(md5 *m) {
  while (goes_on(m)) {
    md5_joint *joint = next_joint(m);
    double flags, first;
    if (!joint || !md5_next_integer(m, 0, 63, &flags) || !md5_next_integer(m, 0, UINT32_MAX, &first)) return false;
    joint->flags = (uint32_t)flags;
    joint->first = (size_t)first;
  }
  return true;
}

bool md5_read_base_frame(md5 *m) {
  while (goes_on(m)) {
    md5_joint *joint = m->rest_count < m->joints.count ? md5_joint_at(m, m->rest_count++) : NULL;
    if (!joint || !next_triple(m, joint->rest) || !next_triple(m, joint->rest + 3)) return false;
  }
  return true;
}

/* The plain numbers from here on, as many as there is room for. */
static void take_plain_numbers(md5 *m, double *values, size_t room, size_t *count) {
  const char *at = m->at, *end = m->end;
  for (; *count < room; (*count)++) {
    const char *next;
    while (at < end && is_space(*at)) at++;
    next = end - at < MAX_PLAIN ? NULL : plain_number(at, &values[*count]);
    if (!next) break;
    at = next;
  }
  m->at = at;
}

bool md5_read_frame(md5 *m) {
  double value, *place;
  m->values.count = 0;
  for (;;) {
    take_plain_numbers(m, m->values.data, m->values.capacity, &m->values.count);
    if (!take_plain_number(m, &value)) {
      if (!goes_on(m)) return true;
      value = number_of(md5_next_word(m));
    }
    if (!isfinite(value) || m->values.count >= 6 * (size_t)SK_MAX_JOINTS) return false;
    place = sk_array_room(&m->values, 1);
    m->no_memory |= !place;
    if (!place) return false;
    *place = value;
  }
}
