/* import_fbx_mesh.h: the geometry of an FBX file: polygons as triangles, and the attributes of their corners.

   A geometry has control points, and polygons whose corners refer to them. Attributes are layers, which have a value for
   each corner, control point or polygon, or one for all. Every corner becomes a vertex; equal ones are joined later. A
   geometry is cut into parts by material; each node that has the geometry gets a submesh of each part. */
#ifndef IMPORT_FBX_MESH_H
#define IMPORT_FBX_MESH_H

#include "import_fbx.h"

typedef enum fbx_mapping { FBX_BY_CORNER, FBX_BY_POINT, FBX_BY_POLYGON, FBX_ALL_SAME } fbx_mapping;

typedef struct fbx_attribute { /* a layer of a geometry */
  fbx_numbers values;          /* `width` numbers each */
  sk_array index;              /* int64_t: which value; empty: the values are in order */
  uint32_t width;
  fbx_mapping mapping;
} fbx_attribute;

typedef struct fbx_polygon {
  uint32_t first, count; /* corners */
} fbx_polygon;

typedef struct fbx_part { /* the triangles of one material */
  uint32_t material;      /* number in the list of materials of the node */
  sk_array corners;       /* uint32_t: of each vertex its corner in the geometry */
  sk_array triangles;     /* uint32_t: three vertices of the part each */
} fbx_part;

struct fbx_mesh {
  uint32_t object;        /* the geometry */
  fbx_numbers points;     /* three numbers each */
  sk_array corners;       /* uint32_t: the control point of each corner */
  sk_array polygon_of;    /* uint32_t: of each corner its polygon */
  sk_array polygons;      /* fbx_polygon */
  fbx_attribute normals, uvs, colors, tangents, binormals, materials;
  sk_array parts;         /* fbx_part */
  sk_array bones;         /* fbx_bone: import_fbx_skin.c */
  uint32_t *starts;       /* of each control point its first influence; NULL: the mesh has no skin */
  import_influence *influences; /* the slot is the number of the bone */
  sk_array targets;       /* fbx_shape: import_fbx_shape.c */
};

/* What a submesh of the import was made of. */
typedef struct fbx_source {
  fbx_mesh *mesh;
  const fbx_part *part;
  int32_t node;
} fbx_source;

size_t fbx_point_count(const fbx_mesh *mesh);
/* The control point of a vertex of a part. */
uint32_t fbx_point_of(const fbx_mesh *mesh, const fbx_part *part, uint32_t vertex);

void fbx_free_meshes(import_fbx *fbx);
/* The mesh of a geometry, or NULL. */
fbx_mesh *fbx_mesh_of(const import_fbx *fbx, uint32_t geometry);

/* ---- for the reader ---- */
sk_status fbx_list_submeshes(import_job *job, sk_array *submeshes);
bool fbx_name_submesh(import_job *job, import_submesh *submesh);
sk_status fbx_copy_faces(import_job *job, import_submesh *submesh, sk_array *faces);
bool fbx_has(const import_submesh *submesh, import_attribute attribute);
sk_status fbx_read_attribute(import_job *job, const import_submesh *submesh, import_attribute attribute, float *out);

/* ---- import_fbx_skin.c ---- */
typedef struct fbx_bone { /* a joint of a skin */
  int32_t node;           /* SK_NONE: the file does not have it */
  float offset[16];       /* inverse bind matrix */
} fbx_bone;

sk_status fbx_read_skin(import_job *job, fbx_mesh *mesh);
sk_status fbx_skin(import_skinning *skinning);

/* ---- import_fbx_material.c ---- */
sk_status fbx_list_materials(import_job *job);
size_t fbx_material_count(const import_job *job);
sk_status fbx_read_material(import_job *job, size_t index, sk_material *material);
/* Whether the texture of that property is the one of the base color. */
bool fbx_is_base_color(const fbx_link *link);
/* Lists the materials of a node: int64_t, their numbers in the model. */
sk_status fbx_materials_of(import_job *job, const fbx_node *node, sk_array *numbers);

#endif
