/* import_md2.c: the names of an MD2's skins, of which a mesh shows one at a time. */
#include "../import_bytes.h"
#include "import_md2.h"

#define SKIN_COUNT  20 /* offsets in the header, of numbers of 4 bytes */
#define SKIN_OFFSET 44
#define NAME        64 /* bytes of each skin's name */

void import_md2_note(import_job *job) {
  const import_source *file = job->files.sources.data;
  uint64_t count, at;
  if (file->size < SKIN_OFFSET + 4) return;
  count = import_number(file->data + SKIN_COUNT, 4);
  at = import_number(file->data + SKIN_OFFSET, 4) + NAME;
  if (count < 2 || at + NAME > file->size) return;
  import_note_add(job, NOTE_looks_ignored, count - 1, "skin '%.64s'", (const char *)file->data + at);
}
