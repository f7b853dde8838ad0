/* sk_block_rows.h: the rules that each row of a block's large sections keeps by itself (private to sk_block_check). */
#ifndef SK_BLOCK_ROWS_H
#define SK_BLOCK_ROWS_H

#include "sk_block.h"

bool sk_floats_are_finite(const void *data, uint64_t count);

/* Finite numbers, and the slots, weights and faces of the mesh; every section has the rows and the stride that INFO
   promises. A large block is looked at on several threads; what is said of one does not depend on them. */
sk_status sk_check_rows(const sk_block *block, sk_error *error);

#endif
