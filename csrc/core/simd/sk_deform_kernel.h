/* sk_deform_kernel.h: skinning a block of vertices (sk_kernels.deform and deform_shared), and what both kernels share:
   blending the matrices of single vertices, and moving eight vertices at once, with each number in its own vector. */
#ifndef SK_DEFORM_KERNEL_H
#define SK_DEFORM_KERNEL_H

#include "sk_kernel.h"

#include "../skin/sk_deform_block.h"

size_t SK_KERNEL(sk_deform_kernel_scratch)(const sk_influences *influences);
void SK_KERNEL(sk_deform_kernel)(const sk_deform_block *block);
void SK_KERNEL(sk_deform_shared_kernel)(const sk_deform_block *block);
void SK_KERNEL(sk_deform_kernel_end)(void);

#if SK_HAS_AVX2

#include <immintrin.h>

#include "sk_lanes.h"

#define INLINE static inline __attribute__((always_inline))

SK_KERNEL_BEGIN

/* ---- blended matrices of single vertices ---------------------------------------------------------------------- */

/* Weight number `i` in all lanes. Four weights are loaded at once, because a load for each would cost more. */
INLINE __m256 spread(__m256 four, uint32_t i) {
  switch (i % 4) {
  case 0: return _mm256_permute_ps(four, 0x00);
  case 1: return _mm256_permute_ps(four, 0x55);
  case 2: return _mm256_permute_ps(four, 0xaa);
  default: return _mm256_permute_ps(four, 0xff);
  }
}

/* Blends the matrices of `count` vertices with k influences each, into the scratch `rows` (sk_influence_offset). Rows 0
   and 1 are in one vector, row 2 in half of one, so that an influence costs two multiply-adds. `k` and `shift` are
   constants where this is inlined. */
INLINE void blend_group(const float *palette, const uint16_t *codes, const float *weights, size_t count, uint32_t k,
                        unsigned shift, char *rows) {
  for (; count; count--, codes += k + 1, weights += k) {
    float *row_0 = (float *)(rows + codes[0]);
    __m256 upper = _mm256_setzero_ps(), four = upper;
    __m128 lower = _mm_setzero_ps();
    uint32_t i;
    for (i = 0; i < k; i++) {
      const float *matrix = (const float *)((const char *)palette + ((size_t)codes[1 + i] << shift));
      __m256 weight;
      if (i % 4 == 0) four = _mm256_broadcast_ps((const __m128 *)(weights + i));
      weight = spread(four, i);
      upper =
          i ? _mm256_fmadd_ps(weight, _mm256_loadu_ps(matrix), upper) : _mm256_mul_ps(weight, _mm256_loadu_ps(matrix));
      lower = i ? _mm_fmadd_ps(_mm256_castps256_ps128(weight), _mm_loadu_ps(matrix + 8), lower)
                : _mm_mul_ps(_mm256_castps256_ps128(weight), _mm_loadu_ps(matrix + 8));
    }
    _mm_store_ps(row_0, _mm256_castps256_ps128(upper));
    _mm_store_ps(row_0 + 32, _mm256_extractf128_ps(upper, 1));
    _mm_store_ps(row_0 + 64, lower);
  }
}

/* Blends the matrices of all single vertices of a block; `counts` is by number of influences. */
INLINE void blend_singles(const uint16_t *codes, const float *weights, const uint16_t *counts, const float *palette,
                          unsigned shift, char *rows) {
#define GROUP(k)                                                   \
  blend_group(palette, codes, weights, counts[k], k, shift, rows); \
  codes += counts[k] * (k + 1);                                    \
  weights += counts[k] * k;
  GROUP(1) GROUP(2) GROUP(3) GROUP(4) GROUP(5) GROUP(6) GROUP(7) GROUP(8)
#undef GROUP
}

/* ---- eight vertices ------------------------------------------------------------------------------- */

/* Points or normals of eight vertices. */
typedef struct vectors {
  __m256 x, y, z;
} vectors;

/* One row of eight matrices. */
typedef struct row {
  __m256 x, y, z, w;
} matrix_row;

/* Loads one row of eight matrices from scratch and transposes it; sk_influence_offset has the layout. */
INLINE matrix_row load_row(const char *rows) {
  __m256 a = _mm256_load_ps((const float *)rows), b = _mm256_load_ps((const float *)rows + 8);
  __m256 c = _mm256_load_ps((const float *)rows + 16), d = _mm256_load_ps((const float *)rows + 24);
  __m256d ab = _mm256_castps_pd(_mm256_unpacklo_ps(a, b)), cd = _mm256_castps_pd(_mm256_unpacklo_ps(c, d));
  __m256d ef = _mm256_castps_pd(_mm256_unpackhi_ps(a, b)), gh = _mm256_castps_pd(_mm256_unpackhi_ps(c, d));
  return (matrix_row){_mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd)), _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd)),
                      _mm256_castpd_ps(_mm256_unpacklo_pd(ef, gh)), _mm256_castpd_ps(_mm256_unpackhi_pd(ef, gh))};
}

/* A row times points. */
INLINE __m256 move(matrix_row m, vectors p) {
  return _mm256_fmadd_ps(m.z, p.z, _mm256_fmadd_ps(m.y, p.y, _mm256_fmadd_ps(m.x, p.x, m.w)));
}

INLINE __m256 dot_lanes(vectors a, vectors b) {
  return _mm256_fmadd_ps(a.z, b.z, _mm256_fmadd_ps(a.y, b.y, _mm256_mul_ps(a.x, b.x)));
}

/* The negative dot product. */
INLINE __m256 minus_dot_lanes(vectors a, vectors b) {
  return _mm256_fnmsub_ps(a.z, b.z, _mm256_fmadd_ps(a.y, b.y, _mm256_mul_ps(a.x, b.x)));
}

INLINE vectors cross_lanes(vectors a, vectors b) {
  return (vectors){_mm256_fmsub_ps(a.y, b.z, _mm256_mul_ps(a.z, b.y)),
                   _mm256_fmsub_ps(a.z, b.x, _mm256_mul_ps(a.x, b.z)),
                   _mm256_fmsub_ps(a.x, b.y, _mm256_mul_ps(a.y, b.x))};
}

/* One bit for each lane whose squared length or determinant is not within 2^-90 to 2^92: outside, float may have lost
   digits or the sign. Floats compare like integers, with infinity and NaN above all others: with `bound` subtracted
   small ones become negative, and with it added large ones do. Integer operations leave the multipliers free. */
INLINE int unsafe_lanes(__m256 squared, __m256 determinant) {
  __m256i bound = _mm256_castps_si256(_mm256_set1_ps(0x1p-90f)), length = _mm256_castps_si256(squared);
  __m256i size = _mm256_castps_si256(_mm256_andnot_ps(_mm256_set1_ps(-0.0f), determinant));
  __m256i low = _mm256_or_si256(_mm256_sub_epi32(length, bound), _mm256_sub_epi32(size, bound));
  __m256i high = _mm256_or_si256(_mm256_add_epi32(length, bound), _mm256_add_epi32(size, bound));
  return _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(low, high)));
}

/* Normals multiplied with the cofactors of eight matrices, which is the inverse transpose up to a factor. `length` is
   their squared length, with the sign of the determinant, by which they have to be multiplied. */
typedef struct lane_normals {
  vectors normals;
  __m256 length;
} lane_normals;

/* What sk_normals_in_double takes and gives, lane by lane in memory. */
typedef struct sk_normal_lanes {
  float rows[3][4][8], directions[3][8];
  float normals[3][8], length[8]; /* out */
} sk_normal_lanes;

/* Computes the normals of the lanes in `mask` again, in double, as the plain path does (sk_rows_apply_normal). */
void SK_KERNEL(sk_normals_in_double)(sk_normal_lanes *lanes, int mask);

INLINE void keep_row(float (*to)[8], matrix_row m) {
  _mm256_storeu_ps(to[0], m.x);
  _mm256_storeu_ps(to[1], m.y);
  _mm256_storeu_ps(to[2], m.z);
  _mm256_storeu_ps(to[3], m.w);
}

INLINE void keep_vectors(float (*to)[8], vectors v) {
  _mm256_storeu_ps(to[0], v.x);
  _mm256_storeu_ps(to[1], v.y);
  _mm256_storeu_ps(to[2], v.z);
}

INLINE vectors kept_vectors(float (*from)[8]) {
  return (vectors){_mm256_loadu_ps(from[0]), _mm256_loadu_ps(from[1]), _mm256_loadu_ps(from[2])};
}

INLINE vectors directions_of(matrix_row m) { return (vectors){m.x, m.y, m.z}; }

/* The cofactors times n are n (m1 x m2), n (m2 x m0) and n (m0 x m1); the first two equal m1 (m2 x n) and -m0 (m2 x n),
   so that two cross products are enough. */
INLINE lane_normals transform_normals(matrix_row m0, matrix_row m1, matrix_row m2, vectors n) {
  vectors a = directions_of(m0), b = directions_of(m1), c = directions_of(m2);
  vectors cn = cross_lanes(c, n), ab = cross_lanes(a, b);
  lane_normals t = {{dot_lanes(b, cn), minus_dot_lanes(a, cn), dot_lanes(n, ab)}, _mm256_setzero_ps()};
  __m256 determinant = dot_lanes(c, ab), squared = dot_lanes(t.normals, t.normals);
  int unsafe = unsafe_lanes(squared, determinant);
  t.length = _mm256_or_ps(squared, _mm256_and_ps(determinant, _mm256_set1_ps(-0.0f)));
  if (unsafe) {
    sk_normal_lanes again;
    keep_row(again.rows[0], m0);
    keep_row(again.rows[1], m1);
    keep_row(again.rows[2], m2);
    keep_vectors(again.directions, n);
    keep_vectors(again.normals, t.normals);
    _mm256_storeu_ps(again.length, t.length);
    SK_KERNEL(sk_normals_in_double)(&again, unsafe);
    t = (lane_normals){kept_vectors(again.normals), _mm256_loadu_ps(again.length)};
  }
  return t;
}

/* Normals of length 1. */
INLINE vectors unit(lane_normals t) {
  __m256 sign = _mm256_set1_ps(-0.0f);
  __m256 factor = _mm256_xor_ps(sk_inverse_root(_mm256_andnot_ps(sign, t.length)), _mm256_and_ps(t.length, sign));
  return (vectors){_mm256_mul_ps(t.normals.x, factor), _mm256_mul_ps(t.normals.y, factor),
                   _mm256_mul_ps(t.normals.z, factor)};
}

SK_KERNEL_END

#endif
#endif
