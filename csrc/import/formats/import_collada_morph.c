/* import_collada_morph.c: the morph targets of COLLADA as differences to their base. */
#include "import_collada.h"

/* One target: the differences of all vertices of the mesh. */
static sk_status read_target(import_job *job, const dae_source *base, const dae_source *target, bool relative,
                             const uint32_t *points, uint32_t count, const float **out) {
  float *moved = import_contents_take(job, (size_t)count * 3, sizeof *moved);
  uint32_t v, k;
  *out = moved;
  if (!moved) return SK_ERROR_MEMORY;
  for (v = 0; v < count && target->count; v++)
    for (k = 0; k < 3; k++) {
      double to = k < target->width ? dae_number_at(target, points[v], k) : 0.0;
      double from = !relative && k < base->width ? dae_number_at(base, points[v], k) : 0.0;
      moved[3 * (size_t)v + k] = (float)(to - from);
    }
  return SK_OK;
}

static bool has_normals(const dae_tree *tree, uint32_t geometry) {
  uint32_t mesh = dae_child(tree, geometry, DAE_mesh), child;
  if (!mesh) return false;
  for (DAE_EACH(tree, mesh, child))
    if (dae_is_primitive(dae_word_of(tree, child)) || dae_word_of(tree, child) == DAE_vertices)
      if (dae_input(tree, child, "NORMAL")) return true;
  return false;
}

/* Positions of the geometry that a target names; without rows where they do not fit the base. */
static sk_status find_target(import_job *job, import_span name, const dae_source *base, dae_source *target,
                             import_span *title) {
  uint32_t element = dae_follow(&job->dae->tree, name);
  dae_shape shape;
  sk_status status = SK_OK;
  *target = (dae_source){.count = 0};
  *title = name;
  if (element && dae_find_shape(job, element, &shape)) {
    *title = dae_title(&job->dae->tree, shape.geometry);
    status = dae_read_positions(job, shape.geometry, target);
    if (has_normals(&job->dae->tree, shape.geometry))
      import_note_add(job, NOTE_attributes_ignored, 1, "normals of morph target '%.*s'", IMPORT_SHORT(*title));
  }
  if (status || target->count == base->count) return status;
  import_note_add(job, NOTE_morph_targets_dropped, 1, "target '%.*s' has %zu points, its base has %zu",
                  IMPORT_SHORT(name), target->count, base->count);
  *target = (dae_source){.count = 0};
  return SK_OK;
}

/* 1.4.1, "morph": targets of the method NORMALIZED are whole shapes, those of RELATIVE are differences. */
sk_status dae_read_targets(import_job *job, const dae_shape *shape, const uint32_t *points, int32_t mesh) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t inputs = dae_child(tree, shape->morph, DAE_targets), count, i;
  bool relative = dae_is(dae_attribute(tree, shape->morph, DAE_method), "RELATIVE"), are_ids;
  sk_array names = SK_ARRAY(import_span);
  import_contents_target *targets = NULL;
  dae_source base, weights, target;
  import_span title;
  sk_status status = dae_read_positions(job, shape->geometry, &base);
  if (!status) status = dae_read_source(job, dae_input_source(tree, inputs, "MORPH_WEIGHT"), &weights);
  if (!status) status = dae_read_names(job, dae_input_source(tree, inputs, "MORPH_TARGET"), &names, &are_ids);
  count = ((const import_contents_mesh *)job->contents->meshes.data)[mesh].vertex_count;
  job->dae->made.rows += (uint64_t)count * names.count;
  if (!status) status = import_check_counts(job, &job->dae->made);
  if (!status && names.count) {
    targets = import_contents_take(job, names.count, sizeof *targets);
    if (!targets) status = SK_ERROR_MEMORY;
  }
  for (i = 0; i < names.count && !status; i++) {
    status = find_target(job, ((const import_span *)names.data)[i], &base, &target, &title);
    if (!status) status = dae_put_text(job, title, &targets[i].name);
    if (!status) status = read_target(job, &base, &target, relative, points, count, &targets[i].positions);
    targets[i].default_weight = i < weights.count ? (float)dae_number_at(&weights, i, 0) : 0.0f;
  }
  if (!status) {
    import_contents_mesh *out = (import_contents_mesh *)job->contents->meshes.data + mesh;
    out->targets = targets;
    out->target_count = (uint32_t)names.count;
  }
  sk_array_free(&names);
  return status;
}
