/* sk_lanes_avx512.c: see sk_cpu.h. */
#include "sk_avx512.h"

#include "sk_lanes_avx2.c"
