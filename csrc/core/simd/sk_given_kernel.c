/* sk_given_kernel.c: matrices of given poses, in double: eight joints at a time up to the locals, then joint by joint
   with one row in a vector. */
#include "sk_given_kernel.h"

#include "sk_lanes.h"
#include "sk_matrix.h"

#if SK_HAS_KERNELS
#include <string.h>

SK_KERNEL_BEGIN

#define ROWS 12

/* The scratch holds J globals in double, then the locals of as many full octets of joints. */
size_t SK_KERNEL(sk_given_kernel_scratch)(int32_t joint_count) {
  size_t joints = (size_t)joint_count, octets = (joints + SK_LANES - 1) / SK_LANES;
  return (joints + octets * SK_LANES) * ROWS * sizeof(double);
}

/* T, R and S of eight joints. The last joints of a pose are copied, because loads of four floats need room behind. */
typedef struct octet_values {
  const float *t, *r, *s;
  float t_room[3 * SK_LANES + 1], r_room[4 * SK_LANES], s_room[3 * SK_LANES + 1];
} octet_values;

static void find_values(sk_pose pose, size_t j, size_t joints, octet_values *values) {
  size_t count = joints - j, i;
  values->t = pose.translation + 3 * j;
  values->r = pose.rotation + 4 * j;
  values->s = pose.scale + 3 * j;
  if (count > SK_LANES) return;
  memset(values->t_room, 0, sizeof values->t_room);
  memset(values->s_room, 0, sizeof values->s_room);
  for (i = 0; i < 4 * SK_LANES; i++) values->r_room[i] = i % 4 == 3;
  memcpy(values->t_room, values->t, 3 * count * sizeof(float));
  memcpy(values->r_room, values->r, 4 * count * sizeof(float));
  memcpy(values->s_room, values->s, 3 * count * sizeof(float));
  values->t = values->t_room;
  values->r = values->r_room;
  values->s = values->s_room;
}

static void load_lanes(const float *first, size_t stride, sk_f8 out[4]) {
  const float *at[SK_LANES];
  size_t lane;
  for (lane = 0; lane < SK_LANES; lane++) at[lane] = first + lane * stride;
  sk_load_cells(at, 0, out);
}

static bool rests(const sk_skeleton *skeleton, sk_pose pose, size_t j) {
  return memcmp(pose.rotation + 4 * j, skeleton->rotation + 4 * j, 4 * sizeof(float)) == 0 &&
         memcmp(pose.translation + 3 * j, skeleton->translation + 3 * j, 3 * sizeof(float)) == 0 &&
         memcmp(pose.scale + 3 * j, skeleton->scale + 3 * j, 3 * sizeof(float)) == 0;
}

static void find_locals(const sk_skeleton *skeleton, sk_pose pose, double *locals) {
  size_t joints = (size_t)skeleton->joint_count, j, k;
  octet_values values;
  for (j = 0; j < joints; j += SK_LANES) {
    sk_f8 t[4], s[4];
    sk_mix mix;
    find_values(pose, j, joints, &values);
    load_lanes(values.t, 3, t);
    load_lanes(values.r, 4, mix.a);
    load_lanes(values.s, 3, s);
    sk_mix_one(&mix);
    sk_store_precise(&mix, t, s, locals + j * ROWS);
  }
  for (j = 0; j < joints; j++)
    if (rests(skeleton, pose, j))
      for (k = 0; k < ROWS; k++) locals[j * ROWS + k] = skeleton->rest_local[16 * j + k];
}

static void chain_globals(const sk_skeleton *skeleton, const double *locals, const double *front, double *globals) {
  size_t j;
  int row;
  for (j = 0; j < (size_t)skeleton->joint_count; j++) {
    const double *above = skeleton->parents[j] < 0 ? front : globals + (size_t)skeleton->parents[j] * ROWS;
    double *global = globals + j * ROWS;
    sk_d4 local[3];
    for (row = 0; row < 3; row++) local[row] = d4_load(locals + j * ROWS + 4 * row);
    if (above) sk_rows_chain(above, local, global);
    else
      for (row = 0; row < 3; row++) d4_store(global + 4 * row, local[row]);
  }
}

static void write_slots(const sk_palette_job *job, const double *globals, float *out) {
  size_t floats = job->affine ? 12 : 16;
  int32_t s;
  int row;
  for (s = 0; s < job->skin->slot_count; s++, out += floats) {
    const float *bind = job->skin->inverse_bind + 16 * (size_t)s;
    sk_d4 inverse[3];
    double product[ROWS];
    for (row = 0; row < 3; row++) inverse[row] = d4_of(f4_load(bind + 4 * row));
    sk_rows_chain(globals + (size_t)job->skin->joints[s] * ROWS, inverse, product);
    sk_matrix_store(sk_matrix_of_doubles(product), job->affine, out);
  }
}

static void write_joints(const sk_palette_job *job, const double *globals, const double *locals, float *out) {
  size_t joints = (size_t)job->skeleton->joint_count, j, k;
  for (j = 0; j < joints; j++) {
    const double *rows = (job->result == SK_LOCALS ? locals : globals) + j * ROWS;
    for (k = 0; job->result == SK_POSITIONS && k < 3; k++) out[3 * j + k] = (float)globals[j * ROWS + 4 * k + 3];
    if (job->result == SK_POSITIONS) continue;
    sk_matrix_store(sk_matrix_of_doubles(rows), job->affine, out + j * (job->affine ? 12 : 16));
  }
}

/* Pose n of the job; the rest pose where the job samples. */
static sk_pose pose_of(const sk_palette_job *job, size_t n) {
  const sk_skeleton *skeleton = job->skeleton;
  if (!job->sampling) return sk_pose_at(job->poses, n, (size_t)skeleton->joint_count, 0);
  return (sk_pose){(float *)skeleton->translation, (float *)skeleton->rotation, (float *)skeleton->scale,
                   NULL}; /* read only */
}

void SK_KERNEL(sk_given_kernel)(const sk_palette_job *job, size_t first, size_t count, void *scratch) {
  size_t joints = (size_t)job->skeleton->joint_count, floats = sk_palette_floats(job), n;
  double *globals = scratch, front[ROWS];
  double *locals = globals + joints * ROWS;
  for (n = first; n < first + count; n++) {
    const double *above = sk_palette_front(job, n, front) ? front : NULL;
    find_locals(job->skeleton, pose_of(job, n), locals);
    if (job->result != SK_LOCALS) chain_globals(job->skeleton, locals, above, globals);
    if (job->result == SK_PALETTE) write_slots(job, globals, job->out + n * floats);
    else write_joints(job, globals, locals, job->out + n * floats);
  }
}

SK_KERNEL_END

#endif
