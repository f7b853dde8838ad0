/* import_gltf_primitive.c: the primitives of a glTF's meshes: which accessors each of them has. */
#include <stdio.h>
#include <string.h>

#include "import_gltf.h"

#define MAX_SETS 256 /* of four influences of a vertex */

/* Opens an attribute; one that does not fit its mesh becomes -1, reported. */
static sk_status open_attribute(import_job *job, int32_t attributes, const char *name, uint32_t least, uint32_t most,
                                gltf_primitive *p, int32_t *index, gltf_accessor *a) {
  const json *j = &job->gltf->json;
  int32_t token = json_member(j, attributes, name);
  sk_status status;
  *index = -1;
  if (token < 0) return SK_OK;
  status = gltf_accessor_describe(job, json_index(j, token, -1), a);
  if (status) return status;
  *index = (int32_t)json_index(j, token, -1);
  status = gltf_decode_attribute(job, p, name, a, index);
  if (!status) status = gltf_open_numbers(job, *index, a);
  if (status) return status;
  if (a->width >= least && a->width <= most && (!p->vertices || a->count == p->vertices)) return SK_OK;
  import_note_add(job, NOTE_attributes_dropped, 1, "meshes[%d].primitives[%d].%s: %zu elements for %u vertices",
                  p->mesh, p->number, name, a->count, p->vertices);
  *index = -1;
  return SK_OK;
}

/* JOINTS_n and WEIGHTS_n, as long as both are there. Each is looked for among all attributes. */
static sk_status read_sets(import_job *job, int32_t attributes, gltf_primitive *p) {
  gltf *g = job->gltf;
  p->first_set = (int32_t)g->sets.count;
  while (p->set_count < MAX_SETS) {
    char joints_name[24], weights_name[24];
    gltf_set set, *place;
    gltf_accessor a;
    sk_status status;
    snprintf(joints_name, sizeof joints_name, "JOINTS_%d", p->set_count);
    snprintf(weights_name, sizeof weights_name, "WEIGHTS_%d", p->set_count);
    status = open_attribute(job, attributes, joints_name, 4, 4, p, &set.joints, &a);
    if (!status) status = open_attribute(job, attributes, weights_name, 4, 4, p, &set.weights, &a);
    if (!status && (set.joints < 0) != (set.weights < 0))
      import_note_add(job, NOTE_attributes_dropped, 1, "meshes[%d].primitives[%d].%s is without its partner", p->mesh,
                      p->number, set.joints < 0 ? weights_name : joints_name);
    if (status || set.joints < 0 || set.weights < 0) return status;
    place = sk_array_extend(&g->sets, 1);
    if (!place) return import_no_memory(job, sizeof *place);
    *place = set;
    p->set_count++;
  }
  return SK_OK;
}

/* Which set of texture coordinates the base-color texture uses: that one is kept. */
static int texture_set(const import_job *job, int32_t material) {
  const json *j = &job->gltf->json;
  int32_t use = gltf_base_texture(job, material);
  int32_t transform = json_member(j, json_member(j, use, "extensions"), "KHR_texture_transform");
  int64_t set = json_index(j, json_member(j, use, "texCoord"), 0);
  set = json_index(j, json_member(j, transform, "texCoord"), set); /* the transform's own one wins */
  return set < 100 ? (int)set : 0;
}

/* Whether the key is `word` and a number up to `last`. */
static bool is_numbered(const json *j, int32_t key, const char *word, int32_t last) {
  size_t length, start = strlen(word), i;
  const char *name = json_raw(j, key, &length);
  int32_t number = 0;
  if (length <= start || memcmp(name, word, start)) return false;
  for (i = start; i < length && number <= MAX_SETS; i++) {
    if (name[i] < '0' || name[i] > '9') return false;
    number = 10 * number + (name[i] - '0');
  }
  return number <= last;
}

/* Whether skinpy keeps an attribute of this name, or has reported it; `uvs` is the name of the texture coordinates. */
static bool is_read(const json *j, int32_t key, const char *uvs, const gltf_primitive *p) {
  static const char *const names[] = {"POSITION", "NORMAL", "TANGENT", "COLOR_0"};
  size_t i;
  for (i = 0; i < sizeof names / sizeof *names; i++)
    if (json_equals(j, key, names[i])) return true;
  return json_equals(j, key, uvs) || is_numbered(j, key, "JOINTS_", p->set_count) ||
         is_numbered(j, key, "WEIGHTS_", p->set_count);
}

static void note_unread(import_job *job, int32_t attributes, const char *uvs, const gltf_primitive *p) {
  const json *j = &job->gltf->json;
  int32_t key;
  for (key = json_first_key(j, attributes); key >= 0; key = json_key_after(j, attributes, key)) {
    size_t length;
    const char *name = json_raw(j, key, &length);
    if (!is_read(j, key, uvs, p))
      import_note_add(job, NOTE_attributes_ignored, 1, "meshes[%d].primitives[%d].%.*s", p->mesh, p->number,
                      (int)(length < 60 ? length : 60), name);
  }
}

static sk_status read_indices(import_job *job, int32_t token, gltf_primitive *p) {
  int64_t index = json_index(&job->gltf->json, token, -1);
  gltf_accessor a;
  sk_status status;
  if (p->indices >= 0) return SK_OK; /* they were compressed */
  p->corners = p->vertices;
  if (token < 0) return SK_OK;
  status = gltf_accessor_open(job, index, &a);
  if (!status && (a.width != 1 || a.component == 5126))
    return sk_fail(job->error, SK_ERROR_IMPORT, "meshes[%d].primitives[%d]: its indices are no whole numbers", p->mesh,
                   p->number);
  p->indices = (int32_t)index;
  p->corners = a.count;
  return status;
}

static sk_status read_other_attributes(import_job *job, int32_t token, int32_t attributes, gltf_primitive *p) {
  const json *j = &job->gltf->json;
  gltf_accessor a;
  char uvs[16];
  sk_status status = open_attribute(job, attributes, "NORMAL", 3, 3, p, &p->normals, &a);
  if (!status) status = open_attribute(job, attributes, "TANGENT", 4, 4, p, &p->tangents, &a);
  snprintf(uvs, sizeof uvs, "TEXCOORD_%d", texture_set(job, p->material));
  if (!status) status = open_attribute(job, attributes, uvs, 2, 2, p, &p->uvs, &a);
  if (!status) status = open_attribute(job, attributes, "COLOR_0", 3, 4, p, &p->colors, &a);
  if (!status) status = read_sets(job, attributes, p);
  if (!status) note_unread(job, attributes, uvs, p);
  return status ? status : read_indices(job, json_member(j, token, "indices"), p);
}

/* Reads one primitive; `*usable` is false where it has no faces to show, which is reported. */
static sk_status read_primitive(import_job *job, int32_t token, gltf_primitive *p, bool *usable) {
  const json *j = &job->gltf->json;
  int32_t attributes = json_member(j, token, "attributes");
  gltf_accessor a;
  sk_status status;
  p->mode = (int32_t)json_index(j, json_member(j, token, "mode"), GLTF_TRIANGLES);
  p->material = (int32_t)json_index(j, json_member(j, token, "material"), -1);
  *usable = false;
  if (p->mode < GLTF_TRIANGLES || p->mode > GLTF_FAN) {
    import_note_add(job, NOTE_points_lines_dropped, 1, "meshes[%d].primitives[%d] has mode %d", p->mesh, p->number,
                    p->mode);
    return SK_OK;
  }
  p->targets = json_member(j, token, "targets");
  p->lists = (uint32_t)json_size(j, attributes) + (uint32_t)json_length(j, p->targets);
  status = gltf_open_compressed(job, p, token);
  if (!status) status = open_attribute(job, attributes, "POSITION", 3, 3, p, &p->positions, &a);
  if (status) return status;
  if (p->positions < 0 || !a.count) {
    import_note_add(job, NOTE_meshes_dropped, 1, "meshes[%d].primitives[%d] has no positions", p->mesh, p->number);
    return SK_OK;
  }
  p->vertices = (uint32_t)a.count;
  p->variants =
      json_member(j, json_member(j, json_member(j, token, "extensions"), "KHR_materials_variants"), "mappings");
  *usable = true;
  return read_other_attributes(job, token, attributes, p);
}

static sk_status read_mesh(import_job *job, int32_t index) {
  gltf *g = job->gltf;
  gltf_mesh *mesh = &g->meshes[index];
  int32_t array = json_member(&g->json, gltf_item(g, GLTF_MESHES, index), "primitives"), token, number = 0;
  sk_status status = SK_OK;
  mesh->is_read = true;
  mesh->first_primitive = (int32_t)g->primitives.count;
  for (token = json_first(&g->json, array); token >= 0 && !status; token = json_after(&g->json, array, token)) {
    gltf_primitive p = {.mesh = index, .number = number++, .indices = -1, .targets = -1, .variants = -1}, *added;
    bool usable;
    status = read_primitive(job, token, &p, &usable);
    gltf_close_compressed(&p);
    if (status || !usable) continue;
    added = sk_array_extend(&g->primitives, 1);
    if (!added) return import_no_memory(job, sizeof *added);
    *added = p;
    mesh->primitive_count++;
  }
  return status;
}

sk_status gltf_read_meshes(import_job *job) {
  const gltf *g = job->gltf;
  sk_status status = SK_OK;
  int32_t i;
  for (i = 0; i < g->order_count && !status; i++) {
    int32_t mesh = g->nodes[g->order[i]].mesh;
    if (mesh >= 0 && !g->meshes[mesh].is_read) status = read_mesh(job, mesh);
  }
  return status;
}
