/* import_b3d.c: what Assimp 6.0.5 reads of Blitz3D's .b3d otherwise than Blitz3D does.

   The file is a tree of chunks: four letters, the size of the body, the body. NODE holds a name, ten numbers and
   chunks: MESH (VRTS and TRIS), BONE, KEYS, ANIM and more NODEs. The vertices of a BONE are those of the mesh that it
   stands below; Assimp counts over all meshes, and nodes in one byte. */
#include <string.h>

#include "../import_bytes.h"
#include "../import_twin.h"
#include "../import_weights.h"
#include "import_b3d.h"

#define DEFAULT_TICKS   60.0 /* per second, where the file says 0 */
#define HEADER          8
#define TEXTURE_NUMBERS 28 /* bytes: flags, blending, translation, scale, rotation */
#define BRUSH_NUMBERS   28 /* bytes: color, shininess, blending, effects */
#define NODE_NUMBERS    40 /* bytes: translation, scale, rotation */

typedef struct b3d_level { /* an open chunk */
  size_t end;
  uint32_t node;         /* number of the node; UINT32_MAX: none yet */
  bool is_mesh, is_keyed;
  uint32_t first, count; /* vertices of the mesh that bones here refer to; count 0: the last mesh */
} b3d_level;

typedef struct b3d_edit { /* four bytes that Assimp gets in place of the file's */
  size_t at;
  uint8_t bytes[4];
} b3d_edit;

typedef struct b3d {
  import_job *job;
  import_cursor c;
  sk_array levels;          /* b3d_level */
  uint32_t nodes, vertices; /* read so far */
  uint32_t last_first, last_count;
  uint32_t keys;            /* nodes that have keys */
  uint32_t textures;        /* of the file */
  sk_array anims;           /* size_t: where the letters of each ANIM stand */
  sk_array edits;           /* b3d_edit */
} b3d;

static b3d_level *top_of(b3d *b) { return (b3d_level *)b->levels.data + b->levels.count - 1; }

static bool add_edit(b3d *b, size_t at, const void *bytes) {
  b3d_edit *added = sk_array_room(&b->edits, 1);
  if (!added) return false;
  added->at = at;
  memcpy(added->bytes, bytes, 4);
  return true;
}

static bool is_chunk(const uint8_t *at, const char *letters) { return !memcmp(at, letters, 4); }

/* ---- chunks ---------------------------------------------------------------------------------- */

static bool open_level(b3d *b, size_t end, bool is_mesh) {
  b3d_level level = b->levels.count ? *top_of(b) : (b3d_level){.node = UINT32_MAX}, *added;
  level.end = end;
  level.is_mesh = is_mesh;
  level.is_keyed = false;
  if (is_mesh) level.first = b->vertices, level.count = 0;
  added = sk_array_room(&b->levels, 1);
  if (added) *added = level;
  return added != NULL;
}

/* The mesh that ends is the one of its node and of all nodes below that follow. Assimp makes the channel of a node when
   it ends. */
static bool close_level(b3d *b) {
  b3d_level ended = *top_of(b);
  uint32_t *keyed = ended.is_keyed ? sk_array_extend(&b->job->weights->keyed, 1) : &ended.node;
  b->c.at = ended.end;
  b->levels.count--;
  if (keyed) *keyed = ended.node;
  if (!ended.is_mesh || !b->levels.count) return keyed != NULL;
  top_of(b)->first = b->last_first = ended.first;
  top_of(b)->count = b->last_count = ended.count;
  return keyed != NULL;
}

static bool read_node(b3d *b, size_t end) {
  import_cursor *c = &b->c;
  const uint8_t *zero = memchr(c->data + c->at, 0, end - c->at);
  if (!zero || end - (size_t)(zero + 1 - c->data) < NODE_NUMBERS) {
    c->past = true;
    return true;
  }
  c->at = (size_t)(zero + 1 - c->data) + NODE_NUMBERS;
  if (!open_level(b, end, false)) return false;
  top_of(b)->node = b->nodes++;
  return true;
}

static void read_vertices(b3d *b, size_t end) {
  import_cursor *c = &b->c;
  uint32_t flags = import_take(c, 4), sets = import_take(c, 4), numbers = import_take(c, 4), count;
  size_t row = 12 + (flags & 1 ? 12 : 0) + (flags & 2 ? 16 : 0);
  if (c->at > end || sets > 4 || numbers > 4) c->past = true; /* Assimp refuses it, too */
  if (c->past) return;
  count = (uint32_t)((end - c->at) / (row + (size_t)sets * numbers * 4));
  if (flags & 2) import_note_add(b->job, NOTE_attributes_dropped, 1, "colors of %u vertices (VRTS)", count);
  if (sets > 1)
    import_note_add(b->job, NOTE_attributes_ignored, sets - 1, "texture coordinates 1 of %u vertices (VRTS)", count);
  b->vertices += count;
  top_of(b)->count += count;
}

static bool read_triangles(b3d *b, size_t end) {
  import_weights *w = b->job->weights;
  size_t count, i;
  uint32_t *added;
  import_skip(&b->c, 4);
  if (b->c.at > end) b->c.past = true;
  if (b->c.past) return true;
  count = (end - b->c.at) / 12 * 3;
  added = import_weights_mesh(b->job) ? sk_array_room(&w->corners, count) : NULL;
  for (i = 0; added && i < count; i++) added[i] = top_of(b)->first + import_take(&b->c, 4);
  return added != NULL;
}

/* One texture of a brush. A number that no texture has becomes -1, which means none: Assimp refuses the file. False: no
   memory. */
static bool read_brush_texture(b3d *b, const char *brush, uint32_t slot) {
  size_t at = b->c.at;
  int32_t number = (int32_t)import_take(&b->c, 4);
  if (number < 0) return true;
  if ((uint32_t)number >= b->textures) {
    import_note_add(b->job, NOTE_textures_missing, 1, "brush '%.100s': there is no texture %d", brush, number);
    return add_edit(b, at, "\xff\xff\xff\xff");
  }
  if (slot) import_note_add(b->job, NOTE_looks_ignored, 1, "brush '%.100s': texture %u", brush, slot);
  return true;
}

static bool read_brushes(b3d *b, size_t end) {
  import_cursor *c = &b->c;
  uint32_t textures = import_take(c, 4), i;
  bool good = true;
  while (c->at < end && textures <= 8 && good) {
    const char *name = (const char *)c->data + c->at, *zero = memchr(name, 0, end - c->at);
    size_t size = BRUSH_NUMBERS + 4 * (size_t)textures;
    if (!zero || end - c->at - (size_t)(zero + 1 - name) < size) return true;
    c->at += (size_t)(zero + 1 - name) + BRUSH_NUMBERS;
    for (i = 0; i < textures && good; i++) good = read_brush_texture(b, name, i);
  }
  return good;
}

/* How textures are moved, scaled and rotated. */
static void read_textures(b3d *b, size_t end) {
  static const float plain[5] = {0, 0, 1, 1, 0};
  import_cursor *c = &b->c;
  while (c->at < end) {
    const char *name = (const char *)c->data + c->at, *zero = memchr(name, 0, end - c->at);
    float placed[5];
    if (!zero || end - c->at - (size_t)(zero + 1 - name) < TEXTURE_NUMBERS) return;
    memcpy(placed, zero + 1 + 8, sizeof placed);
    if (memcmp(placed, plain, sizeof plain))
      import_note_add(b->job, NOTE_looks_ignored, 1, "texture '%.100s': its offset, scale or rotation", name);
    c->at += (size_t)(zero + 1 - name) + TEXTURE_NUMBERS;
    b->textures++;
  }
}

static bool read_animation(b3d *b, size_t at, size_t end) {
  size_t *added = end - b->c.at < 12 ? NULL : sk_array_room(&b->anims, 1);
  b->c.past |= end - b->c.at < 12;
  if (added) *added = at;
  return added || b->c.past;
}

static bool read_bone(b3d *b, size_t end) {
  const b3d_level *level = top_of(b);
  uint32_t first = level->count ? level->first : b->last_first, vertex;
  uint32_t count = level->count ? level->count : b->last_count;
  float weight;
  bool good = true;
  while (good && end - b->c.at >= 8) {
    vertex = import_take(&b->c, 4);
    weight = import_float_of(import_take(&b->c, 4));
    if (vertex < count) good = import_weights_add(b->job, first + vertex, level->node, weight);
    else import_note_add(b->job, NOTE_weights_dropped, 1, "vertex %u of a mesh that has %u", vertex, count);
  }
  return good;
}

/* Reads one chunk; of a chunk that holds others, the part in front of them. */
static bool read_chunk(b3d *b) {
  import_cursor *c = &b->c;
  const b3d_level *level = top_of(b);
  const uint8_t *at = c->data + c->at;
  bool in_node = level->node != UINT32_MAX && !level->is_mesh, good = true;
  size_t room = level->end - c->at, end;
  if (room < HEADER || import_number(at + 4, 4) > room - HEADER) {
    c->past = true;
    return true;
  }
  c->at += HEADER;
  end = c->at + (size_t)import_number(at + 4, 4);
  if (!level->is_mesh && is_chunk(at, "NODE")) return read_node(b, end);
  if (in_node && is_chunk(at, "MESH")) {
    good = open_level(b, end, true);
    import_skip(c, 4);
    c->past |= c->at > end;
    return good;
  }
  if (level->node == UINT32_MAX && is_chunk(at, "BRUS")) good = read_brushes(b, end);
  else if (level->node == UINT32_MAX && is_chunk(at, "TEXS")) read_textures(b, end);
  else if (level->is_mesh && is_chunk(at, "VRTS")) read_vertices(b, end);
  else if (level->is_mesh && is_chunk(at, "TRIS")) good = read_triangles(b, end);
  else if (in_node && is_chunk(at, "BONE")) good = read_bone(b, end);
  else if (in_node && is_chunk(at, "KEYS")) b->keys++, top_of(b)->is_keyed = true;
  else if (in_node && is_chunk(at, "ANIM")) good = read_animation(b, c->at - HEADER, end);
  c->at = end;
  return good;
}

/* ---- the file ---------------------------------------------------------------------------------- */

/* False: no memory. c.past is set where the chunks do not fit into each other: then everything is left to Assimp. */
static bool read_chunks(b3d *b) {
  import_cursor *c = &b->c;
  size_t size = c->end >= HEADER + 4 ? (size_t)import_number(c->data + 4, 4) : SIZE_MAX;
  bool good = true;
  c->past = size < 4 || size > c->end - HEADER;
  if (c->past) return true;
  c->at = HEADER + 4;
  good = open_level(b, HEADER + size, false);
  while (good && !c->past && b->levels.count) good = c->at == top_of(b)->end ? close_level(b) : read_chunk(b);
  return good;
}

/* Assimp delivers the keys of all nodes where there is one ANIM, and none where there are more. Where all of them have
   one rate, the first one stays: the letters of the others are changed. */
static sk_status join_animations(b3d *b) {
  import_job *job = b->job;
  const import_source *file = job->files.sources.data;
  const size_t *anims = b->anims.data, rate = HEADER + 8;
  bool good = true;
  size_t i;
  if (!b->anims.count) import_note_add(job, NOTE_channels_dropped, b->keys, "keys without an animation (ANIM)");
  if (b->anims.count < 2) return SK_OK;
  for (i = 1; i < b->anims.count && !memcmp(file->data + anims[0] + rate, file->data + anims[i] + rate, 4); i++) {}
  if (b->keys && i != b->anims.count)
    import_note_add(job, NOTE_channels_dropped, b->keys, "of %zu animations (ANIM), whose rates differ",
                    b->anims.count);
  if (i != b->anims.count) return SK_OK;
  for (i = 1; i < b->anims.count && good; i++) good = add_edit(b, anims[i], "anim");
  return good ? SK_OK : import_no_memory(job, sizeof(b3d_edit));
}

/* Gives Assimp a copy of the file with the edits. */
static sk_status edit_file(b3d *b) {
  import_job *job = b->job;
  const import_source *file = job->files.sources.data;
  const b3d_edit *edits = b->edits.data;
  uint8_t *copy;
  size_t i;
  if (!b->edits.count) return SK_OK;
  copy = sk_alloc(file->size + 1);
  if (!copy) return import_no_memory(job, file->size);
  memcpy(copy, file->data, file->size);
  copy[file->size] = 0;
  for (i = 0; i < b->edits.count; i++) memcpy(copy + edits[i].at, edits[i].bytes, 4);
  return import_files_put(&job->files, file->name, copy, file->size, copy) ? SK_OK : import_no_memory(job, 1);
}

sk_status import_b3d_open(import_job *job) {
  const import_source *file = job->files.sources.data;
  b3d b = {.job = job, .levels = SK_ARRAY(b3d_level), .anims = SK_ARRAY(size_t), .edits = SK_ARRAY(b3d_edit)};
  sk_status status;
  status = import_weights_open(job);
  if (status) return status;
  b.c.data = file->data, b.c.end = file->size;
  if (!read_chunks(&b)) status = import_no_memory(job, sizeof(import_weight));
  job->weights->vertices = b.vertices;
  job->weights->joints = b.nodes;
  if (!status && !b.c.past) status = import_weights_sort(job);
  if (!status && !b.c.past) status = join_animations(&b);
  if (!status && !b.c.past) status = edit_file(&b);
  sk_array_free(&b.levels);
  sk_array_free(&b.anims);
  sk_array_free(&b.edits);
  return status;
}

/* Channels belong to nodes by order; Assimp gives them names. */
sk_status import_b3d_correct_scene(import_job *job) {
  const sk_array *keyed = &job->weights->keyed;
  return import_mark_nodes(job, keyed->data, keyed->count);
}

double import_b3d_ticks(import_job *job, double stated) {
  (void)job;
  return stated == 0.0 ? DEFAULT_TICKS : stated;
}
