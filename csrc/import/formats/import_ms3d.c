/* import_ms3d.c: what Assimp 6.0.5 reads of MilkShape's .ms3d otherwise than MilkShape does. */
#include <string.h>

#include "../import_bytes.h"
#include "../import_twin.h"
#include "../import_weights.h"
#include "import_ms3d.h"

#define VERTEX   15 /* bytes: flags, three floats, a joint, a count */
#define TRIANGLE 70
#define MATERIAL 361
#define NAME     32 /* with zero bytes behind it, or none */

typedef struct ms3d { /* offsets of the sections */
  import_job *job;
  import_cursor c;
  size_t vertices, triangles, groups;
  uint32_t vertex_count, triangle_count, group_count, joint_count;
} ms3d;

/* ---- the parts ---------------------------------------------------------------------------- */

/* Walks to the end of the joints. Assimp reads the file correctly up to there. */
static sk_status find_sections(ms3d *m) {
  import_cursor *c = &m->c;
  size_t *name;
  uint32_t i;
  import_skip(c, 14);
  m->vertex_count = import_take(c, 2), m->vertices = c->at;
  import_skip(c, VERTEX * (size_t)m->vertex_count);
  m->triangle_count = import_take(c, 2), m->triangles = c->at;
  import_skip(c, TRIANGLE * (size_t)m->triangle_count);
  m->group_count = import_take(c, 2), m->groups = c->at;
  for (i = 0; i < m->group_count; i++) {
    import_skip(c, 1 + NAME);
    import_skip(c, 2 * (size_t)import_take(c, 2) + 1);
  }
  import_skip(c, MATERIAL * (size_t)import_take(c, 2) + 12);
  m->joint_count = import_take(c, 2);
  for (i = 0; i < m->joint_count; i++) {
    name = sk_array_room(&m->job->weights->names, 1);
    if (!name) return import_no_memory(m->job, sizeof *name);
    *name = c->at + 1;
    import_skip(c, 1 + 2 * NAME + 24);
    import_skip(c, 16 * ((size_t)import_take(c, 2) + import_take(c, 2)));
  }
  return SK_OK;
}

/* The name of a joint, or of its parent, which stands behind it. */
static import_span name_at(const ms3d *m, uint32_t joint, size_t behind) {
  const char *name = (const char *)m->c.data + ((const size_t *)m->job->weights->names.data)[joint] + behind;
  const char *end = memchr(name, 0, NAME);
  return (import_span){name, end ? (size_t)(end - name) : NAME};
}

/* The first joint that has the name of joint i, or of its parent. */
static int64_t first_of(const ms3d *m, const import_names *names, uint32_t i, size_t behind) {
  import_span name = name_at(m, i, behind);
  return name.length ? import_names_find(names, name.at, name.length) : SK_NONE;
}

/* Parents are named; the first joint of the name is taken. */
static void note_parents(const ms3d *m, const import_names *names, const uint8_t *is_shared) {
  uint32_t i;
  for (i = 0; i < m->joint_count; i++) {
    import_span parent = name_at(m, i, NAME);
    int64_t first = first_of(m, names, i, NAME);
    if (first >= 0 && is_shared[first])
      import_note_add(m->job, NOTE_names_ambiguous, 1, "parent '%.*s'", (int)parent.length, parent.at);
  }
}

/* Puts a copy of the file in its place in which a name that came before has a mark, where that fits. */
static sk_status write_marks(ms3d *m, const import_names *names) {
  const import_source *file = m->job->files.sources.data;
  uint8_t *copy = sk_alloc(file->size + 1);
  char mark[IMPORT_MARK_BYTES];
  uint32_t i;
  if (!copy) return import_no_memory(m->job, file->size);
  memcpy(copy, file->data, file->size);
  copy[file->size] = 0;
  for (i = 0; i < m->joint_count; i++) {
    import_span name = name_at(m, i, 0);
    size_t length = import_mark(mark, i), room = NAME - name.length;
    if (name.length && (length > room || first_of(m, names, i, 0) == i)) continue;
    memcpy(copy + (name.at - (const char *)m->c.data) + name.length, mark, length < room ? length + 1 : length);
  }
  m->c.data = copy;
  return import_files_put(&m->job->files, file->name, copy, file->size, copy) ? SK_OK : import_no_memory(m->job, 1);
}

/* Weights and keys tell joints apart by number, Assimp by name. */
static sk_status mark_twins(ms3d *m) {
  uint8_t *is_shared = sk_alloc_zero(m->joint_count + 1);
  import_names names = {NULL, 0};
  uint32_t i, first, twins = 0;
  sk_status status = SK_OK;
  if (!is_shared || !import_names_make(&names, m->joint_count)) status = import_no_memory(m->job, m->joint_count);
  for (i = 0; i < m->joint_count && !status; i++) {
    import_span name = name_at(m, i, 0);
    first = import_names_add(&names, name.at, name.length, i);
    if (first != i) is_shared[first] = 1, twins++;
  }
  if (twins) {
    note_parents(m, &names, is_shared);
    status = write_marks(m, &names);
  }
  import_names_free(&names);
  sk_free(is_shared);
  return status;
}

static void skip_comments(import_cursor *c) {
  uint32_t list, i, count;
  for (list = 0; list < 3; list++) /* of groups, materials, joints */
    for (i = 0, count = import_take(c, 4); i < count && !c->past; i++) {
      import_skip(c, 4);
      import_skip(c, import_take(c, 4));
    }
  if (import_take(c, 4) == 1) import_skip(c, import_take(c, 4)); /* the model's comment has no number */
}

/* ---- weights ------------------------------------------------------------------------------ */

/* The vertex has its first joint; the tail has three more joints, and the weights of the first three. The fourth has
   the rest of `whole`. Where all weights are 0, the vertex follows its first joint. */
static bool add_vertex(ms3d *m, uint32_t v, const uint8_t *tail, int whole) {
  int8_t first = (int8_t)m->c.data[m->vertices + VERTEX * (size_t)v + 13];
  int joints[4] = {first, (int8_t)tail[0], (int8_t)tail[1], (int8_t)tail[2]};
  int weights[4] = {tail[3], tail[4], tail[5], whole - tail[3] - tail[4] - tail[5]}, i;
  bool listed = false, good = true;
  if (first < 0 || (uint32_t)first >= m->joint_count) return true;
  for (i = 0; i < 4 && weights[3] < whole && good; i++) {
    if (weights[i] <= 0 || joints[i] < 0 || (uint32_t)joints[i] >= m->joint_count) continue;
    good = import_weights_add(m->job, v, (uint32_t)joints[i], (float)((double)weights[i] / whole));
    listed = true;
  }
  return listed ? good : import_weights_add(m->job, v, (uint32_t)first, 1.0f);
}

/* Assimp delivers a mesh for each group, and three vertices for each of its triangles. */
static sk_status add_corners(ms3d *m) {
  import_cursor c = {.data = m->c.data, .at = m->groups, .end = m->c.end};
  import_weights *w = m->job->weights;
  uint32_t g, i, k, *added;
  for (g = 0; g < m->group_count; g++) {
    uint32_t count;
    import_skip(&c, 1 + NAME);
    count = import_take(&c, 2);
    added = import_weights_mesh(m->job) ? sk_array_room(&w->corners, 3 * (size_t)count) : NULL;
    if (!added) return import_no_memory(m->job, 12 * (size_t)count);
    for (i = 0; i < count; i++) {
      uint32_t triangle = import_take(&c, 2);
      const uint8_t *at = c.data + m->triangles + TRIANGLE * (size_t)triangle + 2;
      for (k = 0; k < 3; k++, added++)
        *added = triangle < m->triangle_count ? (uint32_t)import_number(at + 2 * k, 2) : UINT32_MAX;
    }
    import_skip(&c, 1);
  }
  return SK_OK;
}

/* Reads what follows the joints: comments, then the rows of versions 1 to 3, one for each vertex. */
static sk_status read_tail(ms3d *m) {
  import_cursor *c = &m->c;
  uint32_t version, v;
  size_t row;
  sk_status status = SK_OK;
  if (import_take(c, 4) == 1) skip_comments(c);
  if (!c->past && c->end - c->at < 4) return SK_OK;
  version = import_take(c, 4);
  row = 2 + 4 * (size_t)version;
  if (version < 1 || version > 3 || row * m->vertex_count > c->end - c->at) {
    import_note_add(m->job, NOTE_weights_dropped, 1, "the section behind the joints has version %u", version);
    return SK_OK;
  }
  for (v = 0; v < m->vertex_count && !status; v++)
    if (!add_vertex(m, v, c->data + c->at + v * row, version == 1 ? 255 : 100))
      status = import_no_memory(m->job, sizeof(import_weight));
  m->job->weights->vertices = m->vertex_count;
  m->job->weights->joints = m->joint_count;
  if (!status) status = add_corners(m);
  return status ? status : import_weights_sort(m->job);
}

/* Assimp reads the counts of comments as two bytes instead of four, and gets lost behind them: it gets the file without
   them. */
sk_status import_ms3d_open(import_job *job) {
  import_source *file = job->files.sources.data;
  ms3d m = {.job = job};
  size_t end;
  sk_status status;
  status = import_weights_open(job);
  if (status) return status;
  m.c.data = file->data, m.c.end = file->size;
  status = find_sections(&m);
  end = m.c.at;
  if (m.c.past || status) return status; /* Assimp says what it misses */
  status = mark_twins(&m);
  if (status || m.c.end - end < 4) return status;
  status = read_tail(&m);
  ((import_source *)job->files.sources.data)->size = end;
  return status;
}

static sk_status find_joints(import_job *job) {
  import_weights *w = job->weights;
  const char *data = (const char *)((const import_source *)job->files.sources.data)->data;
  uint32_t i;
  w->joint_of = sk_alloc(w->joints * sizeof *w->joint_of);
  if (!w->joint_of) return import_no_memory(job, w->joints * sizeof *w->joint_of);
  for (i = 0; i < w->joints; i++) {
    const char *name = data + ((const size_t *)w->names.data)[i], *end = memchr(name, 0, NAME);
    size_t length = end ? (size_t)(end - name) : NAME;
    w->joint_of[i] = (int32_t)import_names_find(&job->model.joint_of, name, length);
  }
  return SK_OK;
}

/* ---- keys ------------------------------------------------------------------------------- */

/* A key moves its joint within the joint's rest pose: the local matrix is rest * T(key) * R(key). Assimp delivers such
   rotations, but translations that are only the sum of rest and key. */
static void rotate_keys(const struct aiNode *node, const struct aiNodeAnim *channel) {
  const float *m = &node->mTransformation.a1;
  unsigned k;
  for (k = 0; k < channel->mNumPositionKeys; k++) {
    struct aiVector3D *v = &channel->mPositionKeys[k].mValue;
    double x = (double)v->x - m[3], y = (double)v->y - m[7], z = (double)v->z - m[11];
    v->x = (float)(m[0] * x + m[1] * y + m[2] * z + m[3]);
    v->y = (float)(m[4] * x + m[5] * y + m[6] * z + m[7]);
    v->z = (float)(m[8] * x + m[9] * y + m[10] * z + m[11]);
  }
}

static void correct_keys(import_job *job) {
  const struct aiNode *const *nodes = job->model.nodes.data;
  const struct aiScene *scene = job->scene;
  unsigned a, c;
  for (a = 0; a < scene->mNumAnimations; a++)
    for (c = 0; c < scene->mAnimations[a]->mNumChannels; c++) {
      const struct aiNodeAnim *channel = scene->mAnimations[a]->mChannels[c];
      int32_t joint = import_find_joint(job, &channel->mNodeName);
      if (joint >= 0) rotate_keys(nodes[joint], channel);
    }
}

sk_status import_ms3d_correct(import_job *job) {
  sk_status status;
  correct_keys(job);
  status = find_joints(job);
  return status ? status : import_unmark_names(job);
}
