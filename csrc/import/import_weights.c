/* import_weights.c: the weights of a file where skinpy reads them itself. */
#include <float.h>

#include "import_weights.h"

sk_status import_weights_open(import_job *job) {
  import_weights *w = job->weights = sk_alloc_zero(sizeof *w);
  if (!w) return import_no_memory(job, sizeof *w);
  w->list = w->sorted = SK_ARRAY(import_weight);
  w->corners = w->meshes = w->keyed = SK_ARRAY(uint32_t);
  w->names = SK_ARRAY(size_t);
  return import_files_whole(job);
}

void import_weights_close(import_job *job) {
  import_weights *w = job->weights;
  if (!w) return;
  sk_array_free(&w->list);
  sk_array_free(&w->sorted);
  sk_array_free(&w->corners);
  sk_array_free(&w->meshes);
  sk_array_free(&w->keyed);
  sk_array_free(&w->names);
  sk_free(w->starts);
  sk_free(w->joint_of);
  sk_free(w->slots);
  sk_free(w);
  job->weights = NULL;
}

bool import_weights_add(import_job *job, uint32_t vertex, uint32_t joint, float weight) {
  import_weight *added;
  if (!(weight > 0.0f && weight <= FLT_MAX)) {
    if (weight != 0.0f)
      import_note_add(job, NOTE_weights_repaired, 1, "vertex %u of the file: %g", vertex, (double)weight);
    return true;
  }
  added = sk_array_room(&job->weights->list, 1);
  if (added) *added = (import_weight){vertex, joint, weight};
  return added != NULL;
}

bool import_weights_mesh(import_job *job) {
  import_weights *w = job->weights;
  uint32_t *added = sk_array_room(&w->meshes, 1);
  if (added) *added = (uint32_t)w->corners.count;
  return added != NULL;
}

/* Counts the weights of vertex v in starts[v + 2], so that starts[v + 1] is the end of its list when all are sorted. */
sk_status import_weights_sort(import_job *job) {
  import_weights *w = job->weights;
  const import_weight *from = w->list.data;
  import_weight *to = sk_array_room(&w->sorted, w->list.count);
  size_t i, count = w->list.count, starts = (size_t)w->vertices + 2;
  w->starts = sk_alloc_zero(starts * sizeof *w->starts);
  w->slots = sk_alloc_zero(w->joints * sizeof *w->slots);
  if (!to || !w->starts || !w->slots || !import_weights_mesh(job)) return import_no_memory(job, count * sizeof *to);
  for (i = 0; i < count; i++) w->starts[from[i].vertex + 2]++;
  for (i = 2; i < starts; i++) w->starts[i] += w->starts[i - 1];
  for (i = 0; i < count; i++) to[w->starts[from[i].vertex + 1]++] = from[i];
  sk_array_free(&w->list);
  return SK_OK;
}

const uint32_t *import_weights_of(const import_job *job, uint32_t mesh, uint32_t vertices, bool *skinned) {
  const import_weights *w = job->weights;
  const uint32_t *first, *corner;
  uint32_t v;
  *skinned = false;
  if (!w || !w->starts || w->meshes.count != (size_t)job->scene->mNumMeshes + 1) return NULL;
  first = (const uint32_t *)w->meshes.data + mesh;
  if (first[1] - first[0] != vertices) return NULL;
  corner = (const uint32_t *)w->corners.data + first[0];
  for (v = 0; v < vertices; v++) {
    if (corner[v] >= w->vertices) return NULL;
    *skinned |= w->starts[corner[v] + 1] > w->starts[corner[v]];
  }
  return corner;
}
