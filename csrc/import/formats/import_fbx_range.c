/* import_fbx_range.c: an AnimationStack's range, and a file for Assimp in which it cuts nothing.

   Assimp drops every key outside LocalStart and LocalStop, and with it the motion between the last key before the
   start and the first one inside; where both are 0 it shifts time by the first key of some curves. So it gets a copy
   of the file in which each stack has a range that holds all there is. What the file says is kept here. */
#include <stdio.h>
#include <string.h>

#include "../import_bytes.h"
#include "import_fbx.h"

#define DEPTH  32             /* lists in each other; files have some 8 */
#define LATEST (INT64_MAX - 20000) /* Assimp adds 10000 to it */

/* What a stack has where its new range comes, and so what must come with it. */
typedef enum place_kind {
  IN_LIST,    /* other properties */
  IN_NO_LIST, /* Properties70 without a list: it gets one */
  IN_STACK    /* no Properties70 */
} place_kind;

typedef struct place {
  size_t at;    /* in the file's bytes */
  size_t grown; /* bytes that come in up to here, and here */
  place_kind kind;
} place;

typedef struct writer { /* bytes NULL: they are only counted */
  uint8_t *bytes;
  size_t at, width;
} writer;

/* ---- writing ------------------------------------------------------------------------- */

static void put(writer *w, const void *data, size_t size) {
  if (w->bytes) memcpy(w->bytes + w->at, data, size);
  w->at += size;
}

static void put_number(writer *w, uint64_t number, size_t width) {
  uint8_t bytes[8];
  size_t i;
  for (i = 0; i < width; i++) bytes[i] = (uint8_t)(number >> 8 * i);
  put(w, bytes, width);
}

static void put_string(writer *w, const char *text) {
  put(w, "S", 1);
  put_number(w, strlen(text), 4);
  put(w, text, strlen(text));
}

static void put_zeros(writer *w, size_t count) {
  while (count--) put(w, "", 1);
}

/* A record's head; `inside` bytes follow its values. */
static void put_head(writer *w, const char *name, size_t count, size_t values, size_t inside) {
  size_t behind = w->at + 3 * w->width + 1 + strlen(name) + values + inside;
  put_number(w, behind, w->width);
  put_number(w, count, w->width);
  put_number(w, values, w->width);
  put_number(w, strlen(name), 1);
  put(w, name, strlen(name));
}

static void put_time(writer *w, const char *name, int64_t time) {
  put_head(w, "P", 5, 4 * 5 + strlen(name) + strlen("KTimeTime") + 9, 0);
  put_string(w, name);
  put_string(w, "KTime");
  put_string(w, "Time");
  put_string(w, "");
  put(w, "L", 1);
  put_number(w, (uint64_t)time, 8);
}

static void put_times(writer *w) {
  put_time(w, "LocalStart", (int64_t)(FBX_EARLIEST * FBX_SECOND));
  put_time(w, "LocalStop", LATEST);
}

static void put_binary(writer *w, place_kind kind) {
  writer times = {.width = w->width};
  size_t end = 3 * w->width + 1; /* of a list: an empty record */
  put_times(&times);
  if (kind == IN_STACK) put_head(w, "Properties70", 0, 0, times.at + end);
  put_times(w);
  if (kind != IN_LIST) put_zeros(w, end);
}

static void put_text(writer *w, place_kind kind) {
  char line[160];
  bool bare = kind != IN_LIST;
  int length = snprintf(line, sizeof line,
                        "%s\nP: \"LocalStart\", \"KTime\", \"Time\", \"\",%lld\nP: \"LocalStop\", \"KTime\", \"Time\", "
                        "\"\",%lld\n%s",
                        kind == IN_STACK ? "Properties70: {"
                        : bare           ? "{"
                                         : "",
                        (long long)(FBX_EARLIEST * FBX_SECOND), (long long)LATEST, bare ? "}\n" : "");
  put(w, line, (size_t)length);
}

static void put_range(writer *w, place_kind kind) {
  if (w->width) put_binary(w, kind);
  else put_text(w, kind);
}

/* ---- stacks --------------------------------------------------------------------------- */

static double time_of(const fbx_file *file, const fbx_record *stack, const char *name) {
  fbx_value value;
  return fbx_property(file, stack->inside, stack->inside_end, name, &value, 1) ? (double)value.whole : 0.0;
}

/* A range that is no range, or begins where Assimp has no keys, counts as none. */
static fbx_range range_of(const fbx_file *file, const fbx_record *stack) {
  fbx_range range = {time_of(file, stack, "LocalStart"), time_of(file, stack, "LocalStop"), false};
  range.ends = range.stop >= range.start && (range.start != 0.0 || range.stop != 0.0);
  if (range.start < FBX_EARLIEST * FBX_SECOND) range = (fbx_range){0.0, 0.0, false};
  return range;
}

static place place_of(const fbx_file *file, const fbx_record *stack) {
  fbx_record list;
  if (!fbx_find(file, stack->inside, stack->inside_end, "Properties70", &list))
    return (place){stack->inside, 0, IN_STACK};
  return (place){list.inside, 0, list.inside < list.end ? IN_LIST : IN_NO_LIST};
}

static sk_status list_stacks(import_job *job, const fbx_file *file, sk_array *places) {
  fbx_record objects, stack;
  size_t at, grown = 0;
  if (!fbx_enter(file, fbx_first(file), "Objects", &objects)) return SK_OK;
  for (at = objects.inside; fbx_read_record(file, at, objects.inside_end, &stack); at = stack.end) {
    writer counter = {.width = file->width};
    fbx_range *range;
    place *next;
    job->fbx->layers += fbx_is_named(&stack, "AnimationLayer");
    if (!fbx_is_named(&stack, "AnimationStack")) continue;
    range = sk_array_extend(&job->fbx->ranges, 1);
    if (!range) return import_no_memory(job, sizeof *range);
    *range = range_of(file, &stack);
    if (stack.inside == stack.inside_end) continue; /* Assimp leaves it out */
    next = sk_array_extend(places, 1);
    if (!next) return import_no_memory(job, sizeof *next);
    *next = place_of(file, &stack);
    put_range(&counter, next->kind);
    next->grown = grown += counter.at;
  }
  return SK_OK;
}

/* ---- the copy ---------------------------------------------------------------------------- */

/* Bytes that come in before `at`. */
static size_t grown_before(const sk_array *places, size_t at) {
  const place *list = places->data;
  size_t low = 0, high = places->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (list[middle].at < at) low = middle + 1;
    else high = middle;
  }
  return low ? list[low - 1].grown : 0;
}

/* In a binary file every record behind or around a new one ends elsewhere now. False where the file is not the tree
   that Assimp takes it for. */
static bool move_ends(const fbx_file *file, const sk_array *places, uint8_t *bytes) {
  size_t limits[DEPTH] = {file->size}, depth = 0, at = fbx_first(file), end_of_list = 3 * file->width + 1;
  for (;;) {
    fbx_record record;
    writer w = {bytes, at + grown_before(places, at + 1), file->width};
    if (at > limits[depth] || limits[depth] - at < end_of_list) return false;
    if (!import_number(file->data + at, file->width)) {
      if (!depth) return true;
      at += end_of_list;
      if (at != limits[depth--]) return false;
      continue;
    }
    if (!fbx_read_record(file, at, limits[depth], &record)) return false;
    put_number(&w, record.end + grown_before(places, record.end + 1), file->width);
    at = record.inside;
    if (record.inside == record.end) continue;
    if (++depth == DEPTH) return false;
    limits[depth] = record.end;
  }
}

static void copy_file(const fbx_file *file, const sk_array *places, writer *w) {
  const place *list = places->data;
  size_t i, from = 0;
  for (i = 0; i < places->count; i++) {
    put(w, file->data + from, list[i].at - from);
    put_range(w, list[i].kind);
    from = list[i].at;
  }
  put(w, file->data + from, file->size - from);
  put_zeros(w, 1);
}

static sk_status replace_file(import_job *job, const fbx_file *file, const sk_array *places) {
  import_source *model = job->files.sources.data;
  size_t size = file->size + ((const place *)places->data)[places->count - 1].grown;
  writer w = {.width = file->width};
  if (size > IMPORT_MAX_BYTES) return SK_OK;
  w.bytes = sk_alloc(size + 1);
  if (!w.bytes) return import_no_memory(job, size + 1);
  copy_file(file, places, &w);
  if (file->width && !move_ends(file, places, w.bytes)) {
    sk_free(w.bytes);
    return SK_OK;
  }
  import_source_free(model);
  model->data = model->owned = w.bytes;
  model->size = size;
  job->fbx->widened = true;
  return SK_OK;
}

sk_status import_fbx_open(import_job *job) {
  sk_array places = SK_ARRAY(place);
  fbx_file file;
  sk_status status;
  job->fbx = sk_alloc_zero(sizeof *job->fbx);
  if (!job->fbx) return import_no_memory(job, sizeof *job->fbx);
  job->fbx->ranges = SK_ARRAY(fbx_range);
  job->fbx->objects = SK_ARRAY(fbx_object);
  job->fbx->links = SK_ARRAY(fbx_link);
  job->fbx->stacks = SK_ARRAY(uint32_t);
  status = import_files_whole(job);
  if (status) return status;
  file = fbx_open(job->files.sources.data);
  status = list_stacks(job, &file, &places);
  if (!status && places.count) status = replace_file(job, &file, &places);
  sk_array_free(&places);
  return status;
}

void import_fbx_close(import_job *job) {
  import_fbx *fbx = job->fbx;
  if (!fbx) return;
  sk_array_free(&fbx->ranges);
  sk_array_free(&fbx->objects);
  sk_array_free(&fbx->links);
  sk_array_free(&fbx->stacks);
  import_names_free(&fbx->models);
  sk_free(fbx);
  job->fbx = NULL;
}
