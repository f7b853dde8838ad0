/* import_iqm.h: Inter-Quake Model, read by skinpy alone. */
#ifndef IMPORT_IQM_H
#define IMPORT_IQM_H

#include "../import_job.h"

/* Lists what the file holds in job->contents. */
sk_status import_iqm_open(import_job *job);

#endif
