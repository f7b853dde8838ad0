/* import_3ds_clip.c: tracks of .3ds.

   Keys are at frames, and curves go through them by tension, continuity and bias (D. Kochanek and R. Bartels, Interpolating
   Splines with Local Tension, Continuity, and Bias Control, 1984). A rotation is an axis, and an angle that counts
   clockwise. It is applied after the rotation of the key before it, about an axis that does not rotate with the node. */
#include <math.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_bytes.h"
#include "../import_fit.h"
#include "../import_limit.h"
#include "import_3ds_file.h"

#define RATE       25.0 /* frames per second: the file has none */
#define HEAD       14   /* bytes in front of the keys: flags, two unknown numbers, the count */
#define MOST_TURN  2.0 /* radians between two keys: a key that turns further is several, because arcs are short ways */
#define MAX_PIECES 64
#define HALF_TURN  3.14159

static uint32_t width_of(tds_path path) { return path == TDS_ROTATION ? 4 : 3; }

/* ---- keys -------------------------------------------------------------------------------------- */

/* Reads a key and returns what follows; NULL where it ends within the chunk. */
static const uint8_t *read_key(const uint8_t *at, const uint8_t *end, uint32_t width, tds_key *key) {
  double numbers[5] = {0, 0, 0, 0, 0};
  uint32_t flags, i;
  if (end - at < 6) return NULL;
  key->seconds = (int32_t)import_number(at, 4) / RATE;
  flags = tds_u16(at + 4);
  at += 6;
  for (i = 0; i < 5; i++) {
    if (!(flags & 1u << i)) continue;
    if (end - at < 4) return NULL;
    numbers[i] = import_float(at);
    at += 4;
  }
  if (end - at < 4 * (ptrdiff_t)width) return NULL;
  for (i = 0; i < width; i++) key->value[i] = import_float(at + 4 * i);
  key->tension = numbers[0], key->continuity = numbers[1], key->bias = numbers[2];
  key->is_eased = numbers[3] != 0.0 || numbers[4] != 0.0;
  return at + 4 * width;
}

/* Scales of 0 are mistakes of exporters. */
static void repair_scale(tds_key *key) {
  int i;
  for (i = 0; i < 3; i++)
    if (key->value[i] == 0.0f) key->value[i] = 1.0f;
}

/* Appends the keys that are there, and counts them. */
static sk_status read_keys(tds *file, const tds_node *node, tds_path path, sk_array *keys) {
  const tds_chunk *chunk = &node->tracks[path];
  const uint8_t *at;
  uint32_t count = chunk->end - chunk->at >= HEAD ? import_u32(chunk->at + 10) : 0, k;
  import_counts counts;
  tds_key key, *added;
  at = count ? chunk->at + HEAD : NULL;
  for (k = 0; k < count && at; k++) {
    at = read_key(at, chunk->end, width_of(path), &key);
    if (!at) break;
    if (path == TDS_SCALE) repair_scale(&key);
    added = sk_array_room(keys, 1);
    if (!added) return import_no_memory(file->job, sizeof *added);
    *added = key;
  }
  if (k < count)
    import_note_add(file->job, NOTE_channels_dropped, 1, "keys of '%.*s' beyond its chunk", IMPORT_SHORT(node->name));
  counts = (import_counts){.keys = file->keys += keys->count};
  return import_check_counts(file->job, &counts);
}

/* ---- rotations ------------------------------------------------------------------------------------- */

/* A fraction of a key's own rotation, x y z w. */
static void rotation_of(const tds_key *key, double part, double out[4]) {
  double angle = key->value[0], x = key->value[1], y = key->value[2], z = key->value[3];
  double length = sqrt(x * x + y * y + z * z), half = -0.5 * angle * part;
  bool usable = length > 1e-12 && isfinite(length) && isfinite(angle);
  double s = usable ? sin(half) / length : 0.0;
  out[0] = x * s, out[1] = y * s, out[2] = z * s, out[3] = usable ? cos(half) : 1.0;
  if (!usable) out[0] = out[1] = out[2] = 0.0;
}

static uint32_t pieces_of(const tds_key *key) {
  double turn = fabs((double)key->value[0]);
  return turn > MOST_TURN && turn <= MOST_TURN * MAX_PIECES ? (uint32_t)ceil(turn / MOST_TURN) : 1;
}

/* Makes keys along arcs. A rotation of more than an arc can hold gets further keys. */
static sk_status add_arcs(tds *file, const tds_key *keys, size_t count, import_contents_track *track) {
  size_t total = 1, k;
  uint32_t piece;
  double *times, q[4], turn[4];
  float *out;
  for (k = 1; k < count; k++) total += pieces_of(&keys[k]);
  track->times = times = import_contents_take(file->job, total, sizeof *times);
  track->values = out = import_contents_take(file->job, total, 4 * sizeof *out);
  if (!times || !out) return SK_ERROR_MEMORY;
  track->count = (uint32_t)total;
  for (k = 0; k < count; k++) {
    uint32_t pieces = k ? pieces_of(&keys[k]) : 1;
    rotation_of(&keys[k], 1.0 / pieces, turn);
    memcpy(q, k ? keys[k - 1].rotation : turn, sizeof q);
    for (piece = 1; piece <= pieces; piece++, out += 4) {
      double u = (double)piece / pieces, before = k ? keys[k - 1].seconds : 0.0;
      if (k) import_quat_multiply(turn, q, q);
      *times++ = piece == pieces ? keys[k].seconds : before + u * (keys[k].seconds - before);
      sk_quat_normalize(q, out);
    }
  }
  return SK_OK;
}

/* The rotation of each key: the product of its own rotation and those of all keys before it. */
static void compose(tds_key *keys, size_t count) {
  double turn[4];
  float unit[4];
  size_t k;
  int i;
  for (k = 0; k < count; k++) {
    rotation_of(&keys[k], 1.0, turn);
    if (k) import_quat_multiply(turn, keys[k - 1].rotation, keys[k].rotation);
    else memcpy(keys[k].rotation, turn, sizeof turn);
    sk_quat_normalize(keys[k].rotation, unit);
    for (i = 0; i < 4 && !(k & 255); i++) keys[k].rotation[i] = unit[i]; /* long products drift */
  }
}

/* Whether the keys have a curve that can be followed: times increase, and no rotation is above 180 degrees. */
static bool is_curve_of_turns(const tds_key *keys, size_t count) {
  bool plain = count == 2;
  size_t k;
  for (k = 0; k < count; k++) {
    if (k && (!(keys[k].seconds > keys[k - 1].seconds) || !(fabs((double)keys[k].value[0]) < HALF_TURN))) return false;
    plain &= keys[k].tension == 0.0 && keys[k].continuity == 0.0 && keys[k].bias == 0.0;
  }
  return count > 1 && !plain;
}

static sk_status add_rotations(tds *file, tds_key *keys, size_t count, import_contents_track *track) {
  compose(keys, count);
  return (is_curve_of_turns(keys, count) ? tds_fit_rotations : add_arcs)(file, keys, count, track);
}

/* ---- places and scales --------------------------------------------------------------------------------- */

/* The tangents of a key, per second; without a key on one side, the other side stands for both. */
static void tangents_of(const tds_key *key, const tds_key *before, const tds_key *after, uint32_t i, double *in,
                        double *out) {
  double t = 0.5 * (1.0 - key->tension), c = key->continuity, b = key->bias;
  double past = before ? key->seconds - before->seconds : 0.0, next = after ? after->seconds - key->seconds : 0.0;
  double from = before ? (double)key->value[i] - before->value[i] : 0.0;
  double to = after ? (double)after->value[i] - key->value[i] : 0.0, slow_in = 1.0, slow_out = 1.0;
  if (!before) from = to, past = next;
  if (!after) to = from, next = past;
  if (before && after) { /* spans of different lengths */
    double middle = 0.5 * (past + next);
    slow_in = past / middle, slow_out = next / middle;
    slow_in += fabs(c) * (1.0 - slow_in), slow_out += fabs(c) * (1.0 - slow_out);
  }
  *in = slow_in * t * ((1.0 - c) * (1.0 + b) * from + (1.0 + c) * (1.0 - b) * to) / past;
  *out = slow_out * t * ((1.0 + c) * (1.0 + b) * from + (1.0 - c) * (1.0 - b) * to) / next;
}

/* Whether the keys are cubic: not all on a straight line, and at increasing times. */
static bool is_curved(const tds_key *keys, size_t count) {
  bool plain = count == 2;
  size_t k;
  for (k = 0; k < count; k++) {
    if (k && !(keys[k].seconds > keys[k - 1].seconds)) return false;
    plain &= keys[k].tension == 0.0 && keys[k].continuity == 0.0 && keys[k].bias == 0.0;
  }
  return count > 1 && !plain;
}

static sk_status add_vectors(tds *file, const tds_key *keys, size_t count, import_contents_track *track) {
  bool curved = is_curved(keys, count);
  size_t row = curved ? 9 : 3, k;
  double *times = import_contents_take(file->job, count, sizeof *times), in, out;
  float *values = import_contents_take(file->job, count, row * sizeof *values);
  uint32_t i;
  track->times = times, track->values = values;
  if (!times || !values) return SK_ERROR_MEMORY;
  track->count = (uint32_t)count;
  track->interpolation = curved ? SK_CUBIC : SK_LINEAR;
  for (k = 0; k < count; k++, values += row) {
    times[k] = keys[k].seconds;
    for (i = 0; i < 3; i++) {
      values[curved ? 3 + i : i] = keys[k].value[i];
      if (!curved) continue;
      tangents_of(&keys[k], k ? &keys[k - 1] : NULL, k + 1 < count ? &keys[k + 1] : NULL, i, &in, &out);
      values[i] = (float)in, values[6 + i] = (float)out;
    }
  }
  return SK_OK;
}

/* ---- the clip ---------------------------------------------------------------------------------------------- */

static const sk_path paths[] = {
    [TDS_POSITION] = SK_PATH_TRANSLATION, [TDS_ROTATION] = SK_PATH_ROTATION, [TDS_SCALE] = SK_PATH_SCALE};

void tds_rest(const tds_node *node, import_contents_node *out) {
  int path, i;
  for (path = 0; path < TDS_PATHS; path++) {
    const tds_chunk *chunk = &node->tracks[path];
    tds_key key;
    double q[4];
    if (chunk->end - chunk->at < HEAD || !import_number(chunk->at + 10, 4)) continue;
    if (!read_key(chunk->at + HEAD, chunk->end, width_of((tds_path)path), &key)) continue;
    if (path == TDS_SCALE) repair_scale(&key);
    if (path == TDS_ROTATION) {
      rotation_of(&key, 1.0, q);
      sk_quat_normalize(q, out->rotation);
    }
    for (i = 0; i < 3 && path != TDS_ROTATION; i++)
      (path == TDS_SCALE ? out->scale : out->translation)[i] = key.value[i];
  }
}

static void note_ignored(tds *file, const tds_node *node, tds_path path, const tds_key *keys, size_t count) {
  size_t k, eased = 0;
  for (k = 0; k < count; k++) eased += keys[k].is_eased;
  if (eased || (path == TDS_ROTATION && count > 2 && !is_curve_of_turns(keys, count)))
    import_note_add(file->job, NOTE_interpolation_ignored, 1, "'%.*s': %s", IMPORT_SHORT(node->name),
                    eased ? "keys with ease" : "rotations go along arcs from key to key");
}

static sk_status add_track(tds *file, const tds_node *node, tds_path path) {
  sk_array keys = SK_ARRAY(tds_key);
  sk_status status = read_keys(file, node, path, &keys);
  import_contents_track *track;
  if (!status && keys.count) {
    track = import_contents_add_track(file->job, node->node, paths[path]);
    if (!track) status = SK_ERROR_MEMORY;
    else if (path == TDS_ROTATION) status = add_rotations(file, keys.data, keys.count, track);
    else status = add_vectors(file, keys.data, keys.count, track);
    note_ignored(file, node, path, keys.data, keys.count);
  }
  sk_array_free(&keys);
  return status;
}

static bool moves(const tds_node *node) {
  int path;
  for (path = 0; path < TDS_PATHS; path++) {
    const tds_chunk *chunk = &node->tracks[path];
    if (chunk->end - chunk->at >= HEAD && import_number(chunk->at + 10, 4) > 1) return true;
  }
  return false;
}

sk_status tds_make_clip(tds *file) {
  const tds_node *nodes = file->nodes.data;
  import_contents_clip *clip = NULL;
  sk_status status = SK_OK;
  size_t i;
  int path;
  for (i = 0; i < file->nodes.count && !status; i++) {
    if (!moves(&nodes[i])) continue;
    if (!clip) clip = import_contents_add_clip(file->job);
    if (!clip) return SK_ERROR_MEMORY;
    for (path = 0; path < TDS_PATHS && !status; path++) status = add_track(file, &nodes[i], (tds_path)path);
  }
  if (status || !clip) return status;
  clip->ticks_per_second = RATE;
  import_note_add(file->job, NOTE_ticks_per_second_assumed, 1, "clip '3DSMasterAnim'");
  return import_add_text(file->job, (import_span){"3DSMasterAnim", 13}, &clip->name);
}
