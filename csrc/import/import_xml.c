/* import_xml.c: the tags of an XML text, one after another, and their attributes. Comments, CDATA and instructions hold
   no tags. Where the text is cut off or malformed there are no more tags: each byte is looked at a fixed number of
   times. */
#define _GNU_SOURCE /* memmem */
#include <string.h>

#include "import_xml.h"

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool ends_name(char c) { return is_space(c) || c == '/' || c == '>' || c == '='; }

/* Where the comment, CDATA section or instruction at `at` ends; `at` itself where there is none, NULL where the text
   ends in it. */
static const char *skip_other(const char *at, const char *end) {
  static const struct {
    const char *begin, *end;
  } others[] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
  size_t i;
  if (end - at < 2 || (at[1] != '!' && at[1] != '?')) return at;
  for (i = 0; i < sizeof others / sizeof *others; i++) {
    size_t length = strlen(others[i].begin);
    if ((size_t)(end - at) < length || memcmp(at, others[i].begin, length)) continue;
    at = memmem(at + length, (size_t)(end - at) - length, others[i].end, strlen(others[i].end));
    return at ? at + strlen(others[i].end) : NULL;
  }
  return at;
}

/* Where the tag ends: behind the next ">" outside of quotation marks; NULL where there is none. */
static const char *end_of_tag(const char *at, const char *end) {
  for (; at < end; at++) {
    if (*at == '>') return at + 1;
    if (*at != '"' && *at != '\'') continue;
    at = memchr(at + 1, *at, (size_t)(end - at - 1));
    if (!at) return NULL;
  }
  return NULL;
}

/* Most tags of a file are not among those that are wanted. */
static bool is_wanted(const import_xml *x, const char *at) {
  const char *const *name = x->names;
  at += 1 + (x->end - at > 1 && at[1] == '/');
  for (; name && *name; name++) {
    size_t length;
    if (at == x->end || *at != **name) continue;
    length = strlen(*name);
    if ((size_t)(x->end - at) > length && !memcmp(at, *name, length) && ends_name(at[length])) return true;
  }
  return !name;
}

static void read_tag(import_tag *tag, const char *at, const char *after) {
  tag->at = at;
  tag->after = after;
  tag->closes = at[1] == '/';
  tag->opens = !tag->closes && after[-2] != '/';
  tag->name = at + 1 + tag->closes;
  for (tag->length = 0; !ends_name(tag->name[tag->length]); tag->length++) {}
}

bool import_xml_next(import_xml *x, import_tag *tag) {
  const char *at = x->at, *after;
  while (at && (at = memchr(at, '<', (size_t)(x->end - at))) != NULL) {
    after = skip_other(at, x->end);
    if (after == at && !is_wanted(x, at)) {
      after = at + 1;
    } else if (after == at) {
      after = end_of_tag(at, x->end);
      if (after && at[1] != '!' && at[1] != '>') {
        x->at = after;
        read_tag(tag, at, after);
        return true;
      }
    }
    at = after;
  }
  x->at = x->end;
  return false;
}

bool import_tag_is(const import_tag *tag, const char *name) {
  return tag->length == strlen(name) && !memcmp(tag->name, name, tag->length);
}

/* The next attribute from `*at` on; false where there is none. */
static bool next_attribute(const char **at, const char *end, import_span *name, import_span *value) {
  const char *from = *at, *close;
  while (from < end && (ends_name(*from) || *from == '"' || *from == '\'')) from++;
  name->at = from;
  while (from < end && !ends_name(*from)) from++;
  name->length = (size_t)(from - name->at);
  while (from < end && (is_space(*from) || *from == '=')) from++;
  if (from == end || (*from != '"' && *from != '\'')) return false;
  close = memchr(from + 1, *from, (size_t)(end - from - 1));
  if (!close) return false;
  *value = (import_span){from + 1, (size_t)(close - from - 1)};
  *at = close + 1;
  return true;
}

import_span import_tag_attribute(const import_tag *tag, const char *key) {
  const char *at = tag->name + tag->length;
  import_span name, value;
  while (next_attribute(&at, tag->after - 1, &name, &value))
    if (name.length == strlen(key) && !memcmp(name.at, key, name.length))
      return memchr(value.at, '&', value.length) ? (import_span){NULL, 0} : value;
  return (import_span){NULL, 0};
}
