/* import_md5_clip.c: the motion of a .md5anim.

     hierarchy { "name" parent flags first ... } baseframe { ( translation ) ( rotation ) ... } frame i { numbers }

   A joint has six numbers: translation x, y, z, and x, y, z of its rotation. A frame has those whose flags are set, one
   after another from the joint's first number on; the others are in the base frame. */
#include <math.h>
#include <string.h>

#include "import_md5.h"

#define TRANSLATION_FLAGS 7u
#define ALL_FLAGS         63u
#define FALLBACK_RATE     25.0 /* frames per second, where the file gives none */
#define SPARE_KEYS        65536 /* that need no numbers of their own */

static const md5_frame *frame_at(const md5 *m, size_t f) { return (const md5_frame *)m->frames.data + f; }

/* ---- reading ----------------------------------------------------------------------------- */

sk_status md5_read_hierarchy(md5 *m) {
  int64_t flags;
  if (m->has_model || m->has_motion) return import_words_fail(&m->words, "one list of joints");
  m->has_motion = true;
  if (!import_take_word(&m->words, "{")) return import_words_fail(&m->words, "'{'");
  while (md5_goes_on(m)) {
    md5_joint *joint = md5_read_joint(m);
    if (!joint) return m->job->error->status;
    if (!import_take_integer(&m->words, 0, ALL_FLAGS, &flags) ||
        !import_take_integer(&m->words, 0, UINT32_MAX, &joint->first))
      return import_words_fail(&m->words, "the flags of a joint, from 0 to 63, and its first number");
    joint->flags = (uint32_t)flags;
  }
  return SK_OK;
}

/* Entries beyond the number of joints are ignored. */
sk_status md5_read_base_frame(md5 *m) {
  double unused[6];
  sk_status status = SK_OK;
  if (!import_take_word(&m->words, "{")) return import_words_fail(&m->words, "'{'");
  while (!status && md5_goes_on(m)) {
    double *numbers = m->base < m->joints.count ? md5_joint_at(m, m->base++)->numbers : unused;
    status = md5_read_triple(m, numbers);
    if (!status) status = md5_read_triple(m, numbers + 3);
  }
  return status;
}

sk_status md5_read_frame(md5 *m) {
  import_words *w = &m->words;
  md5_frame frame = {.first = m->numbers.count}, *added;
  if (!import_take_integer(w, 0, INT32_MAX, &frame.number)) return import_words_fail(w, "the number of a frame");
  if (!import_take_word(w, "{")) return import_words_fail(w, "'{'");
  do {
    if (!import_take_numbers(w, &m->numbers)) return import_no_memory(m->job, m->numbers.count * sizeof(double));
  } while (w->at < w->end && !import_line_goes_on(w));
  if (!import_take_word(w, "}")) return import_words_fail(w, "a number or '}'");
  frame.count = m->numbers.count - frame.first;
  added = sk_array_extend(&m->frames, 1);
  if (!added) return import_no_memory(m->job, sizeof *added);
  *added = frame;
  return SK_OK;
}

/* ---- poses -------------------------------------------------------------------------------- */

/* The six numbers of a joint in a frame, NaN for those that it does not have. */
static void numbers_of(const md5 *m, const md5_joint *joint, const md5_frame *frame, double out[6]) {
  const double *values = m->numbers.data;
  size_t at = (size_t)joint->first;
  int i;
  for (i = 0; i < 6; i++) {
    out[i] = joint->numbers[i];
    if (!(joint->flags & 1u << i)) continue;
    out[i] = at < frame->count ? values[frame->first + at] : NAN;
    at++;
  }
}

/* A motion alone has its first frame as the rest pose. */
void md5_set_first_frame(md5 *m, size_t j, import_contents_node *node) {
  const md5_joint *joint = md5_joint_at(m, j);
  double v[6], q[4];
  int i;
  memcpy(v, joint->numbers, sizeof v);
  if (m->frames.count) numbers_of(m, joint, frame_at(m, 0), v);
  for (i = 0; i < 6; i++) v[i] = isfinite(v[i]) ? v[i] : joint->numbers[i];
  md5_rotation(m, joint, v + 3, q);
  for (i = 0; i < 3; i++) node->translation[i] = (float)v[i];
  for (i = 0; i < 4; i++) node->rotation[i] = (float)q[i];
}

/* ---- the clip ------------------------------------------------------------------------------- */

/* A joint that no frame moves has one key, that of its base frame. */
static sk_status add_track(md5 *m, size_t j, int32_t node, sk_path path, const double *times) {
  md5_joint *joint = md5_joint_at(m, j);
  bool turns = path == SK_PATH_ROTATION,
       moves = (turns ? joint->flags & ~TRANSLATION_FLAGS : joint->flags & TRANSLATION_FLAGS) != 0;
  size_t count = moves ? m->frames.count : 1, width = turns ? 4 : 3, f, i;
  float *values = import_contents_take(m->job, count, width * sizeof *values);
  import_contents_track *track = values ? import_contents_add_track(m->job, node, path) : NULL;
  double v[6], q[4];
  if (!track) return SK_ERROR_MEMORY;
  track->count = (uint32_t)count;
  track->times = times;
  track->values = values;
  for (f = 0; f < count; f++, values += width) {
    numbers_of(m, joint, frame_at(m, f), v);
    if (turns) md5_rotation(m, joint, v + 3, q);
    for (i = 0; i < width; i++) values[i] = (float)(turns ? q[i] : v[i]);
  }
  return SK_OK;
}

/* Keys without numbers must not fill the memory: a file has as many numbers as keys, or more. */
static sk_status check_keys(const md5 *m) {
  uint64_t moved = 0, j;
  for (j = 0; j < m->joints.count; j++) moved += md5_joint_at(m, j)->flags != 0;
  if (!m->frames.count || moved <= (m->numbers.count + SPARE_KEYS) / m->frames.count) return SK_OK;
  return sk_fail(m->job->error, SK_ERROR_IMPORT,
                 "the file has %zu frames of %llu joints that move, but only %zu numbers", m->frames.count,
                 (unsigned long long)moved, m->numbers.count);
}

typedef struct md5_binding { /* of the joints of a motion to those of a model */
  md5 *m;
  const md5 *model;
  import_names names; /* of the model's joints */
  uint8_t *shared;    /* of each joint of the model: others have its name */
} md5_binding;

static bool have_one_name(const md5_joint *a, const md5_joint *b) {
  return a->name.length == b->name.length && (!a->name.length || !memcmp(a->name.at, b->name.at, a->name.length));
}

/* The game requires the same joints in the same order. If they differ, joints are found by name. */
static int32_t find_node(const md5_binding *b, size_t j) {
  const md5_joint *joint = md5_joint_at(b->m, j);
  int64_t found;
  char quote[64];
  if (j < b->model->joints.count && have_one_name(joint, md5_joint_at(b->model, j)))
    return md5_joint_at(b->model, j)->node;
  found = import_names_find(&b->names, joint->name.at, joint->name.length);
  import_quote(joint->name, quote);
  if (found < 0) import_note_add(b->m->job, NOTE_channels_dropped, 1, "joint '%s' of the motion", quote);
  else if (b->shared[found]) import_note_add(b->m->job, NOTE_names_ambiguous, 1, "joint '%s' of the motion", quote);
  return found < 0 ? SK_NONE : md5_joint_at(b->model, (size_t)found)->node;
}

static sk_status index_names(md5_binding *b) {
  size_t count = b->model->joints.count, j;
  b->shared = sk_alloc_zero(count);
  if (!b->shared || !import_names_make(&b->names, count)) return import_no_memory(b->m->job, count);
  for (j = 0; j < count; j++) {
    import_span name = md5_joint_at(b->model, j)->name;
    uint32_t first = import_names_add(&b->names, name.at, name.length, (uint32_t)j);
    b->shared[first] |= first != j;
  }
  return SK_OK;
}

static sk_status add_tracks(md5 *m, const md5 *model, const double *times) {
  md5_binding b = {m, model, {NULL, 0}, NULL};
  sk_status status = index_names(&b);
  size_t j;
  for (j = 0; j < m->joints.count && !status; j++) {
    int32_t node = find_node(&b, j);
    if (node < 0) continue;
    status = add_track(m, j, node, SK_PATH_TRANSLATION, times);
    if (!status) status = add_track(m, j, node, SK_PATH_ROTATION, times);
  }
  import_names_free(&b.names);
  sk_free(b.shared);
  return status;
}

static void note_counts(const md5 *m) {
  if (isfinite(m->stated_frames) && m->stated_frames != (double)m->frames.count)
    import_note_add(m->job, NOTE_frame_count_repaired, 1, "numFrames is %g, but there are %zu", m->stated_frames,
                    m->frames.count);
  if (m->base != m->joints.count)
    import_note_add(m->job, NOTE_numbers_repaired, 1, "the base frame has %zu of %zu joints", m->base, m->joints.count);
}

sk_status md5_add_clip(md5 *m, const md5 *model) {
  import_contents_clip *clip;
  double *times, rate = m->rate;
  size_t f;
  sk_status status = check_keys(m);
  note_counts(m);
  if (status || !m->frames.count) return status;
  clip = import_contents_add_clip(m->job);
  times = clip ? import_contents_take(m->job, m->frames.count, sizeof *times) : NULL;
  if (!times) return SK_ERROR_MEMORY;
  if (!(rate > 0.0 && isfinite(rate) && isfinite(1.0 / rate))) {
    import_note_add(m->job, NOTE_ticks_per_second_assumed, 1, "'frameRate' is %g", rate);
    rate = FALLBACK_RATE;
  }
  clip->ticks_per_second = rate;
  for (f = 0; f < m->frames.count; f++) times[f] = (double)frame_at(m, f)->number / rate;
  return add_tracks(m, model, times);
}
