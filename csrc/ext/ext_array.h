/* ext_array.h: NumPy arrays in and out; ext_array.c is the one place that includes NumPy. */
#ifndef EXT_ARRAY_H
#define EXT_ARRAY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#define EXT_MAX_DIMS 64 /* NumPy 2; older ones allow fewer and never more */

/* Leading axes: the shape of `time`. A scalar has ndim 0 and count 1. */
typedef struct ext_shape {
  int ndim;
  Py_ssize_t dims[EXT_MAX_DIMS];
  Py_ssize_t count; /* product of dims */
} ext_shape;

/* A C-contiguous array that is read or written; `owner` is a new reference that keeps it. */
typedef struct ext_array {
  PyObject *owner;
  void *data;
  size_t bytes;
} ext_array;

int ext_array_import(void);
void ext_array_release(ext_array *array);

/* Whether `object` is a numpy.bool. */
bool ext_is_bool_scalar(PyObject *object);

/* `time` as float64 of any shape; a number gives ndim 0. `single` lends room for that one number. */
int ext_read_times(PyObject *time, ext_array *array, ext_shape *shape, double *single);

/* An array that must be a float32, C-contiguous ndarray of `tail` axes behind any leading ones:
   a Pose's own. `shape` gets the leading axes; where `same` is given they must be equal to it. */
int ext_read_own(PyObject *object, const char *name, const Py_ssize_t *tail, int tail_count,
                 const ext_shape *same, ext_array *array, ext_shape *shape);

/* Anything that NumPy turns into finite, affine float32 (4,4), or shape + (4,4). `stride` is 0 or 16 floats. */
int ext_read_root(PyObject *object, const ext_shape *shape, ext_array *array, size_t *stride);

/* A float32 copy of a root, of whatever shape; ext_read_root checks the rest. New reference. */
PyObject *ext_copy_root(PyObject *object);

/* (..., 4, 4) to float32. */
int ext_read_matrices(PyObject *object, const char *name, ext_array *array, ext_shape *shape);

/* (..., S, 3|4, 4) to float32; `rows` gets 3 or 4. */
int ext_read_palette(PyObject *object, Py_ssize_t slots, ext_array *array, ext_shape *shape, int *rows);

/* `morph_weights`, (targets,) or shape + (targets,), as float32; `stride` gets 0 or targets. */
int ext_read_weights(PyObject *object, const ext_shape *shape, Py_ssize_t targets, ext_array *array,
                     size_t *stride);

/* One of several arrays that are spread over one table of rows x columns: cell (i, k) stands at
   data[i * row_stride + k * column_stride]; a stride is 0 where one row or column stands for all. */
typedef struct ext_grid {
  const char *name; /* of the argument */
  bool integers;    /* refuse what is no array of integers */
  ext_array array;  /* float64 */
  Py_ssize_t row_stride, column_stride;
} ext_grid;

/* Reads one object for each grid, and spreads them as NumPy does: a number is (1,1), (N,) is (N,1), (N,K) is
   itself. `rows` and `columns` get the table's shape. An object that is NULL leaves its grid without data.
   0 with TypeError or ValueError set; ext_array_release frees the arrays, read or not. */
int ext_read_grids(PyObject *const *objects, ext_grid *grids, int count, Py_ssize_t *rows, Py_ssize_t *columns);

/* The table that a grid stands for, written out: float64, or int32 (ValueError names the first integer that does
   not fit). */
void ext_grid_doubles(const ext_grid *grid, Py_ssize_t rows, Py_ssize_t columns, double *out);
int ext_grid_integers(const ext_grid *grid, Py_ssize_t rows, Py_ssize_t columns, int32_t *out);

/* The array to write: `out` itself, checked (api.md, Errors), or a new one where it is NULL or None.
   `inputs` are arrays that `out` must not overlap. */
int ext_output(PyObject *out, const char *name, const ext_shape *shape, const Py_ssize_t *tail,
               int tail_count, const ext_array *inputs, int input_count, ext_array *array);

/* A new float64 array of `shape`. */
int ext_new_doubles(const ext_shape *shape, ext_array *array);

/* 1 or 0 for matrices of 3x4 or 4x4: `affine`, or what `out` has where that is NULL or None; -1 with an error. */
int ext_choose_affine(PyObject *out, PyObject *affine);

/* destination[...] = source for the setters of a Pose; -1 with an error that has `name`, and nothing is written. */
int ext_assign(PyObject *destination, PyObject *source, const char *name);

#endif
