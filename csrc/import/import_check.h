/* import_check.h: whether a file may be read at all: its format is known and allowed, and its bytes are of it.

   Assimp 6 takes the reader that has the name's suffix, unasked, where only one has it. Where several have it (.gltf,
   .glb, .xml) or none has, Assimp asks their CanRead, and when these say no it asks all its readers: so bytes of any
   kind can reach any reader. Here a name always has a suffix that is listed and allowed; no file may begin as another
   format certainly does; and where the format's reader asks for a beginning, the file must have it. */
#ifndef IMPORT_CHECK_H
#define IMPORT_CHECK_H

#include "import_job.h"

/* Whether the job's format is known (else SK_ERROR_IMPORT) and allowed (else SK_ERROR_FORMAT). Of one that is allowed
   Assimp is not asked whether it knows it: that takes as long as reading a small model. */
sk_status import_check_format(import_job *job);
/* Whether the model's first bytes are of its format, else SK_ERROR_IMPORT. Comes before Assimp, which goes by names. */
sk_status import_check_content(import_job *job);
/* Refuses what stands in the place of a model, whatever it is called: a Git LFS pointer or a web page. */
sk_status import_check_stand_in(import_job *job);
/* After an SK_ERROR_IMPORT of Assimp's, which is returned: a better sentence where Assimp does not know the format. */
sk_status import_explain_unread(import_job *job);
/* Scenes of some formats bring in models of others, which Assimp reads by their suffixes or content: whether Assimp
   may be given this file. `suffix` is the file's own, in any case. */
bool import_may_bring_in(const import_files *files, const char *suffix, const import_source *source);

/* Whether the size is the one that the header of a binary .stl states; the header itself may hold anything. `whole` is
   the size of the file, of which `size` bytes are in `data`. */
bool import_is_binary_stl(const uint8_t *data, size_t size, size_t whole);

/* The remedy for a file with a suffix that skinpy does not read, or reads badly; NULL: there is none. */
const char *import_advice(const char *suffix);

#endif
