/* import_gltf_skeleton.c: the nodes of a glTF as joints. */
#include <string.h>

#include "../import_skeleton.h"
#include "import_gltf.h"

sk_status gltf_add_joints(import_job *job) {
  gltf *g = job->gltf;
  bool invented = g->root_count != 1;
  sk_status status = SK_OK;
  int32_t i;
  if (invented) {
    status = import_add_joint(job, NULL, SK_NONE);
    if (!status && !sk_text_append(&job->model.text, "ROOT", 4, import_joint_name(job, 0)))
      status = import_no_memory(job, 4);
  }
  for (i = 0; i < g->order_count && !status; i++) {
    gltf_node *node = &g->nodes[g->order[i]];
    int32_t parent = node->parent >= 0 ? g->nodes[node->parent].joint : invented ? 0 : SK_NONE;
    node->joint = (int32_t)job->model.nodes.count;
    status = import_add_joint(job, NULL, parent);
    if (!status) status = gltf_node_name(job, g->order[i], import_joint_name(job, (size_t)node->joint));
  }
  return status;
}

/* NULL for the root that is invented above several roots. */
static const gltf_node *node_at(const import_job *job, size_t joint) {
  size_t invented = job->gltf->root_count != 1;
  return joint >= invented ? &job->gltf->nodes[job->gltf->order[joint - invented]] : NULL;
}

bool gltf_rest(import_job *job, size_t joint, double local[12], float t[3], float r[4], float s[3]) {
  static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  const gltf_node *node = node_at(job, joint);
  int i;
  memcpy(local, node ? node->local : identity, sizeof identity);
  if (!node || !node->has_trs) return false;
  for (i = 0; i < 3; i++) t[i] = (float)node->translation[i], s[i] = (float)node->scale[i];
  for (i = 0; i < 4; i++) r[i] = (float)node->rotation[i];
  return true;
}
