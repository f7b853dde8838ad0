/* import_smd.c: Valve's .smd as its own compiler reads it, line by line.

   Assimp 6.0.5 stumbles over two things, which are taken out or hidden here: comments within a section (lines that
   begin with two slashes), and blanks in the names of materials. It also counts frames from the first one, while the
   times of the file may begin with another number; and it binds by name what the file binds by number, so that a name
   which came before gets a mark. */
#include <string.h>

#include "../import_twin.h"
#include "import_smd.h"

typedef struct smd_line {
  const char *at, *end;
} smd_line; /* without its line end */

typedef struct smd { /* one walk over the file */
  const char *at, *end;
  char section;    /* its first letter; 0: between sections */
  uint32_t node;   /* read so far, with a name */
  uint32_t row;    /* of the section of triangles: a material, then three vertices */
  bool has_time;
  int32_t first;   /* frame of the skeleton */
  uint32_t shapes; /* frames of vertices */
  bool changed;
  sk_array names;  /* import_span: of the nodes, in the order of their lines */
  uint8_t *again;  /* of each of them: the name came before; NULL: nothing is marked */
  bool no_memory;
  char *out;       /* what Assimp gets; NULL: nothing is written */
} smd;

static bool is_end(char c) { return c == '\n' || c == '\r'; }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static smd_line next_line(smd *s) {
  smd_line line = {s->at, s->at};
  while (s->at < s->end && !is_end(*s->at)) s->at++;
  line.end = s->at;
  s->at += s->at < s->end;
  return line;
}

static smd_line trimmed(smd_line line) {
  while (line.at < line.end && is_blank(*line.at)) line.at++;
  while (line.at < line.end && is_blank(line.end[-1])) line.end--;
  return line;
}

static bool begins(smd_line line, const char *word) {
  size_t length = strlen(word), room = (size_t)(line.end - line.at);
  return room >= length && !memcmp(line.at, word, length) && (room == length || is_blank(line.at[length]));
}

/* Reads the whole number behind "time"; beyond 100,000,000 the digits are cut. */
static void read_time(smd *s, smd_line line) {
  int32_t time = 0, sign = 1;
  line.at += 4;
  line = trimmed(line);
  if (line.at < line.end && (*line.at == '-' || *line.at == '+')) sign = *line.at++ == '-' ? -1 : 1;
  for (; line.at < line.end && *line.at >= '0' && *line.at <= '9' && time < 100000000; line.at++)
    time = 10 * time + (*line.at - '0');
  time *= sign;
  if (!s->has_time || time < s->first) s->first = time;
  s->has_time = true;
}

static void write_line(smd *s, smd_line line, const char *after) {
  size_t length = (size_t)(after - line.at);
  if (!s->out) return;
  memcpy(s->out, line.at, length);
  s->out += length;
}

static void write_material(smd *s, smd_line line, const char *after) {
  smd_line name = trimmed(line);
  char *out = s->out;
  size_t i, from = (size_t)(name.at - line.at), length = (size_t)(name.end - name.at);
  write_line(s, line, after);
  for (i = 0; i < length; i++) {
    if (!is_blank(name.at[i])) continue;
    s->changed = true;
    if (out) out[from + i] = IMPORT_BLANK;
  }
}

/* A line of the nodes: number "name" parent */
static void read_node(smd *s, smd_line line) {
  const char *first = memchr(line.at, '"', (size_t)(line.end - line.at));
  const char *last = first ? memchr(first + 1, '"', (size_t)(line.end - first - 1)) : NULL;
  import_span *added = last && !s->out ? sk_array_extend(&s->names, 1) : NULL;
  char mark[IMPORT_MARK_BYTES];
  if (added) *added = (import_span){first + 1, (size_t)(last - first - 1)};
  s->no_memory |= last && !s->out && !added;
  if (last && s->again && s->again[s->node]) {
    write_line(s, line, last);
    write_line(s, (smd_line){mark, mark}, mark + import_mark(mark, s->node));
    line.at = last;
  }
  write_line(s, line, s->at);
  s->node += last != NULL;
}

static void begin_section(smd *s, smd_line text) {
  static const char *const sections[] = {"nodes", "skeleton", "triangles", "vertexanimation"};
  size_t i;
  for (i = 0; i < sizeof sections / sizeof *sections; i++)
    if (begins(text, sections[i])) s->section = *sections[i];
  s->row = 0;
}

/* Reads one line and writes what Assimp gets of it. */
static void read_line(smd *s) {
  smd_line line = next_line(s), text = trimmed(line);
  bool material = s->section == 't' && s->row % 4 == 0;
  bool ends = (material || s->section != 't') && text.end - text.at == 3 && begins(text, "end");
  if (s->section && line.end - line.at >= 2 && line.at[0] == '/' && line.at[1] == '/') {
    s->changed = true;
    return;
  }
  if (s->section == 'n' && !ends) read_node(s, line);
  else if (material && !ends) write_material(s, line, s->at);
  else write_line(s, line, s->at);
  if (!s->section) begin_section(s, text);
  else if (ends) s->section = 0;
  else if (s->section == 't') s->row += text.at < text.end;
  else if (s->section == 's' && begins(text, "time")) read_time(s, text);
  else if (s->section == 'v') s->shapes += begins(text, "time");
}

/* Finds the names that came before. */
static sk_status find_twins(smd *s, import_job *job) {
  const import_span *span = s->names.data;
  size_t count = s->names.count, i;
  import_names names;
  bool twins = false;
  if (s->no_memory || !import_names_make(&names, count)) return import_no_memory(job, count * sizeof *span);
  s->again = sk_alloc_zero(count);
  for (i = 0; i < count && s->again; i++)
    twins |= s->again[i] = import_names_add(&names, span[i].at, span[i].length, (uint32_t)i) != i;
  import_names_free(&names);
  s->changed |= twins;
  return s->again ? SK_OK : import_no_memory(job, count);
}

static void read_lines(smd *s, const import_source *file) {
  s->at = (const char *)file->data;
  s->end = s->at + file->size;
  s->section = 0;
  s->node = 0;
  while (s->at < s->end) read_line(s);
}

static sk_status write_file(smd *s, import_job *job) {
  import_source *file = job->files.sources.data;
  size_t room = file->size + s->names.count * IMPORT_MARK_BYTES + 1;
  char *copy = s->out = sk_alloc(room);
  if (!copy) return import_no_memory(job, room);
  read_lines(s, file);
  *s->out = 0;
  return import_files_put(&job->files, file->name, copy, (size_t)(s->out - copy), copy) ? SK_OK
                                                                                        : import_no_memory(job, 1);
}

sk_status import_smd_open(import_job *job) {
  smd s = {.names = SK_ARRAY(import_span)};
  sk_status status = import_files_whole(job);
  if (!status) {
    read_lines(&s, job->files.sources.data);
    status = find_twins(&s, job);
  }
  import_note_add(job, NOTE_morph_targets_dropped, s.shapes, "frames of vertices (vertexanimation)");
  job->first_frame = s.first;
  job->blanks_hidden = s.changed;
  if (!status && s.changed) status = write_file(&s, job);
  sk_array_free(&s.names);
  sk_free(s.again);
  return status;
}

/* The first animation is the file's own. */
sk_status import_smd_correct(import_job *job) {
  struct aiAnimation *animation = job->scene->mNumAnimations ? job->scene->mAnimations[0] : NULL;
  unsigned c, k;
  if (!animation || !job->first_frame) return import_unmark_names(job);
  animation->mDuration += job->first_frame;
  for (c = 0; c < animation->mNumChannels; c++) {
    struct aiNodeAnim *channel = animation->mChannels[c];
    for (k = 0; k < channel->mNumPositionKeys; k++) channel->mPositionKeys[k].mTime += job->first_frame;
    for (k = 0; k < channel->mNumRotationKeys; k++) channel->mRotationKeys[k].mTime += job->first_frame;
    for (k = 0; k < channel->mNumScalingKeys; k++) channel->mScalingKeys[k].mTime += job->first_frame;
  }
  return import_unmark_names(job);
}

double import_smd_ticks(import_job *job, double stated) {
  (void)job, (void)stated;
  return 0.0;
}
