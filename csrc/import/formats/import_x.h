/* import_x.h: matrix keys of .x that mirror their joint. */
#ifndef IMPORT_X_H
#define IMPORT_X_H

#include "../import_job.h"

/* When the joints are there: rotation and scale of such keys are read from the text once more. */
sk_status import_x_correct(import_job *job);
/* Notes that the file is left-handed. */
void import_x_space(import_job *job);

#endif
