/* sk_block_rows.h: rules that each row of the large sections of a block must keep by itself (private to
   sk_block_check). */
#ifndef SK_BLOCK_ROWS_H
#define SK_BLOCK_ROWS_H

#include "sk_block.h"

/* Whether `count` floats are neither infinite nor NaN. */
bool sk_floats_are_finite(const void *data, uint64_t count);

/* Checks that numbers are finite, and the normals, tangents, slots, weights and faces of the mesh. Every section must
   have the number of rows and the stride that INFO promises, and the submeshes must have been checked. Large blocks are
   checked by several threads; the result and its sentence do not depend on their number. */
sk_status sk_check_rows(const sk_block *block, sk_error *error);

#endif
