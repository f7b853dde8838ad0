/* ext_jobs.h: the bindings of the jobs, shared by the types Model and Pose. */
#ifndef EXT_JOBS_H
#define EXT_JOBS_H

#include "ext_array.h"
#include "ext_state.h"

/* Position of a clip among the model's, by name or (also negative) index; -1 with an error set, which calls
   it by the name of the `argument`. */
Py_ssize_t ext_clip_number(ext_state *state, ext_model *model, PyObject *clip, const char *argument);

/* `clip` of a call as the core's view of it: a Clip, a name, an index, or None (view unused, found 0).
   -1 with KeyError, IndexError, TypeError or ValueError set. `keep` gets a new reference. */
int ext_find_clip(ext_state *state, ext_model *model, PyObject *clip, const char *argument, sk_clip *view,
                  PyObject **keep);

enum { EXT_TRANSLATION, EXT_ROTATION, EXT_SCALE, EXT_WEIGHTS, EXT_ROOT, EXT_POSE_ARRAYS };

/* A Pose's arrays, checked: pointers for the core, and the leading axes. */
typedef struct ext_pose_arrays {
  ext_array arrays[EXT_POSE_ARRAYS]; /* translation, rotation, scale, morph weights, root */
  ext_shape shape;
  sk_pose pose;
  size_t root_stride;
} ext_pose_arrays;

int ext_pose_open(ext_pose *pose, ext_pose_arrays *arrays);
void ext_pose_close(ext_pose_arrays *arrays);

/* Runs a filled job into `out` (NULL, None or an array): scratch, shape checks, GIL, answer. `affine` is the
   caller's argument: NULL or None means what `out` has. New reference. */
PyObject *ext_run_palette(sk_palette_job *job, const ext_shape *shape, PyObject *out, PyObject *affine,
                          const ext_array *inputs, int input_count);

/* Words for `loop` and `rotation`, in the order of the core's enums. */
extern const char *const ext_loops[], *const ext_rotations[];

#endif
