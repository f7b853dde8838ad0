/* sk_frames.h: vertices that are stored frame by frame ("baked" or "point cache" animation), and straight lines
   between the frames.

   It takes two steps: sk_frames_find turns a time into a fractional frame number, and sk_frames_run blends the two
   frames around it. Frame number 2.25 is a quarter of the way from frame 2 to frame 3. */
#ifndef SK_FRAMES_H
#define SK_FRAMES_H

#include "../model/sk_clip.h"

/* When the frames are shown. Times outside and tolerances are treated as in clips (sk_clip.h). */
typedef struct sk_frame_times {
  const double *times;     /* (N,) seconds, increasing */
  uint32_t count;          /* N, at least 1 */
  double duration;         /* seconds */
  double ticks_per_second; /* SK_KEY_TOLERANCE_TICKS of a tick is the tolerance of key times */
} sk_frame_times;

/* The fractional frame number at `time` (seconds, finite), from 0 to N - 1. O(log N). */
double sk_frames_find(const sk_frame_times *line, double time, sk_loop loop);

/* Vertices at P frame numbers. The caller owns all arrays. */
typedef struct sk_frames_job {
  const float *positions;      /* (N, V, 3) */
  const float *normals;        /* (N, V, 3), or NULL */
  size_t frame_count;          /* N, at least 1 */
  size_t vertex_count;         /* V */
  const double *frame_numbers; /* (P,); what lies outside 0 to N - 1 counts as the nearer of these two */
  size_t out_count;            /* P */
  float *out_positions;        /* out: (P, V, 3) */
  float *out_normals;          /* out: (P, V, 3) of length 1, or zero where normals cancel; NULL without normals */
} sk_frames_job;

/* Fills the outputs. Allocates nothing and cannot fail. A whole frame number copies its frame bit for bit. */
void sk_frames_run(const sk_frames_job *job);

#endif
