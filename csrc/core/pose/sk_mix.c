/* sk_mix.c: see sk_mix.h. */
#include "sk_mix.h"

#include <math.h>
#include <string.h>

#include "sk_sample.h"

#define FULL 1e6 /* brings sums of weights above SK_BLEND_THRESHOLD, where a mean has nothing of the rest pose */

/* A mean of sources, and how much it weighs. */
typedef struct mean {
  sk_pose pose;
  double weight;
  const float *mask; /* or NULL */
  sk_signs signs;    /* with the means before */
} mean;

static double weight_at(const mean *mean, size_t j) { return mean->mask ? mean->weight * mean->mask[j] : mean->weight; }

/* Adds the weight of `other`; `mask` is memory for a mask that is needed. */
static void add_weight(mean *to, const mean *other, size_t joints, float *mask) {
  double sum = to->weight + other->weight;
  size_t j;
  if (to->mask || other->mask) {
    for (j = 0; j < joints; j++) mask[j] = sum > 0.0 ? (float)((weight_at(to, j) + weight_at(other, j)) / sum) : 0.0f;
    to->mask = mask;
  }
  to->weight = sum;
}

/* ---- one generation ------------------------------------------------------------------------------- */

static void copy_pose(const sk_blend_job *job, sk_pose to, sk_pose from) {
  size_t joints = (size_t)job->skeleton->joint_count;
  memcpy(to.translation, from.translation, joints * 3 * sizeof(float));
  memcpy(to.rotation, from.rotation, joints * 4 * sizeof(float));
  memcpy(to.scale, from.scale, joints * 3 * sizeof(float));
  if (to.weights) memcpy(to.weights, from.weights, (size_t)job->morph->target_count * sizeof(float));
}

/* Writes the mean of several sources into the pose of the first one. */
static void average(const sk_blend_job *layer, const sk_mix_scratch *scratch, size_t count, float *mask, mean *found) {
  sk_blend_job job = *layer;
  size_t i;
  for (i = 0; i < count; i++) {
    sk_blend_source *source = &scratch->sources[i];
    mean one = {source->poses, source->weights[0], source->mask, NULL};
    if (i > 0) add_weight(found, &one, (size_t)job.skeleton->joint_count, mask);
    scratch->weights[i] = FULL * source->weights[0];
    source->weights = &scratch->weights[i];
    source->weight_stride = 0;
  }
  job.sources = scratch->sources;
  job.source_count = count;
  job.mode = SK_BLEND_BASE;
  job.poses = scratch->pose;
  sk_blend_run(&job);
  copy_pose(&job, found->pose, scratch->pose);
}

/* Finds the mean of the next generation from source *next on; false where there is none. */
static bool next_generation(const sk_mix_layer *layer, const sk_mix_scratch *scratch, sk_priority priority,
                            size_t *next, float *mask, mean *found) {
  size_t count = 0;
  for (; *next < layer->blend.source_count; ++*next) {
    const sk_blend_source *source = &layer->blend.sources[*next];
    if (source->priority != priority) continue;
    if (count > 0 && layer->signs[*next]) break;
    if (count == 0) *found = (mean){source->poses, source->weights[0], source->mask, layer->signs[*next]};
    scratch->sources[count++] = *source;
  }
  if (count > 1) average(&layer->blend, scratch, count, mask, found);
  return count > 0;
}

/* ---- generations one after another ---------------------------------------------------------------- */

/* Blends `new` into `old`. */
static void mix_pair(const sk_blend_job *job, const mean *new, float *shares, float *mask, mean *old) {
  size_t joints = (size_t)job->skeleton->joint_count, j;
  double sum = old->weight + new->weight;
  sk_fade fade = {
      job->skeleton,          job->morph, old->pose, new->pose, sum > 0.0 ? new->weight / sum : 0.0, NULL, new->signs,
      new->signs + 4 * joints};
  if (old->mask || new->mask) {
    for (j = 0; j < joints; j++) {
      sum = weight_at(old, j) + weight_at(new, j);
      shares[j] = sum > 0.0 ? (float)(weight_at(new, j) / sum) : 0.0f;
    }
    fade.shares = shares;
  }
  sk_fade_mix(&fade, old->pose);
  add_weight(old, new, joints, mask);
}

/* Finds the result of all generations of one priority; false where there is none. `masks` has three rows. */
static bool fold(const sk_mix_layer *layer, const sk_mix_scratch *scratch, sk_priority priority, float *mask,
                 mean *result) {
  size_t joints = (size_t)layer->blend.skeleton->joint_count, next = 0;
  float *shares = scratch->masks + 2 * joints, *other = scratch->masks + 3 * joints;
  mean one;
  if (!next_generation(layer, scratch, priority, &next, mask, result)) return false;
  while (next_generation(layer, scratch, priority, &next, other, &one))
    mix_pair(&layer->blend, &one, shares, mask, result);
  return true;
}

/* Lays the layer over what is below it, as sk_blend.h says, but on the side of the frame before. */
static void cover(const sk_mix_layer *layer, const sk_mix_scratch *scratch, const mean *over) {
  const sk_blend_job *job = &layer->blend;
  size_t joints = (size_t)job->skeleton->joint_count, j;
  double full = job->mode == SK_BLEND_BASE ? SK_BLEND_THRESHOLD : 1.0;
  sk_sampling rest = {job->skeleton, NULL, SK_LOOP_WRAP, SK_SLERP, job->morph};
  sk_fade fade = {job->skeleton, job->morph,
                  job->poses,    over->pose,
                  0.0,           scratch->masks + 2 * joints,
                  layer->cover,  layer->cover + 4 * joints};
  for (j = 0; j < joints; j++) scratch->masks[2 * joints + j] = (float)fmin(1.0, weight_at(over, j) / full);
  if (job->mode == SK_BLEND_BASE) {
    sk_sample_one(&rest, 0.0, scratch->pose);
    fade.old = scratch->pose;
  }
  sk_fade_mix(&fade, job->poses);
}

static void run_generations(const sk_mix_layer *layer, const sk_mix_scratch *scratch) {
  size_t joints = (size_t)layer->blend.skeleton->joint_count, count = 0;
  mean means[SK_PRIORITY_COUNT];
  sk_blend_source sources[SK_PRIORITY_COUNT];
  sk_blend_job job = layer->blend;
  int priority;
  for (priority = 0; priority < SK_PRIORITY_COUNT; priority++) {
    mean *found = &means[count];
    if (!fold(layer, scratch, (sk_priority)priority, scratch->masks + (size_t)priority * joints, found)) continue;
    sources[count++] = (sk_blend_source){found->pose, &found->weight, 0, found->mask, (sk_priority)priority, false};
  }
  if (layer->cover && count == 1) {
    cover(layer, scratch, &means[0]);
    return;
  }
  job.sources = sources;
  job.source_count = count;
  sk_blend_run(&job);
}

void sk_mix_run(const sk_mix_layer *layer, const sk_mix_scratch *scratch) {
  const sk_blend_job *job = &layer->blend;
  bool folds = layer->cover != NULL;
  size_t i;
  for (i = 0; i < job->source_count; i++) folds = folds || layer->signs[i];
  if (folds && job->mode != SK_BLEND_ADD) run_generations(layer, scratch);
  else sk_blend_run(job);
  if (layer->inertia)
    sk_inertia_apply(layer->inertia, (size_t)job->skeleton->joint_count, (size_t)job->morph->target_count,
                     layer->seconds, layer->span, job->poses);
}
