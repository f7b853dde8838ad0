/* import_influence.c: palette slots, and which of them every vertex follows.

   A slot is a pair of joint and offset matrix: one joint may have different offsets in two meshes,
   and a rigid part is a slot too, its node with the identity. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "import_internal.h"

#define SUM_TOLERANCE 1e-3 /* a sum of weights further from 1 is reported; 8-bit weights come to 4e-3 */
#define REPEATED 512       /* rows copied at once */

static const float identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

/* ---- slots -------------------------------------------------------------------------- */

static uint32_t *find_slot(const import_slots *slots, int32_t joint, const float offset[16]) {
  size_t at = (import_hash(offset, 16 * sizeof *offset) ^ (uint32_t)joint * 0x9e3779b1u) & slots->mask;
  for (; slots->table[at]; at = (at + 1) & slots->mask) {
    uint32_t slot = slots->table[at] - 1;
    if (((int32_t *)slots->joints.data)[slot] == joint &&
        !memcmp((float *)slots->offsets.data + 16 * (size_t)slot, offset, 16 * sizeof *offset))
      break;
  }
  return &slots->table[at];
}

static bool grow_table(import_slots *slots) {
  size_t size = slots->table ? 2 * (slots->mask + 1) : 256, i;
  uint32_t *table = sk_alloc_zero(size * sizeof *table);
  if (!table) return false;
  sk_free(slots->table);
  slots->table = table;
  slots->mask = size - 1;
  for (i = 0; i < slots->joints.count; i++) {
    const float *offset = (const float *)slots->offsets.data + 16 * i;
    *find_slot(slots, ((const int32_t *)slots->joints.data)[i], offset) = (uint32_t)i + 1;
  }
  return true;
}

static sk_status add_slot(import_job *job, int32_t joint, const float offset[16], uint32_t *slot) {
  import_slots *slots = &job->model.slots;
  uint32_t *place;
  int32_t *new_joint;
  float *new_offset;
  if (!slots->table)
    slots->joints = SK_ARRAY(int32_t), slots->offsets = (sk_array){NULL, 0, 0, 16 * sizeof(float)};
  if ((!slots->table || slots->joints.count * 2 > slots->mask) && !grow_table(slots))
    return import_no_memory(job, 1);
  place = find_slot(slots, joint, offset);
  if (!*place) {
    if (slots->joints.count >= SK_MAX_SLOTS)
      return sk_fail(job->error, SK_ERROR_IMPORT, "it needs more than %u palette slots", SK_MAX_SLOTS);
    new_joint = sk_array_extend(&slots->joints, 1);
    new_offset = sk_array_extend(&slots->offsets, 1);
    if (!new_joint || !new_offset) return import_no_memory(job, 1);
    *new_joint = joint;
    memcpy(new_offset, offset, 16 * sizeof *offset);
    *place = (uint32_t)slots->joints.count;
  }
  *slot = *place - 1;
  return SK_OK;
}

/* ---- offsets --------------------------------------------------------------------------- */

/* Assimp's matrices are row-major for column vectors, as ours. */
static void read_offset(import_job *job, const import_part *part, const struct aiBone *bone, float out[16]) {
  const float *m = &bone->mOffsetMatrix.a1;
  bool bad = false;
  int i;
  for (i = 0; i < 16; i++) {
    bad |= import_is_bad(m[i]) || (i >= 12 && fabsf(m[i] - identity[i]) > BOTTOM_TOLERANCE);
    out[i] = (i >= 12 || import_is_bad(m[i]) ? identity[i] : m[i]) + 0.0f; /* -0 and 0 make no second slot */
  }
  if (bad)
    import_note_add(job, NOTE_numbers_repaired, 1, "an inverse bind matrix of mesh '%.80s'", part->title);
}

/* By value: a mirrored file has -0 in it. */
static bool is_identity(const struct aiMatrix4x4 *matrix) {
  const float *m = &matrix->a1;
  int i;
  for (i = 0; i < 16; i++)
    if (m[i] != identity[i]) return false;
  return true;
}

/* Outside glTF a skin whose offsets are all the identity, although its joints stand in different
   places at rest, has none: they are computed. */
static bool offsets_are_missing(const import_job *job, const struct aiMesh *mesh) {
  int32_t first = SK_NONE;
  unsigned b;
  bool differ = false;
  if (job->gltf || mesh->mNumBones < 2) return false;
  for (b = 0; b < mesh->mNumBones; b++) {
    int32_t joint = import_find_joint(job, &mesh->mBones[b]->mName);
    if (!is_identity(&mesh->mBones[b]->mOffsetMatrix)) return false;
    if (joint < 0) continue;
    if (first < 0) first = joint;
    differ |= memcmp(job->model.globals + 12 * (size_t)first, job->model.globals + 12 * (size_t)joint,
                     12 * sizeof(double)) != 0;
  }
  return differ;
}

/* inverse(joint at rest) * (mesh's node at rest) */
static void compute_offset(const import_model *m, int32_t joint, int32_t node, float out[16]) {
  double inverse[12];
  sk_affine_inverse(m->globals + 12 * (size_t)joint, inverse);
  sk_affine_multiply(inverse, m->globals + 12 * (size_t)node, inverse);
  sk_affine_to_mat4(inverse, out);
}

/* B3D: vertices are in the space of the node that holds the mesh, as the rest pose has it; Assimp takes
   them to be in the scene's. */
static bool offsets_follow_rest(const import_job *job) { return !strcmp(job->format, "b3d"); }

static sk_status slots_of_bones(import_job *job, const import_part *part, uint32_t *slots) {
  const struct aiMesh *mesh = part->mesh;
  bool missing = offsets_are_missing(job, mesh), computed = missing || offsets_follow_rest(job);
  unsigned b;
  sk_status status = SK_OK;
  if (missing)
    import_note_add(job, NOTE_inverse_bind_computed, mesh->mNumBones, "mesh '%.100s'", part->title);
  for (b = 0; b < mesh->mNumBones && !status; b++) {
    const struct aiBone *bone = mesh->mBones[b];
    int32_t joint = import_find_joint(job, &bone->mName);
    float offset[16];
    if (computed && joint >= 0) compute_offset(&job->model, joint, part->joint, offset);
    else read_offset(job, part, bone, offset);
    if (joint < 0) import_note_add(job, NOTE_bones_without_node, 1, "'%.100s'", bone->mName.data);
    status = add_slot(job, joint < 0 ? part->joint : joint, offset, &slots[b]);
  }
  return status;
}

/* ---- one vertex ------------------------------------------------------------------------- */

typedef struct influence { uint32_t slot; float weight; } influence;

typedef struct skinning { /* what is the same for all vertices of a part */
  import_job *job;
  const import_part *part;
  uint32_t own_slot;   /* of the part's node; UINT32_MAX until it is needed */
} skinning;

/* Adds up what one slot is given twice; returns the new count. The lists are short. */
static uint32_t merge(skinning *s, influence *list, uint32_t count, uint32_t vertex) {
  uint32_t i, k, kept = 0;
  for (i = 0; i < count; i++) {
    for (k = 0; k < kept && list[k].slot != list[i].slot; k++) {}
    if (k < kept) {
      list[k].weight += list[i].weight;
      import_note_add(s->job, NOTE_influences_merged, 1, "vertex %u of mesh '%.80s'", vertex, s->part->title);
    } else {
      list[kept++] = list[i];
    }
  }
  return kept;
}

/* Largest first; equal ones keep their order. */
static void sort(influence *list, uint32_t count) {
  uint32_t i, k;
  for (i = 1; i < count; i++) {
    influence moved = list[i];
    for (k = i; k > 0 && list[k - 1].weight < moved.weight; k--) list[k] = list[k - 1];
    list[k] = moved;
  }
}

/* Divides by the sum; the last weight is what the others leave of 1, so that the sum is 1 in float. */
static void write_weights(import_model *m, size_t vertex, const influence *list, uint32_t count) {
  uint32_t influences = m->info.influences, i;
  uint16_t *slots = m->vertex_slots + vertex * influences;
  float *weights = m->weights + vertex * influences, rest = 1.0f;
  double sum = 0.0;
  for (i = 0; i < count; i++) sum += list[i].weight;
  for (i = 0; i < count; i++) {
    slots[i] = (uint16_t)list[i].slot;
    weights[i] = i + 1 == count ? rest : (float)(list[i].weight / sum);
    if (weights[i] < 0.0f) weights[i] = 0.0f;
    if (i && weights[i] > weights[i - 1]) weights[i] = weights[i - 1];
    rest -= weights[i];
  }
  for (; i < influences; i++) {
    slots[i] = slots[0]; /* a slot that exists, and is at hand */
    weights[i] = 0.0f;
  }
}

#define PLAIN 4 /* influences of a vertex that are sorted at one go */

/* The larger key goes to a. */
static inline void order(uint64_t *a, uint64_t *b) {
  uint64_t high = *a > *b ? *a : *b, low = *a > *b ? *b : *a;
  *a = high;
  *b = low;
}

/* Two different slots whose weights sum to 1: as write_plain, with a fraction of the work. */
static bool write_pair(import_model *m, size_t vertex, const influence *list) {
  bool turned = list[1].weight > list[0].weight;
  influence a = list[turned], b = list[!turned];
  double sum = (double)a.weight + b.weight;
  uint16_t *slots = m->vertex_slots + vertex * PLAIN;
  float *weights = m->weights + vertex * PLAIN, first, second;
  if (a.slot == b.slot || !(fabs(sum - 1.0) <= 0.5 * SUM_TOLERANCE)) return false;
  first = (float)(a.weight / sum);
  first = first > 1.0f ? 1.0f : first;
  second = 1.0f - first;
  weights[0] = first;
  weights[1] = second > first ? first : second;
  weights[2] = weights[3] = 0.0f;
  slots[0] = slots[2] = slots[3] = (uint16_t)a.slot;
  slots[1] = (uint16_t)b.slot;
  return true;
}

/* The usual vertex: a few different slots whose weights sum to 1. It gets what merge, sort and write_weights
   would give it, without a branch that depends on its numbers; false where it is not that usual.
   The bits of positive floats rise with them, so that one key holds a weight, its place and its slot. */
static bool write_plain(import_model *m, size_t vertex, const influence *list, uint32_t count) {
  uint64_t keys[PLAIN] = {0};
  uint16_t *slots = m->vertex_slots + vertex * PLAIN;
  float *weights = m->weights + vertex * PLAIN, sorted[PLAIN], rest = 1.0f, last = 1.0f;
  double sum = 0.0;
  bool twice = false;
  uint32_t i, k, bits;
  if (!count || count > PLAIN || m->info.influences != PLAIN) return false;
  if (count == 2) return write_pair(m, vertex, list);
  for (i = 0; i < count; i++) {
    memcpy(&bits, &list[i].weight, sizeof bits);
    keys[i] = (uint64_t)bits << 32 | (PLAIN - i) << 16 | list[i].slot;
    for (k = 0; k < i; k++) twice |= list[k].slot == list[i].slot;
  }
  order(&keys[0], &keys[1]), order(&keys[2], &keys[3]);
  order(&keys[0], &keys[2]), order(&keys[1], &keys[3]);
  order(&keys[1], &keys[2]);
  for (i = 0; i < PLAIN; i++) {
    bits = (uint32_t)(keys[i] >> 32);
    memcpy(&sorted[i], &bits, sizeof bits);
    sum += sorted[i];
  }
  if (twice || !(fabs(sum - 1.0) <= 0.5 * SUM_TOLERANCE)) return false;
  for (i = 0; i < PLAIN; i++) {
    float share = (float)(sorted[i] / sum);
    share = i + 1 == count ? rest : share;
    share = share < 0.0f ? 0.0f : share;
    share = share > last ? last : share;
    weights[i] = last = i < count ? share : 0.0f;
    slots[i] = (uint16_t)keys[i < count ? i : 0];
    rest -= share;
  }
  return true;
}

static sk_status own_slot(skinning *s, uint32_t *slot) {
  sk_status status = SK_OK;
  if (s->own_slot == UINT32_MAX) status = add_slot(s->job, s->part->joint, identity, &s->own_slot);
  *slot = s->own_slot;
  return status;
}

/* `list` holds positive, finite weights in the order of the skin's joints; it is changed. */
static sk_status finish_vertex(skinning *s, uint32_t vertex, influence *list, uint32_t count) {
  import_job *job = s->job;
  const char *name = s->part->title;
  uint32_t most = job->model.info.influences, i;
  influence own = {0, 1.0f};
  double sum = 0.0;
  sk_status status = SK_OK;
  if (count == 1 && list[0].weight == 1.0f) { /* half of all vertices, and nothing to do */
    write_weights(&job->model, (size_t)s->part->first_vertex + vertex, list, 1);
    return SK_OK;
  }
  if (write_plain(&job->model, (size_t)s->part->first_vertex + vertex, list, count)) return SK_OK;
  count = merge(s, list, count, vertex);
  for (i = 0; i < count; i++) sum += list[i].weight;
  if (!count || import_is_bad((float)sum)) {
    import_note_add(job, NOTE_vertices_unweighted, 1, "vertex %u of mesh '%.80s'", vertex, name);
    status = own_slot(s, &own.slot);
    list = &own;
    count = 1;
  } else {
    if (fabs(sum - 1.0) > SUM_TOLERANCE)
      import_note_add(job, NOTE_weights_normalized, 1, "vertex %u of mesh '%.80s': %g", vertex, name, sum);
    sort(list, count);
    if (count > most) {
      import_note_add(job, NOTE_influences_dropped, 1, "vertex %u of mesh '%.80s' has %u", vertex, name,
                      count);
      count = most;
    }
  }
  write_weights(&job->model, (size_t)s->part->first_vertex + vertex, list, count);
  return status;
}

static bool is_usable(float weight) { return weight > 0.0f && weight <= FLT_MAX; }

/* True where the weight counts; what is negative or not finite is reported. */
static bool weight_counts(skinning *s, uint32_t vertex, float weight) {
  if (is_usable(weight)) return true;
  if (weight != 0.0f)
    import_note_add(s->job, NOTE_weights_repaired, 1, "vertex %u of mesh '%.80s': %g", vertex,
                    s->part->title, (double)weight);
  return false;
}

/* ---- Assimp: each bone lists its vertices -------------------------------------------------- */

/* Counts the weights of each vertex, two places behind it. */
static void count_weights(skinning *s, const struct aiBone *bone, uint32_t *starts) {
  const struct aiVertexWeight *weight = bone->mWeights;
  uint32_t count = s->part->vertex_count, w;
  for (w = 0; w < bone->mNumWeights; w++, weight++)
    if (weight->mVertexId < count && weight_counts(s, weight->mVertexId, weight->mWeight))
      starts[weight->mVertexId + 2]++;
}

#define AHEAD 16 /* weights whose places are fetched before they are written */

/* Puts each weight where its vertex' list has come to. */
static void list_weights(const struct aiBone *bone, uint32_t slot, uint32_t count, uint32_t *starts,
                         influence *list) {
  const struct aiVertexWeight *weight = bone->mWeights;
  uint32_t w, coming;
  for (w = 0; w < bone->mNumWeights; w++, weight++) {
    coming = w + AHEAD < bone->mNumWeights ? weight[AHEAD].mVertexId : count;
    if (coming < count) __builtin_prefetch(&list[starts[coming + 1]], 1);
    if (weight->mVertexId < count && is_usable(weight->mWeight))
      list[starts[weight->mVertexId + 1]++] = (influence){slot, weight->mWeight};
  }
}

static sk_status skin_by_bones(skinning *s, const uint32_t *slots) {
  const struct aiMesh *mesh = s->part->mesh;
  uint32_t count = s->part->vertex_count, v;
  uint32_t *starts = sk_alloc_zero(((size_t)count + 2) * sizeof *starts);
  influence *list = NULL;
  unsigned b;
  sk_status status = SK_OK;
  for (b = 0; starts && b < mesh->mNumBones; b++) count_weights(s, mesh->mBones[b], starts);
  for (v = 2; starts && v < count + 2; v++) starts[v] += starts[v - 1];
  if (starts) list = sk_alloc((size_t)starts[count + 1] * sizeof *list);
  if (!list) status = import_no_memory(s->job, count);
  for (b = 0; list && b < mesh->mNumBones; b++) list_weights(mesh->mBones[b], slots[b], count, starts, list);
  for (v = 0; list && v < count && !status; v++)
    status = finish_vertex(s, v, list + starts[v], starts[v + 1] - starts[v]);
  sk_free(list);
  sk_free(starts);
  return status;
}

/* ---- weights that skinpy reads itself --------------------------------------------------------- */

#define MOST 16 /* weights of one vertex that are looked at */

static sk_status slot_of_joint(skinning *s, uint32_t number, uint32_t *slot) {
  import_job *job = s->job;
  import_weights *w = job->weights;
  int32_t joint = w->joint_of ? w->joint_of[number] : (int32_t)number, node = s->part->joint + 1;
  float offset[16];
  sk_status status = SK_OK;
  if (joint < 0 || (size_t)joint >= job->model.nodes.count) {
    import_note_add(job, NOTE_bones_without_node, 1, "joint %u of the file", number);
    return own_slot(s, slot);
  }
  if (w->slots[number].node != node) {
    compute_offset(&job->model, joint, s->part->joint, offset);
    status = add_slot(job, joint, offset, &w->slots[number].slot);
    w->slots[number].node = node;
  }
  *slot = w->slots[number].slot;
  return status;
}

static sk_status skin_by_file(skinning *s) {
  const import_weights *w = s->job->weights;
  uint32_t v, k;
  sk_status status = SK_OK;
  for (v = 0; v < s->part->vertex_count && !status; v++) {
    uint32_t vertex = s->part->corners[v], first = w->starts[vertex], count = w->starts[vertex + 1] - first;
    const import_weight *from = (const import_weight *)w->sorted.data + first;
    influence list[MOST];
    if (count > MOST)
      import_note_add(s->job, NOTE_influences_dropped, 1, "vertex %u of mesh '%.80s' has %u", v, s->part->title,
                      count);
    if (count > MOST) count = MOST;
    for (k = 0; k < count && !status; k++) {
      status = slot_of_joint(s, from[k].joint, &list[k].slot);
      list[k].weight = from[k].weight;
    }
    if (!status) status = finish_vertex(s, v, list, count);
  }
  return status;
}

/* ---- glTF: each vertex lists its joints, four to a set ---------------------------------------- */

#define RUN 1024 /* vertices whose sets are read at one go: what they take stays in a near cache */

typedef struct set_run { /* the sets of vertices that follow each other */
  uint32_t first, count, most;
  uint32_t *joints; /* of vertex first + v in set k: four from 4 * (k * most + v) on */
  float *weights;   /* likewise */
} set_run;

/* The elements of an accessor, which has no sparse part, that belong to the run. */
static void cut(gltf_accessor *a, const set_run *run) {
  if (a->sparse >= 0) return; /* then the run has all vertices */
  if (a->data) a->data += run->first * a->stride;
  a->count = run->count;
}

static sk_status read_sets(import_job *job, const gltf_primitive *p, const set_run *run) {
  sk_status status = SK_OK;
  int32_t k;
  for (k = 0; k < p->set_count && !status; k++) {
    const gltf_set *set = (const gltf_set *)job->gltf->sets.data + p->first_set + k;
    size_t at = 4 * (size_t)k * run->most;
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

static uint32_t gather_vertex(skinning *s, const uint32_t *slots, const set_run *run, uint32_t vertex,
                              influence *list) {
  const import_part *part = s->part;
  uint32_t count = 0;
  int32_t k, i;
  for (k = 0; k < part->primitive->set_count; k++) {
    size_t at = 4 * ((size_t)k * run->most + (vertex - run->first));
    const uint32_t *joints = run->joints + at;
    const float *weights = run->weights + at;
    for (i = 0; i < 4; i++) {
      if (weights[i] >= 0.0f && weights[i] <= FLT_MAX && joints[i] < part->mesh->mNumBones) {
        list[count] = (influence){slots[joints[i]], weights[i]};
        count += weights[i] > 0.0f; /* no branch: which ones are 0 cannot be foreseen */
      } else if (weight_counts(s, vertex, weights[i])) {
        import_note_add(s->job, NOTE_joint_index_out_of_range, 1,
                        "vertex %u of mesh '%.80s' follows joint %u of %u",
                        vertex, part->title, joints[i], part->mesh->mNumBones);
      }
    }
  }
  return count;
}

static sk_status skin_run(skinning *s, const uint32_t *slots, const set_run *run, influence *list) {
  sk_status status = read_sets(s->job, s->part->primitive, run);
  uint32_t v;
  for (v = run->first; v < run->first + run->count && !status; v++)
    status = finish_vertex(s, v, list, gather_vertex(s, slots, run, v, list));
  return status;
}

static sk_status skin_by_sets(skinning *s, const uint32_t *slots) {
  const gltf_primitive *p = s->part->primitive;
  uint32_t vertices = s->part->vertex_count;
  set_run run = {.most = vertices < RUN || has_sparse_sets(s->job, p) ? vertices : RUN};
  size_t sets = (size_t)p->set_count, numbers = 4 * sets * run.most;
  influence *list = sk_alloc(4 * sets * sizeof *list);
  sk_status status = SK_OK;
  run.joints = sk_alloc(numbers * sizeof *run.joints);
  run.weights = sk_alloc(numbers * sizeof *run.weights);
  if (!run.joints || !run.weights || !list) status = import_no_memory(s->job, numbers * 8);
  for (; run.first < vertices && !status; run.first += run.count) {
    run.count = vertices - run.first < run.most ? vertices - run.first : run.most;
    status = skin_run(s, slots, &run, list);
  }
  sk_free(list);
  sk_free(run.weights);
  sk_free(run.joints);
  return status;
}

/* ---- one part ------------------------------------------------------------------------------------ */

/* The first row becomes all of them. What is copied stays small, and near. */
static void repeat_row(void *rows, size_t stride, size_t count) {
  char *to = rows;
  size_t done = 1, some;
  for (; done < count; done += some) {
    some = done < REPEATED ? done : REPEATED;
    if (some > count - done) some = count - done;
    memcpy(to + done * stride, to, some * stride);
  }
}

static sk_status skin_rigid(skinning *s) {
  import_model *m = &s->job->model;
  size_t k = m->info.influences, first = s->part->first_vertex;
  influence own = {0, 1.0f};
  sk_status status = own_slot(s, &own.slot);
  if (status) return status;
  write_weights(m, first, &own, 1);
  repeat_row(m->vertex_slots + k * first, k * sizeof *m->vertex_slots, s->part->vertex_count);
  repeat_row(m->weights + k * first, k * sizeof *m->weights, s->part->vertex_count);
  return SK_OK;
}

sk_status import_skin_part(import_job *job, const import_part *part) {
  skinning s = {job, part, UINT32_MAX};
  uint32_t *slots;
  sk_status status;
  if (part->rigid) return skin_rigid(&s);
  if (part->corners) return skin_by_file(&s);
  slots = sk_alloc(part->mesh->mNumBones * sizeof *slots);
  if (!slots) return import_no_memory(job, part->mesh->mNumBones * sizeof *slots);
  status = slots_of_bones(job, part, slots);
  if (!status) status = part->primitive ? skin_by_sets(&s, slots) : skin_by_bones(&s, slots);
  sk_free(slots);
  return status;
}
