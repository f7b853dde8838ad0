/* sk_math.h: quaternions, T/R/S and affine matrices; the only place that includes cglm.

   Matrices are row-major for column vectors. An "affine" is the first three rows of a 4x4, 12
   numbers. Chains of joints are multiplied in double: float alone drifts past 1e-6 of the size
   after some 50 joints, and in plain C double costs nothing. */
#ifndef SK_MATH_H
#define SK_MATH_H

/* NumPy memory is 16-byte aligned and a slice may be less; cglm's AVX code would crash on it. */
#define CGLM_ALL_UNALIGNED
#include <cglm/cglm.h>

#include "sk_base.h"

/* Version of the cglm that this was compiled with, as "0.8.8". */
const char *sk_math_cglm_version(void);

/* Spherical linear interpolation from a (u = 0) to b (u = 1) along the shorter arc; unit result.
   q and -q are the same rotation, so b is negated where dot(a, b) < 0. */
void sk_quat_slerp(const float a[4], const float b[4], double u, float out[4]);

/* The straight line between a and b, normalized; same arc, uneven speed. */
void sk_quat_nlerp(const float a[4], const float b[4], double u, float out[4]);

/* q / |q|; the identity where |q| is 0 or not finite. */
void sk_quat_normalize(const double q[4], float out[4]);

/* translation * rotation * scale; the quaternion need not be unit: it is divided by its length. */
void sk_affine_from_trs(const float translation[3], const float rotation[4], const float scale[3],
                        double out[12]);

void sk_affine_from_mat4(const float matrix[16], double out[12]);
void sk_affine_to_mat4(const double affine[12], float out[16]);
void sk_affine_to_rows(const double affine[12], float out[12]);

/* a * b; out may be a or b. */
void sk_affine_multiply(const double a[12], const double b[12], double out[12]);

/* False, and the identity, where the matrix has no inverse. */
bool sk_affine_inverse(const double affine[12], double out[12]);

/* The T, R, S whose product comes closest (exact without shear); a mirrored matrix gets three
   negative scales. Returns the largest difference of an element, over the largest element. */
double sk_affine_decompose(const double affine[12], float translation[3], float rotation[4],
                           float scale[3]);

/* ---- one blended matrix applied to a vertex: float, three rows of four -------- */

typedef vec4 sk_rows[3];

static inline void sk_rows_add(sk_rows sum, const float *rows, float weight) {
  glm_vec4_muladds((float *)rows, weight, sum[0]);
  glm_vec4_muladds((float *)rows + 4, weight, sum[1]);
  glm_vec4_muladds((float *)rows + 8, weight, sum[2]);
}

static inline void sk_rows_apply(sk_rows m, const float p[3], float out[3]) {
  vec4 point = {p[0], p[1], p[2], 1.0f};
  out[0] = glm_vec4_dot(m[0], point);
  out[1] = glm_vec4_dot(m[1], point);
  out[2] = glm_vec4_dot(m[2], point);
}

/* Inverse transpose of the 3x3 applied to n, normalized; a zero result stays zero. In double,
   because products of three small scales would leave float's range. */
void sk_rows_apply_normal(sk_rows m, const float n[3], float out[3]);

#endif
