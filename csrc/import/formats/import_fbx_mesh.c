/* import_fbx_mesh.c: see import_fbx_mesh.h. */
#include "import_fbx_mesh.h"

#include <math.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_limit.h"
#include "../import_mesh.h"
#include "../import_polygon.h"
#include "import_fbx_shape.h"

size_t fbx_point_count(const fbx_mesh *mesh) { return mesh->points.count / 3; }

uint32_t fbx_point_of(const fbx_mesh *mesh, const fbx_part *part, uint32_t vertex) {
  return ((const uint32_t *)mesh->corners.data)[((const uint32_t *)part->corners.data)[vertex]];
}

/* ---- polygons --------------------------------------------------------------------------------- */

/* The last corner of a polygon is written as -1 - its control point. */
static sk_status read_polygons(import_job *job, fbx_mesh *mesh, const sk_array *indices) {
  const fbx_object *object = fbx_object_at(&job->fbx->scene.document, mesh->object);
  const int64_t *index = indices->data;
  size_t points = fbx_point_count(mesh), i, first = 0, lost = 0;
  uint32_t *corners = sk_array_room(&mesh->corners, indices->count);
  uint32_t *owners = sk_array_room(&mesh->polygon_of, indices->count);
  if (!corners || !owners) return import_no_memory(job, indices->count * sizeof *corners);
  for (i = 0; i < indices->count; i++) {
    int64_t point = index[i] < 0 ? -1 - index[i] : index[i];
    corners[i] = (uint64_t)point < points ? (uint32_t)point : UINT32_MAX;
    owners[i] = (uint32_t)mesh->polygons.count;
    if (index[i] >= 0) continue;
    {
      fbx_polygon *polygon = sk_array_extend(&mesh->polygons, 1);
      if (!polygon) return import_no_memory(job, sizeof *polygon);
      *polygon = (fbx_polygon){(uint32_t)first, (uint32_t)(i + 1 - first)};
      first = i + 1;
    }
  }
  for (i = 0; i < mesh->corners.count; i++) { /* a corner without a point takes its whole polygon with it */
    uint32_t *corner = (uint32_t *)mesh->corners.data + i;
    uint32_t owner = ((const uint32_t *)mesh->polygon_of.data)[i];
    fbx_polygon *polygon;
    if (*corner != UINT32_MAX) continue;
    *corner = 0;
    polygon = owner < mesh->polygons.count ? (fbx_polygon *)mesh->polygons.data + owner : NULL;
    if (!polygon || !polygon->count) continue;
    polygon->count = 0;
    lost++;
  }
  if (lost) import_note_add(job, NOTE_faces_dropped, lost, "geometry '%.*s'", fbx_short_length(object), object->name);
  return SK_OK;
}

/* ---- attributes ------------------------------------------------------------------------------------ */

static fbx_mapping mapping_of(const fbx_value *value) {
  if (fbx_text_is(value, "ByVertice") || fbx_text_is(value, "ByVertex") || fbx_text_is(value, "ByControlPoint"))
    return FBX_BY_POINT;
  if (fbx_text_is(value, "ByPolygon")) return FBX_BY_POLYGON;
  if (fbx_text_is(value, "AllSame")) return FBX_ALL_SAME;
  return FBX_BY_CORNER;
}

/* Reads the first layer of a name: its values, and how they belong to corners. */
static sk_status read_attribute(import_job *job, const fbx_mesh *mesh, const char *layer, const char *values,
                                const char *index, uint32_t width, fbx_attribute *out) {
  const fbx_document *d = &job->fbx->scene.document;
  const fbx_object *object = fbx_object_at(d, mesh->object);
  fbx_record list, record;
  fbx_value value;
  bool indexed = false;
  size_t at;
  sk_status status = SK_OK;
  *out = (fbx_attribute){.width = width, .index = SK_ARRAY(int64_t)};
  if (!fbx_find(&d->file, object->inside, object->inside_end, layer, &list)) return SK_OK;
  for (at = list.inside; !status && fbx_read_record(&d->file, at, list.inside_end, &record); at = record.end) {
    if (fbx_is_named(&record, "MappingInformationType") && fbx_read_values(&d->file, &record, &value, 1))
      out->mapping = mapping_of(&value);
    else if (fbx_is_named(&record, "ReferenceInformationType") && fbx_read_values(&d->file, &record, &value, 1))
      indexed = fbx_text_is(&value, "IndexToDirect") || fbx_text_is(&value, "Index");
    else if (fbx_is_named(&record, values) && !out->values.values)
      status = fbx_read_numbers(job, &d->file, &record, &out->values);
    else if (fbx_is_named(&record, index) && !out->index.data)
      status = fbx_read_wholes(job, &d->file, &record, &out->index);
  }
  if (!indexed) sk_array_free(&out->index);
  return status;
}

static void free_attribute(fbx_attribute *attribute) {
  fbx_free_numbers(&attribute->values);
  sk_array_free(&attribute->index);
}

/* The value of a corner, or NULL if the file does not have it. */
static const double *attribute_at(const fbx_mesh *mesh, const fbx_attribute *attribute, uint32_t corner) {
  uint64_t number = corner;
  if (attribute->mapping == FBX_BY_POINT) number = ((const uint32_t *)mesh->corners.data)[corner];
  if (attribute->mapping == FBX_BY_POLYGON) number = ((const uint32_t *)mesh->polygon_of.data)[corner];
  if (attribute->mapping == FBX_ALL_SAME) number = 0;
  if (attribute->index.count) {
    int64_t direct = number < attribute->index.count ? ((const int64_t *)attribute->index.data)[number] : -1;
    if (direct < 0) return NULL;
    number = (uint64_t)direct;
  }
  return number < attribute->values.count / attribute->width ? attribute->values.values + number * attribute->width
                                                             : NULL;
}

/* ---- parts -------------------------------------------------------------------------------------------- */

/* `part_of` has, for each material that was met, the number of its part plus 1, or 0. */
static fbx_part *part_of_material(import_job *job, fbx_mesh *mesh, sk_array *part_of, uint32_t material) {
  size_t missing = material < part_of->count ? 0 : material + 1 - part_of->count;
  fbx_part *part = NULL;
  uint32_t *number;
  if (!missing || sk_array_extend(part_of, missing)) {
    number = (uint32_t *)part_of->data + material;
    if (*number) return (fbx_part *)mesh->parts.data + (*number - 1);
    part = sk_array_extend(&mesh->parts, 1);
    *number = (uint32_t)mesh->parts.count;
  }
  if (part) *part = (fbx_part){material, SK_ARRAY(uint32_t), SK_ARRAY(uint32_t)};
  else import_no_memory(job, sizeof *part);
  return part;
}

static uint32_t material_of_polygon(const fbx_mesh *mesh, const fbx_polygon *polygon) {
  const double *number = mesh->materials.values.count ? attribute_at(mesh, &mesh->materials, polygon->first) : NULL;
  return number && *number > 0.0 && *number < 65536.0 ? (uint32_t)*number : 0;
}

/* Vertices of the part are the corners of its polygons, in order. */
static sk_status add_polygon(import_job *job, fbx_mesh *mesh, sk_array *part_of, const fbx_polygon *polygon) {
  fbx_part *part = part_of_material(job, mesh, part_of, material_of_polygon(mesh, polygon));
  uint32_t first = part ? (uint32_t)part->corners.count : 0, i, *corners, *triangles;
  if (!part) return SK_ERROR_MEMORY;
  corners = sk_array_room(&part->corners, polygon->count);
  triangles = sk_array_room(&part->triangles, 3 * (size_t)(polygon->count - 2));
  if (!corners || !triangles) return import_no_memory(job, polygon->count);
  for (i = 0; i < polygon->count; i++) corners[i] = polygon->first + i;
  import_cut_polygon(&(import_polygon){mesh->points.values, mesh->corners.data, polygon->first, polygon->count},
                     triangles);
  for (i = 0; i < 3 * (polygon->count - 2); i++) triangles[i] = triangles[i] - polygon->first + first;
  return SK_OK;
}

static sk_status make_parts(import_job *job, fbx_mesh *mesh) {
  const fbx_polygon *polygons = mesh->polygons.data;
  const fbx_object *object = fbx_object_at(&job->fbx->scene.document, mesh->object);
  sk_array part_of = SK_ARRAY(uint32_t);
  size_t i, thin = 0;
  sk_status status = SK_OK;
  for (i = 0; i < mesh->polygons.count && !status; i++) {
    if (polygons[i].count >= 3) status = add_polygon(job, mesh, &part_of, &polygons[i]);
    else thin += polygons[i].count > 0;
  }
  sk_array_free(&part_of);
  if (thin)
    import_note_add(job, NOTE_points_lines_dropped, thin, "geometry '%.*s'", fbx_short_length(object), object->name);
  return status;
}

/* ---- reading -------------------------------------------------------------------------------------------- */

static sk_status read_mesh(import_job *job, fbx_mesh *mesh) {
  const fbx_document *d = &job->fbx->scene.document;
  const fbx_object *object = fbx_object_at(d, mesh->object);
  sk_array indices = SK_ARRAY(int64_t);
  fbx_record record;
  sk_status status = fbx_find_numbers(job, &d->file, object->inside, object->inside_end, "Vertices", &mesh->points);
  size_t i;
  for (i = 0; i < mesh->points.count; i++)
    if (import_is_bad((float)mesh->points.values[i])) {
      import_note_add(job, NOTE_numbers_repaired, 1, "a control point of geometry '%.*s'", fbx_short_length(object),
                      object->name);
      mesh->points.values[i] = 0.0;
    }
  if (!status && fbx_find(&d->file, object->inside, object->inside_end, "PolygonVertexIndex", &record))
    status = fbx_read_wholes(job, &d->file, &record, &indices);
  if (!status) status = read_polygons(job, mesh, &indices);
  sk_array_free(&indices);
  if (!status) status = read_attribute(job, mesh, "LayerElementNormal", "Normals", "NormalsIndex", 3, &mesh->normals);
  if (!status) status = read_attribute(job, mesh, "LayerElementUV", "UV", "UVIndex", 2, &mesh->uvs);
  if (!status) status = read_attribute(job, mesh, "LayerElementColor", "Colors", "ColorIndex", 4, &mesh->colors);
  if (!status)
    status = read_attribute(job, mesh, "LayerElementTangent", "Tangents", "TangentsIndex", 3, &mesh->tangents);
  if (!status)
    status = read_attribute(job, mesh, "LayerElementBinormal", "Binormals", "BinormalsIndex", 3, &mesh->binormals);
  if (!status) status = read_attribute(job, mesh, "LayerElementMaterial", "Materials", "", 1, &mesh->materials);
  sk_array_free(&mesh->materials.index); /* the numbers are the materials themselves, whatever the layer says */
  if (!status) status = make_parts(job, mesh);
  if (!status) status = fbx_read_skin(job, mesh);
  return status ? status : fbx_read_shapes_of(job, mesh);
}

static bool is_used(const fbx_document *d, uint32_t geometry) {
  size_t at = 0;
  return fbx_next_parent(d, geometry, FBX_MODEL, &at, NULL) != FBX_NONE;
}

/* Reads the geometries that nodes have, with their skins and shapes. */
static sk_status read_meshes(import_job *job) {
  import_fbx *fbx = job->fbx;
  const fbx_document *d = &fbx->scene.document;
  sk_status status = SK_OK;
  uint32_t i;
  fbx->meshes = SK_ARRAY(fbx_mesh);
  for (i = 0; i < d->objects.count && !status; i++) {
    fbx_mesh *mesh;
    if (fbx_object_at(d, i)->class != FBX_MESH || !is_used(d, i)) continue;
    mesh = sk_array_extend(&fbx->meshes, 1);
    if (!mesh) return import_no_memory(job, sizeof *mesh);
    *mesh = (fbx_mesh){.object = i,
                       .corners = SK_ARRAY(uint32_t),
                       .polygon_of = SK_ARRAY(uint32_t),
                       .polygons = SK_ARRAY(fbx_polygon),
                       .parts = SK_ARRAY(fbx_part),
                       .bones = SK_ARRAY(fbx_bone),
                       .targets = SK_ARRAY(fbx_shape)};
    status = read_mesh(job, mesh);
  }
  return status;
}

static void free_mesh(fbx_mesh *mesh) {
  size_t i;
  for (i = 0; i < mesh->parts.count; i++) {
    fbx_part *part = (fbx_part *)mesh->parts.data + i;
    sk_array_free(&part->corners);
    sk_array_free(&part->triangles);
  }
  fbx_free_shapes(mesh);
  fbx_free_numbers(&mesh->points);
  free_attribute(&mesh->normals);
  free_attribute(&mesh->uvs);
  free_attribute(&mesh->colors);
  free_attribute(&mesh->tangents);
  free_attribute(&mesh->binormals);
  free_attribute(&mesh->materials);
  sk_array_free(&mesh->corners);
  sk_array_free(&mesh->polygon_of);
  sk_array_free(&mesh->polygons);
  sk_array_free(&mesh->parts);
  sk_array_free(&mesh->bones);
  sk_free(mesh->starts);
  sk_free(mesh->influences);
}

void fbx_free_meshes(import_fbx *fbx) {
  size_t i;
  for (i = 0; i < fbx->meshes.count; i++) free_mesh((fbx_mesh *)fbx->meshes.data + i);
  sk_array_free(&fbx->meshes);
}

/* ---- submeshes --------------------------------------------------------------------------------------------- */

fbx_mesh *fbx_mesh_of(const import_fbx *fbx, uint32_t geometry) {
  fbx_mesh *meshes = fbx->meshes.data; /* by geometry */
  size_t low = 0, high = fbx->meshes.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (meshes[middle].object < geometry) low = middle + 1;
    else high = middle;
  }
  return low < fbx->meshes.count && meshes[low].object == geometry ? &meshes[low] : NULL;
}

static sk_status add_submeshes(import_job *job, sk_array *submeshes, int32_t number, fbx_mesh *mesh) {
  const fbx_node *node = fbx_node_at(&job->fbx->scene, (size_t)number);
  const fbx_part *parts = mesh->parts.data;
  sk_array materials = SK_ARRAY(int64_t);
  size_t i;
  sk_status status = fbx_materials_of(job, node, &materials);
  for (i = 0; i < mesh->parts.count && !status; i++) {
    import_submesh submesh = {
        .joint = node->joint,
        .source = {mesh, &parts[i], number},
        .rigid = !mesh->bones.count,
        .hidden = node->is_hidden,
        .vertex_count = (uint32_t)parts[i].corners.count,
        .faces_wanted = parts[i].triangles.count / 3,
        .material = parts[i].material < materials.count ? ((const int64_t *)materials.data)[parts[i].material] : -1};
    if (node->has_geometric) sk_affine_to_mat4(node->geometric, submesh.own_offset);
    submesh.has_own_offset = node->has_geometric;
    status = import_add_submesh(job, submeshes, &submesh);
  }
  sk_array_free(&materials);
  return status;
}

/* Counts the vertices of all submeshes against the limits of the request. */
static sk_status check_counts(import_job *job) {
  import_fbx *fbx = job->fbx;
  import_counts counts = {0};
  size_t i;
  for (i = 0; i < fbx->scene.nodes.count; i++) {
    size_t at = 0;
    uint32_t geometry, object = fbx_node_at(&fbx->scene, i)->object;
    while ((geometry = fbx_next_child(&fbx->scene.document, object, FBX_MESH, &at, NULL)) != FBX_NONE) {
      const fbx_mesh *mesh = fbx_mesh_of(fbx, geometry);
      uint64_t corners = mesh ? mesh->corners.count : 0;
      counts.vertices = import_sum(counts.vertices, corners);
      counts.rows = import_sum(counts.rows, import_product(corners, 3 + (mesh ? mesh->targets.count : 0)));
    }
  }
  return import_check_counts(job, &counts);
}

/* In the order of the joints. */
sk_status fbx_list_submeshes(import_job *job, sk_array *submeshes) {
  import_fbx *fbx = job->fbx;
  const fbx_joint *joints = fbx->joints.data;
  size_t j;
  sk_status status = read_meshes(job);
  if (!status) status = check_counts(job);
  for (j = 0; j < fbx->joints.count && !status; j++) {
    size_t at = 0;
    uint32_t geometry;
    if (joints[j].node < 0 || joints[j].kind == FBX_JOINT_UNSCALED) continue;
    while (!status &&
           (geometry = fbx_next_child(&fbx->scene.document, fbx_node_at(&fbx->scene, (size_t)joints[j].node)->object,
                                      FBX_MESH, &at, NULL)) != FBX_NONE) {
      fbx_mesh *mesh = fbx_mesh_of(fbx, geometry);
      if (mesh) status = add_submeshes(job, submeshes, joints[j].node, mesh);
    }
  }
  return status;
}

/* The geometry's name, or that of the node. */
bool fbx_name_submesh(import_job *job, import_submesh *submesh) {
  const fbx_document *d = &job->fbx->scene.document;
  const fbx_object *object = fbx_object_at(d, submesh->source.mesh->object);
  if (!object->name_length)
    object = fbx_object_at(d, fbx_node_at(&job->fbx->scene, (size_t)submesh->source.node)->object);
  return sk_text_append(&job->model.text, object->name, object->name_length, &submesh->name);
}

sk_status fbx_copy_faces(import_job *job, import_submesh *submesh, sk_array *faces) {
  const uint32_t *triangles = submesh->source.part->triangles.data;
  size_t count = submesh->faces_wanted, i;
  uint32_t *out = import_face_room(job, faces, count);
  if (!out) return SK_ERROR_MEMORY;
  for (i = 0; i < count; i++)
    out = import_put_face(out, submesh, triangles[3 * i], triangles[3 * i + 1], triangles[3 * i + 2]);
  return SK_OK;
}

bool fbx_has(const import_submesh *submesh, import_attribute attribute) {
  const fbx_mesh *mesh = submesh->source.mesh;
  switch (attribute) {
  case IMPORT_NORMALS: return mesh->normals.values.count > 0;
  case IMPORT_UVS: return mesh->uvs.values.count > 0;
  case IMPORT_COLORS: return mesh->colors.values.count > 0;
  case IMPORT_TANGENTS: return mesh->tangents.values.count > 0 && mesh->normals.values.count > 0;
  default: return true;
  }
}

/* A rigid mesh has its geometric transform in its vertices. A skin has it in the inverse bind matrices. */
static bool is_transformed(const import_submesh *submesh) { return submesh->rigid && submesh->has_own_offset; }

static void read_positions(const import_submesh *submesh, float *out) {
  const fbx_mesh *mesh = submesh->source.mesh;
  const float *m = submesh->own_offset;
  bool transformed = is_transformed(submesh);
  uint32_t v;
  int i;
  for (v = 0; v < submesh->vertex_count; v++, out += 3) {
    const double *p = mesh->points.values + 3 * (size_t)fbx_point_of(mesh, submesh->source.part, v);
    for (i = 0; i < 3; i++)
      out[i] = transformed ? (float)(m[4 * i] * p[0] + m[4 * i + 1] * p[1] + m[4 * i + 2] * p[2] + m[4 * i + 3])
                           : (float)p[i];
  }
}

/* Directions: normals by the inverse transpose of the geometric transform, tangents by the transform itself. */
static void read_directions(const import_submesh *submesh, const fbx_attribute *attribute, bool normals,
                            uint32_t stride, float *out) {
  const fbx_mesh *mesh = submesh->source.mesh;
  const uint32_t *corners = submesh->source.part->corners.data;
  sk_rows rows = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
  uint32_t v;
  int i;
  if (is_transformed(submesh)) memcpy(rows, submesh->own_offset, sizeof rows);
  for (v = 0; v < submesh->vertex_count; v++, out += stride) {
    const double *from = attribute_at(mesh, attribute, corners[v]);
    float n[3] = {0};
    for (i = 0; i < 3 && from; i++) n[i] = (float)from[i];
    if (!is_transformed(submesh)) memcpy(out, n, sizeof n);
    else if (normals) sk_rows_apply_normal(rows, n, out);
    else
      for (i = 0; i < 3; i++) out[i] = rows[i][0] * n[0] + rows[i][1] * n[1] + rows[i][2] * n[2];
  }
}

/* The fourth number of a tangent says on which side the binormal is. */
static void read_tangents(const import_submesh *submesh, float *out) {
  const fbx_mesh *mesh = submesh->source.mesh;
  const uint32_t *corners = submesh->source.part->corners.data;
  uint32_t v;
  read_directions(submesh, &mesh->tangents, false, 4, out);
  for (v = 0; v < submesh->vertex_count; v++, out += 4) {
    const double *n = attribute_at(mesh, &mesh->normals, corners[v]),
                 *t = attribute_at(mesh, &mesh->tangents, corners[v]);
    const double *b = mesh->binormals.values.count ? attribute_at(mesh, &mesh->binormals, corners[v]) : NULL;
    double side = 1.0;
    if (n && t && b)
      side =
          (n[1] * t[2] - n[2] * t[1]) * b[0] + (n[2] * t[0] - n[0] * t[2]) * b[1] + (n[0] * t[1] - n[1] * t[0]) * b[2];
    out[3] = side < 0.0 ? -1.0f : 1.0f;
  }
}

/* Texture coordinates of FBX go up from the bottom of the image, those of skinpy down from its top. */
static void read_plain(const import_submesh *submesh, const fbx_attribute *attribute, bool flip, float missing,
                       float *out) {
  const uint32_t *corners = submesh->source.part->corners.data;
  uint32_t v, k;
  for (v = 0; v < submesh->vertex_count; v++, out += attribute->width) {
    const double *from = attribute_at(submesh->source.mesh, attribute, corners[v]);
    for (k = 0; k < attribute->width; k++) out[k] = from ? (float)from[k] : missing;
    if (flip && from) out[1] = 1.0f - out[1];
  }
}

sk_status fbx_read_attribute(import_job *job, const import_submesh *submesh, import_attribute attribute, float *out) {
  const fbx_mesh *mesh = submesh->source.mesh;
  (void)job;
  switch (attribute) {
  case IMPORT_POSITIONS: read_positions(submesh, out); break;
  case IMPORT_NORMALS: read_directions(submesh, &mesh->normals, true, 3, out); break;
  case IMPORT_UVS: read_plain(submesh, &mesh->uvs, true, 0.0f, out); break;
  case IMPORT_COLORS: read_plain(submesh, &mesh->colors, false, 1.0f, out); break;
  case IMPORT_TANGENTS: read_tangents(submesh, out); break;
  }
  return SK_OK;
}
