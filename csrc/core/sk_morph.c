/* sk_morph.c: see sk_morph.h. */
#include "sk_morph.h"

#include <string.h>

void sk_morph_open(const sk_block *block, sk_morph *morph) {
  morph->target_count = (int32_t)block->info->targets;
  morph->targets = block->sections[SK_SECTION_TARGETS].data;
  morph->vertices = block->sections[SK_SECTION_TARGET_VERTICES].data;
  morph->positions = block->sections[SK_SECTION_TARGET_POSITIONS].data;
  morph->normals = block->sections[SK_SECTION_TARGET_NORMALS].data;
}

void sk_morph_default_weights(const sk_morph *morph, float *weights) {
  int32_t m;
  for (m = 0; m < morph->target_count; m++) weights[m] = morph->targets[m].default_weight;
}

static void add(const uint32_t *vertices, const float *differences, uint64_t count, float weight, float *out) {
  uint64_t i;
  for (i = 0; i < count; i++) {
    float *vertex = out + 3 * (size_t)vertices[i];
    vertex[0] += weight * differences[3 * i];
    vertex[1] += weight * differences[3 * i + 1];
    vertex[2] += weight * differences[3 * i + 2];
  }
}

void sk_morph_run(const sk_morph_job *job) {
  const sk_morph *morph = job->morph;
  size_t bytes = job->mesh->vertex_count * 3 * sizeof(float);
  int32_t m;
  memcpy(job->positions, job->mesh->positions, bytes);
  if (job->normals) memcpy(job->normals, job->mesh->normals, bytes);
  for (m = 0; m < morph->target_count; m++) {
    const sk_target *target = &morph->targets[m];
    if (job->weights[m] == 0.0f) continue;
    add(morph->vertices + target->first, morph->positions + 3 * target->first, target->count,
        job->weights[m], job->positions);
    if (job->normals && morph->normals)
      add(morph->vertices + target->first, morph->normals + 3 * target->first, target->count,
          job->weights[m], job->normals);
  }
}
