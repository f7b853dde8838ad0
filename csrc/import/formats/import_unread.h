/* import_unread.h: what Assimp's readers of some formats pass over, and what can be told from the bytes. */
#ifndef IMPORT_UNREAD_H
#define IMPORT_UNREAD_H

#include "../import_job.h"

/* Note animation and the like that is in the file and comes to nobody. */
void import_note_blend(import_job *job);
void import_note_ogex(import_job *job);
void import_note_x3d(import_job *job);
void import_note_lwo(import_job *job);
void import_note_ase(import_job *job);

#endif
