/* ext_args.h: parses the arguments of functions with METH_FASTCALL | METH_KEYWORDS.

   PyArg_ParseTupleAndKeywords needs a tuple and a dict, which take longer to make than a short job takes to run. All
   functions here set a Python exception when they fail. References that they fill in are borrowed, unless the comment
   says otherwise. */
#ifndef EXT_ARGS_H
#define EXT_ARGS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define EXT_MAX_ARGUMENTS 12

/* Names and kinds of a function's parameters. */
typedef struct ext_signature {
  const char *function; /* for messages */
  int required;         /* number of parameters, from the first one, that must be given */
  int positional;       /* number of parameters, from the first one, that may be given by position */
  const char *names[EXT_MAX_ARGUMENTS + 1]; /* NULL-terminated */
} ext_signature;

/* Fills `values`, one for each name: a borrowed reference, or NULL if the argument was not given. Returns 1, or 0
   with a TypeError. */
int ext_parse(const ext_signature *signature, PyObject *const *args, Py_ssize_t count, PyObject *keywords,
              PyObject **values);

/* Returns a new str that shows a value in a message, in one line of at most 100 characters: `skinpy._arguments.brief`
   makes it. Returns NULL with an exception. */
PyObject *ext_brief(PyObject *value);

/* Raises "NAME is VALUE; expected WANTED" of a type. */
void ext_refuse(PyObject *type, const char *argument, PyObject *value, const char *wanted);

/* Raises the TypeError "ARGUMENT is of type TYPE; expected WANTED". */
void ext_refuse_type(const char *argument, PyObject *value, const char *wanted);

/* Returns the index of the str `value` in `words`, a NULL-terminated list, or `standard` if `value` is NULL. Returns -1
   with a TypeError, or with a ValueError that lists the words, if it is something else. */
int ext_parse_word(PyObject *value, const char *argument, const char *const *words, int standard);

/* Returns a new reference to item `i` of a list, because another thread may remove the item at any time. Returns NULL
   with an IndexError if the list has become shorter. */
PyObject *ext_list_item(PyObject *list, Py_ssize_t i);

/* Returns 1 for True and 0 for False, of Python or NumPy, and `standard` if `value` is NULL. Returns -1 with a
   TypeError for everything else. */
int ext_parse_flag(PyObject *value, const char *argument, int standard);

/* The same, but None means `standard` too. */
int ext_parse_optional_flag(PyObject *value, const char *argument, int standard);

#endif
