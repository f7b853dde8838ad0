/* import_collada.h: COLLADA 1.4 and 1.5 (.dae), read by skinpy itself.

   The specifications are those of the Khronos Group: "COLLADA - Digital Asset Schema Release 1.4.1" (2008) and "1.5.0"
   (2008). The file becomes a tree of elements (import_collada_xml.h), and the tree becomes job->contents:

       import_collada.c           opening, unit and axes, what is not played
       import_collada_source.c    arrays of numbers and names, by their accessors
       import_collada_scene.c     nodes, their transforms and names, and nodes that are used several times
       import_collada_material.c  effects
       import_collada_mesh.c      primitives as triangles
       import_collada_skin.c      skin controllers, and instances of meshes at nodes
       import_collada_morph.c     morph controllers
       import_collada_curve.c     samplers as functions of time
       import_collada_channel.c   what channels move
       import_collada_clip.c      which channels play together
       import_collada_motion.c    the motion of nodes as keys

   All elements are found by id, or by sid below the element that the specification names. */
#ifndef IMPORT_COLLADA_H
#define IMPORT_COLLADA_H

#include "../import_contents.h"
#include "../import_limit.h"
#include "import_collada_xml.h"

/* For import_format.c. */
sk_status import_collada_open(import_job *job);
void import_collada_close(import_job *job);
/* Turns axes to +Y and scales to meters; also for .zae, which Assimp reads. */
void import_collada_space(import_job *job);

/* ---- lists: for each key below a limit, the items that have this key, in increasing order ---- */

typedef struct dae_lists {
  uint32_t *starts; /* of each key, and the end of the last */
  uint32_t *items;
  uint32_t keys;
} dae_lists;

/* Item i has the key keys[i]; UINT32_MAX: none. */
sk_status dae_make_lists(import_job *job, const uint32_t *keys, size_t items, uint32_t key_count, dae_lists *lists);
void dae_free_lists(dae_lists *lists);
/* The first item of the key that is not below `from`; UINT32_MAX if there is none below `end`. */
uint32_t dae_first_in(const dae_lists *lists, uint32_t key, uint32_t from, uint32_t end);

/* ---- the document ---- */

typedef struct dae_node { /* of job->contents, by the same number */
  uint32_t element;       /* its <node>, or the visual scene */
  uint32_t end;           /* nodes up to `end`, without it, are below this one */
  bool hidden;            /* the file hides this node or a node above it */
} dae_node;

typedef struct dae_transform { /* one transform of a node; those of one node stand side by side */
  dae_word word;
  uint32_t element;
  double values[16];
} dae_transform;

typedef struct dae_chain { /* the transforms of a <node> */
  uint32_t first, count;
  bool is_trs; /* they are translations, rotations and scales in this order, as in a joint's T * R * S */
  sk_text name; /* of the nodes that have this chain */
} dae_chain;

typedef struct dae_use { /* the use of a geometry or controller at a node */
  uint32_t element;      /* the <instance_...> element */
  int32_t node;
} dae_use;

typedef struct import_dae {
  dae_tree tree;
  sk_array numbers; /* dae_numbers: arrays that were read */
  sk_array nodes;   /* dae_node */
  sk_array transforms, chains; /* dae_transform, dae_chain */
  sk_array uses;    /* dae_use */
  sk_array coordinates; /* import_span: of each material the name that its texture gives to its coordinates */
  uint64_t shared_text; /* bytes of names, counted for each use */
  uint32_t own_effects; /* materials that set parameters of their effect */
  import_names sids;
  dae_lists with_sid;   /* elements by the number of their sid */
  dae_lists of_element; /* nodes by their element */
  dae_lists joint_with_sid; /* nodes by the number of their sid */
  sk_array shapes;      /* dae_shape: of controllers */
  sk_array parts;       /* meshes that were made of primitives: import_collada_mesh.c */
  sk_array points;      /* dae_points, the influences of a skin's vertices: import_collada_skin.c */
  sk_array morphs;      /* dae_use: <morph> elements at nodes */
  dae_lists of_morph;   /* indices of `morphs` by their element */
  import_counts made, placed, listed; /* vertices of all meshes that were made, of all instances, of all skins */
  uint32_t skin_joints; /* of all instances */
  sk_array curves, channels, clips; /* import_collada_curve.c, import_collada_clip.c */
  size_t keys_left;     /* keys that may still be made */
} import_dae;

static inline const dae_transform *dae_transform_at(const import_dae *dae, uint32_t number) {
  return (const dae_transform *)dae->transforms.data + number;
}
/* Reports a reference that leads to nothing in the file, or to another file. */
void dae_note_reference(import_job *job, uint32_t element, import_span reference);
/* The element that a reference such as `url` leads to, if its name is `word`; else the reference is reported, and the
   result is DAE_NONE. */
uint32_t dae_follow_to(import_job *job, uint32_t element, dae_word attribute, dae_word word);
/* The number of a sid; UINT32_MAX where no element has it. */
uint32_t dae_sid_number(const import_dae *dae, import_span sid);
/* The first element inside of another with this sid, or DAE_NONE. */
uint32_t dae_find_sid(const import_dae *dae, uint32_t inside, import_span sid);
sk_status dae_put_text(import_job *job, import_span text, sk_text *out);
/* Counts one more use of a text that was put before: a block limits the bytes of shared texts. */
sk_status dae_share_text(import_job *job, sk_text text);

/* ---- import_collada_source.c ---- */

typedef struct dae_numbers {
  double *values;
  size_t count;
} dae_numbers;

#define DAE_MAX_COLUMNS 32

typedef struct dae_source { /* rows of numbers */
  const double *values;     /* of the first row */
  size_t count;
  uint32_t stride, width;
  uint8_t columns[DAE_MAX_COLUMNS]; /* where in a row its numbers are */
} dae_source;

static inline double dae_number_at(const dae_source *source, size_t row, uint32_t column) {
  return source->values[row * source->stride + source->columns[column]];
}
/* Reads a <source>; DAE_NONE gives a source without rows. */
sk_status dae_read_source(import_job *job, uint32_t element, dae_source *source);
/* Lists the names of a <source>, import_span each; *are_ids: the names are ids, not sids. */
sk_status dae_read_names(import_job *job, uint32_t element, sk_array *names, bool *are_ids);
/* The first <input> of the semantic among the children of an element, or DAE_NONE. */
uint32_t dae_input(const dae_tree *tree, uint32_t parent, const char *semantic);
/* The <source> of that input. */
uint32_t dae_input_source(const dae_tree *tree, uint32_t parent, const char *semantic);

/* ---- import_collada_scene.c ---- */

sk_status dae_read_scene(import_job *job);
const dae_chain *dae_chain_of(const import_dae *dae, uint32_t element);
/* out = a transform's matrix. */
void dae_transform_matrix(const dae_transform *transform, double out[12]);
void dae_axis_rotation(const double axis_angle[4], double out[4]);

/* ---- import_collada_material.c ---- */

/* Materials in the order of the file; the element's `data` is the number of the material plus 1. */
sk_status dae_read_materials(import_job *job);
typedef struct dae_bindings { /* of an instance: its <instance_material> by their symbols */
  import_names symbols;
  uint32_t first; /* DAE_NONE: there is none */
} dae_bindings;

/* The bindings are freed with import_names_free(&bindings->symbols), also on failure. */
sk_status dae_read_bindings(import_job *job, uint32_t instance, dae_bindings *bindings);
/* The material that an instance binds to a symbol of its mesh, or SK_NONE. A mesh without a symbol gets the first one.
   *set: the set of texture coordinates that the material uses, UINT32_MAX if the file does not say. */
int32_t dae_bound_material(import_job *job, const dae_bindings *bindings, import_span symbol, uint32_t *set);

/* ---- import_collada_mesh.c ---- */

typedef struct dae_shape { /* what an instance shows */
  uint32_t geometry, skin, morph; /* elements; DAE_NONE: no skin, no morph */
} dae_shape;

/* Makes the mesh of a primitive, unless it is there, with the wanted set of texture coordinates. *mesh is its index in
   the contents, or SK_NONE if the primitive has no faces. */
sk_status dae_read_primitive(import_job *job, const dae_shape *shape, uint32_t primitive, uint32_t set, int32_t *mesh);
bool dae_is_primitive(dae_word word);
/* Positions of a geometry; *vertices is its <vertices>. */
sk_status dae_read_positions(import_job *job, uint32_t geometry, dae_source *positions);

/* ---- import_collada_skin.c ---- */

/* Finds the geometry, skin and morph of a geometry or controller. False: there is no geometry, which is reported. */
bool dae_find_shape(import_job *job, uint32_t element, dae_shape *shape);
/* The influences of a mesh. A point is a vertex of the file's geometry; points[v] is the point of the mesh's vertex v. */
sk_status dae_read_influences(import_job *job, const dae_shape *shape, const uint32_t *points, int32_t mesh);
void dae_free_points(import_dae *dae);

/* import_collada_morph.c */
/* The morph targets of a mesh, by its points likewise. */
sk_status dae_read_targets(import_job *job, const dae_shape *shape, const uint32_t *points, int32_t mesh);
/* Makes instances in the contents of the <instance_geometry> and <instance_controller> elements. */
sk_status dae_place_meshes(import_job *job);

/* ---- import_collada_curve.c ---- */

typedef enum dae_span_kind { DAE_LINEAR, DAE_STEP, DAE_BEZIER, DAE_HERMITE } dae_span_kind;

typedef struct dae_key {
  double time;
  size_t row;
  dae_span_kind kind; /* of the span after the key */
} dae_key;

typedef struct dae_trs { /* translation, rotation (unit quaternion x y z w) and scale of a matrix */
  double t[3], r[4], s[3];
} dae_trs;

typedef struct dae_curve { /* a sampler */
  dae_key *keys;           /* in the order of their times */
  size_t count;
  dae_source values, in, out;
  uint32_t width;          /* numbers of a value */
  bool is_straight, is_stepped; /* all of its spans are */
  dae_trs *parts;          /* of each key, where the values are matrices: dae_split_matrices */
} dae_curve;

/* The number in dae->curves of a <sampler>, or SK_NONE if it has no usable keys. */
sk_status dae_read_curve(import_job *job, uint32_t sampler, int32_t *number);
double dae_curve_value(const dae_curve *curve, uint32_t column, double time);

/* Splits a matrix; returns whether it has shear, which translation, rotation and scale do not hold. */
bool dae_is_sheared(const double matrix[12], dae_trs *parts);
sk_status dae_split_matrices(import_job *job, dae_curve *curve);
/* For a curve that was split. */
void dae_matrix_at(const dae_curve *curve, double time, dae_trs *out);

/* ---- import_collada_channel.c ---- */

typedef struct dae_channel { /* a sampler and what it moves */
  uint32_t element;
  int32_t curve;
  uint32_t transform;        /* in dae->transforms; UINT32_MAX: none */
  uint32_t node;             /* the <node> that has the transform */
  uint32_t morph, target;    /* without a transform: the <morph>, and which of its targets */
  int32_t column;            /* which number of the transform; SK_NONE: all of them */
} dae_channel;

/* The element of a path "id/sid/sid", or DAE_NONE. */
uint32_t dae_find_path(const import_dae *dae, import_span path);
/* Lists the channels that move something of the scene, in the order of the file. */
sk_status dae_read_channels(import_job *job);

/* ---- import_collada_clip.c ---- */

typedef struct dae_clip {
  sk_text name;
  bool has_range; /* else it plays all keys */
  double start, end;
  sk_array channels; /* uint32_t: in dae->channels, ordered by their transforms */
} dae_clip;

static inline const dae_channel *dae_channel_at(const import_dae *dae, uint32_t number) {
  return (const dae_channel *)dae->channels.data + number;
}
static inline dae_curve *dae_curve_of(const import_dae *dae, const dae_channel *channel) {
  return (dae_curve *)dae->curves.data + channel->curve;
}

sk_status dae_read_clips(import_job *job);
void dae_free_clips(import_job *job);

/* ---- import_collada_motion.c ---- */

/* Adds the channels of a clip to the finished model; *last: see import_contents.add_channels. */
sk_status dae_add_channels(import_clip *clip, int32_t index, double *last);

#endif
