/* ext_threads.c: how many threads the jobs may use; skinpy/threads.py checks what users ask for. */
#include "ext_state.h"

#include "../core/base/sk_threads.h"

static PyObject *thread_count(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyLong_FromSize_t(sk_thread_count());
}

static PyObject *set_thread_count(PyObject *module, PyObject *number) {
  size_t count = PyLong_AsSize_t(number);
  (void)module;
  if (count == (size_t)-1 && PyErr_Occurred()) return NULL;
  Py_BEGIN_ALLOW_THREADS /* it may wait for the work of other threads */
  sk_set_thread_count(count);
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"_thread_count", thread_count, METH_NOARGS,
     "_thread_count($module, /)\n--\n\nThreads that one call may use, its own included."},
    {"_set_thread_count", set_thread_count, METH_O,
     "_set_thread_count($module, count, /)\n--\n\n1 to MAX_THREADS, or 0 for the default; waits for running work."},
    {NULL, NULL, 0, NULL}};

int ext_threads_register(PyObject *module) {
  return PyModule_AddIntConstant(module, "MAX_THREADS", (long)SK_MAX_THREADS) ||
                 PyModule_AddFunctions(module, functions)
             ? -1
             : 0;
}
