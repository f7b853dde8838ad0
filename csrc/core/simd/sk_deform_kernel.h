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

#if SK_HAS_KERNELS

#include "sk_lanes.h"

SK_KERNEL_BEGIN

/* ---- blended matrices of single vertices ---------------------------------------------------------------------- */

/* Weight number `i` in all lanes. Four weights are loaded at once, because a load for each would cost more. */
SK_INLINE sk_f8 spread(sk_f8 four, uint32_t i) {
  switch (i % 4) {
  case 0: return F8_PICK(four, 0, 0, 0, 0);
  case 1: return F8_PICK(four, 1, 1, 1, 1);
  case 2: return F8_PICK(four, 2, 2, 2, 2);
  default: return F8_PICK(four, 3, 3, 3, 3);
  }
}

/* Blends the matrices of `count` vertices with k influences each, into the scratch `rows` (sk_influence_offset). Rows 0
   and 1 are in one vector, row 2 in half of one, so that an influence costs two multiply-adds. `k` and `shift` are
   constants where this is inlined. */
SK_INLINE void blend_group(const float *palette, const uint16_t *codes, const float *weights, size_t count, uint32_t k,
                           unsigned shift, char *rows) {
  for (; count; count--, codes += k + 1, weights += k) {
    float *row_0 = (float *)(rows + codes[0]);
    sk_f8 upper = f8_zero(), four = upper;
    sk_f4 lower = f4_zero();
    uint32_t i;
    for (i = 0; i < k; i++) {
      const float *matrix = (const float *)((const char *)palette + ((size_t)codes[1 + i] << shift));
      sk_f8 weight;
      if (i % 4 == 0) four = f8_repeat(weights + i);
      weight = spread(four, i);
      upper = i ? f8_fma(weight, f8_load(matrix), upper) : f8_mul(weight, f8_load(matrix));
      lower = i ? f4_fma(f8_low(weight), f4_load(matrix + 8), lower) : f4_mul(f8_low(weight), f4_load(matrix + 8));
    }
    f4_store(row_0, f8_low(upper));
    f4_store(row_0 + 32, f8_high(upper));
    f4_store(row_0 + 64, lower);
  }
}

/* Blends the matrices of all single vertices of a block; `counts` is by number of influences. */
SK_INLINE void blend_singles(const uint16_t *codes, const float *weights, const uint16_t *counts, const float *palette,
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
  sk_f8 x, y, z;
} vectors;

/* One row of eight matrices. */
typedef struct row {
  sk_f8 x, y, z, w;
} matrix_row;

/* Loads one row of eight matrices from scratch and transposes it; sk_influence_offset has the layout. */
SK_INLINE matrix_row load_row(const char *rows) {
  sk_f8 row[4];
  f8_load_cells((const float *)rows, row);
  return (matrix_row){row[0], row[1], row[2], row[3]};
}

/* A row times points. */
SK_INLINE sk_f8 move(matrix_row m, vectors p) { return f8_fma(m.z, p.z, f8_fma(m.y, p.y, f8_fma(m.x, p.x, m.w))); }

SK_INLINE sk_f8 dot_lanes(vectors a, vectors b) { return f8_fma(a.z, b.z, f8_fma(a.y, b.y, f8_mul(a.x, b.x))); }

/* The negative dot product. */
SK_INLINE sk_f8 minus_dot_lanes(vectors a, vectors b) { return f8_fnms(a.z, b.z, f8_fma(a.y, b.y, f8_mul(a.x, b.x))); }

SK_INLINE vectors cross_lanes(vectors a, vectors b) {
  return (vectors){f8_fms(a.y, b.z, f8_mul(a.z, b.y)), f8_fms(a.z, b.x, f8_mul(a.x, b.z)),
                   f8_fms(a.x, b.y, f8_mul(a.y, b.x))};
}

/* One bit for each lane whose squared length or determinant is not within 2^-90 to 2^92: outside, float may have lost
   digits or the sign. Floats compare like integers, with infinity and NaN above all others: with `bound` subtracted
   small ones become negative, and with it added large ones do. Integer operations leave the multipliers free. */
SK_INLINE int unsafe_lanes(sk_f8 squared, sk_f8 determinant) {
  sk_i8 bound = i8_of(f8_set(0x1p-90f)), length = i8_of(squared);
  sk_i8 size = i8_of(f8_abs(determinant));
  sk_i8 low = i8_or(i8_sub(length, bound), i8_sub(size, bound));
  sk_i8 high = i8_or(i8_add(length, bound), i8_add(size, bound));
  return f8_signs(f8_of_bits(i8_or(low, high)));
}

/* Normals multiplied with the cofactors of eight matrices, which is the inverse transpose up to a factor. `length` is
   their squared length, with the sign of the determinant, by which they have to be multiplied. */
typedef struct lane_normals {
  vectors normals;
  sk_f8 length;
} lane_normals;

/* What sk_normals_in_double takes and gives, lane by lane in memory. */
typedef struct sk_normal_lanes {
  float rows[3][4][8], directions[3][8];
  float normals[3][8], length[8]; /* out */
} sk_normal_lanes;

/* Computes the normals of the lanes in `mask` again, in double, as the plain path does (sk_rows_apply_normal). */
void SK_KERNEL(sk_normals_in_double)(sk_normal_lanes *lanes, int mask);

SK_INLINE void keep_row(float (*to)[8], matrix_row m) {
  f8_store(to[0], m.x);
  f8_store(to[1], m.y);
  f8_store(to[2], m.z);
  f8_store(to[3], m.w);
}

SK_INLINE void keep_vectors(float (*to)[8], vectors v) {
  f8_store(to[0], v.x);
  f8_store(to[1], v.y);
  f8_store(to[2], v.z);
}

SK_INLINE vectors kept_vectors(float (*from)[8]) {
  return (vectors){f8_load(from[0]), f8_load(from[1]), f8_load(from[2])};
}

SK_INLINE vectors directions_of(matrix_row m) { return (vectors){m.x, m.y, m.z}; }

/* The cofactors times n are n (m1 x m2), n (m2 x m0) and n (m0 x m1); the first two equal m1 (m2 x n) and -m0 (m2 x n),
   so that two cross products are enough. */
SK_INLINE lane_normals transform_normals(matrix_row m0, matrix_row m1, matrix_row m2, vectors n) {
  vectors a = directions_of(m0), b = directions_of(m1), c = directions_of(m2);
  vectors cn = cross_lanes(c, n), ab = cross_lanes(a, b);
  lane_normals t = {{dot_lanes(b, cn), minus_dot_lanes(a, cn), dot_lanes(n, ab)}, f8_zero()};
  sk_f8 determinant = dot_lanes(c, ab), squared = dot_lanes(t.normals, t.normals);
  int unsafe = unsafe_lanes(squared, determinant);
  t.length = f8_or(squared, f8_and(determinant, f8_set(-0.0f)));
  if (unsafe) {
    sk_normal_lanes again;
    keep_row(again.rows[0], m0);
    keep_row(again.rows[1], m1);
    keep_row(again.rows[2], m2);
    keep_vectors(again.directions, n);
    keep_vectors(again.normals, t.normals);
    f8_store(again.length, t.length);
    SK_KERNEL(sk_normals_in_double)(&again, unsafe);
    t = (lane_normals){kept_vectors(again.normals), f8_load(again.length)};
  }
  return t;
}

/* Normals of length 1. */
SK_INLINE vectors unit(lane_normals t) {
  sk_f8 sign = f8_set(-0.0f);
  sk_f8 factor = f8_xor(f8_inverse_root(f8_abs(t.length)), f8_and(t.length, sign));
  return (vectors){f8_mul(t.normals.x, factor), f8_mul(t.normals.y, factor), f8_mul(t.normals.z, factor)};
}

SK_KERNEL_END

#endif
#endif
