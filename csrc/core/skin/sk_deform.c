/* sk_deform.c: the plain path of skinning, which defines what is right, and what all paths share: palettes, morph
   targets, and threads that go through the mesh block by block. */
#include "sk_deform.h"

#include <string.h>

#include "../base/sk_cores.h"
#include "../base/sk_math.h"
#include "../base/sk_threads.h"

#define PLAIN_VERTICES SK_ORDERED_BLOCK_VERTICES /* vertices of a block on the plain path */

/* ---- the plain path --------------------------------------------------------------------------- */

/* Blends the matrices of a vertex. Weights are sorted in falling order, so the first zero ends its influences. */
static void blend(const sk_mesh *mesh, const float *palette, size_t matrix_floats, size_t v, sk_rows out) {
  uint32_t k, influences = mesh->influences;
  const uint16_t *slots = mesh->slots + v * influences;
  const float *weights = mesh->weights + v * influences;
  memset(out, 0, sizeof(sk_rows));
  for (k = 0; k < influences && weights[k] > 0.0f; k++)
    sk_rows_add(out, palette + slots[k] * matrix_floats, weights[k]);
}

static void deform_plainly(const sk_mesh *mesh, size_t matrix_floats, const sk_deform_block *block) {
  size_t i, first = block->number * PLAIN_VERTICES;
  for (i = 0; i < block->count; i++) {
    sk_rows rows;
    blend(mesh, block->palette, matrix_floats, first + i, rows);
    sk_rows_apply(rows, block->points + 3 * i, block->positions + 3 * i);
    if (block->normals) sk_rows_apply_normal(rows, block->directions + 3 * i, block->normals + 3 * i);
  }
}

/* ---- scratch ------------------------------------------------------------------------------------ */

/* What a worker keeps from block to block, at the start of its scratch. */
typedef struct worker {
  size_t ready; /* 1 + number of the palette that is prepared; 0: none is */
  const float *palette;
  size_t matrix_floats;
  sk_morph_walk walk;
} worker;

/* Offsets in bytes of the pieces of a worker's scratch, which follow its struct. */
typedef struct layout {
  size_t cursors, morphed, palette, pose, kernel, bytes;
} layout;

static size_t block_vertices(const sk_deform_job *job) {
  return job->kernels ? sk_influence_vertices(job->influences) : PLAIN_VERTICES;
}

/* Pieces are rounded up to cache lines, so that no two workers write to one line. */
static size_t add_piece(size_t *bytes, size_t wanted) {
  size_t offset = *bytes;
  *bytes += (wanted + SK_ALIGNMENT - 1) / SK_ALIGNMENT * SK_ALIGNMENT;
  return offset;
}

/* Whether a worker copies palettes: kernels need matrices of 64 bytes that do not straddle cache lines. */
static bool keeps_palette(const sk_deform_job *job) {
  return job->poses || (job->kernels && (job->matrix_floats != 16 || (uintptr_t)job->palettes % 64 != 0));
}

static sk_palette_job pose_job(const sk_deform_job *job) {
  sk_palette_job one = *job->poses;
  one.count = 1;
  one.result = SK_PALETTE;
  one.affine = false;
  return one;
}

static layout lay_out(const sk_deform_job *job) {
  layout l = {0};
  size_t targets = job->weights ? (size_t)job->morph->target_count : 0;
  add_piece(&l.bytes, sizeof(worker));
  l.cursors = add_piece(&l.bytes, targets * sizeof(sk_morph_cursor));
  l.morphed = add_piece(&l.bytes, targets ? 2 * block_vertices(job) * 3 * sizeof(float) : 0);
  l.palette = add_piece(&l.bytes, keeps_palette(job) ? job->slot_count * 16 * sizeof(float) : 0);
  if (job->poses) {
    sk_palette_job one = pose_job(job);
    l.pose = add_piece(&l.bytes, sk_palette_scratch(&one));
  }
  if (job->kernels && job->influences->shares_slots)
    l.kernel = add_piece(&l.bytes, job->kernels->deform_scratch(job->influences));
  return l;
}

/* ---- threads ------------------------------------------------------------------------------------ */

#define PLAIN_NANOSECONDS  27.0  /* a vertex, about */
#define KERNEL_NANOSECONDS 3.5
#define START_NANOSECONDS  200.0 /* a palette, beside its vertices */
#define JOINT_NANOSECONDS  50.0  /* a joint of a pose, up to its palette */
#define RANGE_NANOSECONDS  10e3  /* a thread range, about (sk_threads.h) */

static size_t block_count(const sk_deform_job *job) {
  return (job->mesh->vertex_count + block_vertices(job) - 1) / block_vertices(job);
}

/* Blocks of a thread range: some whole palettes, or a section of one. */
static size_t grain_of(const sk_deform_job *job) {
  size_t blocks = block_count(job);
  double vertex = job->kernels ? KERNEL_NANOSECONDS : PLAIN_NANOSECONDS;
  double joints = job->poses ? (double)job->poses->skeleton->joint_count : 0.0;
  double palette = START_NANOSECONDS + JOINT_NANOSECONDS * joints;
  double whole = palette + vertex * (double)job->mesh->vertex_count;
  if (blocks == 0) return 1;
  if (whole < RANGE_NANOSECONDS) return blocks * (1 + (size_t)(RANGE_NANOSECONDS / whole));
  return 1 + (size_t)((RANGE_NANOSECONDS + palette) / (vertex * (double)block_vertices(job)));
}

/* Bytes of results that are never streamed: caches whose size the system does not tell hold less than twice as much. */
#define STREAMED_BYTES ((size_t)16 << 20)

/* Results that no cache holds are stored past the caches, which took 8 to 15 % less time for a million vertices between
   other work. Where the last-level cache holds twice as much, prefetching took another third less than that. */
static sk_store_hint choose_store_hint(const sk_deform_job *job) {
  size_t floats = job->count * job->mesh->vertex_count * 3, bytes = (job->normals ? 2 : 1) * floats * sizeof(float);
  bool aligned = (uintptr_t)job->positions % 16 == 0 && (uintptr_t)job->normals % 16 == 0;
  /* The results of each palette begin where those of the one before it end. */
  aligned = aligned && (job->count == 1 || job->mesh->vertex_count % 4 == 0);
  if (bytes <= SK_NEAR_BYTES) return SK_STORE_CACHED;
  return aligned && bytes >= STREAMED_BYTES && bytes > sk_cache_bytes() / 2 ? SK_STORE_STREAMED : SK_STORE_PREFETCHED;
}

size_t sk_deform_scratch(sk_deform_job *job) {
  job->kernels = job->influences ? sk_kernels_chosen() : NULL;
  job->store_hint = job->kernels ? choose_store_hint(job) : SK_STORE_CACHED;
  job->workers = sk_worker_count(job->count * block_count(job), grain_of(job));
  return job->workers * lay_out(job).bytes;
}

/* ---- palettes ----------------------------------------------------------------------------------- */

static void widen(const float *given, size_t count, size_t matrix_floats, float *matrices) {
  size_t i;
  for (i = 0; i < count; i++) memcpy(matrices + 16 * i, given + matrix_floats * i, 12 * sizeof(float));
}

static void make_palette(const sk_deform_job *job, size_t n, float *palette, void *scratch) {
  sk_palette_job one = pose_job(job);
  one.poses = sk_pose_at(one.poses, n, (size_t)one.skeleton->joint_count, 0);
  if (one.root) one.root += n * one.root_stride;
  one.out = palette;
  one.scratch = scratch;
  sk_palette_run(&one);
}

/* Prepares palette n and its morph weights for the blocks that follow. */
static void prepare(const sk_deform_job *job, const layout *pieces, worker *own, size_t n) {
  float *palette = (float *)((char *)own + pieces->palette);
  const float *given = job->poses ? NULL : job->palettes + n * job->slot_count * job->matrix_floats;
  own->ready = n + 1;
  own->palette = palette;
  own->matrix_floats = 16;
  if (job->poses) {
    make_palette(job, n, palette, (char *)own + pieces->pose);
  } else if (keeps_palette(job)) {
    widen(given, job->slot_count, job->matrix_floats, palette);
  } else {
    own->palette = given;
    own->matrix_floats = job->matrix_floats;
  }
  if (!job->weights) return;
  own->walk = (sk_morph_walk){job->morph, job->mesh, 0, 0, (sk_morph_cursor *)((char *)own + pieces->cursors)};
  sk_morph_begin(&own->walk, job->weights + n * job->weight_stride);
}

/* ---- blocks ------------------------------------------------------------------------------------- */

static void run_block(const sk_deform_job *job, const layout *pieces, worker *own, size_t n, size_t number) {
  const sk_mesh *mesh = job->mesh;
  size_t vertices = block_vertices(job), first = number * vertices, left = mesh->vertex_count - first;
  size_t first_float = 3 * (n * mesh->vertex_count + first);
  float *morphed = (float *)((char *)own + pieces->morphed), *morphed_normals = morphed + 3 * vertices;
  sk_deform_block block = {job->influences,
                           number,
                           left < vertices ? left : vertices,
                           own->palette,
                           mesh->positions + 3 * first,
                           mesh->normals + 3 * first,
                           job->positions + first_float,
                           job->normals ? job->normals + first_float : NULL,
                           job->store_hint,
                           false,
                           (char *)own + pieces->kernel};
  if (job->weights &&
      sk_morph_vertices(&own->walk, first, block.count, morphed, job->normals ? morphed_normals : NULL)) {
    block.points = morphed;
    block.directions = morphed_normals;
    block.morphed = true;
  }
  if (!job->kernels) deform_plainly(mesh, own->matrix_floats, &block);
  else if (job->influences->shares_slots) job->kernels->deform_shared(&block);
  else job->kernels->deform(&block);
}

static void run_range(const void *data, size_t number, size_t first, size_t count) {
  const sk_deform_job *job = data;
  layout pieces = lay_out(job);
  worker *own = (worker *)((char *)job->scratch + number * pieces.bytes);
  size_t i, blocks = block_count(job);
  for (i = first; i < first + count; i++) {
    if (own->ready != i / blocks + 1) prepare(job, &pieces, own, i / blocks);
    run_block(job, &pieces, own, i / blocks, i % blocks);
  }
  if (job->store_hint == SK_STORE_STREAMED) job->kernels->deform_end();
}

void sk_deform_run(const sk_deform_job *job) {
  size_t i, bytes = lay_out(job).bytes;
  if (job->count == 0 || job->mesh->vertex_count == 0) return;
  for (i = 0; i < job->workers; i++) ((worker *)((char *)job->scratch + i * bytes))->ready = 0;
  sk_parallel(job, run_range, job->count * block_count(job), grain_of(job), job->workers);
}
