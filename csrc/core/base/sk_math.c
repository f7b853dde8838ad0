/* sk_math.c: see sk_math.h. */
#include "sk_math.h"

#include <cglm/version.h>
#include <math.h>
#include <string.h>

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)

const char *sk_math_cglm_version(void) {
  return TEXT(CGLM_VERSION_MAJOR) "." TEXT(CGLM_VERSION_MINOR) "." TEXT(CGLM_VERSION_PATCH);
}

/* ---- quaternions ---------------------------------------------------------------- */

static double quat_dot(const float a[4], const float b[4]) {
  return (double)a[0] * b[0] + (double)a[1] * b[1] + (double)a[2] * b[2] + (double)a[3] * b[3];
}

void sk_quat_normalize(const double q[4], float out[4]) {
  double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  int i;
  if (!(length > 0.0) || !isfinite(length)) {
    glm_quat_identity(out);
    return;
  }
  for (i = 0; i < 4; i++) out[i] = (float)(q[i] / length);
}

/* wa * a + wb * b, normalized. */
static void quat_mix(const float a[4], const float b[4], double wa, double wb, float out[4]) {
  double q[4];
  int i;
  for (i = 0; i < 4; i++) q[i] = wa * a[i] + wb * b[i];
  sk_quat_normalize(q, out);
}

void sk_quat_nlerp(const float a[4], const float b[4], double u, float out[4]) {
  quat_mix(a, b, 1.0 - u, quat_dot(a, b) < 0.0 ? -u : u, out);
}

void sk_quat_slerp(const float a[4], const float b[4], double u, float out[4]) {
  double dot = quat_dot(a, b), sign = dot < 0.0 ? -1.0 : 1.0, angle;
  /* Below 1e-3 rad the line and the arc differ by less than 1e-10, and sin() loses its digits. */
  if (dot * sign > 1.0 - 5e-7) {
    quat_mix(a, b, 1.0 - u, sign * u, out);
    return;
  }
  angle = acos(dot * sign);
  quat_mix(a, b, sin((1.0 - u) * angle), sign * sin(u * angle), out);
}

/* ---- matrices ------------------------------------------------------------------- */

const double sk_affine_identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

void sk_affine_compose(const double t[3], const double r[4], const double s[3], double out[12]) {
  double x = r[0], y = r[1], z = r[2], w = r[3];
  double norm = x * x + y * y + z * z + w * w, two = norm > 0.0 ? 2.0 / norm : 0.0;
  out[0] = (1.0 - two * (y * y + z * z)) * s[0];
  out[1] = two * (x * y - z * w) * s[1];
  out[2] = two * (x * z + y * w) * s[2];
  out[3] = t[0];
  out[4] = two * (x * y + z * w) * s[0];
  out[5] = (1.0 - two * (x * x + z * z)) * s[1];
  out[6] = two * (y * z - x * w) * s[2];
  out[7] = t[1];
  out[8] = two * (x * z - y * w) * s[0];
  out[9] = two * (y * z + x * w) * s[1];
  out[10] = (1.0 - two * (x * x + y * y)) * s[2];
  out[11] = t[2];
}

void sk_affine_from_trs(const float t[3], const float r[4], const float s[3], double out[12]) {
  const double translation[3] = {t[0], t[1], t[2]}, rotation[4] = {r[0], r[1], r[2], r[3]},
               scale[3] = {s[0], s[1], s[2]};
  sk_affine_compose(translation, rotation, scale, out);
}

void sk_affine_from_mat4(const float matrix[16], double out[12]) {
  int i;
  for (i = 0; i < 12; i++) out[i] = matrix[i];
}

void sk_affine_to_rows(const double affine[12], float out[12]) {
  int i;
  for (i = 0; i < 12; i++) out[i] = (float)affine[i];
}

void sk_affine_to_mat4(const double affine[12], float out[16]) {
  sk_affine_to_rows(affine, out);
  out[12] = out[13] = out[14] = 0.0f;
  out[15] = 1.0f;
}

void sk_affine_multiply(const double a[12], const double b[12], double out[12]) {
  double product[12];
  int row, column;
  for (row = 0; row < 12; row += 4) {
    for (column = 0; column < 4; column++)
      product[row + column] = a[row] * b[column] + a[row + 1] * b[4 + column] + a[row + 2] * b[8 + column];
    product[row + 3] += a[row + 3];
  }
  memcpy(out, product, sizeof product);
}

double sk_affine_determinant(const double m[12]) {
  return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]);
}

bool sk_affine_inverse(const double m[12], double out[12]) {
  double d = 1.0 / sk_affine_determinant(m), inverse[12];
  int i;
  inverse[0] = (m[5] * m[10] - m[6] * m[9]) * d;
  inverse[1] = (m[2] * m[9] - m[1] * m[10]) * d;
  inverse[2] = (m[1] * m[6] - m[2] * m[5]) * d;
  inverse[4] = (m[6] * m[8] - m[4] * m[10]) * d;
  inverse[5] = (m[0] * m[10] - m[2] * m[8]) * d;
  inverse[6] = (m[2] * m[4] - m[0] * m[6]) * d;
  inverse[8] = (m[4] * m[9] - m[5] * m[8]) * d;
  inverse[9] = (m[1] * m[8] - m[0] * m[9]) * d;
  inverse[10] = (m[0] * m[5] - m[1] * m[4]) * d;
  for (i = 0; i < 12; i += 4) inverse[i + 3] = -(inverse[i] * m[3] + inverse[i + 1] * m[7] + inverse[i + 2] * m[11]);
  for (i = 0; i < 12; i++)
    if (!isfinite(inverse[i])) {
      memcpy(out, sk_affine_identity, sizeof sk_affine_identity);
      return false;
    }
  memcpy(out, inverse, sizeof inverse);
  return true;
}

/* ---- decomposition --------------------------------------------------------------- */

/* The rotation of an orthonormal 3x3 (rows of 4), by the largest of the four components, so that
   the divisor is never small (Shepperd 1978). */
static void quat_from_rotation(const double m[12], double q[4]) {
  double trace = m[0] + m[5] + m[10];
  if (trace >= m[0] && trace >= m[5] && trace >= m[10]) {
    q[0] = m[9] - m[6], q[1] = m[2] - m[8], q[2] = m[4] - m[1], q[3] = 1.0 + trace;
  } else if (m[0] >= m[5] && m[0] >= m[10]) {
    q[0] = 1.0 + m[0] - m[5] - m[10], q[1] = m[1] + m[4], q[2] = m[2] + m[8], q[3] = m[9] - m[6];
  } else if (m[5] >= m[10]) {
    q[0] = m[1] + m[4], q[1] = 1.0 + m[5] - m[0] - m[10], q[2] = m[6] + m[9], q[3] = m[2] - m[8];
  } else {
    q[0] = m[2] + m[8], q[1] = m[6] + m[9], q[2] = 1.0 + m[10] - m[0] - m[5], q[3] = m[4] - m[1];
  }
}

static double column_dot(const double m[12], int a, int b) {
  return m[a] * m[b] + m[4 + a] * m[4 + b] + m[8 + a] * m[8 + b];
}

/* Subtracts from column `c` its projection onto the unit column `from`, so that both are orthogonal (Gram-Schmidt). */
static void column_reject(double m[12], int c, int from) {
  double projection = column_dot(m, c, from);
  int row;
  for (row = 0; row < 12; row += 4) m[row + c] -= projection * m[row + from];
}

/* Makes column c a unit vector; a column without length becomes the axis that is furthest from column `other`. */
static void column_normalize(double m[12], int c, int other) {
  double length = sqrt(column_dot(m, c, c));
  int row;
  if (!(length > 1e-9)) { /* columns come in with length 1 or 0 */
    int axis = 0;
    for (row = 1; row < 3; row++)
      if (fabs(m[4 * row + other]) < fabs(m[4 * axis + other])) axis = row;
    for (row = 0; row < 3; row++) m[4 * row + c] = row == axis;
    if (other != c) column_reject(m, c, other);
    length = sqrt(column_dot(m, c, c));
  }
  for (row = 0; row < 12; row += 4) m[row + c] /= length;
}

/* Makes the 3x3 part orthonormal and right-handed, keeping the direction of the first column. */
static void orthonormalize(double m[12]) {
  column_normalize(m, 0, 0);
  column_reject(m, 1, 0);
  column_normalize(m, 1, 0);
  m[2] = m[4] * m[9] - m[8] * m[5];
  m[6] = m[8] * m[1] - m[0] * m[9];
  m[10] = m[0] * m[5] - m[4] * m[1];
}

void sk_affine_split(const double affine[12], double t[3], double r[4], double s[3]) {
  double m[12], sign = sk_affine_determinant(affine) < 0.0 ? -1.0 : 1.0, length;
  int i, row;
  memcpy(m, affine, sizeof m);
  for (i = 0; i < 3; i++) {
    s[i] = sqrt(column_dot(affine, i, i)) * sign;
    t[i] = affine[4 * i + 3];
    for (row = 0; row < 12 && s[i] != 0.0; row += 4) m[row + i] /= s[i];
  }
  orthonormalize(m);
  quat_from_rotation(m, r);
  length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
  for (i = 0; i < 4; i++) r[i] = length > 0.0 && isfinite(length) ? r[i] / length : (double)(i == 3);
}

double sk_affine_decompose(const double affine[12], float t[3], float r[4], float s[3]) {
  double translation[3], rotation[4], scale[3], again[12], worst = 0.0, largest = 0.0;
  int i;
  sk_affine_split(affine, translation, rotation, scale);
  for (i = 0; i < 3; i++) t[i] = (float)translation[i], s[i] = (float)scale[i];
  for (i = 0; i < 4; i++) r[i] = (float)rotation[i];
  sk_affine_from_trs(t, r, s, again);
  for (i = 0; i < 12; i++) {
    worst = fmax(worst, fabs(affine[i] - again[i]));
    if (i % 4 != 3) largest = fmax(largest, fabs(affine[i]));
  }
  return largest > 0.0 ? worst / largest : worst;
}

/* ---- normals ---------------------------------------------------------------------- */

static void cross(const float a[4], const float b[4], double out[3]) {
  out[0] = (double)a[1] * b[2] - (double)a[2] * b[1];
  out[1] = (double)a[2] * b[0] - (double)a[0] * b[2];
  out[2] = (double)a[0] * b[1] - (double)a[1] * b[0];
}

/* The rows of the cofactor matrix are the cross products of the rows of m; the inverse transpose is
   that matrix over the determinant, of which only the sign survives the normalization. */
void sk_rows_apply_normal(sk_rows m, const float n[3], float out[3]) {
  double cofactor[3][3], result[3], length, sign;
  int i;
  cross(m[1], m[2], cofactor[0]);
  cross(m[2], m[0], cofactor[1]);
  cross(m[0], m[1], cofactor[2]);
  sign = m[0][0] * cofactor[0][0] + m[0][1] * cofactor[0][1] + m[0][2] * cofactor[0][2] < 0.0 ? -1.0 : 1.0;
  for (i = 0; i < 3; i++) result[i] = sign * (cofactor[i][0] * n[0] + cofactor[i][1] * n[1] + cofactor[i][2] * n[2]);
  length = sqrt(result[0] * result[0] + result[1] * result[1] + result[2] * result[2]);
  for (i = 0; i < 3; i++) out[i] = length > 0.0 ? (float)(result[i] / length) : 0.0f;
}
