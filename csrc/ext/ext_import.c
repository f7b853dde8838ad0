/* ext_import.c: runs imports, in this process or isolated in a worker. */
#include <dlfcn.h>
#include <string.h>

#include "../core/base/sk_cpu.h"
#include "../core/base/sk_math.h"
#include "../import/sk_import.h"
#include "../worker/worker_spawn.h"
#include "ext_error.h"

static const sk_importer *open_importer(ext_state *state, const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const sk_importer *(*open)(void);
  const sk_importer *importer = NULL;
  sk_error error;
  if (!library) {
    sk_fail(&error, SK_ERROR_LIBRARY, "the importer cannot be opened: %s", dlerror());
    ext_raise(state, &error, NULL);
    return NULL;
  }
  *(void **)&open = dlsym(library, SK_IMPORT_SYMBOL);
  if (open) importer = open();
  if (importer && importer->abi == SK_IMPORT_ABI) return importer;
  sk_fail(&error, SK_ERROR_LIBRARY, "%s is the importer of another version of skinpy; install skinpy again", path);
  ext_raise(state, &error, NULL);
  return NULL;
}

/* Returns a NULL-terminated list of the paths in a tuple of bytes, or NULL with an exception. PyMem_Free frees the
   list; the paths belong to the tuple. */
static const char **path_list(PyObject *paths) {
  Py_ssize_t i, count = PyTuple_Size(paths);
  const char **list = PyMem_Calloc((size_t)count + 1, sizeof *list);
  if (!list) PyErr_NoMemory();
  for (i = 0; list && i < count; i++) {
    list[i] = PyBytes_AsString(PyTuple_GetItem(paths, i));
    if (!list[i]) {
      PyMem_Free((void *)list);
      return NULL;
    }
  }
  return list;
}

typedef struct import_call {
  sk_import_request request;
  worker_job job;
  PyObject *name;      /* the path as the caller gave it, for messages; borrowed */
  PyObject *path;      /* bytes, or NULL */
  PyObject *isolation; /* tuple, borrowed, or Py_None */
  Py_buffer data;
} import_call;

static void release_call(import_call *call) {
  Py_CLEAR(call->path);
  if (call->data.obj) PyBuffer_Release(&call->data);
}

/* Reads a whole number from `least` to `most`. skinpy.load has checked the arguments of its caller. */
static int read_number(PyObject *value, long least, long most, long *number) {
  *number = PyLong_AsLong(value);
  if (*number >= least && *number <= most) return 1;
  if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "%R is not from %ld to %ld", value, least, most);
  return 0;
}

static int read_limits(PyObject *tuple, sk_import_limits *limits) {
  unsigned long long file_bytes, nodes, depth, vertices, keys;
  if (!PyTuple_Check(tuple) || !PyArg_ParseTuple(tuple, "KKKKK", &file_bytes, &nodes, &depth, &vertices, &keys)) {
    if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "limits are %R; expected a tuple", tuple);
    return 0;
  }
  *limits = (sk_import_limits){file_bytes, nodes, depth, vertices, keys};
  return 1;
}

static int read_text(PyObject *value, const char **text) {
  *text = value == Py_None ? NULL : PyUnicode_AsUTF8AndSize(value, NULL);
  return *text || value == Py_None;
}

/* For a text that may hold bytes that are not UTF-8. */
static int read_bytes(PyObject *value, const char **text) {
  *text = value == Py_None ? NULL : PyBytes_AsString(value);
  return *text || value == Py_None;
}

static int read_options(PyObject *const *args, sk_import_request *request) {
  long influences, joined, up, frame, external;
  int ignore_scale = PyObject_IsTrue(args[3]);
  if (ignore_scale < 0 || !read_number(args[1], 1, SK_MAX_INFLUENCES, &influences) ||
      !read_number(args[2], -1, 1, &joined) || !read_number(args[4], 0, SK_AXIS_COUNT - 1, &up) ||
      !read_number(args[5], -1, INT32_MAX, &frame) || !read_number(args[9], 0, SK_EXTERNAL_COUNT - 1, &external) ||
      !read_text(args[0], &request->format) || !read_bytes(args[7], &request->scene) ||
      !read_text(args[8], &request->formats) || !read_limits(args[10], &request->limits))
    return 0;
  request->curve_error = PyFloat_AsDouble(args[6]);
  if (request->curve_error == -1.0 && PyErr_Occurred()) return 0;
  request->max_influences = (uint32_t)influences;
  request->join_vertices = (int32_t)joined;
  request->ignore_animated_scale = ignore_scale != 0;
  request->up = (uint32_t)up;
  request->frame = (int32_t)frame;
  request->external = (sk_external)external;
  return 1;
}

/* Reads a tuple of the paths of the worker, the importer and Assimp, the limits of memory and time, LD_LIBRARY_PATH, and
   whether isolation is strict. `job` points into the tuple. */
static int read_isolation(PyObject *tuple, worker_job *job) {
  unsigned long long memory;
  int strict = 0;
  if (!PyTuple_Check(tuple) || !PyArg_ParseTuple(tuple, "yyyKdy|p", &job->program, &job->importer, &job->libraries,
                                                 &memory, &job->seconds, &job->folders, &strict)) {
    if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "isolation is %R; expected a tuple", tuple);
    return 0;
  }
  job->memory = memory;
  job->strict = strict != 0;
  return 1;
}

/* Reads the arguments of _load_file. */
static int parse_call(PyObject *const *args, Py_ssize_t count, import_call *call) {
  memset(call, 0, sizeof *call);
  if (count != 14) {
    PyErr_Format(PyExc_TypeError, "_load_file() takes 14 arguments (%zd given)", count);
    return 0;
  }
  call->name = args[0];
  call->isolation = args[13];
  if (!read_options(args + 2, &call->request)) return 0;
  if (call->isolation != Py_None && !read_isolation(call->isolation, &call->job)) return 0;
  if (args[1] != Py_None && PyObject_GetBuffer(args[1], &call->data, PyBUF_SIMPLE)) return 0;
  if (call->name != Py_None && !PyUnicode_FSConverter(call->name, &call->path)) {
    release_call(call);
    return 0;
  }
  if (call->path) call->request.path = PyBytes_AsString(call->path);
  call->request.bytes = call->data.buf;
  call->request.size = (size_t)call->data.len;
  return 1;
}

/* ---- in this process ------------------------------------------------------------------------------------ */

/* Runs a request, or starts the importer if `request` is NULL. It holds the lock of the importer, and releases the
   GIL. */
static sk_status import_locked(ext_state *state, const sk_importer *importer, const char *const *libraries,
                               const sk_import_request *request, sk_import_result *result, sk_error *error) {
  PyThread_type_lock lock = PyCapsule_GetPointer(state->importer_lock, NULL);
  sk_status status;
  Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(lock, WAIT_LOCK);
  status = request ? importer->run(request, result, error) : importer->start(libraries, error);
  if (!status && !request) importer->library_formats(); /* the first call makes the list, and must hold the lock */
  PyThread_release_lock(lock);
  Py_END_ALLOW_THREADS return status;
}

static PyObject *import_here(ext_state *state, const import_call *call) {
  const sk_importer *importer = atomic_load(&state->importer);
  sk_import_result result = {NULL, 0};
  sk_error error;
  if (!importer) {
    PyErr_SetString(PyExc_RuntimeError, "the importer was not started");
    return NULL;
  }
  if (import_locked(state, importer, NULL, &call->request, &result, &error)) {
    ext_raise(state, &error, call->name);
    return NULL;
  }
  return ext_block_new(state, result.block, result.size, importer->release);
}

/* ---- isolated ------------------------------------------------------------------------------------------- */

/* Context of the functions that worker_run calls. */
typedef struct isolated_call {
  ext_state *state;
  PyThreadState *thread; /* of the calling thread, while it does not hold the GIL */
  PyObject *block;       /* the result, or NULL */
} isolated_call;

/* Runs the handlers of pending signals, such as Ctrl-C, and returns whether one has raised an exception. */
static bool signals_raise(void *context) {
  isolated_call *isolated = context;
  bool raised;
  PyEval_RestoreThread(isolated->thread);
  raised = PyErr_CheckSignals() != 0;
  isolated->thread = PyEval_SaveThread();
  return raised;
}

static void take_block(void *context, void *memory, size_t size) {
  isolated_call *isolated = context;
  PyEval_RestoreThread(isolated->thread);
  isolated->block = ext_block_map(isolated->state, memory, size);
  isolated->thread = PyEval_SaveThread();
}

static PyObject *import_isolated(ext_state *state, import_call *call) {
  isolated_call isolated = {.state = state};
  uint32_t sandbox;
  sk_error error;
  sk_status status;
  call->job.request = &call->request;
  call->job.interrupted = signals_raise;
  call->job.take = take_block;
  call->job.context = &isolated;
  isolated.thread = PyEval_SaveThread();
  status = worker_run(&call->job, &sandbox, &error);
  PyEval_RestoreThread(isolated.thread);
  if (status && !PyErr_Occurred()) ext_raise(state, &error, call->name);
  return isolated.block;
}

const char ext_load_file_doc[] =
    "_load_file($module, path, data, format, max_influences, join_vertices, ignore_animated_scale, up, frame,\n"
    "           curve_error, scene, formats, external, limits, isolation, /)\n--\n\n"
    "Return a Block from a file (path) or from bytes (data); see skinpy.load.\n\n"
    "`formats` are the allowed formats, 'glb;gltf', or None for all. `limits` are (file_bytes, nodes, depth, "
    "vertices,\n"
    "keys), where 0 means no limit. `isolation` is (worker, importer, libraries, bytes of memory, seconds,\n"
    "LD_LIBRARY_PATH, optionally whether it is strict), or None for an import in this process, after _start_importer.";

PyObject *ext_load_file(PyObject *module, PyObject *const *args, Py_ssize_t count) {
  ext_state *state = ext_state_of_module(module);
  PyObject *block;
  import_call call;
  if (!parse_call(args, count, &call)) return NULL;
  block = call.isolation == Py_None ? import_here(state, &call) : import_isolated(state, &call);
  release_call(&call);
  return block;
}

const char ext_sandbox_doc[] =
    "_sandbox($module, isolation, /)\n--\n\n"
    "Start a worker to find out how it is confined, and return three bools: for limits of memory and time, for a\n"
    "filter of system calls, and for rules about folders.";

PyObject *ext_sandbox(PyObject *module, PyObject *isolation) {
  ext_state *state = ext_state_of_module(module);
  worker_job job = {0};
  uint32_t sandbox;
  sk_error error;
  sk_status status;
  if (!read_isolation(isolation, &job)) return NULL;
  Py_BEGIN_ALLOW_THREADS status = worker_run(&job, &sandbox, &error);
  Py_END_ALLOW_THREADS if (!status) return Py_BuildValue("(NNN)", PyBool_FromLong(sandbox & WORKER_HAS_LIMITS),
                                                         PyBool_FromLong(sandbox & WORKER_HAS_FILTER),
                                                         PyBool_FromLong(sandbox & WORKER_HAS_FOLDERS));
  ext_raise(state, &error, NULL);
  return NULL;
}

/* ---- facts -------------------------------------------------------------------------------------- */

const char ext_start_importer_doc[] =
    "_start_importer($module, importer, libraries, /)\n--\n\n"
    "Open the importer and Assimp, unless they are open, and return the path, version and formats of Assimp.\n\n"
    "`importer` is the path of the importer's shared object, `libraries` a tuple of paths where Assimp may be.";

PyObject *ext_start_importer(PyObject *module, PyObject *args) {
  ext_state *state = ext_state_of_module(module);
  const sk_importer *importer;
  const char *path, **libraries;
  PyObject *list;
  sk_error error;
  sk_status status;
  if (!PyArg_ParseTuple(args, "yO!:_start_importer", &path, &PyTuple_Type, &list)) return NULL;
  importer = open_importer(state, path);
  if (!importer) return NULL;
  libraries = path_list(list);
  if (!libraries) return NULL;
  status = import_locked(state, importer, libraries, NULL, NULL, &error);
  PyMem_Free((void *)libraries);
  if (status) {
    ext_raise(state, &error, NULL);
    return NULL;
  }
  atomic_store(&state->importer, importer);
  return Py_BuildValue("sss", importer->library_path(), importer->library_version(), importer->library_formats());
}

#ifdef SKINPY_MESHOPTIMIZER
#define BUILT_MESHOPTIMIZER SKINPY_MESHOPTIMIZER
#else
#define BUILT_MESHOPTIMIZER NULL
#endif
#ifdef SKINPY_DRACO
#define BUILT_DRACO SKINPY_DRACO
#else
#define BUILT_DRACO NULL
#endif

const char ext_build_info_doc[] =
    "_build_info($module, /)\n--\n\nReturn a dict of what the extension was built with; see skinpy.build_info.";

PyObject *ext_build_info(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return Py_BuildValue("{s:s,s:s,s:z,s:z,s:s,s:s,s:I,s:s,s:s}", "version", SKINPY_VERSION, "built_with_assimp",
                       SKINPY_BUILT_ASSIMP, "built_with_meshoptimizer", BUILT_MESHOPTIMIZER, "built_with_draco",
                       BUILT_DRACO, "built_with_cglm", sk_math_cglm_version(), "built_with_python", PY_VERSION,
                       "block_version", SK_BLOCK_VERSION, "compiler", __VERSION__, "simd",
                       sk_simd_name(sk_simd_chosen()));
}
