/* import_texture.c: images as their files have them. */
#include <string.h>

#include "import_limit.h"
#include "import_texture.h"

/* The format by the first bytes of an image; "" where they say nothing. */
static const char *image_format(const uint8_t *data, size_t size) {
  static const struct {
    const char *magic;
    size_t at, length;
    const char *format;
  } table[] = {{"\x89PNG\r\n\x1a\n", 0, 8, "png"},
               {"\xff\xd8\xff", 0, 3, "jpg"},
               {"GIF8", 0, 4, "gif"},
               {"BM", 0, 2, "bmp"},
               {"DDS ", 0, 4, "dds"},
               {"WEBP", 8, 4, "webp"},
               {"ftypavif", 4, 8, "avif"},
               {"\xabKTX 20", 0, 7, "ktx2"},
               {"\xabKTX 11", 0, 7, "ktx"},
               {"II*\0", 0, 4, "tiff"},
               {"MM\0*", 0, 4, "tiff"},
               {"#?RADIANCE", 0, 10, "hdr"},
               {"8BPS", 0, 4, "psd"}};
  size_t i;
  for (i = 0; i < sizeof table / sizeof *table; i++)
    if (size >= table[i].at + table[i].length && !memcmp(data + table[i].at, table[i].magic, table[i].length))
      return table[i].format;
  return "";
}

/* The suffix of a name in lower case, for images that say nothing themselves (.tga). */
static void suffix_of(const char *name, char out[8]) {
  const char *dot = strrchr(name, '.');
  size_t i = 0;
  for (dot = dot ? dot + 1 : ""; dot[i] && i < 7; i++)
    out[i] = (char)(dot[i] >= 'A' && dot[i] <= 'Z' ? dot[i] | 32 : dot[i]);
  out[i] = 0;
}

int32_t import_find_texture(const import_model *m, const char *name) {
  const sk_texture *texture = m->textures.data;
  size_t i, length = strlen(name);
  for (i = 0; i < m->textures.count; i++)
    if (texture[i].name.length == length && !memcmp((const char *)m->text.data + texture[i].name.offset, name, length))
      return (int32_t)i;
  return SK_NONE;
}

sk_status import_add_texture(import_job *job, const char *name, const char *format, const void *data, size_t size,
                             int32_t *index) {
  import_model *m = &job->model;
  sk_texture texture = {.offset = m->texture_data.count, .length = size}, *added;
  char suffix[8];
  uint8_t *bytes;
  if (size > job->files.max_total - m->texture_data.count) { /* one image may be listed many times */
    job->files.exceeded = import_sum(m->texture_data.count, size);
    return import_check_bytes(job);
  }
  bytes = sk_array_room(&m->texture_data, size);
  suffix_of(name, suffix);
  if (!format[0]) format = image_format(data, size);
  if (!format[0] && strcmp(suffix, "rgba8")) format = suffix; /* "rgba8" is for raw pixels, which no file has */
  added = sk_array_extend(&m->textures, 1);
  if (!bytes || !added || !sk_text_append(&m->text, name, strlen(name), &texture.name) ||
      !sk_text_append(&m->text, format, strlen(format), &texture.format))
    return import_no_memory(job, size);
  if (size) memcpy(bytes, data, size);
  *added = texture;
  *index = (int32_t)m->textures.count - 1;
  return SK_OK;
}

sk_status import_texture_file(import_job *job, const char *name, int32_t *index) {
  unsigned refused = job->files.refused;
  const import_source *source = import_files_read(&job->files, name);
  const char *slash = strrchr(name, '/'), *backslash = strrchr(name, '\\');
  const char *last = slash > backslash ? slash : backslash;
  if (!source && last && last[1]) source = import_files_read(&job->files, last + 1);
  job->files.refused = refused; /* the note below says it */
  if (source) return import_add_texture(job, name, "", source->data, source->size, index);
  if (job->files.no_memory) return import_no_memory(job, 1);
  import_note_add(job, NOTE_textures_missing, 1, "'%.70s'%s", name,
                  job->notes[NOTE_textures_missing].count ? ""
                                                          : import_files_hint(&job->files, last ? last + 1 : name));
  return SK_OK;
}
