/* import_draco.h: what skinpy asks of the Draco library, in C. Only a build with that library has it: SKINPY_DRACO is
   then its version, as text.

   import_draco.cpp, behind this header, is the only C++ of skinpy. No exception leaves it: where the library, or C++
   itself, throws for want of memory, the answer is IMPORT_DRACO_NO_MEMORY. The library reads what strangers wrote, and
   takes memory by the counts that a stream states. So the caller is asked whether it allows them, and an attribute's
   width is checked, before the library takes memory for them. */
#ifndef IMPORT_DRACO_H
#define IMPORT_DRACO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IMPORT_DRACO_MAX_WIDTH 64 /* numbers that all attributes of a mesh have together, for each point */

typedef struct import_draco import_draco; /* a decoded mesh */

typedef enum import_draco_status {
  IMPORT_DRACO_DONE,
  IMPORT_DRACO_NO_MEMORY,
  IMPORT_DRACO_REFUSED, /* the caller does not allow so many points and faces */
  IMPORT_DRACO_BROKEN   /* or not a triangle mesh of version 2.2, which is the one that glTF allows */
} import_draco_status;

/* Whether a mesh may have so many points and triangles. It is asked for each mesh several times: for what the stream
   states, of which its points may be fewer than there are, and then for what there is. */
typedef bool import_draco_allow(void *context, uint32_t points, uint32_t faces);

/* Decodes a mesh. The caller frees `*mesh` with import_draco_free; it is NULL unless the answer is
   IMPORT_DRACO_DONE. */
import_draco_status import_draco_decode(const uint8_t *data, size_t size, import_draco_allow *allow, void *context,
                                        import_draco **mesh);
uint32_t import_draco_point_count(const import_draco *mesh);
uint32_t import_draco_face_count(const import_draco *mesh);
/* The points of each triangle, three numbers a triangle. They are not checked: a point may not exist. */
void import_draco_faces(const import_draco *mesh, uint32_t *out);
/* The attribute with this unique id, `width` numbers a point, of glTF's component type `component` (5120 to 5126).
   False: there is no such attribute, it has another width, or a number does not fit the type. */
bool import_draco_attribute(const import_draco *mesh, uint32_t id, uint32_t component, uint32_t width, void *out);
void import_draco_free(import_draco *mesh); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
