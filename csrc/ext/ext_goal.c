/* ext_goal.c: functions of the module that Pose.two_bone_ik, Pose.aim and Pose.fabrik call. */
#include "../core/pose/sk_goal.h"

#include <string.h>

#include "ext_args.h"
#include "ext_error.h"
#include "ext_jobs.h"

/* Estimates for one pose, to decide whether to release the GIL. */
enum { TWO_BONE_NANOSECONDS = 1500, AIM_NANOSECONDS = 700, FABRIK_NANOSECONDS = 5000 };

/* ---- arguments ---------------------------------------------------------------------------------- */

/* The arguments that all three functions have. */
typedef struct goal_arrays {
  ext_pose_arrays pose;
  ext_array rotation; /* the pose's, writable */
  ext_array targets, poles, weights, misses;
} goal_arrays;

static void close_goal(goal_arrays *arrays) {
  ext_pose_close(&arrays->pose);
  ext_array_release(&arrays->rotation);
  ext_array_release(&arrays->targets);
  ext_array_release(&arrays->poles);
  ext_array_release(&arrays->weights);
  ext_array_release(&arrays->misses);
}

/* Reads (count, width) float64, or (count,) for width 1. skinpy/posing/goals.py broadcasts the leading axes before. */
static int read_rows(PyObject *object, const char *name, size_t count, size_t width, ext_array *array) {
  ext_shape shape;
  double single;
  if (!ext_read_times(object, array, &shape, &single)) return 0;
  if (shape.ndim > 0 && (size_t)shape.count == count * width) return 1;
  PyErr_Format(PyExc_ValueError, "%s has %zd numbers; expected %zu for each of %zu poses", name, shape.count, width,
               count);
  return 0;
}

static int open_goal(PyObject *module, PyObject *object, PyObject *target, PyObject *pole, PyObject *weight,
                     goal_arrays *arrays, sk_goal *goal) {
  ext_pose *pose = (ext_pose *)object;
  Py_ssize_t tail[2];
  size_t count;
  if (!PyObject_TypeCheck(object, (PyTypeObject *)ext_state_of_module(module)->pose_type)) {
    ext_refuse_type("pose", object, "a Pose");
    return 0;
  }
  if (!ext_pose_open(pose, &arrays->pose)) return 0;
  count = (size_t)arrays->pose.shape.count;
  tail[0] = pose->block->model.skeleton.joint_count, tail[1] = 4;
  if (!ext_output(pose->rotation, "rotation", &arrays->pose.shape, tail, 2, NULL, 0, &arrays->rotation) ||
      !read_rows(target, "target", count, 3, &arrays->targets) ||
      (pole != Py_None && !read_rows(pole, "pole", count, 3, &arrays->poles)) ||
      !read_rows(weight, "weight", count, 1, &arrays->weights) ||
      !ext_new_doubles(&arrays->pose.shape, &arrays->misses))
    return 0;
  *goal = (sk_goal){.skeleton = &pose->block->model.skeleton,
                    .poses = arrays->pose.pose,
                    .count = count,
                    .root = arrays->pose.arrays[EXT_ROOT].data,
                    .root_stride = arrays->pose.root_stride,
                    .targets = arrays->targets.data,
                    .poles = arrays->poles.data,
                    .weights = arrays->weights.data,
                    .misses = arrays->misses.data};
  return 1;
}

/* Reads an int. One that does not fit into int32 becomes an index that no skeleton has. 0 with an exception if it is
   not an int. */
static int read_int(PyObject *object, int32_t *number) {
  long value = PyLong_AsLong(object);
  if (value == -1 && PyErr_Occurred()) return 0;
  *number = value < INT32_MIN || value > INT32_MAX ? SK_NONE : (int32_t)value;
  return 1;
}

static int read_direction(PyObject *object, const char *name, double out[3]) {
  ext_array array;
  int done = read_rows(object, name, 1, 3, &array);
  if (done) memcpy(out, array.data, 3 * sizeof *out);
  ext_array_release(&array);
  return done;
}

/* ---- running ------------------------------------------------------------------------------------ */

/* Validates and runs `job` with the functions of its kind; 0 with an exception. */
#define RUN(module, kind, job, nanoseconds) \
  run_job(module, sk_##kind##_validate(job, &error), &error, call_##kind, job, (job)->goal.count, nanoseconds)

static int run_job(PyObject *module, sk_status status, const sk_error *error, void (*run)(const void *),
                   const void *job, size_t count, double nanoseconds) {
  if (status != SK_OK) {
    ext_raise(ext_state_of_module(module), error, NULL);
    return 0;
  }
  if ((double)count * nanoseconds < EXT_RELEASE_NANOSECONDS) {
    run(job);
    return 1;
  }
  Py_BEGIN_ALLOW_THREADS run(job);
  Py_END_ALLOW_THREADS return 1;
}

static void call_two_bone(const void *job) { sk_two_bone_run(job); }
static void call_aim(const void *job) { sk_aim_run(job); }
static void call_fabrik(const void *job) { sk_fabrik_run(job); }

static const char two_bone_doc[] =
    "_two_bone($module, pose, joints, target, pole, weight, soften)\n--\n\n"
    "Return the distances (...) float64 from end to target, divided by the length of the limb.\n\n"
    "`joints` are root, middle and end. See Pose.two_bone_ik.";

static PyObject *two_bone(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  static const ext_signature signature = {
      "_two_bone", 6, 6, {"pose", "joints", "target", "pole", "weight", "soften", NULL}};
  PyObject *values[6], *answer = NULL;
  goal_arrays arrays = {0};
  sk_two_bone_job job = {0};
  sk_error error;
  if (!ext_parse(&signature, args, count, keywords, values)) return NULL;
  if (!PyTuple_Check(values[1]) || !PyArg_ParseTuple(values[1], "iii", &job.root, &job.middle, &job.end))
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "joints must be a tuple (root, middle, end)");
  job.soften = PyFloat_AsDouble(values[5]);
  if (PyErr_Occurred()) return NULL;
  if (open_goal(module, values[0], values[2], values[3], values[4], &arrays, &job.goal) &&
      RUN(module, two_bone, &job, TWO_BONE_NANOSECONDS))
    answer = Py_NewRef(arrays.misses.owner);
  close_goal(&arrays);
  return answer;
}

static const char aim_doc[] = "_aim($module, pose, joint, target, pole, weight, axis, up)\n--\n\n"
                              "Return (...) float64: 0, or infinity if the target is at the joint. See Pose.aim.";

static PyObject *aim(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  static const ext_signature signature = {
      "_aim", 7, 7, {"pose", "joint", "target", "pole", "weight", "axis", "up", NULL}};
  PyObject *values[7], *answer = NULL;
  goal_arrays arrays = {0};
  sk_aim_job job = {0};
  sk_error error;
  if (!ext_parse(&signature, args, count, keywords, values)) return NULL;
  if (!read_int(values[1], &job.joint) || !read_direction(values[5], "axis", job.axis) ||
      !read_direction(values[6], "up", job.up))
    return NULL;
  if (open_goal(module, values[0], values[2], values[3], values[4], &arrays, &job.goal) &&
      RUN(module, aim, &job, AIM_NANOSECONDS))
    answer = Py_NewRef(arrays.misses.owner);
  close_goal(&arrays);
  return answer;
}

static const char fabrik_doc[] =
    "_fabrik($module, pose, root, end, target, weight, iterations, tolerance)\n--\n\n"
    "Return the distances (...) float64 from end to target, divided by the length of the chain. See Pose.fabrik.";

static PyObject *fabrik(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  static const ext_signature signature = {
      "_fabrik", 7, 7, {"pose", "root", "end", "target", "weight", "iterations", "tolerance", NULL}};
  PyObject *values[7], *answer = NULL;
  goal_arrays arrays = {0};
  sk_fabrik_job job = {0};
  sk_error error;
  if (!ext_parse(&signature, args, count, keywords, values)) return NULL;
  if (!read_int(values[1], &job.root) || !read_int(values[2], &job.end) || !read_int(values[5], &job.iterations))
    return NULL;
  job.tolerance = PyFloat_AsDouble(values[6]);
  if (PyErr_Occurred()) return NULL;
  if (!open_goal(module, values[0], values[3], Py_None, values[4], &arrays, &job.goal)) goto done;
  if (sk_fabrik_validate(&job, &error)) {
    ext_raise(ext_state_of_module(module), &error, NULL);
    goto done;
  }
  job.scratch = sk_alloc(sk_fabrik_scratch(&job));
  if (!job.scratch) PyErr_NoMemory();
  else if (RUN(module, fabrik, &job, FABRIK_NANOSECONDS)) answer = Py_NewRef(arrays.misses.owner);
done:
  sk_free(job.scratch);
  close_goal(&arrays);
  return answer;
}

/* ---- registering --------------------------------------------------------------------------------- */

#define FUNCTION(name, function, doc) {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL | METH_KEYWORDS, doc}

static PyMethodDef functions[] = {FUNCTION("_two_bone", two_bone, two_bone_doc),
                                  FUNCTION("_aim", aim, aim_doc),
                                  FUNCTION("_fabrik", fabrik, fabrik_doc),
                                  {NULL, NULL, 0, NULL}};

int ext_goal_register(PyObject *module) { return PyModule_AddFunctions(module, functions); }
