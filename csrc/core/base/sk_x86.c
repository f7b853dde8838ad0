/* sk_x86.c: see sk_x86.h. The bits are those of the Intel 64 and IA-32 Architectures Software Developer's Manual:
   volume 2A, "CPUID", and volume 1, section 13.3, for XCR0. */
#include "sk_x86.h"

#if SK_HAS_AVX2
#include <cpuid.h>

#define BIT(n)  (1u << (n))

/* leaf 1, ECX */
#define FMA     BIT(12)
#define OSXSAVE BIT(27)
/* leaf 7, EBX */
#define AVX2    BIT(5)
#define AVX512  (BIT(16) | BIT(17) | BIT(30) | BIT(31)) /* F, DQ, BW and VL */
/* leaf 7, ECX */
#define VBMI2   BIT(6) /* not used: it tells the processors that need not lower their clock for AVX-512 */
/* XCR0 */
#define YMM     (BIT(1) | BIT(2))
#define ZMM     (YMM | BIT(5) | BIT(6) | BIT(7))

typedef struct features {
  uint32_t leaf1_ecx, leaf7_ebx, leaf7_ecx, xcr0;
} features;

static features ask(void) {
  features found = {0};
  uint32_t a, b, c, d;
  if (__get_cpuid_count(1, 0, &a, &b, &c, &d)) found.leaf1_ecx = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) found.leaf7_ebx = b, found.leaf7_ecx = c;
  /* Without OSXSAVE, XGETBV is no instruction. */
  if (found.leaf1_ecx & OSXSAVE) __asm__ volatile("xgetbv" : "=a"(found.xcr0), "=d"(d) : "c"(0));
  return found;
}

static bool all_of(uint32_t bits, uint32_t wanted) { return (bits & wanted) == wanted; }

bool sk_x86_has_avx2(void) {
  features found = ask();
  return all_of(found.leaf1_ecx, FMA) && all_of(found.leaf7_ebx, AVX2) && all_of(found.xcr0, YMM);
}

bool sk_x86_has_avx512(void) {
  features found = ask();
  return sk_x86_has_avx2() && all_of(found.leaf7_ebx, AVX512) && all_of(found.leaf7_ecx, VBMI2) &&
         all_of(found.xcr0, ZMM);
}
#endif
