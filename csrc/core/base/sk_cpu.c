/* sk_cpu.c: see sk_cpu.h. */
#include "sk_cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "sk_x86.h"

static const char *const names[SK_SIMD_COUNT] = {
    [SK_SIMD_PLAIN] = "plain", [SK_SIMD_NEON] = "neon", [SK_SIMD_AVX2] = "avx2", [SK_SIMD_AVX512] = "avx512"};

const char *sk_simd_name(sk_simd simd) { return names[simd]; }

/* Whether the build and the processor have a set. */
static bool is_there(sk_simd simd) {
  switch (simd) {
  case SK_SIMD_PLAIN: return true;
  case SK_SIMD_NEON: return SK_HAS_NEON; /* part of every 64-bit ARM processor */
#if SK_HAS_AVX2
  case SK_SIMD_AVX2: return sk_x86_has_avx2();
#endif
#if SK_HAS_AVX512
  case SK_SIMD_AVX512: return sk_x86_has_avx512();
#endif
  default: return false;
  }
}

static sk_simd wanted(void) {
  const char *wish = getenv("SKINPY_SIMD");
  int simd, best = SK_SIMD_PLAIN;
  for (simd = 0; simd < SK_SIMD_COUNT; simd++) {
    if (!is_there((sk_simd)simd)) continue;
    if (wish && strcmp(wish, names[simd]) == 0) return (sk_simd)simd;
    best = simd;
  }
  return (sk_simd)best;
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
  if (!is_there(simd)) return false;
  atomic_store_explicit(&chosen, (int)simd, memory_order_relaxed);
  return true;
}
