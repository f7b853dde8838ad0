/* import_accessor.c: the numbers of a glTF: buffers, bufferViews, accessors.

   Every offset and count is checked against the bytes that are there before anything is read. */
#include <math.h>
#include <string.h>

#include "import_gltf.h"

/* ---- data URIs ------------------------------------------------------------------- */

void gltf_decode_percent(char *text) { text[import_decode_percent(text, strlen(text), false)] = 0; }

static bool is_base64(const char *uri, const char *comma) {
  return comma - uri >= 7 && !memcmp(comma - 7, ";base64", 7);
}

/* Decodes what follows the comma; NULL: no memory. */
static uint8_t *decode_payload(const char *payload, size_t length, bool base64, size_t *size) {
  bool percent = memchr(payload, '%', length) != NULL;
  uint8_t *out = sk_alloc(base64 && !percent ? length / 4 * 3 + 4 : length + 1);
  if (!out) return NULL;
  if (percent || !base64) memcpy(out, payload, length);
  if (percent) length = import_decode_percent((char *)out, length, true);
  *size = base64 ? import_decode_base64(percent ? out : (const uint8_t *)payload, length, out) : length;
  return out;
}

bool gltf_data_uri(const json *j, int32_t token, uint8_t **data, size_t *size) {
  sk_array pool = SK_ARRAY(char);
  sk_text text;
  size_t length;
  const char *uri = json_raw(j, token, &length), *comma;
  *data = NULL;
  *size = 0;
  if (length < 5 || memcmp(uri, "data:", 5) || !memchr(uri, ',', length)) return false;
  if (memchr(uri, '\\', length)) { /* some writers escape "+" and "/" in JSON */
    if (!json_text(j, token, &pool, &text)) return true;
    uri = pool.data;
    length = text.length;
  }
  comma = memchr(uri, ',', length);
  *data = decode_payload(comma + 1, (size_t)(uri + length - comma - 1), is_base64(uri, comma), size);
  sk_array_free(&pool);
  return true;
}

/* ---- buffers and views --------------------------------------------------------------- */

static sk_status read_buffer_file(import_job *job, int64_t index, int32_t uri) {
  gltf *g = job->gltf;
  sk_array pool = SK_ARRAY(char);
  sk_text text;
  const import_source *source;
  sk_status status = SK_OK;
  if (!json_text(&g->json, uri, &pool, &text) || !sk_array_extend(&pool, 1)) {
    status = import_no_memory(job, 1);
  } else {
    gltf_decode_percent(pool.data);
    source = import_files_read(&job->files, pool.data);
    if (source) {
      g->buffers[index].data = source->data;
      g->buffers[index].size = source->size;
    } else if (job->files.no_memory) {
      status = import_no_memory(job, 1);
    } else {
      status = sk_fail(job->error, SK_ERROR_IMPORT, "buffers[%lld]: '%.100s' %s", (long long)index, (char *)pool.data,
                       import_files_why(&job->files, (char *)pool.data));
    }
  }
  sk_array_free(&pool);
  return status;
}

/* Reads a buffer when it is first needed. A stated byteLength below the real one counts. */
static sk_status open_buffer(import_job *job, int64_t index, const import_source **buffer) {
  gltf *g = job->gltf;
  int32_t token = gltf_item(g, GLTF_BUFFERS, index), uri;
  import_source *b;
  int64_t stated;
  sk_status status = SK_OK;
  if (token < 0) return sk_fail(job->error, SK_ERROR_IMPORT, "buffers[%lld] does not exist", (long long)index);
  b = &g->buffers[index];
  *buffer = b;
  if (b->data) return SK_OK;
  uri = json_member(&g->json, token, "uri");
  if (json_is_string(&g->json, uri)) {
    uint8_t *data;
    if (gltf_data_uri(&g->json, uri, &data, &b->size)) {
      b->data = b->owned = data;
      if (!data) return import_no_memory(job, 1);
    } else {
      status = read_buffer_file(job, index, uri);
    }
  } else if (index == 0 && g->binary) {
    b->data = g->binary;
    b->size = g->binary_size;
  } else {
    status = sk_fail(job->error, SK_ERROR_IMPORT, "buffers[%lld] has no data", (long long)index);
  }
  stated = json_index(&g->json, json_member(&g->json, token, "byteLength"), -1);
  if (!status && stated > (int64_t)b->size)
    status = sk_fail(job->error, SK_ERROR_IMPORT, "buffers[%lld] has %zu bytes; its byteLength is %lld",
                     (long long)index, b->size, (long long)stated);
  return status;
}

sk_status gltf_view_bytes(import_job *job, int64_t index, int32_t token, const uint8_t **data, size_t *size) {
  const json *j = &job->gltf->json;
  int64_t offset = json_index(j, json_member(j, token, "byteOffset"), 0);
  int64_t length = json_index(j, json_member(j, token, "byteLength"), -1);
  const import_source *buffer = NULL;
  sk_status status;
  if (token < 0 || length < 0)
    return sk_fail(job->error, SK_ERROR_IMPORT, "bufferViews[%lld] does not exist or has no length", (long long)index);
  status = open_buffer(job, json_index(j, json_member(j, token, "buffer"), -1), &buffer);
  if (status) return status;
  if ((uint64_t)offset > buffer->size || (uint64_t)length > buffer->size - (uint64_t)offset)
    return sk_fail(job->error, SK_ERROR_IMPORT,
                   "bufferViews[%lld]: bytes %lld to %lld are not in its buffer of %zu bytes", (long long)index,
                   (long long)offset, (long long)(offset + length), buffer->size);
  *data = buffer->data + offset;
  *size = (size_t)length;
  return SK_OK;
}

/* ---- accessors --------------------------------------------------------------------------- */

/* The size of a component in bytes, or 0 if glTF has no such type. */
static uint32_t component_size(int64_t component) {
  switch (component) {
  case 5120:
  case 5121: return 1;
  case 5122:
  case 5123: return 2;
  case 5125:
  case 5126: return 4;
  default: return 0;
  }
}

static uint32_t type_width(const json *j, int32_t token) {
  static const struct {
    const char *name;
    uint32_t width;
  } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};
  size_t i;
  for (i = 0; i < sizeof types / sizeof *types; i++)
    if (json_equals(j, token, types[i].name)) return types[i].width;
  return 0;
}

/* Whether `count` elements of `bytes`, `stride` apart from `offset` on, lie in `size` bytes. */
static bool elements_fit(uint64_t size, uint64_t offset, uint64_t count, uint64_t stride, uint64_t bytes) {
  if (!count) return true;
  if (offset > size || bytes > size - offset) return false;
  return count - 1 <= (size - offset - bytes) / (stride ? stride : 1);
}

sk_status gltf_accessor_describe(import_job *job, int64_t index, gltf_accessor *a) {
  const json *j = &job->gltf->json;
  int32_t token = gltf_item(job->gltf, GLTF_ACCESSORS, index);
  int64_t count = json_index(j, json_member(j, token, "count"), -1);
  int64_t component = json_index(j, json_member(j, token, "componentType"), -1);
  size_t bytes;
  memset(a, 0, sizeof *a);
  if (token < 0) return sk_fail(job->error, SK_ERROR_IMPORT, "accessors[%lld] does not exist", (long long)index);
  a->width = type_width(j, json_member(j, token, "type"));
  a->component = (uint32_t)component;
  a->count = a->whole = (size_t)count;
  a->normalized = json_truth(j, json_member(j, token, "normalized"));
  a->sparse = json_member(j, token, "sparse");
  bytes = (size_t)a->width * component_size(component);
  a->stride = bytes;
  if (count < 0 || !bytes || (uint64_t)count * bytes > IMPORT_MAX_BYTES)
    return sk_fail(job->error, SK_ERROR_IMPORT,
                   "accessors[%lld] has an unknown type or component type, or an impossible count", (long long)index);
  return SK_OK;
}

sk_status gltf_accessor_open(import_job *job, int64_t index, gltf_accessor *a) {
  const json *j = &job->gltf->json;
  int32_t token = gltf_item(job->gltf, GLTF_ACCESSORS, index), view = json_member(j, token, "bufferView");
  int64_t offset = json_index(j, json_member(j, token, "byteOffset"), 0);
  size_t size = 0, bytes;
  sk_status status = gltf_accessor_describe(job, index, a);
  if (status || view < 0) return status;
  bytes = a->stride;
  status = gltf_view(job, json_index(j, view, -1), &a->data, &size);
  if (status) return status;
  token = gltf_item(job->gltf, GLTF_VIEWS, json_index(j, view, -1));
  a->stride = (size_t)json_index(j, json_member(j, token, "byteStride"), (int64_t)bytes);
  if (!a->stride) a->stride = bytes;
  if (!elements_fit(size, (uint64_t)offset, a->count, a->stride, bytes))
    return sk_fail(job->error, SK_ERROR_IMPORT,
                   "accessors[%lld]: %zu elements of %zu bytes from byte %lld on do not lie in its "
                   "bufferView of %zu bytes",
                   (long long)index, a->count, bytes, (long long)offset, size);
  a->data += offset;
  return SK_OK;
}

static float float_of(const uint8_t *at, uint32_t component, bool normalized) {
  int16_t s;
  uint16_t us;
  uint32_t ui;
  float f;
  switch (component) {
  case 5120: f = (float)(int8_t)*at; return !normalized ? f : f < -127.0f ? -1.0f : f / 127.0f;
  case 5121: return normalized ? (float)*at / 255.0f : (float)*at;
  case 5122: memcpy(&s, at, 2); return !normalized ? (float)s : s < -32767 ? -1.0f : (float)s / 32767.0f;
  case 5123: memcpy(&us, at, 2); return normalized ? (float)us / 65535.0f : (float)us;
  case 5125: memcpy(&ui, at, 4); return (float)ui;
  default: memcpy(&f, at, 4); return f;
  }
}

static uint32_t integer_of(const uint8_t *at, uint32_t component) {
  uint16_t us;
  uint32_t ui;
  switch (component) {
  case 5121: return *at;
  case 5123: memcpy(&us, at, 2); return us;
  case 5125: memcpy(&ui, at, 4); return ui;
  default: return UINT32_MAX; /* a joint or a vertex that does not exist */
  }
}

/* Reads one element into one of the two destinations; the other one is NULL. */
static void read_element(const gltf_accessor *a, const uint8_t *at, float *floats, uint32_t *integers) {
  uint32_t size = component_size(a->component), k;
  for (k = 0; k < a->width; k++, at += size) {
    if (floats) floats[k] = float_of(at, a->component, a->normalized);
    else integers[k] = integer_of(at, a->component);
  }
}

/* Reads the elements with which a sparse accessor replaces others. */
static sk_status read_sparse(import_job *job, int64_t index, const gltf_accessor *a, float *floats,
                             uint32_t *integers) {
  const json *j = &job->gltf->json;
  int32_t indices = json_member(j, a->sparse, "indices"), values = json_member(j, a->sparse, "values");
  int64_t count = json_index(j, json_member(j, a->sparse, "count"), -1);
  int64_t component = json_index(j, json_member(j, indices, "componentType"), -1);
  uint64_t from = (uint64_t)json_index(j, json_member(j, indices, "byteOffset"), 0);
  uint64_t value_from = (uint64_t)json_index(j, json_member(j, values, "byteOffset"), 0);
  uint32_t step = component_size(component), bytes = a->width * component_size(a->component);
  const uint8_t *where = NULL, *what = NULL;
  size_t where_size = 0, what_size = 0;
  int64_t i;
  sk_status status = gltf_view(job, json_index(j, json_member(j, indices, "bufferView"), -1), &where, &where_size);
  if (!status) status = gltf_view(job, json_index(j, json_member(j, values, "bufferView"), -1), &what, &what_size);
  if (status) return status;
  if (count < 0 || !step || !elements_fit(where_size, from, (uint64_t)count, step, step) ||
      !elements_fit(what_size, value_from, (uint64_t)count, bytes, bytes))
    return sk_fail(job->error, SK_ERROR_IMPORT, "accessors[%lld]: its sparse part does not lie in its bytes",
                   (long long)index);
  for (i = 0; i < count; i++) {
    size_t element = integer_of(where + from + (uint64_t)i * step, (uint32_t)component);
    if (element >= a->whole)
      return sk_fail(job->error, SK_ERROR_IMPORT, "accessors[%lld]: its sparse part replaces element %zu of %zu",
                     (long long)index, element, a->whole);
    if (element >= a->count) continue;
    read_element(a, what + value_from + (uint64_t)i * bytes, floats ? floats + element * a->width : NULL,
                 integers ? integers + element * a->width : NULL);
  }
  return SK_OK;
}

sk_status gltf_accessor_floats(import_job *job, int64_t index, const gltf_accessor *a, float *out) {
  size_t i, bytes = (size_t)a->width * sizeof(float);
  if (!a->data) {
    memset(out, 0, a->count * bytes);
  } else if (a->component == 5126 && a->stride == bytes) {
    memcpy(out, a->data, a->count * bytes);
  } else {
    for (i = 0; i < a->count; i++) read_element(a, a->data + i * a->stride, out + i * a->width, NULL);
  }
  return a->sparse < 0 ? SK_OK : read_sparse(job, index, a, out, NULL);
}

void gltf_restore_lengths(const gltf_accessor *a, float *elements) {
  /* Writers quantize to 8 bits or more, and then often store 16. */
  double tolerance = sqrt((double)a->width) / 127.0;
  size_t i;
  uint32_t k;
  if ((a->component != 5120 && a->component != 5122) || !a->normalized) return;
  for (i = 0; i < a->count; i++, elements += a->width) {
    double square = 0.0, length;
    for (k = 0; k < a->width; k++) square += (double)elements[k] * elements[k];
    length = sqrt(square);
    for (k = 0; k < a->width && fabs(length - 1.0) <= tolerance; k++) elements[k] = (float)(elements[k] / length);
  }
}

/* A faster way for numbers that lie side by side, as most do; false for others, of which nothing is written. */
static bool widen(const gltf_accessor *a, uint32_t *out) {
  size_t i, count = a->count * a->width;
  uint16_t half;
  if (a->stride != (size_t)a->width * component_size(a->component)) return false;
  switch (a->component) {
  case 5121:
    for (i = 0; i < count; i++) out[i] = a->data[i];
    return true;
  case 5123:
    for (i = 0; i < count; i++) memcpy(&half, a->data + 2 * i, 2), out[i] = half;
    return true;
  case 5125: memcpy(out, a->data, count * sizeof *out); return true;
  default: return false;
  }
}

sk_status gltf_accessor_integers(import_job *job, int64_t index, const gltf_accessor *a, uint32_t *out) {
  size_t i;
  if (!a->data) memset(out, 0, a->count * a->width * sizeof *out);
  else if (!widen(a, out))
    for (i = 0; i < a->count; i++) read_element(a, a->data + i * a->stride, NULL, out + i * a->width);
  return a->sparse < 0 ? SK_OK : read_sparse(job, index, a, NULL, out);
}
