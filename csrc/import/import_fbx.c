/* import_fbx.c: what an FBX file has and Assimp does not tell: how many objects of a kind.

   A binary file is a tree of records, each of which says where it ends, and what it holds stands behind its
   properties: https://code.blender.org/2013/08/fbx-binary-file-format-specification */
#include <string.h>

#include "import_internal.h"

#define FIRST_RECORD 27 /* behind the magic, two bytes and the version */
#define WIDE_VERSION 7500u /* from here on numbers of a record take 8 bytes */

typedef struct fbx_record {
  const char *name;
  size_t length;      /* of the name */
  size_t inside, end; /* where the records in it begin, and the one behind it */
} fbx_record;

bool import_is_binary_fbx(const import_source *file) {
  return file->size > 20 && !memcmp(file->data, "Kaydara FBX Binary", 18);
}

/* False where the list ends, and for what does not lie before `limit`. */
static bool read_record(const import_source *file, size_t at, size_t limit, fbx_record *record) {
  size_t width = import_number(file->data + FIRST_RECORD - 4, 4) < WIDE_VERSION ? 4 : 8, head = 3 * width + 1;
  uint64_t end, properties;
  if (at > limit || limit - at < head) return false;
  end = import_number(file->data + at, width);
  properties = import_number(file->data + at + 2 * width, width);
  record->name = (const char *)file->data + at + head;
  record->length = file->data[at + head - 1];
  at += head + record->length;
  if (end > limit || end < at || properties > end - at) return false;
  record->inside = at + (size_t)properties;
  record->end = (size_t)end;
  return true;
}

static bool is_named(const fbx_record *record, const char *name) {
  return record->length == strlen(name) && !memcmp(record->name, name, record->length);
}

static void count_records(const import_source *file, size_t at, size_t limit, size_t *layers, size_t *stacks) {
  fbx_record object;
  for (; read_record(file, at, limit, &object); at = object.end) {
    *layers += is_named(&object, "AnimationLayer");
    *stacks += is_named(&object, "AnimationStack");
  }
}

static void count_in_binary(const import_source *file, size_t *layers, size_t *stacks) {
  fbx_record record;
  size_t at = FIRST_RECORD;
  for (; read_record(file, at, file->size, &record); at = record.end)
    if (is_named(&record, "Objects")) count_records(file, record.inside, record.end, layers, stacks);
}

/* Objects stand on lines of their own. Hardly anything else in a text of numbers has a capital A. */
static void count_in_text(const import_source *file, size_t *layers, size_t *stacks) {
  static const char layer[] = "AnimationLayer: ", stack[] = "AnimationStack: ";
  const size_t length = sizeof layer - 1;
  const char *begin = (const char *)file->data, *end = begin + file->size, *at;
  for (at = begin; (at = memchr(at, 'A', (size_t)(end - at))) != NULL; at++) {
    if (at == begin || at[-1] != '\t' || (size_t)(end - at) < length) continue;
    *layers += !memcmp(at, layer, length);
    *stacks += !memcmp(at, stack, length);
  }
}

void import_count_fbx_animations(const import_source *file, size_t *layers, size_t *stacks) {
  *layers = *stacks = 0;
  if (!import_is_binary_fbx(file)) count_in_text(file, layers, stacks);
  else if (file->size >= FIRST_RECORD) count_in_binary(file, layers, stacks);
}
