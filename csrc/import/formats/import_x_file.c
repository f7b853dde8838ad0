/* import_x_file.c: text, binary and compressed .x files, read to one tree. */
#include "import_x_file.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include <zlib.h>

#include "../import_bytes.h"
#include "../import_limit.h"

#define HEADER 16       /* bytes: "xof ", version, encoding, bits of a float */
#define WINDOW 32768 /* bytes of the text so far to which MSZIP's blocks refer */

typedef enum x_word { X_END, X_OPEN, X_CLOSE, X_NAME, X_TEXT, X_NUMBER, X_TEMPLATE, X_OTHER, X_BROKEN } x_word;

typedef struct x_reader {
  import_job *job;
  x_file *file;
  const char *start, *at, *end;
  bool is_binary;
  size_t float_size;  /* binary: bytes of a float */
  uint32_t left;      /* binary: numbers of the list that was begun */
  bool left_is_float;
  import_span span;   /* of the last name or text */
  double number;
  int32_t open;       /* the object whose members follow */
} x_reader;

/* ---- compressed files -------------------------------------------------------------------------- */

/* One block of MSZIP: "CK", and deflated bytes that may refer to those before them. It fills the last `full` bytes. */
static bool inflate_block(z_stream *z, const sk_array *out, const uint8_t *data, size_t size, size_t full) {
  size_t before = out->count - full, window = before < WINDOW ? before : WINDOW;
  uint8_t *to;
  int result;
  if (!full) return true;
  to = (uint8_t *)out->data + before;
  if (inflateReset(z) != Z_OK) return false;
  if (window && inflateSetDictionary(z, to - window, (uInt)window) != Z_OK) return false;
  z->next_in = (Bytef *)(uintptr_t)data, z->avail_in = (uInt)size;
  z->next_out = to, z->avail_out = (uInt)full;
  result = inflate(z, Z_SYNC_FLUSH);
  return (result == Z_STREAM_END || result == Z_OK) && !z->avail_out;
}

/* Behind the header stand the size of the whole text, and blocks: their size inflated and deflated, and "CK". */
static sk_status inflate_file(x_reader *x) {
  const import_source *source = x->job->files.sources.data;
  import_cursor c = {source->data, HEADER, source->size, false};
  sk_array *out = &x->file->bytes;
  z_stream z = {0};
  bool good = inflateInit2(&z, -MAX_WBITS) == Z_OK;
  sk_status status = good ? SK_OK : import_no_memory(x->job, sizeof z);
  import_skip(&c, 4);
  while (good && c.end - c.at >= 6) {
    size_t full = import_take(&c, 2), size = import_take(&c, 2), at = c.at;
    import_skip(&c, size);
    if (full > x->job->files.max_total - out->count) {
      x->job->files.exceeded = (uint64_t)out->count + full;
      status = import_check_bytes(x->job);
      break;
    }
    good = !c.past && size >= 2 && !memcmp(c.data + at, "CK", 2);
    if (good && full && !sk_array_room(out, full)) {
      status = import_no_memory(x->job, full);
      break;
    }
    good = good && inflate_block(&z, out, c.data + at + 2, size - 2, full);
  }
  inflateEnd(&z);
  if (!status && !good) status = sk_fail(x->job->error, SK_ERROR_IMPORT, "its compressed bytes are damaged");
  x->start = x->at = out->count ? out->data : "", x->end = x->start + out->count;
  return status;
}

/* ---- words of text ------------------------------------------------------------------------------ */

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || !c; }
static bool is_separator(char c) { return c == ';' || c == ','; }
static bool ends_word(char c) { return is_space(c) || is_separator(c) || c == '{' || c == '}' || c == '"'; }

static void skip_between(x_reader *x) {
  while (x->at < x->end) {
    bool comment = *x->at == '#' || (*x->at == '/' && x->end - x->at > 1 && x->at[1] == '/');
    if (!comment && !is_space(*x->at) && !is_separator(*x->at)) return;
    while (comment && x->at < x->end && *x->at != '\n' && *x->at != '\r') x->at++;
    x->at += x->at < x->end;
  }
}

/* Everything up to a letter. */
static x_word take_until(x_reader *x, char last, x_word word) {
  const char *first = x->at, *found = memchr(first, last, (size_t)(x->end - first));
  if (!found) return X_BROKEN;
  x->span = (import_span){first, (size_t)(found - first)};
  x->at = found + 1;
  return word;
}

/* Programs write what is not a number as "nan", "-nan(ind)" or "1.#IND00". */
static bool is_number(x_reader *x) {
  const char *at = x->span.at;
  size_t length = x->span.length;
  bool sign = *at == '-' || *at == '+';
  x->number = import_decimal(at, length);
  if (!isnan(x->number)) return true;
  if (sign) return true;
  if (*at >= '0' && *at <= '9' && memchr(at, '#', length)) return true;
  return length == 3 && (!strncasecmp(at, "nan", 3) || !strncasecmp(at, "inf", 3));
}

static x_word next_of_text(x_reader *x) {
  skip_between(x);
  if (x->at == x->end) return X_END;
  switch (*x->at++) {
  case '{': return X_OPEN;
  case '}': return X_CLOSE;
  case '"': return take_until(x, '"', X_TEXT);
  case '<': return take_until(x, '>', X_OTHER);
  default: break;
  }
  x->span.at = x->at - 1;
  while (x->at < x->end && !ends_word(*x->at)) x->at++;
  x->span.length = (size_t)(x->at - x->span.at);
  if (is_number(x)) return X_NUMBER;
  return x->span.length == 8 && !memcmp(x->span.at, "template", 8) ? X_TEMPLATE : X_NAME;
}

/* ---- words of bytes -------------------------------------------------------------------------------- */

/* Fewer bytes than were asked for are all that is left. */
static uint64_t take_bytes(x_reader *x, size_t bytes) {
  size_t left = (size_t)(x->end - x->at);
  uint64_t number;
  if (bytes > left) {
    x->at = x->end;
    return 0;
  }
  number = import_number((const uint8_t *)x->at, bytes);
  x->at += bytes;
  return number;
}

static x_word next_of_list(x_reader *x) {
  size_t size = x->left_is_float ? x->float_size : 4;
  uint64_t bits;
  if ((size_t)(x->end - x->at) < size) return X_BROKEN;
  bits = take_bytes(x, size);
  x->left--;
  x->number = x->left_is_float ? import_float_of((uint32_t)bits) : (double)(uint32_t)bits;
  if (x->left_is_float && size == 8) memcpy(&x->number, &bits, sizeof bits);
  return X_NUMBER;
}

static x_word take_name(x_reader *x, x_word word) {
  uint32_t length = (uint32_t)take_bytes(x, 4);
  if (length > (size_t)(x->end - x->at)) return X_BROKEN;
  x->span = (import_span){x->at, length};
  x->at += length;
  return word;
}

/* A number, or the length of a list of them. */
static x_word begin_list(x_reader *x, uint32_t count, bool is_float) {
  x->left = count;
  x->left_is_float = is_float;
  return count ? next_of_list(x) : X_OTHER;
}

/* The numbers of tokens are those of Microsoft's reference. */
static x_word next_of_bytes(x_reader *x) {
  if (x->left) return next_of_list(x);
  if (x->end - x->at < 2) return X_END;
  switch (take_bytes(x, 2)) {
  case 1: return take_name(x, X_NAME);
  case 2: return take_name(x, X_TEXT);
  case 3: return begin_list(x, 1, false);
  case 5: return take_bytes(x, 8), take_bytes(x, 8), X_OTHER;
  case 6: return begin_list(x, (uint32_t)take_bytes(x, 4), false);
  case 7: return begin_list(x, (uint32_t)take_bytes(x, 4), true);
  case 10: return X_OPEN;
  case 11: return X_CLOSE;
  case 31: return X_TEMPLATE;
  default: return X_OTHER;
  }
}

static x_word next(x_reader *x) { return x->is_binary ? next_of_bytes(x) : next_of_text(x); }

/* ---- objects ------------------------------------------------------------------------------------------ */

static sk_status fail(const x_reader *x, const char *words) {
  size_t line = 1;
  const char *at;
  if (x->is_binary) return sk_fail(x->job->error, SK_ERROR_IMPORT, "byte %zu: %s", (size_t)(x->at - x->start), words);
  for (at = x->start; at < x->at; at++) line += *at == '\n';
  return sk_fail(x->job->error, SK_ERROR_IMPORT, "line %zu: %s", line, words);
}

static x_kind kind_of(import_span type) {
  static const struct {
    const char *name;
    x_kind kind;
  } kinds[] = {{"Frame", X_FRAME},
               {"FrameTransformMatrix", X_FRAME_MATRIX},
               {"Mesh", X_MESH},
               {"PatchMesh", X_OTHER_GEOMETRY},
               {"PatchMesh9", X_OTHER_GEOMETRY},
               {"ProgressiveMesh", X_OTHER_GEOMETRY},
               {"MeshNormals", X_NORMALS},
               {"MeshTextureCoords", X_COORDINATES},
               {"MeshVertexColors", X_COLORS},
               {"DeclData", X_DECLARED_DATA},
               {"FVFData", X_FVF_DATA},
               {"SkinWeights", X_SKIN_WEIGHTS},
               {"MeshMaterialList", X_MATERIAL_LIST},
               {"Material", X_MATERIAL},
               {"TextureFilename", X_TEXTURE},
               {"NormalmapFilename", X_NORMAL_MAP},
               {"EffectInstance", X_EFFECT},
               {"AnimTicksPerSecond", X_TICKS},
               {"AnimationSet", X_ANIMATION_SET},
               {"Animation", X_ANIMATION},
               {"AnimationKey", X_KEY}};
  size_t i;
  for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strlen(kinds[i].name) == type.length && !strncasecmp(kinds[i].name, type.at, type.length)) return kinds[i].kind;
  return X_UNKNOWN;
}

static x_object *add_object(x_reader *x, x_kind kind) {
  sk_array *objects = &x->file->objects;
  x_object *added = objects->count < INT32_MAX ? sk_array_extend(objects, 1) : NULL;
  if (!added) {
    import_no_memory(x->job, sizeof *added);
    return NULL;
  }
  added->kind = kind;
  added->parent = x->open;
  added->end = (uint32_t)objects->count;
  added->first = x->file->numbers.count;
  return added;
}

/* "{ name }" or "{ name <id> }". */
static sk_status read_reference(x_reader *x) {
  x_object *object = add_object(x, X_REFERENCE);
  x_word word = object ? next(x) : X_CLOSE;
  if (!object) return SK_ERROR_MEMORY;
  for (; word != X_CLOSE; word = next(x)) {
    if (word == X_END || word == X_OPEN || word == X_BROKEN) return fail(x, "a reference without its \"}\"");
    if (word != X_OTHER && !object->name.length) object->name = x->span;
  }
  return SK_OK;
}

/* "Type name {" or "Type {". In text any word is a name, also one that begins with a digit. */
static sk_status read_head(x_reader *x) {
  x_object *object = add_object(x, kind_of(x->span));
  x_word word = object ? next(x) : X_OPEN;
  if (!object) return SK_ERROR_MEMORY;
  if (word == X_NAME || word == X_TEMPLATE || word == X_TEXT || (word == X_NUMBER && !x->is_binary)) {
    object->name = x->span;
    word = next(x);
  }
  if (word != X_OPEN) return fail(x, "an object without its \"{\"");
  x->open = (int32_t)x->file->objects.count - 1;
  return SK_OK;
}

static sk_status skip_template(x_reader *x) {
  x_word word;
  do {
    word = next(x);
    if (word == X_END || word == X_BROKEN) return fail(x, "a template without its \"}\"");
  } while (word != X_CLOSE);
  return SK_OK;
}

/* The numbers of an object stand in front of the objects within it. */
static sk_status add_number(x_reader *x) {
  x_object *object = x->open < 0 ? NULL : (x_object *)x->file->objects.data + x->open;
  double *added;
  if (!object || x->file->objects.count != (size_t)x->open + 1) return SK_OK;
  added = sk_array_room(&x->file->numbers, 1);
  if (!added) return import_no_memory(x->job, sizeof *added);
  *added = x->number;
  object->count++;
  return SK_OK;
}

static void close_object(x_reader *x) {
  x_object *object;
  if (x->open < 0) return;
  object = (x_object *)x->file->objects.data + x->open;
  object->end = (uint32_t)x->file->objects.count;
  x->open = object->parent;
}

static sk_status read_word(x_reader *x, x_word word) {
  x_object *object;
  switch (word) {
  case X_OPEN: return read_reference(x);
  case X_NAME: return read_head(x);
  case X_TEMPLATE: return skip_template(x);
  case X_NUMBER: return add_number(x);
  case X_CLOSE: return close_object(x), SK_OK;
  case X_BROKEN: return fail(x, "the file ends within a name, a text or a list of numbers");
  case X_TEXT:
    object = x->open < 0 ? NULL : (x_object *)x->file->objects.data + x->open;
    if (object && !object->text.length) object->text = x->span;
    return SK_OK;
  default: return SK_OK;
  }
}

static sk_status read_objects(x_reader *x) {
  sk_status status = SK_OK;
  x_word word = X_OTHER;
  while (!status && word != X_END) {
    word = next(x);
    if (word != X_END) status = read_word(x, word);
  }
  return !status && x->open >= 0 ? fail(x, "the file ends within an object") : status;
}

/* ---- the file ------------------------------------------------------------------------------------------ */

sk_status x_file_read(import_job *job, x_file *file) {
  const import_source *source = job->files.sources.data;
  x_reader x = {.job = job, .file = file, .open = SK_NONE};
  const char *encoding;
  sk_status status = import_files_whole(job);
  *file = (x_file){SK_ARRAY(x_object), SK_ARRAY(double), SK_ARRAY(uint8_t)};
  source = job->files.sources.data;
  if (status) return status;
  if (source->size < HEADER) return sk_fail(job->error, SK_ERROR_IMPORT, "the file ends within its header");
  encoding = (const char *)source->data + 8;
  x.start = (const char *)source->data;
  x.at = x.start + HEADER, x.end = x.start + source->size;
  x.is_binary = !memcmp(encoding, "bin ", 4) || !memcmp(encoding, "bzip", 4);
  x.float_size = memcmp(encoding + 4, "0064", 4) ? 4 : 8;
  if (!memcmp(encoding, "tzip", 4) || !memcmp(encoding, "bzip", 4)) status = inflate_file(&x);
  else if (!x.is_binary && memcmp(encoding, "txt ", 4))
    return sk_fail(job->error, SK_ERROR_IMPORT, "its encoding is unknown; expected txt, bin, tzip or bzip");
  return status ? status : read_objects(&x);
}

void x_file_free(x_file *file) {
  sk_array_free(&file->objects);
  sk_array_free(&file->numbers);
  sk_array_free(&file->bytes);
}

/* ---- numbers --------------------------------------------------------------------------------------------- */

x_numbers x_numbers_of(const x_file *file, const x_object *object) {
  const double *first = object->count ? (const double *)file->numbers.data + object->first : NULL;
  return (x_numbers){first, object->count ? first + object->count : NULL};
}

uint32_t x_take_index(x_numbers *n) {
  double number = n->at < n->end ? *n->at++ : -1.0;
  return number >= 0.0 && number < UINT32_MAX && number == floor(number) ? (uint32_t)number : UINT32_MAX;
}

bool x_take_count(x_numbers *n, size_t width, uint32_t *count) {
  *count = x_take_index(n);
  return *count <= x_left(n) / width;
}

const double *x_take(x_numbers *n, size_t count) {
  static const double nothing = 0.0;
  const double *at = n->at;
  if (!count) return &nothing; /* not NULL, which says that there are fewer */
  if (count > x_left(n)) return NULL;
  n->at += count;
  return at;
}
