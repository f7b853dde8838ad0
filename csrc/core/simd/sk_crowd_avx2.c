/* sk_crowd_avx2.c: the SIMD twin of crowds: a group of instances in the lanes of sk_eight.h. */
#include "../pose/sk_crowd_groups.h"
#include "sk_crowd_twin.h"
#include "sk_eight.h"
#include "sk_palette_twin.h"

#if SK_HAS_AVX2
#include <string.h>

/* For which clips the scratch of a group, behind this, has been made ready. */
typedef struct kept {
  size_t source_count; /* 0: for none */
  const sk_clip *clips[SK_SOURCES];
  uint8_t shared[]; /* (J,): where clips are blended */
} kept;

static size_t kept_bytes(const sk_skeleton *skeleton) {
  return (sizeof(kept) + (size_t)skeleton->joint_count + 31) / 32 * 32;
}

void sk_crowd_twin_begin(void *scratch) { ((kept *)scratch)->source_count = 0; }

static void make_ready(sk_eight *eight, kept *kept, void *scratch) {
  size_t bytes = eight->source_count * sizeof *kept->clips;
  eight->shared = kept->shared;
  if (eight->source_count == kept->source_count && memcmp(eight->clips, kept->clips, bytes) == 0) return;
  kept->source_count = eight->source_count;
  memcpy(kept->clips, eight->clips, bytes);
  if (eight->source_count > 1) sk_eight_share(eight, kept->shared);
  sk_eight_begin(eight, scratch);
}

size_t sk_crowd_twin_scratch(const sk_crowd_job *job) {
  size_t most = sk_eight_most_scratch(job->clips, job->clip_count, job->slots), i;
  for (i = 0; i < job->clip_count; i++) {
    size_t one = job->clips[i].compiled ? sk_palette_twin_scratch(job->clips[i].compiled, 1) : 0;
    if (one > most) most = one;
  }
  return most ? kept_bytes(job->skeleton) + most : 0;
}

/* One clip each, and few of them: one by one, with the same bits. */
static void run_singles(const sk_palette_job *palette, const sk_eight *eight, size_t count, void *scratch) {
  sk_sampling sampling = *palette->sampling;
  sk_palette_job one = *palette;
  size_t lane;
  sampling.clip = eight->clips[0];
  one.sampling = &sampling;
  for (lane = 0; lane < count; lane++) {
    one.times = &eight->times[0][lane];
    one.root = palette->root ? palette->root + eight->number[lane] * palette->root_stride : NULL;
    one.out = eight->out[lane];
    sk_palette_twin_run(&one, 0, 1, scratch);
  }
}

void sk_crowd_twin_run(const sk_crowd_job *job, const sk_crowd_group *group, void *scratch) {
  sk_sampling sampling = {job->skeleton, NULL, job->loop, job->rotation, job->morph};
  sk_palette_job palette = {.skeleton = job->skeleton, .skin = job->skin, .count = 1, .sampling = &sampling,
                            .root = job->root, .root_stride = job->root_stride, .inverse_root = job->inverse_root,
                            .result = SK_PALETTE, .affine = job->affine};
  sk_eight eight; /* not cleared, as most groups leave most of it alone */
  size_t floats = sk_palette_floats(&palette), lane, k;
  double weights[SK_SOURCES][SK_LANES];
  void *own = (char *)scratch + kept_bytes(job->skeleton);
  eight.job = &palette;
  eight.source_count = group->source_count;
  eight.far = job->count * floats * sizeof(float) > SK_NEAR_BYTES;
  for (lane = 0; lane < SK_LANES; lane++) {
    size_t n = group->instances[lane < group->count ? lane : 0];
    for (k = 0; k < eight.source_count; k++) {
      size_t slot = group->slots[n] >> 2 * k & 3, at = n * job->slots + slot;
      weights[k][lane] = sk_crowd_weight(job, n, slot);
      eight.clips[k] = &job->clips[job->clip_index[at]];
      eight.times[k][lane] = job->times[at];
    }
    eight.number[lane] = n;
    eight.out[lane] = job->out + n * floats;
    eight.next[lane] = job->out + group->instances[lane < group->more ? group->count + lane : 0] * floats;
  }
  if (eight.source_count == 1 && group->count < SK_FEWEST_LANES) {
    ((kept *)scratch)->source_count = 0;
    run_singles(&palette, &eight, group->count, own);
    return;
  }
  if (eight.source_count > 1) sk_eight_weigh(&eight, weights);
  make_ready(&eight, scratch, own);
  sk_eight_run(&eight, own);
}

#endif
