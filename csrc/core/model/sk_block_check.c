/* sk_block_check.c: checks every index, order and number of a block, as if an attacker had written it. Rules of single
   rows are in sk_block_rows.c. Only the table of check_duplicate_channels is allocated; nothing recurses. */
#include "sk_block_check.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "sk_block_rows.h"

#define UNIT_TOLERANCE 1e-3 /* of the length of a stored quaternion: float keys of real exporters */

static const sk_section *section_of(const sk_block *block, sk_section_kind kind) { return &block->sections[kind]; }

/* ---- numbers ----------------------------------------------------------------- */

static bool is_unit(const float q[4]) {
  double length = sqrt((double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3]);
  return fabs(length - 1.0) <= UNIT_TOLERANCE;
}

static sk_status check_affine(const sk_block *block, sk_section_kind kind, sk_error *error) {
  static const float last[4] = {0.0f, 0.0f, 0.0f, 1.0f};
  const sk_section *section = section_of(block, kind);
  const float *matrix = section->data;
  uint64_t i, k;
  for (i = 0; i < section->rows; i++)
    for (k = 0; k < 4; k++)
      if (matrix[i * 16 + 12 + k] != last[k])
        return sk_fail(error, SK_ERROR_BLOCK, "matrix %llu of %s is not affine: its last row is not 0 0 0 1",
                       (unsigned long long)i, sk_section_name(kind));
  return SK_OK;
}

/* ---- strings ------------------------------------------------------------------ */

/* The fields of records that are strings. */
static const struct text_field {
  sk_section_kind kind;
  const char *what; /* the record, for the error */
  size_t at;        /* bytes from the start of the record */
} text_fields[] = {{SK_SECTION_INFO, "info", offsetof(sk_info, source_format)},
                   {SK_SECTION_JOINT_NAMES, "joint", 0},
                   {SK_SECTION_SUBMESHES, "submesh", offsetof(sk_submesh, name)},
                   {SK_SECTION_TARGETS, "target", offsetof(sk_target, name)},
                   {SK_SECTION_MATERIALS, "material", offsetof(sk_material, name)},
                   {SK_SECTION_TEXTURES, "texture", offsetof(sk_texture, name)},
                   {SK_SECTION_TEXTURES, "texture", offsetof(sk_texture, format)},
                   {SK_SECTION_CLIPS, "clip", offsetof(sk_clip_record, name)},
                   {SK_SECTION_EVENTS, "event", offsetof(sk_event, name)},
                   {SK_SECTION_REPORT, "report entry", offsetof(sk_report_entry, code)},
                   {SK_SECTION_REPORT, "report entry", offsetof(sk_report_entry, first)},
                   {SK_SECTION_REPORT, "report entry", offsetof(sk_report_entry, message)}};

/* Checks one field in all rows of its section, and adds the lengths of the strings to `total`. */
static sk_status check_text_field(const sk_block *block, const struct text_field *field, uint64_t *total,
                                  sk_error *error) {
  const sk_section *section = section_of(block, field->kind);
  uint64_t i, bytes = section_of(block, SK_SECTION_TEXT)->rows;
  for (i = 0; i < section->rows; i++) {
    const void *at = (const char *)section->data + i * section->stride + field->at;
    const sk_text *text = at;
    if ((uint64_t)text->offset + text->length > bytes)
      return sk_fail(error, SK_ERROR_BLOCK, "%s %llu: a string lies outside the block", field->what,
                     (unsigned long long)i);
    *total += text->length;
  }
  return SK_OK;
}

/* Strings may share bytes, as the name of a mesh that many nodes have, but only up to a limit: a caller that copies
   each string must not run out of memory. */
static sk_status check_texts(const sk_block *block, sk_error *error) {
  uint64_t total = 0, limit = section_of(block, SK_SECTION_TEXT)->rows + SK_MAX_SHARED_TEXT;
  size_t i;
  for (i = 0; i < sizeof text_fields / sizeof *text_fields; i++) {
    sk_status status = check_text_field(block, &text_fields[i], &total, error);
    if (status) return status;
  }
  if (total <= limit) return SK_OK;
  return sk_fail(error, SK_ERROR_BLOCK, "the strings have %llu bytes together; at most %llu are allowed",
                 (unsigned long long)total, (unsigned long long)limit);
}

/* ---- skeleton ------------------------------------------------------------------ */

sk_status sk_check_info(const sk_block *block, sk_error *error) {
  const sk_info *info = block->info;
  if (info->kind != SK_BLOCK_MODEL && info->kind != SK_BLOCK_CLIPS)
    return sk_fail(error, SK_ERROR_BLOCK, "the block has the unknown kind %u", info->kind);
  if (info->influences < 1 || info->influences > SK_MAX_INFLUENCES)
    return sk_fail(error, SK_ERROR_BLOCK, "the block has %u influences per vertex; expected 1 to %d", info->influences,
                   SK_MAX_INFLUENCES);
  if (info->joints > SK_MAX_JOINTS)
    return sk_fail(error, SK_ERROR_BLOCK, "the block has %u joints; at most %u are allowed", info->joints,
                   SK_MAX_JOINTS);
  if (info->targets > SK_MAX_JOINTS)
    return sk_fail(error, SK_ERROR_BLOCK, "the block has %u morph targets; at most %u are allowed", info->targets,
                   SK_MAX_JOINTS);
  if (info->slots > SK_MAX_SLOTS)
    return sk_fail(error, SK_ERROR_BLOCK, "the block has %u palette slots; at most %u are allowed", info->slots,
                   SK_MAX_SLOTS);
  if (info->vertices > UINT32_MAX || info->faces > UINT32_MAX)
    return sk_fail(error, SK_ERROR_BLOCK, "the block has more than 2^32 - 1 vertices or faces");
  if (info->kind == SK_BLOCK_CLIPS && (info->slots || info->vertices || info->faces))
    return sk_fail(error, SK_ERROR_BLOCK, "a block of clips must not have a mesh or slots");
  if (info->kind == SK_BLOCK_MODEL && !info->joints)
    return sk_fail(error, SK_ERROR_BLOCK, "a model needs at least one joint");
  if (info->up >= SK_AXIS_COUNT || !isfinite(info->unit_meters) || info->unit_meters < 0)
    return sk_fail(error, SK_ERROR_BLOCK, "the block has an unknown up axis or a unit that is not a finite length");
  return SK_OK;
}

static sk_status check_skeleton(const sk_block *block, sk_error *error) {
  const int32_t *parents = section_of(block, SK_SECTION_JOINT_PARENTS)->data;
  const float *rotation = section_of(block, SK_SECTION_REST_ROTATION)->data;
  uint32_t j;
  for (j = 0; j < block->info->joints; j++) {
    if (block->info->kind != SK_BLOCK_MODEL) continue;
    if (parents[j] < SK_NONE || parents[j] >= (int32_t)j)
      return sk_fail(error, SK_ERROR_BLOCK, "joint %u has parent %d; a parent must come before its child (-1 = root)",
                     j, parents[j]);
    if (!is_unit(rotation + 4 * (size_t)j))
      return sk_fail(error, SK_ERROR_BLOCK, "joint %u: its rest rotation is not a unit quaternion", j);
  }
  return check_affine(block, SK_SECTION_REST_LOCAL, error);
}

static sk_status check_skin(const sk_block *block, sk_error *error) {
  const int32_t *joints = section_of(block, SK_SECTION_SLOT_JOINTS)->data;
  uint32_t s;
  for (s = 0; s < block->info->slots; s++)
    if (joints[s] < 0 || joints[s] >= (int32_t)block->info->joints)
      return sk_fail(error, SK_ERROR_BLOCK, "slot %u follows joint %d; the model has %u joints", s, joints[s],
                     block->info->joints);
  return check_affine(block, SK_SECTION_SLOT_INVERSE_BIND, error);
}

/* ---- mesh ---------------------------------------------------------------------- */

/* No vertex and no face belongs to two submeshes: otherwise a small file could make the code that draws or writes each
   submesh repeat the mesh any number of times. */
static sk_status check_submeshes(const sk_block *block, sk_error *error) {
  const sk_section *section = section_of(block, SK_SECTION_SUBMESHES);
  const sk_submesh *submesh = section->data;
  uint64_t i, materials = section_of(block, SK_SECTION_MATERIALS)->rows, vertices = 0, faces = 0;
  for (i = 0; i < section->rows; i++, submesh++) {
    vertices += submesh->vertex_count;
    faces += submesh->face_count;
    if (submesh->node < 0 || submesh->node >= (int32_t)block->info->joints)
      return sk_fail(error, SK_ERROR_BLOCK, "submesh %llu belongs to joint %d; the model has %u joints",
                     (unsigned long long)i, submesh->node, block->info->joints);
    if (submesh->material < SK_NONE || (submesh->material >= 0 && (uint64_t)submesh->material >= materials))
      return sk_fail(error, SK_ERROR_BLOCK, "submesh %llu has material %d; the model has %llu materials",
                     (unsigned long long)i, submesh->material, (unsigned long long)materials);
    if ((uint64_t)submesh->first_vertex + submesh->vertex_count > block->info->vertices ||
        (uint64_t)submesh->first_face + submesh->face_count > block->info->faces)
      return sk_fail(error, SK_ERROR_BLOCK, "submesh %llu reaches beyond the vertices or faces of the model",
                     (unsigned long long)i);
    if (submesh->flags & ~(uint32_t)SK_SUBMESH_HIDDEN)
      return sk_fail(error, SK_ERROR_BLOCK, "submesh %llu has unknown flags %#x", (unsigned long long)i,
                     submesh->flags);
  }
  if (vertices > block->info->vertices || faces > block->info->faces)
    return sk_fail(error, SK_ERROR_BLOCK,
                   "the submeshes have %llu vertices and %llu faces; the model has %llu and %llu",
                   (unsigned long long)vertices, (unsigned long long)faces, (unsigned long long)block->info->vertices,
                   (unsigned long long)block->info->faces);
  return SK_OK;
}

static sk_status check_materials(const sk_block *block, sk_error *error) {
  const sk_section *section = section_of(block, SK_SECTION_MATERIALS);
  const sk_material *material = section->data;
  uint64_t i, textures = section_of(block, SK_SECTION_TEXTURES)->rows;
  for (i = 0; i < section->rows; i++, material++) {
    if (material->texture < SK_NONE || (material->texture >= 0 && (uint64_t)material->texture >= textures))
      return sk_fail(error, SK_ERROR_BLOCK, "material %llu has texture %d; the model has %llu textures",
                     (unsigned long long)i, material->texture, (unsigned long long)textures);
    if (material->double_sided > 1 || material->alpha >= SK_ALPHA_COUNT ||
        !sk_floats_are_finite(material->base_color, 4) || !sk_floats_are_finite(&material->alpha_cutoff, 1) ||
        !sk_floats_are_finite(material->uv_transform, 6))
      return sk_fail(error, SK_ERROR_BLOCK, "material %llu has a bad color, side, alpha mode or transform",
                     (unsigned long long)i);
    if (material->wrap_u >= SK_WRAP_COUNT || material->wrap_v >= SK_WRAP_COUNT ||
        material->min_filter >= SK_FILTER_MIN_COUNT || material->mag_filter >= SK_FILTER_MAG_COUNT)
      return sk_fail(error, SK_ERROR_BLOCK, "material %llu has an unknown wrap mode or filter", (unsigned long long)i);
  }
  return SK_OK;
}

static sk_status check_textures(const sk_block *block, sk_error *error) {
  const sk_section *section = section_of(block, SK_SECTION_TEXTURES);
  const sk_texture *texture = section->data;
  uint64_t i, bytes = section_of(block, SK_SECTION_TEXTURE_DATA)->rows, left = bytes;
  for (i = 0; i < section->rows; i++, texture++) {
    uint64_t pixels = (uint64_t)texture->width * texture->height;
    if (texture->offset > bytes || texture->length > bytes - texture->offset || !texture->width != !texture->height ||
        (pixels && (pixels > UINT64_MAX / 4 || pixels * 4 != texture->length)))
      return sk_fail(error, SK_ERROR_BLOCK, "texture %llu: its bytes are outside the block, or are not %u x %u pixels",
                     (unsigned long long)i, texture->width, texture->height);
    if (texture->length > left)
      return sk_fail(error, SK_ERROR_BLOCK, "texture %llu shares its bytes with another texture",
                     (unsigned long long)i);
    left -= texture->length;
  }
  return SK_OK;
}

/* ---- morph targets -------------------------------------------------------------- */

static bool increases_below(const uint32_t *vertices, uint64_t count, uint64_t limit) {
  uint64_t i;
  for (i = 1; i < count; i++)
    if (vertices[i] <= vertices[i - 1]) return false;
  return !count || vertices[count - 1] < limit;
}

/* Each target has the rows that follow those of the previous target, so that each row is checked once. */
static sk_status check_targets(const sk_block *block, sk_error *error) {
  const sk_section *section = section_of(block, SK_SECTION_TARGETS);
  const sk_target *target = section->data;
  const uint32_t *vertices = section_of(block, SK_SECTION_TARGET_VERTICES)->data;
  uint64_t i, next = 0, moved = section_of(block, SK_SECTION_TARGET_VERTICES)->rows;
  for (i = 0; i < section->rows; i++, target++) {
    if (!sk_floats_are_finite(&target->default_weight, 1) ||
        (block->info->kind == SK_BLOCK_MODEL && (target->node < 0 || target->node >= (int32_t)block->info->joints)))
      return sk_fail(error, SK_ERROR_BLOCK, "target %llu belongs to joint %d of %u, or its weight is not finite",
                     (unsigned long long)i, target->node, block->info->joints);
    if (target->first != next || target->count > moved - next ||
        (target->count && !increases_below(vertices + next, target->count, block->info->vertices)))
      return sk_fail(error, SK_ERROR_BLOCK,
                     "target %llu: its rows do not follow those of the previous target, or its vertices do not "
                     "increase below %llu",
                     (unsigned long long)i, (unsigned long long)block->info->vertices);
    next += target->count;
  }
  if (next != moved)
    return sk_fail(error, SK_ERROR_BLOCK, "%llu moved vertices belong to no target",
                   (unsigned long long)(moved - next));
  return SK_OK;
}

/* ---- clips ---------------------------------------------------------------------- */

/* Whether rows first .. first + count - 1 exist in a section of `rows` rows. */
static bool lies_in(uint64_t first, uint64_t count, uint64_t rows) { return first <= rows && count <= rows - first; }

/* How many things there are of the kind that a channel of the path changes. */
static uint64_t owner_count(const sk_block *block, sk_path path) {
  switch (sk_owner_of(path)) {
  case SK_OWNER_JOINT: return block->info->joints;
  case SK_OWNER_TARGET: return block->info->targets;
  default: return section_of(block, SK_SECTION_MATERIALS)->rows;
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
  uint64_t values = section_of(block, SK_SECTION_VALUES)->rows;
  bool cubic = channel->interpolation == SK_CUBIC;
  if (!lies_in(channel->times, channel->key_count, section_of(block, SK_SECTION_TIMES)->rows) ||
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
    if (!is_unit(sk_channel_key(values, channel, channel->values, k))) return false;
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
  const sk_channel *channel = (const sk_channel *)section_of(block, SK_SECTION_CHANNELS)->data + index;
  const double *times = section_of(block, SK_SECTION_TIMES)->data;
  const float *values = section_of(block, SK_SECTION_VALUES)->data;
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
  const sk_section *section = section_of(block, SK_SECTION_CHANNELS);
  const sk_channel *channel = section->data;
  uint64_t i, floats = 0, still = 0, values = section_of(block, SK_SECTION_VALUES)->rows;
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
  const sk_clip_record *clip = (const sk_clip_record *)section_of(block, SK_SECTION_CLIPS)->data + index;
  uint64_t times = section_of(block, SK_SECTION_TIMES)->rows, values = section_of(block, SK_SECTION_VALUES)->rows;
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
  if (!times_increase((const double *)section_of(block, SK_SECTION_TIMES)->data + clip->motion_times, count))
    return sk_fail(error, SK_ERROR_BLOCK, "clip %llu: the times of its root motion are not finite and increasing",
                   (unsigned long long)index);
  rows = (const float *)section_of(block, SK_SECTION_VALUES)->data + clip->motion_values;
  for (k = 0; k < count; k++)
    if (!is_unit(rows + (size_t)k * SK_MOTION_WIDTH + 3))
      return sk_fail(error, SK_ERROR_BLOCK, "clip %llu: a rotation of its root motion is not a unit quaternion",
                     (unsigned long long)index);
  return SK_OK;
}

/* `next` is the number of the first event after those of the previous clip; it is advanced. */
static sk_status check_events(const sk_block *block, uint64_t index, uint64_t *next, sk_error *error) {
  const sk_clip_record *clip = (const sk_clip_record *)section_of(block, SK_SECTION_CLIPS)->data + index;
  const sk_event *event = section_of(block, SK_SECTION_EVENTS)->data;
  uint64_t events = section_of(block, SK_SECTION_EVENTS)->rows;
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

static sk_status check_clips(const sk_block *block, sk_error *error) {
  const sk_section *section = section_of(block, SK_SECTION_CLIPS);
  const sk_clip_record *clip = section->data;
  uint64_t i, next = 0, next_event = 0, floats = 0;
  uint64_t channels = section_of(block, SK_SECTION_CHANNELS)->rows;
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
  if (next_event != section_of(block, SK_SECTION_EVENTS)->rows)
    return sk_fail(error, SK_ERROR_BLOCK, "%llu events belong to no clip",
                   (unsigned long long)(section_of(block, SK_SECTION_EVENTS)->rows - next_event));
  return SK_OK;
}

/* `last` has, for each path and for each thing that has it, the number of the last clip that moves it, counted from 1;
   those of a path begin at first[path]. No clip may move one of them twice. */
static sk_status check_moved(const sk_block *block, const size_t *first, uint32_t *last, sk_error *error) {
  const sk_clip_record *clip = section_of(block, SK_SECTION_CLIPS)->data;
  const sk_channel *channel = section_of(block, SK_SECTION_CHANNELS)->data;
  uint64_t i, clips = section_of(block, SK_SECTION_CLIPS)->rows;
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

/* ---- report --------------------------------------------------------------------- */

static sk_status check_report(const sk_block *block, sk_error *error) {
  const sk_section *section = section_of(block, SK_SECTION_REPORT);
  const sk_report_entry *entry = section->data;
  uint64_t i;
  for (i = 0; i < section->rows; i++, entry++) {
    if (entry->severity >= SK_SEVERITY_COUNT)
      return sk_fail(error, SK_ERROR_BLOCK, "report entry %llu has unknown severity %u", (unsigned long long)i,
                     entry->severity);
  }
  return SK_OK;
}

sk_status sk_check_block(const sk_block *block, sk_error *error) {
  static sk_status (*const checks[])(const sk_block *, sk_error *) = {
      sk_check_rows,   check_texts,    check_skeleton, check_skin,  check_submeshes,          check_targets,
      check_materials, check_textures, check_channels, check_clips, check_duplicate_channels, check_report};
  size_t i;
  for (i = 0; i < sizeof checks / sizeof *checks; i++) {
    sk_status status = checks[i](block, error);
    if (status) return status;
  }
  return SK_OK;
}
