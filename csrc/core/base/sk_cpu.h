/* sk_cpu.h: which instruction set the jobs use.

   Every job has a plain path in C, which defines what is right, and most have SIMD kernels beside it (sk_kernels.h).
   The best set that the build and the processor both have is chosen at first use. */
#ifndef SK_CPU_H
#define SK_CPU_H

#include "sk_base.h"

/* What this build contains. Kernels need x86-64 or little-endian 64-bit ARM, and a compiler with GCC's extensions. A
   build may leave all of them out with -DSK_HAS_AVX2=0 and -DSK_HAS_NEON=0; one that compiles the sources of simd/ only
   once leaves the second set of x86-64 out with -DSK_HAS_AVX512=0 (simd/sk_kernel.h). */
#ifndef SK_HAS_NEON
#if defined(__aarch64__) && defined(__AARCH64EL__) && defined(__GNUC__)
#define SK_HAS_NEON 1
#else
#define SK_HAS_NEON 0
#endif
#endif
#ifndef SK_HAS_AVX2
#if defined(__x86_64__) && defined(__GNUC__)
#define SK_HAS_AVX2 1
#else
#define SK_HAS_AVX2 0
#endif
#endif
#ifndef SK_HAS_AVX512
#define SK_HAS_AVX512 SK_HAS_AVX2
#endif

/* From the least to the best. A processor has those of its own kind alone; all have the first. */
typedef enum sk_simd { SK_SIMD_PLAIN, SK_SIMD_NEON, SK_SIMD_AVX2, SK_SIMD_AVX512, SK_SIMD_COUNT } sk_simd;

/* The set in use. At first it is the best that this build and this processor have; the environment variable
   SKINPY_SIMD, which holds the name of a set, may ask for less; a set that is not there is not chosen. */
sk_simd sk_simd_chosen(void);

/* Changes the set in use for all threads; not to be called while jobs run. Returns false, and changes nothing, where
   the processor or the build lacks the set. */
bool sk_simd_use(sk_simd simd);

/* "plain", "neon", "avx2" or "avx512". */
const char *sk_simd_name(sk_simd simd);

#endif
