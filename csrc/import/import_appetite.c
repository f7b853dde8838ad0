/* import_appetite.c: what the import of a model will be like, before Assimp has read any of it. */
#include <string.h>
#include <strings.h>

#include "import_internal.h"

/* Bytes taken for a byte of the file, in the middle of some models of each format: FBX takes 4 to 9, and in text 14 to
   21, as Assimp keeps each word, and a number is two of them. glTF is not here: what is large in it, Assimp does not
   get. */
static const struct { const char *format; uint8_t binary, text; } table[] = {
    {"fbx", 6, 16}, {"stl", 6, 2}, {"dae", 5, 5}, {"obj", 9, 9}, {"ply", 3, 3}, {"x", 3, 3}};

static bool is_binary(const char *format, const import_source *file, size_t whole) {
  return strcasecmp(format, "stl") ? import_is_binary_fbx(file) : import_is_binary_stl(file->data, file->size, whole);
}

size_t import_appetite(const sk_import_request *request) {
  uint8_t head[128];
  size_t room = sizeof head, whole, i;
  const char *format = import_files_peek(request, head, &room, &whole);
  const import_source file = {.data = head, .size = room};
  for (i = 0; i < sizeof table / sizeof *table; i++)
    if (!strcasecmp(table[i].format, format) && whole < IMPORT_MAX_BYTES)
      return whole * (is_binary(format, &file, whole) ? table[i].binary : table[i].text);
  return 0;
}

#define MANY_CALLS ((size_t)384 << 10) /* bytes of text that make them */

bool import_calls_much(const sk_import_request *request) {
  char head[12]; /* "xof 0303txt " */
  size_t room = request->path ? sizeof head : 0, whole;
  if (strcasecmp(import_files_named(request), "x")) return false;
  import_files_peek(request, head, &room, &whole);
  return whole >= MANY_CALLS && (room < sizeof head || !memcmp(head + 8, "txt", 3));
}
