/* ext_pose.c: the base type of skinpy.Pose, which holds the caller's arrays and computes matrices from them. */
#include "ext_args.h"
#include "ext_docs.h"
#include "ext_jobs.h"

/* ---- making ------------------------------------------------------------------------------- */

static PyObject *pose_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {"block", "translation", "rotation", "scale", "morph_weights", "root", NULL};
  ext_state *state = ext_state_of_class(type);
  PyObject *block, *translation, *rotation, *scale, *weights, *root = Py_None;
  ext_pose_arrays arrays;
  ext_pose *self;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!OOOO|O:Pose", names, state->block_type, &block, &translation,
                                   &rotation, &scale, &weights, &root))
    return NULL;
  self = (ext_pose *)PyType_GenericAlloc(type, 0);
  if (!self) return NULL;
  self->block = (ext_block *)Py_NewRef(block);
  self->translation = Py_NewRef(translation);
  self->rotation = Py_NewRef(rotation);
  self->scale = Py_NewRef(scale);
  self->morph_weights = Py_NewRef(weights);
  self->root = root == Py_None ? Py_NewRef(root) : ext_copy_root(root);
  if (!self->root || !ext_pose_open(self, &arrays)) {
    Py_DECREF(self);
    return NULL;
  }
  ext_pose_close(&arrays);
  return (PyObject *)self;
}

static int pose_traverse(PyObject *object, visitproc visit, void *arg) {
  ext_pose *self = (ext_pose *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->block);
  Py_VISIT(self->translation);
  Py_VISIT(self->rotation);
  Py_VISIT(self->scale);
  Py_VISIT(self->morph_weights);
  Py_VISIT(self->root);
  return 0;
}

static void pose_dealloc(PyObject *object) {
  ext_pose *self = (ext_pose *)object;
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  Py_CLEAR(self->block);
  Py_CLEAR(self->translation);
  Py_CLEAR(self->rotation);
  Py_CLEAR(self->scale);
  Py_CLEAR(self->morph_weights);
  Py_CLEAR(self->root);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

/* ---- matrices ------------------------------------------------------------------------------- */

static PyObject *run_pose(PyObject *object, const ext_signature *signature, sk_result result, PyObject *const *args,
                          Py_ssize_t count, PyObject *keywords) {
  ext_pose *self = (ext_pose *)object;
  PyObject *values[3] = {NULL}, *answer;
  ext_pose_arrays arrays;
  sk_palette_job job = {0};
  int inverse_root;
  if (!ext_parse(signature, args, count, keywords, values)) return NULL;
  inverse_root = ext_parse_flag(values[2], "inverse_root", 0);
  if (inverse_root < 0 || !ext_pose_open(self, &arrays)) return NULL;
  job.skeleton = &self->block->model.skeleton;
  job.skin = &self->block->model.skin;
  job.poses = arrays.pose;
  job.root = arrays.arrays[EXT_ROOT].data;
  job.root_stride = arrays.root_stride;
  job.inverse_root = inverse_root;
  job.result = result;
  answer = ext_run_palette(&job, &arrays.shape, values[0], values[1], arrays.arrays, EXT_POSE_ARRAYS);
  ext_pose_close(&arrays);
  return answer;
}

#define FROM_POSE(function, result, ...)                                                                    \
  static PyObject *function(PyObject *object, PyTypeObject *class, PyObject *const *args, Py_ssize_t count, \
                            PyObject *keywords) {                                                           \
    static const ext_signature signature = __VA_ARGS__;                                                     \
    (void)class;                                                                                            \
    return run_pose(object, &signature, result, args, count, keywords);                                     \
  }

FROM_POSE(pose_locals, SK_LOCALS, {"locals", 0, 1, {"out", "affine", NULL}})
FROM_POSE(pose_globals, SK_GLOBALS, {"globals", 0, 1, {"out", "affine", NULL}})
FROM_POSE(pose_palette, SK_PALETTE, {"palette", 0, 1, {"out", "affine", "inverse_root", NULL}})

/* ---- attributes ------------------------------------------------------------------------------ */

typedef struct pose_field {
  const char *name;
  size_t offset;
} pose_field;

static PyObject *find_array(PyObject *object, const pose_field *field) {
  return *(PyObject **)((char *)object + field->offset);
}

static PyObject *get_array(PyObject *object, void *field) { return Py_NewRef(find_array(object, field)); }

/* Assignment copies into the array, which keeps its memory and shape. */
static int set_array(PyObject *object, PyObject *value, void *field) {
  if (!value) {
    PyErr_SetString(PyExc_AttributeError, "the arrays of a pose cannot be deleted");
    return -1;
  }
  return ext_assign(find_array(object, field), value, ((const pose_field *)field)->name);
}

#define FIELD(name) \
  (void *)&(const pose_field) { #name, offsetof(ext_pose, name) }
#define ARRAY(name, set, doc) {#name, get_array, set, doc, FIELD(name)}

static PyGetSetDef pose_getset[] = {
    ARRAY(translation, set_array, "(...,J,3) float32, writable: translation of each joint, relative to its parent."),
    ARRAY(rotation, set_array,
          "(...,J,4) float32, writable: rotation of each joint, a quaternion x y z w of any length but 0."),
    ARRAY(scale, set_array, "(...,J,3) float32, writable: scale of each joint."),
    ARRAY(morph_weights, set_array, "(...,M) float32, writable: weights of the morph targets."),
    ARRAY(root, NULL,
          "(4,4) or (...,4,4) float32: transform in front of the local transform of the root joint; or None."),
    {"_block", get_array, NULL, "The block of the model.", FIELD(block)},
    {NULL, NULL, NULL, NULL, NULL}};

static const char locals_doc[] =
    "locals($self, out=None, *, affine=None)\n--\n\n"
    "Return the local transform of every joint, from the joint to its parent.\n\n"
    "Parameters\n----------\n" DOC_OUT DOC_AFFINE "\nReturns\n-------\n"
    "(..., J, 4, 4) float32 ndarray\n"
    "    Row-major matrices ``T * R * S`` for column vectors. A joint whose components are equal to the\n"
    "    rest pose, bit by bit, has the rest matrix of the file, which may hold shear.\n" DOC_RAISES_OUT;

static const char globals_doc[] =
    "globals($self, out=None, *, affine=None)\n--\n\n"
    "Return the global transform of every joint, from joint space to scene space.\n\n"
    "Parameters\n----------\n" DOC_OUT DOC_AFFINE "\nReturns\n-------\n"
    "(..., J, 4, 4) float32 ndarray\n"
    "    Row-major matrices ``global(parent) * local`` for column vectors.\n" DOC_RAISES_OUT;

static const char palette_doc[] =
    "palette($self, out=None, *, affine=None, inverse_root=False)\n--\n\n"
    "Return the skinning palette: matrices from mesh space at bind to scene space.\n\n"
    "Parameters\n----------\n" DOC_OUT DOC_AFFINE DOC_INVERSE_ROOT "\nReturns\n-------\n"
    "(..., S, 4, 4) float32 ndarray\n"
    "    Row-major matrices ``global(skin.joints[s]) * skin.inverse_bind[s]`` for column vectors, one for\n"
    "    each slot s.\n" DOC_RAISES_OUT;

#define METHOD(name, function, doc) \
  {name, (PyCFunction)(void (*)(void))function, METH_METHOD | METH_FASTCALL | METH_KEYWORDS, doc}

static PyMethodDef pose_methods[] = {METHOD("locals", pose_locals, locals_doc),
                                     METHOD("globals", pose_globals, globals_doc),
                                     METHOD("palette", pose_palette, palette_doc),
                                     {NULL, NULL, 0, NULL}};

static const char pose_doc[] =
    "Pose(block, translation, rotation, scale, morph_weights, root=None)\n--\n\n"
    "The base class of skinpy.Pose, which holds C-contiguous float32 arrays without copying them.";

static PyType_Slot pose_slots[] = {{Py_tp_doc, (void *)pose_doc},
                                   {Py_tp_new, pose_new},
                                   {Py_tp_traverse, pose_traverse},
                                   {Py_tp_dealloc, pose_dealloc},
                                   {Py_tp_methods, pose_methods},
                                   {Py_tp_getset, pose_getset},
                                   {0, NULL}};

static PyType_Spec pose_spec = {
    "skinpy._core.Pose", sizeof(ext_pose), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, pose_slots};

int ext_pose_register(PyObject *module, ext_state *state) {
  state->pose_type = PyType_FromModuleAndSpec(module, &pose_spec, NULL);
  return state->pose_type ? PyModule_AddType(module, (PyTypeObject *)state->pose_type) : -1;
}
