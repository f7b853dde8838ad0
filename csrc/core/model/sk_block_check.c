/* sk_block_check.c: checks every index, order and number of a block, as if an attacker had written it. Rules of single
   rows are in sk_block_rows.c, of clips in sk_block_clips.c, of EXTRAS in sk_block_extras.c. Nothing recurses. */
#include "sk_block_check.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "../base/sk_math.h"
#include "sk_block_rows.h"

/* ---- numbers ----------------------------------------------------------------- */

static sk_status check_affine(const sk_block *block, sk_section_kind kind, sk_error *error) {
  static const float last[4] = {0.0f, 0.0f, 0.0f, 1.0f};
  const sk_section *section = sk_section_of(block, kind);
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
  const sk_section *section = sk_section_of(block, field->kind);
  uint64_t i, bytes = sk_section_of(block, SK_SECTION_TEXT)->rows;
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
  uint64_t total = 0, limit = sk_section_of(block, SK_SECTION_TEXT)->rows + SK_MAX_SHARED_TEXT;
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
  if (info->reserved[0] || info->reserved[1])
    return sk_fail(error, SK_ERROR_BLOCK, "INFO has numbers in fields that version %u reserves", SK_BLOCK_VERSION);
  if (info->up >= SK_AXIS_COUNT || !isfinite(info->unit_meters) || info->unit_meters < 0)
    return sk_fail(error, SK_ERROR_BLOCK, "the block has an unknown up axis or a unit that is not a finite length");
  return SK_OK;
}

/* Largest difference of a rest matrix from its translation, rotation and scale, as a part of its largest element. */
#define REST_TOLERANCE 1e-3

static bool translation_agrees(const float rest[16], const float translation[3]) {
  int row;
  for (row = 0; row < 3; row++) {
    double wanted = translation[row];
    if (fabs((double)rest[4 * row + 3] - wanted) > REST_TOLERANCE * fabs(wanted)) return false;
  }
  return true;
}

/* Whether R and S are what the 3x3 part of a rest matrix decomposes into. Without shear R * S is that part. With shear, R
   has the direction of the first column and the plane of the first two, and S the lengths of the columns: so seen from
   R, the columns have nothing below the diagonal. A scale of another sign belongs to a mirrored joint. */
static bool columns_agree(const float rest[16], const float rotation[4], const float scale[3]) {
  static const float zero[3] = {0, 0, 0}, one[3] = {1, 1, 1};
  double axes[12], largest = 0.0, off = 0.0;
  int row, column, k;
  sk_affine_from_trs(zero, rotation, one, axes);
  for (column = 0; column < 3; column++) {
    double square = 0.0, size = fabs((double)scale[column]);
    for (row = 0; row < 3; row++) {
      double seen = 0.0;
      for (k = 0; k < 3; k++) seen += axes[4 * k + row] * rest[4 * k + column];
      square += seen * seen;
      if (row > column) off = fmax(off, fabs(seen));
      largest = fmax(largest, fabs((double)rest[4 * row + column]));
    }
    off = fmax(off, fabs(sqrt(square) - size));
    largest = fmax(largest, size);
  }
  return off <= REST_TOLERANCE * largest + FLT_MIN; /* float32 has fewer digits below FLT_MIN */
}

static sk_status check_skeleton(const sk_block *block, sk_error *error) {
  const int32_t *parents = sk_section_of(block, SK_SECTION_JOINT_PARENTS)->data;
  const float *rotation = sk_section_of(block, SK_SECTION_REST_ROTATION)->data;
  const float *translation = sk_section_of(block, SK_SECTION_REST_TRANSLATION)->data;
  const float *scale = sk_section_of(block, SK_SECTION_REST_SCALE)->data;
  const float *rest = sk_section_of(block, SK_SECTION_REST_LOCAL)->data;
  uint32_t j;
  for (j = 0; j < block->info->joints; j++) {
    if (block->info->kind != SK_BLOCK_MODEL) continue;
    if (parents[j] < SK_NONE || parents[j] >= (int32_t)j)
      return sk_fail(error, SK_ERROR_BLOCK, "joint %u has parent %d; a parent must come before its child (-1 = root)",
                     j, parents[j]);
    if (!sk_is_unit(rotation + 4 * (size_t)j))
      return sk_fail(error, SK_ERROR_BLOCK, "joint %u: its rest rotation is not a unit quaternion", j);
    if (!translation_agrees(rest + 16 * (size_t)j, translation + 3 * (size_t)j) ||
        !columns_agree(rest + 16 * (size_t)j, rotation + 4 * (size_t)j, scale + 3 * (size_t)j))
      return sk_fail(error, SK_ERROR_BLOCK,
                     "joint %u: its rest matrix is not that of its translation, rotation and scale", j);
  }
  return check_affine(block, SK_SECTION_REST_LOCAL, error);
}

static sk_status check_skin(const sk_block *block, sk_error *error) {
  const int32_t *joints = sk_section_of(block, SK_SECTION_SLOT_JOINTS)->data;
  uint32_t s;
  for (s = 0; s < block->info->slots; s++)
    if (joints[s] < 0 || joints[s] >= (int32_t)block->info->joints)
      return sk_fail(error, SK_ERROR_BLOCK, "slot %u follows joint %d; the model has %u joints", s, joints[s],
                     block->info->joints);
  return check_affine(block, SK_SECTION_SLOT_INVERSE_BIND, error);
}

/* ---- mesh ---------------------------------------------------------------------- */

/* Each submesh has the vertices and faces that follow those of the previous one, and all have all of them: so nothing is
   drawn or written twice, or lost. */
static sk_status check_submesh(const sk_block *block, uint64_t i, uint64_t vertices, uint64_t faces, sk_error *error) {
  const sk_submesh *submesh = (const sk_submesh *)sk_section_of(block, SK_SECTION_SUBMESHES)->data + i;
  uint64_t materials = sk_section_of(block, SK_SECTION_MATERIALS)->rows;
  if (submesh->node < 0 || submesh->node >= (int32_t)block->info->joints)
    return sk_fail(error, SK_ERROR_BLOCK, "submesh %llu belongs to joint %d; the model has %u joints",
                   (unsigned long long)i, submesh->node, block->info->joints);
  if (submesh->material < SK_NONE || (submesh->material >= 0 && (uint64_t)submesh->material >= materials))
    return sk_fail(error, SK_ERROR_BLOCK, "submesh %llu has material %d; the model has %llu materials",
                   (unsigned long long)i, submesh->material, (unsigned long long)materials);
  if (submesh->first_vertex != vertices || submesh->first_face != faces)
    return sk_fail(error, SK_ERROR_BLOCK,
                   "submesh %llu begins at vertex %u and face %u; expected %llu and %llu, where the previous one ends",
                   (unsigned long long)i, submesh->first_vertex, submesh->first_face, (unsigned long long)vertices,
                   (unsigned long long)faces);
  if (submesh->flags & ~(uint32_t)SK_SUBMESH_HIDDEN || submesh->reserved)
    return sk_fail(error, SK_ERROR_BLOCK, "submesh %llu has unknown flags %#x", (unsigned long long)i,
                   submesh->flags | submesh->reserved);
  return SK_OK;
}

static sk_status check_submeshes(const sk_block *block, sk_error *error) {
  const sk_section *section = sk_section_of(block, SK_SECTION_SUBMESHES);
  const sk_submesh *submesh = section->data;
  uint64_t i, vertices = 0, faces = 0;
  for (i = 0; i < section->rows; i++, submesh++) {
    sk_status status = check_submesh(block, i, vertices, faces, error);
    if (status) return status;
    vertices += submesh->vertex_count;
    faces += submesh->face_count;
  }
  if (vertices != block->info->vertices || faces != block->info->faces)
    return sk_fail(error, SK_ERROR_BLOCK,
                   "the submeshes have %llu vertices and %llu faces; the model has %llu and %llu",
                   (unsigned long long)vertices, (unsigned long long)faces, (unsigned long long)block->info->vertices,
                   (unsigned long long)block->info->faces);
  return SK_OK;
}

/* Whether the numbers lie from 0 to 1. */
static bool are_factors(const float *numbers, int count) {
  int i;
  for (i = 0; i < count; i++)
    if (!(numbers[i] >= 0.0f && numbers[i] <= 1.0f)) return false;
  return true;
}

static sk_status check_materials(const sk_block *block, sk_error *error) {
  const sk_section *section = sk_section_of(block, SK_SECTION_MATERIALS);
  const sk_material *material = section->data;
  uint64_t i, textures = sk_section_of(block, SK_SECTION_TEXTURES)->rows;
  for (i = 0; i < section->rows; i++, material++) {
    if (material->texture < SK_NONE || (material->texture >= 0 && (uint64_t)material->texture >= textures))
      return sk_fail(error, SK_ERROR_BLOCK, "material %llu has texture %d; the model has %llu textures",
                     (unsigned long long)i, material->texture, (unsigned long long)textures);
    if (material->double_sided > 1 || material->alpha >= SK_ALPHA_COUNT ||
        !sk_floats_are_finite(material->uv_transform, 6))
      return sk_fail(error, SK_ERROR_BLOCK, "material %llu has a bad side, alpha mode or transform",
                     (unsigned long long)i);
    if (!are_factors(material->base_color, 4) || !(material->alpha_cutoff >= 0.0f && isfinite(material->alpha_cutoff)))
      return sk_fail(error, SK_ERROR_BLOCK,
                     "material %llu has a color that is not from 0 to 1, or an alpha cutoff below 0",
                     (unsigned long long)i);
    if (material->wrap_u >= SK_WRAP_COUNT || material->wrap_v >= SK_WRAP_COUNT ||
        material->min_filter >= SK_FILTER_MIN_COUNT || material->mag_filter >= SK_FILTER_MAG_COUNT)
      return sk_fail(error, SK_ERROR_BLOCK, "material %llu has an unknown wrap mode or filter", (unsigned long long)i);
  }
  return SK_OK;
}

static bool is_raw(const sk_block *block, const sk_texture *texture) {
  static const char raw[] = "rgba8";
  const char *text = sk_section_of(block, SK_SECTION_TEXT)->data;
  return texture->format.length == sizeof raw - 1 && !memcmp(text + texture->format.offset, raw, sizeof raw - 1);
}

/* Images lie one after another, so that none shares bytes with another one. */
static sk_status check_textures(const sk_block *block, sk_error *error) {
  const sk_section *section = sk_section_of(block, SK_SECTION_TEXTURES);
  const sk_texture *texture = section->data;
  uint64_t i, bytes = sk_section_of(block, SK_SECTION_TEXTURE_DATA)->rows, next = 0;
  for (i = 0; i < section->rows; i++, texture++) {
    uint64_t pixels = (uint64_t)texture->width * texture->height;
    if (texture->offset != next || texture->length > bytes - next)
      return sk_fail(
          error, SK_ERROR_BLOCK,
          "texture %llu: its %llu bytes do not follow those of the previous texture, or are outside the block",
          (unsigned long long)i, (unsigned long long)texture->length);
    if (is_raw(block, texture) ? !pixels || pixels > UINT64_MAX / 4 || pixels * 4 != texture->length
                               : texture->width || texture->height)
      return sk_fail(error, SK_ERROR_BLOCK, "texture %llu: its %llu bytes are not %u x %u pixels, or it is encoded",
                     (unsigned long long)i, (unsigned long long)texture->length, texture->width, texture->height);
    next += texture->length;
  }
  if (next != bytes)
    return sk_fail(error, SK_ERROR_BLOCK, "%llu bytes of images belong to no texture",
                   (unsigned long long)(bytes - next));
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
  const sk_section *section = sk_section_of(block, SK_SECTION_TARGETS);
  const sk_target *target = section->data;
  const uint32_t *vertices = sk_section_of(block, SK_SECTION_TARGET_VERTICES)->data;
  uint64_t i, next = 0, moved = sk_section_of(block, SK_SECTION_TARGET_VERTICES)->rows;
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

/* ---- report --------------------------------------------------------------------- */

static sk_status check_report(const sk_block *block, sk_error *error) {
  const sk_section *section = sk_section_of(block, SK_SECTION_REPORT);
  const sk_report_entry *entry = section->data;
  uint64_t i;
  for (i = 0; i < section->rows; i++, entry++) {
    if (entry->severity >= SK_SEVERITY_COUNT || entry->reserved)
      return sk_fail(error, SK_ERROR_BLOCK, "report entry %llu has unknown severity %u", (unsigned long long)i,
                     entry->severity);
  }
  return SK_OK;
}

sk_status sk_check_block(const sk_block *block, sk_error *error) {
  /* The rows of faces rely on the submeshes, and textures on the texts. */
  static sk_status (*const checks[])(const sk_block *, sk_error *) = {
      check_submeshes, sk_check_rows,  check_texts,    check_skeleton, check_skin,     check_targets,
      check_materials, check_textures, sk_check_clips, check_report,   sk_check_extras};
  size_t i;
  for (i = 0; i < sizeof checks / sizeof *checks; i++) {
    sk_status status = checks[i](block, error);
    if (status) return status;
  }
  return SK_OK;
}
