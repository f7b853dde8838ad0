/* import_smd.c: Valve's .smd as its own compiler reads it, line by line.

   Assimp 6.0.5 stumbles over two things, which are taken out or hidden here: comments within a section (lines that
   begin with two slashes), and blanks in the names of materials. It also counts frames from the first one, while the
   times of the file may begin with another number. */
#include <string.h>

#include "import_smd.h"

typedef struct smd_line {
  const char *at, *end;
} smd_line; /* without its line end */

typedef struct smd { /* one walk over the file */
  const char *at, *end;
  char section;    /* its first letter; 0: between sections */
  uint32_t row;    /* of the section of triangles: a material, then three vertices */
  bool has_time;
  int32_t first;   /* frame of the skeleton */
  bool changed;
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
  if (material && !ends) write_material(s, line, s->at);
  else write_line(s, line, s->at);
  if (!s->section) begin_section(s, text);
  else if (ends) s->section = 0;
  else if (s->section == 't') s->row += text.at < text.end;
  else if (s->section == 's' && begins(text, "time")) read_time(s, text);
}

sk_status import_smd_open(import_job *job) {
  import_source *file = job->files.sources.data;
  smd s;
  char *copy;
  sk_status status;
  status = import_files_whole(job);
  if (status) return status;
  s = (smd){.at = (const char *)file->data, .end = (const char *)file->data + file->size};
  while (s.at < s.end) read_line(&s);
  job->first_frame = s.first;
  job->blanks_hidden = s.changed;
  if (!s.changed) return SK_OK;
  copy = sk_alloc(file->size + 1);
  if (!copy) return import_no_memory(job, file->size);
  s = (smd){.at = (const char *)file->data, .end = (const char *)file->data + file->size, .out = copy};
  while (s.at < s.end) read_line(&s);
  *s.out = 0;
  return import_files_put(&job->files, file->name, copy, (size_t)(s.out - copy), copy) ? SK_OK
                                                                                       : import_no_memory(job, 1);
}

/* The first animation is the file's own. */
sk_status import_smd_correct(import_job *job) {
  struct aiAnimation *animation = job->scene->mNumAnimations ? job->scene->mAnimations[0] : NULL;
  unsigned c, k;
  if (!animation || !job->first_frame) return SK_OK;
  animation->mDuration += job->first_frame;
  for (c = 0; c < animation->mNumChannels; c++) {
    struct aiNodeAnim *channel = animation->mChannels[c];
    for (k = 0; k < channel->mNumPositionKeys; k++) channel->mPositionKeys[k].mTime += job->first_frame;
    for (k = 0; k < channel->mNumRotationKeys; k++) channel->mRotationKeys[k].mTime += job->first_frame;
    for (k = 0; k < channel->mNumScalingKeys; k++) channel->mScalingKeys[k].mTime += job->first_frame;
  }
  return SK_OK;
}

double import_smd_ticks(import_job *job, double stated) {
  (void)job, (void)stated;
  return 0.0;
}
