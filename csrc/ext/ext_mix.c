/* ext_mix.c: Model._mix_pose and Model._mix_palette, which blend layers of clips to one pose or its palette, and
   _blend, which blends poses.

      A layer is a tuple (mode, priority_blend, entries), and an entry a tuple (clip, time, weight, loop, mask,
   priority). mode, loop and priority are numbers of the core's enums, clip is a bound Clip or None (the rest pose),
   and mask is a float32 array (J,) or None. */
#include "../core/pose/sk_blend.h"

#include <string.h>

#include "ext_args.h"
#include "ext_error.h"
#include "ext_jobs.h"

/* ---- reading layers -------------------------------------------------------------------------- */

typedef struct mix_entry {
  sk_clip clip;
  bool has_clip;
  PyObject *keep; /* the clip's block */
  ext_array mask;
  double time, weight;
  sk_loop loop;
} mix_entry;

typedef struct mix_layer {
  sk_blend_mode mode;
  double priority_blend;
  size_t first, count;
} mix_layer;

/* Everything of one call. `memory` is one allocation for layers, entries and sources, and for the poses of the entries
   and of the result. */
typedef struct mix {
  const sk_model *model;
  mix_layer *layers;
  mix_entry *entries;
  sk_blend_source *sources;
  size_t layer_count, entry_count, entries_read;
  float *poses;
  void *memory;
} mix;

static void close_mix(mix *m) {
  size_t i;
  for (i = 0; i < m->entries_read; i++) {
    Py_XDECREF(m->entries[i].keep);
    ext_array_release(&m->entries[i].mask);
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

static int read_entry(ext_state *state, ext_model *model, PyObject *value, mix *m) {
  mix_entry *entry = &m->entries[m->entries_read];
  sk_blend_source *source = &m->sources[m->entries_read];
  int found, loop, priority;
  if (!PyTuple_Check(value) || PyTuple_Size(value) != 6) {
    PyErr_SetString(PyExc_TypeError, "an entry must be a tuple (clip, time, weight, loop, mask, priority)");
    return 0;
  }
  memset(entry, 0, sizeof *entry);
  m->entries_read++;
  found = ext_find_clip(state, model, PyTuple_GetItem(value, 0), "clip", &entry->clip, &entry->keep);
  if (found < 0) return 0;
  entry->has_clip = found;
  entry->time = PyFloat_AsDouble(PyTuple_GetItem(value, 1));
  entry->weight = PyErr_Occurred() ? 0.0 : PyFloat_AsDouble(PyTuple_GetItem(value, 2));
  if (PyErr_Occurred()) return 0;
  loop = read_number(PyTuple_GetItem(value, 3), SK_LOOP_COUNT, "loop");
  priority = loop < 0 ? -1 : read_number(PyTuple_GetItem(value, 5), SK_PRIORITY_COUNT, "priority");
  if (priority < 0 || !read_mask(PyTuple_GetItem(value, 4), m->model->skeleton.joint_count, &entry->mask)) return 0;
  entry->loop = (sk_loop)loop;
  *source =
      (sk_blend_source){mix_pose(m, m->entries_read - 1), &entry->weight, 0, entry->mask.data, (sk_priority)priority};
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
  return PyTuple_Check(value) && PyTuple_Size(value) == 3 && PyList_Check(PyTuple_GetItem(value, 2));
}

static int refuse_layers(void) {
  PyErr_SetString(PyExc_TypeError, "layers must be a list of tuples (mode, priority_blend, entries)");
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

static int read_layer(ext_state *state, ext_model *model, PyObject *value, mix_layer *layer, mix *m) {
  int mode = is_layer(value) ? read_number(PyTuple_GetItem(value, 0), SK_BLEND_MODE_COUNT, "mode") : refuse_layers();
  if (mode < 0) return 0;
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

static int open_mix(ext_state *state, ext_model *model, PyObject *layers, mix *m) {
  Py_ssize_t entries = count_entries(layers);
  size_t head, i;
  memset(m, 0, sizeof *m);
  if (entries < 0) return 0;
  m->model = &model->block->model;
  m->layer_count = (size_t)PyList_Size(layers);
  m->entry_count = (size_t)entries;
  head = m->layer_count * sizeof(mix_layer) + m->entry_count * (sizeof(mix_entry) + sizeof(sk_blend_source));
  m->memory = sk_alloc(head + (m->entry_count + 1) * pose_floats(m->model) * sizeof(float));
  if (!m->memory) {
    PyErr_NoMemory();
    return 0;
  }
  m->entries = m->memory; /* the type with the largest alignment comes first */
  m->sources = (sk_blend_source *)(m->entries + m->entry_count);
  m->layers = (mix_layer *)(m->sources + m->entry_count);
  m->poses = (float *)((char *)m->memory + head);
  for (i = 0; i < m->layer_count; i++)
    if (!read_next_layer(state, model, layers, i, m)) break;
  m->entry_count = m->entries_read;
  if (i == m->layer_count && check_entries(state, m)) return 1;
  close_mix(m);
  return 0;
}

/* ---- running ------------------------------------------------------------------------------------ */

static void run_mix(const mix *m, sk_pose result) {
  const sk_skeleton *skeleton = &m->model->skeleton;
  sk_sampling sampling = {skeleton, NULL, SK_LOOP_WRAP, SK_SLERP, &m->model->morph};
  size_t i;
  for (i = 0; i < m->entry_count; i++) {
    const mix_entry *entry = &m->entries[i];
    sampling.clip = entry->has_clip ? &entry->clip : NULL;
    sampling.loop = entry->loop;
    if (entry->weight > 0.0) sk_sample_one(&sampling, entry->time, mix_pose(m, i));
  }
  sampling.clip = NULL;
  if (m->layer_count == 0 || m->layers[0].mode != SK_BLEND_BASE) sk_sample_one(&sampling, 0.0, result);
  for (i = 0; i < m->layer_count; i++) {
    const mix_layer *layer = &m->layers[i];
    sk_blend_job job = {skeleton,    &m->model->morph,      1,     m->sources + layer->first, layer->count,
                        layer->mode, layer->priority_blend, result};
    sk_blend_run(&job);
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
  *source = (sk_blend_source){input->pose.pose, input->weights.data, weights.count == shape->count, input->mask.data,
                              SK_PRIORITY_LOW};
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
