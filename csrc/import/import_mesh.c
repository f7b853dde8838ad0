/* import_mesh.c: every (node, mesh) of the scene as a range of one vertex and one index buffer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "import_internal.h"

#define NORMAL_TOLERANCE 1e-3 /* a length closer to 1 stays as it is */

/* ---- which parts there are ------------------------------------------------------- */

static unsigned count_triangles(const struct aiMesh *mesh) {
  unsigned f, count = 0;
  for (f = 0; f < mesh->mNumFaces; f++) count += mesh->mFaces[f].mNumIndices == 3;
  return count;
}

/* MD5 without a mesh: Assimp shows the skeleton itself. (For BVH and COLLADA it is told not to.) */
static bool stands_for_skeleton(const import_job *job, const struct aiMesh *mesh) {
  struct aiString name = {0, ""};
  const struct aiScene *scene = job->scene;
  if (!(scene->mFlags & AI_SCENE_FLAGS_INCOMPLETE) || scene->mNumMeshes != 1) return false;
  if (mesh->mMaterialIndex >= scene->mNumMaterials) return false;
  import_assimp()->aiGetMaterialString(scene->mMaterials[mesh->mMaterialIndex], AI_MATKEY_NAME, &name);
  return !strcmp(name.data, "SkeletonMaterial");
}

/* The mesh's name; glTF's has the number of the primitive behind it where there are several. */
static sk_status name_part(import_job *job, const struct aiMesh *mesh, import_part *part) {
  sk_array *pool = &job->model.text;
  size_t length = mesh->mName.length < AI_MAXLEN ? mesh->mName.length : AI_MAXLEN - 1, more = 0;
  char words[48] = "";
  const gltf_primitive *p = part->primitive;
  const json *j = job->gltf ? &job->gltf->json : NULL;
  int32_t token = p ? gltf_item(job->gltf, GLTF_MESHES, p->mesh) : -1;
  char *place;
  bool good = p ? json_text(j, json_member(j, token, "name"), pool, &part->name)
                : sk_text_append(pool, mesh->mName.data, length, &part->name);
  if (p && !part->name.length) more = (size_t)snprintf(words, sizeof words, "meshes[%d]", p->mesh);
  if (p && json_length(j, json_member(j, token, "primitives")) > 1)
    more += (size_t)snprintf(words + more, sizeof words - more, "-%d", p->number);
  place = good ? sk_array_extend(pool, more) : NULL;
  if (!place) return import_no_memory(job, length);
  if (pool->count > IMPORT_MAX_TEXT)
    return sk_fail(job->error, SK_ERROR_IMPORT, "the names of its meshes take more than 256 MiB, each as often as used");
  memcpy(place, words, more);
  if (!part->name.length) part->name.offset = (uint32_t)(pool->count - more);
  part->name.length += (uint32_t)more;
  snprintf(part->title, sizeof part->title, "%.*s", (int)(part->name.length < 80 ? part->name.length : 80),
           (const char *)pool->data + part->name.offset);
  return SK_OK;
}

/* How many faces the part has, of which some may use vertices that are not there. */
static sk_status count_faces(import_job *job, import_part *part) {
  const gltf_primitive *p = part->primitive;
  size_t corners = part->vertex_count;
  gltf_accessor a;
  if (!p) {
    part->faces_wanted = count_triangles(part->mesh);
    return SK_OK;
  }
  if (p->indices >= 0) {
    sk_status status = gltf_accessor_open(job, p->indices, &a);
    if (status) return status;
    corners = a.count;
  }
  part->faces_wanted = p->mode == GLTF_TRIANGLES ? corners / 3 : corners < 3 ? 0 : corners - 2;
  return SK_OK;
}

/* Whose weights the part has. */
static void find_weights(const import_job *job, unsigned index, import_part *part) {
  bool skinned;
  part->corners = import_weights_of(job, index, part->mesh->mNumVertices, &skinned);
  part->rigid = part->corners ? !skinned : !part->mesh->mNumBones;
}

/* Adds one instance, or says why not. */
static sk_status add_part(import_job *job, sk_array *parts, int32_t joint, unsigned index) {
  const struct aiMesh *mesh = job->scene->mMeshes[index];
  import_part part = {.joint = joint, .mesh = mesh}, *place;
  unsigned triangles = count_triangles(mesh);
  sk_status status;
  if (stands_for_skeleton(job, mesh)) {
    import_note_add(job, NOTE_skeleton_mesh_dropped, 1, "'%.100s'", mesh->mName.data);
    return SK_OK;
  }
  if (job->gltf) {
    part.primitive = gltf_primitive_of(job, &mesh->mName);
    if (!part.primitive)
      return sk_fail(job->error, SK_ERROR_IMPORT, "Assimp delivered a mesh that the file does not have");
  } else if (triangles < mesh->mNumFaces) {
    import_note_add(job, NOTE_points_lines_dropped, mesh->mNumFaces - triangles, "mesh '%.100s'",
                    mesh->mName.data);
  }
  if (!mesh->mVertices || !mesh->mNumVertices || (!job->gltf && !triangles)) {
    if (!mesh->mNumFaces) import_note_add(job, NOTE_meshes_dropped, 1, "mesh '%.100s'", mesh->mName.data);
    return SK_OK;
  }
  find_weights(job, index, &part);
  part.first_vertex = job->model.vertex_count;
  part.vertex_count = part.primitive ? part.primitive->vertices : mesh->mNumVertices;
  if (part.vertex_count > UINT32_MAX - part.first_vertex)
    return sk_fail(job->error, SK_ERROR_IMPORT, "it has more than 2^32 vertices");
  status = count_faces(job, &part);
  if (!status) status = name_part(job, mesh, &part);
  if (status) return status;
  job->model.vertex_count += part.vertex_count;
  place = sk_array_extend(parts, 1);
  if (!place) return import_no_memory(job, sizeof *place);
  *place = part;
  return SK_OK;
}

static sk_status find_parts(import_job *job, sk_array *parts) {
  const struct aiNode *const *nodes = job->model.nodes.data;
  size_t j;
  unsigned i;
  sk_status status = SK_OK;
  for (j = 0; j < job->model.nodes.count && !status; j++)
    for (i = 0; nodes[j] && i < nodes[j]->mNumMeshes && !status; i++) {
      unsigned index = nodes[j]->mMeshes[i];
      if (index < job->scene->mNumMeshes && job->scene->mMeshes[index])
        status = add_part(job, parts, (int32_t)j, index);
    }
  return status;
}

/* ---- vertices ---------------------------------------------------------------------- */

static bool part_has(const import_part *part, int what) {
  const struct aiMesh *mesh = part->mesh;
  const gltf_primitive *p = part->primitive;
  switch (what) {
    case 'u': return p ? p->uvs >= 0 : mesh->mTextureCoords[0] != NULL;
    case 'c': return p ? p->colors >= 0 : mesh->mColors[0] != NULL;
    case 'n': return p ? p->normals >= 0 : mesh->mNormals != NULL;
    default: return p ? p->tangents >= 0 && p->normals >= 0 : mesh->mTangents && mesh->mBitangents && mesh->mNormals;
  }
}

static bool some_part_has(const sk_array *parts, int what) {
  const import_part *part = parts->data;
  size_t i;
  for (i = 0; i < parts->count; i++)
    if (part_has(&part[i], what)) return true;
  return false;
}

void import_mesh_parts(const import_model *m, sk_block_part parts[IMPORT_MESH_PARTS]) {
  const void *data[IMPORT_MESH_PARTS] = {m->positions, m->normals,      m->uvs,     m->colors,
                                         m->tangents,  m->vertex_slots, m->weights, m->faces};
  static const sk_section_kind kinds[IMPORT_MESH_PARTS] = {
      SK_SECTION_POSITIONS, SK_SECTION_NORMALS,      SK_SECTION_UVS,            SK_SECTION_COLORS,
      SK_SECTION_TANGENTS,  SK_SECTION_VERTEX_SLOTS, SK_SECTION_VERTEX_WEIGHTS, SK_SECTION_FACES};
  int i;
  for (i = 0; i < IMPORT_MESH_PARTS; i++)
    parts[i] = (sk_block_part){kinds[i], sk_section_stride(kinds[i], m->info.influences),
                               !data[i] ? 0 : kinds[i] == SK_SECTION_FACES ? m->face_count : m->vertex_count, data[i]};
}

/* One more than there can be: who reads a list of indices may have up to two too many. */
static uint64_t face_rows(const sk_array *parts) {
  const import_part *part = parts->data;
  uint64_t rows = 1;
  size_t i;
  for (i = 0; i < parts->count; i++) rows += part[i].faces_wanted;
  return rows;
}

static bool wants_join(const import_job *job) {
  int32_t wish = job->request->join_vertices;
  return wish == SK_NONE ? !job->gltf : wish != 0;
}

#define SLOTS 5 /* their places in what import_mesh_parts gives */
#define WEIGHTS 6
#define INFLUENCES (1u << SLOTS | 1u << WEIGHTS)

/* Memory for some of the streams, one bit each, of so many rows. */
static sk_status make_rows(import_job *job, const uint64_t rows[IMPORT_MESH_PARTS], unsigned some,
                           void *made[IMPORT_MESH_PARTS]) {
  sk_block_part room[IMPORT_MESH_PARTS];
  size_t lacking = 0;
  int i;
  import_mesh_parts(&job->model, room);
  for (i = 0; i < IMPORT_MESH_PARTS; i++) {
    size_t bytes = (size_t)rows[i] * room[i].stride;
    made[i] = NULL;
    if (!rows[i] || !(some >> i & 1)) continue;
    made[i] = sk_alloc(bytes);
    if (!made[i]) lacking = bytes;
  }
  return lacking ? import_no_memory(job, lacking) : SK_OK;
}

/* Whether influences are made last, for the vertices that are left: within a rigid part they are all alike. */
static bool are_influences_last(const import_job *job, const sk_array *parts) {
  const import_part *part = parts->data;
  size_t i;
  for (i = 0; i < parts->count; i++)
    if (!part[i].rigid) return false;
  return wants_join(job);
}

/* For vertices and faces, as many as the scene has. */
static sk_status make_streams(import_job *job, const sk_array *parts) {
  import_model *m = &job->model;
  const uint64_t vertices = m->vertex_count;
  const uint64_t rows[IMPORT_MESH_PARTS] = {vertices, vertices, some_part_has(parts, 'u') ? vertices : 0,
                                            some_part_has(parts, 'c') ? vertices : 0,
                                            some_part_has(parts, 't') ? vertices : 0, vertices, vertices,
                                            face_rows(parts)};
  void *made[IMPORT_MESH_PARTS];
  sk_status status = make_rows(job, rows, are_influences_last(job, parts) ? ~INFLUENCES : ~0u, made);
  m->positions = made[0], m->normals = made[1], m->uvs = made[2], m->colors = made[3];
  m->tangents = made[4], m->vertex_slots = made[SLOTS], m->weights = made[WEIGHTS], m->faces = made[7];
  return status;
}

/* Where they are made last: for the vertices that are left. */
static sk_status make_influences(import_job *job, const sk_array *parts) {
  import_model *m = &job->model;
  const import_part *part = parts->data;
  sk_block_part room[IMPORT_MESH_PARTS];
  uint64_t rows[IMPORT_MESH_PARTS];
  void *made[IMPORT_MESH_PARTS];
  sk_status status;
  size_t i;
  import_mesh_parts(m, room);
  for (i = 0; i < IMPORT_MESH_PARTS; i++) rows[i] = INFLUENCES >> i & 1 ? m->vertex_count : room[i].count;
  status = make_rows(job, rows, INFLUENCES, made);
  m->vertex_slots = made[SLOTS], m->weights = made[WEIGHTS];
  for (i = 0; i < parts->count && !status; i++) status = import_skin_part(job, &part[i]);
  return status;
}

/* The rows of a part in a stream whose rows have `stride` bytes. */
static void *rows_of(const import_part *part, void *stream, size_t stride) {
  return (char *)stream + stride * part->first_vertex;
}

/* Numbers of the shapes that vertices take, where a part has targets. */
static sk_status make_shapes(import_job *job, const sk_array *parts) {
  import_model *m = &job->model;
  const import_part *part = parts->data;
  size_t i;
  for (i = 0; i < parts->count && !m->shapes; i++) {
    if (!import_target_count(job, &part[i])) continue;
    m->shapes = sk_alloc_zero((size_t)m->vertex_count * sizeof *m->shapes);
    if (!m->shapes) return import_no_memory(job, (size_t)m->vertex_count * sizeof *m->shapes);
  }
  return SK_OK;
}

/* Replaces what is not finite, and -0 by 0, so that equal numbers have equal bits. */
static void repair_floats(import_job *job, const import_part *part, float *values, size_t count,
                          const char *what) {
  size_t i, bad = 0;
  for (i = 0; i < count; i++) {
    values[i] += 0.0f;
    bad += import_is_bad(values[i]);
  }
  if (!bad) return;
  for (i = 0; i < count; i++)
    if (import_is_bad(values[i])) values[i] = 0.0f;
  import_note_add(job, NOTE_numbers_repaired, bad, "%s of mesh '%.80s'", what, part->title);
}

/* Whole accessor as floats straight into a stream of the same width. */
static sk_status read_stream(import_job *job, int32_t index, uint32_t width, size_t count, float *out) {
  gltf_accessor a;
  sk_status status = gltf_accessor_open(job, index, &a);
  float *wide;
  size_t i;
  if (status) return status;
  if (a.width == width) return gltf_accessor_floats(job, index, &a, out);
  wide = sk_alloc(count * a.width * sizeof *wide); /* RGB for RGBA: alpha 1 */
  if (!wide) return import_no_memory(job, count * a.width * sizeof *wide);
  status = gltf_accessor_floats(job, index, &a, wide);
  for (i = 0; i < count; i++) {
    memcpy(out + i * width, wide + i * a.width, a.width * sizeof *wide);
    out[i * width + width - 1] = 1.0f;
  }
  sk_free(wide);
  return status;
}

/* skinpy's texture coordinates start at the top left of the image, as glTF's do; Assimp's at the
   bottom left. */
static sk_status copy_uvs(import_job *job, const import_part *part, float *out) {
  const struct aiVector3D *uv = part->mesh->mTextureCoords[0];
  size_t i;
  if (part->primitive && part->primitive->uvs >= 0)
    return read_stream(job, part->primitive->uvs, 2, part->vertex_count, out);
  for (i = 0; i < part->vertex_count; i++) {
    out[2 * i] = uv && !part->primitive ? uv[i].x : 0.0f;
    out[2 * i + 1] = uv && !part->primitive ? 1.0f - uv[i].y : 0.0f;
  }
  return SK_OK;
}

static sk_status copy_colors(import_job *job, const import_part *part, float *out) {
  const struct aiColor4D *color = part->mesh->mColors[0];
  size_t i;
  if (part->primitive && part->primitive->colors >= 0)
    return read_stream(job, part->primitive->colors, 4, part->vertex_count, out);
  for (i = 0; i < 4 * (size_t)part->vertex_count; i++) out[i] = 1.0f;
  if (color && !part->primitive) memcpy(out, color, part->vertex_count * sizeof *color);
  return SK_OK;
}

/* w says on which side the third axis lies: bitangent = w * cross(normal, tangent). */
static void copy_assimp_tangents(const struct aiMesh *mesh, size_t count, float *out) {
  size_t i;
  for (i = 0; i < count; i++, out += 4) {
    vec3 normal, bitangent, cross;
    memcpy(out, &mesh->mTangents[i], 3 * sizeof *out);
    memcpy(normal, &mesh->mNormals[i], sizeof normal);
    memcpy(bitangent, &mesh->mBitangents[i], sizeof bitangent);
    glm_vec3_cross(normal, out, cross);
    out[3] = glm_vec3_dot(cross, bitangent);
  }
}

static sk_status copy_tangents(import_job *job, const import_part *part, float *out) {
  size_t count = part->vertex_count, i;
  sk_status status = SK_OK;
  if (!part_has(part, 't')) memset(out, 0, 4 * count * sizeof *out);
  else if (part->primitive) status = read_stream(job, part->primitive->tangents, 4, count, out);
  else copy_assimp_tangents(part->mesh, count, out);
  for (i = 0; i < count && !status; i++) out[4 * i + 3] = out[4 * i + 3] < 0.0f ? -1.0f : 1.0f;
  return status;
}

static sk_status copy_positions(import_job *job, const import_part *part, float *out) {
  if (part->primitive) return read_stream(job, part->primitive->positions, 3, part->vertex_count, out);
  memcpy(out, part->mesh->mVertices, 3 * (size_t)part->vertex_count * sizeof *out);
  return SK_OK;
}

/* Makes them of length 1; what is no direction becomes 0 and is counted: it gets a smooth one later. */
static void normalize(import_job *job, import_part *part, float *normals) {
  uint32_t v, scaled = 0;
  int i;
  part->bad_normals = 0;
  for (v = 0; v < part->vertex_count; v++, normals += 3) {
    double square = (double)normals[0] * normals[0] + (double)normals[1] * normals[1] +
                    (double)normals[2] * normals[2], length = 1.0;
    bool good = square > 1e-24 && square < 1e300; /* false for NaN too */
    if (good && fabs(square - 1.0) > 2.0 * NORMAL_TOLERANCE) length = sqrt(square);
    for (i = 0; i < 3; i++) normals[i] = good ? (float)(normals[i] / length) + 0.0f : 0.0f;
    part->bad_normals += !good;
    scaled += length != 1.0;
  }
  import_note_add(job, NOTE_normals_normalized, scaled, "mesh '%.100s'", part->title);
  if (part->bad_normals < part->vertex_count)
    import_note_add(job, NOTE_numbers_repaired, part->bad_normals, "normals of mesh '%.80s'", part->title);
}

static sk_status copy_normals(import_job *job, import_part *part, float *out) {
  sk_status status = SK_OK;
  part->bad_normals = part->vertex_count;
  if (!part_has(part, 'n')) return SK_OK;
  if (part->primitive) status = read_stream(job, part->primitive->normals, 3, part->vertex_count, out);
  else memcpy(out, part->mesh->mNormals, 3 * (size_t)part->vertex_count * sizeof *out);
  if (!status) normalize(job, part, out);
  return status;
}

/* Streams that not every part has are made where one does. */
static sk_status copy_vertices(import_job *job, import_part *part) {
  import_model *m = &job->model;
  size_t count = part->vertex_count;
  float *rows = rows_of(part, m->positions, 3 * sizeof *rows);
  sk_status status = copy_positions(job, part, rows);
  if (!status) repair_floats(job, part, rows, 3 * count, "positions");
  if (!status) status = copy_normals(job, part, rows_of(part, m->normals, 3 * sizeof *rows));
  if (m->uvs && !status) {
    rows = rows_of(part, m->uvs, 2 * sizeof *rows);
    status = copy_uvs(job, part, rows);
    repair_floats(job, part, rows, 2 * count, "texture coordinates");
  }
  if (m->colors && !status) {
    rows = rows_of(part, m->colors, 4 * sizeof *rows);
    status = copy_colors(job, part, rows);
    repair_floats(job, part, rows, 4 * count, "colors");
  }
  if (m->tangents && !status) {
    rows = rows_of(part, m->tangents, 4 * sizeof *rows);
    status = copy_tangents(job, part, rows);
    repair_floats(job, part, rows, 4 * count, "tangents");
  }
  return status;
}

/* ---- faces --------------------------------------------------------------------------- */

static uint32_t *face_room(import_job *job, sk_array *faces, size_t count) {
  uint32_t *place = sk_array_room(faces, count);
  if (!place || faces->count > UINT32_MAX) {
    sk_fail_memory(job->error, count * 12);
    return NULL;
  }
  return place;
}

static uint32_t *put_face(uint32_t *out, const import_part *part, uint32_t a, uint32_t b, uint32_t c) {
  if (a >= part->vertex_count || b >= part->vertex_count || c >= part->vertex_count) return out;
  out[0] = part->first_vertex + a;
  out[1] = part->first_vertex + b;
  out[2] = part->first_vertex + c;
  return out + 3;
}

/* Triangles, a strip (every second one is turned round) or a fan; `at` NULL: 0, 1, 2, ... The three of a triangle
   may be written over themselves or those before them. */
static uint32_t *put_gltf_faces(uint32_t *out, const import_part *part, const uint32_t *at, size_t faces) {
  size_t i;
  for (i = 0; i < faces; i++) {
    size_t k[3] = {i, i + 1, i + 2};
    if (part->primitive->mode == GLTF_TRIANGLES) k[0] = 3 * i, k[1] = 3 * i + 1, k[2] = 3 * i + 2;
    else if (part->primitive->mode == GLTF_FAN) k[0] = 0;
    else if (i % 2) k[0] = i + 1, k[1] = i;
    out = put_face(out, part, at ? at[k[0]] : (uint32_t)k[0], at ? at[k[1]] : (uint32_t)k[1],
                   at ? at[k[2]] : (uint32_t)k[2]);
  }
  return out;
}

/* The indices of a primitive, which are those of its faces where they are a list of triangles: then they are read to
   where the faces shall be, `place`. Otherwise they are the caller's to free. */
static sk_status read_indices(import_job *job, const gltf_primitive *p, const gltf_accessor *a, uint32_t *place,
                              uint32_t **indices) {
  *indices = p->mode == GLTF_TRIANGLES ? place : sk_alloc(a->count * sizeof **indices);
  return *indices ? gltf_accessor_integers(job, p->indices, a, *indices)
                  : import_no_memory(job, a->count * sizeof **indices);
}

static sk_status copy_gltf_faces(import_job *job, import_part *part, sk_array *faces) {
  const gltf_primitive *p = part->primitive;
  gltf_accessor a;
  uint32_t *indices = NULL, *out = face_room(job, faces, part->faces_wanted + 1);
  sk_status status = out ? SK_OK : SK_ERROR_MEMORY;
  if (!status && p->indices >= 0) status = gltf_accessor_open(job, p->indices, &a);
  if (!status && p->indices >= 0) status = read_indices(job, p, &a, out, &indices);
  if (!status) {
    faces->count -= part->faces_wanted + 1;
    faces->count += (size_t)(put_gltf_faces(out, part, indices, part->faces_wanted) - out) / 3;
  }
  if (indices != out) sk_free(indices);
  return status;
}

static sk_status copy_assimp_faces(import_job *job, import_part *part, sk_array *faces) {
  const struct aiMesh *mesh = part->mesh;
  uint32_t *out = face_room(job, faces, part->faces_wanted), *end = out;
  unsigned f;
  if (!out) return SK_ERROR_MEMORY;
  for (f = 0; f < mesh->mNumFaces; f++)
    if (mesh->mFaces[f].mNumIndices == 3)
      end = put_face(end, part, mesh->mFaces[f].mIndices[0], mesh->mFaces[f].mIndices[1],
                     mesh->mFaces[f].mIndices[2]);
  faces->count -= part->faces_wanted - (size_t)(end - out) / 3;
  return SK_OK;
}

static sk_status copy_faces(import_job *job, import_part *part, sk_array *faces) {
  sk_status status;
  part->first_face = (uint32_t)faces->count;
  status = part->primitive ? copy_gltf_faces(job, part, faces) : copy_assimp_faces(job, part, faces);
  if (status) return status;
  part->face_count = (uint32_t)faces->count - part->first_face;
  import_note_add(job, NOTE_faces_dropped, part->faces_wanted - part->face_count, "mesh '%.100s'", part->title);
  return SK_OK;
}

/* ---- one part after another ------------------------------------------------------------ */

/* Smooth normals for the vertices that have none of their own. */
static sk_status make_normals(import_job *job, const import_part *part, const uint32_t *faces,
                              uint32_t *table, uint32_t *owner, size_t mask) {
  size_t count = 3 * (size_t)part->vertex_count, i;
  float *normals = job->model.normals + 3 * (size_t)part->first_vertex, *own;
  if (part->bad_normals == part->vertex_count) {
    import_smooth_normals(&job->model, part, faces, table, owner, mask);
    import_note_add(job, NOTE_normals_generated, 1, "mesh '%.100s'", part->title);
    return SK_OK;
  }
  own = sk_alloc(count * sizeof *own);
  if (!own) return import_no_memory(job, count * sizeof *own);
  memcpy(own, normals, count * sizeof *own);
  import_smooth_normals(&job->model, part, faces, table, owner, mask);
  for (i = 0; i < count; i += 3)
    if (own[i] != 0.0f || own[i + 1] != 0.0f || own[i + 2] != 0.0f)
      memcpy(normals + i, own + i, 3 * sizeof *own);
  sk_free(own);
  return SK_OK;
}

/* Joins equal vertices and moves the part down to where the last one ended. */
static sk_status finish_vertices(import_job *job, import_part *part, sk_array *faces, uint32_t first,
                                 import_morphs *morphs) {
  import_model *m = &job->model;
  size_t size = 16, i;
  uint32_t joined = 0, *table, *map, *face = (uint32_t *)faces->data + 3 * (size_t)part->first_face;
  import_shapes shapes = {0, NULL, false};
  sk_status status = import_read_shapes(job, part, &shapes);
  bool join = wants_join(job), stays = !join && !part->bad_normals && !shapes.count && first == part->first_vertex;
  if (stays) return status; /* each vertex is where it belongs */
  while (size < 2 * (size_t)part->vertex_count) size *= 2;
  table = sk_alloc(size * sizeof *table);
  map = sk_alloc(((size_t)part->vertex_count + 1) * sizeof *map);
  if (!table || !map) {
    sk_free(table);
    sk_free(map);
    sk_free(shapes.moved);
    return import_no_memory(job, size * sizeof *table);
  }
  if (part->bad_normals && !status) status = make_normals(job, part, face, table, map, size - 1);
  if (shapes.count && !status) status = import_number_shapes(job, part, &shapes);
  if (!status) joined = import_join_part(m, part, first, join, table, map, size - 1);
  for (i = 0; i < 3 * (size_t)part->face_count && !status; i++) face[i] = first + map[face[i] - part->first_vertex];
  if (shapes.count && !status) status = import_keep_shapes(job, part, first, map, &shapes, morphs);
  part->first_vertex = first;
  part->vertex_count = joined;
  sk_free(shapes.moved);
  sk_free(table);
  sk_free(map);
  return status;
}

static sk_status add_submesh(import_job *job, const import_part *part) {
  sk_submesh *submesh = sk_array_extend(&job->model.submeshes, 1);
  if (!submesh) return import_no_memory(job, sizeof *submesh);
  *submesh = (sk_submesh){part->name, part->joint, SK_NONE, part->first_vertex, part->vertex_count,
                          part->first_face, part->face_count};
  submesh->material = import_material_of(job, part->primitive ? part->primitive->material
                                                              : (int64_t)part->mesh->mMaterialIndex);
  return SK_OK;
}

sk_status import_meshes(import_job *job) {
  import_model *m = &job->model;
  sk_array parts = SK_ARRAY(import_part), faces;
  import_morphs morphs = {SK_ARRAY(import_morph), SK_ARRAY(uint32_t), {NULL, 0, 0, 3 * sizeof(float)},
                          {NULL, 0, 0, 3 * sizeof(float)}, false};
  uint32_t joined = 0;
  size_t i;
  sk_status status;
  m->submeshes = SK_ARRAY(sk_submesh);
  import_look_between(job);
  status = find_parts(job, &parts);
  if (!status) status = make_streams(job, &parts);
  if (!status) status = make_shapes(job, &parts);
  faces = (sk_array){m->faces, 0, m->faces ? (size_t)face_rows(&parts) : 0, 3 * sizeof(uint32_t)};
  for (i = 0; i < parts.count && !status; i++) {
    import_part *part = (import_part *)parts.data + i;
    status = copy_vertices(job, part);
    if (!status && !part->rigid) status = import_skin_part(job, part);
    if (!status) status = copy_faces(job, part, &faces);
    if (!status) status = finish_vertices(job, part, &faces, joined, &morphs);
    if (!status && part->rigid && m->weights) status = import_skin_part(job, part); /* those that are left */
    joined += status ? 0 : part->vertex_count;
    if (!status) status = add_submesh(job, part);
  }
  m->vertex_count = joined;
  m->faces = faces.data;
  m->face_count = (uint32_t)faces.count;
  if (!status && !m->weights) status = make_influences(job, &parts);
  if (!status) status = import_targets(job, &morphs);
  sk_array_free(&morphs.list);
  sk_array_free(&morphs.vertices);
  sk_array_free(&morphs.positions);
  sk_array_free(&morphs.normals);
  sk_array_free(&parts);
  m->info.vertices = joined;
  m->info.faces = faces.count;
  return status;
}
