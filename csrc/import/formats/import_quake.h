/* import_quake.h: one of the frames that .md3 and Quake's .mdl store. */
#ifndef IMPORT_QUAKE_H
#define IMPORT_QUAKE_H

#include "../import_job.h"

/* Put the vertices of the frame that the caller asks for in the place of those of the first one. */
sk_status import_md3_correct(import_job *job);
sk_status import_mdl_correct(import_job *job);
/* Leaves one image of each skin of Quake's .mdl. */
sk_status import_mdl_open(import_job *job);

#endif
