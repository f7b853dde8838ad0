/* sk_palette_kernel.c: samples a compiled clip into globals, positions or palettes.

   A single pose is sampled eight joints at a time up to the locals, then it goes from joint to joint with one row in a
   vector. Several poses go eight at a time (sk_batch.h). Both do the same operations in the same order, so that a pose
   has the same bits alone and in a batch. */
#include "sk_palette_kernel.h"

#include "sk_batch.h"
#include "sk_matrix.h"
#include "sk_octet.h"

#if SK_HAS_KERNELS

SK_KERNEL_BEGIN

#define ROWS SK_ROWS

/* ---- one pose: locals ------------------------------------------------------------------------------- */

/* The locals of eight movers, as (8, 12) floats. */
static void octet_locals(const sk_octet *octet, const sk_key_span *spans, sk_rotation rotation, float *out) {
  sk_f8 t[3], q[4], s[3];
  sk_mix mix;
  SK_KERNEL(sk_octet_components)(octet, spans, rotation, t, &mix, s);
  sk_mix_sum(&mix, q);
  sk_store_locals(t, q, s, out);
}

/* The same, computed in double. */
static void octet_precise(const sk_octet *octet, const sk_key_span *spans, sk_rotation rotation, double *out) {
  sk_f8 t[3], s[3];
  sk_mix mix;
  SK_KERNEL(sk_octet_components)(octet, spans, rotation, t, &mix, s);
  sk_store_precise(&mix, t, s, out);
}

/* Puts the rest matrix in place of the locals of joints that are at rest and whose rest matrix is more than T, R and S.
   The locals are in `moving` or in `precise`; the other one is NULL. */
static void sheared_locals(const sk_palette_job *job, const sk_compiled *c, const sk_key_span *spans, float *moving,
                           double *precise) {
  uint32_t i;
  int k;
  for (i = 0; i < c->mover_count; i++) {
    const float *rest = job->skeleton->rest_local + 16 * (size_t)c->movers[i].joint;
    if (!c->movers[i].sheared || !SK_KERNEL(sk_mover_rests)(c, &c->movers[i], job->skeleton, spans)) continue;
    for (k = 0; k < ROWS; k++) {
      if (moving) moving[(size_t)i * ROWS + (size_t)k] = rest[k];
      if (precise) precise[(size_t)i * ROWS + (size_t)k] = rest[k];
    }
  }
}

/* ---- one pose: globals and results ---------------------------------------------------------------------- */

/* The global of a joint. `above` is the global of the parent or what stands in front; where it is NULL the global is
   the local. */
static void chain_rows(const sk_compiled *c, int32_t joint, int32_t mover, const double *moving, const double *above,
                       double *global) {
  const double *rows = mover == SK_NONE ? c->locals + (size_t)joint * ROWS : moving + (size_t)mover * ROWS;
  sk_d4 local[3];
  int row;
  for (row = 0; row < 3; row++) local[row] = d4_load(rows + 4 * row);
  if (above) {
    sk_rows_chain(above, local, global);
    return;
  }
  for (row = 0; row < 3; row++) d4_store(global + 4 * row, local[row]);
}

static inline void write_bind(sk_matrix global, const sk_bind *bind, bool affine, float *out) {
  sk_matrix_store(sk_matrix_multiply(global, bind->rows), affine, out + (size_t)bind->slot * (affine ? 12 : 16));
}

/* The same, multiplied in double. */
static void write_precise_bind(const double *global, const sk_bind *bind, bool affine, float *out) {
  sk_d4 inverse[3];
  double product[ROWS];
  int row;
  for (row = 0; row < 3; row++) inverse[row] = d4_of(f4_load(bind->rows + 4 * row));
  sk_rows_chain(global, inverse, product);
  sk_matrix_store(sk_matrix_of_doubles(product), affine, out + (size_t)bind->slot * (affine ? 12 : 16));
}

/* Palettes in double. `front` is the matrix in front of the roots, or NULL. */
static void write_palette(const sk_palette_job *job, const sk_compiled *c, const double *moving, const double *front,
                          double *globals, float *out) {
  uint32_t i, b;
  for (i = 0; i < c->node_count; i++, globals += ROWS) {
    const sk_node *node = &c->nodes[i];
    sk_matrix rows;
    chain_rows(c, node->joint, node->mover, moving,
               node->parent == SK_NONE ? front : globals - (i - (size_t)node->parent) * ROWS, globals);
    rows = sk_matrix_of_doubles(globals);
    for (b = node->first; b < node->first + node->count; b++) {
      if (c->precise == SK_PRECISE_BINDS) write_precise_bind(globals, &c->binds[b], job->affine, out);
      else write_bind(rows, &c->binds[b], job->affine, out);
    }
  }
}

/* Palettes in float, for short chains; `globals` takes node_count * 12 floats. The parent of a node is mostly the node
   before it, whose global is still in registers: a chain then does not wait for memory at each joint. */
static void write_floats(const sk_palette_job *job, const sk_compiled *c, const float *moving, const double *front,
                         float *globals, float *out) {
  sk_matrix rows = {f8_zero(), f4_zero()};
  const sk_node *node = c->nodes;
  const sk_bind *bind = c->binds; /* they are in the order of the nodes */
  bool affine = job->affine;
  float still[ROWS], *global = globals;
  int32_t i, count = (int32_t)c->node_count;
  uint32_t b;
  for (i = 0; i < count; i++, node++, global += ROWS) {
    const float *local = node->mover == SK_NONE ? still : moving + (size_t)node->mover * ROWS;
    if (node->mover == SK_NONE)
      sk_matrix_store(sk_matrix_of_doubles(c->locals + (size_t)node->joint * ROWS), true, still);
    if (node->parent == SK_NONE && !front) {
      rows = sk_matrix_load(local);
    } else {
      if (node->parent == SK_NONE) rows = sk_matrix_of_doubles(front);
      else if (node->parent + 1 != i) rows = sk_matrix_load(globals + (size_t)node->parent * ROWS);
      rows = sk_matrix_multiply(rows, local);
    }
    if (node->carries) sk_matrix_store(rows, true, global);
    for (b = node->count; b; b--, bind++) write_bind(rows, bind, affine, out);
  }
}

/* Palettes of locals in float that are multiplied in double; `globals` takes node_count * 12 doubles. */
static void write_chains(const sk_palette_job *job, const sk_compiled *c, const float *moving, const double *front,
                         double *globals, float *out) {
  uint32_t i, b;
  int row;
  for (i = 0; i < c->node_count; i++, globals += ROWS) {
    const sk_node *node = &c->nodes[i];
    const double *above = node->parent == SK_NONE ? front : globals - (i - (size_t)node->parent) * ROWS;
    sk_d4 local[3];
    sk_matrix rows;
    for (row = 0; row < 3; row++)
      local[row] = node->mover == SK_NONE ? d4_load(c->locals + (size_t)node->joint * ROWS + 4 * row)
                                          : d4_of(f4_load(moving + (size_t)node->mover * ROWS + 4 * row));
    if (above) sk_rows_chain(above, local, globals);
    else
      for (row = 0; row < 3; row++) d4_store(globals + 4 * row, local[row]);
    rows = sk_matrix_of_doubles(globals);
    for (b = node->first; b < node->first + node->count; b++) write_bind(rows, &c->binds[b], job->affine, out);
  }
}

static void write_joints(const sk_palette_job *job, const sk_compiled *c, const double *moving, const double *front,
                         double *globals, float *out) {
  size_t j, k;
  for (j = 0; j < (size_t)c->joint_count; j++) {
    double *global = globals + j * ROWS;
    int32_t parent = job->skeleton->parents[j];
    chain_rows(c, (int32_t)j, c->mover_of[j], moving, parent < 0 ? front : globals + (size_t)parent * ROWS, global);
    if (job->result == SK_POSITIONS) {
      for (k = 0; k < 3; k++) out[3 * j + k] = (float)global[4 * k + 3];
    } else {
      sk_matrix_store(sk_matrix_of_doubles(global), job->affine, out + j * (job->affine ? 12 : 16));
    }
  }
}

/* The scratch of one pose, in this order: globals, key spans, locals of the movers, cubic cells. */
typedef struct one_scratch {
  double *globals;
  sk_key_span *spans;
  double *moving; /* floats where these are enough */
  float *cubic;
  size_t bytes;
} one_scratch;

static one_scratch lay_out_one(const sk_compiled *c, uintptr_t memory) {
  one_scratch s;
  size_t globals = (size_t)c->joint_count * ROWS * sizeof(double);
  size_t spans = (size_t)c->line_count * sizeof(sk_key_span);
  size_t moving = (size_t)c->octet_count * SK_LANES * ROWS * sizeof(double);
  s.globals = (double *)memory;
  s.spans = (sk_key_span *)(memory + globals);
  s.moving = (double *)(memory + globals + spans);
  s.cubic = (float *)(memory + globals + spans + moving);
  s.bytes = globals + spans + moving + c->cubic_floats * sizeof(float);
  return s;
}

static void run_one(const sk_palette_job *job, size_t n, void *scratch) {
  const sk_clip *clip = job->sampling->clip;
  const sk_compiled *c = clip->compiled;
  one_scratch s = lay_out_one(c, (uintptr_t)scratch);
  double time = sk_clip_local_time(clip, job->times[n], job->sampling->loop), front[ROWS];
  const double *above = sk_palette_front(job, n, front) ? front : NULL;
  uint32_t movers = job->result == SK_PALETTE ? c->active_count : c->mover_count, i;
  float *out = job->out + n * sk_palette_floats(job);
  SK_KERNEL(sk_find_key_spans)(clip, time, s.cubic, s.spans);
  if (job->result == SK_PALETTE && c->precise < SK_PRECISE_LOCALS) {
    float *moving = (float *)s.moving;
    for (i = 0; i * SK_LANES < movers; i++)
      octet_locals(&c->octets[i], s.spans, job->sampling->rotation, moving + (size_t)i * SK_LANES * ROWS);
    if (c->sheared_count) sheared_locals(job, c, s.spans, moving, NULL);
    if (c->precise == SK_PRECISE_CHAINS) write_chains(job, c, moving, above, s.globals, out);
    else write_floats(job, c, moving, above, (float *)s.globals, out);
    return;
  }
  for (i = 0; i * SK_LANES < movers; i++)
    octet_precise(&c->octets[i], s.spans, job->sampling->rotation, s.moving + (size_t)i * SK_LANES * ROWS);
  if (c->sheared_count) sheared_locals(job, c, s.spans, NULL, s.moving);
  if (job->result == SK_PALETTE) write_palette(job, c, s.moving, above, s.globals, out);
  else write_joints(job, c, s.moving, above, s.globals, out);
}

/* ---- the job ------------------------------------------------------------------------------------------------ */

size_t SK_KERNEL(sk_palette_kernel_scratch)(const sk_compiled *c, size_t count) {
  size_t one = lay_out_one(c, 0).bytes, batch = count >= SK_MIN_BATCH ? SK_KERNEL(sk_batch_scratch)(&c, 1) : 0;
  return one > batch ? one : batch;
}

static void run_batch(sk_batch *batch, size_t first, size_t lanes, void *scratch) {
  const sk_palette_job *job = batch->job;
  size_t lane, floats = sk_palette_floats(job);
  for (lane = 0; lane < SK_LANES; lane++) {
    size_t n = first + (lane < lanes ? lane : 0);
    batch->number[lane] = n;
    batch->times[0][lane] = job->times[n];
    batch->out[lane] = job->out + n * floats;
    batch->next[lane] = job->out + (n + SK_LANES < job->count ? n + SK_LANES : n) * floats;
  }
  SK_KERNEL(sk_batch_run)(batch, scratch);
}

void SK_KERNEL(sk_palette_kernel)(const sk_palette_job *job, size_t first, size_t count, void *scratch) {
  sk_batch batch; /* not cleared: that would cost more than sampling a single pose */
  batch.job = job;
  batch.source_count = 1;
  batch.clips[0] = job->sampling->clip;
  batch.far = job->count * sk_palette_floats(job) * sizeof(float) > SK_NEAR_BYTES;
  if (count >= SK_MIN_BATCH) SK_KERNEL(sk_batch_begin)(&batch, scratch);
  while (count > 0) {
    size_t lanes = count < SK_LANES ? count : SK_LANES, n;
    if (lanes >= SK_MIN_BATCH) run_batch(&batch, first, lanes, scratch);
    else
      for (n = first; n < first + lanes; n++) run_one(job, n, scratch);
    first += lanes;
    count -= lanes;
  }
}

SK_KERNEL_END

#endif
