/* import_gltf_pointer.c: what the channels of a glTF change: a component of a node, or what a pointer names
   (KHR_animation_pointer). */
#include <stdio.h>
#include <string.h>

#include "import_gltf.h"

#define TRANSFORM "pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform/"

/* The pointers that are played: /nodes/N/... and /materials/N/... */
static const struct pointer_rule {
  const char *list, *rest;
  sk_path path;
} rules[] = {
    {"nodes", "translation", SK_PATH_TRANSLATION},
    {"nodes", "rotation", SK_PATH_ROTATION},
    {"nodes", "scale", SK_PATH_SCALE},
    {"nodes", "weights", SK_PATH_WEIGHT},
    {"nodes", "extensions/KHR_node_visibility/visible", SK_PATH_VISIBILITY},
    {"materials", "pbrMetallicRoughness/baseColorFactor", SK_PATH_BASE_COLOR_FACTOR},
    {"materials", "pbrMetallicRoughness/metallicFactor", SK_PATH_METALLIC_FACTOR},
    {"materials", "pbrMetallicRoughness/roughnessFactor", SK_PATH_ROUGHNESS_FACTOR},
    {"materials", "emissiveFactor", SK_PATH_EMISSIVE_FACTOR},
    {"materials", "extensions/KHR_materials_emissive_strength/emissiveStrength", SK_PATH_EMISSIVE_STRENGTH},
    {"materials", "alphaCutoff", SK_PATH_ALPHA_CUTOFF},
    {"materials", "normalTexture/scale", SK_PATH_NORMAL_SCALE},
    {"materials", "occlusionTexture/strength", SK_PATH_OCCLUSION_STRENGTH},
    {"materials", TRANSFORM "offset", SK_PATH_UV_OFFSET},
    {"materials", TRANSFORM "rotation", SK_PATH_UV_ROTATION},
    {"materials", TRANSFORM "scale", SK_PATH_UV_SCALE},
};

/* Takes "/list/number/" off the front of a pointer; -1: it begins otherwise. */
static int32_t take_index(const char **at, const char *list) {
  size_t length = strlen(list);
  const char *from = *at;
  int32_t number = 0;
  if (*from++ != '/' || strncmp(from, list, length) != 0 || from[length] != '/') return -1;
  from += length + 1;
  if (*from < '0' || *from > '9') return -1;
  for (; *from >= '0' && *from <= '9'; from++) {
    if (number > (INT32_MAX - 9) / 10) return -1;
    number = 10 * number + (*from - '0');
  }
  if (*from++ != '/') return -1;
  *at = from;
  return number;
}

static void read_pointer(gltf_target *target) {
  size_t i;
  for (i = 0; i < sizeof rules / sizeof *rules && target->path < 0; i++) {
    const char *rest = target->pointer;
    int32_t index = take_index(&rest, rules[i].list);
    if (index < 0 || strcmp(rest, rules[i].rest) != 0) continue;
    target->path = (int32_t)rules[i].path;
    target->index = index;
  }
}

/* Some writers put a backslash in front of each slash, which JSON allows. */
static void copy_pointer(const json *j, int32_t token, gltf_target *target) {
  size_t length = 0, i, used = 0;
  const char *raw = json_is_string(j, token) ? json_raw(j, token, &length) : "";
  for (i = 0; i < length && used + 1 < sizeof target->pointer; i++)
    if (raw[i] != '\\' || i + 1 == length || raw[i + 1] != '/') target->pointer[used++] = raw[i];
  target->pointer[used] = 0;
}

gltf_target gltf_read_target(const json *j, int32_t token) {
  static const char *const names[] = {"translation", "rotation", "scale", "weights"};
  gltf_target target = {-1, (int32_t)json_index(j, json_member(j, token, "node"), -1), ""};
  int32_t path = json_member(j, token, "path"), i;
  for (i = 0; i <= SK_PATH_WEIGHT; i++)
    if (json_equals(j, path, names[i])) target.path = i;
  if (json_equals(j, path, "pointer")) {
    int32_t extension = json_member(j, json_member(j, token, "extensions"), "KHR_animation_pointer");
    copy_pointer(j, json_member(j, extension, "pointer"), &target);
    read_pointer(&target);
  }
  return target;
}
