/* sk_palette_twin.h: the SIMD twins of sk_palette_run, for sampled and for given poses, as sk_palette.c sees them. */
#ifndef SK_PALETTE_TWIN_H
#define SK_PALETTE_TWIN_H

#include "../pose/sk_compile.h"
#include "../base/sk_cpu.h"
#include "../pose/sk_palette.h"

#define SK_FEWEST_LANES 3 /* poses from which on eight at once cost less than one by one */

/* Bytes of scratch, aligned to 32, for runs of up to `count` poses. */
size_t sk_palette_twin_scratch(const sk_compiled *compiled, size_t count);

/* Poses first to first + count - 1 of a job whose clip is compiled. */
void sk_palette_twin_run(const sk_palette_job *job, size_t first, size_t count, void *scratch);
SK_HAS_AVX512_TWIN(sk_palette_twin_run);

/* The same for poses that are given, or the rest pose where the job samples no clip. */
size_t sk_given_twin_scratch(int32_t joint_count);
void sk_given_twin_run(const sk_palette_job *job, size_t first, size_t count, void *scratch);
SK_HAS_AVX512_TWIN(sk_given_twin_run);

#endif
