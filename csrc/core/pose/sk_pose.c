/* sk_pose.c: see sk_pose.h. */
#include "sk_pose.h"

#include <string.h>

#include "../base/sk_math.h"

sk_pose sk_pose_at(sk_pose poses, size_t n, size_t joints, size_t targets) {
  return (sk_pose){poses.translation + n * joints * 3, poses.rotation + n * joints * 4, poses.scale + n * joints * 3,
                   poses.weights ? poses.weights + n * targets : NULL};
}

void sk_pose_start(const sk_skeleton *skeleton, bool additive, sk_pose pose) {
  size_t joints = (size_t)skeleton->joint_count, j;
  if (!additive) {
    memcpy(pose.translation, skeleton->translation, joints * 3 * sizeof(float));
    memcpy(pose.rotation, skeleton->rotation, joints * 4 * sizeof(float));
    memcpy(pose.scale, skeleton->scale, joints * 3 * sizeof(float));
    return;
  }
  memset(pose.translation, 0, joints * 3 * sizeof(float));
  memset(pose.rotation, 0, joints * 4 * sizeof(float));
  for (j = 0; j < joints; j++) pose.rotation[4 * j + 3] = 1.0f;
  for (j = 0; j < joints * 3; j++) pose.scale[j] = 1.0f;
}

void sk_pose_local(const sk_skeleton *skeleton, sk_pose pose, size_t j, double out[12]) {
  const float *t = pose.translation + 3 * j, *r = pose.rotation + 4 * j, *s = pose.scale + 3 * j;
  if (memcmp(t, skeleton->translation + 3 * j, 3 * sizeof(float)) == 0 &&
      memcmp(r, skeleton->rotation + 4 * j, 4 * sizeof(float)) == 0 &&
      memcmp(s, skeleton->scale + 3 * j, 3 * sizeof(float)) == 0)
    sk_affine_from_mat4(skeleton->rest_local + 16 * j, out);
  else sk_affine_from_trs(t, r, s, out);
}

bool sk_pose_front(const sk_skeleton *skeleton, const float *root, bool inverse_root, double out[12]) {
  if (root) sk_affine_from_mat4(root, out);
  if (!inverse_root) return root != NULL;
  if (root) sk_affine_multiply(skeleton->root_inverse, out, out);
  else memcpy(out, skeleton->root_inverse, 12 * sizeof(double));
  return true;
}
