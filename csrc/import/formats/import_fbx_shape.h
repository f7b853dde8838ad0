/* import_fbx_shape.h: blend shapes of FBX as morph targets.

   A channel of a blend shape has one shape, or several "in between", each with the percent at which it is whole; at 0 %
   there is none. A target is one shape. Its weight follows from the percent of the channel: 1 where the shape is whole,
   falling linearly to 0 at the neighboring shapes; beyond the outer shapes the lines go on. Blender writes a number for
   each vertex of the shape instead: its part of the difference. */
#ifndef IMPORT_FBX_SHAPE_H
#define IMPORT_FBX_SHAPE_H

#include "import_fbx_mesh.h"

typedef struct fbx_shape { /* one target of a geometry */
  uint32_t channel; /* an object, or an inner shape of the scene */
  size_t inside, inside_end; /* records of the shape */
  const char *name;
  size_t name_length;
  double full;               /* percent at which it is whole, not 0; the shapes of a channel are sorted by it */
  uint32_t index, count;     /* of this shape in its channel, and of the channel's shapes, which are neighbors here */
  fbx_numbers shares;        /* of each listed vertex the part of its difference; none: all of it */
} fbx_shape;

typedef struct fbx_target { /* a target of the model, in the order of the block */
  uint32_t channel;
  double rest_percent;
  const fbx_shape *shape;    /* NULL: the file does not have it */
} fbx_target;

#define FBX_MAX_CORNERS 4
/* The percents at which the weight of a target may change its course: where its shape, its neighbors or no shape is
   whole. Returns their number. */
size_t fbx_corners(const fbx_target *target, double corners[FBX_MAX_CORNERS]);

double fbx_target_weight(const fbx_target *target, double percent);

sk_status fbx_read_shapes_of(import_job *job, fbx_mesh *mesh);
void fbx_free_shapes(fbx_mesh *mesh);

/* ---- for the reader ---- */
uint32_t fbx_target_count(const import_job *job, const import_submesh *submesh);
sk_status fbx_read_shapes(import_job *job, const import_submesh *submesh, import_shapes *shapes);
float fbx_default_weight(const import_job *job, const import_submesh *submesh, uint32_t target);
bool fbx_name_target(import_job *job, const import_submesh *submesh, uint32_t target, sk_text *name);
/* The targets of the model, once the meshes are read: one for each target of each node. */
sk_status fbx_list_targets(import_job *job);

#endif
