/* sk_cpu.c: see sk_cpu.h. */
#include "sk_cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "sk_x86.h"

static const char *const names[SK_SIMD_COUNT] = {
    [SK_SIMD_PLAIN] = "plain", [SK_SIMD_AVX2] = "avx2", [SK_SIMD_AVX512] = "avx512"};

const char *sk_simd_name(sk_simd simd) { return names[simd]; }

static sk_simd best(void) {
#if SK_HAS_AVX2
  if (!sk_x86_has_avx2()) return SK_SIMD_PLAIN;
#if SK_HAS_AVX512
  if (sk_x86_has_avx512()) return SK_SIMD_AVX512;
#endif
  return SK_SIMD_AVX2;
#else
  return SK_SIMD_PLAIN;
#endif
}

static sk_simd wanted(void) {
  const char *wish = getenv("SKINPY_SIMD");
  int simd;
  for (simd = 0; wish && simd < (int)best(); simd++)
    if (strcmp(wish, names[simd]) == 0) return (sk_simd)simd;
  return best();
}

static atomic_int chosen = -1; /* -1: not asked yet */

sk_simd sk_simd_chosen(void) {
  int simd = atomic_load_explicit(&chosen, memory_order_relaxed);
  if (simd < 0) {
    simd = (int)wanted();
    atomic_store_explicit(&chosen, simd, memory_order_relaxed);
  }
  return (sk_simd)simd;
}

bool sk_simd_use(sk_simd simd) {
  if (simd > best()) return false;
  atomic_store_explicit(&chosen, (int)simd, memory_order_relaxed);
  return true;
}
