/* sk_eight_avx512.c: see sk_cpu.h. */
#include "sk_avx512.h"

#include "sk_eight_avx2.c"
