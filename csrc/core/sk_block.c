/* sk_block.c: layout of the model block: writing, and finding the sections of one that came
   from outside. What the sections hold is checked in sk_block_check.c. */
#include "sk_block.h"

#include <string.h>

#include "sk_block_check.h"

typedef struct block_header {
  char magic[8];
  uint32_t version, section_count;
  uint64_t size; /* bytes of the whole block */
  uint8_t reserved[40];
} block_header;

typedef struct block_entry {
  uint32_t kind, stride;
  uint64_t offset, count;
  uint64_t reserved; /* 0 */
} block_entry;

_Static_assert(sizeof(block_header) == 64, "the header fills one alignment unit");
_Static_assert(sizeof(block_entry) == 32, "table entries have no hidden padding");
_Static_assert(sizeof(sk_info) == 64 && sizeof(sk_submesh) == 32 && sizeof(sk_material) == 64 &&
                   sizeof(sk_target) == 32 &&
                   sizeof(sk_texture) == 40 && sizeof(sk_clip_record) == 64 &&
                   sizeof(sk_channel) == 48 && sizeof(sk_report_entry) == 40 &&
                   sizeof(sk_event) == 16,
               "records have the sizes that version 3 promises");

/* ---- the table of sections --------------------------------------------------- */

typedef enum row_rule { ONE, OWN, JOINTS, SLOTS, VERTICES, VERTICES_OR_NONE, INFLUENCES, FACES, TARGETS, MOVED,
               MOVED_OR_NONE } row_rule;

typedef struct section_rule {
  const char *name;
  uint32_t element, width;
  row_rule rows;
} section_rule;

static const section_rule rules[SK_SECTION_COUNT] = {
#define SECTION_RULE(name, type, width, rows) {#name, sizeof(type), width, rows},
    SK_SECTION_TABLE(SECTION_RULE)
#undef SECTION_RULE
};

const char *sk_section_name(sk_section_kind kind) {
  return (unsigned)kind < SK_SECTION_COUNT ? rules[kind].name : "unknown";
}

uint32_t sk_section_stride(sk_section_kind kind, uint32_t influences) {
  if ((unsigned)kind >= SK_SECTION_COUNT) return 0;
  return rules[kind].element * (rules[kind].rows == INFLUENCES ? influences : rules[kind].width);
}

uint32_t sk_path_width(sk_path path) {
  return path == SK_PATH_ROTATION ? 4 : path == SK_PATH_WEIGHT ? 1 : 3;
}

/* ---- writing ----------------------------------------------------------------- */

static uint64_t aligned(uint64_t size) {
  return (size + SK_ALIGNMENT - 1) / SK_ALIGNMENT * SK_ALIGNMENT;
}

static uint64_t part_bytes(const sk_block_part *part) { return part->count * part->stride; }

/* A section of no rows is no part of the block. */
static size_t entry_count(const sk_block_part *parts, size_t part_count) {
  size_t i, entries = 0;
  for (i = 0; i < part_count; i++) entries += parts[i].count > 0;
  return entries;
}

/* Of header and table, in which all kinds have room: where the first section begins does not depend on the others. */
static uint64_t head_bytes(void) { return aligned(sizeof(block_header) + SK_SECTION_COUNT * sizeof(block_entry)); }

static sk_status block_bytes(const sk_block_part *parts, size_t part_count, uint64_t *total, sk_error *error) {
  size_t i;
  *total = head_bytes();
  for (i = 0; i < part_count; i++) {
    if (parts[i].stride && parts[i].count > (UINT64_MAX / 4) / parts[i].stride)
      return sk_fail(error, SK_ERROR_BLOCK, "section %s has %llu rows: too many", sk_section_name(parts[i].kind),
                     (unsigned long long)parts[i].count);
    *total += aligned(part_bytes(&parts[i]));
    if (*total > SIZE_MAX / 4) return sk_fail_memory(error, SIZE_MAX);
  }
  return SK_OK;
}

size_t sk_block_place(const sk_block_part *parts, size_t part_count, size_t *offsets) {
  uint64_t at = head_bytes();
  size_t i;
  for (i = 0; i < part_count; i++) {
    offsets[i] = (size_t)at;
    at += aligned(part_bytes(&parts[i]));
  }
  return (size_t)at;
}

/* Header and table, into zeroed memory. */
static void write_head(void *memory, const sk_block_part *parts, size_t part_count, uint64_t total) {
  size_t i;
  block_header *header = memory;
  block_entry *entry = (block_entry *)(header + 1);
  uint64_t offset = head_bytes();
  memcpy(header->magic, SK_BLOCK_MAGIC, sizeof header->magic);
  header->version = SK_BLOCK_VERSION;
  header->section_count = (uint32_t)entry_count(parts, part_count);
  header->size = total;
  for (i = 0; i < part_count; i++) {
    if (!parts[i].count) continue;
    *entry++ = (block_entry){parts[i].kind, parts[i].stride, offset, parts[i].count, 0};
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
  piece = sk_alloc_zero((1 + 2 * part_count) * sizeof *piece + head); /* the head stands behind them */
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

sk_status sk_block_write(const sk_block_part *parts, size_t part_count, void **block, size_t *size,
                         sk_error *error) {
  const sk_block_sink sink = {take_in_memory, NULL, NULL, block};
  *block = NULL;
  return sk_block_pour(parts, part_count, &sink, size, error);
}

bool sk_text_append(sk_array *pool, const char *bytes, size_t length, sk_text *text) {
  char *place;
  *text = (sk_text){0, 0};
  if (!length) return true;
  if (length > UINT32_MAX || pool->count > UINT32_MAX - length) return false;
  text->offset = (uint32_t)pool->count;
  place = sk_array_extend(pool, length);
  if (!place) return false;
  text->length = (uint32_t)length;
  memcpy(place, bytes, length);
  return true;
}

/* ---- reading ----------------------------------------------------------------- */

static sk_status open_header(const void *memory, size_t size, sk_error *error) {
  const block_header *header = memory;
  if (!memory || size < sizeof(block_header))
    return sk_fail(error, SK_ERROR_BLOCK, "block has %zu bytes; its header alone needs %zu", size,
                   sizeof(block_header));
  if ((uintptr_t)memory % 8)
    return sk_fail(error, SK_ERROR_BLOCK, "block lies at an odd address; wanted a multiple of 8");
  if (memcmp(header->magic, SK_BLOCK_MAGIC, sizeof header->magic) != 0)
    return sk_fail(error, SK_ERROR_BLOCK, "these bytes are no skinpy model: the magic differs");
  if (header->version != SK_BLOCK_VERSION)
    return sk_fail(error, SK_ERROR_BLOCK, "block has version %u; this build reads version %u",
                   header->version, SK_BLOCK_VERSION);
  if (header->size != size)
    return sk_fail(error, SK_ERROR_BLOCK, "block says it has %llu bytes, but %zu came",
                   (unsigned long long)header->size, size);
  if (header->section_count > SK_SECTION_COUNT ||
      sizeof(block_header) + header->section_count * sizeof(block_entry) > size)
    return sk_fail(error, SK_ERROR_BLOCK, "block lists %u sections; at most %d fit",
                   header->section_count, SK_SECTION_COUNT);
  return SK_OK;
}

static sk_status open_section(sk_block *block, const block_entry *entry, sk_error *error) {
  const char *name = sk_section_name(entry->kind);
  if (entry->kind >= SK_SECTION_COUNT)
    return sk_fail(error, SK_ERROR_BLOCK, "block has a section of unknown kind %u", entry->kind);
  if (block->sections[entry->kind].data)
    return sk_fail(error, SK_ERROR_BLOCK, "section %s is there twice", name);
  if (!entry->stride || entry->offset % SK_ALIGNMENT || entry->offset > block->size ||
      !entry->count || entry->count > (block->size - entry->offset) / entry->stride)
    return sk_fail(error, SK_ERROR_BLOCK,
                   "section %s (%llu rows of %u bytes at %llu) does not lie in a block of %zu bytes",
                   name, (unsigned long long)entry->count, entry->stride,
                   (unsigned long long)entry->offset, block->size);
  block->sections[entry->kind] =
      (sk_section){(const char *)block->memory + entry->offset, entry->count, entry->stride};
  return SK_OK;
}

static uint64_t rows_wanted(const sk_block *block, row_rule rule, uint64_t present) {
  const sk_info *info = block->info;
  uint64_t moved = block->sections[SK_SECTION_TARGET_VERTICES].rows;
  switch (rule) {
    case ONE: return 1;
    case OWN: return present;
    case JOINTS: return info->joints;
    case SLOTS: return info->slots;
    case VERTICES_OR_NONE: return present ? info->vertices : 0;
    case VERTICES:
    case INFLUENCES: return info->vertices;
    case FACES: return info->faces;
    case TARGETS: return info->targets;
    case MOVED: return moved;
    case MOVED_OR_NONE: return present ? moved : 0;
  }
  return 0;
}

/* A block of clips names its joints and targets and has nothing else of a model. */
static bool section_belongs(const sk_info *info, int kind) {
  switch (kind) {
    case SK_SECTION_INFO:
    case SK_SECTION_TEXT:
    case SK_SECTION_JOINT_NAMES:
    case SK_SECTION_TARGETS:
    case SK_SECTION_CLIPS:
    case SK_SECTION_CHANNELS:
    case SK_SECTION_TIMES:
    case SK_SECTION_VALUES:
    case SK_SECTION_EVENTS:
    case SK_SECTION_REPORT: return true;
    default: return info->kind == SK_BLOCK_MODEL;
  }
}

static sk_status open_rows(const sk_block *block, sk_error *error) {
  int kind;
  for (kind = 0; kind < SK_SECTION_COUNT; kind++) {
    const sk_section *section = &block->sections[kind];
    uint32_t stride = sk_section_stride(kind, block->info->influences);
    uint64_t wanted = section_belongs(block->info, kind)
                          ? rows_wanted(block, rules[kind].rows, section->rows)
                          : 0;
    if (section->rows != wanted)
      return sk_fail(error, SK_ERROR_BLOCK, "section %s has %llu rows; expected %llu",
                     rules[kind].name, (unsigned long long)section->rows,
                     (unsigned long long)wanted);
    if (section->data && section->stride != stride)
      return sk_fail(error, SK_ERROR_BLOCK, "section %s has rows of %u bytes; expected %u",
                     rules[kind].name, section->stride, stride);
  }
  return SK_OK;
}

sk_status sk_block_open(const void *memory, size_t size, sk_block *block, sk_error *error) {
  const block_entry *entries;
  uint32_t i;
  sk_status status = open_header(memory, size, error);

  memset(block, 0, sizeof *block);
  if (status) return status;
  block->memory = memory;
  block->size = size;
  entries = (const block_entry *)((const block_header *)memory + 1);
  for (i = 0; i < ((const block_header *)memory)->section_count && !status; i++)
    status = open_section(block, &entries[i], error);
  if (status) return status;
  block->info = block->sections[SK_SECTION_INFO].data;
  if (!block->info || block->sections[SK_SECTION_INFO].stride != sizeof(sk_info))
    return sk_fail(error, SK_ERROR_BLOCK, "block has no section INFO of %zu bytes", sizeof(sk_info));
  status = sk_check_info(block, error);
  if (!status) status = open_rows(block, error);
  if (!status) status = sk_check_block(block, error);
  return status;
}
