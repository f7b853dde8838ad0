/* import_fbx_document.h: the objects of an FBX file, their properties, and what is connected to what.

   Objects have ids; names need not be unique and are never used to find anything. A connection leads from a child to a
   parent: an object belongs to another one (OO), or to a property of another one (OP). Properties that an object does
   not state come from the template of its class. */
#ifndef IMPORT_FBX_DOCUMENT_H
#define IMPORT_FBX_DOCUMENT_H

#include "import_fbx_records.h"

#define FBX_NONE UINT32_MAX /* "no such object" */

typedef enum fbx_class {
  FBX_OTHER,
  FBX_ROOT, /* the scene: it has no record, and the id 0 */
  FBX_MODEL,
  FBX_ATTRIBUTE, /* of a model: whether it is a camera, a light, a joint */
  FBX_MESH,
  FBX_SHAPE,
  FBX_GEOMETRY, /* geometry that is neither: a curve, a patch */
  FBX_MATERIAL,
  FBX_TEXTURE,
  FBX_LAYERED_TEXTURE,
  FBX_VIDEO,
  FBX_SKIN,
  FBX_CLUSTER,
  FBX_BLEND,
  FBX_BLEND_CHANNEL,
  FBX_CACHE,
  FBX_CONSTRAINT,
  FBX_STACK,
  FBX_LAYER,
  FBX_CURVE_NODE,
  FBX_CURVE
} fbx_class;

typedef struct fbx_object {
  int64_t id;
  const char *name; /* without its class, in the bytes of the file or among the document's names */
  size_t name_length;
  const char *type; /* the third value of its record, such as "LimbNode" */
  size_t type_length;
  size_t inside, inside_end;     /* offsets of its records */
  size_t template_, template_end; /* offsets of the properties of its class; equal if there are none */
  uint8_t class;                 /* fbx_class */
} fbx_object;

typedef struct fbx_link {
  uint32_t parent, child, order; /* objects; the order is that of the file */
  const char *property;          /* of the parent, in the bytes of the file; NULL: the whole object */
  size_t property_length;
} fbx_link;

typedef struct fbx_document {
  import_job *job;
  fbx_file file;
  sk_array objects;  /* fbx_object, by id; the root is among them */
  sk_array links;    /* fbx_link, by parent, then by order */
  sk_array children; /* uint32_t: numbers of links, by child, then by order */
  sk_array names;    /* char *: owned copies of names that are escaped in the file */
  uint32_t root;     /* number of the root among the objects */
  double second;     /* units of time in a second */
} fbx_document;

/* Reads objects, templates and connections. The bytes of the source must outlive the document. */
sk_status fbx_open_document(import_job *job, fbx_document *document);
void fbx_close_document(fbx_document *document);

fbx_object *fbx_object_at(const fbx_document *document, uint32_t index);
/* Bytes of the object's name for a message with "%.*s": names in a file may be of any length. */
int fbx_short_length(const fbx_object *object);

/* The next child of a class below `parent`, or FBX_NONE. `*at` is the state of the walk: it begins as 0. With `link`,
   the connection is returned as well. */
uint32_t fbx_next_child(const fbx_document *document, uint32_t parent, fbx_class class, size_t *at,
                        const fbx_link **link);
/* The next parent of a class, or FBX_NONE, likewise. */
uint32_t fbx_next_parent(const fbx_document *document, uint32_t child, fbx_class class, size_t *at,
                         const fbx_link **link);
bool fbx_link_is(const fbx_link *link, const char *property);

/* A property that is wanted: up to three numbers, which stay as they are if neither object nor template has them. */
typedef struct fbx_wanted {
  const char *name;
  double *numbers;
  uint32_t count;
  bool *own; /* set if the object itself states the property; may be NULL */
} fbx_wanted;

/* Reads the wanted properties of an object: those of the template first, then its own. */
void fbx_read_properties(const fbx_document *document, uint32_t object, const fbx_wanted *wanted, size_t count);
/* The same in two steps: those of the template of an object, and its own. */
void fbx_read_template(const fbx_document *document, uint32_t object, const fbx_wanted *wanted, size_t count);
void fbx_read_own_properties(const fbx_document *document, uint32_t object, const fbx_wanted *wanted, size_t count);
/* Reads a list of properties inside any record, such as GlobalSettings. */
void fbx_read_property_list(const fbx_file *file, size_t inside, size_t inside_end, const fbx_wanted *wanted,
                            size_t count);
/* One number of an object, or `fallback`. */
double fbx_property(const fbx_document *document, uint32_t object, const char *name, double fallback);

#endif
