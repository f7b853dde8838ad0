/* import_iqm_file.h: the tables of an .iqm file, and the arrays of its vertices.

   The format: L. Salzman, Inter-Quake Model, version 2 (2011), iqm.txt of its development kit. All numbers are
   little-endian. */
#ifndef IMPORT_IQM_FILE_H
#define IMPORT_IQM_FILE_H

#include "../import_bytes.h"
#include "../import_contents.h"

typedef struct iqm_table { /* rows of the file; all `count` rows lie within it */
  const uint8_t *data;
  uint32_t count;
} iqm_table;

#define IQM_MESH     24 /* bytes: name, material, first vertex, vertices, first triangle, triangles */
#define IQM_ARRAY    20 /* type, flags, format, numbers of a vertex, offset */
#define IQM_TRIANGLE 12
#define IQM_JOINT    48 /* name, parent, translation, rotation x y z w, scale */
#define IQM_POSE     88 /* parent, mask, ten offsets, ten scales */
#define IQM_ANIM     20 /* name, first frame, frames, frames per second, flags */

typedef enum iqm_attribute {
  IQM_POSITION,
  IQM_TEXCOORD,
  IQM_NORMAL,
  IQM_TANGENT,
  IQM_BLEND_INDEX,
  IQM_BLEND_WEIGHT,
  IQM_COLOR,
  IQM_ATTRIBUTES
} iqm_attribute;

typedef struct iqm_array { /* of all vertices; size 0: the file has none */
  const uint8_t *data;
  uint32_t format, size; /* numbers of a vertex */
} iqm_array;

typedef struct iqm {
  import_job *job;
  const uint8_t *data;
  size_t size;
  iqm_table text, meshes, triangles, joints, poses, anims;
  iqm_table frames; /* a row is a frame */
  uint32_t vertex_count, channels;
  iqm_array arrays[IQM_ATTRIBUTES];
  int32_t *nodes;   /* the node of the root, then that of each joint */
  const float *offsets;
} iqm;

/* Reads the header; SK_ERROR_IMPORT where a table does not lie within the file. */
sk_status iqm_open_file(import_job *job, iqm *file);
/* A text of the file. It is cut at 1,023 bytes, which is reported. */
import_span iqm_text(const iqm *file, uint32_t offset);
/* The same, stored as a name in the model. */
sk_status iqm_name(const iqm *file, uint32_t offset, sk_text *name);
/* A number of a vertex. If `parts` is set, an integer is divided by the largest one of its type. */
float iqm_value(const iqm_array *array, uint32_t vertex, uint32_t number, bool parts);

/* import_iqm_clip.c: makes the clips. */
sk_status iqm_make_clips(const iqm *file);

#endif
