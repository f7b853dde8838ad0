/* import_3ds.h: 3D Studio's .3ds, read by skinpy alone. */
#ifndef IMPORT_3DS_H
#define IMPORT_3DS_H

#include "../import_job.h"

/* Lists what the file holds in job->contents. */
sk_status import_3ds_open(import_job *job);

#endif
