/* import_x.h: DirectX's .x, read by skinpy alone. */
#ifndef IMPORT_X_H
#define IMPORT_X_H

#include "../import_job.h"

/* Lists what the file holds in job->contents. */
sk_status import_x_open(import_job *job);

#endif
