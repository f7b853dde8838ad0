/* import_x.c: the frames and materials of .x, and the steps in their order. */
#include "import_x.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "../import_limit.h"
#include "../import_material.h"
#include "import_x_scene.h"

/* ---- names ----------------------------------------------------------------------------------- */

static import_names *table_of(x_scene *x, x_kind kind) {
  switch (kind) {
  case X_FRAME: return &x->frames;
  case X_MATERIAL: return &x->materials;
  case X_MESH: return &x->meshes;
  case X_ANIMATION: return &x->animations;
  default: return NULL;
  }
}

/* The first object of a name keeps it. */
static sk_status index_names(x_scene *x) {
  import_names *tables[] = {&x->frames, &x->materials, &x->meshes, &x->animations};
  size_t counts[X_KEY + 1] = {0}, i, count = x->file.objects.count;
  for (i = 0; i < count; i++) counts[x_object_at(&x->file, i)->kind]++;
  if (!import_names_make(tables[0], counts[X_FRAME]) || !import_names_make(tables[1], counts[X_MATERIAL]) ||
      !import_names_make(tables[2], counts[X_MESH]) || !import_names_make(tables[3], counts[X_ANIMATION]))
    return import_no_memory(x->job, count);
  for (i = 0; i < count; i++) {
    const x_object *object = x_object_at(&x->file, i);
    import_names *table = object->name.length ? table_of(x, object->kind) : NULL;
    uint32_t first;
    if (!table) continue;
    first = import_names_add(table, object->name.at, object->name.length, (uint32_t)i);
    if (first != i) x->made[first].is_shared = true;
  }
  return SK_OK;
}

const x_object *x_find(x_scene *x, const import_names *names, import_span name, const char *what) {
  int64_t found = name.length ? import_names_find(names, name.at, name.length) : SK_NONE;
  if (found < 0) return NULL;
  if (x->made[found].is_shared) import_note_add(x->job, NOTE_names_ambiguous, 1, "%s '%.*s'", what, IMPORT_SHORT(name));
  return x_object_at(&x->file, (size_t)found);
}

const x_object *x_next_below(const x_scene *x, const x_object *object, const x_object *at) {
  size_t next = at ? at->end : (size_t)(object - x_object_at(&x->file, 0)) + 1;
  return next < object->end ? x_object_at(&x->file, next) : NULL;
}

/* ---- frames ------------------------------------------------------------------------------------ */

bool x_matrix(const double *m, double out[12]) {
  int row, column;
  for (row = 0; row < 3; row++)
    for (column = 0; column < 4; column++)
      out[4 * row + column] = ((row == 2) != (column == 2) ? -1.0 : 1.0) * m[4 * column + row];
  return fabs(m[3]) <= IMPORT_BOTTOM_TOLERANCE && fabs(m[7]) <= IMPORT_BOTTOM_TOLERANCE &&
         fabs(m[11]) <= IMPORT_BOTTOM_TOLERANCE && fabs(m[15] - 1.0) <= IMPORT_BOTTOM_TOLERANCE;
}

static void read_matrix(x_scene *x, const x_object *frame, import_contents_node *node) {
  const x_object *below = NULL;
  bool good = true;
  while ((below = x_next_below(x, frame, below)) != NULL) {
    x_numbers numbers = x_numbers_of(&x->file, below);
    const double *m = below->kind == X_FRAME_MATRIX ? x_take(&numbers, 16) : NULL;
    if (m) good = x_matrix(m, node->local);
    else if (below->kind == X_FRAME_MATRIX) good = false;
  }
  if (!good) import_note_add(x->job, NOTE_numbers_repaired, 1, "the matrix of frame '%.*s'", IMPORT_SHORT(frame->name));
}

/* A frame counts only at the top or below another frame; a mesh outside of all frames gets a node. */
static sk_status add_nodes(x_scene *x) {
  size_t i;
  sk_status status = SK_OK;
  for (i = 0; i < x->file.objects.count && !status; i++) {
    const x_object *object = x_object_at(&x->file, i);
    int32_t parent = object->parent < 0 ? SK_NONE : x->made[object->parent].index;
    bool stands_alone = object->kind == X_MESH && object->parent < 0 && !x->made[i].is_referred;
    import_contents_node *node;
    if (object->kind != X_FRAME && !stands_alone) continue;
    if (object->parent >= 0 && x_object_at(&x->file, (size_t)object->parent)->kind != X_FRAME) continue;
    if (object->parent >= 0 && parent < 0) continue;
    node = import_contents_add_node(x->job, parent);
    if (!node) return SK_ERROR_MEMORY;
    status = import_add_text(x->job, object->name, &node->name);
    if (object->kind == X_FRAME)
      x->made[i].index = (int32_t)x->job->contents->nodes.count - 1, read_matrix(x, object, node);
  }
  return status;
}

/* Frames may refer to meshes that stand elsewhere. */
static void mark_referred(x_scene *x) {
  size_t i;
  for (i = 0; i < x->file.objects.count; i++) {
    const x_object *object = x_object_at(&x->file, i);
    int64_t mesh;
    if (object->kind != X_REFERENCE || object->parent < 0 || !object->name.length) continue;
    if (x_object_at(&x->file, (size_t)object->parent)->kind != X_FRAME) continue;
    mesh = import_names_find(&x->meshes, object->name.at, object->name.length);
    if (mesh >= 0) x->made[mesh].is_referred = true;
  }
}

/* ---- materials ----------------------------------------------------------------------------------- */

/* Programs write "\\" for "\". */
static sk_status set_image(x_scene *x, import_span path, import_contents_material *material) {
  size_t i, length = 0;
  material->image = import_contents_take(x->job, path.length + 1, 1);
  if (!material->image) return SK_ERROR_MEMORY;
  for (i = 0; i < path.length; i++)
    if (!length || path.at[i] != '\\' || material->image[length - 1] != '\\') material->image[length++] = path.at[i];
  material->image[length] = 0;
  return SK_OK;
}

static bool holds(import_span text, const char *word) {
  size_t length = strlen(word), i;
  for (i = 0; i + length <= text.length; i++)
    if (!strncasecmp(text.at + i, word, length)) return true;
  return false;
}

/* If a material has several textures, their names show which are not for the color. */
static bool is_of_color(const x_object *texture, bool alone) {
  static const char *const others[] = {"bump",  "height", "normal", "nm",       "spec",
                                       "glanz", "ambi",   "env",    "emissive", "self"};
  import_span last = texture->text;
  size_t i;
  if (texture->kind != X_TEXTURE || !last.length) return false;
  for (i = last.length; i > 0 && last.at[i - 1] != '/' && last.at[i - 1] != '\\'; i--) {}
  last.at += i, last.length -= i;
  for (i = 0; !alone && i < sizeof others / sizeof *others; i++)
    if (holds(last, others[i])) return false;
  return true;
}

static void note_look(x_scene *x, const x_object *material, const char *what) {
  import_note_add(x->job, NOTE_looks_ignored, 1, "material '%.*s': %s", IMPORT_SHORT(material->name), what);
}

/* What comes behind the color: power, specular and emissive color; and what is not the texture of the color. */
static void note_looks(x_scene *x, const x_object *object, x_numbers numbers, const x_object *texture) {
  const double *v = x_take(&numbers, 7);
  const x_object *below = NULL;
  if (v && (v[1] > 0.0 || v[2] > 0.0 || v[3] > 0.0)) note_look(x, object, "specular color");
  if (v && (v[4] > 0.0 || v[5] > 0.0 || v[6] > 0.0)) note_look(x, object, "emissive color");
  while ((below = x_next_below(x, object, below)) != NULL) {
    if ((below->kind == X_TEXTURE || below->kind == X_NORMAL_MAP) && below != texture && below->text.length)
      note_look(x, object, "another texture");
    if (below->kind == X_EFFECT) note_look(x, object, "an effect");
  }
}

static sk_status set_texture(x_scene *x, const x_object *object, x_numbers numbers,
                             import_contents_material *material) {
  const x_object *below = NULL, *found = NULL;
  uint32_t count = 0;
  while ((below = x_next_below(x, object, below)) != NULL)
    count += below->kind == X_TEXTURE || below->kind == X_NORMAL_MAP;
  while (!found && (below = x_next_below(x, object, below)) != NULL)
    if (is_of_color(below, count == 1)) found = below;
  note_looks(x, object, numbers, found);
  return found ? set_image(x, found->text, material) : SK_OK;
}

/* Color and opacity; then come the power, the specular and the emissive color. */
static sk_status add_material(x_scene *x, const x_object *object) {
  import_contents_material *material = import_contents_add_material(x->job);
  x_numbers numbers = x_numbers_of(&x->file, object);
  const double *color = x_take(&numbers, 4);
  sk_material *m = material ? &material->material : NULL;
  sk_status status = material ? import_add_text(x->job, object->name, &m->name) : SK_ERROR_MEMORY;
  int i;
  if (status) return status;
  for (i = 0; i < 4 && color; i++) {
    if (import_is_bad((float)color[i])) import_note_add(x->job, NOTE_numbers_repaired, 1, "the color of a material");
    else m->base_color[i] = (float)color[i];
  }
  import_clamp_color(x->job, object->name, m);
  m->alpha = m->base_color[3] < 1.0f ? SK_ALPHA_BLEND : SK_ALPHA_OPAQUE;
  x_made_of(x, object)->index = (int32_t)x->job->contents->materials.count - 1;
  return set_texture(x, object, numbers, material);
}

/* Materials outside of meshes come first, so that a mesh's list can refer to them. */
static sk_status add_materials(x_scene *x) {
  sk_status status = SK_OK;
  size_t i;
  int inner;
  for (inner = 0; inner < 2; inner++)
    for (i = 0; i < x->file.objects.count && !status; i++) {
      const x_object *object = x_object_at(&x->file, i);
      if (object->kind == X_MATERIAL && (object->parent >= 0) == inner) status = add_material(x, object);
    }
  return status;
}

/* ---- meshes ------------------------------------------------------------------------------------------ */

/* The parts of a mesh at a node. A mesh may be referred to many times, so that its vertices are counted here. */
static sk_status add_instances(x_scene *x, const x_object *mesh, int32_t node) {
  const x_made *made = x_made_of(x, mesh);
  import_contents *c = x->job->contents;
  sk_status status = x_make_mesh(x, mesh);
  uint32_t i;
  for (i = 0; i < made->parts && !status; i++) {
    int32_t number = made->index + (int32_t)i;
    const import_contents_mesh *part = (const import_contents_mesh *)c->meshes.data + number;
    const x_part *made_of = (const x_part *)x->parts.data + number;
    import_counts counts = {.vertices = x->vertices += part->vertex_count};
    import_contents_instance *instance;
    status = import_check_counts(x->job, &counts);
    if (status) return status;
    instance = import_contents_add_instance(x->job, node, number);
    if (!instance) return SK_ERROR_MEMORY;
    instance->material = made_of->material;
    instance->skin = made_of->skin;
  }
  return status;
}

static sk_status add_meshes_of(x_scene *x, const x_object *frame, int32_t node) {
  const x_object *below = NULL;
  sk_status status = SK_OK;
  while (!status && (below = x_next_below(x, frame, below)) != NULL) {
    const x_object *mesh = below->kind == X_MESH ? below : NULL;
    if (below->kind == X_REFERENCE) mesh = x_find(x, &x->meshes, below->name, "mesh");
    if (mesh) status = add_instances(x, mesh, node);
  }
  return status;
}

/* In the order of the nodes. */
static sk_status add_meshes(x_scene *x) {
  sk_status status = SK_OK;
  int32_t node = 0;
  size_t i;
  for (i = 0; i < x->file.objects.count && !status; i++) {
    const x_object *object = x_object_at(&x->file, i);
    bool stands_alone = object->kind == X_MESH && object->parent < 0 && !x->made[i].is_referred;
    if (object->kind == X_OTHER_GEOMETRY)
      import_note_add(x->job, NOTE_geometry_ignored, 1, "'%.*s'", IMPORT_SHORT(object->name));
    if (object->kind == X_FRAME && x->made[i].index >= 0) status = add_meshes_of(x, object, node++);
    else if (stands_alone) status = add_instances(x, object, node++);
  }
  return status;
}

/* ---- the file -------------------------------------------------------------------------------------------- */

static sk_status make_all(x_scene *x) {
  sk_status status;
  size_t i;
  x->made = sk_alloc_zero((x->file.objects.count + 1) * sizeof *x->made);
  if (!x->made) return import_no_memory(x->job, x->file.objects.count);
  for (i = 0; i < x->file.objects.count; i++) x->made[i].index = SK_NONE;
  status = index_names(x);
  if (!status) mark_referred(x);
  if (!status) status = add_nodes(x);
  if (!status && !x->job->contents->nodes.count)
    status = sk_fail(x->job->error, SK_ERROR_IMPORT, "there is no frame and no mesh in the file");
  if (!status) status = add_materials(x);
  if (!status) status = add_meshes(x);
  return status ? status : x_make_clips(x);
}

sk_status import_x_open(import_job *job) {
  x_scene x = {.job = job, .parts = SK_ARRAY(x_part)};
  sk_status status = import_contents_open(job);
  if (!status) status = x_file_read(job, &x.file);
  import_note_add(job, NOTE_axes_converted, 1, "the file is left-handed; z became -z");
  if (!status) status = make_all(&x);
  if (!status) status = import_contents_check(job);
  import_names_free(&x.frames);
  import_names_free(&x.materials);
  import_names_free(&x.meshes);
  import_names_free(&x.animations);
  sk_array_free(&x.parts);
  sk_free(x.made);
  x_file_free(&x.file);
  return status;
}
