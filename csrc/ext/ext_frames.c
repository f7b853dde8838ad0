/* ext_frames.c: functions of the module that sample vertex animations and keyed transforms. */
#include "../core/skin/sk_frames.h"
#include "ext_args.h"
#include "ext_array.h"
#include "ext_error.h"
#include "ext_jobs.h"

/* ---- _find_frames ------------------------------------------------------------------------------ */

static const char find_frames_doc[] =
    "_find_frames($module, times, time, loop, duration, ticks_per_second)\n--\n\n"
    "Return frame positions (...) float64 for times (...) among frames at `times` (N,).\n\n"
    "A position of 2.25 is a quarter of the way from frame 2 to frame 3.";

static int check_line(const ext_shape *shape, double duration, double ticks_per_second) {
  if (shape->ndim == 1 && shape->count >= 1 && shape->count < UINT32_MAX && duration >= 0.0 && ticks_per_second > 0.0)
    return 1;
  PyErr_SetString(PyExc_ValueError, "times, duration or ticks_per_second is out of range");
  return 0;
}

static PyObject *find_frames(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  static const ext_signature signature = {
      "_find_frames", 5, 5, {"times", "time", "loop", "duration", "ticks_per_second", NULL}};
  PyObject *values[5];
  ext_array line = {0}, input = {0}, places = {0};
  ext_shape line_shape, shape;
  double lone_key, lone_time;
  sk_frame_times frames;
  sk_error error;
  Py_ssize_t i;
  int loop;
  if (!ext_parse(&signature, args, count, keywords, values)) return NULL;
  loop = ext_parse_word(values[2], "loop", ext_loops, SK_LOOP_WRAP);
  frames.duration = loop < 0 ? -1.0 : PyFloat_AsDouble(values[3]);
  frames.ticks_per_second = PyErr_Occurred() ? -1.0 : PyFloat_AsDouble(values[4]);
  if (PyErr_Occurred()) return NULL;
  if (!ext_read_times(values[0], &line, &line_shape, &lone_key)) return NULL;
  if (!check_line(&line_shape, frames.duration, frames.ticks_per_second) ||
      !ext_read_times(values[1], &input, &shape, &lone_time))
    goto done;
  if (sk_times_validate(input.data, (size_t)shape.count, &error)) {
    ext_raise(ext_state_of_module(module), &error, NULL);
    goto done;
  }
  if (!ext_new_doubles(&shape, &places)) goto done;
  frames.times = line.data;
  frames.count = (uint32_t)line_shape.count;
  for (i = 0; i < shape.count; i++)
    ((double *)places.data)[i] = sk_frames_find(&frames, ((const double *)input.data)[i], (sk_loop)loop);
done:
  ext_array_release(&line);
  ext_array_release(&input);
  return places.owner;
}

/* ---- _blend_frames ------------------------------------------------------------------------------ */

static const char blend_frames_doc[] =
    "_blend_frames($module, positions, normals, places, out_positions=None, out_normals=None)\n--\n\n"
    "Return positions (...,V,3) and normals (...,V,3) or None, interpolated between frames (N,V,3) float32.\n\n"
    "`places` (...) are frame positions of _find_frames.";

enum { POSITIONS, NORMALS, PLACES, OUT_POSITIONS, OUT_NORMALS, ARGUMENTS };

/* Reads the frames into inputs[0] and, if there are normals, inputs[1]. */
static int read_frames(PyObject *const *values, ext_array *inputs, ext_shape *frames) {
  static const Py_ssize_t three[1] = {3};
  ext_shape shape;
  if (!ext_read_own(values[POSITIONS], "positions", three, 1, NULL, &inputs[0], frames) ||
      (values[NORMALS] != Py_None && !ext_read_own(values[NORMALS], "normals", three, 1, frames, &inputs[1], &shape)))
    return 0;
  if (frames->ndim == 2 && frames->dims[0] > 0) return 1;
  PyErr_SetString(PyExc_ValueError, "positions must have shape (N, V, 3) with N > 0");
  return 0;
}

static void run_frames(const sk_frames_job *job) {
  double work = (double)job->out_count * (double)job->vertex_count * (job->normals ? 12.0 : 3.0);
  if (work < EXT_RELEASE_NANOSECONDS) {
    sk_frames_run(job);
    return;
  }
  Py_BEGIN_ALLOW_THREADS sk_frames_run(job);
  Py_END_ALLOW_THREADS
}

static PyObject *blend_frames(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  static const ext_signature signature = {
      "_blend_frames", 3, 5, {"positions", "normals", "places", "out_positions", "out_normals", NULL}};
  PyObject *values[ARGUMENTS], *answer = NULL;
  ext_array inputs[4] = {{0}}, results[2] = {{0}}; /* inputs: positions, normals, places, the first result */
  ext_shape frames, shape;
  Py_ssize_t tail[2] = {0, 3};
  double lone_place;
  sk_frames_job job;
  int i;
  (void)module;
  if (!ext_parse(&signature, args, count, keywords, values)) return NULL;
  if (!read_frames(values, inputs, &frames) || !ext_read_times(values[PLACES], &inputs[2], &shape, &lone_place))
    goto done;
  tail[0] = frames.dims[1];
  if (!ext_output(values[OUT_POSITIONS], "out[0]", &shape, tail, 2, inputs, 3, &results[0])) goto done;
  inputs[3] = results[0];
  if (inputs[1].data && !ext_output(values[OUT_NORMALS], "out[1]", &shape, tail, 2, inputs, 4, &results[1])) goto done;
  job = (sk_frames_job){inputs[0].data, inputs[1].data,      (size_t)frames.dims[0], (size_t)frames.dims[1],
                        inputs[2].data, (size_t)shape.count, results[0].data,        results[1].data};
  run_frames(&job);
  answer = PyTuple_Pack(2, results[0].owner, results[1].owner ? results[1].owner : Py_None);
done:
  for (i = 0; i < 3; i++) ext_array_release(&inputs[i]);
  for (i = 0; i < 2; i++) ext_array_release(&results[i]);
  return answer;
}

/* ---- registering --------------------------------------------------------------------------------- */

static PyMethodDef functions[] = {
    {"_find_frames", (PyCFunction)(void (*)(void))find_frames, METH_FASTCALL | METH_KEYWORDS, find_frames_doc},
    {"_blend_frames", (PyCFunction)(void (*)(void))blend_frames, METH_FASTCALL | METH_KEYWORDS, blend_frames_doc},
    {NULL, NULL, 0, NULL}};

int ext_frames_register(PyObject *module) { return PyModule_AddFunctions(module, functions); }
