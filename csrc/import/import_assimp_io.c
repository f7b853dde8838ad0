/* import_assimp_io.c: the files that Assimp opens: those of import_file.h, and no others.

   What lies in memory is read from there. A large model is read from its descriptor, through a window for readers that
   take little at a time. Nothing can be written. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "import_check.h"

typedef struct handle { /* an opened file, as Assimp holds it */
  struct aiFile file;
  const uint8_t *data; /* of the source; NULL: it comes from the descriptor */
  size_t size, at;
  int descriptor;      /* of import_files */
  uint8_t *window;     /* IMPORT_HEAD_BYTES read ahead, for readers that take little at a time; may be NULL */
  size_t window_at, window_size;
} handle;

static handle *handle_of(struct aiFile *file) { return (handle *)file->UserData; }

/* Reads bytes that lie within the file; returns how many of them came. */
static size_t read_streamed(handle *h, char *out, size_t size) {
  bool ahead = h->at >= h->window_at && h->at + size <= h->window_at + h->window_size;
  if (!ahead && size < IMPORT_HEAD_BYTES && (h->window || (h->window = sk_alloc(IMPORT_HEAD_BYTES)))) {
    h->window_at = h->at;
    h->window_size = import_files_read_at(h->descriptor, h->at, h->window, IMPORT_HEAD_BYTES);
    ahead = size <= h->window_size;
  }
  if (!ahead) return import_files_read_at(h->descriptor, h->at, out, size);
  memcpy(out, h->window + (h->at - h->window_at), size);
  return size;
}

static size_t on_read(struct aiFile *file, char *out, size_t size, size_t count) {
  handle *h = handle_of(file);
  size_t left = h->size - h->at;
  if (!size) return 0;
  if (count > left / size) count = left / size;
  if (h->data) memcpy(out, h->data + h->at, size * count);
  else count = read_streamed(h, out, size * count) / size;
  h->at += size * count;
  return count;
}

static size_t on_write(struct aiFile *file, const char *data, size_t size, size_t count) {
  (void)file, (void)data, (void)size, (void)count;
  return 0;
}

static size_t on_tell(struct aiFile *file) { return handle_of(file)->at; }
static size_t on_size(struct aiFile *file) { return handle_of(file)->size; }
static void on_flush(struct aiFile *file) { (void)file; }

/* The offset is unsigned; one that goes backwards arrives as a huge number and wraps. */
static enum aiReturn on_seek(struct aiFile *file, size_t offset, enum aiOrigin origin) {
  handle *h = handle_of(file);
  size_t base = origin == aiOrigin_SET ? 0 : origin == aiOrigin_CUR ? h->at : h->size;
  size_t target = base + offset;
  if (target > h->size) return aiReturn_FAILURE;
  h->at = target;
  return aiReturn_SUCCESS;
}

/* Notes the first file that the model cannot do without and that is not there. Assimp also tries names that it made
   up, even after one that it did not get, so only the suffix in the format's row counts. */
static void note_missing(import_files *files, const char *name) {
  const char *companion = files->format->companion;
  if (files->missing || files->refused || files->no_memory || !companion) return;
  if (strcasecmp(import_suffix_of(name), companion)) return;
  files->missing = 1;
  snprintf(files->first_missing, sizeof files->first_missing, "'%.60s'%s", import_files_below(files, name),
           import_files_hint(files, name));
}

static struct aiFile *on_open(struct aiFileIO *io, const char *name, const char *mode) {
  import_files *files = (import_files *)(void *)io->UserData;
  const import_source *source;
  handle *h;
  if (!name || !mode || mode[0] != 'r') return NULL;
  source = strcmp(name, files->main_name) ? import_files_read(files, name) : files->sources.data;
  if (source && source != files->sources.data && !import_may_bring_in(files, import_suffix_of(name), source))
    source = import_files_refuse(files, name);
  if (!source) note_missing(files, name);
  h = source ? sk_alloc_zero(sizeof *h) : NULL;
  if (!h) {
    files->no_memory |= source != NULL;
    return NULL;
  }
  h->file = (struct aiFile){on_read, on_write, on_tell, on_size, on_seek, on_flush, (char *)h};
  h->data = source->data;
  h->size = source->size;
  if (source == files->sources.data && files->descriptor >= 0) {
    h->data = NULL;
    h->size = files->model_size;
    h->descriptor = files->descriptor;
  }
  return &h->file;
}

static void on_close(struct aiFileIO *io, struct aiFile *file) {
  (void)io;
  if (!file) return;
  sk_free(handle_of(file)->window);
  sk_free(handle_of(file));
}

struct aiFileIO import_assimp_io(import_files *files) { return (struct aiFileIO){on_open, on_close, (char *)files}; }
