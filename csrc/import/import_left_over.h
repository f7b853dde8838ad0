/* import_left_over.h: what Assimp's scene holds and no step of the import takes. */
#ifndef IMPORT_LEFT_OVER_H
#define IMPORT_LEFT_OVER_H

#include "import_job.h"

/* Reports it: meshes that no node has, what materials and meshes have beyond the base color, cameras, lights and
   metadata. The steps report what they take only in part. Readers of our own report by themselves. */
sk_status import_left_over(import_job *job);

#endif
