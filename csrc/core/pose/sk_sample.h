/* sk_sample.h: times -> poses. */
#ifndef SK_SAMPLE_H
#define SK_SAMPLE_H

#include "../model/sk_clip.h"
#include "../model/sk_morph.h"
#include "../model/sk_skeleton.h"

typedef enum sk_rotation { SK_SLERP, SK_NLERP, SK_ROTATION_COUNT } sk_rotation;

/* How one time becomes one pose; shared by all jobs that sample. */
typedef struct sk_sampling {
  const sk_skeleton *skeleton;
  const sk_clip *clip;  /* NULL: the rest pose at every time */
  sk_loop loop;
  sk_rotation rotation;
  const sk_morph *morph; /* where a pose's weights are wanted: their defaults */
} sk_sampling;

/* One pose, or many one after another: T, R, S of every joint, weights of every morph target. */
typedef struct sk_pose {
  float *translation; /* (..., J, 3) */
  float *rotation;    /* (..., J, 4) x y z w */
  float *scale;       /* (..., J, 3) */
  float *weights;     /* (..., M), or NULL: not wanted */
} sk_pose;

/* What a pose is before its channels are sampled: at rest, or no difference. T, R and S alone. */
void sk_pose_start(const sk_skeleton *skeleton, bool additive, sk_pose pose);

/* Pose number n of many. */
sk_pose sk_pose_at(sk_pose poses, size_t n, size_t joints, size_t targets);

typedef struct sk_sample_job {
  sk_sampling sampling;
  const double *times; /* (N,) seconds, finite */
  size_t time_count;   /* N */
  sk_pose poses;       /* out: (N, J, .) and (N, M), the caller's */
} sk_sample_job;

/* SK_ERROR_ARGUMENT names the first time that is not finite. */
sk_status sk_times_validate(const double *times, size_t count, sk_error *error);

void sk_sample_run(const sk_sample_job *job);

/* One time: what sk_sample_run does N times. */
void sk_sample_one(const sk_sampling *sampling, double time, sk_pose pose);

#endif
