/* import_mesh.c: every (node, mesh) of the scene as a submesh: a range of one vertex and one index buffer. */
#include <stdio.h>
#include <string.h>

#include "import_library.h"
#include "import_reader.h"
#include "import_weights.h"

/* ---- which submeshes there are ------------------------------------------------------- */

static unsigned count_triangles(const struct aiMesh *mesh) {
  unsigned f, count = 0;
  for (f = 0; f < mesh->mNumFaces; f++) count += mesh->mFaces[f].mNumIndices == 3;
  return count;
}

/* Of a .md5anim without a mesh Assimp makes a mesh that shows the skeleton. (For BVH and COLLADA it is told not to.) */
static bool stands_for_skeleton(const import_job *job, const struct aiMesh *mesh) {
  struct aiString name = {0, ""};
  const struct aiScene *scene = job->scene;
  if (!(scene->mFlags & AI_SCENE_FLAGS_INCOMPLETE) || scene->mNumMeshes != 1) return false;
  if (mesh->mMaterialIndex >= scene->mNumMaterials) return false;
  import_assimp()->aiGetMaterialString(scene->mMaterials[mesh->mMaterialIndex], AI_MATKEY_NAME, &name);
  return !strcmp(name.data, "SkeletonMaterial");
}

static bool name_of_assimp(import_job *job, import_submesh *submesh) {
  const struct aiString *name = &submesh->mesh->mName;
  size_t length = name->length < AI_MAXLEN ? name->length : AI_MAXLEN - 1;
  return sk_text_append(&job->model.text, name->data, length, &submesh->name);
}

static sk_status name_submesh(import_job *job, import_submesh *submesh) {
  const import_reader *reader = job->format->reader;
  sk_array *pool = &job->model.text;
  if (!(reader ? reader->name_submesh(job, submesh) : name_of_assimp(job, submesh))) return import_no_memory(job, 1);
  if (pool->count > IMPORT_MAX_TEXT)
    return sk_fail(job->error, SK_ERROR_IMPORT, "the names of all submeshes together take more than 256 MiB");
  snprintf(submesh->title, sizeof submesh->title, "%.*s", IMPORT_SHORT(import_span_of(job, submesh->name)));
  return SK_OK;
}

/* Finds out whether the weights are the file's or Assimp's, and whether there are any. */
static void find_weights(const import_job *job, unsigned index, import_submesh *submesh) {
  bool skinned;
  submesh->corners = import_weights_of(job, index, submesh->mesh->mNumVertices, &skinned);
  submesh->rigid = submesh->corners ? !skinned : !submesh->mesh->mNumBones;
}

/* Whether there is nothing to show in Assimp's mesh, which the report says. */
static bool is_left_out(import_job *job, const struct aiMesh *mesh, unsigned triangles) {
  if (triangles < mesh->mNumFaces)
    import_note_add(job, NOTE_points_lines_dropped, mesh->mNumFaces - triangles, "mesh '%.100s'", mesh->mName.data);
  if (mesh->mVertices && mesh->mNumVertices && triangles) return false;
  if (!mesh->mNumFaces) import_note_add(job, NOTE_meshes_dropped, 1, "mesh '%.100s'", mesh->mName.data);
  return true;
}

/* Its vertices follow those of the last one. */
sk_status import_add_submesh(import_job *job, sk_array *submeshes, import_submesh *submesh) {
  import_submesh *added;
  sk_status status;
  submesh->first_vertex = job->model.vertex_count;
  if (submesh->vertex_count > UINT32_MAX - submesh->first_vertex)
    return sk_fail(job->error, SK_ERROR_IMPORT, "the model has more than 2^32 vertices");
  status = name_submesh(job, submesh);
  if (status) return status;
  job->model.vertex_count += submesh->vertex_count;
  added = sk_array_extend(submeshes, 1);
  if (!added) return import_no_memory(job, sizeof *added);
  *added = *submesh;
  return SK_OK;
}

/* Adds one (node, mesh) of Assimp's scene, or notes why it is left out. */
static sk_status add_instance(import_job *job, sk_array *submeshes, int32_t joint, unsigned index) {
  const struct aiMesh *mesh = job->scene->mMeshes[index];
  unsigned triangles = count_triangles(mesh);
  import_submesh submesh = {.joint = joint,
                            .mesh = mesh,
                            .vertex_count = mesh->mNumVertices,
                            .faces_wanted = triangles,
                            .material = mesh->mMaterialIndex};
  if (stands_for_skeleton(job, mesh)) {
    import_note_add(job, NOTE_skeleton_mesh_dropped, 1, "'%.100s'", mesh->mName.data);
    return SK_OK;
  }
  if (is_left_out(job, mesh, triangles)) return SK_OK;
  find_weights(job, index, &submesh);
  return import_add_submesh(job, submeshes, &submesh);
}

static sk_status find_submeshes(import_job *job, sk_array *submeshes) {
  const struct aiNode *const *nodes = job->model.nodes.data;
  const import_reader *reader = job->format->reader;
  size_t j;
  unsigned i;
  sk_status status = SK_OK;
  if (reader) return reader->list_submeshes(job, submeshes);
  for (j = 0; j < job->model.nodes.count && !status; j++)
    for (i = 0; i < nodes[j]->mNumMeshes && !status; i++) {
      unsigned index = nodes[j]->mMeshes[i];
      if (index < job->scene->mNumMeshes && job->scene->mMeshes[index])
        status = add_instance(job, submeshes, (int32_t)j, index);
    }
  return status;
}

/* ---- faces --------------------------------------------------------------------------- */

uint32_t *import_face_room(import_job *job, sk_array *faces, size_t count) {
  uint32_t *added = sk_array_room(faces, count);
  if (!added || faces->count > UINT32_MAX) {
    sk_fail_memory(job->error, count * 12);
    return NULL;
  }
  return added;
}

uint32_t *import_put_face(uint32_t *out, const import_submesh *submesh, uint32_t a, uint32_t b, uint32_t c) {
  if (a >= submesh->vertex_count || b >= submesh->vertex_count || c >= submesh->vertex_count) return out;
  out[0] = submesh->first_vertex + a;
  out[1] = submesh->first_vertex + b;
  out[2] = submesh->first_vertex + c;
  return out + 3;
}

static sk_status copy_assimp_faces(import_job *job, import_submesh *submesh, sk_array *faces) {
  const struct aiMesh *mesh = submesh->mesh;
  uint32_t *out = import_face_room(job, faces, submesh->faces_wanted), *end = out;
  unsigned f;
  if (!out) return SK_ERROR_MEMORY;
  for (f = 0; f < mesh->mNumFaces; f++)
    if (mesh->mFaces[f].mNumIndices == 3)
      end = import_put_face(end, submesh, mesh->mFaces[f].mIndices[0], mesh->mFaces[f].mIndices[1],
                            mesh->mFaces[f].mIndices[2]);
  faces->count -= submesh->faces_wanted - (size_t)(end - out) / 3;
  return SK_OK;
}

static sk_status copy_faces(import_job *job, import_submesh *submesh, sk_array *faces) {
  sk_status status;
  submesh->first_face = (uint32_t)faces->count;
  status = job->format->reader ? job->format->reader->copy_faces(job, submesh, faces)
                               : copy_assimp_faces(job, submesh, faces);
  if (status) return status;
  submesh->face_count = (uint32_t)faces->count - submesh->first_face;
  import_note_add(job, NOTE_faces_dropped, submesh->faces_wanted - submesh->face_count, "mesh '%.100s'",
                  submesh->title);
  return SK_OK;
}

/* Makes model.shapes where a submesh has targets. */
static sk_status make_shape_numbers(import_job *job, const sk_array *submeshes) {
  import_model *m = &job->model;
  const import_submesh *submesh = submeshes->data;
  size_t i;
  for (i = 0; i < submeshes->count && !m->shapes; i++) {
    if (!import_target_count(job, &submesh[i])) continue;
    m->shapes = sk_alloc_zero((size_t)m->vertex_count * sizeof *m->shapes);
    if (!m->shapes) return import_no_memory(job, (size_t)m->vertex_count * sizeof *m->shapes);
  }
  return SK_OK;
}

/* ---- one submesh after another ------------------------------------------------------------ */

/* Smooth normals for the vertices that have none of their own. */
static sk_status make_normals(import_job *job, const import_submesh *submesh, const uint32_t *faces, uint32_t *table,
                              uint32_t *owner, size_t mask) {
  size_t count = 3 * (size_t)submesh->vertex_count, i;
  float *normals = job->model.normals + 3 * (size_t)submesh->first_vertex, *own;
  if (submesh->bad_normals == submesh->vertex_count) {
    import_smooth_normals(&job->model, submesh, faces, table, owner, mask);
    import_note_add(job, NOTE_normals_generated, 1, "mesh '%.100s'", submesh->title);
    return SK_OK;
  }
  own = sk_alloc(count * sizeof *own);
  if (!own) return import_no_memory(job, count * sizeof *own);
  memcpy(own, normals, count * sizeof *own);
  import_smooth_normals(&job->model, submesh, faces, table, owner, mask);
  for (i = 0; i < count; i += 3)
    if (own[i] != 0.0f || own[i + 1] != 0.0f || own[i + 2] != 0.0f) memcpy(normals + i, own + i, 3 * sizeof *own);
  sk_free(own);
  return SK_OK;
}

typedef struct building { /* what grows from one submesh to the next */
  import_job *job;
  sk_array faces;   /* uint32_t[3], in the memory of the stream */
  import_morphs morphs;
  uint32_t joined;  /* vertices that are in their final position */
} building;

/* Joins equal vertices and moves the submesh down to where the last one ended. The table has mask + 1 slots. */
static sk_status move_vertices(building *b, import_submesh *submesh, const import_shapes *shapes, uint32_t *table,
                               uint32_t *map, size_t mask) {
  import_job *job = b->job;
  uint32_t first = b->joined, count, *face = (uint32_t *)b->faces.data + 3 * (size_t)submesh->first_face;
  bool join = import_joins_vertices(job);
  size_t i;
  sk_status status = SK_OK;
  if (submesh->bad_normals) status = make_normals(job, submesh, face, table, map, mask);
  if (shapes->count && !status) status = import_number_shapes(job, submesh, shapes);
  if (status) return status;
  count = import_join_vertices(&job->model, submesh, first, join, table, map, mask);
  for (i = 0; i < 3 * (size_t)submesh->face_count; i++) face[i] = first + map[face[i] - submesh->first_vertex];
  if (shapes->count) status = import_keep_shapes(job, submesh, first, map, shapes, &b->morphs);
  submesh->first_vertex = first;
  submesh->vertex_count = count;
  return status;
}

/* Normals, morph targets and joining. */
static sk_status finish_vertices(building *b, import_submesh *submesh) {
  import_shapes shapes = {0, NULL, false};
  size_t size = 16;
  uint32_t *table, *map;
  sk_status status = import_read_shapes(b->job, submesh, &shapes);
  bool stays =
      !import_joins_vertices(b->job) && !submesh->bad_normals && !shapes.count && b->joined == submesh->first_vertex;
  if (stays) return status; /* each vertex is in its final position already */
  while (size < 2 * (size_t)submesh->vertex_count) size *= 2;
  table = sk_alloc(size * sizeof *table);
  map = sk_alloc(((size_t)submesh->vertex_count + 1) * sizeof *map);
  if (!table || !map) status = import_no_memory(b->job, size * sizeof *table);
  if (!status) status = move_vertices(b, submesh, &shapes, table, map, size - 1);
  sk_free(shapes.moved);
  sk_free(table);
  sk_free(map);
  return status;
}

/* The influences of a rigid submesh are all alike: they are made for the vertices that are left, or last of all. */
static sk_status add_submesh(building *b, import_submesh *submesh) {
  import_job *job = b->job;
  sk_submesh *added;
  sk_status status = import_copy_vertices(job, submesh);
  if (!status && !submesh->rigid) status = import_skin_submesh(job, submesh);
  if (!status) status = copy_faces(job, submesh, &b->faces);
  if (!status) status = finish_vertices(b, submesh);
  if (!status && submesh->rigid && job->model.weights) status = import_skin_submesh(job, submesh);
  if (status) return status;
  b->joined += submesh->vertex_count;
  added = sk_array_extend(&job->model.submeshes, 1);
  if (!added) return import_no_memory(job, sizeof *added);
  *added = (sk_submesh){.name = submesh->name,
                        .node = submesh->joint,
                        .material = import_material_of(job, submesh->material),
                        .first_vertex = submesh->first_vertex,
                        .vertex_count = submesh->vertex_count,
                        .first_face = submesh->first_face,
                        .face_count = submesh->face_count,
                        .flags = submesh->hidden ? SK_SUBMESH_HIDDEN : 0};
  return SK_OK;
}

static sk_status add_submeshes(building *b, const sk_array *submeshes) {
  import_model *m = &b->job->model;
  size_t i;
  sk_status status = SK_OK;
  b->faces = (sk_array){m->faces, 0, m->faces ? (size_t)import_face_rows(submeshes) : 0, sizeof(uint32_t[3])};
  for (i = 0; i < submeshes->count && !status; i++) status = add_submesh(b, (import_submesh *)submeshes->data + i);
  m->vertex_count = b->joined;
  m->faces = b->faces.data;
  m->face_count = (uint32_t)b->faces.count;
  m->info.vertices = b->joined;
  m->info.faces = b->faces.count;
  if (!status && !m->weights) status = import_make_influences(b->job, submeshes);
  return status ? status : import_targets(b->job, &b->morphs);
}

sk_status import_meshes(import_job *job) {
  building b = {.job = job, .morphs = import_no_morphs()};
  sk_array submeshes = SK_ARRAY(import_submesh);
  sk_status status;
  job->model.submeshes = SK_ARRAY(sk_submesh);
  status = find_submeshes(job, &submeshes);
  if (!status) status = import_make_streams(job, &submeshes);
  if (!status) status = make_shape_numbers(job, &submeshes);
  if (!status) status = add_submeshes(&b, &submeshes);
  import_free_morphs(&b.morphs);
  sk_array_free(&submeshes);
  return status;
}
