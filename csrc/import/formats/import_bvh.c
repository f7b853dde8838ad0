/* import_bvh.c: BVH in a form that Assimp reads rightly.

   Assimp 6.0.5 reads the usual file as it is meant, but takes a joint's positions only where the joint has six
   channels, and refuses names of several words, a number right behind "Frames:" or "Time:", a second ROOT and
   a byte order mark. So the hierarchy and the two lines in front of the frames, which are short, are read here
   first; a file that has such a thing is written anew in memory, and every other one stays as it is. A text that
   cannot be followed here stays as it is too: Assimp says what it thinks of it. */
#include <stdio.h>
#include <string.h>

#include "import_bvh.h"

#define MAX_FILLER 32    /* bytes of a number that is written into every frame */

enum { X_POSITION, Y_POSITION, Z_POSITION, X_ROTATION, KINDS = 6 };

static const char *const kinds[KINDS] = {"Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation"};

typedef struct bvh_node {
  import_span name;      /* all words of it; empty: an end site */
  int64_t parent;     /* stands before the node; SK_NONE = a root */
  import_span offset[3]; /* empty: the file has none */
  size_t first;       /* of its channels; in a frame they stand in one row */
  uint32_t count;
  bool filled;        /* Assimp gets six channels, those that the file does not have among them */
  bool lost;          /* it has positions that Assimp does not take */
} bvh_node;

typedef struct bvh { /* one file while it is read and written */
  import_job *job;
  const char *at, *end;
  sk_array nodes;        /* bvh_node, depth first */
  sk_array channels;     /* uint8_t: kinds */
  int64_t open;          /* the node that is read; SK_NONE = none */
  size_t roots;
  import_span frames, time; /* the two numbers of MOTION */
  bool marked, apart;    /* begins with a byte order mark; these numbers stand apart from their words */
  bool blanks;           /* a name has several words */
  bool filled;           /* some node is */
  sk_array out;          /* char */
  sk_status status;      /* of writing, and of memory for all else */
} bvh;

/* ---- reading -------------------------------------------------------------------------- */

/* Does what isspace() does in the C locale, whatever the user's locale. */
static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* What stands between spaces, as Assimp has it: a brace at its beginning is a word. Length 0 at the end. */
static import_span next_word(bvh *b) {
  import_span word;
  while (b->at < b->end && is_space(*b->at)) b->at++;
  word.at = b->at;
  if (b->at < b->end && (*b->at == '{' || *b->at == '}')) b->at++;
  else
    while (b->at < b->end && !is_space(*b->at)) b->at++;
  word.length = (size_t)(b->at - word.at);
  return word;
}

static bool begins(import_span word, const char *text) {
  return word.length >= strlen(text) && !memcmp(word.at, text, strlen(text));
}

static bool equals(import_span word, const char *text) { return word.length == strlen(text) && begins(word, text); }
static bool expect(bvh *b, const char *text) { return equals(next_word(b), text); }
static bvh_node *node_at(const bvh *b, size_t n) { return (bvh_node *)b->nodes.data + n; }

/* SK_ERROR_MEMORY where there is none; false ends the reading. */
static bool has_memory(bvh *b, const void *memory) {
  if (!memory && !b->status) b->status = import_no_memory(b->job, 1);
  return memory != NULL;
}

static bool open_node(bvh *b, import_span name) {
  bvh_node *node = sk_array_extend(&b->nodes, 1);
  if (!has_memory(b, node)) return false;
  *node = (bvh_node){.name = name, .parent = b->open};
  b->open = (int64_t)b->nodes.count - 1;
  return true;
}

/* The words up to the brace, all on one line. */
static bool read_name(bvh *b) {
  import_span name = next_word(b), word = name;
  const char *at;
  while (word.length && !equals(word, "{")) {
    name.length = (size_t)(word.at + word.length - name.at);
    word = next_word(b);
  }
  if (!word.length || equals(name, "{")) return false;
  for (at = name.at; at < name.at + name.length; at++) {
    if (*at == '\n' || *at == '\r') return false;
    b->blanks |= is_space(*at);
  }
  b->roots += b->open < 0;
  return open_node(b, name);
}

static bool read_offset(bvh *b, bvh_node *node) {
  int i;
  for (i = 0; i < 3; i++) node->offset[i] = next_word(b);
  return node->offset[2].length != 0;
}

static bool read_channel(bvh *b, uint8_t *kind) {
  import_span word = next_word(b);
  for (*kind = 0; *kind < KINDS; ++*kind)
    if (equals(word, kinds[*kind])) return true;
  return false;
}

/* Their number in plain digits. A second list of one node is not followed, nor one behind the node's children:
   a frame has its numbers in the order of the nodes. */
static bool read_channels(bvh *b, bvh_node *node) {
  import_span word = next_word(b);
  uint32_t count = 0, i;
  for (i = 0; i < word.length && i < 7; i++) {
    if (word.at[i] < '0' || word.at[i] > '9') return false;
    count = 10 * count + (uint32_t)(word.at[i] - '0');
  }
  if (!word.length || word.length > 7 || node->count || node != node_at(b, b->nodes.count - 1)) return false;
  node->first = b->channels.count;
  for (i = 0; i < count; i++) {
    uint8_t kind, *place;
    if (!read_channel(b, &kind)) return false;
    place = sk_array_extend(&b->channels, 1);
    if (!has_memory(b, place)) return false;
    *place = kind;
  }
  node->count = count;
  return true;
}

/* To the word MOTION. */
static bool read_hierarchy(bvh *b) {
  for (;;) {
    import_span word = next_word(b);
    bvh_node *node = b->open < 0 ? NULL : node_at(b, (size_t)b->open);
    bool good, joint = node && node->name.length;
    if (!node && equals(word, "MOTION")) return b->nodes.count != 0;
    if (equals(word, node ? "JOINT" : "ROOT")) good = (joint || !node) && read_name(b);
    else if (joint && equals(word, "End"))
      good = expect(b, "Site") && expect(b, "{") && open_node(b, (import_span){NULL, 0});
    else if (node && equals(word, "OFFSET")) good = read_offset(b, node);
    else if (joint && equals(word, "CHANNELS")) good = read_channels(b, node);
    else good = node && equals(word, "}");
    if (!good) return false;
    if (equals(word, "}")) b->open = node->parent;
  }
}

/* "Frames: 2", or without the space. */
static bool read_number(bvh *b, const char *label, import_span *number) {
  import_span word = next_word(b);
  size_t length = strlen(label);
  if (!begins(word, label)) return false;
  *number = (import_span){word.at + length, word.length - length};
  b->apart &= !number->length;
  if (!number->length) *number = next_word(b);
  return number->length != 0;
}

/* All in front of the frames; false where it cannot be followed. */
static bool read_head(bvh *b, const import_source *file) {
  b->at = (const char *)file->data;
  b->end = b->at + file->size;
  b->marked = file->size >= 3 && !memcmp(b->at, "\xef\xbb\xbf", 3);
  if (b->marked) b->at += 3;
  b->nodes.count = b->channels.count = b->roots = 0;
  b->open = SK_NONE;
  b->apart = true;
  b->blanks = b->filled = false;
  return expect(b, "HIERARCHY") && read_hierarchy(b) && read_number(b, "Frames:", &b->frames) && expect(b, "Frame") &&
         read_number(b, "Time:", &b->time);
}

/* ---- what Assimp would not take ---------------------------------------------------------- */

/* Whether what the node has fits into six channels: X, Y and Z of the position, and its rotations. */
static bool fits_six(const bvh_node *node, uint32_t rotations) {
  int i;
  for (i = 0; i < 3; i++)
    if (node->offset[i].length > MAX_FILLER) return false;
  return rotations <= 3;
}

static void look_at_node(bvh *b, bvh_node *node) {
  const uint8_t *kind = (const uint8_t *)b->channels.data + node->first;
  uint32_t i, rotations = 0, has = 0;
  for (i = 0; i < node->count; i++) {
    rotations += kind[i] >= X_ROTATION;
    if (kind[i] < X_ROTATION) has |= 1u << kind[i];
  }
  if (!has || (has == 7 && node->count == 6)) return;
  node->filled = fits_six(node, rotations);
  node->lost = !node->filled;
  b->filled |= node->filled;
}

static void look_at_nodes(bvh *b) {
  size_t n;
  for (n = 0; n < b->nodes.count; n++) look_at_node(b, node_at(b, n));
}

static bool is_to_be_written(const bvh *b) { return b->marked || b->blanks || b->filled || !b->apart || b->roots > 1; }

static void note_lost(const bvh *b) {
  size_t n;
  for (n = 0; n < b->nodes.count; n++) {
    const bvh_node *node = node_at(b, n);
    if (node->lost)
      import_note_add(b->job, NOTE_channels_dropped, 1, "positions of '%.*s', which has %u channels",
                      (int)(node->name.length < 60 ? node->name.length : 60), node->name.at, node->count);
  }
}

/* ---- writing --------------------------------------------------------------------------- */

static void put(bvh *b, const char *bytes, size_t length) {
  if (!b->status) b->status = import_files_append(b->job, &b->out, bytes, length);
}

static void put_text(bvh *b, const char *text) { put(b, text, strlen(text)); }

/* A word and a space. */
static void put_word(bvh *b, import_span word) {
  put(b, word.at, word.length);
  put_text(b, " ");
}

static void put_name(bvh *b, import_span name) {
  static const char space = IMPORT_BLANK;
  const char *at = name.at, *end = name.at + name.length;
  while (at < end) {
    const char *word = at;
    while (at < end && !is_space(*at)) at++;
    put(b, word, (size_t)(at - word));
    if (at < end) put(b, &space, 1);
    while (at < end && is_space(*at)) at++;
  }
}

static import_span offset_of(const bvh_node *node, int axis) {
  return node->offset[axis].length ? node->offset[axis] : (import_span){"0", 1};
}

static void put_channels(bvh *b, const bvh_node *node) {
  const uint8_t *kind = (const uint8_t *)b->channels.data + node->first;
  char number[32];
  uint32_t i, rotations = 0;
  snprintf(number, sizeof number, "CHANNELS %u ", node->filled ? 6 : node->count);
  put_text(b, number);
  for (i = 0; i < 3 && node->filled; i++) put_word(b, (import_span){kinds[i], strlen(kinds[i])});
  for (i = 0; i < node->count; i++) {
    if (node->filled && kind[i] < X_ROTATION) continue;
    put_word(b, (import_span){kinds[kind[i]], strlen(kinds[kind[i]])});
    rotations++;
  }
  for (; node->filled && rotations < 3; rotations++) put_text(b, "Xrotation ");
  put_text(b, "\n");
}

static void put_node(bvh *b, const bvh_node *node) {
  int i;
  put_text(b, !node->name.length ? "End Site" : node->parent < 0 && b->roots == 1 ? "ROOT " : "JOINT ");
  put_name(b, node->name);
  put_text(b, "\n{\nOFFSET ");
  for (i = 0; i < 3; i++) put_word(b, offset_of(node, i));
  put_text(b, "\n");
  if (node->count) put_channels(b, node);
}

/* Several roots get one above them, "ROOT" as in glTF, with as many underscores as no joint has. */
static void put_root(bvh *b) {
  size_t n, i, most = 0;
  for (n = 0; n < b->nodes.count; n++) {
    import_span name = node_at(b, n)->name;
    for (i = 4; i < name.length && name.at[i] == '_'; i++) {}
    if (begins(name, "ROOT") && i == name.length && i - 3 > most) most = i - 3;
  }
  put_text(b, "ROOT ROOT");
  while (most-- && !b->status) put_text(b, "_");
  put_text(b, "\n{\nOFFSET 0 0 0\n");
}

static void put_hierarchy(bvh *b) {
  int64_t open = SK_NONE;
  size_t n;
  put_text(b, "HIERARCHY\n");
  if (b->roots > 1) put_root(b);
  for (n = 0; n <= b->nodes.count && !b->status; n++) {
    const bvh_node *node = n < b->nodes.count ? node_at(b, n) : NULL;
    int64_t above = node ? node->parent : SK_NONE;
    for (; open != above; open = node_at(b, (size_t)open)->parent) put_text(b, "}\n");
    if (node) put_node(b, node);
    open = (int64_t)n;
  }
  if (b->roots > 1) put_text(b, "}\n");
  put_text(b, "MOTION\nFrames: ");
  put_word(b, b->frames);
  put_text(b, "\nFrame Time: ");
  put_word(b, b->time);
  put_text(b, "\n");
}

/* A node's numbers of one frame; `row` holds them as the file has them. */
static void put_values(bvh *b, const bvh_node *node, const import_span *row) {
  const uint8_t *kind = (const uint8_t *)b->channels.data + node->first;
  import_span place[3] = {offset_of(node, 0), offset_of(node, 1), offset_of(node, 2)};
  uint32_t i, rotations = 0;
  for (i = 0; i < node->count && node->filled; i++)
    if (kind[i] < X_ROTATION) place[kind[i]] = row[i];
  for (i = 0; i < 3 && node->filled; i++) put_word(b, place[i]);
  for (i = 0; i < node->count; i++) {
    if (node->filled && kind[i] < X_ROTATION) continue;
    put_word(b, row[i]);
    rotations++;
  }
  for (; node->filled && rotations < 3; rotations++) put_text(b, "0 ");
}

/* Frame after frame, as long as the words last; one that is not whole is none. */
static void put_frames(bvh *b) {
  size_t count = b->channels.count, n, i, bytes;
  import_span *row = sk_multiply(count, sizeof *row, &bytes) ? sk_alloc(bytes) : NULL;
  has_memory(b, row);
  while (!b->status) {
    for (i = 0; i < count && (row[i] = next_word(b)).length; i++) {}
    if (i < count || !count) break;
    for (n = 0; n < b->nodes.count; n++) put_values(b, node_at(b, n), row + node_at(b, n)->first);
    put_text(b, "\n");
  }
  sk_free(row);
}

static void write_anew(bvh *b) {
  import_files *files = &b->job->files;
  const import_source *model = files->sources.data;
  put_hierarchy(b);
  if (b->filled) put_frames(b);
  else put(b, b->at, (size_t)(b->end - b->at));
  if (b->status) return;
  b->job->blanks_hidden = b->blanks;
  import_files_put(files, model->name, b->out.data, b->out.count, b->out.data);
  b->out = SK_ARRAY(char);
}

/* ---- the file ---------------------------------------------------------------------------- */

/* False where the file cannot be followed. Of a large file only the head is in memory, which is enough for most. */
static bool read_file(bvh *b) {
  import_files *files = &b->job->files;
  bool good = read_head(b, files->sources.data);
  if (good) look_at_nodes(b);
  if (files->descriptor < 0 || b->status || !(b->at == b->end || (good && is_to_be_written(b)))) return good;
  b->status = import_files_whole(b->job);
  good = !b->status && read_head(b, files->sources.data);
  if (good) look_at_nodes(b);
  return good;
}

sk_status import_bvh_open(import_job *job) {
  bvh b = {.job = job, .nodes = SK_ARRAY(bvh_node), .channels = SK_ARRAY(uint8_t), .out = SK_ARRAY(char)};
  if (read_file(&b)) {
    note_lost(&b);
    if (is_to_be_written(&b)) write_anew(&b);
  }
  sk_array_free(&b.nodes);
  sk_array_free(&b.channels);
  sk_array_free(&b.out);
  return b.status;
}

sk_status import_bvh_correct(import_job *job) {
  const sk_text *name = job->model.names.data;
  size_t j;
  for (j = 0; j < job->model.names.count; j++)
    import_show_blanks(job, (char *)job->model.text.data + name[j].offset, name[j].length);
  return SK_OK;
}
