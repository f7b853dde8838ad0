/* sk_cpu.h: which twin of a job runs: the plain C, which defines what is right, or its SIMD twin.

   A twin is a file sk_..._avx2.c beside its plain one, between SK_AVX2_BEGIN and SK_AVX2_END: those alone let
   the compiler use AVX2 and FMA, so that the rest of the build runs on any x86-64 processor. sk_..._avx512.c has the
   same code compiled once more, with twice the registers: the same bits in some tenth less time. */
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
#define SK_TWIN(name) (sk_simd_chosen() == SK_SIMD_AVX512 ? name##_avx512 : name)
/* Beside the declaration of a twin that is asked for so. */
#define SK_HAS_AVX512_TWIN(name) extern __typeof__(name) name##_avx512

/* Vectors of 256 bits all the same: of wider ones a core does fewer at a time. */
#if defined(SK_AVX512) && defined(__clang__)
#define SK_AVX2_BEGIN \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,fma,avx512f,avx512vl,avx512dq,avx512bw\"))), apply_to = function)")
#elif defined(SK_AVX512)
#define SK_AVX2_BEGIN    \
  _Pragma("GCC push_options") \
      _Pragma("GCC target(\"avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=256\")")
#elif defined(__clang__)
#define SK_AVX2_BEGIN \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,fma\"))), apply_to = function)")
#else
#define SK_AVX2_BEGIN _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,fma\")")
#endif
#if defined(__clang__)
#define SK_AVX2_END _Pragma("clang attribute pop")
#else
#define SK_AVX2_END _Pragma("GCC pop_options")
#endif

#endif
