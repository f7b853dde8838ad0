/* sk_frames.h: times -> vertices: stored frames and straight lines between them. */
#ifndef SK_FRAMES_H
#define SK_FRAMES_H

#include "../model/sk_clip.h"

/* When the frames are shown; the rules are those of clips. */
typedef struct sk_frame_times {
  const double *times;     /* (N,) seconds, increasing */
  uint32_t count;          /* N, at least 1 */
  double duration;         /* seconds */
  double ticks_per_second; /* for the tolerance of key times */
} sk_frame_times;

/* Where `time` stands among the frames, 0 to N - 1: 2.25 is a quarter of the way from frame 2 to frame 3.
   `time` is finite. O(log N). */
double sk_frames_find(const sk_frame_times *line, double time, sk_loop loop);

typedef struct sk_frames_job {
  const float *positions; /* (N, V, 3) */
  const float *normals;   /* (N, V, 3), or NULL */
  size_t frame_count;     /* N, at least 1 */
  size_t vertex_count;    /* V */
  const double *frame_numbers;   /* (P,); what lies outside 0 to N - 1 counts as the nearer of them */
  size_t out_count;     /* P */
  float *out_positions;   /* out: (P, V, 3) */
  float *out_normals;     /* out: (P, V, 3) of unit length (or zero); NULL without normals */
} sk_frames_job;

/* Allocates nothing. A whole place copies its frame to the bit. */
void sk_frames_run(const sk_frames_job *job);

#endif
