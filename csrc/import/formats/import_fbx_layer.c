/* import_fbx_layer.c: the values of a property over time, combined over the layers of a stack; see import_fbx_scene.h. */
#include <math.h>
#include <string.h>

#include "../import_fit.h"
#include "import_fbx_scene.h"

#define FULL_WEIGHT 0.99999 /* a weight from here on counts as 1 */

double fbx_layer_weight(double percent) {
  double weight = percent / 100.0;
  return weight < 0.0 ? 0.0 : weight > FULL_WEIGHT ? 1.0 : weight;
}

static void source_values(const fbx_scene *scene, const fbx_value_source *source, double time, double values[3]) {
  int axis;
  for (axis = 0; axis < 3; axis++) {
    uint32_t number = source->curves[axis];
    const fbx_curve *curve = number == FBX_NONE ? NULL : (const fbx_curve *)scene->curves.data + number;
    values[axis] = curve ? fbx_curve_value(curve, time, scene->document.second) : source->fixed[axis];
  }
}

/* The Euler angles, in degrees, of a rotation in an order of fbx_node; one of many that give the same rotation. */
static void euler_from_quat(const double q[4], int order, double degrees[3]) {
  static const struct {
    uint8_t i, j, k; /* the axis that is applied first, second, last */
    int8_t sign; /* 1 where the axes follow each other in cyclic order */
  } orders[6] = {{0, 1, 2, 1}, {0, 2, 1, -1}, {1, 2, 0, 1}, {1, 0, 2, -1}, {2, 0, 1, 1}, {2, 1, 0, -1}};
  const double to_degrees = 180.0 / 3.14159265358979323846;
  int i = orders[order].i, j = orders[order].j, k = orders[order].k;
  double s = orders[order].sign, w = q[3], a = q[i], b = q[j], c = q[k];
  /* The rotation matrix of Rk * Rj * Ri has sin(j) = 2 (w b - s a c) in its lowest corner. */
  double sine = 2.0 * (w * b - s * a * c);
  sine = sine < -1.0 ? -1.0 : sine > 1.0 ? 1.0 : sine;
  degrees[j] = to_degrees * asin(sine);
  if (fabs(sine) < 0.999999999) {
    degrees[i] = to_degrees * atan2(2.0 * (w * a + s * b * c), 1.0 - 2.0 * (a * a + b * b));
    degrees[k] = to_degrees * atan2(2.0 * (w * c + s * a * b), 1.0 - 2.0 * (b * b + c * c));
  } else {
    degrees[i] = to_degrees * 2.0 * atan2(a, w);
    degrees[k] = 0.0;
  }
}

/* Rotations of layers that multiply: the result so far, followed by a part of the layer's own rotation; or, of a layer
   that blends, a rotation between both. */
static void combine_rotations(const fbx_layer *layer, double weight, int order, const double own[3], double result[3]) {
  static const double identity[4] = {0, 0, 0, 1};
  double a[4], b[4], out[4];
  fbx_quat_from_euler(result, order, a);
  fbx_quat_from_euler(own, order, b);
  if (layer->adds) {
    import_slerp(identity, b, weight, b);
    import_quat_multiply(a, b, out);
  } else {
    import_slerp(a, b, weight, out);
  }
  euler_from_quat(out, order, result);
}

static void combine(const fbx_layer *layer, double weight, sk_path path, int order, const double own[3],
                    double result[3]) {
  int i;
  if (!layer->blends) {
    memcpy(result, own, 3 * sizeof *result);
  } else if (path == SK_PATH_ROTATION && layer->multiplies_rotation) {
    combine_rotations(layer, weight, order, own, result);
  } else if (path == SK_PATH_SCALE && layer->multiplies_scale) {
    for (i = 0; i < 3; i++) {
      double part = copysign(pow(fabs(own[i]), weight), own[i]);
      result[i] = (layer->adds ? result[i] : copysign(pow(fabs(result[i]), 1.0 - weight), result[i])) * part;
    }
  } else {
    for (i = 0; i < 3; i++) result[i] = (layer->adds ? result[i] : result[i] * (1.0 - weight)) + own[i] * weight;
  }
}

void fbx_track_values(const fbx_scene *scene, const fbx_stack *stack, const fbx_track *track, double time,
                      const fbx_node *node, double values[3]) {
  size_t i;
  for (i = 0; i < track->count; i++) {
    const fbx_value_source *source = (const fbx_value_source *)stack->sources.data + track->first + i;
    const fbx_layer *layer = (const fbx_layer *)stack->layers.data + source->layer;
    double weight = layer->weight, own[3];
    source_values(scene, source, time, own);
    if (layer->is_first) {
      memcpy(values, own, sizeof own);
      continue;
    }
    if (layer->weight_curve != FBX_NONE)
      weight = fbx_layer_weight(
          fbx_curve_value((const fbx_curve *)scene->curves.data + layer->weight_curve, time, scene->document.second));
    combine(layer, weight, (sk_path)track->path, node ? node->order : 0, own, values);
  }
}
