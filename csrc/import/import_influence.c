/* import_influence.c: which palette slots every vertex follows, and with which weights.

   The weights come from Assimp's bones, from the file itself (import_weights.h) or from a reader. Each vertex gets its
   largest weights, divided by their sum. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "import_reader.h"
#include "import_slot.h"
#include "import_weights.h"

#define SUM_TOLERANCE 1e-3 /* a sum of weights further from 1 is reported; 8-bit weights come to 4e-3 */
#define REPEATED      512       /* rows that are copied at once */

/* ---- one vertex ------------------------------------------------------------------------- */

/* Adds the weights that one slot has twice; returns the new count. The lists are short. */
static uint32_t merge(import_skinning *s, import_influence *list, uint32_t count, uint32_t vertex) {
  uint32_t i, k, kept = 0;
  for (i = 0; i < count; i++) {
    for (k = 0; k < kept && list[k].slot != list[i].slot; k++) {}
    if (k < kept) {
      list[k].weight += list[i].weight;
      import_note_add(s->job, NOTE_influences_merged, 1, "vertex %u of mesh '%.80s'", vertex, s->submesh->title);
    } else {
      list[kept++] = list[i];
    }
  }
  return kept;
}

/* Largest first; equal ones keep their order. */
static void sort(import_influence *list, uint32_t count) {
  uint32_t i, k;
  for (i = 1; i < count; i++) {
    import_influence moved = list[i];
    for (k = i; k > 0 && list[k - 1].weight < moved.weight; k--) list[k] = list[k - 1];
    list[k] = moved;
  }
}

/* Divides by the sum; the last weight is what the others leave of 1, so that the sum is 1 in float. */
static void write_weights(import_model *m, size_t vertex, const import_influence *list, uint32_t count) {
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
    slots[i] = slots[0]; /* any slot that exists will do */
    weights[i] = 0.0f;
  }
}

#define PLAIN 4 /* influences of a usual vertex */

/* Puts the larger key first. */
static inline void sort_pair(uint64_t *a, uint64_t *b) {
  uint64_t high = *a > *b ? *a : *b, low = *a > *b ? *b : *a;
  *a = high;
  *b = low;
}

/* Two different slots whose weights sum to 1: does what write_plain does, with a fraction of the work. */
static bool write_pair(import_model *m, size_t vertex, const import_influence *list) {
  bool swapped = list[1].weight > list[0].weight;
  import_influence a = list[swapped], b = list[!swapped];
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

/* The usual vertex has a few different slots whose weights sum to 1. It gets what merge, sort and write_weights would
   give it, without a branch that depends on its numbers; false where the vertex is another one. The bits of positive
   floats rise with their values, so that one key holds a weight, its position in the list and its slot. */
static bool write_plain(import_model *m, size_t vertex, const import_influence *list, uint32_t count) {
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
  sort_pair(&keys[0], &keys[1]), sort_pair(&keys[2], &keys[3]);
  sort_pair(&keys[0], &keys[2]), sort_pair(&keys[1], &keys[3]);
  sort_pair(&keys[1], &keys[2]);
  for (i = 0; i < PLAIN; i++) {
    bits = (uint32_t)(keys[i] >> 32);
    memcpy(&sorted[i], &bits, sizeof bits);
    sum += sorted[i];
  }
  if (twice || !(fabs(sum - 1.0) <= 0.5 * SUM_TOLERANCE)) return false;
  for (i = 0; i < PLAIN; i++) {
    float part_of_sum = (float)(sorted[i] / sum);
    part_of_sum = i + 1 == count ? rest : part_of_sum;
    part_of_sum = part_of_sum < 0.0f ? 0.0f : part_of_sum;
    part_of_sum = part_of_sum > last ? last : part_of_sum;
    weights[i] = last = i < count ? part_of_sum : 0.0f;
    slots[i] = (uint16_t)keys[i < count ? i : 0];
    rest -= part_of_sum;
  }
  return true;
}

/* A rigid submesh has the offset in its vertices. */
static const float *own_offset(const import_submesh *submesh) {
  return submesh->has_own_offset && !submesh->rigid ? submesh->own_offset : import_identity;
}

static sk_status own_slot(import_skinning *s, uint32_t *slot) {
  sk_status status = SK_OK;
  if (s->own_slot == UINT32_MAX)
    status = import_add_slot(s->job, s->submesh->joint, own_offset(s->submesh), &s->own_slot);
  *slot = s->own_slot;
  return status;
}

sk_status import_finish_vertex(import_skinning *s, uint32_t vertex, import_influence *list, uint32_t count) {
  import_job *job = s->job;
  const char *name = s->submesh->title;
  uint32_t max_count = job->model.info.influences, i;
  import_influence own = {0, 1.0f};
  double sum = 0.0;
  sk_status status = SK_OK;
  if (count == 1 && list[0].weight == 1.0f) { /* half of all vertices */
    write_weights(&job->model, (size_t)s->submesh->first_vertex + vertex, list, 1);
    return SK_OK;
  }
  if (write_plain(&job->model, (size_t)s->submesh->first_vertex + vertex, list, count)) return SK_OK;
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
    if (count > max_count) {
      import_note_add(job, NOTE_influences_dropped, 1, "vertex %u of mesh '%.80s' has %u", vertex, name, count);
      count = max_count;
    }
  }
  write_weights(&job->model, (size_t)s->submesh->first_vertex + vertex, list, count);
  return status;
}

static bool is_usable(float weight) { return weight > 0.0f && weight <= FLT_MAX; }

bool import_weight_counts(import_skinning *s, uint32_t vertex, float weight) {
  if (is_usable(weight)) return true;
  if (weight != 0.0f)
    import_note_add(s->job, NOTE_weights_repaired, 1, "vertex %u of mesh '%.80s': %g", vertex, s->submesh->title,
                    (double)weight);
  return false;
}

/* ---- Assimp: each bone lists its vertices -------------------------------------------------- */

/* Counts the weights of vertex v in starts[v + 2], so that sums turn the counts into the starts of the lists. */
static void count_weights(import_skinning *s, const struct aiBone *bone, uint32_t *starts) {
  const struct aiVertexWeight *weight = bone->mWeights;
  uint32_t count = s->submesh->vertex_count, w;
  for (w = 0; w < bone->mNumWeights; w++, weight++)
    if (weight->mVertexId < count && import_weight_counts(s, weight->mVertexId, weight->mWeight))
      starts[weight->mVertexId + 2]++;
}

#define AHEAD 16 /* weights: how early the memory of a weight is fetched before it is written */

/* Appends each weight to the list of its vertex. */
static void list_weights(const struct aiBone *bone, uint32_t slot, uint32_t count, uint32_t *starts,
                         import_influence *list) {
  const struct aiVertexWeight *weight = bone->mWeights;
  uint32_t w, next;
  for (w = 0; w < bone->mNumWeights; w++, weight++) {
    next = w + AHEAD < bone->mNumWeights ? weight[AHEAD].mVertexId : count;
    if (next < count) __builtin_prefetch(&list[starts[next + 1]], 1);
    if (weight->mVertexId < count && is_usable(weight->mWeight))
      list[starts[weight->mVertexId + 1]++] = (import_influence){slot, weight->mWeight};
  }
}

static sk_status skin_by_bones(import_skinning *s, const uint32_t *slots) {
  const struct aiMesh *mesh = s->submesh->mesh;
  uint32_t count = s->submesh->vertex_count, v;
  uint32_t *starts = sk_alloc_zero(((size_t)count + 2) * sizeof *starts);
  import_influence *list = NULL;
  unsigned b;
  sk_status status = SK_OK;
  for (b = 0; starts && b < mesh->mNumBones; b++) count_weights(s, mesh->mBones[b], starts);
  for (v = 2; starts && v < count + 2; v++) starts[v] += starts[v - 1];
  if (starts) list = sk_alloc((size_t)starts[count + 1] * sizeof *list);
  if (!list) status = import_no_memory(s->job, count);
  for (b = 0; list && b < mesh->mNumBones; b++) list_weights(mesh->mBones[b], slots[b], count, starts, list);
  for (v = 0; list && v < count && !status; v++)
    status = import_finish_vertex(s, v, list + starts[v], starts[v + 1] - starts[v]);
  sk_free(list);
  sk_free(starts);
  return status;
}

/* ---- weights that skinpy reads itself --------------------------------------------------------- */

#define MAX_LISTED 16 /* weights of one vertex that are looked at */

static sk_status slot_of_joint(import_skinning *s, uint32_t number, uint32_t *slot) {
  import_job *job = s->job;
  import_weights *w = job->weights;
  int32_t joint = w->joint_of ? w->joint_of[number] : (int32_t)number, node = s->submesh->joint + 1;
  float offset[16];
  sk_status status = SK_OK;
  if (joint < 0 || (size_t)joint >= job->model.nodes.count) {
    import_note_add(job, NOTE_bones_without_node, 1, "joint %u of the file", number);
    return own_slot(s, slot);
  }
  if (w->slots[number].node != node) {
    import_compute_offset(&job->model, joint, s->submesh->joint, offset);
    status = import_add_slot(job, joint, offset, &w->slots[number].slot);
    w->slots[number].node = node;
  }
  *slot = w->slots[number].slot;
  return status;
}

static sk_status skin_by_file(import_skinning *s) {
  const import_weights *w = s->job->weights;
  uint32_t v, k;
  sk_status status = SK_OK;
  for (v = 0; v < s->submesh->vertex_count && !status; v++) {
    uint32_t vertex = s->submesh->corners[v], first = w->starts[vertex], count = w->starts[vertex + 1] - first;
    const import_weight *from = (const import_weight *)w->sorted.data + first;
    import_influence list[MAX_LISTED];
    if (count > MAX_LISTED)
      import_note_add(s->job, NOTE_influences_dropped, 1, "vertex %u of mesh '%.80s' has %u", v, s->submesh->title,
                      count);
    if (count > MAX_LISTED) count = MAX_LISTED;
    for (k = 0; k < count && !status; k++) {
      status = slot_of_joint(s, from[k].joint, &list[k].slot);
      list[k].weight = from[k].weight;
    }
    if (!status) status = import_finish_vertex(s, v, list, count);
  }
  return status;
}

/* ---- one submesh --------------------------------------------------------------------------------- */

/* Copies the first row to all others, in pieces that stay in a near cache. */
static void repeat_row(void *rows, size_t stride, size_t count) {
  char *to = rows;
  size_t done = 1, piece;
  for (; done < count; done += piece) {
    piece = done < REPEATED ? done : REPEATED;
    if (piece > count - done) piece = count - done;
    memcpy(to + done * stride, to, piece * stride);
  }
}

static sk_status skin_rigid(import_skinning *s) {
  import_model *m = &s->job->model;
  size_t k = m->info.influences, first = s->submesh->first_vertex;
  import_influence own = {0, 1.0f};
  sk_status status = own_slot(s, &own.slot);
  if (status) return status;
  write_weights(m, first, &own, 1);
  repeat_row(m->vertex_slots + k * first, k * sizeof *m->vertex_slots, s->submesh->vertex_count);
  repeat_row(m->weights + k * first, k * sizeof *m->weights, s->submesh->vertex_count);
  return SK_OK;
}

sk_status import_skin_submesh(import_job *job, const import_submesh *submesh) {
  import_skinning s = {job, submesh, UINT32_MAX};
  uint32_t *slots;
  sk_status status;
  if (submesh->rigid) return skin_rigid(&s);
  if (job->format->reader) return job->format->reader->skin(&s);
  if (submesh->corners) return skin_by_file(&s);
  slots = sk_alloc(submesh->mesh->mNumBones * sizeof *slots);
  if (!slots) return import_no_memory(job, submesh->mesh->mNumBones * sizeof *slots);
  status = import_slots_of_bones(job, submesh, slots);
  if (!status) status = skin_by_bones(&s, slots);
  sk_free(slots);
  return status;
}
