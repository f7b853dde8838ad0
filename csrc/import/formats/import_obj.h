/* import_obj.h: reports what an OBJ file holds and Assimp ignores. */
#ifndef IMPORT_OBJ_H
#define IMPORT_OBJ_H

#include "../import_job.h"

/* Reports free-form curves and surfaces, and how materials place their textures. */
void import_obj_note(import_job *job);

#endif
