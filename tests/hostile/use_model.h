/* use_model.h: everything the core does with a model, for the fuzzers: on both paths, compiled and not, with
   results on the heap, where the sanitizer sees one byte too many. */
#ifndef USE_MODEL_H
#define USE_MODEL_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../csrc/core/sk_compile.h"
#include "../../csrc/core/sk_cpu.h"
#include "../../csrc/core/sk_crowd.h"
#include "../../csrc/core/sk_deform.h"
#include "../../csrc/core/sk_model.h"
#include "../../csrc/core/sk_palette.h"

enum { MOST_JOINTS = 4096, MOST_VERTICES = 65536, MOST_CLIPS = 3, TIMES = 9 };

typedef struct use_options {
  double times[TIMES];
  double weights[TIMES];
  sk_loop loop;
  sk_rotation rotation;
  sk_result result;
  bool affine, inverse_root;
} use_options;

static inline void *use_floats(size_t count) {
  void *memory = malloc(count ? count * sizeof(float) : 1);
  if (!memory) abort();
  return memory;
}

static inline void use_palettes(const sk_model *model, const sk_clip *clip, const use_options *o) {
  size_t joints = (size_t)model->skeleton.joint_count;
  sk_sampling sampling = {&model->skeleton, clip, o->loop, o->rotation, &model->morph};
  sk_pose pose = {use_floats(joints * 3), use_floats(joints * 4), use_floats(joints * 3),
                  use_floats((size_t)model->morph.target_count)};
  sk_palette_job job = {.skeleton = &model->skeleton, .skin = &model->skin, .count = TIMES, .sampling = &sampling,
                        .times = o->times, .inverse_root = o->inverse_root, .result = o->result,
                        .affine = o->affine};
  sk_sample_run(&(sk_sample_job){sampling, o->times, 1, pose});
  job.out = use_floats(TIMES * sk_palette_floats(&job));
  job.scratch = sk_alloc(sk_palette_scratch(&job));
  if (job.scratch) sk_palette_run(&job);
  sk_free(job.scratch);
  free(job.out);
  job.sampling = NULL;
  job.poses = pose;
  job.count = 1;
  job.result = SK_PALETTE;
  job.out = use_floats(sk_palette_floats(&job));
  job.scratch = sk_alloc(sk_palette_scratch(&job));
  if (job.scratch) sk_palette_run(&job);
  if (model->mesh.vertex_count <= MOST_VERTICES) {
    sk_influences *influences = sk_influences_make(&model->mesh, (size_t)model->skin.slot_count);
    sk_deform_job deform = {.mesh = &model->mesh, .slot_count = (size_t)model->skin.slot_count, .count = 1,
                            .palettes = job.out, .matrix_floats = o->affine ? 12 : 16,
                            .positions = use_floats(model->mesh.vertex_count * 3),
                            .normals = use_floats(model->mesh.vertex_count * 3), .morph = &model->morph,
                            .weights = pose.weights, .influences = influences};
    deform.scratch = sk_alloc(sk_deform_scratch(&deform));
    if (deform.scratch) sk_deform_run(&deform);
    sk_free(deform.scratch);
    sk_free(influences);
    free(deform.positions);
    free(deform.normals);
  }
  sk_free(job.scratch);
  free(job.out);
  free(pose.translation), free(pose.rotation), free(pose.scale), free(pose.weights);
}

static inline void use_crowd(const sk_model *model, const sk_clip *clips, size_t count, const use_options *o) {
  static const int32_t index[TIMES][2] = {{0, 1}, {1, 0}, {0, 0}, {0, SK_NONE}, {SK_NONE, 1},
                                          {1, 1}, {0, 1}, {1, 0}, {0, 1}};
  double times[TIMES][2], weights[TIMES][2];
  sk_crowd_job job = {.skeleton = &model->skeleton, .skin = &model->skin, .morph = &model->morph, .clips = clips,
                      .clip_count = count, .count = TIMES, .slots = 2, .clip_index = index[0], .times = times[0],
                      .weights = weights[0], .loop = o->loop, .rotation = o->rotation,
                      .inverse_root = o->inverse_root, .affine = o->affine};
  sk_error error;
  size_t i;
  for (i = 0; i < TIMES; i++) {
    times[i][0] = o->times[i];
    times[i][1] = o->times[TIMES - 1 - i];
    weights[i][0] = o->weights[i];
    weights[i][1] = 1.0;
  }
  if (count < 2 || clips[0].additive || clips[1].additive || sk_crowd_validate(&job, &error)) return;
  job.out = use_floats(TIMES * (size_t)model->skin.slot_count * (o->affine ? 12 : 16));
  job.scratch = sk_alloc(sk_crowd_scratch(&job));
  if (job.scratch) sk_crowd_run(&job);
  sk_free(job.scratch);
  free(job.out);
}

static inline void use_model(const sk_model *model, const use_options *o) {
  sk_clip clips[MOST_CLIPS];
  sk_compiled *compiled[MOST_CLIPS] = {NULL};
  uint32_t count = model->clip_count < MOST_CLIPS ? model->clip_count : MOST_CLIPS, c;
  if (model->block.info->kind != SK_BLOCK_MODEL || model->skeleton.joint_count > MOST_JOINTS) return;
  use_palettes(model, NULL, o);
  for (c = 0; c < count; c++) {
    sk_clip_open(&model->block, c, &clips[c]);
    use_palettes(model, &clips[c], o);
    compiled[c] = sk_compile(&clips[c], &model->skeleton, &model->skin, NULL);
    clips[c].compiled = sk_simd_chosen() == SK_SIMD_PLAIN ? NULL : compiled[c];
    if (clips[c].compiled) use_palettes(model, &clips[c], o);
  }
  use_crowd(model, clips, count, o);
  for (c = 0; c < count; c++) sk_free(compiled[c]);
}

#endif
