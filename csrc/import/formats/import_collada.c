/* import_collada.c: see import_collada.h. */
#include "import_collada.h"

#include <math.h>
#include <string.h>

#include "../import_bytes.h"
#include "../import_limit.h"
#include "../import_space.h"

/* ---- lists ------------------------------------------------------------------------------------ */

sk_status dae_make_lists(import_job *job, const uint32_t *keys, size_t items, uint32_t key_count, dae_lists *lists) {
  size_t i;
  lists->keys = key_count;
  lists->starts = sk_alloc_zero(((size_t)key_count + 2) * sizeof *lists->starts);
  lists->items = sk_alloc(items * sizeof *lists->items);
  if (!lists->starts || !lists->items) return import_no_memory(job, items * sizeof *lists->items);
  for (i = 0; i < items; i++)
    if (keys[i] != UINT32_MAX) lists->starts[keys[i] + 2]++;
  for (i = 2; i < (size_t)key_count + 2; i++) lists->starts[i] += lists->starts[i - 1];
  for (i = 0; i < items; i++)
    if (keys[i] != UINT32_MAX) lists->items[lists->starts[keys[i] + 1]++] = (uint32_t)i;
  return SK_OK;
}

void dae_free_lists(dae_lists *lists) {
  sk_free(lists->starts);
  sk_free(lists->items);
  *lists = (dae_lists){NULL, NULL, 0};
}

uint32_t dae_first_in(const dae_lists *lists, uint32_t key, uint32_t from, uint32_t end) {
  uint32_t low, high, last;
  if (key >= lists->keys) return UINT32_MAX;
  low = lists->starts[key], high = last = lists->starts[key + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (lists->items[middle] < from) low = middle + 1;
    else high = middle;
  }
  return low < last && lists->items[low] < end ? lists->items[low] : UINT32_MAX;
}

/* ---- references ---------------------------------------------------------------------------------- */

void dae_note_reference(import_job *job, uint32_t element, import_span reference) {
  const dae_tree *tree = &job->dae->tree;
  bool is_outside = reference.length && *reference.at != '#' && memchr(reference.at, '#', reference.length);
  import_span title = {"", 0};
  int level;
  for (level = 0; level < 8 && element && !title.length; level++) {
    element = dae_at(tree, element)->parent;
    title = dae_title(tree, element);
  }
  import_note_add(job, NOTE_references_ignored, 1, "'%.*s' %s, at '%.*s'", IMPORT_SHORT(reference),
                  is_outside                    ? "is in another file"
                  : dae_follow(tree, reference) ? "is not in the scene, or is of another kind"
                                                : "is not in the file",
                  title.length < 40 ? (int)title.length : 40, title.at);
}

uint32_t dae_follow_to(import_job *job, uint32_t element, dae_word attribute, dae_word word) {
  const dae_tree *tree = &job->dae->tree;
  import_span reference = dae_attribute(tree, element, attribute);
  uint32_t found = dae_follow(tree, reference);
  if (found && dae_word_of(tree, found) == word) return found;
  dae_note_reference(job, element, reference);
  return DAE_NONE;
}

/* Numbers the sids, so that elements and nodes can be listed by them. */
static sk_status list_sids(import_job *job) {
  import_dae *dae = job->dae;
  uint32_t count = (uint32_t)dae->tree.elements.count, i, numbered = 0;
  uint32_t *keys = sk_alloc(count * sizeof *keys);
  size_t wanted = 0;
  sk_status status = SK_OK;
  if (!keys) return import_no_memory(job, count * sizeof *keys);
  for (i = 0; i < count; i++) wanted += dae_attribute(&dae->tree, i, DAE_sid).length > 0;
  if (!import_names_make(&dae->sids, wanted)) status = import_no_memory(job, wanted);
  for (i = 0; i < count && !status; i++) {
    import_span sid = dae_attribute(&dae->tree, i, DAE_sid);
    keys[i] = sid.length ? import_names_add(&dae->sids, sid.at, sid.length, numbered) : UINT32_MAX;
    numbered += keys[i] == numbered;
  }
  if (!status) status = dae_make_lists(job, keys, count, numbered, &dae->with_sid);
  sk_free(keys);
  return status;
}

uint32_t dae_sid_number(const import_dae *dae, import_span sid) {
  int64_t found = sid.length ? import_names_find(&dae->sids, sid.at, sid.length) : SK_NONE;
  return found < 0 ? UINT32_MAX : (uint32_t)found;
}

uint32_t dae_find_sid(const import_dae *dae, uint32_t inside, import_span sid) {
  uint32_t found = dae_first_in(&dae->with_sid, dae_sid_number(dae, sid), inside + 1, dae_at(&dae->tree, inside)->end);
  return found == UINT32_MAX ? DAE_NONE : found;
}

/* A text that is put several times in a row is kept once. */
sk_status dae_put_text(import_job *job, import_span text, sk_text *out) {
  const sk_array *pool = &job->model.text;
  size_t room = pool->count - text.length;
  if (text.length && text.length <= pool->count && !memcmp((const char *)pool->data + room, text.at, text.length)) {
    *out = (sk_text){(uint32_t)room, (uint32_t)text.length};
    return SK_OK;
  }
  if (pool->count + text.length > IMPORT_MAX_TEXT)
    return sk_fail(job->error, SK_ERROR_IMPORT, "the names of the model together take more than 256 MiB");
  return import_add_text(job, text, out);
}

sk_status dae_share_text(import_job *job, sk_text text) {
  job->dae->shared_text += text.length;
  if (job->dae->shared_text <= SK_MAX_SHARED_TEXT / 2) return SK_OK;
  return sk_fail(job->error, SK_ERROR_IMPORT,
                 "the names of nodes and meshes, as often as they are used, take more than %llu MiB",
                 (unsigned long long)(SK_MAX_SHARED_TEXT >> 21));
}

/* ---- unit and axes ------------------------------------------------------------------------------------ */

static uint32_t asset_of(const dae_tree *tree) { return dae_child(tree, dae_child(tree, 0, DAE_COLLADA), DAE_asset); }

static import_span up_of(const dae_tree *tree) { return dae_text(tree, dae_child(tree, asset_of(tree), DAE_up_axis)); }

/* Meters in a unit of the file. */
static double unit_of(const dae_tree *tree) {
  import_span text = dae_attribute(tree, dae_child(tree, asset_of(tree), DAE_unit), DAE_meter);
  double unit;
  return dae_next_number(&text, &unit) && unit > 0.0 && unit < 1e12 ? unit : 1.0;
}

/* The root turns the axes to +Y up and scales to meters: 1.4.1, "up_axis", says which axes are right, up and in. */
static void turn_root(import_job *job) {
  const dae_tree *tree = &job->dae->tree;
  import_contents_node *root = job->contents->nodes.data;
  import_span up = up_of(tree);
  double unit = unit_of(tree), turned[12] = {unit, 0, 0, 0, 0, unit, 0, 0, 0, 0, unit, 0};
  root->has_trs = false;
  if (dae_is(up, "Z_UP")) turned[5] = turned[10] = 0.0, turned[6] = unit, turned[9] = -unit;
  if (dae_is(up, "X_UP")) turned[0] = turned[5] = 0.0, turned[1] = -unit, turned[4] = unit;
  memcpy(root->local, turned, sizeof turned);
}

static void space_of_assimp(import_job *job) {
  const import_source *file = job->files.sources.data;
  const char *up = import_find_word(file, "<up_axis>"), *end = (const char *)file->data + file->size;
  double unit = import_root_scale(job);
  if (up && end - up >= 4 && *up != 'Y') import_note_add(job, NOTE_axes_converted, 1, "the file's up axis is %.4s", up);
  if (fabs(unit - 1.0) > 1e-6)
    import_note_add(job, NOTE_units_converted, 1, "one unit of the file is %g m; now 1 m", unit);
}

void import_collada_space(import_job *job) {
  import_span up;
  double unit;
  job->model.info.unit_meters = 1.0;
  if (!job->dae) {
    space_of_assimp(job);
    return;
  }
  up = up_of(&job->dae->tree), unit = unit_of(&job->dae->tree);
  if (dae_is(up, "Z_UP") || dae_is(up, "X_UP"))
    import_note_add(job, NOTE_axes_converted, 1, "the file's up axis is %.*s", (int)up.length, up.at);
  if (fabs(unit - 1.0) > 1e-6)
    import_note_add(job, NOTE_units_converted, 1, "one unit of the file is %g m; now 1 m", unit);
}

/* ---- the file -------------------------------------------------------------------------------------------- */

/* Reports elements of the file that no code above reads. */
static void note_ignored(import_job *job) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t i, count = (uint32_t)tree->elements.count;
  for (i = 1; i < count; i++) {
    import_span title = dae_title(tree, dae_at(tree, i)->parent);
    switch (dae_word_of(tree, i)) {
    case DAE_convex_mesh:
    case DAE_spline:
    case DAE_brep: import_note_add(job, NOTE_geometry_ignored, 1, "geometry '%.*s'", IMPORT_SHORT(title)); break;
    case DAE_instance_kinematics_scene:
      import_note_add(job, NOTE_constraints_ignored, 1, "the scene of kinematics");
      break;
    case DAE_instance_camera:
    case DAE_instance_light:
      import_note_add(job, NOTE_cameras_lights_ignored, 1, "node '%.*s'", IMPORT_SHORT(title));
      break;
    default: break;
    }
  }
}

sk_status import_collada_open(import_job *job) {
  sk_status status = import_files_whole(job);
  if (status) return status;
  job->dae = sk_alloc_zero(sizeof *job->dae);
  if (!job->dae) return import_no_memory(job, sizeof *job->dae);
  *job->dae = (import_dae){.numbers = SK_ARRAY(dae_numbers),
                           .nodes = SK_ARRAY(dae_node),
                           .transforms = SK_ARRAY(dae_transform),
                           .chains = SK_ARRAY(dae_chain),
                           .uses = SK_ARRAY(dae_use)};
  status = import_contents_open(job);
  if (!status) job->contents->means_identities = true;
  if (!status) status = dae_read_tree(job, &job->dae->tree);
  if (!status) status = list_sids(job);
  if (!status) status = dae_read_scene(job);
  if (!status) turn_root(job);
  if (!status) status = dae_read_materials(job);
  if (!status) status = dae_place_meshes(job);
  if (!status) status = dae_read_clips(job);
  if (!status) note_ignored(job);
  return status ? status : import_contents_check(job);
}

void import_collada_close(import_job *job) {
  import_dae *dae = job->dae;
  if (!dae) return;
  dae_free_clips(job);
  dae_free_tree(&dae->tree);
  import_names_free(&dae->sids);
  dae_free_lists(&dae->with_sid);
  dae_free_lists(&dae->of_element);
  dae_free_lists(&dae->joint_with_sid);
  dae_free_lists(&dae->of_morph);
  sk_array_free(&dae->numbers);
  sk_array_free(&dae->nodes);
  sk_array_free(&dae->transforms);
  sk_array_free(&dae->chains);
  sk_array_free(&dae->uses);
  sk_array_free(&dae->shapes);
  sk_array_free(&dae->coordinates);
  sk_array_free(&dae->parts);
  sk_array_free(&dae->morphs);
  dae_free_points(dae);
  sk_free(dae);
  job->dae = NULL;
}
