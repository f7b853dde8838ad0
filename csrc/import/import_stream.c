/* import_stream.c: the arrays of vertices and faces, and the rows of each submesh in them.

   A stream is one array of a row for each vertex. Uvs, colors and tangents exist where some submesh has them; the
   others then get white or 0. */
#include <math.h>
#include <string.h>

#include "../core/base/sk_math.h"
#include "import_reader.h"

#define NORMAL_TOLERANCE 1e-3 /* a length closer to 1 stays as it is */

/* ---- memory ------------------------------------------------------------------------------- */

static bool has(const import_job *job, const import_submesh *submesh, import_attribute attribute) {
  const struct aiMesh *mesh = submesh->mesh;
  if (job->format->reader) return job->format->reader->has(submesh, attribute);
  switch (attribute) {
  case IMPORT_UVS: return mesh->mTextureCoords[0] != NULL;
  case IMPORT_COLORS: return mesh->mColors[0] != NULL;
  case IMPORT_NORMALS: return mesh->mNormals != NULL;
  case IMPORT_TANGENTS: return mesh->mTangents && mesh->mBitangents && mesh->mNormals;
  default: return true;
  }
}

static bool some_has(const import_job *job, const sk_array *submeshes, import_attribute attribute) {
  const import_submesh *submesh = submeshes->data;
  size_t i;
  for (i = 0; i < submeshes->count; i++)
    if (has(job, &submesh[i], attribute)) return true;
  return false;
}

void import_mesh_sections(const import_model *m, sk_block_part sections[IMPORT_MESH_SECTIONS]) {
  const void *data[IMPORT_MESH_SECTIONS] = {m->positions, m->normals,      m->uvs,     m->colors,
                                            m->tangents,  m->vertex_slots, m->weights, m->faces};
  static const sk_section_kind kinds[IMPORT_MESH_SECTIONS] = {
      SK_SECTION_POSITIONS,    SK_SECTION_NORMALS,        SK_SECTION_UVS,  SK_SECTION_COLORS, SK_SECTION_TANGENTS,
      SK_SECTION_VERTEX_SLOTS, SK_SECTION_VERTEX_WEIGHTS, SK_SECTION_FACES};
  int i;
  for (i = 0; i < IMPORT_MESH_SECTIONS; i++)
    sections[i] = (sk_block_part){kinds[i], sk_section_stride(kinds[i], m->info.influences),
                                  !data[i]                       ? 0
                                  : kinds[i] == SK_SECTION_FACES ? m->face_count
                                                                 : m->vertex_count,
                                  data[i]};
}

uint64_t import_face_rows(const sk_array *submeshes) {
  const import_submesh *submesh = submeshes->data;
  uint64_t rows = 1;
  size_t i;
  for (i = 0; i < submeshes->count; i++) rows += submesh[i].faces_wanted;
  return rows;
}

bool import_joins_vertices(const import_job *job) {
  int32_t wish = job->request->join_vertices;
  return wish == SK_NONE ? !job->format->keeps_vertices : wish != 0;
}

#define SLOTS      5 /* index in what import_mesh_sections gives */
#define WEIGHTS    6
#define INFLUENCES (1u << SLOTS | 1u << WEIGHTS)

/* Memory for some of the streams, one bit each, of so many rows. */
static sk_status make_rows(import_job *job, const uint64_t rows[IMPORT_MESH_SECTIONS], unsigned wanted,
                           void *made[IMPORT_MESH_SECTIONS]) {
  sk_block_part sections[IMPORT_MESH_SECTIONS];
  size_t lacking = 0;
  int i;
  import_mesh_sections(&job->model, sections);
  for (i = 0; i < IMPORT_MESH_SECTIONS; i++) {
    size_t bytes = (size_t)rows[i] * sections[i].stride;
    made[i] = NULL;
    if (!rows[i] || !(wanted >> i & 1)) continue;
    made[i] = sk_alloc(bytes);
    if (!made[i]) lacking = bytes;
  }
  return lacking ? import_no_memory(job, lacking) : SK_OK;
}

/* Within a rigid submesh all influences are alike: where all submeshes are rigid, they are made last, for the vertices
   that are left. */
static bool are_influences_last(const import_job *job, const sk_array *submeshes) {
  const import_submesh *submesh = submeshes->data;
  size_t i;
  for (i = 0; i < submeshes->count; i++)
    if (!submesh[i].rigid) return false;
  return import_joins_vertices(job);
}

sk_status import_make_streams(import_job *job, const sk_array *submeshes) {
  import_model *m = &job->model;
  const uint64_t vertices = m->vertex_count;
  const uint64_t rows[IMPORT_MESH_SECTIONS] = {vertices,
                                               vertices,
                                               some_has(job, submeshes, IMPORT_UVS) ? vertices : 0,
                                               some_has(job, submeshes, IMPORT_COLORS) ? vertices : 0,
                                               some_has(job, submeshes, IMPORT_TANGENTS) ? vertices : 0,
                                               vertices,
                                               vertices,
                                               import_face_rows(submeshes)};
  void *made[IMPORT_MESH_SECTIONS];
  sk_status status = make_rows(job, rows, are_influences_last(job, submeshes) ? ~INFLUENCES : ~0u, made);
  m->positions = made[0], m->normals = made[1], m->uvs = made[2], m->colors = made[3];
  m->tangents = made[4], m->vertex_slots = made[SLOTS], m->weights = made[WEIGHTS], m->faces = made[7];
  return status;
}

sk_status import_make_influences(import_job *job, const sk_array *submeshes) {
  import_model *m = &job->model;
  const import_submesh *submesh = submeshes->data;
  sk_block_part room[IMPORT_MESH_SECTIONS];
  uint64_t rows[IMPORT_MESH_SECTIONS];
  void *made[IMPORT_MESH_SECTIONS];
  sk_status status;
  size_t i;
  import_mesh_sections(m, room);
  for (i = 0; i < IMPORT_MESH_SECTIONS; i++) rows[i] = INFLUENCES >> i & 1 ? m->vertex_count : room[i].count;
  status = make_rows(job, rows, INFLUENCES, made);
  m->vertex_slots = made[SLOTS], m->weights = made[WEIGHTS];
  for (i = 0; i < submeshes->count && !status; i++) status = import_skin_submesh(job, &submesh[i]);
  return status;
}

/* The rows of a submesh in a stream of `width` floats a vertex. */
static float *rows_of(const import_submesh *submesh, float *stream, uint32_t width) {
  return stream + (size_t)width * submesh->first_vertex;
}

/* Replaces what is not finite, and -0 by 0, so that equal numbers have equal bits. */
static void repair_floats(import_job *job, const import_submesh *submesh, float *values, size_t count,
                          const char *what) {
  size_t i, bad = 0;
  for (i = 0; i < count; i++) {
    values[i] += 0.0f;
    bad += import_is_bad(values[i]);
  }
  if (!bad) return;
  for (i = 0; i < count; i++)
    if (import_is_bad(values[i])) values[i] = 0.0f;
  import_note_add(job, NOTE_numbers_repaired, bad, "%s of mesh '%.80s'", what, submesh->title);
}

/* skinpy's texture coordinates start at the top left of the image, as glTF's do; Assimp's at the
   bottom left. */
static void copy_assimp_uvs(const struct aiMesh *mesh, size_t count, float *out) {
  const struct aiVector3D *uv = mesh->mTextureCoords[0];
  size_t i;
  for (i = 0; i < count; i++, out += 2) out[0] = uv[i].x, out[1] = 1.0f - uv[i].y;
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

static void copy_assimp(const import_submesh *submesh, import_attribute attribute, float *out) {
  const struct aiMesh *mesh = submesh->mesh;
  size_t count = submesh->vertex_count;
  switch (attribute) {
  case IMPORT_POSITIONS: memcpy(out, mesh->mVertices, count * sizeof *mesh->mVertices); break;
  case IMPORT_NORMALS: memcpy(out, mesh->mNormals, count * sizeof *mesh->mNormals); break;
  case IMPORT_UVS: copy_assimp_uvs(mesh, count, out); break;
  case IMPORT_COLORS: memcpy(out, mesh->mColors[0], count * sizeof *mesh->mColors[0]); break;
  case IMPORT_TANGENTS: copy_assimp_tangents(mesh, count, out); break;
  }
}

/* The rows of an attribute that the submesh does not have. */
static void copy_default(import_attribute attribute, size_t numbers, float *out) {
  size_t i;
  for (i = 0; i < numbers; i++) out[i] = attribute == IMPORT_COLORS ? 1.0f : 0.0f;
}

static sk_status copy(import_job *job, const import_submesh *submesh, import_attribute attribute, uint32_t width,
                      float *out) {
  if (!has(job, submesh, attribute)) copy_default(attribute, width * (size_t)submesh->vertex_count, out);
  else if (job->format->reader) return job->format->reader->read(job, submesh, attribute, out);
  else copy_assimp(submesh, attribute, out);
  return SK_OK;
}

/* Makes rows of length 1, `stride` floats apart; what is not a direction becomes 0. Returns how many these are. */
static uint32_t make_unit(import_job *job, const import_submesh *submesh, float *row, int stride, const char *what) {
  uint32_t v, scaled = 0, bad = 0;
  int i;
  for (v = 0; v < submesh->vertex_count; v++, row += stride) {
    double square = (double)row[0] * row[0] + (double)row[1] * row[1] + (double)row[2] * row[2], length = 1.0;
    bool good = square > 1e-24 && square < 1e300; /* false for NaN too */
    if (good && fabs(square - 1.0) > 2.0 * NORMAL_TOLERANCE) length = sqrt(square);
    for (i = 0; i < 3; i++) row[i] = good ? (float)(row[i] / length) + 0.0f : 0.0f;
    bad += !good;
    scaled += length != 1.0;
  }
  import_note_add(job, NOTE_normals_normalized, scaled, "%s of mesh '%.80s'", what, submesh->title);
  return bad;
}

/* Copies an attribute, where some submesh has it. */
static sk_status copy_stream(import_job *job, const import_submesh *submesh, import_attribute attribute, uint32_t width,
                             float *stream) {
  static const char *const names[] = {"positions", "normals", "texture coordinates", "colors", "tangents"};
  float *rows;
  sk_status status;
  size_t i;
  if (!stream) return SK_OK;
  rows = rows_of(submesh, stream, width);
  status = copy(job, submesh, attribute, width, rows);
  if (status) return status;
  for (i = 0; i < submesh->vertex_count && attribute == IMPORT_TANGENTS; i++)
    rows[4 * i + 3] = rows[4 * i + 3] < 0.0f ? -1.0f : 1.0f;
  repair_floats(job, submesh, rows, width * (size_t)submesh->vertex_count, names[attribute]);
  if (attribute == IMPORT_TANGENTS) make_unit(job, submesh, rows, 4, names[attribute]);
  return SK_OK;
}

/* Makes normals of length 1. A normal that is not a direction becomes 0 and is counted: the vertex gets a smooth one
   later. */
static void normalize(import_job *job, import_submesh *submesh, float *normals) {
  submesh->bad_normals = make_unit(job, submesh, normals, 3, "normals");
  if (submesh->bad_normals < submesh->vertex_count)
    import_note_add(job, NOTE_numbers_repaired, submesh->bad_normals, "normals of mesh '%.80s'", submesh->title);
}

static sk_status copy_normals(import_job *job, import_submesh *submesh, float *out) {
  sk_status status;
  submesh->bad_normals = submesh->vertex_count;
  if (!has(job, submesh, IMPORT_NORMALS)) return SK_OK;
  status = copy(job, submesh, IMPORT_NORMALS, 3, out);
  if (!status) normalize(job, submesh, out);
  return status;
}

sk_status import_copy_vertices(import_job *job, import_submesh *submesh) {
  import_model *m = &job->model;
  sk_status status = copy_stream(job, submesh, IMPORT_POSITIONS, 3, m->positions);
  if (!status) status = copy_normals(job, submesh, rows_of(submesh, m->normals, 3));
  if (!status) status = copy_stream(job, submesh, IMPORT_UVS, 2, m->uvs);
  if (!status) status = copy_stream(job, submesh, IMPORT_COLORS, 4, m->colors);
  return status ? status : copy_stream(job, submesh, IMPORT_TANGENTS, 4, m->tangents);
}
