/* import_fbx_fit.h: keys that skinpy can play, made from an exact function of time.

   The function is smooth between given times and may jump at them. Where it is constant between them the keys step;
   where it goes along straight lines (or, for rotations, arcs) they are linear; else they are cubic, with tangents from
   the function's derivative, and as many keys are added between as keep the error within a bound:

       value                 x given time, o key that was added
         |      o--x
         |   o/      \o
         |  x          \x---- a jump is two keys, FBX_JUMP seconds apart
         +---------------------- time                                                                              */
#ifndef IMPORT_FBX_FIT_H
#define IMPORT_FBX_FIT_H

#include "../import_job.h"

#define FBX_JUMP 1e-5 /* seconds between the two keys of a jump: more than the tolerance of key times */

/* A function of time. */
typedef struct fbx_function {
  void (*value)(const void *context, double time, double out[4]); /* unit quaternions for rotations */
  const void *context;
  uint32_t width;   /* numbers of a value: 4 for rotations, 3, or 1 */
  double tolerance; /* largest error of a number, measured between keys */
  double second;    /* units of `time` in a second */
  double origin;    /* time that is second 0 of the clip */
} fbx_function;

/* Keys for import_add_channel. */
typedef struct fbx_fitted {
  sk_interpolation interpolation;
  sk_array seconds; /* double */
  sk_array values;  /* float: `width` numbers a key; of cubic keys in-tangent, value, out-tangent */
  size_t added;     /* keys at other than the given times */
  size_t coarse;    /* spans in which the error is larger than the tolerance */
} fbx_fitted;

/* Fits the function over times[0] .. times[count - 1], which increase; count is at least 1. No more than `max_added` keys
   are added: a file may turn a joint faster than any number of keys could follow. The caller frees `fitted` with
   fbx_free_fitted, also on failure. */
sk_status fbx_fit(import_job *job, const fbx_function *function, const double *times, size_t count, size_t max_added,
                  fbx_fitted *fitted);
void fbx_free_fitted(fbx_fitted *fitted);

#endif
