/* import_gltf_material.c: the materials of a glTF and their images. */
#include <math.h>
#include <stdio.h>

#include "../import_material.h"
#include "../import_texture.h"
#include "import_gltf.h"

size_t gltf_material_count(const import_job *job) { return (size_t)job->gltf->lists[GLTF_MATERIALS].count; }

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
    *index = import_find_texture(&job->model, name);
    if (*index >= 0) return SK_OK;
    status = gltf_view(job, json_index(j, json_member(j, token, "bufferView"), -1), &bytes, &size);
    return status ? status : import_add_texture(job, name, "", bytes, size, index);
  }
  if (gltf_data_uri(j, uri, &decoded, &size)) {
    *index = decoded ? import_find_texture(&job->model, name) : SK_NONE;
    status = !decoded      ? import_no_memory(job, 1)
             : *index >= 0 ? SK_OK
                           : import_add_texture(job, name, "", decoded, size, index);
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

/* Sets the texture of a material, where the file has one. An image that cannot be read is lost, and the report says so.
   */
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

sk_status gltf_read_material(import_job *job, size_t index, sk_material *material) {
  const json *j = &job->gltf->json;
  int32_t token = gltf_item(job->gltf, GLTF_MATERIALS, (int64_t)index);
  int32_t pbr = json_member(j, token, "pbrMetallicRoughness"), mode = json_member(j, token, "alphaMode"), i;
  double color[4] = {1.0, 1.0, 1.0, 1.0};
  *material = (sk_material){.texture = SK_NONE, .uv_transform = {1, 0, 0, 0, 1, 0}};
  if (!json_text(j, json_member(j, token, "name"), &job->model.text, &material->name)) return import_no_memory(job, 1);
  json_numbers(j, json_member(j, pbr, "baseColorFactor"), color, 4);
  for (i = 0; i < 4; i++) material->base_color[i] = import_is_bad((float)color[i]) ? 1.0f : (float)color[i];
  import_clamp_color(material);
  material->double_sided = json_truth(j, json_member(j, token, "doubleSided"));
  material->alpha = json_equals(j, mode, "MASK")    ? SK_ALPHA_MASK
                    : json_equals(j, mode, "BLEND") ? SK_ALPHA_BLEND
                                                    : SK_ALPHA_OPAQUE;
  material->alpha_cutoff = (float)json_number(j, json_member(j, token, "alphaCutoff"), 0.5);
  if (import_is_bad(material->alpha_cutoff)) material->alpha_cutoff = 0.5f;
  return gltf_texture(job, json_member(j, pbr, "baseColorTexture"), material);
}
