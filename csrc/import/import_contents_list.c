/* import_contents_list.c: the arrays of job->contents, as the reader of a format fills them. */
#include <string.h>

#include "import_contents.h"
#include "import_limit.h"

#define NODE(contents, i)     ((import_contents_node *)(contents)->nodes.data + (i))
#define MESH(contents, i)     ((const import_contents_mesh *)(contents)->meshes.data + (i))
#define INSTANCE(contents, i) ((const import_contents_instance *)(contents)->instances.data + (i))
#define TRACK(contents, i)    ((const import_contents_track *)(contents)->tracks.data + (i))

/* ---- making ------------------------------------------------------------------------------- */

sk_status import_contents_open(import_job *job) {
  import_contents *c = job->contents = sk_alloc_zero(sizeof *c);
  if (!c) return import_no_memory(job, sizeof *c);
  c->nodes = SK_ARRAY(import_contents_node);
  c->meshes = SK_ARRAY(import_contents_mesh);
  c->skins = SK_ARRAY(import_contents_skin);
  c->instances = SK_ARRAY(import_contents_instance);
  c->materials = SK_ARRAY(import_contents_material);
  c->clips = SK_ARRAY(import_contents_clip);
  c->tracks = SK_ARRAY(import_contents_track);
  c->memory = SK_ARRAY(void *);
  if (!sk_array_room(&job->model.text, 1)) return import_no_memory(job, 1);
  job->model.text.count--; /* now the pool has an address, which texts of no bytes may point to */
  return SK_OK;
}

void import_contents_close(import_job *job) {
  import_contents *c = job->contents;
  size_t i;
  if (!c) return;
  for (i = 0; i < c->memory.count; i++) sk_free(((void **)c->memory.data)[i]);
  sk_array_free(&c->nodes);
  sk_array_free(&c->meshes);
  sk_array_free(&c->skins);
  sk_array_free(&c->instances);
  sk_array_free(&c->materials);
  sk_array_free(&c->clips);
  sk_array_free(&c->tracks);
  sk_array_free(&c->memory);
  sk_free(c);
  job->contents = NULL;
}

void *import_contents_take(import_job *job, size_t count, size_t size) {
  void **kept = sk_array_extend(&job->contents->memory, 1);
  size_t bytes = 0;
  if (kept) *kept = sk_multiply(count, size, &bytes) ? sk_alloc_zero(bytes ? bytes : 1) : NULL;
  if (kept && *kept) return *kept;
  import_no_memory(job, bytes);
  return NULL;
}

char *import_contents_copy(import_job *job, import_span text) {
  char *copy = import_contents_take(job, text.length + 1, 1);
  if (copy && text.length) memcpy(copy, text.at, text.length);
  return copy;
}

/* One more element, zeroed. */
static void *add(import_job *job, sk_array *array) {
  void *added = sk_array_extend(array, 1);
  if (added) memset(added, 0, array->stride);
  else import_no_memory(job, array->stride);
  return added;
}

import_contents_node *import_contents_add_node(import_job *job, int32_t parent) {
  import_contents_node *node = add(job, &job->contents->nodes);
  int i;
  if (!node) return NULL;
  node->parent = parent;
  node->rotation[3] = 1.0f;
  for (i = 0; i < 3; i++) node->scale[i] = 1.0f, node->local[5 * i] = 1.0;
  return node;
}

sk_status import_contents_add_turned_root(import_job *job, const char *name) {
  import_contents_node *root = import_contents_add_node(job, SK_NONE);
  if (!root) return SK_ERROR_MEMORY;
  root->has_trs = true;
  root->rotation[0] = -0.70710678f, root->rotation[3] = 0.70710678f;
  import_note_add(job, NOTE_axes_converted, 1, "the root rotates the file's axes");
  return import_add_text(job, (import_span){name, strlen(name)}, &root->name);
}

import_contents_mesh *import_contents_add_mesh(import_job *job) { return add(job, &job->contents->meshes); }

import_contents_skin *import_contents_add_skin(import_job *job) { return add(job, &job->contents->skins); }

import_contents_instance *import_contents_add_instance(import_job *job, int32_t node, int32_t mesh) {
  import_contents_instance *instance = add(job, &job->contents->instances);
  if (instance) *instance = (import_contents_instance){node, mesh, SK_NONE, SK_NONE, false};
  return instance;
}

import_contents_material *import_contents_add_material(import_job *job) {
  import_contents_material *material = add(job, &job->contents->materials);
  if (material)
    material->material = (sk_material){
        .base_color = {1, 1, 1, 1}, .texture = SK_NONE, .alpha_cutoff = 0.5f, .uv_transform = {1, 0, 0, 0, 1, 0}};
  return material;
}

import_contents_clip *import_contents_add_clip(import_job *job) {
  import_contents_clip *clip = add(job, &job->contents->clips);
  if (clip) clip->duration = -1.0, clip->first_track = job->contents->tracks.count;
  return clip;
}

import_contents_track *import_contents_add_track(import_job *job, int32_t node, sk_path path) {
  import_contents *c = job->contents;
  import_contents_track *track = add(job, &c->tracks);
  if (!track) return NULL;
  track->node = node;
  track->path = path;
  track->interpolation = SK_LINEAR;
  ((import_contents_clip *)c->clips.data)[c->clips.count - 1].track_count++;
  return track;
}

bool import_contents_has_root_above(const import_contents *c) {
  size_t i, roots = 0;
  for (i = 0; i < c->nodes.count && roots < 2; i++) roots += NODE(c, i)->parent < 0;
  return roots != 1;
}

int32_t import_contents_joint(const import_job *job, int32_t node) {
  return node + (int32_t)(job->model.nodes.count - job->contents->nodes.count);
}

/* ---- limits --------------------------------------------------------------------------------- */

static sk_status count_depth(import_job *job, import_counts *counts) {
  const import_contents *c = job->contents;
  uint32_t above = import_contents_has_root_above(c), *depth = sk_alloc((c->nodes.count + 1) * sizeof *depth);
  size_t i;
  if (!depth) return import_no_memory(job, c->nodes.count * sizeof *depth);
  for (i = 0; i < c->nodes.count; i++) {
    int32_t parent = NODE(c, i)->parent;
    depth[i] = parent < 0 ? 1 + above : depth[parent] + 1;
    if (depth[i] > counts->depth) counts->depth = depth[i];
  }
  sk_free(depth);
  return SK_OK;
}

sk_status import_contents_check(import_job *job) {
  const import_contents *c = job->contents;
  import_counts counts = {.nodes = c->nodes.count + import_contents_has_root_above(c)};
  size_t i;
  sk_status status = count_depth(job, &counts);
  if (status) return status;
  for (i = 0; i < c->instances.count; i++) {
    const import_contents_mesh *mesh = MESH(c, INSTANCE(c, i)->mesh);
    counts.vertices += mesh->vertex_count;
    counts.rows += 3 * (uint64_t)mesh->face_count + (uint64_t)mesh->target_count * mesh->vertex_count;
  }
  for (i = 0; i < c->tracks.count; i++) counts.keys += TRACK(c, i)->count;
  return import_check_counts(job, &counts);
}
