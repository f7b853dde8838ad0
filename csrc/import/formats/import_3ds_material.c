/* import_3ds_material.c: materials of .3ds: color, opacity, and the texture of the color. */
#include <math.h>
#include <string.h>

#include "../import_bytes.h"
#include "../import_material.h"
#include "import_3ds_file.h"

#define RADIANS 0.017453292519943295

enum {
  FLOAT_COLOR = 0x10,
  BYTE_COLOR = 0x11,
  LINEAR_BYTE_COLOR = 0x12, /* the same color once more, for a screen of another gamma */
  LINEAR_FLOAT_COLOR = 0x13,
  PERCENT = 0x30,
  FLOAT_PERCENT = 0x31,
  NAME = 0xa000,
  DIFFUSE = 0xa020,
  SPECULAR = 0xa030,
  TRANSPARENCY = 0xa050,
  SELF_ILLUMINATION = 0xa084,
  TWO_SIDED = 0xa081,
  TEXTURE = 0xa200,
  TEXTURE_NAME = 0xa300,
  TILING = 0xa351, /* bits: 2 mirrors the image, 16 shows it once */
  U_SCALE = 0xa354,
  V_SCALE = 0xa356,
  U_OFFSET = 0xa358,
  V_OFFSET = 0xa35a,
  ANGLE = 0xa35c
};

static void read_color(const tds_chunk *chunk, float out[4]) {
  static const uint32_t ids[] = {FLOAT_COLOR, BYTE_COLOR, LINEAR_FLOAT_COLOR, LINEAR_BYTE_COLOR};
  tds_chunk color;
  size_t i;
  int k;
  for (i = 0; i < 4; i++) {
    bool bytes = ids[i] == BYTE_COLOR || ids[i] == LINEAR_BYTE_COLOR;
    if (!tds_find(chunk->at, chunk->end, ids[i], &color) || color.end - color.at < (bytes ? 3 : 12)) continue;
    for (k = 0; k < 3; k++) out[k] = bytes ? color.at[k] / 255.0f : import_float(color.at + 4 * k);
    return;
  }
}

/* A part of 1; 0 where there is none. */
static float read_percent(const tds_chunk *chunk) {
  tds_chunk percent;
  if (tds_find(chunk->at, chunk->end, PERCENT, &percent) && percent.end - percent.at >= 2)
    return (float)(int16_t)tds_u16(percent.at) / 100.0f;
  if (tds_find(chunk->at, chunk->end, FLOAT_PERCENT, &percent) && percent.end - percent.at >= 4)
    return import_float(percent.at);
  return 0.0f;
}

/* An image that is shown once is kept with its edge stretched, the nearest that there is. */
static void set_wrap(uint32_t flags, sk_material *material) {
  material->wrap_u = material->wrap_v = flags & 2    ? SK_WRAP_MIRRORED_REPEAT
                                        : flags & 16 ? SK_WRAP_CLAMP_TO_EDGE
                                                     : SK_WRAP_REPEAT;
}

static sk_status read_texture(tds *file, const tds_chunk *chunk, import_contents_material *material) {
  float placing[5] = {0, 0, 1, 1, 0};
  const uint8_t *at = chunk->at;
  tds_chunk below;
  while (tds_next(&at, chunk->end, &below)) {
    float number = below.end - below.at >= 4 ? import_float(below.at) : 0.0f;
    if (below.id == TEXTURE_NAME && !material->image) {
      import_span name = tds_text(&below);
      if (!name.length) return SK_OK;
      material->image = import_contents_copy(file->job, name);
      if (!material->image) return SK_ERROR_MEMORY;
    } else if (below.id == U_OFFSET) placing[0] = number;
    else if (below.id == V_OFFSET) placing[1] = number;
    else if (below.id == U_SCALE && number != 0.0f) placing[2] = number;
    else if (below.id == V_SCALE && number != 0.0f) placing[3] = number;
    else if (below.id == TILING && below.end - below.at >= 2) set_wrap(tds_u16(below.at), &material->material);
    else if (below.id == ANGLE) placing[4] = (float)(-RADIANS * number);
  }
  import_set_uv_transform(placing, &material->material);
  return SK_OK;
}

/* Specular color, light of its own, and textures for anything but the color. */
static void note_look(tds *file, const tds_chunk *chunk, import_span name) {
  static const uint32_t maps[] = {0xa204, 0xa210, 0xa220, 0xa230, 0xa33a, 0xa33c, 0xa33d};
  float color[4] = {0, 0, 0, 0};
  const char *what = NULL;
  size_t i;
  for (i = 0; i < sizeof maps / sizeof *maps; i++)
    if (chunk->id == maps[i]) what = "another texture";
  if (chunk->id == SPECULAR) read_color(chunk, color);
  if (color[0] > 0.0f || color[1] > 0.0f || color[2] > 0.0f) what = "specular color";
  if (chunk->id == SELF_ILLUMINATION && read_percent(chunk) > 0.0f) what = "emissive color";
  if (what) import_note_add(file->job, NOTE_looks_ignored, 1, "material '%.*s': %s", IMPORT_SHORT(name), what);
}

/* ---- names ------------------------------------------------------------------------------------- */

static char *lower_of(import_span name) {
  char *text = import_copy_text(name.at, name.length);
  size_t i;
  for (i = 0; text && i < name.length; i++)
    if (text[i] >= 'A' && text[i] <= 'Z') text[i] = (char)(text[i] | 32);
  return text;
}

/* The table of names grows by doubling, so that it is made anew. */
static bool grow_table(tds *file) {
  char *const *names = file->lower.data;
  size_t i;
  import_names_free(&file->materials);
  if (!import_names_make(&file->materials, 2 * file->lower.count)) return false;
  for (i = 0; i < file->lower.count; i++) import_names_add(&file->materials, names[i], strlen(names[i]), (uint32_t)i);
  return true;
}

static sk_status add_name(tds *file, import_span name) {
  char **kept = sk_array_extend(&file->lower, 1);
  size_t count = file->lower.count;
  if (kept) *kept = lower_of(name);
  if (!kept || !*kept) {
    file->lower.count -= kept != NULL;
    return import_no_memory(file->job, name.length);
  }
  if (!(count & (count - 1))) return grow_table(file) ? SK_OK : import_no_memory(file->job, count);
  import_names_add(&file->materials, *kept, strlen(*kept), (uint32_t)count - 1);
  return SK_OK;
}

int32_t tds_material_of(const tds *file, import_span name) {
  char *text = lower_of(name);
  int64_t found = text && file->lower.count ? import_names_find(&file->materials, text, name.length) : SK_NONE;
  sk_free(text);
  return (int32_t)found;
}

/* ---- a material ----------------------------------------------------------------------------------- */

sk_status tds_add_material(tds *file, const tds_chunk *chunk) {
  import_contents_material *material = import_contents_add_material(file->job);
  float *color = material ? material->material.base_color : NULL;
  import_span name = {"", 0};
  const uint8_t *at = chunk->at;
  tds_chunk below;
  sk_status status = material ? SK_OK : SK_ERROR_MEMORY;
  int i;
  if (status) return status;
  color[0] = color[1] = color[2] = 0.6f; /* what 3D Studio gives a new material */
  while (!status && tds_next(&at, chunk->end, &below)) {
    if (below.id == NAME) name = tds_text(&below);
    else if (below.id == DIFFUSE) read_color(&below, color);
    else if (below.id == TRANSPARENCY) color[3] = 1.0f - read_percent(&below);
    else if (below.id == TWO_SIDED) material->material.double_sided = true;
    else if (below.id == TEXTURE) status = read_texture(file, &below, material);
    else note_look(file, &below, name);
  }
  for (i = 0; i < 4; i++)
    if (import_is_bad(color[i])) {
      import_note_add(file->job, NOTE_numbers_repaired, 1, "the color of a material");
      color[i] = 1.0f;
    }
  import_clamp_color(file->job, name, &material->material);
  if (color[3] < 1.0f) material->material.alpha = SK_ALPHA_BLEND;
  if (!status) status = import_add_text(file->job, name, &material->material.name);
  return status ? status : add_name(file, name);
}
