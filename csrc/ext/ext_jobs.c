/* ext_jobs.c: see ext_jobs.h. */
#include "ext_jobs.h"

#include <string.h>

#include "ext_args.h"
#include "ext_error.h"

const char *const ext_loops[] = {"wrap", "clamp", "pingpong", "once", NULL};
const char *const ext_rotations[] = {"slerp", "nlerp", NULL};

/* ---- clips ------------------------------------------------------------------------------ */

static int clip_is_bound(ext_model *model, ext_clip *clip, const char *argument) {
  if (clip->bound_to && ext_same_rig(clip->bound_to, model->block)) return 1;
  PyErr_Format(PyExc_ValueError, "%s is not bound to this model; model.add_clips(clip) gives a model that has it",
               argument);
  return 0;
}

static Py_ssize_t find_name(ext_state *state, ext_model *model, PyObject *name) {
  PyObject *number = PyDict_GetItemWithError(model->numbers, name);
  if (number) return PyLong_AsSsize_t(number);
  if (!PyErr_Occurred()) {
    PyObject *names = PyDict_Keys(model->numbers);
    if (names) ext_raise_unknown(state, "clip", name, names);
    Py_XDECREF(names);
  }
  return -1;
}

/* A new tuple of the names of all clips, in order. */
static PyObject *all_names(ext_model *model) {
  Py_ssize_t i, count = PyTuple_Size(model->clips);
  PyObject *names = PyTuple_New(count);
  for (i = 0; names && i < count; i++)
    PyTuple_SetItem(names, i, Py_NewRef(PyTuple_GetItem(PyTuple_GetItem(model->clips, i), 0)));
  return names;
}

static Py_ssize_t find_number(ext_state *state, ext_model *model, PyObject *number, const char *argument) {
  Py_ssize_t count = PyTuple_Size(model->clips), index = PyNumber_AsSsize_t(number, NULL);
  PyObject *exact, *names;
  if (index == -1 && PyErr_Occurred()) { /* an array, say, which has the slot of an index and may be none */
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
    PyErr_Clear();
    ext_refuse(PyExc_TypeError, argument, number, "a Clip, a name, an index or None");
    return -1;
  }
  if (index >= -count && index < count) return index < 0 ? index + count : index;
  exact = PyNumber_Index(number); /* a number beyond Py_ssize_t is another one in `index` */
  names = exact ? all_names(model) : NULL;
  if (names) ext_raise_clip_number(state, argument, exact, names);
  Py_XDECREF(exact);
  Py_XDECREF(names);
  return -1;
}

Py_ssize_t ext_clip_number(ext_state *state, ext_model *model, PyObject *clip, const char *argument) {
  if (PyUnicode_Check(clip)) return find_name(state, model, clip);
  if (PyIndex_Check(clip) && !PyBool_Check(clip)) return find_number(state, model, clip, argument);
  ext_refuse_type(argument, clip, "a Clip, a name, an index or None");
  return -1;
}

int ext_find_clip(ext_state *state, ext_model *model, PyObject *clip, const char *argument, sk_clip *view,
                  PyObject **keep) {
  Py_ssize_t number;
  PyObject *entry;
  ext_block *block;
  uint32_t index;
  *keep = NULL;
  if (clip == NULL || clip == Py_None) return 0;
  if (PyObject_TypeCheck(clip, (PyTypeObject *)state->clip_type)) {
    if (!clip_is_bound(model, (ext_clip *)clip, argument)) return -1;
    block = ((ext_clip *)clip)->block;
    *view = ((ext_clip *)clip)->clip;
    view->compiled = ext_compiled(block, ((ext_clip *)clip)->index, model->block);
    *keep = Py_NewRef((PyObject *)block);
    return 1;
  }
  number = ext_clip_number(state, model, clip, argument);
  if (number < 0) return -1;
  entry = PyTuple_GetItem(model->clips, number);
  block = (ext_block *)PyTuple_GetItem(entry, 1);
  index = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GetItem(entry, 2));
  sk_clip_open(&block->model.block, index, view);
  view->compiled = ext_compiled(block, index, model->block);
  *keep = Py_NewRef((PyObject *)block);
  return 1;
}

/* ---- poses --------------------------------------------------------------------------------- */

int ext_pose_open(ext_pose *pose, ext_pose_arrays *open) {
  const sk_model *model = &pose->block->model;
  Py_ssize_t three[2] = {model->skeleton.joint_count, 3}, four[2] = {model->skeleton.joint_count, 4};
  Py_ssize_t targets[1] = {model->morph.target_count};
  ext_array *arrays = open->arrays;
  ext_shape shape;
  memset(arrays, 0, sizeof open->arrays);
  open->root_stride = 0;
  if (!ext_read_own(pose->translation, "translation", three, 2, NULL, &arrays[EXT_TRANSLATION], &open->shape) ||
      !ext_read_own(pose->rotation, "rotation", four, 2, &open->shape, &arrays[EXT_ROTATION], &shape) ||
      !ext_read_own(pose->scale, "scale", three, 2, &open->shape, &arrays[EXT_SCALE], &shape) ||
      !ext_read_own(pose->morph_weights, "morph_weights", targets, 1, &open->shape, &arrays[EXT_WEIGHTS], &shape) ||
      (pose->root != Py_None && !ext_read_root(pose->root, &open->shape, &arrays[EXT_ROOT], &open->root_stride))) {
    ext_pose_close(open);
    return 0;
  }
  open->pose = (sk_pose){arrays[EXT_TRANSLATION].data, arrays[EXT_ROTATION].data, arrays[EXT_SCALE].data,
                         arrays[EXT_WEIGHTS].data};
  return 1;
}

void ext_pose_close(ext_pose_arrays *open) {
  int i;
  for (i = 0; i < EXT_POSE_ARRAYS; i++) ext_array_release(&open->arrays[i]);
}

/* ---- palettes -------------------------------------------------------------------------------- */

#define STACK_SCRATCH 32768 /* bytes: enough for eight poses of 30 joints; larger models use the heap */

/* An estimate, to decide whether to release the GIL: a joint takes about 150 ns on the plain path. */
static double nanoseconds(const sk_palette_job *job) {
  return 150.0 * (double)job->count * (double)job->skeleton->joint_count;
}

static int run_job(sk_palette_job *job) {
  _Alignas(32) char stack[STACK_SCRATCH];
  size_t bytes = sk_palette_scratch(job);
  job->scratch = bytes <= sizeof stack ? stack : sk_alloc(bytes);
  if (!job->scratch) {
    PyErr_NoMemory();
    return 0;
  }
  if (nanoseconds(job) < EXT_RELEASE_NANOSECONDS) {
    sk_palette_run(job);
  } else {
    Py_BEGIN_ALLOW_THREADS sk_palette_run(job);
    Py_END_ALLOW_THREADS
  }
  if (job->scratch != stack) sk_free(job->scratch);
  return 1;
}

PyObject *ext_run_palette(sk_palette_job *job, const ext_shape *shape, PyObject *out, PyObject *affine,
                          const ext_array *inputs, int input_count) {
  bool points = job->result == SK_POSITIONS;
  int rows = points ? 0 : ext_choose_affine(out, affine);
  Py_ssize_t tail[3] = {job->skeleton->joint_count, 3, 4};
  ext_array result;
  if (rows < 0) return NULL;
  job->affine = rows == 1;
  job->count = (size_t)shape->count;
  if (job->result == SK_PALETTE) tail[0] = job->skin->slot_count;
  if (!points && !job->affine) tail[1] = 4;
  if (!ext_output(out, "out", shape, tail, points ? 2 : 3, inputs, input_count, &result)) return NULL;
  job->out = result.data;
  if (!run_job(job)) ext_array_release(&result);
  return result.owner;
}
