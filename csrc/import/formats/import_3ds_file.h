/* import_3ds_file.h: the objects and the nodes of a .3ds file, which all parts of its reader use.

   The file is a tree of chunks. A chunk has an id, a size that includes these six bytes, and a body that may end in more
   chunks (3D Studio File Toolkit, 1996). Objects hold vertices in the space of the scene, and a matrix. Nodes belong to
   the keyframer: each names its object, its parent and the pivot of its rotations, and has keys. */
#ifndef IMPORT_3DS_FILE_H
#define IMPORT_3DS_FILE_H

#include "../import_contents.h"

typedef struct tds_chunk {
  uint32_t id;
  const uint8_t *at, *end; /* of the body */
} tds_chunk;

typedef struct tds_object { /* a mesh, a camera or a light */
  import_span name;
  sk_text text;
  tds_chunk mesh;           /* id 0: the object is not a mesh */
  bool hidden, placed;      /* placed: a node has the object */
  uint32_t next;            /* object of the same name; UINT32_MAX: none */
} tds_object;

typedef enum tds_path { TDS_POSITION, TDS_ROTATION, TDS_SCALE, TDS_PATHS } tds_path;

typedef struct tds_node {
  import_span name, instance;
  uint32_t id, parent;      /* ids of nodes; 0xffff: none */
  bool moves_things;        /* the node moves an object; else a camera or a light */
  float pivot[3];
  tds_chunk tracks[TDS_PATHS]; /* id 0: there is none */
  int32_t node;             /* its index in the contents; SK_NONE until it is made */
  uint32_t first, next;     /* child and sibling in the tree, as an index + 1; 0: none */
} tds_node;

typedef struct tds {
  import_job *job;
  sk_array objects, nodes;  /* tds_object, tds_node */
  import_names names;       /* of objects */
  import_names materials;   /* names in lower case */
  sk_array lower;           /* char *: those names */
  uint64_t vertices, keys;  /* how many were made so far */
} tds;

/* Reads the chunk at `*at` and moves `*at` behind it; a chunk that is too long ends with its parent. */
bool tds_next(const uint8_t **at, const uint8_t *end, tds_chunk *chunk);
/* The first chunk with the id behind `at`. */
bool tds_find(const uint8_t *at, const uint8_t *end, uint32_t id, tds_chunk *chunk);
uint32_t tds_u16(const uint8_t *at);
/* The text at the beginning of the chunk, behind which `at` moves. */
import_span tds_text(tds_chunk *chunk);

/* import_3ds_material.c */
sk_status tds_add_material(tds *file, const tds_chunk *chunk);
/* The index of a material, regardless of upper and lower case, or SK_NONE. */
int32_t tds_material_of(const tds *file, import_span name);

/* import_3ds_mesh.c: adds an object's mesh at a node. If `placed` is NULL, the vertices stay in the scene's space. */
sk_status tds_add_mesh(tds *file, tds_object *object, int32_t node, const tds_node *placed);

typedef struct tds_key {
  double seconds;
  double tension, continuity, bias;
  bool is_eased;
  float value[4];     /* of a rotation: angle, axis */
  double rotation[4]; /* x y z w: the product of this key and all keys before it */
} tds_key;

/* import_3ds_turn.c: sets the channel to cubic keys that follow the curve of the rotations. There are two keys at least,
   whose times increase. */
sk_status tds_fit_rotations(tds *file, const tds_key *keys, size_t count, import_contents_track *track);

/* import_3ds_clip.c: sets the rest transform of a node to its first keys, if there are any. */
void tds_rest(const tds_node *node, import_contents_node *out);
sk_status tds_make_clip(tds *file);

#endif
