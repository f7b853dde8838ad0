/* import_ply.h: checks the header of a PLY file, before Assimp reads the file. */
#ifndef IMPORT_PLY_H
#define IMPORT_PLY_H

#include "../import_job.h"

/* Refuses a file without faces by a sentence that says so, and counts the edges, which are lost. */
sk_status import_ply_open(import_job *job);

#endif
