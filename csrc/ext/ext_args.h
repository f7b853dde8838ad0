/* ext_args.h: arguments of METH_FASTCALL | METH_KEYWORDS functions, without a tuple or a dict. */
#ifndef EXT_ARGS_H
#define EXT_ARGS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define EXT_MAX_ARGUMENTS 12

typedef struct ext_signature {
  const char *function;
  int required;   /* the first so many must be given */
  int positional; /* the first so many may be given by position */
  const char *names[EXT_MAX_ARGUMENTS + 1]; /* NULL-terminated */
} ext_signature;

/* Fills `values` (one per name, borrowed; NULL where not given). False with a TypeError set. */
int ext_parse(const ext_signature *signature, PyObject *const *args, Py_ssize_t count,
              PyObject *keywords, PyObject **values);

/* The index of `value`, a str, among `words` (NULL-terminated); `standard` where value is NULL.
   -1 with a ValueError (or TypeError) that names the argument and lists the words. */
int ext_parse_word(PyObject *value, const char *argument, const char *const *words, int standard);

/* Item `i` of a list, as a new reference, because another thread may take it out of the list at any time;
   NULL with an IndexError where the list has got shorter. */
PyObject *ext_list_item(PyObject *list, Py_ssize_t i);

/* 1 or 0 of True or False, Python's or NumPy's; `standard` where value is NULL; -1 with a TypeError that names the
   argument for everything else. */
int ext_parse_flag(PyObject *value, const char *argument, int standard);

/* The same, and `standard` where value is None too. */
int ext_parse_optional_flag(PyObject *value, const char *argument, int standard);

#endif
