/* import_md5.h: rotations of MD5 in double precision, where Assimp takes w of a quaternion in float32. */
#ifndef IMPORT_MD5_H
#define IMPORT_MD5_H

#include "../import_job.h"

/* Before the joints are made: corrects nodes, vertices and keys of a scene from a .md5mesh, or from a .md5anim
   alone. */
sk_status import_md5_correct_model(import_job *job);
sk_status import_md5_correct_animation(import_job *job);
/* Frames per second of the file where it states some, else what Assimp states: 6.0.5 reads "frameRate" only where an
   empty line follows it, and otherwise takes 24. */
double import_md5_ticks(import_job *job, double stated);

#endif
