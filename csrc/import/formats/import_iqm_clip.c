/* import_iqm_clip.c: animations of .iqm, which are ranges of frames.

   A pose has ten channels: translation, rotation x y z w, and scale. A channel of the mask has a number of 16 bits in
   each frame, and is its offset + its scale * that number; every other channel is its offset. */
#include <math.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_limit.h"
#include "import_iqm_file.h"

#define CHANNELS       10
#define FALLBACK_TICKS 25.0 /* frames per second, where the file gives none */

typedef struct iqm_part { /* a path of a pose */
  sk_path path;
  uint32_t first, width; /* channels */
} iqm_part;

static const iqm_part parts[] = {{SK_PATH_TRANSLATION, 0, 3}, {SK_PATH_ROTATION, 3, 4}, {SK_PATH_SCALE, 7, 3}};

typedef struct iqm_range {
  uint32_t first, count; /* frames */
  double *times;         /* seconds */
} iqm_range;

/* ---- one pose ------------------------------------------------------------------------------------- */

static const uint8_t *pose_at(const iqm *file, uint32_t p) { return file->poses.data + IQM_POSE * (size_t)p; }
static uint32_t mask_of(const uint8_t *pose) { return import_u32(pose + 4) & ((1u << CHANNELS) - 1); }

static uint32_t count_bits(uint32_t bits) {
  uint32_t count = 0;
  for (; bits; bits &= bits - 1) count++;
  return count;
}

/* Where the file rounds a rotation to 16 bits, its length is a little off. */
static void normalize(float q[4]) {
  const double exact[4] = {q[0], q[1], q[2], q[3]};
  double square = exact[0] * exact[0] + exact[1] * exact[1] + exact[2] * exact[2] + exact[3] * exact[3];
  if (square > 1e-12 && isfinite(square)) sk_quat_normalize(exact, q);
}

/* The values of a path in a frame. `numbers` are those of the pose in the frame. */
static void read_part(const uint8_t *pose, const iqm_part *part, const uint8_t *numbers, float *out) {
  uint32_t mask = mask_of(pose), before = count_bits(mask & ((1u << part->first) - 1)), i;
  for (i = 0; i < part->width; i++) {
    uint32_t channel = part->first + i;
    double value = import_float(pose + 8 + 4 * channel);
    if (mask & 1u << channel)
      value += (double)import_float(pose + 48 + 4 * channel) * (double)import_number(numbers + 2 * before++, 2);
    out[i] = (float)value;
  }
  if (part->path == SK_PATH_ROTATION) normalize(out);
}

/* ---- channels --------------------------------------------------------------------------------------- */

static bool moves(const iqm *file, uint32_t p, const iqm_part *part) {
  return (mask_of(pose_at(file, p)) & (((1u << part->width) - 1) << part->first)) != 0;
}

/* A path without a channel in the frames has one key. `at` is the pose's first number in a frame. */
static sk_status add_track(const iqm *file, const iqm_range *range, uint32_t p, uint32_t at, const iqm_part *part) {
  const uint8_t *pose = pose_at(file, p), *numbers = file->frames.data + 2 * (size_t)at;
  import_contents_track *track = import_contents_add_track(file->job, file->nodes[p + 1], part->path);
  float *values;
  uint32_t k;
  if (!track) return SK_ERROR_MEMORY;
  track->count = moves(file, p, part) ? range->count : 1;
  track->times = range->times;
  track->values = values = import_contents_take(file->job, track->count, part->width * sizeof *values);
  if (!values) return SK_ERROR_MEMORY;
  for (k = 0; k < track->count; k++, values += part->width)
    read_part(pose, part, numbers + 2 * (size_t)file->channels * (range->first + k), values);
  return SK_OK;
}

/* Animations may share frames, so that the keys are counted here. Where nothing moves, there may be frames without
   bytes, of which one time is enough. */
static sk_status take_times(const iqm *file, iqm_range *range, double rate, import_counts *counts) {
  uint32_t p, moving = 0, k, count;
  sk_status status;
  size_t i;
  for (p = 0; p < file->poses.count; p++)
    for (i = 0; i < 3; i++) moving += moves(file, p, &parts[i]);
  count = moving ? range->count : 1;
  counts->keys += import_product(moving, range->count) + 3 * (uint64_t)file->poses.count - moving;
  status = import_check_counts(file->job, counts);
  range->times = status ? NULL : import_contents_take(file->job, count, sizeof *range->times);
  for (k = 0; range->times && k < count; k++) range->times[k] = k / rate;
  return status || range->times ? status : SK_ERROR_MEMORY;
}

static sk_status add_tracks(const iqm *file, const iqm_range *range) {
  uint32_t p, at = 0;
  size_t i;
  sk_status status = SK_OK;
  for (p = 0; p < file->poses.count && !status; p++) {
    for (i = 0; i < 3 && !status; i++) status = add_track(file, range, p, at, &parts[i]);
    at += count_bits(mask_of(pose_at(file, p)));
  }
  return status;
}

/* ---- clips --------------------------------------------------------------------------------------------- */

static sk_status add_clip(const iqm *file, const uint8_t *row, import_counts *counts) {
  iqm_range range = {.first = import_u32(row + 4), .count = import_u32(row + 8)};
  double rate = import_float(row + 12);
  import_contents_clip *clip;
  import_span name = iqm_text(file, import_u32(row));
  sk_status status;
  if (!range.count || range.first > file->frames.count || range.count > file->frames.count - range.first) {
    import_note_add(file->job, NOTE_channels_dropped, file->poses.count, "clip '%.*s': frames %u to %u of %u",
                    IMPORT_SHORT(name), range.first, range.first + range.count, file->frames.count);
    return SK_OK;
  }
  if (!(rate > 0.0) || !isfinite(rate)) {
    import_note_add(file->job, NOTE_ticks_per_second_assumed, 1, "clip '%.*s'", IMPORT_SHORT(name));
    rate = FALLBACK_TICKS;
  }
  status = take_times(file, &range, rate, counts);
  if (status) return status;
  clip = import_contents_add_clip(file->job);
  if (!clip) return SK_ERROR_MEMORY;
  clip->duration = (range.count - 1) / rate;
  clip->ticks_per_second = rate;
  status = iqm_name(file, import_u32(row), &clip->name);
  return status ? status : add_tracks(file, &range);
}

/* A pose is that of the joint with its number. Poses of other parents are relative to something else. */
static bool poses_fit(const iqm *file) {
  uint64_t numbers = 0;
  uint32_t p;
  for (p = 0; p < file->poses.count; p++) {
    numbers += count_bits(mask_of(pose_at(file, p)));
    if (p >= file->joints.count) return false;
    if (import_u32(pose_at(file, p)) != import_u32(file->joints.data + IQM_JOINT * (size_t)p + 4)) return false;
  }
  return numbers <= file->channels;
}

sk_status iqm_make_clips(const iqm *file) {
  import_counts counts = {0};
  uint32_t i;
  sk_status status = SK_OK;
  if (!file->anims.count && !file->frames.count) return SK_OK;
  if (!file->anims.count || !poses_fit(file)) {
    import_note_add(file->job, NOTE_channels_dropped, file->poses.count, "%s",
                    file->anims.count ? "the poses are not those of the joints" : "the frames are of no animation");
    return SK_OK;
  }
  for (i = 0; i < file->anims.count && !status; i++)
    status = add_clip(file, file->anims.data + IQM_ANIM * (size_t)i, &counts);
  return status;
}
