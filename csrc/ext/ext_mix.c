/* ext_mix.c: Model._mix_pose and Model._mix_palette, which blend layers of clips to one pose or its palette, and
   _blend, which blends poses.

      A layer is a tuple (mode, priority_blend, entries[, fades]), and an entry a tuple (clip, time, weight, loop, mask,
   priority[, signs[, plane]]). mode, loop and priority are numbers of the core's enums, plane is that of
   sk_blend_source, clip is a bound Clip, None (the rest pose) or a given pose: a float32 array of its T, R, S and morph
   weights. mask is a float32 array (J,) or None.

      signs and fades are for what must not jump in time (sk_mix.h). Signs are a float32 array (2, J, 4) or None: its
   first half is read, its second half written. fades are None or a tuple (cover, inertia, seconds, span) of signs or
   None, a float32 array (3 J + M, 8) or None, and two numbers. */
#include "../core/pose/sk_mix.h"

#include <string.h>

#include "ext_args.h"
#include "ext_error.h"
#include "ext_jobs.h"

/* ---- reading layers -------------------------------------------------------------------------- */

typedef struct mix_entry {
  sk_clip clip;
  bool has_clip;
  PyObject *keep; /* the clip's block */
  ext_array mask, signs, given;
  double time, weight;
  sk_loop loop;
} mix_entry;

typedef struct mix_layer {
  sk_blend_mode mode;
  double priority_blend;
  size_t first, count;
  ext_array cover, inertia;
  double seconds, span;
} mix_layer;

/* Everything of one call. `memory` is one allocation for all arrays. `poses` are those of the entries, of the result and
   of the scratch memory. */
typedef struct mix {
  const sk_model *model;
  mix_layer *layers;
  mix_entry *entries;
  sk_blend_source *sources;
  sk_signs *signs;
  sk_mix_scratch scratch;
  size_t layer_count, layers_read, entry_count, entries_read;
  float *poses;
  void *memory;
} mix;

static void close_mix(mix *m) {
  size_t i;
  for (i = 0; i < m->entries_read; i++) {
    Py_XDECREF(m->entries[i].keep);
    ext_array_release(&m->entries[i].mask);
    ext_array_release(&m->entries[i].signs);
    ext_array_release(&m->entries[i].given);
  }
  for (i = 0; i < m->layers_read; i++) {
    ext_array_release(&m->layers[i].cover);
    ext_array_release(&m->layers[i].inertia);
  }
  sk_free(m->memory);
}

static size_t pose_floats(const sk_model *model) {
  return (size_t)model->skeleton.joint_count * 10 + (size_t)model->morph.target_count;
}

static sk_pose mix_pose(const mix *m, size_t number) {
  size_t joints = (size_t)m->model->skeleton.joint_count;
  float *first = m->poses + number * pose_floats(m->model);
  return (sk_pose){first, first + 3 * joints, first + 7 * joints, first + 10 * joints};
}

/* Reads a number of an enum with `count` members; -1 with an exception. */
static int read_number(PyObject *value, int count, const char *what) {
  long number = PyLong_AsLong(value);
  if (number >= 0 && number < count) return (int)number;
  if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "%s is %ld; expected 0 to %d", what, number, count - 1);
  return -1;
}

static int read_mask(PyObject *value, Py_ssize_t joints, ext_array *mask) {
  ext_shape shape;
  if (value == Py_None) return 1;
  if (!ext_read_own(value, "mask", &joints, 1, NULL, mask, &shape)) return 0;
  if (shape.ndim == 0) return 1;
  PyErr_Format(PyExc_ValueError, "mask has more than one axis; expected (%zd,)", joints);
  return 0;
}

/* Reads an array of `rows` of `columns` numbers; a job writes to signs, which have an axis of 2 before that. */
static int read_rows(PyObject *value, const char *name, bool is_signs, Py_ssize_t rows, Py_ssize_t columns,
                     ext_array *array) {
  Py_ssize_t tail[3] = {2, rows, columns};
  ext_shape shape;
  if (value == Py_None) return 1;
  if (!ext_read_own(value, name, is_signs ? tail : tail + 1, is_signs ? 3 : 2, NULL, array, &shape)) return 0;
  if (shape.ndim == 0 && (!is_signs || ext_is_writable(array))) return 1;
  PyErr_Format(PyExc_ValueError, "%s has more axes than it should, or cannot be written", name);
  return 0;
}

/* Reads what an entry plays: 1, or 0 with an exception. */
static int read_motion(ext_state *state, ext_model *model, PyObject *value, const mix *m, mix_entry *entry) {
  Py_ssize_t floats = (Py_ssize_t)pose_floats(m->model);
  ext_shape shape;
  if (value != Py_None && !PyObject_TypeCheck(value, (PyTypeObject *)state->clip_type) && !PyUnicode_Check(value) &&
      !PyLong_Check(value))
    return ext_read_own(value, "given", &floats, 1, NULL, &entry->given, &shape);
  entry->has_clip = ext_find_clip(state, model, value, "clip", &entry->clip, &entry->keep) == 1;
  return !PyErr_Occurred();
}

static int read_entry(ext_state *state, ext_model *model, PyObject *value, mix *m) {
  mix_entry *entry = &m->entries[m->entries_read];
  sk_blend_source *source = &m->sources[m->entries_read];
  Py_ssize_t joints = m->model->skeleton.joint_count, size = PyTuple_Check(value) ? PyTuple_Size(value) : 0;
  int loop, priority, plane;
  if (size < 6 || size > 8) {
    PyErr_SetString(PyExc_TypeError,
                    "an entry must be a tuple (clip, time, weight, loop, mask, priority[, signs[, plane]])");
    return 0;
  }
  memset(entry, 0, sizeof *entry);
  m->entries_read++;
  if (!read_motion(state, model, PyTuple_GetItem(value, 0), m, entry)) return 0;
  if (size > 6 && !read_rows(PyTuple_GetItem(value, 6), "signs", true, joints, 4, &entry->signs)) return 0;
  m->signs[m->entries_read - 1] = entry->signs.data;
  plane = size > 7 ? PyObject_IsTrue(PyTuple_GetItem(value, 7)) : 0;
  if (plane < 0) return 0;
  entry->time = PyFloat_AsDouble(PyTuple_GetItem(value, 1));
  entry->weight = PyErr_Occurred() ? 0.0 : PyFloat_AsDouble(PyTuple_GetItem(value, 2));
  if (PyErr_Occurred()) return 0;
  loop = read_number(PyTuple_GetItem(value, 3), SK_LOOP_COUNT, "loop");
  priority = loop < 0 ? -1 : read_number(PyTuple_GetItem(value, 5), SK_PRIORITY_COUNT, "priority");
  if (priority < 0 || !read_mask(PyTuple_GetItem(value, 4), joints, &entry->mask)) return 0;
  entry->loop = (sk_loop)loop;
  *source = (sk_blend_source){
      mix_pose(m, m->entries_read - 1), &entry->weight, 0, entry->mask.data, (sk_priority)priority, plane};
  return 1;
}

static int check_entries(ext_state *state, const mix *m) {
  sk_error error;
  size_t i;
  for (i = 0; i < m->entry_count; i++)
    if (sk_times_validate(&m->entries[i].time, 1, &error) || sk_weights_validate(&m->entries[i].weight, 1, &error)) {
      ext_raise(state, &error, NULL);
      return 0;
    }
  return 1;
}

static int is_layer(PyObject *value) {
  Py_ssize_t size = PyTuple_Check(value) ? PyTuple_Size(value) : 0;
  return (size == 3 || size == 4) && PyList_Check(PyTuple_GetItem(value, 2));
}

static int refuse_layers(void) {
  PyErr_SetString(PyExc_TypeError, "layers must be a list of tuples (mode, priority_blend, entries[, fades])");
  return -1;
}

/* The entries were counted before, but another thread may change the lists at any time. */
static int read_entries(ext_state *state, ext_model *model, PyObject *entries, mix_layer *layer, mix *m) {
  Py_ssize_t i, count = PyList_Size(entries);
  layer->first = m->entries_read;
  layer->count = (size_t)count;
  if (layer->count > m->entry_count - m->entries_read) {
    PyErr_SetString(PyExc_RuntimeError, "layers became longer while they were read");
    return 0;
  }
  for (i = 0; i < count; i++) {
    PyObject *entry = ext_list_item(entries, i);
    int read = entry && read_entry(state, model, entry, m);
    Py_XDECREF(entry);
    if (!read) return 0;
  }
  return 1;
}

static int read_fades(PyObject *value, mix_layer *layer, const mix *m) {
  Py_ssize_t joints = m->model->skeleton.joint_count, rows = 3 * joints + m->model->morph.target_count;
  if (value == Py_None) return 1;
  if (!PyTuple_Check(value) || PyTuple_Size(value) != 4) {
    PyErr_SetString(PyExc_TypeError, "fades must be a tuple (cover, inertia, seconds, span)");
    return 0;
  }
  layer->seconds = PyFloat_AsDouble(PyTuple_GetItem(value, 2));
  layer->span = PyErr_Occurred() ? 0.0 : PyFloat_AsDouble(PyTuple_GetItem(value, 3));
  return !PyErr_Occurred() && read_rows(PyTuple_GetItem(value, 0), "cover", true, joints, 4, &layer->cover) &&
         read_rows(PyTuple_GetItem(value, 1), "inertia", false, rows, sizeof(sk_inertia) / sizeof(float),
                   &layer->inertia);
}

static int read_layer(ext_state *state, ext_model *model, PyObject *value, mix_layer *layer, mix *m) {
  int mode = is_layer(value) ? read_number(PyTuple_GetItem(value, 0), SK_BLEND_MODE_COUNT, "mode") : refuse_layers();
  memset(layer, 0, sizeof *layer);
  m->layers_read++;
  if (mode < 0 || (PyTuple_Size(value) == 4 && !read_fades(PyTuple_GetItem(value, 3), layer, m))) return 0;
  layer->mode = (sk_blend_mode)mode;
  layer->priority_blend = PyFloat_AsDouble(PyTuple_GetItem(value, 1));
  if (PyErr_Occurred()) return 0;
  if (!(layer->priority_blend >= 0.0 && layer->priority_blend <= 1.0)) {
    PyErr_SetString(PyExc_ValueError, "priority_blend must be from 0 to 1");
    return 0;
  }
  return read_entries(state, model, PyTuple_GetItem(value, 2), layer, m);
}

/* Reads layer `i` of the list. */
static int read_next_layer(ext_state *state, ext_model *model, PyObject *layers, size_t i, mix *m) {
  PyObject *layer = ext_list_item(layers, (Py_ssize_t)i);
  int read = layer && read_layer(state, model, layer, &m->layers[i], m);
  Py_XDECREF(layer);
  return read;
}

/* Counts the entries of all layers; -1 with an exception if `layers` is not a list of layers. */
static Py_ssize_t count_entries(PyObject *layers) {
  Py_ssize_t i, count = 0;
  for (i = 0; PyList_Check(layers) && i < PyList_Size(layers); i++) {
    PyObject *layer = ext_list_item(layers, i);
    int good = layer && is_layer(layer);
    if (good) count += PyList_Size(PyTuple_GetItem(layer, 2));
    Py_XDECREF(layer);
    if (!good) break;
  }
  return PyList_Check(layers) && i == PyList_Size(layers) ? count : refuse_layers();
}

/* Allocates all memory: first the types with the largest alignment. */
static int allocate(mix *m) {
  size_t joints = (size_t)m->model->skeleton.joint_count, floats = pose_floats(m->model);
  size_t of_entry = sizeof(mix_entry) + 2 * sizeof(sk_blend_source) + sizeof(sk_signs) + sizeof(double);
  size_t head = m->layer_count * sizeof(mix_layer) + m->entry_count * of_entry;
  m->memory = sk_alloc(head + ((m->entry_count + 2) * floats + 4 * joints) * sizeof(float));
  if (!m->memory) return 0;
  m->entries = m->memory;
  m->layers = (mix_layer *)(m->entries + m->entry_count);
  m->sources = (sk_blend_source *)(m->layers + m->layer_count);
  m->scratch.sources = m->sources + m->entry_count;
  m->signs = (sk_signs *)(m->scratch.sources + m->entry_count);
  m->scratch.weights = (double *)(m->signs + m->entry_count);
  m->poses = (float *)((char *)m->memory + head);
  m->scratch.pose = mix_pose(m, m->entry_count + 1);
  m->scratch.masks = m->poses + (m->entry_count + 2) * floats;
  return 1;
}

static int open_mix(ext_state *state, ext_model *model, PyObject *layers, mix *m) {
  Py_ssize_t entries = count_entries(layers);
  size_t i;
  memset(m, 0, sizeof *m);
  if (entries < 0) return 0;
  m->model = &model->block->model;
  m->layer_count = (size_t)PyList_Size(layers);
  m->entry_count = (size_t)entries;
  if (!allocate(m)) {
    PyErr_NoMemory();
    return 0;
  }
  for (i = 0; i < m->layer_count; i++)
    if (!read_next_layer(state, model, layers, i, m)) break;
  m->entry_count = m->entries_read;
  if (i == m->layer_count && check_entries(state, m)) return 1;
  close_mix(m);
  return 0;
}

/* ---- running ------------------------------------------------------------------------------------ */

/* Fills the poses of the entries of a layer. Those of no weight are needed too where one of them is to fade in. */
static void sample_layer(const mix *m, const mix_layer *layer) {
  sk_sampling sampling = {&m->model->skeleton, NULL, SK_LOOP_WRAP, SK_SLERP, &m->model->morph};
  bool all = layer->cover.data != NULL;
  size_t i;
  for (i = 0; i < layer->count; i++) all = all || m->signs[layer->first + i];
  for (i = layer->first; i < layer->first + layer->count; i++) {
    const mix_entry *entry = &m->entries[i];
    sampling.clip = entry->has_clip ? &entry->clip : NULL;
    sampling.loop = entry->loop;
    if (entry->given.data) memcpy(mix_pose(m, i).translation, entry->given.data, pose_floats(m->model) * sizeof(float));
    else if (all || entry->weight > 0.0) sk_sample_one(&sampling, entry->time, mix_pose(m, i));
  }
}

static void run_mix(const mix *m, sk_pose result) {
  const sk_skeleton *skeleton = &m->model->skeleton;
  sk_sampling rest = {skeleton, NULL, SK_LOOP_WRAP, SK_SLERP, &m->model->morph};
  size_t i;
  if (m->layer_count == 0 || m->layers[0].mode != SK_BLEND_BASE) sk_sample_one(&rest, 0.0, result);
  for (i = 0; i < m->layer_count; i++) {
    const mix_layer *layer = &m->layers[i];
    sk_mix_layer job = {{skeleton, &m->model->morph, 1, m->sources + layer->first, layer->count, layer->mode,
                         layer->priority_blend, result},
                        m->signs + layer->first,
                        layer->cover.data,
                        layer->inertia.data,
                        layer->seconds,
                        layer->span};
    sample_layer(m, layer);
    sk_mix_run(&job, &m->scratch);
  }
}

PyObject *ext_mix_pose(PyObject *object, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                       PyObject *keywords) {
  static const ext_signature signature = {"_mix_pose", 2, 2, {"layers", "pose", NULL}};
  ext_state *state = ext_state_of_class(class);
  ext_pose_arrays arrays;
  PyObject *values[2];
  mix m;
  if (!ext_parse(&signature, args, count, keywords, values)) return NULL;
  if (!PyObject_TypeCheck(values[1], (PyTypeObject *)state->pose_type) ||
      !ext_same_rig(((ext_pose *)values[1])->block, ((ext_model *)object)->block)) {
    PyErr_SetString(PyExc_TypeError, "pose must be a Pose of this model");
    return NULL;
  }
  if (!ext_pose_open((ext_pose *)values[1], &arrays)) return NULL;
  if (arrays.shape.ndim != 0) {
    PyErr_SetString(PyExc_ValueError, "pose has leading axes; expected one pose");
  } else if (open_mix(state, (ext_model *)object, values[0], &m)) {
    run_mix(&m, arrays.pose);
    close_mix(&m);
  }
  ext_pose_close(&arrays);
  return PyErr_Occurred() ? NULL : Py_NewRef(values[1]);
}

PyObject *ext_mix_palette(PyObject *object, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                          PyObject *keywords) {
  static const ext_signature signature = {
      "_mix_palette", 1, 2, {"layers", "out", "affine", "root", "inverse_root", NULL}};
  ext_model *model = (ext_model *)object;
  PyObject *values[5], *answer = NULL;
  ext_array root = {0};
  ext_shape shape = {0};
  sk_palette_job job = {0};
  mix m;
  int inverse_root;
  shape.count = 1;
  if (!ext_parse(&signature, args, count, keywords, values)) return NULL;
  inverse_root = ext_parse_flag(values[4], "inverse_root", 0);
  if (inverse_root < 0) return NULL;
  if (values[3] && values[3] != Py_None && !ext_read_root(values[3], &shape, &root, &job.root_stride)) return NULL;
  if (open_mix(ext_state_of_class(class), model, values[0], &m)) {
    job.skeleton = &m.model->skeleton;
    job.skin = &m.model->skin;
    job.poses = mix_pose(&m, m.entry_count);
    job.root = root.data;
    job.inverse_root = inverse_root;
    job.result = SK_PALETTE;
    run_mix(&m, job.poses);
    answer = ext_run_palette(&job, &shape, values[1], values[2], &root, 1);
    close_mix(&m);
  }
  ext_array_release(&root);
  return answer;
}

/* ---- given poses --------------------------------------------------------------------------------- */

typedef struct blend_input {
  ext_pose_arrays pose;
  ext_array weights, mask;
} blend_input;

static void close_inputs(blend_input *inputs, Py_ssize_t count) {
  Py_ssize_t i;
  for (i = 0; i < count; i++) {
    ext_pose_close(&inputs[i].pose);
    ext_array_release(&inputs[i].weights);
    ext_array_release(&inputs[i].mask);
  }
}

/* Reads one pose with its mask and its weights, float64 of shape () or of the poses' leading axes. */
static int read_input(ext_state *state, ext_pose *result, PyObject *const *values, const ext_shape *shape,
                      blend_input *input, sk_blend_source *source) {
  double single;
  ext_shape weights;
  sk_error error;
  if (!ext_same_rig(((ext_pose *)values[0])->block, result->block) ||
      !ext_pose_open((ext_pose *)values[0], &input->pose)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "poses must be of the same model");
    return 0;
  }
  if (input->pose.shape.count != shape->count) {
    PyErr_SetString(PyExc_ValueError, "poses must have the same leading axes");
    return 0;
  }
  if (!ext_read_times(values[1], &input->weights, &weights, &single) ||
      !read_mask(values[2], result->block->model.skeleton.joint_count, &input->mask))
    return 0;
  if (!input->weights.owner || (weights.count != 1 && weights.count != shape->count)) {
    PyErr_SetString(PyExc_ValueError, "weights must be arrays of one number for all or one for each pose");
    return 0;
  }
  if (sk_weights_validate(input->weights.data, (size_t)weights.count, &error)) {
    ext_raise(state, &error, NULL);
    return 0;
  }
  *source = (sk_blend_source){input->pose.pose, input->weights.data, weights.count == shape->count,
                              input->mask.data, SK_PRIORITY_LOW,     false};
  return 1;
}

/* Reads item `i` of the three lists. */
static int read_next_input(ext_state *state, ext_pose *result, PyObject *const *lists, Py_ssize_t i,
                           const ext_shape *shape, blend_input *input, sk_blend_source *source) {
  PyObject *values[3] = {NULL};
  int k, read = 1;
  for (k = 0; k < 3 && read; k++) read = (values[k] = ext_list_item(lists[k], i)) != NULL;
  if (read && !PyObject_TypeCheck(values[0], (PyTypeObject *)state->pose_type)) {
    char argument[32];
    PyOS_snprintf(argument, sizeof argument, "poses[%zd]", i);
    ext_refuse_type(argument, values[0], "a Pose");
    read = 0;
  }
  if (read) read = read_input(state, result, values, shape, input, source);
  for (k = 0; k < 3; k++) Py_XDECREF(values[k]);
  return read;
}

static void run_blend(const sk_blend_job *job) {
  double work = 100.0 * (double)job->count * (double)job->skeleton->joint_count * (double)job->source_count;
  if (work < EXT_RELEASE_NANOSECONDS) {
    sk_blend_run(job);
    return;
  }
  Py_BEGIN_ALLOW_THREADS sk_blend_run(job);
  Py_END_ALLOW_THREADS
}

PyObject *ext_blend(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  static const ext_signature signature = {"_blend", 4, 4, {"result", "poses", "weights", "masks", NULL}};
  ext_state *state = ext_state_of_module(module);
  PyObject *values[4], *answer = NULL;
  ext_pose_arrays result;
  sk_blend_source *sources;
  blend_input *inputs;
  Py_ssize_t n, i = 0;
  if (!ext_parse(&signature, args, count, keywords, values)) return NULL;
  if (!PyObject_TypeCheck(values[0], (PyTypeObject *)state->pose_type) || !PyList_Check(values[1]) ||
      !PyList_Check(values[2]) || !PyList_Check(values[3]) || PyList_Size(values[2]) != PyList_Size(values[1]) ||
      PyList_Size(values[3]) != PyList_Size(values[1])) {
    PyErr_SetString(PyExc_TypeError, "expected a Pose and three lists of the same length");
    return NULL;
  }
  if (!ext_pose_open((ext_pose *)values[0], &result)) return NULL;
  n = PyList_Size(values[1]);
  inputs = sk_alloc((size_t)(n ? n : 1) * (sizeof *inputs + sizeof *sources));
  if (!inputs) {
    ext_pose_close(&result);
    return PyErr_NoMemory();
  }
  memset(inputs, 0, (size_t)n * sizeof *inputs);
  sources = (sk_blend_source *)(inputs + n);
  for (i = 0; i < n; i++)
    if (!read_next_input(state, (ext_pose *)values[0], values + 1, i, &result.shape, &inputs[i], &sources[i])) break;
  if (i == n) {
    const sk_model *model = &((ext_pose *)values[0])->block->model;
    sk_blend_job job = {
        &model->skeleton, &model->morph, (size_t)result.shape.count, sources, (size_t)n, SK_BLEND_BASE, 0.5,
        result.pose};
    run_blend(&job);
    answer = Py_NewRef(values[0]);
  }
  close_inputs(inputs, n);
  sk_free(inputs);
  ext_pose_close(&result);
  return answer;
}
