/* import_text.c: strings, hashes and tables of names. */
#include <math.h>
#include <string.h>

#include "import_job.h"

sk_status import_no_memory(import_job *job, size_t bytes) { return sk_fail_memory(job->error, bytes); }

sk_status import_add_text(import_job *job, import_span text, sk_text *out) {
  bool good = sk_text_append(&job->model.text, text.at ? text.at : "", text.length, out);
  return good ? SK_OK : import_no_memory(job, text.length);
}

void import_show_blanks(const import_job *job, char *name, size_t length) {
  size_t i;
  for (i = 0; job->blanks_hidden && i < length; i++)
    if (name[i] == IMPORT_BLANK) name[i] = ' ';
}

char *import_copy_text(const char *bytes, size_t length) {
  char *copy = sk_alloc(length + 1);
  if (!copy) return NULL;
  memcpy(copy, bytes, length);
  copy[length] = 0;
  return copy;
}

int import_hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)(c | 32);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t import_decode_percent(char *text, size_t length, bool zeros) {
  const char *at = text, *end = text + length;
  char *out = text;
  while (at < end) {
    int high = *at == '%' && end - at >= 3 ? import_hex_digit(at[1]) : -1;
    int low = high >= 0 ? import_hex_digit(at[2]) : -1;
    bool coded = low >= 0 && (zeros || high * 16 + low);
    *out++ = coded ? (char)(high * 16 + low) : *at;
    at += coded ? 3 : 1;
  }
  return (size_t)(out - text);
}

static int base64_digit(unsigned char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

size_t import_decode_base64(const unsigned char *at, size_t length, uint8_t *out) {
  int8_t digits[256];
  uint8_t *start = out;
  uint32_t bits = 0;
  int filled = 0, c;
  size_t i;
  for (c = 0; c < 256; c++) digits[c] = (int8_t)base64_digit((unsigned char)c);
  for (i = 0; i < length; i++) {
    int digit = digits[at[i]];
    if (digit < 0 && memchr("= \t\r\n", at[i], 5)) continue; /* padding, white space */
    if (digit < 0) break;
    bits = bits << 6 | (uint32_t)digit;
    filled += 6;
    if (filled < 8) continue;
    filled -= 8;
    *out++ = (uint8_t)(bits >> filled);
  }
  return (size_t)(out - start);
}

/* ---- numbers -------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}; /* exact */

double import_power_of_ten(int power) {
  return power < (int)(sizeof powers_of_ten / sizeof *powers_of_ten) ? powers_of_ten[power] : pow(10.0, power);
}

double import_decimal(const char *at, size_t length) {
  const char *end = at + length;
  uint64_t digits = 0;
  int scale = 0, exponent = 0, sign = 1, exponent_sign = 1;
  bool negative = at < end && *at == '-', point = false, any = false;
  at += at < end && (*at == '-' || *at == '+');
  for (; at < end && (is_digit(*at) || (*at == '.' && !point)); at++) {
    if (*at == '.') {
      point = true;
      continue;
    }
    any = true;
    if (digits < 100000000000000000u) digits = 10 * digits + (uint64_t)(*at - '0'), scale -= point;
    else scale += !point;
  }
  if (any && at < end && (*at == 'e' || *at == 'E')) {
    at++;
    if (at < end && (*at == '-' || *at == '+')) exponent_sign = *at++ == '-' ? -1 : 1;
    any = at < end;
    for (; at < end && is_digit(*at) && exponent < 1000; at++) exponent = 10 * exponent + (*at - '0');
  }
  if (!any || at != end) return NAN;
  if (negative) sign = -1;
  scale += exponent_sign * exponent;
  return sign *
         (scale < 0 ? (double)digits / import_power_of_ten(-scale) : (double)digits * import_power_of_ten(scale));
}

double import_comma_decimal(import_span word) {
  char text[64];
  size_t i;
  if (word.length > sizeof text) return NAN;
  for (i = 0; i < word.length; i++) text[i] = word.at[i] == ',' ? '.' : word.at[i];
  return import_decimal(text, word.length);
}

/* ---- hashes and tables of names -------------------------------------------------- */

/* Takes 8 bytes a step with a multiplication and a fold: joining hashes some 100 bytes for each vertex. */
uint64_t import_hash(const void *bytes, size_t length) {
  const unsigned char *at = bytes;
  uint64_t hash = 0x9e3779b97f4a7c15u ^ length, word;
  for (; length >= 8; at += 8, length -= 8) {
    memcpy(&word, at, 8);
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  word = 0;
  memcpy(&word, at, length);
  hash = (hash ^ word) * 0xc4ceb9fe1a85ec53u;
  return hash ^ hash >> 29;
}

bool import_names_make(import_names *names, size_t count) {
  size_t size = 16, bytes;
  while (size < count * 2) size *= 2;
  if (!sk_multiply(size, sizeof *names->slots, &bytes)) return false;
  names->slots = sk_alloc_zero(bytes);
  names->mask = size - 1;
  return names->slots != NULL;
}

static import_name *find_slot(const import_names *names, const char *name, size_t length) {
  size_t at = import_hash(name, length) & names->mask;
  for (;; at = (at + 1) & names->mask) {
    import_name *slot = &names->slots[at];
    if (!slot->bytes || (slot->length == length && !memcmp(slot->bytes, name, length))) return slot;
  }
}

uint32_t import_names_add(import_names *names, const char *name, size_t length, uint32_t index) {
  import_name *slot = find_slot(names, name, length);
  if (!slot->bytes) *slot = (import_name){name, (uint32_t)length, index};
  return slot->index;
}

int64_t import_names_find(const import_names *names, const char *name, size_t length) {
  const import_name *slot = names->slots ? find_slot(names, name, length) : NULL;
  return slot && slot->bytes ? (int64_t)slot->index : SK_NONE;
}

void import_names_free(import_names *names) {
  sk_free(names->slots);
  names->slots = NULL;
}
