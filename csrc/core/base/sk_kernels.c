/* sk_kernels.c: see sk_kernels.h. */
#include "sk_kernels.h"

#include "sk_cpu.h"

/* Defined by the two builds of simd/sk_kernel_table.c. */
extern const sk_kernels sk_kernels_avx2, sk_kernels_avx512;

static const sk_kernels *const tables[SK_SIMD_COUNT] = {
    [SK_SIMD_PLAIN] = NULL,
#if SK_HAS_AVX2
    [SK_SIMD_AVX2] = &sk_kernels_avx2,
#endif
#if SK_HAS_AVX512
    [SK_SIMD_AVX512] = &sk_kernels_avx512,
#endif
};

const sk_kernels *sk_kernels_chosen(void) { return tables[sk_simd_chosen()]; }
