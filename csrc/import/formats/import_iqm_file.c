/* import_iqm_file.c: see import_iqm_file.h. */
#include "import_iqm_file.h"

#include <math.h>
#include <string.h>

#define VERSION 2
#define LONGEST 1023 /* bytes of a name, as for all formats */

enum { /* numbers of the header, behind its 16 letters */
       HEAD_VERSION,
       HEAD_TEXT = 3,
       HEAD_MESHES = 5,
       HEAD_ARRAYS = 7,
       HEAD_TRIANGLES = 10,
       HEAD_JOINTS = 13,
       HEAD_POSES = 15,
       HEAD_ANIMS = 17,
       HEAD_FRAMES = 19,
       HEAD_NUMBERS = 27
};

/* ---- numbers of vertices ------------------------------------------------------------------------ */

/* Of each format: byte, ubyte, short, ushort, int, uint, half, float, double. */
static const uint8_t format_bytes[] = {1, 1, 2, 2, 4, 4, 2, 4, 8};
#define FORMATS sizeof format_bytes
enum { BYTE, UBYTE, SHORT, USHORT, INT, UINT, HALF, FLOAT, DOUBLE };

/* IEEE 754, binary16. */
static double half_of(uint32_t bits) {
  int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
  double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                                : ldexp(exponent ? 1024 + fraction : fraction, (exponent ? exponent : 1) - 25);
  return bits >> 15 ? -value : value;
}

static double whole_of(uint64_t bits, uint32_t format) {
  switch (format) {
  case BYTE: return (int8_t)bits;
  case SHORT: return (int16_t)bits;
  case INT: return (int32_t)bits;
  default: return (double)bits;
  }
}

float iqm_value(const iqm_array *array, uint32_t vertex, uint32_t number, bool parts) {
  static const double largest[] = {127, 255, 32767, 65535, 2147483647, 4294967295};
  size_t bytes = format_bytes[array->format];
  uint64_t bits = import_number(array->data + ((size_t)vertex * array->size + number) * bytes, bytes);
  double value;
  if (array->format == FLOAT) return import_float_of((uint32_t)bits);
  if (array->format == HALF) return (float)half_of((uint32_t)bits);
  if (array->format == DOUBLE) return memcpy(&value, &bits, sizeof value), (float)value;
  return (float)(whole_of(bits, array->format) / (parts ? largest[array->format] : 1.0));
}

/* ---- texts --------------------------------------------------------------------------------------- */

import_span iqm_text(const iqm *file, uint32_t offset) {
  import_span text = {"", 0};
  size_t room = offset < file->text.count ? file->text.count - offset : 0;
  const char *zero;
  if (!room) return text;
  text.at = (const char *)file->text.data + offset;
  if (room > LONGEST + 1) room = LONGEST + 1;
  zero = memchr(text.at, 0, room);
  text.length = zero ? (size_t)(zero - text.at) : room;
  if (text.length <= LONGEST) return text;
  import_note_add(file->job, NOTE_names_cut, 1, "%.100s...", text.at);
  text.length = LONGEST;
  return text;
}

sk_status iqm_name(const iqm *file, uint32_t offset, sk_text *name) {
  import_span text = iqm_text(file, offset);
  if (file->job->model.text.count > IMPORT_MAX_TEXT)
    return sk_fail(file->job->error, SK_ERROR_IMPORT, "the names in it together take more than 256 MiB");
  return import_add_text(file->job, text, name);
}

/* ---- tables ---------------------------------------------------------------------------------------- */

static uint32_t head(const iqm *file, size_t number) { return import_u32(file->data + 16 + 4 * number); }

static bool fits(const iqm *file, uint32_t offset, uint64_t bytes) {
  return offset <= file->size && bytes <= file->size - offset;
}

/* A table whose count stands in the header at `number`, and its offset `behind` numbers further. */
static sk_status find(const iqm *file, size_t number, size_t behind, uint64_t row, const char *what, iqm_table *out) {
  uint32_t count = head(file, number), offset = head(file, number + behind);
  *out = (iqm_table){file->data, 0};
  if (!count) return SK_OK;
  if (!fits(file, offset, row * count))
    return sk_fail(file->job->error, SK_ERROR_IMPORT, "its %u %s lie beyond the end of the file", count, what);
  *out = (iqm_table){file->data + offset, count};
  return SK_OK;
}

/* The first array of each kind; those that cannot be read are reported. */
static void find_array(iqm *file, const uint8_t *row) {
  uint32_t type = import_u32(row), format = import_u32(row + 8), size = import_u32(row + 12);
  uint32_t offset = import_u32(row + 16);
  static const uint8_t least[] = {3, 2, 3, 3, 1, 1, 3}; /* numbers of a vertex */
  if (type >= IQM_ATTRIBUTES || !file->vertex_count || file->arrays[type].size) return;
  if (format < FORMATS && size >= least[type] && size <= 256 &&
      fits(file, offset, (uint64_t)file->vertex_count * size * format_bytes[format]))
    file->arrays[type] = (iqm_array){file->data + offset, format, size};
  else
    import_note_add(file->job, NOTE_attributes_dropped, 1, "vertex array of type %u, format %u and size %u", type,
                    format, size);
}

sk_status iqm_open_file(import_job *job, iqm *file) {
  const import_source *source;
  iqm_table arrays;
  sk_status status = import_files_whole(job);
  uint32_t i;
  if (status) return status;
  source = job->files.sources.data;
  *file = (iqm){.job = job, .data = source->data, .size = source->size};
  if (file->size < 16 + 4 * HEAD_NUMBERS)
    return sk_fail(job->error, SK_ERROR_IMPORT, "the file ends within its header");
  if (head(file, HEAD_VERSION) != VERSION)
    return sk_fail(job->error, SK_ERROR_IMPORT, "its version is %u; expected %d", head(file, HEAD_VERSION), VERSION);
  file->vertex_count = head(file, HEAD_ARRAYS + 1);
  file->channels = head(file, HEAD_FRAMES + 1);
  status = find(file, HEAD_TEXT, 1, 1, "bytes of names", &file->text);
  if (!status) status = find(file, HEAD_MESHES, 1, IQM_MESH, "meshes", &file->meshes);
  if (!status) status = find(file, HEAD_ARRAYS, 2, IQM_ARRAY, "vertex arrays", &arrays);
  if (!status) status = find(file, HEAD_TRIANGLES, 1, IQM_TRIANGLE, "triangles", &file->triangles);
  if (!status) status = find(file, HEAD_JOINTS, 1, IQM_JOINT, "joints", &file->joints);
  if (!status) status = find(file, HEAD_POSES, 1, IQM_POSE, "poses", &file->poses);
  if (!status) status = find(file, HEAD_ANIMS, 1, IQM_ANIM, "animations", &file->anims);
  if (!status) status = find(file, HEAD_FRAMES, 2, 2 * (uint64_t)file->channels, "frames", &file->frames);
  for (i = 0; i < arrays.count && !status; i++) find_array(file, arrays.data + IQM_ARRAY * (size_t)i);
  return status;
}
