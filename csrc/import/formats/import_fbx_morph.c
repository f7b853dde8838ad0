/* import_fbx_morph.c: the weights of an FBX mesh's morph targets, which Assimp does not deliver.

   Mesh, BlendShape, BlendShapeChannel and Shape belong to each other in this order. A channel is a target; its
   DeformPercent is its weight at rest, and FullWeights says at which percent its one shape is whole. */
#define _GNU_SOURCE /* memmem */
#include <math.h>
#include <string.h>

#include "import_fbx.h"

static const fbx_object *object_at(const import_job *job, uint32_t index) {
  return (const fbx_object *)job->fbx->objects.data + index;
}

/* The only mesh of the model that the part's node was made of. */
static uint32_t find_mesh(const import_job *job, const import_submesh *submesh) {
  const struct aiNode *node = ((const struct aiNode *const *)job->model.nodes.data)[submesh->joint];
  const char *name = node->mName.data, *helper = strstr(name, FBX_HELPER);
  uint32_t model = fbx_find_model(job, name, helper ? (size_t)(helper - name) : node->mName.length), mesh;
  size_t at = 0;
  if (model == FBX_NONE) return FBX_NONE;
  mesh = fbx_next_part(job, model, FBX_MESH, &at);
  return mesh == FBX_NONE || fbx_next_part(job, model, FBX_MESH, &at) == FBX_NONE ? mesh : FBX_NONE;
}

static double number_of(const fbx_file *file, const fbx_object *object, const char *name, double fallback) {
  fbx_record record;
  fbx_value value;
  bool found = fbx_property(file, object->inside, object->inside_end, name, &value, 1);
  if (!found && fbx_find(file, object->inside, object->inside_end, name, &record))
    found = fbx_read_values(file, &record, &value, 1) == 1;
  return found && !value.text && isfinite(value.number) ? value.number : fallback;
}

/* With shapes in between, the one that counts is whole at 100. */
static import_weight_rule weight_of(const fbx_file *file, const fbx_object *channel, bool alone) {
  double full = alone ? number_of(file, channel, "FullWeights", 100.0) : 100.0;
  if (!(full > 1e-3 && full < 1e6)) full = 100.0;
  return (import_weight_rule){(float)(number_of(file, channel, "DeformPercent", 0.0) / full), (float)(full / 100.0)};
}

static bool has_morph_channels(const struct aiScene *scene) {
  unsigned i;
  for (i = 0; i < scene->mNumAnimations; i++)
    if (scene->mAnimations[i]->mNumMorphMeshChannels) return true;
  return false;
}

/* Reads the channels that have a shape, over all BlendShapes of the mesh, `max_count` of them at most; returns how many
   there are. */
static uint32_t read_channels(import_job *job, const import_submesh *submesh, uint32_t mesh,
                              import_weight_rule *weights, uint32_t max_count) {
  fbx_file file = fbx_open(job->files.sources.data);
  size_t in_mesh = 0, in_blend, in_channel;
  uint32_t blend, channel, count = 0, before;
  while ((blend = fbx_next_part(job, mesh, FBX_BLEND, &in_mesh)) != FBX_NONE) {
    in_blend = 0;
    before = count;
    while ((channel = fbx_next_part(job, blend, FBX_BLEND_CHANNEL, &in_blend)) != FBX_NONE) {
      in_channel = 0;
      if (!job->fbx->lookup_budget) return max_count + 1;
      job->fbx->lookup_budget--;
      if (fbx_next_part(job, channel, FBX_SHAPE, &in_channel) == FBX_NONE) continue;
      if (count == max_count) return max_count + 1;
      weights[count++] =
          weight_of(&file, object_at(job, channel), fbx_next_part(job, channel, FBX_SHAPE, &in_channel) == FBX_NONE);
    }
    if (before && count > before && has_morph_channels(job->scene)) /* Assimp counts from 0 in each of them */
      import_note_add(job, NOTE_channels_misplaced, count - before, "mesh '%.80s' has several BlendShapes",
                      submesh->title);
  }
  return count;
}

/* Where the file's channels are not the part's targets, nothing is shown at rest. */
void import_fbx_weights(import_job *job, const import_submesh *submesh, import_weight_rule *weights, uint32_t count) {
  uint32_t mesh = find_mesh(job, submesh), i;
  if (mesh != FBX_NONE && read_channels(job, submesh, mesh, weights, count) == count) return;
  for (i = 0; i < count; i++) weights[i] = (import_weight_rule){0.0f, 1.0f};
}

/* ---- shapes in between: FBX alone has them ---------------------------------------------- */

static size_t count_words(const import_source *file, const char *word, size_t length) {
  const uint8_t *at = file->data, *end = file->data + file->size;
  size_t count = 0;
  while ((at = memmem(at, (size_t)(end - at), word, length)) != NULL) count++, at++;
  return count;
}

/* Assimp lists every shape, while its keys count channels. Where all channels have one shape, as nearly
   always, that is the same; the file tells, by the kinds of its objects, in binary and in text. */
void import_fbx_look_at_shapes(import_job *job) {
  const import_source *file = job->files.sources.data;
  unsigned i, most = 0;
  size_t shapes;
  bool binary;
  for (i = 0; i < job->scene->mNumMeshes; i++)
    if (job->scene->mMeshes[i]->mNumAnimMeshes > most) most = job->scene->mMeshes[i]->mNumAnimMeshes;
  if (most < 2) return;
  binary = fbx_is_binary(file);
  shapes = binary ? count_words(file, "S\5\0\0\0Shape", 10) : count_words(file, "\"Shape\" {", 9);
  job->shapes_between = shapes > count_words(file, "BlendShapeChannel", 17);
}
