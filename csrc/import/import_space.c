/* import_space.c: axes and units, and frames that are not read. */
#include <math.h>

#include "import_bytes.h"
#include "import_space.h"

/* ---- axes and units -------------------------------------------------------------------- */

double import_root_scale(const import_job *job) {
  const float *root = &job->scene->mRootNode->mTransformation.a1;
  return sqrt((double)root[0] * root[0] + (double)root[4] * root[4] + (double)root[8] * root[8]);
}

/* A root that the file moves is a joint of its own, which Assimp did not rotate. */
static bool root_is_animated(const import_job *job) {
  const struct aiScene *scene = job->scene;
  unsigned a, c;
  for (a = 0; a < scene->mNumAnimations; a++)
    for (c = 0; c < scene->mAnimations[a]->mNumChannels; c++)
      if (import_find_joint(job, &scene->mAnimations[a]->mChannels[c]->mNodeName) == 0) return true;
  return false;
}

/* Assimp delivers +Y up, and says so by the root where it had to rotate something. */
static void note_rotated_root(import_job *job) {
  const float *rotation = job->model.rotation.data;
  if (fabsf(rotation[3]) < 0.9999f && !root_is_animated(job))
    import_note_add(job, NOTE_axes_converted, 1, "the root rotates the file's axes");
}

void import_space(import_job *job) {
  job->model.info.up = SK_AXIS_POS_Y;
  if (job->format->space) job->format->space(job);
  else if (job->scene) note_rotated_root(job);
  if (job->request->up != SK_AXIS_UNKNOWN) job->model.info.up = job->request->up;
}

/* ---- formats that store whole frames ------------------------------------------------------- */

/* Assimp reads the first frame. */
void import_note_frames(import_job *job) {
  const import_source *file = job->files.sources.data;
  const import_frames *where = &job->format->frames;
  uint32_t frames;
  if (!where->magic || file->size < where->offset + 4 || !import_has_bytes(file->data, file->size, 0, where->magic))
    return;
  frames = import_u32(file->data + where->offset);
  if (frames < 2 || frames > 65536) return;
  import_note_add(job, NOTE_morph_targets_dropped, frames - 1, "vertex frames after the first of %u", frames);
}
