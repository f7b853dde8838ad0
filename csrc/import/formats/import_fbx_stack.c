/* import_fbx_stack.c: the stacks of an FBX file, and their layers; see import_fbx_scene.h.

   A stack is a clip. Its layers are applied in order: the first one sets a property, and each further one adds to the
   result, blends with it, or replaces it. A layer animates a property through a curve node, which has a curve for each
   axis or a fixed value. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import_fbx_scene.h"

/* ---- layers -------------------------------------------------------------------------------------- */

static bool has_layer(const fbx_stack *stack, uint32_t object) {
  size_t i;
  for (i = 0; i < stack->layers.count; i++)
    if (((const fbx_layer *)stack->layers.data)[i].object == object) return true;
  return false;
}

static sk_status read_layers(fbx_scene *scene, fbx_stack *stack) {
  const fbx_document *d = &scene->document;
  size_t at = 0, i;
  bool solo = false;
  uint32_t object;
  while ((object = fbx_next_child(d, stack->object, FBX_LAYER, &at, NULL)) != FBX_NONE) {
    double weight = 100, mute = 0, alone = 0, mode = 0, rotation = 0, scale = 0;
    const fbx_wanted wanted[] = {{"Weight", &weight, 1, NULL},
                                 {"Mute", &mute, 1, NULL},
                                 {"Solo", &alone, 1, NULL},
                                 {"BlendMode", &mode, 1, NULL},
                                 {"RotationAccumulationMode", &rotation, 1, NULL},
                                 {"ScaleAccumulationMode", &scale, 1, NULL}};
    fbx_layer *layer;
    if (has_layer(stack, object)) continue;
    layer = sk_array_extend(&stack->layers, 1);
    if (!layer) return import_no_memory(d->job, sizeof *layer);
    fbx_read_properties(d, object, wanted, sizeof wanted / sizeof *wanted);
    *layer = (fbx_layer){.object = object,
                         .weight = fbx_layer_weight(weight),
                         .weight_curve = FBX_NONE,
                         .is_first = stack->layers.count == 1,
                         .adds = mode == 0.0,
                         .blends = mode == 0.0 || mode == 2.0,
                         .multiplies_rotation = rotation == 0.0,
                         .multiplies_scale = scale == 0.0,
                         .is_off = mute != 0.0};
    solo |= alone != 0.0;
  }
  for (i = 0; i < stack->layers.count && solo; i++) {
    fbx_layer *layer = (fbx_layer *)stack->layers.data + i;
    layer->is_off = fbx_property(d, layer->object, "Solo", 0.0) == 0.0;
  }
  return SK_OK;
}

/* ---- tracks --------------------------------------------------------------------------------------------- */

/* The curve of a curve node for an axis: its property is "d|X", or "d|" with the name of a single property. */
static int axis_of(const fbx_link *link) {
  char last = link->property_length ? link->property[link->property_length - 1] : 0;
  if (link->property_length != 3) return 0;
  return last == 'Y' ? 1 : last == 'Z' ? 2 : 0;
}

static void read_source(const fbx_scene *scene, uint32_t curve_node, bool single, fbx_value_source *source) {
  const fbx_document *d = &scene->document;
  const fbx_wanted axes[] = {{"d|X", &source->fixed[0], 1, NULL},
                             {"d|Y", &source->fixed[1], 1, NULL},
                             {"d|Z", &source->fixed[2], 1, NULL},
                             {"d|DeformPercent", &source->fixed[0], 1, NULL}};
  const fbx_link *link;
  uint32_t curve;
  size_t at = 0;
  fbx_read_properties(d, curve_node, axes, sizeof axes / sizeof *axes);
  while ((curve = fbx_next_child(d, curve_node, FBX_CURVE, &at, &link)) != FBX_NONE) {
    int axis = single || !link->property ? 0 : axis_of(link);
    if (scene->curve_of[curve] == FBX_NONE) continue;
    source->curves[axis] = scene->curve_of[curve];
    ((fbx_curve *)scene->curves.data)[source->curves[axis]].is_played = true;
  }
}

/* A source with the track to which it belongs, until all are sorted. */
typedef struct found_source {
  uint32_t object, order;
  uint8_t path;
  fbx_value_source source;
} found_source;

static int compare_found(const void *a, const void *b) {
  const found_source *x = a, *y = b;
  if (x->object != y->object) return x->object < y->object ? -1 : 1;
  if (x->path != y->path) return x->path < y->path ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static bool path_of(const fbx_link *link, sk_path *path) {
  static const char *const names[] = {
      [SK_PATH_TRANSLATION] = "Lcl Translation", [SK_PATH_ROTATION] = "Lcl Rotation", [SK_PATH_SCALE] = "Lcl Scaling"};
  int i;
  for (i = 0; i < 3; i++)
    if (fbx_link_is(link, names[i])) {
      *path = (sk_path)i;
      return true;
    }
  return false;
}

static sk_status add_found(fbx_scene *scene, sk_array *found, uint32_t object, sk_path path, uint32_t layer,
                           uint32_t curve_node) {
  found_source *added = sk_array_extend(found, 1);
  bool single = path == SK_PATH_WEIGHT;
  if (!added) return import_no_memory(scene->document.job, sizeof *added);
  *added = (found_source){.object = object, .order = (uint32_t)found->count, .path = (uint8_t)path};
  added->source = (fbx_value_source){.layer = layer, .curves = {FBX_NONE, FBX_NONE, FBX_NONE}};
  if (!single) {
    const fbx_node *node = fbx_node_at(scene, (size_t)scene->node_of[object]);
    memcpy(added->source.fixed, node->values[path], sizeof added->source.fixed);
  } else {
    added->source.fixed[0] = fbx_rest_percent(scene, object);
  }
  read_source(scene, curve_node, single, &added->source);
  return SK_OK;
}

/* Counts a curve node that shows and hides a model. */
static void note_visibility(const fbx_scene *scene, uint32_t model, uint32_t node) {
  const fbx_object *object = fbx_object_at(&scene->document, model);
  size_t at = 0;
  uint32_t curve = fbx_next_child(&scene->document, node, FBX_CURVE, &at, NULL);
  if (curve == FBX_NONE || scene->curve_of[curve] == FBX_NONE) return;
  if (((const fbx_curve *)scene->curves.data)[scene->curve_of[curve]].is_flat) return;
  import_note_add(scene->document.job, NOTE_visibility_ignored, 1, "model '%.*s'", fbx_short_length(object),
                  object->name);
}

size_t fbx_first_inner_shape(const fbx_scene *scene, uint32_t geometry) {
  const fbx_inner_shape *shapes = scene->inner_shapes.data; /* by geometry */
  size_t low = 0, high = scene->inner_shapes.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (shapes[middle].geometry < geometry) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* The channel of an inner shape that a property of its geometry drives, or FBX_NONE. */
static uint32_t find_inner_shape(const fbx_scene *scene, uint32_t geometry, const fbx_link *link) {
  const fbx_inner_shape *shapes = scene->inner_shapes.data;
  size_t i = fbx_first_inner_shape(scene, geometry);
  for (; i < scene->inner_shapes.count && shapes[i].geometry == geometry; i++)
    if (link->property_length == shapes[i].name_length &&
        !memcmp(link->property, shapes[i].name, shapes[i].name_length))
      return (uint32_t)(scene->document.objects.count + i);
  return FBX_NONE;
}

/* A number of the property with this name, which need not end in a zero byte. */
static double named_property(const fbx_document *d, uint32_t object, const char *name, size_t length, double fallback) {
  char text[128];
  if (length >= sizeof text) return fallback;
  memcpy(text, name, length);
  text[length] = 0;
  return fbx_property(d, object, text, fallback);
}

double fbx_rest_percent(const fbx_scene *scene, uint32_t channel) {
  const fbx_document *d = &scene->document;
  const fbx_object *object;
  const fbx_inner_shape *shape;
  fbx_record record;
  fbx_value value;
  double percent = 0.0;
  if (channel >= d->objects.count) {
    shape = (const fbx_inner_shape *)scene->inner_shapes.data + (channel - d->objects.count);
    return named_property(d, shape->geometry, shape->name, shape->name_length, 0.0);
  }
  object = fbx_object_at(d, channel); /* Blender writes it as a record of its own */
  if (fbx_find(&d->file, object->inside, object->inside_end, "DeformPercent", &record) &&
      fbx_read_values(&d->file, &record, &value, 1) && !value.text && isfinite(value.number))
    percent = value.number;
  return fbx_property(d, channel, "DeformPercent", percent);
}

/* Shapes inside geometries, which have no objects of their own. */
static sk_status read_inner_shapes(fbx_scene *scene) {
  const fbx_document *d = &scene->document;
  fbx_record record;
  fbx_value name;
  uint32_t i;
  size_t at;
  scene->inner_shapes = SK_ARRAY(fbx_inner_shape);
  for (i = 0; i < d->objects.count; i++) {
    const fbx_object *object = fbx_object_at(d, i);
    if (object->class != FBX_MESH) continue;
    for (at = object->inside; fbx_read_record(&d->file, at, object->inside_end, &record); at = record.end) {
      fbx_inner_shape *added;
      if (!fbx_is_named(&record, "Shape") || !fbx_read_values(&d->file, &record, &name, 1) || !name.text) continue;
      added = sk_array_extend(&scene->inner_shapes, 1);
      if (!added) return import_no_memory(d->job, sizeof *added);
      *added = (fbx_inner_shape){i, name.text, name.length, record.inside, record.inside_end};
    }
  }
  return SK_OK;
}

/* What one curve node of a layer animates: properties of models, weights of blend channels, and those of layers. */
static sk_status read_curve_node(fbx_scene *scene, fbx_stack *stack, sk_array *found, uint32_t layer, uint32_t node) {
  const fbx_document *d = &scene->document;
  const fbx_link *link;
  size_t at = 0;
  uint32_t target;
  sk_path path;
  sk_status status = SK_OK;
  while (!status && (target = fbx_next_parent(d, node, FBX_MODEL, &at, &link)) != FBX_NONE)
    if (path_of(link, &path) && scene->node_of[target] >= 0)
      status = add_found(scene, found, target, path, layer, node);
    else if (fbx_link_is(link, "Visibility")) note_visibility(scene, target, node);
  at = 0;
  while (!status && (target = fbx_next_parent(d, node, FBX_BLEND_CHANNEL, &at, &link)) != FBX_NONE)
    if (fbx_link_is(link, "DeformPercent")) status = add_found(scene, found, target, SK_PATH_WEIGHT, layer, node);
  at = 0;
  while (!status && (target = fbx_next_parent(d, node, FBX_MESH, &at, &link)) != FBX_NONE) {
    uint32_t shape = find_inner_shape(scene, target, link);
    if (shape != FBX_NONE) status = add_found(scene, found, shape, SK_PATH_WEIGHT, layer, node);
  }
  at = 0;
  while (!status && (target = fbx_next_parent(d, node, FBX_LAYER, &at, &link)) != FBX_NONE) {
    size_t i;
    if (!fbx_link_is(link, "Weight")) continue;
    for (i = 0; i < stack->layers.count; i++) {
      fbx_layer *weighted = (fbx_layer *)stack->layers.data + i;
      fbx_value_source source = {.curves = {FBX_NONE, FBX_NONE, FBX_NONE}};
      if (weighted->object != target) continue;
      read_source(scene, node, true, &source);
      weighted->weight_curve = source.curves[0];
    }
  }
  return status;
}

static sk_status sort_tracks(fbx_scene *scene, fbx_stack *stack, sk_array *found) {
  found_source *list = found->data;
  fbx_track *track = NULL;
  size_t i;
  if (found->count) qsort(list, found->count, sizeof *list, compare_found);
  for (i = 0; i < found->count; i++) {
    fbx_value_source *source;
    bool is_again = track && track->object == list[i].object && track->path == list[i].path &&
                    list[i - 1].source.layer == list[i].source.layer;
    if (is_again) continue; /* a layer has one curve node for a property: the first */
    source = sk_array_extend(&stack->sources, 1);
    if (!track || track->object != list[i].object || track->path != list[i].path) {
      track = sk_array_extend(&stack->tracks, 1);
      if (track) *track = (fbx_track){list[i].object, list[i].path, stack->sources.count - 1, 0};
    }
    if (!source || !track) return import_no_memory(scene->document.job, sizeof *source);
    *source = list[i].source;
    track->count++;
  }
  return SK_OK;
}

static bool has_curves(const fbx_scene *scene, uint32_t curve_node) {
  size_t at = 0;
  uint32_t curve;
  while ((curve = fbx_next_child(&scene->document, curve_node, FBX_CURVE, &at, NULL)) != FBX_NONE)
    if (scene->curve_of[curve] != FBX_NONE) return true;
  return false;
}

static sk_status read_tracks(fbx_scene *scene, fbx_stack *stack) {
  sk_array found = SK_ARRAY(found_source);
  sk_status status = SK_OK;
  uint32_t i, node;
  for (i = 0; i < stack->layers.count && !status; i++) {
    const fbx_layer *layer = (const fbx_layer *)stack->layers.data + i;
    size_t at = 0;
    while (!status && (node = fbx_next_child(&scene->document, layer->object, FBX_CURVE_NODE, &at, NULL)) != FBX_NONE) {
      stack->is_animated |= has_curves(scene, node);
      if (!layer->is_off) status = read_curve_node(scene, stack, &found, i, node);
    }
  }
  if (!status) status = sort_tracks(scene, stack, &found);
  sk_array_free(&found);
  return status;
}

const fbx_track *fbx_find_track(const fbx_stack *stack, uint32_t object, sk_path path) {
  const fbx_track *tracks = stack ? stack->tracks.data : NULL;
  size_t low = 0, high = stack ? stack->tracks.count : 0;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const fbx_track *t = &tracks[middle];
    if (t->object < object || (t->object == object && t->path < path)) low = middle + 1;
    else high = middle;
  }
  return stack && low < stack->tracks.count && tracks[low].object == object && tracks[low].path == path ? &tracks[low]
                                                                                                        : NULL;
}

/* ---- ranges ------------------------------------------------------------------------------------------------ */

/* Takes { Take: "name" { LocalTime: 0, 46186158000 } } */
static bool range_of_take(const fbx_document *d, const fbx_record *takes, const fbx_object *stack, double *start,
                          double *stop) {
  fbx_record take, times;
  fbx_value values[2];
  size_t at;
  for (at = takes->inside; fbx_read_record(&d->file, at, takes->inside_end, &take); at = take.end) {
    if (!fbx_is_named(&take, "Take") || !fbx_read_values(&d->file, &take, values, 1) || !values[0].text) continue;
    if (values[0].length != stack->name_length || memcmp(values[0].text, stack->name, stack->name_length)) continue;
    if (!fbx_find(&d->file, take.inside, take.inside_end, "LocalTime", &times)) return false;
    if (fbx_read_values(&d->file, &times, values, 2) < 2) return false;
    *start = values[0].number, *stop = values[1].number;
    return isfinite(*start) && isfinite(*stop);
  }
  return false;
}

static void range_of_keys(const fbx_scene *scene, fbx_stack *stack) {
  const fbx_value_source *sources = stack->sources.data;
  double start = INFINITY, stop = -INFINITY;
  size_t i;
  int axis;
  for (i = 0; i < stack->sources.count; i++)
    for (axis = 0; axis < 3; axis++) {
      const fbx_curve *curve;
      if (sources[i].curves[axis] == FBX_NONE) continue;
      curve = (const fbx_curve *)scene->curves.data + sources[i].curves[axis];
      start = fmin(start, (double)curve->keys[0].time);
      stop = fmax(stop, (double)curve->keys[curve->count - 1].time);
    }
  stack->start = start <= stop ? start : 0.0;
  stack->stop = start <= stop ? stop : 0.0;
}

/* `takes` is NULL in a file without them. */
static void read_range(const fbx_scene *scene, fbx_stack *stack, const fbx_record *takes) {
  const fbx_document *d = &scene->document;
  bool has_start = false, has_stop = false;
  const fbx_wanted wanted[] = {{"LocalStart", &stack->start, 1, &has_start}, {"LocalStop", &stack->stop, 1, &has_stop}};
  fbx_read_properties(d, stack->object, wanted, 2);
  stack->has_range = has_stop && stack->stop > stack->start;
  if (!stack->has_range && takes)
    stack->has_range = range_of_take(d, takes, fbx_object_at(d, stack->object), &stack->start, &stack->stop) &&
                       stack->stop > stack->start;
  if (!stack->has_range) range_of_keys(scene, stack);
}

/* ---- the scene ------------------------------------------------------------------------------------------------- */

static sk_status read_curves(fbx_scene *scene) {
  const fbx_document *d = &scene->document;
  sk_status status = SK_OK;
  uint32_t i;
  scene->curves = SK_ARRAY(fbx_curve);
  scene->curve_of = sk_alloc(d->objects.count * sizeof *scene->curve_of);
  if (!scene->curve_of) return import_no_memory(d->job, d->objects.count * sizeof *scene->curve_of);
  for (i = 0; i < d->objects.count; i++) scene->curve_of[i] = FBX_NONE;
  for (i = 0; i < d->objects.count && !status; i++) {
    fbx_curve *curve;
    if (fbx_object_at(d, i)->class != FBX_CURVE) continue;
    curve = sk_array_extend(&scene->curves, 1);
    if (!curve) return import_no_memory(d->job, sizeof *curve);
    status = fbx_read_curve(d, i, curve);
    if (curve->count) scene->curve_of[i] = (uint32_t)scene->curves.count - 1;
  }
  return status;
}

/* Stacks are in the order in which the file has them. */
static int compare_stacks(const void *a, const void *b) {
  const fbx_stack *x = a, *y = b;
  return x->start < y->start ? -1 : x->start > y->start;
}

static sk_status read_stacks(fbx_scene *scene) {
  const fbx_document *d = &scene->document;
  fbx_record takes;
  bool has_takes = fbx_enter(&d->file, fbx_first(&d->file), "Takes", &takes);
  sk_status status = SK_OK;
  uint32_t i;
  scene->stacks = SK_ARRAY(fbx_stack);
  scene->playing = SK_ARRAY(uint32_t);
  for (i = 0; i < d->objects.count; i++) {
    fbx_stack *stack;
    if (fbx_object_at(d, i)->class != FBX_STACK) continue;
    stack = sk_array_extend(&scene->stacks, 1);
    if (!stack) return import_no_memory(d->job, sizeof *stack);
    *stack = (fbx_stack){.object = i,
                         .layers = SK_ARRAY(fbx_layer),
                         .sources = SK_ARRAY(fbx_value_source),
                         .tracks = SK_ARRAY(fbx_track)};
    stack->start = (double)fbx_object_at(d, i)->inside; /* for sorting only */
  }
  if (scene->stacks.count) qsort(scene->stacks.data, scene->stacks.count, sizeof(fbx_stack), compare_stacks);
  for (i = 0; i < scene->stacks.count && !status; i++) {
    fbx_stack *stack = fbx_stack_at(scene, i);
    stack->start = 0.0;
    status = read_layers(scene, stack);
    if (!status) status = read_tracks(scene, stack);
    if (!status) read_range(scene, stack, has_takes ? &takes : NULL);
    if (!status && stack->is_animated) {
      uint32_t *added = sk_array_extend(&scene->playing, 1);
      if (added) *added = i;
      else status = import_no_memory(d->job, sizeof *added);
    }
  }
  return status;
}

sk_status fbx_open_scene(import_job *job, fbx_scene *scene) {
  sk_status status;
  memset(scene, 0, sizeof *scene);
  status = fbx_open_document(job, &scene->document);
  if (!status) status = read_inner_shapes(scene);
  if (!status) status = fbx_read_nodes(scene);
  if (!status) status = read_curves(scene);
  if (!status) status = read_stacks(scene);
  if (!status) fbx_split_nodes(scene);
  return status;
}

void fbx_close_scene(fbx_scene *scene) {
  size_t i;
  for (i = 0; i < scene->stacks.count; i++) {
    fbx_stack *stack = fbx_stack_at(scene, i);
    sk_array_free(&stack->layers);
    sk_array_free(&stack->sources);
    sk_array_free(&stack->tracks);
  }
  for (i = 0; i < scene->curves.count; i++) fbx_free_curve((fbx_curve *)scene->curves.data + i);
  sk_array_free(&scene->inner_shapes);
  sk_array_free(&scene->stacks);
  sk_array_free(&scene->playing);
  sk_array_free(&scene->curves);
  sk_array_free(&scene->nodes);
  sk_free(scene->curve_of);
  sk_free(scene->node_of);
  fbx_close_document(&scene->document);
}
