/* ext_deform.c: Model.deform, which computes positions and normals of the mesh from a palette or a Pose. */
#include <string.h>

#include "../core/base/sk_cpu.h"
#include "ext_args.h"
#include "ext_jobs.h"

/* The palettes: given by the caller, or computed pose by pose into one palette of scratch memory. */
typedef struct palette_source {
  ext_array palette, weights; /* weights: the argument; a Pose has its own */
  size_t weight_stride;
  int rows;
  ext_pose_arrays pose;
  bool is_pose;
  ext_shape shape;
} palette_source;

static void close_source(palette_source *source) {
  if (source->is_pose) ext_pose_close(&source->pose);
  ext_array_release(&source->palette);
  ext_array_release(&source->weights);
}

static int open_pose(ext_model *model, ext_pose *pose, PyObject *weights, palette_source *source) {
  if (!ext_same_rig(pose->block, model->block)) {
    PyErr_SetString(PyExc_ValueError,
                    "pose_or_palette is a pose of another model; expected one that this model's pose() made");
    return 0;
  }
  if (weights && weights != Py_None) {
    PyErr_SetString(PyExc_ValueError, "morph_weights goes with a palette; a pose has its own, pose.morph_weights");
    return 0;
  }
  if (!ext_pose_open(pose, &source->pose)) return 0;
  source->is_pose = true;
  source->shape = source->pose.shape;
  return 1;
}

static int open_source(ext_state *state, ext_model *model, PyObject *object, PyObject *weights,
                       palette_source *source) {
  const sk_model *core = &model->block->model;
  memset(&source->palette, 0, sizeof source->palette);
  memset(&source->weights, 0, sizeof source->weights);
  source->rows = 3;
  source->is_pose = false;
  if (PyObject_TypeCheck(object, (PyTypeObject *)state->pose_type))
    return open_pose(model, (ext_pose *)object, weights, source);
  if (!ext_read_palette(object, core->skin.slot_count, &source->palette, &source->shape, &source->rows)) return 0;
  if (!weights || weights == Py_None ||
      ext_read_weights(weights, &source->shape, core->morph.target_count, &source->weights, &source->weight_stride))
    return 1;
  close_source(source);
  return 0;
}

/* Splits the argument `out`: None, or a tuple of two arrays, of which the second may be None if no normals are
   wanted. */
static int split_out(PyObject *out, int wants_normals, PyObject **positions, PyObject **normals) {
  *positions = *normals = NULL;
  if (!out || out == Py_None) return 1;
  if (!PyTuple_Check(out) || PyTuple_Size(out) != 2) {
    ext_refuse(PyExc_TypeError, "out", out, "a tuple (positions, normals) of two arrays");
    return 0;
  }
  *positions = PyTuple_GetItem(out, 0);
  *normals = PyTuple_GetItem(out, 1);
  if (*positions == Py_None || (wants_normals && *normals == Py_None)) {
    PyErr_Format(PyExc_TypeError, "out[%d] is None; expected a numpy.ndarray", *positions != Py_None);
    return 0;
  }
  return 1;
}

/* No result may overlap an input or the other result. */
static int open_results(PyObject *out, int normals, const palette_source *source, Py_ssize_t vertices,
                        ext_array *results) {
  Py_ssize_t tail[2] = {vertices, 3};
  ext_array inputs[EXT_POSE_ARRAYS + 1] = {{0}};
  PyObject *positions, *directions;
  memset(results, 0, 2 * sizeof *results);
  if (source->is_pose) memcpy(inputs, source->pose.arrays, sizeof source->pose.arrays);
  else inputs[0] = source->palette, inputs[1] = source->weights;
  if (!split_out(out, normals, &positions, &directions) ||
      !ext_output(positions, "out[0]", &source->shape, tail, 2, inputs, EXT_POSE_ARRAYS, &results[0]))
    return 0;
  inputs[EXT_POSE_ARRAYS] = results[0];
  return !normals ||
         ext_output(directions, "out[1]", &source->shape, tail, 2, inputs, EXT_POSE_ARRAYS + 1, &results[1]);
}

/* Returns the influences of the mesh as the SIMD kernel needs them. They are made at the first use and owned by the
   block. Returns NULL if no kernel is in use or there is no memory; the plain path needs none. */
static const sk_influences *find_influences(ext_block *block) {
  sk_influences *made, *kept = atomic_load_explicit(&block->influences, memory_order_acquire);
  if (kept || sk_simd_chosen() == SK_SIMD_PLAIN) return kept;
  made = sk_influences_make(&block->model.mesh, (size_t)block->model.skin.slot_count);
  if (!made || atomic_compare_exchange_strong(&block->influences, &kept, made)) return made;
  sk_free(made); /* another thread was faster */
  return kept;
}

typedef struct deform_work {
  sk_deform_job deform;
  sk_palette_job poses;
  float *weights; /* the default weights of the file, or NULL */
} deform_work;

static int fill_weights(const sk_model *core, const palette_source *source, deform_work *work) {
  size_t targets = (size_t)core->morph.target_count;
  if (!targets) return 1;
  work->deform.morph = &core->morph;
  if (source->is_pose) {
    work->deform.weights = source->pose.pose.weights;
    work->deform.weight_stride = targets;
  } else if (source->weights.owner) {
    work->deform.weights = source->weights.data;
    work->deform.weight_stride = source->weight_stride;
  } else {
    work->weights = sk_alloc(targets * sizeof(float));
    if (!work->weights) {
      PyErr_NoMemory();
      return 0;
    }
    sk_morph_default_weights(&core->morph, work->weights);
    work->deform.weights = work->weights;
  }
  return 1;
}

static int fill_work(const sk_model *core, const palette_source *source, const ext_array *results, deform_work *work) {
  memset(work, 0, sizeof *work);
  work->deform.mesh = &core->mesh;
  work->deform.slot_count = (size_t)core->skin.slot_count;
  work->deform.count = (size_t)source->shape.count;
  work->deform.positions = results[0].data;
  work->deform.normals = results[1].data;
  work->deform.palettes = source->palette.data;
  work->deform.matrix_floats = source->rows == 3 ? 12 : 16;
  if (source->is_pose) {
    work->deform.poses = &work->poses;
    work->poses.skeleton = &core->skeleton;
    work->poses.skin = &core->skin;
    work->poses.poses = source->pose.pose;
    work->poses.root = source->pose.arrays[EXT_ROOT].data;
    work->poses.root_stride = source->pose.root_stride;
  }
  return fill_weights(core, source, work);
}

static int run_work(ext_block *block, deform_work *work) {
  sk_deform_job *job = &work->deform;
  Py_BEGIN_ALLOW_THREADS job->influences = find_influences(block);
  job->scratch = sk_alloc(sk_deform_scratch(job));
  if (job->scratch) sk_deform_run(job);
  Py_END_ALLOW_THREADS if (!job->scratch) {
    PyErr_NoMemory();
    return 0;
  }
  sk_free(job->scratch);
  return 1;
}

PyObject *ext_deform(PyObject *object, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                     PyObject *keywords) {
  static const ext_signature signature = {"deform", 1, 1, {"pose_or_palette", "normals", "out", "morph_weights", NULL}};
  ext_model *model = (ext_model *)object;
  palette_source source;
  ext_array results[2];
  deform_work work;
  PyObject *values[4], *answer = NULL;
  int normals;
  if (!ext_parse(&signature, args, count, keywords, values)) return NULL;
  normals = ext_parse_flag(values[1], "normals", 1);
  if (normals < 0 || !open_source(ext_state_of_class(class), model, values[0], values[3], &source)) return NULL;
  if (open_results(values[2], normals, &source, (Py_ssize_t)model->block->model.mesh.vertex_count, results) &&
      fill_work(&model->block->model, &source, results, &work)) {
    if (run_work(model->block, &work))
      answer = PyTuple_Pack(2, results[0].owner, results[1].owner ? results[1].owner : Py_None);
    sk_free(work.weights);
  }
  ext_array_release(&results[0]);
  ext_array_release(&results[1]);
  close_source(&source);
  return answer;
}

const char ext_deform_doc[] =
    "deform($self, pose_or_palette, *, morph_weights=None, normals=True, out=None)\n--\n\n"
    "Return the vertices of the mesh, skinned on the CPU.\n\n"
    "Parameters\n----------\n"
    "pose_or_palette : Pose or array_like, shape (..., S, 4, 4) or (..., S, 3, 4)\n"
    "    A pose of this model, or a palette that was made without ``inverse_root``.\n"
    "morph_weights : array_like, shape (M,) or (..., M), optional\n"
    "    Weights of the morph targets for a palette, by default those of the file. A pose has its own.\n"
    "normals : bool, default True\n"
    "    Whether normals are computed too.\n"
    "out : tuple of 2 ndarray, optional\n"
    "    Writable, C-contiguous float32 arrays (positions, normals), which are overwritten and returned.\n"
    "\nReturns\n-------\n"
    "positions : (..., V, 3) float32 ndarray\n"
    "    Positions of the vertices in scene space.\n"
    "normals : (..., V, 3) float32 ndarray or None\n"
    "    Normals of length 1; a result of 0 stays 0. None without `normals`.\n"
    "\nRaises\n------\n"
    "ValueError\n"
    "    If a shape is wrong, a number is not finite, the pose belongs to another model, or `out` does not\n"
    "    fit.\n"
    "TypeError\n"
    "    If an argument has the wrong type.\n"
    "\nNotes\n-----\n"
    "``position[v] = (sum over k of weights[v,k] * palette[slots[v,k]]) * vertex[v]``. Normals are\n"
    "transformed by the inverse transpose of the blended 3x3 matrix. Morph targets are added before the\n"
    "skin is applied.\n";
