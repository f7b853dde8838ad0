/* import_limit.c: how much there is in a scene, against what the caller allows. */
#include "import_limit.h"

#define ROWS_PER_VERTEX 64 /* corners of faces, attributes and morph targets together */

typedef struct waiting { /* a node whose children are to be counted */
  const struct aiNode *node;
  uint64_t depth;
} waiting;

uint64_t import_sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

uint64_t import_product(uint64_t a, uint64_t b) { return a && b > UINT64_MAX / a ? UINT64_MAX : a * b; }

static sk_status check(import_job *job, const char *name, const char *words, uint64_t has, uint64_t limit) {
  if (!limit || has <= limit) return SK_OK;
  return sk_fail(job->error, SK_ERROR_LIMIT,
                 "the model has %llu %s, the limit is %llu; allow it with limits=skinpy.Limits(%s=%llu)",
                 (unsigned long long)has, words, (unsigned long long)limit, name, (unsigned long long)has);
}

sk_status import_check_counts(import_job *job, const import_counts *counts) {
  const sk_import_limits *limits = &job->request->limits;
  sk_status status = check(job, "nodes", "nodes", counts->nodes, limits->nodes);
  if (!status) status = check(job, "depth", "levels of nodes", counts->depth, limits->depth);
  if (!status) status = check(job, "vertices", "vertices", counts->vertices, limits->vertices);
  if (!status) status = check(job, "keys", "keys", counts->keys, limits->keys);
  if (status || !limits->vertices || counts->rows <= import_product(limits->vertices, ROWS_PER_VERTEX)) return status;
  return sk_fail(
      job->error, SK_ERROR_LIMIT,
      "the faces, attributes and morph targets of the model have %llu rows, the limit is %d for each of %llu vertices; "
      "allow it with limits=skinpy.Limits(vertices=%llu)",
      (unsigned long long)counts->rows, ROWS_PER_VERTEX, (unsigned long long)limits->vertices,
      (unsigned long long)(counts->rows / ROWS_PER_VERTEX + 1));
}

static void count_meshes(const struct aiScene *scene, const struct aiNode *node, import_counts *counts) {
  unsigned i;
  for (i = 0; node->mMeshes && i < node->mNumMeshes; i++) {
    const struct aiMesh *mesh = node->mMeshes[i] < scene->mNumMeshes ? scene->mMeshes[node->mMeshes[i]] : NULL;
    if (!mesh) continue;
    counts->vertices += mesh->mNumVertices;
    counts->rows += 3 * (uint64_t)mesh->mNumFaces + (uint64_t)mesh->mNumAnimMeshes * mesh->mNumVertices;
  }
}

/* Counts without recursion: the depth of the tree is up to the file. */
static sk_status count_nodes(import_job *job, import_counts *counts) {
  sk_array stack = SK_ARRAY(waiting);
  waiting *top = sk_array_extend(&stack, 1);
  sk_status status = top ? SK_OK : import_no_memory(job, sizeof *top);
  if (top) *top = (waiting){job->scene->mRootNode, 1};
  while (!status && stack.count) {
    waiting next = ((waiting *)stack.data)[--stack.count];
    unsigned i, count = next.node->mChildren ? next.node->mNumChildren : 0, k = 0;
    counts->nodes++;
    if (next.depth > counts->depth) counts->depth = next.depth;
    count_meshes(job->scene, next.node, counts);
    top = sk_array_room(&stack, count);
    if (!top) status = import_no_memory(job, count * sizeof *top);
    for (i = 0; i < count && top; i++)
      if (next.node->mChildren[i]) top[k++] = (waiting){next.node->mChildren[i], next.depth + 1};
    if (top) stack.count -= count - k;
  }
  sk_array_free(&stack);
  return status;
}

static void count_keys(const struct aiAnimation *clip, import_counts *counts) {
  unsigned c, k;
  for (c = 0; clip && clip->mChannels && c < clip->mNumChannels; c++) {
    const struct aiNodeAnim *channel = clip->mChannels[c];
    if (channel)
      counts->keys += (uint64_t)channel->mNumPositionKeys + channel->mNumRotationKeys + channel->mNumScalingKeys;
  }
  for (c = 0; clip && clip->mMorphMeshChannels && c < clip->mNumMorphMeshChannels; c++) {
    const struct aiMeshMorphAnim *channel = clip->mMorphMeshChannels[c];
    for (k = 0; channel && channel->mKeys && k < channel->mNumKeys; k++)
      counts->keys += channel->mKeys[k].mNumValuesAndWeights;
  }
}

sk_status import_check_scene(import_job *job) {
  import_counts counts = {0, 0, 0, 0, 0};
  unsigned i;
  sk_status status = count_nodes(job, &counts);
  for (i = 0; job->scene->mAnimations && i < job->scene->mNumAnimations; i++)
    count_keys(job->scene->mAnimations[i], &counts);
  return status ? status : import_check_counts(job, &counts);
}

/* ---- bytes ------------------------------------------------------------------------------------ */

sk_status import_check_bytes(import_job *job) {
  const import_files *files = &job->files;
  if (!files->exceeded) return SK_OK;
  return sk_fail(
      job->error, SK_ERROR_LIMIT,
      "the model and the files that it brings in have %s%llu bytes, the limit of file_bytes is %llu; allow it with "
      "limits=skinpy.Limits(file_bytes=%llu)",
      files->total ? "at least " : "", (unsigned long long)files->exceeded, (unsigned long long)files->max_total,
      (unsigned long long)files->exceeded);
}
