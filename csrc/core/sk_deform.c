/* sk_deform.c: the plain path of skinning; the definition of right. */
#include "sk_deform.h"

#include <string.h>

#include "sk_math.h"

/* Weights fall, so the first zero ends the vertex's influences. */
static void blend(const sk_deform_job *job, const float *palette, size_t v, sk_rows out) {
  uint32_t k, influences = job->mesh->influences;
  const uint16_t *slots = job->mesh->slots + v * influences;
  const float *weights = job->mesh->weights + v * influences;
  memset(out, 0, sizeof(sk_rows));
  for (k = 0; k < influences && weights[k] > 0.0f; k++)
    sk_rows_add(out, palette + slots[k] * job->matrix_floats, weights[k]);
}

/* `points` and `directions` are the mesh's own or the morphed ones. */
static void deform_one(const sk_deform_job *job, const float *palette, const float *points,
                       const float *directions, float *positions, float *normals) {
  size_t v;
  for (v = 0; v < job->mesh->vertex_count; v++) {
    sk_rows rows;
    blend(job, palette, v, rows);
    sk_rows_apply(rows, points + 3 * v, positions + 3 * v);
    if (normals) sk_rows_apply_normal(rows, directions + 3 * v, normals + 3 * v);
  }
}

size_t sk_deform_scratch(const sk_mesh *mesh) { return mesh->vertex_count * 6 * sizeof(float); }

void sk_deform_run(const sk_deform_job *job) {
  size_t n, floats = job->slot_count * job->matrix_floats, points = job->mesh->vertex_count * 3;
  sk_morph_job morph = {job->morph, job->mesh, NULL, job->scratch, job->normals ? job->scratch + points : NULL};
  for (n = 0; n < job->count; n++) {
    float *positions = job->positions + n * points, *normals = job->normals ? job->normals + n * points : NULL;
    if (!job->weights) {
      deform_one(job, job->palettes + n * floats, job->mesh->positions, job->mesh->normals, positions, normals);
      continue;
    }
    morph.weights = job->weights + n * job->weight_stride;
    if (n == 0 || job->weight_stride) sk_morph_run(&morph);
    deform_one(job, job->palettes + n * floats, morph.positions, morph.normals, positions, normals);
  }
}
