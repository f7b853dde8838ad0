/* import_mesh.h: submeshes while they are copied, and the steps that each of them takes.

   A submesh is one (node, mesh) of the scene. All of them lie in one vertex and one index buffer. One after another is
   read, gets its influences, is joined with itself where vertices are equal, and is moved down to where the last one
   ended; so first_vertex and vertex_count change on the way. */
#ifndef IMPORT_MESH_H
#define IMPORT_MESH_H

#include "import_job.h"

typedef struct import_submesh {
  int32_t joint;                          /* of the node that has the mesh */
  const struct aiMesh *mesh;              /* Assimp's, not owned; NULL: skinpy's own reader sets one of the next */
  const struct gltf_primitive *primitive; /* glTF's */
  const struct gltf_node *gltf_node;      /* the node that has the mesh of the primitive */
  struct {
    struct fbx_mesh *mesh;
    const struct fbx_part *part;
    int32_t node;
  } source;                               /* what FBX has in its place */
  const struct import_contents_mesh *contents_mesh; /* set for formats with contents_reader, else NULL */
  const struct import_contents_skin *contents_skin; /* NULL: rigid */
  float own_offset[16]; /* of the slot of the node, for vertices that follow no joint of a skin */
  bool has_own_offset;  /* false: it is the identity */
  const uint32_t *corners;                /* in job->weights; NULL: the weights are Assimp's */
  bool rigid;                             /* all vertices follow the node, and nothing else */
  bool hidden; /* the file says that it is not drawn */
  sk_text name;
  char title[84];       /* the name in messages */
  uint32_t first_vertex, vertex_count, first_face, face_count;
  int64_t material;     /* as the source counts them */
  size_t faces_wanted;  /* faces that the file gives, also those of vertices that it does not give */
  uint32_t bad_normals; /* vertices whose normal the file does not give, or gives as no direction */
} import_submesh;

/* ---- import_stream.c: the vertex arrays, and the rows of a submesh in them ------------- */

/* The sections with which a model's block begins: vertices and faces. */
#define IMPORT_MESH_SECTIONS 8

typedef enum import_attribute { /* what a vertex may have */
                                IMPORT_POSITIONS,
                                IMPORT_NORMALS,
                                IMPORT_UVS,
                                IMPORT_COLORS,
                                IMPORT_TANGENTS
} import_attribute;

void import_mesh_sections(const import_model *m, sk_block_part sections[IMPORT_MESH_SECTIONS]);
/* Takes memory for the vertices and faces of all submeshes. */
sk_status import_make_streams(import_job *job, const sk_array *submeshes);
/* Makes the influences of all submeshes, where these were not made with each of them: all of them are rigid then, and
   equal vertices are joined first. */
sk_status import_make_influences(import_job *job, const sk_array *submeshes);
/* Whether equal vertices are joined. */
bool import_joins_vertices(const import_job *job);
/* One row more than there can be faces: lists of indices may hold up to two indices too many. */
uint64_t import_face_rows(const sk_array *submeshes);
/* Copies positions, normals, texture coordinates, colors and tangents of a submesh. */
sk_status import_copy_vertices(import_job *job, import_submesh *submesh);

/* ---- import_influence.c ------------------------------------------------------------------ */

/* Slots and weights of the submesh's vertices. */
sk_status import_skin_submesh(import_job *job, const import_submesh *submesh);

/* ---- import_vertex.c: smooth normals, and joining of equal vertices ------------------------ */

/* Memory of one submesh: a table of mask + 1 slots, a power of 2 and at least twice the vertices, and a map with one
   number more than there are vertices. */

/* Makes the normals of all vertices from the faces at each position; `faces` holds those of the submesh, in vertices
   of the whole model. Afterwards owner[v], of as many numbers as the map, is the first vertex at the position of v. */
void import_smooth_normals(import_model *model, const import_submesh *submesh, const uint32_t *faces, uint32_t *table,
                           uint32_t *owner, size_t mask);
/* Moves the vertices to `first` on, without doubles where `join` is set, and returns how many are left. map[v] is
   where vertex v of the submesh went, counted from `first`. Where all normals were made, `map` comes as the owner. */
uint32_t import_join_vertices(import_model *model, const import_submesh *submesh, uint32_t first, bool join,
                              uint32_t *table, uint32_t *map, size_t mask);

/* ---- import_mesh.c: submeshes, and faces, three vertices of the whole model each -------------- */

/* Adds a submesh of a reader that lists them itself, with its counts and its material set. */
sk_status import_add_submesh(import_job *job, sk_array *submeshes, import_submesh *submesh);

/* Room for so many faces at the end; NULL where there is no memory, which job->error says. */
uint32_t *import_face_room(import_job *job, sk_array *faces, size_t count);
/* Writes a face of vertices of the submesh, unless one does not exist; returns where the next face goes. */
uint32_t *import_put_face(uint32_t *out, const import_submesh *submesh, uint32_t a, uint32_t b, uint32_t c);

#endif
