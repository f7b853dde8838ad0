/* sk_x86.h: which instruction sets an x86-64 processor has, as the instruction CPUID tells.

   The compilers' own question, __builtin_cpu_supports, is answered by the library that comes with the compiler. The one
   of zig, which builds the wheels, answers no to everything. */
#ifndef SK_X86_H
#define SK_X86_H

#include "sk_cpu.h"

#if SK_HAS_AVX2
/* AVX2 and FMA; and the system keeps the registers of 256 bits when it switches threads. */
bool sk_x86_has_avx2(void);

/* What the kernels for AVX-512 use; and the system keeps those registers too. */
bool sk_x86_has_avx512(void);
#endif

#endif
