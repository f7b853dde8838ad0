/* import_gltf_data.c: what a glTF says beside its geometry and motion, for Python: the section EXTRAS, which
   docs/block.md describes. Most of it is copied from the file; every value is copied once. */
#include <stdio.h>
#include <string.h>

#include "import_gltf.h"

typedef struct writing {
  import_job *job;
  const gltf *gltf;
  const json *json;
  sk_array *out;
  bool comma; /* the next member or element needs one in front */
  bool good;  /* false: there was no memory */
} writing;

static void put(writing *w, const char *text) {
  size_t length = strlen(text);
  char *added = w->good ? sk_array_room(w->out, length) : NULL;
  w->good = added != NULL;
  if (added) memcpy(added, text, length);
}

/* Opens what is closed by `close`; the key is NULL within an array. */
static void begin(writing *w, const char *key, const char *bracket) {
  if (w->comma) put(w, ",");
  if (key) put(w, "\""), put(w, key), put(w, "\":");
  put(w, bracket);
  w->comma = false;
}

static void end(writing *w, const char *bracket) {
  put(w, bracket);
  w->comma = true;
}

static void put_number(writing *w, int64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)number);
  begin(w, NULL, text);
  w->comma = true;
}

/* A value of the file; -1 becomes null. */
static void put_value(writing *w, const char *key, int32_t token) {
  begin(w, key, "");
  w->good = w->good && json_write(w->json, token, w->out);
  w->comma = true;
}

static int32_t joint_of(const gltf *g, int64_t node) {
  return gltf_item(g, GLTF_NODES, node) < 0 ? SK_NONE : g->nodes[node].joint;
}

static int32_t root_extension(const json *j, const char *name) {
  return json_member(j, json_member(j, 0, "extensions"), name);
}

/* ---- scenes, cameras, lights ----------------------------------------------------------------- */

static void put_scenes(writing *w) {
  const gltf_list *scenes = &w->gltf->lists[GLTF_SCENES];
  int32_t i;
  if (!scenes->count) return;
  begin(w, "scenes", "[");
  for (i = 0; i < scenes->count; i++) put_value(w, NULL, json_member(w->json, scenes->tokens[i], "name"));
  end(w, "]");
}

/* A list of the file, and as pairs of joint and index which nodes of the scene use it. `extension` is that of the
   nodes; NULL: they have the index themselves. */
static void put_used(writing *w, const char *key, int32_t list, const char *extension, const char *member) {
  const gltf *g = w->gltf;
  char pairs[32];
  int32_t i;
  if (json_length(w->json, list) == 0) return;
  put_value(w, key, list);
  snprintf(pairs, sizeof pairs, "%s_of", member);
  begin(w, pairs, "[");
  for (i = 0; i < g->order_count; i++) {
    int32_t holder = g->lists[GLTF_NODES].tokens[g->order[i]];
    int64_t index;
    if (extension) holder = json_member(w->json, json_member(w->json, holder, "extensions"), extension);
    index = json_index(w->json, json_member(w->json, holder, member), -1);
    if (index < 0 || index >= json_length(w->json, list)) continue;
    begin(w, NULL, "[");
    put_number(w, joint_of(g, g->order[i]));
    put_number(w, index);
    end(w, "]");
  }
  end(w, "]");
}

/* Joints of the nodes that are not visible themselves (KHR_node_visibility). */
static void put_hidden(writing *w) {
  const gltf *g = w->gltf;
  bool begun = false;
  int32_t i;
  for (i = 0; i < g->order_count; i++) {
    int32_t extensions = json_member(w->json, g->lists[GLTF_NODES].tokens[g->order[i]], "extensions");
    int32_t visible = json_member(w->json, json_member(w->json, extensions, "KHR_node_visibility"), "visible");
    if (visible < 0 || json_truth(w->json, visible)) continue;
    if (!begun) begin(w, "hidden", "[");
    begun = true;
    put_number(w, joint_of(g, g->order[i]));
  }
  if (begun) end(w, "]");
}

/* ---- variants ------------------------------------------------------------------------------------ */

static void put_variants(writing *w) {
  const gltf *g = w->gltf;
  int32_t list = json_member(w->json, root_extension(w->json, "KHR_materials_variants"), "variants");
  const gltf_primitive *primitives = g->primitives.data;
  const int32_t *shown = g->shown.data;
  size_t i;
  if (json_length(w->json, list) == 0) return;
  put_value(w, "variants", list);
  begin(w, "variant_mappings", "[");
  for (i = 0; i < g->primitives.count; i++) put_value(w, NULL, primitives[i].variants);
  end(w, "]");
  begin(w, "mapping_of", "[");
  for (i = 0; i < g->shown.count; i++) put_number(w, shown[i]);
  end(w, "]");
}

/* ---- VRM and extras --------------------------------------------------------------------------------- */

static bool is_vrm(const json *j, int32_t name) {
  size_t length;
  const char *text = json_raw(j, name, &length);
  return json_equals(j, name, "VRM") || (length > 5 && !memcmp(text, "VRMC_", 5));
}

/* Members of an object as they are, of those that belong to VRM. */
static void put_vrm_members(writing *w, int32_t object) {
  int32_t key;
  for (key = json_first_key(w->json, object); key >= 0; key = json_key_after(w->json, object, key)) {
    if (!is_vrm(w->json, key)) continue;
    put_value(w, NULL, key);
    put(w, ":");
    w->comma = false;
    put_value(w, NULL, key + 1);
  }
}

static bool has_vrm(const json *j, int32_t object) {
  int32_t key = json_first_key(j, object);
  while (key >= 0 && !is_vrm(j, key)) key = json_key_after(j, object, key);
  return key >= 0;
}

/* The extensions of the file and of its nodes; the joint of each node, as VRM names nodes by their index. */
static void put_vrm(writing *w) {
  const gltf *g = w->gltf;
  int32_t root = json_member(w->json, 0, "extensions"), i;
  if (!has_vrm(w->json, root)) return;
  begin(w, "vrm", "{");
  put_vrm_members(w, root);
  end(w, "}");
  begin(w, "vrm_nodes", "{");
  for (i = 0; i < g->lists[GLTF_NODES].count; i++) {
    int32_t extensions = json_member(w->json, g->lists[GLTF_NODES].tokens[i], "extensions");
    char key[16];
    if (!has_vrm(w->json, extensions)) continue;
    snprintf(key, sizeof key, "%d", i);
    begin(w, key, "{");
    put_vrm_members(w, extensions);
    end(w, "}");
  }
  end(w, "}");
  begin(w, "joint_of_node", "[");
  for (i = 0; i < g->lists[GLTF_NODES].count; i++) put_number(w, joint_of(g, i));
  end(w, "]");
}

static void put_extras(writing *w) {
  const gltf *g = w->gltf;
  bool begun = false;
  int32_t i;
  for (i = 0; i < g->order_count; i++) {
    int32_t extras = json_member(w->json, g->lists[GLTF_NODES].tokens[g->order[i]], "extras");
    char key[16];
    if (extras < 0) continue;
    if (!begun) begin(w, "joints", "{");
    begun = true;
    snprintf(key, sizeof key, "%d", joint_of(g, g->order[i]));
    put_value(w, key, extras);
  }
  if (begun) end(w, "}");
}

/* ---- materials ----------------------------------------------------------------------------------------- */

/* The materials of the file, and the texture of the model for each texture of the file; -1: none that was read. */
static void put_materials(writing *w) {
  const gltf *g = w->gltf;
  const gltf_list *textures = &g->lists[GLTF_TEXTURES];
  int32_t i;
  if (!g->lists[GLTF_MATERIALS].count) return;
  put_value(w, "materials", json_member(w->json, 0, "materials"));
  if (!g->pictures) return;
  begin(w, "textures", "[");
  for (i = 0; i < textures->count; i++) {
    int64_t image = gltf_image_of(w->json, textures->tokens[i]);
    bool read = gltf_item(g, GLTF_IMAGES, image) >= 0 && g->pictures[image] >= 0;
    put_number(w, read ? g->pictures[image] : SK_NONE);
  }
  end(w, "]");
}

sk_status gltf_write_extras(import_job *job) {
  const json *j = &job->gltf->json;
  writing w = {job, job->gltf, j, &job->model.extras, false, true};
  int32_t lights = json_member(j, root_extension(j, "KHR_lights_punctual"), "lights");
  job->model.extras = SK_ARRAY(char);
  begin(&w, NULL, "{");
  put_scenes(&w);
  put_used(&w, "cameras", json_member(j, 0, "cameras"), NULL, "camera");
  put_used(&w, "lights", lights, "KHR_lights_punctual", "light");
  put_hidden(&w);
  put_variants(&w);
  put_vrm(&w);
  put_extras(&w);
  put_materials(&w);
  end(&w, "}");
  if (job->model.extras.count == 2) sk_array_free(&job->model.extras); /* an empty object */
  return w.good ? SK_OK : import_no_memory(job, job->model.extras.count);
}
