/* import_contents.h: the contents of a file as a small reader lists them: nodes, meshes, skins, materials and clips.

   A format whose reader does not need to answer each step of an import by itself fills job->contents in its `open`; its
   row names `contents_reader`, which answers all steps from it, and `import_contents_close`. Nothing else is needed.

   All arrays here are owned by the contents: memory comes from import_contents_take, and is freed with the job. Names
   are texts in job->model.text (sk_text_append). Numbers may be anything; the steps of the import repair and report
   them. Indices must be right, or be the "none" that their comment names: the reader of the format checks them.

   Units and axes: positions are in the space of their node; matrices have three rows for columns (x, y, z, 1);
   quaternions are x y z w; texture coordinates start at the top left of the image; times are seconds. */
#ifndef IMPORT_CONTENTS_H
#define IMPORT_CONTENTS_H

#include "import_influence.h"
#include "import_reader.h"

/* A node of the tree. Nodes are listed depth first: a parent before its children, which keep the file's order. Several
   roots get one joint above them, called ROOT, with underscores behind it if a node has that name. So the joint of a node
   may have another index than the node: see import_contents_joint. */
typedef struct import_contents_node {
  sk_text name;
  int32_t parent;  /* SK_NONE: a root */
  bool has_trs;    /* translation, rotation and scale are given; else `local` is */
  float translation[3], rotation[4], scale[3];
  double local[12];
} import_contents_node;

typedef struct import_contents_target { /* a morph target of a mesh: differences for all of its vertices */
  sk_text name;
  float default_weight;
  const float *positions, *normals; /* 3 for each vertex; `normals` may be NULL */
} import_contents_target;

/* Vertices and triangles. Arrays that are NULL are absent; positions are not. */
typedef struct import_contents_mesh {
  sk_text name;
  uint32_t vertex_count, face_count;
  const float *positions, *normals, *uvs, *colors, *tangents; /* 3, 3, 2, 4 and 4 numbers for each vertex */
  const uint32_t *faces; /* three vertices each; a face with one that does not exist is left out and reported */
  /* The influences of vertex v are influences[starts[v]] to influences[starts[v + 1] - 1]; their `slot` is the index of a
     joint in the skin of the instance. A weight that is negative or not finite is reported. NULL: there are none.
     Where vertices share influences, `lists` has for each vertex an index that replaces v in `starts`. */
  const uint32_t *starts, *lists;
  uint32_t list_count; /* how many indices `starts` has, if `lists` is not NULL */
  const import_influence *influences;
  const import_contents_target *targets;
  uint32_t target_count;
} import_contents_mesh;

typedef struct import_contents_skin {
  const int32_t *nodes; /* of each joint; SK_NONE: it does not exist, and its vertices follow the mesh's node */
  /* Inverse bind matrices, 16 numbers each. NULL: they are computed from the rest pose. They are also computed if all of
     them are the identity although the joints are apart at rest, unless means_identities is set. */
  const float *offsets;
  const sk_text *names; /* of joints, for the report; NULL: they have only numbers */
  uint32_t count;
} import_contents_skin;

/* A mesh at a node: one submesh of the model. */
typedef struct import_contents_instance {
  int32_t node, mesh;
  int32_t skin; /* SK_NONE: the mesh is rigid and follows its node */
  int32_t material; /* SK_NONE: none */
  bool hidden;
} import_contents_instance;

typedef struct import_contents_material {
  sk_material material; /* its texture is set from the image */
  char *image; /* path of the image as the file gives it, or a name for `bytes`; NULL: no texture */
  const uint8_t *bytes; /* the encoded image, if the model's file has it; NULL: the image is a file beside the model */
  size_t size;
} import_contents_material;

typedef struct import_contents_track { /* one channel */
  int32_t node;
  sk_path path;
  int32_t target; /* for SK_PATH_WEIGHT: index among the targets of the node's meshes */
  sk_interpolation interpolation;
  uint32_t count;
  const double *times; /* seconds; they are sorted and checked later */
  const float *values; /* sk_path_width(path) numbers for each key; for cubic keys in-tangent, value, out-tangent */
} import_contents_track;

typedef struct import_contents_clip {
  sk_text name;
  double duration; /* seconds; negative: the clip ends at its last key */
  double ticks_per_second; /* 0: not known */
  size_t first_track, track_count;
} import_contents_clip;

typedef struct import_contents {
  bool means_identities; /* inverse bind matrices that are all the identity are right, and used as they are */
  /* Adds the channels of a clip, for formats whose keys are fitted to the finished model; *last is the time of the last
     key, or the clip's end. NULL: the clips have tracks instead. */
  sk_status (*add_channels)(import_clip *clip, int32_t index, double *last);
  sk_array nodes, meshes, skins, instances, materials, clips, tracks; /* of the structs above, in this order */
  sk_array memory; /* void *: allocations of import_contents_take */
} import_contents;

extern const import_reader contents_reader;

/* Sets job->contents, which is empty. */
sk_status import_contents_open(import_job *job);
void import_contents_close(import_job *job);
/* Zeroed memory that is freed with the contents. NULL: there is no memory left, and job->error says so. */
void *import_contents_take(import_job *job, size_t count, size_t size);
/* A copy of a text that ends in a zero byte; it is freed with the contents. NULL as above. */
char *import_contents_copy(import_job *job, import_span text);
/* Adds an element to one of the arrays, with defaults: a node without a transform, a white material without an image, an
   instance without skin and material, linear keys, a clip until its last key; all else is zero. NULL as above. Elements
   move when the next one is added. */
import_contents_node *import_contents_add_node(import_job *job, int32_t parent);
/* Adds a root that rotates a file with +Z up to +Y up, which is reported. */
sk_status import_contents_add_turned_root(import_job *job, const char *name);
import_contents_mesh *import_contents_add_mesh(import_job *job);
import_contents_skin *import_contents_add_skin(import_job *job);
import_contents_instance *import_contents_add_instance(import_job *job, int32_t node, int32_t mesh);
import_contents_material *import_contents_add_material(import_job *job);
import_contents_clip *import_contents_add_clip(import_job *job);
/* Adds to the last clip. */
import_contents_track *import_contents_add_track(import_job *job, int32_t node, sk_path path);
/* Whether the tree gets a joint above its nodes, because it has several roots, or none. */
bool import_contents_has_root_above(const import_contents *contents);
/* The joint of a node. */
int32_t import_contents_joint(const import_job *job, int32_t node);
/* Counts nodes, their depth, vertices and keys against the limits of the request. The `open` of a format calls this last,
   and checks counts that the file only states before it takes memory for them (import_limit.h). */
sk_status import_contents_check(import_job *job);

#endif
