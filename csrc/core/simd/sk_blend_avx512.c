/* sk_blend_avx512.c: see sk_cpu.h. */
#include "sk_avx512.h"

#include "sk_blend_avx2.c"
