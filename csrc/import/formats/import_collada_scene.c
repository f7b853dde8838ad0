/* import_collada_scene.c: the nodes of a COLLADA file, their transforms, and where nodes of a library are used. */
#include <math.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_fit.h"
#include "../import_limit.h"
#include "import_collada.h"

#define RADIANS        (3.14159265358979323846 / 180.0)
#define MAX_TRANSFORMS 100u /* of a node: each of its keys takes so many steps */

/* ---- transforms ------------------------------------------------------------------------------------ */

static int number_count(dae_word word) {
  switch (word) {
  case DAE_translate:
  case DAE_scale: return 3;
  case DAE_rotate: return 4;
  case DAE_matrix: return 16;
  case DAE_lookat: return 9;
  case DAE_skew: return 7;
  default: return 0;
  }
}

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static bool normalize(double v[3]) {
  double length = length_of(v);
  int i;
  for (i = 0; i < 3 && length > 0.0; i++) v[i] /= length;
  return length > 0.0;
}

static void cross(const double a[3], const double b[3], double out[3]) {
  int i;
  for (i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

void dae_axis_rotation(const double values[4], double out[4]) {
  double half = 0.5 * RADIANS * values[3], axis[3] = {values[0], values[1], values[2]};
  int i;
  if (!normalize(axis)) half = 0.0;
  for (i = 0; i < 3; i++) out[i] = sin(half) * axis[i];
  out[3] = cos(half);
}

/* Eye, point of interest and up: the node looks along its -Z. */
static void look_at(const double values[9], double out[12]) {
  double back[3], side[3], up[3] = {values[6], values[7], values[8]};
  int i;
  for (i = 0; i < 3; i++) back[i] = values[i] - values[3 + i];
  if (!normalize(back)) return;
  cross(up, back, side);
  if (!normalize(side)) return;
  cross(back, side, up);
  for (i = 0; i < 3; i++)
    out[4 * i] = side[i], out[4 * i + 1] = up[i], out[4 * i + 2] = back[i], out[4 * i + 3] = values[i];
}

/* As in RenderMan, to which the specification refers: points move along the second axis, so that the first axis turns
   towards it by the angle. */
static void skew(const double values[7], double out[12]) {
  double from[3] = {values[1], values[2], values[3]}, along[3] = {values[4], values[5], values[6]}, across[3];
  double angle = RADIANS * values[0], a, n, x, y, amount;
  int i, k;
  if (!normalize(along)) return;
  n = dot(from, along);
  for (i = 0; i < 3; i++) across[i] = from[i] - n * along[i];
  if (!normalize(across)) return;
  a = dot(from, across);
  x = a * cos(angle) - n * sin(angle), y = a * sin(angle) + n * cos(angle);
  if (x <= 0.0) return; /* points would turn over */
  amount = y / x - n / a;
  for (i = 0; i < 3; i++)
    for (k = 0; k < 3; k++) out[4 * i + k] += amount * along[i] * across[k];
}

void dae_transform_matrix(const dae_transform *transform, double out[12]) {
  static const double none[3], same[3] = {1, 1, 1}, straight[4] = {0, 0, 0, 1};
  const double *values = transform->values;
  double rotation[4];
  memcpy(out, sk_affine_identity, sizeof sk_affine_identity);
  switch (transform->word) {
  case DAE_translate: sk_affine_compose(values, straight, same, out); break;
  case DAE_scale: sk_affine_compose(none, straight, values, out); break;
  case DAE_rotate:
    dae_axis_rotation(values, rotation);
    sk_affine_compose(none, rotation, same, out);
    break;
  case DAE_matrix: memcpy(out, values, sizeof sk_affine_identity); break;
  case DAE_lookat: look_at(values, out); break;
  case DAE_skew: skew(values, out); break;
  default: break;
  }
}

static sk_status add_transform(import_job *job, uint32_t element, dae_chain *chain) {
  import_dae *dae = job->dae;
  dae_word word = dae_word_of(&dae->tree, element);
  int wanted = number_count(word), i;
  dae_transform *added;
  if (!wanted) return SK_OK;
  if (chain->count == MAX_TRANSFORMS)
    return sk_fail(job->error, SK_ERROR_IMPORT, "a node has more than %u transforms", MAX_TRANSFORMS);
  added = sk_array_extend(&dae->transforms, 1);
  if (!added) return import_no_memory(job, sizeof *added);
  *added = (dae_transform){word, element, {0}};
  if (dae_numbers_of(dae_text(&dae->tree, element), added->values, wanted) < wanted) {
    import_span text = dae_text(&dae->tree, element);
    import_note_add(job, NOTE_numbers_repaired, 1, "a transform of a node has too few numbers: '%.*s'",
                    IMPORT_SHORT(text));
    memset(added->values, 0, sizeof added->values);
    for (i = 0; i < 3 && word == DAE_scale; i++) added->values[i] = 1.0;
    for (i = 0; i < 16 && word == DAE_matrix; i += 5) added->values[i] = 1.0;
  }
  chain->count++;
  return SK_OK;
}

/* Whether the transforms are translations, then rotations, then scales. */
static bool are_trs(const import_dae *dae, const dae_chain *chain) {
  static const dae_word order[] = {DAE_translate, DAE_rotate, DAE_scale};
  uint32_t i, stage = 0;
  for (i = chain->first; i < chain->first + chain->count; i++) {
    while (stage < 3 && dae_transform_at(dae, i)->word != order[stage]) stage++;
    if (stage == 3) return false;
  }
  return true;
}

static sk_status make_chain(import_job *job, uint32_t element) {
  import_dae *dae = job->dae;
  dae_chain chain = {.first = (uint32_t)dae->transforms.count}, *added;
  uint32_t child;
  sk_status status = SK_OK;
  if (dae_at(&dae->tree, element)->data) return SK_OK;
  for (DAE_EACH(&dae->tree, element, child)) {
    status = add_transform(job, child, &chain);
    if (status) return status;
  }
  chain.is_trs = are_trs(dae, &chain);
  added = sk_array_extend(&dae->chains, 1);
  if (!added) return import_no_memory(job, sizeof *added);
  *added = chain;
  dae_at(&dae->tree, element)->data = (uint32_t)dae->chains.count;
  return SK_OK;
}

const dae_chain *dae_chain_of(const import_dae *dae, uint32_t element) {
  uint32_t number = dae_at(&dae->tree, element)->data;
  return number ? (const dae_chain *)dae->chains.data + (number - 1) : NULL;
}

/* ---- nodes -------------------------------------------------------------------------------------------- */

/* The rest pose of a node. Parts are multiplied in double. */
static void set_rest(const import_dae *dae, const dae_chain *chain, import_contents_node *node) {
  double matrix[12], rotation[4] = {0, 0, 0, 1}, turn[4], translation[3] = {0}, scale[3] = {1, 1, 1};
  uint32_t i;
  int k;
  node->has_trs = chain->is_trs;
  for (i = 0; i < chain->count; i++) {
    const dae_transform *t = dae_transform_at(dae, chain->first + i);
    dae_transform_matrix(t, matrix);
    sk_affine_multiply(node->local, matrix, node->local);
    if (t->word == DAE_rotate) {
      dae_axis_rotation(t->values, turn);
      import_quat_multiply(rotation, turn, rotation);
    }
    for (k = 0; k < 3; k++) {
      if (t->word == DAE_translate) translation[k] += t->values[k];
      if (t->word == DAE_scale) scale[k] *= t->values[k];
    }
  }
  for (k = 0; k < 3; k++) node->translation[k] = (float)translation[k], node->scale[k] = (float)scale[k];
  for (k = 0; k < 4; k++) node->rotation[k] = (float)rotation[k];
}

/* Whether the node says that it is not shown, as Maya and FCollada write it. */
static bool is_hidden(const dae_tree *tree, uint32_t element) {
  uint32_t child, technique, visibility;
  for (DAE_EACH(tree, element, child)) {
    if (dae_word_of(tree, child) != DAE_extra) continue;
    for (DAE_EACH(tree, child, technique)) {
      import_span text;
      if (dae_word_of(tree, technique) != DAE_technique) continue;
      visibility = dae_child(tree, technique, DAE_visibility);
      text = dae_text(tree, visibility);
      if (visibility && (dae_is(text, "0") || dae_is(text, "false"))) return true;
    }
  }
  return false;
}

typedef struct dae_level { /* an element whose children are being read */
  uint32_t element, child;
  int32_t node;
} dae_level;

typedef struct walk {
  import_job *job;
  sk_array levels; /* dae_level */
  uint8_t *open;   /* of each element: it is one of the levels */
} walk;

static sk_status enter(walk *w, uint32_t element, int32_t parent) {
  import_job *job = w->job;
  import_dae *dae = job->dae;
  import_contents_node *node;
  dae_node *added;
  dae_level *level;
  sk_status status = make_chain(job, element);
  if (!status)
    status = import_check_counts(
        job, &(import_counts){.nodes = job->contents->nodes.count + 1, .depth = w->levels.count + 1});
  if (!status && job->contents->nodes.count >= SK_MAX_JOINTS)
    status = sk_fail(job->error, SK_ERROR_IMPORT, "the scene has more than %u nodes", SK_MAX_JOINTS);
  if (status) return status;
  node = import_contents_add_node(job, parent);
  added = sk_array_extend(&dae->nodes, 1);
  level = sk_array_extend(&w->levels, 1);
  if (!node || !added || !level) return import_no_memory(job, sizeof *node);
  *added = (dae_node){element, 0, is_hidden(&dae->tree, element)};
  if (parent >= 0) added->hidden |= ((const dae_node *)dae->nodes.data)[parent].hidden;
  *level = (dae_level){element, element + 1, (int32_t)job->contents->nodes.count - 1};
  set_rest(dae, dae_chain_of(dae, element), node);
  w->open[element] = 1;
  return SK_OK;
}

static sk_status add_use(walk *w, uint32_t element, int32_t node) {
  dae_use *added = sk_array_extend(&w->job->dae->uses, 1);
  if (!added) return import_no_memory(w->job, sizeof *added);
  *added = (dae_use){element, node};
  return SK_OK;
}

static sk_status enter_instance(walk *w, uint32_t instance, int32_t node) {
  import_job *job = w->job;
  uint32_t element = dae_follow_to(job, instance, DAE_url, DAE_node);
  if (!element) return SK_OK;
  if (!w->open[element]) return enter(w, element, node);
  import_note_add(job, NOTE_references_ignored, 1, "node '%.*s' is an instance of itself",
                  IMPORT_SHORT(dae_title(&job->dae->tree, element)));
  return SK_OK;
}

/* Takes the next child of the innermost level, or closes it. */
static sk_status step(walk *w) {
  import_dae *dae = w->job->dae;
  dae_level *level = (dae_level *)w->levels.data + (w->levels.count - 1);
  uint32_t child = level->child;
  int32_t node = level->node;
  if (child >= dae_at(&dae->tree, level->element)->end) {
    ((dae_node *)dae->nodes.data)[node].end = (uint32_t)dae->nodes.count;
    w->open[level->element] = 0;
    w->levels.count--;
    return SK_OK;
  }
  level->child = dae_at(&dae->tree, child)->end;
  switch (dae_word_of(&dae->tree, child)) {
  case DAE_node: return enter(w, child, node);
  case DAE_instance_node: return enter_instance(w, child, node);
  case DAE_instance_geometry:
  case DAE_instance_controller: return add_use(w, child, node);
  default: return SK_OK;
  }
}

/* The scene that the file shows, else its first one. */
static uint32_t find_visual_scene(import_job *job) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t root = dae_child(tree, 0, DAE_COLLADA);
  uint32_t instance = dae_child(tree, dae_child(tree, root, DAE_scene), DAE_instance_visual_scene);
  uint32_t scene = instance ? dae_follow_to(job, instance, DAE_url, DAE_visual_scene) : DAE_NONE;
  for (instance = root + 1; !scene && instance < dae_at(tree, root)->end; instance++)
    if (dae_word_of(tree, instance) == DAE_visual_scene) scene = instance;
  return scene;
}

/* ---- names ------------------------------------------------------------------------------------------------ */

/* A node is called by its name, which people gave, where no other one has it; else by its id, or by its sid. */
static import_span name_of(const dae_tree *tree, uint32_t element, bool shared) {
  import_span name = dae_attribute(tree, element, DAE_name), id = dae_attribute(tree, element, DAE_id);
  bool is_scene = dae_word_of(tree, element) == DAE_visual_scene;
  if (id.length && (shared || is_scene || !name.length)) return id;
  return name.length ? name : dae_attribute(tree, element, DAE_sid);
}

static sk_status name_node(import_job *job, size_t number, bool shared) {
  import_dae *dae = job->dae;
  import_contents_node *node = (import_contents_node *)job->contents->nodes.data + number;
  uint32_t element = ((const dae_node *)dae->nodes.data)[number].element;
  dae_chain *chain = (dae_chain *)dae->chains.data + (dae_at(&dae->tree, element)->data - 1);
  import_span name = name_of(&dae->tree, element, shared);
  char words[32];
  sk_status status = SK_OK;
  if (!name.length) {
    name.at = words;
    name.length = (size_t)snprintf(words, sizeof words, "nodes[%zu]", number);
  }
  if (!chain->name.length) status = dae_put_text(job, name, &chain->name);
  node->name = chain->name;
  return status ? status : dae_share_text(job, chain->name);
}

static sk_status name_nodes(import_job *job) {
  import_dae *dae = job->dae;
  const dae_node *nodes = dae->nodes.data;
  import_names names = {NULL, 0};
  uint8_t *shared = sk_alloc_zero(dae->tree.elements.count);
  sk_status status = shared && import_names_make(&names, dae->nodes.count) ? SK_OK : import_no_memory(job, 1);
  size_t i;
  for (i = 0; i < dae->nodes.count && !status; i++) {
    import_span name = dae_attribute(&dae->tree, nodes[i].element, DAE_name);
    uint32_t first = name.length && dae_word_of(&dae->tree, nodes[i].element) == DAE_node
                         ? import_names_add(&names, name.at, name.length, nodes[i].element)
                         : nodes[i].element;
    if (first != nodes[i].element) shared[first] = shared[nodes[i].element] = 1;
  }
  for (i = 0; i < dae->nodes.count && !status; i++) status = name_node(job, i, shared[nodes[i].element]);
  import_names_free(&names);
  sk_free(shared);
  return status;
}

/* ---- nodes by element -------------------------------------------------------------------------------------------- */

static sk_status list_nodes(import_job *job) {
  import_dae *dae = job->dae;
  size_t count = dae->nodes.count, i;
  uint32_t *keys = sk_alloc(count * sizeof *keys);
  sk_status status = keys ? SK_OK : import_no_memory(job, count * sizeof *keys);
  for (i = 0; i < count && keys; i++) keys[i] = ((const dae_node *)dae->nodes.data)[i].element;
  if (!status) status = dae_make_lists(job, keys, count, (uint32_t)dae->tree.elements.count, &dae->of_element);
  for (i = 0; i < count && keys; i++) keys[i] = dae_sid_number(dae, dae_attribute(&dae->tree, keys[i], DAE_sid));
  if (!status) status = dae_make_lists(job, keys, count, dae->with_sid.keys, &dae->joint_with_sid);
  sk_free(keys);
  return status;
}

sk_status dae_read_scene(import_job *job) {
  import_dae *dae = job->dae;
  walk w = {job, SK_ARRAY(dae_level), sk_alloc_zero(dae->tree.elements.count)};
  uint32_t scene = find_visual_scene(job);
  sk_status status = w.open ? SK_OK : import_no_memory(job, dae->tree.elements.count);
  if (!status && !scene) status = sk_fail(job->error, SK_ERROR_IMPORT, "the file has no visual scene");
  if (!status) status = enter(&w, scene, SK_NONE);
  while (!status && w.levels.count) status = step(&w);
  sk_array_free(&w.levels);
  sk_free(w.open);
  if (!status) status = name_nodes(job);
  return status ? status : list_nodes(job);
}
