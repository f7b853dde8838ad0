/* ext_module.c: the module `_core`: its functions, types and state. */
#include "../core/base/sk_cpu.h"
#include "../core/base/sk_math.h"
#include "ext_array.h"
#include "ext_jobs.h"

/* ---- state ---------------------------------------------------------------------------------- */

ext_state *ext_state_of_module(PyObject *module) { return PyModule_GetState(module); }

ext_state *ext_state_of_class(PyTypeObject *class) {
  while (!(PyType_GetFlags(class) & Py_TPFLAGS_IMMUTABLETYPE)) class = PyType_GetSlot(class, Py_tp_base);
  return PyType_GetModuleState(class);
}

static void free_lock(PyObject *capsule) { PyThread_free_lock(PyCapsule_GetPointer(capsule, NULL)); }

static PyObject *new_lock(void) {
  PyThread_type_lock lock = PyThread_allocate_lock();
  PyObject *capsule = lock ? PyCapsule_New(lock, NULL, free_lock) : PyErr_NoMemory();
  if (lock && !capsule) PyThread_free_lock(lock);
  return capsule;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
  ext_state *state = PyModule_GetState(module);
  Py_VISIT(state->block_type);
  Py_VISIT(state->model_type);
  Py_VISIT(state->clip_type);
  Py_VISIT(state->pose_type);
  Py_VISIT(state->load_error);
  Py_VISIT(state->importer_crashed);
  Py_VISIT(state->limit_exceeded);
  Py_VISIT(state->format_refused);
  Py_VISIT(state->printable);
  Py_VISIT(state->unknown_name);
  Py_VISIT(state->unknown_clip_number);
  Py_VISIT(state->importer_lock);
  return 0;
}

static int module_clear(PyObject *module) {
  ext_state *state = PyModule_GetState(module);
  Py_CLEAR(state->block_type);
  Py_CLEAR(state->model_type);
  Py_CLEAR(state->clip_type);
  Py_CLEAR(state->pose_type);
  Py_CLEAR(state->load_error);
  Py_CLEAR(state->importer_crashed);
  Py_CLEAR(state->limit_exceeded);
  Py_CLEAR(state->format_refused);
  Py_CLEAR(state->printable);
  Py_CLEAR(state->unknown_name);
  Py_CLEAR(state->unknown_clip_number);
  Py_CLEAR(state->importer_lock);
  return 0;
}

static void module_free(void *module) { module_clear(module); }

/* ---- contents -------------------------------------------------------------------------------- */

static PyObject *bytes_in_use(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyLong_FromSize_t(sk_bytes_in_use());
}

static PyObject *fail_allocation(PyObject *module, PyObject *number) {
  long n = PyLong_AsLong(number);
  (void)module;
  if (n == -1 && PyErr_Occurred()) return NULL;
  return PyLong_FromLong(sk_fail_allocation(n));
}

/* _simd(name) uses another SIMD path and returns the name of the one before; None changes nothing. */
static PyObject *use_simd(PyObject *module, PyObject *wish) {
  const char *before = sk_simd_name(sk_simd_chosen());
  int simd;
  (void)module;
  for (simd = 0; wish != Py_None && simd < SK_SIMD_COUNT; simd++)
    if (PyUnicode_Check(wish) && PyUnicode_CompareWithASCIIString(wish, sk_simd_name((sk_simd)simd)) == 0) break;
  if (wish == Py_None || (simd < SK_SIMD_COUNT && sk_simd_use((sk_simd)simd))) return PyUnicode_FromString(before);
  return PyErr_Format(PyExc_ValueError, "%R is not a SIMD path of this build on this processor", wish);
}

/* _decompose(matrices (N,4,4)) returns translation (N,3), rotation (N,4) and scale (N,3). */
static PyObject *decompose(PyObject *module, PyObject *matrices) {
  static const Py_ssize_t three[1] = {3}, four[1] = {4};
  ext_array input, arrays[3] = {{0}};
  ext_shape shape;
  PyObject *answer = NULL;
  Py_ssize_t i;
  (void)module;
  if (!ext_read_matrices(matrices, "matrices", &input, &shape)) return NULL;
  if (ext_output(NULL, "translation", &shape, three, 1, NULL, 0, &arrays[0]) &&
      ext_output(NULL, "rotation", &shape, four, 1, NULL, 0, &arrays[1]) &&
      ext_output(NULL, "scale", &shape, three, 1, NULL, 0, &arrays[2])) {
    for (i = 0; i < shape.count; i++) {
      double affine[12];
      sk_affine_from_mat4((const float *)input.data + 16 * i, affine);
      sk_affine_decompose(affine, (float *)arrays[0].data + 3 * i, (float *)arrays[1].data + 4 * i,
                          (float *)arrays[2].data + 3 * i);
    }
    answer = PyTuple_Pack(3, arrays[0].owner, arrays[1].owner, arrays[2].owner);
  }
  for (i = 0; i < 3; i++) ext_array_release(&arrays[i]);
  ext_array_release(&input);
  return answer;
}

static PyMethodDef module_methods[] = {
    {"_load_file", (PyCFunction)(void (*)(void))ext_load_file, METH_FASTCALL, ext_load_file_doc},
    {"_start_importer", ext_start_importer, METH_VARARGS, ext_start_importer_doc},
    {"_sandbox", ext_sandbox, METH_O, ext_sandbox_doc},
    {"_build_info", ext_build_info, METH_NOARGS, ext_build_info_doc},
    {"_blend", (PyCFunction)(void (*)(void))ext_blend, METH_FASTCALL | METH_KEYWORDS,
     "_blend($module, result, poses, weights, masks)\n--\n\n"
     "Set the Pose `result` to the weighted sum of a list of poses; see skinpy.blend."},
    {"_decompose", decompose, METH_O,
     "_decompose($module, matrices, /)\n--\n\n"
     "Return translation (...,3), rotation (...,4) and scale (...,3) closest to affine (...,4,4) matrices."},
    {"_simd", use_simd, METH_O,
     "_simd($module, name, /)\n--\n\n"
     "Run jobs on the plain path (\"plain\") or a SIMD path (\"avx2\", \"avx512\", \"neon\") from now on, and\n"
     "return the path before. None changes nothing. For tests and benchmarks."},
    {"_bytes_in_use", bytes_in_use, METH_NOARGS,
     "_bytes_in_use($module, /)\n--\n\nReturn the bytes that the core has allocated, without those of the importer. "
     "For tests."},
    {"_fail_allocation", fail_allocation, METH_O,
     "_fail_allocation($module, n, /)\n--\n\n"
     "Make the n-th allocation of the core from now on fail, once; 0 cancels that.\n\n"
     "Returns the number of allocations that were left until the failure that was set before, or 0. For tests."},
    {NULL, NULL, 0, NULL}};

static int import_errors(ext_state *state) {
  PyObject *errors = PyImport_ImportModule("skinpy.errors"), *text = PyImport_ImportModule("skinpy._text");
  if (!errors || !text) return -1;
  state->load_error = PyObject_GetAttrString(errors, "LoadError");
  state->importer_crashed = PyObject_GetAttrString(errors, "ImporterCrashed");
  state->limit_exceeded = PyObject_GetAttrString(errors, "LimitExceeded");
  state->format_refused = PyObject_GetAttrString(errors, "FormatRefused");
  state->printable = PyObject_GetAttrString(text, "printable");
  state->unknown_name = PyObject_GetAttrString(errors, "unknown_name");
  state->unknown_clip_number = PyObject_GetAttrString(errors, "unknown_clip_number");
  Py_DECREF(errors);
  Py_DECREF(text);
  return PyErr_Occurred() ? -1 : 0;
}

/* NumPy's C API serves one interpreter. The limited API of Python 3.11 has no slot that says so. */
static int refuse_subinterpreter(void) {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return 0;
  PyErr_SetString(PyExc_ImportError, "skinpy cannot be imported in a subinterpreter, because NumPy serves one only");
  return -1;
}

static int module_exec(PyObject *module) {
  ext_state *state = PyModule_GetState(module);
  if (refuse_subinterpreter() || ext_array_import() || import_errors(state)) return -1;
  state->importer_lock = new_lock();
  if (!state->importer_lock || PyModule_AddIntConstant(module, "MAX_INFLUENCES", SK_MAX_INFLUENCES) ||
      PyModule_AddIntConstant(module, "MAX_SLOTS", (long)SK_MAX_SLOTS))
    return -1;
  return ext_block_register(module, state) || ext_clip_register(module, state) || ext_pose_register(module, state) ||
                 ext_model_register(module, state) || ext_frames_register(module) || ext_goal_register(module) ||
                 ext_threads_register(module)
             ? -1
             : 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec},
#ifdef Py_mod_gil
                                          {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                          {0, NULL}};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT, "_core",        "The C core of skinpy; use it through the package skinpy.",
    sizeof(ext_state),     module_methods, module_slots,
    module_traverse,       module_clear,   module_free};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&module_def); }
