/* import_job.h: one import, from a request to a block, and the steps of which it consists.

   A job lives for one call of sk_importer.run. Only `files` opens files. The reader of the file's format reads it; if the
   format has no reader, Assimp delivers `scene`, in some formats from corrected bytes. The steps below copy that, one
   after another, into the arrays of `model`, which become one block. Each step fails with a status and a sentence in
   `error`, and leaves what it made to the job, which is freed as a whole. */
#ifndef IMPORT_JOB_H
#define IMPORT_JOB_H

#include <assimp/scene.h>

#include "../core/model/sk_block.h"
#include "import_file.h"
#include "import_report.h"
#include "import_text.h"

#define IMPORT_MAX_TEXT         ((size_t)256 << 20)  /* bytes of all names: a long one may be used many times */
#define IMPORT_BOTTOM_TOLERANCE 1e-4f        /* of a matrix's last row, where readers multiply in float */

/* ---- the model in the making ------------------------------------------------------ */

typedef struct import_slots { /* palette slots: a table from (joint, offset) to the slot */
  sk_array joints;            /* int32_t */
  sk_array offsets;           /* float[16] */
  uint32_t *table;            /* slot + 1; 0 = empty */
  size_t mask;
} import_slots;

/* The arrays of the block, with their element where it is not plain. Joints are the nodes of the scene, parents before
   children; vertices and faces are those of all submeshes, one after another. */
typedef struct import_model {
  sk_info info;
  sk_array text;                                /* char: the pool of all strings */
  sk_array nodes; /* const struct aiNode * of each joint; not owned; NULL: the joint is no node of Assimp's */
  sk_array names, parents; /* sk_text, int32_t */
  sk_array translation, rotation, scale, local; /* float */
  double *globals; /* rest pose in model space, 12 per joint */
  double *shear; /* of each joint: the relative part of its matrix that T*R*S cannot hold */
  import_names joint_of; /* Assimp's name of a node -> joint */
  bool *is_repeated; /* of each joint: others have its name, by which Assimp binds; or NULL */
  import_slots slots;
  float *positions, *normals, *uvs, *colors, *tangents, *weights;
  uint16_t *vertex_slots;
  uint32_t *faces;
  uint32_t vertex_count, face_count;
  sk_array submeshes, materials, textures, texture_data;
  sk_array clips, channels, times, values, events;
  uint32_t *shapes; /* of each vertex: equal where all targets move it equally; NULL without targets */
  sk_array targets, target_vertices, target_positions, target_normals;
  uint32_t *targets_of; /* of each joint: the first of its targets, and how many follow; NULL without targets */
  sk_array report;
  sk_array extras; /* char: the section EXTRAS, JSON that Python reads; empty: none */
} import_model;

struct import_job {
  const sk_import_request *request;
  sk_error *error;
  const import_format *format; /* never NULL */
  char suffix[IMPORT_MAX_SUFFIX]; /* of the format, in lower case; "" where it is not known */
  import_files files;
  const struct aiScene *scene; /* NULL until Assimp has read the file, and if skinpy's own reader reads it */
  import_note notes[NOTE_COUNT];
  import_model model;

  /* What the readers of single formats keep from one step to the next. */
  struct gltf *gltf; /* formats/import_gltf.h */
  struct import_fbx *fbx; /* formats/import_fbx.h */
  struct import_dae *dae; /* formats/import_collada.h */
  struct import_contents *contents; /* import_contents.h: filled by small readers */
  struct import_weights *weights; /* import_weights.h; NULL: the weights are Assimp's */
  int32_t first_frame; /* SMD: the first frame of the skeleton, which Assimp counts as 0 */
  bool blanks_hidden; /* blanks in names of SMD materials have a substitute while Assimp reads */
};

/* ---- the steps, in their order ----------------------------------------------------- */

/* Every node becomes a joint, with its name and its rest pose. */
sk_status import_skeleton(import_job *job);
/* Materials and their base-color textures. */
sk_status import_materials(import_job *job);
/* Vertices, faces, influences and morph targets, each (node, mesh) of the scene as a submesh. */
sk_status import_meshes(import_job *job);
/* Animations as clips. */
sk_status import_clips(import_job *job);
/* Lays the keys out as the block holds them (sk_pack.h). */
sk_status import_pack_clips(import_job *job);

/* ---- what later steps ask of earlier ones ------------------------------------------- */

/* The joint of a node that Assimp knows by this name, or SK_NONE. */
int32_t import_find_joint(const import_job *job, const struct aiString *name);
/* The same for a channel or an influence, which `what` names; if several nodes have the name, it is reported. */
int32_t import_bind_joint(import_job *job, const struct aiString *name, const char *what);
/* The index in model.materials of a material as the source counts them, or SK_NONE. */
int32_t import_material_of(const import_job *job, int64_t index);

/* A text of the pool. */
static inline import_span import_span_of(const import_job *job, sk_text text) {
  return (import_span){(const char *)job->model.text.data + text.offset, text.length};
}

/* True for NaN and infinity. */
static inline bool import_is_bad(float value) { return !(value - value == 0.0f); }

#endif
