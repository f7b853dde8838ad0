/* import_collada_xml.c: see import_collada_xml.h. Expat reads the XML. */
#include "import_collada_xml.h"

#include <expat.h>
#include <math.h>
#include <string.h>

/* Bytes that Expat gets at once. It copies them; but behind every piece, except the last, it counts their lines. */
#define PIECE        ((size_t)16 << 20)
#define MAX_SEARCHED 4096u /* elements inside of another: searches may be as many as there are elements */

typedef struct dae_value { /* of an attribute */
  uint16_t word;
  uint32_t text, length;
} dae_value;

typedef struct reading {
  import_job *job;
  dae_tree *tree;
  XML_Parser parser;
  import_names words; /* name -> dae_word */
  uint32_t open;      /* the innermost open element */
  size_t text;        /* where its text begins */
  bool has_children;  /* it has, so that its text is only the space between them */
  bool has_entities, is_full, no_memory;
} reading;

/* ---- building ------------------------------------------------------------------------------------ */

static void *resize(void *memory, size_t size) { return sk_realloc(memory, size); }

static bool make_words(import_names *words) {
  static const char *const names[] = {
#define DAE_WORD_TEXT(name) #name,
      DAE_WORD_TABLE(DAE_WORD_TEXT)
#undef DAE_WORD_TEXT
  };
  uint32_t i;
  if (!import_names_make(words, DAE_WORD_COUNT)) return false;
  for (i = 0; i + 1 < DAE_WORD_COUNT; i++) import_names_add(words, names[i], strlen(names[i]), i + 1);
  return true;
}

/* A prefix, "c:node", says nothing: all names are those of COLLADA. */
static uint16_t word_of(const reading *r, const char *name) {
  const char *colon = strchr(name, ':');
  int64_t found;
  if (colon) name = colon + 1;
  found = import_names_find(&r->words, name, strlen(name));
  return found < 0 ? DAE_OTHER : (uint16_t)found;
}

static void stop(reading *r, bool *why) {
  *why = true;
  XML_StopParser(r->parser, XML_FALSE);
}

static bool put_text(reading *r, const char *text, size_t length) {
  char *added;
  if (r->tree->text.count + length > UINT32_MAX) {
    stop(r, &r->is_full);
    return false;
  }
  added = sk_array_room(&r->tree->text, length);
  if (!added) stop(r, &r->no_memory);
  else memcpy(added, text, length);
  return added != NULL;
}

static void put_attribute(reading *r, dae_element *element, const char *name, const char *text) {
  uint16_t word = word_of(r, name);
  size_t length = strlen(text);
  dae_value *added;
  if (word == DAE_OTHER || element->attribute_count == UINT16_MAX) return;
  added = sk_array_room(&r->tree->attributes, 1);
  if (!added) {
    stop(r, &r->no_memory);
    return;
  }
  *added = (dae_value){word, (uint32_t)r->tree->text.count, (uint32_t)length};
  if (!put_text(r, text, length)) added->length = 0;
  element->attribute_count++;
}

static void XMLCALL begin_element(void *user, const char *name, const char **attributes) {
  reading *r = user;
  dae_tree *tree = r->tree;
  dae_element *element;
  if (!r->has_children) tree->text.count = r->text;
  element = tree->elements.count < UINT32_MAX ? sk_array_extend(&tree->elements, 1) : NULL;
  if (!element) {
    stop(r, &r->no_memory);
    return;
  }
  element->word = word_of(r, name);
  element->parent = r->open;
  element->first_attribute = (uint32_t)tree->attributes.count;
  for (; *attributes; attributes += 2) put_attribute(r, element, attributes[0], attributes[1]);
  r->open = (uint32_t)tree->elements.count - 1;
  r->text = tree->text.count;
  r->has_children = false;
}

static bool is_space(char c) { return (unsigned char)c <= ' '; }

static void XMLCALL end_element(void *user, const char *name) {
  reading *r = user;
  dae_element *element = dae_at(r->tree, r->open);
  const char *text = r->tree->text.data;
  size_t from = r->text, to = r->has_children ? from : r->tree->text.count;
  (void)name;
  while (from < to && is_space(text[from])) from++;
  while (from < to && is_space(text[to - 1])) to--;
  element->text = (uint32_t)from;
  element->length = (uint32_t)(to - from);
  element->end = (uint32_t)r->tree->elements.count;
  if (!r->has_children) r->tree->text.count = to;
  r->open = element->parent;
  r->text = r->tree->text.count;
  r->has_children = true;
}

static void XMLCALL add_text(void *user, const char *text, int length) {
  reading *r = user;
  if (r->has_children) return;
  for (; r->tree->text.count == r->text && length && is_space(*text); length--) text++;
  if (length) put_text(r, text, (size_t)length);
}

/* Neither files outside nor texts that grow as they are put in are needed for COLLADA. */
static void XMLCALL refuse_entity(void *user, const char *name, int is_parameter, const char *value, int length,
                                  const char *base, const char *system, const char *public, const char *notation) {
  (void)name, (void)is_parameter, (void)value, (void)length, (void)base, (void)system, (void)public, (void)notation;
  stop(user, &((reading *)user)->has_entities);
}

/* Windows' encodings and their like: the bytes stand for themselves, as in Latin 1. Numbers are ASCII in all of them. */
static int XMLCALL read_as_latin(void *user, const char *name, XML_Encoding *encoding) {
  int i;
  (void)user, (void)name;
  for (i = 0; i < 256; i++) encoding->map[i] = i;
  encoding->data = NULL;
  encoding->convert = NULL;
  encoding->release = NULL;
  return XML_STATUS_OK;
}

/* ---- the file ---------------------------------------------------------------------------------------- */

static sk_status explain(reading *r, enum XML_Error error) {
  import_job *job = r->job;
  if (r->no_memory || error == XML_ERROR_NO_MEMORY) return import_no_memory(job, sizeof(dae_element));
  if (r->is_full) return sk_fail(job->error, SK_ERROR_IMPORT, "the file has more than 4 GiB of text");
  if (r->has_entities)
    return sk_fail(job->error, SK_ERROR_IMPORT,
                   "the file declares entities, which are not read; export it without a DOCTYPE");
  return sk_fail(job->error, SK_ERROR_IMPORT, "malformed XML in line %llu: %s",
                 (unsigned long long)XML_GetCurrentLineNumber(r->parser), XML_ErrorString(error));
}

static bool is_whole(const reading *r) { return !r->open && r->tree->elements.count > 1; }

/* `encoding` NULL: as the file says. */
static enum XML_Error parse(reading *r, const char *encoding) {
  static const XML_Memory_Handling_Suite memory = {sk_alloc, resize, sk_free};
  const import_source *file = r->job->files.sources.data;
  enum XML_Error error = XML_ERROR_NONE;
  size_t at, piece;
  r->parser = XML_ParserCreate_MM(encoding, &memory, NULL);
  if (!r->parser || !sk_array_extend(&r->tree->elements, 1)) return XML_ERROR_NO_MEMORY;
  r->has_children = true;
  /* Set here, because Expat would ask the system for it, which a closed worker may not. */
  XML_SetHashSalt(r->parser, (unsigned long)((uintptr_t)r->parser >> 4 ^ (uintptr_t)r) | 1u);
  XML_SetUserData(r->parser, r);
  XML_SetElementHandler(r->parser, begin_element, end_element);
  XML_SetCharacterDataHandler(r->parser, add_text);
  XML_SetEntityDeclHandler(r->parser, refuse_entity);
  XML_SetUnknownEncodingHandler(r->parser, read_as_latin, NULL);
  for (at = 0; at < file->size && !error; at += piece) {
    piece = file->size - at < PIECE ? file->size - at : PIECE;
    if (XML_Parse(r->parser, (const char *)file->data + at, (int)piece, at + piece == file->size) != XML_STATUS_OK)
      error = XML_GetErrorCode(r->parser);
  }
  return error;
}

static void reset(reading *r) {
  if (r->parser) XML_ParserFree(r->parser);
  r->parser = NULL;
  r->open = 0, r->text = 0;
  r->tree->elements.count = r->tree->attributes.count = r->tree->text.count = 0;
}

static bool has_high_bytes(const import_source *file) {
  size_t i;
  for (i = 0; i < file->size && file->data[i] < 0x80; i++) continue;
  return i < file->size;
}

static sk_status list_ids(import_job *job, dae_tree *tree) {
  uint32_t i, count = (uint32_t)tree->elements.count;
  size_t ids = 0;
  const dae_value *values = tree->attributes.data;
  for (i = 0; i < tree->attributes.count; i++) ids += values[i].word == DAE_id;
  if (!import_names_make(&tree->ids, ids)) return import_no_memory(job, ids);
  for (i = 1; i < count; i++) {
    import_span id = dae_attribute(tree, i, DAE_id);
    if (id.length) import_names_add(&tree->ids, id.at, id.length, i);
  }
  return SK_OK;
}

/* Without its folder; empty for a model that came as bytes. */
static import_span name_of_file(const import_job *job) {
  const char *path = job->request->path ? job->request->path : "", *slash = strrchr(path, '/');
  if (slash) path = slash + 1;
  return (import_span){path, strlen(path)};
}

/* A file that is not in the encoding that it states, mostly UTF-8, is read once more as Latin 1. What stands behind the
   end of the document is ignored. */
sk_status dae_read_tree(import_job *job, dae_tree *tree) {
  reading r = {.job = job, .tree = tree};
  enum XML_Error error = XML_ERROR_NO_MEMORY;
  sk_status status = SK_OK;
  *tree = (dae_tree){SK_ARRAY(dae_element), SK_ARRAY(dae_value), SK_ARRAY(char), {NULL, 0}, name_of_file(job)};
  if (make_words(&r.words)) error = parse(&r, NULL);
  if (error == XML_ERROR_INVALID_TOKEN && !is_whole(&r) && has_high_bytes(job->files.sources.data)) {
    reset(&r);
    error = parse(&r, "ISO-8859-1");
  }
  if (error && (error == XML_ERROR_NO_MEMORY || !is_whole(&r) || r.has_entities || r.no_memory || r.is_full))
    status = explain(&r, error);
  if (!status) dae_at(tree, 0)->end = (uint32_t)tree->elements.count;
  if (!status && !dae_child(tree, 0, DAE_COLLADA))
    status = sk_fail(job->error, SK_ERROR_IMPORT, "the file has no element \"COLLADA\"");
  if (!status) status = list_ids(job, tree);
  if (r.parser) XML_ParserFree(r.parser);
  import_names_free(&r.words);
  return status;
}

void dae_free_tree(dae_tree *tree) {
  sk_array_free(&tree->elements);
  sk_array_free(&tree->attributes);
  sk_array_free(&tree->text);
  import_names_free(&tree->ids);
}

/* ---- looking --------------------------------------------------------------------------------------------- */

uint32_t dae_child(const dae_tree *tree, uint32_t parent, dae_word word) {
  uint32_t child;
  if (!parent && word != DAE_COLLADA) return DAE_NONE;
  for (DAE_EACH(tree, parent, child))
    if (dae_at(tree, child)->word == word) return child;
  return DAE_NONE;
}

uint32_t dae_inside(const dae_tree *tree, uint32_t parent, dae_word word) {
  uint32_t element, end = dae_at(tree, parent)->end;
  if (end - parent > MAX_SEARCHED) end = parent + MAX_SEARCHED;
  for (element = parent + 1; parent && element < end; element++)
    if (dae_at(tree, element)->word == word) return element;
  return DAE_NONE;
}

uint32_t dae_around(const dae_tree *tree, uint32_t element, dae_word word) {
  int level;
  for (level = 0; level < 3 && element; level++, element = dae_at(tree, element)->parent)
    if (dae_at(tree, element)->word == word) return element;
  return DAE_NONE;
}

import_span dae_text(const dae_tree *tree, uint32_t element) {
  const dae_element *e = dae_at(tree, element);
  if (!element || !e->length) return (import_span){"", 0};
  return (import_span){(const char *)tree->text.data + e->text, e->length};
}

import_span dae_attribute(const dae_tree *tree, uint32_t element, dae_word name) {
  const dae_element *e = dae_at(tree, element);
  const dae_value *values = tree->attributes.data;
  uint32_t i;
  for (i = e->first_attribute; element && i < e->first_attribute + e->attribute_count; i++)
    if (values[i].word == name && values[i].length)
      return (import_span){(const char *)tree->text.data + values[i].text, values[i].length};
  return (import_span){"", 0};
}

uint32_t dae_attribute_number(const dae_tree *tree, uint32_t element, dae_word name, uint32_t absent) {
  import_span text = dae_attribute(tree, element, name);
  uint32_t number;
  return dae_next_index(&text, &number) ? number : absent;
}

uint32_t dae_find(const dae_tree *tree, import_span id) {
  int64_t found = id.length ? import_names_find(&tree->ids, id.at, id.length) : SK_NONE;
  return found < 0 ? DAE_NONE : (uint32_t)found;
}

uint32_t dae_follow(const dae_tree *tree, import_span reference) {
  size_t own = tree->file.length;
  if (reference.length > 2 && !memcmp(reference.at, "./", 2)) reference.at += 2, reference.length -= 2;
  if (own && reference.length > own && !memcmp(reference.at, tree->file.at, own) && reference.at[own] == '#')
    reference.at += own, reference.length -= own;
  if (reference.length && *reference.at == '#') reference.at++, reference.length--;
  return dae_find(tree, reference);
}

import_span dae_title(const dae_tree *tree, uint32_t element) {
  import_span title = dae_attribute(tree, element, DAE_name);
  if (!title.length) title = dae_attribute(tree, element, DAE_id);
  return title.length ? title : dae_attribute(tree, element, DAE_sid);
}

/* ---- words and numbers ---------------------------------------------------------------------------------------- */

bool dae_is(import_span span, const char *text) {
  return span.length == strlen(text) && !memcmp(span.at, text, span.length);
}

bool dae_next_word(import_span *rest, import_span *word) {
  const char *at = rest->at, *end = at + rest->length;
  while (at < end && is_space(*at)) at++;
  word->at = at;
  while (at < end && !is_space(*at)) at++;
  word->length = (size_t)(at - word->at);
  *rest = (import_span){at, (size_t)(end - at)};
  return word->length > 0;
}

/* Reads a number such as "-12.5", of up to 18 digits and without an exponent, and returns where it ends; NULL for other
   words. The result is that of import_decimal. */
static const char *read_plain(const char *at, const char *end, double *number) {
  bool negative = *at == '-';
  const char *first = at += negative, *point = NULL;
  uint64_t digits = 0;
  for (; at < end; at++) {
    unsigned digit = (unsigned)(*at - '0');
    if (digit < 10) digits = 10 * digits + digit;
    else if (*at == '.' && !point) point = at;
    else break;
  }
  if (at - first > 18 || at - first - (point != NULL) < 1 || (at < end && !is_space(*at))) return NULL;
  *number = (double)digits;
  if (point) *number /= import_power_of_ten((int)(at - point - 1));
  if (negative) *number = -*number;
  return at;
}

bool dae_next_number(import_span *rest, double *number) {
  const char *at = rest->at, *end = at + rest->length, *behind;
  import_span word;
  while (at < end && is_space(*at)) at++;
  behind = at < end ? read_plain(at, end, number) : NULL;
  if (behind) {
    *rest = (import_span){behind, (size_t)(end - behind)};
    return true;
  }
  if (!dae_next_word(rest, &word)) return false;
  *number = import_decimal(word.at, word.length);
  if (isnan(*number)) *number = import_comma_decimal(word);
  return true;
}

bool dae_next_index(import_span *rest, uint32_t *index) {
  const char *at = rest->at, *end = at + rest->length;
  uint64_t number = 0;
  while (at < end && is_space(*at)) at++;
  if (at == end) {
    rest->length = 0;
    return false;
  }
  for (; at < end && !is_space(*at); at++) {
    unsigned digit = (unsigned)(*at - '0');
    number = digit < 10 && number < UINT32_MAX ? 10 * number + digit : UINT32_MAX;
  }
  *index = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
  *rest = (import_span){at, (size_t)(end - at)};
  return true;
}

int dae_numbers_of(import_span text, double *numbers, int count) {
  int i = 0;
  while (i < count && dae_next_number(&text, &numbers[i])) i++;
  return i;
}
