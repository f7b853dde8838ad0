/* import_gltf_extension.c: the extensions of glTF that are known, and the report of all others.

   Names are those of the registry, github.com/KhronosGroup/glTF/tree/main/extensions, and of VRM. */
#include <stdio.h>
#include <string.h>

#include "import_gltf.h"

#define MAX_NAMES 8 /* of unread extensions that are told apart; more are counted */

typedef enum extension_use {
  READ,     /* played, or kept as data: the comments say by which file */
  KEPT,     /* kept as data of a material, and not drawn */
  HARMLESS, /* not read, and says nothing about what is seen or played */
  MOVES,    /* kept as data, and moves joints by rules that are not evaluated */
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
    {"KHR_materials_anisotropy", KEPT},
    {"KHR_materials_clearcoat", KEPT},
    {"KHR_materials_diffuse_transmission", KEPT},
    {"KHR_materials_dispersion", KEPT},
    {"KHR_materials_emissive_strength", KEPT},
    {"KHR_materials_ior", KEPT},
    {"KHR_materials_iridescence", KEPT},
    {"KHR_materials_sheen", KEPT},
    {"KHR_materials_specular", KEPT},
    {"KHR_materials_transmission", KEPT},
    {"KHR_materials_unlit", KEPT},
    {"KHR_materials_volume", KEPT},
    {"VRMC_materials_mtoon", KEPT},
    {"VRMC_materials_hdr_emissiveMultiplier", KEPT},
    /* import_gltf_data.c: other data */
    {"KHR_materials_variants", READ},
    {"KHR_lights_punctual", READ},
    {"VRM", READ},
    {"VRMC_vrm", READ},
    {"VRMC_vrm_animation", READ},
    {"VRMC_springBone", READ},
    {"VRMC_springBone_extended_collider", READ},
    {"VRMC_node_constraint", MOVES},
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

typedef struct found_names {
  name_list lost, unread, kept, moving;
} found_names;

/* Adds a name to the list that it belongs to, if it belongs to one. */
static void sort_name(const json *j, found_names *found, int32_t name, bool required) {
  const struct extension *row = find(j, name);
  if (row && row->use == READ) return;
  if (row && row->use == KEPT) add_name(j, &found->kept, name);
  else if (row && row->use == MOVES) add_name(j, &found->moving, name);
  else if (row ? row->use == LOST : required) add_name(j, &found->lost, name);
  else if (!lists(j, &found->lost, name)) add_name(j, &found->unread, name);
}

static void sort_list(const json *j, found_names *found, const char *list, bool required) {
  int32_t array = json_member(j, 0, list), name;
  for (name = json_first(j, array); name >= 0; name = json_after(j, array, name))
    if (json_is_string(j, name)) sort_name(j, found, name, required);
}

/* Sorts the names in all objects called "extensions", but not those in extras, whose content is the author's. */
static void sort_used(const json *j, found_names *found) {
  int32_t i, name;
  for (i = 0; i < j->count; i++) {
    if (json_equals(j, i, "extras")) i = j->next[i] - 1;
    else if (json_equals(j, i, "extensions") && j->next[i] > i + 1)
      for (name = json_first_key(j, i + 1); name >= 0; name = json_key_after(j, i + 1, name))
        sort_name(j, found, name, false);
  }
}

/* Textures of materials that are kept and not drawn. */
static void find_slots(const json *j, name_list *kept) {
  static const char *const slots[] = {"normalTexture", "occlusionTexture", "emissiveTexture"};
  int32_t array = json_member(j, 0, "materials"), token, value;
  size_t i;
  for (token = json_first(j, array); token >= 0; token = json_after(j, array, token)) {
    value = json_member(j, json_member(j, token, "pbrMetallicRoughness"), "metallicRoughnessTexture");
    if (value >= 0) add_name(j, kept, value - 1); /* the key */
    for (i = 0; i < sizeof slots / sizeof *slots; i++) {
      value = json_member(j, token, slots[i]);
      if (value >= 0) add_name(j, kept, value - 1);
    }
  }
}

/* Refuses what is compressed in a way that this build does not read. */
static sk_status check_compression(import_job *job) {
  const json *j = &job->gltf->json;
  int32_t array = json_member(j, 0, "extensionsRequired"), name;
  sk_status status = SK_OK;
  for (name = json_first(j, array); name >= 0 && !status; name = json_after(j, array, name)) {
    const char *compression = json_is_string(j, name) ? gltf_compression(j, name) : NULL;
    if (compression) status = gltf_need(job, compression);
  }
  return status;
}

sk_status gltf_check_extensions(import_job *job) {
  const json *j = &job->gltf->json;
  found_names found = {{{0}, 0}, {{0}, 0}, {{0}, 0}, {{0}, 0}};
  sk_status status = check_compression(job);
  if (status) return status;
  sort_list(j, &found, "extensionsRequired", true);
  sort_list(j, &found, "extensionsUsed", false);
  sort_used(j, &found);
  find_slots(j, &found.kept);
  note_names(job, NOTE_extensions_ignored, &found.lost);
  note_names(job, NOTE_extensions_unread, &found.unread);
  note_names(job, NOTE_constraints_ignored, &found.moving);
  note_names(job, NOTE_looks_kept, &found.kept);
  return SK_OK;
}
