/* ext_array.c: see ext_array.h. */
#include "ext_array.h"

#include "ext_args.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION    NPY_1_25_API_VERSION
#include <math.h>
#include <numpy/arrayobject.h>
#include <string.h>

int ext_array_import(void) { return _import_array(); }

void ext_array_release(ext_array *array) { Py_CLEAR(array->owner); }

bool ext_is_bool_scalar(PyObject *object) { return PyArray_IsScalar(object, Bool); }

/* ---- shapes in words ------------------------------------------------------------------ */

/* A new str such as "(2, 3)", or "(..., 3)" if `open` is true and the array may have more leading axes. */
static PyObject *shape_words(const Py_ssize_t *dims, int ndim, bool open) {
  PyObject *text = PyUnicode_FromString(open ? "(..." : "("), *whole;
  int i;
  for (i = 0; text && i < ndim; i++) {
    PyObject *longer = PyUnicode_FromFormat("%U%s%zd", text, i || open ? ", " : "", dims[i]);
    Py_DECREF(text);
    text = longer;
  }
  whole = text ? PyUnicode_FromFormat("%U%s)", text, ndim == 1 && !open ? "," : "") : NULL;
  Py_XDECREF(text);
  return whole;
}

static void raise_shape(const char *name, PyArrayObject *array, const Py_ssize_t *wanted, int ndim, bool open) {
  PyObject *came = shape_words(PyArray_DIMS(array), PyArray_NDIM(array), false);
  PyObject *want = shape_words(wanted, ndim, open);
  if (came && want) PyErr_Format(PyExc_ValueError, "%s has shape %U; expected %U", name, came, want);
  Py_XDECREF(came);
  Py_XDECREF(want);
}

static bool ends_with(PyArrayObject *array, const Py_ssize_t *tail, int count) {
  int lead = PyArray_NDIM(array) - count;
  return lead >= 0 && memcmp(PyArray_DIMS(array) + lead, tail, (size_t)count * sizeof *tail) == 0;
}

static void lead_of(PyArrayObject *array, int tail_count, ext_shape *shape) {
  int i;
  shape->ndim = PyArray_NDIM(array) - tail_count;
  shape->count = 1;
  for (i = 0; i < shape->ndim; i++) {
    shape->dims[i] = PyArray_DIM(array, i);
    shape->count *= shape->dims[i];
  }
}

static int join(const ext_shape *shape, const Py_ssize_t *tail, int tail_count, Py_ssize_t *dims) {
  if (shape->ndim + tail_count > EXT_MAX_DIMS) {
    PyErr_Format(PyExc_ValueError, "time has %d axes; expected at most %d", shape->ndim, EXT_MAX_DIMS - tail_count);
    return -1;
  }
  memcpy(dims, shape->dims, (size_t)shape->ndim * sizeof *dims);
  memcpy(dims + shape->ndim, tail, (size_t)tail_count * sizeof *dims);
  return shape->ndim + tail_count;
}

static void take(ext_array *array, PyArrayObject *owner) {
  array->owner = (PyObject *)owner;
  array->data = PyArray_DATA(owner);
  array->bytes = (size_t)PyArray_NBYTES(owner);
}

/* ---- input ----------------------------------------------------------------------------- */

/* A new reference to `object` as an array of any type. It replaces NumPy's ValueError for ragged lists, which does not
   name the argument. */
static PyArrayObject *any_array(PyObject *object, const char *name) {
  PyArrayObject *array = (PyArrayObject *)PyArray_FROM_O(object);
  if (!array && PyErr_ExceptionMatches(PyExc_ValueError)) {
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s is ragged, or contains something other than numbers", name);
  }
  return array;
}

/* A new float32 array with the numbers of a float64 array. A number that becomes infinite gives a ValueError; NumPy
   would only warn of it. */
static PyArrayObject *narrowed(PyArrayObject *array, const char *name) {
  PyArrayObject *wide = (PyArrayObject *)PyArray_FROMANY((PyObject *)array, NPY_DOUBLE, 0, 0, NPY_ARRAY_IN_ARRAY);
  PyArrayObject *narrow =
      wide ? (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(wide), PyArray_DIMS(wide), NPY_FLOAT) : NULL;
  if (narrow) {
    const double *from = PyArray_DATA(wide);
    float *to = PyArray_DATA(narrow);
    npy_intp i, count = PyArray_SIZE(wide);
    bool fits = true;
    for (i = 0; i < count; i++) {
      to[i] = (float)from[i];
      if (isinf(to[i]) && !isinf(from[i])) fits = false;
    }
    if (!fits) {
      PyErr_Format(PyExc_ValueError, "%s holds a number that is not finite in float32", name);
      Py_CLEAR(narrow);
    }
  }
  Py_XDECREF((PyObject *)wide);
  return narrow;
}

/* A new reference to `object` as a C-contiguous, aligned array of `type`. Other things than real numbers give a
   TypeError. */
static PyArrayObject *convert(PyObject *object, const char *name, int type) {
  PyArrayObject *array = (PyArrayObject *)object;
  PyObject *result;
  if (PyArray_CheckExact(object) && PyArray_TYPE(array) == type && PyArray_ISCARRAY_RO(array)) {
    Py_INCREF(object); /* most arrays; asking NumPy takes longer than a short job */
    return array;
  }
  array = any_array(object, name);
  if (!array) return NULL;
  if (PyArray_SIZE(array) > EXT_MAX_NUMBERS) {
    PyErr_Format(PyExc_ValueError, "%s holds %zd numbers; expected at most %zd", name, PyArray_SIZE(array),
                 EXT_MAX_NUMBERS);
    Py_DECREF(array);
    return NULL;
  }
  if (!PyArray_ISNUMBER(array) || PyArray_ISCOMPLEX(array)) {
    PyErr_Format(PyExc_TypeError, "%s has dtype %S; expected real numbers", name, (PyObject *)PyArray_DESCR(array));
    Py_DECREF(array);
    return NULL;
  }
  if (type == NPY_FLOAT && PyArray_TYPE(array) == NPY_DOUBLE) result = (PyObject *)narrowed(array, name);
  else result = PyArray_FROMANY((PyObject *)array, type, 0, 0, NPY_ARRAY_IN_ARRAY | NPY_ARRAY_FORCECAST);
  Py_DECREF(array);
  return (PyArrayObject *)result;
}

int ext_read_times(PyObject *time, ext_array *array, ext_shape *shape, double *single) {
  PyArrayObject *times;
  memset(array, 0, sizeof *array);
  shape->ndim = 0;
  shape->count = 1;
  if (PyFloat_Check(time) || (PyLong_Check(time) && !PyBool_Check(time))) {
    *single = PyFloat_AsDouble(time);
    if (*single == -1.0 && PyErr_Occurred()) { /* an int that is too large */
      PyErr_SetString(PyExc_ValueError, "time is beyond what a float holds; expected finite seconds");
      return 0;
    }
    array->data = single;
    return 1;
  }
  times = convert(time, "time", NPY_DOUBLE);
  if (!times) return 0;
  lead_of(times, 0, shape);
  take(array, times);
  return 1;
}

int ext_read_own(PyObject *object, const char *name, const Py_ssize_t *tail, int tail_count, const ext_shape *same,
                 ext_array *array, ext_shape *shape) {
  PyArrayObject *own = (PyArrayObject *)object;
  memset(array, 0, sizeof *array);
  if (!PyArray_Check(object) || PyArray_TYPE(own) != NPY_FLOAT || !PyArray_ISCARRAY_RO(own)) {
    PyErr_Format(PyExc_ValueError, "pose.%s is not a C-contiguous float32 array; expected the array of a pose", name);
    return 0;
  }
  if (!ends_with(own, tail, tail_count)) {
    raise_shape(name, own, tail, tail_count, true);
    return 0;
  }
  lead_of(own, tail_count, shape);
  if (same &&
      (shape->ndim != same->ndim || memcmp(shape->dims, same->dims, (size_t)same->ndim * sizeof *same->dims) != 0)) {
    PyErr_Format(PyExc_ValueError, "pose.%s and pose.translation have different leading axes; expected the same", name);
    return 0;
  }
  Py_INCREF(object);
  take(array, own);
  return 1;
}

bool ext_is_writable(const ext_array *array) { return PyArray_ISWRITEABLE((PyArrayObject *)array->owner); }

#define MAX_RESULT_NUMBERS 0x1p38 /* float32 numbers: 1 TiB */

#define LAST_ROW_TOLERANCE 1e-5f /* errors that inverting or multiplying in float32 leaves in a last row */

/* The jobs do not read the last row of a matrix, but assume that it is 0 0 0 1. */
static int check_affine(PyArrayObject *matrices, const char *name) {
  const float *m = PyArray_DATA(matrices);
  npy_intp i, k, count = PyArray_SIZE(matrices) / 16;
  for (i = 0; i < count; i++, m += 16) {
    for (k = 0; k < 16 && isfinite(m[k]); k++) {}
    if (k < 16) {
      PyErr_Format(PyExc_ValueError, "%s holds a number that is not finite; expected finite numbers", name);
      return 0;
    }
    if (fmaxf(fmaxf(fabsf(m[12]), fabsf(m[13])), fmaxf(fabsf(m[14]), fabsf(m[15] - 1.0f))) > LAST_ROW_TOLERANCE) {
      PyErr_Format(PyExc_ValueError, "%s is not affine; expected matrices whose last row is 0 0 0 1", name);
      return 0;
    }
  }
  return 1;
}

PyObject *ext_copy_root(PyObject *object) {
  PyArrayObject *root = convert(object, "root", NPY_FLOAT);
  PyObject *copy = root ? PyArray_NewCopy(root, NPY_CORDER) : NULL;
  Py_XDECREF((PyObject *)root);
  return copy;
}

int ext_read_root(PyObject *object, const ext_shape *shape, ext_array *array, size_t *stride) {
  static const Py_ssize_t matrix[2] = {4, 4};
  Py_ssize_t wanted[EXT_MAX_DIMS];
  int ndim = join(shape, matrix, 2, wanted);
  PyArrayObject *root;
  memset(array, 0, sizeof *array);
  *stride = 0;
  if (ndim < 0) return 0;
  root = convert(object, "root", NPY_FLOAT);
  if (!root) return 0;
  if (PyArray_NDIM(root) == ndim && ends_with(root, wanted, ndim)) *stride = 16;
  else if (PyArray_NDIM(root) != 2 || !ends_with(root, matrix, 2)) {
    raise_shape("root", root, wanted, ndim, false);
    Py_DECREF(root);
    return 0;
  }
  if (!check_affine(root, "root")) {
    Py_DECREF(root);
    return 0;
  }
  take(array, root);
  return 1;
}

int ext_read_matrices(PyObject *object, const char *name, ext_array *array, ext_shape *shape) {
  static const Py_ssize_t matrix[2] = {4, 4};
  PyArrayObject *matrices = convert(object, name, NPY_FLOAT);
  memset(array, 0, sizeof *array);
  if (!matrices) return 0;
  if (!ends_with(matrices, matrix, 2)) {
    raise_shape(name, matrices, matrix, 2, true);
    Py_DECREF(matrices);
    return 0;
  }
  lead_of(matrices, 2, shape);
  take(array, matrices);
  return 1;
}

int ext_read_palette(PyObject *object, Py_ssize_t slots, ext_array *array, ext_shape *shape, int *rows) {
  Py_ssize_t tail[3] = {slots, 4, 4};
  PyArrayObject *given = any_array(object, "palette"), *palette;
  memset(array, 0, sizeof *array);
  if (!given) return 0;
  if (PyArray_NDIM(given) == 0) { /* None, a str, or another object that NumPy puts into an array as it is */
    char wanted[96];
    PyOS_snprintf(wanted, sizeof wanted, "a Pose, or a palette of shape (..., %zd, 3 or 4, 4)", slots);
    ext_refuse(PyExc_TypeError, "pose_or_palette", object, wanted);
    Py_DECREF(given);
    return 0;
  }
  palette = convert((PyObject *)given, "palette", NPY_FLOAT);
  Py_DECREF(given);
  if (!palette) return 0;
  if (PyArray_NDIM(palette) >= 2) tail[1] = PyArray_DIM(palette, PyArray_NDIM(palette) - 2) == 3 ? 3 : 4;
  if (!ends_with(palette, tail, 3)) {
    raise_shape("palette", palette, tail, 3, true);
    Py_DECREF(palette);
    return 0;
  }
  *rows = (int)tail[1];
  lead_of(palette, 3, shape);
  take(array, palette);
  return 1;
}

int ext_read_weights(PyObject *object, const ext_shape *shape, Py_ssize_t targets, ext_array *array, size_t *stride) {
  Py_ssize_t wanted[EXT_MAX_DIMS];
  int ndim = join(shape, &targets, 1, wanted);
  PyArrayObject *weights;
  memset(array, 0, sizeof *array);
  *stride = 0;
  if (ndim < 0) return 0;
  weights = convert(object, "morph_weights", NPY_FLOAT);
  if (!weights) return 0;
  if (PyArray_NDIM(weights) == ndim && ends_with(weights, wanted, ndim)) *stride = (size_t)targets;
  else if (PyArray_NDIM(weights) != 1 || !ends_with(weights, &targets, 1)) {
    raise_shape("morph_weights", weights, wanted, ndim, false);
    Py_DECREF(weights);
    return 0;
  }
  take(array, weights);
  return 1;
}

/* ---- tables ------------------------------------------------------------------------------ */

static PyArrayObject *convert_cells(PyObject *object, const ext_grid *grid) {
  PyArrayObject *array = any_array(object, grid->name), *cells;
  if (!array) return NULL;
  /* NumPy makes an empty list an array of floats; it has none that could be refused. */
  if (grid->integers && !PyArray_ISINTEGER(array) && PyArray_SIZE(array) > 0) {
    PyErr_Format(PyExc_TypeError, "%s has dtype %S; expected integers", grid->name, (PyObject *)PyArray_DESCR(array));
    Py_DECREF(array);
    return NULL;
  }
  cells = convert((PyObject *)array, grid->name, NPY_DOUBLE);
  Py_DECREF(array);
  return cells;
}

static int refuse_grid(const ext_grid *grid, const char *wanted) {
  PyArrayObject *cells = (PyArrayObject *)grid->array.owner;
  PyObject *came = shape_words(PyArray_DIMS(cells), PyArray_NDIM(cells), false);
  if (came) PyErr_Format(PyExc_ValueError, "%s has shape %U; expected %s", grid->name, came, wanted);
  Py_XDECREF(came);
  return 0;
}

/* The length of an axis of the table; 1 if the array does not have the axis. */
static Py_ssize_t grid_length(const ext_grid *grid, int axis) {
  PyArrayObject *cells = (PyArrayObject *)grid->array.owner;
  return axis < PyArray_NDIM(cells) ? PyArray_DIM(cells, axis) : 1;
}

/* The length other than 1 that an axis has in a grid, or 1. `from` gets the first grid with that length. */
static Py_ssize_t common_length(const ext_grid *grids, int count, int axis, const ext_grid **from) {
  int i;
  for (i = 0; i < count; i++)
    if (grids[i].array.owner && grid_length(&grids[i], axis) != 1) {
      *from = &grids[i];
      return grid_length(&grids[i], axis);
    }
  *from = NULL;
  return 1;
}

static int spread_grid(ext_grid *grid, int axis, Py_ssize_t length, const ext_grid *from, Py_ssize_t *stride) {
  Py_ssize_t own = grid_length(grid, axis);
  char wanted[160];
  *stride = own == 1 ? 0 : axis == 0 ? grid_length(grid, 1) : 1;
  if (own == 1 || own == length) return 1;
  PyOS_snprintf(wanted, sizeof wanted, "%zd or 1 %s, as %.60s has %zd", length, axis == 0 ? "rows" : "columns",
                from->name, length);
  return refuse_grid(grid, wanted);
}

int ext_read_grids(PyObject *const *objects, ext_grid *grids, int count, Py_ssize_t *rows, Py_ssize_t *columns) {
  const ext_grid *first_rows, *first_columns;
  int i;
  for (i = 0; i < count; i++) memset(&grids[i].array, 0, sizeof grids[i].array);
  for (i = 0; i < count; i++) {
    PyArrayObject *cells = objects[i] ? convert_cells(objects[i], &grids[i]) : NULL;
    if (!objects[i]) continue;
    if (!cells) return 0;
    take(&grids[i].array, cells);
    if (PyArray_NDIM(cells) > 2) return refuse_grid(&grids[i], "(N,) or (N, K)");
  }
  *rows = common_length(grids, count, 0, &first_rows);
  *columns = common_length(grids, count, 1, &first_columns);
  for (i = 0; i < count; i++)
    if (grids[i].array.owner && (!spread_grid(&grids[i], 0, *rows, first_rows, &grids[i].row_stride) ||
                                 !spread_grid(&grids[i], 1, *columns, first_columns, &grids[i].column_stride)))
      return 0;
  return 1;
}

void ext_grid_doubles(const ext_grid *grid, Py_ssize_t rows, Py_ssize_t columns, double *out) {
  const double *cells = grid->array.data;
  Py_ssize_t i, k;
  for (i = 0; i < rows; i++)
    for (k = 0; k < columns; k++) *out++ = cells[i * grid->row_stride + k * grid->column_stride];
}

static int refuse_cell(const ext_grid *grid, Py_ssize_t row, Py_ssize_t column, double cell) {
  char place[48], number[32];
  if (column < 0) PyOS_snprintf(place, sizeof place, "[%zd]", row);
  else PyOS_snprintf(place, sizeof place, "[%zd, %zd]", row, column);
  PyOS_snprintf(number, sizeof number, "%.0f", cell);
  PyErr_Format(PyExc_ValueError, "%s%s is %s; expected an integer of 32 bits", grid->name, place, number);
  return 0;
}

int ext_grid_integers(const ext_grid *grid, Py_ssize_t rows, Py_ssize_t columns, int32_t *out) {
  const double *cells = grid->array.data;
  Py_ssize_t i, k;
  for (i = 0; i < rows; i++)
    for (k = 0; k < columns; k++) {
      double cell = cells[i * grid->row_stride + k * grid->column_stride];
      if (!(cell >= INT32_MIN && cell <= INT32_MAX)) return refuse_cell(grid, i, columns > 1 ? k : -1, cell);
      *out++ = (int32_t)cell;
    }
  return 1;
}

/* ---- output ------------------------------------------------------------------------------ */

static bool overlaps(PyArrayObject *out, const ext_array *input) {
  const char *a = PyArray_DATA(out), *b = input->data;
  return input->owner && a < b + input->bytes && b < a + PyArray_NBYTES(out);
}

static int check_output(PyArrayObject *out, const char *name, const Py_ssize_t *dims, int ndim, const ext_array *inputs,
                        int input_count) {
  int i;
  if (PyArray_NDIM(out) != ndim || !ends_with(out, dims, ndim)) {
    raise_shape(name, out, dims, ndim, false);
    return 0;
  }
  if (PyArray_TYPE(out) != NPY_FLOAT || !PyArray_ISNOTSWAPPED(out)) {
    PyErr_Format(PyExc_ValueError, "%s has dtype %S; expected float32 in native byte order", name,
                 (PyObject *)PyArray_DESCR(out));
    return 0;
  }
  if (!PyArray_ISWRITEABLE(out)) {
    PyErr_Format(PyExc_ValueError, "%s is read-only; expected a writable array", name);
    return 0;
  }
  if (!PyArray_ISCARRAY(out)) {
    PyErr_Format(PyExc_ValueError, "%s is not C-contiguous and aligned; expected a contiguous array", name);
    return 0;
  }
  for (i = 0; i < input_count; i++)
    if (overlaps(out, &inputs[i])) {
      PyErr_Format(PyExc_ValueError, "%s overlaps an input; expected memory of its own", name);
      return 0;
    }
  return 1;
}

static int is_array(PyObject *out, const char *name) {
  if (PyArray_Check(out)) return 1;
  ext_refuse_type(name, out, "a numpy.ndarray");
  return 0;
}

/* Refuses results that no machine holds, which come of many times, with words of its own: NumPy's are of arrays that the
   caller has never seen. */
static bool result_fits(const Py_ssize_t *dims, int ndim) {
  double numbers = 1;
  int i;
  for (i = 0; i < ndim; i++) numbers *= (double)dims[i];
  if (numbers <= MAX_RESULT_NUMBERS) return true;
  PyErr_Format(PyExc_ValueError,
               "time asks for a result of %zd GiB; expected at most %zd GiB: ask for fewer times at once",
               (Py_ssize_t)fmin(numbers / (1 << 28), 1e15), (Py_ssize_t)(MAX_RESULT_NUMBERS / (1 << 28)));
  return false;
}

int ext_output(PyObject *out, const char *name, const ext_shape *shape, const Py_ssize_t *tail, int tail_count,
               const ext_array *inputs, int input_count, ext_array *array) {
  Py_ssize_t dims[EXT_MAX_DIMS];
  int ndim = join(shape, tail, tail_count, dims);
  PyArrayObject *fresh;
  memset(array, 0, sizeof *array);
  if (ndim < 0) return 0;
  if (out && out != Py_None) {
    if (!is_array(out, name) || !check_output((PyArrayObject *)out, name, dims, ndim, inputs, input_count)) return 0;
    Py_INCREF(out);
    take(array, (PyArrayObject *)out);
    return 1;
  }
  fresh = result_fits(dims, ndim) ? (PyArrayObject *)PyArray_SimpleNew(ndim, dims, NPY_FLOAT) : NULL;
  if (!fresh) return 0;
  take(array, fresh);
  return 1;
}

int ext_new_doubles(const ext_shape *shape, ext_array *array) {
  npy_intp dims[EXT_MAX_DIMS];
  PyArrayObject *fresh;
  int i;
  memset(array, 0, sizeof *array);
  for (i = 0; i < shape->ndim; i++) dims[i] = shape->dims[i];
  fresh = (PyArrayObject *)PyArray_SimpleNew(shape->ndim, dims, NPY_DOUBLE);
  if (!fresh) return 0;
  take(array, fresh);
  return 1;
}

/* Whether an array ends in (3, 4): 1 or 0, or -1 with a TypeError if it is not an array. */
static int ends_affine(PyObject *out) {
  static const Py_ssize_t affine[2] = {3, 4};
  if (!is_array(out, "out")) return -1;
  return ends_with((PyArrayObject *)out, affine, 2);
}

int ext_choose_affine(PyObject *out, PyObject *affine) {
  bool given = out && out != Py_None;
  int has = given ? ends_affine(out) : 0, wanted;
  if (has < 0) return -1;
  wanted = ext_parse_optional_flag(affine, "affine", has);
  if (wanted < 0 || !given || wanted == has) return wanted;
  PyErr_Format(PyExc_ValueError, "affine=%s asks for (..., %d, 4), but out does not end in that shape",
               wanted ? "True" : "False", wanted ? 3 : 4);
  return -1;
}

/* Whether `source` can be broadcast to `destination` by NumPy's rules, which compare axes from the last one on. */
static bool broadcasts(PyArrayObject *source, PyArrayObject *destination) {
  int i, lead = PyArray_NDIM(destination) - PyArray_NDIM(source);
  for (i = 0; i < PyArray_NDIM(source); i++) {
    Py_ssize_t length = PyArray_DIM(source, i);
    if (length != 1 && (lead + i < 0 || length != PyArray_DIM(destination, lead + i))) return false;
  }
  return true;
}

int ext_assign(PyObject *destination, PyObject *source, const char *name) {
  PyArrayObject *own = (PyArrayObject *)destination, *array;
  int failed = -1;
  if (!PyArray_ISWRITEABLE(own)) {
    PyErr_Format(PyExc_ValueError, "%s is read-only; expected a writable array", name);
    return -1;
  }
  array = convert(source, name, NPY_FLOAT);
  if (!array) return -1;
  if (broadcasts(array, own)) failed = PyArray_CopyInto(own, array);
  else raise_shape(name, array, PyArray_DIMS(own), PyArray_NDIM(own), false);
  Py_DECREF(array);
  return failed;
}
