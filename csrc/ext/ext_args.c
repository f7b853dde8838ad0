/* ext_args.c: see ext_args.h. */
#include "ext_args.h"

#include "ext_array.h"

/* The search begins at `start`, because most calls name their arguments in order. -1: there is no such name. */
static int find_name(const ext_signature *signature, PyObject *name, int start) {
  int i;
  for (i = start; signature->names[i]; i++)
    if (PyUnicode_CompareWithASCIIString(name, signature->names[i]) == 0) return i;
  for (i = 0; i < start; i++)
    if (PyUnicode_CompareWithASCIIString(name, signature->names[i]) == 0) return i;
  return -1;
}

/* Stores one keyword argument, and sets `next` to the position behind its name. */
static int parse_keyword(const ext_signature *signature, PyObject *name, PyObject *value, PyObject **values,
                         int *next) {
  int i = find_name(signature, name, *next);
  if (i < 0) {
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", signature->function, name);
    return 0;
  }
  if (values[i]) {
    PyErr_Format(PyExc_TypeError, "%s() got two values for argument %R", signature->function, name);
    return 0;
  }
  values[i] = value;
  *next = i + 1;
  return 1;
}

int ext_parse(const ext_signature *signature, PyObject *const *args, Py_ssize_t count, PyObject *keywords,
              PyObject **values) {
  Py_ssize_t i, keyword_count = keywords ? PyTuple_Size(keywords) : 0;
  int next = (int)count;
  for (i = 0; signature->names[i]; i++) values[i] = NULL;
  if (count > signature->positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments (%zd given)", signature->function,
                 signature->positional, count);
    return 0;
  }
  for (i = 0; i < count; i++) values[i] = args[i];
  for (i = 0; i < keyword_count; i++)
    if (!parse_keyword(signature, PyTuple_GetItem(keywords, i), args[count + i], values, &next)) return 0;
  for (i = 0; i < signature->required; i++)
    if (!values[i]) {
      PyErr_Format(PyExc_TypeError, "%s() is missing the argument '%s'", signature->function, signature->names[i]);
      return 0;
    }
  return 1;
}

PyObject *ext_brief(PyObject *value) {
  PyObject *module = PyImport_ImportModule("skinpy._arguments");
  PyObject *text = module ? PyObject_CallMethod(module, "brief", "(O)", value) : NULL;
  Py_XDECREF(module);
  return text;
}

void ext_refuse(PyObject *type, const char *argument, PyObject *value, const char *wanted) {
  PyObject *text = ext_brief(value);
  if (text) PyErr_Format(type, "%s is %U; expected %s", argument, text, wanted);
  Py_XDECREF(text);
}

void ext_refuse_type(const char *argument, PyObject *value, const char *wanted) {
  PyObject *name = PyType_GetName(Py_TYPE(value));
  if (name) PyErr_Format(PyExc_TypeError, "%s is of type %U; expected %s", argument, name, wanted);
  Py_XDECREF(name);
}

static PyObject *join_words(const char *const *words) {
  PyObject *all = PyUnicode_FromFormat("'%s'", words[0]);
  int i;
  for (i = 1; all && words[i]; i++) {
    PyObject *longer = PyUnicode_FromFormat("%U, '%s'", all, words[i]);
    Py_DECREF(all);
    all = longer;
  }
  return all;
}

int ext_parse_word(PyObject *value, const char *argument, const char *const *words, int standard) {
  PyObject *all, *came;
  int i;
  if (!value) return standard;
  if (!PyUnicode_Check(value)) {
    ext_refuse_type(argument, value, "str");
    return -1;
  }
  for (i = 0; words[i]; i++)
    if (PyUnicode_CompareWithASCIIString(value, words[i]) == 0) return i;
  came = ext_brief(value);
  all = came ? join_words(words) : NULL;
  if (all) PyErr_Format(PyExc_ValueError, "%s is %U; expected one of %U", argument, came, all);
  Py_XDECREF(came);
  Py_XDECREF(all);
  return -1;
}

/* Only bools are accepted, because strings such as "no" and "false" are true in Python. */
static int read_flag(PyObject *value, const char *argument, const char *wanted) {
  if (value == Py_True) return 1;
  if (value == Py_False) return 0;
  if (ext_is_bool_scalar(value)) return PyObject_IsTrue(value);
  ext_refuse(PyExc_TypeError, argument, value, wanted);
  return -1;
}

int ext_parse_flag(PyObject *value, const char *argument, int standard) {
  return value ? read_flag(value, argument, "True or False") : standard;
}

int ext_parse_optional_flag(PyObject *value, const char *argument, int standard) {
  return value && value != Py_None ? read_flag(value, argument, "True, False or None") : standard;
}

PyObject *ext_list_item(PyObject *list, Py_ssize_t i) {
#ifdef Py_LIMITED_API
  return Py_XNewRef(PyList_GetItem(list, i)); /* the GIL keeps the item until it has its reference */
#else
  return PyList_GetItemRef(list, i);
#endif
}
