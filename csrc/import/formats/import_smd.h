/* import_smd.h: SMD and VTA of Valve, line by line. */
#ifndef IMPORT_SMD_H
#define IMPORT_SMD_H

#include "../import_job.h"

/* Before Assimp: removes comments, hides blanks in names of materials, makes equal names of nodes unique by a mark
   (import_twin.h), and finds the first frame. */
sk_status import_smd_open(import_job *job);
/* When the joints are made: removes the marks, and counts key times as the file does, whose first frame need not be 0. */
sk_status import_smd_correct(import_job *job);
/* Always 0: the file has frames alone, and Assimp invents 25 of them per second. */
double import_smd_ticks(import_job *job, double stated);

#endif
