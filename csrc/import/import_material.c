/* import_material.c: materials and their base-color textures. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <assimp/GltfMaterial.h>
#include <assimp/material.h>

#include "import_internal.h"

/* ---- textures --------------------------------------------------------------------- */

/* What the first bytes of an image say; "" where they say nothing. */
static const char *image_format(const uint8_t *data, size_t size) {
  static const struct { const char *magic; size_t at, length; const char *format; } table[] = {
      {"\x89PNG\r\n\x1a\n", 0, 8, "png"}, {"\xff\xd8\xff", 0, 3, "jpg"}, {"GIF8", 0, 4, "gif"},
      {"BM", 0, 2, "bmp"},                {"DDS ", 0, 4, "dds"},         {"WEBP", 8, 4, "webp"},
      {"\xabKTX 20", 0, 7, "ktx2"},       {"\xabKTX 11", 0, 7, "ktx"},   {"II*\0", 0, 4, "tiff"},
      {"MM\0*", 0, 4, "tiff"},            {"#?RADIANCE", 0, 10, "hdr"},  {"8BPS", 0, 4, "psd"}};
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

static int32_t find_texture(const import_model *m, const char *name) {
  const sk_texture *texture = m->textures.data;
  size_t i, length = strlen(name);
  for (i = 0; i < m->textures.count; i++)
    if (texture[i].name.length == length &&
        !memcmp((const char *)m->text.data + texture[i].name.offset, name, length))
      return (int32_t)i;
  return SK_NONE;
}

/* Adds a texture; `format` "" is found out. `*index` is its number. */
static sk_status add_texture(import_job *job, const char *name, const char *format, const void *data,
                             size_t size,
                             int32_t *index) {
  import_model *m = &job->model;
  sk_texture texture = {.offset = m->texture_data.count, .length = size}, *place;
  char suffix[8];
  uint8_t *bytes;
  if (size > job->files.most - m->texture_data.count) { /* one image, listed many times */
    job->files.exceeded = import_sum(m->texture_data.count, size);
    return import_check_bytes(job);
  }
  bytes = sk_array_room(&m->texture_data, size);
  suffix_of(name, suffix);
  if (!format[0]) format = image_format(data, size);
  if (!format[0] && strcmp(suffix, "rgba8")) format = suffix; /* which only we make of raw pixels */
  place = sk_array_extend(&m->textures, 1);
  if (!bytes || !place || !sk_text_append(&m->text, name, strlen(name), &texture.name) ||
      !sk_text_append(&m->text, format, strlen(format), &texture.format))
    return import_no_memory(job, size);
  if (size) memcpy(bytes, data, size);
  *place = texture;
  *index = (int32_t)m->textures.count - 1;
  return SK_OK;
}

/* An image beside the model: under the name as given, else its last part in the model's folder:
   absolute paths of another machine are what exporters write. */
static sk_status texture_file(import_job *job, const char *name, int32_t *index) {
  unsigned refused = job->files.refused;
  const import_source *source = import_files_read(&job->files, name);
  const char *slash = strrchr(name, '/'), *backslash = strrchr(name, '\\');
  const char *last = slash > backslash ? slash : backslash;
  if (!source && last && last[1]) source = import_files_read(&job->files, last + 1);
  job->files.refused = refused; /* one loss is said once */
  if (source) return add_texture(job, name, "", source->data, source->size, index);
  if (job->files.no_memory) return import_no_memory(job, 1);
  import_note_add(job, NOTE_textures_missing, 1, "'%.120s'", name);
  return SK_OK;
}

#define INVENTED_TEXTURE "$texture_dummy" /* what Assimp writes where a file names none */

/* ---- textures in an aiScene ---------------------------------------------------------- */

static const char *last_part(const char *name) {
  const char *slash = strrchr(name, '/'), *backslash = strrchr(name, '\\');
  const char *last = slash > backslash ? slash : backslash;
  return last ? last + 1 : name;
}

/* "*3" is the fourth one; FBX names the file that the texture was. */
static const struct aiTexture *embedded_texture(const struct aiScene *scene, const char *name) {
  unsigned i, number = 0;
  if (name[0] == '*') {
    for (i = 1; name[i] >= '0' && name[i] <= '9' && number < 100000000u; i++)
      number = number * 10 + (unsigned)(name[i] - '0');
    return number < scene->mNumTextures ? scene->mTextures[number] : NULL;
  }
  for (i = 0; i < scene->mNumTextures; i++)
    if (scene->mTextures[i] && !strcmp(last_part(scene->mTextures[i]->mFilename.data), last_part(name)))
      return scene->mTextures[i];
  return NULL;
}

/* Assimp's texels are B, G, R, A. */
static sk_status add_texels(import_job *job, const char *name, const struct aiTexture *texture,
                            int32_t *index) {
  size_t count = (size_t)texture->mWidth * texture->mHeight, i;
  sk_status status = add_texture(job, name, "rgba8", texture->pcData, count * 4, index);
  uint8_t *out;
  sk_texture *added;
  if (status) return status;
  added = (sk_texture *)job->model.textures.data + *index;
  added->width = texture->mWidth;
  added->height = texture->mHeight;
  out = (uint8_t *)job->model.texture_data.data + added->offset;
  for (i = 0; i < count; i++, out += 4) {
    uint8_t blue = out[0];
    out[0] = out[2];
    out[2] = blue;
  }
  return SK_OK;
}

static sk_status assimp_texture(import_job *job, const char *name, int32_t *index) {
  const struct aiTexture *texture;
  *index = find_texture(&job->model, name);
  if (*index >= 0 || !strncmp(name, INVENTED_TEXTURE, strlen(INVENTED_TEXTURE))) return SK_OK;
  texture = embedded_texture(job->scene, name);
  if (texture && texture->pcData && !texture->mHeight && texture->mWidth)
    return add_texture(job, name, "", texture->pcData, texture->mWidth, index);
  if (texture && texture->pcData && texture->mHeight) return add_texels(job, name, texture, index);
  return texture_file(job, name, index);
}

/* ---- materials of an aiScene ------------------------------------------------------------ */

static bool get_float(const struct aiMaterial *source, const char *key, float *value) {
  unsigned count = 1;
  return !import_assimp()->aiGetMaterialFloatArray(source, key, 0, 0, value, &count) && count;
}

/* LightWave's 256 of 255 is the usual case. */
static void clamp_color(sk_material *material) {
  int i;
  for (i = 0; i < 4; i++) material->base_color[i] = fminf(fmaxf(material->base_color[i], 0.0f), 1.0f);
}

static void read_color(import_job *job, const struct aiMaterial *source, sk_material *material) {
  struct aiColor4D color = {1.0f, 1.0f, 1.0f, 1.0f};
  const import_library *ai = import_assimp();
  float opacity;
  int i;
  if (ai->aiGetMaterialColor(source, AI_MATKEY_BASE_COLOR, &color) != aiReturn_SUCCESS)
    ai->aiGetMaterialColor(source, AI_MATKEY_COLOR_DIFFUSE, &color);
  memcpy(material->base_color, &color, sizeof material->base_color);
  if (get_float(source, "$mat.opacity", &opacity) && color.a == 1.0f) material->base_color[3] = opacity;
  for (i = 0; i < 4; i++)
    if (import_is_bad(material->base_color[i])) {
      import_note_add(job, NOTE_numbers_repaired, 1, "the color of a material");
      material->base_color[i] = 1.0f;
    }
  clamp_color(material);
}

/* Blender, Maya and COLLADA put a texture in the place of the color, the others multiply. */
static bool texture_replaces_color(const import_job *job) {
  return !strcmp(job->format, "fbx") || !strcmp(job->format, "dae") || !strcmp(job->format, "zae");
}

/* Rows of a 3x3 without the last: out = a * b. */
static void multiply(const double a[6], const double b[6], double out[6]) {
  double result[6];
  int row, k;
  for (row = 0; row < 2; row++)
    for (k = 0; k < 3; k++)
      result[3 * row + k] = a[3 * row] * b[k] + a[3 * row + 1] * b[3 + k] + (k == 2 ? a[3 * row + 2] : 0.0);
  memcpy(out, result, sizeof result);
}

/* FBX moves, turns (degrees) and scales the texture over the coordinates, so these take the inverse:
   back, turned back, divided. */
static void place_fbx_texture(const float values[5], double m[6]) {
  double turn = values[4] * GLM_PI / 180.0, c = cos(turn), s = sin(turn), back[6] = {1, 0, 0, 0, 1, 0};
  double u = values[2] != 0.0f ? 1.0 / values[2] : 1.0, v = values[3] != 0.0f ? 1.0 / values[3] : 1.0;
  double turned[6] = {u * c, u * s, 0, -v * s, v * c, 0};
  back[2] = -(double)values[0], back[5] = -(double)values[1];
  multiply(turned, back, m);
}

/* The others scale the coordinates, turn them (radians, against the clock, about the middle), move them. */
static void move_coordinates(const float values[5], double m[6]) {
  double c = cos(values[4]), s = sin(values[4]), scale[6] = {values[2], 0, 0, 0, values[3], 0};
  double turn[6] = {c, -s, 0.5 - 0.5 * c + 0.5 * s, s, c, 0.5 - 0.5 * s - 0.5 * c};
  multiply(turn, scale, m);
  m[2] += values[0], m[5] += values[1];
}

/* The values (translation, scale, turn) are of coordinates from the bottom up, ours go from the top down. */
static void read_assimp_transform(import_job *job, const struct aiMaterial *source, unsigned type,
                                  sk_material *material) {
  static const double flip[6] = {1, 0, 0, 0, -1, 1};
  float values[5] = {0, 0, 1, 1, 0};
  double m[6];
  unsigned count = 5, i;
  if (import_assimp()->aiGetMaterialFloatArray(source, _AI_MATKEY_UVTRANSFORM_BASE, type, 0, values, &count) ||
      count != 5)
    return;
  if (!strcmp(job->format, "fbx")) place_fbx_texture(values, m);
  else move_coordinates(values, m);
  multiply(flip, m, m);
  multiply(m, flip, m);
  for (i = 0; i < 6; i++)
    if (import_is_bad((float)m[i])) return;
  for (i = 0; i < 6; i++) material->uv_transform[i] = (float)m[i] + 0.0f;
}

static sk_status read_material(import_job *job, const struct aiMaterial *source, sk_material *material) {
  const import_library *ai = import_assimp();
  struct aiString text = {0, ""};
  int two_sided = 0;
  unsigned count = 1, type = aiTextureType_BASE_COLOR;
  sk_status status = SK_OK;
  *material = (sk_material){.texture = SK_NONE, .alpha_cutoff = 0.5f, .uv_transform = {1, 0, 0, 0, 1, 0}};
  if (ai->aiGetMaterialString(source, AI_MATKEY_NAME, &text) == aiReturn_SUCCESS &&
      !sk_text_append(&job->model.text, text.data, strlen(text.data), &material->name))
    return import_no_memory(job, text.length);
  read_color(job, source, material);
  if (ai->aiGetMaterialIntegerArray(source, AI_MATKEY_TWOSIDED, &two_sided, &count) == aiReturn_SUCCESS)
    material->double_sided = two_sided != 0;
  material->alpha = material->base_color[3] < 1.0f ? SK_ALPHA_BLEND : SK_ALPHA_OPAQUE;
  text = (struct aiString){0, ""};
  if (ai->aiGetMaterialString(source, AI_MATKEY_TEXTURE(type, 0), &text)) {
    type = aiTextureType_DIFFUSE;
    ai->aiGetMaterialString(source, AI_MATKEY_TEXTURE(type, 0), &text);
  }
  import_show_blanks(job, text.data, strlen(text.data));
  if (text.data[0]) read_assimp_transform(job, source, type, material);
  if (text.data[0]) status = assimp_texture(job, text.data, &material->texture);
  if (material->texture >= 0 && texture_replaces_color(job))
    material->base_color[0] = material->base_color[1] = material->base_color[2] = 1.0f;
  return status;
}

/* ---- materials of a glTF ------------------------------------------------------------------ */

static sk_status gltf_image(import_job *job, int64_t image, int32_t token, int32_t *index) {
  const json *j = &job->gltf->json;
  int32_t uri = json_member(j, token, "uri");
  char name[32];
  const uint8_t *bytes;
  uint8_t *decoded = NULL;
  sk_array path = SK_ARRAY(char);
  sk_text text;
  size_t size;
  sk_status status;
  snprintf(name, sizeof name, "*%lld", (long long)image);
  if (!json_is_string(j, uri)) {
    *index = find_texture(&job->model, name);
    if (*index >= 0) return SK_OK;
    status = gltf_view(job, json_index(j, json_member(j, token, "bufferView"), -1), &bytes, &size);
    return status ? status : add_texture(job, name, "", bytes, size, index);
  }
  if (gltf_data_uri(j, uri, &decoded, &size)) {
    *index = decoded ? find_texture(&job->model, name) : SK_NONE;
    status = !decoded ? import_no_memory(job, 1)
                      : *index >= 0 ? SK_OK : add_texture(job, name, "", decoded, size, index);
    sk_free(decoded);
    return status;
  }
  if (!json_text(j, uri, &path, &text) || !sk_array_extend(&path, 1)) {
    status = import_no_memory(job, 1);
  } else {
    gltf_decode_percent(path.data);
    *index = find_texture(&job->model, path.data);
    status = *index >= 0 ? SK_OK : texture_file(job, path.data, index);
  }
  sk_array_free(&path);
  return status;
}

/* KHR_texture_transform: scale first, then a turn against the clock, then the offset. */
static void read_uv_transform(import_job *job, int32_t transform, sk_material *material) {
  const json *j = &job->gltf->json;
  double offset[2] = {0.0, 0.0}, scale[2] = {1.0, 1.0}, turn, rows[6];
  int i;
  json_numbers(j, json_member(j, transform, "offset"), offset, 2);
  json_numbers(j, json_member(j, transform, "scale"), scale, 2);
  turn = json_number(j, json_member(j, transform, "rotation"), 0.0);
  rows[0] = cos(turn) * scale[0], rows[1] = sin(turn) * scale[1], rows[2] = offset[0];
  rows[3] = -sin(turn) * scale[0], rows[4] = cos(turn) * scale[1], rows[5] = offset[1];
  for (i = 0; i < 6; i++)
    if (!import_is_bad((float)rows[i])) material->uv_transform[i] = (float)rows[i] + 0.0f;
}

/* Sets the texture's number, or leaves it where the file has none; a broken image is only lost. */
static sk_status gltf_texture(import_job *job, int32_t use, sk_material *material) {
  const gltf *g = job->gltf;
  const json *j = &g->json;
  int32_t texture = gltf_item(g, GLTF_TEXTURES, json_index(j, json_member(j, use, "index"), -1)), image;
  int64_t source = json_index(j, json_member(j, texture, "source"), -1);
  sk_status status;
  if (use < 0) return SK_OK;
  read_uv_transform(job, json_member(j, json_member(j, use, "extensions"), "KHR_texture_transform"), material);
  image = gltf_item(g, GLTF_IMAGES, source);
  if (image < 0) {
    import_note_add(job, NOTE_textures_missing, 1, "a texture without an image that can be read");
    return SK_OK;
  }
  status = gltf_image(job, source, image, &material->texture);
  if (status != SK_ERROR_IMPORT) return status;
  import_note_add(job, NOTE_textures_missing, 1, "images[%lld]", (long long)source);
  return SK_OK;
}

static sk_status read_gltf_material(import_job *job, int32_t token, sk_material *material) {
  const json *j = &job->gltf->json;
  int32_t pbr = json_member(j, token, "pbrMetallicRoughness"), mode = json_member(j, token, "alphaMode"), i;
  double color[4] = {1.0, 1.0, 1.0, 1.0};
  *material = (sk_material){.texture = SK_NONE, .uv_transform = {1, 0, 0, 0, 1, 0}};
  if (!json_text(j, json_member(j, token, "name"), &job->model.text, &material->name))
    return import_no_memory(job, 1);
  json_numbers(j, json_member(j, pbr, "baseColorFactor"), color, 4);
  for (i = 0; i < 4; i++) material->base_color[i] = import_is_bad((float)color[i]) ? 1.0f : (float)color[i];
  clamp_color(material);
  material->double_sided = json_truth(j, json_member(j, token, "doubleSided"));
  material->alpha = json_equals(j, mode, "MASK")    ? SK_ALPHA_MASK
                    : json_equals(j, mode, "BLEND") ? SK_ALPHA_BLEND
                                                    : SK_ALPHA_OPAQUE;
  material->alpha_cutoff = (float)json_number(j, json_member(j, token, "alphaCutoff"), 0.5);
  if (import_is_bad(material->alpha_cutoff)) material->alpha_cutoff = 0.5f;
  return gltf_texture(job, json_member(j, pbr, "baseColorTexture"), material);
}

/* ---- all of them ----------------------------------------------------------------------------- */

int32_t import_material_of(const import_job *job, int64_t index) {
  return index >= 0 && (uint64_t)index < job->model.materials.count ? (int32_t)index : SK_NONE;
}

sk_status import_materials(import_job *job) {
  import_model *m = &job->model;
  size_t i, count = job->gltf ? (size_t)job->gltf->lists[GLTF_MATERIALS].count : job->scene->mNumMaterials;
  sk_status status = SK_OK;
  m->materials = SK_ARRAY(sk_material);
  m->textures = SK_ARRAY(sk_texture);
  m->texture_data = SK_ARRAY(uint8_t);
  for (i = 0; i < count && !status; i++) {
    sk_material material = {0}, *place;
    status = job->gltf ? read_gltf_material(job, gltf_item(job->gltf, GLTF_MATERIALS, (int64_t)i), &material)
                       : read_material(job, job->scene->mMaterials[i], &material);
    place = sk_array_extend(&m->materials, 1);
    if (!place && !status) status = import_no_memory(job, sizeof *place);
    if (place) *place = material;
  }
  return status;
}
