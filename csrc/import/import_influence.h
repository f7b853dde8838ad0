/* import_influence.h: what a reader needs to say which palette slots a vertex follows. */
#ifndef IMPORT_INFLUENCE_H
#define IMPORT_INFLUENCE_H

#include "import_mesh.h"

typedef struct import_influence { /* of one vertex */
  uint32_t slot;
  float weight;
} import_influence;

typedef struct import_skinning { /* what is the same for all vertices of a submesh */
  import_job *job;
  const import_submesh *submesh;
  uint32_t own_slot; /* of the submesh's node; UINT32_MAX until it is needed */
} import_skinning;

/* True where the weight counts; one that is negative or not finite is reported. */
bool import_weight_counts(import_skinning *s, uint32_t vertex, float weight);
/* Writes the slots and weights of a vertex: the largest ones, which sum to 1. `list` holds positive, finite weights in
   the order of the skin's joints; its order changes. Without any, the vertex follows its node. */
sk_status import_finish_vertex(import_skinning *s, uint32_t vertex, import_influence *list, uint32_t count);

#endif
