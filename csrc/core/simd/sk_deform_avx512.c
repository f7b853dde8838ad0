/* sk_deform_avx512.c: see sk_cpu.h. */
#include "sk_avx512.h"

#include "sk_deform_avx2.c"
