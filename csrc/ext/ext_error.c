/* ext_error.c: see ext_error.h. */
#include "ext_error.h"

#include <errno.h>
#include <string.h>

static void raise_missing(PyObject *path) {
  PyObject *arguments = Py_BuildValue("(isO)", ENOENT, strerror(ENOENT), path ? path : Py_None);
  if (arguments) PyErr_SetObject(PyExc_FileNotFoundError, arguments);
  Py_XDECREF(arguments);
}

/* Messages of Assimp and names in a file may contain control characters, and bytes that are not UTF-8. A message that
   was cut may end within a character. */
static void raise_text(ext_state *state, PyObject *type, const char *message) {
  PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
  PyObject *shown = text ? PyObject_CallFunctionObjArgs(state->printable, text, NULL) : NULL;
  if (shown) PyErr_SetObject(type, shown);
  Py_XDECREF(shown);
  Py_XDECREF(text);
}

void ext_raise(ext_state *state, const sk_error *error, PyObject *path) {
  switch (error->status) {
  case SK_ERROR_MEMORY: raise_text(state, PyExc_MemoryError, error->message); break;
  case SK_ERROR_ARGUMENT: raise_text(state, PyExc_ValueError, error->message); break;
  case SK_ERROR_MISSING: raise_missing(path); break;
  case SK_ERROR_CRASHED: raise_text(state, state->importer_crashed, error->message); break;
  case SK_ERROR_LIMIT: raise_text(state, state->limit_exceeded, error->message); break;
  case SK_ERROR_FORMAT: raise_text(state, state->format_refused, error->message); break;
  default: raise_text(state, state->load_error, error->message); break;
  }
}

/* Raises `error`, and takes its reference. NULL means that making it failed, with an exception. */
static void raise_made(PyObject *error) {
  if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
  Py_XDECREF(error);
}

void ext_raise_unknown(ext_state *state, const char *what, PyObject *name, PyObject *names) {
  raise_made(PyObject_CallFunction(state->unknown_name, "sOO", what, name, names));
}

void ext_raise_clip_number(ext_state *state, const char *argument, PyObject *number, PyObject *names) {
  raise_made(PyObject_CallFunction(state->unknown_clip_number, "sOO", argument, number, names));
}
