/* import_gltf_material.c: the materials of a glTF and their images. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../import_material.h"
#include "../import_texture.h"
#include "import_gltf.h"

size_t gltf_material_count(const import_job *job) { return (size_t)job->gltf->lists[GLTF_MATERIALS].count; }

/* ---- images ------------------------------------------------------------------------------- */

static sk_status read_image(import_job *job, int64_t image, int32_t token, int32_t *index) {
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
    status = gltf_view(job, json_index(j, json_member(j, token, "bufferView"), -1), &bytes, &size);
    return status ? status : import_add_texture(job, name, "", bytes, size, index);
  }
  if (gltf_data_uri(j, uri, &decoded, &size)) {
    status = decoded ? import_add_texture(job, name, "", decoded, size, index) : import_no_memory(job, 1);
    sk_free(decoded);
    return status;
  }
  if (!json_text(j, uri, &path, &text) || !sk_array_extend(&path, 1)) {
    status = import_no_memory(job, 1);
  } else {
    gltf_decode_percent(path.data);
    *index = import_find_texture(&job->model, path.data);
    status = *index >= 0 ? SK_OK : import_texture_file(job, path.data, index);
  }
  sk_array_free(&path);
  return status;
}

/* KHR_texture_transform scales first, then rotates counterclockwise, then adds the offset. */
static void read_uv_transform(import_job *job, int32_t transform, sk_material *material) {
  const json *j = &job->gltf->json;
  double offset[2] = {0.0, 0.0}, scale[2] = {1.0, 1.0}, angle, rows[6];
  int i;
  json_numbers(j, json_member(j, transform, "offset"), offset, 2);
  json_numbers(j, json_member(j, transform, "scale"), scale, 2);
  angle = json_number(j, json_member(j, transform, "rotation"), 0.0);
  rows[0] = cos(angle) * scale[0], rows[1] = sin(angle) * scale[1], rows[2] = offset[0];
  rows[3] = -sin(angle) * scale[0], rows[4] = cos(angle) * scale[1], rows[5] = offset[1];
  for (i = 0; i < 6; i++)
    if (!import_is_bad((float)rows[i])) material->uv_transform[i] = (float)rows[i] + 0.0f;
}

int64_t gltf_image_of(const json *j, int32_t texture) {
  static const char *const names[] = {"EXT_texture_webp", NULL, "MSFT_texture_dds", "KHR_texture_basisu",
                                      "EXT_texture_avif"}; /* NULL: the texture's own, a PNG or JPEG */
  int32_t list = json_member(j, texture, "extensions"), source;
  int64_t image = -1;
  size_t i;
  for (i = 0; i < sizeof names / sizeof *names && image < 0; i++) {
    source = json_member(j, names[i] ? json_member(j, list, names[i]) : texture, "source");
    image = json_index(j, source, -1);
  }
  return image;
}

static void note_undecoded(import_job *job, int64_t image, int32_t index) {
  const sk_texture *texture = (const sk_texture *)job->model.textures.data + index;
  const char *format = (const char *)job->model.text.data + texture->format.offset;
  if (texture->format.length >= 3 && (!memcmp(format, "ktx", 3) || !memcmp(format, "avi", 3)))
    import_note_add(job, NOTE_textures_undecoded, 1, "images[%lld] is %.*s (%s)", (long long)image,
                    (int)texture->format.length, format, *format == 'k' ? "KHR_texture_basisu" : "EXT_texture_avif");
}

/* The texture of the model that an image became, read when it is first asked for. SK_NONE: it cannot be read, which the
   report says. */
static sk_status load_image(import_job *job, int64_t image, int32_t *index) {
  gltf *g = job->gltf;
  int32_t token = gltf_item(g, GLTF_IMAGES, image), i, count = g->lists[GLTF_IMAGES].count;
  sk_status status = SK_OK;
  *index = SK_NONE;
  if (token < 0) {
    import_note_add(job, NOTE_textures_missing, 1, "a texture without an image that can be read");
    return SK_OK;
  }
  if (!g->pictures) {
    g->pictures = sk_alloc((size_t)count * sizeof *g->pictures);
    if (!g->pictures) return import_no_memory(job, (size_t)count * sizeof *g->pictures);
    for (i = 0; i < count; i++) g->pictures[i] = GLTF_UNREAD;
  }
  if (g->pictures[image] == GLTF_UNREAD) {
    g->pictures[image] = SK_NONE;
    status = read_image(job, image, token, &g->pictures[image]);
    if (status == SK_ERROR_IMPORT)
      import_note_add(job, NOTE_textures_missing, 1, "images[%lld]", (long long)image), status = SK_OK;
    if (!status && g->pictures[image] >= 0) note_undecoded(job, image, g->pictures[image]);
  }
  *index = g->pictures[image];
  return status;
}

/* ---- textures ----------------------------------------------------------------------------- */

static int32_t texture_of(const import_job *job, int32_t use) {
  const json *j = &job->gltf->json;
  return gltf_item(job->gltf, GLTF_TEXTURES, json_index(j, json_member(j, use, "index"), -1));
}

/* The numbers of glTF are those of OpenGL. */
static sk_wrap wrap_of(const json *j, int32_t sampler, const char *key) {
  int64_t number = json_index(j, json_member(j, sampler, key), 10497);
  return number == 33071 ? SK_WRAP_CLAMP_TO_EDGE : number == 33648 ? SK_WRAP_MIRRORED_REPEAT : SK_WRAP_REPEAT;
}

static void read_sampler(const import_job *job, int32_t texture, sk_material *material) {
  const json *j = &job->gltf->json;
  int32_t sampler = gltf_item(job->gltf, GLTF_SAMPLERS, json_index(j, json_member(j, texture, "sampler"), -1));
  int64_t min = json_index(j, json_member(j, sampler, "minFilter"), 0);
  int64_t mag = json_index(j, json_member(j, sampler, "magFilter"), 0);
  material->wrap_u = (uint8_t)wrap_of(j, sampler, "wrapS");
  material->wrap_v = (uint8_t)wrap_of(j, sampler, "wrapT");
  if (min == 9728 || min == 9729) material->min_filter = (uint8_t)(SK_FILTER_NEAREST + min - 9728);
  if (min >= 9984 && min <= 9987) material->min_filter = (uint8_t)(SK_FILTER_NEAREST_MIPMAP_NEAREST + min - 9984);
  if (mag == 9728 || mag == 9729) material->mag_filter = (uint8_t)(SK_FILTER_NEAREST + mag - 9728);
}

/* The extension that says base color and texture in its own words, or -1. */
static int32_t specular_glossiness(const json *j, int32_t material) {
  return json_member(j, json_member(j, material, "extensions"), "KHR_materials_pbrSpecularGlossiness");
}

int32_t gltf_base_texture(const import_job *job, int32_t material) {
  const json *j = &job->gltf->json;
  int32_t token = gltf_item(job->gltf, GLTF_MATERIALS, material), other = specular_glossiness(j, token);
  if (other >= 0) return json_member(j, other, "diffuseTexture");
  return json_member(j, json_member(j, token, "pbrMetallicRoughness"), "baseColorTexture");
}

static sk_status read_base_texture(import_job *job, int32_t use, sk_material *material) {
  const json *j = &job->gltf->json;
  int32_t texture = texture_of(job, use);
  if (use < 0) return SK_OK;
  read_uv_transform(job, json_member(j, json_member(j, use, "extensions"), "KHR_texture_transform"), material);
  read_sampler(job, texture, material);
  return load_image(job, gltf_image_of(j, texture), &material->texture);
}

static bool ends_in_texture(const json *j, int32_t key) {
  size_t length;
  const char *name = json_is_string(j, key) ? json_raw(j, key, &length) : NULL;
  return name && length >= 7 && !memcmp(name + length - 7, "Texture", 7);
}

/* Loads what the other textures of a material show: normalTexture and so on, and those of its extensions. */
static sk_status load_other_textures(import_job *job, int32_t material) {
  const json *j = &job->gltf->json;
  int32_t i, end = material < 0 ? -1 : j->next[material], index;
  sk_status status = SK_OK;
  for (i = material; i < end && !status; i++) {
    if (json_equals(j, i, "extras")) i = j->next[i] - 1;
    else if (ends_in_texture(j, i) && texture_of(job, i + 1) >= 0)
      status = load_image(job, gltf_image_of(j, texture_of(job, i + 1)), &index);
  }
  return status;
}

/* ---- materials ---------------------------------------------------------------------------- */

static void read_base_color(import_job *job, int32_t token, sk_material *material) {
  const json *j = &job->gltf->json;
  int32_t other = specular_glossiness(j, token), i;
  double color[4] = {1.0, 1.0, 1.0, 1.0};
  if (other >= 0) json_numbers(j, json_member(j, other, "diffuseFactor"), color, 4);
  else json_numbers(j, json_member(j, json_member(j, token, "pbrMetallicRoughness"), "baseColorFactor"), color, 4);
  for (i = 0; i < 4; i++) material->base_color[i] = import_is_bad((float)color[i]) ? 1.0f : (float)color[i];
  import_clamp_color(job, import_span_of(job, material->name), material);
}

/* The factors that Python reads from EXTRAS, and their ranges: glTF 2.0, 5.19 and 5.22, and the specifications of the
   extensions. skinpy/models/factors.py has the same table and clamps them. */
static const struct factor {
  const char *extension, *object, *key; /* "": the material itself */
  double low, high;
} factors[] = {{"", "pbrMetallicRoughness", "metallicFactor", 0, 1},
               {"", "pbrMetallicRoughness", "roughnessFactor", 0, 1},
               {"", "", "emissiveFactor", 0, 1},
               {"", "", "alphaCutoff", 0, INFINITY},
               {"", "occlusionTexture", "strength", 0, 1},
               {"KHR_materials_emissive_strength", "", "emissiveStrength", 0, INFINITY},
               {"KHR_materials_clearcoat", "", "clearcoatFactor", 0, 1},
               {"KHR_materials_clearcoat", "", "clearcoatRoughnessFactor", 0, 1},
               {"KHR_materials_sheen", "", "sheenColorFactor", 0, 1},
               {"KHR_materials_sheen", "", "sheenRoughnessFactor", 0, 1},
               {"KHR_materials_transmission", "", "transmissionFactor", 0, 1},
               {"KHR_materials_specular", "", "specularFactor", 0, 1},
               {"KHR_materials_specular", "", "specularColorFactor", 0, INFINITY},
               {"KHR_materials_iridescence", "", "iridescenceFactor", 0, 1},
               {"KHR_materials_anisotropy", "", "anisotropyStrength", 0, 1},
               {"KHR_materials_volume", "", "thicknessFactor", 0, INFINITY},
               {"KHR_materials_volume", "", "attenuationColor", 0, 1},
               {"KHR_materials_dispersion", "", "dispersion", 0, INFINITY},
               {"KHR_materials_pbrSpecularGlossiness", "", "specularFactor", 0, 1},
               {"KHR_materials_pbrSpecularGlossiness", "", "glossinessFactor", 0, 1}};

static void note_factors(import_job *job, int32_t material, import_span name) {
  const json *j = &job->gltf->json;
  size_t f;
  for (f = 0; f < sizeof factors / sizeof *factors; f++) {
    const struct factor *one = &factors[f];
    int32_t holder = material, value;
    if (one->extension[0]) holder = json_member(j, json_member(j, holder, "extensions"), one->extension);
    if (one->object[0]) holder = json_member(j, holder, one->object);
    value = json_member(j, holder, one->key);
    if (json_length(j, value)) value = json_first(j, value);
    for (; value >= 0; value = json_after(j, json_member(j, holder, one->key), value)) {
      double number = json_number(j, value, one->low);
      if (number < one->low || number > one->high)
        import_note_add(job, NOTE_material_factors_clamped, 1, "material '%.*s': %s has %g", IMPORT_SHORT(name),
                        one->key, number);
    }
  }
}

sk_status gltf_read_material(import_job *job, size_t index, sk_material *material) {
  const json *j = &job->gltf->json;
  int32_t token = gltf_item(job->gltf, GLTF_MATERIALS, (int64_t)index);
  int32_t mode = json_member(j, token, "alphaMode");
  sk_status status;
  *material = (sk_material){.texture = SK_NONE, .uv_transform = {1, 0, 0, 0, 1, 0}};
  if (!json_text(j, json_member(j, token, "name"), &job->model.text, &material->name)) return import_no_memory(job, 1);
  read_base_color(job, token, material);
  material->double_sided = json_truth(j, json_member(j, token, "doubleSided"));
  material->alpha = json_equals(j, mode, "MASK")    ? SK_ALPHA_MASK
                    : json_equals(j, mode, "BLEND") ? SK_ALPHA_BLEND
                                                    : SK_ALPHA_OPAQUE;
  material->alpha_cutoff = (float)json_number(j, json_member(j, token, "alphaCutoff"), 0.5);
  if (import_is_bad(material->alpha_cutoff)) material->alpha_cutoff = 0.5f;
  material->alpha_cutoff = fmaxf(material->alpha_cutoff, 0.0f);
  note_factors(job, token, import_span_of(job, material->name));
  status = read_base_texture(job, gltf_base_texture(job, (int32_t)index), material);
  return status ? status : load_other_textures(job, token);
}
