/* import_bytes.h: small tools to read bytes of which nothing is known yet. Nothing here reads beyond the given size. */
#ifndef IMPORT_BYTES_H
#define IMPORT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define IMPORT_ANY_BYTE '~' /* in the words of import_has_bytes: any one byte */

/* The number that so many bytes hold, the lowest byte first. */
static inline uint64_t import_number(const uint8_t *at, size_t bytes) {
  uint64_t number = 0;
  while (bytes--) number = number << 8 | at[bytes];
  return number;
}

static inline uint32_t import_u32(const uint8_t *at) { return (uint32_t)import_number(at, 4); }

/* The float whose bits these are. */
static inline float import_float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline float import_float(const uint8_t *at) { return import_float_of(import_u32(at)); }

/* The offset at which a text begins: behind a byte order mark and white space. */
static inline size_t import_skip_space(const uint8_t *data, size_t size) {
  size_t at = size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
  while (at < size && data[at] && strchr(" \t\r\n\f", data[at])) at++;
  return at;
}

/* Whether these bytes stand at the offset; IMPORT_ANY_BYTE stands for any one byte. The bytes end at a zero byte. */
static inline bool import_has_bytes(const uint8_t *data, size_t size, size_t at, const char *bytes) {
  for (; *bytes && at < size; at++, bytes++)
    if (*bytes != IMPORT_ANY_BYTE && data[at] != (uint8_t)*bytes) return false;
  return !*bytes;
}

typedef struct import_cursor { /* walks over the bytes of a binary file */
  const uint8_t *data; /* not owned */
  size_t at, end; /* offsets; at <= end */
  bool past; /* more was asked for than there is; from then on every number is 0 */
} import_cursor;

/* Moves on by so many bytes; to the end, and `past`, where there are fewer. */
static inline void import_skip(import_cursor *c, uint64_t bytes) {
  c->past |= bytes > c->end - c->at;
  c->at = c->past ? c->end : c->at + (size_t)bytes;
}

/* The next bytes as a number, the lowest byte first. */
static inline uint32_t import_take(import_cursor *c, size_t bytes) {
  size_t at = c->at;
  import_skip(c, bytes);
  return c->past ? 0 : (uint32_t)import_number(c->data + at, bytes);
}

#endif
