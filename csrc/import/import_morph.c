/* import_morph.c: morph targets: differences to the vertices of a node's mesh; import_morph.h says on which way they
   come. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "import_reader.h"

#define WIDTH IMPORT_SHAPE_WIDTH
#define EMPTY UINT32_MAX

/* ---- which targets there are -------------------------------------------------------- */

uint32_t import_target_count(const import_job *job, const import_submesh *submesh) {
  if (job->format->reader) return job->format->reader->target_count(job, submesh);
  return submesh->mesh->mAnimMeshes ? submesh->mesh->mNumAnimMeshes : 0;
}

/* ---- reading ---------------------------------------------------------------------------- */

void import_note_target(import_job *job, const import_submesh *submesh, uint32_t target) {
  import_note_add(job, NOTE_morph_targets_dropped, 1, "target %u of mesh '%.80s'", target, submesh->title);
}

/* Assimp normalizes the normals of a shape once more, which changes their last digit. */
static bool is_same_direction(const struct aiVector3D *a, const struct aiVector3D *b) {
  return fabsf(a->x - b->x) < 1e-6f && fabsf(a->y - b->y) < 1e-6f && fabsf(a->z - b->z) < 1e-6f;
}

/* Assimp's shapes have all vertices; the differences to those of the mesh are kept. */
static void read_shape(const struct aiMesh *mesh, const struct aiAnimMesh *shape, import_shapes *shapes, float *rows) {
  bool normals = shape->mNormals && mesh->mNormals;
  unsigned v;
  for (v = 0; v < mesh->mNumVertices; v++, rows += WIDTH) {
    const struct aiVector3D *from = &mesh->mVertices[v], *to = &shape->mVertices[v];
    rows[0] = to->x - from->x, rows[1] = to->y - from->y, rows[2] = to->z - from->z;
    if (!normals) continue;
    from = &mesh->mNormals[v], to = &shape->mNormals[v];
    if (!is_same_direction(from, to)) rows[3] = to->x - from->x, rows[4] = to->y - from->y, rows[5] = to->z - from->z;
  }
  shapes->has_normals |= normals;
}

static void read_assimp_shapes(import_job *job, const import_submesh *submesh, import_shapes *shapes) {
  const struct aiMesh *mesh = submesh->mesh;
  float *rows = shapes->moved;
  uint32_t t;
  for (t = 0; t < shapes->count; t++) {
    const struct aiAnimMesh *shape = mesh->mAnimMeshes[t];
    if (shape->mVertices && shape->mNumVertices == mesh->mNumVertices) read_shape(mesh, shape, shapes, rows);
    else import_note_target(job, submesh, t);
    rows += WIDTH * (size_t)submesh->vertex_count;
  }
}

sk_status import_read_shapes(import_job *job, const import_submesh *submesh, import_shapes *shapes) {
  size_t numbers = WIDTH * (size_t)submesh->vertex_count, i, bad = 0;
  sk_status status = SK_OK;
  shapes->count = import_target_count(job, submesh);
  if (!shapes->count) return SK_OK;
  if (shapes->count > SK_MAX_JOINTS)
    return sk_fail(job->error, SK_ERROR_IMPORT, "the model has more than %u morph targets", SK_MAX_JOINTS);
  if (!sk_multiply(numbers, shapes->count, &numbers) || numbers > IMPORT_MAX_BYTES / sizeof(float))
    return sk_fail(job->error, SK_ERROR_IMPORT, "%u morph targets of %u vertices take more than 2 GiB", shapes->count,
                   submesh->vertex_count);
  shapes->moved = sk_alloc_zero(numbers * sizeof(float));
  if (!shapes->moved) return import_no_memory(job, numbers * sizeof(float));
  if (job->format->reader) status = job->format->reader->read_shapes(job, submesh, shapes);
  else read_assimp_shapes(job, submesh, shapes);
  for (i = 0; i < numbers; i++) {
    bad += import_is_bad(shapes->moved[i]);
    shapes->moved[i] = import_is_bad(shapes->moved[i]) ? 0.0f : shapes->moved[i] + 0.0f; /* makes -0 to 0 */
  }
  import_note_add(job, NOTE_numbers_repaired, bad, "morph targets of mesh '%.80s'", submesh->title);
  return status;
}

/* ---- joining ------------------------------------------------------------------------------ */

static const float *row_of(const import_submesh *submesh, const import_shapes *shapes, uint32_t target, uint32_t v) {
  return shapes->moved + WIDTH * ((size_t)target * submesh->vertex_count + v);
}

static uint64_t hash_vertex(const import_submesh *submesh, const import_shapes *shapes, uint32_t v) {
  uint64_t hash = 0;
  uint32_t t;
  for (t = 0; t < shapes->count; t++)
    hash = hash * 0x9e3779b97f4a7c15u ^ import_hash(row_of(submesh, shapes, t, v), WIDTH * sizeof(float));
  return hash ^ hash >> 32;
}

static bool move_alike(const import_submesh *submesh, const import_shapes *shapes, uint32_t a, uint32_t b) {
  uint32_t t;
  for (t = 0; t < shapes->count; t++)
    if (memcmp(row_of(submesh, shapes, t, a), row_of(submesh, shapes, t, b), WIDTH * sizeof(float))) return false;
  return true;
}

sk_status import_number_shapes(import_job *job, const import_submesh *submesh, const import_shapes *shapes) {
  uint32_t *numbers = job->model.shapes + submesh->first_vertex, *table, v;
  size_t size = 16;
  while (size < 2 * (size_t)submesh->vertex_count) size *= 2;
  table = sk_alloc(size * sizeof *table);
  if (!table) return import_no_memory(job, size * sizeof *table);
  memset(table, 0xff, size * sizeof *table);
  for (v = 0; v < submesh->vertex_count; v++) {
    size_t at = hash_vertex(submesh, shapes, v) & (size - 1);
    while (table[at] != EMPTY && !move_alike(submesh, shapes, table[at], v)) at = (at + 1) & (size - 1);
    if (table[at] == EMPTY) table[at] = v;
    numbers[v] = table[at];
  }
  sk_free(table);
  return SK_OK;
}

/* ---- keeping what moves ---------------------------------------------------------------------- */

import_morphs import_no_morphs(void) {
  return (import_morphs){SK_ARRAY(import_morph), SK_ARRAY(uint32_t), SK_ARRAY(float[3]), SK_ARRAY(float[3]), false};
}

void import_free_morphs(import_morphs *morphs) {
  sk_array_free(&morphs->list);
  sk_array_free(&morphs->vertices);
  sk_array_free(&morphs->positions);
  sk_array_free(&morphs->normals);
}

static bool is_zero(const float row[WIDTH]) {
  static const float nothing[WIDTH];
  return !memcmp(row, nothing, sizeof nothing);
}

static sk_status keep_shape(import_job *job, const import_submesh *submesh, uint32_t first, const uint32_t *map,
                            const import_shapes *shapes, uint32_t target, import_morphs *morphs) {
  uint32_t v, next = 0;
  for (v = 0; v < submesh->vertex_count; v++) {
    const float *row = row_of(submesh, shapes, target, v);
    uint32_t *vertex;
    float *position, *normal;
    if (map[v] != next) continue; /* joined with an earlier one */
    next++;
    if (is_zero(row)) continue;
    vertex = sk_array_extend(&morphs->vertices, 1);
    position = sk_array_extend(&morphs->positions, 1);
    normal = sk_array_extend(&morphs->normals, 1);
    if (!vertex || !position || !normal) return import_no_memory(job, WIDTH * sizeof(float));
    *vertex = first + map[v];
    memcpy(position, row, 3 * sizeof *row);
    memcpy(normal, row + 3, 3 * sizeof *row);
  }
  return SK_OK;
}

static float default_weight(const import_job *job, const import_submesh *submesh, uint32_t target) {
  float weight;
  if (job->format->reader) return job->format->reader->default_weight(job, submesh, target);
  weight = submesh->mesh->mAnimMeshes[target]->mWeight;
  return import_is_bad(weight) ? 0.0f : weight;
}

sk_status import_keep_shapes(import_job *job, const import_submesh *submesh, uint32_t first, const uint32_t *map,
                             const import_shapes *shapes, import_morphs *morphs) {
  uint32_t t;
  sk_status status = SK_OK;
  morphs->has_normals |= shapes->has_normals;
  for (t = 0; t < shapes->count && !status; t++) {
    import_morph *morph = sk_array_extend(&morphs->list, 1);
    if (!morph) status = import_no_memory(job, sizeof *morph);
    if (!morph) break;
    *morph = (import_morph){submesh->joint, t, submesh, default_weight(job, submesh, t), morphs->vertices.count, 0};
    status = keep_shape(job, submesh, first, map, shapes, t, morphs);
    morph->count = morphs->vertices.count - morph->first;
  }
  return status;
}

/* ---- the block's targets ------------------------------------------------------------------------ */

static bool name_assimp_target(import_job *job, const import_submesh *submesh, uint32_t target, sk_text *name) {
  const char *given = submesh->mesh->mAnimMeshes[target]->mName.data;
  return sk_text_append(&job->model.text, given, strlen(given), name);
}

static sk_status name_target(import_job *job, const import_morph *morph, sk_text *name) {
  const import_reader *reader = job->format->reader;
  char words[24];
  bool good = reader ? reader->name_target(job, morph->submesh, morph->target, name)
                     : name_assimp_target(job, morph->submesh, morph->target, name);
  snprintf(words, sizeof words, "target%u", morph->target);
  if (good && !name->length) good = sk_text_append(&job->model.text, words, strlen(words), name);
  return good ? SK_OK : import_no_memory(job, sizeof words);
}

static bool append(sk_array *out, const sk_array *from, uint64_t first, uint64_t count) {
  void *added = sk_array_extend(out, (size_t)count);
  if (added && count)
    memcpy(added, (const char *)from->data + (size_t)first * from->stride, (size_t)count * from->stride);
  return added != NULL;
}

/* Adds one target of a node: what it does to all submeshes of the node that have it, which `which` numbers. */
static sk_status add_target(import_job *job, const import_morphs *morphs, const size_t *which, size_t count) {
  import_model *m = &job->model;
  const import_morph *list = morphs->list.data;
  sk_target target = {.node = list[*which].node,
                      .first = m->target_vertices.count,
                      .default_weight = list[*which].default_weight},
            *added;
  bool good = true;
  size_t i;
  sk_status status = name_target(job, &list[*which], &target.name);
  if (status) return status;
  for (i = 0; i < count && good; i++) {
    const import_morph *morph = &list[which[i]];
    good = append(&m->target_vertices, &morphs->vertices, morph->first, morph->count) &&
           append(&m->target_positions, &morphs->positions, morph->first, morph->count) &&
           (!morphs->has_normals || append(&m->target_normals, &morphs->normals, morph->first, morph->count));
  }
  target.count = m->target_vertices.count - target.first;
  added = good ? sk_array_extend(&m->targets, 1) : NULL;
  if (!added) return import_no_memory(job, sizeof *added);
  *added = target;
  return SK_OK;
}

/* Adds the targets of a node, which list[from] to list[end - 1] change its submeshes. They are sorted by their number,
   of which each submesh has all from 0 on. */
static sk_status add_targets(import_job *job, const import_morphs *morphs, size_t from, size_t end) {
  const import_morph *list = morphs->list.data;
  uint32_t number, count = 0;
  size_t i, *ends, *order = sk_alloc((end - from) * sizeof *order);
  sk_status status = SK_OK;
  for (i = from; i < end; i++)
    if (list[i].target >= count) count = list[i].target + 1;
  ends = sk_alloc_zero(((size_t)count + 1) * sizeof *ends);
  if (!ends || !order) status = import_no_memory(job, (end - from) * sizeof *order);
  for (i = from; i < end && !status; i++) ends[list[i].target + 1]++;
  for (number = 1; number <= count && !status; number++) ends[number] += ends[number - 1];
  for (i = from; i < end && !status; i++) order[ends[list[i].target]++] = i;
  for (number = 0; number < count && !status; number++) {
    size_t start = number ? ends[number - 1] : 0;
    status = add_target(job, morphs, order + start, ends[number] - start);
  }
  sk_free(ends);
  sk_free(order);
  return status;
}

/* Where the targets of each joint are, for import_targets_of. */
static sk_status number_targets(import_job *job) {
  import_model *m = &job->model;
  const sk_target *targets = m->targets.data;
  uint32_t i;
  if (!m->targets.count) return SK_OK;
  m->targets_of = sk_alloc_zero(2 * m->nodes.count * sizeof *m->targets_of);
  if (!m->targets_of) return import_no_memory(job, 2 * m->nodes.count * sizeof *m->targets_of);
  for (i = 0; i < m->targets.count; i++) {
    uint32_t *range = m->targets_of + 2 * (size_t)targets[i].node;
    if (!range[1]++) range[0] = i;
  }
  return SK_OK;
}

sk_status import_targets(import_job *job, const import_morphs *morphs) {
  import_model *m = &job->model;
  const import_morph *list = morphs->list.data;
  size_t from = 0, end;
  sk_status status = SK_OK;
  m->targets = SK_ARRAY(sk_target);
  m->target_vertices = SK_ARRAY(uint32_t);
  m->target_positions = m->target_normals = SK_ARRAY(float[3]);
  for (; from < morphs->list.count && !status; from = end) {
    for (end = from; end < morphs->list.count && list[end].node == list[from].node; end++) {}
    status = add_targets(job, morphs, from, end);
  }
  if (!status && m->targets.count > SK_MAX_JOINTS)
    return sk_fail(job->error, SK_ERROR_IMPORT, "the model has more than %u morph targets", SK_MAX_JOINTS);
  m->info.targets = (uint32_t)m->targets.count;
  return status ? status : number_targets(job);
}

uint32_t import_targets_of(const import_job *job, int32_t joint, uint32_t *count) {
  const uint32_t *targets_of = job->model.targets_of;
  *count = targets_of ? targets_of[2 * (size_t)joint + 1] : 0;
  return targets_of ? targets_of[2 * (size_t)joint] : 0;
}
