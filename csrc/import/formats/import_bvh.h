/* import_bvh.h: BVH, a skeleton and its motion. */
#ifndef IMPORT_BVH_H
#define IMPORT_BVH_H

#include "../import_job.h"

/* Lists the joints and the motion in job->contents. */
sk_status import_bvh_open(import_job *job);

#endif
