/* sk_sample.h: times -> poses. */
#ifndef SK_SAMPLE_H
#define SK_SAMPLE_H

#include "../model/sk_morph.h"
#include "sk_compile.h"
#include "sk_pose.h"

typedef enum sk_rotation { SK_SLERP, SK_NLERP, SK_ROTATION_COUNT } sk_rotation;

/* How one time becomes one pose; shared by all jobs that sample. */
typedef struct sk_sampling {
  const sk_skeleton *skeleton;
  const sk_clip *clip;  /* NULL: the rest pose at every time */
  sk_loop loop;
  sk_rotation rotation;
  const sk_morph *morph; /* where a pose's weights are wanted: their defaults */
} sk_sampling;

/* What the SIMD twins may sample instead of the clip: NULL where it has not been compiled or is not exact so. */
static inline const sk_compiled *sk_compiled_for(const sk_sampling *sampling) {
  const sk_compiled *compiled = sampling && sampling->clip ? sampling->clip->compiled : NULL;
  return compiled && compiled->merged && sampling->rotation != SK_SLERP ? NULL : compiled;
}

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
