/* import_gltf_skin.c: the skins of a glTF, and the influences of its vertices, which list their joints four to a set.
   */
#include <float.h>
#include <string.h>

#include "../import_slot.h"
#include "import_gltf.h"

#define RUN 1024 /* vertices whose sets are read together: their memory stays in a near cache */

/* ---- skins ------------------------------------------------------------------------------------ */

static void transpose(float m[16]) {
  int row, column;
  for (row = 0; row < 4; row++)
    for (column = 0; column < row; column++) {
      float above = m[4 * column + row];
      m[4 * column + row] = m[4 * row + column];
      m[4 * row + column] = above;
    }
}

/* Without an accessor all matrices are the identity (glTF 2.0, skin.inverseBindMatrices). */
static sk_status read_offsets(import_job *job, int32_t index, gltf_skin *skin) {
  const json *j = &job->gltf->json;
  int32_t token = json_member(j, gltf_item(job->gltf, GLTF_SKINS, index), "inverseBindMatrices"), i;
  int64_t accessor = json_index(j, token, -1);
  gltf_accessor a;
  sk_status status;
  if (token < 0) {
    import_note_add(job, NOTE_inverse_bind_missing, 1, "skins[%d]", index);
    for (i = 0; i < skin->count; i++) memcpy(skin->offsets + 16 * (size_t)i, import_identity, sizeof import_identity);
    return SK_OK;
  }
  status = gltf_accessor_open(job, accessor, &a);
  if (status) return status;
  if (a.width != 16 || a.component != 5126 || a.count < (size_t)skin->count || !a.count)
    return sk_fail(job->error, SK_ERROR_IMPORT, "skins[%d] has %d joints; its inverse bind matrices are %zu", index,
                   skin->count, a.width == 16 ? a.count : 0);
  a.count = (size_t)skin->count;
  status = gltf_accessor_floats(job, accessor, &a, skin->offsets);
  for (i = 0; i < skin->count; i++) transpose(skin->offsets + 16 * (size_t)i);
  return status;
}

static sk_status read_skin(import_job *job, int32_t index) {
  gltf *g = job->gltf;
  gltf_skin *skin = &g->skins[index];
  int32_t array = json_member(&g->json, gltf_item(g, GLTF_SKINS, index), "joints"), token;
  size_t count = (size_t)json_length(&g->json, array);
  skin->joints = sk_alloc((count + 1) * sizeof *skin->joints);
  skin->offsets = sk_alloc((count + 1) * 16 * sizeof *skin->offsets);
  if (!skin->joints || !skin->offsets) return import_no_memory(job, count * 16 * sizeof *skin->offsets);
  for (token = json_first(&g->json, array); token >= 0; token = json_after(&g->json, array, token)) {
    int64_t joint = json_index(&g->json, token, -1);
    if (gltf_item(g, GLTF_NODES, joint) < 0)
      return sk_fail(job->error, SK_ERROR_IMPORT, "skins[%d] has a joint that is no node; there are %d nodes", index,
                     g->lists[GLTF_NODES].count);
    skin->joints[skin->count++] = (int32_t)joint;
  }
  return read_offsets(job, index, skin);
}

sk_status gltf_read_skins(import_job *job) {
  gltf *g = job->gltf;
  sk_status status = SK_OK;
  int32_t i;
  for (i = 0; i < g->lists[GLTF_SKINS].count && !status; i++)
    if (g->skins[i].is_used) status = read_skin(job, i);
  return status;
}

static gltf_skin *skin_of(const import_skinning *s) { return &s->job->gltf->skins[s->submesh->gltf_node->skin]; }

/* Finds the slot of each joint of a skin, once. All of them are joints of the model: gltf_place_joints. */
static sk_status find_slots(import_skinning *s) {
  import_job *job = s->job;
  gltf_skin *skin = skin_of(s);
  int32_t i;
  sk_status status = SK_OK;
  if (skin->slots) return SK_OK;
  skin->slots = sk_alloc((size_t)skin->count * sizeof *skin->slots);
  if (!skin->slots) return import_no_memory(job, (size_t)skin->count * sizeof *skin->slots);
  for (i = 0; i < skin->count && !status; i++) {
    float offset[16];
    import_copy_offset(job, s->submesh, skin->offsets + 16 * (size_t)i, offset);
    status = import_add_slot(job, job->gltf->nodes[skin->joints[i]].joint, offset, &skin->slots[i]);
  }
  return status;
}

/* ---- influences --------------------------------------------------------------------------------- */

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
    status = gltf_open_numbers(job, set->joints, &a);
    cut(&a, run);
    if (!status) status = gltf_accessor_integers(job, set->joints, &a, run->joints + at);
    if (!status) status = gltf_open_numbers(job, set->weights, &a);
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
    sparse |= gltf_open_numbers(job, set[k].joints, &a) || a.sparse >= 0;
    sparse |= gltf_open_numbers(job, set[k].weights, &a) || a.sparse >= 0;
  }
  return sparse;
}

static uint32_t gather_vertex(import_skinning *s, const set_run *run, uint32_t vertex, import_influence *list) {
  const import_submesh *submesh = s->submesh;
  const uint32_t *slots = skin_of(s)->slots;
  uint32_t count = 0, joint_count = (uint32_t)skin_of(s)->count;
  int32_t k, i;
  for (k = 0; k < submesh->primitive->set_count; k++) {
    size_t at = 4 * ((size_t)k * run->max_count + (vertex - run->first));
    const uint32_t *joints = run->joints + at;
    const float *weights = run->weights + at;
    for (i = 0; i < 4; i++) {
      if (weights[i] >= 0.0f && weights[i] <= FLT_MAX && joints[i] < joint_count) {
        list[count] = (import_influence){slots[joints[i]], weights[i]};
        count += weights[i] > 0.0f; /* no branch, because a processor cannot predict which weights are 0 */
      } else if (import_weight_counts(s, vertex, weights[i])) {
        import_note_add(s->job, NOTE_joint_index_out_of_range, 1, "vertex %u of mesh '%.80s' follows joint %u of %u",
                        vertex, submesh->title, joints[i], joint_count);
      }
    }
  }
  return count;
}

static sk_status skin_run(import_skinning *s, const set_run *run, import_influence *list) {
  sk_status status = read_sets(s->job, s->submesh->primitive, run);
  uint32_t v;
  for (v = run->first; v < run->first + run->count && !status; v++)
    status = import_finish_vertex(s, v, list, gather_vertex(s, run, v, list));
  return status;
}

sk_status gltf_skin_submesh(import_skinning *s) {
  const gltf_primitive *p = s->submesh->primitive;
  uint32_t vertices = s->submesh->vertex_count;
  set_run run = {.max_count = vertices < RUN || has_sparse_sets(s->job, p) ? vertices : RUN};
  size_t sets = (size_t)p->set_count, numbers = 4 * sets * run.max_count;
  import_influence *list = sk_alloc(4 * sets * sizeof *list);
  sk_status status = find_slots(s);
  run.joints = sk_alloc(numbers * sizeof *run.joints);
  run.weights = sk_alloc(numbers * sizeof *run.weights);
  if (!status && (!run.joints || !run.weights || !list)) status = import_no_memory(s->job, numbers * 8);
  for (; run.first < vertices && !status; run.first += run.count) {
    run.count = vertices - run.first < run.max_count ? vertices - run.first : run.max_count;
    status = skin_run(s, &run, list);
  }
  sk_free(list);
  sk_free(run.weights);
  sk_free(run.joints);
  return status;
}
