/* sk_vector.h: the vectors that the kernels compute with, and their operations.

       sk_f8   eight floats             AVX2: one register    NEON: two registers of four floats
       sk_f4   four floats                    one                   one
       sk_d4   four doubles                   one                   two registers of two doubles
       sk_i8   eight 32-bit integers          one                   two registers of four integers

   Kernels use nothing but these names, so that one source serves every instruction set. sk_vector_avx2.h and
   sk_vector_neon.h define the types and the operations, and this header includes the one for the processor that the
   build is for. An operation is named after its type: f8_add adds sk_f8. Where a comment says "of each four", lanes 0
   to 3 and lanes 4 to 7 are handled alike, each by themselves.

   arithmetic, for f8 and d4, much of it for f4
     x_set(number)             that number in all lanes
     x_zero()
     x_load(p), x_store(p, a)  from and to memory of any alignment
     f8_load_one(p)            the number at p in all lanes
     x_add, x_sub, x_mul, x_div, x_sqrt, x_abs
     x_min(a, b), x_max(a, b)  b where a is NaN; b itself is no NaN
     x_fma(a, b, c)            a * b + c, rounded once, as are the next three
     x_fms(a, b, c)            a * b - c
     x_fnma(a, b, c)           c - a * b
     x_fnms(a, b, c)           -(a * b) - c
     d4_floor, d4_nearest      rounded down; to the nearest whole number, of two the even one
     f8_inverse_root(a)        1 / sqrt(a), within 3e-7 of the value, for normal numbers
     f4_dot(a, b)              the dot product, as a float

   masks: lanes whose bits are all set or all clear; comparisons with NaN clear them
     x_less, x_at_most, x_greater, x_at_least, x_equal
     f8_all_set()              a mask of all lanes
     x_and, x_or, x_xor        bit by bit, also for the sign bits of numbers
     x_clear(mask, a)          a, with zero in the lanes of the mask
     x_blend(a, b, mask)       b in the lanes of the mask, and a elsewhere
     f8_signs(a)               one bit for each lane: its sign bit, so that of a mask all lanes that are set
     d4_count(mask)            how many lanes are set

   lanes
     f8_join(low, high)        two f4 as one f8; f8_low(a) and f8_high(a) take it apart
     f8_repeat(p)              four floats of memory, twice
     f8_load_some(p, count)    the first `count` of eight floats, and zeros
     f4_make(a, b, c, d)
     f4_store_three(p, a)      lanes 0 to 2
     F8_PICK(a, i, j, k, l)    lanes i, j, k and l of each four; F4_PICK of f4; the numbers are constants
     x_only_last(a)            zero but for lane 3 of each four
     f8_transpose(a, b, c, d, out), d4_transpose   of each four: lane n of out[m] is lane m of the nth vector
     f8_load_triples(p, out), f8_store_triples(p, triples, past)  eight x y z in a row: all x, all y and all z;
                               past the caches where `past` is true
     f8_load_quads, f8_store_quads          the same of eight x y z w
     f8_load_cells, f8_store_cells          the same of eight cells of four floats, in the order of lanes 0 4 1 5 2 6
                               3 7; three numbers are stored, and the fourth has no meaning
     f4_store_packed(p, a, b, c, d, past)   lanes 0 to 2 of four vectors, in a row
     d4_load_beside(p, at, here, next)      p[at[n]] and p[at[n] + 1]
     sk_all_equal(p)           whether eight integers of memory are the same
     sk_stores_end()           after stores past the caches, before another thread reads them

   conversions
     d4_of(f4), f4_of(d4)      rounded to the nearest
     d4_truncate(a, out)       four 32-bit integers
     i8_of(f8)                 the bits; f8_of_bits(i8) is the opposite; i8_add, i8_sub, i8_or */
#ifndef SK_VECTOR_H
#define SK_VECTOR_H

#include "sk_kernel.h"

#if SK_HAS_KERNELS
#if defined(__aarch64__)
#include "sk_vector_neon.h"
#else
#include "sk_vector_avx2.h"
#endif
#endif

#endif
