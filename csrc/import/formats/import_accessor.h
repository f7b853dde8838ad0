/* import_accessor.h: the numbers of a glTF: accessors, bufferViews and data URIs, each checked against its buffer.
   Every function fails with SK_ERROR_IMPORT and a sentence that names the accessor or the view. */
#ifndef IMPORT_ACCESSOR_H
#define IMPORT_ACCESSOR_H

#include "../import_job.h"
#include "../import_json.h"

typedef struct gltf_accessor { /* checked: every element lies in its buffer */
  const uint8_t *data; /* not owned; NULL: zeros */
  size_t stride, count;
  size_t whole;        /* elements in the file, where fewer are wanted */
  uint32_t component;  /* glTF's number of the type: 5120 to 5126 */
  uint32_t width;      /* numbers in one element */
  bool normalized;
  int32_t sparse;      /* token, or -1 */
} gltf_accessor;

sk_status gltf_accessor_open(import_job *job, int64_t index, gltf_accessor *accessor);
/* The same without the bytes: they are not looked for, and `data` is NULL. */
sk_status gltf_accessor_describe(import_job *job, int64_t index, gltf_accessor *accessor);
/* Every element as `width` floats; `normalized` integers become 0 to 1 or -1 to 1. */
sk_status gltf_accessor_floats(import_job *job, int64_t index, const gltf_accessor *accessor, float *out);
/* Unit vectors or quaternions that are stored as integers have length 1 but for the rounding; this gives them that
   length again, in place. Others are left as they are. */
void gltf_restore_lengths(const gltf_accessor *accessor, float *elements);
/* Every element as `width` whole numbers. */
sk_status gltf_accessor_integers(import_job *job, int64_t index, const gltf_accessor *accessor, uint32_t *out);
/* The bytes that `buffer`, `byteOffset` and `byteLength` of an object say, for bufferViews[index]; not owned. */
sk_status gltf_view_bytes(import_job *job, int64_t index, int32_t object, const uint8_t **data, size_t *size);
/* Decodes a "data:" URI, a string of the file; false where it is another one. The caller frees `*data` with sk_free;
   NULL: no memory. Base64 ends at the first character that is not of its alphabet. */
bool gltf_data_uri(const json *j, int32_t token, uint8_t **data, size_t *size);
/* Decodes %xx within the given text. */
void gltf_decode_percent(char *text);

#endif
