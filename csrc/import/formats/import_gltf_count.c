/* import_gltf_count.c: how much a glTF's JSON says there is, before memory is taken for it: an accessor
   without bytes, or one that many use, makes much of a short file. */
#include "import_gltf.h"

/* The count of an accessor; 0 where it has none. */
static uint64_t count_of(const gltf *g, int64_t accessor) {
  int32_t token = gltf_item(g, GLTF_ACCESSORS, accessor);
  return (uint64_t)json_index(&g->json, json_member(&g->json, token, "count"), 0);
}

/* Of nodes, which stand after their parents, and of instances. */
static sk_status count_levels(import_job *job, import_counts *counts) {
  gltf *g = job->gltf;
  size_t bytes = sizeof(uint32_t) * ((size_t)g->lists[GLTF_NODES].count + 1);
  uint32_t *levels = sk_alloc(bytes), instanced;
  int32_t i;
  if (!levels) return import_no_memory(job, bytes);
  for (i = 0; i < g->order_count; i++) {
    int32_t node = g->order[i], parent = g->nodes[node].parent;
    levels[node] = parent >= 0 ? levels[parent] + 1 : g->root_count == 1 ? 1 : 2;
    instanced = g->nodes[node].instance_count > 0;
    counts->nodes += 1 + (uint64_t)g->nodes[node].instance_count;
    if (levels[node] + instanced > counts->depth) counts->depth = levels[node] + instanced;
  }
  sk_free(levels);
  return SK_OK;
}

/* How many channels of the model a channel of the file becomes: one for each target of each instance, if it has
   weights. */
static uint64_t targets_of(const gltf *g, int32_t token) {
  const json *j = &g->json;
  gltf_target target = gltf_read_target(j, token);
  int32_t mesh, primitives;
  uint64_t count;
  if (target.path != SK_PATH_WEIGHT) return 1;
  mesh = gltf_item(g, GLTF_NODES, target.index) < 0 ? -1 : g->nodes[target.index].mesh;
  primitives = json_member(j, gltf_item(g, GLTF_MESHES, mesh), "primitives");
  count = (uint64_t)json_length(j, json_member(j, json_first(j, primitives), "targets"));
  if (mesh < 0 || !g->nodes[target.index].instance_count) return count;
  return import_product(count, (uint64_t)g->nodes[target.index].instance_count);
}

static sk_status count_clip(import_job *job, int32_t animation, import_counts *counts) {
  gltf *g = job->gltf;
  const json *j = &g->json;
  int32_t array = json_member(j, animation, "samplers"), token, i = 0, count = json_length(j, array);
  uint64_t *keys = sk_alloc(sizeof *keys * ((size_t)count + 1)), longest = 0, sum = 0;
  if (!keys) return import_no_memory(job, sizeof *keys * ((size_t)count + 1));
  for (token = json_first(j, array); token >= 0; token = json_after(j, array, token)) {
    keys[i] = count_of(g, json_index(j, json_member(j, token, "input"), -1));
    if (keys[i] > longest) longest = keys[i];
    i++;
  }
  array = json_member(j, animation, "channels");
  for (token = json_first(j, array); token >= 0; token = json_after(j, array, token)) {
    int64_t sampler = json_index(j, json_member(j, token, "sampler"), -1);
    if (sampler >= 0 && sampler < count)
      sum = import_sum(sum, import_product(keys[sampler], targets_of(g, json_member(j, token, "target"))));
  }
  counts->keys = import_sum(counts->keys, sum > longest ? sum : longest); /* one that no channel uses is read, too */
  sk_free(keys);
  return SK_OK;
}

sk_status gltf_check_nodes(import_job *job) {
  import_counts counts = {.nodes = (uint64_t)job->gltf->lists[GLTF_NODES].count};
  return import_check_counts(job, &counts);
}

sk_status gltf_check_counts(import_job *job) {
  gltf *g = job->gltf;
  import_counts counts = {0, 0, 0, 0, 0};
  int32_t i;
  sk_status status = count_levels(job, &counts);
  counts.nodes += g->root_count != 1; /* several roots get one above them */
  for (i = 0; i < g->lists[GLTF_ANIMATIONS].count && !status; i++)
    status = count_clip(job, g->lists[GLTF_ANIMATIONS].tokens[i], &counts);
  return status ? status : import_check_counts(job, &counts);
}

/* ---- meshes ------------------------------------------------------------------------------------ */

void gltf_count_primitive(const gltf_primitive *p, import_counts *counts) {
  counts->vertices = import_sum(counts->vertices, p->vertices);
  counts->rows = import_sum(counts->rows, import_product(p->mode == GLTF_TRIANGLES ? 1 : 3, p->corners));
  counts->rows = import_sum(counts->rows, import_product(p->lists, p->vertices));
}

/* Each mesh once, then each node that uses it. */
sk_status gltf_check_meshes(import_job *job) {
  const gltf *g = job->gltf;
  import_counts counts = {0, 0, 0, 0, 0}, *sizes;
  int32_t i, k, meshes = g->lists[GLTF_MESHES].count;
  sizes = sk_alloc_zero(((size_t)meshes + 1) * sizeof *sizes);
  if (!sizes) return import_no_memory(job, ((size_t)meshes + 1) * sizeof *sizes);
  for (i = 0; i < meshes; i++)
    for (k = 0; k < g->meshes[i].primitive_count; k++)
      gltf_count_primitive((const gltf_primitive *)g->primitives.data + g->meshes[i].first_primitive + k, &sizes[i]);
  for (i = 0; i < g->order_count; i++) {
    const gltf_node *node = &g->nodes[g->order[i]];
    uint64_t times = node->instance_count ? (uint64_t)node->instance_count : 1;
    if (node->mesh < 0) continue;
    counts.vertices = import_sum(counts.vertices, import_product(times, sizes[node->mesh].vertices));
    counts.rows = import_sum(counts.rows, import_product(times, sizes[node->mesh].rows));
  }
  sk_free(sizes);
  return import_check_counts(job, &counts);
}
