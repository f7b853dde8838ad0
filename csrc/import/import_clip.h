/* import_clip.h: what lives as long as the clips of a model are made. */
#ifndef IMPORT_CLIP_H
#define IMPORT_CLIP_H

#include "import_job.h"

typedef struct import_time_line { /* key times that channels may share */
  uint64_t first;                 /* in model.times */
  uint32_t count;
  uint64_t hash;
} import_time_line;

#define IMPORT_RECENT_LINES 32 /* time lines that a new channel is compared with */

typedef struct import_clip {
  import_job *job;
  double ticks_per_second;
  sk_array keys;      /* of the channel that is made now; private to import_channel.c */
  uint32_t *taken;    /* a bit for each path that has its channel: of each joint, then of each target and material */
  import_time_line recent[IMPORT_RECENT_LINES];
  uint32_t recent_count;
  char title[100];    /* the clip in messages */
} import_clip;

#endif
