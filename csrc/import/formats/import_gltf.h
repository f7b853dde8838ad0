/* import_gltf.h: a glTF file, read by skinpy from its JSON and its buffers. */
#ifndef IMPORT_GLTF_H
#define IMPORT_GLTF_H

#include "../import_limit.h"
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
  GLTF_SAMPLERS,
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
  bool hidden;                 /* at rest: the node or one above it is not visible */
  int32_t parent;              /* node, -1 = a root of the scene */
  int32_t joint;               /* -1 = not in the scene */
  int32_t first_instance, instance_count; /* joints below this one that have the mesh in its place; 0: there are none */
  int32_t mesh, skin; /* -1 = none */
} gltf_node;

/* Modes of primitives that have faces; those below are points and lines. */
enum { GLTF_TRIANGLES = 4, GLTF_STRIP = 5, GLTF_FAN = 6 };

typedef struct gltf_primitive { /* one that has faces and positions */
  int32_t positions, normals, tangents, uvs, colors, indices; /* numbers for gltf_open_numbers, -1 = none */
  int32_t first_set, set_count; /* JOINTS_n and WEIGHTS_n pairs in gltf.sets */
  int32_t mode, material, targets; /* targets: token of the list, or -1 */
  int32_t variants; /* token of KHR_materials_variants' mappings, or -1 */
  int32_t mesh, number; /* of the file: meshes[mesh].primitives[number] */
  uint32_t vertices;
  uint32_t lists; /* attributes and morph targets */
  size_t corners; /* indices or, without them, vertices */
  struct import_draco *compressed; /* while the primitive is read; NULL: it is not compressed */
  int32_t compressed_names; /* token: which attribute has which number there */
} gltf_primitive;

typedef struct gltf_set { /* likewise */
  int32_t joints, weights;
} gltf_set;

typedef struct gltf_decoded { /* an attribute that was compressed, or faces */
  void *data;
  gltf_accessor numbers; /* the accessor that it replaces, with `data` as its numbers */
} gltf_decoded;

typedef struct gltf_cursor { /* the element of a JSON array that was read last */
  int32_t array;
  uint32_t index;
  int32_t token;
} gltf_cursor;

typedef struct gltf_mesh { /* of GLTF_MESHES */
  bool is_read; /* a node of the scene has the mesh */
  int32_t first_primitive, primitive_count; /* in gltf.primitives */
} gltf_mesh;

typedef struct gltf_joint { /* what a joint of the model stands for */
  int32_t node; /* -1 = nothing: the root above several roots of the scene */
  int32_t instance; /* of the node; -1 = the node itself */
} gltf_joint;

typedef struct gltf_skin { /* of GLTF_SKINS */
  bool is_used; /* a mesh of the scene has the skin; other skins are not read */
  int32_t *joints; /* nodes */
  float *offsets; /* inverse bind matrices, 16 numbers each, in rows; the file has them in columns */
  uint32_t *slots; /* of each joint; NULL until a submesh needs them */
  int32_t count;
} gltf_skin;

enum { GLTF_UNREAD = -2 }; /* an image that no material has needed yet; SK_NONE: it cannot be read */

typedef struct gltf {
  json json;
  gltf_list lists[GLTF_LIST_COUNT];
  import_source *buffers; /* of GLTF_BUFFERS; data NULL until it is first used */
  import_source *views; /* of GLTF_VIEWS: what was compressed; NULL: nothing was decoded yet */
  size_t unpacked; /* bytes of all of them */
  sk_array decoded; /* gltf_decoded, of all primitives */
  import_counts decoded_counts; /* of the primitives that were decoded */
  const uint8_t *binary; /* the BIN chunk of a .glb */
  size_t binary_size;
  gltf_node *nodes;
  int32_t *order; /* nodes of the scene, depth first, children in the file's order */
  int32_t order_count, root_count;
  sk_array joints; /* gltf_joint */
  sk_array instance_numbers; /* float: import_gltf_instance.c */
  gltf_mesh *meshes;
  gltf_skin *skins;
  sk_array primitives; /* gltf_primitive */
  sk_array shown; /* int32_t: the primitive of each submesh */
  int32_t *pictures; /* of GLTF_IMAGES: its texture in the model, or one of the two below; NULL: none was read */
  sk_array sets; /* gltf_set */
  gltf_cursor weight, name; /* of morph targets */
} gltf;

/* ---- import_gltf.c ---------------------------------------------------------------------- */

/* Reads the JSON of the model and checks it. Only version 2 is read. */
sk_status gltf_open(import_job *job);
void gltf_close(import_job *job);
void gltf_space(import_job *job); /* one unit is a meter, +Y is up */
int32_t gltf_item(const gltf *gltf, gltf_list_name name, int64_t index); /* token, or -1 */
/* Name of a node as the file has it, or nodes[i]; appended to the model's strings. */
sk_status gltf_node_name(import_job *job, int32_t node, sk_text *text);

/* ---- import_gltf_tree.c: the nodes, their order, and which of them are hidden ------------- */

sk_status gltf_read_tree(import_job *job);

/* ---- import_gltf_instance.c ---------------------------------------------------------------- */

#define GLTF_INSTANCE_WIDTH 10u /* numbers of an instance: T, R and S */

/* Sets instance_count of the nodes that have a mesh and usable instances, by what the JSON says. */
sk_status gltf_count_instances(import_job *job);
sk_status gltf_read_instances(import_job *job);
/* The transform of an instance below its node. */
void gltf_instance(const gltf *gltf, const gltf_node *node, int32_t number, float t[3], float r[4], float s[3]);
/* The first joint that has the mesh of a node: the node's own, or that of its first instance, which the others follow. */
int32_t gltf_joint_of_mesh(const gltf_node *node);

/* ---- import_gltf_primitive.c, import_gltf_skin.c: what the nodes of the scene use --------- */

sk_status gltf_read_meshes(import_job *job);
sk_status gltf_read_skins(import_job *job);

/* ---- import_gltf_extension.c: refuses compression that this build lacks, reports what is not read ---- */

sk_status gltf_check_extensions(import_job *job);

/* ---- import_gltf_pointer.c ---------------------------------------------------------------- */

typedef struct gltf_target { /* what a channel changes */
  int32_t path; /* sk_path, or -1 */
  int32_t index; /* the node or, for a path of materials, the material */
  char pointer[120]; /* the text of KHR_animation_pointer, "" without one; cut where it is longer */
} gltf_target;

/* Reads channel.target, of which nothing is checked but the path. */
gltf_target gltf_read_target(const json *j, int32_t token);

/* ---- import_gltf_data.c: model.extras, the data that Python reads --------------------------- */

sk_status gltf_write_extras(import_job *job);

/* ---- import_gltf_count.c: SK_ERROR_LIMIT where the JSON has more than is allowed ------------ */

sk_status gltf_check_nodes(import_job *job); /* before the nodes are read */
sk_status gltf_check_counts(import_job *job); /* before instances and clips are read */
sk_status gltf_check_meshes(import_job *job); /* when their primitives are known, before their vertices are read */
void gltf_count_primitive(const gltf_primitive *primitive, import_counts *counts); /* adds its own */

/* ---- import_gltf_meshopt.c ------------------------------------------------------------------ */

/* Bytes of a bufferView, which are decompressed when they are first asked for; not owned. */
sk_status gltf_view(import_job *job, int64_t index, const uint8_t **data, size_t *size);
void gltf_free_views(gltf *gltf);
const char *gltf_compression(const json *j, int32_t name); /* an extension that compresses; NULL: another one */
/* Fails, with the remedy, where this build does not read such an extension. */
sk_status gltf_need(import_job *job, const char *extension);

/* ---- import_gltf_draco.c --------------------------------------------------------------------- */

/* Decodes the compressed data of a primitive, within the limits, and sets the counts of its vertices and faces.
   gltf_close_compressed must follow, also on failure. */
sk_status gltf_open_compressed(import_job *job, gltf_primitive *primitive, int32_t token);
void gltf_close_compressed(gltf_primitive *primitive);
/* If the attribute of this name is compressed, decodes it and replaces `*number` and `*accessor`, which are those of the
   file before. */
sk_status gltf_decode_attribute(import_job *job, const gltf_primitive *primitive, const char *name,
                                gltf_accessor *accessor, int32_t *number);
/* Opens the numbers with this index: an accessor of the file, or numbers that were decoded for a primitive. */
sk_status gltf_open_numbers(import_job *job, int32_t number, gltf_accessor *accessor);
void gltf_free_decoded(gltf *gltf);

/* ---- the reader: import_reader.h says what each of these does --------------------------------- */

extern const import_reader gltf_reader;

/* import_gltf_skeleton.c */
sk_status gltf_add_joints(import_job *job);
bool gltf_rest(import_job *job, size_t joint, double local[12], float t[3], float r[4], float s[3]);

/* import_gltf_material.c */
size_t gltf_material_count(const import_job *job);
/* The use of the texture of a material's base color, or -1. */
int32_t gltf_base_texture(const import_job *job, int32_t material);
/* The number of the image that is read for a texture, or -1. */
int64_t gltf_image_of(const json *j, int32_t texture);
sk_status gltf_read_material(import_job *job, size_t index, sk_material *material);

/* import_gltf_mesh.c */
sk_status gltf_list_submeshes(import_job *job, sk_array *submeshes);
bool gltf_name_submesh(import_job *job, import_submesh *submesh);
bool gltf_has(const import_submesh *submesh, import_attribute attribute);
sk_status gltf_read(import_job *job, const import_submesh *submesh, import_attribute attribute, float *out);
sk_status gltf_copy_faces(import_job *job, import_submesh *submesh, sk_array *faces);

/* import_gltf_skin.c */
sk_status gltf_skin_submesh(import_skinning *skinning);

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
