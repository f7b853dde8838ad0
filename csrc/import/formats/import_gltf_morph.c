/* import_gltf_morph.c: the morph targets of a glTF. */
#include <string.h>

#include "../import_morph.h"
#include "import_gltf.h"

uint32_t gltf_target_count(const import_job *job, const import_submesh *submesh) {
  return (uint32_t)json_length(&job->gltf->json, submesh->primitive->targets);
}

/* Reads the differences of one attribute of a target into each row from number `at` on; sets `*found` where there are
   any. */
static sk_status read_attribute(import_job *job, const import_submesh *submesh, int32_t token, uint32_t target,
                                size_t at, float *rows, bool *found) {
  int64_t index = json_index(&job->gltf->json, token, -1);
  gltf_accessor a;
  float *values;
  size_t v;
  sk_status status;
  if (token < 0) return SK_OK;
  status = gltf_accessor_open(job, index, &a);
  if (status) return status;
  if (a.width != 3 || a.count != submesh->vertex_count) {
    import_note_target(job, submesh, target);
    return SK_OK;
  }
  values = sk_alloc(a.count * 3 * sizeof *values);
  if (!values) return import_no_memory(job, a.count * 3 * sizeof *values);
  status = gltf_accessor_floats(job, index, &a, values);
  for (v = 0; v < a.count && !status; v++)
    memcpy(rows + IMPORT_SHAPE_WIDTH * v + at, values + 3 * v, 3 * sizeof *values);
  *found = true;
  sk_free(values);
  return status;
}

/* Of a target, skinpy keeps by how much positions and normals change. */
static void note_unread(import_job *job, const import_submesh *submesh, int32_t target, uint32_t number) {
  const json *j = &job->gltf->json;
  int32_t key;
  for (key = json_first_key(j, target); key >= 0; key = json_key_after(j, target, key)) {
    size_t length;
    const char *name = json_raw(j, key, &length);
    if (!json_equals(j, key, "POSITION") && !json_equals(j, key, "NORMAL"))
      import_note_add(job, NOTE_attributes_ignored, 1, "meshes[%d].primitives[%d].targets[%u].%.*s",
                      submesh->primitive->mesh, submesh->primitive->number, number, (int)(length < 60 ? length : 60),
                      name);
  }
}

sk_status gltf_read_shapes(import_job *job, const import_submesh *submesh, import_shapes *shapes) {
  const json *j = &job->gltf->json;
  int32_t token = json_first(j, submesh->primitive->targets);
  float *rows = shapes->moved;
  bool moves = false;
  uint32_t t;
  sk_status status = SK_OK;
  for (t = 0; t < shapes->count && !status; t++) {
    status = read_attribute(job, submesh, json_member(j, token, "POSITION"), t, 0, rows, &moves);
    if (!status)
      status = read_attribute(job, submesh, json_member(j, token, "NORMAL"), t, 3, rows, &shapes->has_normals);
    note_unread(job, submesh, token, t);
    token = json_after(j, submesh->primitive->targets, token);
    rows += IMPORT_SHAPE_WIDTH * (size_t)submesh->vertex_count;
  }
  return status;
}

/* The element of an array, of which mostly the next one is asked for. */
static int32_t element(const json *j, int32_t array, uint32_t index, gltf_cursor *cursor) {
  if (cursor->array != array || cursor->index > index) *cursor = (gltf_cursor){array, 0, json_first(j, array)};
  for (; cursor->index < index && cursor->token >= 0; cursor->index++)
    cursor->token = json_after(j, array, cursor->token);
  return cursor->token;
}

/* From the weights of the node, else from those of the mesh. */
float gltf_default_weight(const import_job *job, const import_submesh *submesh, uint32_t target) {
  gltf *g = job->gltf;
  int32_t array, token;
  float weight;
  array = json_member(&g->json, gltf_item(g, GLTF_NODES, submesh->gltf_node - g->nodes), "weights");
  if (json_length(&g->json, array) <= (int32_t)target)
    array = json_member(&g->json, gltf_item(g, GLTF_MESHES, submesh->primitive->mesh), "weights");
  token = element(&g->json, array, target, &g->weight);
  weight = token < 0 ? 0.0f : (float)json_number(&g->json, token, 0.0);
  return import_is_bad(weight) ? 0.0f : weight;
}

bool gltf_name_target(import_job *job, const import_submesh *submesh, uint32_t target, sk_text *name) {
  const json *j = &job->gltf->json;
  int32_t mesh = gltf_item(job->gltf, GLTF_MESHES, submesh->primitive->mesh);
  int32_t names = json_member(j, json_member(j, mesh, "extras"), "targetNames");
  return json_text(j, element(j, names, target, &job->gltf->name), &job->model.text, name);
}
