/* import_collada_source.c: arrays of numbers and names, as their accessors and inputs give them. */
#include <math.h>
#include <string.h>

#include "import_collada.h"

/* ---- arrays ------------------------------------------------------------------------------------ */

static bool is_array(dae_word word) {
  return word == DAE_float_array || word == DAE_int_array || word == DAE_bool_array || word == DAE_Name_array ||
         word == DAE_IDREF_array || word == DAE_SIDREF_array;
}

/* Each number takes two bytes of the file, so that the file bounds the memory. */
static sk_status read_array(import_job *job, uint32_t element, dae_numbers *out) {
  import_dae *dae = job->dae;
  dae_element *e = dae_at(&dae->tree, element);
  import_span rest = dae_text(&dae->tree, element);
  dae_numbers *added;
  if (e->data) {
    *out = ((const dae_numbers *)dae->numbers.data)[e->data - 1];
    return SK_OK;
  }
  added = sk_array_extend(&dae->numbers, 1);
  if (!added) return import_no_memory(job, sizeof *added);
  added->values = import_contents_take(job, rest.length / 2 + 1, sizeof *added->values);
  if (!added->values) return SK_ERROR_MEMORY;
  while (dae_next_number(&rest, &added->values[added->count])) added->count++;
  e->data = (uint32_t)dae->numbers.count;
  *out = *added;
  return SK_OK;
}

/* The array of a source: the one to which its accessor refers, else the one inside. */
static uint32_t array_of(const dae_tree *tree, uint32_t source, uint32_t accessor) {
  uint32_t child, array = dae_follow(tree, dae_attribute(tree, accessor, DAE_source));
  if (array && is_array(dae_word_of(tree, array))) return array;
  for (DAE_EACH(tree, source, child))
    if (is_array(dae_word_of(tree, child))) return child;
  return DAE_NONE;
}

static uint32_t accessor_of(const dae_tree *tree, uint32_t source) {
  return dae_child(tree, dae_child(tree, source, DAE_technique_common), DAE_accessor);
}

/* ---- numbers --------------------------------------------------------------------------------------- */

/* A parameter without a name is not bound to anything (1.4.1, "param"), unless none has one. A single parameter stands
   for all numbers of a row, as float4x4 does. */
static void choose_columns(const dae_tree *tree, uint32_t accessor, dae_source *source) {
  uint32_t child, count = 0, named = 0;
  for (DAE_EACH(tree, accessor, child))
    if (dae_word_of(tree, child) == DAE_param) count++, named += dae_attribute(tree, child, DAE_name).length > 0;
  if (count < 2) {
    source->width = source->stride < DAE_MAX_COLUMNS ? source->stride : DAE_MAX_COLUMNS;
    for (count = 0; count < source->width; count++) source->columns[count] = (uint8_t)count;
    return;
  }
  count = 0;
  for (DAE_EACH(tree, accessor, child)) {
    if (dae_word_of(tree, child) != DAE_param) continue;
    if (count < source->stride && count < 256 && source->width < DAE_MAX_COLUMNS &&
        (!named || dae_attribute(tree, child, DAE_name).length))
      source->columns[source->width++] = (uint8_t)count;
    count++;
  }
}

sk_status dae_read_source(import_job *job, uint32_t element, dae_source *source) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t accessor, array, offset, count, last = 0, i;
  dae_numbers numbers = {NULL, 0};
  sk_status status;
  *source = (dae_source){.stride = 1};
  accessor = element ? accessor_of(tree, element) : DAE_NONE;
  array = element ? array_of(tree, element, accessor) : DAE_NONE;
  if (!array) return SK_OK;
  status = read_array(job, array, &numbers);
  if (status) return status;
  source->stride = dae_attribute_number(tree, accessor, DAE_stride, 1);
  if (!source->stride || source->stride > 65536) source->stride = 1;
  choose_columns(tree, accessor, source);
  for (i = 0; i < source->width; i++)
    if (source->columns[i] > last) last = source->columns[i];
  offset = dae_attribute_number(tree, accessor, DAE_offset, 0);
  count = dae_attribute_number(tree, accessor, DAE_count, UINT32_MAX);
  if (!source->width || offset >= numbers.count || numbers.count - offset <= last) return SK_OK;
  source->values = numbers.values + offset;
  source->count = (numbers.count - offset - last - 1) / source->stride + 1;
  if (source->count > count) source->count = count;
  return SK_OK;
}

/* ---- names ----------------------------------------------------------------------------------------------- */

#define MAX_WORDS 8u /* of a name */

/* Autodesk's exporter writes names of several words, which nothing separates from each other. Where there are more
   words than names, the longest run of words that is the sid of a node is a name. */
static void join_names(const import_dae *dae, sk_array *names, size_t count) {
  import_span *spans = names->data;
  size_t i = 0, kept = 0;
  if (names->count <= count) return;
  while (i < names->count) {
    import_span joined = spans[i];
    size_t words = names->count - i < MAX_WORDS ? names->count - i : MAX_WORDS;
    for (; words > 1; words--) {
      const import_span *last = &spans[i + words - 1];
      joined.length = (size_t)(last->at + last->length - spans[i].at);
      if (dae_sid_number(dae, joined) != UINT32_MAX) break;
    }
    if (words == 1) joined = spans[i];
    i += words;
    spans[kept++] = joined;
  }
  names->count = kept;
}

sk_status dae_read_names(import_job *job, uint32_t element, sk_array *names, bool *are_ids) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t array = element ? array_of(tree, element, accessor_of(tree, element)) : DAE_NONE;
  import_span rest = dae_text(tree, array), word;
  *are_ids = dae_word_of(tree, array) == DAE_IDREF_array;
  while (dae_next_word(&rest, &word)) {
    import_span *added = sk_array_room(names, 1);
    if (!added) return import_no_memory(job, sizeof *added);
    *added = word;
  }
  if (!*are_ids) join_names(job->dae, names, dae_attribute_number(tree, array, DAE_count, UINT32_MAX));
  return SK_OK;
}

/* ---- inputs ------------------------------------------------------------------------------------------------ */

uint32_t dae_input(const dae_tree *tree, uint32_t parent, const char *semantic) {
  uint32_t child;
  if (!parent) return DAE_NONE;
  for (DAE_EACH(tree, parent, child))
    if (dae_word_of(tree, child) == DAE_input && dae_is(dae_attribute(tree, child, DAE_semantic), semantic))
      return child;
  return DAE_NONE;
}

uint32_t dae_input_source(const dae_tree *tree, uint32_t parent, const char *semantic) {
  uint32_t input = dae_input(tree, parent, semantic);
  uint32_t source = input ? dae_follow(tree, dae_attribute(tree, input, DAE_source)) : DAE_NONE;
  return source && dae_word_of(tree, source) == DAE_source ? source : DAE_NONE;
}
