/* sk_kernel.h: how the sources of this room are compiled; every one of them includes this header first.

   A kernel does what a function of the plain path does, for several numbers at once. Its source is written once, for
   vectors of eight floats (sk_vector.h), and the build compiles it twice. On 64-bit ARM, which has one instruction set,
   the second time gives empty objects:

       as it is                    x86-64   names end in _avx2    AVX2 and FMA
                                   ARM      names end in _neon    NEON, which every 64-bit ARM processor has
       with -DSK_KERNELS_AVX512    x86-64   names end in _avx512  AVX2 and FMA, and AVX-512 for its 32 registers

   The sets of x86-64 give the same bits; the second takes 5 to 8 % less time. Names that other files see are written
   SK_KERNEL(name), so that both sets link into one program. Static names need no suffix. sk_kernel_table.c puts the
   functions that the plain path calls into one table for each set (../base/sk_kernels.h). */
#ifndef SK_KERNEL_H
#define SK_KERNEL_H

#include "../base/sk_cpu.h"

/* SK_HAS_KERNELS says whether this compilation gives kernels. */
#if defined(__aarch64__)
#ifdef SK_KERNELS_AVX512
#define SK_HAS_KERNELS 0
#else
#define SK_HAS_KERNELS SK_HAS_NEON
#endif
#define SK_KERNEL(name) name##_neon
#elif defined(SK_KERNELS_AVX512)
#define SK_HAS_KERNELS     SK_HAS_AVX512
#define SK_KERNEL(name)    name##_avx512
#define SK_KERNEL_FEATURES "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw"
#else
#define SK_HAS_KERNELS     SK_HAS_AVX2
#define SK_KERNEL(name)    name##_avx2
#define SK_KERNEL_FEATURES "avx2,fma"
#endif

/* For short functions, and for those whose arguments are constants where they are called. */
#define SK_INLINE      static inline __attribute__((always_inline))

/* Between SK_KERNEL_BEGIN and SK_KERNEL_END the compiler may use the instructions of the set. Everything else in the
   build, the inline functions of other headers included, keeps to what every processor of its kind has. */
#define SK_PRAGMA(...) _Pragma(#__VA_ARGS__)
#if !defined(SK_KERNEL_FEATURES)
#define SK_KERNEL_BEGIN
#define SK_KERNEL_END
#elif defined(__clang__)
#define SK_TARGET_BEGIN(features) \
  SK_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define SK_KERNEL_BEGIN SK_TARGET_BEGIN(SK_KERNEL_FEATURES)
#define SK_KERNEL_END   SK_PRAGMA(clang attribute pop)
#else
#define SK_TARGET_BEGIN(features) SK_PRAGMA(GCC push_options) SK_PRAGMA(GCC target(features))
#define SK_KERNEL_END             SK_PRAGMA(GCC pop_options)
/* Vectors stay at 256 bits with AVX-512 too: with 512 bits the matrices of deep trees, which are multiplied in double,
   took no less time. */
#ifdef SK_KERNELS_AVX512
#define SK_KERNEL_BEGIN SK_TARGET_BEGIN(SK_KERNEL_FEATURES ",prefer-vector-width=256")
#else
#define SK_KERNEL_BEGIN SK_TARGET_BEGIN(SK_KERNEL_FEATURES)
#endif
#endif

#endif
