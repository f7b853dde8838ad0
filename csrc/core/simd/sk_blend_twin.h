/* sk_blend_twin.h: the SIMD twin of blending T, R and S, as sk_blend.c sees it. */
#ifndef SK_BLEND_TWIN_H
#define SK_BLEND_TWIN_H

#include "../pose/sk_blend.h"
#include "../base/sk_cpu.h"

/* Whether the twin does pose n of the job: not where two priorities meet, nor with weights beyond 1e30. */
bool sk_blend_twin_fits(const sk_blend_job *job, size_t n);

/* T, R and S of pose n; weights of morph targets stay. */
void sk_blend_twin(const sk_blend_job *job, size_t n);
SK_HAS_AVX512_TWIN(sk_blend_twin);

#endif
