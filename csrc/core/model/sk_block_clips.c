/* sk_block_clips.c: checks the channels, events and root motion of all clips in a block. Only the table of
   check_duplicate_channels is allocated; nothing recurses. */
#include <string.h>

#include "sk_block_check.h"
#include "sk_block_rows.h"

/* ---- clips ---------------------------------------------------------------------- */

/* Whether rows first .. first + count - 1 exist in a section of `rows` rows. */
static bool lies_in(uint64_t first, uint64_t count, uint64_t rows) { return first <= rows && count <= rows - first; }

/* How many things there are of the kind that a channel of the path changes. */
static uint64_t owner_count(const sk_block *block, sk_path path) {
  switch (sk_owner_of(path)) {
  case SK_OWNER_JOINT: return block->info->joints;
  case SK_OWNER_TARGET: return block->info->targets;
  default: return sk_section_of(block, SK_SECTION_MATERIALS)->rows;
  }
}

/* Whether the keys may be `stride` floats apart. Only what moves a joint is stored in cells. */
static bool stride_fits(const sk_channel *channel) {
  uint32_t width = channel->in_cells ? SK_CELL : sk_path_width(channel->path);
  if (channel->in_cells > 1 || (channel->in_cells && !sk_path_moves_joint(channel->path))) return false;
  return channel->stride >= width || (!channel->stride && !channel->in_cells);
}

static bool channel_arrays_fit(const sk_block *block, const sk_channel *channel) {
  uint64_t steps = channel->in_cells ? channel->key_count : sk_channel_stored(channel) - 1;
  uint64_t floats = steps * channel->stride + (channel->in_cells ? SK_CELL : sk_path_width(channel->path));
  uint64_t values = sk_section_of(block, SK_SECTION_VALUES)->rows;
  bool cubic = channel->interpolation == SK_CUBIC;
  if (!lies_in(channel->times, channel->key_count, sk_section_of(block, SK_SECTION_TIMES)->rows) ||
      !lies_in(channel->values, floats, values))
    return false;
  if (!cubic) return channel->in_tangents == SK_NONE64 && channel->out_tangents == SK_NONE64;
  return lies_in(channel->in_tangents, floats, values) && lies_in(channel->out_tangents, floats, values);
}

static bool times_increase(const double *times, uint32_t count) {
  uint32_t k;
  if (!isfinite(times[0]) || !isfinite(times[count - 1])) return false;
  for (k = 1; k < count; k++)
    if (!(times[k] > times[k - 1])) return false;
  return true;
}

static bool rotations_are_unit(const float *values, const sk_channel *channel) {
  uint32_t k;
  for (k = 0; k < sk_channel_stored(channel); k++)
    if (!sk_is_unit(sk_channel_key(values, channel, channel->values, k))) return false;
  return true;
}

static bool cells_end_in_zero(const float *cells, const sk_channel *channel) {
  uint64_t k;
  for (k = 0; k <= channel->key_count; k++)
    if (cells[k * channel->stride + 3] != 0.0f) return false;
  return true;
}

/* What the sampling of cells relies on: the fourth number of a cell of three is 0, and the last frame is stored twice.
   */
static bool cells_are_whole(const float *values, const sk_channel *channel, uint64_t array) {
  const float *last = sk_channel_key(values, channel, array, channel->key_count - 1);
  return (channel->path == SK_PATH_ROTATION || cells_end_in_zero(values + array, channel)) &&
         memcmp(last, last + channel->stride, SK_CELL * sizeof *last) == 0;
}

static bool channel_cells_are_whole(const float *values, const sk_channel *channel) {
  if (!channel->in_cells) return true;
  return cells_are_whole(values, channel, channel->values) &&
         (channel->interpolation != SK_CUBIC || (cells_are_whole(values, channel, channel->in_tangents) &&
                                                 cells_are_whole(values, channel, channel->out_tangents)));
}

static sk_status check_channel(const sk_block *block, uint64_t index, sk_error *error) {
  const sk_channel *channel = (const sk_channel *)sk_section_of(block, SK_SECTION_CHANNELS)->data + index;
  const double *times = sk_section_of(block, SK_SECTION_TIMES)->data;
  const float *values = sk_section_of(block, SK_SECTION_VALUES)->data;
  unsigned long long i = index;
  uint64_t limit = owner_count(block, channel->path);
  if (channel->path >= SK_PATH_COUNT || channel->interpolation >= SK_INTERPOLATION_COUNT)
    return sk_fail(error, SK_ERROR_BLOCK, "channel %llu has unknown path %u or interpolation %u", i, channel->path,
                   channel->interpolation);
  if (channel->joint < 0 || (uint64_t)channel->joint >= limit)
    return sk_fail(error, SK_ERROR_BLOCK, "channel %llu moves %s %d; there are %llu", i, sk_owner_name(channel->path),
                   channel->joint, (unsigned long long)limit);
  if (!stride_fits(channel))
    return sk_fail(error, SK_ERROR_BLOCK, "channel %llu: its keys cannot be %u floats apart%s", i, channel->stride,
                   channel->in_cells ? ", in cells" : "");
  if (!channel->key_count || !channel_arrays_fit(block, channel))
    return sk_fail(error, SK_ERROR_BLOCK, "channel %llu: its %u keys are outside the block", i, channel->key_count);
  if (!times_increase(times + channel->times, channel->key_count))
    return sk_fail(error, SK_ERROR_BLOCK, "channel %llu: its key times are not finite and increasing", i);
  if (channel->path == SK_PATH_ROTATION && channel->interpolation != SK_CUBIC && !rotations_are_unit(values, channel))
    return sk_fail(error, SK_ERROR_BLOCK, "channel %llu: a rotation key is not a unit quaternion", i);
  if (!channel_cells_are_whole(values, channel))
    return sk_fail(error, SK_ERROR_BLOCK,
                   "channel %llu: its cells do not end in 0, or their last frame is not repeated", i);
  return SK_OK;
}

/* Channels may share key times but not values, so that the size of the block bounds the work of these checks. For
   channels that store one value for all keys, SK_MAX_STILL_KEYS bounds it. */
static sk_status check_channels(const sk_block *block, sk_error *error) {
  const sk_section *section = sk_section_of(block, SK_SECTION_CHANNELS);
  const sk_channel *channel = section->data;
  uint64_t i, floats = 0, still = 0, values = sk_section_of(block, SK_SECTION_VALUES)->rows;
  sk_status status = SK_OK;
  for (i = 0; i < section->rows && !status; i++) {
    floats += (uint64_t)sk_channel_stored(&channel[i]) * sk_path_width(channel[i].path);
    still += channel[i].stride ? 0 : channel[i].key_count;
    if (floats > values)
      return sk_fail(error, SK_ERROR_BLOCK, "the channels need %llu values; the block has %llu",
                     (unsigned long long)floats, (unsigned long long)values);
    if (still > SK_MAX_STILL_KEYS)
      return sk_fail(error, SK_ERROR_BLOCK, "channels that do not move have %llu keys; at most %llu are allowed",
                     (unsigned long long)still, (unsigned long long)SK_MAX_STILL_KEYS);
    status = check_channel(block, i, error);
  }
  return status;
}

/* Like channels, root motions may share key times but not values. `floats` is the number of values in all clips so far.
   */
static sk_status check_motion(const sk_block *block, uint64_t index, uint64_t *floats, sk_error *error) {
  const sk_clip_record *clip = (const sk_clip_record *)sk_section_of(block, SK_SECTION_CLIPS)->data + index;
  uint64_t times = sk_section_of(block, SK_SECTION_TIMES)->rows, values = sk_section_of(block, SK_SECTION_VALUES)->rows;
  uint32_t count = clip->motion_count, k;
  const float *rows;
  *floats += (uint64_t)count * SK_MOTION_WIDTH;
  if (!count) {
    if (clip->motion_times == SK_NONE64 && clip->motion_values == SK_NONE64) return SK_OK;
    return sk_fail(error, SK_ERROR_BLOCK, "clip %llu: its root motion has an offset but no keys",
                   (unsigned long long)index);
  }
  if (*floats > values || clip->motion_times > times || count > times - clip->motion_times ||
      clip->motion_values > values || (uint64_t)count * SK_MOTION_WIDTH > values - clip->motion_values)
    return sk_fail(error, SK_ERROR_BLOCK, "clip %llu: the %u keys of its root motion are outside the block",
                   (unsigned long long)index, count);
  if (!times_increase((const double *)sk_section_of(block, SK_SECTION_TIMES)->data + clip->motion_times, count))
    return sk_fail(error, SK_ERROR_BLOCK, "clip %llu: the times of its root motion are not finite and increasing",
                   (unsigned long long)index);
  rows = (const float *)sk_section_of(block, SK_SECTION_VALUES)->data + clip->motion_values;
  for (k = 0; k < count; k++)
    if (!sk_is_unit(rows + (size_t)k * SK_MOTION_WIDTH + 3))
      return sk_fail(error, SK_ERROR_BLOCK, "clip %llu: a rotation of its root motion is not a unit quaternion",
                     (unsigned long long)index);
  return SK_OK;
}

/* `next` is the number of the first event after those of the previous clip; it is advanced. */
static sk_status check_events(const sk_block *block, uint64_t index, uint64_t *next, sk_error *error) {
  const sk_clip_record *clip = (const sk_clip_record *)sk_section_of(block, SK_SECTION_CLIPS)->data + index;
  const sk_event *event = sk_section_of(block, SK_SECTION_EVENTS)->data;
  uint64_t events = sk_section_of(block, SK_SECTION_EVENTS)->rows;
  double last = 0.0;
  uint32_t i;
  if (clip->first_event != *next || clip->event_count > events - *next)
    return sk_fail(error, SK_ERROR_BLOCK, "clip %llu: its events do not follow those of the previous clip",
                   (unsigned long long)index);
  for (i = 0; i < clip->event_count; i++) {
    uint64_t number = *next + i;
    if (!(event[number].time >= last && event[number].time <= clip->duration))
      return sk_fail(error, SK_ERROR_BLOCK, "event %llu at %g s is out of order or outside the %g s of its clip",
                     (unsigned long long)number, event[number].time, clip->duration);
    last = event[number].time;
  }
  *next += clip->event_count;
  return SK_OK;
}

static sk_status check_records(const sk_block *block, sk_error *error) {
  const sk_section *section = sk_section_of(block, SK_SECTION_CLIPS);
  const sk_clip_record *clip = section->data;
  uint64_t i, next = 0, next_event = 0, floats = 0;
  uint64_t channels = sk_section_of(block, SK_SECTION_CHANNELS)->rows;
  sk_status status = SK_OK;
  for (i = 0; i < section->rows && !status; i++, clip++) {
    if (!isfinite(clip->duration) || clip->duration < 0 || !isfinite(clip->ticks_per_second) ||
        clip->ticks_per_second <= 0)
      return sk_fail(
          error, SK_ERROR_BLOCK,
          "clip %llu has the duration %g s and %g ticks per second; expected finite numbers, the second above 0",
          (unsigned long long)i, clip->duration, clip->ticks_per_second);
    if (clip->first_channel != next || clip->channel_count > channels - next)
      return sk_fail(error, SK_ERROR_BLOCK, "clip %llu: its channels do not follow those of the previous clip",
                     (unsigned long long)i);
    if (clip->flags & ~(uint32_t)SK_CLIP_ADDITIVE)
      return sk_fail(error, SK_ERROR_BLOCK, "clip %llu has unknown flags %#x", (unsigned long long)i, clip->flags);
    next += clip->channel_count;
    status = check_events(block, i, &next_event, error);
    if (!status) status = check_motion(block, i, &floats, error);
  }
  if (status) return status;
  if (next != channels)
    return sk_fail(error, SK_ERROR_BLOCK, "%llu channels belong to no clip", (unsigned long long)(channels - next));
  if (next_event != sk_section_of(block, SK_SECTION_EVENTS)->rows)
    return sk_fail(error, SK_ERROR_BLOCK, "%llu events belong to no clip",
                   (unsigned long long)(sk_section_of(block, SK_SECTION_EVENTS)->rows - next_event));
  return SK_OK;
}

/* The last key of the channel and of the root motion is not later than the clip's end. */
static sk_status check_ends(const sk_block *block, sk_error *error) {
  const sk_clip_record *clip = sk_section_of(block, SK_SECTION_CLIPS)->data;
  const sk_channel *channel = sk_section_of(block, SK_SECTION_CHANNELS)->data;
  const double *times = sk_section_of(block, SK_SECTION_TIMES)->data;
  uint64_t i, clips = sk_section_of(block, SK_SECTION_CLIPS)->rows;
  for (i = 0; i < clips; i++, clip++) {
    double last = clip->motion_count ? times[clip->motion_times + clip->motion_count - 1] : 0.0;
    uint32_t left = clip->channel_count;
    for (; left; left--, channel++) last = fmax(last, times[channel->times + channel->key_count - 1]);
    if (last > clip->duration)
      return sk_fail(error, SK_ERROR_BLOCK, "clip %llu has a key at %.9g s, beyond its duration of %.9g s",
                     (unsigned long long)i, last, clip->duration);
  }
  return SK_OK;
}

/* `last` has, for each path and for each thing that has it, the number of the last clip that moves it, counted from 1;
   those of a path begin at first[path]. No clip may move one of them twice. */
static sk_status check_moved(const sk_block *block, const size_t *first, uint32_t *last, sk_error *error) {
  const sk_clip_record *clip = sk_section_of(block, SK_SECTION_CLIPS)->data;
  const sk_channel *channel = sk_section_of(block, SK_SECTION_CHANNELS)->data;
  uint64_t i, clips = sk_section_of(block, SK_SECTION_CLIPS)->rows;
  for (i = 1; i <= clips; i++, clip++) {
    uint32_t left = clip->channel_count;
    for (; left; left--, channel++) {
      uint32_t *moved = &last[first[channel->path] + (size_t)channel->joint];
      if (*moved == (uint32_t)i)
        return sk_fail(error, SK_ERROR_BLOCK, "clip %llu has two channels of path %u for %s %d",
                       (unsigned long long)(i - 1), channel->path, sk_owner_name(channel->path), channel->joint);
      *moved = (uint32_t)i;
    }
  }
  return SK_OK;
}

/* No clip has two channels for the same path of one thing. The channels and clips were checked before. The table takes
   16 bytes per joint, 4 per target and 44 per material, which is less than they take in the block. */
static sk_status check_duplicate_channels(const sk_block *block, sk_error *error) {
  size_t first[SK_PATH_COUNT], entries = 0;
  uint32_t *last, path;
  sk_status status;
  for (path = 0; path < SK_PATH_COUNT; path++) {
    first[path] = entries;
    entries += (size_t)owner_count(block, (sk_path)path);
  }
  last = sk_alloc_zero(entries * sizeof *last);
  if (!last) return sk_fail_memory(error, entries * sizeof *last);
  status = check_moved(block, first, last, error);
  sk_free(last);
  return status;
}

sk_status sk_check_clips(const sk_block *block, sk_error *error) {
  sk_status status = check_channels(block, error);
  if (!status) status = check_records(block, error);
  if (!status) status = check_ends(block, error);
  return status ? status : check_duplicate_channels(block, error);
}
