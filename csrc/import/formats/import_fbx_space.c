/* import_fbx_space.c: unit and axes of an FBX file, and what it has that Assimp does not tell. */
#include <math.h>
#include <string.h>

#include "../import_space.h"
#include "import_fbx.h"

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

/* Where an FBX file has a mesh, Assimp's root turns the file's axes to +Y up; a file of joints and clips alone stays
   as it is. The root should scale the file's unit to 1 cm as well, which 6.0.5 does not do: what it does counts. */
void import_fbx_space(import_job *job) {
  static const struct {
    const char *name;
    double usual;
  } axes[] = {{"UpAxis", 1},        {"UpAxisSign", 1}, {"FrontAxis", 2},
              {"FrontAxisSign", 1}, {"CoordAxis", 0},  {"CoordAxisSign", 1}};
  const struct aiMetadata *data = job->scene->mMetaData;
  double unit = metadata_number(data, "UnitScaleFactor", 1.0), up = metadata_number(data, "UpAxis", 1.0);
  double sign = metadata_number(data, "UpAxisSign", 1.0), scale = import_root_scale(job);
  bool turned = false, converted = job->scene->mNumMeshes != 0;
  size_t i;
  for (i = 0; i < sizeof axes / sizeof *axes; i++)
    turned |= metadata_number(data, axes[i].name, axes[i].usual) != axes[i].usual;
  if (!(unit > 0.0 && unit < 1e12)) unit = 1.0;
  if (!(scale > 1e-12 && scale < 1e12) || fabs(scale - 1.0) <= 1e-6) scale = 1.0;
  job->model.info.unit_meters = 0.01 * unit / scale;
  if (!converted && (up == 0.0 || up == 1.0 || up == 2.0))
    job->model.info.up = SK_AXIS_POS_X + 2 * (uint32_t)up + (sign < 0.0);
  if (turned && converted) import_note_add(job, NOTE_axes_converted, 1, "up axis %g (0 is X), sign %g", up, sign);
  if (scale != 1.0)
    import_note_add(job, NOTE_units_converted, 1, "one unit of the file is %g cm; now %g cm", unit, unit / scale);
}

/* ---- what gets lost ------------------------------------------------------------------------ */

static void note_layers(import_job *job) {
  size_t layers = job->fbx->layers, stacks = job->fbx->ranges.count;
  if (stacks && layers > stacks)
    import_note_add(job, NOTE_animation_layers_ignored, layers - stacks, "%zu layers in %zu clips", layers, stacks);
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
      scaled[channel[i].joint] |= is_scaled((const float *)m->values.data + channel[i].values, channel[i].key_count);
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

void import_fbx_note(import_job *job) {
  if (job->model.clips.count) note_layers(job);
  note_scale_inheritance(job);
}
