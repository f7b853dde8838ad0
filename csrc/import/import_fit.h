/* import_fit.h: keys that skinpy can play, made from an exact function of time.

   The function is smooth between given times and may jump at them. If it is constant between the times, the keys are
   steps. If it is straight between them (for rotations, along arcs), the keys are linear. Otherwise they are cubic, with
   tangents from the function's derivative, and keys are added until the error is within a bound:

       value                 x given time, o key that was added
         |      o--x
         |   o/      \o
         |  x          \x---- a jump is two keys, IMPORT_JUMP seconds apart
         +---------------------- time                                                                              */
#ifndef IMPORT_FIT_H
#define IMPORT_FIT_H

#include "import_clip.h"

#define IMPORT_JUMP 1e-5 /* seconds between the two keys of a jump: more than the tolerance of key times */

/* A function of time. */
typedef struct import_function {
  void (*value)(const void *context, double time, double out[4]); /* unit quaternions for rotations */
  const void *context;
  uint32_t width;   /* numbers of a value: 4 for rotations, 3, or 1 */
  double tolerance; /* largest error of a number, measured between keys */
  double second;    /* units of `time` per second */
  double origin;    /* time that is second 0 of the clip */
} import_function;

/* Keys for import_add_channel. */
typedef struct import_fitted {
  sk_interpolation interpolation;
  sk_array seconds; /* double */
  sk_array values;  /* float: `width` numbers a key; of cubic keys in-tangent, value, out-tangent */
  size_t added;     /* keys at other than the given times */
  size_t coarse;    /* spans in which the error is larger than the tolerance */
} import_fitted;

/* Fits the function over times[0] .. times[count - 1], which increase; count is at least 1. No more than `max_added` keys
   are added: a file may turn a joint faster than any number of keys could follow. The caller frees `fitted` with
   import_free_fitted, also on failure. */
sk_status import_fit(import_job *job, const import_function *function, const double *times, size_t count,
                     size_t max_added, import_fitted *fitted);
void import_free_fitted(import_fitted *fitted);

/* ---- channels of a model, whose joints and vertices are there ---- */

typedef struct import_fit_times {
  const double *times; /* increasing; at least one */
  size_t count;
  size_t *left; /* keys that may still be made for the file */
  size_t cost;  /* how much each key takes of `left`; at least 1 */
  bool is_cut;  /* some times were left out, which is reported */
} import_fit_times;

/* How many keys may be made for a file that has so many of its own. */
static inline size_t import_fit_budget(uint64_t keys) { return (size_t)(250000u + 16u * keys); }
/* The length in the scene of one unit of the file's vertices and keys, which the root may scale. */
double import_fit_unit(const import_model *model);
/* Largest extent of the model at rest: joints and vertices. */
double import_fit_size(const import_model *model);
/* Largest error of a number of the path, so that the error in the scene stays within the request's curve_error of
   `size`, even for a body that is rotated by the joint. For weights, `joint` has no meaning. */
double import_fit_tolerance(const import_job *job, sk_path path, size_t joint, double size);
/* Fits the function and adds the keys as a channel of the joint, or of the target for SK_PATH_WEIGHT. Keys that were
   added, and spans that are less exact, are reported. */
sk_status import_fit_channel(import_clip *clip, const import_function *function, const import_fit_times *times,
                             int32_t joint, sk_path path);

/* ---- rotations ---- */

/* a * b; `out` may be one of them. */
void import_quat_multiply(const double a[4], const double b[4], double out[4]);
/* The rotation at the fraction `u` of the shorter arc from a to b, in the hemisphere of a; `out` may be one of them. */
void import_slerp(const double a[4], const double b[4], double u, double out[4]);

#endif
