/* sk_morph.h: morph targets ("blend shapes"): a mesh plus weighted differences to some of its vertices.

   position' = position + sum over targets of weight * difference. Normals are morphed the same way; the skinning that
   follows makes them unit vectors again. */
#ifndef SK_MORPH_H
#define SK_MORPH_H

#include "sk_mesh.h"

typedef struct sk_morph {
  int32_t target_count;       /* M */
  const sk_target *targets;   /* (M,) in block */
  const uint32_t *vertices;   /* in block: TARGET_VERTICES */
  const float *positions;     /* in block: TARGET_POSITIONS */
  const float *normals;       /* in block; NULL where the targets have none */
} sk_morph;

/* Makes `morph` a view of the targets of a checked block of either kind, which must outlive it. */
void sk_morph_open(const sk_block *block, sk_morph *morph);

/* Writes the default weights that the file gives each target: (M,). */
void sk_morph_default_weights(const sk_morph *morph, float *weights);

/* A target with a weight other than 0, and the first of its rows that was not used yet. */
typedef struct sk_morph_cursor {
  const sk_target *target;
  float weight;
  uint64_t next;
} sk_morph_cursor;

/* The state of a pass over the vertices of a mesh, a few at a time. Set `morph`, `mesh` and `cursors`, then call
   sk_morph_begin. */
typedef struct sk_morph_walk {
  const sk_morph *morph;
  const sk_mesh *mesh;
  size_t vertex;            /* the next vertex in order */
  size_t cursor_count;      /* targets with a weight other than 0 */
  sk_morph_cursor *cursors; /* room for M cursors; not owned */
} sk_morph_walk;

/* Starts a pass at vertex 0 with (M,) weights. */
void sk_morph_begin(sk_morph_walk *walk, const float *weights);

/* Writes vertices first .. first + count - 1, morphed: (count, 3) each. Normals are not normalized; `normals` may be
   NULL. Passes in order of vertices are fastest. False, with nothing written, if no target moves these vertices. */
bool sk_morph_vertices(sk_morph_walk *walk, size_t first, size_t count, float *positions, float *normals);

#endif
