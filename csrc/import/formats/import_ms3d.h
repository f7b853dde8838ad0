/* import_ms3d.h: MilkShape, of which Assimp does not find the weights. */
#ifndef IMPORT_MS3D_H
#define IMPORT_MS3D_H

#include "../import_job.h"

/* Before Assimp: reads the weights, and takes away the comments, behind which Assimp gets lost. */
sk_status import_ms3d_open(import_job *job);
/* When the joints are there: finds those of the weights, and corrects position keys. */
sk_status import_ms3d_correct(import_job *job);

#endif
