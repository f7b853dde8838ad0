/* sk_goal.h: rotates joints until an end reaches its target: two-bone inverse kinematics, aim, and FABRIK.

   A goal is solved in the space of the parent of the first joint that rotates, because a rotation of that joint keeps
   lengths there whatever scale stands above it. Only rotations are written. Everything is computed in double; poses
   hold float, which bounds what "reached" can mean. */
#ifndef SK_GOAL_H
#define SK_GOAL_H

#include "sk_pose.h"

/* What all goals have in common. Pose n has target n. Points are in scene space and in the units of the model. */
typedef struct sk_goal {
  const sk_skeleton *skeleton;
  sk_pose poses;         /* N poses: rotations are read and written, weights are not looked at */
  size_t count;          /* N */
  const float *root;     /* (4, 4) or (N, 4, 4), in front of the roots' locals; NULL: none */
  size_t root_stride;    /* floats from one pose's matrix to the next: 0 or 16 */
  const double *targets; /* (N, 3) */
  const double *poles;   /* (N, 3), or NULL: none */
  const double *weights; /* (N,) from 0 to 1: how far to go (nlerp) from the pose's rotations to the solved ones */
  double *misses;        /* out: (N,), as each job says; INFINITY where a scale of 0 leaves nothing to solve */
} sk_goal;

/* Two-bone inverse kinematics. The law of cosines gives the bend of the middle joint, then the first joint makes the
   shortest rotation that brings the end to the target, then the limb twists about the line to the target until the
   middle joint is on the pole's side. Joints between the three move along as they are.

   misses: distance of the end from its target at weight 1, divided by the length of the limb. */
typedef struct sk_two_bone_job {
  sk_goal goal;
  int32_t root, middle, end; /* each an ancestor of the next */
  double soften;             /* 0 < soften <= 1: fraction of the limb's length from which on it extends ever less */
} sk_two_bone_job;

/* Aims one joint: the shortest rotation that makes `axis` point to the target and then, where there are poles, a twist
   about that line that brings `up` to the pole's side.

   misses: 0, or INFINITY where the target lies on the joint. */
typedef struct sk_aim_job {
  sk_goal goal;
  int32_t joint;
  double axis[3], up[3]; /* directions in the joint's own space */
} sk_aim_job;

/* Forward and backward reaching (Aristidou and Lasenby, "FABRIK: A fast, iterative solver for the Inverse Kinematics
   problem", 2011), then shortest rotations from the first joint on. A chain of three joints is solved as a limb
   without a pole.

   misses: distance of the end from its target at weight 1, divided by the length of the chain. */
typedef struct sk_fabrik_job {
  sk_goal goal;
  int32_t root, end;  /* the chain: all joints from an ancestor to the end */
  int32_t iterations; /* the largest number of iterations, at least 1 */
  double tolerance;   /* distance at which iterations end, divided by the length of the chain; more than 0 */
  void *scratch;      /* sk_fabrik_scratch bytes, aligned to 8 */
} sk_fabrik_job;

/* Check a job before it runs. SK_ERROR_ARGUMENT where joints do not form a chain, or where a number is not finite or
   out of range; the message names it. */
sk_status sk_two_bone_validate(const sk_two_bone_job *job, sk_error *error);
sk_status sk_aim_validate(const sk_aim_job *job, sk_error *error);
sk_status sk_fabrik_validate(const sk_fabrik_job *job, sk_error *error);

/* Bytes of scratch for a job that is valid but for its scratch. */
size_t sk_fabrik_scratch(const sk_fabrik_job *job);

/* Solve the goal for all poses of a valid job. They allocate nothing and cannot fail. */
void sk_two_bone_run(const sk_two_bone_job *job);
void sk_aim_run(const sk_aim_job *job);
void sk_fabrik_run(const sk_fabrik_job *job);

#endif
