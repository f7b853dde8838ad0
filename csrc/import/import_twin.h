/* import_twin.h: twins are nodes that share a name. The file tells them apart by a number, but Assimp binds channels and
   weights to nodes by name.

   While Assimp's scene is read, a mark behind the name makes the name unique. The mark is a byte that no text has, and a
   number. */
#ifndef IMPORT_TWIN_H
#define IMPORT_TWIN_H

#include "import_job.h"

#define IMPORT_MARK_BYTES 12 /* of the mark and its zero byte, at most */

/* Writes the mark of a number; returns its length. */
size_t import_mark(char out[IMPORT_MARK_BYTES], uint32_t number);
/* Takes the marks out of the names of joints, and reports names that several joints have. */
sk_status import_unmark_names(import_job *job);
/* Marks the nodes whose name an earlier node has, and those without a name. `nodes` has, for each channel of the first
   animation, the number of its node, counted depth first; channels get the name of their node. */
sk_status import_mark_nodes(import_job *job, const uint32_t *nodes, size_t count);

#endif
