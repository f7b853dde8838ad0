/* import_quake.h: reads one of the frames of vertices that .md3 and Quake's .mdl store. */
#ifndef IMPORT_QUAKE_H
#define IMPORT_QUAKE_H

#include "../import_job.h"

/* Replace the vertices of the first frame, which Assimp delivers, by those of the requested frame. */
sk_status import_md3_correct(import_job *job);
sk_status import_mdl_correct(import_job *job);
/* Gives Assimp a copy of the .mdl in which each skin has only its first image. */
sk_status import_mdl_open(import_job *job);

#endif
