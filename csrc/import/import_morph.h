/* import_morph.h: morph targets ("blend shapes"), from the shapes of each submesh to the targets of a node.

   The targets of a submesh are read dense, a row for each target and vertex; vertices that move alike get one number,
   so that joining may compare the numbers; and what moves is kept. The mesh of a node may be several submeshes, one
   for each material: its targets go over all of them. */
#ifndef IMPORT_MORPH_H
#define IMPORT_MORPH_H

#include "import_mesh.h"

#define IMPORT_SHAPE_WIDTH 6 /* numbers of a row: 3 by which the position changes, 3 for the normal */

typedef struct import_shapes { /* of one submesh */
  uint32_t count;              /* targets */
  float *moved;                /* count * vertices rows; owned */
  bool has_normals;
} import_shapes;

typedef struct import_morph { /* what one target does to one submesh */
  int32_t node;               /* joint of the submesh */
  uint32_t target;            /* of the node, from 0 */
  const import_submesh *submesh;
  float default_weight;
  uint64_t first, count;      /* in the arrays of import_morphs */
} import_morph;

typedef struct import_morphs { /* of all submeshes, in their order */
  sk_array list;                         /* import_morph */
  sk_array vertices, positions, normals; /* uint32_t, float[3], float[3] */
  bool has_normals;
} import_morphs;

import_morphs import_no_morphs(void); /* empty */
void import_free_morphs(import_morphs *morphs);

uint32_t import_target_count(const import_job *job, const import_submesh *submesh);
/* Reads the shapes; the caller frees `moved`, also on failure. */
sk_status import_read_shapes(import_job *job, const import_submesh *submesh, import_shapes *shapes);
/* Numbers the vertices in model.shapes. */
sk_status import_number_shapes(import_job *job, const import_submesh *submesh, const import_shapes *shapes);
/* Keeps what moves; map[v] is where vertex v went, counted from `first`. */
sk_status import_keep_shapes(import_job *job, const import_submesh *submesh, uint32_t first, const uint32_t *map,
                             const import_shapes *shapes, import_morphs *morphs);
/* The targets of each node, over all its submeshes, as the block has them. */
sk_status import_targets(import_job *job, const import_morphs *morphs);
/* The first target of a joint's mesh; `*count` is 0 where there are none. */
uint32_t import_targets_of(const import_job *job, int32_t joint, uint32_t *count);
/* Counts a target that cannot be read. */
void import_note_target(import_job *job, const import_submesh *submesh, uint32_t target);

#endif
