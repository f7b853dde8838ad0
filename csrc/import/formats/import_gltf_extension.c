/* import_gltf_extension.c: the extensions of glTF that are known, and the report of all others.

   Names are those of the registry, github.com/KhronosGroup/glTF/tree/main/extensions, and of VRM. */
#include <stdio.h>
#include <string.h>

#include "import_gltf.h"

#define MAX_NAMES 8 /* of unread extensions that are told apart; more are counted */

typedef enum extension_use {
  READ,     /* played, or kept as data: the comments say by which file */
  HARMLESS, /* says nothing about what is seen or played */
  LOST      /* changes what is seen or played, and is not read, even where the file does not require it */
} extension_use;

static const struct extension {
  const char *name;
  extension_use use;
} extensions[] = {
    /* import_accessor.c, import_gltf_draco.c, import_gltf_meshopt.c */
    {"KHR_mesh_quantization", READ},
    {"KHR_draco_mesh_compression", READ},
    {"EXT_meshopt_compression", READ},
    {"KHR_meshopt_compression", READ},
    /* import_gltf.c */
    {"EXT_mesh_gpu_instancing", READ},
    {"KHR_node_visibility", READ},
    /* import_gltf_material.c */
    {"KHR_texture_transform", READ},
    {"EXT_texture_webp", READ},
    {"MSFT_texture_dds", READ},
    {"KHR_texture_basisu", READ}, /* an image that cannot be decoded is reported by itself */
    {"EXT_texture_avif", READ},   /* likewise */
    {"KHR_materials_pbrSpecularGlossiness", READ},
    /* import_gltf_data.c: values of materials */
    {"KHR_materials_anisotropy", READ},
    {"KHR_materials_clearcoat", READ},
    {"KHR_materials_diffuse_transmission", READ},
    {"KHR_materials_dispersion", READ},
    {"KHR_materials_emissive_strength", READ},
    {"KHR_materials_ior", READ},
    {"KHR_materials_iridescence", READ},
    {"KHR_materials_sheen", READ},
    {"KHR_materials_specular", READ},
    {"KHR_materials_transmission", READ},
    {"KHR_materials_unlit", READ},
    {"KHR_materials_volume", READ},
    {"VRMC_materials_mtoon", READ},
    {"VRMC_materials_hdr_emissiveMultiplier", READ},
    /* import_gltf_data.c: other data */
    {"KHR_materials_variants", READ},
    {"KHR_lights_punctual", READ},
    {"VRM", READ},
    {"VRMC_vrm", READ},
    {"VRMC_vrm_animation", READ},
    {"VRMC_springBone", READ},
    {"VRMC_springBone_extended_collider", READ},
    {"VRMC_node_constraint", READ},
    /* import_gltf_pointer.c */
    {"KHR_animation_pointer", READ},
    {"KHR_xmp", HARMLESS},
    {"KHR_xmp_json_ld", HARMLESS},
    {"KHR_node_selectability", HARMLESS},
    {"KHR_node_hoverability", HARMLESS},
    {"EXT_mesh_manifold", HARMLESS},
    {"EXT_mesh_features", HARMLESS},
    {"EXT_instance_features", HARMLESS},
    {"EXT_structural_metadata", HARMLESS},
    {"EXT_feature_metadata", HARMLESS},
    {"MSFT_lod", HARMLESS}, /* the file's own nodes are the finest level */
    {"MSFT_packing_normalRoughnessMetallic", HARMLESS},
    {"MSFT_packing_occlusionRoughnessMetallic", HARMLESS},
    {"FB_geometry_metadata", HARMLESS},
    {"CESIUM_RTC", LOST},
    {"CESIUM_primitive_outline", HARMLESS},
    {"KHR_techniques_webgl", LOST},
    {"KHR_gaussian_splatting", LOST},
};

/* The row of a name, or NULL. */
static const struct extension *find(const json *j, int32_t name) {
  size_t i;
  for (i = 0; i < sizeof extensions / sizeof *extensions; i++)
    if (json_equals(j, name, extensions[i].name)) return &extensions[i];
  return NULL;
}

/* Names that the report lists together. */
typedef struct name_list {
  int32_t tokens[MAX_NAMES];
  uint64_t count; /* of different names, as far as they are told apart */
} name_list;

static bool same_text(const json *j, int32_t a, int32_t b) {
  size_t length, other;
  const char *text = json_raw(j, a, &length), *second = json_raw(j, b, &other);
  return length == other && !memcmp(text, second, length);
}

static bool lists(const json *j, const name_list *names, int32_t name) {
  uint64_t i;
  for (i = 0; i < names->count && i < MAX_NAMES; i++)
    if (same_text(j, names->tokens[i], name)) return true;
  return false;
}

static void add_name(const json *j, name_list *names, int32_t name) {
  if (lists(j, names, name)) return;
  if (names->count < MAX_NAMES) names->tokens[names->count] = name;
  names->count++;
}

static void note_names(import_job *job, import_note_code code, const name_list *names) {
  const json *j = &job->gltf->json;
  char words[160] = "";
  size_t used = 0, i;
  for (i = 0; i < names->count && i < MAX_NAMES; i++) {
    size_t length;
    const char *name = json_raw(j, names->tokens[i], &length);
    if (length > 60) length = 60;
    if (used + length + 3 > sizeof words) break;
    used += (size_t)snprintf(words + used, sizeof words - used, "%s%.*s", used ? ", " : "", (int)length, name);
  }
  import_note_add(job, code, names->count, "%s", words);
}

/* Adds the names in all objects called "extensions", but not those in extras, whose content is the author's. */
static void find_used(const json *j, name_list *optional, const name_list *required) {
  int32_t i = 0, name;
  while (i < j->count) {
    if (json_equals(j, i, "extras")) {
      i = j->next[i];
      continue;
    }
    if (json_equals(j, i, "extensions") && j->next[i] > i + 1)
      for (name = json_first_key(j, i + 1); name >= 0; name = json_key_after(j, i + 1, name))
        if (!find(j, name) && !lists(j, required, name)) add_name(j, optional, name);
    i++;
  }
}

sk_status gltf_check_extensions(import_job *job) {
  const json *j = &job->gltf->json;
  name_list required = {{0}, 0}, optional = {{0}, 0};
  int32_t array = json_member(j, 0, "extensionsRequired"), name;
  const struct extension *row;
  for (name = json_first(j, array); name >= 0; name = json_after(j, array, name)) {
    const char *compression = json_is_string(j, name) ? gltf_compression(j, name) : NULL;
    sk_status status = compression ? gltf_need(job, compression) : SK_OK;
    if (status) return status;
    row = find(j, name);
    if (json_is_string(j, name) && (!row || row->use == LOST)) add_name(j, &required, name);
  }
  array = json_member(j, 0, "extensionsUsed");
  for (name = json_first(j, array); name >= 0; name = json_after(j, array, name)) {
    if (!json_is_string(j, name) || lists(j, &required, name)) continue;
    row = find(j, name);
    if (row && row->use == LOST) add_name(j, &required, name);
    else if (!row) add_name(j, &optional, name);
  }
  find_used(j, &optional, &required);
  note_names(job, NOTE_extensions_ignored, &required);
  note_names(job, NOTE_extensions_unread, &optional);
  return SK_OK;
}
