/* import_collada_channel.c: what the channels of COLLADA's animations move (1.4.1, "Address Syntax"). */
#include <string.h>

#include "import_collada.h"

typedef struct address { /* "id/sid/sid.MEMBER" or "id/sid(i)(j)" */
  import_span text;
  uint32_t element;   /* that the words lead to */
  import_span member; /* what stands behind them: ".X" or "(1)(2)"; empty: all numbers */
} address;

/* ---- addresses -------------------------------------------------------------------------------------- */

/* Takes the first word of a path off. */
static import_span next_part(import_span *rest) {
  const char *slash = rest->length ? memchr(rest->at, '/', rest->length) : NULL;
  import_span part = {rest->at, slash ? (size_t)(slash - rest->at) : rest->length};
  size_t taken = part.length + (slash != NULL);
  rest->at += taken, rest->length -= taken;
  return part;
}

static uint32_t find(const import_dae *dae, uint32_t inside, import_span name) {
  return inside ? dae_find_sid(dae, inside, name) : dae_find(&dae->tree, name);
}

/* The last word may have a member behind it. A dot may also belong to an id or sid. */
static uint32_t find_last(const import_dae *dae, uint32_t inside, import_span word, import_span *member) {
  uint32_t found = find(dae, inside, word);
  size_t length = word.length;
  int tries = 3;
  *member = (import_span){"", 0};
  while (!found && tries && length--) {
    if (word.at[length] != '.' && word.at[length] != '(') continue;
    *member = (import_span){word.at + length, word.length - length};
    found = find(dae, inside, (import_span){word.at, length});
    tries--;
    if (word.at[length] == '.') break;
  }
  return found;
}

static void resolve(const import_dae *dae, address *a) {
  import_span rest = a->text, part = next_part(&rest);
  uint32_t inside = DAE_NONE;
  while (rest.length) {
    inside = find(dae, inside, part);
    if (!inside) return;
    part = next_part(&rest);
  }
  a->element = find_last(dae, inside, part, &a->member);
}

/* The number in "(number)" at the beginning, which is taken off; -1 where there is none. */
static int take_index(import_span *member) {
  int number = 0;
  size_t i = 1;
  if (member->length < 3 || *member->at != '(') return -1;
  for (; i < member->length && member->at[i] >= '0' && member->at[i] <= '9' && number < 100000; i++)
    number = 10 * number + (member->at[i] - '0');
  if (i == 1 || i >= member->length || member->at[i] != ')') return -1;
  member->at += i + 1, member->length -= i + 1;
  return number;
}

/* Which number of a transform a member is; false: none that it has. In (i)(j) of a matrix, i is the column. */
static bool column_of(const dae_transform *transform, import_span member, int32_t *column) {
  static const struct {
    const char *name;
    int32_t column;
  } names[] = {{".X", 0}, {".Y", 1}, {".Z", 2}, {".W", 3}, {".ANGLE", 3}};
  bool matrix = transform->word == DAE_matrix;
  int first, second;
  size_t i;
  *column = SK_NONE;
  if (!member.length) return true;
  for (i = 0; i < sizeof names / sizeof *names; i++)
    if (dae_is(member, names[i].name)) *column = names[i].column;
  if (transform->word == DAE_skew && dae_is(member, ".ANGLE")) *column = 0;
  if (*column >= 0) return !matrix && (*column < 3 || transform->word == DAE_rotate || transform->word == DAE_skew);
  first = take_index(&member), second = take_index(&member);
  if (first < 0 || first >= 16 || (matrix && second >= 4)) return false;
  *column = matrix && second >= 0 ? first + 4 * second : first;
  return *column < 16;
}

/* ---- what is moved ------------------------------------------------------------------------------------- */

/* The transform of a node that is in the scene. */
static bool find_transform(const import_dae *dae, const address *a, dae_channel *channel) {
  uint32_t node = dae_at(&dae->tree, a->element)->parent, i;
  const dae_chain *chain = dae_word_of(&dae->tree, node) == DAE_node ? dae_chain_of(dae, node) : NULL;
  for (i = 0; chain && i < chain->count; i++)
    if (dae_transform_at(dae, chain->first + i)->element == a->element) {
      channel->transform = chain->first + i;
      channel->node = node;
      return column_of(dae_transform_at(dae, chain->first + i), a->member, &channel->column);
    }
  return false;
}

/* The weights of a morph controller, addressed by the source or its array, or by the controller itself. */
static bool find_weights(const import_dae *dae, const address *a, dae_channel *channel) {
  import_span member = a->member;
  uint32_t morph = dae_around(&dae->tree, a->element, DAE_morph);
  int index;
  if (!morph) morph = dae_child(&dae->tree, a->element, DAE_morph);
  if (!morph) return false;
  index = take_index(&member);
  channel->morph = morph;
  channel->target = index < 0 ? 0 : (uint32_t)index;
  return true;
}

static void note_lost(import_job *job, const address *a, const char *why) {
  import_span last = a->text;
  size_t i;
  for (i = a->text.length; i-- && a->text.at[i] != '/';) last = (import_span){a->text.at + i, a->text.length - i};
  import_note_add(job, dae_is(last, "visibility") ? NOTE_visibility_ignored : NOTE_channels_dropped, 1,
                  "target '%.*s' %s", IMPORT_SHORT(a->text), why);
}

uint32_t dae_find_path(const import_dae *dae, import_span path) {
  address a = {.text = path};
  resolve(dae, &a);
  return a.member.length ? DAE_NONE : a.element;
}

static sk_status read_channel(import_job *job, uint32_t element) {
  import_dae *dae = job->dae;
  dae_channel channel = {.element = element, .transform = UINT32_MAX, .column = SK_NONE}, *added;
  address a = {.text = dae_attribute(&dae->tree, element, DAE_target)};
  uint32_t sampler = dae_follow(&dae->tree, dae_attribute(&dae->tree, element, DAE_source));
  sk_status status;
  resolve(dae, &a);
  if (!a.element || !sampler || dae_word_of(&dae->tree, sampler) != DAE_sampler) {
    note_lost(job, &a, a.element ? "has no sampler" : "is not in the file");
    return SK_OK;
  }
  if (!find_transform(dae, &a, &channel) && !find_weights(dae, &a, &channel)) {
    note_lost(job, &a, "is not in the scene, or is of a kind that is not played");
    return SK_OK;
  }
  status = dae_read_curve(job, sampler, &channel.curve);
  if (status) return status;
  if (channel.curve < 0) {
    note_lost(job, &a, "has no usable keys");
    return SK_OK;
  }
  added = sk_array_room(&dae->channels, 1);
  if (!added) return import_no_memory(job, sizeof *added);
  *added = channel;
  return SK_OK;
}

sk_status dae_read_channels(import_job *job) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t i, count = (uint32_t)tree->elements.count;
  sk_status status = SK_OK;
  for (i = 1; i < count && !status; i++)
    if (dae_word_of(tree, i) == DAE_channel) status = read_channel(job, i);
  return status;
}
