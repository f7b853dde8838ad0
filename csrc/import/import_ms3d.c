/* import_ms3d.c: what Assimp 6.0.5 reads of MilkShape's .ms3d otherwise than MilkShape does. */
#include <string.h>

#include "import_internal.h"

/* ---- keys ------------------------------------------------------------------------------- */

/* A key moves its joint within the joint's rest pose: the local matrix is rest * T(key) * R(key). Assimp
   delivers the rotation so, but the rest's translation plus the key as it stands. */
static void turn_keys(const struct aiNode *node, const struct aiNodeAnim *channel) {
  const float *m = &node->mTransformation.a1;
  unsigned k;
  for (k = 0; k < channel->mNumPositionKeys; k++) {
    struct aiVector3D *v = &channel->mPositionKeys[k].mValue;
    double x = (double)v->x - m[3], y = (double)v->y - m[7], z = (double)v->z - m[11];
    v->x = (float)(m[0] * x + m[1] * y + m[2] * z + m[3]);
    v->y = (float)(m[4] * x + m[5] * y + m[6] * z + m[7]);
    v->z = (float)(m[8] * x + m[9] * y + m[10] * z + m[11]);
  }
}

void import_ms3d_keys(import_job *job) {
  const struct aiNode *const *nodes = job->model.nodes.data;
  const struct aiScene *scene = job->scene;
  unsigned a, c;
  if (strcmp(job->format, "ms3d")) return;
  for (a = 0; a < scene->mNumAnimations; a++)
    for (c = 0; c < scene->mAnimations[a]->mNumChannels; c++) {
      const struct aiNodeAnim *channel = scene->mAnimations[a]->mChannels[c];
      int32_t joint = import_find_joint(job, &channel->mNodeName);
      if (joint >= 0) turn_keys(nodes[joint], channel);
    }
}
