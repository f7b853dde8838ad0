/* import_gltf_draco.c: KHR_draco_mesh_compression: the vertices and faces of a primitive in one compressed stream.

   The stream takes the place of the primitive's accessors: each attribute that it has is decoded here, into what
   gltf_accessor_open then finds instead of bytes of a buffer. What the stream does not have, such as morph targets,
   is read as of any primitive. */
#include <string.h>

#include "import_gltf.h"
#ifdef SKINPY_DRACO
#include "import_draco.h"
#endif

#define EXTENSION "KHR_draco_mesh_compression"

/* What is decoded for an accessor; `data` is NULL for the others. */
struct gltf_decoded {
  void *data;
  uint32_t component;
  int64_t view; /* of which it was decoded, and */
  int64_t id;   /* the attribute of the stream; -1: the faces */
};

bool gltf_find_decoded(const gltf *g, int64_t index, gltf_accessor *a) {
  const struct gltf_decoded *found = g->decoded ? &g->decoded[index] : NULL;
  if (!found || !found->data) return false;
  a->data = found->data;
  a->component = found->component;
  a->stride = a->width * gltf_component_size(found->component);
  return true;
}

void gltf_free_decoded(gltf *g) {
  int32_t i;
  for (i = 0; g->decoded && i < g->lists[GLTF_ACCESSORS].count; i++) sk_free(g->decoded[i].data);
  sk_free(g->decoded);
}

#ifdef SKINPY_DRACO

typedef struct draco_primitive {
  const gltf_primitive *primitive;
  int32_t token, extension;
  int64_t view;
  int64_t indices;      /* accessor */
  uint32_t points, faces;
  import_draco *decoded;
} draco_primitive;

static sk_status fail(import_job *job, const draco_primitive *p, const char *words) {
  return sk_fail(job->error, SK_ERROR_IMPORT, "meshes[%d].primitives[%d]: %s", p->primitive->mesh, p->primitive->number,
                 words);
}

/* Memory for what replaces an accessor; NULL, without a failure, where the same was decoded for another primitive, and
   where the accessor stands for several attributes of one stream, of which the first holds. */
static sk_status take_place(import_job *job, const draco_primitive *p, int64_t index, struct gltf_decoded wanted,
                            size_t bytes, void **data) {
  gltf *g = job->gltf;
  struct gltf_decoded *place = &g->decoded[index];
  *data = NULL;
  if (place->data && place->view == wanted.view && place->id == wanted.id) return SK_OK;
  if (place->data && place->view != wanted.view)
    return fail(job, p, "another primitive has other compressed data for the same accessor");
  if (place->data)
    import_note_add(job, NOTE_attributes_dropped, 1, "meshes[%d].primitives[%d]: accessors[%lld] is of two attributes",
                    p->primitive->mesh, p->primitive->number, (long long)index);
  if (place->data) return SK_OK;
  *place = wanted;
  *data = place->data = sk_alloc(bytes);
  return *data ? SK_OK : import_no_memory(job, bytes);
}

static sk_status put_faces(import_job *job, const draco_primitive *p) {
  struct gltf_decoded wanted = {NULL, 5125, p->view, -1};
  void *data;
  sk_status status = take_place(job, p, p->indices, wanted, (size_t)p->faces * 3 * sizeof(uint32_t), &data);
  if (data) import_draco_faces(p->decoded, data);
  return status;
}

static sk_status put_attribute(import_job *job, const draco_primitive *p, int64_t index, int64_t id) {
  gltf_accessor a;
  void *data;
  sk_status status = gltf_accessor_describe(job, index, &a);
  if (status) return status;
  if (a.count != p->points) return fail(job, p, "its accessors do not have the same count");
  if (id > UINT32_MAX) return fail(job, p, "its compressed data has no such attribute");
  status = take_place(job, p, index, (struct gltf_decoded){NULL, a.component, p->view, id}, a.count * a.stride, &data);
  if (status || !data || import_draco_attribute(p->decoded, (uint32_t)id, a.component, a.width, data)) return status;
  return sk_fail(job->error, SK_ERROR_IMPORT,
                 "meshes[%d].primitives[%d]: its compressed data has no attribute %lld that fits accessors[%lld]",
                 p->primitive->mesh, p->primitive->number, (long long)id, (long long)index);
}

/* The attributes that both the stream and the primitive have. The stream's width bounds their number. */
static sk_status put_attributes(import_job *job, const draco_primitive *p) {
  const json *j = &job->gltf->json;
  int32_t list = json_member(j, p->token, "attributes"), compressed = json_member(j, p->extension, "attributes"), key;
  sk_status status = SK_OK;
  if (json_size(j, compressed) > IMPORT_DRACO_MAX_WIDTH)
    return fail(job, p, "its compressed data has no such attribute");
  for (key = json_first_key(j, compressed); key >= 0 && !status; key = json_key_after(j, compressed, key)) {
    char name[64];
    size_t length;
    const char *raw = json_raw(j, key, &length);
    int64_t index;
    if (length >= sizeof name) continue; /* no name of glTF is so long */
    memcpy(name, raw, length);
    name[length] = 0;
    index = json_index(j, json_member(j, list, name), -1);
    if (index >= 0) status = put_attribute(job, p, index, json_index(j, key + 1, INT64_MAX));
  }
  return status;
}

/* How many points and faces the accessors say there are, which has been checked against the limits. */
static sk_status expect(import_job *job, draco_primitive *p) {
  const json *j = &job->gltf->json;
  gltf_accessor a;
  int64_t positions = json_index(j, json_member(j, json_member(j, p->token, "attributes"), "POSITION"), -1);
  sk_status status;
  p->indices = json_index(j, json_member(j, p->token, "indices"), -1);
  if (p->primitive->mode != GLTF_TRIANGLES || p->indices < 0)
    return fail(job, p, "it is compressed with Draco and not an indexed list of triangles, which skinpy does not read");
  status = gltf_accessor_describe(job, positions, &a);
  p->points = (uint32_t)a.count;
  if (!status) status = gltf_accessor_describe(job, p->indices, &a);
  p->faces = (uint32_t)(a.count / 3);
  if (!status && (a.width != 1 || a.count % 3)) return fail(job, p, "its indices are not triangles");
  return status;
}

static sk_status decode(import_job *job, draco_primitive *p) {
  static const char *const failures[] = {
      [IMPORT_DRACO_COUNTS] = "its accessors do not have the counts of its compressed data",
      [IMPORT_DRACO_BROKEN] = "its compressed data is broken, or not a mesh of Draco 2.2"};
  gltf *g = job->gltf;
  const uint8_t *data;
  size_t size;
  import_draco_status answer;
  sk_status status = expect(job, p);
  if (!status) status = gltf_view(job, p->view, &data, &size);
  if (status) return status;
  if (!g->decoded) g->decoded = sk_alloc_zero(((size_t)g->lists[GLTF_ACCESSORS].count + 1) * sizeof *g->decoded);
  if (!g->decoded) return import_no_memory(job, 1);
  answer = import_draco_decode(data, size, p->points, p->faces, &p->decoded);
  if (answer == IMPORT_DRACO_NO_MEMORY) return import_no_memory(job, size);
  if (answer) return fail(job, p, failures[answer]);
  status = put_faces(job, p);
  if (!status) status = put_attributes(job, p);
  import_draco_free(p->decoded);
  return status;
}

static sk_status decode_primitive(import_job *job, const gltf_primitive *primitive, int32_t token, int32_t extension) {
  draco_primitive p = {.primitive = primitive, .token = token, .extension = extension};
  p.view = json_index(&job->gltf->json, json_member(&job->gltf->json, extension, "bufferView"), -1);
  return decode(job, &p);
}

#else

/* A file that does not require the extension may have the plain data beside the compressed one. */
static sk_status decode_primitive(import_job *job, const gltf_primitive *primitive, int32_t token, int32_t extension) {
  const json *j = &job->gltf->json;
  int64_t positions = json_index(j, json_member(j, json_member(j, token, "attributes"), "POSITION"), -1);
  (void)primitive, (void)extension;
  if (json_member(j, gltf_item(job->gltf, GLTF_ACCESSORS, positions), "bufferView") >= 0) return SK_OK;
  return gltf_need(job, EXTENSION);
}

#endif

sk_status gltf_decode_primitive(import_job *job, const gltf_primitive *primitive, int32_t token) {
  const json *j = &job->gltf->json;
  int32_t extension = json_member(j, json_member(j, token, "extensions"), EXTENSION);
  return extension < 0 ? SK_OK : decode_primitive(job, primitive, token, extension);
}
