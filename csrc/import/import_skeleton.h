/* import_skeleton.h: how joints are added, by the walk over Assimp's scene and by readers. */
#ifndef IMPORT_SKELETON_H
#define IMPORT_SKELETON_H

#include "import_job.h"

/* Adds a joint behind its parent, with an empty name. `node` is the one that Assimp has of it, or NULL. */
sk_status import_add_joint(import_job *job, const struct aiNode *node, int32_t parent);
sk_text *import_joint_name(import_job *job, size_t joint); /* to be written; moves with the next joint */

#endif
