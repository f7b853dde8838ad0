/* sk_block.c: the sizes of the records of a block, and writing one; see sk_block.h. */
#include "sk_block_layout.h"

#include <string.h>

_Static_assert(sizeof(sk_block_header) == 64, "the header fills one alignment unit");
_Static_assert(sizeof(sk_block_entry) == 32, "table entries have no hidden padding");
_Static_assert(sizeof(sk_info) == 64 && sizeof(sk_submesh) == 40 && sizeof(sk_material) == 68 &&
                   sizeof(sk_target) == 32 && sizeof(sk_texture) == 40 && sizeof(sk_clip_record) == 64 &&
                   sizeof(sk_channel) == 48 && sizeof(sk_report_entry) == 40 && sizeof(sk_event) == 16,
               "records have the sizes that version 5 promises");

/* ---- the table of sections --------------------------------------------------- */

const sk_section_rule sk_section_rules[SK_SECTION_COUNT] = {
#define SECTION_RULE(name, type, width, rows) {#name, sizeof(type), width, rows},
    SK_SECTION_TABLE(SECTION_RULE)
#undef SECTION_RULE
};

const char *sk_section_name(sk_section_kind kind) {
  return (unsigned)kind < SK_SECTION_COUNT ? sk_section_rules[kind].name : "unknown";
}

uint32_t sk_section_stride(sk_section_kind kind, uint32_t influences) {
  const sk_section_rule *rule;
  if ((unsigned)kind >= SK_SECTION_COUNT) return 0;
  rule = &sk_section_rules[kind];
  return rule->element * (rule->rows == INFLUENCES ? influences : rule->width);
}

/* ---- the table of paths ------------------------------------------------------ */

static const struct path_rule {
  uint32_t width;
  sk_path_owner owner;
} path_rules[] = {
#define PATH_RULE(name, width, owner) {width, SK_OWNER_##owner},
    SK_PATH_TABLE(PATH_RULE)
#undef PATH_RULE
};

uint32_t sk_path_width(sk_path path) { return (unsigned)path < SK_PATH_COUNT ? path_rules[path].width : 0; }

sk_path_owner sk_owner_of(sk_path path) {
  return (unsigned)path < SK_PATH_COUNT ? path_rules[path].owner : SK_OWNER_JOINT;
}

const char *sk_owner_name(sk_path path) {
  static const char *const names[] = {"joint", "target", "material"};
  return names[sk_owner_of(path)];
}

/* ---- writing ----------------------------------------------------------------- */

static uint64_t aligned(uint64_t size) { return (size + SK_ALIGNMENT - 1) / SK_ALIGNMENT * SK_ALIGNMENT; }

static uint64_t part_bytes(const sk_block_part *part) { return part->count * part->stride; }

/* Number of sections with rows: the others are left out. */
static size_t entry_count(const sk_block_part *parts, size_t part_count) {
  size_t i, entries = 0;
  for (i = 0; i < part_count; i++) entries += parts[i].count > 0;
  return entries;
}

/* Bytes of the header and the table. The table has room for all kinds of sections, so that the offset of the first
   section does not depend on which sections there are. */
static uint64_t head_bytes(void) {
  return aligned(sizeof(sk_block_header) + SK_SECTION_COUNT * sizeof(sk_block_entry));
}

static sk_status block_bytes(const sk_block_part *parts, size_t part_count, uint64_t *total, sk_error *error) {
  size_t i;
  *total = head_bytes();
  for (i = 0; i < part_count; i++) {
    if (parts[i].stride && parts[i].count > (UINT64_MAX / 4) / parts[i].stride)
      return sk_fail(error, SK_ERROR_BLOCK, "section %s has too many rows: %llu", sk_section_name(parts[i].kind),
                     (unsigned long long)parts[i].count);
    *total += aligned(part_bytes(&parts[i]));
    if (*total > SIZE_MAX / 4) return sk_fail_memory(error, SIZE_MAX);
  }
  return SK_OK;
}

/* Writes header and table into zeroed memory. */
static void write_head(void *memory, const sk_block_part *parts, size_t part_count, uint64_t total) {
  size_t i;
  sk_block_header *header = memory;
  sk_block_entry *entry = (sk_block_entry *)(header + 1);
  uint64_t offset = head_bytes();
  memcpy(header->magic, SK_BLOCK_MAGIC, sizeof header->magic);
  header->version = SK_BLOCK_VERSION;
  header->section_count = (uint32_t)entry_count(parts, part_count);
  header->size = total;
  for (i = 0; i < part_count; i++) {
    if (!parts[i].count) continue;
    *entry++ = (sk_block_entry){parts[i].kind, parts[i].stride, offset, parts[i].count, 0};
    offset += aligned(part_bytes(&parts[i]));
  }
}

sk_status sk_block_pour(const sk_block_part *parts, size_t part_count, const sk_block_sink *sink, size_t *size,
                        sk_error *error) {
  static const char zeros[SK_ALIGNMENT];
  size_t i, pieces = 0, head = (size_t)head_bytes();
  uint64_t total;
  sk_status status = block_bytes(parts, part_count, &total, error);
  sk_block_piece *piece;
  bool taken;
  if (status) return status;
  piece = sk_alloc_zero((1 + 2 * part_count) * sizeof *piece + head); /* the head follows the pieces */
  if (!piece) return sk_fail_memory(error, head);
  piece[pieces++] = (sk_block_piece){piece + 1 + 2 * part_count, head};
  write_head(piece + 1 + 2 * part_count, parts, part_count, total);
  for (i = 0; i < part_count; i++) {
    uint64_t bytes = part_bytes(&parts[i]);
    if (bytes) piece[pieces++] = (sk_block_piece){parts[i].data, (size_t)bytes};
    if (aligned(bytes) > bytes) piece[pieces++] = (sk_block_piece){zeros, (size_t)(aligned(bytes) - bytes)};
  }
  taken = sink->take(sink->context, piece, pieces, (size_t)total);
  sk_free(piece);
  if (!taken) return sk_fail_memory(error, (size_t)total);
  *size = (size_t)total;
  return SK_OK;
}

static bool take_in_memory(void *context, const sk_block_piece *pieces, size_t count, size_t size) {
  char *to = sk_alloc(size);
  size_t i;
  *(void **)context = to;
  for (i = 0; to && i < count; i++) {
    memcpy(to, pieces[i].data, pieces[i].size);
    to += pieces[i].size;
  }
  return to != NULL;
}

sk_status sk_block_write(const sk_block_part *parts, size_t part_count, void **block, size_t *size, sk_error *error) {
  const sk_block_sink sink = {take_in_memory, block};
  *block = NULL;
  return sk_block_pour(parts, part_count, &sink, size, error);
}

bool sk_text_append(sk_array *pool, const char *bytes, size_t length, sk_text *text) {
  char *copy;
  *text = (sk_text){0, 0};
  if (!length) return true;
  if (length > UINT32_MAX || pool->count > UINT32_MAX - length) return false;
  text->offset = (uint32_t)pool->count;
  copy = sk_array_extend(pool, length);
  if (!copy) return false;
  text->length = (uint32_t)length;
  memcpy(copy, bytes, length);
  return true;
}
