/* import_collada_morph.c: COLLADA files with morph controllers, without them.

   Assimp 6.0.5 refuses every file that has one, whether or not it is used: it does not find the list of the
   targets. So a file that was refused for that is written anew in memory without its morph controllers: what
   referred to one refers to the mesh that it moves, or to the skin, and the channels of its weights lead nowhere
   (Assimp would take some of them for the first number of a node's transform). */
#include <string.h>

#include "../import_xml.h"
#include "import_collada.h"

#define MAX_ID 1023 /* bytes: an id is written as often as it is referred to */

typedef struct controller {
  import_span id, base;  /* base: of a morph, what it moves */
  const char *at, *after;
  size_t targets;
  uint32_t visit;        /* the last walk that came by, counted from 1 */
  bool is_morph, is_resolved;
  bool is_skin;          /* base is a skin by now, and no geometry */
} controller;

typedef struct morphs { /* one file while it is read and written */
  import_job *job;
  const char *file, *end;
  sk_array controllers; /* controller */
  import_names ids;     /* id -> controller */
  sk_array out;         /* char */
  const char *copied;   /* the file is written up to here */
  sk_status status;
} morphs;

/* ---- controllers ------------------------------------------------------------------------ */

/* "#id" without its mark; empty for another kind of reference. */
static import_span reference(const import_tag *tag, const char *key) {
  import_span value = import_tag_attribute(tag, key);
  if (!value.length || *value.at != '#' || value.length > MAX_ID) return (import_span){NULL, 0};
  return (import_span){value.at + 1, value.length - 1};
}

/* Words between a tag and the next one. */
static size_t count_words(const char *at, const char *end) {
  size_t count = 0;
  bool inside = false;
  for (; at < end && *at != '<'; at++) {
    bool space = (unsigned char)*at <= ' ';
    count += !space && !inside;
    inside = !space;
  }
  return count;
}

static void read_inside(morphs *m, controller *c, const import_tag *tag) {
  if (tag->closes) return;
  if (import_tag_is(tag, "morph")) {
    c->is_morph = true;
    c->base = reference(tag, "source");
  }
  if (import_tag_is(tag, "IDREF_array") || import_tag_is(tag, "Name_array"))
    c->targets += count_words(tag->after, m->end);
}

/* Returns how many of the controllers are morphs. */
static size_t find_controllers(morphs *m) {
  import_xml x = {m->file, m->end, NULL};
  import_tag tag;
  controller *open = NULL;
  size_t count = 0;
  while (import_xml_next(&x, &tag)) {
    bool here = import_tag_is(&tag, "controller");
    if (open && !here) read_inside(m, open, &tag);
    if (open && here && tag.closes) {
      open->after = tag.after;
      count += open->is_morph;
      open = NULL;
    } else if (!open && here && tag.opens) {
      open = sk_array_extend(&m->controllers, 1);
      if (!open) m->status = import_no_memory(m->job, sizeof *open);
      if (!open) return 0;
      open->id = import_tag_attribute(&tag, "id");
      open->at = tag.at;
    }
  }
  if (open) m->controllers.count--; /* it does not end */
  return count;
}

static bool list_ids(morphs *m) {
  const controller *c = m->controllers.data;
  size_t i;
  if (!import_names_make(&m->ids, m->controllers.count)) m->status = import_no_memory(m->job, m->controllers.count);
  for (i = 0; i < m->controllers.count && !m->status; i++)
    if (c[i].id.length) import_names_add(&m->ids, c[i].id.at, c[i].id.length, (uint32_t)i);
  return !m->status;
}

static controller *find(const morphs *m, import_span id) {
  int64_t i = id.length ? import_names_find(&m->ids, id.at, id.length) : SK_NONE;
  return i < 0 ? NULL : (controller *)m->controllers.data + i;
}

/* A morph may move another one: all on the way get the base of the last. One that moves itself has none. */
static void resolve(const morphs *m, controller *first, uint32_t visit) {
  controller *c = first, *next = find(m, c->base);
  import_span base = {NULL, 0};
  bool is_skin = false;
  for (; next && next->is_morph && !c->is_resolved && c->visit != visit; next = find(m, c->base)) {
    c->visit = visit;
    c = next;
  }
  if (c->is_resolved || !(next && next->is_morph)) {
    base = c->base;
    is_skin = c->is_resolved ? c->is_skin : next != NULL;
  }
  for (c = first; c && c->is_morph && !c->is_resolved; c = next) {
    next = find(m, c->base);
    c->base = base;
    c->is_skin = is_skin;
    c->is_resolved = true;
  }
}

static void resolve_all(const morphs *m) {
  controller *c = m->controllers.data;
  size_t i;
  for (i = 0; i < m->controllers.count; i++) {
    if (!c[i].is_morph) continue;
    resolve(m, &c[i], (uint32_t)i + 1);
    import_note_add(m->job, NOTE_morph_targets_dropped, c[i].targets ? c[i].targets : 1, "controller '%.*s'",
                    (int)(c[i].id.length < 100 ? c[i].id.length : 100), c[i].id.length ? c[i].id.at : "");
  }
}

/* ---- writing ------------------------------------------------------------------------------- */

static void put(morphs *m, const char *bytes, size_t length) {
  if (!m->status) m->status = import_files_append(m->job, &m->out, bytes, length);
}

/* The file up to `at`, then these words in the place of what stands up to `after`. */
static void replace(morphs *m, const char *at, const char *after, const char *words, size_t length) {
  put(m, m->copied, (size_t)(at - m->copied));
  put(m, words, length);
  m->copied = after;
}

/* The morph that a tag refers to, where there is something else that it may refer to. */
static const controller *morph_of(const morphs *m, const import_tag *tag, const char *key) {
  const controller *c = find(m, reference(tag, key));
  return c && c->is_morph && c->base.length ? c : NULL;
}

static void refer_to_base(morphs *m, const import_tag *tag, const char *key, const controller *morph) {
  import_span id = reference(tag, key);
  replace(m, id.at, id.at + id.length, morph->base.at, morph->base.length);
}

static void put_geometry(morphs *m, const import_tag *tag) {
  static const char name[] = "instance_geometry";
  replace(m, tag->name, tag->name + tag->length, name, sizeof name - 1);
}

static void mislead_channel(morphs *m, const import_tag *tag) {
  import_span target = import_tag_attribute(tag, "target");
  if (target.length && !memchr(target.at, '/', target.length))
    replace(m, target.at, target.at, COLLADA_NOWHERE, strlen(COLLADA_NOWHERE));
}

/* `*renamed`: an instance is open that was one of a controller. */
static void write_tag(morphs *m, const import_tag *tag, bool *renamed) {
  const controller *morph;
  if (import_tag_is(tag, "instance_controller")) {
    morph = tag->closes ? NULL : morph_of(m, tag, "url");
    if (tag->closes ? *renamed : morph && !morph->is_skin) put_geometry(m, tag);
    if (morph) refer_to_base(m, tag, "url", morph);
    *renamed = tag->opens && morph && !morph->is_skin;
  } else if (tag->closes) {
    return;
  } else if (import_tag_is(tag, "skin")) {
    morph = morph_of(m, tag, "source");
    if (morph) refer_to_base(m, tag, "source", morph);
  } else if (import_tag_is(tag, "channel")) {
    mislead_channel(m, tag);
  }
}

static void write_anew(morphs *m) {
  const controller *c = m->controllers.data, *last = c + m->controllers.count;
  import_xml x = {m->file, m->end, NULL};
  import_tag tag;
  bool renamed = false;
  m->copied = m->file;
  while (!m->status && import_xml_next(&x, &tag)) {
    if (c == last || tag.at != c->at) {
      write_tag(m, &tag, &renamed);
      continue;
    }
    if (c->is_morph) {
      replace(m, c->at, c->after, "", 0);
      x.at = c->after;
    }
    c++;
  }
  put(m, m->copied, (size_t)(m->end - m->copied));
}

/* ---- the file ------------------------------------------------------------------------------- */

static void drop_morphs(morphs *m) {
  import_files *files = &m->job->files;
  const import_source *model = files->sources.data;
  if (!find_controllers(m) || !list_ids(m)) return;
  resolve_all(m);
  write_anew(m);
  if (m->status) return;
  import_files_put(files, model->name, m->out.data, m->out.count, m->out.data);
  m->out = SK_ARRAY(char);
}

static bool is_refused_for_morphs(const import_job *job) {
  return strstr(job->error->message, "Unable to resolve library reference") != NULL;
}

sk_status import_collada_open_again(import_job *job, bool *changed) {
  morphs m = {.job = job, .controllers = SK_ARRAY(controller), .out = SK_ARRAY(char)};
  const import_source *file = job->files.sources.data;
  *changed = false;
  if (!is_refused_for_morphs(job)) return SK_OK;
  m.status = import_files_whole(job);
  m.file = (const char *)file->data;
  m.end = m.file + file->size;
  if (!m.status) drop_morphs(&m);
  *changed = !m.status && job->notes[NOTE_morph_targets_dropped].count;
  import_names_free(&m.ids);
  sk_array_free(&m.controllers);
  sk_array_free(&m.out);
  return m.status;
}
