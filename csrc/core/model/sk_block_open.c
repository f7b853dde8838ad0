/* sk_block_open.c: finds the sections of a block that came from outside. sk_block_check.c checks their contents. */
#include <string.h>

#include "sk_block_check.h"
#include "sk_block_layout.h"

static sk_status open_header(const void *memory, size_t size, sk_error *error) {
  const sk_block_header *header = memory;
  if (!memory || size < sizeof(sk_block_header))
    return sk_fail(error, SK_ERROR_BLOCK, "the block has %zu bytes; its header needs %zu", size,
                   sizeof(sk_block_header));
  if ((uintptr_t)memory % 8) return sk_fail(error, SK_ERROR_BLOCK, "the address of the block is not a multiple of 8");
  if (memcmp(header->magic, SK_BLOCK_MAGIC, sizeof header->magic) != 0)
    return sk_fail(error, SK_ERROR_BLOCK, "this is not a skinpy model: its magic differs");
  if (header->version != SK_BLOCK_VERSION)
    return sk_fail(error, SK_ERROR_BLOCK,
                   "the block has version %u; this build reads version %u; load the original file again, and "
                   "save it",
                   header->version, SK_BLOCK_VERSION);
  if (header->size != size)
    return sk_fail(error, SK_ERROR_BLOCK, "the block should have %llu bytes, but has %zu; copy or save it again",
                   (unsigned long long)header->size, size);
  if (header->section_count > SK_SECTION_COUNT ||
      sizeof(sk_block_header) + header->section_count * sizeof(sk_block_entry) > size)
    return sk_fail(error, SK_ERROR_BLOCK, "the block lists %u sections; at most %d are possible", header->section_count,
                   SK_SECTION_COUNT);
  return SK_OK;
}

static sk_status open_section(sk_block *block, const sk_block_entry *entry, sk_error *error) {
  const char *name = sk_section_name(entry->kind);
  if (entry->kind >= SK_SECTION_COUNT)
    return sk_fail(error, SK_ERROR_BLOCK, "the block has a section of the unknown kind %u", entry->kind);
  if (block->sections[entry->kind].data) return sk_fail(error, SK_ERROR_BLOCK, "the block has section %s twice", name);
  if (!entry->stride || entry->offset % SK_ALIGNMENT || entry->offset > block->size || !entry->count ||
      entry->count > (block->size - entry->offset) / entry->stride)
    return sk_fail(error, SK_ERROR_BLOCK,
                   "section %s (%llu rows of %u bytes at %llu) does not fit in a block of %zu bytes", name,
                   (unsigned long long)entry->count, entry->stride, (unsigned long long)entry->offset, block->size);
  block->sections[entry->kind] = (sk_section){(const char *)block->memory + entry->offset, entry->count, entry->stride};
  return SK_OK;
}

/* No section lies in the header and the table, or shares bytes with another one. */
static sk_status check_overlap(const sk_block *block, uint32_t section_count, sk_error *error) {
  const char *head = (const char *)block->memory + sizeof(sk_block_header) + section_count * sizeof(sk_block_entry);
  int a, b;
  for (a = 0; a < SK_SECTION_COUNT; a++) {
    const sk_section *one = &block->sections[a];
    if (!one->data) continue;
    if ((const char *)one->data < head)
      return sk_fail(error, SK_ERROR_BLOCK, "section %s lies in the block's header", sk_section_name(a));
    for (b = 0; b < a; b++) {
      const sk_section *other = &block->sections[b];
      if (other->data && (const char *)one->data < (const char *)other->data + other->rows * other->stride &&
          (const char *)other->data < (const char *)one->data + one->rows * one->stride)
        return sk_fail(error, SK_ERROR_BLOCK, "sections %s and %s share bytes", sk_section_name(b), sk_section_name(a));
    }
  }
  return SK_OK;
}

static uint64_t rows_wanted(const sk_block *block, sk_row_rule rule, uint64_t present) {
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

/* A block of clips names its joints, targets and materials and has nothing else of a model. */
static bool section_belongs(const sk_info *info, int kind) {
  switch (kind) {
  case SK_SECTION_INFO:
  case SK_SECTION_TEXT:
  case SK_SECTION_JOINT_NAMES:
  case SK_SECTION_TARGETS:
  case SK_SECTION_MATERIALS:
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
    uint64_t wanted =
        section_belongs(block->info, kind) ? rows_wanted(block, sk_section_rules[kind].rows, section->rows) : 0;
    if (section->rows != wanted)
      return sk_fail(error, SK_ERROR_BLOCK, "section %s has %llu rows; expected %llu", sk_section_rules[kind].name,
                     (unsigned long long)section->rows, (unsigned long long)wanted);
    if (section->data && section->stride != stride)
      return sk_fail(error, SK_ERROR_BLOCK, "section %s has rows of %u bytes; expected %u", sk_section_rules[kind].name,
                     section->stride, stride);
  }
  return SK_OK;
}

sk_status sk_block_open(const void *memory, size_t size, sk_block *block, sk_error *error) {
  const sk_block_entry *entries;
  uint32_t i;
  sk_status status = open_header(memory, size, error);

  memset(block, 0, sizeof *block);
  if (status) return status;
  block->memory = memory;
  block->size = size;
  entries = (const sk_block_entry *)((const sk_block_header *)memory + 1);
  for (i = 0; i < ((const sk_block_header *)memory)->section_count && !status; i++)
    status = open_section(block, &entries[i], error);
  if (!status) status = check_overlap(block, ((const sk_block_header *)memory)->section_count, error);
  if (status) return status;
  block->info = block->sections[SK_SECTION_INFO].data;
  if (!block->info || block->sections[SK_SECTION_INFO].stride != sizeof(sk_info))
    return sk_fail(error, SK_ERROR_BLOCK, "the block has no section INFO of %zu bytes", sizeof(sk_info));
  status = sk_check_info(block, error);
  if (!status) status = open_rows(block, error);
  if (!status) status = sk_check_block(block, error);
  return status;
}
