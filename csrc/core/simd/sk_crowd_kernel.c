/* sk_crowd_kernel.c: poses the instances of a group side by side, as a batch (sk_batch.h). */
#include "sk_crowd_kernel.h"

#include "sk_batch.h"
#include "sk_palette_kernel.h"

#if SK_HAS_KERNELS
#include <string.h>

/* The start of the scratch: the clips for which the batch's scratch, which follows, is prepared. */
typedef struct kept {
  size_t source_count; /* 0: it is not prepared */
  const sk_clip *clips[SK_SOURCES];
  uint8_t common[]; /* (J,): sk_batch.common, where clips are blended */
} kept;

static size_t kept_bytes(const sk_skeleton *skeleton) {
  return (sizeof(kept) + (size_t)skeleton->joint_count + 31) / 32 * 32;
}

void SK_KERNEL(sk_crowd_kernel_begin)(void *scratch) { ((kept *)scratch)->source_count = 0; }

static void make_ready(sk_batch *batch, kept *kept, void *scratch) {
  size_t bytes = batch->source_count * sizeof *kept->clips;
  batch->common = kept->common;
  if (batch->source_count == kept->source_count && memcmp(batch->clips, kept->clips, bytes) == 0) return;
  kept->source_count = batch->source_count;
  memcpy(kept->clips, batch->clips, bytes);
  if (batch->source_count > 1) SK_KERNEL(sk_batch_find_common)(batch, kept->common);
  SK_KERNEL(sk_batch_begin)(batch, scratch);
}

size_t SK_KERNEL(sk_crowd_kernel_scratch)(const sk_crowd_job *job) {
  size_t most = SK_KERNEL(sk_batch_max_scratch)(job->clips, job->clip_count, job->slots), i;
  for (i = 0; i < job->clip_count; i++) {
    size_t one = job->clips[i].compiled ? SK_KERNEL(sk_palette_kernel_scratch)(job->clips[i].compiled, 1) : 0;
    if (one > most) most = one;
  }
  return most ? kept_bytes(job->skeleton) + most : 0;
}

/* Poses a few instances of one clip each one by one, which costs less and gives the same bits. */
static void run_singles(const sk_palette_job *palette, const sk_batch *batch, size_t count, void *scratch) {
  sk_sampling sampling = *palette->sampling;
  sk_palette_job one = *palette;
  size_t lane;
  sampling.clip = batch->clips[0];
  one.sampling = &sampling;
  for (lane = 0; lane < count; lane++) {
    one.times = &batch->times[0][lane];
    one.root = palette->root ? palette->root + batch->number[lane] * palette->root_stride : NULL;
    one.out = batch->out[lane];
    SK_KERNEL(sk_palette_kernel)(&one, 0, 1, scratch);
  }
}

/* Fills the lanes of a batch with the instances of a group, whose results are `floats` long. Lanes that are left over
   repeat the first instance. */
static void fill_lanes(const sk_crowd_job *job, const sk_crowd_group *group, size_t floats, sk_batch *batch,
                       double weights[SK_SOURCES][SK_LANES]) {
  size_t lane, k;
  for (lane = 0; lane < SK_LANES; lane++) {
    size_t n = group->instances[lane < group->count ? lane : 0];
    for (k = 0; k < group->source_count; k++) {
      size_t slot = group->slots[n] >> 2 * k & 3, at = n * job->slots + slot;
      weights[k][lane] = sk_crowd_weight(job, n, slot);
      batch->clips[k] = &job->clips[job->clip_index[at]];
      batch->times[k][lane] = job->times[at];
    }
    batch->number[lane] = n;
    batch->out[lane] = job->out + n * floats;
    batch->next[lane] = job->out + group->instances[lane < group->more ? group->count + lane : 0] * floats;
  }
}

void SK_KERNEL(sk_crowd_kernel)(const sk_crowd_job *job, const sk_crowd_group *group, void *scratch) {
  sk_sampling sampling = {job->skeleton, NULL, job->loop, job->rotation, job->morph};
  sk_palette_job palette = {.skeleton = job->skeleton,
                            .skin = job->skin,
                            .count = 1,
                            .sampling = &sampling,
                            .root = job->root,
                            .root_stride = job->root_stride,
                            .inverse_root = job->inverse_root,
                            .result = SK_PALETTE,
                            .affine = job->affine};
  sk_batch batch; /* not cleared, because most groups use little of it */
  size_t floats = sk_palette_floats(&palette);
  double weights[SK_SOURCES][SK_LANES];
  void *own = (char *)scratch + kept_bytes(job->skeleton);
  batch.job = &palette;
  batch.source_count = group->source_count;
  batch.far = job->count * floats * sizeof(float) > SK_NEAR_BYTES;
  fill_lanes(job, group, floats, &batch, weights);
  if (batch.source_count == 1 && group->count < SK_MIN_BATCH) {
    ((kept *)scratch)->source_count = 0;
    run_singles(&palette, &batch, group->count, own);
    return;
  }
  if (batch.source_count > 1) SK_KERNEL(sk_batch_set_weights)(&batch, weights);
  make_ready(&batch, scratch, own);
  SK_KERNEL(sk_batch_run)(&batch, own);
}

#endif
