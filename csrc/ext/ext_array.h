/* ext_array.h: reads NumPy arrays from arguments, and makes arrays for results. Only ext_array.c includes NumPy.

   Functions that return int return 1, or 0 with a Python exception that names the argument, unless the comment says
   otherwise. Arrays that a function fills are given to ext_array_release. */
#ifndef EXT_ARRAY_H
#define EXT_ARRAY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* The most numbers that an argument may hold: as float64 they take 32 GiB. More is a mistake, such as an array that was
   broadcast, and is refused before it is copied. */
#define EXT_MAX_NUMBERS ((Py_ssize_t)1 << 32)

#define EXT_MAX_DIMS    64 /* NumPy 2; older ones allow fewer and never more */

/* The leading axes of a result, such as the shape of `time`. A number has ndim 0 and count 1. */
typedef struct ext_shape {
  int ndim;
  Py_ssize_t dims[EXT_MAX_DIMS];
  Py_ssize_t count; /* product of dims */
} ext_shape;

/* A C-contiguous array that a job reads or writes. */
typedef struct ext_array {
  PyObject *owner; /* a reference that keeps `data`, or NULL */
  void *data;
  size_t bytes;    /* of data */
} ext_array;

/* Opens NumPy's C interface: 0, or -1 with an exception. */
int ext_array_import(void);
void ext_array_release(ext_array *array);

/* Whether `object` is a numpy.bool. */
bool ext_is_bool_scalar(PyObject *object);

/* Reads `time` as float64 of any shape. For a number, which is most common, no array is made: `array` points to
   `single`, which the caller provides. */
int ext_read_times(PyObject *time, ext_array *array, ext_shape *shape, double *single);

/* Reads an array of a Pose without converting it: it must be a C-contiguous float32 ndarray whose last axes are `tail`.
   `shape` gets the leading axes; if `same` is not NULL, they must be equal to it. */
int ext_read_own(PyObject *object, const char *name, const Py_ssize_t *tail, int tail_count, const ext_shape *same,
                 ext_array *array, ext_shape *shape);

/* Whether a job may write to the array that ext_read_own has read. */
bool ext_is_writable(const ext_array *array);

/* Reads `root` as float32 of shape (4,4) or shape + (4,4): finite and affine. `stride` gets the floats from one
   matrix to the next: 16, or 0 if there is one for all. */
int ext_read_root(PyObject *object, const ext_shape *shape, ext_array *array, size_t *stride);

/* Returns a new float32 array with a copy of `root`, whose shape and numbers are not checked. */
PyObject *ext_copy_root(PyObject *object);

/* Reads matrices of shape (..., 4, 4) as float32. */
int ext_read_matrices(PyObject *object, const char *name, ext_array *array, ext_shape *shape);

/* Reads a palette of shape (..., slots, 3, 4) or (..., slots, 4, 4) as float32. `rows` gets 3 or 4. */
int ext_read_palette(PyObject *object, Py_ssize_t slots, ext_array *array, ext_shape *shape, int *rows);

/* Reads `morph_weights` of shape (targets,) or shape + (targets,) as float32. `stride` gets the floats from one pose to
   the next: `targets`, or 0 if the weights are the same for all poses. */
int ext_read_weights(PyObject *object, const ext_shape *shape, Py_ssize_t targets, ext_array *array, size_t *stride);

/* One of several arrays that are broadcast to one table. Cell (i, k) is data[i * row_stride + k * column_stride]; a
   stride is 0 if one row or one column is used for all. */
typedef struct ext_grid {
  const char *name; /* of the argument, for messages */
  bool integers;    /* whether other numbers than integers are refused */
  ext_array array;  /* float64 */
  Py_ssize_t row_stride, column_stride;
} ext_grid;

/* Reads one object for each grid, and broadcasts all of them to one table, whose shape `rows` and `columns` get: a
   number is (1,1), (N,) is (N,1), and (N,K) stays. An object that is NULL leaves its grid without data. */
int ext_read_grids(PyObject *const *objects, ext_grid *grids, int count, Py_ssize_t *rows, Py_ssize_t *columns);

/* Write the whole table of a grid, row by row, to `out`, which the caller provides. Integers that do not fit into int32
   give a ValueError. */
void ext_grid_doubles(const ext_grid *grid, Py_ssize_t rows, Py_ssize_t columns, double *out);
int ext_grid_integers(const ext_grid *grid, Py_ssize_t rows, Py_ssize_t columns, int32_t *out);

/* Gets the array for a result of shape + tail, float32: `out`, if it is one that can be written directly and
   overlaps none of the `inputs`, or a new array if `out` is NULL or None. */
int ext_output(PyObject *out, const char *name, const ext_shape *shape, const Py_ssize_t *tail, int tail_count,
               const ext_array *inputs, int input_count, ext_array *array);

/* Makes a new float64 array of `shape`. */
int ext_new_doubles(const ext_shape *shape, ext_array *array);

/* Returns 1 for matrices of 3x4 and 0 for 4x4: as `affine` says, or as `out` has them if `affine` is NULL or None.
   Returns -1 with an exception if the two contradict each other. */
int ext_choose_affine(PyObject *out, PyObject *affine);

/* Does destination[...] = source, for the setters of a Pose: 0, or -1 with an exception, and then nothing is
   written. */
int ext_assign(PyObject *destination, PyObject *source, const char *name);

#endif
