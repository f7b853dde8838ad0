/* sk_eight_parts.h: what the files of sk_eight.h share: lines at eight times, and parts of joints made of them. */
#ifndef SK_EIGHT_PARTS_H
#define SK_EIGHT_PARTS_H

#include "sk_eight.h"

#if SK_HAS_AVX2

SK_AVX2_BEGIN

#define SK_HALF 4 /* lanes of a vector of double */

/* A line at eight times. */
typedef struct sk_line_lanes {
  const float *a[SK_LANES]; /* frames at or before; the next ones are `stride` floats on */
  size_t stride;            /* 0 where nothing is to be mixed */
  size_t third;             /* cubic lines: floats from in-tangents to values to out-tangents; else 0 */
  __m256 u[4];              /* one vector for each number of sk_place.u, or the weights of sk_hermite */
  sk_series from, to;       /* where the line has rotations */
} sk_line_lanes;

typedef struct sk_source_lanes {
  const sk_compiled *clip;
  sk_line_lanes *lines;
  sk_place *places; /* (8, lines), where a mover is odd */
  float *cubic;     /* (8, cubic_floats) */
} sk_source_lanes;

/* ---- sk_eight_keys_avx2.c: keys ---- */

/* Every line of a source's clip at eight times. */
void sk_eight_find(const sk_clip *clip, const sk_sampling *sampling, const double times[SK_LANES],
                   sk_source_lanes *source);

/* ---- sk_eight_avx2.c: T, R and S of a mover; `cell` is its constant where the part does not move ---- */

void sk_mover_part(const sk_mover *mover, sk_part part, const sk_line_lanes *lines, const float *cell, __m256 *out);
void sk_mover_mix(const sk_mover *mover, const sk_line_lanes *lines, const float *cell, sk_rotation rotation,
                  sk_mix *mix);

/* ---- sk_eight_blend_avx2.c: blends ---- */

/* The blended local of joint j; false where it is one and the same in all sources: sk_compiled.locals. */
bool sk_eight_blended(const sk_eight *eight, const sk_source_lanes *sources, size_t j, __m256d rows[2][SK_ROWS]);

SK_AVX2_END

#endif
#endif
