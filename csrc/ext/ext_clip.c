/* ext_clip.c: the base type of skinpy.Clip, a clip of a block that may be bound to the block of a model. */
#include "ext_args.h"
#include "ext_state.h"

int ext_check_counts(const ext_block *clips, const ext_block *model) {
  const sk_info *made_for = clips->model.block.info, *info = model->model.block.info;
  if (made_for->joints == info->joints && made_for->targets <= info->targets) return 1;
  PyErr_Format(PyExc_ValueError, "a clip is made for %u joints and %u morph targets, the model has %u and %u",
               made_for->joints, made_for->targets, info->joints, info->targets);
  return 0;
}

static PyObject *clip_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {"block", "index", "bound_to", NULL};
  ext_state *state = ext_state_of_class(type);
  PyObject *block, *bound_to = Py_None;
  ext_clip *self;
  unsigned index;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!I|O:Clip", names, state->block_type, &block, &index, &bound_to))
    return NULL;
  if (bound_to != Py_None && !PyObject_TypeCheck(bound_to, (PyTypeObject *)state->block_type)) {
    ext_refuse_type("bound_to", bound_to, "Block or None");
    return NULL;
  }
  if (index >= ((ext_block *)block)->model.clip_count)
    return PyErr_Format(PyExc_IndexError, "index is %u; expected less than %u, the number of clips of the block", index,
                        ((ext_block *)block)->model.clip_count);
  if (bound_to != Py_None && !ext_check_counts((ext_block *)block, (ext_block *)bound_to)) return NULL;
  self = (ext_clip *)PyType_GenericAlloc(type, 0);
  if (!self) return NULL;
  self->block = (ext_block *)Py_NewRef(block);
  self->index = index;
  self->bound_to = bound_to == Py_None ? NULL : (ext_block *)Py_NewRef(bound_to);
  sk_clip_open(&self->block->model.block, index, &self->clip);
  return (PyObject *)self;
}

static int clip_traverse(PyObject *object, visitproc visit, void *arg) {
  ext_clip *self = (ext_clip *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->block);
  Py_VISIT(self->bound_to);
  return 0;
}

/* There is no tp_clear: `clip` points into the memory of `block`, which therefore must live as long as the object. */
static void clip_dealloc(PyObject *object) {
  ext_clip *self = (ext_clip *)object;
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  Py_CLEAR(self->block);
  Py_CLEAR(self->bound_to);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

static PyObject *clip_local_time(PyObject *object, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                                 PyObject *keywords) {
  static const ext_signature signature = {"_local_time", 1, 2, {"time", "loop", NULL}};
  static const char *const loops[] = {"wrap", "clamp", "pingpong", "once", NULL};
  PyObject *values[2];
  double time;
  int loop;
  (void)class;
  if (!ext_parse(&signature, args, count, keywords, values)) return NULL;
  time = PyFloat_AsDouble(values[0]);
  if (time == -1.0 && PyErr_Occurred()) return NULL;
  loop = ext_parse_word(values[1], "loop", loops, SK_LOOP_WRAP);
  if (loop < 0) return NULL;
  return PyFloat_FromDouble(sk_clip_local_time(&((ext_clip *)object)->clip, time, (sk_loop)loop));
}

static const char local_time_doc[] =
    "_local_time($self, time, loop='wrap')\n--\n\n"
    "Return the time within the clip, in seconds, that a time outside the clip stands for.";

static PyMethodDef clip_methods[] = {{"_local_time", (PyCFunction)(void (*)(void))clip_local_time,
                                      METH_METHOD | METH_FASTCALL | METH_KEYWORDS, local_time_doc},
                                     {NULL, NULL, 0, NULL}};

static PyObject *clip_compiled_nbytes(PyObject *object, void *unused) {
  ext_clip *self = (ext_clip *)object;
  (void)unused;
  return PyLong_FromSize_t(ext_compiled_bytes(self->block, self->index));
}

static PyGetSetDef clip_getset[] = {
    {"compiled_nbytes", clip_compiled_nbytes, NULL,
     "The number of bytes of the compiled form, which is quick to sample.\n\n"
     "Keys that the form shares with the clip do not count. The number is 0 until the clip is first played, and\n"
     "always on the plain path.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char clip_doc[] =
    "Clip(block, index, bound_to=None)\n--\n\n"
    "The base class of skinpy.Clip: clip `index` of `block`, bound to the joints of the model block `bound_to`.";

static PyType_Slot clip_slots[] = {{Py_tp_doc, (void *)clip_doc},
                                   {Py_tp_new, clip_new},
                                   {Py_tp_traverse, clip_traverse},
                                   {Py_tp_dealloc, clip_dealloc},
                                   {Py_tp_methods, clip_methods},
                                   {Py_tp_getset, clip_getset},
                                   {0, NULL}};

static PyType_Spec clip_spec = {
    "skinpy._core.Clip", sizeof(ext_clip), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, clip_slots};

int ext_clip_register(PyObject *module, ext_state *state) {
  state->clip_type = PyType_FromModuleAndSpec(module, &clip_spec, NULL);
  return state->clip_type ? PyModule_AddType(module, (PyTypeObject *)state->clip_type) : -1;
}
