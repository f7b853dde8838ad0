/* sk_block_check.h: the rules that the contents of a block must keep (private to sk_block_open). */
#ifndef SK_BLOCK_CHECK_H
#define SK_BLOCK_CHECK_H

#include <math.h>

#include "sk_block.h"

#define SK_UNIT_TOLERANCE 1e-3 /* of the length of a stored quaternion: float keys of real exporters */

/* Checks the kind, the counts and the limits of INFO, before any other section is read. */
sk_status sk_check_info(const sk_block *block, sk_error *error);

/* Checks everything else. Every section must have the number of rows and the stride that INFO promises. */
sk_status sk_check_block(const sk_block *block, sk_error *error);

/* The part of it for clips: their channels, events and root motion. */
sk_status sk_check_clips(const sk_block *block, sk_error *error);

/* The part of it for EXTRAS: strict JSON, an object, and nothing in it that Python's reader would refuse. */
sk_status sk_check_extras(const sk_block *block, sk_error *error);

static inline const sk_section *sk_section_of(const sk_block *block, sk_section_kind kind) {
  return &block->sections[kind];
}

static inline bool sk_is_unit(const float q[4]) {
  double length = sqrt((double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3]);
  return fabs(length - 1.0) <= SK_UNIT_TOLERANCE;
}

#endif
