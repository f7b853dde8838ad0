/* import_md2.h: reports what an MD2 file holds and Assimp does not deliver. */
#ifndef IMPORT_MD2_H
#define IMPORT_MD2_H

#include "../import_job.h"

/* Reports the skins after the first. */
void import_md2_note(import_job *job);

#endif
