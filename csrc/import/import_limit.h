/* import_limit.h: how much there is in a file, against what the caller allows. */
#ifndef IMPORT_LIMIT_H
#define IMPORT_LIMIT_H

#include "import_job.h"

typedef struct import_counts { /* as sk_import_limits has them */
  uint64_t nodes, depth, vertices, keys;
  uint64_t rows; /* corners of faces, and vertices of attributes and morph targets */
} import_counts;

uint64_t import_sum(uint64_t a, uint64_t b);     /* UINT64_MAX where the sum does not fit */
uint64_t import_product(uint64_t a, uint64_t b); /* likewise */
/* SK_ERROR_LIMIT names the limit that is exceeded, and what there is. */
sk_status import_check_counts(import_job *job, const import_counts *counts);
/* The same for the scene that Assimp delivered. */
sk_status import_check_scene(import_job *job);
/* SK_ERROR_LIMIT where a file was too large. */
sk_status import_check_bytes(import_job *job);

#endif
