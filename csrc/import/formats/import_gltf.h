/* import_gltf.h: a glTF file, read from its own JSON.

   Assimp gets a rewritten file, in which every number has been checked, and from which it makes its scene of nodes,
   meshes and skins; their keys ("n12", "m3-1") say which part of the file each is. All else, from joints to clips, is
   taken from the JSON. */
#ifndef IMPORT_GLTF_H
#define IMPORT_GLTF_H

#include "../import_reader.h"
#include "import_accessor.h"

typedef enum gltf_list_name {
  GLTF_ACCESSORS,
  GLTF_VIEWS,
  GLTF_BUFFERS,
  GLTF_NODES,
  GLTF_MESHES,
  GLTF_SKINS,
  GLTF_MATERIALS,
  GLTF_TEXTURES,
  GLTF_IMAGES,
  GLTF_ANIMATIONS,
  GLTF_SCENES,
  GLTF_LIST_COUNT
} gltf_list_name;

typedef struct gltf_list { /* a top-level array: the token of each element */
  int32_t *tokens;
  int32_t count;
} gltf_list;

typedef struct gltf_node {
  double local[12];            /* affine */
  double translation[3], rotation[4], scale[3];
  bool has_trs;                /* the file gives T, R, S and no matrix */
  bool in_scene;
  int32_t parent;              /* node, -1 = a root of the scene */
  int32_t joint;               /* -1 = not in the scene */
  int32_t mesh, skin, entry;   /* -1 = none; entry: mesh of the rewritten file */
} gltf_node;

/* Modes of primitives that have faces; those below are points and lines. */
enum { GLTF_TRIANGLES = 4, GLTF_STRIP = 5, GLTF_FAN = 6 };

typedef struct gltf_primitive { /* of the rewritten file */
  int32_t positions, normals, tangents, uvs, colors, indices; /* accessors, -1 = none */
  int32_t first_set, set_count; /* JOINTS_n and WEIGHTS_n pairs in gltf.sets */
  int32_t mode, material, targets; /* targets: token of the list, or -1 */
  int32_t mesh, number;        /* of the file: meshes[mesh].primitives[number] */
  uint32_t vertices;
} gltf_primitive;

typedef struct gltf_set {
  int32_t joints, weights;
} gltf_set;

typedef struct gltf_entry { /* a mesh of the rewritten file: a mesh of the file with one skin */
  int32_t mesh, skin;
  int32_t first_primitive, primitive_count;
} gltf_entry;

typedef struct gltf {
  json json;
  gltf_list lists[GLTF_LIST_COUNT];
  import_source *buffers;  /* of GLTF_BUFFERS; data NULL until it is first used */
  const uint8_t *binary;   /* the BIN chunk of a .glb */
  size_t binary_size;
  gltf_node *nodes;
  int32_t *order;          /* nodes of the scene, depth first, children in the file's order */
  int32_t order_count, root_count;
  sk_array entries;        /* gltf_entry */
  sk_array primitives;     /* gltf_primitive */
  sk_array sets;           /* gltf_set */
  sk_array text;           /* the rewritten JSON */
  sk_array accessors;      /* its accessors, as text */
  sk_array data;           /* uint8_t: its one buffer, dense float32 */
  int32_t *rewritten;      /* of GLTF_ACCESSORS: number in the rewritten file, or -1 */
  int32_t accessor_count;  /* of the rewritten file */
  int32_t stand_in;        /* accessor of the one vertex that all its meshes have; -1: not there yet */
} gltf;

/* ---- import_gltf.c ---------------------------------------------------------------------- */

/* Reads the JSON of the model, checks it and puts the rewritten file in its place. Only
   version 2 is read. */
sk_status gltf_open(import_job *job);
void gltf_close(import_job *job);
void gltf_space(import_job *job); /* one unit is a meter, +Y is up */
int32_t gltf_item(const gltf *gltf, gltf_list_name name, int64_t index); /* token, or -1 */
/* Name of a node as the file has it, or nodes[i]; appended to the model's strings. */
sk_status gltf_node_name(import_job *job, int32_t node, sk_text *text);
/* The number behind a key such as "n12", and the primitive behind "m3-1"; -1 and NULL: there is no such key. */
int32_t gltf_node_of(const import_job *job, const struct aiString *key);
const gltf_primitive *gltf_primitive_of(const import_job *job, const struct aiString *key);

/* ---- import_gltf_write.c ------------------------------------------------------------------ */

sk_status gltf_write(import_job *job);
/* Frees the rewritten file when Assimp has read it. */
sk_status gltf_forget_rewritten(import_job *job);

/* ---- import_gltf_count.c: SK_ERROR_LIMIT where the JSON has more than is allowed ------------ */

sk_status gltf_check_nodes(import_job *job);  /* before the nodes are read */
sk_status gltf_check_counts(import_job *job); /* before anything is written or Assimp is called */

/* ---- the reader: import_reader.h says what each of these does --------------------------------- */

extern const import_reader gltf_reader;

/* import_gltf_skeleton.c */
sk_status gltf_add_joints(import_job *job);
int32_t gltf_find_joint(const import_job *job, const struct aiString *name);
bool gltf_rest(import_job *job, size_t joint, double local[12], float t[3], float r[4], float s[3]);

/* import_gltf_material.c */
size_t gltf_material_count(const import_job *job);
sk_status gltf_read_material(import_job *job, size_t index, sk_material *material);

/* import_gltf_mesh.c */
bool gltf_find_submesh(const import_job *job, import_submesh *submesh);
sk_status gltf_count_faces(import_job *job, import_submesh *submesh);
bool gltf_name_submesh(import_job *job, import_submesh *submesh);
bool gltf_has(const import_submesh *submesh, import_attribute attribute);
sk_status gltf_read(import_job *job, const import_submesh *submesh, import_attribute attribute, float *out);
sk_status gltf_copy_faces(import_job *job, import_submesh *submesh, sk_array *faces);

/* import_gltf_influence.c */
sk_status gltf_skin(import_skinning *skinning, const uint32_t *slots);

/* import_gltf_morph.c */
uint32_t gltf_target_count(const import_job *job, const import_submesh *submesh);
sk_status gltf_read_shapes(import_job *job, const import_submesh *submesh, import_shapes *shapes);
float gltf_default_weight(const import_job *job, const import_submesh *submesh, uint32_t target);
bool gltf_name_target(import_job *job, const import_submesh *submesh, uint32_t target, sk_text *name);

/* import_gltf_clip.c, import_gltf_extras.c */
int32_t gltf_clip_count(const import_job *job);
bool gltf_name_clip(import_job *job, int32_t index, sk_text *name);
sk_status gltf_add_channels(import_clip *clip, int32_t index, double *last);
sk_status gltf_add_extras(import_clip *clip, int32_t index, sk_clip_record *record);

#endif
