/* import_channel.h: a channel of a clip: from the keys of one joint's path, or of one target, to rows of the block. */
#ifndef IMPORT_CHANNEL_H
#define IMPORT_CHANNEL_H

#include "../core/model/sk_clip.h"
#include "import_clip.h"

/* The keys as their source has them. Of `values`, `vectors`, `quats` and `weights` one is set; none is owned. */
typedef struct import_track {
  int32_t joint; /* or the target or material, by sk_owner_of(path) */
  sk_path path;
  sk_interpolation interpolation;
  uint32_t count;                       /* keys; a cubic one is three values: tangent in, value, tangent out */
  const double *seconds; /* in the place of times: of a reader whose times need more digits */
  const float *times, *values;          /* glTF's; seconds */
  const struct aiVectorKey *vectors;    /* Assimp's; ticks */
  const struct aiQuatKey *quats;        /* likewise */
  const struct aiMeshMorphKey *weights; /* likewise; each key lists some targets of a mesh */
  uint32_t column, stride;              /* of weights: which of so many that stand side by side */
} import_track;

sk_array import_channel_keys(void); /* an empty import_clip.keys */
/* Sorts and checks the keys, cuts them to the clip's range and appends the channel to the model. What is left out is
   reported: unusable keys, a second channel of the same joint and path, scale that the request does not want. */
sk_status import_add_channel(import_clip *clip, const import_track *track);
/* Time of a value of the track in seconds. */
double import_track_time(const import_clip *clip, const import_track *track, uint32_t value);
/* Whether any key of a track of weights lists its target. */
bool import_track_lists_target(const import_track *track);

#endif
