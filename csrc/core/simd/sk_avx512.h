/* sk_avx512.h: other names for all that sk_..._avx2.c define, so that sk_..._avx512.c can compile them once more. */
#ifndef SK_AVX512_H
#define SK_AVX512_H

#define SK_AVX512 /* sk_cpu.h looks for it */

#define sk_blend_twin sk_blend_twin_avx512
#define sk_blend_twin_fits sk_blend_twin_fits_avx512
#define sk_crowd_twin_begin sk_crowd_twin_begin_avx512
#define sk_crowd_twin_run sk_crowd_twin_run_avx512
#define sk_crowd_twin_scratch sk_crowd_twin_scratch_avx512
#define sk_cubic_cells sk_cubic_cells_avx512
#define sk_deform_twin_end sk_deform_twin_end_avx512
#define sk_deform_twin_order sk_deform_twin_order_avx512
#define sk_deform_twin_scratch sk_deform_twin_scratch_avx512
#define sk_deform_twin_share sk_deform_twin_share_avx512
#define sk_eight_begin sk_eight_begin_avx512
#define sk_eight_blend_pass sk_eight_blend_pass_avx512
#define sk_eight_blended sk_eight_blended_avx512
#define sk_eight_find sk_eight_find_avx512
#define sk_eight_most_scratch sk_eight_most_scratch_avx512
#define sk_eight_run sk_eight_run_avx512
#define sk_eight_scratch sk_eight_scratch_avx512
#define sk_eight_share sk_eight_share_avx512
#define sk_eight_weigh sk_eight_weigh_avx512
#define sk_find_places sk_find_places_avx512
#define sk_given_twin_run sk_given_twin_run_avx512
#define sk_given_twin_scratch sk_given_twin_scratch_avx512
#define sk_mover_rests sk_mover_rests_avx512
#define sk_octet_parts sk_octet_parts_avx512
#define sk_palette_twin_run sk_palette_twin_run_avx512
#define sk_palette_twin_scratch sk_palette_twin_scratch_avx512
#define sk_sample_twin sk_sample_twin_avx512
#define sk_sample_twin_fits sk_sample_twin_fits_avx512
#define sk_turn_again sk_turn_again_avx512
#define sk_turn_mixes sk_turn_mixes_avx512
#define sk_turn_plan sk_turn_plan_avx512
#define sk_turn_sums sk_turn_sums_avx512

#endif
