/* import_fbx_note.c: what of an FBX file is not played: a walk over its objects. */
#include <string.h>

#include "import_fbx_mesh.h"

/* ---- curves --------------------------------------------------------------------------------------------- */

/* What kinds of curves, layers and shapes the file has, in one entry of the report. */
static void note_curves(import_job *job) {
  const fbx_scene *scene = &job->fbx->scene;
  const fbx_curve *curves = scene->curves.data;
  size_t steps = 0, linear = 0, cubic = 0, repeated = 0, layers = 0, others = 0, i, k;
  for (i = 0; i < scene->curves.count; i++) {
    bool smooth = false, straight = false;
    for (k = 0; k + 1 < curves[i].count; k++) {
      smooth |= curves[i].keys[k].segment == FBX_CUBIC;
      straight |= curves[i].keys[k].segment == FBX_LINEAR;
    }
    if (smooth) cubic++;
    else if (straight) linear++;
    else steps++;
    others += !curves[i].is_played && !curves[i].is_flat;
    repeated += curves[i].before != FBX_OUTSIDE_CONSTANT || curves[i].after != FBX_OUTSIDE_CONSTANT;
  }
  for (i = 0; i < scene->stacks.count; i++) layers += fbx_stack_at(scene, i)->layers.count;
  if (job->model.clips.count)
    import_note_add(job, NOTE_curves_converted, scene->curves.count,
                    "%zu stepped, %zu linear, %zu cubic, %zu of them extrapolated; stacks: %zu, layers: %zu, shapes: "
                    "%zu; not played, as their properties or layers are not: %zu",
                    steps, linear, cubic, repeated, scene->stacks.count, layers, job->model.targets.count, others);
}

/* Whether a curve node has a curve that changes, which nothing plays. */
static bool is_unplayed(const fbx_scene *scene, uint32_t curve_node) {
  const fbx_curve *curves = scene->curves.data;
  size_t at = 0;
  uint32_t curve;
  while ((curve = fbx_next_child(&scene->document, curve_node, FBX_CURVE, &at, NULL)) != FBX_NONE) {
    uint32_t number = scene->curve_of[curve];
    if (number != FBX_NONE && !curves[number].is_played && !curves[number].is_flat) return true;
  }
  return false;
}

/* Properties of models that change what is seen, beyond those that are played. */
static bool moves_model(const fbx_link *link) {
  static const char *const names[] = {"RotationPivot",        "RotationOffset",    "ScalingPivot",
                                      "ScalingOffset",        "PreRotation",       "PostRotation",
                                      "GeometricTranslation", "GeometricRotation", "GeometricScaling"};
  size_t i;
  for (i = 0; i < sizeof names / sizeof *names; i++)
    if (fbx_link_is(link, names[i])) return true;
  return false;
}

/* Curves of materials, of textures, and of other properties of models than translation, rotation and scale. */
static void note_curve_node(import_job *job, uint32_t curve_node) {
  static const fbx_class classes[] = {FBX_MATERIAL, FBX_TEXTURE, FBX_MODEL};
  const fbx_scene *scene = &job->fbx->scene;
  const fbx_document *d = &scene->document;
  size_t c;
  for (c = 0; c < sizeof classes / sizeof *classes; c++) {
    const fbx_link *link;
    size_t at = 0;
    uint32_t owner;
    while ((owner = fbx_next_parent(d, curve_node, classes[c], &at, &link)) != FBX_NONE) {
      const fbx_object *object = fbx_object_at(d, owner);
      if (!link->property || (classes[c] == FBX_MODEL && !moves_model(link))) continue;
      if (is_unplayed(scene, curve_node))
        import_note_add(job, NOTE_channels_dropped, 1, "property '%.*s' of '%.*s'",
                        (int)(link->property_length < 40 ? link->property_length : 40), link->property,
                        fbx_short_length(object), object->name);
    }
  }
}

/* ---- looks ---------------------------------------------------------------------------------------------- */

static size_t count_layers(const fbx_document *d, uint32_t layered) {
  size_t at = 0, count = 0;
  while (fbx_next_child(d, layered, FBX_TEXTURE, &at, NULL) != FBX_NONE) count++;
  return count;
}

/* Textures of a material other than the one of its base color. */
static void note_textures(import_job *job, uint32_t material, fbx_class class) {
  const fbx_document *d = &job->fbx->scene.document;
  const fbx_object *object = fbx_object_at(d, material);
  const fbx_link *link;
  size_t at = 0, colors = 0;
  uint32_t texture;
  while ((texture = fbx_next_child(d, material, class, &at, &link)) != FBX_NONE) {
    if (link->property && fbx_is_base_color(link)) colors += class == FBX_TEXTURE ? 1 : count_layers(d, texture);
    else if (link->property)
      import_note_add(job, NOTE_looks_ignored, 1, "material '%.*s': texture of '%.*s'", fbx_short_length(object),
                      object->name, (int)(link->property_length < 40 ? link->property_length : 40), link->property);
  }
  if (colors > 1)
    import_note_add(job, NOTE_looks_ignored, colors - 1, "material '%.*s': %zu textures of the color",
                    fbx_short_length(object), object->name, colors);
}

/* The transparency of older files counts only where there is no opacity, which is read. */
static void note_colors(import_job *job, uint32_t material) {
  static const char *const names[][2] = {{"EmissiveColor", "EmissiveFactor"},
                                         {"SpecularColor", "SpecularFactor"},
                                         {"TransparentColor", "TransparencyFactor"}};
  const fbx_document *d = &job->fbx->scene.document;
  const fbx_object *object = fbx_object_at(d, material);
  double opacity = 0.0;
  bool has_opacity = false;
  const fbx_wanted read = {"Opacity", &opacity, 1, &has_opacity};
  size_t i;
  fbx_read_properties(d, material, &read, 1);
  for (i = 0; i < (has_opacity ? 2 : 3); i++) {
    double color[3] = {0}, factor = 1.0;
    const fbx_wanted wanted[] = {{names[i][0], color, 3, NULL}, {names[i][1], &factor, 1, NULL}};
    fbx_read_properties(d, material, wanted, 2);
    if (factor > 0.0 && (color[0] > 0.0 || color[1] > 0.0 || color[2] > 0.0))
      import_note_add(job, NOTE_looks_ignored, 1, "material '%.*s': %s", fbx_short_length(object), object->name,
                      names[i][0]);
  }
}

/* Texture coordinates and colors of a geometry beyond the first. */
static void note_layers(import_job *job, uint32_t geometry) {
  const fbx_document *d = &job->fbx->scene.document;
  const fbx_object *object = fbx_object_at(d, geometry);
  unsigned uvs = 0, colors = 0;
  fbx_record record;
  size_t at;
  for (at = object->inside; fbx_read_record(&d->file, at, object->inside_end, &record); at = record.end) {
    uvs += fbx_is_named(&record, "LayerElementUV");
    colors += fbx_is_named(&record, "LayerElementColor");
  }
  if (uvs > 1)
    import_note_add(job, NOTE_attributes_ignored, uvs - 1, "geometry '%.*s': texture coordinates 1",
                    fbx_short_length(object), object->name);
  if (colors > 1)
    import_note_add(job, NOTE_attributes_ignored, colors - 1, "geometry '%.*s': colors 1", fbx_short_length(object),
                    object->name);
}

/* ---- objects --------------------------------------------------------------------------------------------- */

static void note_lost(import_job *job, const fbx_object *object, import_note_code code) {
  import_note_add(job, code, 1, "%.*s '%.*s'", (int)(object->type_length < 40 ? object->type_length : 40), object->type,
                  fbx_short_length(object), object->name);
}

static bool has_type(const fbx_object *object, const char *type) {
  return object->type_length == strlen(type) && !memcmp(object->type, type, object->type_length);
}

void import_fbx_note(import_job *job) {
  const fbx_document *d = &job->fbx->scene.document;
  const uint32_t *materials = job->fbx->materials.data;
  const fbx_mesh *meshes = job->fbx->meshes.data;
  size_t k;
  uint32_t i;
  note_curves(job);
  for (i = 0; i < d->objects.count; i++) {
    const fbx_object *object = fbx_object_at(d, i);
    switch (object->class) {
    case FBX_GEOMETRY: note_lost(job, object, NOTE_geometry_ignored); break;
    case FBX_CACHE: note_lost(job, object, NOTE_geometry_caches_ignored); break;
    case FBX_CONSTRAINT: note_lost(job, object, NOTE_constraints_ignored); break;
    case FBX_CURVE_NODE: note_curve_node(job, i); break;
    case FBX_ATTRIBUTE:
      if (has_type(object, "Camera") || has_type(object, "Light")) note_lost(job, object, NOTE_cameras_lights_ignored);
      break;
    default: break;
    }
  }
  for (k = 0; k < job->fbx->meshes.count; k++) note_layers(job, meshes[k].object);
  for (k = 0; k < job->fbx->materials.count; k++) {
    note_textures(job, materials[k], FBX_TEXTURE);
    note_textures(job, materials[k], FBX_LAYERED_TEXTURE);
    note_colors(job, materials[k]);
  }
}
