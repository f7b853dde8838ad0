/* sk_block_layout.h: the layout of a block in memory, for the code that writes one and the code that reads one (private
   to sk_block.c and sk_block_open.c). */
#ifndef SK_BLOCK_LAYOUT_H
#define SK_BLOCK_LAYOUT_H

#include "sk_block.h"

typedef struct sk_block_header {
  char magic[8];
  uint32_t version, section_count;
  uint64_t size; /* bytes of the whole block */
  uint8_t reserved[40];
} sk_block_header;

typedef struct sk_block_entry {
  uint32_t kind, stride;
  uint64_t offset, count;
  uint64_t reserved; /* 0 */
} sk_block_entry;

/* The number of rows that a section must have. ONE: exactly one. OWN: any number. JOINTS, SLOTS, VERTICES, FACES and
   TARGETS: the count in INFO. INFLUENCES: as many as vertices, with K elements per row. MOVED: as many as
   TARGET_VERTICES has. ..._OR_NONE: that many, or the section is absent. */
typedef enum sk_row_rule {
  ONE,
  OWN,
  JOINTS,
  SLOTS,
  VERTICES,
  VERTICES_OR_NONE,
  INFLUENCES,
  FACES,
  TARGETS,
  MOVED,
  MOVED_OR_NONE
} sk_row_rule;

typedef struct sk_section_rule {
  const char *name;
  uint32_t element, width;
  sk_row_rule rows;
} sk_section_rule;

extern const sk_section_rule sk_section_rules[SK_SECTION_COUNT];

#endif
