/* sk_cpu.h: which twin of a job runs: the plain C, which defines what is right, or its SIMD twin.

   A twin is a file sk_..._avx2.c beside its plain one, between SK_AVX2_BEGIN and SK_AVX2_END: those alone let
   the compiler use AVX2 and FMA, so that the rest of the build runs on any x86-64 processor. sk_..._avx512.c has the
   same code compiled once more, with twice the registers: the same bits in 5 to 8 % less time. */
#ifndef SK_CPU_H
#define SK_CPU_H

#include "sk_base.h"

typedef enum sk_simd { SK_SIMD_PLAIN, SK_SIMD_AVX2, SK_SIMD_AVX512, SK_SIMD_COUNT } sk_simd;

/* The best that this build and this processor have, asked once; the environment variable SKINPY_SIMD, the name of
   one of them, may ask for less. sk_simd_use changes it for all threads, and not while jobs run. */
sk_simd sk_simd_chosen(void);

/* False, and nothing changes, where the processor or the build lacks it. */
bool sk_simd_use(sk_simd simd);

/* "plain", "avx2", "avx512". */
const char *sk_simd_name(sk_simd simd);

#ifndef SK_HAS_AVX2 /* a build may leave the twins out: -DSK_HAS_AVX2=0 */
#if defined(__x86_64__) && defined(__GNUC__)
#define SK_HAS_AVX2 1
#else
#define SK_HAS_AVX2 0
#endif
#endif

/* The twin of the path in use, of the two kinds that are compiled; on the plain path, which asks for none, AVX2's. */
#define SK_TWIN(name)            (sk_simd_chosen() == SK_SIMD_AVX512 ? name##_avx512 : name)
/* Beside the declaration of a twin that is asked for so. */
#define SK_HAS_AVX512_TWIN(name) extern __typeof__(name) name##_avx512

#define SK_PRAGMA(...)           _Pragma(#__VA_ARGS__)
#if defined(__clang__)
#define SK_TARGET_BEGIN(features) \
  SK_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define SK_AVX2_END SK_PRAGMA(clang attribute pop)
#define SK_NARROW
#else
#define SK_TARGET_BEGIN(features) SK_PRAGMA(GCC push_options) SK_PRAGMA(GCC target(features))
#define SK_AVX2_END               SK_PRAGMA(GCC pop_options)
#define SK_NARROW                 ",prefer-vector-width=256"
#endif

/* With AVX-512, too, vectors of 256 bits: of 512 the matrices of deep trees took no less time, in double. */
#ifdef SK_AVX512
#define SK_AVX2_BEGIN SK_TARGET_BEGIN("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw" SK_NARROW)
#else
#define SK_AVX2_BEGIN SK_TARGET_BEGIN("avx2,fma")
#endif

#endif
