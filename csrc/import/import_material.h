/* import_material.h: what materials of all formats have in common. */
#ifndef IMPORT_MATERIAL_H
#define IMPORT_MATERIAL_H

#include "import_job.h"

void import_clamp_color(sk_material *material); /* base_color to 0 to 1 */
/* Sets uv_transform from translation (two numbers), scale (two numbers) and rotation (radians) of texture coordinates
   whose origin is at the bottom; skinpy's origin is at the top. */
void import_set_uv_transform(const float values[5], sk_material *material);

#endif
