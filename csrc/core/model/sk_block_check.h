/* sk_block_check.h: the rules that the contents of a block must keep (private to sk_block_open). */
#ifndef SK_BLOCK_CHECK_H
#define SK_BLOCK_CHECK_H

#include "sk_block.h"

/* Checks the kind, the counts and the limits of INFO, before any other section is read. */
sk_status sk_check_info(const sk_block *block, sk_error *error);

/* Checks everything else. Every section must have the number of rows and the stride that INFO promises. */
sk_status sk_check_block(const sk_block *block, sk_error *error);

#endif
