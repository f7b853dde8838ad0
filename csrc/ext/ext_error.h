/* ext_error.h: the one place that turns errors of the core into Python's. */
#ifndef EXT_ERROR_H
#define EXT_ERROR_H

#include "ext_state.h"

/* Raises what belongs to error->status; `path` (borrowed, may be NULL) goes into FileNotFoundError. */
void ext_raise(ext_state *state, const sk_error *error, PyObject *path);

/* KeyError: "unknown `what` `name`; did you mean ...", with the close ones of `names`. */
void ext_raise_unknown(ext_state *state, const char *what, PyObject *name, PyObject *names);

/* IndexError: "`argument` is `number`; the model has clips 0 to ...", with `names`, one for each clip. */
void ext_raise_clip_number(ext_state *state, const char *argument, Py_ssize_t number, PyObject *names);

#endif
