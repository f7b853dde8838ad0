/* import_obj.c: statements of .obj and .mtl files that Assimp ignores (Wavefront's specification, version 3.0). */
#define _GNU_SOURCE /* memmem */
#include <string.h>
#include <strings.h>

#include "import_obj.h"

#define WINDOW 8192 /* bytes of a large file that are looked at in one go */

static bool begins_with(const char *at, const char *end, const char *word) {
  size_t length = strlen(word);
  return (size_t)(end - at) > length && !memcmp(at, word, length) && (at[length] == ' ' || at[length] == '\t');
}

static uint64_t count_shapes(const char *at, const char *end) {
  static const char *const words[] = {"curv", "curv2", "surf"};
  uint64_t count = 0;
  size_t i;
  while (at && at < end) {
    if (*at == 'c' || *at == 's')
      for (i = 0; i < sizeof words / sizeof *words; i++) count += begins_with(at, end, words[i]);
    at = memchr(at, '\n', (size_t)(end - at));
    if (at) at++;
  }
  return count;
}

/* Bytes up to the end of the last line that ends in the window; all of them where none does. */
static size_t whole_lines(const char *window, size_t size) {
  size_t whole = size;
  while (whole && window[whole - 1] != '\n') whole--;
  return whole ? whole : size;
}

/* Of a large file only the head is in memory. A line that two windows share is seen by the first or not at all, so the
   second begins where the last whole line of the first ends. */
static uint64_t count_in_file(const import_files *files) {
  char window[WINDOW];
  uint64_t count = 0;
  size_t at = 0, size;
  while ((size = import_files_read_at(files->descriptor, at, window, WINDOW)) > 0) {
    size_t whole = at + size < files->model_size ? whole_lines(window, size) : size;
    count += count_shapes(window, window + whole);
    at += whole;
  }
  return count;
}

/* "map_Kd -s 2 2 1 -o 0.5 0 0 wood.png" */
static void note_placement(import_job *job, const import_source *file) {
  static const char *const options[] = {" -s ", " -o ", " -t "};
  const char *at = (const char *)file->data, *end = at + file->size;
  size_t i;
  while (at && at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    if (begins_with(at, end, "map_Kd"))
      for (i = 0; i < sizeof options / sizeof *options; i++)
        if (memmem(at, (size_t)((stop ? stop : end) - at), options[i], 4)) {
          import_note_add(job, NOTE_looks_ignored, 1, "map_Kd %.2s: placement of a texture", options[i] + 1);
          break;
        }
    at = stop ? stop + 1 : NULL;
  }
}

void import_obj_note(import_job *job) {
  const import_source *files = job->files.sources.data;
  const char *text = (const char *)files->data;
  uint64_t shapes = job->files.descriptor >= 0 ? count_in_file(&job->files) : count_shapes(text, text + files->size);
  size_t i;
  import_note_add(job, NOTE_geometry_ignored, shapes, "curv or surf");
  for (i = 1; i < job->files.sources.count; i++)
    if (!strcasecmp(import_suffix_of(files[i].name), "mtl")) note_placement(job, &files[i]);
}
