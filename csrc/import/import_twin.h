/* import_twin.h: nodes of one name, where the file tells them apart by a number and Assimp binds by name.

   A mark behind the name, which no text has, makes it unique while Assimp's scene is read. */
#ifndef IMPORT_TWIN_H
#define IMPORT_TWIN_H

#include "import_job.h"

#define IMPORT_MARK_BYTES 12 /* of the mark and its zero byte, at most */

/* Writes the mark of a number; returns its length. */
size_t import_mark(char out[IMPORT_MARK_BYTES], uint32_t number);
/* Takes the marks out of the names of joints, and counts those that came before for the report. */
sk_status import_unmark_names(import_job *job);
/* Marks the nodes whose name came before, and those without a name. `nodes` has the number of the node, depth first, of
   each channel of the first animation, as the file counts; channels get the name of their node. */
sk_status import_mark_nodes(import_job *job, const uint32_t *nodes, size_t count);

#endif
