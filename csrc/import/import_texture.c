/* import_texture.c: images as their files have them. */
#include <string.h>

#include "import_bytes.h"
#include "import_limit.h"
#include "import_texture.h"

/* Where the first bytes of an image stand, and what they are. */
typedef struct magic {
  const char *bytes;
  size_t length, at;
  const char *format;
} magic;

#define MAGIC(at, bytes, format) {bytes, sizeof bytes - 1, at, format}

/* Formats that skinpy does not decode are listed too: a model keeps such an image. */
static const magic magics[] = {MAGIC(0, "\x89PNG\r\n\x1a\n", "png"),
                               MAGIC(0, "\xff\xd8\xff", "jpg"),
                               MAGIC(0, "GIF87a", "gif"),
                               MAGIC(0, "GIF89a", "gif"),
                               MAGIC(0, "DDS ", "dds"),
                               MAGIC(0, "II*\0", "tiff"),
                               MAGIC(0, "MM\0*", "tiff"),
                               MAGIC(0, "II+\0", "tiff"),
                               MAGIC(0, "MM\0+", "tiff"),
                               MAGIC(0, "8BPS\0", "psd"),
                               MAGIC(0, "qoif", "qoi"),
                               MAGIC(0, "\x01\xda\0\x01", "sgi"),
                               MAGIC(0, "\x01\xda\0\x02", "sgi"),
                               MAGIC(0, "\x01\xda\x01\x01", "sgi"),
                               MAGIC(0, "\x01\xda\x01\x02", "sgi"),
                               MAGIC(0, "#?RADIANCE", "hdr"),
                               MAGIC(0, "#?RGBE", "hdr"),
                               MAGIC(0, "\x76\x2f\x31\x01", "exr"),
                               MAGIC(0, "\xabKTX 20", "ktx2"),
                               MAGIC(0, "\xabKTX 11", "ktx"),
                               MAGIC(0, "sB\x13\0", "basis"),
                               MAGIC(0, "VTF\0", "vtf"),
                               MAGIC(0, "PVR\x03", "pvr"),
                               MAGIC(0, "\x13\xab\xa1\x5c", "astc"),
                               MAGIC(0, "BLP1", "blp"),
                               MAGIC(0, "BLP2", "blp"),
                               MAGIC(0, "\xff\x4f\xff\x51", "j2k"),
                               MAGIC(0, "\0\0\0\x0cjP  ", "jp2"),
                               MAGIC(0, "\0\0\0\x0cJXL ", "jxl"),
                               MAGIC(4, "ftypavif", "avif"),
                               MAGIC(4, "ftypavis", "avif"),
                               MAGIC(4, "ftypheic", "heic"),
                               MAGIC(4, "ftypmif1", "heic")};

static bool is_bmp(const uint8_t *data, size_t size) { /* "BM" alone also begins a text; the header's size follows */
  static const uint32_t sizes[] = {12, 40, 52, 56, 64, 108, 124};
  size_t i;
  if (!import_has_bytes(data, size, 0, "BM") || size < 18) return false;
  for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (import_u32(data + 14) == sizes[i]) return true;
  return false;
}

static bool is_pnm(const uint8_t *data, size_t size) { /* P1 to P7, Pf or PF, white space, then a number or a comment */
  if (size < 4 || data[0] != 'P' || !data[1] || !strchr("1234567fF", data[1]) || !strchr(" \t\r\n", data[2]) ||
      !data[2])
    return false;
  return (data[3] >= '0' && data[3] <= '9') || data[3] == '#' || (data[1] == '7' && data[3] == 'W');
}

static bool is_pcx(const uint8_t *data, size_t size) { /* version, run lengths, bits; ZSoft's header has 128 bytes */
  return size >= IMPORT_IMAGE_HEAD && data[0] == 10 && data[1] <= 5 && data[2] == 1 && (data[3] == 8 || data[3] <= 4);
}

/* TGA has no first bytes of its own, but fields of its header have few values: the color map's type (byte 1, never a
   character of a text), the image's (byte 2), the number of a map's colors (5), their bits (7), width, height, and the
   bits of a pixel (16) and of its alpha (17). */
static bool is_tga(const uint8_t *data, size_t size) {
  uint8_t kind, bits;
  if (size < 18 || data[1] > 1 || data[2] > 11 || (!data[1] && (data[5] | data[6]))) return false;
  kind = data[2] & ~8u, bits = data[16]; /* 8: in run lengths */
  if (!(data[12] | data[13]) || !(data[14] | data[15]) || (data[17] & 0xc0) || (data[17] & 15) > 8) return false;
  if (kind == 1) return data[1] && data[7] >= 15 && data[7] <= 32 && (bits == 8 || bits == 16);
  if (kind == 3) return bits == 1 || bits == 8 || bits == 16;
  return kind == 2 && (bits == 15 || bits == 16 || bits == 24 || bits == 32);
}

const char *import_image_format(const void *data, size_t size) {
  const uint8_t *bytes = data;
  size_t i;
  for (i = 0; i < sizeof magics / sizeof *magics; i++)
    if (size >= magics[i].at + magics[i].length && !memcmp(bytes + magics[i].at, magics[i].bytes, magics[i].length))
      return magics[i].format;
  if (import_has_bytes(bytes, size, 0, "RIFF") && import_has_bytes(bytes, size, 8, "WEBP")) return "webp";
  if (is_bmp(bytes, size)) return "bmp";
  if (is_pnm(bytes, size)) return "ppm";
  if (is_pcx(bytes, size)) return "pcx";
  return is_tga(bytes, size) ? "tga" : "";
}

static void note_no_image(import_job *job, const char *name, const void *data, size_t size) {
  const uint8_t *bytes = data;
  char first[9] = "";
  size_t i;
  for (i = 0; i < 8 && i < size; i++) first[i] = bytes[i] >= ' ' && bytes[i] <= '~' ? (char)bytes[i] : '.';
  import_note_add(job, NOTE_textures_not_images, 1, size ? "'%.70s' begins with '%s'" : "'%.70s' is empty", name,
                  first);
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
  uint8_t *bytes;
  if (!format[0]) format = import_image_format(data, size);
  if (!format[0]) {
    note_no_image(job, name, data, size);
    return SK_OK;
  }
  if (size > job->files.max_total - m->texture_data.count) { /* one image may be listed many times */
    job->files.exceeded = import_sum(m->texture_data.count, size);
    return import_check_bytes(job);
  }
  bytes = sk_array_room(&m->texture_data, size);
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
