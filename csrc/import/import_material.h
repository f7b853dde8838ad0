/* import_material.h: what materials of all formats have in common. */
#ifndef IMPORT_MATERIAL_H
#define IMPORT_MATERIAL_H

#include "import_job.h"

/* Moves base_color into the range from 0 to 1, and reports where it was not. `name` is the material's. */
void import_clamp_color(import_job *job, import_span name, sk_material *material);

/* The numbers that a factor of a material may be, by the path of a channel that changes it, as glTF 2.0 has them. */
typedef struct import_range {
  double low, high;
} import_range;

import_range import_range_of(sk_path path);

/* Sets uv_transform from translation (two numbers), scale (two numbers) and rotation (radians) of texture coordinates
   whose origin is at the bottom; skinpy's origin is at the top. */
void import_set_uv_transform(const float values[5], sk_material *material);

#endif
