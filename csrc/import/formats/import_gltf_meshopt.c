/* import_gltf_meshopt.c: EXT_meshopt_compression and KHR_meshopt_compression: the bytes of a bufferView, compressed.

   The second extension has the fields of the first one; new in it are version 1 of the codec of vertices, which the
   library decodes since 0.23, and the filter COLOR, since 0.25. Without the library, or one that is new enough, the
   bufferView may still have its plain bytes in a fallback buffer, which are then read. */
#include <string.h>

#include "import_gltf.h"
#ifdef SKINPY_MESHOPTIMIZER
#include <meshoptimizer.h>
#define HAS_EXT   true
#define HAS_KHR   (MESHOPTIMIZER_VERSION >= 230)
#define HAS_COLOR (MESHOPTIMIZER_VERSION >= 250)
#else
#define HAS_EXT false
#define HAS_KHR false
#endif
#ifdef SKINPY_DRACO
#define HAS_DRACO true
#else
#define HAS_DRACO false
#endif

/* ---- which compressions this build reads ------------------------------------------------------- */

typedef struct compression {
  const char *extension;
  bool is_read;
  const char *remedy; /* where it is not read */
} compression;

static const compression compressions[] = {
    {"EXT_meshopt_compression", HAS_EXT,
     "decompress the file with `gltf-transform copy in.glb out.glb`, or build skinpy with libmeshoptimizer-dev"},
    {"KHR_meshopt_compression", HAS_KHR,
     "compress the file again with `gltfpack -c -i in.glb -o out.glb`, or build skinpy with meshoptimizer 0.23 or "
     "newer"},
    {"KHR_draco_mesh_compression", HAS_DRACO,
     "decompress the file with `gltf-transform copy in.glb out.glb`, or build skinpy with libdraco-dev"}};

enum { MESHOPT_COUNT = 2 }; /* of the table: those of bufferViews */

const char *gltf_compression(const json *j, int32_t name) {
  size_t i;
  for (i = 0; i < sizeof compressions / sizeof *compressions; i++)
    if (json_equals(j, name, compressions[i].extension)) return compressions[i].extension;
  return NULL;
}

sk_status gltf_need(import_job *job, const char *extension) {
  const compression *c = compressions;
  while (strcmp(c->extension, extension)) c++;
  if (c->is_read) return SK_OK;
  return sk_fail(job->error, SK_ERROR_IMPORT, "it is compressed with %s, which this build of skinpy cannot read: %s",
                 c->extension, c->remedy);
}

/* ---- decoding ------------------------------------------------------------------------------------ */

#ifdef SKINPY_MESHOPTIMIZER

enum { ATTRIBUTES, TRIANGLES, INDICES, MODE_COUNT };
enum { FILTER_NONE, OCTAHEDRAL, QUATERNION, EXPONENTIAL, COLOR, FILTER_COUNT };

typedef struct packed_view {
  const uint8_t *data;
  size_t size, count, stride;
  int mode, filter; /* MODE_COUNT, FILTER_COUNT: not known */
} packed_view;

static int find_word(const json *j, int32_t token, const char *const *words, int count) {
  int i = 0;
  while (i < count && !json_equals(j, token, words[i])) i++;
  return i;
}

static void read_fields(const json *j, int32_t extension, packed_view *v) {
  static const char *const modes[] = {"ATTRIBUTES", "TRIANGLES", "INDICES"};
  static const char *const filters[] = {"NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"};
  int32_t filter = json_member(j, extension, "filter");
  v->mode = find_word(j, json_member(j, extension, "mode"), modes, MODE_COUNT);
  v->filter = filter < 0 ? FILTER_NONE : find_word(j, filter, filters, FILTER_COUNT);
  v->count = (size_t)json_index(j, json_member(j, extension, "count"), 0);
  v->stride = (size_t)json_index(j, json_member(j, extension, "byteStride"), 0);
}

/* What the extension demands of mode, filter, stride and count; the library trusts in it. */
static bool is_valid(const packed_view *v) {
  bool four_or_eight = v->stride == 4 || v->stride == 8;
  if (v->mode == TRIANGLES && v->count % 3) return false;
  if (v->mode != ATTRIBUTES)
    return v->mode < MODE_COUNT && v->filter == FILTER_NONE && (v->stride == 2 || v->stride == 4);
  if (v->stride < 4 || v->stride > 256 || v->stride % 4) return false;
  switch (v->filter) {
  case FILTER_NONE:
  case EXPONENTIAL: return true;
  case QUATERNION: return v->stride == 8;
  default: return v->filter < FILTER_COUNT && four_or_eight;
  }
}

/* Whether so few bytes can hold so much. A byte of triangles has three indices, one of indices has one. Of attributes,
   version 0 has two bits for 16 equal bytes, and version 1 two bits for the up to 256 bytes of a block. */
static bool is_plausible(const packed_view *v) {
  uint64_t most = v->mode == TRIANGLES  ? 3 * (uint64_t)v->stride
                  : v->mode == INDICES  ? (uint64_t)v->stride
                  : v->data[0] == 0xa1u ? 1024
                                        : 64;
  return v->count <= IMPORT_MAX_BYTES / v->stride && (uint64_t)v->count * v->stride / most <= v->size;
}

static int decode(const packed_view *v, uint8_t *out) {
  switch (v->mode) {
  case TRIANGLES: return meshopt_decodeIndexBuffer(out, v->count, v->stride, v->data, v->size);
  case INDICES: return meshopt_decodeIndexSequence(out, v->count, v->stride, v->data, v->size);
  default: return meshopt_decodeVertexBuffer(out, v->count, v->stride, v->data, v->size);
  }
}

static void filter(const packed_view *v, uint8_t *out) {
  switch (v->filter) {
  case OCTAHEDRAL: meshopt_decodeFilterOct(out, v->count, v->stride); return;
  case QUATERNION: meshopt_decodeFilterQuat(out, v->count, v->stride); return;
  case EXPONENTIAL: meshopt_decodeFilterExp(out, v->count, v->stride); return;
#if HAS_COLOR
  case COLOR: meshopt_decodeFilterColor(out, v->count, v->stride); return;
#endif
  default: return;
  }
}

static sk_status read_view(import_job *job, int64_t index, int32_t extension, packed_view *v) {
  sk_status status = gltf_view_bytes(job, index, extension, &v->data, &v->size);
  if (status) return status;
  read_fields(&job->gltf->json, extension, v);
  if (!v->size || !is_valid(v) || !is_plausible(v))
    return sk_fail(job->error, SK_ERROR_IMPORT,
                   "bufferViews[%lld]: its compression has a mode, filter, stride or count that does not fit its %zu "
                   "bytes",
                   (long long)index, v->size);
  if (v->filter == COLOR && !HAS_COLOR)
    return sk_fail(job->error, SK_ERROR_IMPORT,
                   "bufferViews[%lld]: its filter COLOR needs skinpy built with meshoptimizer 0.25 or newer",
                   (long long)index);
  if (v->count * v->stride > IMPORT_MAX_BYTES - job->gltf->unpacked)
    return sk_fail(job->error, SK_ERROR_IMPORT, "its compressed bufferViews have more than %zu bytes together",
                   IMPORT_MAX_BYTES);
  return SK_OK;
}

static sk_status fail_broken(import_job *job, int64_t index) {
  return sk_fail(job->error, SK_ERROR_IMPORT, "bufferViews[%lld]: its compressed bytes are broken", (long long)index);
}

static sk_status decode_view(import_job *job, int64_t index, int32_t extension, import_source *view) {
  packed_view v;
  sk_status status = read_view(job, index, extension, &v);
  if (status) return status;
  view->size = v.count * v.stride;
  view->owned = sk_alloc(view->size);
  if (!view->owned) return import_no_memory(job, view->size);
  job->gltf->unpacked += view->size;
  if (decode(&v, view->owned)) return fail_broken(job, index);
  filter(&v, view->owned);
  view->data = view->owned;
  return SK_OK;
}

/* A view that has memory and no data was found broken before. */
static sk_status open_packed(import_job *job, int64_t index, int32_t extension, const uint8_t **data, size_t *size) {
  gltf *g = job->gltf;
  import_source *view;
  sk_status status = SK_OK;
  if (!g->views) g->views = sk_alloc_zero(sizeof *g->views * ((size_t)g->lists[GLTF_VIEWS].count + 1));
  if (!g->views) return import_no_memory(job, 1);
  view = &g->views[index];
  if (!view->owned) status = decode_view(job, index, extension, view);
  else if (!view->data) status = fail_broken(job, index);
  *data = view->data;
  *size = view->size;
  return status;
}

#else

static sk_status open_packed(import_job *job, int64_t index, int32_t extension, const uint8_t **data, size_t *size) {
  (void)job, (void)index, (void)extension, (void)data, (void)size;
  return SK_ERROR_IMPORT; /* never called: no extension is read */
}

#endif

sk_status gltf_view(import_job *job, int64_t index, const uint8_t **data, size_t *size) {
  const json *j = &job->gltf->json;
  int32_t token = gltf_item(job->gltf, GLTF_VIEWS, index), list = json_member(j, token, "extensions"), i;
  const char *unread = NULL;
  sk_status status;
  for (i = 0; i < MESHOPT_COUNT && list >= 0; i++) {
    int32_t extension = json_member(j, list, compressions[i].extension);
    if (extension >= 0 && compressions[i].is_read) return open_packed(job, index, extension, data, size);
    if (extension >= 0) unread = compressions[i].extension;
  }
  status = gltf_view_bytes(job, index, token, data, size);
  return status == SK_ERROR_IMPORT && unread ? gltf_need(job, unread) : status;
}

void gltf_free_views(gltf *g) {
  int32_t i;
  for (i = 0; g->views && i < g->lists[GLTF_VIEWS].count; i++) sk_free(g->views[i].owned);
  sk_free(g->views);
}
