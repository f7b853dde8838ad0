/* import_fbx.h: what FBX answers to the steps of an import. The whole file is read by our own code; Assimp is not
   asked. */
#ifndef IMPORT_FBX_H
#define IMPORT_FBX_H

#include "../import_reader.h"
#include "import_fbx_scene.h"

typedef enum fbx_joint_kind { FBX_JOINT_ROOT, FBX_JOINT_WHOLE, FBX_JOINT_UNSCALED, FBX_JOINT_SCALE } fbx_joint_kind;

typedef struct fbx_joint { /* by the number of the joint in the model */
  int32_t node;            /* SK_NONE: the root */
  fbx_joint_kind kind;     /* a split node has a joint without its scale, and below it one that has only the scale */
} fbx_joint;

typedef struct fbx_mesh fbx_mesh; /* import_fbx_mesh.h */

typedef struct import_fbx { /* kept in job->fbx from one step to the next */
  fbx_scene scene;
  sk_array joints;    /* fbx_joint */
  sk_array meshes;    /* fbx_mesh: of each geometry that some node has */
  sk_array materials; /* uint32_t: the object of each material */
  sk_array targets;   /* fbx_target: of each target of the model */
  size_t keys_left;   /* that may still be made, beyond those of the file */
  double fps;         /* frames per second that the file states */
} import_fbx;

/* Reads the file into job->fbx, or refuses it by a sentence that names its version. */
sk_status import_fbx_open(import_job *job);
/* Unit and axes. */
void import_fbx_space(import_job *job);
/* Reports what is in the file and not played. */
void import_fbx_note(import_job *job);
void import_fbx_close(import_job *job);
extern const import_reader fbx_reader;

/* ---- import_fbx_space.c: sets scene.axes and fps ---- */
void fbx_read_space(import_fbx *fbx);

/* ---- import_fbx_tree.c ---- */
sk_status fbx_add_joints(import_job *job);
bool fbx_rest(import_job *job, size_t joint, double local[12], float t[3], float r[4], float s[3]);

/* What a joint of that kind has of the transform of its node. */
void fbx_part_of_trs(fbx_joint_kind kind, fbx_trs *trs);

/* ---- import_fbx_clip.c ---- */
int32_t fbx_clip_count(const import_job *job);
bool fbx_name_clip(import_job *job, int32_t index, sk_text *name);
sk_status fbx_add_channels(import_clip *clip, int32_t index, double *last);
sk_status fbx_add_extras(import_clip *clip, int32_t index, sk_clip_record *record);

#endif
