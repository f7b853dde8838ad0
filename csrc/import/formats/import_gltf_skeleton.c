/* import_gltf_skeleton.c: the nodes of a glTF as joints, and their instances. */
#include <stdio.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_skeleton.h"
#include "import_gltf.h"

static sk_status add_joint(import_job *job, int32_t parent, gltf_joint stands_for) {
  gltf_joint *added = sk_array_extend(&job->gltf->joints, 1);
  if (!added) return import_no_memory(job, sizeof *added);
  *added = stands_for;
  return import_add_joint(job, NULL, parent);
}

/* Instances are called NODE/0, NODE/1, ... */
static sk_status name_instance(import_job *job, int32_t node, int32_t number, sk_text *text) {
  sk_array *pool = &job->model.text;
  char words[16];
  int length = snprintf(words, sizeof words, "/%d", number);
  sk_status status = gltf_node_name(job, node, text);
  char *added = status ? NULL : sk_array_extend(pool, (size_t)length);
  if (status) return status;
  if (!added) return import_no_memory(job, (size_t)length);
  memcpy(added, words, (size_t)length);
  text->length += (uint32_t)length;
  if (pool->count <= IMPORT_MAX_TEXT) return SK_OK;
  return sk_fail(job->error, SK_ERROR_IMPORT, "the names of all instances together take more than 256 MiB");
}

static sk_status add_node(import_job *job, int32_t index, int32_t parent) {
  gltf_node *node = &job->gltf->nodes[index];
  sk_status status;
  int32_t k;
  node->joint = (int32_t)job->model.nodes.count;
  status = add_joint(job, parent, (gltf_joint){index, -1});
  if (!status) status = gltf_node_name(job, index, import_joint_name(job, (size_t)node->joint));
  for (k = 0; k < node->instance_count && !status; k++) {
    size_t joint = job->model.nodes.count;
    status = add_joint(job, node->joint, (gltf_joint){index, k});
    if (!status) status = name_instance(job, index, k, import_joint_name(job, joint));
  }
  return status;
}

sk_status gltf_add_joints(import_job *job) {
  gltf *g = job->gltf;
  bool invented = g->root_count != 1;
  sk_status status = SK_OK;
  int32_t i;
  if (invented) {
    status = add_joint(job, SK_NONE, (gltf_joint){-1, -1});
    if (!status && !sk_text_append(&job->model.text, "ROOT", 4, import_joint_name(job, 0)))
      status = import_no_memory(job, 4);
  }
  for (i = 0; i < g->order_count && !status; i++) {
    int32_t parent = g->nodes[g->order[i]].parent;
    status = add_node(job, g->order[i], parent >= 0 ? g->nodes[parent].joint : invented ? 0 : SK_NONE);
  }
  return status;
}

bool gltf_rest(import_job *job, size_t joint, double local[12], float t[3], float r[4], float s[3]) {
  const gltf *g = job->gltf;
  gltf_joint it = ((const gltf_joint *)g->joints.data)[joint];
  const gltf_node *node = it.node < 0 ? NULL : &g->nodes[it.node];
  int i;
  if (node && it.instance >= 0) {
    gltf_instance(g, node, it.instance, t, r, s);
    sk_affine_from_trs(t, r, s, local);
    return true;
  }
  memcpy(local, node ? node->local : sk_affine_identity, sizeof sk_affine_identity);
  if (!node || !node->has_trs) return false;
  for (i = 0; i < 3; i++) t[i] = (float)node->translation[i], s[i] = (float)node->scale[i];
  for (i = 0; i < 4; i++) r[i] = (float)node->rotation[i];
  return true;
}
