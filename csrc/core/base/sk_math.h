/* sk_math.h: quaternions, T/R/S and affine matrices; the only header that includes cglm.

   Matrices are row-major for column vectors, quaternions are x y z w. An "affine" is the first three rows of a 4x4
   matrix: 12 numbers. Chains of joints are multiplied in double: in float the error exceeds 1e-6 of the model's size
   after some 50 joints, and in plain C double costs nothing. Every function writes `out`, which the caller owns. */
#ifndef SK_MATH_H
#define SK_MATH_H

/* NumPy memory is 16-byte aligned and a slice may be less; cglm's AVX code would crash on it. */
#define CGLM_ALL_UNALIGNED
#include <cglm/cglm.h>

#include "sk_base.h"

/* Version of cglm at compile time, such as "0.8.8". */
const char *sk_math_cglm_version(void);

/* Spherical linear interpolation from a (u = 0) to b (u = 1) along the shorter arc, for unit quaternions (Shoemake
   1985). The result is a unit quaternion. q and -q are the same rotation, so b is negated if dot(a, b) < 0. */
void sk_quat_slerp(const float a[4], const float b[4], double u, float out[4]);

/* The point at u on the straight line from a to b, normalized. It lies on the same arc as slerp, but moves at uneven
   speed. */
void sk_quat_nlerp(const float a[4], const float b[4], double u, float out[4]);

/* q / |q|, or the identity if |q| is 0 or not finite. */
void sk_quat_normalize(const double q[4], float out[4]);

extern const double sk_affine_identity[12];

/* The matrix translation * rotation * scale. The quaternion need not be unit: it is divided by its length. */
void sk_affine_from_trs(const float translation[3], const float rotation[4], const float scale[3], double out[12]);
void sk_affine_compose(const double translation[3], const double rotation[4], const double scale[3], double out[12]);

/* The first three rows of a 4x4 matrix; the last row is taken to be 0 0 0 1. */
void sk_affine_from_mat4(const float matrix[16], double out[12]);

/* The whole 4x4 matrix, and its first three rows only, rounded to float. */
void sk_affine_to_mat4(const double affine[12], float out[16]);
void sk_affine_to_rows(const double affine[12], float out[12]);

/* a * b. `out` may be a or b. */
void sk_affine_multiply(const double a[12], const double b[12], double out[12]);

/* Of the left 3x3 part. */
double sk_affine_determinant(const double affine[12]);

/* The inverse. False, with the identity in `out`, if the matrix has none. */
bool sk_affine_inverse(const double affine[12], double out[12]);

/* The T, R, S whose product is closest to the matrix; without shear it is exact. A mirrored matrix gets three negative
   scales. Returns the error: the largest difference of an element, divided by the largest element of the 3x3 part. */
double sk_affine_decompose(const double affine[12], float translation[3], float rotation[4], float scale[3]);

/* The same in double, without the error. */
void sk_affine_split(const double affine[12], double translation[3], double rotation[4], double scale[3]);

/* ---- one blended matrix applied to a vertex: float, three rows of four -------- */

typedef vec4 sk_rows[3];

/* sum += weight * rows, for 12 floats that need not be aligned. */
static inline void sk_rows_add(sk_rows sum, const float *rows, float weight) {
  glm_vec4_muladds((float *)rows, weight, sum[0]);
  glm_vec4_muladds((float *)rows + 4, weight, sum[1]);
  glm_vec4_muladds((float *)rows + 8, weight, sum[2]);
}

/* m * (p, 1). */
static inline void sk_rows_apply(sk_rows m, const float p[3], float out[3]) {
  vec4 point = {p[0], p[1], p[2], 1.0f};
  out[0] = glm_vec4_dot(m[0], point);
  out[1] = glm_vec4_dot(m[1], point);
  out[2] = glm_vec4_dot(m[2], point);
}

/* The inverse transpose of the 3x3 part, applied to the normal n and normalized; a zero result stays zero. The
   arithmetic is in double, because products of three small scales would leave the range of float. */
void sk_rows_apply_normal(sk_rows m, const float n[3], float out[3]);

#endif
