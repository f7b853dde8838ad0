/* ext_error.h: turns errors of the core and the importer into Python exceptions. */
#ifndef EXT_ERROR_H
#define EXT_ERROR_H

#include "ext_state.h"

/* Sets the exception that belongs to error->status, with the message of the error. A FileNotFoundError gets `path`
   instead, which is borrowed and may be NULL. */
void ext_raise(ext_state *state, const sk_error *error, PyObject *path);

/* Sets the KeyError "unknown `what` `name`; did you mean ...", which suggests the closest ones of `names`. */
void ext_raise_unknown(ext_state *state, const char *what, PyObject *name, PyObject *names);

/* Sets the IndexError "`argument` is `number`; the model has clips 0 to ...". `names` has the name of each clip. */
void ext_raise_clip_number(ext_state *state, const char *argument, PyObject *number, PyObject *names);

#endif
