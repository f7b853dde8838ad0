/* import_file.h: the model's file and those beside it, in memory. Nothing else in the importer opens a file.

   A file is read whole, once, and kept until the import ends: Assimp opens the model up to five times. Of a large model
   the head alone is kept while Assimp reads it from its descriptor, because twice in memory it would be the largest
   thing there. Names are looked up below the model's folder alone: no "..", no absolute path, no link that leads out;
   a model that came as bytes has no folder. The caller may forbid all other files, or allow any. The model
   may be replaced by memory, where it is corrected before Assimp reads it. */
#ifndef IMPORT_FILE_H
#define IMPORT_FILE_H

#include <assimp/cfileio.h>

#include "import_format.h"

#define IMPORT_MAX_BYTES   ((size_t)2 << 30)   /* read for one model, over all its files */
#define IMPORT_HEAD_BYTES  ((size_t)65536)    /* in which a format says what it is */
#define IMPORT_LARGE_BYTES (1 << 20)         /* a larger model is not kept beside Assimp's copy of it */

#define IMPORT_HERE        "./" /* the folder of the model, as Assimp knows it */

typedef struct import_job import_job;

typedef struct import_source { /* one file in memory: whole, or the head of a large model */
  char *name;          /* under which it is asked for, below the folder; owned */
  const uint8_t *data; /* one zero byte follows what came from a file */
  size_t size;
  void *owned;         /* the memory behind `data`; NULL: not owned */
} import_source;

typedef struct import_files {
  struct aiFileIO io;  /* what Assimp gets; its UserData is this struct */
  char *main_name;     /* the name under which Assimp knows the model; owned */
  char *folder;        /* in front of every name of a file beside it; "" for none; owned */
  bool has_folder;     /* false: the model came as bytes and has nothing beside it */
  char *real_folder;   /* resolved, of realpath; NULL: it was not needed yet; owned */
  sk_array sources;    /* import_source; the first is the model */
  int descriptor;      /* of the model, of which sources has the head; -1: sources has all of it */
  size_t model_size;   /* bytes of the whole model, with a descriptor */
  size_t total;        /* bytes read so far, and those that came in memory */
  size_t max_total;    /* what `total` may come to */
  uint64_t exceeded;   /* what it would have come to; 0: nothing was too large */
  sk_external external;
  const char *formats; /* that are allowed, as the request has them; NULL: all */
  unsigned refused;    /* names of files that the model may not bring in */
  char first_refused[120];
  unsigned missing;    /* files that the model needs and that are not there */
  char first_missing[120];
  bool is_pointer;     /* the last file asked for is a Git LFS pointer, which counts as missing */
  char hint[120];      /* the words that import_files_hint returns */
  const import_format *format; /* of the model */
  bool no_memory;      /* an allocation failed inside a callback of Assimp */
} import_files;

/* Reads the model, and sets job->format and job->suffix. */
sk_status import_files_open(import_job *job);
void import_files_close(import_files *files);
/* Reads the rest of the model's file where only its head is in memory. Not while Assimp reads. */
sk_status import_files_whole(import_job *job);
/* Another file that the model names, or Assimp asks for; NULL where there is none or it may not be read. */
const import_source *import_files_read(import_files *files, const char *name);
/* Counts a file that the model may not bring in; always NULL. */
const import_source *import_files_refuse(import_files *files, const char *name);
/* import_hint.c: words about the file that import_files_read last could not read, valid until the next call. The first
   is the reason, to stand behind the name in a message. The second is a hint that the name alone does not give, such as
   a file whose letter case differs, or "". */
const char *import_files_why(import_files *files, const char *name);
const char *import_files_hint(import_files *files, const char *name);
/* Git LFS puts a small text in the place of a large file that was not fetched. */
bool import_is_lfs_pointer(const import_source *file);
/* How many bytes of a descriptor from an offset on came into `data`. */
size_t import_files_read_at(int descriptor, size_t at, void *data, size_t size);
/* A name without the model's folder in front of it. */
const char *import_files_below(const import_files *files, const char *name);
/* What stands behind the last dot of a path's last name; "" where there is none. */
const char *import_suffix_of(const char *path);
/* Puts memory in the place of a file; takes `owned` over, also on failure. */
bool import_files_put(import_files *files, const char *name, const void *data, size_t size, void *owned);
/* Where `word` ends for the first time in the head of the file; NULL where it does not occur. */
const char *import_find_word(const import_source *file, const char *word);

/* import_assimp_io.c: what Assimp calls instead of opening files. */
struct aiFileIO import_assimp_io(import_files *files);

#endif
