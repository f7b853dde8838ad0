/* ext_crowd.c: Model.crowd_palette, the palettes of many instances with their own clips, times and weights. */
#include "../core/pose/sk_crowd.h"

#include <string.h>

#include "ext_args.h"
#include "ext_docs.h"
#include "ext_error.h"
#include "ext_jobs.h"

enum { CLIPS, CLIP_INDEX, TIME, WEIGHTS, OUT, AFFINE, LOOP, ROTATION, ROOT, INVERSE_ROOT, VALUES };
enum { INDEX_GRID, TIME_GRID, WEIGHT_GRID, GRIDS };

/* Nanoseconds to sample and blend one joint of one clip on the plain path, roughly. */
#define JOINT_NANOSECONDS 150.0

/* One call and what it owns. */
typedef struct crowd_call {
  sk_crowd_job job;
  PyObject *clips; /* the argument as a tuple */
  PyObject **keep; /* the blocks of the clips; the first `kept` entries are references */
  Py_ssize_t kept;
  ext_grid grids[GRIDS];
  ext_array root;
  ext_shape shape; /* (N,) */
  void *memory; /* one allocation for clips, keep, times, weights and indices */
} crowd_call;

static void close_call(crowd_call *call) {
  Py_ssize_t i;
  for (i = 0; i < call->kept; i++) Py_DECREF(call->keep[i]);
  for (i = 0; i < GRIDS; i++) ext_array_release(&call->grids[i].array);
  ext_array_release(&call->root);
  Py_XDECREF(call->clips);
  sk_free(call->memory);
  sk_free(call->job.scratch);
}

/* ---- reading ------------------------------------------------------------------------------------- */

static int open_clips(crowd_call *call, PyObject *clips) {
  if (!PySequence_Check(clips) || PyUnicode_Check(clips) || PyBytes_Check(clips)) {
    ext_refuse_type("clips", clips, "a sequence of Clips, names or indices");
    return 0;
  }
  call->clips = PySequence_Tuple(clips);
  if (call->clips) call->job.clip_count = (size_t)PyTuple_Size(call->clips);
  return call->clips != NULL;
}

static int read_clips(ext_state *state, ext_model *model, crowd_call *call, sk_clip *views) {
  Py_ssize_t i, count = PyTuple_Size(call->clips);
  for (i = 0; i < count; i++) {
    PyObject *clip = PyTuple_GetItem(call->clips, i);
    char argument[32];
    int found;
    PyOS_snprintf(argument, sizeof argument, "clips[%zd]", i);
    found = ext_find_clip(state, model, clip, argument, &views[i], &call->keep[i]);
    if (found < 0) return 0;
    if (!found) {
      PyErr_Format(PyExc_TypeError, "clips[%zd] is None; expected a Clip, a name or an index", i);
      return 0;
    }
    call->kept = i + 1;
    if (views[i].additive) {
      PyErr_Format(PyExc_ValueError, "clips[%zd] is %R, which is additive; expected clips that hold poses", i, clip);
      return 0;
    }
  }
  return 1;
}

/* Copies clips and arrays, so that other threads may change the caller's arrays while the job runs. */
static int fill_job(ext_state *state, ext_model *model, crowd_call *call) {
  sk_crowd_job *job = &call->job;
  Py_ssize_t rows = (Py_ssize_t)job->count, columns = (Py_ssize_t)job->slots;
  size_t cells = job->count * job->slots;
  size_t clip_bytes = job->clip_count * (sizeof(sk_clip) + sizeof(PyObject *));
  sk_clip *clips;
  double *times, *weights;
  int32_t *indices;
  call->memory = sk_alloc(clip_bytes + cells * (2 * sizeof(double) + sizeof(int32_t)));
  if (!call->memory) {
    PyErr_NoMemory();
    return 0;
  }
  clips = call->memory;
  call->keep = (PyObject **)(clips + job->clip_count);
  times = (double *)(call->keep + job->clip_count);
  weights = times + cells;
  indices = (int32_t *)(weights + cells);
  if (!read_clips(state, model, call, clips) || !ext_grid_integers(&call->grids[INDEX_GRID], rows, columns, indices))
    return 0;
  ext_grid_doubles(&call->grids[TIME_GRID], rows, columns, times);
  if (call->grids[WEIGHT_GRID].array.owner) ext_grid_doubles(&call->grids[WEIGHT_GRID], rows, columns, weights);
  job->clips = clips;
  job->times = times;
  job->weights = call->grids[WEIGHT_GRID].array.owner ? weights : NULL;
  job->clip_index = indices;
  job->scratch = sk_alloc(sk_crowd_scratch(job));
  if (!job->scratch) PyErr_NoMemory();
  return job->scratch != NULL;
}

static int read_options(PyObject *const *values, crowd_call *call) {
  int loop = ext_parse_word(values[LOOP], "loop", ext_loops, SK_LOOP_WRAP);
  int rotation = loop < 0 ? -1 : ext_parse_word(values[ROTATION], "rotation", ext_rotations, SK_SLERP);
  int inverse_root = rotation < 0 ? -1 : ext_parse_flag(values[INVERSE_ROOT], "inverse_root", 0);
  if (inverse_root < 0) return 0;
  call->job.loop = (sk_loop)loop;
  call->job.rotation = (sk_rotation)rotation;
  call->job.inverse_root = inverse_root;
  return 1;
}

/* Finds N and K by broadcasting clip_index, time and weights. */
static int read_grids(PyObject *const *values, crowd_call *call) {
  PyObject *objects[GRIDS] = {values[CLIP_INDEX], values[TIME], values[WEIGHTS]};
  Py_ssize_t rows, columns;
  if (values[WEIGHTS] == Py_None) objects[WEIGHT_GRID] = NULL;
  if (!ext_read_grids(objects, call->grids, GRIDS, &rows, &columns)) return 0;
  call->shape.ndim = 1;
  call->shape.dims[0] = call->shape.count = rows;
  call->job.count = (size_t)rows;
  call->job.slots = (size_t)columns;
  return 1;
}

/* Reads all arguments but `out`; 0 with an exception. */
static int open_call(ext_state *state, ext_model *model, PyObject *const *values, crowd_call *call) {
  const sk_model *core = &model->block->model;
  sk_crowd_job counts;
  sk_error error;
  memset(call, 0, sizeof *call);
  call->grids[INDEX_GRID] = (ext_grid){.name = "clip_index", .integers = true};
  call->grids[TIME_GRID] = (ext_grid){.name = "time"};
  call->grids[WEIGHT_GRID] = (ext_grid){.name = "weights"};
  call->job.skeleton = &core->skeleton;
  call->job.skin = &core->skin;
  call->job.morph = &core->morph;
  if (!read_options(values, call) || !open_clips(call, values[CLIPS]) || !read_grids(values, call)) return 0;
  counts = call->job;
  counts.count = 0; /* before memory for all instances is allocated */
  if (sk_crowd_validate(&counts, &error)) {
    ext_raise(state, &error, NULL);
    return 0;
  }
  if (!fill_job(state, model, call)) return 0;
  if (sk_crowd_validate(&call->job, &error)) {
    ext_raise(state, &error, NULL);
    return 0;
  }
  if (values[ROOT] && values[ROOT] != Py_None &&
      !ext_read_root(values[ROOT], &call->shape, &call->root, &call->job.root_stride))
    return 0;
  call->job.root = call->root.data;
  return 1;
}

/* ---- running ---------------------------------------------------------------------------------------- */

static void run_job(const sk_crowd_job *job) {
  double joints = (double)job->count * (double)job->skeleton->joint_count;
  if (JOINT_NANOSECONDS * joints * (double)job->slots < EXT_RELEASE_NANOSECONDS) {
    sk_crowd_run(job);
    return;
  }
  Py_BEGIN_ALLOW_THREADS sk_crowd_run(job);
  Py_END_ALLOW_THREADS
}

static PyObject *run_call(crowd_call *call, PyObject *out, PyObject *affine) {
  ext_array inputs[GRIDS + 1], result;
  int rows = ext_choose_affine(out, affine), i;
  Py_ssize_t tail[3] = {call->job.skin->slot_count, rows == 1 ? 3 : 4, 4};
  if (rows < 0) return NULL;
  for (i = 0; i < GRIDS; i++) inputs[i] = call->grids[i].array;
  inputs[GRIDS] = call->root;
  if (!ext_output(out, "out", &call->shape, tail, 3, inputs, GRIDS + 1, &result)) return NULL;
  call->job.affine = rows == 1;
  call->job.out = result.data;
  run_job(&call->job);
  return result.owner;
}

PyObject *ext_crowd_palette(PyObject *object, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                            PyObject *keywords) {
  static const ext_signature signature = {
      "crowd_palette",
      3,
      3,
      {"clips", "clip_index", "time", "weights", "out", "affine", "loop", "rotation", "root", "inverse_root", NULL}};
  PyObject *values[VALUES], *answer = NULL;
  crowd_call call;
  if (!ext_parse(&signature, args, count, keywords, values)) return NULL;
  if (open_call(ext_state_of_class(class), (ext_model *)object, values, &call))
    answer = run_call(&call, values[OUT], values[AFFINE]);
  close_call(&call);
  return answer;
}

const char ext_crowd_palette_doc[] =
    "crowd_palette($self, clips, clip_index, time, *, weights=None, out=None, affine=None, loop='wrap',\n"
    "              rotation='slerp', root=None, inverse_root=False)\n--\n\n"
    "Return the palettes of N instances, each with its own clips, times and weights.\n\n"
    "An instance blends K clips, from 1 to 4. `clip_index`, `time` and `weights` broadcast to (N, K), where\n"
    "(N,) counts as (N, 1): one time for each instance serves all its clips.\n\n"
    "Parameters\n----------\n"
    "clips : sequence of Clip, str or int\n"
    "    At most 65,535 clips of this model, their names or their indices; none of them additive.\n"
    "clip_index : array_like of int, shape (N,) or (N, K)\n"
    "    Indices into `clips`; -1 stands for no clip.\n"
    "time : array_like, shape (N,) or (N, K), seconds\n"
    "    The time in each clip; finite also for an index of -1.\n"
    "weights : array_like, shape (N,) or (N, K), optional\n"
    "    Weights from 0 to 1e30; finite also for an index of -1. By default the clips of an instance have\n"
    "    equal weights.\n" DOC_OUT DOC_AFFINE DOC_LOOP_AND_ROTATION
    "root : array_like, shape (4, 4) or (N, 4, 4), optional\n"
    "    A transform that is multiplied in front of the local transform of the root joint.\n" DOC_INVERSE_ROOT
    "\nReturns\n-------\n"
    "(N, S, 4, 4) float32 ndarray\n"
    "    Row-major matrices for column vectors.\n"
    "\nRaises\n------\n"
    "KeyError\n"
    "    If the model has no clip of a name. The message has the closest names.\n"
    "IndexError\n"
    "    If the model has no clip of an index.\n"
    "ValueError\n"
    "    If a shape does not fit, an index, time or weight is out of range (the message has the first one),\n"
    "    a clip is additive or belongs to another model, or an option is unknown.\n"
    "TypeError\n"
    "    If `clips` is not a sequence, an index is not an integer, or `out` is not an array.\n"
    "\nNotes\n-----\n"
    "The result is the palette of `blend` of the poses of the clips: weights are normalized, two clips are\n"
    "blended by lerp and nlerp, and the rotations of more by their mean. If the sum of the weights is below\n"
    "0.1, the rest pose has the weight that is missing to 0.1; if it is 0, or every index is -1, the result\n"
    "is the rest pose.\n";
