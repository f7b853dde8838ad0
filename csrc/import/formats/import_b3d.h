/* import_b3d.h: Blitz3D, of which Assimp mixes up vertices and joints. */
#ifndef IMPORT_B3D_H
#define IMPORT_B3D_H

#include "../import_job.h"

/* Before Assimp: reads the weights, and makes several animations of one rate into one. */
sk_status import_b3d_open(import_job *job);
/* Before the joints are made: binds channels to nodes by order, where nodes have one name. */
sk_status import_b3d_correct_scene(import_job *job);
/* 0 stands for 60 ticks per second. */
double import_b3d_ticks(import_job *job, double stated);

#endif
