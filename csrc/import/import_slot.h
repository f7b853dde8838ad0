/* import_slot.h: palette slots: pairs of a joint and its offset, which is an inverse bind matrix.

   One joint may have different offsets in two meshes. A rigid submesh has a slot too: its node with the identity. */
#ifndef IMPORT_SLOT_H
#define IMPORT_SLOT_H

#include "import_mesh.h"

extern const float import_identity[16];

/* The slot of a pair, which is added where it is new. Matrices are compared bit by bit, and what is not
   finite in them is repaired and reported. */
sk_status import_add_slot(import_job *job, int32_t joint, const float given[16], uint32_t *slot);
/* Copies an offset, 16 numbers, as a file has it. What is not finite or not affine is repaired and reported. */
void import_copy_offset(import_job *job, const import_submesh *submesh, const float *m, float out[16]);

typedef struct import_offsets { /* what was seen of a skin's offsets; starts as 0, with `first` SK_NONE */
  uint32_t count;
  int32_t first; /* the first joint; SK_NONE: none yet */
  bool others;   /* some are not the identity */
  bool differ;   /* the joints are apart at rest */
} import_offsets;

/* Looks at one offset; a joint may be SK_NONE. */
void import_offsets_add(const import_job *job, import_offsets *seen, int32_t joint, const float *offset);
/* Whether all offsets are the identity although their joints are apart at rest: then they are computed instead. */
bool import_offsets_are_missing(const import_offsets *seen);
/* The offset of a joint by the rest pose: inverse(joint) * (node that has the mesh), both in model space. */
void import_compute_offset(const import_model *m, int32_t joint, int32_t node, float out[16]);
/* The slot of each bone of the submesh's mesh in Assimp's scene: of its joint, or of the submesh's node where it has none. */
sk_status import_slots_of_bones(import_job *job, const import_submesh *submesh, uint32_t *slots);

#endif
