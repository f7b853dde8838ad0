/* sk_sample.h: from times to poses.

   Sampling evaluates the channels of one clip at a time: it finds the keys around that time and interpolates between
   them, as the channel says: the key before it (step), straight lines and arcs (linear), or Hermite splines (cubic).
   What no channel moves is as sk_pose_start leaves it. */
#ifndef SK_SAMPLE_H
#define SK_SAMPLE_H

#include "../model/sk_morph.h"
#include "sk_compile.h"
#include "sk_pose.h"

/* How a linear channel goes from one rotation to the next, always along the shorter arc: at an even speed (slerp), or
   along the straight line between the quaternions, normalized (nlerp), which is faster in the middle of wide arcs. */
typedef enum sk_rotation { SK_SLERP, SK_NLERP, SK_ROTATION_COUNT } sk_rotation;

/* How one time becomes one pose; all jobs that sample share this. Every pointer is borrowed. */
typedef struct sk_sampling {
  const sk_skeleton *skeleton;
  const sk_clip *clip;   /* NULL: the rest pose at every time */
  sk_loop loop;          /* what a time outside the clip means */
  sk_rotation rotation;  /* how linear channels of rotations are interpolated */
  const sk_morph *morph; /* the default weights of morph targets; NULL where no weights are wanted */
} sk_sampling;

/* The compiled form that the kernels may sample in place of the clip. NULL where the clip has not been compiled or
   where the compiled form is not exact: merged time lines hold keys that lie on arcs, which nlerp does not follow. */
static inline const sk_compiled *sk_compiled_for(const sk_sampling *sampling) {
  const sk_compiled *compiled = sampling && sampling->clip ? sampling->clip->compiled : NULL;
  return compiled && compiled->merged && sampling->rotation != SK_SLERP ? NULL : compiled;
}

/* Samples one clip at N times. */
typedef struct sk_sample_job {
  sk_sampling sampling;
  const double *times; /* (N,) seconds, finite */
  size_t time_count;   /* N */
  sk_pose poses;       /* out: N poses in arrays of the caller */
} sk_sample_job;

/* Checks that `count` times are finite; SK_ERROR_ARGUMENT names the first one that is not. */
sk_status sk_times_validate(const double *times, size_t count, sk_error *error);

/* Fills all poses of the job. Allocates nothing and cannot fail. */
void sk_sample_run(const sk_sample_job *job);

/* Fills one pose at one time (seconds, finite), as sk_sample_run does N times. */
void sk_sample_one(const sk_sampling *sampling, double time, sk_pose pose);

#endif
