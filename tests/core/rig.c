/* rig.c: see rig.h. */
#include "rig.h"

#include "../../csrc/core/model/sk_pack.h"

#include "check.h"

#include "../../csrc/core/base/sk_math.h"

#define DURATION 2.0 /* seconds */

double rig_share(uint64_t *state) { return (double)(check_random(state) >> 11) * 0x1p-53; }

double rig_spread(uint64_t *state, double size) { return size * (2.0 * rig_share(state) - 1.0); }

static bool chance(uint64_t *state, double share) { return rig_share(state) < share; }

/* base * a turn of at most `angle` about any axis, with either sign. */
static void turned(uint64_t *state, const float base[4], double angle, float out[4]) {
  double axis[3], length = 0.0, half = 0.5 * rig_spread(state, angle), q[4], p[4];
  int i;
  for (i = 0; i < 3; i++) {
    axis[i] = rig_spread(state, 1.0) + 1e-6;
    length += axis[i] * axis[i];
  }
  for (i = 0; i < 3; i++) q[i] = sin(half) * axis[i] / sqrt(length);
  q[3] = cos(half);
  p[0] = base[3] * q[0] + base[0] * q[3] + base[1] * q[2] - base[2] * q[1];
  p[1] = base[3] * q[1] + base[1] * q[3] + base[2] * q[0] - base[0] * q[2];
  p[2] = base[3] * q[2] + base[2] * q[3] + base[0] * q[1] - base[1] * q[0];
  p[3] = base[3] * q[3] - base[0] * q[0] - base[1] * q[1] - base[2] * q[2];
  for (i = 0; chance(state, 0.5) && i < 4; i++) p[i] = -p[i];
  sk_quat_normalize(p, out);
}

/* ---- skeleton and slots ---------------------------------------------------------------------- */

static void make_joint(const rig_wish *wish, uint64_t *state, int32_t j, rig *r) {
  static const float identity[4] = {0, 0, 0, 1};
  double local[12];
  int i;
  r->parents[j] = j < wish->roots ? SK_NONE : (int32_t)(check_random(state) % (uint64_t)j);
  for (i = 0; i < 3; i++) {
    r->translation[3 * j + i] = (float)rig_spread(state, 0.3);
    r->scale[3 * j + i] = chance(state, wish->scaled) ? (float)(1.0 + rig_spread(state, 0.25)) : 1.0f;
  }
  turned(state, identity, 2.0, r->rotation + 4 * j);
  sk_affine_from_trs(r->translation + 3 * j, r->rotation + 4 * j, r->scale + 3 * j, local);
  if (chance(state, wish->sheared)) local[1] += 0.25;
  sk_affine_to_mat4(local, r->rest_local + 16 * j);
}

static void make_skeleton(const rig_wish *wish, uint64_t *state, rig *r) {
  size_t joints = (size_t)wish->joints;
  double root[12];
  int32_t j;
  r->parents = malloc(joints * sizeof(int32_t));
  r->translation = malloc(joints * 3 * sizeof(float));
  r->rotation = malloc(joints * 4 * sizeof(float));
  r->scale = malloc(joints * 3 * sizeof(float));
  r->rest_local = malloc(joints * 16 * sizeof(float));
  CHECK(r->parents && r->translation && r->rotation && r->scale && r->rest_local);
  for (j = 0; j < wish->joints; j++) make_joint(wish, state, j, r);
  r->skeleton = (sk_skeleton){wish->joints, r->parents, r->translation, r->rotation, r->scale, r->rest_local, {0}};
  sk_affine_from_mat4(r->rest_local, root);
  sk_affine_inverse(root, r->skeleton.root_inverse);
}

static void make_slots(const rig_wish *wish, uint64_t *state, rig *r) {
  static const float identity[4] = {0, 0, 0, 1}, ones[3] = {1, 1, 1};
  size_t most = (size_t)wish->joints * wish->most_slots, count = 0, s;
  r->slot_joints = malloc(most * sizeof(int32_t) + 1);
  CHECK(r->slot_joints);
  while (count < most && chance(state, 0.97))
    r->slot_joints[count++] = (int32_t)(check_random(state) % (uint64_t)wish->joints);
  r->slot_joints = realloc(r->slot_joints, count * sizeof(int32_t) + !count);
  r->inverse_bind = malloc(count * 16 * sizeof(float) + !count);
  CHECK(r->slot_joints && r->inverse_bind);
  for (s = 0; s < count; s++) {
    float turn[4], place[3];
    double rows[12];
    int i;
    turned(state, identity, 3.0, turn);
    for (i = 0; i < 3; i++) place[i] = (float)rig_spread(state, 0.5);
    sk_affine_from_trs(place, turn, ones, rows);
    sk_affine_to_mat4(rows, r->inverse_bind + 16 * s);
  }
  r->skin = (sk_skin){(int32_t)count, r->slot_joints, r->inverse_bind};
}

/* ---- keys ------------------------------------------------------------------------------------- */

enum { LINES = 3 };

typedef struct pen {
  const rig_wish *wish;
  uint64_t *state;
  sk_array times, values, channels;
  uint64_t line[LINES];
  uint32_t line_keys[LINES];
} pen;

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Increasing times from 0.1 to DURATION - 0.1; where they begin among all. */
static uint64_t write_line(pen *p, uint32_t *count) {
  uint64_t first = p->times.count;
  double *times, from = p->wish->clustered ? 0.7 : 0.1, size = p->wish->clustered ? 0.002 : DURATION - 0.2;
  uint32_t k;
  *count = 1 + (uint32_t)(check_random(p->state) % p->wish->most_keys);
  times = sk_array_extend(&p->times, *count);
  CHECK(times);
  for (k = 0; k < *count; k++) times[k] = from + size * rig_share(p->state);
  if (*count > 2) times[0] = DURATION - 0.1;
  qsort(times, *count, sizeof *times, compare);
  for (k = 1; k < *count; k++)
    if (times[k] <= times[k - 1]) times[k] = nextafter(times[k - 1], INFINITY);
  return first;
}

static sk_interpolation pick_kind(pen *p) {
  sk_interpolation kind;
  do kind = (sk_interpolation)(check_random(p->state) % SK_INTERPOLATION_COUNT);
  while (!(p->wish->kinds & 1u << kind));
  return kind;
}

static void draw_key(pen *p, sk_path path, const float *rest, bool resting, float *out) {
  uint32_t width = sk_path_width(path), i;
  if (resting) memcpy(out, rest, width * sizeof(float));
  else if (path == SK_PATH_ROTATION) turned(p->state, rest, p->wish->turn, out);
  else for (i = 0; i < width; i++) out[i] = rest[i] + (float)rig_spread(p->state, 0.1);
}

/* A spline from q to -q would pass through nothing. */
static void keep_side(const float rest[4], float q[4]) {
  int i;
  if (rest[0] * q[0] + rest[1] * q[1] + rest[2] * q[2] + rest[3] * q[3] >= 0.0f) return;
  for (i = 0; i < 4; i++) q[i] = -q[i];
}

/* Key values: all anew, or the first one over and over, or with the rest pose's for a half of the time. */
static uint64_t write_values(pen *p, const sk_channel *channel, const float *rest) {
  uint32_t width = sk_path_width((sk_path)channel->path), k;
  bool constant = chance(p->state, p->wish->constant), resting = chance(p->state, p->wish->resting);
  uint64_t first = p->values.count;
  float *values = sk_array_extend(&p->values, (size_t)channel->key_count * width);
  CHECK(values);
  for (k = 0; k < channel->key_count; k++)
    if (constant && k) memcpy(values + k * width, values, width * sizeof(float));
    else draw_key(p, (sk_path)channel->path, rest, resting && k < (channel->key_count + 1) / 2, values + k * width);
  if (channel->interpolation == SK_CUBIC && channel->path == SK_PATH_ROTATION)
    for (k = 0; k < channel->key_count; k++) keep_side(rest, values + 4 * k);
  return first;
}

static uint64_t write_tangents(pen *p, const sk_channel *channel) {
  size_t floats = (size_t)channel->key_count * sk_path_width((sk_path)channel->path), i;
  uint64_t first = p->values.count;
  double size = chance(p->state, p->wish->constant) ? 0.0 : p->wish->clustered ? 0.1 : 0.5;
  float *values = sk_array_extend(&p->values, floats);
  CHECK(values);
  for (i = 0; i < floats; i++) values[i] = (float)rig_spread(p->state, size);
  return first;
}

static void write_channel(pen *p, int32_t joint, sk_path path, const float *rest) {
  sk_channel *channel = sk_array_extend(&p->channels, 1), made = {joint, path, pick_kind(p), 0};
  size_t line = p->wish->lines == RIG_ONE_LINE ? 0 : check_random(p->state) % LINES;
  CHECK(channel);
  made.times = p->line[line];
  made.key_count = p->line_keys[line];
  if (p->wish->lines == RIG_OWN_LINES) made.times = write_line(p, &made.key_count);
  made.stride = sk_path_width(path);
  made.in_tangents = made.out_tangents = SK_NONE64;
  made.values = write_values(p, &made, rest);
  if (made.interpolation == SK_CUBIC) {
    made.in_tangents = write_tangents(p, &made);
    made.out_tangents = write_tangents(p, &made);
  }
  *channel = made;
}

static void write_channels(pen *p, const rig *r) {
  static const float weight = 0.0f;
  const float *rest[] = {r->translation, r->rotation, r->scale};
  int32_t j;
  int path;
  for (j = p->wish->still_roots ? p->wish->roots : 0; j < p->wish->joints; j++)
    for (path = SK_PATH_TRANSLATION; path <= SK_PATH_SCALE; path++)
      if (chance(p->state, p->wish->moving))
        write_channel(p, j, (sk_path)path, rest[path] + (size_t)j * sk_path_width((sk_path)path));
  if (p->wish->weights)
    for (j = 0; j < 3; j++) write_channel(p, 0, SK_PATH_WEIGHT, &weight);
}

static void *exact(sk_array *array) {
  void *copy = check_copy(array->data, array->count * array->stride);
  sk_array_free(array);
  return copy;
}

static void make_clip(const rig_wish *wish, uint64_t *state, rig *r) {
  pen p = {wish, state, SK_ARRAY(double), SK_ARRAY(float), SK_ARRAY(sk_channel), {0}, {0}};
  int i;
  for (i = 0; i < LINES; i++) p.line[i] = write_line(&p, &p.line_keys[i]);
  write_channels(&p, r);
  r->clip = (sk_clip){.duration = DURATION, .additive = wish->additive, .channel_count = (uint32_t)p.channels.count};
  r->clip.key_tolerance = SK_KEY_TOLERANCE_TICKS / (wish->ticks > 0.0 ? wish->ticks : 1000.0);
  r->clip.channels = r->channels = exact(&p.channels);
  r->clip.times = r->times = exact(&p.times);
  r->clip.values = r->values = exact(&p.values);
}

static void pack_clip(rig *r) {
  sk_clip_record record = {.channel_count = r->clip.channel_count};
  sk_packing packing = {.clips = &record, .clip_count = 1, .channels = r->channels, .times = r->times,
                        .values = r->values};
  CHECK(sk_pack_run(&packing));
  free(r->values);
  r->clip.values = r->values = exact(&packing.packed);
}

void rig_make(const rig_wish *wish, rig *made) {
  uint64_t state = wish->seed * 2654435761u + 88172645463325252u;
  memset(made, 0, sizeof *made);
  make_skeleton(wish, &state, made);
  make_slots(wish, &state, made);
  make_clip(wish, &state, made);
  if (wish->packed) pack_clip(made);
  made->compiled = sk_compile(&made->clip, &made->skeleton, &made->skin, NULL);
}

void rig_free(rig *made) {
  sk_free(made->compiled);
  free(made->parents);
  free(made->slot_joints);
  free(made->translation);
  free(made->rotation);
  free(made->scale);
  free(made->rest_local);
  free(made->inverse_bind);
  free(made->channels);
  free(made->times);
  free(made->values);
}
