/* sk_pack.h: lays out the keys of clips so that they take little memory and need no second copy for sampling.

   A channel that does not move stores one value for all its keys. Channels that move are stored as frames of cells
   (sk_lines.h), which the compiled form of the clip samples in place. Keys of merged time lines and of weights are
   stored one after another. No number changes. */
#ifndef SK_PACK_H
#define SK_PACK_H

#include "sk_block.h"

/* The clips of a block and their keys. */
typedef struct sk_packing {
  sk_clip_record *clips; /* in and out: the clips of a checked block, or as the importer made them; borrowed */
  size_t clip_count;
  sk_channel *channels;  /* in and out: the channels of all clips; borrowed */
  const double *times;   /* in: the section TIMES */
  const float *values;   /* in: the section VALUES before packing */
  sk_array packed;       /* out: floats, the section VALUES after packing; free it with sk_array_free */
} sk_packing;

/* Fills `packed`, and makes clips and channels index it. Returns false if there is no memory. */
bool sk_pack_run(sk_packing *packing);

/* Makes a new block with packed clips from an opened block; sk_free frees it. *memory is NULL if the clips of the block
   are packed already. */
sk_status sk_pack_block(const sk_block *block, void **memory, size_t *size, sk_error *error);

#endif
