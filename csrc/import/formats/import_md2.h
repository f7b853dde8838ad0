/* import_md2.h: what an MD2 file holds that Assimp does not deliver. */
#ifndef IMPORT_MD2_H
#define IMPORT_MD2_H

#include "../import_job.h"

/* Reports the skins after the first. */
void import_md2_note(import_job *job);

#endif
