/* sk_import.h: the one public header of the importer, which turns a file into a model block.

   The importer is a shared object that is opened by its path when it is first needed; it opens the Assimp library by
   path in its turn. Nothing links to it, not even `_core`. */
#ifndef SK_IMPORT_H
#define SK_IMPORT_H

#include "../core/base/sk_base.h"
#include "../core/model/sk_block.h"

#define SK_IMPORT_ABI    10u
#define SK_IMPORT_SYMBOL "sk_importer_open" /* const sk_importer *sk_importer_open(void) */

/* Which other files a model may bring in, such as textures. */
typedef enum sk_external {
  SK_EXTERNAL_FOLDER, /* regular files in its folder and the folders below; none for a model in memory */
  SK_EXTERNAL_NONE,
  SK_EXTERNAL_ANY,    /* regular files wherever the model says */
  SK_EXTERNAL_COUNT
} sk_external;

/* How much a model may have; SK_ERROR_LIMIT names the limit that was reached. 0: no limit. */
typedef struct sk_import_limits {
  uint64_t file_bytes; /* of the file and all files that it brings in, together */
  uint64_t nodes;      /* of the scene */
  uint64_t depth;      /* nodes from the root to the lowest one */
  uint64_t vertices;   /* of all meshes, as Assimp delivers them, each as often as it is used; corners of faces,
                          attributes and morph targets together may have 64 rows for each vertex allowed */
  uint64_t keys;       /* of all channels of all clips; a key of translation, rotation and scale is three */
} sk_import_limits;

typedef struct sk_import_request {
  const char *path;       /* the file, in the file system's bytes; NULL: the model is in `bytes` */
  const void *bytes;      /* not owned; may be NULL where path is given */
  size_t size;
  const char *format;     /* lower-case suffix without the dot, such as "glb"; NULL: by path, then by content */
  uint32_t max_influences; /* 1 to SK_MAX_INFLUENCES */
  int32_t join_vertices;  /* 1, 0, or SK_NONE: by format (api.md, Model) */
  bool ignore_animated_scale;
  double curve_error;     /* largest error of keys made from exact curves, as a part of the size; above 0 */
  uint32_t up;            /* sk_axis; SK_AXIS_UNKNOWN: what the file says, else +Y */
  int32_t frame;          /* which one of a format that stores whole frames, such as MD2; SK_NONE: the first */
  const char *scene;      /* of a glTF: "#2", its index, or "=" and its name; NULL: the one that the file says */
  const char *formats;    /* suffixes that are allowed, "glb;gltf;fbx"; NULL: all. Others: SK_ERROR_FORMAT */
  sk_external external;
  sk_import_limits limits;
  const sk_block_sink *sink; /* gets the block; NULL: the result gets it, in memory */
  bool isolated;             /* this process is for the import alone; errors then name other remedies */
} sk_import_request;

typedef struct sk_import_result {
  void *block; /* owned by the caller, who frees it with sk_importer.release; NULL where a sink has it */
  size_t size;
} sk_import_result;

typedef struct sk_importer {
  uint32_t abi; /* SK_IMPORT_ABI */
  /* Opens the Assimp library: the first of `paths` (NULL-terminated; a plain soname is allowed)
     that can be opened and is version 6 or newer. Done once; later calls do nothing.
     SK_ERROR_LIBRARY says what was tried and how to get one. */
  sk_status (*start)(const char *const *paths, sk_error *error);
  /* Imports a file. One thread at a time may call this, because Assimp's error text is global: the caller holds a lock.
     Fails with SK_ERROR_MISSING, SK_ERROR_IMPORT (and Assimp's own words), SK_ERROR_FORMAT, SK_ERROR_LIMIT,
     SK_ERROR_MEMORY or SK_ERROR_ARGUMENT. */
  sk_status (*run)(const sk_import_request *request, sk_import_result *result, sk_error *error);
  void (*release)(void *block);
  /* Path of the opened library, its version as "6.0.5", and its file suffixes as "*.3ds;*.obj;..."; empty strings
     before start. They stay until the process ends. The first call for the suffixes finds them out, so the caller holds
     the lock. */
  const char *(*library_path)(void);
  const char *(*library_version)(void);
  const char *(*library_formats)(void);
} sk_importer;

#endif
