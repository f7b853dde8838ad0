/* import_fbx_index.c: the objects of an FBX file that move something, and what belongs to what. */
#include <stdlib.h>

#include "import_fbx.h"

static fbx_object *object_at(const import_job *job, uint32_t index) {
  return (fbx_object *)job->fbx->objects.data + index;
}

/* ---- objects ------------------------------------------------------------------------- */

static fbx_kind kind_of(const fbx_record *record, const fbx_value *class) {
  static const struct {
    const char *name, *class;
    fbx_kind kind;
  } table[] = {{"AnimationCurve", NULL, FBX_CURVE},
               {"AnimationCurveNode", NULL, FBX_CURVE_NODE},
               {"Model", NULL, FBX_MODEL},
               {"AnimationStack", NULL, FBX_STACK},
               {"AnimationLayer", NULL, FBX_LAYER},
               {"Geometry", "Mesh", FBX_MESH},
               {"Geometry", "Shape", FBX_SHAPE},
               {"Deformer", "BlendShape", FBX_BLEND},
               {"Deformer", "BlendShapeChannel", FBX_BLEND_CHANNEL}};
  size_t i;
  for (i = 0; i < sizeof table / sizeof *table; i++)
    if (fbx_is_named(record, table[i].name) && (!table[i].class || fbx_text_is(class, table[i].class)))
      return table[i].kind;
  return FBX_OTHER;
}

/* A binary file has "name\0\1Class", a text "Class::name". */
static void name_object(fbx_object *object, const fbx_value *name) {
  size_t i;
  object->name = name->text;
  object->length = name->length;
  for (i = 0; i + 1 < name->length; i++) {
    if (name->text[i] == 0 && name->text[i + 1] == 1) object->length = i;
    else if (name->text[i] == ':' && name->text[i + 1] == ':') object->name += i + 2, object->length -= i + 2;
    else continue;
    return;
  }
}

static sk_status add_object(import_job *job, const fbx_file *file, const fbx_record *record, uint32_t stacks) {
  fbx_value values[3] = {{0}};
  fbx_object *object;
  fbx_kind kind;
  if (fbx_read_values(file, record, values, 3) < 3 || values[0].text || !values[1].text) return SK_OK;
  kind = kind_of(record, &values[2]);
  if (kind == FBX_OTHER) return SK_OK;
  if (job->fbx->objects.count >= FBX_NONE) return SK_OK;
  object = sk_array_extend(&job->fbx->objects, 1);
  if (!object) return import_no_memory(job, sizeof *object);
  *object = (fbx_object){.id = values[0].whole,
                         .inside = record->inside,
                         .inside_end = record->inside_end,
                         .owner = FBX_NONE,
                         .target = FBX_NONE,
                         .kind = (uint8_t)kind};
  object->order = kind == FBX_STACK ? stacks : (uint32_t)job->fbx->objects.count;
  name_object(object, &values[1]);
  return SK_OK;
}

static int compare_objects(const void *a, const void *b) {
  const fbx_object *x = a, *y = b;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

/* The root has no record of its own, and the id 0. */
static sk_status read_objects(import_job *job, const fbx_file *file, size_t *end) {
  fbx_record objects, record;
  fbx_object *root = sk_array_extend(&job->fbx->objects, 1);
  uint32_t stacks = 0;
  size_t at;
  sk_status status = root ? SK_OK : import_no_memory(job, sizeof *root);
  if (root) *root = (fbx_object){.owner = FBX_NONE, .target = FBX_NONE, .kind = FBX_ROOT};
  if (status || !fbx_enter(file, fbx_first(file), "Objects", &objects)) return status;
  for (at = objects.inside; !status && fbx_read_record(file, at, objects.inside_end, &record); at = record.end) {
    status = add_object(job, file, &record, stacks);
    stacks += fbx_is_named(&record, "AnimationStack");
  }
  *end = fbx_behind_list(file, &objects, at);
  qsort(job->fbx->objects.data, job->fbx->objects.count, sizeof(fbx_object), compare_objects);
  return status;
}

/* Of several objects with one id the first. */
static uint32_t find_object(const import_job *job, int64_t id) {
  size_t low = 0, high = job->fbx->objects.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (object_at(job, (uint32_t)middle)->id < id) low = middle + 1;
    else high = middle;
  }
  return low < job->fbx->objects.count && object_at(job, (uint32_t)low)->id == id ? (uint32_t)low : FBX_NONE;
}

/* ---- connections ----------------------------------------------------------------------- */

/* A curve belongs to an axis of its node, which belongs to a property of a model. */
static void join_property(fbx_object *from, fbx_object *to, uint32_t target, const fbx_value *property) {
  static const char *const axes[] = {"d|X", "d|Y", "d|Z"};
  static const char *const paths[] = {
      [SK_PATH_TRANSLATION] = "Lcl Translation", [SK_PATH_ROTATION] = "Lcl Rotation", [SK_PATH_SCALE] = "Lcl Scaling"};
  uint8_t i;
  for (i = 0; i < 3; i++) {
    if (from->kind == FBX_CURVE && to->kind == FBX_CURVE_NODE && fbx_text_is(property, axes[i]))
      to->axes |= (uint8_t)(1u << i);
    if (from->kind == FBX_CURVE_NODE && to->kind == FBX_MODEL && from->target == FBX_NONE &&
        fbx_text_is(property, paths[i]))
      from->target = target, from->path = i;
  }
}

static sk_status join_objects(import_job *job, uint32_t from, uint32_t to) {
  static const uint8_t wholes[] = {[FBX_MODEL] = FBX_MODEL,        [FBX_MESH] = FBX_MODEL,
                                   [FBX_BLEND] = FBX_MESH,         [FBX_BLEND_CHANNEL] = FBX_BLEND,
                                   [FBX_LAYER] = FBX_STACK,        [FBX_CURVE_NODE] = FBX_LAYER,
                                   [FBX_SHAPE] = FBX_BLEND_CHANNEL};
  fbx_object *part = object_at(job, from), *whole = object_at(job, to);
  bool fits = part->kind < sizeof wholes && whole->kind == wholes[part->kind] && whole->kind != FBX_OTHER;
  fbx_link *link;
  if (!fits && !(part->kind == FBX_MODEL && whole->kind == FBX_ROOT)) return SK_OK;
  if (part->kind == FBX_MODEL || part->kind == FBX_LAYER || part->kind == FBX_CURVE_NODE) {
    if (part->owner == FBX_NONE) part->owner = to;
    return SK_OK;
  }
  link = sk_array_extend(&job->fbx->links, 1);
  if (!link) return import_no_memory(job, sizeof *link);
  *link = (fbx_link){to, from, (uint32_t)job->fbx->links.count};
  return SK_OK;
}

static sk_status read_connection(import_job *job, const fbx_file *file, const fbx_record *record) {
  fbx_value values[4];
  size_t count = fbx_read_values(file, record, values, 4);
  bool property = count > 3 && fbx_text_is(&values[0], "OP");
  uint32_t from, to;
  if (count < 3 || values[1].text || values[2].text) return SK_OK;
  from = find_object(job, values[1].whole);
  to = from == FBX_NONE ? FBX_NONE : find_object(job, values[2].whole);
  if (to == FBX_NONE) return SK_OK;
  if (!property) return fbx_text_is(&values[0], "OO") ? join_objects(job, from, to) : SK_OK;
  join_property(object_at(job, from), object_at(job, to), to, &values[3]);
  return SK_OK;
}

static int compare_links(const void *a, const void *b) {
  const fbx_link *x = a, *y = b;
  if (x->to != y->to) return x->to < y->to ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static sk_status read_connections(import_job *job, const fbx_file *file, size_t from) {
  fbx_record list, record;
  size_t at;
  sk_status status = SK_OK;
  if (!fbx_enter(file, from, "Connections", &list) && !fbx_enter(file, fbx_first(file), "Connections", &list))
    return SK_OK;
  for (at = list.inside; !status && fbx_read_record(file, at, list.inside_end, &record); at = record.end)
    if (fbx_is_named(&record, "C")) status = read_connection(job, file, &record);
  if (job->fbx->links.count) qsort(job->fbx->links.data, job->fbx->links.count, sizeof(fbx_link), compare_links);
  return status;
}

/* ---- names ------------------------------------------------------------------------------- */

static sk_status index_models(import_job *job) {
  size_t i, count = job->fbx->objects.count;
  if (!import_names_make(&job->fbx->models, count)) return import_no_memory(job, count);
  for (i = 0; i < count; i++) {
    fbx_object *model = object_at(job, (uint32_t)i);
    uint32_t first = (uint32_t)i;
    if (model->kind == FBX_MODEL) first = import_names_add(&job->fbx->models, model->name, model->length, first);
    if (first == i) continue;
    model->shares_name = object_at(job, first)->shares_name = true;
  }
  return SK_OK;
}

/* ---- what is asked ------------------------------------------------------------------------ */

sk_status fbx_index(import_job *job) {
  fbx_file file = fbx_open(job->files.sources.data);
  size_t behind = fbx_first(&file);
  sk_status status = read_objects(job, &file, &behind);
  if (!status) status = read_connections(job, &file, behind);
  job->fbx->lookup_budget = 16 * job->fbx->links.count + (1 << 20);
  return status ? status : index_models(job);
}

uint32_t fbx_find_model(const import_job *job, const char *name, size_t length) {
  int64_t found = import_names_find(&job->fbx->models, name, length);
  return found < 0 || object_at(job, (uint32_t)found)->shares_name ? FBX_NONE : (uint32_t)found;
}

uint32_t fbx_next_part(const import_job *job, uint32_t to, fbx_kind kind, size_t *at) {
  const fbx_link *links = job->fbx->links.data;
  size_t low = *at, high = *at ? *at : job->fbx->links.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (links[middle].to < to) low = middle + 1;
    else high = middle;
  }
  for (; low < job->fbx->links.count && links[low].to == to; low++)
    if (object_at(job, links[low].from)->kind == kind) {
      *at = low + 1;
      return links[low].from;
    }
  *at = low + 1;
  return FBX_NONE;
}
