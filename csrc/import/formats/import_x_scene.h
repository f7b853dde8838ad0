/* import_x_scene.h: the objects of an .x file and what was made of each, which all parts of its reader use.

   The file is left-handed and has row vectors: z becomes -z, and matrices are transposed. */
#ifndef IMPORT_X_SCENE_H
#define IMPORT_X_SCENE_H

#include "../import_contents.h"
#include "import_x_file.h"

typedef struct x_made { /* of one object */
  int32_t index;    /* in the contents: a frame's node, a material, or the first part of a mesh; SK_NONE: not made */
  uint32_t parts;   /* of a mesh: how many meshes of the contents it became, one for each of its materials */
  bool is_shared;   /* another object of its kind has its name */
  bool is_referred; /* of a mesh: a frame refers to it */
} x_made;

typedef struct x_part { /* the faces of a mesh that have one material; SK_NONE: none */
  int32_t material, skin;
} x_part;

typedef struct x_scene {
  import_job *job;
  x_file file;
  x_made *made;                               /* of each object */
  import_names frames, materials, meshes, animations; /* names to objects */
  sk_array parts;                             /* x_part: of each mesh of the contents */
  uint64_t vertices, keys;                    /* of all instances and clips */
} x_scene;

static inline x_made *x_made_of(const x_scene *x, const x_object *object) {
  return x->made + (object - (const x_object *)x->file.objects.data);
}

/* The object with the name, or NULL. If several objects have the name, the first is taken, which is reported. */
const x_object *x_find(x_scene *x, const import_names *names, import_span name, const char *what);
/* The objects directly below another one: `at` begins as NULL; NULL at the end. */
const x_object *x_next_below(const x_scene *x, const x_object *object, const x_object *at);
/* A matrix of 16 numbers as three rows for columns (x, y, z, 1), right-handed. False: its last column is not 0 0 0 1. */
bool x_matrix(const double *m, double out[12]);

/* import_x_mesh.c: makes the parts of a mesh, unless they are made already. */
sk_status x_make_mesh(x_scene *x, const x_object *object);
/* import_x_skin.c: the skin of a mesh as the file lists it, by the file's vertices. */
typedef struct x_joint {
  const x_object *object; /* its SkinWeights */
  sk_text name;
  int32_t node;
  uint32_t slot; /* in the skin of the part that is being made; UINT32_MAX: the part does not use the joint */
} x_joint;

typedef struct x_skin {
  sk_array joints;              /* x_joint */
  uint32_t *starts;             /* of the influences of each vertex, and their end; NULL: there are none */
  import_influence *influences; /* `slot` is an index of `joints` */
} x_skin;

/* x_free_skin frees what is there, also after a failure. */
sk_status x_read_skin(x_scene *x, const x_object *mesh, uint32_t vertices, x_skin *skin);
void x_free_skin(x_skin *skin);
/* Gives a part of a mesh its influences; `points` has the file's vertex of each of its own. `*index` is the skin that is
   made for it, or SK_NONE. */
sk_status x_skin_part(x_scene *x, const x_skin *skin, const uint32_t *points, import_contents_mesh *part,
                      int32_t *index);

/* import_x_clip.c */
sk_status x_make_clips(x_scene *x);

#endif
