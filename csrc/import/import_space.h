/* import_space.h: the unit and the axes of a model. */
#ifndef IMPORT_SPACE_H
#define IMPORT_SPACE_H

#include "import_job.h"

/* Sets info.up and info.unit_meters by the format's row and the request. The joints must be there. */
void import_space(import_job *job);
/* How many times longer the scene's root makes what is below it. */
double import_root_scale(const import_job *job);
/* Notes the vertex frames that were left out, of a format that stores whole frames. */
void import_note_frames(import_job *job);

#endif
