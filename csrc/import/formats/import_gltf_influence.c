/* import_gltf_influence.c: the influences of a glTF: each vertex lists its joints, four to a set. */
#include <float.h>

#include "../import_influence.h"
#include "import_gltf.h"

#define RUN 1024 /* vertices whose sets are read together: their memory stays in a near cache */

typedef struct set_run { /* the sets of vertices that follow each other */
  uint32_t first, count, max_count;
  uint32_t *joints; /* of vertex first + v in set k: four from 4 * (k * max_count + v) on */
  float *weights;   /* in the same order */
} set_run;

/* Cuts an accessor to the elements of the run. */
static void cut(gltf_accessor *a, const set_run *run) {
  if (a->sparse >= 0) return; /* the run has all vertices then */
  if (a->data) a->data += run->first * a->stride;
  a->count = run->count;
}

static sk_status read_sets(import_job *job, const gltf_primitive *p, const set_run *run) {
  sk_status status = SK_OK;
  int32_t k;
  for (k = 0; k < p->set_count && !status; k++) {
    const gltf_set *set = (const gltf_set *)job->gltf->sets.data + p->first_set + k;
    size_t at = 4 * (size_t)k * run->max_count;
    gltf_accessor a;
    status = gltf_accessor_open(job, set->joints, &a);
    cut(&a, run);
    if (!status) status = gltf_accessor_integers(job, set->joints, &a, run->joints + at);
    if (!status) status = gltf_accessor_open(job, set->weights, &a);
    cut(&a, run);
    if (!status) status = gltf_accessor_floats(job, set->weights, &a, run->weights + at);
  }
  return status;
}

static bool has_sparse_sets(import_job *job, const gltf_primitive *p) {
  const gltf_set *set = (const gltf_set *)job->gltf->sets.data + p->first_set;
  bool sparse = false;
  int32_t k;
  for (k = 0; k < p->set_count; k++) {
    gltf_accessor a;
    sparse |= gltf_accessor_open(job, set[k].joints, &a) || a.sparse >= 0;
    sparse |= gltf_accessor_open(job, set[k].weights, &a) || a.sparse >= 0;
  }
  return sparse;
}

static uint32_t gather_vertex(import_skinning *s, const uint32_t *slots, const set_run *run, uint32_t vertex,
                              import_influence *list) {
  const import_submesh *submesh = s->submesh;
  uint32_t count = 0;
  int32_t k, i;
  for (k = 0; k < submesh->primitive->set_count; k++) {
    size_t at = 4 * ((size_t)k * run->max_count + (vertex - run->first));
    const uint32_t *joints = run->joints + at;
    const float *weights = run->weights + at;
    for (i = 0; i < 4; i++) {
      if (weights[i] >= 0.0f && weights[i] <= FLT_MAX && joints[i] < submesh->mesh->mNumBones) {
        list[count] = (import_influence){slots[joints[i]], weights[i]};
        count += weights[i] > 0.0f; /* no branch, because a processor cannot predict which weights are 0 */
      } else if (import_weight_counts(s, vertex, weights[i])) {
        import_note_add(s->job, NOTE_joint_index_out_of_range, 1, "vertex %u of mesh '%.80s' follows joint %u of %u",
                        vertex, submesh->title, joints[i], submesh->mesh->mNumBones);
      }
    }
  }
  return count;
}

static sk_status skin_run(import_skinning *s, const uint32_t *slots, const set_run *run, import_influence *list) {
  sk_status status = read_sets(s->job, s->submesh->primitive, run);
  uint32_t v;
  for (v = run->first; v < run->first + run->count && !status; v++)
    status = import_finish_vertex(s, v, list, gather_vertex(s, slots, run, v, list));
  return status;
}

sk_status gltf_skin(import_skinning *s, const uint32_t *slots) {
  const gltf_primitive *p = s->submesh->primitive;
  uint32_t vertices = s->submesh->vertex_count;
  set_run run = {.max_count = vertices < RUN || has_sparse_sets(s->job, p) ? vertices : RUN};
  size_t sets = (size_t)p->set_count, numbers = 4 * sets * run.max_count;
  import_influence *list = sk_alloc(4 * sets * sizeof *list);
  sk_status status = SK_OK;
  run.joints = sk_alloc(numbers * sizeof *run.joints);
  run.weights = sk_alloc(numbers * sizeof *run.weights);
  if (!run.joints || !run.weights || !list) status = import_no_memory(s->job, numbers * 8);
  for (; run.first < vertices && !status; run.first += run.count) {
    run.count = vertices - run.first < run.max_count ? vertices - run.first : run.max_count;
    status = skin_run(s, slots, &run, list);
  }
  sk_free(list);
  sk_free(run.weights);
  sk_free(run.joints);
  return status;
}
