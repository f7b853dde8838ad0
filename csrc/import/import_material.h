/* import_material.h: what materials of all formats have in common. */
#ifndef IMPORT_MATERIAL_H
#define IMPORT_MATERIAL_H

#include "import_job.h"

void import_clamp_color(sk_material *material); /* base_color to 0 to 1 */

#endif
