/* import_fbx_curve.h: the animation curves of an FBX file: one number over time.

   Between two keys a curve is constant, linear, or a cubic Bezier curve in time and value. Outside its keys it is
   extrapolated. Times are in the units of the file, counted from the file's time 0; as integers they stay exact however
   far from 0 they are. */
#ifndef IMPORT_FBX_CURVE_H
#define IMPORT_FBX_CURVE_H

#include "import_fbx_document.h"

typedef enum fbx_segment { /* what a curve does from a key to the next */
                           FBX_CONSTANT,            /* it keeps the value of the key */
                           FBX_CONSTANT_NEXT,       /* it has the value of the next key at once */
                           FBX_LINEAR,
                           FBX_CUBIC
} fbx_segment;

typedef enum fbx_outside { /* what a curve does before its first key, or after its last */
                           FBX_OUTSIDE_CONSTANT,
                           FBX_OUTSIDE_REPEAT,
                           FBX_OUTSIDE_MIRROR,
                           FBX_OUTSIDE_SLOPE,
                           FBX_OUTSIDE_REPEAT_RELATIVE /* each repetition begins at the value where the last one ended */
} fbx_outside;

typedef struct fbx_key {
  int64_t time;
  double value;
  fbx_segment segment; /* from this key to the next */
  float right_slope, left_slope; /* value per second, after and before the key */
  float right_weight, left_weight; /* length of the tangent, as a part of the time to the neighboring key */
} fbx_key;

typedef struct fbx_curve {
  fbx_key *keys; /* owned by the list of curves; at least one */
  size_t count;
  fbx_outside before, after;
  int64_t before_count, after_count; /* repetitions; -1: without end */
  bool is_flat; /* it has the same value at all times */
  bool is_played; /* a joint, a target or the weight of a layer takes its values */
} fbx_curve;

/* Reads the keys of a curve object. A curve that has no usable keys gets the count 0. */
sk_status fbx_read_curve(const fbx_document *document, uint32_t object, fbx_curve *curve);
void fbx_free_curve(fbx_curve *curve);

/* The value at a time in units of the file, which need not be whole. `second` is the number of units in a second. */
double fbx_curve_value(const fbx_curve *curve, double time, double second);

#endif
