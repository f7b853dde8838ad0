/* import_gltf_tree.c: the nodes of a glTF, and the tree that they form below the roots of the scene. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "import_gltf.h"

/* ---- the nodes by themselves ----------------------------------------------------------------- */

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

/* KHR_node_visibility: true where the node itself is not visible at rest. */
static bool is_invisible(const gltf *g, int32_t node) {
  int32_t extensions = json_member(&g->json, node, "extensions");
  int32_t visible = json_member(&g->json, json_member(&g->json, extensions, "KHR_node_visibility"), "visible");
  return visible >= 0 && !json_truth(&g->json, visible);
}

static void read_nodes(import_job *job) {
  gltf *g = job->gltf;
  int32_t i;
  for (i = 0; i < g->lists[GLTF_NODES].count; i++) {
    int32_t token = g->lists[GLTF_NODES].tokens[i];
    gltf_node *node = &g->nodes[i];
    read_transform(job, token, i, node);
    node->parent = node->joint = -1;
    node->hidden = is_invisible(g, token);
    node->mesh = (int32_t)json_index(&g->json, json_member(&g->json, token, "mesh"), -1);
    node->skin = (int32_t)json_index(&g->json, json_member(&g->json, token, "skin"), -1);
    if (gltf_item(g, GLTF_MESHES, node->mesh) < 0) node->mesh = -1;
    if (gltf_item(g, GLTF_SKINS, node->skin) < 0) node->skin = -1;
  }
}

/* ---- the scene ---------------------------------------------------------------------------- */

/* Fails with the names of the scenes that there are. */
static sk_status fail_scene(import_job *job) {
  const gltf *g = job->gltf;
  const char *wanted = job->request->scene;
  char list[100] = "";
  size_t used = 0;
  int32_t i;
  for (i = 0; i < g->lists[GLTF_SCENES].count && used < sizeof list - 40; i++) {
    int32_t name = json_member(&g->json, g->lists[GLTF_SCENES].tokens[i], "name");
    size_t length = 0;
    const char *text = json_is_string(&g->json, name) ? json_raw(&g->json, name, &length) : "";
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%d '%.*s'", i ? ", " : "", i,
                             (int)(length < 24 ? length : 24), text);
  }
  return sk_fail(job->error, SK_ERROR_IMPORT, "there is no scene %s%.60s%s; the file has %d: %s%s",
                 wanted[0] == '=' ? "'" : "", wanted + 1, wanted[0] == '=' ? "'" : "", g->lists[GLTF_SCENES].count,
                 list, i < g->lists[GLTF_SCENES].count ? ", ..." : "");
}

/* Whether the request names the scene; its name is compared with its escapes decoded. */
static sk_status is_wanted(import_job *job, int32_t scene, bool *wanted) {
  const json *j = &job->gltf->json;
  const char *name = job->request->scene + 1;
  sk_array pool = SK_ARRAY(char);
  sk_text text;
  bool good = json_text(j, json_member(j, scene, "name"), &pool, &text);
  *wanted = good && text.length == strlen(name) && !memcmp(pool.data ? pool.data : "", name, text.length);
  sk_array_free(&pool);
  return good ? SK_OK : import_no_memory(job, 1);
}

/* The scene that the request names, else the file's own, else the first; -1: the file has no scenes. */
static sk_status choose_scene(import_job *job, int32_t *scene) {
  const gltf *g = job->gltf;
  const char *wanted = job->request->scene;
  sk_status status = SK_OK;
  bool found = false;
  int32_t i;
  *scene = gltf_item(g, GLTF_SCENES, json_index(&g->json, json_member(&g->json, 0, "scene"), 0));
  if (*scene < 0) *scene = gltf_item(g, GLTF_SCENES, 0);
  if (!wanted) return SK_OK;
  if (*wanted == '#') *scene = gltf_item(g, GLTF_SCENES, strtol(wanted + 1, NULL, 10));
  if (*wanted == '#') return *scene < 0 ? fail_scene(job) : SK_OK;
  for (i = 0; i < g->lists[GLTF_SCENES].count && !found && !status; i++) {
    *scene = g->lists[GLTF_SCENES].tokens[i];
    status = is_wanted(job, *scene, &found);
  }
  return status || found ? status : fail_scene(job);
}

/* ---- the tree ------------------------------------------------------------------------------- */

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

/* Sets the parent of every node that is a child. */
static void find_parents(gltf *g) {
  int32_t i, token;
  for (i = 0; i < g->lists[GLTF_NODES].count; i++) {
    int32_t array = json_member(&g->json, g->lists[GLTF_NODES].tokens[i], "children");
    for (token = json_first(&g->json, array); token >= 0; token = json_after(&g->json, array, token)) {
      int64_t child = json_index(&g->json, token, -1);
      if (gltf_item(g, GLTF_NODES, child) >= 0) g->nodes[child].parent = i;
    }
  }
}

/* Of a file without scenes, every node that is not a child is a root. */
static void place_roots(gltf *g, int32_t *stack, int32_t *waiting) {
  int32_t i;
  for (i = g->lists[GLTF_NODES].count - 1; i >= 0; i--)
    if (g->nodes[i].parent < 0) g->nodes[i].in_scene = true, stack[(*waiting)++] = i;
}

/* Places what waits, and all below it. */
static sk_status place_waiting(import_job *job, int32_t *stack, int32_t waiting) {
  gltf *g = job->gltf;
  sk_status status = SK_OK;
  while (waiting && !status) {
    int32_t index = stack[--waiting];
    g->order[g->order_count++] = index;
    status =
        place_all(job, json_member(&g->json, g->lists[GLTF_NODES].tokens[index], "children"), index, stack, &waiting);
  }
  return status;
}

/* Places the tree of a joint that lies outside the scene. `stack` is empty. */
static sk_status place_tree(import_job *job, int64_t joint, int32_t skin, int32_t *stack) {
  gltf *g = job->gltf;
  int32_t count = g->lists[GLTF_NODES].count, top = (int32_t)joint, steps;
  if (gltf_item(g, GLTF_NODES, joint) < 0 || g->nodes[joint].in_scene) return SK_OK;
  import_note_add(job, NOTE_joints_outside_scene, 1, "nodes[%d], a joint of skins[%d]", top, skin);
  for (steps = 0; g->nodes[top].parent >= 0 && steps < count; steps++) top = g->nodes[top].parent; /* not in a circle */
  g->nodes[top].in_scene = true;
  g->nodes[top].parent = -1;
  g->root_count++;
  stack[0] = top;
  return place_waiting(job, stack, 1);
}

/* The joints of a mesh that is shown must have a pose. The meshes of nodes that come in with them stay out. */
static sk_status place_joints(import_job *job, int32_t *stack) {
  gltf *g = job->gltf;
  const json *j = &g->json;
  int32_t shown = g->order_count, i, token;
  sk_status status = SK_OK;
  for (i = 0; i < shown && !status; i++) {
    const gltf_node *node = &g->nodes[g->order[i]];
    int32_t array = json_member(j, gltf_item(g, GLTF_SKINS, node->skin), "joints");
    if (node->mesh < 0 || node->skin < 0 || g->skins[node->skin].is_used) continue;
    g->skins[node->skin].is_used = true;
    for (token = json_first(j, array); token >= 0 && !status; token = json_after(j, array, token))
      status = place_tree(job, json_index(j, token, -1), node->skin, stack);
  }
  for (i = shown; i < g->order_count; i++) {
    if (g->nodes[g->order[i]].mesh < 0) continue;
    import_note_add(job, NOTE_meshes_outside_scene, 1, "nodes[%d]", g->order[i]);
    g->nodes[g->order[i]].mesh = -1;
  }
  return status;
}

static sk_status place_nodes(import_job *job) {
  gltf *g = job->gltf;
  size_t bytes = sizeof(int32_t) * (size_t)(g->lists[GLTF_NODES].count + 1);
  int32_t waiting = 0, scene, *stack = sk_alloc(bytes);
  sk_status status = choose_scene(job, &scene);
  g->order = sk_alloc(bytes);
  find_parents(g);
  if (!stack || !g->order) status = import_no_memory(job, bytes);
  else if (!status && scene >= 0) status = place_all(job, json_member(&g->json, scene, "nodes"), -1, stack, &waiting);
  else if (!status) place_roots(g, stack, &waiting);
  g->root_count = waiting;
  if (!status) status = place_waiting(job, stack, waiting);
  if (!status) status = place_joints(job, stack);
  sk_free(stack);
  return status;
}

/* Notes meshes of the file that the scene does not have. */
static void note_unseen_meshes(import_job *job) {
  const gltf *g = job->gltf;
  int32_t i;
  for (i = 0; i < g->lists[GLTF_NODES].count; i++)
    if (g->nodes[i].mesh >= 0 && !g->nodes[i].in_scene)
      import_note_add(job, NOTE_meshes_outside_scene, 1, "nodes[%d]", i);
}

/* A node is seen where it and all nodes above it are visible. Parents stand before their children. */
static void hide_nodes(gltf *g) {
  int32_t i;
  for (i = 0; i < g->order_count; i++) {
    gltf_node *node = &g->nodes[g->order[i]];
    node->hidden |= node->parent >= 0 && g->nodes[node->parent].hidden;
  }
}

sk_status gltf_read_tree(import_job *job) {
  sk_status status;
  read_nodes(job);
  status = place_nodes(job);
  if (status) return status;
  note_unseen_meshes(job);
  hide_nodes(job->gltf);
  return SK_OK;
}
