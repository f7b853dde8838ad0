/* import_bvh.c: BVH, a skeleton and its motion.

   No standards body owns the format; what is read here is that of Biovision, as M. Meredith and S. Maddock describe it
   ("Motion Capture File Formats Explained", 2001), and what programs make of it:
   - A frame has its numbers in the order of the joints, so that names need not be unique.
   - The rotations of a joint are in degrees, and are multiplied in the order in which they are listed.
   - A position stands in place of the joint's OFFSET, along its axis. Scale is an extension of some programs.
   - "End Site" ends a chain; it is a joint of its own here.
   A frame is one line, or several of which none is a whole frame. */
#include <math.h>

#include "../import_contents.h"
#include "../import_words.h"
#include "import_bvh.h"

#define HALF_DEGREE   0.0087266462599716479 /* in radians */
#define FALLBACK_RATE 25.0 /* frames per second, where the file gives none */

enum { POSITION, ROTATION, SCALE, X = 0, AXES = 3, KINDS = 9 };

/* A kind is three times what the number is, and its axis. */
static const char *const kinds[KINDS] = {"Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation",
                                         "Zrotation", "Xscale",    "Yscale",    "Zscale"};

typedef struct bvh_joint { /* of each node of the contents */
  import_span name;
  size_t first;      /* of its channels, which stand in one row in a frame */
  uint32_t count;
  bool has_channels; /* they were read, even if there is none */
} bvh_joint;

typedef struct bvh {
  import_job *job;
  import_words words;
  sk_array joints;    /* bvh_joint */
  sk_array channels;  /* uint8_t: kinds */
  int32_t open;       /* the joint that is read; SK_NONE: none */
  double frames, frame_time; /* as the file states them */
  sk_array numbers;   /* double: whole frames, and the lines that follow */
  size_t whole;       /* of these numbers belong to whole frames */
} bvh;

static bvh_joint *joint_at(const bvh *b, size_t j) { return (bvh_joint *)b->joints.data + j; }

static import_contents_node *node_at(const bvh *b, size_t j) {
  return (import_contents_node *)b->job->contents->nodes.data + j;
}

/* ---- the skeleton ------------------------------------------------------------------------ */

/* Appends the words of a name with one blank between each two. */
static bool put_name(bvh *b, import_span name) {
  sk_array *pool = &b->job->model.text;
  const char *at = name.at, *end = name.at + name.length;
  sk_text unused;
  while (at < end) {
    const char *word = at;
    while (at < end && (unsigned char)*at > ' ') at++;
    if (!sk_text_append(pool, word, (size_t)(at - word), &unused)) return false;
    while (at < end && (unsigned char)*at <= ' ') at++;
    if (at < end && !sk_text_append(pool, " ", 1, &unused)) return false;
  }
  return true;
}

/* An end site without a name has that of its parent. */
static sk_status name_joint(bvh *b, bool is_end, import_contents_node *node, import_span name) {
  sk_array *pool = &b->job->model.text;
  size_t first = pool->count;
  sk_text unused;
  bool good = true;
  if (is_end && !name.length) {
    good = sk_text_append(pool, "EndSite_", 8, &unused);
    if (b->open >= 0) name = joint_at(b, (size_t)b->open)->name;
  }
  if (!good || !put_name(b, name)) return import_no_memory(b->job, name.length);
  if (pool->count > IMPORT_MAX_TEXT)
    return sk_fail(b->job->error, SK_ERROR_IMPORT, "the names of all joints together take more than 256 MiB");
  node->name = (sk_text){(uint32_t)first, (uint32_t)(pool->count - first)};
  return SK_OK;
}

/* Behind ROOT, JOINT or End Site: name { */
static sk_status open_joint(bvh *b, bool is_end) {
  import_span name = import_next_name(&b->words);
  bvh_joint *joint;
  import_contents_node *node;
  sk_status status;
  if (!import_take_word(&b->words, "{")) return import_words_fail(&b->words, "'{'");
  node = import_contents_add_node(b->job, b->open);
  joint = node ? sk_array_extend(&b->joints, 1) : NULL;
  if (!joint) return import_no_memory(b->job, sizeof *joint);
  joint->name = name;
  node->has_trs = true;
  status = name_joint(b, is_end, node, name);
  b->open = (int32_t)b->joints.count - 1;
  return status;
}

static sk_status read_offset(bvh *b) {
  import_contents_node *node = node_at(b, (size_t)b->open);
  double number;
  int i;
  for (i = 0; i < AXES; i++) {
    if (!import_take_number(&b->words, &number)) return import_words_fail(&b->words, "a number of an OFFSET");
    node->translation[i] = (float)number;
  }
  return SK_OK;
}

static uint8_t kind_of(import_span word) {
  uint8_t kind = 0;
  while (kind < KINDS && !import_is_word(word, kinds[kind])) kind++;
  return kind;
}

/* A frame has its numbers in the order of the joints, so a joint has one list, in front of its children. */
static sk_status read_channels(bvh *b) {
  bvh_joint *joint = joint_at(b, (size_t)b->open);
  int64_t count, i;
  if (joint->has_channels || (size_t)b->open + 1 != b->joints.count)
    return import_words_fail(&b->words, "one list of channels in front of a joint's children");
  if (!import_take_integer(&b->words, 0, UINT32_MAX, &count))
    return import_words_fail(&b->words, "the number of channels");
  joint->has_channels = true;
  joint->first = b->channels.count;
  joint->count = (uint32_t)count;
  for (i = 0; i < count; i++) {
    const char *before = b->words.at;
    uint8_t kind = kind_of(import_next_word(&b->words)), *added;
    b->words.at = kind < KINDS ? b->words.at : before;
    if (kind == KINDS) return import_words_fail(&b->words, "a channel, such as Xrotation,");
    added = sk_array_extend(&b->channels, 1);
    if (!added) return import_no_memory(b->job, 1);
    *added = kind;
  }
  return SK_OK;
}

/* To the word MOTION, or to the end of a file that has a skeleton alone. */
static sk_status read_hierarchy(bvh *b) {
  import_words *w = &b->words;
  sk_status status = SK_OK;
  if (!import_take_word(w, "HIERARCHY")) return import_words_fail(w, "HIERARCHY");
  while (!status) {
    if (import_take_word(w, "ROOT") || import_take_word(w, "JOINT")) status = open_joint(b, false);
    else if (import_take_word(w, "End"))
      status = import_take_word(w, "Site") ? open_joint(b, true) : import_words_fail(w, "Site");
    else if (b->open < 0) break;
    else if (import_take_word(w, "OFFSET")) status = read_offset(b);
    else if (import_take_word(w, "CHANNELS")) status = read_channels(b);
    else if (import_take_word(w, "}")) b->open = node_at(b, (size_t)b->open)->parent;
    else status = import_words_fail(w, "JOINT, OFFSET, CHANNELS, End Site or '}'");
  }
  return status || b->joints.count ? status : import_words_fail(w, "ROOT");
}

/* ---- the motion --------------------------------------------------------------------------- */

/* "Frames: 2" and "Frame Time: 0.1", with or without the space behind the colon. */
static sk_status read_head(bvh *b) {
  import_words *w = &b->words;
  const char *colon;
  int i;
  for (i = 0; i < 2; i++) {
    bool is_time = import_take_word(w, "Frame");
    import_span word = import_next_word(w);
    size_t length = is_time ? 4 : 6;
    if (word.length < length || !import_is_word((import_span){word.at, length}, is_time ? "Time" : "Frames")) {
      w->at = word.at;
      return import_words_fail(w, i ? "Frame Time:" : "Frames:");
    }
    w->at = word.at + length;
    for (colon = w->at; colon < w->end && (*colon == ' ' || *colon == '\t'); colon++) {}
    if (colon < w->end && *colon == ':') w->at = colon + 1;
    if (!import_take_number(w, is_time ? &b->frame_time : &b->frames)) return import_words_fail(w, "a number");
  }
  return SK_OK;
}

/* Puts NaN, which makes no keys, behind the numbers of a frame that has too few of them. `line` numbers follow these
   already. */
static bool fill_frame(bvh *b, size_t line) {
  size_t has = b->numbers.count - line - b->whole, missing = b->channels.count - has, i;
  double *added = sk_array_extend(&b->numbers, missing), *at;
  if (!added) return false;
  import_note_add(b->job, NOTE_numbers_repaired, 1, "frame %zu has %zu of %zu numbers", b->whole / b->channels.count,
                  has, b->channels.count);
  at = (double *)b->numbers.data + b->numbers.count - missing - line;
  for (i = line; i-- > 0;) at[missing + i] = at[i];
  for (i = 0; i < missing; i++) at[i] = NAN;
  b->whole += b->channels.count;
  return true;
}

/* At the end of a line that has so many numbers. A line may have a whole frame, several, or a part of one; the parts
   of one may follow each other. */
static bool end_line(bvh *b, size_t line) {
  size_t count = b->channels.count, extra;
  if (b->numbers.count - b->whole > count && line < b->numbers.count - b->whole && !fill_frame(b, line)) return false;
  if (b->numbers.count - b->whole < count) return true;
  extra = (b->numbers.count - b->whole) % count;
  if (extra)
    import_note_add(b->job, NOTE_channels_dropped, extra, "frame %zu has %zu numbers for %zu channels",
                    b->whole / count, line, count);
  b->whole = b->numbers.count -= extra;
  return true;
}

/* What is not a number is the end of the motion, behind the stated frames or where the file was cut off. */
static bool is_end(bvh *b, size_t line) {
  import_words *w = &b->words;
  const char *at = w->at;
  import_next_word(w);
  if (w->at == w->end) return true;
  w->at = at;
  return !line && (double)(b->whole / b->channels.count) >= b->frames;
}

static sk_status read_frames(bvh *b) {
  import_words *w = &b->words;
  bool ends = !b->channels.count;
  while (w->at < w->end && !ends) {
    size_t first = b->numbers.count, line;
    bool good = import_take_numbers(w, &b->numbers);
    line = b->numbers.count - first;
    if (good && import_line_goes_on(w)) {
      ends = is_end(b, line);
      if (!ends) return import_words_fail(w, "a number");
    }
    if (good && line) good = end_line(b, line);
    if (!good) return import_no_memory(b->job, b->numbers.count * sizeof(double));
  }
  if (b->numbers.count > b->whole && !fill_frame(b, 0)) return import_no_memory(b->job, sizeof(double));
  return SK_OK;
}

/* ---- the clip ----------------------------------------------------------------------------------- */

static size_t frames_of(const bvh *b) { return b->channels.count ? b->whole / b->channels.count : 0; }

/* Bits of what the channels are. */
static unsigned paths_of(const bvh *b, const bvh_joint *joint) {
  const uint8_t *kind = (const uint8_t *)b->channels.data + joint->first;
  unsigned paths = 0;
  uint32_t i;
  for (i = 0; i < joint->count; i++) paths |= 1u << kind[i] / AXES;
  return paths;
}

/* Multiplies a quaternion by a rotation about an axis. */
static void rotate(double q[4], int axis, double degrees) {
  int a = (axis + 1) % 3, b = (axis + 2) % 3;
  double s = sin(degrees * HALF_DEGREE), c = cos(degrees * HALF_DEGREE), x = q[axis], y = q[a], z = q[b], w = q[3];
  q[axis] = x * c + w * s;
  q[a] = y * c + z * s;
  q[b] = z * c - y * s;
  q[3] = w * c - x * s;
}

static void read_rotation(const uint8_t *kind, uint32_t count, const double *numbers, float *out) {
  double q[4] = {0, 0, 0, 1};
  uint32_t i;
  for (i = 0; i < count; i++)
    if (kind[i] / AXES == ROTATION) rotate(q, kind[i] % AXES, numbers[i]);
  for (i = 0; i < 4; i++) out[i] = (float)q[i];
}

/* Positions or scales; `rest` is what axes without a channel have. */
static void read_vector(const uint8_t *kind, uint32_t count, const double *numbers, int what, const float rest[3],
                        float *out) {
  uint32_t i;
  for (i = 0; i < AXES; i++) out[i] = import_is_bad(rest[i]) ? 0.0f : rest[i];
  for (i = 0; i < count; i++)
    if (kind[i] / AXES == what) out[kind[i] % AXES] = (float)numbers[i];
}

static sk_status add_track(bvh *b, size_t j, int what, const double *times) {
  static const sk_path paths[] = {SK_PATH_TRANSLATION, SK_PATH_ROTATION, SK_PATH_SCALE};
  const bvh_joint *joint = joint_at(b, j);
  const import_contents_node *node = node_at(b, j);
  const float *rest = what == POSITION ? node->translation : node->scale;
  const uint8_t *kind = (const uint8_t *)b->channels.data + joint->first;
  const double *numbers = (const double *)b->numbers.data + joint->first;
  size_t frames = frames_of(b), width = sk_path_width(paths[what]), f;
  import_contents_track *track = import_contents_add_track(b->job, (int32_t)j, paths[what]);
  float *out = track ? import_contents_take(b->job, frames, width * sizeof *out) : NULL;
  if (!out) return SK_ERROR_MEMORY;
  track->count = (uint32_t)frames;
  track->times = times;
  track->values = out;
  for (f = 0; f < frames; f++, out += width, numbers += b->channels.count)
    if (what == ROTATION) read_rotation(kind, joint->count, numbers, out);
    else read_vector(kind, joint->count, numbers, what, rest, out);
  return SK_OK;
}

static sk_status add_tracks(bvh *b) {
  size_t frames = frames_of(b), j, f;
  double *times = import_contents_take(b->job, frames, sizeof *times);
  sk_status status = times ? SK_OK : SK_ERROR_MEMORY;
  int what;
  for (f = 0; times && f < frames; f++) times[f] = (double)f * b->frame_time;
  for (j = 0; j < b->joints.count && frames; j++)
    for (what = POSITION; what <= SCALE && !status; what++)
      if (paths_of(b, joint_at(b, j)) & 1u << what) status = add_track(b, j, what, times);
  return status;
}

static sk_status add_clip(bvh *b) {
  import_contents_clip *clip = import_contents_add_clip(b->job);
  size_t frames = frames_of(b);
  if (!clip) return SK_ERROR_MEMORY;
  if (import_add_text(b->job, (import_span){"Motion", 6}, &clip->name)) return SK_ERROR_MEMORY;
  if (frames > UINT32_MAX) return sk_fail(b->job->error, SK_ERROR_IMPORT, "the file has %zu frames", frames);
  if ((double)frames != b->frames)
    import_note_add(b->job, NOTE_frame_count_repaired, 1, "'Frames:' is %g, but there are %zu", b->frames, frames);
  clip->ticks_per_second = 1.0 / b->frame_time;
  if (!(clip->ticks_per_second > 0.0 && isfinite(clip->ticks_per_second) && isfinite(b->frame_time * (double)frames))) {
    import_note_add(b->job, NOTE_ticks_per_second_assumed, 1, "'Frame Time:' is %g", b->frame_time);
    clip->ticks_per_second = FALLBACK_RATE;
    b->frame_time = 1.0 / FALLBACK_RATE;
  }
  return add_tracks(b);
}

/* ---- the file ------------------------------------------------------------------------------------ */

/* Other words behind the frames are no motion. */
static void note_second_motion(bvh *b) {
  if (import_take_word(&b->words, "MOTION"))
    import_note_add(b->job, NOTE_channels_dropped, 1, "a second MOTION of the file");
}

static sk_status read_motion(bvh *b) {
  sk_status status = read_head(b);
  if (!status) status = read_frames(b);
  if (!status) note_second_motion(b);
  return status ? status : add_clip(b);
}

sk_status import_bvh_open(import_job *job) {
  bvh b = {.job = job,
           .joints = SK_ARRAY(bvh_joint),
           .channels = SK_ARRAY(uint8_t),
           .open = SK_NONE,
           .numbers = SK_ARRAY(double)};
  sk_status status = import_files_whole(job);
  if (!status) status = import_contents_open(job);
  if (status) return status;
  b.words = import_words_of(job, job->files.sources.data);
  status = read_hierarchy(&b);
  if (!status && import_take_word(&b.words, "MOTION")) status = read_motion(&b);
  else if (!status && import_next_word(&b.words).length) status = import_words_fail(&b.words, "ROOT or MOTION");
  if (!status) status = import_contents_check(job);
  sk_array_free(&b.joints);
  sk_array_free(&b.channels);
  sk_array_free(&b.numbers);
  return status;
}
