/* use_model.h: everything the core does with a model, for the fuzzers: on both paths, compiled and not, with
   results on the heap, where the sanitizer sees one byte too many. */
#ifndef USE_MODEL_H
#define USE_MODEL_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../csrc/core/pose/sk_blend.h"
#include "../../csrc/core/pose/sk_compile.h"
#include "../../csrc/core/base/sk_cpu.h"
#include "../../csrc/core/pose/sk_crowd.h"
#include "../../csrc/core/skin/sk_deform.h"
#include "../../csrc/core/skin/sk_frames.h"
#include "../../csrc/core/pose/sk_goal.h"
#include "../../csrc/core/model/sk_model.h"
#include "../../csrc/core/pose/sk_palette.h"

enum { MOST_JOINTS = 4096, MOST_VERTICES = 65536, MOST_CLIPS = 3, TIMES = 9 };

typedef struct use_options {
  double times[TIMES];
  double weights[TIMES];
  sk_loop loop;
  sk_rotation rotation;
  sk_result result;
  bool affine, inverse_root;
  sk_blend_mode mode;
  double priority_blend;
  int32_t joints[3];      /* of goals: any numbers, most of them of no chain */
  int32_t iterations;
  double targets[2][3];   /* and the poles */
  double soften, tolerance;
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

/* `count` poses one after another; `o->times` says when. */
static inline sk_pose use_poses(const sk_model *model, const sk_clip *clip, size_t count, const use_options *o) {
  size_t joints = (size_t)model->skeleton.joint_count;
  sk_sampling sampling = {&model->skeleton, clip, o->loop, o->rotation, &model->morph};
  sk_pose poses = {use_floats(count * joints * 3), use_floats(count * joints * 4), use_floats(count * joints * 3),
                   use_floats(count * (size_t)model->morph.target_count)};
  sk_sample_run(&(sk_sample_job){sampling, o->times, count, poses});
  return poses;
}

static inline void use_free(sk_pose poses) {
  free(poses.translation), free(poses.rotation), free(poses.scale), free(poses.weights);
}

enum { POSES = 2, SOURCES = 3 };

/* Three sources of two poses each, with and without a mask, with weights for all and for each. */
static inline void use_blend(const sk_model *model, const sk_clip *clip, const use_options *o) {
  size_t joints = (size_t)model->skeleton.joint_count, i;
  sk_pose poses[SOURCES];
  sk_blend_source sources[SOURCES];
  float *mask = use_floats(joints);
  sk_error error;
  sk_blend_job job = {&model->skeleton, &model->morph, POSES, sources, SOURCES, o->mode, o->priority_blend,
                      use_poses(model, NULL, POSES, o)};
  for (i = 0; i < joints; i++) mask[i] = (float)fmin(o->weights[i % TIMES], 1.0);
  for (i = 0; i < SOURCES; i++) {
    poses[i] = use_poses(model, i ? clip : NULL, POSES, o);
    sources[i] = (sk_blend_source){poses[i], o->weights + 2 * i, i & 1, i == 1 ? mask : NULL,
                                   i == 2 ? SK_PRIORITY_HIGH : SK_PRIORITY_LOW, i == 1};
  }
  if (!sk_weights_validate(o->weights, TIMES, &error)) sk_blend_run(&job);
  for (i = 0; i < SOURCES; i++) use_free(poses[i]);
  use_free(job.poses);
  free(mask);
}

/* The goals of three kinds, where the joints are a chain: any three, and three that are one where there is any. */
static inline void use_goals(const sk_model *model, const sk_clip *clip, const int32_t *joints, const use_options *o) {
  double targets[POSES][3], poles[POSES][3], weights[POSES], misses[POSES];
  sk_goal goal = {.skeleton = &model->skeleton, .poses = use_poses(model, clip, POSES, o), .count = POSES,
                  .targets = targets[0], .weights = weights, .misses = misses};
  sk_two_bone_job limb = {goal, joints[0], joints[1], joints[2], o->soften};
  sk_aim_job aim = {.goal = goal, .joint = joints[2]};
  sk_fabrik_job chain = {.goal = goal, .root = joints[0], .end = joints[2], .iterations = o->iterations,
                         .tolerance = o->tolerance};
  sk_error error;
  size_t i;
  for (i = 0; i < POSES; i++) {
    memcpy(targets[i], o->targets[i], sizeof targets[i]);
    memcpy(poles[i], o->targets[1 - i], sizeof poles[i]);
    weights[i] = fmin(o->weights[i], 1.0);
  }
  if (o->affine) limb.goal.poles = aim.goal.poles = poles[0];
  memcpy(aim.axis, o->targets[0], sizeof aim.axis);
  memcpy(aim.up, o->targets[1], sizeof aim.up);
  if (!sk_two_bone_validate(&limb, &error)) sk_two_bone_run(&limb);
  if (!sk_aim_validate(&aim, &error)) sk_aim_run(&aim);
  if (!sk_fabrik_validate(&chain, &error) && (chain.scratch = sk_alloc(sk_fabrik_scratch(&chain)))) {
    sk_fabrik_run(&chain);
    sk_free(chain.scratch);
  }
  use_free(goal.poses);
}

static inline void use_chains(const sk_model *model, const sk_clip *clip, const use_options *o) {
  const int32_t *parents = model->skeleton.parents;
  int32_t end = model->skeleton.joint_count - 1, own[3];
  use_goals(model, clip, o->joints, o);
  if (o->joints[2] >= 0 && o->joints[2] <= end) end = o->joints[2];
  if (end < 0 || parents[end] < 0 || parents[parents[end]] < 0) return;
  own[2] = end;
  own[1] = parents[end];
  own[0] = parents[own[1]];
  while (parents[own[0]] >= 0 && own[0] > o->joints[0]) own[0] = parents[own[0]];
  use_goals(model, clip, own, o);
}

/* The mesh as frames: the positions, and the normals in their place. */
static inline void use_frames(const sk_model *model, const use_options *o) {
  size_t floats = model->mesh.vertex_count * 3;
  float *frames;
  sk_frame_times line = {o->weights, 1, o->soften, 1000.0};
  sk_frames_job job = {.frame_count = 2, .vertex_count = model->mesh.vertex_count, .frame_numbers = o->times,
                       .out_count = TIMES};
  double sorted[TIMES];
  size_t i, k;
  if (model->mesh.vertex_count > MOST_VERTICES) return;
  for (i = 0; i < TIMES; i++) {
    for (k = i; k > 0 && sorted[k - 1] > o->weights[i]; k--) sorted[k] = sorted[k - 1];
    sorted[k] = o->weights[i];
  }
  line.times = sorted;
  for (i = 1; i < TIMES && sorted[i] > sorted[i - 1]; i++) line.count++;
  for (i = 0; i < TIMES; i++) sk_frames_find(&line, o->times[i], o->loop);
  frames = use_floats(2 * floats);
  if (floats) memcpy(frames, model->mesh.positions, floats * sizeof(float));
  if (floats) memcpy(frames + floats, model->mesh.normals, floats * sizeof(float));
  job.positions = frames;
  job.out_positions = use_floats(TIMES * floats);
  if (o->affine) job.normals = frames, job.out_normals = use_floats(TIMES * floats);
  sk_frames_run(&job);
  free(job.out_positions);
  free(job.out_normals);
  free(frames);
}

static inline void use_model(const sk_model *model, const use_options *o) {
  sk_clip clips[MOST_CLIPS];
  sk_compiled *compiled[MOST_CLIPS] = {NULL};
  uint32_t count = model->clip_count < MOST_CLIPS ? model->clip_count : MOST_CLIPS, c;
  if (model->block.info->kind != SK_BLOCK_MODEL || model->skeleton.joint_count > MOST_JOINTS) return;
  use_palettes(model, NULL, o);
  use_chains(model, NULL, o);
  use_frames(model, o);
  for (c = 0; c < count; c++) {
    sk_clip_open(&model->block, c, &clips[c]);
    use_palettes(model, &clips[c], o);
    if (!clips[c].additive || o->mode == SK_BLEND_ADD) use_blend(model, &clips[c], o);
    use_chains(model, &clips[c], o);
    compiled[c] = sk_compile(&clips[c], &model->skeleton, &model->skin, NULL);
    clips[c].compiled = sk_simd_chosen() == SK_SIMD_PLAIN ? NULL : compiled[c];
    if (clips[c].compiled) use_palettes(model, &clips[c], o);
  }
  use_crowd(model, clips, count, o);
  for (c = 0; c < count; c++) sk_free(compiled[c]);
}

#endif
