/* sk_kernels.c: see sk_kernels.h. */
#include "sk_kernels.h"

#include "sk_cpu.h"

/* Defined by simd/sk_kernel_table.c, once for each set. */
extern const sk_kernels sk_kernels_neon, sk_kernels_avx2, sk_kernels_avx512;

static const sk_kernels *const tables[SK_SIMD_COUNT] = {
    [SK_SIMD_PLAIN] = NULL,
#if SK_HAS_NEON
    [SK_SIMD_NEON] = &sk_kernels_neon,
#endif
#if SK_HAS_AVX2
    [SK_SIMD_AVX2] = &sk_kernels_avx2,
#endif
#if SK_HAS_AVX512
    [SK_SIMD_AVX512] = &sk_kernels_avx512,
#endif
};

const sk_kernels *sk_kernels_chosen(void) { return tables[sk_simd_chosen()]; }
