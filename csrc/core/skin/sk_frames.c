/* sk_frames.c: see sk_frames.h. */
#include "sk_frames.h"

#include <math.h>
#include <string.h>

double sk_frames_find(const sk_frame_times *line, double time, sk_loop loop) {
  const sk_clip timing = {.duration = line->duration, .key_tolerance = SK_KEY_TOLERANCE_TICKS / line->ticks_per_second};
  double local = sk_clip_local_time(&timing, time, loop);
  sk_key key = sk_clip_find_key(line->times, line->count, local, timing.key_tolerance);
  return (double)key.index + key.fraction;
}

static void blend(const float *a, const float *b, double u, size_t count, float *out) {
  size_t i;
  for (i = 0; i < count; i++) out[i] = (float)(a[i] + u * ((double)b[i] - a[i]));
}

/* Normals that cancel give zero, which stays zero. */
static void normalize(float *normals, size_t count) {
  size_t i;
  for (i = 0; i < count; i++, normals += 3) {
    double x = normals[0], y = normals[1], z = normals[2], length = sqrt(x * x + y * y + z * z);
    double factor = length > 0.0 ? 1.0 / length : 0.0;
    normals[0] = (float)(x * factor);
    normals[1] = (float)(y * factor);
    normals[2] = (float)(z * factor);
  }
}

void sk_frames_run(const sk_frames_job *job) {
  size_t stride = job->vertex_count * 3, n;
  for (n = 0; n < job->out_count; n++) {
    double last = (double)(job->frame_count - 1), frame_number = fmin(fmax(job->frame_numbers[n], 0.0), last);
    size_t frame = (size_t)frame_number, start = frame * stride;
    double u = frame_number - (double)frame;
    if (u == 0.0) {
      memcpy(job->out_positions + n * stride, job->positions + start, stride * sizeof(float));
      if (job->normals) memcpy(job->out_normals + n * stride, job->normals + start, stride * sizeof(float));
      continue;
    }
    blend(job->positions + start, job->positions + start + stride, u, stride, job->out_positions + n * stride);
    if (!job->normals) continue;
    blend(job->normals + start, job->normals + start + stride, u, stride, job->out_normals + n * stride);
    normalize(job->out_normals + n * stride, job->vertex_count);
  }
}
