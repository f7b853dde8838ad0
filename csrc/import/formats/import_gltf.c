/* import_gltf.c: opens a glTF: finds its JSON, checks it, and reads what all later steps need. */
#include <stdio.h>
#include <string.h>

#include "../import_bytes.h"
#include "import_gltf.h"

#define GLB_HEADER 12 /* bytes: magic, version, length */
#define GLB_CHUNK  8   /* bytes: length, type */

static bool is_binary(const import_source *file) { return file->size >= 4 && !memcmp(file->data, "glTF", 4); }

/* Finds the JSON and BIN chunks of a .glb. A chunk that is cut short ends with the file. */
static sk_status find_chunks(import_job *job, const import_source *file, const char **text, size_t *length) {
  size_t at = GLB_HEADER;
  *text = NULL;
  while (at + GLB_CHUNK <= file->size) {
    size_t size = import_number(file->data + at, 4), left = file->size - at - GLB_CHUNK;
    const uint8_t *data = file->data + at + GLB_CHUNK;
    if (size > left) size = left;
    if (!memcmp(file->data + at + 4, "JSON", 4) && !*text) {
      *text = (const char *)data;
      *length = size;
    } else if (!memcmp(file->data + at + 4, "BIN", 4) && !job->gltf->binary) {
      job->gltf->binary = data;
      job->gltf->binary_size = size;
    }
    at += GLB_CHUNK + size + (4 - size % 4) % 4;
  }
  if (*text) return SK_OK;
  at = file->size >= GLB_HEADER ? import_number(file->data + 8, 4) : GLB_HEADER;
  if (at > file->size)
    return sk_fail(job->error, SK_ERROR_IMPORT,
                   "the file should have %zu bytes, but has %zu; download or copy it again", at, file->size);
  return sk_fail(job->error, SK_ERROR_IMPORT, "the binary glTF has no JSON chunk");
}

/* ---- top-level arrays ---------------------------------------------------------------- */

int32_t gltf_item(const gltf *g, gltf_list_name name, int64_t index) {
  return index >= 0 && index < g->lists[name].count ? g->lists[name].tokens[index] : -1;
}

static sk_status open_lists(import_job *job) {
  static const char *const names[GLTF_LIST_COUNT] = {"accessors", "bufferViews", "buffers",   "nodes",
                                                     "meshes",    "skins",       "materials", "textures",
                                                     "images",    "animations",  "scenes",    "samplers"};
  gltf *g = job->gltf;
  int name;
  sk_status status;
  for (name = 0; name < GLTF_LIST_COUNT; name++) {
    gltf_list *list = &g->lists[name];
    int32_t array = json_member(&g->json, 0, names[name]), token, i = 0;
    list->count = json_length(&g->json, array);
    list->tokens = sk_alloc(sizeof(int32_t) * (size_t)(list->count + 1));
    if (!list->tokens) return import_no_memory(job, sizeof(int32_t) * (size_t)list->count);
    for (token = json_first(&g->json, array); token >= 0; token = json_after(&g->json, array, token))
      list->tokens[i++] = token;
  }
  status = gltf_check_nodes(job);
  if (status) return status;
  g->buffers = sk_alloc_zero(sizeof *g->buffers * (size_t)(g->lists[GLTF_BUFFERS].count + 1));
  g->nodes = sk_alloc_zero(sizeof *g->nodes * (size_t)(g->lists[GLTF_NODES].count + 1));
  g->meshes = sk_alloc_zero(sizeof *g->meshes * (size_t)(g->lists[GLTF_MESHES].count + 1));
  g->skins = sk_alloc_zero(sizeof *g->skins * (size_t)(g->lists[GLTF_SKINS].count + 1));
  g->joints = SK_ARRAY(gltf_joint);
  g->instance_numbers = SK_ARRAY(float);
  g->primitives = SK_ARRAY(gltf_primitive);
  g->shown = SK_ARRAY(int32_t);
  g->sets = SK_ARRAY(gltf_set);
  g->decoded = SK_ARRAY(gltf_decoded);
  if (!g->buffers || !g->nodes || !g->meshes || !g->skins) return import_no_memory(job, 1);
  return SK_OK;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* The major number of asset.version, which glTF 1 may write as a number; -1 where there is none. */
static int version_of(const json *j) {
  size_t length = 0;
  int32_t version = json_member(j, json_member(j, 0, "asset"), "version");
  const char *words = json_is_string(j, version) ? json_raw(j, version, &length) : "";
  double number = json_number(j, version, -1.0);
  if (length) return words[0] >= '0' && words[0] <= '9' ? words[0] - '0' : -1;
  return number >= 0.0 && number < 10.0 ? (int)number : -1;
}

static sk_status check_version(import_job *job, int version) {
  if (version == 2) return SK_OK;
  if (version < 0)
    return sk_fail(job->error, SK_ERROR_IMPORT,
                   "its JSON is not a glTF: asset.version is missing; download or export it again");
  return sk_fail(job->error, SK_ERROR_IMPORT,
                 "glTF %d is not read; convert the file to glTF 2.0, for example with gltf-pipeline", version);
}

sk_status gltf_open(import_job *job) {
  const import_source *file = job->files.sources.data;
  const char *text;
  size_t length;
  gltf *g;
  sk_status status = import_files_whole(job);
  if (status) return status;
  text = (const char *)file->data;
  length = file->size;
  if (is_binary(file) && file->size >= 8 && import_number(file->data + 4, 4) == 1) return check_version(job, 1);
  g = job->gltf = sk_alloc_zero(sizeof *g);
  if (!g) return import_no_memory(job, sizeof *g);
  if (is_binary(file)) status = find_chunks(job, file, &text, &length);
  if (!status) status = json_open(&g->json, text, length, job->error);
  if (!status) status = check_version(job, version_of(&g->json));
  if (!status) status = gltf_check_extensions(job);
  if (!status) status = open_lists(job);
  if (status) return status;
  status = gltf_read_tree(job);
  if (!status) status = gltf_count_instances(job);
  if (!status) status = gltf_check_counts(job);
  if (!status) status = gltf_read_instances(job);
  if (!status) status = gltf_read_meshes(job);
  if (!status) status = gltf_check_meshes(job);
  return status ? status : gltf_read_skins(job);
}

void gltf_close(import_job *job) {
  gltf *g = job->gltf;
  int32_t i;
  if (!g) return;
  for (i = 0; g->buffers && i < g->lists[GLTF_BUFFERS].count; i++) sk_free(g->buffers[i].owned);
  gltf_free_views(g);
  gltf_free_decoded(g);
  for (i = 0; i < GLTF_LIST_COUNT; i++) sk_free(g->lists[i].tokens);
  json_close(&g->json);
  sk_free(g->buffers);
  sk_free(g->nodes);
  sk_free(g->order);
  for (i = 0; g->skins && i < g->lists[GLTF_SKINS].count; i++) {
    sk_free(g->skins[i].joints);
    sk_free(g->skins[i].offsets);
    sk_free(g->skins[i].slots);
  }
  sk_free(g->meshes);
  sk_free(g->skins);
  sk_array_free(&g->joints);
  sk_array_free(&g->instance_numbers);
  sk_array_free(&g->primitives);
  sk_array_free(&g->shown);
  sk_free(g->pictures);
  sk_array_free(&g->sets);
  sk_free(g);
  job->gltf = NULL;
}

/* ---- names ------------------------------------------------------------------------------------ */

sk_status gltf_node_name(import_job *job, int32_t node, sk_text *text) {
  const json *j = &job->gltf->json;
  char fallback[32];
  if (!json_text(j, json_member(j, gltf_item(job->gltf, GLTF_NODES, node), "name"), &job->model.text, text))
    return import_no_memory(job, 1);
  if (text->length) return SK_OK;
  snprintf(fallback, sizeof fallback, "nodes[%d]", node);
  return import_add_text(job, (import_span){fallback, strlen(fallback)}, text);
}
