/* ext_threads.c: the number of threads that jobs may use. skinpy/threads.py checks the arguments of users. */
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
  Py_BEGIN_ALLOW_THREADS /* it waits for running jobs of other threads */
      sk_set_thread_count(count);
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"_thread_count", thread_count, METH_NOARGS,
     "_thread_count($module, /)\n--\n\nReturn the number of threads that one call may use, including the calling one."},
    {"_set_thread_count", set_thread_count, METH_O,
     "_set_thread_count($module, count, /)\n--\n\nSet the number of threads: 1 to MAX_THREADS, or 0 for the default. "
     "Waits for running jobs."},
    {NULL, NULL, 0, NULL}};

int ext_threads_register(PyObject *module) {
  return PyModule_AddIntConstant(module, "MAX_THREADS", (long)SK_MAX_THREADS) ||
                 PyModule_AddFunctions(module, functions)
             ? -1
             : 0;
}
