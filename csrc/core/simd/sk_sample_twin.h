/* sk_sample_twin.h: the SIMD twin of sampling T, R and S, as sk_sample.c sees it. */
#ifndef SK_SAMPLE_TWIN_H
#define SK_SAMPLE_TWIN_H

#include "../pose/sk_sample.h"
#include "../base/sk_cpu.h"

#define SK_TWIN_LINES 256  /* lines that its stack holds, */
#define SK_TWIN_CUBIC 4096 /* and floats of cubic cells */

bool sk_sample_twin_fits(const sk_compiled *compiled);

/* T, R and S at a time within the clip; weights stay. */
void sk_sample_twin(const sk_sampling *sampling, double time, sk_pose pose);
SK_HAS_AVX512_TWIN(sk_sample_twin);

#endif
