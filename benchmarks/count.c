/* count.c: runs one job of the core on a model block, for callgrind to count: count BLOCK JOB [COUNT]

   callgrind counts inside of `measured` alone, so that reading the file and making scratch stay out. Printed
   are the joints and vertices of the model, the keys of its first clip and the path that the jobs took. */
#include "../csrc/core/pose/sk_blend.h"
#include "../csrc/core/pose/sk_compile.h"
#include "../csrc/core/base/sk_cpu.h"
#include "../csrc/core/pose/sk_crowd.h"
#include "../csrc/core/skin/sk_deform.h"
#include "../csrc/core/model/sk_model.h"
#include "../csrc/core/pose/sk_palette.h"
#include "../csrc/core/pose/sk_sample.h"
#include "../csrc/core/base/sk_threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CROWD_CLIPS   2
#define BLEND_SOURCES 2

typedef struct bench {
  void *memory;
  size_t size;
  sk_model model;
  sk_clip clips[CROWD_CLIPS];
  size_t count;  /* poses or instances */
  double *times; /* (2 * count,) all over the clip, far apart from one to the next */
  float *out;    /* (count, S, 3, 4) */
} bench;

typedef void (*work)(bench *);

static void fail(const char *what) {
  fprintf(stderr, "count: %s\n", what);
  exit(2);
}

static void *take(size_t size) {
  void *memory = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
  if (!memory) fail("no memory");
  return memory;
}

static void read_file(bench *b, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) fail("the block cannot be read");
  b->size = (size_t)ftell(file);
  rewind(file);
  b->memory = take(b->size);
  if (fread(b->memory, 1, b->size, file) != b->size) fail("the block cannot be read");
  fclose(file);
}

static void open_model(bench *b) {
  sk_error error;
  if (sk_model_open(b->memory, b->size, &b->model, &error) != SK_OK) fail("the block is broken");
}

/* ---- jobs --------------------------------------------------------------------------- */

static sk_sampling sampling_of(const bench *b) {
  sk_sampling sampling = {.skeleton = &b->model.skeleton, .clip = &b->clips[0], .loop = SK_LOOP_WRAP,
                          .rotation = SK_SLERP, .morph = &b->model.morph};
  return sampling;
}

static sk_palette_job palette_job(const bench *b, const sk_sampling *sampling, size_t count) {
  sk_palette_job job = {.skeleton = &b->model.skeleton, .skin = &b->model.skin, .count = count,
                        .sampling = sampling, .times = b->times, .result = SK_PALETTE, .affine = true,
                        .out = b->out};
  job.scratch = take(sk_palette_scratch(&job));
  return job;
}

static sk_sampling shared_sampling;
static sk_palette_job shared_palette;
static sk_crowd_job shared_crowd;
static sk_deform_job shared_deform;
static sk_sample_job shared_sample;
static sk_blend_job shared_blend;

static void prepare_pose(bench *b) {
  shared_sampling = sampling_of(b);
  shared_palette = palette_job(b, &shared_sampling, 1);
}

static void prepare_batch(bench *b) {
  shared_sampling = sampling_of(b);
  shared_palette = palette_job(b, &shared_sampling, b->count);
}

/* T, R and S of `count` poses. The job leaves them where they are. */
static sk_sample_job sample_job(const bench *b, const double *times) {
  size_t joints = b->count * (size_t)b->model.skeleton.joint_count;
  sk_pose poses = {take(3 * joints * sizeof(float)), take(4 * joints * sizeof(float)), take(3 * joints * sizeof(float)),
                   NULL};
  sk_sample_job job = {sampling_of(b), times, b->count, poses};
  job.sampling.morph = NULL;
  return job;
}

static void prepare_sample(bench *b) { shared_sample = sample_job(b, b->times); }

/* Two sampled poses over the rest pose, or one over or added to a sampled one. */
static void prepare_mode(bench *b, size_t sources, sk_blend_mode mode) {
  static const double weights[BLEND_SOURCES] = {0.4, 0.6};
  static sk_blend_source blended[BLEND_SOURCES];
  static const sk_morph none;
  sk_sample_job below = sample_job(b, b->times);
  size_t i;
  sk_sample_run(&below);
  for (i = 0; i < sources; i++) {
    sk_sample_job job = sample_job(b, b->times + 1 + i);
    sk_sample_run(&job);
    blended[i] = (sk_blend_source){job.poses, &weights[i], 0, NULL, SK_PRIORITY_LOW, false};
  }
  shared_blend = (sk_blend_job){&b->model.skeleton, &none, b->count, blended, sources, mode, 0.5, below.poses};
}

static void prepare_blend(bench *b) { prepare_mode(b, BLEND_SOURCES, SK_BLEND_BASE); }
static void prepare_override(bench *b) { prepare_mode(b, 1, SK_BLEND_OVERRIDE); }
static void prepare_add(bench *b) { prepare_mode(b, 1, SK_BLEND_ADD); }

static void prepare_crowd(bench *b) {
  int32_t *index = take(CROWD_CLIPS * b->count * sizeof *index);
  size_t i;
  for (i = 0; i < CROWD_CLIPS * b->count; i++) index[i] = (int32_t)(i % CROWD_CLIPS);
  shared_crowd = (sk_crowd_job){.skeleton = &b->model.skeleton, .skin = &b->model.skin,
                                .morph = &b->model.morph, .clips = b->clips, .clip_count = CROWD_CLIPS,
                                .count = b->count, .slots = CROWD_CLIPS, .clip_index = index,
                                .times = b->times, .affine = true, .out = b->out};
  shared_crowd.scratch = take(sk_crowd_scratch(&shared_crowd));
}

static void prepare_deform(bench *b) {
  size_t bytes = 3 * (size_t)b->model.mesh.vertex_count * sizeof(float);
  prepare_pose(b);
  sk_palette_run(&shared_palette);
  shared_deform = (sk_deform_job){.mesh = &b->model.mesh, .slot_count = b->model.skin.slot_count, .count = 1,
                                  .palettes = b->out, .matrix_floats = 12, .positions = take(bytes),
                                  .normals = take(bytes), .morph = &b->model.morph};
  shared_deform.influences = sk_influences_make(&b->model.mesh, b->model.skin.slot_count);
  shared_deform.scratch = take(sk_deform_scratch(&shared_deform));
}

static void run_pose(bench *b) {
  size_t n;
  for (n = 0; n < b->count; n++, shared_palette.times++) sk_palette_run(&shared_palette);
}

static void run_batch(bench *b) {
  (void)b;
  sk_palette_run(&shared_palette);
}

static void run_sample(bench *b) {
  (void)b;
  sk_sample_run(&shared_sample);
}

static void run_blend(bench *b) {
  (void)b;
  sk_blend_run(&shared_blend);
}

static void run_crowd(bench *b) {
  (void)b;
  sk_crowd_run(&shared_crowd);
}

static void run_deform(bench *b) {
  (void)b;
  sk_deform_run(&shared_deform);
}

static void run_compile(bench *b) {
  b->clips[0].compiled = sk_compile(&b->clips[0], &b->model.skeleton, &b->model.skin, NULL);
  if (!b->clips[0].compiled) fail("the clip cannot be compiled");
}

static void no_preparation(bench *b) { (void)b; }

static const struct {
  const char *name;
  work prepare, run;
} jobs[] = {{"pose", prepare_pose, run_pose},
            {"batch", prepare_batch, run_batch},
            {"sample", prepare_sample, run_sample},
            {"blend", prepare_blend, run_blend},
            {"override", prepare_override, run_blend},
            {"add", prepare_add, run_blend},
            {"crowd", prepare_crowd, run_crowd},
            {"deform", prepare_deform, run_deform},
            {"compile", no_preparation, run_compile},
            {"open", no_preparation, open_model}};

static size_t key_count(const sk_clip *clip) {
  size_t keys = 0;
  uint32_t i;
  for (i = 0; i < clip->channel_count; i++) keys += clip->channels[i].key_count;
  return keys;
}

/* What callgrind counts. Not static and not inlined, so that it finds the name. */
void measured(work run, bench *b);
__attribute__((noinline)) void measured(work run, bench *b) { run(b); }

int main(int count, char **words) {
  bench b = {0};
  size_t i, job, jobs_count = sizeof jobs / sizeof jobs[0];
  if (count != 4) fail("count BLOCK JOB COUNT");
  for (job = 0; job < jobs_count && strcmp(jobs[job].name, words[2]) != 0; job++) continue;
  if (job == jobs_count) fail("no such job");
  sk_set_thread_count(1);
  read_file(&b, words[1]);
  open_model(&b);
  b.count = (size_t)atoi(words[3]);
  if (b.model.clip_count < CROWD_CLIPS || !b.count) fail("two clips and a count are needed");
  for (i = 0; i < CROWD_CLIPS; i++) {
    sk_clip_open(&b.model.block, (uint32_t)i, &b.clips[i]);
    b.clips[i].compiled = sk_compile(&b.clips[i], &b.model.skeleton, &b.model.skin, NULL);
  }
  b.times = take(CROWD_CLIPS * b.count * sizeof *b.times);
  for (i = 0; i < CROWD_CLIPS * b.count; i++) b.times[i] = 10.0 * fmod((double)i * 0.6180339887498949, 1.0);
  b.out = take(b.count * b.model.skin.slot_count * 12 * sizeof(float));
  memset(b.out, 0, b.count * b.model.skin.slot_count * 12 * sizeof(float));
  jobs[job].prepare(&b);
  measured(jobs[job].run, &b);
  printf("%d %zu %zu %s\n", b.model.skeleton.joint_count, b.model.mesh.vertex_count, key_count(&b.clips[0]),
         sk_simd_name(sk_simd_chosen()));
  return 0;
}
