/* sk_cpu.c: see sk_cpu.h. */
#include "sk_cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[SK_SIMD_COUNT] = {[SK_SIMD_PLAIN] = "plain", [SK_SIMD_AVX2] = "avx2"};

const char *sk_simd_name(sk_simd simd) { return names[simd]; }

static sk_simd best(void) {
#if SK_HAS_AVX2
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return SK_SIMD_AVX2;
#endif
  return SK_SIMD_PLAIN;
}

static atomic_int chosen = -1; /* -1: not asked yet */

sk_simd sk_simd_chosen(void) {
  int simd = atomic_load_explicit(&chosen, memory_order_relaxed);
  if (simd < 0) {
    const char *wish = getenv("SKINPY_SIMD");
    simd = wish && strcmp(wish, names[SK_SIMD_PLAIN]) == 0 ? SK_SIMD_PLAIN : (int)best();
    atomic_store_explicit(&chosen, simd, memory_order_relaxed);
  }
  return (sk_simd)simd;
}

bool sk_simd_use(sk_simd simd) {
  if (simd > best()) return false;
  atomic_store_explicit(&chosen, (int)simd, memory_order_relaxed);
  return true;
}
