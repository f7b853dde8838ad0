/* worker_order.h: what a process that asks for an import and its worker say to each other.

   The order stands in a file in memory, which the block is written over when it is made; the answer comes through a
   pipe. Neither believes what the other one wrote: the parent checks the block as any other. */
#ifndef SK_WORKER_ORDER_H
#define SK_WORKER_ORDER_H

#include "../core/base/sk_base.h"
#include "../import/sk_import.h"

/* Bytes that an import is given memory for before it asks, however many it takes. */
#define WORKER_MOST_HEAP ((size_t)96 << 20)

#define WORKER_MAGIC 0x534B4E57u /* "SKNW" */

/* Descriptors of the worker. */
enum { WORKER_ANSWER = 3, WORKER_BLOCK = 4, WORKER_BYTES = 5, WORKER_HEAP = 6, WORKER_FIRST_FREE = 7 };

/* Strings of an order, one after another behind it, each with its ending zero. */
typedef enum worker_text {
  WORKER_IMPORTER,  /* path of the importer's shared object */
  WORKER_LIBRARIES, /* paths of Assimp, separated by WORKER_SEPARATOR */
  WORKER_PATH,
  WORKER_FORMAT,
  WORKER_FORMATS,
  WORKER_TEXTS
} worker_text;

#define WORKER_SEPARATOR '\n'
#define WORKER_NO_TEXT UINT32_MAX
#define WORKER_NO_BYTES UINT64_MAX
#define WORKER_LONGEST_TEXT 65536u /* bytes: sixteen times the longest path */

typedef struct worker_order {
  uint32_t magic, size;        /* bytes of this struct */
  uint32_t max_influences;
  int32_t join_vertices;
  uint32_t ignore_animated_scale, up;
  int32_t frame;
  uint32_t external;
  uint32_t probe;              /* no import: only say what keeps the worker in */
  uint32_t seconds;            /* of computing */
  uint32_t ahead;              /* another processor may prepare memory for the import */
  uint32_t given;              /* bytes of the block's file for which the parent makes large pages meanwhile */
  uint32_t heap;               /* bytes of WORKER_HEAP, large pages that are cleared; 0: there is none */
  uint32_t large;              /* the import takes megabytes */
  uint32_t filled;             /* 1 and the byte that the import fills much memory with, and uses little; 0: none */
  uint32_t parent;             /* its process: the worker ends where that is gone */
  uint64_t memory;             /* bytes that the import may take */
  uint64_t bytes;              /* of the model, in WORKER_BYTES; WORKER_NO_BYTES: it is in a file */
  sk_import_limits limits;
  uint32_t lengths[WORKER_TEXTS]; /* without the ending zero; WORKER_NO_TEXT: NULL */
} worker_order;

/* What keeps the worker in. */
typedef enum worker_cage { WORKER_HAS_LIMITS = 1, WORKER_HAS_FILTER = 2, WORKER_HAS_FOLDERS = 4 } worker_cage;

typedef struct worker_answer {
  uint32_t magic;
  int32_t status;  /* sk_status */
  uint64_t size;   /* of the block, where there is one */
  uint32_t cage;   /* worker_cage, or-ed */
  uint32_t heap;   /* MiB of it that the import took */
  char message[SK_ERROR_LENGTH];
} worker_answer;

#endif
