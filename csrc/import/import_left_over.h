/* import_left_over.h: reports what Assimp's scene holds and no step of the import copies. */
#ifndef IMPORT_LEFT_OVER_H
#define IMPORT_LEFT_OVER_H

#include "import_job.h"

/* Reports meshes that no node has, properties of materials beyond the base color, further attributes of meshes, cameras,
   lights and metadata. Other steps report what they copy only in part. skinpy's own readers do not come here: they
   report by themselves. */
sk_status import_left_over(import_job *job);

#endif
