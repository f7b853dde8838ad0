/* import_internal.h: what the files of the importer share; nobody outside this folder includes it.

   One `import_job` lives for one call of `run`: the file goes through `files` (nothing else opens
   anything), glTF through `gltf` (its JSON is read and rewritten before Assimp sees it), then the
   aiScene is copied, step by step, into the arrays of `model`, which become one block. */
#ifndef SK_IMPORT_INTERNAL_H
#define SK_IMPORT_INTERNAL_H

#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <assimp/scene.h>
#include <assimp/version.h>

#include "../core/sk_base.h"
#include "../core/sk_block.h"
#include "../core/sk_math.h"
#include "sk_import.h"

/* ---- limits ------------------------------------------------------------------- */

#define IMPORT_MAX_BYTES ((size_t)2 << 30) /* read for one model, over all its files: 2 GiB */
#define IMPORT_HEAD ((size_t)65536)        /* bytes of a file in which a format says what it is */
#define IMPORT_LARGE (1 << 20)             /* a model of more bytes is not kept beside Assimp's copy of it */
#define IMPORT_MAX_TEXT ((size_t)256 << 20) /* of all names: a long one may be used many times */
#define BOTTOM_TOLERANCE 1e-4f             /* a matrix' last row, where readers multiply in float */
#define IMPORT_FALLBACK_TPS 25.0           /* ticks per second where a file gives none */

/* ---- the report: one row per code ---------------------------------------------- */

#define IMPORT_NOTE_TABLE(ROW)                                                                        \
  ROW(weights_normalized, SK_REPAIRED, "weights of a vertex do not sum to 1; divided by their sum")   \
  ROW(weights_repaired, SK_REPAIRED, "weights that are negative or not finite count as 0")            \
  ROW(influences_dropped, SK_REPAIRED,                                                                \
      "more influences on a vertex than are kept; the largest stay")                                  \
  ROW(influences_merged, SK_REPAIRED, "one joint listed twice on a vertex; its weights were added")   \
  ROW(joint_index_out_of_range, SK_REPAIRED,                                                          \
      "influences of joints that the skin does not have; left out")                                   \
  ROW(vertices_unweighted, SK_REPAIRED,                                                               \
      "vertices of a skinned mesh without influences follow the mesh's node")                         \
  ROW(bones_without_node, SK_REPAIRED,                                                                \
      "skin joints that are no node of the scene; their vertices follow the mesh's node")             \
  ROW(inverse_bind_missing, SK_REPAIRED,                                                              \
      "skins without inverse bind matrices; the identity is taken")                                   \
  ROW(inverse_bind_computed, SK_REPAIRED,                                                             \
      "no inverse bind matrices in the file; computed from the rest pose")                            \
  ROW(normals_generated, SK_REPAIRED, "meshes without usable normals; made smooth by position")       \
  ROW(normals_normalized, SK_REPAIRED, "normals that are not of unit length; normalized")             \
  ROW(attributes_dropped, SK_LOST, "vertex attributes that do not fit their mesh; left out")          \
  ROW(faces_dropped, SK_LOST, "faces that use vertices which do not exist; left out")                 \
  ROW(points_lines_dropped, SK_LOST, "points and lines cannot be skinned here; left out")             \
  ROW(meshes_dropped, SK_LOST, "meshes without usable triangles; left out")                           \
  ROW(morph_targets_dropped, SK_LOST,                                                                 \
      "morph targets that do not fit their mesh, and vertex frames; left out")                        \
  ROW(shapes_in_between_ignored, SK_LOST,                                                             \
      "shapes between the base and a whole morph target are not supported; left out")                                \
  ROW(numbers_repaired, SK_REPAIRED, "numbers that are not finite or not usable; replaced")           \
  ROW(duplicate_names, SK_REPAIRED, "several joints have one name; it stands for the first of them")  \
  ROW(names_cut, SK_LOST, "names longer than 1,023 bytes were cut")                                   \
  ROW(nodes_with_two_parents, SK_LOST,                                                                \
      "nodes listed as a child more than once; the first parent keeps them")                          \
  ROW(meshes_outside_scene, SK_LOST,                                                                  \
      "meshes of nodes that are not in the scene which the file shows; left out")                     \
  ROW(instances_dropped, SK_LOST,                                                                     \
      "instances of meshes (EXT_mesh_gpu_instancing) are not supported; one is there")                \
  ROW(rotations_normalized, SK_REPAIRED,                                                              \
      "rotation keys or rest rotations that are not unit quaternions; normalized")                    \
  ROW(key_times_repaired, SK_REPAIRED,                                                                \
      "keys out of order, at one time twice or at no finite time; sorted, the first kept")            \
  ROW(duration_repaired, SK_REPAIRED,                                                                 \
      "clips whose duration contradicts their keys; set to the last key")                             \
  ROW(ticks_per_second_assumed, SK_REPAIRED, "clips without ticks per second; 25 is taken")           \
  ROW(channels_dropped, SK_LOST,                                                                      \
      "channels that move no joint of the scene or have no usable keys; left out")                    \
  ROW(channels_duplicate, SK_LOST,                                                                    \
      "channels for one joint and path twice in a clip; the first one stays")                         \
  ROW(clip_extras_dropped, SK_LOST,                                                                   \
      "events or root motion of a glTF that do not fit their clip; left out")                         \
  ROW(scale_channels_ignored, SK_REPAIRED, "animated scale was left out on request")                  \
  ROW(duplicate_clip_names, SK_REPAIRED,                                                              \
      "several clips have one name; it stands for the first of them")                                 \
  ROW(shear_lost, SK_LOST,                                                                            \
      "animated joints whose rest matrix holds shear; it is lost where they move")                    \
  ROW(scale_inheritance_ignored, SK_LOST,                                                             \
      "joints that do not inherit their parent's scale are not supported")                            \
  ROW(animation_layers_ignored, SK_LOST,                                                              \
      "animation layers are not blended; only their joint result is there")                           \
  ROW(axes_converted, SK_REPAIRED, "the file's axes were turned to +Y up by the root")                \
  ROW(units_converted, SK_REPAIRED, "the file's unit was scaled by the root")                         \
  ROW(skeleton_mesh_dropped, SK_REPAIRED, "a mesh that stands for the skeleton was left out")         \
  ROW(textures_missing, SK_LOST, "textures that cannot be read; left out")                            \
  ROW(files_refused, SK_LOST, "the model refers to files that it may not bring in; they were not read") \
  ROW(files_missing, SK_LOST, "files that the model refers to and that cannot be read")               \
  ROW(extensions_ignored, SK_LOST,                                                                    \
      "glTF extensions that the file requires and that are not supported")

typedef enum import_note_kind {
#define IMPORT_NOTE_NAME(code, severity, message) NOTE_##code,
  IMPORT_NOTE_TABLE(IMPORT_NOTE_NAME)
#undef IMPORT_NOTE_NAME
  NOTE_COUNT
} import_note_kind;

typedef struct import_note {
  uint64_t count;
  char first[160]; /* the first case, in words */
} import_note;

/* ---- files ---------------------------------------------------------------------- */

typedef struct import_source { /* one file in memory: whole, or the head of a large model */
  char *name;          /* as it is asked for, below the folder */
  const uint8_t *data; /* one zero byte follows what came from a file */
  size_t size;
  void *owned;         /* the memory behind `data`, or NULL */
} import_source;

/* The number that so many bytes hold, the lowest first. */
static inline uint64_t import_number(const uint8_t *at, size_t bytes) {
  uint64_t number = 0;
  while (bytes--) number = number << 8 | at[bytes];
  return number;
}

typedef struct import_files {
  struct aiFileIO io;   /* what Assimp gets; UserData is this struct */
  char *main_name;      /* the name under which Assimp knows the model */
  char *folder;         /* in front of every name of a file beside it; "" for none */
  bool has_folder;      /* false: the model came as bytes and has nothing beside it */
  char *real_folder;    /* resolved, of realpath; NULL: it was not needed yet */
  sk_array sources;     /* import_source; the first is the model */
  int descriptor;       /* of the model, of which sources has the head; -1: sources has it all */
  size_t model_size;    /* with a descriptor: bytes of the whole */
  bool may_map;         /* large files: nobody but this process has to outlive one that is cut short */
  size_t total;         /* bytes read so far, and those that came in memory */
  size_t most;          /* what that may come to */
  uint64_t exceeded;    /* what it would have come to; 0: all is well */
  sk_external external;
  const char *formats;  /* that are allowed; NULL: all */
  unsigned refused;     /* names of files that it may not bring in */
  char first_refused[120];
  unsigned missing;     /* files that the model needs and that are not there */
  char first_missing[120];
  const char *format;   /* of the model */
  bool no_memory;       /* an allocation failed inside a callback of Assimp */
} import_files;

/* ---- glTF ------------------------------------------------------------------------ */

typedef struct json { /* a parsed text; tokens are numbered in the order of the text */
  const char *text;
  void *tokens;  /* jsmntok_t */
  int32_t *next; /* of each token: the token behind it and all it holds */
  int32_t count;
} json;

typedef enum gltf_list_kind {
  GLTF_ACCESSORS, GLTF_VIEWS, GLTF_BUFFERS, GLTF_NODES, GLTF_MESHES, GLTF_SKINS, GLTF_MATERIALS,
  GLTF_TEXTURES, GLTF_IMAGES, GLTF_ANIMATIONS, GLTF_SCENES, GLTF_LIST_COUNT
} gltf_list_kind;

typedef struct gltf_list { /* a top-level array: the token of each element */
  int32_t *tokens;
  int32_t count;
} gltf_list;

typedef struct gltf_accessor { /* checked: every element lies in its buffer */
  const uint8_t *data; /* NULL: zeros */
  size_t stride, count;
  size_t whole;        /* elements in the file, where fewer are wanted */
  uint32_t component;  /* glTF's number: 5120 to 5126 */
  uint32_t width;      /* numbers in one element */
  bool normalized;
  int32_t sparse;      /* token, or -1 */
} gltf_accessor;

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

typedef struct gltf_set { int32_t joints, weights; } gltf_set;

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

/* ---- the model in the making ------------------------------------------------------ */

typedef struct import_name { const char *bytes; uint32_t length, index; } import_name;

typedef struct import_names { /* open addressing: the first index of each name */
  import_name *slots; /* bytes NULL: empty; the bytes are borrowed */
  size_t mask;
} import_names;

typedef struct import_slots { /* (joint, offset) -> slot */
  sk_array joints;  /* int32_t */
  sk_array offsets; /* float[16] */
  uint32_t *table;  /* slot + 1; 0 = empty */
  size_t mask;
} import_slots;

typedef struct import_model {
  sk_info info;
  sk_array text;                            /* char */
  sk_array nodes;                           /* const struct aiNode * of each joint */
  sk_array names, parents;                  /* sk_text, int32_t */
  sk_array translation, rotation, scale, local; /* float */
  double *globals;                          /* rest, 12 per joint */
  double *shear;                            /* of each joint: what T*R*S cannot hold, relative */
  import_names joint_of;                    /* Assimp's node name -> joint */
  import_slots slots;
  bool in_block; /* rows of vertices and faces that are made now are made where they will be in the block */
  float *positions, *normals, *uvs, *colors, *tangents, *weights;
  uint16_t *vertex_slots;
  uint32_t *faces;
  uint32_t vertex_count, face_count;
  sk_array submeshes, materials, textures, texture_data;
  sk_array clips, channels, times, values, events;
  uint32_t *shapes; /* of each vertex: equal where all targets move it equally; NULL without targets */
  sk_array targets, target_vertices, target_positions, target_normals;
  sk_array report;
} import_model;

typedef struct import_job {
  const sk_import_request *request;
  sk_error *error;
  const char *title;   /* the file in messages */
  char format[16];     /* lower-case suffix */
  import_files files;
  gltf *gltf;          /* NULL: another format */
  const struct aiScene *scene;
  bool shapes_between; /* FBX: there are more shapes than channels that drive them */
  import_note notes[NOTE_COUNT];
  import_model model;
} import_job;

/* ---- import_library.c: Assimp's functions, found by name ---------------------------- */

#define IMPORT_ASSIMP_TABLE(ROW)                                                            \
  ROW(aiImportFileExWithProperties) ROW(aiReleaseImport) ROW(aiGetErrorString)              \
  ROW(aiCreatePropertyStore) ROW(aiReleasePropertyStore) ROW(aiSetImportPropertyInteger)    \
  ROW(aiIsExtensionSupported) ROW(aiGetExtensionList) ROW(aiGetVersionMajor)                \
  ROW(aiGetVersionMinor) ROW(aiGetVersionPatch) ROW(aiGetMaterialColor)                     \
  ROW(aiGetMaterialString) ROW(aiGetMaterialFloatArray) ROW(aiGetMaterialIntegerArray)

typedef struct import_library {
#define IMPORT_ASSIMP_MEMBER(name) __typeof__(&name) name;
  IMPORT_ASSIMP_TABLE(IMPORT_ASSIMP_MEMBER)
#undef IMPORT_ASSIMP_MEMBER
  char path[1024];
  char version[32];
} import_library;

const import_library *import_assimp(void); /* NULL before start */
/* Suffixes that Assimp knows, "*.3ds;*.obj"; found out at the first call, and only after start. */
const char *import_formats(void);
sk_status import_start(const char *const *paths, const sk_import_request *request, sk_error *error);

/* ---- import_report.c ---------------------------------------------------------------- */

/* Counts `count` cases of a code; the words of the first one stay. */
__attribute__((format(printf, 4, 5)))
void import_note_add(import_job *job, import_note_kind kind, uint64_t count, const char *format, ...);
sk_status import_report_write(import_job *job);

/* ---- import_text.c: strings and tables of names ---------------------------------------- */

sk_status import_no_memory(import_job *job, size_t bytes);
__attribute__((format(printf, 2, 3))) bool import_print(sk_array *text, const char *format, ...);
char *import_copy_text(const char *bytes, size_t length); /* sk_free; NULL when there is no memory */
uint64_t import_hash(const void *bytes, size_t length);
bool import_names_make(import_names *names, size_t count);
/* The index that already has the name, else `index`, which is stored. */
uint32_t import_names_add(import_names *names, const char *name, size_t length, uint32_t index);
int64_t import_names_find(const import_names *names, const char *name, size_t length);
void import_names_free(import_names *names);

/* ---- import_file.c --------------------------------------------------------------------- */

sk_status import_files_open(import_job *job);
void import_files_close(import_files *files);
/* Reads the model's file where only its head is there. Not while Assimp reads. */
sk_status import_files_whole(import_job *job);
/* Another file that the model names; NULL where there is none or it may not be read. */
const import_source *import_files_read(import_files *files, const char *name);
/* Why not, in words behind the name. */
const char *import_files_why(const import_files *files);
/* The model's format by its name, "" where that has none. */
const char *import_files_named(const sk_import_request *request);
/* Without opening it for good: the model's first bytes, of which `*room` came, its length, and its format as above. */
const char *import_files_peek(const sk_import_request *request, void *head, size_t *room, size_t *whole);
/* Puts memory in the place of a file; takes `owned` over, also on failure. */
bool import_files_put(import_files *files, const char *name, const void *data, size_t size, void *owned);

/* ---- import_format.c ------------------------------------------------------------------- */

/* The format of a content, "" where the first bytes say none. */
const char *import_sniff(const uint8_t *data, size_t size);
/* Whether job->format is known (else SK_ERROR_IMPORT) and allowed (SK_ERROR_FORMAT). Of one that is allowed Assimp
   is not asked whether it knows it: that takes as long as reading a small model. */
sk_status import_check_format(import_job *job);
/* After an SK_ERROR_IMPORT of Assimp's, which it returns: better words where it does not know the format. */
sk_status import_explain_unread(import_job *job);
/* Whether the model begins as its format does. Comes before Assimp, which goes by names. */
sk_status import_check_content(import_job *job);
/* The header of a binary .stl is free: its length says what it is. */
bool import_is_binary_stl(const uint8_t *data, size_t size, size_t whole);
/* Scenes of some formats bring in models of others, which Assimp reads by their suffixes or content:
   whether it may be given this one. */
bool import_may_bring_in(const import_files *files, const char *suffix, const import_source *source);

/* ---- import_appetite.c: what an import will be like ---------------------------------------- */

/* Whether it calls the C and C++ libraries so often that all their functions are best found before, which takes
   0.4 ms. One that is found when it is first called has been somewhere else with its first call, and it seems that
   some processors (AMD's Zen) then foresee the later ones worse: a reader that asks isspace() for each character takes
   a seventh longer. */
bool import_calls_much(const sk_import_request *request);

/* As sk_importer has it. */

size_t import_appetite(const sk_import_request *request);

/* ---- import_limit.c ---------------------------------------------------------------------- */

typedef struct import_counts { /* as sk_import_limits has them */
  uint64_t nodes, depth, vertices, keys;
  uint64_t rows; /* corners of faces, and vertices of attributes and morph targets */
} import_counts;

uint64_t import_sum(uint64_t a, uint64_t b);     /* UINT64_MAX where it does not fit */
uint64_t import_product(uint64_t a, uint64_t b);
/* SK_ERROR_LIMIT names the limit that is exceeded, and what there is. */
sk_status import_check_counts(import_job *job, const import_counts *counts);
sk_status import_check_scene(import_job *job); /* of what Assimp delivered */
sk_status import_check_bytes(import_job *job); /* whether a file was too large for the limit */

/* ---- import_json.c ----------------------------------------------------------------------- */

/* SK_ERROR_IMPORT with the byte where it stops being JSON. `text` is borrowed and must not move. */
sk_status json_open(json *j, const char *text, size_t length, sk_error *error);
void json_close(json *j);
int32_t json_member(const json *j, int32_t object, const char *key); /* value, or -1 */
int32_t json_first(const json *j, int32_t array);                    /* element, or -1 */
int32_t json_after(const json *j, int32_t array, int32_t element);   /* the next one, or -1 */
int32_t json_length(const json *j, int32_t array);                   /* 0 where it is no array */
int32_t json_size(const json *j, int32_t object);                    /* pairs; 0 where it is no object */
bool json_is_object(const json *j, int32_t token);
bool json_is_string(const json *j, int32_t token);
bool json_equals(const json *j, int32_t token, const char *word);
bool json_truth(const json *j, int32_t token);
double json_number(const json *j, int32_t token, double fallback);
/* `count` numbers of an array of just that length; false leaves `out` as it is. */
bool json_numbers(const json *j, int32_t array, double *out, int32_t count);
/* A whole number from 0 to 2^53, or `fallback` (also where the token is -1). */
int64_t json_index(const json *j, int32_t token, int64_t fallback);
/* The raw bytes between the quotes. */
const char *json_raw(const json *j, int32_t token, size_t *length);
/* A string with its escapes decoded, appended to a pool of strings. */
bool json_text(const json *j, int32_t token, sk_array *pool, sk_text *text);

/* ---- import_accessor.c: numbers of a glTF -------------------------------------------------- */

/* SK_ERROR_IMPORT names the accessor and what is wrong with it. */
sk_status gltf_accessor_open(import_job *job, int64_t index, gltf_accessor *accessor);
/* Every element as `width` floats; `normalized` integers become 0 to 1 or -1 to 1. */
sk_status gltf_accessor_floats(import_job *job, int64_t index, const gltf_accessor *accessor, float *out);
/* Every element as `width` whole numbers. */
sk_status gltf_accessor_integers(import_job *job, int64_t index, const gltf_accessor *accessor,
                                 uint32_t *out);
/* Bytes of a bufferView. */
sk_status gltf_view(import_job *job, int64_t index, const uint8_t **data, size_t *size);
/* Decodes a "data:" URI, a string of the file; false where it is none. `*data` is sk_free'd by the caller; NULL: no
   memory. Base64 ends at the first character that is none. */
bool gltf_data_uri(const json *j, int32_t token, uint8_t **data, size_t *size);
/* Decodes %xx in place of the given text. */
void gltf_decode_percent(char *text);

/* ---- import_gltf.c, import_gltf_write.c ----------------------------------------------------- */

/* Reads the JSON of the model, checks it and puts the rewritten file in its place. Another
   version than 2 is refused. */
sk_status gltf_open(import_job *job);
void gltf_close(gltf *gltf);
int32_t gltf_item(const gltf *gltf, gltf_list_kind kind, int64_t index); /* token, or -1 */
sk_status gltf_write(import_job *job);
/* import_gltf_count.c: SK_ERROR_LIMIT where the JSON has more than is allowed. The first comes before the
   nodes are read, the second before anything is written or Assimp is called. */
sk_status gltf_check_nodes(import_job *job);
sk_status gltf_check_counts(import_job *job);
void gltf_forget_rewritten(import_job *job); /* when Assimp has read it */
/* Name of a node as the file has it, or nodes[i]; appended to the model's strings. */
sk_status gltf_node_name(import_job *job, int32_t node, sk_text *text);
/* The number behind a key such as "n12", and of the primitive behind "m3-1"; -1 = no such key. */
int32_t gltf_node_of(const import_job *job, const struct aiString *key);
const gltf_primitive *gltf_primitive_of(const import_job *job, const struct aiString *key);

/* ---- the steps ------------------------------------------------------------------------------- */

sk_status import_skeleton(import_job *job);
int32_t import_find_joint(const import_job *job, const struct aiString *name);
sk_status import_materials(import_job *job);
/* aiMaterial index or, for glTF, the file's -> index in model.materials, SK_NONE = none. */
int32_t import_material_of(const import_job *job, int64_t index);
sk_status import_meshes(import_job *job);
/* The sections with which a model's block begins: vertices and faces. */
#define IMPORT_MESH_PARTS 8
void import_mesh_parts(const import_model *m, sk_block_part parts[IMPORT_MESH_PARTS]);
sk_status import_clips(import_job *job);
/* Lays the keys out as the block holds them (sk_pack.h). */
sk_status import_pack_clips(import_job *job);

typedef struct import_track { /* the keys of one channel */
  int32_t joint;                     /* or, for weights, the target */
  sk_path path;
  sk_interpolation interpolation;
  uint32_t count;                    /* keys; a cubic one is three values: tangent in, value, tangent out */
  const float *times, *values;       /* of glTF, seconds; or else */
  const struct aiVectorKey *vectors; /* as Assimp has them, ticks */
  const struct aiQuatKey *quats;
  const struct aiMeshMorphKey *weights; /* each lists some targets of a mesh */
  uint32_t column, stride; /* of weights: which of so many side by side */
} import_track;

typedef struct import_time_line { uint64_t first; uint32_t count; uint64_t hash; } import_time_line;

#define IMPORT_RECENT 32 /* time lines that a new channel is compared with */

typedef struct import_clip { /* what lives as long as the clips are made */
  import_job *job;
  double ticks_per_second;
  sk_array keys;            /* scratch of one channel */
  uint8_t *taken;           /* a bit for each path of each joint that has its channel; then the targets' */
  import_time_line recent[IMPORT_RECENT];
  uint32_t recent_count;
  char title[100];          /* the clip in messages */
} import_clip;

sk_status import_add_channel(import_clip *clip, const import_track *track);
/* import_gltf_clip.c: the channels of animations[index]; `*last` is its last key, seconds. */
sk_status gltf_add_channels(import_clip *clip, int32_t index, double *last);
/* import_gltf_extras.c: its events and root motion; `record` has its duration. */
sk_status gltf_add_extras(import_clip *clip, int32_t index, sk_clip_record *record);
/* import_collada.c: joints get the names that people know; what binds goes by Assimp's. */
sk_status import_collada_names(import_job *job);
/* import_fbx.c: of the objects in the file, animation layers and stacks. */
bool import_is_binary_fbx(const import_source *file);
void import_count_fbx_animations(const import_source *file, size_t *layers, size_t *stacks);
/* import_space.c: axes, units, and what a format has that Assimp does not deliver. */
void import_space(import_job *job);
void import_note_format(import_job *job);
double import_md5_rate(const import_job *job); /* frames per second, 0 = the file gives none */
/* import_md5.c: corrects the scene's rotations, whose w Assimp took in float32; nothing for other formats. */
sk_status import_md5(import_job *job);

typedef struct import_part { /* one (node, mesh) instance, while it is copied */
  int32_t joint;
  const struct aiMesh *mesh;
  const gltf_primitive *primitive; /* NULL: not glTF */
  sk_text name;
  char title[84]; /* the name in messages */
  uint32_t first_vertex, vertex_count, first_face, face_count;
  size_t faces_wanted;  /* faces that the file gives, also those of vertices that it does not give */
  uint32_t bad_normals; /* vertices whose normal the file does not give, or gives as no direction */
} import_part;

/* import_morph.c: the targets of one part. `moved` has a row for each target and vertex: 3 numbers by which
   the position changes, 3 for the normal. */
typedef struct import_shapes {
  uint32_t count;
  float *moved;
  bool has_normals;
} import_shapes;

typedef struct import_morph { /* what one target does to one part */
  int32_t node;
  uint32_t target;        /* of the node */
  const struct import_part *part;
  float default_weight;
  uint64_t first, count;  /* in the collection's arrays */
} import_morph;

typedef struct import_morphs { /* of all parts, in their order */
  sk_array list;                         /* import_morph */
  sk_array vertices, positions, normals;
  bool has_normals;
} import_morphs;

void import_look_between(import_job *job); /* sets job->shapes_between */
uint32_t import_target_count(const import_job *job, const import_part *part);
sk_status import_read_shapes(import_job *job, const import_part *part, import_shapes *shapes);
/* Numbers the vertices in model.shapes, so that those that move alike have one number. */
sk_status import_number_shapes(import_job *job, const import_part *part, const import_shapes *shapes);
/* Keeps what moves; map[v] is where vertex v went, counted from `first`. */
sk_status import_keep_shapes(import_job *job, const import_part *part, uint32_t first, const uint32_t *map,
                             const import_shapes *shapes, import_morphs *morphs);
/* The targets of each node, over all its parts, as the block has them. */
sk_status import_targets(import_job *job, const import_morphs *morphs);
/* Targets of the joint's mesh: the first one; `*count` is 0 where there are none. */
uint32_t import_targets_of(const import_job *job, int32_t joint, uint32_t *count);

/* import_influence.c: slots and weights of the part's vertices. */
sk_status import_skin_part(import_job *job, const import_part *part);
/* import_mesh.c: the rows of a part in a stream of vertices, all of which will be written now; `stride` bytes each. */
void *import_rows(import_job *job, const import_part *part, void *stream, size_t stride);

/* import_vertex.c. `table` has mask + 1 places, `owner` and `map` one for each vertex. */
/* `faces` holds the part's faces, in vertices of the whole model. */
void import_smooth_normals(import_model *model, const import_part *part, const uint32_t *faces,
                           uint32_t *table, uint32_t *owner, size_t mask);
/* Moves the part's vertices to `first` on, without its doubles where `join` is set. Returns how many
   are left; map[v] is where vertex v of the part went, counted from `first`. Where all normals of the
   part were made, `map` comes as their `owner`. */
uint32_t import_join_part(import_model *model, const import_part *part, uint32_t first, bool join,
                          uint32_t *table, uint32_t *map, size_t mask);

/* Whether all of the part's vertices follow its node, and nothing else. */
static inline bool import_is_rigid(const import_part *part) { return !part->mesh->mNumBones; }

/* True for NaN and infinity. */
static inline bool import_is_bad(float value) { return !(value - value == 0.0f); }

#endif
