/* import_reader.h: the functions that the steps of an import call for a format whose content skinpy reads itself.

   If a format's row has a reader, Assimp does not read the file. A format without a reader is copied from Assimp's scene.
   All functions are set. Those that return a status fail with a sentence in job->error; those that return a bool are
   false if there is no memory left, unless their comment says something else. */
#ifndef IMPORT_READER_H
#define IMPORT_READER_H

#include "import_channel.h"
#include "import_influence.h"
#include "import_morph.h"

typedef struct import_reader {
  /* import_skeleton.c. Every joint is added by import_add_joint, with its name in model.names. */
  sk_status (*add_joints)(import_job *job);
  /* The local matrix at rest, affine; true where t, r and s are set as well. */
  bool (*rest)(import_job *job, size_t joint, double local[12], float t[3], float r[4], float s[3]);

  /* import_material.c */
  size_t (*material_count)(const import_job *job);
  sk_status (*read_material)(import_job *job, size_t index, sk_material *material);

  /* import_mesh.c. The first calls import_add_submesh for each submesh. */
  sk_status (*list_submeshes)(import_job *job, sk_array *submeshes);
  bool (*name_submesh)(import_job *job, import_submesh *submesh); /* sets name, a text of the pool's end */
  sk_status (*copy_faces)(import_job *job, import_submesh *submesh, sk_array *faces);

  /* import_stream.c. `out` has a row of the attribute's width for each vertex. */
  bool (*has)(const import_submesh *submesh, import_attribute attribute); /* whether there is such an attribute */
  sk_status (*read)(import_job *job, const import_submesh *submesh, import_attribute attribute, float *out);

  /* import_influence.c. Calls import_finish_vertex for each vertex of a submesh that is not rigid. */
  sk_status (*skin)(import_skinning *skinning);

  /* import_morph.c */
  uint32_t (*target_count)(const import_job *job, const import_submesh *submesh);
  sk_status (*read_shapes)(import_job *job, const import_submesh *submesh, import_shapes *shapes);
  float (*default_weight)(const import_job *job, const import_submesh *submesh, uint32_t target);
  bool (*name_target)(import_job *job, const import_submesh *submesh, uint32_t target, sk_text *name);

  /* import_clip.c */
  int32_t (*clip_count)(const import_job *job);
  bool (*name_clip)(import_job *job, int32_t index, sk_text *name);
  sk_status (*add_channels)(import_clip *clip, int32_t index, double *last); /* `last`: time of the last key, seconds */
  sk_status (*add_extras)(import_clip *clip, int32_t index, sk_clip_record *record); /* the record has its duration */
} import_reader;

#endif
