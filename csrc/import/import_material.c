/* import_material.c: materials and their base-color textures. */
#include <math.h>
#include <string.h>

#include <assimp/GltfMaterial.h>
#include <assimp/material.h>

#include "../core/base/sk_math.h"
#include "import_library.h"
#include "import_material.h"
#include "import_reader.h"
#include "import_texture.h"

#define INVENTED_TEXTURE "$texture_dummy" /* Assimp's name where a file has none */

/* ---- textures in an aiScene ---------------------------------------------------------- */

static const char *last_part(const char *name) {
  const char *slash = strrchr(name, '/'), *backslash = strrchr(name, '\\');
  const char *last = slash > backslash ? slash : backslash;
  return last ? last + 1 : name;
}

/* "*3" is the fourth texture of the scene. FBX names the file of which the texture was made. */
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
static sk_status add_texels(import_job *job, const char *name, const struct aiTexture *texture, int32_t *index) {
  size_t count = (size_t)texture->mWidth * texture->mHeight, i;
  sk_status status = import_add_texture(job, name, "rgba8", texture->pcData, count * 4, index);
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
  *index = import_find_texture(&job->model, name);
  if (*index >= 0 || !strncmp(name, INVENTED_TEXTURE, strlen(INVENTED_TEXTURE))) return SK_OK;
  texture = embedded_texture(job->scene, name);
  if (texture && texture->pcData && !texture->mHeight && texture->mWidth)
    return import_add_texture(job, name, "", texture->pcData, texture->mWidth, index);
  if (texture && texture->pcData && texture->mHeight) return add_texels(job, name, texture, index);
  return import_texture_file(job, name, index);
}

/* ---- materials of an aiScene ------------------------------------------------------------ */

static bool get_float(const struct aiMaterial *source, const char *key, float *value) {
  unsigned count = 1;
  return !import_assimp()->aiGetMaterialFloatArray(source, key, 0, 0, value, &count) && count;
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
  import_clamp_color(job, import_span_of(job, material->name), material);
}

/* out = a * b; of 3x3 matrices without their last rows. `out` may be `a` or `b`. */
static void multiply(const double a[6], const double b[6], double out[6]) {
  double result[6];
  int row, k;
  for (row = 0; row < 2; row++)
    for (k = 0; k < 3; k++)
      result[3 * row + k] = a[3 * row] * b[k] + a[3 * row + 1] * b[3 + k] + (k == 2 ? a[3 * row + 2] : 0.0);
  memcpy(out, result, sizeof result);
}

/* The coordinates are scaled, rotated (radians, counterclockwise, about the middle), and moved. */
static void move_coordinates(const float values[5], double m[6]) {
  double c = cos(values[4]), s = sin(values[4]), scale[6] = {values[2], 0, 0, 0, values[3], 0};
  double rotation[6] = {c, -s, 0.5 - 0.5 * c + 0.5 * s, s, c, 0.5 - 0.5 * s - 0.5 * c};
  multiply(rotation, scale, m);
  m[2] += values[0], m[5] += values[1];
}

void import_set_uv_transform(const float values[5], sk_material *material) {
  static const double flip[6] = {1, 0, 0, 0, -1, 1};
  double m[6];
  unsigned i;
  move_coordinates(values, m);
  multiply(flip, m, m);
  multiply(m, flip, m);
  for (i = 0; i < 6; i++)
    if (import_is_bad((float)m[i])) return;
  for (i = 0; i < 6; i++) material->uv_transform[i] = (float)m[i] + 0.0f;
}

static void read_assimp_transform(const struct aiMaterial *source, unsigned type, sk_material *material) {
  float values[5] = {0, 0, 1, 1, 0};
  unsigned count = 5;
  if (!import_assimp()->aiGetMaterialFloatArray(source, _AI_MATKEY_UVTRANSFORM_BASE, type, 0, values, &count) &&
      count == 5)
    import_set_uv_transform(values, material);
}

/* A decal shows nothing beyond its edge; its edge is the nearest that can be kept. */
static uint8_t wrap_of(const struct aiMaterial *source, const char *key, unsigned type) {
  int mode = aiTextureMapMode_Wrap;
  unsigned count = 1;
  if (import_assimp()->aiGetMaterialIntegerArray(source, key, type, 0, &mode, &count)) return SK_WRAP_REPEAT;
  if (mode == aiTextureMapMode_Mirror) return SK_WRAP_MIRRORED_REPEAT;
  return mode == aiTextureMapMode_Clamp || mode == aiTextureMapMode_Decal ? SK_WRAP_CLAMP_TO_EDGE : SK_WRAP_REPEAT;
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
  if (text.data[0]) read_assimp_transform(source, type, material);
  if (text.data[0]) material->wrap_u = wrap_of(source, _AI_MATKEY_MAPPINGMODE_U_BASE, type);
  if (text.data[0]) material->wrap_v = wrap_of(source, _AI_MATKEY_MAPPINGMODE_V_BASE, type);
  if (text.data[0]) status = assimp_texture(job, text.data, &material->texture);
  if (material->texture >= 0 && job->format->texture_replaces_color)
    material->base_color[0] = material->base_color[1] = material->base_color[2] = 1.0f;
  return status;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* LightWave writes 256 of 255. */
void import_clamp_color(import_job *job, import_span name, sk_material *material) {
  float *color = material->base_color;
  int i;
  for (i = 0; i < 4; i++) {
    if (!(color[i] >= 0.0f && color[i] <= 1.0f))
      import_note_add(job, NOTE_material_factors_clamped, 1, "material '%.*s': the color has %g", IMPORT_SHORT(name),
                      (double)color[i]);
    color[i] = fminf(fmaxf(color[i], 0.0f), 1.0f);
  }
}

import_range import_range_of(sk_path path) {
  switch (path) {
  case SK_PATH_BASE_COLOR_FACTOR:
  case SK_PATH_METALLIC_FACTOR:
  case SK_PATH_ROUGHNESS_FACTOR:
  case SK_PATH_EMISSIVE_FACTOR:
  case SK_PATH_OCCLUSION_STRENGTH: return (import_range){0.0, 1.0};
  case SK_PATH_EMISSIVE_STRENGTH:
  case SK_PATH_ALPHA_CUTOFF: return (import_range){0.0, INFINITY};
  default: return (import_range){-INFINITY, INFINITY};
  }
}

int32_t import_material_of(const import_job *job, int64_t index) {
  return index >= 0 && (uint64_t)index < job->model.materials.count ? (int32_t)index : SK_NONE;
}

sk_status import_materials(import_job *job) {
  const import_reader *reader = job->format->reader;
  import_model *m = &job->model;
  size_t i, count = reader ? reader->material_count(job) : job->scene->mNumMaterials;
  sk_status status = SK_OK;
  m->materials = SK_ARRAY(sk_material);
  m->textures = SK_ARRAY(sk_texture);
  m->texture_data = SK_ARRAY(uint8_t);
  for (i = 0; i < count && !status; i++) {
    sk_material material = {0}, *added;
    status =
        reader ? reader->read_material(job, i, &material) : read_material(job, job->scene->mMaterials[i], &material);
    added = sk_array_extend(&m->materials, 1);
    if (!added && !status) status = import_no_memory(job, sizeof *added);
    if (added) *added = material;
  }
  return status;
}
