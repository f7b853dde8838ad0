/* import_weights.h: the weights of a file where skinpy reads them itself.

   Assimp 6.0.5 mixes up the vertices and joints of some B3D files and does not find the weights of MilkShape's. Their
   own readers in formats/ list which joint pulls at which vertex of the file, and which of the file's vertices each
   vertex is that Assimp delivers; import_influence.c takes it from there. */
#ifndef IMPORT_WEIGHTS_H
#define IMPORT_WEIGHTS_H

#include "import_job.h"

typedef struct import_weight {
  uint32_t vertex, joint;
  float weight;
} import_weight; /* as the file counts */

typedef struct import_weights {
  uint32_t vertices, joints; /* of the file */
  sk_array list, sorted;     /* import_weight: as the file lists them; by vertices */
  uint32_t *starts;          /* in `sorted`, of each vertex, and one more; NULL: not sorted, so not used */
  sk_array corners;          /* uint32_t: the file's vertex of each vertex of Assimp's meshes, one after another */
  sk_array meshes;           /* uint32_t: the first corner of each mesh, and one more */
  sk_array keyed;            /* uint32_t: for B3D, the node of each channel that Assimp makes */
  sk_array names;            /* size_t: offset of each joint's name; none: joints are numbered as the model's are */
  int32_t *joint_of;         /* of each of those names the joint, SK_NONE = none; NULL without names */
  struct {
    int32_t node;
    uint32_t slot;
  } *slots; /* of each joint: its slot for the mesh of joint `node` - 1 */
} import_weights;

/* Sets job->weights, which is empty, and reads the whole file, from which they come. */
sk_status import_weights_open(import_job *job);
void import_weights_close(import_job *job);
/* Vertex and joint are below the file's counts. A number that is not a weight is left out; false: no memory. */
bool import_weights_add(import_job *job, uint32_t vertex, uint32_t joint, float weight);
/* The corners that follow are of the next mesh; false: no memory. */
bool import_weights_mesh(import_job *job);
/* Comes when all weights and corners are there. */
sk_status import_weights_sort(import_job *job);
/* The file's vertex of each vertex of a mesh, and whether one of them has weights. NULL: Assimp's weights count. */
const uint32_t *import_weights_of(const import_job *job, uint32_t mesh, uint32_t vertices, bool *skinned);

#endif
