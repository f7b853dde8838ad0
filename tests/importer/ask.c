/* ask.c: imports files with limits and prints one line about each.

   usage: ask ASSIMP [NAME=VALUE...] FILE...   A line has the number of the status, then joints, vertices, clips and
   codes of the report, or the sentence of the error. Names: formats, format, external (a number), file_bytes, nodes,
   depth, vertices, keys, bytes (1: the model comes in memory), stack (MiB of the thread that imports). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../csrc/import/sk_import.h"

const sk_importer *sk_importer_open(void);

static struct {
  sk_import_request request;
  bool from_memory;
  size_t stack;
} wish = {.request = {.max_influences = 4, .join_vertices = SK_NONE, .frame = SK_NONE}};

static void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *data = NULL;
  *size = 0;
  if (!file) return NULL;
  for (;;) {
    data = realloc(data, *size + 65536);
    size_t got = data ? fread(data + *size, 1, 65536, file) : 0;
    *size += got;
    if (!got) break;
  }
  fclose(file);
  return data;
}

static void say(const sk_import_result *result) {
  sk_block block;
  sk_error error;
  if (sk_block_open(result->block, result->size, &block, &error)) {
    printf("99 %s\n", error.message);
    return;
  }
  const sk_section *entries = &block.sections[SK_SECTION_REPORT];
  const sk_report_entry *entry = entries->data;
  const char *text = block.sections[SK_SECTION_TEXT].data;
  printf("0 joints=%u vertices=%llu clips=%llu", block.info->joints, (unsigned long long)block.info->vertices,
         (unsigned long long)block.sections[SK_SECTION_CLIPS].rows);
  for (uint64_t i = 0; i < entries->rows; i++)
    printf(" %.*s", (int)entry[i].code.length, text + entry[i].code.offset);
  printf("\n");
}

static void *ask(void *path) {
  const sk_importer *importer = sk_importer_open();
  sk_import_request request = wish.request;
  sk_import_result result;
  sk_error error = {SK_OK, ""};
  void *data = NULL;
  if (wish.from_memory) data = read_file(path, &request.size);
  request.bytes = data;
  request.path = wish.from_memory ? NULL : path;
  if (importer->run(&request, &result, &error)) {
    printf("%d %s\n", (int)error.status, error.message);
  } else {
    say(&result);
    importer->release(result.block);
  }
  if (sk_bytes_in_use()) printf("99 %zu bytes were not given back\n", sk_bytes_in_use());
  free(data);
  fflush(stdout);
  return NULL;
}

static void set(char *option) {
  char *value = strchr(option, '=');
  static const char *const names[] = {"file_bytes", "nodes", "depth", "vertices", "keys"};
  uint64_t *limits = &wish.request.limits.file_bytes;
  size_t i;
  *value++ = 0;
  if (!strcmp(option, "formats")) wish.request.formats = value;
  if (!strcmp(option, "format")) wish.request.format = value;
  if (!strcmp(option, "external")) wish.request.external = (sk_external)atoi(value);
  if (!strcmp(option, "bytes")) wish.from_memory = atoi(value) != 0;
  if (!strcmp(option, "stack")) wish.stack = (size_t)atoi(value) << 20;
  for (i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(option, names[i])) limits[i] = strtoull(value, NULL, 10);
}

int main(int count, char **arguments) {
  const char *paths[] = {count > 1 ? arguments[1] : NULL, NULL};
  sk_error error = {SK_OK, ""};
  pthread_attr_t attributes;
  pthread_t thread;
  int i;
  if (sk_importer_open()->start(paths, &error)) {
    printf("%s\n", error.message);
    return 2;
  }
  for (i = 2; i < count; i++) {
    if (strchr(arguments[i], '=')) {
      set(arguments[i]);
      continue;
    }
    pthread_attr_init(&attributes);
    if (wish.stack) pthread_attr_setstacksize(&attributes, wish.stack);
    if (pthread_create(&thread, &attributes, ask, arguments[i])) return 2;
    pthread_join(thread, NULL);
  }
  return 0;
}
