/* import_collada_curve.c: samplers of COLLADA as functions of time (1.4.1, "Interpolation" and "Curve Interpolation").

   Every number of a value is interpolated by itself. Before the first key and behind the last one a curve keeps their
   values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_fit.h"
#include "import_collada.h"

#define MAX_STEPS 60     /* of the search for a time on a curve */
#define TOLERANCE 1e-5   /* of a matrix: what translation, rotation and scale cannot hold of it */

/* ---- reading ----------------------------------------------------------------------------------------- */

static bool has_tangents(const dae_curve *curve, const dae_source *tangents, size_t row) {
  return row < tangents->count && (tangents->width == curve->width || tangents->width == 2 * curve->width);
}

static void note_word(import_job *job, uint32_t sampler, import_span word, const char *why) {
  import_span title = dae_title(&job->dae->tree, sampler);
  import_note_add(job, NOTE_interpolation_ignored, 1, "'%.*s'%s, in sampler '%.*s'",
                  word.length < 40 ? (int)word.length : 40, word.at, why, IMPORT_SHORT(title));
}

/* What the spans are for which tangents are missing, or whose kind is not one of ours, is reported and linear. Behind
   the last key nothing follows. */
static void read_kinds(import_job *job, uint32_t sampler, dae_curve *curve, const sk_array *words) {
  size_t i;
  bool noted = false;
  for (i = 0; i + 1 < curve->count; i++) {
    import_span word = i < words->count ? ((const import_span *)words->data)[i] : (import_span){"LINEAR", 6};
    dae_key *key = &curve->keys[i];
    bool bezier = dae_is(word, "BEZIER"), curved = bezier || dae_is(word, "HERMITE");
    bool complete = has_tangents(curve, &curve->out, i) && has_tangents(curve, &curve->in, i + 1);
    if (dae_is(word, "STEP")) key->kind = DAE_STEP;
    else if (curved && complete) key->kind = bezier ? DAE_BEZIER : DAE_HERMITE;
    else if (!dae_is(word, "LINEAR") && !noted) {
      note_word(job, sampler, word, curved ? " without tangents" : "");
      noted = true;
    }
  }
}

static int compare_keys(const void *a, const void *b) {
  const dae_key *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

static bool is_finite_row(const dae_curve *curve, size_t row) {
  uint32_t k;
  for (k = 0; k < curve->width; k++)
    if (!isfinite(dae_number_at(&curve->values, row, k))) return false;
  return true;
}

/* Drops keys that are not numbers, and puts the others in order. Two keys at one time are a jump. */
static void order_keys(import_job *job, uint32_t sampler, dae_curve *curve) {
  import_span title = dae_title(&job->dae->tree, sampler);
  size_t i, kept = 0;
  bool sorted = true;
  for (i = 0; i < curve->count; i++)
    if (isfinite(curve->keys[i].time) && is_finite_row(curve, curve->keys[i].row)) curve->keys[kept++] = curve->keys[i];
  import_note_add(job, NOTE_numbers_repaired, curve->count - kept, "keys of sampler '%.*s'", IMPORT_SHORT(title));
  curve->count = kept;
  for (i = 1; i < kept && sorted; i++) sorted = curve->keys[i].time >= curve->keys[i - 1].time;
  if (sorted) return;
  import_note_add(job, NOTE_key_times_repaired, 1, "sampler '%.*s'", IMPORT_SHORT(title));
  qsort(curve->keys, kept, sizeof *curve->keys, compare_keys);
}

static sk_status read_sources(import_job *job, uint32_t sampler, dae_source *times, dae_curve *curve) {
  const dae_tree *tree = &job->dae->tree;
  sk_status status = dae_read_source(job, dae_input_source(tree, sampler, "INPUT"), times);
  if (!status) status = dae_read_source(job, dae_input_source(tree, sampler, "OUTPUT"), &curve->values);
  if (!status) status = dae_read_source(job, dae_input_source(tree, sampler, "IN_TANGENT"), &curve->in);
  if (!status) status = dae_read_source(job, dae_input_source(tree, sampler, "OUT_TANGENT"), &curve->out);
  return status;
}

static void note_behavior(import_job *job, uint32_t sampler) {
  static const dae_word words[] = {DAE_pre_behavior, DAE_post_behavior};
  size_t i;
  for (i = 0; i < 2; i++) {
    import_span behavior = dae_attribute(&job->dae->tree, sampler, words[i]);
    if (behavior.length && !dae_is(behavior, "CONSTANT") && !dae_is(behavior, "UNDEFINED"))
      note_word(job, sampler, behavior, i ? " behind the last key" : " before the first key");
  }
}

static sk_status make_curve(import_job *job, uint32_t sampler, dae_curve *curve) {
  dae_source times;
  sk_array words = SK_ARRAY(import_span);
  size_t i;
  bool are_ids;
  sk_status status = read_sources(job, sampler, &times, curve);
  if (!status)
    status = dae_read_names(job, dae_input_source(&job->dae->tree, sampler, "INTERPOLATION"), &words, &are_ids);
  curve->width = curve->values.width;
  curve->count = times.count < curve->values.count ? times.count : curve->values.count;
  if (!status) {
    curve->keys = import_contents_take(job, curve->count, sizeof *curve->keys);
    if (!curve->keys) status = SK_ERROR_MEMORY;
  }
  for (i = 0; i < curve->count && !status; i++) curve->keys[i] = (dae_key){dae_number_at(&times, i, 0), i, DAE_LINEAR};
  if (!status) {
    read_kinds(job, sampler, curve, &words);
    order_keys(job, sampler, curve);
    note_behavior(job, sampler);
  }
  sk_array_free(&words);
  return status;
}

sk_status dae_read_curve(import_job *job, uint32_t sampler, int32_t *number) {
  import_dae *dae = job->dae;
  dae_element *e = dae_at(&dae->tree, sampler);
  dae_curve curve = {.is_straight = true, .is_stepped = true}, *added;
  size_t i;
  sk_status status;
  *number = (int32_t)e->data - 1;
  if (e->data) return SK_OK;
  status = make_curve(job, sampler, &curve);
  if (status || !curve.count) return status;
  for (i = 0; i + 1 < curve.count; i++) {
    curve.is_straight &= curve.keys[i].kind == DAE_LINEAR;
    curve.is_stepped &= curve.keys[i].kind == DAE_STEP;
  }
  added = sk_array_extend(&dae->curves, 1);
  if (!added) return import_no_memory(job, sizeof *added);
  *added = curve;
  e->data = (uint32_t)dae->curves.count;
  *number = (int32_t)e->data - 1;
  return SK_OK;
}

/* ---- values ---------------------------------------------------------------------------------------------- */

/* The last key that is not after the time; the first key if all are. */
static size_t key_before(const dae_curve *curve, double time) {
  size_t low = 0, high = curve->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (curve->keys[middle].time <= time) low = middle + 1;
    else high = middle;
  }
  return low ? low - 1 : 0;
}

static double bezier(double a, double b, double c, double d, double s) {
  double r = 1.0 - s;
  return r * r * r * a + 3.0 * r * r * s * b + 3.0 * r * s * s * c + s * s * s * d;
}

/* Where on a curve from time 0 to time 1, with control points at b and c, the time is u: by Newton's steps, or halves
   where these lead out of what is left. */
static double solve(double b, double c, double u) {
  double low = 0.0, high = 1.0, s = u;
  int i;
  b = fmin(fmax(b, 0.0), 1.0), c = fmin(fmax(c, 0.0), 1.0);
  for (i = 0; i < MAX_STEPS; i++) {
    double error = bezier(0.0, b, c, 1.0, s) - u, r = 1.0 - s;
    double slope = 3.0 * (r * r * b + 2.0 * r * s * (c - b) + s * s * (1.0 - c));
    if (fabs(error) < 1e-15) break;
    if (error > 0.0) high = s;
    else low = s;
    s = slope > 0.0 ? s - error / slope : low - 1.0;
    if (s <= low || s >= high) s = 0.5 * (low + high);
  }
  return s;
}

/* A tangent of one number per value has its control point a third of the span away; one of two numbers has a time and a
   value. BEZIER gives control points, HERMITE vectors that are three times as far as these. */
static void control_point(const dae_curve *curve, const dae_key *key, const dae_source *tangents, dae_span_kind kind,
                          uint32_t column, double third, double *time, double *value) {
  bool pairs = tangents->width == 2 * curve->width;
  double direction = third < 0.0 ? -1.0 : 1.0, x = 0.0;
  double y = dae_number_at(tangents, key->row, pairs ? 2 * column + 1 : column);
  if (pairs) x = dae_number_at(tangents, key->row, 2 * column);
  if (kind == DAE_HERMITE) {
    x = key->time + direction * x / 3.0;
    y = dae_number_at(&curve->values, key->row, column) + direction * y / 3.0;
  }
  *time = pairs && isfinite(x) ? x : key->time + third;
  *value = isfinite(y) ? y : dae_number_at(&curve->values, key->row, column);
}

double dae_curve_value(const dae_curve *curve, uint32_t column, double time) {
  size_t before = key_before(curve, time);
  const dae_key *from = &curve->keys[before], *to = from + 1;
  double a = dae_number_at(&curve->values, from->row, column), b, u, length, times[2], points[2];
  if (time <= from->time || before + 1 == curve->count || from->kind == DAE_STEP) return a;
  b = dae_number_at(&curve->values, to->row, column);
  length = to->time - from->time;
  u = (time - from->time) / length;
  if (from->kind == DAE_LINEAR) return a + u * (b - a);
  control_point(curve, from, &curve->out, from->kind, column, length / 3.0, &times[0], &points[0]);
  control_point(curve, to, &curve->in, from->kind, column, -length / 3.0, &times[1], &points[1]);
  u = solve((times[0] - from->time) / length, (times[1] - from->time) / length, u);
  return bezier(a, points[0], points[1], b, u);
}

/* ---- matrices ------------------------------------------------------------------------------------------------ */

bool dae_is_sheared(const double matrix[12], dae_trs *trs) {
  double again[12], worst = 0.0, largest = 0.0;
  int i;
  sk_affine_split(matrix, trs->t, trs->r, trs->s);
  sk_affine_compose(trs->t, trs->r, trs->s, again);
  for (i = 0; i < 12; i++) {
    worst = fmax(worst, fabs(matrix[i] - again[i]));
    if (i % 4 != 3) largest = fmax(largest, fabs(matrix[i]));
  }
  return worst > TOLERANCE * largest;
}

/* The parts of the matrices of all keys, made when they are first asked for. */
sk_status dae_split_matrices(import_job *job, dae_curve *curve) {
  double matrix[12];
  dae_trs *trs;
  size_t i, sheared = 0;
  uint32_t k;
  bool curved = false;
  if (curve->parts || curve->width < 16) return SK_OK;
  trs = curve->parts = import_contents_take(job, curve->count, sizeof *trs);
  if (!trs) return SK_ERROR_MEMORY;
  for (i = 0; i < curve->count; i++, trs++) {
    for (k = 0; k < 12; k++) matrix[k] = dae_number_at(&curve->values, curve->keys[i].row, k);
    sheared += dae_is_sheared(matrix, trs);
    curved |= curve->keys[i].kind == DAE_BEZIER || curve->keys[i].kind == DAE_HERMITE;
    if (curve->keys[i].kind != DAE_STEP) curve->keys[i].kind = DAE_LINEAR;
  }
  if (curved) curve->is_straight = true;
  for (i = 0; i + 1 < curve->count; i++) curve->is_straight &= curve->keys[i].kind == DAE_LINEAR;
  import_note_add(job, NOTE_matrix_keys_lost, sheared, "keys of a matrix");
  if (curved) import_note_add(job, NOTE_interpolation_ignored, 1, "a curve of matrices; their parts are linear");
  return SK_OK;
}

/* Between matrices their translations and scales go along lines, and their rotations along arcs. */
void dae_matrix_at(const dae_curve *curve, double time, dae_trs *out) {
  size_t before = key_before(curve, time);
  const dae_key *from = &curve->keys[before];
  const dae_trs *a = &curve->parts[before], *b = a + 1;
  double u;
  int i;
  *out = *a;
  if (time <= from->time || before + 1 == curve->count || from->kind == DAE_STEP) return;
  u = (time - from->time) / (from[1].time - from->time);
  for (i = 0; i < 3; i++) out->t[i] += u * (b->t[i] - a->t[i]), out->s[i] += u * (b->s[i] - a->s[i]);
  import_slerp(a->r, b->r, u, out->r);
}
