/* import_fbx_material.c: materials of FBX: base color, opacity, and the texture of the base color. */
#include <math.h>
#include <string.h>

#include "../import_material.h"
#include "../import_texture.h"
#include "import_fbx_mesh.h"

#define HEAD_CHARACTERS 256 /* base64 of 192 bytes, which are more than IMPORT_IMAGE_HEAD */

/* Those that some node has, in the order of their objects. */
sk_status fbx_list_materials(import_job *job) {
  import_fbx *fbx = job->fbx;
  const fbx_document *d = &fbx->scene.document;
  uint32_t i;
  fbx->materials = SK_ARRAY(uint32_t);
  for (i = 0; i < d->objects.count; i++) {
    size_t at = 0;
    uint32_t *added;
    if (fbx_object_at(d, i)->class != FBX_MATERIAL) continue;
    if (fbx_next_parent(d, i, FBX_MODEL, &at, NULL) == FBX_NONE) continue;
    added = sk_array_extend(&fbx->materials, 1);
    if (!added) return import_no_memory(job, sizeof *added);
    *added = i;
  }
  return SK_OK;
}

size_t fbx_material_count(const import_job *job) { return job->fbx->materials.count; }

/* The number of a material that some node has. They are in the order of their objects. */
static int64_t number_of(const import_fbx *fbx, uint32_t object) {
  const uint32_t *materials = fbx->materials.data;
  size_t low = 0, high = fbx->materials.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (materials[middle] < object) low = middle + 1;
    else high = middle;
  }
  return (int64_t)low;
}

sk_status fbx_materials_of(import_job *job, const fbx_node *node, sk_array *numbers) {
  const import_fbx *fbx = job->fbx;
  size_t at = 0;
  uint32_t material;
  while ((material = fbx_next_child(&fbx->scene.document, node->object, FBX_MATERIAL, &at, NULL)) != FBX_NONE) {
    int64_t *added = sk_array_extend(numbers, 1);
    if (!added) return import_no_memory(job, sizeof *added);
    *added = number_of(fbx, material);
  }
  return SK_OK;
}

/* ---- textures ------------------------------------------------------------------------------------- */

/* Properties whose texture is that of the base color, the preferred one first. */
static const char *const color_names[] = {"DiffuseColor", "3dsMax|Parameters|base_color_map", "Maya|baseColor",
                                          "Maya|TEX_color_map", "3dsMax|main|baseColorMap"};
#define COLOR_NAMES (sizeof color_names / sizeof *color_names)

bool fbx_is_base_color(const fbx_link *link) {
  size_t n;
  for (n = 0; n < COLOR_NAMES; n++)
    if (fbx_link_is(link, color_names[n])) return true;
  return false;
}

/* The texture of the base color: the first one that a property of that meaning has; of a layered one its first. */
static uint32_t find_texture(const fbx_document *d, uint32_t material) {
  const fbx_link *link;
  uint32_t found;
  size_t n, at;
  for (n = 0; n < COLOR_NAMES; n++) {
    for (at = 0; (found = fbx_next_child(d, material, FBX_TEXTURE, &at, &link)) != FBX_NONE;)
      if (fbx_link_is(link, color_names[n])) return found;
    for (at = 0; (found = fbx_next_child(d, material, FBX_LAYERED_TEXTURE, &at, &link)) != FBX_NONE;) {
      size_t inner = 0;
      if (fbx_link_is(link, color_names[n])) return fbx_next_child(d, found, FBX_TEXTURE, &inner, NULL);
    }
  }
  return FBX_NONE;
}

/* A text of an object's record, as a copy that ends in a zero byte; NULL if there is none or no memory. */
static char *copy_text_of(const fbx_document *d, const fbx_object *object, const char *name) {
  fbx_record record;
  fbx_value value;
  char *text;
  if (!fbx_find(&d->file, object->inside, object->inside_end, name, &record)) return NULL;
  if (!fbx_read_values(&d->file, &record, &value, 1) || !value.text || !value.length) return NULL;
  text = import_copy_text(value.text, value.length);
  if (text && !d->file.width) text[fbx_unescape(text, value.length)] = 0;
  return text;
}

/* An image in a text is base64, in one piece or in several. What begins like no image is not decoded, because many
   materials may name it. */
static sk_status add_base64(import_job *job, const fbx_document *d, const fbx_record *record, const char *name,
                            int32_t *index) {
  size_t at = record->values, size = 0, room = record->values_end - record->values;
  uint8_t *bytes = sk_alloc(room + 3);
  fbx_value piece;
  sk_status status = SK_OK;
  if (!bytes) return import_no_memory(job, room);
  while (fbx_next_value(&d->file, record, &at, &piece) && piece.text) {
    const unsigned char *text = (const unsigned char *)piece.text;
    if (size < HEAD_CHARACTERS) {
      size_t length = piece.length < HEAD_CHARACTERS ? piece.length : HEAD_CHARACTERS;
      size_t head = size + import_decode_base64(text, length, bytes + size);
      if (head >= IMPORT_IMAGE_HEAD && !import_image_format(bytes, head)[0]) {
        size = head;
        break;
      }
    }
    size += import_decode_base64(text, piece.length, bytes + size);
  }
  if (size) status = import_add_texture(job, name, "", bytes, size, index);
  sk_free(bytes);
  return status;
}

/* The image inside the file, which a video has as its content: bytes, or base64 in a text. */
static sk_status add_embedded(import_job *job, const fbx_document *d, uint32_t texture, const char *name,
                              int32_t *index) {
  size_t at = 0;
  uint32_t video;
  while ((video = fbx_next_child(d, texture, FBX_VIDEO, &at, NULL)) != FBX_NONE) {
    const fbx_object *object = fbx_object_at(d, video);
    fbx_record record;
    fbx_value value;
    if (!fbx_find(&d->file, object->inside, object->inside_end, "Content", &record)) continue;
    if (!d->file.width) {
      sk_status status = add_base64(job, d, &record, name, index);
      if (status || *index >= 0) return status;
      continue;
    }
    if (!fbx_read_values(&d->file, &record, &value, 1) || !value.text || !value.length) continue;
    return import_add_texture(job, name, "", value.text, value.length, index);
  }
  return SK_OK;
}

static sk_status read_texture(import_job *job, uint32_t texture, int32_t *index) {
  const fbx_document *d = &job->fbx->scene.document;
  const fbx_object *object = fbx_object_at(d, texture);
  char *name = copy_text_of(d, object, "RelativeFilename");
  sk_status status = SK_OK;
  if (!name) name = copy_text_of(d, object, "FileName");
  if (!name) name = copy_text_of(d, object, "Filename");
  if (!name) name = import_copy_text("texture", 7);
  if (!name) return import_no_memory(job, 8);
  *index = import_find_texture(&job->model, name);
  if (*index < 0) status = add_embedded(job, d, texture, name, index);
  if (!status && *index < 0) status = import_texture_file(job, name, index);
  sk_free(name);
  return status;
}

/* The texture is moved, rotated (degrees) and scaled over the coordinates, so these take the inverse. Coordinates of FBX
   go up from the bottom of the image, those of skinpy down from its top. */
static void read_transform(const fbx_document *d, uint32_t texture, sk_material *material) {
  double t[3] = {0}, r[3] = {0}, s[3] = {1, 1, 1}, c, n, u, v, m[6];
  const fbx_wanted wanted[] = {{"Translation", t, 3, NULL}, {"Rotation", r, 3, NULL}, {"Scaling", s, 3, NULL}};
  int i;
  fbx_read_properties(d, texture, wanted, 3);
  if (t[0] == 0.0 && t[1] == 0.0 && r[2] == 0.0 && s[0] == 1.0 && s[1] == 1.0) return;
  c = cos(r[2] * 3.14159265358979323846 / 180.0), n = sin(r[2] * 3.14159265358979323846 / 180.0);
  u = s[0] != 0.0 ? 1.0 / s[0] : 1.0, v = s[1] != 0.0 ? 1.0 / s[1] : 1.0;
  m[0] = u * c, m[1] = u * n, m[2] = -u * (c * t[0] + n * t[1]);
  m[3] = -v * n, m[4] = v * c, m[5] = -v * (-n * t[0] + c * t[1]);
  m[2] += m[1], m[1] = -m[1];                       /* coordinates from the top: v becomes 1 - v, on the way in ... */
  m[5] = 1.0 - m[4] - m[5], m[3] = -m[3];           /* ... and on the way out */
  for (i = 0; i < 6; i++)
    if (!isfinite((float)m[i])) return;
  for (i = 0; i < 6; i++) material->uv_transform[i] = (float)m[i] + 0.0f;
}

static uint8_t wrap_of(const fbx_document *d, uint32_t texture, const char *property) {
  return fbx_property(d, texture, property, 0.0) == 1.0 ? SK_WRAP_CLAMP_TO_EDGE : SK_WRAP_REPEAT;
}

/* ---- materials --------------------------------------------------------------------------------------- */

sk_status fbx_read_material(import_job *job, size_t index, sk_material *material) {
  const fbx_document *d = &job->fbx->scene.document;
  uint32_t object = ((const uint32_t *)job->fbx->materials.data)[index], texture;
  const fbx_object *named = fbx_object_at(d, object);
  double color[3] = {0.8, 0.8, 0.8}, factor = 1.0, opacity = 1.0;
  bool has_opacity = false;
  const fbx_wanted wanted[] = {
      {"DiffuseColor", color, 3, NULL}, {"DiffuseFactor", &factor, 1, NULL}, {"Opacity", &opacity, 1, &has_opacity}};
  sk_status status = SK_OK;
  int i;
  *material = (sk_material){.texture = SK_NONE, .alpha_cutoff = 0.5f, .uv_transform = {1, 0, 0, 0, 1, 0}};
  if (!sk_text_append(&job->model.text, named->name, named->name_length, &material->name))
    return import_no_memory(job, named->name_length);
  fbx_read_properties(d, object, wanted, 3);
  for (i = 0; i < 3; i++) material->base_color[i] = (float)(color[i] * factor);
  material->base_color[3] = has_opacity ? (float)opacity : 1.0f;
  import_clamp_color(job, (import_span){named->name, named->name_length}, material);
  material->alpha = material->base_color[3] < 1.0f ? SK_ALPHA_BLEND : SK_ALPHA_OPAQUE;
  texture = find_texture(d, object);
  if (texture != FBX_NONE) {
    read_transform(d, texture, material);
    material->wrap_u = wrap_of(d, texture, "WrapModeU");
    material->wrap_v = wrap_of(d, texture, "WrapModeV");
  }
  if (texture != FBX_NONE) status = read_texture(job, texture, &material->texture);
  for (i = 0; i < 3 && material->texture >= 0; i++) material->base_color[i] = 1.0f;
  return status;
}
