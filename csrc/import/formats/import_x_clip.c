/* import_x_clip.c: animations of .x.

   A key's time is a whole number of ticks in 32 bits. Programs write times below 0 as such, in text and in bytes, where
   they come as 2^32 more. Rotations are w x y z, and are the inverse of what quaternions usually mean. */
#include <math.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_limit.h"
#include "import_x_scene.h"

#define FALLBACK_TICKS 25.0 /* per second, where a file gives none */
#define SHEAR          1e-3         /* relative: a matrix with more shear is not rotation and scale */

typedef struct x_clip {
  x_scene *scene;
  import_contents_clip *clip;
  import_span name;
  double ticks, last; /* seconds */
} x_clip;

typedef struct x_keys { /* of one AnimationKey */
  uint32_t type, count;
  double *times;
  float *values[3]; /* by sk_path; NULL: the keys have none of it */
} x_keys;

static const size_t widths[] = {[SK_PATH_TRANSLATION] = 3, [SK_PATH_ROTATION] = 4, [SK_PATH_SCALE] = 3};

/* ---- keys -------------------------------------------------------------------------------------- */

static double seconds(const x_clip *c, double time) {
  return (time >= 2147483648.0 && time < 4294967296.0 ? time - 4294967296.0 : time) / c->ticks;
}

static void read_matrix_key(x_clip *c, const double *m, x_keys *keys, uint32_t k) {
  double affine[12];
  bool is_affine = x_matrix(m, affine);
  float *t = keys->values[SK_PATH_TRANSLATION] + 3 * (size_t)k, *r = keys->values[SK_PATH_ROTATION] + 4 * (size_t)k;
  double error = sk_affine_decompose(affine, t, r, keys->values[SK_PATH_SCALE] + 3 * (size_t)k);
  if (is_affine && error <= SHEAR) return;
  import_note_add(c->scene->job, NOTE_matrix_keys_lost, 1, "clip '%.*s', key at %g s", IMPORT_SHORT(c->name),
                  keys->times[k]);
}

/* Type 0 is a rotation, 1 a scale, 2 a translation, 3 and 4 are matrices. */
static void read_key(x_clip *c, const double *v, x_keys *keys, uint32_t k) {
  float *out;
  switch (keys->type) {
  case 0:
    out = keys->values[SK_PATH_ROTATION] + 4 * (size_t)k;
    out[0] = (float)v[1], out[1] = (float)v[2], out[2] = (float)-v[3], out[3] = (float)v[0];
    return;
  case 1:
  case 2:
    out = keys->values[keys->type == 1 ? SK_PATH_SCALE : SK_PATH_TRANSLATION] + 3 * (size_t)k;
    out[0] = (float)v[0], out[1] = (float)v[1], out[2] = (float)(keys->type == 1 ? v[2] : -v[2]);
    return;
  default: read_matrix_key(c, v, keys, k);
  }
}

/* How many numbers a key has, or 0 for an unknown type. */
static uint32_t width_of(uint32_t type) { return type == 0 ? 4 : type <= 2 ? 3 : type <= 4 ? 16 : 0; }

static bool has_path(uint32_t type, int path) {
  if (type > 2) return true;
  return path == (type == 0 ? SK_PATH_ROTATION : type == 1 ? SK_PATH_SCALE : SK_PATH_TRANSLATION);
}

/* A set may refer to one animation many times, so that the keys are counted here. */
static sk_status take_memory(x_scene *x, x_keys *keys) {
  import_counts counts = {.keys = x->keys += keys->count};
  sk_status status = import_check_counts(x->job, &counts);
  int path;
  if (status) return status;
  keys->times = import_contents_take(x->job, keys->count, sizeof *keys->times);
  if (!keys->times) return SK_ERROR_MEMORY;
  for (path = 0; path < 3; path++) {
    if (!has_path(keys->type, path)) continue;
    keys->values[path] = import_contents_take(x->job, keys->count, widths[path] * sizeof(float));
    if (!keys->values[path]) return SK_ERROR_MEMORY;
  }
  return SK_OK;
}

/* `keys->count` is 0 where the keys are not those of their type. */
static sk_status read_keys(x_clip *c, const x_object *object, x_keys *keys) {
  x_numbers n = x_numbers_of(&c->scene->file, object);
  uint32_t width, k;
  sk_status status;
  keys->type = x_take_index(&n);
  width = width_of(keys->type);
  if (!width || !x_take_count(&n, 2 + width, &keys->count)) keys->count = 0;
  status = keys->count ? take_memory(c->scene, keys) : SK_OK;
  for (k = 0; k < keys->count && !status; k++) {
    keys->times[k] = seconds(c, *n.at++);
    if (x_take_index(&n) != width) {
      keys->count = 0;
      break;
    }
    read_key(c, x_take(&n, width), keys, k);
    if (isfinite(keys->times[k])) c->last = fmax(c->last, keys->times[k]);
  }
  if (!keys->count && object->count && !status)
    import_note_add(c->scene->job, NOTE_channels_dropped, 1, "clip '%.*s': keys of type %u", IMPORT_SHORT(c->name),
                    keys->type);
  return status;
}

/* ---- channels ------------------------------------------------------------------------------------- */

static sk_status add_tracks(x_clip *c, const x_keys *keys, int32_t node) {
  static const sk_path order[] = {SK_PATH_TRANSLATION, SK_PATH_ROTATION, SK_PATH_SCALE};
  size_t i;
  for (i = 0; i < 3; i++) {
    import_contents_track *track;
    if (!keys->values[order[i]] || !keys->count) continue;
    track = import_contents_add_track(c->scene->job, node, order[i]);
    if (!track) return SK_ERROR_MEMORY;
    track->count = keys->count;
    track->times = keys->times;
    track->values = keys->values[order[i]];
  }
  return SK_OK;
}

/* The node that an animation moves, or SK_NONE. */
static int32_t node_of(x_clip *c, const x_object *animation) {
  x_scene *x = c->scene;
  const x_object *below = NULL, *frame;
  import_span name = {"", 0};
  while ((below = x_next_below(x, animation, below)) != NULL)
    if (below->kind == X_REFERENCE) name = below->name;
  frame = x_find(x, &x->frames, name, "frame");
  if (frame && x_made_of(x, frame)->index >= 0) return x_made_of(x, frame)->index;
  import_note_add(x->job, NOTE_channels_dropped, 1, "clip '%.*s': no joint '%.*s'", IMPORT_SHORT(c->name),
                  IMPORT_SHORT(name));
  return SK_NONE;
}

static sk_status add_animation(x_clip *c, const x_object *animation) {
  const x_object *below = NULL;
  int32_t node = node_of(c, animation);
  sk_status status = SK_OK;
  while (!status && (below = x_next_below(c->scene, animation, below)) != NULL) {
    x_keys keys = {0};
    if (below->kind != X_KEY) continue;
    status = read_keys(c, below, &keys);
    if (!status && node >= 0) status = add_tracks(c, &keys, node);
  }
  return status;
}

/* ---- clips ------------------------------------------------------------------------------------------- */

static double ticks_of(const x_scene *x) {
  double ticks = 0.0;
  size_t i;
  for (i = 0; i < x->file.objects.count; i++) {
    const x_object *object = x_object_at(&x->file, i);
    x_numbers numbers = x_numbers_of(&x->file, object);
    if (object->kind == X_TICKS && x_left(&numbers)) ticks = *numbers.at;
  }
  return ticks > 0.0 && isfinite(ticks) ? ticks : 0.0;
}

/* The animation that stands in a set, or to which it refers. */
static const x_object *animation_of(x_scene *x, const x_object *below) {
  if (below->kind == X_ANIMATION) return below;
  return below->kind == X_REFERENCE ? x_find(x, &x->animations, below->name, "animation") : NULL;
}

/* A set without animations makes no clip. */
static sk_status add_clip(x_scene *x, const x_object *set, double ticks) {
  x_clip c = {.scene = x, .name = set->name, .ticks = ticks > 0.0 ? ticks : FALLBACK_TICKS};
  const x_object *below = NULL, *animation;
  size_t index = x->job->contents->clips.count;
  import_contents_clip *clip = NULL;
  sk_status status = SK_OK;
  while (!status && (below = x_next_below(x, set, below)) != NULL) {
    animation = animation_of(x, below);
    if (!animation) continue;
    if (!clip) clip = import_contents_add_clip(x->job);
    if (!clip) return SK_ERROR_MEMORY;
    status = add_animation(&c, animation);
  }
  if (status || !clip) return status;
  clip = (import_contents_clip *)x->job->contents->clips.data + index;
  clip->duration = c.last;
  clip->ticks_per_second = c.ticks;
  if (!(ticks > 0.0)) import_note_add(x->job, NOTE_ticks_per_second_assumed, 1, "clip '%.*s'", IMPORT_SHORT(set->name));
  return import_add_text(x->job, set->name, &clip->name);
}

sk_status x_make_clips(x_scene *x) {
  double ticks = ticks_of(x);
  sk_status status = SK_OK;
  size_t i;
  for (i = 0; i < x->file.objects.count && !status; i++) {
    const x_object *object = x_object_at(&x->file, i);
    if (object->kind == X_ANIMATION_SET) status = add_clip(x, object, ticks);
  }
  return status;
}
