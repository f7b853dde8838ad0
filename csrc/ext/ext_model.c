/* ext_model.c: the base type of skinpy.Model, with the jobs that need only a clip and times. */
#include <string.h>

#include "../core/base/sk_threads.h"
#include "ext_args.h"
#include "ext_docs.h"
#include "ext_error.h"
#include "ext_jobs.h"

/* ---- making -------------------------------------------------------------------------------- */

/* Checks a tuple (name, Block, index) of a clip for the model of `block`. */
static int check_clip(ext_state *state, ext_block *block, PyObject *entry) {
  PyObject *name, *own;
  unsigned index;
  if (!PyTuple_Check(entry) || !PyArg_ParseTuple(entry, "UO!I:Model", &name, state->block_type, &own, &index)) {
    PyErr_Clear();
    ext_refuse(PyExc_TypeError, "clip", entry, "a tuple (name, Block, index)");
    return -1;
  }
  if (index >= ((ext_block *)own)->model.clip_count) {
    PyErr_Format(PyExc_IndexError, "index is %u; expected less than %u, the number of clips of the block", index,
                 ((ext_block *)own)->model.clip_count);
    return -1;
  }
  return ext_check_counts((ext_block *)own, block) ? 0 : -1;
}

/* Notes the number of the clip by its name in the dict `numbers`; the first clip of a name counts. */
static int note_number(PyObject *numbers, PyObject *entry, Py_ssize_t number) {
  PyObject *noted = PyLong_FromSsize_t(number);
  int known = noted ? PyDict_Contains(numbers, PyTuple_GetItem(entry, 0)) : -1;
  if (known == 0) known = PyDict_SetItem(numbers, PyTuple_GetItem(entry, 0), noted);
  Py_XDECREF(noted);
  return known < 0 ? -1 : 0;
}

/* Returns a new tuple of the clips of the block, as model->clips has them, and fills `numbers`. */
static PyObject *own_clips(ext_block *block, PyObject *numbers) {
  Py_ssize_t i, count = (Py_ssize_t)block->model.clip_count;
  PyObject *names = ext_clip_names(block), *clips = names ? PyTuple_New(count) : NULL;
  for (i = 0; clips && i < count; i++) {
    PyObject *entry = Py_BuildValue("(OOn)", PyTuple_GetItem(names, i), block, i);
    if (entry) PyTuple_SetItem(clips, i, entry);
    if (!entry || note_number(numbers, entry, i)) Py_CLEAR(clips);
  }
  Py_XDECREF(names);
  return clips;
}

/* Returns a new tuple of clips of any blocks, checked, and fills `numbers`. */
static PyObject *given_clips(ext_state *state, ext_block *block, PyObject *given, PyObject *numbers) {
  PyObject *clips = PySequence_Check(given) ? PySequence_Tuple(given) : NULL;
  Py_ssize_t i, count = clips ? PyTuple_Size(clips) : 0;
  if (!clips && !PyErr_Occurred())
    ext_refuse(PyExc_TypeError, "clips", given, "a tuple of tuples (name, Block, index)");
  for (i = 0; clips && i < count; i++) {
    PyObject *entry = PyTuple_GetItem(clips, i);
    if (check_clip(state, block, entry) || note_number(numbers, entry, i)) Py_CLEAR(clips);
  }
  return clips;
}

static PyObject *make_model(PyTypeObject *type, ext_state *state, ext_block *block, PyObject *given) {
  ext_model *self;
  if (block->model.block.info->kind != SK_BLOCK_MODEL) {
    PyErr_SetString(PyExc_ValueError, "the block has only clips; expected a model");
    return NULL;
  }
  self = (ext_model *)PyType_GenericAlloc(type, 0);
  if (!self) return NULL;
  self->block = (ext_block *)Py_NewRef((PyObject *)block);
  self->numbers = PyDict_New();
  if (self->numbers)
    self->clips = given == Py_None ? own_clips(block, self->numbers) : given_clips(state, block, given, self->numbers);
  if (!self->clips) Py_CLEAR(self);
  return (PyObject *)self;
}

static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {"block", "clips", NULL};
  ext_state *state = ext_state_of_class(type);
  PyObject *block = NULL, *clips = Py_None;
  if (PyTuple_Size(args) == 1 && !keywords && Py_TYPE(PyTuple_GetItem(args, 0)) == (PyTypeObject *)state->block_type)
    return make_model(type, state, (ext_block *)PyTuple_GetItem(args, 0), Py_None); /* the way of each load */
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:Model", names, &block, &clips)) return NULL;
  if (!block || !PyObject_TypeCheck(block, (PyTypeObject *)state->block_type)) {
    ext_refuse(PyExc_TypeError, "block", block ? block : Py_None,
               "a block: skinpy.load(path) and Model.from_arrays(...) make models");
    return NULL;
  }
  return make_model(type, state, (ext_block *)block, clips);
}

static int model_traverse(PyObject *object, visitproc visit, void *arg) {
  ext_model *self = (ext_model *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->block);
  Py_VISIT(self->clips);
  Py_VISIT(self->numbers);
  return 0;
}

static void model_dealloc(PyObject *object) {
  ext_model *self = (ext_model *)object;
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  Py_CLEAR(self->block);
  Py_CLEAR(self->clips);
  Py_CLEAR(self->numbers);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

/* ---- what every sampling call has in common --------------------------------------------------- */

typedef struct sampling_call {
  sk_sampling sampling;
  sk_clip clip;
  PyObject *keep; /* the block of the clip */
  ext_array inputs[2]; /* time, root */
  ext_shape shape;
  double single;
} sampling_call;

static void close_call(sampling_call *call) {
  ext_array_release(&call->inputs[0]);
  ext_array_release(&call->inputs[1]);
  Py_CLEAR(call->keep);
}

/* Parses, converts and validates the arguments; the default of time is 0. Returns 0 with an exception, and then holds
   nothing. */
static int open_call(ext_state *state, ext_model *model, PyObject *clip, PyObject *time, PyObject *loop,
                     PyObject *rotation, sampling_call *call) {
  sk_error error;
  int found, loop_kind, rotation_kind;
  memset(call->inputs, 0, sizeof call->inputs);
  call->keep = NULL;
  found = ext_find_clip(state, model, clip, "clip", &call->clip, &call->keep);
  loop_kind = found < 0 ? -1 : ext_parse_word(loop, "loop", ext_loops, SK_LOOP_WRAP);
  rotation_kind = loop_kind < 0 ? -1 : ext_parse_word(rotation, "rotation", ext_rotations, SK_SLERP);
  if (rotation_kind < 0) goto failed;
  call->sampling = (sk_sampling){&model->block->model.skeleton, found ? &call->clip : NULL, (sk_loop)loop_kind,
                                 (sk_rotation)rotation_kind, &model->block->model.morph};
  if (time) {
    if (!ext_read_times(time, &call->inputs[0], &call->shape, &call->single)) goto failed;
  } else {
    call->single = 0.0;
    call->inputs[0].data = &call->single;
    call->shape.ndim = 0;
    call->shape.count = 1;
  }
  if (sk_times_validate(call->inputs[0].data, (size_t)call->shape.count, &error)) {
    ext_raise(state, &error, NULL);
    goto failed;
  }
  return 1;
failed:
  close_call(call);
  return 0;
}

enum { CLIP, TIME, OUT, AFFINE, LOOP, ROTATION, ROOT, INVERSE_ROOT, VALUES };

#define SAMPLING_NAMES "clip", "time", "out", "affine", "loop", "rotation", "root"

static PyObject *run_sampled(PyObject *object, PyTypeObject *class, const ext_signature *signature, sk_result result,
                             PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  ext_model *model = (ext_model *)object;
  ext_state *state = ext_state_of_class(class);
  PyObject *values[EXT_MAX_ARGUMENTS] = {NULL}, *answer = NULL;
  sk_palette_job job = {0};
  sampling_call call;
  int inverse_root;
  if (!ext_parse(signature, args, count, keywords, values)) return NULL;
  inverse_root = ext_parse_flag(values[INVERSE_ROOT], "inverse_root", 0);
  if (inverse_root < 0) return NULL;
  if (!open_call(state, model, values[CLIP], values[TIME], values[LOOP], values[ROTATION], &call)) return NULL;
  if (values[ROOT] && values[ROOT] != Py_None &&
      !ext_read_root(values[ROOT], &call.shape, &call.inputs[1], &job.root_stride))
    goto done;
  job.skeleton = &model->block->model.skeleton;
  job.skin = &model->block->model.skin;
  job.sampling = &call.sampling;
  job.times = call.inputs[0].data;
  job.root = call.inputs[1].data;
  job.inverse_root = inverse_root;
  job.result = result;
  answer = ext_run_palette(&job, &call.shape, values[OUT], values[AFFINE], call.inputs, 2);
done:
  close_call(&call);
  return answer;
}

#define SAMPLED(function, result, ...)                                                                      \
  static PyObject *function(PyObject *object, PyTypeObject *class, PyObject *const *args, Py_ssize_t count, \
                            PyObject *keywords) {                                                           \
    static const ext_signature signature = __VA_ARGS__;                                                     \
    return run_sampled(object, class, &signature, result, args, count, keywords);                           \
  }

SAMPLED(model_globals, SK_GLOBALS, {"globals", 0, 3, {SAMPLING_NAMES, NULL}})
SAMPLED(model_palette, SK_PALETTE, {"palette", 0, 3, {SAMPLING_NAMES, "inverse_root", NULL}})
/* The names "" stand for arguments that this method does not have. */
SAMPLED(model_joint_positions, SK_POSITIONS,
        {"joint_positions", 0, 3, {"clip", "time", "out", "", "loop", "rotation", "root", NULL}})

/* ---- poses -------------------------------------------------------------------------------------- */

#define GRAIN_JOINTS 512 /* joints that a thread samples at once: about 10 us of work (sk_threads.h) */

static void sample_range(const void *whole, size_t worker, size_t first, size_t count) {
  sk_sample_job job = *(const sk_sample_job *)whole;
  (void)worker;
  job.times += first;
  job.time_count = count;
  job.poses = sk_pose_at(job.poses, first, (size_t)job.sampling.skeleton->joint_count,
                         (size_t)job.sampling.morph->target_count);
  sk_sample_run(&job);
}

#define JOINT_NANOSECONDS 25.0 /* about what one joint takes */

/* Without the GIL if that pays: to get it back from a thread that computes may take 5 ms. */
static void run_sampling(const sk_sample_job *job) {
  size_t joints = (size_t)job->sampling.skeleton->joint_count;
  if (JOINT_NANOSECONDS * (double)joints * (double)job->time_count < EXT_RELEASE_NANOSECONDS) {
    sk_sample_run(job);
    return;
  }
  Py_BEGIN_ALLOW_THREADS sk_parallel(job, sample_range, job->time_count, 8 * (1 + GRAIN_JOINTS / 8 / (joints + 1)),
                                     SK_MAX_THREADS);
  Py_END_ALLOW_THREADS
}

/* _sample(clip, time, loop, rotation) returns new arrays (translation, rotation, scale, morph_weights). */
static PyObject *model_sample(PyObject *object, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                              PyObject *keywords) {
  static const ext_signature signature = {"_sample", 4, 4, {"clip", "time", "loop", "rotation", NULL}};
  ext_model *model = (ext_model *)object;
  Py_ssize_t three[2] = {model->block->model.skeleton.joint_count, 3};
  Py_ssize_t four[2] = {model->block->model.skeleton.joint_count, 4};
  Py_ssize_t targets[1] = {model->block->model.morph.target_count};
  ext_array arrays[4] = {{0}};
  PyObject *values[4], *answer = NULL;
  sampling_call call;
  sk_sample_job job;
  int i;
  if (!ext_parse(&signature, args, count, keywords, values) ||
      !open_call(ext_state_of_class(class), model, values[0], values[1], values[2], values[3], &call))
    return NULL;
  if (ext_output(NULL, "translation", &call.shape, three, 2, NULL, 0, &arrays[0]) &&
      ext_output(NULL, "rotation", &call.shape, four, 2, NULL, 0, &arrays[1]) &&
      ext_output(NULL, "scale", &call.shape, three, 2, NULL, 0, &arrays[2]) &&
      ext_output(NULL, "morph_weights", &call.shape, targets, 1, NULL, 0, &arrays[3])) {
    job = (sk_sample_job){call.sampling,
                          call.inputs[0].data,
                          (size_t)call.shape.count,
                          {arrays[0].data, arrays[1].data, arrays[2].data, arrays[3].data}};
    run_sampling(&job);
    answer = PyTuple_Pack(4, arrays[0].owner, arrays[1].owner, arrays[2].owner, arrays[3].owner);
  }
  for (i = 0; i < 4; i++) ext_array_release(&arrays[i]);
  close_call(&call);
  return answer;
}

/* ---- the type --------------------------------------------------------------------------------------- */

static PyObject *model_block(PyObject *object, void *unused) {
  (void)unused;
  return Py_NewRef((PyObject *)((ext_model *)object)->block);
}

static PyObject *model_clip_entries(PyObject *object, void *unused) {
  (void)unused;
  return Py_NewRef(((ext_model *)object)->clips);
}

static PyObject *model_clip_number(PyObject *object, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                                   PyObject *keywords) {
  static const ext_signature signature = {"_clip_number", 1, 1, {"clip", NULL}};
  PyObject *value;
  Py_ssize_t number;
  if (!ext_parse(&signature, args, count, keywords, &value)) return NULL;
  number = ext_clip_number(ext_state_of_class(class), (ext_model *)object, value, "clip");
  return number < 0 ? NULL : PyLong_FromSsize_t(number);
}

/* The two ways in which a model changes: while a pickle is read, before anything outside can see the model. */

static void exchange(ext_model *one, ext_model *other) {
  ext_block *block = one->block;
  PyObject *clips = one->clips, *numbers = one->numbers;
  one->block = other->block;
  one->clips = other->clips;
  one->numbers = other->numbers;
  other->block = block;
  other->clips = clips;
  other->numbers = numbers;
}

/* The old block lives as long as the new one, whose rig it is. */
static PyObject *model_complete(PyObject *object, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                                PyObject *keywords) {
  static const ext_signature signature = {"_complete", 1, 1, {"block", NULL}};
  ext_state *state = ext_state_of_class(class);
  ext_model *self = (ext_model *)object;
  PyObject *block, *whole;
  if (!ext_parse(&signature, args, count, keywords, &block)) return NULL;
  if (!PyObject_TypeCheck(block, (PyTypeObject *)state->block_type)) {
    ext_refuse_type("block", block, "a Block");
    return NULL;
  }
  if (((ext_block *)block)->rig != self->block) {
    PyErr_SetString(PyExc_ValueError, "the block does not complete that of this model");
    return NULL;
  }
  whole = make_model((PyTypeObject *)state->model_type, state, (ext_block *)block, Py_None);
  if (!whole) return NULL;
  exchange(self, (ext_model *)whole);
  Py_DECREF(whole);
  Py_RETURN_NONE;
}

static PyObject *model_add_clip(PyObject *object, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                                PyObject *keywords) {
  static const ext_signature signature = {"_add_clip", 1, 1, {"clip", NULL}};
  ext_model *self = (ext_model *)object;
  PyObject *entry, *one, *clips, *had;
  if (!ext_parse(&signature, args, count, keywords, &entry)) return NULL;
  if (check_clip(ext_state_of_class(class), self->block, entry)) return NULL;
  one = PyTuple_Pack(1, entry);
  clips = one ? PySequence_Concat(self->clips, one) : NULL;
  Py_XDECREF(one);
  if (!clips) return NULL;
  if (note_number(self->numbers, entry, PyTuple_Size(self->clips))) {
    Py_DECREF(clips);
    return NULL;
  }
  had = self->clips; /* read here, as a name's __hash__ may have added a clip */
  self->clips = clips;
  Py_DECREF(had);
  Py_RETURN_NONE;
}

static const char complete_doc[] = "_complete($self, block)\n--\n\n"
                                   "Take another block with the same rig, and its clips, in place of all clips.";

static const char add_clip_doc[] = "_add_clip($self, clip)\n--\n\n"
                                   "Add a clip, a tuple (name, Block, index in the block), behind the others.";

static const char clip_number_doc[] =
    "_clip_number($self, clip)\n--\n\n"
    "Position of a clip by name or index; KeyError with close names, IndexError, TypeError.";

static PyGetSetDef model_getset[] = {
    {"_block", model_block, NULL, "The Block of skeleton, mesh and skin.", NULL},
    {"_clip_entries", model_clip_entries, NULL, "tuple of (name, Block, index in it), one per clip.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char globals_doc[] =
    "globals($self, clip=None, time=0.0, out=None, *, affine=None, loop='wrap', rotation='slerp',\n"
    "        root=None)\n--\n\n"
    "Return the global transform of every joint, from joint space to scene space.\n\n"
    "Parameters\n----------\n" DOC_CLIP_AND_TIME DOC_OUT DOC_AFFINE DOC_LOOP_AND_ROTATION DOC_ROOT
    "\nReturns\n-------\n"
    "(..., J, 4, 4) float32 ndarray\n"
    "    Row-major matrices for column vectors.\n" DOC_RAISES_SAMPLING "\nNotes\n-----\n"
    "``global = global(parent) * local``, and ``local = T * R * S`` or, for a joint at rest, the rest\n"
    "matrix of the file.\n";

static const char palette_doc[] =
    "palette($self, clip=None, time=0.0, out=None, *, affine=None, loop='wrap', rotation='slerp',\n"
    "        root=None, inverse_root=False)\n--\n\n"
    "Return the skinning palette: matrices from mesh space at bind to scene space.\n\n"
    "Parameters\n----------\n" DOC_CLIP_AND_TIME DOC_OUT DOC_AFFINE DOC_LOOP_AND_ROTATION DOC_ROOT DOC_INVERSE_ROOT
    "\nReturns\n-------\n"
    "(..., S, 4, 4) float32 ndarray\n"
    "    Row-major matrices for column vectors, one for each slot of `Model.skin`.\n" DOC_RAISES_SAMPLING
    "\nNotes\n-----\n"
    "``palette[s] = global(skin.joints[s]) * skin.inverse_bind[s]`` for every slot s.\n"
    "\nExamples\n--------\n"
    ">>> skinpy.character().palette(\"walk\", [0.0, 0.25]).shape\n"
    "(2, 24, 4, 4)\n";

static const char joint_positions_doc[] =
    "joint_positions($self, clip=None, time=0.0, out=None, *, loop='wrap', rotation='slerp', root=None)\n"
    "--\n\n"
    "Return the positions of the joints in scene space.\n\n"
    "Parameters\n----------\n" DOC_CLIP_AND_TIME DOC_OUT DOC_LOOP_AND_ROTATION DOC_ROOT "\nReturns\n-------\n"
    "(..., J, 3) float32 ndarray\n"
    "    The last columns of the matrices that `Model.globals` returns.\n" DOC_RAISES_SAMPLING;

static const char sample_doc[] =
    "_sample($self, clip, time, loop, rotation)\n--\n\n"
    "Return translation, rotation, scale and morph weights of skinpy.Model.pose, as new float32 arrays.";

static const char mix_pose_doc[] =
    "_mix_pose($self, layers, pose)\n--\n\n"
    "Overwrite a pose with the blend of layers and return it.\n\n"
    "Layers are a list of tuples (mode, priority_blend, entries[, fades]), and entries a list of tuples (clip,\n"
    "time, weight, loop, mask, priority[, signs[, plane]]); csrc/ext/ext_mix.c explains them.";

static const char mix_palette_doc[] =
    "_mix_palette($self, layers, out=None, *, affine=None, root=None, inverse_root=False)\n--\n\n"
    "Return the palette of the pose that _mix_pose makes, without making the pose.";

#define METHOD(name, function, doc) \
  {name, (PyCFunction)(void (*)(void))function, METH_METHOD | METH_FASTCALL | METH_KEYWORDS, doc}

static PyMethodDef model_methods[] = {METHOD("globals", model_globals, globals_doc),
                                      METHOD("palette", model_palette, palette_doc),
                                      METHOD("joint_positions", model_joint_positions, joint_positions_doc),
                                      METHOD("_clip_number", model_clip_number, clip_number_doc),
                                      METHOD("_complete", model_complete, complete_doc),
                                      METHOD("_add_clip", model_add_clip, add_clip_doc),
                                      METHOD("_sample", model_sample, sample_doc),
                                      METHOD("_mix_pose", ext_mix_pose, mix_pose_doc),
                                      METHOD("_mix_palette", ext_mix_palette, mix_palette_doc),
                                      METHOD("crowd_palette", ext_crowd_palette, ext_crowd_palette_doc),
                                      METHOD("deform", ext_deform, ext_deform_doc),
                                      {NULL, NULL, 0, NULL}};

static const char model_doc[] =
    "Model(block, clips=None)\n--\n\n"
    "The base class of skinpy.Model: a model block and its clips.\n\n"
    "Each clip is a tuple (name, Block, index in the block). By default the clips are all clips of the block.";

static PyType_Slot model_slots[] = {{Py_tp_doc, (void *)model_doc},
                                    {Py_tp_new, model_new},
                                    {Py_tp_traverse, model_traverse},
                                    {Py_tp_dealloc, model_dealloc},
                                    {Py_tp_methods, model_methods},
                                    {Py_tp_getset, model_getset},
                                    {0, NULL}};

static PyType_Spec model_spec = {
    "skinpy._core.Model", sizeof(ext_model), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, model_slots};

int ext_model_register(PyObject *module, ext_state *state) {
  state->model_type = PyType_FromModuleAndSpec(module, &model_spec, NULL);
  return state->model_type ? PyModule_AddType(module, (PyTypeObject *)state->model_type) : -1;
}
