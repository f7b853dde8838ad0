/* import_collada.h: what a COLLADA file says and Assimp does not deliver, or refuses. */
#ifndef IMPORT_COLLADA_H
#define IMPORT_COLLADA_H

#include "../import_job.h"

/* import_collada.c */

/* When the joints are there: they get the names that people gave them (channels and skins bind by their ids, which are
   the names that Assimp delivers), and what gets lost is noted. */
sk_status import_collada_correct(import_job *job);
/* Unit and axes, of .zae as well. */
void import_collada_space(import_job *job);

/* import_collada_morph.c */

/* Before the target of a channel that leads nowhere any more. Assimp takes targets with one slash alone. */
#define COLLADA_NOWHERE "//"
/* After an error of Assimp: where it refused a morph controller, the file without its morph controllers takes the
   place of the model, and `*changed` is set. */
sk_status import_collada_open_again(import_job *job, bool *changed);

#endif
