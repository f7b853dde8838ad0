/* worker_io.h: what the parent and the worker exchange, and the files that carry it.

   The parent writes a worker_request and its texts into a file in memory. The bytes of a model that is not in a file
   go into a second one. The worker reads the request, imports the model, writes the finished block over the request,
   and sends a worker_answer through a pipe:

     parent                              worker
     WORKER_BLOCK:  request, texts  -->  reads them before it opens the importer
     WORKER_BYTES:  the model       -->  maps them, after its limits are set
     WORKER_BLOCK:  the block       <--  writes it
     WORKER_ANSWER: worker_answer   <--  its last words

   Neither side trusts the other one. The worker checks the magic number, the size and the lengths of a request. The
   parent seals the block, so that nobody can change it any more, and then checks it like any block from outside. */
#ifndef SK_WORKER_IO_H
#define SK_WORKER_IO_H

#include <sys/types.h>

#include "../core/base/sk_base.h"
#include "../import/sk_import.h"

#define WORKER_MAGIC 0x534B4E57u /* "SKNW" */

/* Descriptors of the worker. 0, 1 and 2 are /dev/null, and those from WORKER_FIRST_FREE on are closed. */
enum { WORKER_ANSWER = 3, WORKER_BLOCK = 4, WORKER_BYTES = 5, WORKER_FIRST_FREE = 6 };

/* ---- the request ----------------------------------------------------------------------------------------- */

/* Texts of a request. They follow it in this order, each with its terminating zero. */
typedef enum worker_text {
  WORKER_IMPORTER,  /* path of the importer's shared object */
  WORKER_LIBRARIES, /* paths where Assimp may be, the preferred one first, separated by WORKER_SEPARATOR */
  WORKER_PATH,      /* the next four are fields of sk_import_request */
  WORKER_FORMAT,
  WORKER_FORMATS,
  WORKER_SCENE,
  WORKER_TEXTS
} worker_text;

#define WORKER_SEPARATOR '\n'
#define WORKER_NO_TEXT   UINT32_MAX /* the length of a text that is NULL */
#define WORKER_NO_BYTES  UINT64_MAX /* the number of bytes of a model that is in a file */
#define WORKER_MAX_TEXT  65536u     /* bytes of one text: sixteen times the longest path of Linux */

typedef struct worker_request {
  uint32_t magic, size;           /* WORKER_MAGIC, and the bytes of this struct */
  double curve_error;             /* these seven are fields of sk_import_request */
  uint32_t max_influences;
  int32_t join_vertices;
  uint32_t ignore_animated_scale, up;
  int32_t frame;
  uint32_t external;
  uint32_t probe;                 /* 1: import nothing, only answer how the worker is confined */
  uint32_t strict;                /* 1: import nothing where a part of the sandbox is missing */
  uint32_t seconds;               /* of processor time that the worker may take */
  uint32_t parent;                /* process number of the parent: the worker ends if another process started it */
  uint64_t memory;                /* bytes that the import may take, and that the block may have */
  uint64_t bytes;                 /* of the model in WORKER_BYTES, or WORKER_NO_BYTES */
  sk_import_limits limits;
  uint32_t lengths[WORKER_TEXTS]; /* of the texts, without the terminating zero, or WORKER_NO_TEXT */
} worker_request;

/* ---- the answer ------------------------------------------------------------------------------------------ */

/* How a worker is confined, as bits of worker_answer.sandbox. An old Linux may lack some of them. */
typedef enum worker_protection {
  WORKER_HAS_LIMITS = 1, /* of memory, file size and processor time */
  WORKER_HAS_FILTER = 2, /* of system calls */
  WORKER_HAS_FOLDERS = 4, /* rules about the folders in which it may read */
  WORKER_HAS_NO_RIGHTS = 8 /* no capabilities of root */
} worker_protection;

typedef struct worker_answer {
  uint32_t magic;                /* WORKER_MAGIC */
  int32_t status;                /* sk_status */
  uint64_t size;                 /* bytes of the block, if status is SK_OK */
  uint32_t sandbox;              /* worker_protection */
  char message[SK_ERROR_LENGTH]; /* the error, if status is not SK_OK */
} worker_answer;

/* ---- limits from outside -------------------------------------------------------------------------------------- */

#define WORKER_WORDS 200 /* bytes that hold any words of worker_limit_words */

/* The limit of this process for a resource of getrlimit; RLIM_INFINITY for none. */
uint64_t worker_limit_of(int resource);
/* Words for that limit, which somebody else than skinpy has set, and how it is raised; false if there is none. */
bool worker_limit_words(int resource, char *words, size_t room);

/* ---- files ----------------------------------------------------------------------------------------------- */

/* An empty file in memory, and a pipe with its reading end first. Programs that this process starts do not inherit
   them, and their numbers are never those of a worker's descriptors. -1 or false: errno says why. */
int worker_make_file(const char *name);
bool worker_make_pipe(int ends[2]);

/* From now on no byte and no length of the file can change. False if a process has mapped it for writing. */
bool worker_seal(int file);

/* Write or read exactly `size` bytes: at the file's position, or from `offset` on. False if that is not possible;
   then some of them may have been written or read. */
bool worker_write(int file, const void *data, size_t size);
bool worker_read(int file, void *data, size_t size, off_t offset);

#endif
