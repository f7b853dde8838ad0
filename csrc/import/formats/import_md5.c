/* import_md5.c: MD5 of id Software: the skeleton, and which files there are.

   The formats are those of Doom 3 (idTech 4), version 10. They are words between spaces:
     .md5mesh: joints { "name" parent ( translation ) ( rotation ) ... }, both below the skeleton, and meshes
     .md5anim: hierarchy { "name" parent flags first ... }, baseframe { ( translation ) ( rotation ) ... }, both below
               the parent, and frames
   A rotation is x, y and z of a unit quaternion. Its w is -sqrt(1 - x*x - y*y - z*z) where quaternions rotate as
   q v q', the convention of all of skinpy's code. The format is Z up; a root above all joints rotates it to +Y. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../import_contents.h"
#include "../import_fit.h"
#include "import_md5.h"

#define UNIT_TOLERANCE 1e-5 /* of x*x + y*y + z*z above 1: six digits lose less */

/* ---- words ---------------------------------------------------------------------------- */

sk_status md5_read_triple(md5 *m, double out[3]) {
  int i;
  if (!import_take_word(&m->words, "(")) return import_words_fail(&m->words, "'('");
  for (i = 0; i < 3; i++)
    if (!import_take_number(&m->words, &out[i])) return import_words_fail(&m->words, "a number");
  return import_take_word(&m->words, ")") ? SK_OK : import_words_fail(&m->words, "')'");
}

bool md5_goes_on(md5 *m) {
  double unused;
  char next = import_peek(&m->words);
  while (next <= '9' && import_take_number(&m->words, &unused)) next = import_peek(&m->words);
  m->words.at += next == '}';
  return next != '}';
}

md5_joint *md5_read_joint(md5 *m) {
  import_span name = import_next_word(&m->words);
  md5_joint *joint;
  int64_t parent;
  if (!name.length || *name.at == '{' || *name.at == '(') {
    m->words.at = name.at;
    import_words_fail(&m->words, "the name of a joint, or '}',");
    return NULL;
  }
  if (*name.at == '"') {
    name.at++, name.length--;
    name.length -= name.length && name.at[name.length - 1] == '"';
  }
  if (!import_take_integer(&m->words, -1, INT32_MAX, &parent)) {
    import_words_fail(&m->words, "the parent of a joint");
    return NULL;
  }
  joint = sk_array_extend(&m->joints, 1);
  if (joint) *joint = (md5_joint){.name = name, .parent = (int32_t)parent, .node = SK_NONE, .rotation = {0, 0, 0, -1}};
  else import_no_memory(m->job, sizeof *joint);
  return joint;
}

/* ---- rotations --------------------------------------------------------------------------- */

void md5_rotation(md5 *m, const md5_joint *joint, const double xyz[3], double q[4]) {
  double square = xyz[0] * xyz[0] + xyz[1] * xyz[1] + xyz[2] * xyz[2], length = square > 1.0 ? sqrt(square) : 1.0;
  char quote[64];
  int i;
  for (i = 0; i < 3; i++) q[i] = xyz[i] / length;
  q[3] = square < 1.0 ? -sqrt(1.0 - square) : 0.0;
  if (square <= 1.0 + UNIT_TOLERANCE || !isfinite(square)) return;
  import_quote(joint->name, quote);
  import_note_add(m->job, NOTE_rotations_normalized, 1, "joint '%s': x, y and z of length %g", quote, length);
}

void md5_rotate(const double q[4], const double v[3], double out[3]) {
  double x = q[1] * v[2] - q[2] * v[1] + q[3] * v[0], y = q[2] * v[0] - q[0] * v[2] + q[3] * v[1];
  double z = q[0] * v[1] - q[1] * v[0] + q[3] * v[2];
  out[0] = v[0] + 2.0 * (q[1] * z - q[2] * y);
  out[1] = v[1] + 2.0 * (q[2] * x - q[0] * z);
  out[2] = v[2] + 2.0 * (q[0] * y - q[1] * x);
}

/* ---- the tree ------------------------------------------------------------------------------ */

static sk_status link_joints(md5 *m, int32_t *root) {
  size_t count = m->joints.count, j;
  *root = SK_NONE;
  for (j = 0; j < count; j++) md5_joint_at(m, j)->child = SK_NONE;
  for (j = count; j-- > 0;) { /* from the last one on, so that the first one stands first */
    md5_joint *joint = md5_joint_at(m, j);
    int32_t *head = joint->parent < 0 ? root : NULL;
    if (joint->parent >= 0 && (size_t)joint->parent < count) head = &md5_joint_at(m, (size_t)joint->parent)->child;
    if (!head)
      return sk_fail(m->job->error, SK_ERROR_IMPORT, "joint %zu has the parent %d, and there are %zu joints", j,
                     joint->parent, count);
    joint->next = *head;
    *head = (int32_t)j;
  }
  return SK_OK;
}

static import_contents_node *add_node(md5 *m, int32_t above, import_span name) {
  import_contents_node *node = import_contents_add_node(m->job, above);
  return node && !import_add_text(m->job, name, &node->name) ? node : NULL;
}

/* The joint that follows this one, depth first. */
static int32_t next_joint(const md5 *m, int32_t j) {
  if (md5_joint_at(m, (size_t)j)->child >= 0) return md5_joint_at(m, (size_t)j)->child;
  while (j >= 0 && md5_joint_at(m, (size_t)j)->next < 0) j = md5_joint_at(m, (size_t)j)->parent;
  return j < 0 ? SK_NONE : md5_joint_at(m, (size_t)j)->next;
}

/* Lists the joints as nodes, depth first below the node `above`, which `set` gives a rest pose. */
static sk_status list_joints(md5 *m, int32_t above, void (*set)(md5 *m, size_t joint, import_contents_node *node)) {
  size_t listed = 0;
  int32_t j;
  sk_status status = link_joints(m, &j);
  if (status) return status;
  for (; j >= 0; j = next_joint(m, j), listed++) {
    md5_joint *joint = md5_joint_at(m, (size_t)j);
    int32_t parent = joint->parent < 0 ? above : md5_joint_at(m, (size_t)joint->parent)->node;
    import_contents_node *node = add_node(m, parent, joint->name);
    if (!node) return SK_ERROR_MEMORY;
    joint->node = (int32_t)m->job->contents->nodes.count - 1;
    node->has_trs = true;
    set(m, (size_t)j, node);
  }
  if (listed == m->joints.count) return SK_OK;
  for (j = 0; md5_joint_at(m, (size_t)j)->node >= 0;) j++;
  return sk_fail(m->job->error, SK_ERROR_IMPORT, "joint %d is a child of its own", j);
}

/* ---- a model's rest pose --------------------------------------------------------------------- */

/* Below the parent: inverse(parent) * joint. */
static void set_rest(md5 *m, size_t j, import_contents_node *node) {
  const md5_joint *joint = md5_joint_at(m, j);
  double moved[3] = {joint->translation[0], joint->translation[1], joint->translation[2]}, q[4], t[3];
  int i;
  memcpy(q, joint->rotation, sizeof q);
  memcpy(t, moved, sizeof t);
  if (joint->parent >= 0) {
    const md5_joint *parent = md5_joint_at(m, (size_t)joint->parent);
    const double *p = parent->rotation, a[4] = {-p[0], -p[1], -p[2], p[3]};
    for (i = 0; i < 3; i++) moved[i] -= parent->translation[i];
    md5_rotate(a, moved, t);
    import_quat_multiply(a, q, q);
  }
  for (i = 0; i < 4; i++) node->rotation[i] = (float)q[i];
  for (i = 0; i < 3; i++) node->translation[i] = (float)t[i];
}

/* Adds the nodes above all joints: the rotation from Z up to Y up, and for a model the nodes that Assimp would give it. */
static sk_status add_top(md5 *m) {
  static const double z_up_to_y_up[12] = {1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0};
  static const char *const names[] = {"<MD5_Root>", "<MD5_Mesh>", "<MD5_Hierarchy>"};
  int i;
  for (i = m->has_model ? 0 : 2; i < 3; i++) {
    bool first = !m->job->contents->nodes.count;
    import_contents_node *node = add_node(m, first ? SK_NONE : 0, (import_span){names[i], strlen(names[i])});
    if (!node) return SK_ERROR_MEMORY;
    if (first) memcpy(node->local, z_up_to_y_up, sizeof z_up_to_y_up);
  }
  return SK_OK;
}

/* joints { "name" parent ( translation ) ( rotation ) ... } */
static sk_status read_joints(md5 *m) {
  sk_status status = SK_OK;
  double xyz[3];
  if (m->has_model || m->has_motion) return import_words_fail(&m->words, "one list of joints");
  m->has_model = true;
  if (!import_take_word(&m->words, "{")) return import_words_fail(&m->words, "'{'");
  while (!status && md5_goes_on(m)) {
    md5_joint *joint = md5_read_joint(m);
    if (!joint) return m->job->error->status;
    status = md5_read_triple(m, joint->translation);
    if (!status) status = md5_read_triple(m, xyz);
    if (!status) md5_rotation(m, joint, xyz, joint->rotation);
  }
  if (!status) status = add_top(m);
  return status ? status : list_joints(m, 2, set_rest);
}

/* ---- the files --------------------------------------------------------------------------------- */

/* Skips a section that is not read, from behind its opening brace. */
static void skip_section(md5 *m) {
  size_t depth = 1;
  import_span word;
  do {
    word = import_next_word(&m->words);
    if (word.length == 1 && *word.at == '{') depth++;
    if (word.length == 1 && *word.at == '}') depth--;
  } while (word.length && depth);
}

static void read_stated(md5 *m, import_span word) {
  double *stated = import_is_word(word, "numJoints")   ? &m->stated_joints
                   : import_is_word(word, "numFrames") ? &m->stated_frames
                   : import_is_word(word, "frameRate") ? &m->rate
                                                       : NULL;
  if (stated) import_take_number(&m->words, stated);
}

static sk_status read_sections(md5 *m) {
  sk_status status = SK_OK;
  import_span word = import_next_word(&m->words);
  for (; word.length && !status; word = import_next_word(&m->words)) {
    if (import_is_word(word, "joints")) status = read_joints(m);
    else if (import_is_word(word, "mesh")) status = md5_read_mesh(m);
    else if (import_is_word(word, "hierarchy")) status = md5_read_hierarchy(m);
    else if (import_is_word(word, "baseframe")) status = md5_read_base_frame(m);
    else if (import_is_word(word, "frame")) status = md5_read_frame(m);
    else if (import_is_word(word, "{")) skip_section(m);
    else read_stated(m, word);
    if (status) return status;
  }
  if (isfinite(m->stated_joints) && m->stated_joints != (double)m->joints.count)
    import_note_add(m->job, NOTE_numbers_repaired, 1, "numJoints is %g, but there are %zu", m->stated_joints,
                    m->joints.count);
  return SK_OK;
}

static md5 open_file(import_job *job, const import_source *file) {
  return (md5){.job = job,
               .words = import_words_of(job, file),
               .joints = SK_ARRAY(md5_joint),
               .stated_joints = NAN,
               .stated_frames = NAN,
               .rate = NAN,
               .frames = SK_ARRAY(md5_frame),
               .numbers = SK_ARRAY(double),
               .budget = file->size / 8};
}

static void close_file(md5 *m) {
  sk_array_free(&m->joints);
  sk_array_free(&m->frames);
  sk_array_free(&m->numbers);
}

/* The motion of the same name beside the model. */
static sk_status read_motion_beside(md5 *model) {
  import_job *job = model->job;
  const char *own = ((const import_source *)job->files.sources.data)->name, *suffix = import_suffix_of(own);
  size_t length = strlen(own), stem = *suffix ? (size_t)(suffix - own) - 1 : length;
  char *name = sk_alloc(length + sizeof ".md5anim");
  const import_source *file;
  sk_status status;
  md5 m;
  if (!name) return import_no_memory(job, length);
  snprintf(name, length + sizeof ".md5anim", "%.*s.md5anim", (int)stem, own);
  file = import_files_read(&job->files, name);
  sk_free(name);
  if (!file) return SK_OK;
  m = open_file(job, file);
  status = read_sections(&m);
  if (!status && m.has_motion) status = md5_add_clip(&m, model);
  if (status == SK_ERROR_IMPORT) {
    sk_error words = *job->error;
    sk_fail(job->error, status, "in the .md5anim file beside it, %s", words.message);
  }
  close_file(&m);
  return status;
}

static sk_status read_file(md5 *m) {
  sk_status status = read_sections(m);
  if (status || m->has_model) return status ? status : read_motion_beside(m);
  if (!m->has_motion) return sk_fail(m->job->error, SK_ERROR_IMPORT, "there is neither \"joints\" nor \"hierarchy\"");
  status = add_top(m);
  if (!status) status = list_joints(m, 0, md5_set_first_frame);
  return status ? status : md5_add_clip(m, m);
}

sk_status import_md5_open(import_job *job) {
  sk_status status = import_files_whole(job);
  md5 m;
  if (!status) status = import_contents_open(job);
  if (status) return status;
  import_note_add(job, NOTE_axes_converted, 1, "the root rotates the file's axes");
  m = open_file(job, job->files.sources.data);
  status = read_file(&m);
  if (!status) status = import_contents_check(job);
  close_file(&m);
  return status;
}
