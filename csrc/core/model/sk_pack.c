/* sk_pack.c: see sk_pack.h. */
#include "sk_pack.h"

#include <string.h>

#include "sk_lines.h"

/* Copies the first `count` keys to `out`, whose keys lie `stride` floats apart. */
static void copy_keys(const sk_keys *keys, const sk_channel *channel, uint64_t array, uint32_t count, size_t stride,
                      float *out) {
  size_t bytes = sk_path_width((sk_path)channel->path) * sizeof *out;
  uint32_t k;
  for (k = 0; k < count; k++) memcpy(out + k * stride, sk_channel_key(keys->values, channel, array, k), bytes);
}

/* ---- lines ------------------------------------------------------------------------------------- */

/* Appends the frames of a time line. The last frame is written twice, so that there is always a next frame. */
static bool pack_line(const sk_plan *plan, const sk_plan_line *line, sk_channel *channels, sk_array *packed) {
  size_t stride = sk_plan_stride(line), start = packed->count, i;
  float *frames = sk_array_extend(packed, (line->key_count + (size_t)1) * stride);
  if (!frames) return false;
  for (i = 0; i < line->count; i++) {
    sk_channel *made = &channels[plan->order[line->first + i]], from = *made;
    uint64_t *arrays[3] = {&made->values, NULL, NULL};
    size_t count = 1, a;
    if (line->interpolation == SK_CUBIC) {
      arrays[0] = &made->in_tangents, arrays[1] = &made->values, arrays[2] = &made->out_tangents;
      count = 3;
    }
    for (a = 0; a < count; a++) {
      size_t cell = (a * line->count + i) * SK_CELL;
      copy_keys(&plan->keys, &from, *arrays[a], line->key_count, stride, frames + cell);
      *arrays[a] = start + cell;
    }
    made->stride = (uint32_t)stride;
    made->in_cells = 1;
  }
  memcpy(frames + line->key_count * stride, frames + (line->key_count - 1) * stride, stride * sizeof *frames);
  return true;
}

/* ---- channels without a time line ------------------------------------------------------------------- */

static bool pack_array(const sk_keys *keys, const sk_channel *from, const sk_channel *made, uint64_t *array,
                       sk_array *packed) {
  uint32_t width = sk_path_width((sk_path)from->path), count = sk_channel_stored(made);
  size_t start = packed->count;
  float *out = sk_array_room(packed, (size_t)count * width);
  if (!out) return false;
  copy_keys(keys, from, *array, count, width, out);
  *array = start;
  return true;
}

/* Stores the keys one after another, or one key if all are the same. */
static bool pack_plain(const sk_keys *keys, sk_channel *made, sk_array *packed) {
  const sk_channel from = *made;
  bool cubic = from.interpolation == SK_CUBIC;
  bool same = sk_keys_are_same(keys, &from, from.values);
  if (cubic)
    same = same && sk_keys_are_same(keys, &from, from.in_tangents) && sk_keys_are_same(keys, &from, from.out_tangents);
  made->stride = same ? 0 : sk_path_width((sk_path)from.path);
  return pack_array(keys, &from, made, &made->values, packed) &&
         (!cubic || (pack_array(keys, &from, made, &made->in_tangents, packed) &&
                     pack_array(keys, &from, made, &made->out_tangents, packed)));
}

/* ---- clips -------------------------------------------------------------------------------------------- */

static bool pack_channels(const sk_plan *plan, sk_channel *channels, sk_array *packed) {
  bool good = sk_array_extend(packed, -packed->count % SK_CELL) != NULL; /* a cell never straddles two cache lines */
  uint32_t i;
  for (i = 0; i < plan->keys.channel_count; i++) channels[i].in_cells = 0;
  for (i = 0; i < plan->line_count && good; i++)
    if (!sk_plan_is_merged(plan, plan->lines[i].interpolation))
      good = pack_line(plan, &plan->lines[i], channels, packed);
  for (i = 0; i < plan->keys.channel_count && good; i++)
    if (!channels[i].in_cells) good = pack_plain(&plan->keys, &channels[i], packed);
  return good;
}

static bool pack_motion(sk_packing *p, sk_clip_record *clip) {
  size_t floats = (size_t)clip->motion_count * SK_MOTION_WIDTH, start = p->packed.count;
  float *motion;
  if (!floats) return true;
  motion = sk_array_room(&p->packed, floats);
  if (!motion) return false;
  memcpy(motion, p->values + clip->motion_values, floats * sizeof *motion);
  clip->motion_values = start;
  return true;
}

bool sk_pack_run(sk_packing *p) {
  bool good = true;
  size_t i;
  p->packed = SK_ARRAY(float);
  for (i = 0; i < p->clip_count && good; i++) {
    sk_clip_record *clip = &p->clips[i];
    sk_channel *channels = clip->channel_count ? p->channels + clip->first_channel : NULL;
    sk_plan plan;
    good = sk_plan_make((sk_keys){channels, clip->channel_count, p->times, p->values}, &plan) &&
           pack_channels(&plan, channels, &p->packed) && pack_motion(p, clip);
    sk_plan_free(&plan);
  }
  return good;
}

/* ---- blocks ------------------------------------------------------------------------------------------- */

/* A copy of a section's rows. */
static void *copy_section(const sk_section *section) {
  size_t bytes = (size_t)section->rows * section->stride;
  void *copy = sk_alloc(bytes);
  if (copy && bytes) memcpy(copy, section->data, bytes);
  return copy;
}

/* Writes the sections of the block again, with the packed clips, channels and values. */
static sk_status write_packed(const sk_block *block, const sk_packing *p, void **memory, size_t *size,
                              sk_error *error) {
  sk_block_part parts[SK_SECTION_COUNT];
  uint32_t kind;
  for (kind = 0; kind < SK_SECTION_COUNT; kind++) {
    const sk_section *section = &block->sections[kind];
    parts[kind] = (sk_block_part){kind, sk_section_stride(kind, block->info->influences), section->rows, section->data};
  }
  parts[SK_SECTION_CLIPS].data = p->clips;
  parts[SK_SECTION_CHANNELS].data = p->channels;
  parts[SK_SECTION_VALUES].data = p->packed.data;
  parts[SK_SECTION_VALUES].count = p->packed.count;
  return sk_block_write(parts, SK_SECTION_COUNT, memory, size, error);
}

static bool is_packed(const sk_block *block, const sk_packing *p) {
  const sk_section *clips = &block->sections[SK_SECTION_CLIPS], *channels = &block->sections[SK_SECTION_CHANNELS];
  const sk_section *values = &block->sections[SK_SECTION_VALUES];
  return values->rows == p->packed.count &&
         memcmp(values->data, p->packed.data, p->packed.count * sizeof(float)) == 0 &&
         memcmp(channels->data, p->channels, (size_t)channels->rows * channels->stride) == 0 &&
         memcmp(clips->data, p->clips, (size_t)clips->rows * clips->stride) == 0;
}

sk_status sk_pack_block(const sk_block *block, void **memory, size_t *size, sk_error *error) {
  const sk_section *clips = &block->sections[SK_SECTION_CLIPS], *channels = &block->sections[SK_SECTION_CHANNELS];
  const sk_section *values = &block->sections[SK_SECTION_VALUES];
  sk_packing p = {copy_section(clips), (size_t)clips->rows, NULL, block->sections[SK_SECTION_TIMES].data,
                  values->data,        SK_ARRAY(float)};
  sk_status status = SK_OK;
  *memory = NULL;
  if (!channels->rows) goto done;
  p.channels = copy_section(channels);
  if (!p.clips || !p.channels || !sk_pack_run(&p)) status = sk_fail_memory(error, (size_t)values->rows * sizeof(float));
  else if (!is_packed(block, &p)) status = write_packed(block, &p, memory, size, error);
done:
  sk_array_free(&p.packed);
  sk_free(p.channels);
  sk_free(p.clips);
  return status;
}
