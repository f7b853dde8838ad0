/* import_collada.c: the names that people gave to COLLADA's nodes.

   Assimp calls a node by its id, which is unique and therefore what channels and skins should bind
   by, but which is made by the exporter ("Rig_Arm"). A joint gets the name that stands beside its id,
   where no other node has it. */
#include <string.h>

#include "import_internal.h"

typedef struct node_label { sk_text id, name; } node_label; /* places in the file */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Value of an attribute between `at` and `end`, the two ends of a tag. Length 0: absent or escaped. */
static sk_text attribute(const char *file, const char *at, const char *end, const char *key) {
  size_t length = strlen(key);
  for (; at + length + 3 < end; at++) {
    const char *close;
    if (!is_space(at[0]) || memcmp(at + 1, key, length) || at[1 + length] != '=') continue;
    at += length + 2;
    close = *at == '"' || *at == '\'' ? memchr(at + 1, *at, (size_t)(end - at - 1)) : NULL;
    if (!close || memchr(at, '&', (size_t)(close - at))) break;
    return (sk_text){(uint32_t)(at + 1 - file), (uint32_t)(close - at - 1)};
  }
  return (sk_text){0, 0};
}

/* Every <node ...> of the file that has both an id and a name. */
static sk_status find_labels(import_job *job, sk_array *labels) {
  const import_source *source = job->files.sources.data;
  const char *file = (const char *)source->data, *at = file, *end = file + source->size;
  for (; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++) {
    const char *close;
    node_label label, *place;
    if (end - at <= 6 || at[1] != 'n' || memcmp(at, "<node", 5) || !is_space(at[5])) continue;
    close = memchr(at, '>', (size_t)(end - at));
    if (!close || (uint64_t)(close - file) > UINT32_MAX) break;
    if (close - at > 6) {
      label = (node_label){attribute(file, at, close, "id"), attribute(file, at, close, "name")};
      place = label.id.length && label.name.length ? sk_array_extend(labels, 1) : NULL;
      if (place) *place = label;
      else if (label.id.length && label.name.length) return import_no_memory(job, sizeof label);
    }
  }
  return SK_OK;
}

/* Gives joint j the name of its label. */
static sk_status rename_joint(import_job *job, size_t j, const char *name, size_t length) {
  sk_text *text = (sk_text *)job->model.names.data + j;
  return sk_text_append(&job->model.text, name, length, text) ? SK_OK : import_no_memory(job, length);
}

static sk_status apply_labels(import_job *job, const sk_array *labels, import_names *ids,
                              import_names *names) {
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
    if (k >= 0 && !shared[k])
      status = rename_joint(job, j, file + label[k].name.offset, label[k].name.length);
  }
  sk_free(shared);
  return status;
}

sk_status import_collada_names(import_job *job) {
  sk_array labels = SK_ARRAY(node_label);
  import_names ids = {NULL, 0}, names = {NULL, 0};
  sk_status status = find_labels(job, &labels);
  if (!status && labels.count) {
    if (import_names_make(&ids, labels.count) && import_names_make(&names, labels.count))
      status = apply_labels(job, &labels, &ids, &names);
    else
      status = import_no_memory(job, labels.count);
  }
  import_names_free(&ids);
  import_names_free(&names);
  sk_array_free(&labels);
  return status;
}
