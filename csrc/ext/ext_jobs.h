/* ext_jobs.h: what the methods of Model and Pose share: finding clips, opening poses, and running palette jobs.

   Functions that fail set a Python exception. */
#ifndef EXT_JOBS_H
#define EXT_JOBS_H

#include "ext_array.h"
#include "ext_state.h"

/* Returns the position of a clip in model->clips by its name or its index, which may be negative. Returns -1 with an
   exception that mentions the name of the `argument`. */
Py_ssize_t ext_clip_number(ext_state *state, ext_model *model, PyObject *clip, const char *argument);

/* Fills `view` for the argument `clip`, which may be a Clip, a name or an index, and returns 1. None or NULL gives 0
   and leaves `view` alone. Returns -1 with KeyError, IndexError, TypeError or ValueError. `keep` gets a new
   reference to the block that `view` points into, or NULL. */
int ext_find_clip(ext_state *state, ext_model *model, PyObject *clip, const char *argument, sk_clip *view,
                  PyObject **keep);

enum { EXT_TRANSLATION, EXT_ROTATION, EXT_SCALE, EXT_WEIGHTS, EXT_ROOT, EXT_POSE_ARRAYS };

/* The arrays of a Pose, checked for one call. */
typedef struct ext_pose_arrays {
  ext_array arrays[EXT_POSE_ARRAYS]; /* held until ext_pose_close */
  ext_shape shape;                   /* the leading axes */
  sk_pose pose;                      /* points into the arrays */
  size_t root_stride;                /* floats from one root to the next; 0: one root for all poses */
} ext_pose_arrays;

/* Checks shapes and types, because the caller may have replaced or reshaped an array since the last call. Returns 0
   with a ValueError, and then holds nothing. */
int ext_pose_open(ext_pose *pose, ext_pose_arrays *arrays);
void ext_pose_close(ext_pose_arrays *arrays);

/* Runs a job, all of whose inputs are filled in, for shape->count poses, and returns a new reference to the result.

      `out` is the caller's array, or NULL or None for a new one. `affine` is the caller's argument, or NULL or None
   for the kind of matrices that `out` has. `inputs` are arrays that `out` must not overlap. The GIL is released if
   the work is long enough. */
PyObject *ext_run_palette(sk_palette_job *job, const ext_shape *shape, PyObject *out, PyObject *affine,
                          const ext_array *inputs, int input_count);

/* The words for the arguments `loop` and `rotation`, in the order of sk_loop and sk_rotation. */
extern const char *const ext_loops[], *const ext_rotations[];

#endif
