/* sk_skeleton.c: see sk_skeleton.h. */
#include "sk_skeleton.h"

#include "../base/sk_math.h"

void sk_skeleton_open(const sk_block *block, sk_skeleton *skeleton) {
  double root[12];
  skeleton->joint_count = (int32_t)block->info->joints;
  skeleton->parents = block->sections[SK_SECTION_JOINT_PARENTS].data;
  skeleton->translation = block->sections[SK_SECTION_REST_TRANSLATION].data;
  skeleton->rotation = block->sections[SK_SECTION_REST_ROTATION].data;
  skeleton->scale = block->sections[SK_SECTION_REST_SCALE].data;
  skeleton->rest_local = block->sections[SK_SECTION_REST_LOCAL].data;
  sk_affine_from_mat4(skeleton->rest_local, root);
  sk_affine_inverse(root, skeleton->root_inverse);
}
