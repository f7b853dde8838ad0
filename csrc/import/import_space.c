/* import_space.c: axes and units, and what a format has that Assimp does not deliver. */
#define _GNU_SOURCE /* memmem */
#include <math.h>
#include <string.h>

#include "import_internal.h"

/* ---- axes and units -------------------------------------------------------------------- */

static const struct aiMetadataEntry *find_metadata(const struct aiMetadata *data, const char *name) {
  unsigned i;
  for (i = 0; data && i < data->mNumProperties; i++)
    if (!strcmp(data->mKeys[i].data, name)) return &data->mValues[i];
  return NULL;
}

static double metadata_number(const struct aiMetadata *data, const char *name, double fallback) {
  const struct aiMetadataEntry *entry = find_metadata(data, name);
  if (!entry || !entry->mData) return fallback;
  switch (entry->mType) {
    case AI_INT32: return *(const int32_t *)entry->mData;
    case AI_UINT64: return (double)*(const uint64_t *)entry->mData;
    case AI_FLOAT: return *(const float *)entry->mData;
    case AI_DOUBLE: return *(const double *)entry->mData;
    default: return fallback;
  }
}

/* How many times longer the root makes what is below it. */
static double root_scale(const import_job *job) {
  const float *root = &job->scene->mRootNode->mTransformation.a1;
  return sqrt((double)root[0] * root[0] + (double)root[4] * root[4] + (double)root[8] * root[8]);
}

/* Where an FBX file has a mesh, Assimp's root turns the file's axes to +Y up; a file of joints and clips alone stays
   as it is. The root should scale the file's unit to 1 cm as well, which 6.0.5 does not do: what it does counts. */
static void read_fbx_space(import_job *job) {
  static const struct { const char *name; double usual; } axes[] = {
      {"UpAxis", 1},        {"UpAxisSign", 1}, {"FrontAxis", 2},
      {"FrontAxisSign", 1}, {"CoordAxis", 0},  {"CoordAxisSign", 1}};
  const struct aiMetadata *data = job->scene->mMetaData;
  double unit = metadata_number(data, "UnitScaleFactor", 1.0), up = metadata_number(data, "UpAxis", 1.0);
  double sign = metadata_number(data, "UpAxisSign", 1.0), scale = root_scale(job);
  bool turned = false, converted = job->scene->mNumMeshes != 0;
  size_t i;
  for (i = 0; i < sizeof axes / sizeof *axes; i++)
    turned |= metadata_number(data, axes[i].name, axes[i].usual) != axes[i].usual;
  if (!(unit > 0.0 && unit < 1e12)) unit = 1.0;
  if (!(scale > 1e-12 && scale < 1e12) || fabs(scale - 1.0) <= 1e-6) scale = 1.0;
  job->model.info.unit_meters = 0.01 * unit / scale;
  if (!converted && (up == 0.0 || up == 1.0 || up == 2.0))
    job->model.info.up = SK_AXIS_POS_X + 2 * (uint32_t)up + (sign < 0.0);
  if (turned && converted)
    import_note_add(job, NOTE_axes_converted, 1, "up axis %g (0 is X), sign %g", up, sign);
  if (scale != 1.0)
    import_note_add(job, NOTE_units_converted, 1, "one unit of the file is %g cm; now %g cm", unit, unit / scale);
}

/* Where `word` ends for the first time in the head of the file; NULL where it does not occur. */
static const char *find_word(const import_source *file, const char *word) {
  const char *at = memmem(file->data, file->size < IMPORT_HEAD ? file->size : IMPORT_HEAD, word, strlen(word));
  return at ? at + strlen(word) : NULL;
}

/* COLLADA: Assimp's root holds the unit and the turn to +Y up. */
static void read_collada_space(import_job *job) {
  const import_source *file = job->files.sources.data;
  const char *up = find_word(file, "<up_axis>"), *end = (const char *)file->data + file->size;
  double unit = root_scale(job);
  job->model.info.unit_meters = 1.0;
  if (up && end - up >= 4 && *up != 'Y')
    import_note_add(job, NOTE_axes_converted, 1, "the file's up axis is %.4s", up);
  if (fabs(unit - 1.0) > 1e-6)
    import_note_add(job, NOTE_units_converted, 1, "one unit of the file is %g m; now 1 m", unit);
}

/* A root that the file moves is a joint of its own, and no turn of Assimp's. */
static bool root_is_animated(const import_job *job) {
  const struct aiScene *scene = job->scene;
  unsigned a, c;
  for (a = 0; a < scene->mNumAnimations; a++)
    for (c = 0; c < scene->mAnimations[a]->mNumChannels; c++)
      if (import_find_joint(job, &scene->mAnimations[a]->mChannels[c]->mNodeName) == 0) return true;
  return false;
}

/* Any other format: Assimp delivers +Y up, and says so by the root where it had to turn something. */
static void read_other_space(import_job *job) {
  const float *rotation = job->model.rotation.data;
  if (!strcmp(job->format, "x"))
    import_note_add(job, NOTE_axes_converted, 1, "the file is left-handed; z became -z");
  else if (fabsf(rotation[3]) < 0.9999f && !root_is_animated(job))
    import_note_add(job, NOTE_axes_converted, 1, "the root turns the file's axes");
}

void import_space(import_job *job) {
  job->model.info.up = SK_AXIS_POS_Y;
  if (job->gltf) job->model.info.unit_meters = 1.0;
  else if (!strcmp(job->format, "fbx")) read_fbx_space(job);
  else if (!strcmp(job->format, "dae") || !strcmp(job->format, "zae")) read_collada_space(job);
  else read_other_space(job);
  if (job->request->up != SK_AXIS_UNKNOWN) job->model.info.up = job->request->up;
}

/* Assimp 6.0.5 reads MD5's "frameRate" only where an empty line follows it, else it takes 24. */
double import_md5_rate(const import_job *job) {
  const import_source *source = job->files.sources.data;
  size_t i;
  if (strcmp(job->format, "md5mesh") && strcmp(job->format, "md5anim")) return 0.0;
  for (i = job->files.sources.count; i-- > 0;) { /* the animation stands behind its mesh */
    const char *word = find_word(&source[i], "frameRate");
    const char *end = (const char *)source[i].data + source[i].size;
    double rate = 0.0;
    while (word && word < end && (*word == ' ' || *word == '\t')) word++;
    for (; word && word < end && *word >= '0' && *word <= '9' && rate < 1e6; word++)
      rate = 10.0 * rate + (*word - '0');
    if (rate > 0.0) return rate;
  }
  return 0.0;
}

/* ---- what FBX has and Assimp does not tell ------------------------------------------------ */

static void note_layers(import_job *job) {
  size_t layers = job->fbx.layers, stacks = job->fbx.ranges.count;
  if (stacks && layers > stacks)
    import_note_add(job, NOTE_animation_layers_ignored, layers - stacks, "%zu layers in %zu clips", layers,
                    stacks);
}

/* Whether a joint is scaled, at rest or by a channel. */
static bool is_scaled(const float *scale, size_t count) {
  size_t i;
  for (i = 0; i < 3 * count; i++)
    if (fabsf(scale[i] - 1.0f) > 1e-4f) return true;
  return false;
}

static void mark_scaled(const import_model *m, uint8_t *scaled) {
  const sk_channel *channel = m->channels.data;
  size_t i;
  for (i = 0; i < m->nodes.count; i++) scaled[i] = is_scaled((const float *)m->scale.data + 3 * i, 1);
  for (i = 0; i < m->channels.count; i++)
    if (channel[i].path == SK_PATH_SCALE)
      scaled[channel[i].joint] |= is_scaled((const float *)m->values.data + channel[i].values,
                                            channel[i].key_count);
}

/* InheritType 1 is what Assimp does; 0 and 2 treat the parent's scale otherwise, which shows only
   where something above the joint is scaled. */
static void note_scale_inheritance(import_job *job) {
  const import_model *m = &job->model;
  const struct aiNode *const *nodes = m->nodes.data;
  uint8_t *scaled = sk_alloc_zero(m->nodes.count);
  size_t j;
  if (!scaled) return; /* a note less, nothing worse */
  mark_scaled(m, scaled);
  for (j = 0; j < m->nodes.count; j++) {
    int32_t parent = ((const int32_t *)m->parents.data)[j];
    if (parent < 0 || !scaled[parent]) continue;
    if (metadata_number(nodes[j]->mMetaData, "InheritType", 1.0) != 1.0)
      import_note_add(job, NOTE_scale_inheritance_ignored, 1, "'%.100s'", nodes[j]->mName.data);
    scaled[j] = 1; /* and with it all below */
  }
  sk_free(scaled);
}

/* ---- formats that store whole frames ------------------------------------------------------- */

/* Assimp reads the first frame. Where each header has the number of its frames: */
static void note_frames(import_job *job) {
  static const struct { const char *magic; size_t at; } table[] = {
      {"IDP2", 40}, {"IDP3", 76}, {"IDPO", 68}, {"IDPC", 76}};
  const import_source *file = job->files.sources.data;
  size_t i;
  for (i = 0; i < sizeof table / sizeof *table; i++) {
    uint32_t frames;
    if (file->size < table[i].at + 4 || memcmp(file->data, table[i].magic, 4)) continue;
    frames = (uint32_t)import_number(file->data + table[i].at, 4);
    if (frames < 2 || frames > 65536) continue;
    import_note_add(job, NOTE_morph_targets_dropped, frames - 1, "vertex frames after the first of %u",
                    frames);
  }
}

void import_note_format(import_job *job) {
  if (job->request->frame == SK_NONE) note_frames(job);
  if (strcmp(job->format, "fbx")) return;
  if (job->model.clips.count) note_layers(job);
  note_scale_inheritance(job);
}
