/* import_3ds.c: the chunks of a .3ds file, its objects and its tree of nodes. */
#include "import_3ds.h"

#include <stdio.h>
#include <string.h>

#include "../import_bytes.h"
#include "import_3ds_file.h"

enum {
  EDITOR = 0x3d3d,
  MATERIAL = 0xafff,
  OBJECT = 0x4000,
  HIDDEN = 0x4010,
  MESH = 0x4100,
  LIGHT = 0x4600,
  CAMERA = 0x4700,
  KEYFRAMER = 0xb000,
  FIRST_NODE = 0xb002, /* objects, cameras and their targets, lights and their targets, spots */
  CAMERA_TARGET = 0xb004,
  LIGHT_TARGET = 0xb006,
  LAST_NODE = 0xb007,
  NODE_HEADER = 0xb010,
  NODE_INSTANCE = 0xb011,
  NODE_PIVOT = 0xb013,
  TRACK_POSITION = 0xb020,
  TRACK_ROTATION = 0xb021,
  TRACK_SCALE = 0xb022,
  TRACK_ROLL = 0xb024,
  TRACK_MORPH = 0xb026,
  TRACK_HIDE = 0xb029,
  NODE_ID = 0xb030
};

/* ---- chunks ------------------------------------------------------------------------------------ */

uint32_t tds_u16(const uint8_t *at) { return (uint32_t)import_number(at, 2); }

bool tds_next(const uint8_t **at, const uint8_t *end, tds_chunk *chunk) {
  size_t left = (size_t)(end - *at);
  uint64_t size = left >= 6 ? import_number(*at + 2, 4) : 0;
  if (size < 6) return false;
  if (size > left) size = left;
  *chunk = (tds_chunk){tds_u16(*at), *at + 6, *at + size};
  *at += size;
  return true;
}

bool tds_find(const uint8_t *at, const uint8_t *end, uint32_t id, tds_chunk *chunk) {
  while (tds_next(&at, end, chunk))
    if (chunk->id == id) return true;
  return false;
}

import_span tds_text(tds_chunk *chunk) {
  const uint8_t *first = chunk->at, *zero = memchr(first, 0, (size_t)(chunk->end - first));
  chunk->at = zero ? zero + 1 : chunk->end;
  return (import_span){(const char *)first, (size_t)((zero ? zero : chunk->end) - first)};
}

/* ---- objects ------------------------------------------------------------------------------------- */

static sk_status add_object(tds *file, tds_chunk chunk) {
  tds_object *object = sk_array_extend(&file->objects, 1);
  import_span name = tds_text(&chunk);
  tds_chunk below;
  const uint8_t *at = chunk.at;
  if (!object) return import_no_memory(file->job, sizeof *object);
  *object = (tds_object){.name = name, .next = UINT32_MAX};
  while (tds_next(&at, chunk.end, &below)) {
    object->hidden |= below.id == HIDDEN;
    if (below.id == MESH && !object->mesh.id) object->mesh = below;
    if (below.id == LIGHT || below.id == CAMERA)
      import_note_add(file->job, NOTE_cameras_lights_ignored, 1, "'%.*s'", IMPORT_SHORT(name));
  }
  return import_add_text(file->job, name, &object->text);
}

static sk_status read_editor(tds *file, const tds_chunk *editor) {
  const uint8_t *at = editor->at;
  tds_chunk chunk;
  sk_status status = SK_OK;
  while (!status && tds_next(&at, editor->end, &chunk)) {
    if (chunk.id == MATERIAL) status = tds_add_material(file, &chunk);
    else if (chunk.id == OBJECT) status = add_object(file, chunk);
  }
  return status;
}

/* Objects of one name are a list, of which the table has the first; `last` has the last one of each. */
static sk_status index_objects(tds *file) {
  tds_object *objects = file->objects.data;
  uint32_t *last = sk_alloc((file->objects.count + 1) * sizeof *last), i, first;
  if (!last || !import_names_make(&file->names, file->objects.count)) {
    sk_free(last);
    return import_no_memory(file->job, file->objects.count);
  }
  for (i = 0; i < file->objects.count; i++) {
    last[i] = i;
    if (!objects[i].name.length) continue;
    first = import_names_add(&file->names, objects[i].name.at, objects[i].name.length, i);
    if (first != i) objects[last[first]].next = i, last[first] = i;
  }
  sk_free(last);
  return SK_OK;
}

/* ---- the keyframer --------------------------------------------------------------------------------- */

static uint32_t track_keys(const tds_chunk *chunk) {
  return chunk->end - chunk->at >= 14 ? import_u32(chunk->at + 10) : 0;
}

static void note_track(tds *file, const tds_node *node, const tds_chunk *chunk) {
  import_note_code code = chunk->id == TRACK_HIDE    ? NOTE_visibility_ignored
                          : chunk->id == TRACK_MORPH ? NOTE_morph_targets_dropped
                                                     : NOTE_channels_dropped;
  if (chunk->id == TRACK_HIDE && !track_keys(chunk)) return;
  if (chunk->id != TRACK_HIDE && track_keys(chunk) < 2) return;
  import_note_add(file->job, code, 1, "%s of '%.*s'",
                  chunk->id == TRACK_HIDE    ? "hide keys"
                  : chunk->id == TRACK_MORPH ? "morph keys"
                                             : "roll keys",
                  IMPORT_SHORT(node->name));
}

static void read_node_chunk(tds *file, tds_node *node, tds_chunk chunk) {
  int i;
  switch (chunk.id) {
  case NODE_ID:
    if (chunk.end - chunk.at >= 2) node->id = tds_u16(chunk.at);
    break;
  case NODE_HEADER:
    node->name = tds_text(&chunk);
    if (chunk.end - chunk.at >= 6) node->parent = tds_u16(chunk.at + 4);
    break;
  case NODE_INSTANCE: node->instance = tds_text(&chunk); break;
  case NODE_PIVOT:
    for (i = 0; i < 3 && chunk.end - chunk.at >= 12; i++) node->pivot[i] = import_float(chunk.at + 4 * i);
    break;
  case TRACK_POSITION:
  case TRACK_ROTATION:
  case TRACK_SCALE: node->tracks[chunk.id - TRACK_POSITION] = chunk; break;
  case TRACK_ROLL:
  case TRACK_MORPH:
  case TRACK_HIDE: note_track(file, node, &chunk); break;
  default: break;
  }
}

/* A target is a point that a camera or a light looks at, and no node of its own. */
static void note_target(tds *file, const tds_chunk *chunk) {
  tds_chunk track;
  if (tds_find(chunk->at, chunk->end, TRACK_POSITION, &track) && track_keys(&track) > 1)
    import_note_add(file->job, NOTE_channels_dropped, 1, "the target of a camera or a light");
}

static sk_status read_keyframer(tds *file, const tds_chunk *keyframer) {
  const uint8_t *at = keyframer->at, *inner;
  tds_chunk chunk, below;
  while (tds_next(&at, keyframer->end, &chunk)) {
    tds_node *node;
    if (chunk.id < FIRST_NODE || chunk.id > LAST_NODE) continue;
    if (chunk.id == CAMERA_TARGET || chunk.id == LIGHT_TARGET) {
      note_target(file, &chunk);
      continue;
    }
    node = sk_array_extend(&file->nodes, 1);
    if (!node) return import_no_memory(file->job, sizeof *node);
    node->id = (uint32_t)file->nodes.count - 1;
    node->parent = 0xffff;
    node->node = SK_NONE;
    node->moves_things = chunk.id == FIRST_NODE;
    node->name.at = node->instance.at = "";
    for (inner = chunk.at; tds_next(&inner, chunk.end, &below);) read_node_chunk(file, node, below);
  }
  return SK_OK;
}

/* ---- the tree ------------------------------------------------------------------------------------------ */

/* Links children to their parents by the ids; the first node of an id has it. Returns the first root as an index + 1. */
static sk_status link_nodes(tds *file, uint32_t *roots) {
  uint32_t *by_id = sk_alloc_zero(65536 * sizeof *by_id), i;
  tds_node *nodes = file->nodes.data;
  if (!by_id) return import_no_memory(file->job, 65536 * sizeof *by_id);
  for (i = (uint32_t)file->nodes.count; i-- > 0;) by_id[nodes[i].id & 0xffff] = i + 1;
  for (i = (uint32_t)file->nodes.count; i-- > 0;) {
    uint32_t parent = nodes[i].parent == 0xffff ? 0 : by_id[nodes[i].parent];
    uint32_t *list = parent && parent != i + 1 ? &nodes[parent - 1].first : roots;
    nodes[i].next = *list;
    *list = i + 1;
  }
  sk_free(by_id);
  return SK_OK;
}

/* "$$$DUMMY" is an object without a mesh, whose own name is that of the instance; so it is of an object that was placed
   before. */
static sk_status add_node(tds *file, tds_node *node, int32_t parent) {
  import_contents_node *added = import_contents_add_node(file->job, parent);
  bool dummy = node->name.length == 8 && !memcmp(node->name.at, "$$$DUMMY", 8);
  int64_t object = dummy ? SK_NONE : import_names_find(&file->names, node->name.at, node->name.length);
  tds_object *objects = file->objects.data;
  bool own = node->instance.length && (dummy || (object >= 0 && objects[object].placed));
  import_span name = own ? node->instance : node->name;
  sk_status status;
  if (!added) return SK_ERROR_MEMORY;
  node->node = (int32_t)file->job->contents->nodes.count - 1;
  added->has_trs = true;
  tds_rest(node, added);
  status = import_add_text(file->job, name, &added->name);
  while (!status && object >= 0 && node->moves_things) {
    tds_object *one = &objects[object];
    one->placed = true;
    status = tds_add_mesh(file, one, node->node, node);
    object = one->next == UINT32_MAX ? SK_NONE : (int64_t)one->next;
  }
  return status;
}

/* Depth first, from one root on. `above` has the parent of each node that is open. */
static sk_status add_tree(tds *file, uint32_t root, uint32_t *above) {
  tds_node *nodes = file->nodes.data;
  uint32_t at = root;
  sk_status status = add_node(file, &nodes[root - 1], 0);
  while (!status) {
    uint32_t next = nodes[at - 1].first;
    if (next && nodes[next - 1].node >= 0) next = 0; /* a node that is its own ancestor */
    if (next) above[next - 1] = at;
    while (!next && at != root) {
      next = nodes[at - 1].next;
      if (next) above[next - 1] = above[at - 1];
      else at = above[at - 1];
    }
    if (!next || nodes[next - 1].node >= 0) break;
    status = add_node(file, &nodes[next - 1], nodes[above[next - 1] - 1].node);
    at = next;
  }
  return status;
}

/* Nodes that are their own ancestors are below no root: the first of them becomes a root. */
static sk_status add_nodes(tds *file) {
  uint32_t roots = 0, i, *above = sk_alloc_zero((file->nodes.count + 1) * sizeof *above);
  tds_node *nodes = file->nodes.data;
  sk_status status = above ? link_nodes(file, &roots) : import_no_memory(file->job, file->nodes.count);
  if (!status) status = import_contents_add_turned_root(file->job, "<3DSRoot>");
  for (i = roots; i && !status; i = nodes[i - 1].next) status = add_tree(file, i, above);
  for (i = 0; i < file->nodes.count && !status; i++)
    if (nodes[i].node < 0) {
      nodes[i].next = 0;
      status = add_tree(file, i + 1, above);
    }
  sk_free(above);
  return status;
}

/* Objects that no node places stay where their vertices are. */
static sk_status add_others(tds *file) {
  size_t i;
  sk_status status = SK_OK;
  for (i = 0; i < file->objects.count && !status; i++) {
    tds_object *object = (tds_object *)file->objects.data + i;
    import_contents_node *node;
    if (object->placed) continue;
    node = import_contents_add_node(file->job, 0);
    if (!node) return SK_ERROR_MEMORY;
    node->name = object->text;
    node->has_trs = true;
    status = tds_add_mesh(file, object, (int32_t)file->job->contents->nodes.count - 1, NULL);
  }
  return status;
}

/* ---- the file ----------------------------------------------------------------------------------------------- */

static sk_status read_file(tds *file) {
  const import_source *source = file->job->files.sources.data;
  const uint8_t *at = source->data, *end = at + source->size;
  tds_chunk all, chunk;
  sk_status status = SK_OK;
  if (!tds_next(&at, end, &all)) return sk_fail(file->job->error, SK_ERROR_IMPORT, "the file ends within its header");
  for (at = all.at; !status && tds_next(&at, all.end, &chunk);) {
    if (chunk.id == EDITOR) status = read_editor(file, &chunk);
    else if (chunk.id == KEYFRAMER) status = read_keyframer(file, &chunk);
  }
  if (!status && !file->objects.count && !file->nodes.count)
    status = sk_fail(file->job->error, SK_ERROR_IMPORT, "there is no mesh in the file; is it really .3ds?");
  if (!status) status = index_objects(file);
  if (!status) status = add_nodes(file);
  if (!status) status = add_others(file);
  return status ? status : tds_make_clip(file);
}

sk_status import_3ds_open(import_job *job) {
  tds file = {.job = job, .objects = SK_ARRAY(tds_object), .nodes = SK_ARRAY(tds_node), .lower = SK_ARRAY(char *)};
  sk_status status = import_files_whole(job);
  size_t i;
  if (!status) status = import_contents_open(job);
  if (!status) status = read_file(&file);
  if (!status) status = import_contents_check(job);
  for (i = 0; i < file.lower.count; i++) sk_free(((char **)file.lower.data)[i]);
  sk_array_free(&file.lower);
  sk_array_free(&file.objects);
  sk_array_free(&file.nodes);
  import_names_free(&file.names);
  import_names_free(&file.materials);
  return status;
}
