/* import_skeleton.c: every node of the scene becomes a joint, depth first, parents before children. */
#include <math.h>
#include <string.h>

#include "../core/base/sk_math.h"
#include "import_reader.h"
#include "import_skeleton.h"

#define SHEAR_TOLERANCE 1e-4 /* relative: float matrices with scales of 100 differ by some 1e-6 */

typedef struct pending { /* a node that waits to become a joint */
  const struct aiNode *node;
  int32_t parent;
} pending;

sk_status import_add_joint(import_job *job, const struct aiNode *node, int32_t parent) {
  const struct aiNode **added = sk_array_extend(&job->model.nodes, 1);
  int32_t *above = sk_array_extend(&job->model.parents, 1);
  if (!added || !above || !sk_array_extend(&job->model.names, 1)) return import_no_memory(job, 1);
  if (job->model.nodes.count > SK_MAX_JOINTS)
    return sk_fail(job->error, SK_ERROR_IMPORT, "the model has more than %u nodes", SK_MAX_JOINTS);
  *added = node;
  *above = parent;
  return SK_OK;
}

sk_text *import_joint_name(import_job *job, size_t joint) { return (sk_text *)job->model.names.data + joint; }

/* ---- the tree ------------------------------------------------------------------ */

static sk_status add_name(import_job *job, size_t joint) {
  const struct aiString *name = &((const struct aiNode **)job->model.nodes.data)[joint]->mName;
  size_t length = name->length < AI_MAXLEN ? name->length : AI_MAXLEN - 1;
  if (length == AI_MAXLEN - 1) import_note_add(job, NOTE_names_cut, 1, "%.100s...", name->data);
  if (!sk_text_append(&job->model.text, name->data, length, import_joint_name(job, joint)))
    return import_no_memory(job, length);
  return SK_OK;
}

/* Children are pushed in reverse, so that the first one is taken first. */
static sk_status walk_scene(import_job *job) {
  sk_array stack = SK_ARRAY(pending);
  pending *top = sk_array_extend(&stack, 1);
  sk_status status = top ? SK_OK : import_no_memory(job, sizeof *top);
  if (top) *top = (pending){job->scene->mRootNode, SK_NONE};
  while (!status && stack.count) {
    pending next = ((pending *)stack.data)[--stack.count];
    int32_t joint = (int32_t)job->model.nodes.count;
    unsigned i, count = next.node->mChildren ? next.node->mNumChildren : 0;
    status = import_add_joint(job, next.node, next.parent);
    if (!status) status = add_name(job, (size_t)joint);
    for (i = count; i > 0 && !status; i--) {
      if (!next.node->mChildren[i - 1]) continue;
      top = sk_array_extend(&stack, 1);
      if (top) *top = (pending){next.node->mChildren[i - 1], joint};
      else status = import_no_memory(job, sizeof *top);
    }
  }
  sk_array_free(&stack);
  return status;
}

/* ---- names ---------------------------------------------------------------------- */

int32_t import_find_joint(const import_job *job, const struct aiString *name) {
  return (int32_t)import_names_find(&job->model.joint_of, name->data, name->length);
}

int32_t import_bind_joint(import_job *job, const struct aiString *name, const char *what) {
  int32_t joint = import_find_joint(job, name);
  if (joint >= 0 && job->model.is_repeated[joint])
    import_note_add(job, NOTE_names_ambiguous, 1, "%s '%.100s'", what, name->data);
  return joint;
}

/* Counts names that came before. Where no reader finds joints by their names, the table stays for that: its keys are
   Assimp's names, which do not move. The pool of strings moves when it grows. */
static sk_status index_names(import_job *job) {
  import_names *table = &job->model.joint_of;
  const import_reader *reader = job->format->reader;
  size_t j, count = job->model.names.count;
  job->model.is_repeated = sk_alloc_zero(count + 1);
  if (!job->model.is_repeated || !import_names_make(table, count)) return import_no_memory(job, count);
  for (j = 0; j < count; j++) {
    const struct aiNode *node = ((const struct aiNode **)job->model.nodes.data)[j];
    const sk_text *text = import_joint_name(job, j);
    const char *bytes = reader ? (const char *)job->model.text.data + text->offset : node->mName.data;
    uint32_t first = text->length ? import_names_add(table, bytes, text->length, (uint32_t)j) : (uint32_t)j;
    if (first == j) continue;
    job->model.is_repeated[first] = true;
    import_note_add(job, NOTE_duplicate_names, 1, "%.*s", (int)(text->length < 100 ? text->length : 100), bytes);
  }
  if (reader) import_names_free(table);
  return SK_OK;
}

/* ---- rest pose -------------------------------------------------------------------- */

static void affine_of_node(import_job *job, const struct aiNode *node, double out[12]) {
  const float *m = &node->mTransformation.a1;
  bool bad = false;
  int i;
  for (i = 12; i < 16; i++) bad |= !(fabsf(m[i] - (float)(i == 15)) <= IMPORT_BOTTOM_TOLERANCE);
  for (i = 0; i < 12; i++) {
    out[i] = import_is_bad(m[i]) ? (i % 5 == 0) : m[i];
    bad |= import_is_bad(m[i]);
  }
  if (bad) import_note_add(job, NOTE_numbers_repaired, 1, "the transform of node '%.100s'", node->mName.data);
}

/* Columns of finite numbers may be longer than a float can say: then only the translation is kept. */
static bool repair_parts(import_job *job, size_t j, float t[3], float r[4], float s[3]) {
  bool bad = false;
  int i;
  for (i = 0; i < 4; i++) bad |= import_is_bad(r[i]) || (i < 3 && (import_is_bad(s[i]) || import_is_bad(t[i])));
  if (!bad) return false;
  import_note_add(job, NOTE_numbers_repaired, 1, "the transform of joint %zu", j);
  for (i = 0; i < 4; i++) r[i] = (float)(i == 3);
  for (i = 0; i < 3; i++) s[i] = 1.0f, t[i] = import_is_bad(t[i]) ? 0.0f : t[i];
  return true;
}

/* The file's own T, R, S where it has them: a decomposition could not know how a negative scale is split. */
static void rest_of_joint(import_job *job, size_t j) {
  const import_reader *reader = job->format->reader;
  import_model *m = &job->model;
  float *t = (float *)m->translation.data + 3 * j, *r = (float *)m->rotation.data + 4 * j;
  float *s = (float *)m->scale.data + 3 * j;
  double *global = m->globals + 12 * j, local[12];
  int32_t parent = ((int32_t *)m->parents.data)[j];
  bool has_trs = reader && reader->rest(job, j, local, t, r, s);
  if (!reader) affine_of_node(job, ((const struct aiNode **)m->nodes.data)[j], local);
  if (!has_trs) {
    double residual = sk_affine_decompose(local, t, r, s);
    if (repair_parts(job, j, t, r, s)) sk_affine_from_trs(t, r, s, local), residual = 0.0;
    m->shear[j] = residual > SHEAR_TOLERANCE ? residual : 0.0;
  }
  sk_affine_to_mat4(local, (float *)m->local.data + 16 * j);
  if (parent < 0) memcpy(global, local, sizeof local);
  else sk_affine_multiply(m->globals + 12 * (size_t)parent, local, global);
}

static sk_status make_rest(import_job *job) {
  import_model *m = &job->model;
  size_t j, count = m->nodes.count;
  m->globals = sk_alloc(count * 12 * sizeof(double));
  m->shear = sk_alloc_zero(count * sizeof(double));
  if (!m->globals || !m->shear || !sk_array_extend(&m->translation, 3 * count) ||
      !sk_array_extend(&m->rotation, 4 * count) || !sk_array_extend(&m->scale, 3 * count) ||
      !sk_array_extend(&m->local, 16 * count))
    return import_no_memory(job, count * 200);
  for (j = 0; j < count; j++) rest_of_joint(job, j);
  return SK_OK;
}

sk_status import_skeleton(import_job *job) {
  import_model *m = &job->model;
  sk_status status;
  m->nodes = SK_ARRAY(const struct aiNode *);
  m->names = SK_ARRAY(sk_text);
  m->parents = SK_ARRAY(int32_t);
  m->translation = m->rotation = m->scale = m->local = SK_ARRAY(float);
  status = job->format->reader ? job->format->reader->add_joints(job) : walk_scene(job);
  if (!status) status = index_names(job);
  if (!status) status = make_rest(job);
  m->info.joints = (uint32_t)m->nodes.count;
  return status;
}
