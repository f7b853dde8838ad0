/* import_3ds_turn.c: curves of rotations: spherical cubics whose inner points follow from tension, continuity and bias
   (K. Shoemake, Animating Rotation with Quaternion Curves, 1985; D. Kochanek and R. Bartels, 1984; the formulas as lib3ds
   has them). */
#include <math.h>
#include <string.h>

#include "../import_fit.h"
#include "../import_limit.h"
#include "import_3ds_file.h"

#define TOLERANCE 1e-5 /* of a number of a quaternion */
#define ADDED     64   /* keys that may be added for each of the file's */

typedef struct tds_curve {
  const tds_key *keys;
  size_t count;
  const double *inner; /* of each key: the points behind and in front of it, 8 numbers */
} tds_curve;

/* The logarithm of inverse(a) * b, along the shorter arc. */
static void log_between(const double a[4], const double b[4], double out[3]) {
  const double inverse[4] = {-a[0], -a[1], -a[2], a[3]};
  double q[4], length, angle, sign;
  import_quat_multiply(inverse, b, q);
  sign = q[3] < 0.0 ? -1.0 : 1.0;
  length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
  angle = atan2(length, fabs(q[3]));
  out[0] = out[1] = out[2] = 0.0;
  if (length > 1e-12)
    out[0] = sign * angle * q[0] / length, out[1] = sign * angle * q[1] / length, out[2] = sign * angle * q[2] / length;
}

static void move_by(const double q[4], const double log[3], double out[4]) {
  double angle = sqrt(log[0] * log[0] + log[1] * log[1] + log[2] * log[2]),
         s = angle > 1e-12 ? sin(angle) / angle : 1.0;
  const double turn[4] = {s * log[0], s * log[1], s * log[2], cos(angle)};
  import_quat_multiply(q, turn, out);
}

/* How much of the difference to each neighbor the tangents have: into the key, and out of it. `slow` are for spans of
   different lengths. */
static void find_shares(const tds_key *key, const double slow[2], double in[2], double out[2]) {
  double t = 0.5 * (1.0 - key->tension), c = key->continuity, b = key->bias;
  in[0] = slow[0] * t * (1.0 - c) * (1.0 + b), in[1] = slow[0] * t * (1.0 + c) * (1.0 - b);
  out[0] = slow[1] * t * (1.0 + c) * (1.0 + b), out[1] = slow[1] * t * (1.0 - c) * (1.0 - b);
}

/* The points beside key k: `behind` is that of the span which follows it. There are two keys at least. */
static void find_inner(const tds_key *keys, size_t k, size_t count, double behind[4], double front[4]) {
  size_t last = count - 1, first_from = k ? k - 1 : 0, first_to = k < last ? k : last - 1;
  double from[3], to[3], slow[2] = {1.0, 1.0}, in[2], out[2], logs[2][3], c = fabs(keys[k].continuity);
  int i;
  log_between(keys[first_from].rotation, keys[first_from + 1].rotation, from);
  log_between(keys[first_to].rotation, keys[first_to + 1].rotation, to);
  if (k && k < last) {
    double middle = 0.5 * (keys[k + 1].seconds - keys[k - 1].seconds);
    slow[0] = (keys[k].seconds - keys[k - 1].seconds) / middle,
    slow[1] = (keys[k + 1].seconds - keys[k].seconds) / middle;
    for (i = 0; i < 2; i++) slow[i] += c * (1.0 - slow[i]);
  }
  find_shares(&keys[k], slow, in, out);
  for (i = 0; i < 3; i++) {
    logs[0][i] = 0.5 * (out[0] * from[i] + (out[1] - 1.0) * to[i]);
    logs[1][i] = 0.5 * ((1.0 - in[0]) * from[i] - in[1] * to[i]);
  }
  move_by(keys[k].rotation, logs[0], behind);
  move_by(keys[k].rotation, logs[1], front);
}

/* The span that holds a time. */
static size_t span_at(const tds_curve *c, double time) {
  size_t low = 0, high = c->count - 1;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (c->keys[middle].seconds <= time) low = middle;
    else high = middle;
  }
  return low;
}

static void value_at(const void *context, double time, double out[4]) {
  const tds_curve *c = context;
  size_t k = span_at(c, time);
  const tds_key *from = &c->keys[k], *to = from + 1;
  double u = (time - from->seconds) / (to->seconds - from->seconds), outer[4], inner[4];
  u = fmin(fmax(u, 0.0), 1.0);
  import_slerp(from->rotation, to->rotation, u, outer);
  import_slerp(c->inner + 8 * k, c->inner + 8 * (k + 1) + 4, u, inner);
  import_slerp(outer, inner, 2.0 * u * (1.0 - u), out);
}

static sk_status copy_keys(tds *file, const import_fitted *fitted, import_contents_track *track) {
  size_t count = fitted->seconds.count, row = fitted->interpolation == SK_CUBIC ? 12 : 4;
  double *times = import_contents_take(file->job, count, sizeof *times);
  float *values = import_contents_take(file->job, count, row * sizeof *values);
  import_counts counts = {.keys = file->keys += count};
  if (!times || !values) return SK_ERROR_MEMORY;
  memcpy(times, fitted->seconds.data, count * sizeof *times);
  memcpy(values, fitted->values.data, count * row * sizeof *values);
  track->times = times, track->values = values, track->count = (uint32_t)count;
  track->interpolation = fitted->interpolation;
  import_note_add(file->job, NOTE_curve_keys_added, fitted->added, "rotations of a node");
  import_note_add(file->job, NOTE_curves_coarse, fitted->coarse, "rotations of a node");
  return import_check_counts(file->job, &counts);
}

sk_status tds_fit_rotations(tds *file, const tds_key *keys, size_t count, import_contents_track *track) {
  double *inner = sk_alloc(count * 8 * sizeof *inner), *times = sk_alloc(count * sizeof *times);
  tds_curve curve = {keys, count, inner};
  const import_function function = {
      .value = value_at, .context = &curve, .width = 4, .tolerance = TOLERANCE, .second = 1.0};
  import_fitted fitted = {0};
  sk_status status = inner && times ? SK_OK : import_no_memory(file->job, count * 8 * sizeof *inner);
  size_t k;
  for (k = 0; k < count && !status; k++) {
    times[k] = keys[k].seconds;
    find_inner(keys, k, count, inner + 8 * k, inner + 8 * k + 4);
  }
  if (!status) {
    status = import_fit(file->job, &function, times, count, ADDED * count, &fitted);
    if (!status) status = copy_keys(file, &fitted, track);
    import_free_fitted(&fitted);
  }
  sk_free(inner);
  sk_free(times);
  return status;
}
