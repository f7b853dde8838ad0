/* import_gltf_instance.c: EXT_mesh_gpu_instancing: a node that shows its mesh many times, each with a transform below its
   own. Each instance becomes a joint below the node, which has the mesh in the node's place. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "import_gltf.h"

static int32_t attributes_of(const gltf *g, int32_t node) {
  int32_t extensions = json_member(&g->json, g->lists[GLTF_NODES].tokens[node], "extensions");
  return json_member(&g->json, json_member(&g->json, extensions, "EXT_mesh_gpu_instancing"), "attributes");
}

static const char *const attribute_names[] = {"TRANSLATION", "ROTATION", "SCALE"};

/* The count that the attributes of the node have in common; 0 where they have none. */
static int64_t common_count(const gltf *g, int32_t attributes) {
  int64_t common = -1;
  int i;
  for (i = 0; i < 3; i++) {
    int32_t token = json_member(&g->json, attributes, attribute_names[i]);
    int32_t accessor = gltf_item(g, GLTF_ACCESSORS, json_index(&g->json, token, -1));
    int64_t count = json_index(&g->json, json_member(&g->json, accessor, "count"), 0);
    if (token < 0) continue;
    if (common >= 0 && common != count) return 0;
    common = count;
  }
  return common < 0 ? 0 : common;
}

/* A skinned mesh stands where its joints are, so that instances of it have no meaning. */
sk_status gltf_count_instances(import_job *job) {
  gltf *g = job->gltf;
  int64_t sum = g->order_count;
  int32_t i;
  for (i = 0; i < g->order_count; i++) {
    gltf_node *node = &g->nodes[g->order[i]];
    int32_t attributes = attributes_of(g, g->order[i]);
    int64_t count = node->skin < 0 ? common_count(g, attributes) : 0;
    if (attributes < 0 || node->mesh < 0) continue;
    if (!count) import_note_add(job, NOTE_instances_dropped, 1, "nodes[%d]", g->order[i]);
    sum += count;
    if (sum > SK_MAX_JOINTS)
      return sk_fail(job->error, SK_ERROR_IMPORT, "the model has more than %u nodes", SK_MAX_JOINTS);
    node->instance_count = (int32_t)count;
  }
  return SK_OK;
}

/* Reads one attribute, `width` numbers for each instance; those of an attribute that is not there are `still`. */
static sk_status read_attribute(import_job *job, int32_t node, const char *name, uint32_t width, const float *still,
                                float *out, bool *exact) {
  const gltf *g = job->gltf;
  int32_t token = json_member(&g->json, attributes_of(g, node), name), i;
  int64_t index = json_index(&g->json, token, -1);
  size_t count = (size_t)g->nodes[node].instance_count, bad = 0, k;
  gltf_accessor a;
  sk_status status;
  for (i = 0; i < g->nodes[node].instance_count; i++) memcpy(out + (size_t)i * width, still, width * sizeof *out);
  if (token < 0) return SK_OK;
  status = gltf_accessor_open(job, index, &a);
  if (status) return status;
  if (a.width != width)
    return sk_fail(job->error, SK_ERROR_IMPORT, "nodes[%d]: the %s of its instances has %u numbers, not %u", node, name,
                   a.width, width);
  *exact = a.component == 5126;
  status = gltf_accessor_floats(job, index, &a, out);
  for (k = 0; k < count * width; k++)
    if (import_is_bad(out[k])) out[k] = still[k % width], bad++;
  import_note_add(job, NOTE_numbers_repaired, bad, "nodes[%d]: %s of its instances", node, name);
  return status;
}

/* Whole numbers cannot hold a quaternion of length 1 exactly: these are normalized without a report. */
static void normalize(import_job *job, int32_t node, float *rotations, bool exact) {
  int32_t i, k;
  for (i = 0; i < job->gltf->nodes[node].instance_count; i++) {
    float *q = rotations + 4 * (size_t)i;
    double length = sqrt((double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3]);
    if (exact && fabs(length - 1.0) > 1e-5)
      import_note_add(job, NOTE_rotations_normalized, 1, "nodes[%d]: an instance with a rotation of length %g", node,
                      length);
    for (k = 0; k < 4; k++) q[k] = length > 1e-12 ? (float)(q[k] / length) : (float)(k == 3);
  }
}

static sk_status read_node(import_job *job, int32_t index) {
  static const float zeros[3] = {0, 0, 0}, identity[4] = {0, 0, 0, 1}, ones[3] = {1, 1, 1};
  gltf *g = job->gltf;
  size_t count = (size_t)g->nodes[index].instance_count;
  float *t = sk_array_extend(&g->instance_numbers, GLTF_INSTANCE_WIDTH * count), *r, *s;
  bool exact = true;
  sk_status status;
  if (!t) return import_no_memory(job, GLTF_INSTANCE_WIDTH * count * sizeof *t);
  r = t + 3 * count, s = r + 4 * count;
  g->nodes[index].first_instance = (int32_t)(g->instance_numbers.count / GLTF_INSTANCE_WIDTH - count);
  status = read_attribute(job, index, attribute_names[0], 3, zeros, t, &exact);
  if (!status) status = read_attribute(job, index, attribute_names[2], 3, ones, s, &exact);
  if (!status) status = read_attribute(job, index, attribute_names[1], 4, identity, r, &exact);
  if (!status) normalize(job, index, r, exact);
  return status;
}

sk_status gltf_read_instances(import_job *job) {
  gltf *g = job->gltf;
  sk_status status = SK_OK;
  int32_t i;
  for (i = 0; i < g->order_count && !status; i++)
    if (g->nodes[g->order[i]].instance_count) status = read_node(job, g->order[i]);
  return status;
}

void gltf_instance(const gltf *g, const gltf_node *node, int32_t number, float t[3], float r[4], float s[3]) {
  size_t count = (size_t)node->instance_count, at = (size_t)number;
  const float *from = (const float *)g->instance_numbers.data + GLTF_INSTANCE_WIDTH * (size_t)node->first_instance;
  memcpy(t, from + 3 * at, 3 * sizeof *t);
  memcpy(r, from + 3 * count + 4 * at, 4 * sizeof *r);
  memcpy(s, from + 7 * count + 3 * at, 3 * sizeof *s);
}

int32_t gltf_joint_of_mesh(const gltf_node *node) { return node->joint + (node->instance_count > 0); }
