/* sk_crowd_avx2.c: the SIMD twin of crowds: a group of instances in the lanes of sk_eight.h. */
#include "sk_crowd_groups.h"
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

void sk_crowd_twin_run(const sk_crowd_job *job, const size_t *instances, size_t count, size_t more,
                       void *scratch) {
  sk_sampling sampling = {job->skeleton, NULL, job->loop, job->rotation, job->morph};
  sk_palette_job palette = {.skeleton = job->skeleton, .skin = job->skin, .count = 1, .sampling = &sampling,
                            .root = job->root, .root_stride = job->root_stride, .inverse_root = job->inverse_root,
                            .result = SK_PALETTE, .affine = job->affine};
  sk_eight eight; /* not cleared, as most groups leave most of it alone */
  size_t floats = sk_palette_floats(&palette), lane, slot;
  double weights[SK_SOURCES][SK_LANES];
  void *group;
  eight.job = &palette;
  for (lane = 0; lane < SK_LANES; lane++) {
    size_t n = instances[lane < count ? lane : 0], used = 0;
    for (slot = 0; slot < job->slots; slot++) {
      double weight = sk_crowd_weight(job, n, slot);
      if (!(weight > 0.0)) continue;
      weights[used][lane] = weight;
      eight.clips[used] = &job->clips[job->clip_index[n * job->slots + slot]];
      eight.times[used++][lane] = job->times[n * job->slots + slot];
    }
    eight.source_count = used;
    eight.number[lane] = n;
    eight.out[lane] = job->out + n * floats;
    eight.next[lane] = job->out + instances[lane < more ? count + lane : 0] * floats;
  }
  group = (char *)scratch + kept_bytes(job->skeleton);
  if (eight.source_count == 1 && count < SK_FEWEST_LANES) {
    ((kept *)scratch)->source_count = 0;
    run_singles(&palette, &eight, count, group);
    return;
  }
  if (eight.source_count > 1) sk_eight_weigh(&eight, weights);
  make_ready(&eight, scratch, group);
  sk_eight_run(&eight, group);
}

#endif
