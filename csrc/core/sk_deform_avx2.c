/* sk_deform_avx2.c: the AVX2 twin of skinning.

   Three passes over a block. The first blends matrices, a vertex at a time: rows 0 and 1 in one register, row 2 in
   half of one, so that an influence costs two multiply-adds. The second takes eight vertices at once: transposes
   their matrices, moves points and turns normals. The third gives normals their length; in the same loop as the
   second, one long chain, it was 8 % slower. */
#include "sk_deform_block.h"

#if SK_HAS_AVX2

#include <immintrin.h>
#include <string.h>

#include "sk_lanes.h"
#include "sk_math.h"

#define INLINE static inline __attribute__((always_inline))

SK_AVX2_BEGIN

/* ---- the first pass: blended matrices ------------------------------------------------------- */

/* Weight `i` in all lanes; of the four that are loaded at once, as a load each would cost more. */
INLINE __m256 spread(__m256 four, uint32_t i) {
  switch (i % 4) {
    case 0: return _mm256_permute_ps(four, 0x00);
    case 1: return _mm256_permute_ps(four, 0x55);
    case 2: return _mm256_permute_ps(four, 0xaa);
    default: return _mm256_permute_ps(four, 0xff);
  }
}

/* `k` and `shift` are constants where this is inlined. */
INLINE void blend_group(const float *palette, const uint16_t *codes, const float *weights, size_t count,
                        uint32_t k, unsigned shift, char *rows) {
  for (; count; count--, codes += k + 1, weights += k) {
    float *place = (float *)(rows + codes[0]);
    __m256 upper = _mm256_setzero_ps(), four = upper;
    __m128 lower = _mm_setzero_ps();
    uint32_t i;
    for (i = 0; i < k; i++) {
      const float *matrix = (const float *)((const char *)palette + ((size_t)codes[1 + i] << shift));
      __m256 weight;
      if (i % 4 == 0) four = _mm256_broadcast_ps((const __m128 *)(weights + i));
      weight = spread(four, i);
      upper = i ? _mm256_fmadd_ps(weight, _mm256_loadu_ps(matrix), upper)
                : _mm256_mul_ps(weight, _mm256_loadu_ps(matrix));
      lower = i ? _mm_fmadd_ps(_mm256_castps256_ps128(weight), _mm_loadu_ps(matrix + 8), lower)
                : _mm_mul_ps(_mm256_castps256_ps128(weight), _mm_loadu_ps(matrix + 8));
    }
    _mm_store_ps(place, _mm256_castps256_ps128(upper));
    _mm_store_ps(place + 32, _mm256_extractf128_ps(upper, 1));
    _mm_store_ps(place + 64, lower);
  }
}

INLINE void blend_block(const sk_influences *influences, const sk_influence_block *block, const float *palette,
                        unsigned shift, char *rows) {
  const uint16_t *codes = influences->codes + block->code;
  const float *weights = influences->weights + block->weight;
#define GROUP(k)                                                                        \
  blend_group(palette, codes, weights, block->vertices[k], k, shift, rows);             \
  codes += block->vertices[k] * (k + 1);                                                \
  weights += block->vertices[k] * k;
  GROUP(1) GROUP(2) GROUP(3) GROUP(4) GROUP(5) GROUP(6) GROUP(7) GROUP(8)
#undef GROUP
}

/* ---- the other passes: eight vertices at once -------------------------------------------------- */

typedef struct vectors {
  __m256 x, y, z;
} vectors;

typedef struct row {
  __m256 x, y, z, w;
} row;

/* Row of eight matrices, as sk_influence_place says. */
INLINE row load_row(const char *rows) {
  __m256 a = _mm256_load_ps((const float *)rows), b = _mm256_load_ps((const float *)rows + 8);
  __m256 c = _mm256_load_ps((const float *)rows + 16), d = _mm256_load_ps((const float *)rows + 24);
  __m256d ab = _mm256_castps_pd(_mm256_unpacklo_ps(a, b)), cd = _mm256_castps_pd(_mm256_unpacklo_ps(c, d));
  __m256d ef = _mm256_castps_pd(_mm256_unpackhi_ps(a, b)), gh = _mm256_castps_pd(_mm256_unpackhi_ps(c, d));
  return (row){_mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd)), _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd)),
               _mm256_castpd_ps(_mm256_unpacklo_pd(ef, gh)), _mm256_castpd_ps(_mm256_unpackhi_pd(ef, gh))};
}

INLINE __m256 load_halves(const float *low, const float *high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

/* Eight triples x y z one after another. */
INLINE vectors load_vectors(const float *p) {
  __m256 a = load_halves(p, p + 12), b = load_halves(p + 4, p + 16), c = load_halves(p + 8, p + 20);
  __m256 xy = _mm256_shuffle_ps(b, c, _MM_SHUFFLE(2, 1, 3, 2)); /* x2 y2 x3 y3 */
  __m256 yz = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(1, 0, 2, 1)); /* y0 z0 y1 z1 */
  return (vectors){_mm256_shuffle_ps(a, xy, _MM_SHUFFLE(2, 0, 3, 0)),
                   _mm256_shuffle_ps(yz, xy, _MM_SHUFFLE(3, 1, 2, 0)),
                   _mm256_shuffle_ps(yz, c, _MM_SHUFFLE(3, 0, 3, 1))};
}

/* `stream` is a constant where this is inlined. */
INLINE void store_vectors(float *p, vectors v, bool stream) {
  __m256 a = _mm256_shuffle_ps(v.x, v.y, _MM_SHUFFLE(2, 0, 2, 0)); /* x0 x2 y0 y2 */
  __m256 b = _mm256_shuffle_ps(v.y, v.z, _MM_SHUFFLE(3, 1, 3, 1)); /* y1 y3 z1 z3 */
  __m256 c = _mm256_shuffle_ps(v.z, v.x, _MM_SHUFFLE(3, 1, 2, 0)); /* z0 z2 x1 x3 */
  __m256 d = _mm256_shuffle_ps(a, c, _MM_SHUFFLE(2, 0, 2, 0)); /* x0 y0 z0 x1 */
  __m256 e = _mm256_shuffle_ps(b, a, _MM_SHUFFLE(3, 1, 2, 0)); /* y1 z1 x2 y2 */
  __m256 f = _mm256_shuffle_ps(c, b, _MM_SHUFFLE(3, 1, 3, 1)); /* z2 x3 y3 z3 */
  if (stream) {
    _mm_stream_ps(p, _mm256_castps256_ps128(d));
    _mm_stream_ps(p + 4, _mm256_castps256_ps128(e));
    _mm_stream_ps(p + 8, _mm256_castps256_ps128(f));
    _mm_stream_ps(p + 12, _mm256_extractf128_ps(d, 1));
    _mm_stream_ps(p + 16, _mm256_extractf128_ps(e, 1));
    _mm_stream_ps(p + 20, _mm256_extractf128_ps(f, 1));
    return;
  }
  _mm256_storeu_ps(p, _mm256_insertf128_ps(d, _mm256_castps256_ps128(e), 1));
  _mm256_storeu_ps(p + 8, _mm256_blend_ps(f, d, 0xf0));
  _mm256_storeu_ps(p + 16, _mm256_permute2f128_ps(e, f, 0x31));
}

INLINE __m256 move(row m, vectors p) {
  return _mm256_fmadd_ps(m.z, p.z, _mm256_fmadd_ps(m.y, p.y, _mm256_fmadd_ps(m.x, p.x, m.w)));
}

INLINE __m256 dot(vectors a, vectors b) {
  return _mm256_fmadd_ps(a.z, b.z, _mm256_fmadd_ps(a.y, b.y, _mm256_mul_ps(a.x, b.x)));
}

INLINE vectors cross(row a, row b) {
  return (vectors){_mm256_fmsub_ps(a.y, b.z, _mm256_mul_ps(a.z, b.y)),
                   _mm256_fmsub_ps(a.z, b.x, _mm256_mul_ps(a.x, b.z)),
                   _mm256_fmsub_ps(a.x, b.y, _mm256_mul_ps(a.y, b.x))};
}

/* Outside of these bounds, of squared lengths and determinants, float may have lost digits or the sign. */
#define SAFE_LEAST 0x1p-90f
#define SAFE_MOST 0x1p90f

/* A bit for each lane that is not within the bounds. Where one is NaN, it is the result of max or min. */
INLINE int unsafe_lanes(__m256 squared, __m256 determinant) {
  __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), determinant);
  __m256 least = _mm256_min_ps(squared, size), most = _mm256_max_ps(size, squared);
  return 0xff ^ _mm256_movemask_ps(_mm256_and_ps(_mm256_cmp_ps(least, _mm256_set1_ps(SAFE_LEAST), _CMP_GE_OQ),
                                                 _mm256_cmp_ps(most, _mm256_set1_ps(SAFE_MOST), _CMP_LE_OQ)));
}

/* Normals times the cofactors: not yet unit, and of the wrong sign where the determinant is negative. */
typedef struct turned {
  vectors normals;
  __m256 determinant;
} turned;

INLINE turned turn(row m0, row m1, row m2, vectors n) {
  vectors c0 = cross(m1, m2);
  return (turned){{dot(c0, n), dot(cross(m2, m0), n), dot(cross(m0, m1), n)},
                  dot((vectors){m0.x, m0.y, m0.z}, c0)};
}

/* The lanes of `mask` over again, in double. Normals of zero, which files do have, stay zero without that. */
static __attribute__((noinline)) void turn_again(const char *group, int mask, const float *directions,
                                                 float *normals) {
  int i, r;
  for (i = 0; i < 8; i++) {
    const float *n = directions + 3 * i;
    sk_rows rows;
    if (!(mask >> i & 1)) continue;
    if (n[0] == 0.0f && n[1] == 0.0f && n[2] == 0.0f) {
      memset(normals + 3 * i, 0, 3 * sizeof(float));
      continue;
    }
    for (r = 0; r < 3; r++) memcpy(rows[r], group + sk_influence_place((size_t)i) + 128 * r, sizeof rows[r]);
    sk_rows_apply_normal(rows, n, normals + 3 * i);
  }
}

/* As sk_rows_apply_normal, in float where that does. */
INLINE void finish_normals(turned t, const char *group, const float *directions, float *normals, bool stream) {
  __m256 squared = dot(t.normals, t.normals);
  __m256 factor = _mm256_xor_ps(sk_inverse_root(squared), _mm256_and_ps(t.determinant, _mm256_set1_ps(-0.0f)));
  int unsafe = unsafe_lanes(squared, t.determinant);
  vectors unit = {_mm256_mul_ps(t.normals.x, factor), _mm256_mul_ps(t.normals.y, factor),
                  _mm256_mul_ps(t.normals.z, factor)};
  if (unsafe) { /* mended before it is written: to change what was streamed is very slow */
    float mended[24];
    store_vectors(mended, unit, false);
    turn_again(group, unsafe, directions, mended);
    unit = load_vectors(mended);
  }
  store_vectors(normals, unit, stream);
}

/* Writes eight points; turns eight normals where `out` is not NULL. */
INLINE void apply_group(const char *group, const float *points, const float *directions, float *positions,
                        turned *out, bool stream) {
  row m0 = load_row(group), m1 = load_row(group + 128), m2 = load_row(group + 256);
  vectors p = load_vectors(points);
  store_vectors(positions, (vectors){move(m0, p), move(m1, p), move(m2, p)}, stream);
  if (out) *out = turn(m0, m1, m2, load_vectors(directions));
}

INLINE void apply_whole(const char *rows, const sk_deform_block *block, size_t count, bool stream) {
  turned kept[SK_BLOCK_VERTICES / 8];
  size_t i;
  if (!block->normals) {
    for (i = 0; i < count; i += 8)
      apply_group(rows + 48 * i, block->points + 3 * i, NULL, block->positions + 3 * i, NULL, stream);
    return;
  }
  for (i = 0; i < count; i += 8)
    apply_group(rows + 48 * i, block->points + 3 * i, block->directions + 3 * i, block->positions + 3 * i,
                &kept[i / 8], stream);
  for (i = 0; i < count; i += 8)
    finish_normals(kept[i / 8], rows + 48 * i, block->directions + 3 * i, block->normals + 3 * i, stream);
}

/* The last `count` vertices, fewer than eight, through memory that has room for eight. */
static void apply_rest(const char *group, const sk_deform_block *block, size_t count) {
  float points[24] = {0}, directions[24] = {0}, out[24];
  size_t place = 3 * (block->count - count), bytes = count * 3 * sizeof(float);
  turned t;
  memcpy(points, block->points + place, bytes);
  if (block->normals) memcpy(directions, block->directions + place, bytes);
  apply_group(group, points, directions, out, &t, false);
  memcpy(block->positions + place, out, bytes);
  if (!block->normals) return;
  finish_normals(t, group, directions, out, false);
  memcpy(block->normals + place, out, bytes);
}

void sk_deform_block_avx2(const sk_deform_block *block) {
  const sk_influences *influences = block->influences;
  size_t whole = block->count / 8 * 8;
  _Alignas(32) char rows[SK_BLOCK_VERTICES * 48];
  if (block->count > whole) memset(rows + sk_influence_place(whole), 0, 384);
  if (influences->shift == 3) blend_block(influences, influences->blocks + block->number, block->palette, 3, rows);
  else blend_block(influences, influences->blocks + block->number, block->palette, 6, rows);
  if (block->stream) {
    apply_whole(rows, block, whole, true);
    _mm_sfence();
  } else {
    apply_whole(rows, block, whole, false);
  }
  if (whole < block->count) apply_rest(rows + 48 * whole, block, block->count - whole);
}

SK_AVX2_END

#endif
