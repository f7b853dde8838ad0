/* import_gltf.c: opens a glTF: finds its JSON, checks it, and reads the tree of its nodes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../core/base/sk_math.h"
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
  g->primitives = SK_ARRAY(gltf_primitive);
  g->shown = SK_ARRAY(int32_t);
  g->sets = SK_ARRAY(gltf_set);
  if (!g->buffers || !g->nodes || !g->meshes || !g->skins) return import_no_memory(job, 1);
  return SK_OK;
}

/* ---- nodes ------------------------------------------------------------------------------ */

static bool repair_numbers(double *numbers, int count, double fallback) {
  bool bad = false;
  int i;
  for (i = 0; i < count; i++)
    if (import_is_bad((float)numbers[i])) numbers[i] = fallback, bad = true;
  return bad;
}

static void repair_rotation(import_job *job, gltf_node *node, int32_t index) {
  double *q = node->rotation;
  double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  int i;
  if (fabs(length - 1.0) > 1e-5)
    import_note_add(job, NOTE_rotations_normalized, 1, "nodes[%d]: a rest rotation of length %g", index, length);
  for (i = 0; i < 4; i++) q[i] = length > 1e-12 ? q[i] / length : i == 3;
}

static void read_transform(import_job *job, int32_t token, int32_t index, gltf_node *node) {
  const json *j = &job->gltf->json;
  double matrix[16];
  bool bad;
  int row, column;
  node->rotation[3] = node->scale[0] = node->scale[1] = node->scale[2] = 1.0;
  if (json_numbers(j, json_member(j, token, "matrix"), matrix, 16)) {
    bad = repair_numbers(matrix, 16, 0.0);
    for (row = 0; row < 3; row++)
      for (column = 0; column < 4; column++) node->local[4 * row + column] = matrix[4 * column + row];
    bad |= matrix[3] != 0.0 || matrix[7] != 0.0 || matrix[11] != 0.0 || matrix[15] != 1.0;
  } else {
    float t[3], r[4], s[3];
    node->has_trs = true;
    json_numbers(j, json_member(j, token, "translation"), node->translation, 3);
    json_numbers(j, json_member(j, token, "rotation"), node->rotation, 4);
    json_numbers(j, json_member(j, token, "scale"), node->scale, 3);
    bad = repair_numbers(node->translation, 3, 0.0);
    bad |= repair_numbers(node->rotation, 4, 0.0);
    bad |= repair_numbers(node->scale, 3, 1.0);
    repair_rotation(job, node, index);
    for (row = 0; row < 3; row++) t[row] = (float)node->translation[row], s[row] = (float)node->scale[row];
    for (row = 0; row < 4; row++) r[row] = (float)node->rotation[row];
    sk_affine_from_trs(t, r, s, node->local);
  }
  if (bad) import_note_add(job, NOTE_numbers_repaired, 1, "nodes[%d]: its transform", index);
}

static void read_nodes(import_job *job) {
  gltf *g = job->gltf;
  int32_t i;
  for (i = 0; i < g->lists[GLTF_NODES].count; i++) {
    int32_t token = g->lists[GLTF_NODES].tokens[i];
    gltf_node *node = &g->nodes[i];
    read_transform(job, token, i, node);
    node->parent = node->joint = -1;
    node->mesh = (int32_t)json_index(&g->json, json_member(&g->json, token, "mesh"), -1);
    node->skin = (int32_t)json_index(&g->json, json_member(&g->json, token, "skin"), -1);
    if (gltf_item(g, GLTF_MESHES, node->mesh) < 0) node->mesh = -1;
    if (gltf_item(g, GLTF_SKINS, node->skin) < 0) node->skin = -1;
  }
}

/* The list of nodes that the scene starts from. */
static int32_t scene_array(const gltf *g) {
  int64_t index = json_index(&g->json, json_member(&g->json, 0, "scene"), 0);
  int32_t scene = gltf_item(g, GLTF_SCENES, index);
  if (scene < 0) scene = gltf_item(g, GLTF_SCENES, 0);
  return json_member(&g->json, scene, "nodes");
}

/* Puts the node at `token` below `parent`. A node stands in the tree once, where it is listed first, so there are no
   cycles. `stack` gets the node, whose children come later. */
static sk_status place_node(import_job *job, int32_t token, int32_t parent, int32_t *stack, int32_t *waiting) {
  gltf *g = job->gltf;
  int64_t index = json_index(&g->json, token, -1);
  if (gltf_item(g, GLTF_NODES, index) < 0)
    return sk_fail(job->error, SK_ERROR_IMPORT, "its tree uses a node that does not exist; there are %d nodes",
                   g->lists[GLTF_NODES].count);
  if (g->nodes[index].in_scene) {
    import_note_add(job, NOTE_nodes_with_two_parents, 1, "nodes[%d]", (int)index);
    return SK_OK;
  }
  g->nodes[index].in_scene = true;
  g->nodes[index].parent = parent;
  stack[(*waiting)++] = (int32_t)index;
  return SK_OK;
}

/* Places all entries of a list of nodes; the first one is on top of the stack in the end. */
static sk_status place_all(import_job *job, int32_t array, int32_t parent, int32_t *stack, int32_t *waiting) {
  const json *j = &job->gltf->json;
  int32_t token, low = *waiting, high;
  sk_status status = SK_OK;
  for (token = json_first(j, array); token >= 0 && !status; token = json_after(j, array, token))
    status = place_node(job, token, parent, stack, waiting);
  for (high = *waiting - 1; low < high; low++, high--) {
    int32_t swap = stack[low];
    stack[low] = stack[high];
    stack[high] = swap;
  }
  return status;
}

/* Of a file without scenes, every node that is not a child is a root. */
static void place_roots(gltf *g, int32_t *stack, int32_t *waiting) {
  int32_t i, token;
  for (i = 0; i < g->lists[GLTF_NODES].count; i++) {
    int32_t array = json_member(&g->json, g->lists[GLTF_NODES].tokens[i], "children");
    for (token = json_first(&g->json, array); token >= 0; token = json_after(&g->json, array, token)) {
      int64_t child = json_index(&g->json, token, -1);
      if (gltf_item(g, GLTF_NODES, child) >= 0) g->nodes[child].parent = i;
    }
  }
  for (i = g->lists[GLTF_NODES].count - 1; i >= 0; i--)
    if (g->nodes[i].parent < 0) g->nodes[i].in_scene = true, stack[(*waiting)++] = i;
}

static sk_status place_nodes(import_job *job) {
  gltf *g = job->gltf;
  size_t bytes = sizeof(int32_t) * (size_t)(g->lists[GLTF_NODES].count + 1);
  int32_t waiting = 0, *stack = sk_alloc(bytes);
  sk_status status = SK_OK;
  g->order = sk_alloc(bytes);
  if (!stack || !g->order) status = import_no_memory(job, bytes);
  else if (g->lists[GLTF_SCENES].count) status = place_all(job, scene_array(g), -1, stack, &waiting);
  else place_roots(g, stack, &waiting);
  g->root_count = waiting;
  while (waiting && !status) {
    int32_t index = stack[--waiting];
    g->order[g->order_count++] = index;
    status =
        place_all(job, json_member(&g->json, g->lists[GLTF_NODES].tokens[index], "children"), index, stack, &waiting);
  }
  sk_free(stack);
  return status;
}

/* Notes meshes of the file that the scene does not show. */
static void note_unseen_meshes(import_job *job) {
  const gltf *g = job->gltf;
  int32_t i;
  for (i = 0; i < g->lists[GLTF_NODES].count; i++) {
    int32_t extensions = json_member(&g->json, g->lists[GLTF_NODES].tokens[i], "extensions");
    if (g->nodes[i].mesh < 0) continue;
    if (!g->nodes[i].in_scene) import_note_add(job, NOTE_meshes_outside_scene, 1, "nodes[%d]", i);
    else if (json_member(&g->json, extensions, "EXT_mesh_gpu_instancing") >= 0)
      import_note_add(job, NOTE_instances_dropped, 1, "nodes[%d]", i);
  }
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
  if (version < 0) return sk_fail(job->error, SK_ERROR_IMPORT, "its JSON is not a glTF: asset.version is missing");
  return sk_fail(job->error, SK_ERROR_IMPORT, "glTF %d is not read; only glTF 2 is", version);
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
  read_nodes(job);
  status = place_nodes(job);
  if (!status) note_unseen_meshes(job);
  if (!status) status = gltf_check_counts(job);
  if (!status) status = gltf_read_meshes(job);
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
  }
  sk_free(g->meshes);
  sk_free(g->skins);
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
  return sk_text_append(&job->model.text, fallback, strlen(fallback), text) ? SK_OK : import_no_memory(job, 1);
}
