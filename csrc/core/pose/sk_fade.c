/* sk_fade.c: see sk_fade.h. Float is enough for a blend, as on the SIMD path of sk_blend.h. */
#include "sk_fade.h"

#include <math.h>
#include <string.h>

#define TINY 1e-13f /* squared length below which a sum of unit quaternions is rounding noise */

static float dot4(const float a[4], const float b[4]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]; }

/* conj(a) * b */
static void relate(const float a[4], const float b[4], float out[4]) {
  out[0] = a[3] * b[0] - a[0] * b[3] - a[1] * b[2] + a[2] * b[1];
  out[1] = a[3] * b[1] - a[1] * b[3] - a[2] * b[0] + a[0] * b[2];
  out[2] = a[3] * b[2] - a[2] * b[3] - a[0] * b[1] + a[1] * b[0];
  out[3] = dot4(a, b);
}

/* The nlerp from a to sign * b. Where both are opposite, so that the sum has no direction, it is the heavier one. */
static void nlerp(const float a[4], const float b[4], float u, float sign, float out[4]) {
  float r[4], square, scale;
  int k;
  for (k = 0; k < 4; k++) r[k] = (1.0f - u) * a[k] + u * sign * b[k];
  square = dot4(r, r);
  scale = 1.0f / sqrtf(square);
  for (k = 0; k < 4; k++) out[k] = square > TINY ? r[k] * scale : u < 0.5f ? a[k] : b[k];
}

static void mix_rotation(const float a[4], const float b[4], float u, const float kept[4], float seen[4],
                         float out[4]) {
  float relation[4], side, sign;
  int k;
  relate(a, b, relation);
  side = dot4(kept, relation);
  if (kept[0] == 0.0f && kept[1] == 0.0f && kept[2] == 0.0f && kept[3] == 0.0f) side = relation[3];
  sign = side < 0.0f ? -1.0f : 1.0f;
  for (k = 0; k < 4; k++) seen[k] = sign * relation[k];
  if (u > 0.0f && memcmp(a, b, 4 * sizeof *a) != 0) nlerp(a, b, u, sign, out);
  else memmove(out, a, 4 * sizeof *a);
}

static void lerp(const float *a, const float *b, float u, int count, float *out) {
  int k;
  for (k = 0; k < count; k++) out[k] = u >= 1.0f ? b[k] : a[k] + u * (b[k] - a[k]);
}

void sk_fade_mix(const sk_fade *fade, sk_pose out) {
  size_t joints = (size_t)fade->skeleton->joint_count, targets = (size_t)fade->morph->target_count, j;
  float share = (float)fade->share;
  sk_pose a = fade->old, b = fade->new;
  for (j = 0; j < joints; j++) {
    float u = fade->shares ? fade->shares[j] : share;
    lerp(a.translation + 3 * j, b.translation + 3 * j, u, 3, out.translation + 3 * j);
    lerp(a.scale + 3 * j, b.scale + 3 * j, u, 3, out.scale + 3 * j);
    if (u < 1.0f) {
      mix_rotation(a.rotation + 4 * j, b.rotation + 4 * j, u, fade->kept + 4 * j, fade->seen + 4 * j,
                   out.rotation + 4 * j);
    } else {
      memmove(out.rotation + 4 * j, b.rotation + 4 * j, 4 * sizeof(float));
      memset(fade->seen + 4 * j, 0, 4 * sizeof(float));
    }
  }
  for (j = 0; out.weights && j < targets; j++) {
    float u = fade->shares ? fade->shares[fade->morph->targets[j].node] : share;
    lerp(a.weights + j, b.weights + j, u, 1, out.weights + j);
  }
}

/* ---- inertia -------------------------------------------------------------------------------------- */

static double rebound(double k, double u) {
  double a = fmax(0.0, -8.0 * k - 20.0);
  double third = -0.5 * (3 * a + 12 * k + 20), fourth = 0.5 * (3 * a + 16 * k + 30), fifth = -0.5 * (a + 6 * k + 12);
  return u >= 1.0 ? 0.0 : 1.0 + u * (k + u * (0.5 * a + u * (third + u * (fourth + u * fifth))));
}

static bool is_none(const sk_inertia *row) {
  return row->x[0] == 0.0f && row->x[1] == 0.0f && row->x[2] == 0.0f && row->free[0] == 0.0f && row->free[1] == 0.0f &&
         row->free[2] == 0.0f;
}

/* Writes the difference; returns whether there is one. */
static bool find_difference(const sk_inertia *row, double seconds, double glide, double out[3]) {
  double r;
  int k;
  if (is_none(row)) return false;
  r = rebound(row->k, seconds * row->rate);
  for (k = 0; k < 3; k++) out[k] = row->x[k] * r + row->free[k] * glide;
  return out[0] != 0.0 || out[1] != 0.0 || out[2] != 0.0;
}

static void add_three(const double difference[3], float v[3]) {
  int k;
  for (k = 0; k < 3; k++) v[k] = (float)(v[k] + difference[k]);
}

/* q = the rotation by a rotation vector, after q. */
static void rotate(const double vector[3], float q[4]) {
  double angle = sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
  double scale = angle > 1e-9 ? sin(0.5 * angle) / angle : 0.5, w = cos(0.5 * angle);
  double x = scale * vector[0], y = scale * vector[1], z = scale * vector[2];
  double r[4] = {w * q[0] + x * q[3] + y * q[2] - z * q[1], w * q[1] + y * q[3] + z * q[0] - x * q[2],
                 w * q[2] + z * q[3] + x * q[1] - y * q[0], w * q[3] - x * q[0] - y * q[1] - z * q[2]};
  double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
  int k;
  for (k = 0; k < 4; k++) q[k] = (float)(r[k] / length);
}

void sk_inertia_apply(const sk_inertia *rows, size_t joints, size_t targets, double seconds, double span,
                      sk_pose pose) {
  double u = seconds / span, glide = u >= 1.0 ? 0.0 : u * (1.0 + u * u * (-6.0 + u * (8.0 - 3.0 * u))), difference[3];
  size_t j;
  for (j = 0; j < joints; j++) {
    if (find_difference(&rows[j], seconds, glide, difference)) add_three(difference, pose.translation + 3 * j);
    if (find_difference(&rows[joints + j], seconds, glide, difference)) rotate(difference, pose.rotation + 4 * j);
    if (find_difference(&rows[2 * joints + j], seconds, glide, difference)) add_three(difference, pose.scale + 3 * j);
  }
  for (j = 0; pose.weights && j < targets; j++)
    if (find_difference(&rows[3 * joints + j], seconds, glide, difference))
      pose.weights[j] = (float)(pose.weights[j] + difference[0]);
}
