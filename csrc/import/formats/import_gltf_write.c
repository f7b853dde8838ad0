/* import_gltf_write.c: the glTF that Assimp reads in the place of the file.

   Nodes are called n0, n1, ... and meshes m0, m1, ..., so that channels, skins and meshes bind by
   index; all nodes lie below one root, so that a deep tree is no deep recursion; a mesh is listed
   once for each skin, because Assimp keeps the joints with the mesh. All numbers are float32, dense
   and counted. Vertices and faces are read from the file itself; in their place stands one point.
   Animations are not in it: Assimp takes their times through float32 milliseconds and adds channels
   that the file does not have. */
#include <stdio.h>
#include <string.h>

#include "import_gltf.h"

/* Names that no file of a model can have: nothing above its folder is ever looked up. */
#define REWRITTEN_DATA "../data"
#define ORIGINAL_FILE  "../file"

/* ---- numbers ---------------------------------------------------------------------- */

/* One accessor over the one bufferView. */
static bool add_accessor(gltf *g, size_t offset, size_t count, uint32_t width, int32_t *accessor) {
  const char *type = width == 3 ? "VEC3" : "MAT4";
  *accessor = g->accessor_count++;
  return import_print(&g->accessors,
                      "%s{\"bufferView\":0,\"byteOffset\":%zu,\"componentType\":5126,\"count\":%zu,"
                      "\"type\":\"%s\"}",
                      *accessor ? "," : "", offset, count, type);
}

/* An accessor of the file as one of the rewritten file. */
static sk_status put_accessor(import_job *job, int32_t index, const gltf_accessor *a, int32_t *accessor) {
  gltf *g = job->gltf;
  size_t bytes = a->count * a->width * sizeof(float), offset = g->data.count;
  if (g->rewritten[index] < 0) {
    uint8_t *place = sk_array_room(&g->data, bytes);
    sk_status status =
        place ? gltf_accessor_floats(job, index, a, (float *)(void *)place) : import_no_memory(job, bytes);
    if (status) return status;
    if (!add_accessor(g, offset, a->count, a->width, &g->rewritten[index])) return import_no_memory(job, 1);
  }
  *accessor = g->rewritten[index];
  return SK_OK;
}

static sk_status put_identities(import_job *job, size_t count, int32_t *accessor) {
  gltf *g = job->gltf;
  size_t offset = g->data.count, bytes = count * 16 * sizeof(float), i;
  float *place = sk_array_extend(&g->data, bytes);
  if (!place) return import_no_memory(job, bytes);
  for (i = 0; i < count; i++) place[16 * i] = place[16 * i + 5] = place[16 * i + 10] = place[16 * i + 15] = 1.0f;
  return add_accessor(g, offset, count, 16, accessor) ? SK_OK : import_no_memory(job, 1);
}

/* ---- meshes ------------------------------------------------------------------------- */

/* Opens an attribute; one that does not fit its mesh becomes -1, reported. */
static sk_status open_attribute(import_job *job, int32_t attributes, const char *name, uint32_t least, uint32_t most,
                                gltf_primitive *p, int32_t *index, gltf_accessor *a) {
  const json *j = &job->gltf->json;
  int32_t token = json_member(j, attributes, name);
  sk_status status;
  *index = -1;
  if (token < 0) return SK_OK;
  *index = (int32_t)json_index(j, token, -1);
  status = gltf_accessor_open(job, *index, a);
  if (status) return status;
  if (a->width >= least && a->width <= most && (!p->vertices || a->count == p->vertices)) return SK_OK;
  import_note_add(job, NOTE_attributes_dropped, 1, "meshes[%d].primitives[%d].%s: %zu elements for %u vertices",
                  p->mesh, p->number, name, a->count, p->vertices);
  *index = -1;
  return SK_OK;
}

/* JOINTS_n and WEIGHTS_n, as long as both are there. */
static sk_status read_sets(import_job *job, int32_t attributes, gltf_primitive *p) {
  gltf *g = job->gltf;
  p->first_set = (int32_t)g->sets.count;
  for (;;) {
    char joints_name[24], weights_name[24];
    gltf_set set, *place;
    gltf_accessor a;
    sk_status status;
    snprintf(joints_name, sizeof joints_name, "JOINTS_%d", p->set_count);
    snprintf(weights_name, sizeof weights_name, "WEIGHTS_%d", p->set_count);
    status = open_attribute(job, attributes, joints_name, 4, 4, p, &set.joints, &a);
    if (!status) status = open_attribute(job, attributes, weights_name, 4, 4, p, &set.weights, &a);
    if (status || set.joints < 0 || set.weights < 0) return status;
    place = sk_array_extend(&g->sets, 1);
    if (!place) return import_no_memory(job, sizeof *place);
    *place = set;
    p->set_count++;
  }
}

/* Which set of texture coordinates the base-color texture uses: that one is kept. */
static int texture_set(const import_job *job, int32_t material) {
  const json *j = &job->gltf->json;
  int32_t pbr = json_member(j, gltf_item(job->gltf, GLTF_MATERIALS, material), "pbrMetallicRoughness");
  int32_t use = json_member(j, pbr, "baseColorTexture");
  int32_t transform = json_member(j, json_member(j, use, "extensions"), "KHR_texture_transform");
  int64_t set = json_index(j, json_member(j, use, "texCoord"), 0);
  set = json_index(j, json_member(j, transform, "texCoord"), set); /* the transform's own one wins */
  return set < 100 ? (int)set : 0;
}

static sk_status read_other_attributes(import_job *job, int32_t token, int32_t attributes, gltf_primitive *p) {
  const json *j = &job->gltf->json;
  gltf_accessor a;
  char uvs[16];
  int32_t indices = json_member(j, token, "indices");
  sk_status status = open_attribute(job, attributes, "NORMAL", 3, 3, p, &p->normals, &a);
  if (!status) status = open_attribute(job, attributes, "TANGENT", 4, 4, p, &p->tangents, &a);
  snprintf(uvs, sizeof uvs, "TEXCOORD_%d", texture_set(job, p->material));
  if (!status) status = open_attribute(job, attributes, uvs, 2, 2, p, &p->uvs, &a);
  if (!status) status = open_attribute(job, attributes, "COLOR_0", 3, 4, p, &p->colors, &a);
  if (!status) status = read_sets(job, attributes, p);
  p->indices = (int32_t)json_index(j, indices, -1);
  if (!status && indices >= 0) status = gltf_accessor_open(job, p->indices, &a);
  if (!status && indices >= 0 && (a.width != 1 || a.component == 5126))
    status = sk_fail(job->error, SK_ERROR_IMPORT, "meshes[%d].primitives[%d]: its indices are no whole numbers",
                     p->mesh, p->number);
  return status;
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
  status = open_attribute(job, attributes, "POSITION", 3, 3, p, &p->positions, &a);
  if (status) return status;
  if (p->positions < 0 || !a.count) {
    import_note_add(job, NOTE_meshes_dropped, 1, "meshes[%d].primitives[%d] has no positions", p->mesh, p->number);
    return SK_OK;
  }
  if (!a.data && a.sparse < 0 && json_member(j, json_member(j, token, "extensions"), "KHR_draco_mesh_compression") >= 0)
    return sk_fail(job->error, SK_ERROR_IMPORT, "it is compressed with Draco, which is missing in this build");
  p->vertices = (uint32_t)a.count;
  p->targets = json_member(j, token, "targets");
  *usable = true;
  return read_other_attributes(job, token, attributes, p);
}

/* The one point of all primitives. Assimp would copy the vertices of the file twice more. */
static bool write_primitive(gltf *g, bool first) {
  size_t offset = g->data.count;
  if (g->stand_in < 0 &&
      (!sk_array_extend(&g->data, 3 * sizeof(float)) || !add_accessor(g, offset, 1, 3, &g->stand_in)))
    return false;
  return import_print(&g->text, "%s{\"mode\":0,\"attributes\":{\"POSITION\":%d}}", first ? "" : ",", g->stand_in);
}

static sk_status write_entry(import_job *job, gltf_entry *entry, bool first) {
  gltf *g = job->gltf;
  int32_t array = json_member(&g->json, gltf_item(g, GLTF_MESHES, entry->mesh), "primitives");
  int32_t token, number = 0;
  int32_t name = (int32_t)(entry - (gltf_entry *)g->entries.data);
  sk_status status = SK_OK;
  entry->first_primitive = (int32_t)g->primitives.count;
  if (!import_print(&g->text, "%s{\"name\":\"m%d\",\"primitives\":[", first ? "" : ",", name))
    return import_no_memory(job, 1);
  for (token = json_first(&g->json, array); token >= 0 && !status; token = json_after(&g->json, array, token)) {
    gltf_primitive p = {.mesh = entry->mesh, .number = number++, .targets = -1}, *place;
    bool usable;
    status = read_primitive(job, token, &p, &usable);
    if (status || !usable) continue;
    place = sk_array_extend(&g->primitives, 1);
    if (!place) return import_no_memory(job, sizeof *place);
    *place = p;
    if (!write_primitive(g, entry->primitive_count++ == 0)) status = import_no_memory(job, 1);
  }
  return status || import_print(&g->text, "]}") ? status : import_no_memory(job, 1);
}

/* Without a skin all nodes of a mesh share one entry; with one each node gets its own. */
static sk_status make_entries(import_job *job) {
  gltf *g = job->gltf;
  int32_t i, count = g->lists[GLTF_MESHES].count, *shared = sk_alloc(sizeof(int32_t) * (size_t)(count + 1));
  sk_status status = shared ? SK_OK : import_no_memory(job, sizeof(int32_t) * (size_t)count);
  for (i = 0; i < count && shared; i++) shared[i] = -1;
  for (i = 0; i < g->order_count && !status; i++) {
    gltf_node *node = &g->nodes[g->order[i]];
    gltf_entry *entry;
    if (node->mesh < 0) continue;
    if (node->skin < 0 && shared[node->mesh] >= 0) {
      node->entry = shared[node->mesh];
      continue;
    }
    entry = sk_array_extend(&g->entries, 1);
    if (!entry) {
      status = import_no_memory(job, sizeof *entry);
      continue;
    }
    *entry = (gltf_entry){node->mesh, node->skin, 0, 0};
    node->entry = (int32_t)g->entries.count - 1;
    if (node->skin < 0) shared[node->mesh] = node->entry;
  }
  sk_free(shared);
  return status;
}

static sk_status write_meshes(import_job *job) {
  gltf *g = job->gltf;
  size_t i;
  sk_status status = import_print(&g->text, ",\"meshes\":[") ? SK_OK : import_no_memory(job, 1);
  for (i = 0; i < g->entries.count && !status; i++)
    status = write_entry(job, (gltf_entry *)g->entries.data + i, i == 0);
  return status || import_print(&g->text, "]") ? status : import_no_memory(job, 1);
}

/* ---- nodes and skins -------------------------------------------------------------------- */

static sk_status write_nodes(import_job *job) {
  gltf *g = job->gltf;
  bool good = import_print(&g->text, "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[");
  int32_t i;
  for (i = 0; i < g->order_count && good; i++) good = import_print(&g->text, i ? ",%d" : "%d", g->order[i]);
  good = good && import_print(&g->text, "]}],\"nodes\":[");
  for (i = 0; i < g->lists[GLTF_NODES].count && good; i++) {
    const gltf_node *node = &g->nodes[i];
    good = import_print(&g->text, "%s{\"name\":\"n%d\"", i ? "," : "", i);
    if (good && node->entry >= 0) good = import_print(&g->text, ",\"mesh\":%d", node->entry);
    if (good && node->entry >= 0 && node->skin >= 0) good = import_print(&g->text, ",\"skin\":%d", node->skin);
    good = good && import_print(&g->text, "}");
  }
  return good && import_print(&g->text, "]") ? SK_OK : import_no_memory(job, 1);
}

static sk_status put_inverse_binds(import_job *job, int32_t skin, int32_t joints, int32_t *accessor) {
  const json *j = &job->gltf->json;
  int32_t token = json_member(j, gltf_item(job->gltf, GLTF_SKINS, skin), "inverseBindMatrices");
  int64_t index = json_index(j, token, -1);
  gltf_accessor a;
  sk_status status;
  if (token < 0) {
    import_note_add(job, NOTE_inverse_bind_missing, 1, "skins[%d]", skin);
    return put_identities(job, joints ? (size_t)joints : 1, accessor);
  }
  status = gltf_accessor_open(job, index, &a);
  if (status) return status;
  if (a.width != 16 || a.component != 5126 || a.count < (size_t)joints || !a.count)
    return sk_fail(job->error, SK_ERROR_IMPORT, "skins[%d] has %d joints; its inverse bind matrices are %zu", skin,
                   joints, a.width == 16 ? a.count : 0);
  if (a.count == (size_t)joints) return put_accessor(job, (int32_t)index, &a, accessor);
  a.count = (size_t)joints; /* what is over may be much; it is written for this skin alone */
  job->gltf->rewritten[index] = -1;
  status = put_accessor(job, (int32_t)index, &a, accessor);
  job->gltf->rewritten[index] = -1;
  return status;
}

static sk_status write_skin(import_job *job, int32_t skin) {
  gltf *g = job->gltf;
  int32_t array = json_member(&g->json, gltf_item(g, GLTF_SKINS, skin), "joints"), token, accessor;
  sk_status status = put_inverse_binds(job, skin, json_length(&g->json, array), &accessor);
  bool good = status || import_print(&g->text, "{\"inverseBindMatrices\":%d,\"joints\":[", accessor);
  for (token = json_first(&g->json, array); token >= 0 && !status && good; token = json_after(&g->json, array, token)) {
    int64_t joint = json_index(&g->json, token, -1);
    if (gltf_item(g, GLTF_NODES, joint) < 0)
      return sk_fail(job->error, SK_ERROR_IMPORT, "skins[%d] has a joint that is no node; there are %d nodes", skin,
                     g->lists[GLTF_NODES].count);
    good = import_print(&g->text, token == array + 1 ? "%d" : ",%d", (int)joint);
  }
  return status || (good && import_print(&g->text, "]}")) ? status : import_no_memory(job, 1);
}

/* A skin that no mesh uses is not looked at. */
static sk_status write_skins(import_job *job) {
  gltf *g = job->gltf;
  int32_t i, count = g->lists[GLTF_SKINS].count;
  size_t k;
  uint8_t *used = sk_alloc_zero((size_t)count + 1);
  bool begun = used && import_print(&g->text, ",\"skins\":[");
  sk_status status = begun ? SK_OK : import_no_memory(job, (size_t)count);
  for (k = 0; k < g->entries.count && used; k++) {
    int32_t skin = ((gltf_entry *)g->entries.data)[k].skin;
    if (skin >= 0) used[skin] = 1;
  }
  for (i = 0; i < count && !status; i++) {
    if (i && !import_print(&g->text, ",")) status = import_no_memory(job, 1);
    else if (used[i]) status = write_skin(job, i);
    else if (!import_print(&g->text, "{}")) status = import_no_memory(job, 1);
  }
  sk_free(used);
  return status || import_print(&g->text, "]") ? status : import_no_memory(job, 1);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static bool append(sk_array *text, const sk_array *more) {
  char *place = sk_array_extend(text, more->count);
  if (place && more->count) memcpy(place, more->data, more->count);
  return place != NULL;
}

static bool write_data(gltf *g) {
  return import_print(&g->text, ",\"accessors\":[") && append(&g->text, &g->accessors) &&
         import_print(&g->text, "],\"bufferViews\":[{\"buffer\":0,\"byteLength\":%zu}]", g->data.count) &&
         import_print(&g->text, ",\"buffers\":[{\"byteLength\":%zu,\"uri\":\"" REWRITTEN_DATA "\"}]}", g->data.count);
}

/* The strings of the file stay readable: its own bytes are kept under another name. */
static sk_status serve(import_job *job) {
  gltf *g = job->gltf;
  import_source *model = job->files.sources.data, original = *model;
  model->owned = NULL;
  if (!import_files_put(&job->files, model->name, g->text.data, g->text.count, NULL) ||
      !import_files_put(&job->files, ORIGINAL_FILE, original.data, original.size, original.owned) ||
      !import_files_put(&job->files, REWRITTEN_DATA, g->data.data, g->data.count, NULL))
    return import_no_memory(job, 1);
  return SK_OK;
}

sk_status gltf_write(import_job *job) {
  gltf *g = job->gltf;
  int32_t i;
  sk_status status;
  g->entries = SK_ARRAY(gltf_entry);
  g->primitives = SK_ARRAY(gltf_primitive);
  g->sets = SK_ARRAY(gltf_set);
  g->text = g->accessors = SK_ARRAY(char);
  g->data = SK_ARRAY(uint8_t);
  g->stand_in = -1;
  for (i = 0; i < g->lists[GLTF_ACCESSORS].count; i++) g->rewritten[i] = -1;
  status = make_entries(job);
  if (!status) status = write_nodes(job);
  if (!status) status = write_meshes(job);
  if (!status) status = write_skins(job);
  if (!status && !write_data(g)) status = import_no_memory(job, 1);
  return status ? status : serve(job);
}

/* Nothing asks for the file again; what is left under its names is empty. */
sk_status gltf_forget_rewritten(import_job *job) {
  gltf *g = job->gltf;
  const import_source *model = job->files.sources.data;
  import_files_put(&job->files, model->name, "", 0, NULL);
  import_files_put(&job->files, REWRITTEN_DATA, "", 0, NULL);
  sk_array_free(&g->text);
  sk_array_free(&g->accessors);
  sk_array_free(&g->data);
  return SK_OK;
}
