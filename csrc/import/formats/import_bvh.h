/* import_bvh.h: a BVH file in words that Assimp reads without loss. */
#ifndef IMPORT_BVH_H
#define IMPORT_BVH_H

#include "../import_job.h"

/* Before Assimp: what it would lose or refuse is written in other words, and blanks in names are hidden. */
sk_status import_bvh_open(import_job *job);
/* When the joints are there: the blanks in their names come back. */
sk_status import_bvh_correct(import_job *job);

#endif
