/* import_gltf_draco.c: KHR_draco_mesh_compression: the vertices and faces of a primitive in one compressed stream.

   The stream takes the place of the primitive's accessors, which only describe the numbers: their types, and whether
   they are normalized. Several attributes, or primitives, may so name one accessor. What is decoded belongs to an
   attribute of a primitive, and gets a number behind those of the file's accessors, by which gltf_open_numbers finds
   it. The counts are those of the stream, also where the accessors state others. What the stream does not have, such
   as morph targets, is read as of any primitive. */
#include "import_gltf.h"
#ifdef SKINPY_DRACO
#include "import_draco.h"
#endif

#define EXTENSION "KHR_draco_mesh_compression"
#define MOST      (IMPORT_MAX_BYTES / 16) /* elements, each of at most four numbers of four bytes */

sk_status gltf_open_numbers(import_job *job, int32_t number, gltf_accessor *a) {
  const gltf *g = job->gltf;
  int32_t accessors = g->lists[GLTF_ACCESSORS].count;
  if (number < accessors) return gltf_accessor_open(job, number, a);
  *a = ((const gltf_decoded *)g->decoded.data)[number - accessors].numbers;
  return SK_OK;
}

void gltf_free_decoded(gltf *g) {
  gltf_decoded *decoded = g->decoded.data;
  size_t i;
  for (i = 0; i < g->decoded.count; i++) sk_free(decoded[i].data);
  sk_array_free(&g->decoded);
}

#ifdef SKINPY_DRACO

typedef struct asking { /* whether the limits allow the mesh of a primitive */
  import_job *job;
  const gltf_primitive *primitive;
  sk_status status;
} asking;

static sk_status fail(import_job *job, const gltf_primitive *p, const char *words) {
  return sk_fail(job->error, SK_ERROR_IMPORT, "meshes[%d].primitives[%d]: %s", p->mesh, p->number, words);
}

static void note_count(import_job *job, const gltf_primitive *p, const char *name, size_t has, size_t states) {
  if (has != states)
    import_note_add(job, NOTE_compressed_counts_repaired, 1,
                    "meshes[%d].primitives[%d].%s has %zu elements, its accessor states %zu", p->mesh, p->number, name,
                    has, states);
}

/* Memory for `count` elements as `a` describes them, and their number. */
static sk_status add_decoded(import_job *job, gltf_accessor *a, size_t count, int32_t *number, void **data) {
  gltf *g = job->gltf;
  gltf_decoded *added = sk_array_extend(&g->decoded, 1);
  if (!added) return import_no_memory(job, sizeof *added);
  added->data = *data = sk_alloc(count * a->stride);
  if (!*data) return import_no_memory(job, count * a->stride);
  a->data = *data;
  a->count = a->whole = count;
  a->sparse = -1;
  added->numbers = *a;
  *number = g->lists[GLTF_ACCESSORS].count + (int32_t)g->decoded.count - 1;
  return SK_OK;
}

sk_status gltf_decode_attribute(import_job *job, const gltf_primitive *p, const char *name, gltf_accessor *a,
                                int32_t *number) {
  const json *j = &job->gltf->json;
  int32_t token = p->compressed ? json_member(j, p->compressed_names, name) : -1, accessor = *number;
  int64_t id = json_index(j, token, INT64_MAX);
  void *data;
  sk_status status;
  if (token < 0) return SK_OK;
  note_count(job, p, name, p->vertices, a->count);
  status = add_decoded(job, a, p->vertices, number, &data);
  if (status || (id <= UINT32_MAX && import_draco_attribute(p->compressed, (uint32_t)id, a->component, a->width, data)))
    return status;
  return sk_fail(job->error, SK_ERROR_IMPORT,
                 "meshes[%d].primitives[%d]: its compressed data has no attribute %lld that fits accessors[%d]",
                 p->mesh, p->number, (long long)id, accessor);
}

/* The faces are triangles, whatever the mode of the primitive is. */
static sk_status decode_faces(import_job *job, gltf_primitive *p, int32_t token) {
  const json *j = &job->gltf->json;
  int32_t indices = json_member(j, token, "indices");
  gltf_accessor a = {.component = 5125, .width = 1, .stride = sizeof(uint32_t)}, stated;
  void *data;
  sk_status status = indices < 0 ? SK_OK : gltf_accessor_describe(job, json_index(j, indices, -1), &stated);
  p->corners = 3 * (size_t)import_draco_face_count(p->compressed);
  if (!status && indices >= 0 && p->mode == GLTF_TRIANGLES) note_count(job, p, "indices", p->corners, stated.count);
  p->mode = GLTF_TRIANGLES;
  if (!status) status = add_decoded(job, &a, p->corners, &p->indices, &data);
  if (!status) import_draco_faces(p->compressed, data);
  return status;
}

/* What was decoded before counts, too: each mesh that is read is in the model at least once. */
static bool is_allowed(void *context, uint32_t points, uint32_t faces) {
  asking *ask = context;
  gltf_primitive wanted = *ask->primitive;
  import_counts counts = ask->job->gltf->decoded_counts;
  wanted.vertices = points;
  wanted.corners = 3 * (size_t)faces;
  wanted.mode = GLTF_TRIANGLES;
  gltf_count_primitive(&wanted, &counts);
  ask->status = import_check_counts(ask->job, &counts);
  if (!ask->status && (points > MOST || wanted.corners > MOST))
    ask->status = fail(ask->job, ask->primitive, "its compressed data takes more than 2 GiB");
  return !ask->status;
}

static sk_status decode(import_job *job, gltf_primitive *p, int32_t token, int32_t extension) {
  const json *j = &job->gltf->json;
  asking ask = {.job = job, .primitive = p};
  const uint8_t *data;
  size_t size;
  sk_status status = gltf_view(job, json_index(j, json_member(j, extension, "bufferView"), -1), &data, &size);
  if (status) return status;
  switch (import_draco_decode(data, size, is_allowed, &ask, &p->compressed)) {
  case IMPORT_DRACO_DONE: break;
  case IMPORT_DRACO_NO_MEMORY: return import_no_memory(job, size);
  case IMPORT_DRACO_REFUSED: return ask.status;
  case IMPORT_DRACO_BROKEN: return fail(job, p, "its compressed data is broken, or not a mesh of Draco 2.2");
  }
  p->compressed_names = json_member(j, extension, "attributes");
  p->vertices = import_draco_point_count(p->compressed);
  status = decode_faces(job, p, token);
  gltf_count_primitive(p, &job->gltf->decoded_counts);
  return status;
}

void gltf_close_compressed(gltf_primitive *p) {
  import_draco_free(p->compressed);
  p->compressed = NULL;
}

#else

sk_status gltf_decode_attribute(import_job *job, const gltf_primitive *p, const char *name, gltf_accessor *a,
                                int32_t *number) {
  (void)job, (void)p, (void)name, (void)a, (void)number;
  return SK_OK;
}

/* A file that does not require the extension may have the plain data beside the compressed one. */
static sk_status decode(import_job *job, gltf_primitive *p, int32_t token, int32_t extension) {
  const json *j = &job->gltf->json;
  int64_t positions = json_index(j, json_member(j, json_member(j, token, "attributes"), "POSITION"), -1);
  (void)p, (void)extension;
  if (json_member(j, gltf_item(job->gltf, GLTF_ACCESSORS, positions), "bufferView") >= 0) return SK_OK;
  return gltf_need(job, EXTENSION);
}

void gltf_close_compressed(gltf_primitive *p) { (void)p; }

#endif

sk_status gltf_open_compressed(import_job *job, gltf_primitive *p, int32_t token) {
  const json *j = &job->gltf->json;
  int32_t extension = json_member(j, json_member(j, token, "extensions"), EXTENSION);
  return extension < 0 ? SK_OK : decode(job, p, token, extension);
}
