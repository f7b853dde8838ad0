/* import_ply.c: the header of a PLY file: lines of text, of which "element NAME COUNT" says what follows. */
#include <string.h>

#include "import_ply.h"

/* The number behind "element NAME " where the line begins so; -1 where it does not. */
static double count_of(const char *line, size_t length, const char *name) {
  size_t word = strlen("element "), size = strlen(name);
  double count;
  if (length < word + size + 2 || memcmp(line, "element ", word) || memcmp(line + word, name, size)) return -1.0;
  if (line[word + size] != ' ') return -1.0;
  line += word + size + 1, length -= word + size + 1;
  while (length && (line[length - 1] == '\r' || line[length - 1] == ' ')) length--;
  count = import_decimal(line, length);
  return count >= 0.0 && count < 1e15 ? count : -1.0;
}

sk_status import_ply_open(import_job *job) {
  const import_source *file = job->files.sources.data;
  const char *at = (const char *)file->data, *end = at + file->size;
  bool has_faces = false;
  while (at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop ? stop : end) - at);
    double edges = count_of(at, length, "edge");
    if (length >= 10 && !memcmp(at, "end_header", 10)) break;
    has_faces |= count_of(at, length, "face") > 0.0 || count_of(at, length, "tristrips") > 0.0;
    if (edges > 0.0) import_note_add(job, NOTE_points_lines_dropped, (uint64_t)edges, "edges");
    if (!stop) return SK_OK; /* the header is longer than what is in memory, or has other ends of lines */
    at = stop + 1;
  }
  if (has_faces || at >= end) return SK_OK;
  return sk_fail(job->error, SK_ERROR_IMPORT,
                 "the file has points and no faces; points are not supported, so make a mesh of them first");
}
