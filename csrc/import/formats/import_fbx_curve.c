/* import_fbx_curve.c: see import_fbx_curve.h. The flags of keys are those of the FBX SDK (FbxAnimCurveDef). */
#include "import_fbx_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEY_CONSTANT          0x2u
#define KEY_CUBIC             0x8u
#define KEY_CONSTANT_NEXT     0x100u /* of a constant key */
#define KEY_TCB               0x200u /* of a cubic key, like all below */
#define KEY_USER              0x400u
#define KEY_CLAMP             0x1000u
#define KEY_TIME_INDEPENDENT  0x2000u
#define KEY_CLAMP_PROGRESSIVE 0x4000u
#define KEY_RIGHT_WEIGHT      0x1000000u
#define KEY_NEXT_LEFT_WEIGHT  0x2000000u

#define NO_WEIGHT             (1.0f / 3.0f) /* of a tangent without one: the curve is then cubic in time as well */
#define WEIGHT_UNIT           0.0001f       /* weights are packed as two integers of 16 bits */
#define CLAMP_NEAR            0.0           /* values no farther apart than this make a clamped tangent flat */
#define BIAS_SCALE            100.0         /* a bias is in percent */
#define BIAS_LINEAR           5.0           /* biases beyond 500 % add to the slope, by their square */
#define BIAS_SQUARE           40.0
#define NEWTON_STEPS          12
#define MAX_TIME              (INT64_MAX / 4) /* 577 days in the finer unit: so no difference of two times overflows */

/* ---- automatic tangents -------------------------------------------------------------------- */

/* A key with its neighbors, in seconds; count of neighbors tells which are there. */
typedef struct neighborhood {
  double before, after; /* seconds to the neighboring keys; 0: there is none */
  double from, value, to; /* values of the last key, this one and the next */
  float left_weight, right_weight;
  uint32_t flags;
} neighborhood;

/* A slope is limited so that the curve does not go beyond its keys: in magnitude, on both sides. */
static double clamp_progressive(const neighborhood *n, double slope) {
  double sign = slope >= 0.0 ? 1.0 : -1.0, size = sign * slope;
  double left = n->left_weight * n->before, right = n->right_weight * n->after;
  double max_left = left > 0.0 ? sign * (n->value - n->from) / left : 0.0;
  double max_right = right > 0.0 ? sign * (n->to - n->value) / right : 0.0;
  if (!(max_left > 0.0)) max_left = 0.0;
  if (!(max_right > 0.0)) max_right = 0.0;
  return sign * fmin(size, fmin(max_left, max_right));
}

/* The slope of an automatic tangent between two neighbors: the mean of the slope over both spans and of the slopes of
   the spans, the nearer one weighted more; a bias moves it towards one of them. */
static double auto_slope(const neighborhood *n, double bias) {
  double left = (n->value - n->from) / n->before, right = (n->to - n->value) / n->after;
  double slope = (n->to - n->from) / (n->before + n->after), part = n->before / (n->before + n->after);
  if (n->flags & KEY_CLAMP && fmin(fabs(n->from - n->value), fabs(n->to - n->value)) <= CLAMP_NEAR) return 0.0;
  if (!(n->flags & KEY_TIME_INDEPENDENT)) {
    double amount = fabs(bias) / BIAS_SCALE, target = bias > 0.0 ? right : left;
    slope = 0.5 * slope + 0.5 * (left * (1.0 - part) + right * part);
    if (amount > 1e-4) {
      double toward = target - slope, beyond = fmax(amount - BIAS_LINEAR, 0.0);
      double sign = (fabs(toward) > 1e-5 ? toward : bias) > 0.0 ? 1.0 : -1.0;
      slope = slope * (1.0 - amount) + target * amount + beyond * beyond * sign * BIAS_SQUARE;
    }
  }
  return n->flags & KEY_CLAMP_PROGRESSIVE ? clamp_progressive(n, slope) : slope;
}

/* The slope of an automatic tangent at the first or the last key. */
static double auto_edge_slope(const neighborhood *n, double bias) {
  bool last = n->before > 0.0;
  double step = last ? n->value - n->from : n->to - n->value, slope = step / (last ? n->before : n->after);
  double beyond = fmax(fabs(bias) / BIAS_SCALE - BIAS_LINEAR, 0.0);
  if (n->flags & KEY_CLAMP_PROGRESSIVE) return 0.0;
  if (n->flags & KEY_CLAMP && fabs(step) <= CLAMP_NEAR) return 0.0;
  if (n->flags & KEY_TIME_INDEPENDENT) return slope;
  return slope + beyond * beyond * (bias > 0.0 ? 1.0 : -1.0) * BIAS_SQUARE;
}

/* `left` and `right` hold the biases of the tangents, which the file has in the place of slopes. */
static void auto_tangents(const neighborhood *n, float *left, float *right) {
  if (n->before > 0.0 && n->after > 0.0) {
    double shared = *right;
    if (fabsf(*left + *right) <= 1e-4f) {
      *left = *right = (float)auto_slope(n, shared);
    } else {
      *left = (float)auto_slope(n, -(double)*left);
      *right = (float)auto_slope(n, shared);
    }
  } else if (n->before > 0.0) {
    *left = *right = (float)auto_edge_slope(n, -(double)*left);
  } else {
    *left = *right = n->after > 0.0 ? (float)auto_edge_slope(n, *right) : 0.0f;
  }
}

/* Tension, continuity and bias (Kochanek and Bartels 1984). At an edge the slope of the only span counts whole. */
static void tcb_tangents(const neighborhood *n, const float tcb[3], float *left, float *right) {
  double t = tcb[0], c = tcb[1], b = tcb[2], factor = n->before > 0.0 && n->after > 0.0 ? 0.5 : 1.0;
  double from = n->before > 0.0 ? (n->value - n->from) / n->before : 0.0;
  double to = n->after > 0.0 ? (n->to - n->value) / n->after : 0.0;
  *left = (float)(factor * (1.0 - t) * ((1.0 + b) * (1.0 - c) * from + (1.0 - b) * (1.0 + c) * to));
  *right = (float)(factor * (1.0 - t) * ((1.0 + b) * (1.0 + c) * from + (1.0 - b) * (1.0 - c) * to));
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* The arrays of a curve object. */
typedef struct curve_arrays {
  sk_array times, flags, references; /* int64_t */
  sk_array data; /* uint32_t: the bits of four floats for each group of keys */
  fbx_numbers values;
} curve_arrays;

static sk_status read_arrays(const fbx_document *d, const fbx_object *object, curve_arrays *a) {
  const fbx_file *file = &d->file;
  fbx_record record;
  sk_status status = SK_OK;
  size_t at;
  for (at = object->inside; !status && fbx_read_record(file, at, object->inside_end, &record); at = record.end) {
    if (fbx_is_named(&record, "KeyTime") && !a->times.data) status = fbx_read_wholes(d->job, file, &record, &a->times);
    else if (fbx_is_named(&record, "KeyValueFloat") && !a->values.values)
      status = fbx_read_numbers(d->job, file, &record, &a->values);
    else if (fbx_is_named(&record, "KeyAttrFlags") && !a->flags.data)
      status = fbx_read_wholes(d->job, file, &record, &a->flags);
    else if (fbx_is_named(&record, "KeyAttrDataFloat") && !a->data.data)
      status = fbx_read_bits(d->job, file, &record, &a->data);
    else if (fbx_is_named(&record, "KeyAttrRefCount") && !a->references.data)
      status = fbx_read_wholes(d->job, file, &record, &a->references);
  }
  return status;
}

static void free_arrays(curve_arrays *a) {
  sk_array_free(&a->times);
  sk_array_free(&a->flags);
  sk_array_free(&a->references);
  sk_array_free(&a->data);
  fbx_free_numbers(&a->values);
}

static void read_outside(const fbx_document *d, const fbx_object *object, const char *name, fbx_outside *kind,
                         int64_t *count) {
  fbx_record outside, record;
  fbx_value value;
  *kind = FBX_OUTSIDE_CONSTANT;
  *count = -1;
  if (!fbx_find(&d->file, object->inside, object->inside_end, name, &outside)) return;
  if (fbx_find(&d->file, outside.inside, outside.inside_end, "Type", &record)) {
    size_t at = record.values;
    int letter = 0;
    if (fbx_read_values(&d->file, &record, &value, 1))
      letter = value.text && value.length ? *value.text : (int)value.whole;
    if (!d->file.width) { /* in a text, the letter stands there without quotation marks */
      while (at < record.values_end && d->file.data[at] <= ' ') at++;
      letter = at < record.values_end ? d->file.data[at] : 0;
      if (letter == '"' && at + 1 < record.values_end) letter = d->file.data[at + 1];
    }
    *kind = letter == 'R'   ? FBX_OUTSIDE_REPEAT
            : letter == 'M' ? FBX_OUTSIDE_MIRROR
            : letter == 'K' ? FBX_OUTSIDE_SLOPE
            : letter == 'A' ? FBX_OUTSIDE_REPEAT_RELATIVE
                            : FBX_OUTSIDE_CONSTANT;
  }
  if (fbx_find(&d->file, outside.inside, outside.inside_end, "Repetition", &record) &&
      fbx_read_values(&d->file, &record, &value, 1) && value.whole >= 0)
    *count = value.whole;
}

static int compare_keys(const void *a, const void *b) {
  const fbx_key *x = a, *y = b;
  return x->time < y->time ? -1 : x->time > y->time;
}

/* The attributes of a group of keys. */
typedef struct key_group {
  uint32_t flags;
  float data[3]; /* right slope, next left slope, and either packed weights or a third number of TCB */
  uint32_t weights;
} key_group;

/* Groups follow each other; each is for as many keys as its reference count says. A curve without attributes, as some
   writers leave it, is linear. */
static key_group next_group(const curve_arrays *a, size_t *group, int64_t *left) {
  const int64_t *flags = a->flags.data, *references = a->references.data;
  const uint32_t *data = a->data.data;
  key_group g = {.flags = 0};
  while (*left <= 0 && *group + 1 < a->references.count) *left = references[++*group];
  if (*group < a->flags.count) g.flags = (uint32_t)flags[*group];
  if (4 * *group + 3 < a->data.count) {
    memcpy(g.data, data + 4 * *group, sizeof g.data);
    g.weights = data[4 * *group + 2];
  }
  if (*left > 0) --*left;
  return g;
}

static float finite_or_zero(float value) { return import_is_bad(value) ? 0.0f : value; }

/* Fills in the segments and tangents of keys whose times and values are known and in order. */
static void set_tangents(const curve_arrays *a, fbx_key *keys, size_t count, double second) {
  size_t group = 0, i;
  int64_t left = a->references.count ? ((const int64_t *)a->references.data)[0] : INT64_MAX;
  float left_slope = 0.0f, left_weight = NO_WEIGHT; /* which the last key gives to this one */
  for (i = 0; i < count; i++) {
    key_group g = next_group(a, &group, &left);
    fbx_key *key = &keys[i];
    float right = finite_or_zero(g.data[0]), next_left = finite_or_zero(g.data[1]), right_weight = NO_WEIGHT,
          next_weight = NO_WEIGHT;
    neighborhood n = {.value = key->value, .left_weight = left_weight, .flags = g.flags};
    if (i > 0) n.from = keys[i - 1].value, n.before = (double)(key->time - keys[i - 1].time) / second;
    if (i + 1 < count) n.to = keys[i + 1].value, n.after = (double)(keys[i + 1].time - key->time) / second;
    if (g.flags & KEY_RIGHT_WEIGHT) right_weight = (float)(g.weights & 0xffff) * WEIGHT_UNIT;
    if (g.flags & KEY_NEXT_LEFT_WEIGHT) next_weight = (float)(g.weights >> 16) * WEIGHT_UNIT;
    n.right_weight = right_weight;
    if (g.flags & KEY_CONSTANT) {
      key->segment = g.flags & KEY_CONSTANT_NEXT ? FBX_CONSTANT_NEXT : FBX_CONSTANT;
      right = next_left = 0.0f, right_weight = next_weight = NO_WEIGHT;
    } else if (g.flags & KEY_CUBIC) {
      key->segment = FBX_CUBIC;
      if (g.flags & KEY_TCB) {
        float tcb[3] = {finite_or_zero(g.data[0]), finite_or_zero(g.data[1]), finite_or_zero(g.data[2])};
        tcb_tangents(&n, tcb, &left_slope, &right);
        next_left = 0.0f, right_weight = next_weight = NO_WEIGHT;
      } else if (!(g.flags & KEY_USER)) {
        auto_tangents(&n, &left_slope, &right);
      }
    } else {
      key->segment = FBX_LINEAR;
      right = next_left = n.after > 0.0 ? (float)((n.to - n.value) / n.after) : 0.0f;
      right_weight = next_weight = NO_WEIGHT;
    }
    key->left_slope = finite_or_zero(left_slope), key->left_weight = left_weight;
    key->right_slope = finite_or_zero(right), key->right_weight = right_weight;
    left_slope = next_left, left_weight = next_weight;
  }
}

static void describe(fbx_curve *curve) {
  size_t i;
  curve->is_flat = true;
  for (i = 0; i < curve->count && curve->is_flat; i++) {
    const fbx_key *key = &curve->keys[i];
    curve->is_flat = key->value == curve->keys[0].value && key->left_slope == 0.0f && key->right_slope == 0.0f;
  }
}

static int64_t limit_time(int64_t time) { return time < -MAX_TIME ? -MAX_TIME : time > MAX_TIME ? MAX_TIME : time; }

static sk_status make_keys(const fbx_document *d, const curve_arrays *a, fbx_curve *curve) {
  size_t count = a->times.count < a->values.count ? a->times.count : a->values.count, kept = 0, i;
  const int64_t *times = a->times.data;
  if (!count) return SK_OK;
  curve->keys = sk_alloc_zero(count * sizeof *curve->keys);
  if (!curve->keys) return import_no_memory(d->job, count * sizeof *curve->keys);
  for (i = 0; i < count; i++) curve->keys[i] = (fbx_key){.time = limit_time(times[i]), .value = a->values.values[i]};
  for (i = 1; i < count && curve->keys[i].time >= curve->keys[i - 1].time; i++) continue;
  if (i < count) qsort(curve->keys, count, sizeof *curve->keys, compare_keys);
  set_tangents(a, curve->keys, count, d->second);
  for (i = 0; i < count; i++) { /* of keys at one time the last counts, as for the SDK */
    if (import_is_bad((float)curve->keys[i].value)) continue;
    if (kept && curve->keys[kept - 1].time == curve->keys[i].time) kept--;
    curve->keys[kept++] = curve->keys[i];
  }
  if (kept < count) import_note_add(d->job, NOTE_key_times_repaired, count - kept, "keys of a curve");
  curve->count = kept;
  return SK_OK;
}

sk_status fbx_read_curve(const fbx_document *d, uint32_t index, fbx_curve *curve) {
  const fbx_object *object = fbx_object_at(d, index);
  curve_arrays arrays = {.times = SK_ARRAY(int64_t),
                         .flags = SK_ARRAY(int64_t),
                         .references = SK_ARRAY(int64_t),
                         .data = SK_ARRAY(uint32_t)};
  sk_status status = read_arrays(d, object, &arrays);
  *curve = (fbx_curve){0};
  if (!status) status = make_keys(d, &arrays, curve);
  free_arrays(&arrays);
  read_outside(d, object, "Pre-Extrapolation", &curve->before, &curve->before_count);
  read_outside(d, object, "Post-Extrapolation", &curve->after, &curve->after_count);
  describe(curve);
  return status;
}

void fbx_free_curve(fbx_curve *curve) {
  sk_free(curve->keys);
  curve->keys = NULL;
  curve->count = 0;
}

/* ---- evaluating ------------------------------------------------------------------------------------ */

/* The parameter at which a Bezier curve from 0 to 1 with the inner control points p1 and p2 has the value x: by
   Newton's method, kept inside the bracket by bisection. */
static double bezier_parameter(double p1, double p2, double x) {
  double c = 3.0 * p1, b = 3.0 * (p2 - 2.0 * p1), a = 1.0 + 3.0 * (p1 - p2), low = 0.0, high = 1.0, t = x;
  int i;
  for (i = 0; i < 4 * NEWTON_STEPS; i++) {
    double error = ((a * t + b) * t + c) * t - x, slope = (3.0 * a * t + 2.0 * b) * t + c, next;
    if (fabs(error) <= 1e-15) break;
    if (error > 0.0) high = t;
    else low = t;
    next = t - error / slope;
    t = i < NEWTON_STEPS && next > low && next < high ? next : 0.5 * (low + high);
  }
  return t;
}

static double segment_value(const fbx_key *from, const fbx_key *to, double time, double second) {
  double span = (double)(to->time - from->time), u = (time - (double)from->time) / span, v;
  double y1, y2, p1, p2;
  if (from->segment == FBX_CONSTANT) return from->value;
  if (from->segment == FBX_CONSTANT_NEXT) return u > 0.0 ? to->value : from->value;
  if (from->segment == FBX_LINEAR) return from->value * (1.0 - u) + to->value * u;
  p1 = from->right_weight, p2 = 1.0 - to->left_weight;
  if (from->right_weight != NO_WEIGHT || to->left_weight != NO_WEIGHT) u = bezier_parameter(p1, p2, u);
  y1 = from->value + from->right_slope * from->right_weight * (span / second);
  y2 = to->value - to->left_slope * to->left_weight * (span / second);
  v = 1.0 - u;
  return v * v * v * from->value + 3.0 * (v * v * u * y1 + v * u * u * y2) + u * u * u * to->value;
}

/* Within the keys. */
static double inside_value(const fbx_curve *curve, double time, double second) {
  size_t low = 0, high = curve->count;
  if (time <= (double)curve->keys[0].time) return curve->keys[0].value;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if ((double)curve->keys[middle].time <= time) low = middle;
    else high = middle;
  }
  if (high == curve->count) return curve->keys[low].value;
  return segment_value(&curve->keys[low], &curve->keys[high], time, second);
}

/* Before the first or after the last key. Repetitions are counted from the nearer end; the first is number 0. */
static double outside_value(const fbx_curve *curve, double time, double second) {
  const fbx_key *first = curve->keys, *last = curve->keys + curve->count - 1;
  bool before = time < (double)first->time;
  const fbx_key *edge = before ? first : last;
  fbx_outside kind = before ? curve->before : curve->after;
  int64_t most = before ? curve->before_count : curve->after_count;
  double length = (double)(last->time - first->time), distance, number, rest, value;
  distance = before ? (double)first->time - time : time - (double)last->time;
  if (kind == FBX_OUTSIDE_SLOPE) {
    double slope = before ? edge->right_slope : edge->left_slope;
    return edge->value + (before ? -1.0 : 1.0) * slope * distance / second;
  }
  if (kind == FBX_OUTSIDE_CONSTANT || !most || !(length >= 1.0)) return edge->value;
  number = floor(distance / length);
  rest = distance - number * length;
  if (most > 0 && number >= (double)most) number = (double)(most - 1), rest = length;
  if (kind == FBX_OUTSIDE_MIRROR && fmod(number, 2.0) == 0.0) rest = length - rest;
  if (before) rest = length - rest;
  value = inside_value(curve, (double)first->time + rest, second);
  if (kind == FBX_OUTSIDE_REPEAT_RELATIVE)
    value += (before ? -1.0 : 1.0) * (last->value - first->value) * (number + 1.0);
  return value;
}

double fbx_curve_value(const fbx_curve *curve, double time, double second) {
  if (curve->count == 1) return curve->keys[0].value;
  if (time < (double)curve->keys[0].time || time > (double)curve->keys[curve->count - 1].time)
    return outside_value(curve, time, second);
  return inside_value(curve, time, second);
}
