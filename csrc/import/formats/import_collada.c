/* import_collada.c: what a COLLADA file says and Assimp does not deliver.

   Assimp calls a node by its id, which is unique and therefore what channels and skins should bind
   by, but which is made by the exporter ("Rig_Arm"). A joint gets the name that stands beside its id,
   where no other node has it. And what Assimp 6.0.5 passes over or misreads in silence is counted here. */
#include <math.h>
#include <string.h>

#include "../import_space.h"
#include "../import_xml.h"
#include "import_collada.h"

typedef struct node_label {
  sk_text id, name;
} node_label; /* offsets in the file */

typedef struct reading { /* one pass over the file's tags */
  import_job *job;
  const char *file;
  import_xml rest;
  sk_array labels;     /* node_label */
  bool in_animations;  /* a list of names is one of interpolations here */
} reading;

/* ---- what gets lost ------------------------------------------------------------------------ */

static bool is_space(char c) { return (unsigned char)c <= ' '; }

/* The next word from `*at` on, which does not go beyond a tag; empty where there is none. */
static import_span next_word(const char **at, const char *end) {
  import_span word;
  while (*at < end && is_space(**at)) ++*at;
  word.at = *at;
  while (*at < end && !is_space(**at) && **at != '<') ++*at;
  word.length = (size_t)(*at - word.at);
  return word;
}

/* Assimp's keys are all linear. The interpolation behind the last key has no effect. */
static void note_interpolation(const reading *r, const import_tag *tag) {
  const char *at = tag->after;
  import_span word = next_word(&at, r->rest.end), next = next_word(&at, r->rest.end);
  for (; next.length; word = next, next = next_word(&at, r->rest.end)) {
    if (word.length == 6 && !memcmp(word.at, "LINEAR", 6)) continue;
    import_note_add(r->job, NOTE_interpolation_ignored, 1, "%.*s", (int)(word.length < 40 ? word.length : 40), word.at);
    return;
  }
}

/* Assimp takes "node/transform.component", but neither two slashes nor two dots, of which one is in the node's id.
   Targets that import_collada_morph.c made lead nowhere are in the report already. */
static void note_target(const reading *r, const import_tag *tag) {
  import_span target = import_tag_attribute(tag, "target");
  size_t i, slashes = 0, dots = 0;
  if (target.length > 2 && !memcmp(target.at, COLLADA_NOWHERE, 2)) return;
  for (i = 0; i < target.length; i++) {
    slashes += target.at[i] == '/';
    dots += target.at[i] == '.';
  }
  if (slashes > 1 || (slashes && dots > 1))
    import_note_add(r->job, NOTE_channels_dropped, 1, "target '%.*s'", (int)(target.length < 100 ? target.length : 100),
                    target.at);
}

/* An influence of joint -1, which is none: Assimp takes 0 for it and the next numbers for others than they are. */
static void note_jointless(const reading *r, const import_tag *tag) {
  const char *at = tag->after, *end = memchr(at, '<', (size_t)(r->rest.end - at));
  while (end && (at = memchr(at, '-', (size_t)(end - at))) != NULL) {
    import_note_add(r->job, NOTE_influences_misread, 1, "byte %llu of the file", (unsigned long long)(at - r->file));
    at++;
  }
}

/* ---- names ----------------------------------------------------------------------------------- */

static sk_text place_of(const reading *r, import_span span) {
  return (sk_text){span.length ? (uint32_t)(span.at - r->file) : 0, (uint32_t)span.length};
}

static sk_status add_label(reading *r, const import_tag *tag) {
  node_label label = {place_of(r, import_tag_attribute(tag, "id")), place_of(r, import_tag_attribute(tag, "name"))};
  node_label *place;
  if (!label.id.length || !label.name.length) return SK_OK;
  place = sk_array_extend(&r->labels, 1);
  if (!place) return import_no_memory(r->job, sizeof label);
  *place = label;
  return SK_OK;
}

static sk_status read_tag(reading *r, const import_tag *tag) {
  if (import_tag_is(tag, "library_animations")) r->in_animations = tag->opens;
  if (tag->closes) return SK_OK;
  if (import_tag_is(tag, "node")) return add_label(r, tag);
  if (import_tag_is(tag, "Name_array") && r->in_animations && tag->opens) note_interpolation(r, tag);
  else if (import_tag_is(tag, "channel")) note_target(r, tag);
  else if (import_tag_is(tag, "v") && tag->opens) note_jointless(r, tag);
  else if (import_tag_is(tag, "animation_clip")) {
    import_span name = import_tag_attribute(tag, "name");
    if (!name.length) name = import_tag_attribute(tag, "id");
    import_note_add(r->job, NOTE_clips_merged, 1, "'%.*s'", (int)(name.length < 100 ? name.length : 100),
                    name.length ? name.at : "");
  }
  return SK_OK;
}

/* Every <node ...> of the file that has both an id and a name, and what there is to say of the others. */
static sk_status read_tags(reading *r) {
  import_tag tag;
  sk_status status = SK_OK;
  while (!status && import_xml_next(&r->rest, &tag)) status = read_tag(r, &tag);
  return status;
}

/* Gives joint j the name of its label. */
static sk_status rename_joint(import_job *job, size_t j, const char *name, size_t length) {
  sk_text *text = (sk_text *)job->model.names.data + j;
  return sk_text_append(&job->model.text, name, length, text) ? SK_OK : import_no_memory(job, length);
}

static sk_status apply_labels(import_job *job, const sk_array *labels, import_names *ids, import_names *names) {
  const import_source *source = job->files.sources.data;
  const char *file = (const char *)source->data;
  const node_label *label = labels->data;
  uint8_t *shared = sk_alloc_zero(labels->count);
  sk_status status = shared ? SK_OK : import_no_memory(job, labels->count);
  size_t i, j;
  for (i = 0; i < labels->count && shared; i++) {
    uint32_t first = import_names_add(names, file + label[i].name.offset, label[i].name.length, (uint32_t)i);
    import_names_add(ids, file + label[i].id.offset, label[i].id.length, (uint32_t)i);
    if (first != i) shared[first] = shared[i] = 1;
  }
  for (j = 0; j < job->model.nodes.count && !status; j++) {
    const struct aiString *id = &((const struct aiNode **)job->model.nodes.data)[j]->mName;
    int64_t k = import_names_find(ids, id->data, id->length);
    if (k >= 0 && !shared[k]) status = rename_joint(job, j, file + label[k].name.offset, label[k].name.length);
  }
  sk_free(shared);
  return status;
}

sk_status import_collada_correct(import_job *job) {
  static const char *const names_read[] = {"node", "library_animations", "Name_array", "channel", "animation_clip", "v",
                                           NULL};
  const import_source *source = job->files.sources.data;
  const char *file = (const char *)source->data;
  reading r = {
      .job = job, .file = file, .rest = {file, file + source->size, names_read}, .labels = SK_ARRAY(node_label)};
  import_names ids = {NULL, 0}, names = {NULL, 0};
  sk_status status = read_tags(&r);
  if (!status && r.labels.count) {
    if (import_names_make(&ids, r.labels.count) && import_names_make(&names, r.labels.count))
      status = apply_labels(job, &r.labels, &ids, &names);
    else status = import_no_memory(job, r.labels.count);
  }
  import_names_free(&ids);
  import_names_free(&names);
  sk_array_free(&r.labels);
  return status;
}

/* Assimp's root holds the unit and the rotation to +Y up. */
void import_collada_space(import_job *job) {
  const import_source *file = job->files.sources.data;
  const char *up = import_find_word(file, "<up_axis>"), *end = (const char *)file->data + file->size;
  double unit = import_root_scale(job);
  job->model.info.unit_meters = 1.0;
  if (up && end - up >= 4 && *up != 'Y') import_note_add(job, NOTE_axes_converted, 1, "the file's up axis is %.4s", up);
  if (fabs(unit - 1.0) > 1e-6)
    import_note_add(job, NOTE_units_converted, 1, "one unit of the file is %g m; now 1 m", unit);
}
