/* import_collada_clip.c: the clips of COLLADA: which channels play together.

   Where a file has animation clips, each becomes a clip; what is in none of them plays in one more. A file without any
   has one clip of all its animations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../import_fit.h"
#include "import_collada.h"

#define MAX_LISTED (1u << 24) /* channels of all clips together */

/* ---- which clips there are ------------------------------------------------------------------------------ */

static sk_status add_clip(import_job *job, uint32_t element, dae_clip **clip) {
  import_dae *dae = job->dae;
  import_contents_clip *added = import_contents_add_clip(job);
  dae_clip *own = sk_array_extend(&dae->clips, 1);
  if (!added || !own) return import_no_memory(job, sizeof *own);
  *own = (dae_clip){.channels = SK_ARRAY(uint32_t)};
  *clip = own;
  return element ? dae_put_text(job, dae_title(&dae->tree, element), &added->name) : SK_OK;
}

/* Adds the channels inside of an animation, which lie together in the list. */
static sk_status add_animation(import_job *job, dae_clip *clip, uint32_t animation, uint8_t *used, size_t *listed) {
  import_dae *dae = job->dae;
  uint32_t low = 0, high = (uint32_t)dae->channels.count, end = dae_at(&dae->tree, animation)->end, *added;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (dae_channel_at(dae, middle)->element < animation) low = middle + 1;
    else high = middle;
  }
  for (; low < dae->channels.count && dae_channel_at(dae, low)->element < end; low++) {
    if (++*listed > MAX_LISTED)
      return sk_fail(job->error, SK_ERROR_IMPORT, "the clips have more than %u channels", MAX_LISTED);
    added = sk_array_room(&clip->channels, 1);
    if (!added) return import_no_memory(job, sizeof *added);
    *added = low;
    used[low] = 1;
  }
  return SK_OK;
}

static double number_of(const dae_tree *tree, uint32_t element, dae_word word, double absent) {
  import_span text = dae_attribute(tree, element, word);
  double number;
  return dae_next_number(&text, &number) && isfinite(number) ? number : absent;
}

/* A clip that names no animation plays all of them. */
static sk_status read_clip(import_job *job, uint32_t element, uint8_t *used, size_t *listed) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t child;
  dae_clip *clip = NULL;
  bool named = false;
  sk_status status = add_clip(job, element, &clip);
  if (status) return status;
  clip->has_range = true;
  clip->start = number_of(tree, element, DAE_start, 0.0);
  clip->end = number_of(tree, element, DAE_end, NAN);
  for (DAE_EACH(tree, element, child)) {
    uint32_t animation;
    if (status || dae_word_of(tree, child) != DAE_instance_animation) continue;
    named = true;
    animation = dae_follow_to(job, child, DAE_url, DAE_animation);
    if (animation) status = add_animation(job, clip, animation, used, listed);
  }
  return status || named ? status : add_animation(job, clip, dae_child(tree, 0, DAE_COLLADA), used, listed);
}

/* The name of the one animation at the top, if there is no other. */
static uint32_t only_animation(const dae_tree *tree) {
  uint32_t library = dae_child(tree, dae_child(tree, 0, DAE_COLLADA), DAE_library_animations), child;
  uint32_t found = DAE_NONE;
  if (!library) return DAE_NONE;
  for (DAE_EACH(tree, library, child)) {
    if (dae_word_of(tree, child) != DAE_animation) continue;
    if (found) return DAE_NONE;
    found = child;
  }
  return dae_attribute(tree, found, DAE_name).length ? found : DAE_NONE;
}

/* What no clip plays, in one more. */
static sk_status add_rest(import_job *job, const uint8_t *used) {
  import_dae *dae = job->dae;
  dae_clip *clip = NULL;
  uint32_t i, *added;
  sk_status status = SK_OK;
  for (i = 0; i < dae->channels.count && !status; i++) {
    if (used[i]) continue;
    if (!clip) status = add_clip(job, dae->clips.count ? DAE_NONE : only_animation(&dae->tree), &clip);
    added = clip ? sk_array_room(&clip->channels, 1) : NULL;
    if (!added && !status) status = import_no_memory(job, sizeof *added);
    if (added) *added = i;
  }
  return status;
}

static sk_status list_clips(import_job *job) {
  import_dae *dae = job->dae;
  uint32_t i, count = (uint32_t)dae->tree.elements.count;
  uint8_t *used = sk_alloc_zero(dae->channels.count);
  size_t listed = 0;
  sk_status status = used ? SK_OK : import_no_memory(job, dae->channels.count);
  for (i = 1; i < count && !status; i++)
    if (dae_word_of(&dae->tree, i) == DAE_animation_clip) status = read_clip(job, i, used, &listed);
  if (!status) status = add_rest(job, used);
  sk_free(used);
  return status;
}

/* ---- order and limits ---------------------------------------------------------------------------------------- */

typedef struct ordered {
  uint32_t transform, number;
} ordered;

static int compare_ordered(const void *a, const void *b) {
  const ordered *x = a, *y = b;
  if (x->transform != y->transform) return x->transform < y->transform ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* Orders the channels of a clip by their transforms, so that those of a node are neighbors, each once. */
static sk_status order_channels(import_job *job, dae_clip *clip) {
  size_t count = clip->channels.count, i, kept = 0;
  uint32_t *numbers = clip->channels.data;
  ordered *list = sk_alloc(count * sizeof *list);
  if (!list) return import_no_memory(job, count * sizeof *list);
  for (i = 0; i < count; i++) list[i] = (ordered){dae_channel_at(job->dae, numbers[i])->transform, numbers[i]};
  qsort(list, count, sizeof *list, compare_ordered);
  for (i = 0; i < count; i++)
    if (!i || list[i].number != list[i - 1].number) numbers[kept++] = list[i].number;
  clip->channels.count = kept;
  sk_free(list);
  return SK_OK;
}

/* Keys count as often as nodes and clips have them. A matrix gives three. */
static uint64_t count_keys(const import_dae *dae, const dae_clip *clip) {
  uint64_t keys = 0;
  size_t i;
  for (i = 0; i < clip->channels.count; i++) {
    const dae_channel *channel = dae_channel_at(dae, ((const uint32_t *)clip->channels.data)[i]);
    const dae_lists *nodes = &dae->of_element;
    uint64_t uses = 1;
    if (channel->morph) nodes = &dae->of_morph;
    if (channel->morph) uses = nodes->starts[channel->morph + 1] - nodes->starts[channel->morph];
    if (channel->node) uses = nodes->starts[channel->node + 1] - nodes->starts[channel->node];
    if (channel->column < 0 && channel->node) uses *= 3;
    keys = import_sum(keys, import_product(uses, dae_curve_of(dae, channel)->count));
  }
  return keys;
}

/* Lists where each morph controller is. */
static sk_status list_morphs(import_job *job) {
  import_dae *dae = job->dae;
  size_t count = dae->morphs.count, i;
  uint32_t *keys = sk_alloc(count * sizeof *keys);
  sk_status status = keys ? SK_OK : import_no_memory(job, count * sizeof *keys);
  for (i = 0; i < count && keys; i++) keys[i] = ((const dae_use *)dae->morphs.data)[i].element;
  if (!status) status = dae_make_lists(job, keys, count, (uint32_t)dae->tree.elements.count, &dae->of_morph);
  sk_free(keys);
  return status;
}

sk_status dae_read_clips(import_job *job) {
  import_dae *dae = job->dae;
  import_counts counts = {.keys = 0};
  size_t i;
  sk_status status;
  dae->curves = SK_ARRAY(dae_curve);
  dae->channels = SK_ARRAY(dae_channel);
  dae->clips = SK_ARRAY(dae_clip);
  status = list_morphs(job);
  if (!status) status = dae_read_channels(job);
  if (!status) status = list_clips(job);
  for (i = 0; i < dae->clips.count && !status; i++) {
    dae_clip *clip = (dae_clip *)dae->clips.data + i;
    status = order_channels(job, clip);
    counts.keys = import_sum(counts.keys, count_keys(dae, clip));
  }
  dae->keys_left = import_fit_budget(counts.keys);
  job->contents->add_channels = dae_add_channels;
  return status ? status : import_check_counts(job, &counts);
}

void dae_free_clips(import_job *job) {
  import_dae *dae = job->dae;
  size_t i;
  for (i = 0; i < dae->clips.count; i++) sk_array_free(&((dae_clip *)dae->clips.data)[i].channels);
  sk_array_free(&dae->clips);
  sk_array_free(&dae->channels);
  sk_array_free(&dae->curves);
}
