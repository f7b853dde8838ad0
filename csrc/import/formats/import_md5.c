/* import_md5.c: MD5 rotations as the text has them.

   The format stores x, y, z of a unit quaternion; w = sqrt(1 - x*x - y*y - z*z). Assimp 6.0.5 takes that
   root in float32, where half a unit in the last place of x = 1 moves a w near 0 by 2.4e-4, which is a turn
   of 5e-4. So the text is read once more, in double, and corrects what Assimp delivered: the keys of the
   animation, the rest pose, and of a mesh the inverse bind matrices and the positions that were made with
   the same quaternions. The text is trusted in nothing: a number takes the place of Assimp's only where
   both agree but for that rounding; where the text cannot be followed, Assimp's numbers stay. */
#include <math.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "import_md5.h"
#include "import_md5_text.h"

#define NUMBER_TOLERANCE 1e-6 /* relative above 1: the text against Assimp's float32 of it */
#define SQUARE_TOLERANCE 1e-5 /* of w * w: float32 loses 2e-7 */
#define MATRIX_TOLERANCE 2e-3 /* of a matrix made with such a w, relative to the skeleton's size */

/* ---- keys ------------------------------------------------------------------------------ */

static bool is_near(double exact, float read) {
  double size = fabs(exact) > 1.0 ? fabs(exact) : 1.0;
  return fabs(exact - read) <= NUMBER_TOLERANCE * size;
}

/* The fourth number of a unit quaternion, not negative. */
static double root_of(const double v[3]) {
  double square = 1.0 - v[0] * v[0] - v[1] * v[1] - v[2] * v[2];
  return square > 0.0 ? sqrt(square) : 0.0;
}

static void correct_position(struct aiVector3D *v, const double exact[3]) {
  if (is_near(exact[0], v->x) && is_near(exact[1], v->y) && is_near(exact[2], v->z))
    *v = (struct aiVector3D){(float)exact[0], (float)exact[1], (float)exact[2]};
}

/* Assimp's sign of w stays: its quaternions have the other sign than the format's. */
static void correct_rotation(struct aiQuaternion *q, const double exact[3]) {
  double w = root_of(exact);
  if (!is_near(exact[0], q->x) || !is_near(exact[1], q->y) || !is_near(exact[2], q->z)) return;
  if (!(fabs(w * w - (double)q->w * q->w) <= SQUARE_TOLERANCE)) return;
  *q = (struct aiQuaternion){copysignf((float)w, q->w), (float)exact[0], (float)exact[1], (float)exact[2]};
}

/* The six numbers of a joint in the frame that was read; false where it ends within them. */
static bool numbers_of(const md5 *m, const md5_joint *joint, double out[6]) {
  const double *values = (const double *)m->values.data + joint->first;
  size_t left = m->values.count - joint->first;
  uint32_t i;
  if (joint->flags == 63 && left >= 6) {
    memcpy(out, values, 6 * sizeof *out);
    return true;
  }
  for (i = 0; i < 6; i++) {
    bool moved = joint->flags & 1u << i;
    if (moved && !left) return false;
    left -= moved;
    out[i] = moved ? *values++ : joint->rest[i];
  }
  return true;
}

/* The joint's key of the frame that was read. A frame may be empty, and a joint that no frame moves may
   point behind its numbers: then Assimp makes no key. False: the text and Assimp's keys differ in number. */
static bool correct_key(md5 *m, md5_joint *joint, struct aiNodeAnim *channel) {
  double v[6];
  uint32_t k;
  if (joint->first >= m->values.count) return !m->values.count || !joint->flags;
  if (!numbers_of(m, joint, v)) return false;
  k = joint->keys++;
  if (k >= channel->mNumPositionKeys || k >= channel->mNumRotationKeys) return false;
  correct_position(&channel->mPositionKeys[k].mValue, v);
  correct_rotation(&channel->mRotationKeys[k].mValue, v + 3);
  return true;
}

/* "frame" was read: number { values } */
static bool correct_frame(md5 *m, const struct aiAnimation *animation) {
  double number;
  size_t j;
  bool good = m->joints.count == animation->mNumChannels && m->rest_count == m->joints.count &&
              md5_next_integer(m, 0, UINT32_MAX, &number) && md5_expect(m, "{") && md5_read_frame(m);
  for (j = 0; j < m->joints.count && good; j++) good = correct_key(m, md5_joint_at(m, j), animation->mChannels[j]);
  return good;
}

/* False where the text cannot be followed any more. */
static bool read_animation(md5 *m, const struct aiAnimation *animation) {
  bool good = true;
  while (good && m->at < m->end) {
    import_span word = md5_next_word(m);
    if (md5_equals(word, "hierarchy")) good = md5_expect(m, "{") && md5_read_hierarchy(m);
    else if (md5_equals(word, "baseframe")) good = md5_expect(m, "{") && md5_read_base_frame(m);
    else if (md5_equals(word, "frame")) good = correct_frame(m, animation);
  }
  return good && m->joints.count == animation->mNumChannels;
}

/* Assimp gives a joint without keys one key of its node at rest, whose w is as bad. With a mesh the rest
   pose, which is corrected, says the same. */
static void drop_rest_keys(md5 *m, const struct aiAnimation *animation) {
  size_t j;
  for (j = 0; j < m->joints.count; j++) {
    struct aiNodeAnim *channel = animation->mChannels[j];
    if (md5_joint_at(m, j)->keys || channel->mNumPositionKeys > 1 || channel->mNumRotationKeys > 1) continue;
    channel->mNumPositionKeys = channel->mNumRotationKeys = 0;
  }
}

/* ---- rest pose -------------------------------------------------------------------------- */

/* `q` is x, y, z, w; of a unit quaternion. */
static void set_affine(const double t[3], const double q[4], double out[12]) {
  double x = q[0], y = q[1], z = q[2], w = q[3];
  const double rows[12] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),     t[0],
                           2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),     t[1],
                           2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y), t[2]};
  memcpy(out, rows, sizeof rows);
}

/* Assimp made the nodes from the same list: the children of a joint stand in the order of the text. */
static bool find_nodes(md5 *m, struct aiNode *top) {
  uint32_t roots = 0;
  size_t j;
  for (j = 0; j < m->joints.count; j++) {
    md5_joint *joint = md5_joint_at(m, j), *parent = joint->parent < 0 ? NULL : md5_joint_at(m, (size_t)joint->parent);
    struct aiNode *above = parent ? parent->node : top;
    uint32_t number = parent ? parent->children++ : roots++;
    if (number >= above->mNumChildren) return false;
    joint->node = above->mChildren[number];
    if (joint->node->mName.length != joint->name.length) return false;
    if (memcmp(joint->node->mName.data, joint->name.at, joint->name.length)) return false;
  }
  return true;
}

/* Largest distance of a joint from the origin of the skeleton, and 1: what translations are measured by. */
static double size_of(const md5 *m) {
  double size = 1.0;
  size_t j;
  int i;
  for (j = 0; j < m->joints.count; j++)
    for (i = 3; i < 12; i += 4) size = fmax(size, fabs(md5_joint_at(m, j)->global[i]));
  return size;
}

static bool is_near_affine(const double exact[12], const float *read, double size) {
  int i;
  for (i = 0; i < 12; i++)
    if (!(fabs(exact[i] - read[i]) <= MATRIX_TOLERANCE * (i % 4 == 3 ? size : 1.0))) return false;
  return true;
}

/* All joints or none. */
static bool correct_nodes(md5 *m) {
  double size = size_of(m);
  size_t j;
  for (j = 0; j < m->joints.count; j++) {
    const md5_joint *joint = md5_joint_at(m, j);
    if (!is_near_affine(joint->local, (const float *)&joint->node->mTransformation, size)) return false;
  }
  for (j = 0; j < m->joints.count; j++)
    sk_affine_to_mat4(md5_joint_at(m, j)->local, (float *)&md5_joint_at(m, j)->node->mTransformation);
  return true;
}

/* An animation alone: Assimp takes its first keys for the rest pose. */
static void correct_rest_of_animation(md5 *m, const struct aiAnimation *animation) {
  size_t j;
  if (!find_nodes(m, m->job->scene->mRootNode)) return;
  for (j = 0; j < m->joints.count; j++) {
    const struct aiNodeAnim *channel = animation->mChannels[j];
    md5_joint *joint = md5_joint_at(m, j);
    const struct aiVector3D *v = &channel->mPositionKeys[0].mValue;
    const struct aiQuaternion *q = &channel->mRotationKeys[0].mValue;
    if (!channel->mNumPositionKeys || !channel->mNumRotationKeys) return;
    if (!joint->keys) sk_affine_from_mat4((const float *)&joint->node->mTransformation, joint->local);
    else set_affine((double[]){v->x, v->y, v->z}, (double[]){q->x, q->y, q->z, q->w}, joint->local);
    if (joint->parent < 0) memcpy(joint->global, joint->local, sizeof joint->global);
    else sk_affine_multiply(md5_joint_at(m, (size_t)joint->parent)->global, joint->local, joint->global);
  }
  correct_nodes(m);
}

/* The text of a mesh has where its joints are below the skeleton, not below their parents. */
static bool place_joints(md5 *m) {
  size_t j;
  for (j = 0; j < m->joints.count; j++) {
    md5_joint *joint = md5_joint_at(m, j);
    const double *r = joint->rest + 3;
    set_affine(joint->rest, (double[]){r[0], r[1], r[2], -root_of(r)}, joint->global);
    memcpy(joint->local, joint->global, sizeof joint->local);
    if (joint->parent < 0) continue;
    if (!sk_affine_inverse(md5_joint_at(m, (size_t)joint->parent)->global, joint->local)) return false;
    sk_affine_multiply(joint->local, joint->global, joint->local);
  }
  return true;
}

/* ---- meshes --------------------------------------------------------------------------------- */

/* Assimp lists the bones in the order of the joints. -1: there is none. */
static int64_t joint_of_bone(const md5 *m, const struct aiBone *bone, size_t from) {
  size_t j;
  for (j = from; j < m->joints.count; j++) {
    import_span name = md5_joint_at(m, j)->name;
    if (name.length == bone->mName.length && !memcmp(name.at, bone->mName.data, name.length)) return (int64_t)j;
  }
  return SK_NONE;
}

/* What each bone's matrix at rest is to Assimp's, 12 numbers for each; false where they are not alike. */
static bool compare_bones(const md5 *m, const struct aiMesh *mesh, double *changes, uint32_t *joints) {
  static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  double size = size_of(m), offset[12];
  int64_t joint = SK_NONE;
  unsigned b;
  for (b = 0; b < mesh->mNumBones; b++) {
    joint = joint_of_bone(m, mesh->mBones[b], (size_t)(joint + 1));
    if (joint < 0) return false;
    joints[b] = (uint32_t)joint;
    sk_affine_from_mat4((const float *)&mesh->mBones[b]->mOffsetMatrix, offset);
    sk_affine_multiply(md5_joint_at(m, (size_t)joint)->global, offset, changes + 12 * b);
    if (!is_near_affine(changes + 12 * b, identity, size)) return false;
  }
  return true;
}

/* Position = sum of weight * joint * offset. A vertex' offsets lie, at rest, in one point, but for what is
   corrected here; so the change of a joint may be applied to their sum. */
static void move_by_bone(const struct aiBone *bone, const double c[12], const float *positions, uint32_t count,
                         double *moved) {
  const struct aiVertexWeight *weight = bone->mWeights;
  uint32_t i;
  for (i = 0; i < bone->mNumWeights; i++, weight++) {
    size_t at = 3 * (size_t)weight->mVertexId;
    double *out, x, y, z, w = weight->mWeight;
    if (weight->mVertexId >= count || !(w > 0.0 && w <= 1.0)) continue;
    out = moved + at;
    x = positions[at], y = positions[at + 1], z = positions[at + 2];
    out[0] += w * (c[0] * x + c[1] * y + c[2] * z + c[3] - x);
    out[1] += w * (c[4] * x + c[5] * y + c[6] * z + c[7] - y);
    out[2] += w * (c[8] * x + c[9] * y + c[10] * z + c[11] - z);
  }
}

static void move_vertices(const struct aiMesh *mesh, const double *changes, double *moved) {
  float *positions = &mesh->mVertices->x;
  unsigned b;
  size_t i, count = 3 * (size_t)mesh->mNumVertices;
  for (b = 0; b < mesh->mNumBones; b++)
    move_by_bone(mesh->mBones[b], changes + 12 * (size_t)b, positions, mesh->mNumVertices, moved);
  for (i = 0; i < count; i++) {
    double sum = positions[i] + moved[i];
    positions[i] = isfinite(moved[i]) ? (float)sum : positions[i];
  }
}

static void correct_mesh(md5 *m, const struct aiMesh *mesh) {
  double *changes = sk_alloc(12 * (size_t)mesh->mNumBones * sizeof *changes), inverse[12];
  double *moved = sk_alloc_zero(3 * (size_t)mesh->mNumVertices * sizeof *moved);
  uint32_t *joints = sk_alloc(mesh->mNumBones * sizeof *joints);
  unsigned b;
  m->no_memory |= !changes || !moved || !joints;
  if (!m->no_memory && compare_bones(m, mesh, changes, joints)) {
    move_vertices(mesh, changes, moved);
    for (b = 0; b < mesh->mNumBones; b++)
      if (sk_affine_inverse(md5_joint_at(m, joints[b])->global, inverse))
        sk_affine_to_mat4(inverse, (float *)&mesh->mBones[b]->mOffsetMatrix);
  }
  sk_free(joints);
  sk_free(moved);
  sk_free(changes);
}

static void correct_model(md5 *m) {
  const struct aiScene *scene = m->job->scene;
  bool good = scene->mRootNode->mNumChildren == 2;
  unsigned i;
  while (good && m->at < m->end)
    if (md5_equals(md5_next_word(m), "joints")) {
      good = md5_expect(m, "{") && md5_read_joints(m);
      md5_skip_if_without(m, "joints");
    }
  good = good && find_nodes(m, scene->mRootNode->mChildren[1]) && place_joints(m) && correct_nodes(m);
  for (i = 0; good && i < scene->mNumMeshes; i++) correct_mesh(m, scene->mMeshes[i]);
}

static void correct_animation(md5 *m, const struct aiAnimation *animation, bool has_mesh) {
  if (!read_animation(m, animation)) return;
  if (has_mesh) drop_rest_keys(m, animation);
  else correct_rest_of_animation(m, animation);
}

/* ---- the files --------------------------------------------------------------------------------- */

/* The model's file, and that of the animation, which stands behind its mesh. */
static sk_status correct_files(import_job *job, bool has_mesh) {
  const import_source *source = job->files.sources.data;
  sk_status status = SK_OK;
  size_t i;
  for (i = 0; i < job->files.sources.count && !status; i++) {
    md5 m = {.job = job, .at = (const char *)source[i].data, .joints = SK_ARRAY(md5_joint), .values = SK_ARRAY(double)};
    m.end = m.at + source[i].size;
    if (has_mesh && !i) correct_model(&m);
    else if (job->scene->mNumAnimations) correct_animation(&m, job->scene->mAnimations[0], has_mesh);
    sk_array_free(&m.joints);
    sk_array_free(&m.values);
    if (m.no_memory) status = import_no_memory(job, 1);
  }
  return status;
}

sk_status import_md5_correct_model(import_job *job) { return correct_files(job, true); }
sk_status import_md5_correct_animation(import_job *job) { return correct_files(job, false); }

/* ---- the frame rate ------------------------------------------------------------------------------ */

/* 0 where the file states none. */
static double stated_rate(const import_source *file) {
  const char *word = import_find_word(file, "frameRate");
  const char *end = (const char *)file->data + file->size;
  double rate = 0.0;
  while (word && word < end && (*word == ' ' || *word == '\t')) word++;
  for (; word && word < end && *word >= '0' && *word <= '9' && rate < 1e6; word++) rate = 10.0 * rate + (*word - '0');
  return rate;
}

double import_md5_ticks(import_job *job, double stated) {
  const import_source *source = job->files.sources.data;
  size_t i;
  for (i = job->files.sources.count; i-- > 0;) { /* the animation stands behind its mesh */
    double rate = stated_rate(&source[i]);
    if (rate > 0.0) return rate;
  }
  return stated;
}
