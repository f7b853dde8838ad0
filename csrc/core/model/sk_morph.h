/* sk_morph.h: morph targets ("blend shapes"): a mesh plus weighted differences to some of its vertices.

   position' = position + sum over targets of weight * difference; normals likewise, their length being
   mended by the skinning that follows. */
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

/* Shows the targets of a block of either kind. */
void sk_morph_open(const sk_block *block, sk_morph *morph);

/* The weights that the file gives a mesh by default; (M,). */
void sk_morph_default_weights(const sk_morph *morph, float *weights);

/* A target that weighs, and the first of its rows that was not passed yet. */
typedef struct sk_morph_cursor {
  const sk_target *target;
  float weight;
  uint64_t next;
} sk_morph_cursor;

/* Walks through the vertices of a mesh, some at a time. */
typedef struct sk_morph_walk {
  const sk_morph *morph;
  const sk_mesh *mesh;
  size_t vertex;            /* that comes next */
  size_t cursor_count;
  sk_morph_cursor *cursors; /* room for (M,); not owned */
} sk_morph_walk;

/* To vertex 0, with (M,) weights. */
void sk_morph_begin(sk_morph_walk *walk, const float *weights);

/* Vertices first .. first + count - 1, morphed: (count, 3) each, normals not normalized; `normals` may be NULL.
   False, and nothing is written, where no target moves one of them. */
bool sk_morph_vertices(sk_morph_walk *walk, size_t first, size_t count, float *positions, float *normals);

#endif
