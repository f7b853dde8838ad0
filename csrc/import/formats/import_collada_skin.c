/* import_collada_skin.c: skin and morph controllers of COLLADA, and the places of meshes in the scene. */
#include <math.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "import_collada.h"

#define MAX_HOPS      4096u          /* controllers that stand for one another */
#define MAX_SKELETONS 256u           /* of one instance */
#define MAX_LISTED    64u            /* influences of a point */
#define MAX_JOINTS    (1u << 24)     /* of the skins of all instances together */
#define MAX_CLIMBED   1000           /* nodes above an instance in which its joints are looked for */
#define MAX_PLACED    (1u << 24)     /* primitives of all instances together */

typedef struct dae_points { /* what a <skin> says of the points of its geometry, and of its joints */
  uint32_t count;           /* points; one more that nothing is said of */
  uint32_t *starts;         /* of each point, and the end */
  import_influence *influences; /* the slot is the number of the joint; behind the last one is the node of the mesh */
  sk_array names;           /* import_span: of the joints */
  bool are_ids;
  uint32_t joints;          /* without the node of the mesh ... */
  bool has_own;             /* ... which some point follows */
  float *offsets;           /* of all joints, also the node; NULL: the file has none */
} dae_points;

/* ---- what an instance shows ------------------------------------------------------------------------ */

/* A skin may move a morph, and a morph a skin or another morph, down to the geometry. Of several skins or morphs the
   outermost counts. */
static bool find_shape(import_job *job, uint32_t element, dae_shape *shape) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t hops;
  *shape = (dae_shape){DAE_NONE, DAE_NONE, DAE_NONE};
  for (hops = 0; hops < MAX_HOPS; hops++) {
    uint32_t skin = dae_child(tree, element, DAE_skin), morph = dae_child(tree, element, DAE_morph);
    import_span source;
    if (dae_word_of(tree, element) == DAE_geometry) {
      shape->geometry = element;
      return true;
    }
    if (!skin && !morph) break;
    if (morph && !skin && shape->morph)
      import_note_add(job, NOTE_morph_targets_dropped, 1, "morph controller '%.*s' is below another one",
                      IMPORT_SHORT(dae_title(tree, element)));
    if (skin && !shape->skin) shape->skin = skin;
    if (morph && !skin && !shape->morph) shape->morph = morph;
    source = dae_attribute(tree, skin ? skin : morph, DAE_source);
    element = dae_follow(tree, source);
    if (!element) dae_note_reference(job, skin ? skin : morph, source);
    if (!element) return false;
  }
  import_note_add(job, NOTE_meshes_dropped, 1, "controller '%.*s' leads to no geometry",
                  IMPORT_SHORT(dae_title(tree, element)));
  return false;
}

/* What a controller shows is found out once, and kept by its number. */
bool dae_find_shape(import_job *job, uint32_t element, dae_shape *shape) {
  import_dae *dae = job->dae;
  dae_element *e = dae_at(&dae->tree, element);
  dae_shape *added;
  if (e->word != DAE_controller) return find_shape(job, element, shape);
  if (e->data) {
    *shape = ((const dae_shape *)dae->shapes.data)[e->data - 1];
    return shape->geometry != DAE_NONE;
  }
  if (!find_shape(job, element, shape)) shape->geometry = DAE_NONE;
  added = sk_array_room(&dae->shapes, 1);
  if (!added) return shape->geometry != DAE_NONE;
  *added = *shape;
  e->data = (uint32_t)dae->shapes.count;
  return shape->geometry != DAE_NONE;
}

/* ---- influences of points -------------------------------------------------------------------------------- */

typedef struct weights { /* <vertex_weights> while it is read */
  import_job *job;
  dae_points *points;
  dae_source source;
  uint32_t stride, joint_offset, weight_offset;
  import_span title;
} weights;

static sk_status read_inputs(weights *w, uint32_t element) {
  const dae_tree *tree = &w->job->dae->tree;
  uint32_t child;
  sk_status status = SK_OK;
  for (DAE_EACH(tree, element, child)) {
    uint32_t offset = dae_attribute_number(tree, child, DAE_offset, 0);
    if (dae_word_of(tree, child) != DAE_input || offset >= 255 || status) continue;
    if (offset >= w->stride) w->stride = offset + 1;
    if (dae_is(dae_attribute(tree, child, DAE_semantic), "JOINT")) w->joint_offset = offset;
    if (!dae_is(dae_attribute(tree, child, DAE_semantic), "WEIGHT")) continue;
    w->weight_offset = offset;
    status = dae_read_source(w->job, dae_follow(tree, dae_attribute(tree, child, DAE_source)), &w->source);
  }
  return status;
}

/* Joint -1 is the bind shape itself (1.4.1, "vertex_weights"), which is at the node of the mesh. */
static bool take_influence(const weights *w, import_span *rest, import_influence *out) {
  uint32_t k, number, joint = 0, row = 0;
  for (k = 0; k < w->stride; k++) {
    if (!dae_next_index(rest, &number)) return false;
    if (k == w->joint_offset) joint = number;
    if (k == w->weight_offset) row = number;
  }
  out->slot = joint == UINT32_MAX ? w->points->joints : joint < w->points->joints ? joint : UINT32_MAX - 1;
  out->weight = row < w->source.count ? (float)dae_number_at(&w->source, row, 0) : 0.0f;
  if (row >= w->source.count)
    import_note_add(w->job, NOTE_weights_dropped, 1, "controller '%.*s' has %zu weights, of which number %u is wanted",
                    IMPORT_SHORT(w->title), w->source.count, row);
  return true;
}

/* Points that are not listed, or have no influence, follow the node of the mesh. */
static void read_points(weights *w, import_span counts, import_span rest) {
  dae_points *points = w->points;
  uint32_t point, listed, used = 0, i, alone = 0;
  bool ended = false;
  for (point = 0; point <= points->count; point++) {
    points->starts[point] = used;
    if (point == points->count || !dae_next_index(&counts, &listed)) listed = 0;
    for (i = 0; i < listed && !ended; i++) {
      import_influence influence;
      ended = !take_influence(w, &rest, &influence);
      if (!ended && i < MAX_LISTED) points->influences[used++] = influence;
    }
    if (listed > MAX_LISTED)
      import_note_add(w->job, NOTE_influences_dropped, 1, "point %u of controller '%.*s' has %u", point,
                      IMPORT_SHORT(w->title), listed);
    if (used > points->starts[point]) continue;
    points->influences[used++] = (import_influence){points->joints, 1.0f};
    alone += point < points->count;
  }
  for (i = 0; i < used - 1; i++) points->has_own |= points->influences[i].slot == points->joints;
  points->starts[point] = used;
  import_note_add(w->job, NOTE_vertices_unweighted, alone, "points of controller '%.*s'", IMPORT_SHORT(w->title));
  if (ended)
    import_note_add(w->job, NOTE_weights_dropped, 1, "controller '%.*s' lists fewer than it counts",
                    IMPORT_SHORT(w->title));
}

static sk_status read_weights(import_job *job, uint32_t skin, size_t positions, dae_points *points) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t element = dae_child(tree, skin, DAE_vertex_weights);
  import_span rest = dae_text(tree, dae_child(tree, element, DAE_v));
  weights w = {.job = job, .points = points, .stride = 1, .title = dae_title(tree, dae_at(tree, skin)->parent)};
  sk_status status = element ? read_inputs(&w, element) : SK_OK;
  job->dae->listed.vertices += positions;
  if (!status) status = import_check_counts(job, &job->dae->listed);
  if (status) return status;
  points->count = (uint32_t)positions;
  points->starts = import_contents_take(job, (size_t)points->count + 2, sizeof *points->starts);
  points->influences = import_contents_take(job, rest.length / 2 + points->count + 2, sizeof *points->influences);
  if (!points->starts || !points->influences) return SK_ERROR_MEMORY;
  read_points(&w, dae_text(tree, dae_child(tree, element, DAE_vcount)), rest);
  return SK_OK;
}

/* ---- joints of a skin ------------------------------------------------------------------------------------- */

static void read_matrix(const dae_source *source, size_t row, double out[12]) {
  uint32_t i;
  for (i = 0; i < 12; i++) out[i] = dae_number_at(source, row, i);
}

/* Inverse bind matrices times the bind shape matrix, which is the identity where it is left out. */
static sk_status read_offsets(import_job *job, uint32_t skin, dae_points *points) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t joints = dae_child(tree, skin, DAE_joints), i;
  double shape[16], matrix[12];
  dae_source binds;
  sk_status status = dae_read_source(job, dae_input_source(tree, joints, "INV_BIND_MATRIX"), &binds);
  if (status || binds.width < 16) return status;
  if (dae_numbers_of(dae_text(tree, dae_child(tree, skin, DAE_bind_shape_matrix)), shape, 16) < 16)
    memcpy(shape, sk_affine_identity, sizeof sk_affine_identity);
  points->offsets = import_contents_take(job, (size_t)points->joints + 1, 16 * sizeof *points->offsets);
  if (!points->offsets) return SK_ERROR_MEMORY;
  for (i = 0; i <= points->joints; i++) {
    memcpy(matrix, sk_affine_identity, sizeof matrix);
    if (i < points->joints && i < binds.count) read_matrix(&binds, i, matrix);
    sk_affine_multiply(matrix, shape, matrix);
    sk_affine_to_mat4(matrix, points->offsets + 16 * (size_t)i);
  }
  if (binds.count < points->joints)
    import_note_add(job, NOTE_inverse_bind_missing, points->joints - binds.count, "controller '%.*s'",
                    IMPORT_SHORT(dae_title(tree, dae_at(tree, skin)->parent)));
  return SK_OK;
}

/* What a skin says, read once. */
static sk_status points_of(import_job *job, const dae_shape *shape, const dae_points **out) {
  import_dae *dae = job->dae;
  dae_element *e = dae_at(&dae->tree, shape->skin);
  uint32_t source = dae_input_source(&dae->tree, dae_child(&dae->tree, shape->skin, DAE_joints), "JOINT");
  dae_points points = {.names = SK_ARRAY(import_span)}, *added;
  dae_source positions;
  sk_status status = SK_OK;
  if (!e->data) {
    if (!dae->points.stride) dae->points = SK_ARRAY(dae_points);
    if (source > shape->skin && source < e->end) status = dae_read_names(job, source, &points.names, &points.are_ids);
    if (!status) status = dae_read_positions(job, shape->geometry, &positions);
    points.joints = (uint32_t)points.names.count;
    if (!status) status = read_offsets(job, shape->skin, &points);
    if (!status) status = read_weights(job, shape->skin, positions.count, &points);
    added = sk_array_extend(&dae->points, 1);
    if (added) *added = points;
    else sk_array_free(&points.names);
    if (!added && !status) status = import_no_memory(job, sizeof *added);
    if (added) e->data = (uint32_t)dae->points.count;
  }
  *out = status ? NULL : (const dae_points *)dae->points.data + (e->data - 1);
  return status;
}

void dae_free_points(import_dae *dae) {
  dae_points *points = dae->points.data;
  size_t i;
  for (i = 0; i < dae->points.count; i++) sk_array_free(&points[i].names);
  sk_array_free(&dae->points);
}

sk_status dae_read_influences(import_job *job, const dae_shape *shape, const uint32_t *points, int32_t mesh) {
  import_contents_mesh *out = (import_contents_mesh *)job->contents->meshes.data + mesh;
  const dae_points *from;
  uint32_t *lists, v;
  sk_status status = points_of(job, shape, &from);
  if (status) return status;
  lists = import_contents_take(job, out->vertex_count, sizeof *lists);
  if (!lists) return SK_ERROR_MEMORY;
  for (v = 0; v < out->vertex_count; v++) lists[v] = points[v] < from->count ? points[v] : from->count;
  out->lists = lists;
  out->list_count = from->count + 1;
  out->starts = from->starts;
  out->influences = from->influences;
  return SK_OK;
}

/* ---- joints of an instance ------------------------------------------------------------------------------------ */

/* The item of the key that is nearest to a node: the first one below the node, else below the node above it, and so on.
   An element that is used once is there wherever it is. */
static int32_t nearest(const import_job *job, const dae_lists *lists, uint32_t key, int32_t node) {
  const dae_node *nodes = job->dae->nodes.data;
  uint32_t first = lists->starts[key], climbed;
  if (lists->starts[key + 1] - first < 2)
    return lists->starts[key + 1] > first ? (int32_t)lists->items[first] : SK_NONE;
  for (climbed = 0; node >= 0 && climbed < MAX_CLIMBED;
       climbed++, node = ((const import_contents_node *)job->contents->nodes.data)[node].parent) {
    uint32_t found = dae_first_in(lists, key, (uint32_t)node, nodes[node].end);
    if (found != UINT32_MAX) return (int32_t)found;
  }
  return (int32_t)lists->items[first];
}

typedef struct binding { /* an instance of a skin, while its joints are looked up */
  import_job *job;
  int32_t node;
  int32_t skeletons[MAX_SKELETONS]; /* nodes */
  uint32_t count;
  bool names_skeletons;
} binding;

static void find_skeletons(binding *b, uint32_t instance) {
  const import_dae *dae = b->job->dae;
  uint32_t child;
  for (DAE_EACH(&dae->tree, instance, child)) {
    import_span reference = dae_text(&dae->tree, child);
    uint32_t element;
    int32_t node;
    if (dae_word_of(&dae->tree, child) != DAE_skeleton) continue;
    b->names_skeletons = true;
    element = dae_follow(&dae->tree, reference);
    node = element ? nearest(b->job, &dae->of_element, element, b->node) : SK_NONE;
    if (node < 0) dae_note_reference(b->job, child, reference);
    else if (b->count < MAX_SKELETONS) b->skeletons[b->count++] = node;
  }
}

static int32_t below_skeletons(const binding *b, const dae_lists *lists, uint32_t key) {
  const dae_node *nodes = b->job->dae->nodes.data;
  uint32_t i;
  for (i = 0; i < b->count; i++) {
    uint32_t found = dae_first_in(lists, key, (uint32_t)b->skeletons[i], nodes[b->skeletons[i]].end);
    if (found != UINT32_MAX) return (int32_t)found;
  }
  return SK_NONE;
}

/* By sid, below the skeletons; an instance without one has the nodes around it. Some exporters write ids in the place
   of sids, and 1.5 has paths of both. A sid that only one node has may stand elsewhere. */
static int32_t find_joint(const binding *b, const dae_points *points, import_span name) {
  const import_dae *dae = b->job->dae;
  uint32_t sid = points->are_ids ? UINT32_MAX : dae_sid_number(dae, name), element = dae_find_path(dae, name);
  int32_t found = sid == UINT32_MAX ? SK_NONE : below_skeletons(b, &dae->joint_with_sid, sid);
  if (found < 0 && sid != UINT32_MAX && !b->names_skeletons)
    found = nearest(b->job, &dae->joint_with_sid, sid, b->node);
  if (found < 0 && element) found = below_skeletons(b, &dae->of_element, element);
  if (found < 0 && element) found = nearest(b->job, &dae->of_element, element, b->node);
  if (found >= 0 || sid == UINT32_MAX) return found;
  if (dae->joint_with_sid.starts[sid + 1] - dae->joint_with_sid.starts[sid] != 1) return SK_NONE;
  return (int32_t)dae->joint_with_sid.items[dae->joint_with_sid.starts[sid]];
}

/* Adds the skin of an instance at a node to the contents. */
static sk_status add_skin(import_job *job, uint32_t instance, int32_t node, const dae_shape *shape, int32_t *number) {
  binding b = {.job = job, .node = node};
  const dae_points *points;
  import_contents_skin *skin;
  int32_t *nodes;
  sk_text *names = NULL; /* of joints that are not there, for the report */
  uint32_t i;
  sk_status status = points_of(job, shape, &points);
  if (status) return status;
  job->dae->skin_joints += points->joints + 1;
  if (job->dae->skin_joints > MAX_JOINTS)
    return sk_fail(job->error, SK_ERROR_IMPORT, "the skins of the scene have more than %u joints", MAX_JOINTS);
  find_skeletons(&b, instance);
  nodes = import_contents_take(job, (size_t)points->joints + 1, sizeof *nodes);
  skin = nodes ? import_contents_add_skin(job) : NULL;
  if (!skin) return SK_ERROR_MEMORY;
  for (i = 0; i < points->joints; i++) {
    nodes[i] = find_joint(&b, points, ((const import_span *)points->names.data)[i]);
    if (nodes[i] >= 0) continue;
    if (!names) names = import_contents_take(job, (size_t)points->joints + 1, sizeof *names);
    status = names ? dae_put_text(job, ((const import_span *)points->names.data)[i], &names[i]) : SK_ERROR_MEMORY;
    if (status) return status;
  }
  nodes[i] = node;
  skin->nodes = nodes;
  skin->offsets = points->offsets;
  skin->names = names;
  skin->count = points->joints + points->has_own;
  *number = (int32_t)job->contents->skins.count - 1;
  return SK_OK;
}

/* ---- placing --------------------------------------------------------------------------------------------------- */

/* A node has one list of morph targets: that of the first morph controller there. */
static sk_status check_morph(import_job *job, int32_t node, dae_shape *shape) {
  import_dae *dae = job->dae;
  const dae_use *last = dae->morphs.count ? (const dae_use *)dae->morphs.data + dae->morphs.count - 1 : NULL;
  dae_use *added;
  if (!shape->morph) return SK_OK;
  if (last && last->node == node) {
    if (last->element == shape->morph) return SK_OK;
    import_note_add(job, NOTE_morph_targets_dropped, 1, "'%.*s', the second morph controller of a node",
                    IMPORT_SHORT(dae_title(&dae->tree, dae_at(&dae->tree, shape->morph)->parent)));
    shape->morph = DAE_NONE;
    return SK_OK;
  }
  added = sk_array_room(&dae->morphs, 1);
  if (!added) return import_no_memory(job, sizeof *added);
  *added = (dae_use){shape->morph, node};
  return SK_OK;
}

static sk_status place_primitive(import_job *job, const dae_use *use, const dae_shape *shape,
                                 const dae_bindings *bindings, uint32_t primitive, int32_t skin) {
  const dae_tree *tree = &job->dae->tree;
  import_span symbol = dae_attribute(tree, primitive, DAE_material);
  const import_contents_mesh *shown;
  import_contents_instance *instance;
  uint32_t set, t;
  int32_t material = dae_bound_material(job, bindings, symbol, &set), mesh;
  sk_status status = dae_read_primitive(job, shape, primitive, set, &mesh);
  if (status || mesh < 0) return status;
  shown = (const import_contents_mesh *)job->contents->meshes.data + mesh;
  job->dae->placed.vertices += shown->vertex_count;
  status = import_check_counts(job, &job->dae->placed);
  if (!status) status = dae_share_text(job, shown->name);
  for (t = 0; t < shown->target_count && !status; t++) status = dae_share_text(job, shown->targets[t].name);
  if (status) return status;
  instance = import_contents_add_instance(job, use->node, mesh);
  if (!instance) return SK_ERROR_MEMORY;
  instance->skin = skin;
  instance->material = material;
  instance->hidden = ((const dae_node *)job->dae->nodes.data)[use->node].hidden;
  return SK_OK;
}

static sk_status place_use(import_job *job, const dae_use *use, uint32_t *visited) {
  const dae_tree *tree = &job->dae->tree;
  import_span reference = dae_attribute(tree, use->element, DAE_url);
  uint32_t element = dae_follow(tree, reference), mesh, child;
  size_t before = job->contents->instances.count;
  dae_bindings bindings;
  dae_shape shape;
  int32_t skin = SK_NONE;
  sk_status status = SK_OK;
  if (!element) dae_note_reference(job, use->element, reference);
  if (!element || !dae_find_shape(job, element, &shape)) return SK_OK;
  mesh = dae_child(tree, shape.geometry, DAE_mesh);
  if (!mesh) return SK_OK; /* note_ignored says it */
  status = check_morph(job, use->node, &shape);
  if (shape.skin && !status) status = add_skin(job, use->element, use->node, &shape, &skin);
  if (!status) status = dae_read_bindings(job, use->element, &bindings);
  else bindings.symbols = (import_names){NULL, 0};
  for (DAE_EACH(tree, mesh, child)) {
    if (status || !dae_is_primitive(dae_word_of(tree, child))) continue;
    if (++*visited > MAX_PLACED)
      status = sk_fail(job->error, SK_ERROR_IMPORT, "the scene has more than %u primitives", MAX_PLACED);
    if (!status) status = place_primitive(job, use, &shape, &bindings, child, skin);
  }
  import_names_free(&bindings.symbols);
  if (!status && job->contents->instances.count == before)
    import_note_add(job, NOTE_meshes_dropped, 1, "geometry '%.*s'", IMPORT_SHORT(dae_title(tree, shape.geometry)));
  return status;
}

sk_status dae_place_meshes(import_job *job) {
  import_dae *dae = job->dae;
  uint32_t visited = 0;
  size_t i;
  sk_status status = SK_OK;
  dae->morphs = SK_ARRAY(dae_use);
  dae->shapes = SK_ARRAY(dae_shape);
  for (i = 0; i < dae->uses.count && !status; i++)
    status = place_use(job, (const dae_use *)dae->uses.data + i, &visited);
  return status;
}
