/* import_fbx_document.c: see import_fbx_document.h. */
#include "import_fbx_document.h"

#include <stdlib.h>
#include <string.h>

#define TICKS_BEFORE    46186158000.0 /* units of time in a second, of files before TCDefinition */
#define TICKS_NOW       141120000.0   /* and of those that state another TCDefinition than 127 */
#define HEADER_OF_TICKS 1004          /* version of the header from which on TCDefinition counts */
#define OLD_TICKS       127
#define SHORT_NAME      80            /* bytes of a name in a message */
#define MAX_WANTED      7             /* values of a property that are read: name, type, label, flags, 3 numbers */

fbx_object *fbx_object_at(const fbx_document *document, uint32_t index) {
  return (fbx_object *)document->objects.data + index;
}

int fbx_short_length(const fbx_object *object) {
  return (int)(object->name_length < SHORT_NAME ? object->name_length : SHORT_NAME);
}

/* ---- templates -------------------------------------------------------------------------- */

typedef struct fbx_template { /* the properties that all objects of a class have */
  const char *name;           /* of the records of the objects, such as "Model" */
  size_t length;
  size_t inside, inside_end;
} fbx_template;

/* Definitions { ObjectType: "Model" { PropertyTemplate: "FbxNode" { Properties70 { ... } } } } */
static sk_status read_templates(fbx_document *d, sk_array *templates) {
  fbx_record definitions, type, inner;
  fbx_value name;
  size_t at;
  *templates = SK_ARRAY(fbx_template);
  if (!fbx_enter(&d->file, fbx_first(&d->file), "Definitions", &definitions)) return SK_OK;
  for (at = definitions.inside; fbx_read_record(&d->file, at, definitions.inside_end, &type); at = type.end) {
    fbx_template *added;
    if (!fbx_is_named(&type, "ObjectType") || !fbx_read_values(&d->file, &type, &name, 1) || !name.text) continue;
    if (!fbx_find(&d->file, type.inside, type.inside_end, "PropertyTemplate", &inner)) continue;
    added = sk_array_extend(templates, 1);
    if (!added) return import_no_memory(d->job, sizeof *added);
    *added = (fbx_template){name.text, name.length, inner.inside, inner.inside_end};
  }
  return SK_OK;
}

static void set_template(const sk_array *templates, const fbx_record *record, fbx_object *object) {
  const fbx_template *t = templates->data;
  size_t i;
  for (i = 0; i < templates->count; i++, t++)
    if (t->length == record->length && !memcmp(t->name, record->name, t->length)) {
      object->template_ = t->inside;
      object->template_end = t->inside_end;
      return;
    }
}

/* ---- objects ------------------------------------------------------------------------------ */

static fbx_class class_of(const fbx_record *record, const fbx_value *type) {
  static const struct {
    const char *name, *type; /* NULL: any type */
    fbx_class class;
  } table[] = {{"AnimationCurve", NULL, FBX_CURVE},
               {"AnimationCurveNode", NULL, FBX_CURVE_NODE},
               {"Model", NULL, FBX_MODEL},
               {"NodeAttribute", NULL, FBX_ATTRIBUTE},
               {"AnimationStack", NULL, FBX_STACK},
               {"AnimationLayer", NULL, FBX_LAYER},
               {"Geometry", "Mesh", FBX_MESH},
               {"Geometry", "Shape", FBX_SHAPE},
               {"Geometry", NULL, FBX_GEOMETRY},
               {"Material", NULL, FBX_MATERIAL},
               {"Texture", NULL, FBX_TEXTURE},
               {"LayeredTexture", NULL, FBX_LAYERED_TEXTURE},
               {"Video", NULL, FBX_VIDEO},
               {"Deformer", "Skin", FBX_SKIN},
               {"Deformer", "Cluster", FBX_CLUSTER},
               {"Deformer", "BlendShape", FBX_BLEND},
               {"Deformer", "BlendShapeChannel", FBX_BLEND_CHANNEL},
               {"Deformer", "VertexCacheDeformer", FBX_CACHE},
               {"Constraint", NULL, FBX_CONSTRAINT}};
  size_t i;
  for (i = 0; i < sizeof table / sizeof *table; i++)
    if (fbx_is_named(record, table[i].name) && (!table[i].type || fbx_text_is(type, table[i].type)))
      return table[i].class;
  return FBX_OTHER;
}

/* Replaces a name that has escaped characters by a copy without them, which the document owns. */
static sk_status unescape_name(fbx_document *d, fbx_object *object) {
  char *copy, **kept;
  if (!memchr(object->name, '&', object->name_length)) return SK_OK;
  copy = import_copy_text(object->name, object->name_length);
  kept = copy ? sk_array_extend(&d->names, 1) : NULL;
  if (!kept) {
    sk_free(copy);
    return import_no_memory(d->job, object->name_length);
  }
  *kept = copy;
  object->name = copy;
  object->name_length = fbx_unescape(copy, object->name_length);
  return SK_OK;
}

/* A binary file has "name\0\1Class", a text "Class::name", where the name itself may contain "::". */
static sk_status name_object(fbx_document *d, fbx_object *object, const fbx_value *name) {
  bool is_text = !d->file.width;
  size_t i;
  object->name = name->text;
  object->name_length = name->length;
  for (i = 0; i + 1 < name->length; i++) {
    if (!is_text && name->text[i] == 0 && name->text[i + 1] == 1) object->name_length = i;
    else if (is_text && name->text[i] == ':' && name->text[i + 1] == ':')
      object->name += i + 2, object->name_length -= i + 2;
    else continue;
    break;
  }
  return is_text ? unescape_name(d, object) : SK_OK;
}

static sk_status add_object(fbx_document *d, const sk_array *templates, const fbx_record *record) {
  fbx_value values[3] = {{0}};
  fbx_object *object;
  fbx_class class;
  if (fbx_read_values(&d->file, record, values, 3) < 3 || values[0].text || !values[1].text) return SK_OK;
  class = class_of(record, &values[2]);
  if (class == FBX_OTHER) return SK_OK;
  if (d->objects.count >= FBX_NONE) return SK_OK;
  object = sk_array_extend(&d->objects, 1);
  if (!object) return import_no_memory(d->job, sizeof *object);
  *object = (fbx_object){.id = values[0].whole,
                         .type = values[2].text ? values[2].text : "",
                         .type_length = values[2].text ? values[2].length : 0,
                         .inside = record->inside,
                         .inside_end = record->inside_end,
                         .class = (uint8_t)class};
  set_template(templates, record, object);
  return name_object(d, object, &values[1]);
}

/* By id; of several objects with one id, the first of the file comes first. */
static int compare_objects(const void *a, const void *b) {
  const fbx_object *x = a, *y = b;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  return x->inside < y->inside ? -1 : x->inside > y->inside;
}

/* The first object with this id, or FBX_NONE. */
static uint32_t find_object(const fbx_document *d, int64_t id) {
  size_t low = 0, high = d->objects.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (fbx_object_at(d, (uint32_t)middle)->id < id) low = middle + 1;
    else high = middle;
  }
  return low < d->objects.count && fbx_object_at(d, (uint32_t)low)->id == id ? (uint32_t)low : FBX_NONE;
}

static sk_status read_objects(fbx_document *d, size_t *end) {
  fbx_record objects, record;
  sk_array templates;
  fbx_object *root = sk_array_extend(&d->objects, 1);
  size_t at;
  sk_status status = root ? read_templates(d, &templates) : import_no_memory(d->job, sizeof *root);
  if (root) *root = (fbx_object){.name = "", .type = "", .class = FBX_ROOT};
  else return status;
  if (!status && fbx_enter(&d->file, fbx_first(&d->file), "Objects", &objects)) {
    for (at = objects.inside; !status && fbx_read_record(&d->file, at, objects.inside_end, &record); at = record.end)
      status = add_object(d, &templates, &record);
    *end = fbx_behind_list(&d->file, &objects, at);
  }
  sk_array_free(&templates);
  qsort(d->objects.data, d->objects.count, sizeof(fbx_object), compare_objects);
  d->root = find_object(d, 0);
  return status;
}

/* ---- connections ----------------------------------------------------------------------------- */

static sk_status read_connection(fbx_document *d, const fbx_record *record) {
  fbx_value values[4];
  size_t count = fbx_read_values(&d->file, record, values, 4);
  bool property = count > 3 && fbx_text_is(&values[0], "OP") && values[3].text;
  uint32_t child, parent;
  fbx_link *link;
  if (count < 3 || values[1].text || values[2].text) return SK_OK;
  if (!property && !fbx_text_is(&values[0], "OO")) return SK_OK;
  child = find_object(d, values[1].whole);
  parent = child == FBX_NONE ? FBX_NONE : find_object(d, values[2].whole);
  if (parent == FBX_NONE || d->links.count >= FBX_NONE) return SK_OK;
  link = sk_array_extend(&d->links, 1);
  if (!link) return import_no_memory(d->job, sizeof *link);
  *link = (fbx_link){parent, child, (uint32_t)d->links.count, NULL, 0};
  if (property) link->property = values[3].text, link->property_length = values[3].length;
  return SK_OK;
}

static int compare_links(const void *a, const void *b) {
  const fbx_link *x = a, *y = b;
  if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

/* For qsort, which takes no context: a child with the number and the order of its link. */
typedef struct child_link {
  uint32_t child, order, link;
} child_link;

static int compare_children(const void *a, const void *b) {
  const child_link *x = a, *y = b;
  if (x->child != y->child) return x->child < y->child ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

/* The links once more, by child. */
static sk_status index_children(fbx_document *d) {
  size_t count = d->links.count, i;
  child_link *sorted = sk_alloc((count + 1) * sizeof *sorted);
  uint32_t *children = sk_array_extend(&d->children, count);
  const fbx_link *links = d->links.data;
  sk_status status = sorted && children ? SK_OK : import_no_memory(d->job, count * sizeof *sorted);
  for (i = 0; i < count && !status; i++) sorted[i] = (child_link){links[i].child, links[i].order, (uint32_t)i};
  if (!status && count) qsort(sorted, count, sizeof *sorted, compare_children);
  for (i = 0; i < count && !status; i++) children[i] = sorted[i].link;
  sk_free(sorted);
  return status;
}

static sk_status read_connections(fbx_document *d, size_t from) {
  fbx_record list, record;
  size_t at;
  sk_status status = SK_OK;
  if (fbx_enter(&d->file, from, "Connections", &list) || fbx_enter(&d->file, fbx_first(&d->file), "Connections", &list))
    for (at = list.inside; !status && fbx_read_record(&d->file, at, list.inside_end, &record); at = record.end)
      if (fbx_is_named(&record, "C") || fbx_is_named(&record, "Connect")) status = read_connection(d, &record);
  if (d->links.count) qsort(d->links.data, d->links.count, sizeof(fbx_link), compare_links);
  return status ? status : index_children(d);
}

bool fbx_link_is(const fbx_link *link, const char *property) {
  return link->property && link->property_length == strlen(property) &&
         !memcmp(link->property, property, link->property_length);
}

/* ---- walks -------------------------------------------------------------------------------------- */

uint32_t fbx_next_child(const fbx_document *d, uint32_t parent, fbx_class class, size_t *at, const fbx_link **link) {
  const fbx_link *links = d->links.data;
  size_t low = *at, high = *at ? *at : d->links.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (links[middle].parent < parent) low = middle + 1;
    else high = middle;
  }
  for (; low < d->links.count && links[low].parent == parent; low++) {
    if (fbx_object_at(d, links[low].child)->class != class) continue;
    *at = low + 1;
    if (link) *link = &links[low];
    return links[low].child;
  }
  *at = d->links.count + 1;
  return FBX_NONE;
}

uint32_t fbx_next_parent(const fbx_document *d, uint32_t child, fbx_class class, size_t *at, const fbx_link **link) {
  const fbx_link *links = d->links.data;
  const uint32_t *order = d->children.data;
  size_t low = *at, high = *at ? *at : d->children.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (links[order[middle]].child < child) low = middle + 1;
    else high = middle;
  }
  for (; low < d->children.count && links[order[low]].child == child; low++) {
    const fbx_link *found = &links[order[low]];
    if (fbx_object_at(d, found->parent)->class != class) continue;
    *at = low + 1;
    if (link) *link = found;
    return found->parent;
  }
  *at = d->children.count + 1;
  return FBX_NONE;
}

/* ---- properties ------------------------------------------------------------------------------------ */

/* P: "Lcl Translation", "Lcl Translation", "", "A", 1, 2, 3 */
static void take_property(const fbx_file *file, const fbx_record *record, const fbx_wanted *wanted, size_t count,
                          bool own) {
  fbx_value values[MAX_WANTED];
  size_t i, k, found;
  if (!fbx_read_values(file, record, values, 1) || !values[0].text) return;
  for (i = 0; i < count; i++) {
    if (!fbx_text_is(&values[0], wanted[i].name)) continue;
    found = fbx_read_values(file, record, values, 4 + wanted[i].count);
    if (found < 4 + wanted[i].count) return;
    for (k = 0; k < wanted[i].count; k++) {
      double number = values[4 + k].number;
      if (!values[4 + k].text && number - number == 0.0) wanted[i].numbers[k] = number;
    }
    if (own && wanted[i].own) *wanted[i].own = true;
    return;
  }
}

static void read_list(const fbx_file *file, size_t inside, size_t inside_end, const fbx_wanted *wanted, size_t count,
                      bool own) {
  fbx_record list, record;
  size_t at;
  if (!fbx_find(file, inside, inside_end, "Properties70", &list)) return;
  for (at = list.inside; fbx_read_record(file, at, list.inside_end, &record); at = record.end)
    if (fbx_is_named(&record, "P")) take_property(file, &record, wanted, count, own);
}

void fbx_read_property_list(const fbx_file *file, size_t inside, size_t inside_end, const fbx_wanted *wanted,
                            size_t count) {
  read_list(file, inside, inside_end, wanted, count, true);
}

void fbx_read_template(const fbx_document *d, uint32_t index, const fbx_wanted *wanted, size_t count) {
  const fbx_object *object = fbx_object_at(d, index);
  if (object->template_ < object->template_end)
    read_list(&d->file, object->template_, object->template_end, wanted, count, false);
}

void fbx_read_own_properties(const fbx_document *d, uint32_t index, const fbx_wanted *wanted, size_t count) {
  read_list(&d->file, fbx_object_at(d, index)->inside, fbx_object_at(d, index)->inside_end, wanted, count, true);
}

void fbx_read_properties(const fbx_document *d, uint32_t index, const fbx_wanted *wanted, size_t count) {
  fbx_read_template(d, index, wanted, count);
  fbx_read_own_properties(d, index, wanted, count);
}

double fbx_property(const fbx_document *d, uint32_t object, const char *name, double fallback) {
  fbx_wanted wanted = {name, &fallback, 1, NULL};
  fbx_read_properties(d, object, &wanted, 1);
  return fallback;
}

/* ---- the document -------------------------------------------------------------------------------------- */

/* FBXHeaderExtension { FBXHeaderVersion: 1004, OtherFlags { TCDefinition: 0 } } */
static double units_of_second(const fbx_file *file) {
  fbx_record header, version, flags, definition;
  fbx_value value;
  if (!fbx_enter(file, fbx_first(file), "FBXHeaderExtension", &header)) return TICKS_BEFORE;
  if (!fbx_find(file, header.inside, header.inside_end, "FBXHeaderVersion", &version) ||
      !fbx_read_values(file, &version, &value, 1) || value.whole < HEADER_OF_TICKS)
    return TICKS_BEFORE;
  if (!fbx_find(file, header.inside, header.inside_end, "OtherFlags", &flags) ||
      !fbx_find(file, flags.inside, flags.inside_end, "TCDefinition", &definition) ||
      !fbx_read_values(file, &definition, &value, 1))
    return TICKS_BEFORE;
  return value.whole == OLD_TICKS ? TICKS_BEFORE : TICKS_NOW;
}

sk_status fbx_open_document(import_job *job, fbx_document *d) {
  size_t behind;
  sk_status status;
  *d = (fbx_document){.job = job,
                      .file = fbx_open_file(job->files.sources.data),
                      .objects = SK_ARRAY(fbx_object),
                      .links = SK_ARRAY(fbx_link),
                      .children = SK_ARRAY(uint32_t),
                      .names = SK_ARRAY(char *)};
  behind = fbx_first(&d->file);
  d->second = units_of_second(&d->file);
  status = read_objects(d, &behind);
  return status ? status : read_connections(d, behind);
}

void fbx_close_document(fbx_document *d) {
  size_t i;
  for (i = 0; i < d->names.count; i++) sk_free(((char **)d->names.data)[i]);
  sk_array_free(&d->names);
  sk_array_free(&d->objects);
  sk_array_free(&d->links);
  sk_array_free(&d->children);
}
