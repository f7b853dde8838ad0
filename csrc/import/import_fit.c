/* import_fit.c: see import_fit.h. */
#include "import_fit.h"

#include <math.h>
#include <string.h>

#include "import_channel.h"

#define FEW_COARSE     16      /* spans of a channel, of some microseconds each, in which the function jumps */
#define SHARE_OF_ANGLE 0.2 /* part of the bound for an error that the whole body below a joint makes larger */
#define SHARE_OF_SHIFT 0.5
#define DEFAULT_ERROR  1e-5
#define EDGE           1e-6   /* part of a span: values so near to its ends stand for one-sided limits */
#define DERIVE         1e-4   /* part of a span: step of the one-sided differences that give tangents */
#define MAX_HALVINGS   16     /* of a span */
#define MAX_ADDED      100000 /* keys of one channel that are added at most */
#define LINEAR_EXTRA   3      /* halvings of a span that is linear except that its arc is too long */

/* ---- rotations ------------------------------------------------------------------------------------- */

void import_quat_multiply(const double a[4], const double b[4], double out[4]) {
  double x = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
  double y = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
  double z = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
  double w = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
  out[0] = x, out[1] = y, out[2] = z, out[3] = w;
}

void import_slerp(const double a[4], const double b[4], double u, double out[4]) {
  double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3], sign = dot < 0.0 ? -1.0 : 1.0, angle, wa, wb;
  int i;
  dot *= sign;
  if (dot > 1.0 - 1e-12) {
    wa = 1.0 - u, wb = sign * u;
  } else {
    angle = acos(dot);
    wa = sin((1.0 - u) * angle) / sin(angle), wb = sign * sin(u * angle) / sin(angle);
  }
  for (i = 0; i < 4; i++) out[i] = wa * a[i] + wb * b[i];
}

/* A key in the making: where the function jumps, a time has several. */
typedef struct fit_key {
  double time;
  double value[4], in[4], out[4];
} fit_key;

typedef struct fitter {
  import_job *job;
  const import_function *f;
  sk_array keys; /* fit_key */
  size_t added, max_added, coarse;
  bool cubic;
} fitter;

static double largest_difference(const import_function *f, const double a[4], const double b[4]) {
  double largest = 0.0;
  uint32_t i;
  for (i = 0; i < f->width; i++) largest = fmax(largest, fabs(a[i] - b[i]));
  return largest;
}

/* The value, with the quaternion in the hemisphere of `near`. */
static void value_near(const import_function *f, double time, const double near[4], double out[4]) {
  double dot;
  int i;
  f->value(f->context, time, out);
  if (f->width != 4 || !near) return;
  dot = out[0] * near[0] + out[1] * near[1] + out[2] * near[2] + out[3] * near[3];
  for (i = 0; i < 4 && dot < 0.0; i++) out[i] = -out[i];
}

static void normalize(double q[4]) {
  double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  int i;
  for (i = 0; i < 4 && length > 0.0; i++) q[i] /= length;
}

/* ---- one span ---------------------------------------------------------------------------------------- */

typedef struct span { /* from one key to the next; the function is smooth inside */
  double start, end;
  double from[4], to[4]; /* one-sided limits */
} span;

static void straight(const import_function *f, const span *s, double u, double out[4]) {
  uint32_t i;
  if (f->width == 4) import_slerp(s->from, s->to, u, out);
  for (i = 0; i < f->width && f->width < 4; i++) out[i] = (1.0 - u) * s->from[i] + u * s->to[i];
}

/* Hermite's cubic, as it is played; tangents are per unit of time. */
static void curved(const import_function *f, const span *s, const double out_of[4], const double into[4], double u,
                   double out[4]) {
  double length = s->end - s->start, u2 = u * u, u3 = u2 * u;
  uint32_t i;
  for (i = 0; i < f->width; i++)
    out[i] = (2.0 * u3 - 3.0 * u2 + 1.0) * s->from[i] + (u3 - 2.0 * u2 + u) * length * out_of[i] +
             (3.0 * u2 - 2.0 * u3) * s->to[i] + (u3 - u2) * length * into[i];
  if (f->width == 4) normalize(out);
}

/* Derivatives at both ends, from inside the span, by differences of second order. */
static void tangents(const import_function *f, const span *s, double out_of[4], double into[4]) {
  double step = DERIVE * (s->end - s->start), a[4], b[4];
  uint32_t i;
  value_near(f, s->start + step, s->from, a);
  value_near(f, s->start + 2.0 * step, s->from, b);
  for (i = 0; i < f->width; i++) out_of[i] = (4.0 * a[i] - 3.0 * s->from[i] - b[i]) / (2.0 * step);
  value_near(f, s->end - step, s->to, a);
  value_near(f, s->end - 2.0 * step, s->to, b);
  for (i = 0; i < f->width; i++) into[i] = (3.0 * s->to[i] - 4.0 * a[i] + b[i]) / (2.0 * step);
}

/* Largest error between the keys, of straight or of curved spans, at moments that no symmetry hides. */
static double error_of(const import_function *f, const span *s, const double out_of[4], const double into[4]) {
  static const double parts[] = {0.08, 0.25, 0.43, 0.61, 0.78, 0.94};
  double worst = 0.0, exact[4], got[4];
  size_t i;
  for (i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (out_of) curved(f, s, out_of, into, parts[i], got);
    else straight(f, s, parts[i], got);
    value_near(f, s->start + parts[i] * (s->end - s->start), got, exact);
    worst = fmax(worst, largest_difference(f, exact, got));
    if (worst > f->tolerance) break;
  }
  return worst;
}

static bool is_constant(const import_function *f, const span *s) {
  double middle[4];
  value_near(f, 0.5 * (s->start + s->end), s->from, middle);
  return largest_difference(f, s->from, s->to) <= 0.1 * f->tolerance &&
         largest_difference(f, s->from, middle) <= 0.1 * f->tolerance && error_of(f, s, NULL, NULL) <= f->tolerance;
}

/* ---- keys ------------------------------------------------------------------------------------------------ */

static fit_key *add_key(fitter *t, double time, const double value[4]) {
  fit_key *key = sk_array_extend(&t->keys, 1);
  if (!key) {
    import_no_memory(t->job, sizeof *key);
    return NULL;
  }
  key->time = time;
  memcpy(key->value, value, sizeof key->value);
  return key;
}

/* Makes the keys of a span after its first one, which is the last of the list; the end is a key as well. */
static bool fit_span(fitter *t, const span *whole) {
  const import_function *f = t->f;
  span list[MAX_HALVINGS + 2];
  int depths[MAX_HALVINGS + 2], count = 1;
  list[0] = *whole, depths[0] = 0;
  while (count) {
    span s = list[--count];
    int depth = depths[count];
    double out_of[4] = {0}, into[4] = {0}, middle[4], at = 0.5 * (s.start + s.end);
    bool good;
    fit_key *key;
    if (t->cubic) tangents(f, &s, out_of, into);
    good = error_of(f, &s, t->cubic ? out_of : NULL, into) <= f->tolerance;
    if (!good && depth < MAX_HALVINGS && t->added < t->max_added) {
      value_near(f, at, s.from, middle);
      list[count] = (span){at, s.end, {0}, {0}}, depths[count] = depth + 1;
      memcpy(list[count].from, middle, sizeof middle);
      value_near(f, s.end, middle, list[count].to);
      memcpy(list[count].to, s.to, sizeof s.to);
      list[++count] = (span){s.start, at, {0}, {0}}, depths[count] = depth + 1;
      memcpy(list[count].from, s.from, sizeof middle);
      memcpy(list[count++].to, middle, sizeof middle);
      t->added++;
      continue;
    }
    t->coarse += !good;
    if (t->keys.count) memcpy(((fit_key *)t->keys.data)[t->keys.count - 1].out, out_of, sizeof out_of);
    key = add_key(t, s.end, s.to);
    if (!key) return false;
    memcpy(key->in, into, sizeof into);
  }
  return true;
}

/* The spans between the given times, with their one-sided limits in one hemisphere after another. */
static bool make_spans(fitter *t, const double *times, size_t count, sk_array *spans) {
  const import_function *f = t->f;
  double near[4];
  size_t i;
  f->value(f->context, times[0], near);
  for (i = 0; i + 1 < count; i++) {
    double edge = EDGE * (times[i + 1] - times[i]);
    span *s = sk_array_extend(spans, 1);
    if (!s) return false;
    s->start = times[i], s->end = times[i + 1];
    value_near(f, times[i] + edge, near, s->from);
    value_near(f, times[i + 1] - edge, s->from, s->to);
    memcpy(near, s->to, sizeof near);
  }
  return true;
}

/* At a given time the function has a value of its own; where the neighboring limits differ from it, it jumps. A limit
   that is the value but for its distance from it becomes the value. */
static void join_limits(const import_function *f, double time, span *before, span *after, double value[4],
                        bool *jumps_in, bool *jumps_out) {
  double range = 0.0, near;
  if (before) range = fmax(range, largest_difference(f, before->from, before->to));
  if (after) range = fmax(range, largest_difference(f, after->from, after->to));
  near = fmax(f->tolerance, 100.0 * EDGE * range);
  value_near(f, time, before ? before->to : after ? after->from : NULL, value);
  *jumps_in = before && largest_difference(f, before->to, value) > near;
  *jumps_out = after && largest_difference(f, after->from, value) > near;
  if (before && !*jumps_in) memcpy(before->to, value, 4 * sizeof *value);
  if (after && !*jumps_out) memcpy(after->from, value, 4 * sizeof *value);
}

/* Keys that step: one at each time, and one right after it where the value jumps behind it. */
static sk_status step_keys(fitter *t, const double *times, size_t count, span *spans) {
  double jump = IMPORT_JUMP * t->f->second, value[4];
  bool in, out;
  size_t i;
  for (i = 0; i < count; i++) {
    span *after = i + 1 < count ? &spans[i] : NULL;
    join_limits(t->f, times[i], i ? &spans[i - 1] : NULL, after, value, &in, &out);
    if (!add_key(t, times[i], value)) return SK_ERROR_MEMORY;
    if (out && times[i] + jump < times[i + 1] && !add_key(t, times[i] + jump, after->from)) return SK_ERROR_MEMORY;
  }
  return SK_OK;
}

static sk_status smooth_keys(fitter *t, const double *times, size_t count, span *spans) {
  double jump = IMPORT_JUMP * t->f->second, value[4];
  bool in = false, out = false;
  size_t i;
  join_limits(t->f, times[0], NULL, count > 1 ? &spans[0] : NULL, value, &in, &out);
  if (!add_key(t, times[0], value)) return SK_ERROR_MEMORY;
  for (i = 0; i + 1 < count; i++) {
    span *s = &spans[i];
    if (out && s->start + 3.0 * jump < s->end) {
      s->start += jump;
      if (!add_key(t, s->start, s->from)) return SK_ERROR_MEMORY;
    }
    join_limits(t->f, times[i + 1], s, i + 2 < count ? &spans[i + 1] : NULL, value, &in, &out);
    if (in && s->start + 3.0 * jump < s->end) s->end -= jump;
    if (!fit_span(t, s)) return SK_ERROR_MEMORY;
    if (in && s->end < times[i + 1] && !add_key(t, times[i + 1], value)) return SK_ERROR_MEMORY;
  }
  return SK_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------------------ */

/* Whether all spans are constant, or all go straight; a long arc may be halved for that. */
static void classify(const fitter *t, const span *spans, size_t count, bool *steps, bool *straight_on) {
  size_t i;
  *steps = *straight_on = true;
  for (i = 0; i < count && (*steps || *straight_on); i++) {
    span parts[1 << LINEAR_EXTRA];
    size_t k, parts_count = 1;
    if (*steps && !is_constant(t->f, &spans[i])) *steps = false;
    parts[0] = spans[i];
    while (*straight_on && error_of(t->f, &parts[0], NULL, NULL) > t->f->tolerance && parts_count < 1 << LINEAR_EXTRA) {
      parts_count *= 2;
      parts[0].end = spans[i].start + (spans[i].end - spans[i].start) / (double)parts_count;
      value_near(t->f, parts[0].end, parts[0].from, parts[0].to);
    }
    *straight_on = *straight_on && error_of(t->f, &parts[0], NULL, NULL) <= t->f->tolerance;
    for (k = 1; *straight_on && k < parts_count; k++) {
      double step = (spans[i].end - spans[i].start) / (double)parts_count;
      span s = {spans[i].start + step * (double)k, spans[i].start + step * (double)(k + 1), {0}, {0}};
      value_near(t->f, s.start, NULL, s.from);
      value_near(t->f, s.end - EDGE * step, s.from, s.to);
      *straight_on = error_of(t->f, &s, NULL, NULL) <= t->f->tolerance;
    }
  }
}

/* Whether the function has the same value all the time: at the given times, one more than spans, and between. */
static bool is_one_value(const fitter *t, const double *times, const span *spans, size_t count) {
  double first[4], value[4];
  size_t i;
  t->f->value(t->f->context, times[0], first);
  for (i = 0; i < count; i++) {
    value_near(t->f, times[i + 1], first, value);
    if (!is_constant(t->f, &spans[i]) || largest_difference(t->f, first, spans[i].to) > 0.1 * t->f->tolerance ||
        largest_difference(t->f, first, value) > 0.1 * t->f->tolerance)
      return false;
  }
  return true;
}

static sk_status write_keys(const fitter *t, import_fitted *fitted) {
  const fit_key *keys = t->keys.data;
  bool cubic = fitted->interpolation == SK_CUBIC;
  uint32_t width = t->f->width, k;
  double *seconds = sk_array_room(&fitted->seconds, t->keys.count);
  float *values = sk_array_room(&fitted->values, t->keys.count * width * (cubic ? 3 : 1));
  size_t i;
  if (!seconds || !values) return import_no_memory(t->job, t->keys.count * sizeof *seconds);
  for (i = 0; i < t->keys.count; i++) {
    seconds[i] = (keys[i].time - t->f->origin) / t->f->second;
    for (k = 0; k < width && cubic; k++) *values++ = (float)(keys[i].in[k] * t->f->second);
    for (k = 0; k < width; k++) *values++ = (float)keys[i].value[k];
    for (k = 0; k < width && cubic; k++) *values++ = (float)(keys[i].out[k] * t->f->second);
  }
  return SK_OK;
}

sk_status import_fit(import_job *job, const import_function *function, const double *times, size_t count,
                     size_t max_added, import_fitted *fitted) {
  fitter t = {.job = job, .f = function, .keys = SK_ARRAY(fit_key)};
  sk_array spans = SK_ARRAY(span);
  bool steps, straight_on;
  sk_status status = SK_OK;
  t.max_added = max_added < MAX_ADDED ? max_added : MAX_ADDED;
  *fitted = (import_fitted){.interpolation = SK_LINEAR, .seconds = SK_ARRAY(double), .values = SK_ARRAY(float)};
  if (!make_spans(&t, times, count, &spans)) status = import_no_memory(job, sizeof(span));
  if (!status && is_one_value(&t, times, spans.data, spans.count)) {
    count = 1; /* one key holds it */
    spans.count = 0;
  }
  if (!status) {
    classify(&t, spans.data, spans.count, &steps, &straight_on);
    fitted->interpolation = steps && count > 1 ? SK_STEP : straight_on ? SK_LINEAR : SK_CUBIC;
    t.cubic = fitted->interpolation == SK_CUBIC;
    status = (fitted->interpolation == SK_STEP ? step_keys : smooth_keys)(&t, times, count, spans.data);
  }
  if (!status) status = write_keys(&t, fitted);
  fitted->added = t.added;
  fitted->coarse = t.coarse;
  sk_array_free(&spans);
  sk_array_free(&t.keys);
  return status;
}

void import_free_fitted(import_fitted *fitted) {
  sk_array_free(&fitted->seconds);
  sk_array_free(&fitted->values);
}

/* ---- channels of a model ------------------------------------------------------------------------------------------ */

/* The longest column of a 3x4 matrix; 1 where there is no length. */
static double scale_of(const double *g) {
  double largest = 0.0;
  int column;
  for (column = 0; column < 3; column++)
    largest =
        fmax(largest, sqrt(g[column] * g[column] + g[4 + column] * g[4 + column] + g[8 + column] * g[8 + column]));
  return largest > 1e-9 ? largest : 1.0;
}

double import_fit_unit(const import_model *m) { return scale_of(m->globals); }

double import_fit_size(const import_model *m) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0.0;
  size_t i;
  int axis;
  for (i = 0; i < m->nodes.count; i++)
    for (axis = 0; axis < 3; axis++) {
      low[axis] = fmin(low[axis], m->globals[12 * i + 4 * (size_t)axis + 3]);
      high[axis] = fmax(high[axis], m->globals[12 * i + 4 * (size_t)axis + 3]);
    }
  for (axis = 0; axis < 3; axis++) size = fmax(size, high[axis] - low[axis]);
  for (axis = 0; axis < 3; axis++) low[axis] = INFINITY, high[axis] = -INFINITY;
  for (i = 0; i < m->vertex_count; i++)
    for (axis = 0; axis < 3; axis++) {
      low[axis] = fmin(low[axis], m->positions[3 * i + (size_t)axis]);
      high[axis] = fmax(high[axis], m->positions[3 * i + (size_t)axis]);
    }
  for (axis = 0; axis < 3 && m->vertex_count; axis++) size = fmax(size, (high[axis] - low[axis]) * import_fit_unit(m));
  return size > 0.0 ? size : 1.0;
}

/* How much longer a unit of the joint's parent is in the scene. */
static double scale_above(const import_model *m, size_t joint) {
  int32_t parent = ((const int32_t *)m->parents.data)[joint];
  return parent < 0 ? 1.0 : scale_of(m->globals + 12 * (size_t)parent);
}

double import_fit_tolerance(const import_job *job, sk_path path, size_t joint, double size) {
  double bound = job->request->curve_error > 0.0 ? job->request->curve_error : DEFAULT_ERROR;
  if (path != SK_PATH_TRANSLATION) return SHARE_OF_ANGLE * bound;
  return SHARE_OF_SHIFT * bound * size / scale_above(&job->model, joint);
}

sk_status import_fit_channel(import_clip *clip, const import_function *f, const import_fit_times *times, int32_t joint,
                             sk_path path) {
  import_fitted fitted;
  import_track track;
  size_t lost;
  sk_status status = import_fit(clip->job, f, times->times, times->count, *times->left / times->cost, &fitted);
  *times->left -= fitted.added * times->cost;
  track = (import_track){.joint = joint,
                         .path = path,
                         .interpolation = fitted.interpolation,
                         .count = (uint32_t)fitted.seconds.count,
                         .values = fitted.values.data,
                         .seconds = fitted.seconds.data,
                         .stride = 1};
  if (!status) status = import_add_channel(clip, &track);
  lost = (fitted.coarse > FEW_COARSE ? fitted.coarse : 0) + times->is_cut;
  if (!status && fitted.added)
    import_note_add(clip->job, NOTE_curve_keys_added, fitted.added, "clip '%.100s': the first joint or target is %d",
                    clip->title, joint);
  if (!status && lost)
    import_note_add(clip->job, NOTE_curves_coarse, fitted.coarse + times->is_cut,
                    "clip '%.100s': the first joint or target is %d", clip->title, joint);
  import_free_fitted(&fitted);
  return status;
}
