/* import_unread.h: reports what Assimp's readers of some formats ignore, as far as the file's bytes show it. */
#ifndef IMPORT_UNREAD_H
#define IMPORT_UNREAD_H

#include "../import_job.h"

/* Each reports animation, skins and morph targets of the file that Assimp does not deliver. */
void import_note_zae(import_job *job); /* of an archive as a whole: skinpy does not look into it */
void import_note_blend(import_job *job);
void import_note_ogex(import_job *job);
void import_note_x3d(import_job *job);
void import_note_lwo(import_job *job);
void import_note_ase(import_job *job);

#endif
