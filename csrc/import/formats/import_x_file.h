/* import_x_file.h: an .x file, in any of its four encodings, as a tree of objects.

   An object is "Type name { members, objects }". Members are numbers and texts; what they mean follows from the type, so
   that templates, separators and the difference between whole numbers and others need not be known: the numbers of an
   object are one list. A reference "{ name }" stands where an object may stand. (Microsoft, DirectX 9: X File Format
   Reference.) */
#ifndef IMPORT_X_FILE_H
#define IMPORT_X_FILE_H

#include "../import_job.h"

typedef enum x_kind {
  X_UNKNOWN,
  X_REFERENCE,
  X_FRAME,
  X_FRAME_MATRIX,
  X_MESH,
  X_OTHER_GEOMETRY, /* patches and progressive meshes */
  X_NORMALS,
  X_COORDINATES,
  X_COLORS,
  X_DECLARED_DATA,
  X_FVF_DATA,
  X_SKIN_WEIGHTS,
  X_MATERIAL_LIST,
  X_MATERIAL,
  X_TEXTURE,
  X_NORMAL_MAP,
  X_EFFECT,
  X_TICKS,
  X_ANIMATION_SET,
  X_ANIMATION,
  X_KEY
} x_kind;

typedef struct x_object {
  x_kind kind;
  int32_t parent;      /* index of an object, or SK_NONE */
  uint32_t end;        /* index behind the last object below this one; the first one below it is the next */
  import_span name;    /* of a reference: what it refers to; may be empty */
  import_span text;    /* the first one; may be empty */
  size_t first, count; /* its numbers */
} x_object;

typedef struct x_file {
  sk_array objects; /* x_object, parents before children, in the order of the file */
  sk_array numbers; /* double */
  sk_array bytes;   /* uint8_t: what a compressed file holds; names and texts point there, or into the file */
} x_file;

/* Reads the job's file. x_file_free frees the result, also after a failure. */
sk_status x_file_read(import_job *job, x_file *file);
void x_file_free(x_file *file);

static inline const x_object *x_object_at(const x_file *file, size_t i) {
  return (const x_object *)file->objects.data + i;
}

/* The numbers of an object, which are taken one after another. */
typedef struct x_numbers {
  const double *at, *end;
} x_numbers;

static inline size_t x_left(const x_numbers *n) { return (size_t)(n->end - n->at); }

x_numbers x_numbers_of(const x_file *file, const x_object *object);
/* The next number as a count or an index; UINT32_MAX where there is none, or where it is not a whole number. */
uint32_t x_take_index(x_numbers *n);
/* A count of rows that have at least `width` numbers each. False: there are fewer numbers. */
bool x_take_count(x_numbers *n, size_t width, uint32_t *count);
/* The next `count` numbers; NULL where there are fewer. */
const double *x_take(x_numbers *n, size_t count);

#endif
