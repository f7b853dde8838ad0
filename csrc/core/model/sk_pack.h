/* sk_pack.h: the keys of clips laid out so that they take little memory and none twice: one value for channels
   that do not move; frames of cells (sk_lines.h) for those that do, which the compiled form samples where they
   lie. Keys of lines that are merged, and of weights, stay one after another. No number changes. */
#ifndef SK_PACK_H
#define SK_PACK_H

#include "sk_block.h"

/* Clips, and where their keys lie. */
typedef struct sk_packing {
  sk_clip_record *clips; /* in and out: of a block, checked or made by the importer */
  size_t clip_count;
  sk_channel *channels;  /* in and out: of all clips */
  const double *times;
  const float *values;
  sk_array packed;       /* out: floats, the new VALUES; sk_array_free */
} sk_packing;

/* Fills `packed` and lets clips and channels index it. False where there is no memory. */
bool sk_pack_run(sk_packing *packing);

/* The opened block with its clips packed, which sk_free frees; *memory is NULL where it is as it should be. */
sk_status sk_pack_block(const sk_block *block, void **memory, size_t *size, sk_error *error);

#endif
