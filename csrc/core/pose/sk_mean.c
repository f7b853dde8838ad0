/* sk_mean.c: the plain path of sk_mean.h, in double. simd/sk_mean_kernel.c does the same for four joints at a time. */
#include "sk_mean.h"

#include <math.h>
#include <string.h>

/* The place of element (row, column) in the ten numbers of a symmetric matrix. */
static const int cell_of[4][4] = {{0, 1, 2, 3}, {1, 4, 5, 6}, {2, 5, 7, 8}, {3, 6, 8, 9}};

void sk_mean_add(double weight, const float q[4], double m[SK_MEAN_CELLS]) {
  int i, k, cell = 0;
  for (i = 0; i < 4; i++)
    for (k = i; k < 4; k++) m[cell++] += weight * q[i] * q[k];
}

static double dot4(const double a[4], const double b[4]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/* q = m * q. */
static void apply(const double m[SK_MEAN_CELLS], double q[4]) {
  double product[4] = {0};
  int i, k;
  for (i = 0; i < 4; i++)
    for (k = 0; k < 4; k++) product[i] += m[cell_of[i][k]] * q[k];
  memcpy(q, product, sizeof product);
}

/* The adjugate, which is the determinant times the inverse: a sum of products of the 2x2 determinants that the upper
   two rows and the lower two rows have (Laplace). */
static void adjugate(const double m[SK_MEAN_CELLS], double out[SK_MEAN_CELLS]) {
  double xx = m[0], xy = m[1], xz = m[2], xw = m[3], yy = m[4], yz = m[5], yw = m[6], zz = m[7], zw = m[8], ww = m[9];
  double upper01 = xx * yy - xy * xy, upper02 = xx * yz - xy * xz, upper03 = xx * yw - xy * xw;
  double upper12 = xy * yz - yy * xz, upper13 = xy * yw - yy * xw, both = xz * yw - yz * xw;
  double lower02 = xz * zw - zz * xw, lower03 = xz * ww - zw * xw, lower12 = yz * zw - zz * yw;
  double lower13 = yz * ww - zw * yw, lower23 = zz * ww - zw * zw;
  out[0] = yy * lower23 - yz * lower13 + yw * lower12;
  out[1] = xz * lower13 - xy * lower23 - xw * lower12;
  out[2] = yw * both - zw * upper13 + ww * upper12;
  out[3] = zz * upper13 - yz * both - zw * upper12;
  out[4] = xx * lower23 - xz * lower03 + xw * lower02;
  out[5] = zw * upper03 - xw * both - ww * upper02;
  out[6] = xz * both - zz * upper03 + zw * upper02;
  out[7] = xw * upper13 - yw * upper03 + ww * upper01;
  out[8] = yz * upper03 - xz * upper13 - zw * upper01;
  out[9] = xz * upper12 - yz * upper02 + zz * upper01;
}

static double trace_of(const double m[SK_MEAN_CELLS]) { return m[0] + m[4] + m[7] + m[9]; }

/* Sets out to the adjugate of M - x I. Returns its determinant, which is p(x). */
static double shifted_adjugate(const double m[SK_MEAN_CELLS], double x, double out[SK_MEAN_CELLS]) {
  double a[SK_MEAN_CELLS];
  memcpy(a, m, sizeof a);
  a[0] -= x, a[4] -= x, a[7] -= x, a[9] -= x;
  adjugate(a, out);
  return a[0] * out[0] + a[1] * out[1] + a[2] * out[2] + a[3] * out[3];
}

/* The step down from x to the largest eigenvalue. p(x - s) = s^4 + e1 s^3 + e2 s^2 - slope s + value, where slope and
   value are those of p at x. */
static double step_down(double trace, double squares, double x, double slope, double value) {
  double last = SK_MEAN_LAST / (trace * trace), e1 = trace - 4.0 * x,
         e2 = 0.5 * (trace * trace - squares) + (6.0 * x - 3.0 * trace) * x, s = value / slope, step;
  int i;
  for (i = 0; i < SK_MEAN_STEPS; i++) {
    double slope_there = slope - ((4.0 * s + 3.0 * e1) * s + 2.0 * e2) * s;
    double value_there = (((s + e1) * s + e2) * s - slope) * s + value, bend = (6.0 * s + 3.0 * e1) * s + e2;
    step = value_there * slope_there / (slope_there * slope_there - value_there * bend);
    s += step;
    if (!(step > last * slope_there)) break;
  }
  return s;
}

/* Sets out to the adjugate of M - x I for an x near the largest eigenvalue. */
static void find_projection(const double m[SK_MEAN_CELLS], double out[SK_MEAN_CELLS]) {
  double squares = m[0] * m[0] + m[4] * m[4] + m[7] * m[7] + m[9] * m[9] +
                   2.0 * (m[1] * m[1] + m[2] * m[2] + m[3] * m[3] + m[5] * m[5] + m[6] * m[6] + m[8] * m[8]);
  double trace = trace_of(m), x = 0.25 * trace + sqrt(fmax(0.0, 0.75 * (squares - 0.25 * trace * trace)));
  double value = shifted_adjugate(m, x, out), slope = -trace_of(out);
  if (value * trace * trace <= SK_MEAN_NEAR * slope * slope) return;
  x += SK_MEAN_OFFSET * trace - step_down(trace, squares, x, slope, value);
  shifted_adjugate(m, x, out);
}

/* Sets v to the axis along which the (negative) projection is longest. Later axes must be longer by a thousandth, so that roundings
   do not choose between equal ones. */
static void choose_axis(const double projection[SK_MEAN_CELLS], double v[4]) {
  int axis, best = 0;
  for (axis = 1; axis < 4; axis++)
    if (projection[cell_of[axis][axis]] < 1.001 * projection[cell_of[best][best]]) best = axis;
  for (axis = 0; axis < 4; axis++) v[axis] = axis == best;
}

void sk_mean_find(const double m[SK_MEAN_CELLS], const float rest[4], double v[4]) {
  double projection[SK_MEAN_CELLS], trace, length;
  int i;
  find_projection(m, projection);
  trace = trace_of(projection);
  for (i = 0; i < 4; i++) v[i] = rest[i];
  apply(projection, v);
  if (dot4(v, v) <= SK_MEAN_ALONG * trace * trace) {
    choose_axis(projection, v);
    apply(projection, v);
  }
  apply(projection, v);
  apply(projection, v);
  length = sqrt(dot4(v, v));
  for (i = 0; i < 4; i++) v[i] = length > SK_MEAN_NOWHERE ? v[i] / length : rest[i];
}
