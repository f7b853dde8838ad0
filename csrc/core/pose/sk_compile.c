/* sk_compile.c: see sk_compile.h.

   It takes two passes. The plan says which channels move, which joints are movers and nodes, and what shares a time
   line. Then all arrays are laid out in one allocation and filled. */
#include "sk_compile.h"

#include <math.h>
#include <string.h>

#include "../base/sk_math.h"
#include "sk_pose.h"

#define WIDE_DOT        0.92 /* rotations whose dot product is smaller lie more than 46 degrees apart */
#define HALF_TURN_DOT   1e-5 /* below this, rounding to float may choose the other way round */
#define MAX_VALUE       1e15 /* squares of larger numbers come near the end of float */
#define MAX_TIME        1e300 /* seconds: differences of larger times come near the end of double */
#define MIN_DURATION    1e-290 /* seconds from first to last key: below it, buckets a second leave double's range */
#define SHEAR_TOLERANCE 4e-7 /* relative: what rounding to float takes from T * R * S without any shear */

typedef struct plan {
  const sk_clip *clip;
  const sk_skeleton *skeleton;
  const sk_skin *skin;
  sk_plan lines;        /* which channels move, and on which time lines */
  int32_t *channel_of;  /* (J, SK_COMPONENT_COUNT): the channel that moves the component, or SK_NONE */
  int32_t *still_of;    /* the same for channels that hold one value */
  int32_t *node_of;     /* (J,): the node of the joint, or SK_NONE */
  int32_t *driver;      /* (J,): the joint that a slot of the joint follows: find_drivers */
  int32_t *depths;      /* (J,): depths of nodes, then of joints */
  double *chains;       /* (J, 12): product of the locals below the driver, down to the joint */
  uint32_t mover_count, weight_count, node_count;
  bool inexact;         /* only the plain path is exact */
  void *memory;
} plan;

static const float *values_of(const plan *p, const sk_channel *channel) { return p->clip->values + channel->values; }

static bool floats_are_below(const float *values, size_t count, double limit) {
  size_t i;
  for (i = 0; i < count; i++)
    if (!(fabsf(values[i]) < limit)) return false;
  return true;
}

static bool floats_are_small(const float *values, size_t count) { return floats_are_below(values, count, MAX_VALUE); }

static bool times_are_tame(const double *times, uint32_t count) {
  double first = times[0], last = times[count - 1];
  return fabs(first) < MAX_TIME && fabs(last) < MAX_TIME && (count == 1 || last - first > MIN_DURATION);
}

static bool keys_are_below(const plan *p, const sk_channel *channel, uint64_t array, double limit) {
  uint32_t width = sk_path_width((sk_path)channel->path), k;
  for (k = 0; k < sk_channel_stored(channel); k++)
    if (!floats_are_below(sk_channel_key(p->clip->values, channel, array, k), width, limit)) return false;
  return true;
}

/* Whether squares of the channel's numbers stay in the range of float. Tangents are multiplied with the seconds between
   keys, which may be as long as the channel. */
static bool is_tame(const plan *p, const sk_channel *channel) {
  const double *times = p->clip->times + channel->times;
  double length = times[channel->key_count - 1] - times[0], steepest = MAX_VALUE / fmax(1.0, length);
  if (!times_are_tame(times, channel->key_count) || !keys_are_below(p, channel, channel->values, MAX_VALUE))
    return false;
  return channel->interpolation != SK_CUBIC ||
         (length < MAX_VALUE && keys_are_below(p, channel, channel->in_tangents, steepest) &&
          keys_are_below(p, channel, channel->out_tangents, steepest));
}

/* Checks all channels but those of weights, which are left to the plain path and only counted. */
static bool channels_are_tame(plan *p) {
  uint32_t i;
  for (i = 0; i < p->clip->channel_count; i++) {
    const sk_channel *channel = &p->clip->channels[i];
    if (channel->path == SK_PATH_WEIGHT) p->weight_count++;
    else if (sk_path_moves_joint(channel->path) && !is_tame(p, channel)) return false;
  }
  return true;
}

/* The same for what is no channel: the rest pose, the inverse binds, and the length of the clip. */
static bool rest_is_tame(const plan *p) {
  size_t joints = (size_t)p->skeleton->joint_count, slots = (size_t)p->skin->slot_count;
  return p->clip->duration + p->clip->key_tolerance < MAX_TIME &&
         floats_are_small(p->skeleton->translation, 3 * joints) && floats_are_small(p->skeleton->scale, 3 * joints) &&
         floats_are_small(p->skeleton->rest_local, 16 * joints) && floats_are_small(p->skin->inverse_bind, 16 * slots);
}

/* ---- which joints move ------------------------------------------------------------------------ */

/* Whether the rest matrix of a joint is its T * R * S up to rounding. */
static bool rest_is_plain(const sk_skeleton *skeleton, size_t j) {
  double trs[12], largest = 0.0, worst = 0.0;
  int i;
  sk_affine_from_trs(skeleton->translation + 3 * j, skeleton->rotation + 4 * j, skeleton->scale + 3 * j, trs);
  for (i = 0; i < 12; i++) {
    if (i % 4 == 3) continue;
    largest = fmax(largest, fabs(trs[i]));
    worst = fmax(worst, fabs(trs[i] - skeleton->rest_local[16 * j + (size_t)i]));
  }
  return worst <= SHEAR_TOLERANCE * largest;
}

static bool joint_moves(const plan *p, size_t j) {
  const int32_t *channels = p->channel_of + j * SK_COMPONENT_COUNT;
  return channels[0] != SK_NONE || channels[1] != SK_NONE || channels[2] != SK_NONE;
}

static bool only_rotates(const plan *p, size_t j) {
  const int32_t *channels = p->channel_of + j * SK_COMPONENT_COUNT;
  return channels[SK_COMPONENT_TRANSLATION] == SK_NONE && channels[SK_COMPONENT_SCALE] == SK_NONE;
}

/* The driver of joint j is the joint that a slot of j follows: j itself or, where j does not move, the nearest ancestor
   that moves or has no parent. */
static void find_drivers(plan *p) {
  int32_t j;
  for (j = 0; j < p->skeleton->joint_count; j++) {
    int32_t parent = p->skeleton->parents[j];
    p->driver[j] = parent < 0 || joint_moves(p, (size_t)j) ? j : p->driver[parent];
  }
}

static void collect_nodes(plan *p) {
  int32_t joints = p->skeleton->joint_count, s, j;
  find_drivers(p);
  for (s = 0; s < p->skin->slot_count; s++)
    for (j = p->driver[p->skin->joints[s]]; j >= 0 && p->node_of[j] == SK_NONE; j = p->skeleton->parents[j])
      p->node_of[j] = 0;
  for (j = 0; j < joints; j++)
    if (p->node_of[j] != SK_NONE) p->node_of[j] = (int32_t)p->node_count++;
}

static void index_channels(const plan *p, const uint32_t *channels, uint32_t count, int32_t *components) {
  uint32_t i;
  for (i = 0; i < count; i++) {
    const sk_channel *channel = &p->clip->channels[channels[i]];
    components[(size_t)channel->joint * SK_COMPONENT_COUNT + channel->path] = (int32_t)channels[i];
  }
}

static bool make_plan(plan *p) {
  size_t joints = (size_t)p->skeleton->joint_count, components = joints * SK_COMPONENT_COUNT, i;
  sk_keys keys = {p->clip->channels, p->clip->channel_count, p->clip->times, p->clip->values};
  p->inexact = !rest_is_tame(p) || !channels_are_tame(p);
  if (p->inexact || !sk_plan_make(keys, &p->lines)) return false;
  p->memory = sk_alloc(joints * 12 * sizeof(double) + 3 * components * sizeof(int32_t));
  if (!p->memory) return false;
  p->chains = p->memory;
  p->channel_of = (int32_t *)(p->chains + joints * 12);
  p->still_of = p->channel_of + components;
  p->node_of = p->still_of + components; /* three arrays of J */
  p->driver = p->node_of + joints;
  p->depths = p->driver + joints;
  for (i = 0; i < 3 * components; i++) p->channel_of[i] = SK_NONE;
  index_channels(p, p->lines.order, p->lines.moving, p->channel_of);
  index_channels(p, p->lines.still, p->lines.still_count, p->still_of);
  for (i = 0; i < joints; i++) p->mover_count += joint_moves(p, i);
  collect_nodes(p);
  return true;
}

/* ---- laying out -------------------------------------------------------------------------------- */

/* Pieces of one allocation; without memory it only counts bytes. */
typedef struct arena {
  char *memory;
  size_t used;
} arena;

static void *take(arena *a, size_t bytes) {
  size_t at = a->used;
  a->used += (bytes + 31) / 32 * 32;
  return a->memory ? a->memory + at : NULL;
}

/* The time line's frames, if the block holds them just as they are sampled; NULL where they have to be made. */
static const float *frames_in_block(const plan *p, const sk_plan_line *line) {
  bool cubic = line->interpolation == SK_CUBIC;
  uint64_t first = 0, cell;
  uint32_t i;
  if (sk_plan_is_merged(&p->lines, line->interpolation)) return NULL;
  for (i = 0; i < line->count; i++) {
    const sk_channel *channel = &p->clip->channels[p->lines.order[line->first + i]];
    cell = cubic ? channel->in_tangents : channel->values;
    if (i == 0) first = cell;
    if (!channel->in_cells || channel->stride != sk_plan_stride(line) || cell != first + i * SK_CELL) return NULL;
    if (cubic && (channel->values != cell + line->count * SK_CELL ||
                  channel->out_tangents != channel->values + line->count * SK_CELL))
      return NULL;
  }
  return p->clip->values + first;
}

static void lay_out_line(const plan *p, arena *a, const sk_plan_line *planned, sk_time_line *line, size_t *cubic) {
  sk_time_line made = {0};
  made.interpolation = planned->interpolation;
  made.key_count = made.bucket_count = planned->key_count;
  made.cell_count = planned->count;
  made.stride = sk_plan_stride(planned);
  made.times = take(a, (planned->key_count + SK_TIMES_BEHIND) * sizeof(double));
  made.frames = frames_in_block(p, planned);
  if (!made.frames) made.frames = take(a, (planned->key_count + 1) * made.stride * sizeof(float));
  made.rotations = take(a, planned->count);
  made.buckets = take(a, planned->key_count * sizeof(uint32_t));
  if (planned->interpolation == SK_CUBIC) {
    made.scratch = *cubic;
    *cubic += (size_t)planned->count * SK_CELL;
  }
  if (line) *line = made;
}

/* The same calls first count bytes and then, with memory, place the arrays. */
static void lay_out(const plan *p, arena *a, sk_compiled *c) {
  size_t joints = (size_t)p->skeleton->joint_count;
  uint32_t i;
  take(a, sizeof *c);
  c->joint_count = p->skeleton->joint_count;
  c->line_count = p->lines.line_count;
  c->mover_count = p->mover_count;
  c->octet_count = (p->mover_count + SK_LANES - 1) / SK_LANES;
  c->weight_count = p->weight_count;
  c->node_count = p->node_count;
  c->merged = p->lines.merged;
  c->sheared_count = 0;
  c->cubic_floats = 0;
  c->lines = take(a, p->lines.line_count * sizeof *c->lines);
  c->movers = take(a, p->mover_count * sizeof *c->movers);
  c->octets = take(a, c->octet_count * sizeof *c->octets);
  c->mover_of = take(a, joints * sizeof *c->mover_of);
  c->locals = take(a, joints * 12 * sizeof *c->locals);
  c->constants = take(a, (size_t)p->mover_count * SK_COMPONENT_COUNT * SK_CELL * sizeof(float));
  c->translation = take(a, joints * 3 * sizeof(float));
  c->rotation = take(a, joints * 4 * sizeof(float));
  c->scale = take(a, joints * 3 * sizeof(float));
  c->nodes = take(a, p->node_count * sizeof *c->nodes);
  c->binds = take(a, (size_t)p->skin->slot_count * sizeof *c->binds);
  c->first_slot = take(a, joints * sizeof *c->first_slot);
  c->next_slot = take(a, (size_t)p->skin->slot_count * sizeof *c->next_slot);
  c->weights = take(a, p->weight_count * sizeof *c->weights);
  for (i = 0; i < p->lines.line_count; i++)
    lay_out_line(p, a, &p->lines.lines[i], c->lines ? &c->lines[i] : NULL, &c->cubic_floats);
}

/* ---- filling: keys ------------------------------------------------------------------------------- */

/* The value of a linear channel at a time, as the plain path computes it. */
static void value_at(const plan *p, const sk_channel *channel, double time, float *cell) {
  sk_key key = sk_clip_find_key(p->clip->times + channel->times, channel->key_count, time, 0.0);
  uint32_t width = sk_path_width((sk_path)channel->path), i;
  const float *a = sk_channel_key(p->clip->values, channel, channel->values, key.index), *b = a + channel->stride;
  if (key.fraction == 0.0 || memcmp(a, b, width * sizeof(float)) == 0) {
    memcpy(cell, a, width * sizeof(float));
  } else if (width == 4) {
    sk_quat_slerp(a, b, key.fraction, cell);
  } else {
    for (i = 0; i < width; i++) cell[i] = (float)(a[i] + key.fraction * ((double)b[i] - a[i]));
  }
}

/* Copies a linear or step channel into its column of cells. */
static void fill_column(const plan *p, const sk_channel *channel, const sk_time_line *line, float *cell) {
  uint32_t width = sk_path_width((sk_path)channel->path), k;
  bool own = line->key_count == channel->key_count &&
             memcmp(line->times, p->clip->times + channel->times, line->key_count * sizeof(double)) == 0;
  for (k = 0; k < line->key_count; k++, cell += line->stride) {
    cell[3] = 0.0f;
    if (own) memcpy(cell, sk_channel_key(p->clip->values, channel, channel->values, k), width * sizeof(float));
    else value_at(p, channel, line->times[k], cell);
  }
}

static void fill_cubic_column(const plan *p, const sk_channel *channel, const sk_time_line *line, float *cell) {
  const uint64_t arrays[3] = {channel->in_tangents, channel->values, channel->out_tangents};
  uint32_t width = sk_path_width((sk_path)channel->path), k, i;
  for (k = 0; k < line->key_count; k++, cell += line->stride)
    for (i = 0; i < 3; i++) {
      float *component = cell + (size_t)i * line->cell_count * SK_CELL;
      component[3] = 0.0f;
      memcpy(component, sk_channel_key(p->clip->values, channel, arrays[i], k), width * sizeof(float));
    }
}

static void fill_frames(const plan *p, const sk_plan_line *planned, const sk_time_line *line, float *frames) {
  uint32_t i;
  for (i = 0; i < planned->count; i++) {
    const sk_channel *channel = &p->clip->channels[p->lines.order[planned->first + i]];
    (line->interpolation == SK_CUBIC ? fill_cubic_column : fill_column)(p, channel, line, frames + i * SK_CELL);
  }
  memcpy(frames + line->key_count * line->stride, frames + (line->key_count - 1) * line->stride,
         line->stride * sizeof(float));
}

static double dot4(const float *a, const float *b) {
  return (double)a[0] * b[0] + (double)a[1] * b[1] + (double)a[2] * b[2] + (double)a[3] * b[3];
}

/* The smallest dot product of neighboring rotations in one column of cells of a linear time line. */
static double nearest_of(const sk_time_line *line, const float *cell) {
  double nearest = 1.0;
  uint32_t k;
  for (k = 1; k < line->key_count; k++, cell += line->stride) {
    double cosine = fabs(dot4(cell + line->stride, cell));
    if (cosine < nearest) nearest = cosine; /* with fmin, GCC 12 for 64-bit ARM ends in an internal error */
  }
  return nearest;
}

#define MAX_IN_BUCKET 8           /* keys of a bucket: the search compares them one after another */
#define BUCKET_MARGIN 1e-6        /* of a bucket: what rounding may take from the product that finds it */
#define MAX_OFFSET    0x7FFFFFFFu /* floats: the largest signed 32-bit offset */

static void fill_buckets(sk_time_line *line, uint32_t *buckets) {
  double first = line->times[0], length = line->times[line->key_count - 1] - first;
  uint32_t b, key = 0, before = 0;
  line->bucket_scale = length > 0.0 ? line->bucket_count / length : 0.0;
  if (!isfinite(line->bucket_scale)) line->bucket_scale = 0.0;
  line->even = (line->key_count + 1) * (double)line->stride < MAX_OFFSET && line->bucket_scale > 0.0;
  for (b = 0; b < line->bucket_count; b++) {
    double start = first + length * (b - BUCKET_MARGIN) / line->bucket_count;
    while (key + 1 < line->key_count && line->times[key + 1] <= start) key++;
    line->even = line->even && key - before <= MAX_IN_BUCKET;
    before = buckets[b] = key;
  }
  line->even = line->even && line->key_count - 1 - key <= MAX_IN_BUCKET;
}

static void fill_line(const plan *p, sk_compiled *c, uint32_t number) {
  const sk_plan_line *planned = &p->lines.lines[number];
  sk_time_line *line = &c->lines[number];
  uint8_t *rotations = (uint8_t *)line->rotations; /* the arrays may be written until sk_compile returns */
  uint32_t i;
  memcpy((double *)line->times, planned->times, line->key_count * sizeof(double));
  for (i = 0; i < SK_TIMES_BEHIND; i++) ((double *)line->times)[line->key_count + i] = INFINITY;
  fill_buckets(line, (uint32_t *)line->buckets);
  if (!frames_in_block(p, planned)) fill_frames(p, planned, line, (float *)line->frames);
  for (i = 0; i < planned->count; i++) {
    const sk_channel *channel = &p->clip->channels[p->lines.order[planned->first + i]];
    sk_mover *mover = &c->movers[c->mover_of[channel->joint]];
    double dot = 1.0;
    mover->lines[channel->path] = number;
    mover->offsets[channel->path] = i * SK_CELL;
    rotations[i] = channel->path == SK_PATH_ROTATION;
    line->has_rotations = line->has_rotations || rotations[i];
    if (rotations[i] && line->interpolation == SK_LINEAR) dot = nearest_of(line, line->frames + i * SK_CELL);
    mover->wide |= dot < WIDE_DOT;
    mover->half_turn |= dot < HALF_TURN_DOT;
  }
}

/* ---- filling: what does not move --------------------------------------------------------------------- */

static void fill_pose(const plan *p, sk_compiled *c) {
  size_t joints = (size_t)c->joint_count, j;
  float *values[SK_COMPONENT_COUNT] = {c->translation, c->rotation, c->scale};
  int component;
  sk_pose_start(p->skeleton, p->clip->additive, (sk_pose){c->translation, c->rotation, c->scale, NULL});
  for (j = 0; j < joints; j++)
    for (component = 0; component < SK_COMPONENT_COUNT; component++) {
      int32_t still = p->still_of[j * SK_COMPONENT_COUNT + (size_t)component];
      uint32_t width = sk_path_width((sk_path)component);
      const sk_channel *channel;
      double q[4];
      int i;
      if (still == SK_NONE) continue;
      channel = &p->clip->channels[still];
      memcpy(values[component] + j * width, values_of(p, channel), width * sizeof(float));
      if (component != SK_COMPONENT_ROTATION || channel->interpolation != SK_CUBIC) continue;
      for (i = 0; i < 4; i++) q[i] = values_of(p, channel)[i];
      sk_quat_normalize(q, values[component] + 4 * j);
    }
}

static void fill_mover(const plan *p, sk_compiled *c, size_t j, int32_t number) {
  const int32_t *channels = p->channel_of + j * SK_COMPONENT_COUNT;
  float *cells = c->constants + (size_t)number * SK_COMPONENT_COUNT * SK_CELL;
  sk_mover *mover = &c->movers[number];
  c->mover_of[j] = number;
  memset(mover, 0, sizeof *mover);
  mover->joint = (int32_t)j;
  mover->sheared = !rest_is_plain(p->skeleton, j);
  c->sheared_count += mover->sheared;
  mover->lines[0] = mover->lines[1] = mover->lines[2] = SK_STILL;
  mover->unit_scale = channels[SK_COMPONENT_SCALE] == SK_NONE && c->scale[3 * j] == 1.0f &&
                      c->scale[3 * j + 1] == 1.0f && c->scale[3 * j + 2] == 1.0f;
  memset(cells, 0, SK_COMPONENT_COUNT * SK_CELL * sizeof(float));
  memcpy(cells, c->translation + 3 * j, 3 * sizeof(float));
  memcpy(cells + SK_CELL, c->rotation + 4 * j, 4 * sizeof(float));
  memcpy(cells + 2 * SK_CELL, c->scale + 3 * j, 3 * sizeof(float));
}

static void fill_movers(const plan *p, sk_compiled *c) {
  sk_pose pose = {c->translation, c->rotation, c->scale, NULL};
  size_t joints = (size_t)c->joint_count, j;
  int32_t number = 0, active, only_rotation;
  for (j = 0; j < joints; j++) {
    c->mover_of[j] = SK_NONE;
    sk_pose_local(p->skeleton, pose, j, c->locals + 12 * j);
  }
  for (active = 1; active >= 0; active--) { /* movers that are nodes come first */
    for (only_rotation = 0; only_rotation < 2; only_rotation++) /* joints that only rotate fill octets of their own */
      for (j = 0; j < joints; j++)
        if (joint_moves(p, j) && (p->node_of[j] != SK_NONE) == active && only_rotates(p, j) == only_rotation)
          fill_mover(p, c, j, number++);
    if (active) c->active_count = (uint32_t)number;
  }
}

static void fill_octet(sk_compiled *c, uint32_t number) {
  sk_octet *octet = &c->octets[number];
  uint32_t lane;
  int component, i;
  memset(octet, 0, sizeof *octet);
  for (lane = 0; lane < SK_LANES; lane++) {
    uint32_t m = number * SK_LANES + lane < c->mover_count ? number * SK_LANES + lane : c->mover_count - 1;
    const sk_mover *mover = &c->movers[m];
    octet->wide |= mover->wide;
    octet->half_turn |= mover->half_turn;
    octet->near_rotation[lane] = mover->wide ? 0 : -1;
    for (component = 0; component < SK_COMPONENT_COUNT; component++) {
      uint32_t cell = (m * SK_COMPONENT_COUNT + (uint32_t)component) * SK_CELL;
      bool still = mover->lines[component] == SK_STILL;
      octet->moves[component] |= !still;
      octet->still[component][lane] = still ? -1 : 0;
      octet->lines[component][lane] = still ? 0 : mover->lines[component];
      octet->offsets[component][lane] = still ? 0 : mover->offsets[component];
      for (i = 0; i < SK_CELL; i++) octet->constants[component][i][lane] = c->constants[cell + (uint32_t)i];
    }
  }
}

/* The products of the locals of joints that do not move, from below their driver down to each. */
static void fill_chains(const plan *p, const sk_compiled *c) {
  int32_t j;
  for (j = 0; j < c->joint_count; j++) {
    double *chain = p->chains + 12 * (size_t)j;
    if (p->driver[j] == j) memcpy(chain, sk_affine_identity, sizeof sk_affine_identity);
    else sk_affine_multiply(p->chains + 12 * (size_t)p->skeleton->parents[j], c->locals + 12 * (size_t)j, chain);
  }
}

/* The number of nodes of the longest chain. */
static int32_t deepest_node(const plan *p, const sk_compiled *c) {
  int32_t deepest = 0;
  uint32_t i;
  for (i = 0; i < c->node_count; i++) {
    int32_t parent = c->nodes[i].parent;
    p->depths[i] = parent == SK_NONE ? 1 : p->depths[parent] + 1;
    if (p->depths[i] > deepest) deepest = p->depths[i];
  }
  return deepest;
}

static int32_t deepest_joint(const plan *p) {
  int32_t deepest = 0, j;
  for (j = 0; j < p->skeleton->joint_count; j++) {
    int32_t parent = p->skeleton->parents[j];
    p->depths[j] = parent < 0 ? 1 : p->depths[parent] + 1;
    if (p->depths[j] > deepest) deepest = p->depths[j];
  }
  return deepest;
}

#define MAX_STRETCH 8.0 /* of an inverse bind: a product in float loses up to so many times its rounding */

static double largest_of(const double affine[12]) {
  double largest = 0.0;
  int i;
  for (i = 0; i < 12; i++)
    if (i % 4 != 3) largest = fmax(largest, fabs(affine[i]));
  return largest;
}

static bool binds_are_even(const plan *p) {
  int32_t s;
  for (s = 0; s < p->skin->slot_count; s++) {
    double bind[12], inverse[12];
    sk_affine_from_mat4(p->skin->inverse_bind + 16 * (size_t)s, bind);
    if (!sk_affine_inverse(bind, inverse) || !(largest_of(bind) * largest_of(inverse) <= MAX_STRETCH)) return false;
  }
  return true;
}

static void choose_precision(const plan *p, sk_compiled *c) {
  int32_t nodes = deepest_node(p, c);
  bool even = binds_are_even(p);
  c->depth = deepest_joint(p);
  c->precise = !even                    ? SK_PRECISE_BINDS
               : nodes > SK_LOCAL_DEPTH ? SK_PRECISE_LOCALS
               : nodes > SK_FLOAT_DEPTH ? SK_PRECISE_CHAINS
                                        : SK_PRECISE_NOTHING;
  c->blends_in_float = even && c->depth <= SK_BLEND_DEPTH;
  c->blends_all_in_float = even && c->depth <= SK_FLOAT_DEPTH;
}

static void fill_bind(const plan *p, int32_t slot, sk_bind *bind) {
  double rows[12];
  sk_affine_from_mat4(p->skin->inverse_bind + 16 * (size_t)slot, rows);
  sk_affine_multiply(p->chains + 12 * (size_t)p->skin->joints[slot], rows, rows);
  sk_affine_to_rows(rows, bind->rows);
  bind->slot = slot;
}

static void fill_nodes(const plan *p, sk_compiled *c) {
  uint32_t end = 0;
  int32_t s, j;
  fill_chains(p, c);
  for (j = 0; j < c->joint_count; j++) {
    int32_t above = p->skeleton->parents[j], parent = above < 0 ? SK_NONE : p->node_of[above];
    if (p->node_of[j] == SK_NONE) continue;
    c->nodes[p->node_of[j]] = (sk_node){j, parent, c->mover_of[j], 0, 0, false};
    if (parent != SK_NONE) c->nodes[parent].carries = true;
  }
  choose_precision(p, c);
  for (s = 0; s < p->skin->slot_count; s++) c->nodes[p->node_of[p->driver[p->skin->joints[s]]]].count++;
  for (j = 0; j < (int32_t)c->node_count; j++) {
    c->nodes[j].first = end;
    end += c->nodes[j].count;
    c->nodes[j].count = 0;
  }
  for (s = 0; s < p->skin->slot_count; s++) {
    sk_node *node = &c->nodes[p->node_of[p->driver[p->skin->joints[s]]]];
    fill_bind(p, s, &c->binds[node->first + node->count++]);
  }
}

static void fill_slots(const plan *p, sk_compiled *c) {
  int32_t j, s;
  for (j = 0; j < c->joint_count; j++) c->first_slot[j] = SK_NONE;
  for (s = p->skin->slot_count - 1; s >= 0; s--) {
    c->next_slot[s] = c->first_slot[p->skin->joints[s]];
    c->first_slot[p->skin->joints[s]] = s;
  }
}

/* In debug builds: kernels follow these numbers without looking, so each must be in its range. */
static void check_compiled(const plan *p, const sk_compiled *c) {
#ifdef SK_DEBUG
  uint32_t i, binds = 0;
  int component;
  for (i = 0; i < c->mover_count; i++)
    for (component = 0; component < SK_COMPONENT_COUNT; component++) {
      uint32_t line = c->movers[i].lines[component];
      SK_ASSERT(line == SK_STILL || line < c->line_count);
      SK_ASSERT(line == SK_STILL || c->movers[i].offsets[component] < c->lines[line].stride);
    }
  for (i = 0; i < c->node_count; i++) {
    SK_ASSERT(c->nodes[i].parent < (int32_t)i && c->nodes[i].mover < (int32_t)c->active_count);
    SK_ASSERT(c->nodes[i].first == binds);
    binds += c->nodes[i].count;
  }
  SK_ASSERT(binds == (uint32_t)p->skin->slot_count);
#else
  (void)p, (void)c;
#endif
}

static sk_compiled *build(const plan *p) {
  sk_compiled counted, *c;
  arena a = {NULL, 0};
  uint32_t i, weights = 0;
  lay_out(p, &a, &counted);
  c = sk_alloc(a.used);
  if (!c) return NULL;
  a = (arena){(char *)c, 0};
  lay_out(p, &a, c);
  c->bytes = a.used;
  fill_pose(p, c);
  fill_movers(p, c);
  for (i = 0; i < c->line_count; i++) fill_line(p, c, i);
  for (i = 0; i < c->octet_count; i++) fill_octet(c, i);
  fill_nodes(p, c);
  fill_slots(p, c);
  for (i = 0; i < p->clip->channel_count; i++)
    if (p->clip->channels[i].path == SK_PATH_WEIGHT) c->weights[weights++] = i;
  check_compiled(p, c);
  return c;
}

sk_compiled *sk_compile(const sk_clip *clip, const sk_skeleton *skeleton, const sk_skin *skin, bool *lacks_memory) {
  plan p = {.clip = clip, .skeleton = skeleton, .skin = skin};
  sk_compiled *compiled = make_plan(&p) ? build(&p) : NULL;
  if (lacks_memory) *lacks_memory = !compiled && !p.inexact;
  sk_plan_free(&p.lines);
  sk_free(p.memory);
  return compiled;
}
