/* sk_goal.h: goals -> rotations of joints: two-bone inverse kinematics, aim, FABRIK.

   A goal is solved in the space of the parent of the first joint that turns, where that joint's turning
   keeps lengths whatever scale stands above it. Nothing but rotations is written. */
#ifndef SK_GOAL_H
#define SK_GOAL_H

#include "sk_pose.h"

/* What all goals have in common. Pose n has target n; all points are in scene space. */
typedef struct sk_goal {
  const sk_skeleton *skeleton;
  sk_pose poses;         /* (N, J, .): rotations are read and written; weights are not looked at */
  size_t count;          /* N */
  const float *root;     /* (4,4) or (N,4,4), in front of the roots' locals; NULL: none */
  size_t root_stride;    /* floats from one root to the next: 0 or 16 */
  const double *targets; /* (N,3) */
  const double *poles;   /* (N,3), or NULL: none */
  const double *weights; /* (N,) 0 to 1: the share of the way from the pose's rotations (nlerp) */
  double *misses;        /* out: (N,), what each job says; INFINITY where a scale of 0 allows nothing */
} sk_goal;

/* The bend of the middle joint by the law of cosines, then the shortest turn of the first one, then a
   twist about the line to the target that brings the middle joint to the pole's side. Joints between
   the three move along as they are.
   misses: distance of the end from its target at weight 1, over the length of the limb. */
typedef struct sk_two_bone_job {
  sk_goal goal;
  int32_t root, middle, end; /* each an ancestor of the next */
  double soften;             /* 0 < soften <= 1: share of the limb's length from which it gives way */
} sk_two_bone_job;

/* The shortest turn that makes `axis` point to the target; then, with poles, a twist about that line
   that brings `up` to the pole's side.
   misses: 0, or INFINITY where the target lies on the joint. */
typedef struct sk_aim_job {
  sk_goal goal;
  int32_t joint;
  double axis[3], up[3]; /* directions in the joint's own space */
} sk_aim_job;

/* Forward and backward reaching (Aristidou and Lasenby 2011), then shortest turns from the first joint on.
   A chain of three joints is solved as a limb without a pole.
   misses: distance of the end from its target at weight 1, over the length of the chain. */
typedef struct sk_fabrik_job {
  sk_goal goal;
  int32_t root, end;  /* all joints from an ancestor to the end */
  int32_t iterations; /* at most so many, at least 1 */
  double tolerance;   /* of the distance, over the length of the chain; more than 0 */
  void *scratch;      /* sk_fabrik_scratch bytes, aligned to 8 */
} sk_fabrik_job;

/* SK_ERROR_ARGUMENT where joints are no chain, or a number is not finite or out of range. */
sk_status sk_two_bone_validate(const sk_two_bone_job *job, sk_error *error);
sk_status sk_aim_validate(const sk_aim_job *job, sk_error *error);
sk_status sk_fabrik_validate(const sk_fabrik_job *job, sk_error *error);

/* Of a job that is valid but for its scratch. */
size_t sk_fabrik_scratch(const sk_fabrik_job *job);

void sk_two_bone_run(const sk_two_bone_job *job);
void sk_aim_run(const sk_aim_job *job);
void sk_fabrik_run(const sk_fabrik_job *job);

#endif
