/* import_x.c: matrix keys of .x that mirror their joint.

   Assimp 6.0.5 divides a matrix key into a rotation and scales that are never negative. Where the key mirrors, what is
   left is not a rotation matrix: the quaternion is not of length 1, and the rotation cannot be found from it. Where a
   clip has such quaternions, the keys are read from the text once more. */
#define _GNU_SOURCE /* memmem */
#include <math.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "import_x.h"

#define LENGTH_TOLERANCE 1e-3 /* of a quaternion's square: text of six digits loses 1e-5 of a small matrix */
#define SAME             1e-4             /* relative above 1: the text against Assimp's float32 of it */
#define SHEAR            1e-3            /* relative: a matrix with more shear stays as it is */
#define NUMBERS          17            /* of a key: its time, and a matrix by columns */
#define WORD             "AnimationKey"

typedef struct x_text {
  const char *at, *end;
  sk_array numbers;           /* double: of one list of keys */
  bool has_lists;
  unsigned animation, channel; /* the next one to which a list may belong */
} x_text;

/* ---- what looks wrong -------------------------------------------------------------------------- */

static bool is_off(const struct aiQuaternion *q) {
  double square = (double)q->w * q->w + (double)q->x * q->x + (double)q->y * q->y + (double)q->z * q->z;
  return !(fabs(square - 1.0) <= LENGTH_TOLERANCE);
}

/* How many keys, of a channel that may come from matrices, have a quaternion that is not of length 1. */
static unsigned count_off(const struct aiNodeAnim *channel) {
  unsigned k, count = channel->mNumRotationKeys, off = 0;
  if (channel->mNumPositionKeys != count || channel->mNumScalingKeys != count) return 0;
  for (k = 0; k < count; k++) off += is_off(&channel->mRotationKeys[k].mValue);
  return off;
}

static unsigned count_all_off(const struct aiScene *scene, const struct aiNodeAnim **first) {
  unsigned a, c, off = 0;
  for (a = 0; a < scene->mNumAnimations; a++)
    for (c = 0; c < scene->mAnimations[a]->mNumChannels; c++) {
      unsigned count = count_off(scene->mAnimations[a]->mChannels[c]);
      if (count && !off) *first = scene->mAnimations[a]->mChannels[c];
      off += count;
    }
  return off;
}

/* ---- the text ------------------------------------------------------------------------------------ */

static bool is_between(char c) { return c == ' ' || c == ',' || c == ';' || (c >= '\t' && c <= '\r'); }
static bool is_of_number(char c) { return (c >= '0' && c <= '9') || (c && strchr("+-.eE", c)); }

/* NAN where no number follows. */
static double next_number(x_text *x) {
  const char *first;
  for (; x->at < x->end; x->at++) {
    bool comment = *x->at == '#' || (*x->at == '/' && x->end - x->at > 1 && x->at[1] == '/');
    while (comment && x->at < x->end && *x->at != '\n') x->at++;
    if (x->at == x->end || !is_between(*x->at)) break;
  }
  for (first = x->at; x->at < x->end && is_of_number(*x->at); x->at++) {}
  return import_decimal(first, (size_t)(x->at - first));
}

/* The next list of matrix keys; false at the end, or where the text cannot be followed. */
static bool next_list(x_text *x, bool *no_memory) {
  double type, count = 0.0, i, *added;
  int n;
  x->numbers.count = 0;
  while ((x->at = memmem(x->at, (size_t)(x->end - x->at), WORD, sizeof WORD - 1)) != NULL) {
    x->at += sizeof WORD - 1;
    x->at = memchr(x->at, '{', (size_t)(x->end - x->at));
    if (!x->at) return false;
    x->at++;
    type = next_number(x), count = next_number(x);
    if ((type == 3 || type == 4) && count > 0) break;
  }
  x->has_lists |= x->at != NULL;
  if (!x->at) return false;
  for (i = 0; i < count; i++) {
    added = sk_array_room(&x->numbers, NUMBERS);
    *no_memory |= !added;
    if (!added) return false;
    added[0] = next_number(x);
    if (next_number(x) != 16) return false;
    for (n = 1; n < NUMBERS; n++) added[n] = next_number(x);
    if (!isfinite(added[0]) || !isfinite(added[16])) return false;
  }
  return true;
}

/* ---- the keys --------------------------------------------------------------------------------------- */

static bool is_same(double text, double assimp) { return fabs(text - assimp) <= SAME * fmax(1.0, fabs(text)); }

/* Whether the list belongs to the channel: whether times and positions of all keys agree. The file is left-handed. */
static bool is_of(const x_text *x, const struct aiNodeAnim *channel) {
  const double *key = x->numbers.data;
  size_t k, count = x->numbers.count / NUMBERS;
  if (channel->mNumRotationKeys != count || channel->mNumPositionKeys != count || channel->mNumScalingKeys != count)
    return false;
  for (k = 0; k < count; k++, key += NUMBERS) {
    const struct aiVectorKey *at = &channel->mPositionKeys[k];
    if (at->mTime != key[0] || !is_same(key[13], at->mValue.x) || !is_same(key[14], at->mValue.y) ||
        !is_same(-key[15], at->mValue.z))
      return false;
  }
  return true;
}

/* Corrects a key whose matrix is no more than rotation and scale. */
static void correct_key(const double *m, struct aiNodeAnim *channel, size_t k) {
  double affine[12];
  float t[3], r[4], s[3];
  int row, column;
  for (row = 0; row < 3; row++)
    for (column = 0; column < 4; column++)
      affine[4 * row + column] = (row == 2) != (column == 2) ? -m[4 * column + row] : m[4 * column + row];
  if (sk_affine_decompose(affine, t, r, s) > SHEAR) return;
  channel->mRotationKeys[k].mValue = (struct aiQuaternion){r[3], r[0], r[1], r[2]};
  channel->mScalingKeys[k].mValue = (struct aiVector3D){s[0], s[1], s[2]};
}

static void correct_channel(const x_text *x, struct aiNodeAnim *channel) {
  const double *key = x->numbers.data;
  size_t k;
  for (k = 0; k < x->numbers.count / NUMBERS; k++, key += NUMBERS) {
    const double *a = key + 1, *b = key + 5, *c = key + 9;
    double determinant =
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    if (determinant < 0.0) correct_key(key + 1, channel, k);
  }
}

/* Corrects the next channel to which the list belongs; lists and channels have one order. */
static bool correct_next(x_text *x, const struct aiScene *scene) {
  for (; x->animation < scene->mNumAnimations; x->animation++, x->channel = 0) {
    const struct aiAnimation *animation = scene->mAnimations[x->animation];
    while (x->channel < animation->mNumChannels) {
      struct aiNodeAnim *channel = animation->mChannels[x->channel++];
      if (!is_of(x, channel)) continue;
      correct_channel(x, channel);
      return true;
    }
  }
  return false;
}

static void note_lost(import_job *job) {
  const struct aiNodeAnim *first = NULL;
  unsigned off = count_all_off(job->scene, &first);
  if (off) import_note_add(job, NOTE_matrix_keys_lost, off, "joint '%.100s'", first->mNodeName.data);
}

sk_status import_x_correct(import_job *job) {
  const import_source *file = job->files.sources.data;
  const struct aiNodeAnim *first;
  x_text x = {.numbers = SK_ARRAY(double)};
  bool no_memory = false, is_text = file->size > 12 && !memcmp(file->data + 8, "txt ", 4);
  sk_status status;
  if (!count_all_off(job->scene, &first)) return SK_OK;
  status = import_files_whole(job);
  if (status) return status;
  x.at = (const char *)file->data, x.end = x.at + file->size;
  while (is_text && next_list(&x, &no_memory) && correct_next(&x, job->scene)) {}
  sk_array_free(&x.numbers);
  if (x.has_lists || !is_text) note_lost(job);
  return no_memory ? import_no_memory(job, NUMBERS * sizeof(double)) : SK_OK;
}

void import_x_space(import_job *job) {
  import_note_add(job, NOTE_axes_converted, 1, "the file is left-handed; z became -z");
}
