/* import_format.h: the one table of formats. All that is decided by the format of a file stands in its row.

   A file has the format that the caller names, else the one of its name's suffix, else the one of its first bytes.
   Every suffix that Assimp knows is looked up here; one without a row gets an empty row, which means that the general
   code and Assimp do all of the work. No other code asks for a format by its name: it asks the row.

   To add a format, write a file in formats/ and a row in import_format.c. */
#ifndef IMPORT_FORMAT_H
#define IMPORT_FORMAT_H

#include "sk_import.h"

struct import_job;
struct import_submesh;
struct import_reader;

#define IMPORT_MAX_SUFFIX 16 /* bytes of a suffix with its zero byte; a longer one is cut and has no row */

/* When a format may be read. Python's DEFAULT_FORMATS says the same; a test compares the two. */
typedef enum import_allowance {
  IMPORT_NAMED,    /* only where the caller names it: containers that expand, and formats that few need */
  IMPORT_ISOLATED, /* by default in a worker alone: broken files bring its reader down */
  IMPORT_ALWAYS    /* by default */
} import_allowance;

typedef struct import_magic { /* how files begin, behind a byte order mark and white space */
  const char *bytes;
  const char *suffix; /* of such a file, where it has none of its own */
  bool certain;       /* files of no other format begin so, not even text */
  const char *also;   /* a word that stands in the first 4 KiB as well; NULL: none */
} import_magic;

typedef enum import_where {
  IMPORT_BYTES,    /* at the very beginning */
  IMPORT_BEGINS,   /* behind a byte order mark and white space; small letters count as capital ones */
  IMPORT_HAS,      /* somewhere in the first IMPORT_HEAD_BYTES */
  IMPORT_HAS_LINE, /* there, at the beginning of a line */
  IMPORT_HAS_EARLY /* in the first 200 bytes, in which Assimp looks for what tells the readers of .xml apart */
} import_where;

typedef struct import_required { /* one of the words must be there; no words: there is nothing to ask for */
  const char *words[9];
  import_where where;
  const char *wish; /* what is missing, in the sentence "there is no %s" */
} import_required;

typedef struct import_frames { /* where a header has the number of stored frames, as 4 bytes */
  const char *magic;           /* NULL: the format stores none */
  size_t offset;
} import_frames;

typedef struct import_format {
  /* Lower case, without the dot, with a blank between each two. Formats that differ in nothing share a row. */
  const char *suffixes;
  import_allowance allowance;
  const char *component; /* of Assimp, which some builds of it lack; NULL: all have it */
  const char *container; /* not a format, but what files may be wrapped in, in words: "a zip archive" */

  /* What the bytes say. */
  import_magic magics[9];
  import_required required;
  const char *may_hold;  /* suffixes of other rows, as files of which this one may begin */
  /* Whether a file of `whole` bytes is of this format although it begins as another one does; NULL: it never is. */
  bool (*is_own)(const uint8_t *data, size_t size, size_t whole);

  /* Which other files it brings in. */
  bool brings_models;   /* Assimp reads them by their own suffixes: they must be allowed as well */
  const char *companion; /* suffix of a file that it cannot do without; NULL: it can do without all */

  /* Before Assimp reads it, or instead. */
  const struct import_reader *reader; /* NULL: the content is that of Assimp's scene */
  sk_status (*open)(struct import_job *job); /* may put another file in its place; NULL: nothing to do */
  bool is_validated; /* Assimp's own validation runs: the reader lets indices through that its next step trusts */

  /* After Assimp has read it. */
  bool is_read_again; /* something is read from the file that Assimp does not deliver: it must be whole */
  bool has_meshes;    /* Assimp's reader takes any text: without a mesh, node or clip, the file is another one */
  sk_status (*correct_scene)(struct import_job *job); /* what Assimp has read wrong, before the joints are made */
  sk_status (*correct)(struct import_job *job); /* the same, when the joints are there */
  void (*space)(struct import_job *job); /* unit and axes; NULL: +Y up, no unit known, or `open` has noted them */
  void (*note)(struct import_job *job); /* what is lost of it, when everything else is done */
  sk_status (*tell)(struct import_job *job); /* writes model.extras, data that only Python reads; NULL: none */
  void (*close)(struct import_job *job); /* frees what the format keeps in the job beside its contents */
  import_frames frames;

  /* How numbers are meant. */
  double (*ticks)(struct import_job *job, double stated); /* per second, from what Assimp states; 0: not known */
  bool texture_replaces_color; /* a texture stands in the place of the material's color; else they are multiplied */
  bool offsets_follow_rest; /* inverse bind matrices are computed from the rest pose, always */
  bool has_scenes; /* the request may choose a scene */
  bool keeps_vertices; /* equal vertices are not joined unless the caller asks for that */
} import_format;

/* The row of a suffix in lower case; an empty row where there is none. Never NULL. */
const import_format *import_format_of(const char *suffix);
/* The row whose magic the bytes begin with, and that magic; NULL where the bytes say nothing. */
const import_format *import_format_of_bytes(const uint8_t *data, size_t size, const import_magic **magic);
/* Appends to a list such as "*.3ds;*.obj" the suffixes that skinpy reads itself and that the list lacks. */
void import_format_add_own(char *list, size_t size);
/* Whether two rows may hold each other's content: they are one, or `outer` may hold `inner`. */
bool import_format_may_hold(const import_format *outer, const import_format *inner);

#endif
