/* import_slot.c: palette slots: pairs of a joint and its offset, which is an inverse bind matrix. */
#include <math.h>
#include <string.h>

#include "../core/base/sk_math.h"
#include "import_slot.h"

const float import_identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

/* ---- slots -------------------------------------------------------------------------- */

/* The entry of the table that has the slot, or the empty one where it belongs. */
static uint32_t *find_entry(const import_slots *slots, int32_t joint, const float offset[16]) {
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
    *find_entry(slots, ((const int32_t *)slots->joints.data)[i], offset) = (uint32_t)i + 1;
  }
  return true;
}

/* The rest poses of finite joints may multiply to numbers that are not. */
static void copy_finite(import_job *job, int32_t joint, const float *from, float out[16]) {
  bool bad = false;
  int i;
  for (i = 0; i < 16; i++) {
    bad |= import_is_bad(from[i]);
    out[i] = import_is_bad(from[i]) ? import_identity[i] : from[i];
  }
  if (bad) import_note_add(job, NOTE_numbers_repaired, 1, "the inverse bind matrix of joint %d", (int)joint);
}

sk_status import_add_slot(import_job *job, int32_t joint, const float given[16], uint32_t *slot) {
  import_slots *slots = &job->model.slots;
  float offset[16], *new_offset;
  uint32_t *entry;
  int32_t *new_joint;
  copy_finite(job, joint, given, offset);
  if (!slots->table) slots->joints = SK_ARRAY(int32_t), slots->offsets = SK_ARRAY(float[16]);
  if ((!slots->table || slots->joints.count * 2 > slots->mask) && !grow_table(slots)) return import_no_memory(job, 1);
  entry = find_entry(slots, joint, offset);
  if (!*entry) {
    if (slots->joints.count >= SK_MAX_SLOTS)
      return sk_fail(job->error, SK_ERROR_IMPORT, "the model needs more than %u palette slots", SK_MAX_SLOTS);
    new_joint = sk_array_extend(&slots->joints, 1);
    new_offset = sk_array_extend(&slots->offsets, 1);
    if (!new_joint || !new_offset) return import_no_memory(job, 1);
    *new_joint = joint;
    memcpy(new_offset, offset, 16 * sizeof *offset);
    *entry = (uint32_t)slots->joints.count;
  }
  *slot = *entry - 1;
  return SK_OK;
}

/* ---- offsets --------------------------------------------------------------------------- */

void import_copy_offset(import_job *job, const import_submesh *submesh, const float *m, float out[16]) {
  bool bad = false;
  int i;
  for (i = 0; i < 16; i++) {
    bad |= import_is_bad(m[i]) || (i >= 12 && fabsf(m[i] - import_identity[i]) > IMPORT_BOTTOM_TOLERANCE);
    out[i] = (i >= 12 || import_is_bad(m[i]) ? import_identity[i] : m[i]) + 0.0f; /* -0 and 0 make no second slot */
  }
  if (bad) import_note_add(job, NOTE_numbers_repaired, 1, "an inverse bind matrix of mesh '%.80s'", submesh->title);
}

/* Compares values, not bits: a mirrored file has -0 in the identity. */
static bool is_identity(const float *m) {
  int i;
  for (i = 0; i < 16; i++)
    if (m[i] != import_identity[i]) return false;
  return true;
}

void import_offsets_add(const import_job *job, import_offsets *seen, int32_t joint, const float *offset) {
  const double *globals = job->model.globals;
  seen->count++;
  seen->others |= !is_identity(offset);
  if (joint < 0) return;
  if (seen->first < 0) seen->first = joint;
  seen->differ |= memcmp(globals + 12 * (size_t)seen->first, globals + 12 * (size_t)joint, 12 * sizeof(double)) != 0;
}

bool import_offsets_are_missing(const import_offsets *seen) { return seen->count > 1 && seen->differ && !seen->others; }

static bool offsets_are_missing(const import_job *job, const struct aiMesh *mesh) {
  import_offsets seen = {.first = SK_NONE};
  unsigned b;
  for (b = 0; b < mesh->mNumBones && !seen.others; b++)
    import_offsets_add(job, &seen, import_find_joint(job, &mesh->mBones[b]->mName), &mesh->mBones[b]->mOffsetMatrix.a1);
  return import_offsets_are_missing(&seen);
}

void import_compute_offset(const import_model *m, int32_t joint, int32_t node, float out[16]) {
  double inverse[12];
  sk_affine_inverse(m->globals + 12 * (size_t)joint, inverse);
  sk_affine_multiply(inverse, m->globals + 12 * (size_t)node, inverse);
  sk_affine_to_mat4(inverse, out);
}

sk_status import_slots_of_bones(import_job *job, const import_submesh *submesh, uint32_t *slots) {
  const struct aiMesh *mesh = submesh->mesh;
  bool missing = offsets_are_missing(job, mesh), computed = missing || job->format->offsets_follow_rest;
  unsigned b;
  sk_status status = SK_OK;
  if (missing) import_note_add(job, NOTE_inverse_bind_computed, mesh->mNumBones, "mesh '%.100s'", submesh->title);
  for (b = 0; b < mesh->mNumBones && !status; b++) {
    const struct aiBone *bone = mesh->mBones[b];
    int32_t joint = import_bind_joint(job, &bone->mName, "joint of a skin");
    float offset[16];
    if (computed && joint >= 0) import_compute_offset(&job->model, joint, submesh->joint, offset);
    else import_copy_offset(job, submesh, &bone->mOffsetMatrix.a1, offset); /* row-major, as those of skinpy */
    if (joint < 0) import_note_add(job, NOTE_bones_without_node, 1, "'%.100s'", bone->mName.data);
    status = import_add_slot(job, joint < 0 ? submesh->joint : joint, offset, &slots[b]);
  }
  return status;
}
