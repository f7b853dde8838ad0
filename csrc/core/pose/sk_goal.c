/* sk_goal.c: see sk_goal.h. Everything is computed in double; quaternions are x y z w and of length 1. */
#include "sk_goal.h"

#include <math.h>
#include <string.h>

#include "../base/sk_math.h"

#define PI       3.14159265358979323846
#define STRAIGHT 1e-5 /* sine of a bend below which its plane is rounding noise of float rotations */
#define LINE     1e-9 /* the same for directions in double */

/* ---- vectors and quaternions ----------------------------------------------------------- */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static double norm(const double a[3]) { return sqrt(dot(a, a)); }

static void cross(const double a[3], const double b[3], double out[3]) {
  double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  out[0] = x, out[1] = y, out[2] = z;
}

/* a + factor * b; out may be a or b. */
static void add(const double a[3], double factor, const double b[3], double out[3]) {
  int i;
  for (i = 0; i < 3; i++) out[i] = a[i] + factor * b[i];
}

static void multiply(double factor, const double a[3], double out[3]) {
  int i;
  for (i = 0; i < 3; i++) out[i] = factor * a[i];
}

/* a / |a|; false, with nothing written, where |a| <= least. */
static bool normalize(const double a[3], double least, double out[3]) {
  double length = norm(a);
  if (!(length > least)) return false;
  multiply(1.0 / length, a, out);
  return true;
}

/* The part of `a` that is perpendicular to the unit vector `line`. */
static void reject(const double a[3], const double line[3], double out[3]) { add(a, -dot(a, line), line, out); }

/* Some unit vector that is perpendicular to the unit vector `a`. */
static void perpendicular(const double a[3], double out[3]) {
  double x = fabs(a[0]), y = fabs(a[1]), z = fabs(a[2]);
  double axis[3] = {x <= y && x <= z, y < x && y <= z, z < x && z < y};
  cross(a, axis, out);
  normalize(out, 0.0, out);
}

/* out = a * b, which rotates by b first; out may be a or b. */
static void quat_product(const double a[4], const double b[4], double out[4]) {
  double q[4] = {
      a[3] * b[0] + b[3] * a[0] + a[1] * b[2] - a[2] * b[1], a[3] * b[1] + b[3] * a[1] + a[2] * b[0] - a[0] * b[2],
      a[3] * b[2] + b[3] * a[2] + a[0] * b[1] - a[1] * b[0], a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
  memcpy(out, q, sizeof q);
}

static void quat_rotate(const double q[4], const double v[3], double out[3]) {
  double once[3], twice[3];
  cross(q, v, once);
  add(once, q[3], v, once);
  cross(q, once, twice);
  add(v, 2.0, twice, out);
}

static void quat_about(const double axis[3], double angle, double out[4]) {
  multiply(sin(0.5 * angle), axis, out);
  out[3] = cos(0.5 * angle);
}

static void quat_load(const float q[4], double out[4]) {
  double length = sqrt((double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3]);
  int i;
  for (i = 0; i < 4; i++) out[i] = length > 0.0 ? q[i] / length : i == 3;
}

/* The shortest rotation from one direction to another; between opposite directions that is 180 degrees about `half`, a
   unit vector perpendicular to them. The identity where a direction is zero. */
static void quat_between(const double from[3], const double to[3], const double half[3], double out[4]) {
  double a[3], b[3], sum[3];
  if (!normalize(from, 0.0, a) || !normalize(to, 0.0, b)) {
    quat_about(half, 0.0, out);
    return;
  }
  add(a, 1.0, b, sum);
  out[3] = 0.5 * dot(sum, sum); /* 1 + cos(angle); the cross product's length is sin(angle) */
  if (out[3] < 1e-14) {
    quat_about(half, PI, out);
    return;
  }
  cross(a, b, out);
  multiply(1.0 / sqrt(2.0 * out[3]), out, out);
  out[3] = sqrt(0.5 * out[3]);
}

/* Rotates q further, about the line, so that `from` comes to the side of the line on which `to` lies. */
static void quat_twist(const double line[3], const double from[3], const double to[3], double q[4]) {
  double axis[3], a[3], b[3], normal[3], rotation[4];
  if (!normalize(line, 0.0, axis)) return;
  reject(from, axis, a);
  reject(to, axis, b);
  if (!(norm(a) > LINE * norm(from)) || !(norm(b) > LINE * norm(to))) return;
  cross(a, b, normal);
  quat_about(axis, atan2(dot(axis, normal), dot(a, b)), rotation);
  quat_product(rotation, q, q);
}

/* ---- affine maps ------------------------------------------------------------------------- */

static void map_vector(const double m[12], const double v[3], double out[3]) {
  double x = dot(m, v), y = dot(m + 4, v), z = dot(m + 8, v);
  out[0] = x, out[1] = y, out[2] = z;
}

static void map_point(const double m[12], const double p[3], double out[3]) {
  const double origin[3] = {m[3], m[7], m[11]};
  map_vector(m, p, out);
  add(out, 1.0, origin, out);
}

static void identity(double out[12]) {
  int i;
  for (i = 0; i < 12; i++) out[i] = i % 5 == 0;
}

static void load3(const float *v, size_t joint, double out[3]) {
  int i;
  for (i = 0; i < 3; i++) out[i] = v[3 * joint + (size_t)i];
}

static void scale_by(const float *scale, size_t joint, double v[3]) {
  int i;
  for (i = 0; i < 3; i++) v[i] *= scale[3 * joint + (size_t)i];
}

/* out = product of the locals of the joints above `joint`, up to but without `top`; with SK_NONE, of all of them. */
static void above(const sk_skeleton *skeleton, sk_pose pose, int32_t joint, int32_t top, double out[12]) {
  double local[12];
  identity(out);
  for (joint = skeleton->parents[joint]; joint != top; joint = skeleton->parents[joint]) {
    sk_pose_local(skeleton, pose, (size_t)joint, local);
    sk_affine_multiply(local, out, out);
  }
}

/* ---- what all goals share --------------------------------------------------------------------- */

static sk_pose goal_pose(const sk_goal *goal, size_t n) {
  return sk_pose_at(goal->poses, n, (size_t)goal->skeleton->joint_count, 0);
}

/* The map from scene space to the space of the parent of `joint`; false where the parent's global has no inverse. */
static bool goal_to_parent(const sk_goal *goal, size_t n, int32_t joint, double out[12]) {
  double global[12], front[12];
  above(goal->skeleton, goal_pose(goal, n), joint, SK_NONE, global);
  if (goal->root) {
    sk_affine_from_mat4(goal->root + n * goal->root_stride, front);
    sk_affine_multiply(front, global, global);
  }
  return sk_affine_inverse(global, out);
}

/* The vector from the joint, which is at `at`, to a point of scene space; in the space of the joint's parent. */
static void goal_seen_from(const double to_parent[12], const double point[3], const double at[3], double out[3]) {
  map_point(to_parent, point, out);
  add(out, -1.0, at, out);
}

/* Moves the joint's rotation towards q, as far as the weight of pose n says. */
static void goal_write(const sk_goal *goal, size_t n, int32_t joint, const double q[4]) {
  float *rotation = goal_pose(goal, n).rotation + 4 * (size_t)joint;
  double weight = goal->weights[n], before[4], mixed[4], sign;
  int i;
  if (weight == 0.0) return;
  quat_load(rotation, before);
  sign = dot(before, q) + before[3] * q[3] < 0.0 ? -1.0 : 1.0; /* q and -q are the same rotation */
  for (i = 0; i < 4; i++) mixed[i] = (1.0 - weight) * before[i] + weight * sign * q[i];
  sk_quat_normalize(mixed, rotation);
}

static sk_status check_points(const char *name, const double *points, size_t count, sk_error *error) {
  size_t i;
  for (i = 0; points && i < 3 * count; i++)
    if (!isfinite(points[i])) return sk_fail(error, SK_ERROR_ARGUMENT, "%s %zu is not finite", name, i / 3);
  return SK_OK;
}

static sk_status goal_validate(const sk_goal *goal, sk_error *error) {
  size_t n;
  if (check_points("target", goal->targets, goal->count, error) ||
      check_points("pole", goal->poles, goal->count, error))
    return SK_ERROR_ARGUMENT;
  for (n = 0; n < goal->count; n++)
    if (!(goal->weights[n] >= 0.0 && goal->weights[n] <= 1.0))
      return sk_fail(error, SK_ERROR_ARGUMENT, "weight %zu is %g; expected 0 to 1", n, goal->weights[n]);
  return SK_OK;
}

static sk_status check_joint(const sk_skeleton *skeleton, int32_t joint, sk_error *error) {
  if (joint >= 0 && joint < skeleton->joint_count) return SK_OK;
  return sk_fail(error, SK_ERROR_ARGUMENT, "joint is %d; the skeleton has %d joints", (int)joint,
                 (int)skeleton->joint_count);
}

/* Checks both joints, and that `top` is an ancestor of `joint`. */
static sk_status check_above(const sk_skeleton *skeleton, int32_t top, int32_t joint, sk_error *error) {
  int32_t j = joint;
  if (check_joint(skeleton, top, error) || check_joint(skeleton, joint, error)) return SK_ERROR_ARGUMENT;
  while (j > top) j = skeleton->parents[j]; /* parents have the smaller indices */
  if (j == top && joint != top) return SK_OK;
  return sk_fail(error, SK_ERROR_ARGUMENT, "joint %d is not an ancestor of joint %d", (int)top, (int)joint);
}

/* ---- two-bone inverse kinematics ------------------------------------------------------------- */

/* A limb in the space of the root's parent. From the root to the end it is R * K * (t + e), where R is the root's
   rotation, K the root's scale and the locals between root and middle joint, t the middle joint's translation, and e,
   the lower link, the middle joint's rotation applied to the way from it to the end.

       root --(upper)-- middle
                            \ bend
                             \ (lower)
                              end

   Before K is applied, the lower link at a bend is  lower * (cos bend * along + sin bend * side). */
typedef struct limb {
  double root[4], middle[4];        /* rotations, solved in place */
  double linear[12], inverse[12];   /* K, and its inverse */
  double target[3], pole[3];        /* from the root joint */
  bool has_pole;
  double upper[3], lower[3];        /* links, before K */
  double along[3], side[3];         /* perpendicular unit vectors: the plane of the bend */
  double a[3], b[3], c[3];          /* root to end = a + cos bend * b + sin bend * c */
} limb;

/* False where a scale of 0 leaves no inverse. */
static bool limb_open(const sk_two_bone_job *job, size_t n, limb *limb) {
  const sk_goal *goal = &job->goal;
  sk_pose pose = goal_pose(goal, n);
  size_t root = (size_t)job->root, middle = (size_t)job->middle;
  double to_parent[12], between[12], at[3], origin[3];
  int row;
  if (!goal_to_parent(goal, n, job->root, to_parent)) return false;
  above(goal->skeleton, pose, job->middle, job->root, limb->linear);
  for (row = 0; row < 12; row++) limb->linear[row] *= pose.scale[3 * root + (size_t)(row / 4)];
  if (!sk_affine_inverse(limb->linear, limb->inverse)) return false;
  load3(pose.translation, root, at);
  goal_seen_from(to_parent, goal->targets + 3 * n, at, limb->target);
  limb->has_pole = goal->poles != NULL;
  if (limb->has_pole) goal_seen_from(to_parent, goal->poles + 3 * n, at, limb->pole);
  quat_load(pose.rotation + 4 * root, limb->root);
  quat_load(pose.rotation + 4 * middle, limb->middle);
  load3(pose.translation, middle, limb->upper);
  origin[0] = limb->inverse[3], origin[1] = limb->inverse[7], origin[2] = limb->inverse[11];
  add(limb->upper, -1.0, origin, limb->upper);
  load3(pose.translation, (size_t)job->end, limb->lower);
  above(goal->skeleton, pose, job->end, job->middle, between);
  map_point(between, limb->lower, limb->lower);
  scale_by(pose.scale, middle, limb->lower);
  quat_rotate(limb->middle, limb->lower, limb->lower);
  return true;
}

/* Finds the plane in which the limb bends. A straight limb gets one that contains the pole, if there is one. */
static void limb_find_plane(limb *limb) {
  double lower = norm(limb->lower), back[4] = {-limb->root[0], -limb->root[1], -limb->root[2], limb->root[3]};
  double pole[3], rejected[3];
  if (!normalize(limb->upper, 0.0, limb->along) && !normalize(limb->lower, 0.0, limb->along))
    limb->along[0] = 1.0, limb->along[1] = limb->along[2] = 0.0;
  reject(limb->lower, limb->along, limb->side);
  if (!normalize(limb->side, STRAIGHT * lower, limb->side)) {
    perpendicular(limb->along, limb->side);
    if (limb->has_pole) {
      quat_rotate(back, limb->pole, pole);
      map_vector(limb->inverse, pole, pole);
      multiply(-1.0, pole, pole);
      reject(pole, limb->along, rejected);
      normalize(rejected, LINE * norm(pole), limb->side);
    }
  }
  multiply(norm(limb->upper), limb->along, limb->a);
  multiply(lower, limb->along, limb->b);
  multiply(lower, limb->side, limb->c);
  map_vector(limb->linear, limb->a, limb->a);
  map_vector(limb->linear, limb->b, limb->b);
  map_vector(limb->linear, limb->c, limb->c);
}

/* The vector from the root to the end at a bend; returns its length. */
static double limb_at(const limb *limb, double bend, double out[3]) {
  add(limb->a, cos(bend), limb->b, out);
  add(out, sin(bend), limb->c, out);
  return norm(out);
}

#define STEPS 64 /* samples from 0 to pi; also halvings of a step, after which it is below the precision of double */

/* The bend at which the limb is longest (sign 1) or shortest (sign -1) under non-uniform scale: the best of STEPS
   samples, then a ternary search around it. */
static double limb_extreme(const limb *limb, double sign) {
  double best = 0.0, longest = -INFINITY, low, high, end[3];
  int i;
  for (i = 0; i <= STEPS; i++) {
    double bend = PI * i / STEPS, length = sign * limb_at(limb, bend, end);
    if (length > longest) longest = length, best = bend;
  }
  low = fmax(best - PI / STEPS, 0.0);
  high = fmin(best + PI / STEPS, PI);
  for (i = 0; i < STEPS; i++) {
    double left = low + (high - low) / 3.0, right = high - (high - low) / 3.0;
    if (sign * limb_at(limb, left, end) < sign * limb_at(limb, right, end)) low = left;
    else high = right;
  }
  return sign * limb_at(limb, low, end) > longest ? low : best;
}

static bool limb_is_even(const limb *limb) {
  double b = dot(limb->b, limb->b), c = dot(limb->c, limb->c);
  return fabs(b - c) <= 1e-12 * b && fabs(dot(limb->b, limb->c)) <= 1e-12 * b;
}

/* Beyond a fraction of the longest distance the softened one approaches the longest without reaching it. */
static double soften(double distance, double longest, double fraction) {
  double start = fraction * longest, rest = longest - start;
  if (distance <= start || rest <= 0.0) return distance;
  return start + rest * (1.0 - exp((start - distance) / rest));
}

/* The bend at which the end is as far from the root as the target is, or as near to that as the limb allows. */
static double limb_bend(const limb *limb, double fraction, double *longest) {
  double a = norm(limb->a), b = norm(limb->b), distance = norm(limb->target), low, high, end[3];
  int i;
  if (limb_is_even(limb)) { /* the law of cosines */
    *longest = a + b;
    distance = soften(distance, *longest, fraction);
    if (!(a * b > 0.0)) return 0.0;
    return acos(fmin(fmax((distance * distance - a * a - b * b) / (2.0 * a * b), -1.0), 1.0));
  }
  low = limb_extreme(limb, -1.0);
  high = limb_extreme(limb, 1.0);
  *longest = limb_at(limb, high, end);
  distance = soften(distance, *longest, fraction);
  for (i = 0; i < STEPS; i++) {
    double half = 0.5 * (low + high);
    if (limb_at(limb, half, end) < distance) low = half;
    else high = half;
  }
  return distance < *longest ? low : high;
}

static double limb_solve(limb *limb, double fraction) {
  double hinge[3], normal[3], end[3], from[3], rotation[4], longest, bend, miss;
  limb_find_plane(limb);
  bend = limb_bend(limb, fraction, &longest);
  miss = fabs(limb_at(limb, bend, end) - norm(limb->target));
  cross(limb->along, limb->side, hinge);
  quat_between(limb->lower, limb->along, hinge, rotation); /* straight first, then bent */
  quat_product(rotation, limb->middle, limb->middle);
  quat_about(hinge, bend, rotation);
  quat_product(rotation, limb->middle, limb->middle);

  map_vector(limb->linear, limb->along, from);
  map_vector(limb->linear, limb->side, normal);
  cross(from, normal, normal); /* of the plane of the bent limb, in the root joint's space */
  normalize(normal, 0.0, normal);
  quat_rotate(limb->root, normal, hinge);
  quat_rotate(limb->root, end, from);
  quat_between(from, limb->target, hinge, rotation);
  quat_product(rotation, limb->root, limb->root);
  if (limb->has_pole) {
    cross(end, normal, from); /* towards the middle joint's side of the line; never 0, even on a straight limb */
    quat_rotate(limb->root, from, from);
    quat_twist(limb->target, from, limb->pole, limb->root);
  }
  return miss == 0.0 ? 0.0 : miss / longest;
}

sk_status sk_two_bone_validate(const sk_two_bone_job *job, sk_error *error) {
  if (check_above(job->goal.skeleton, job->root, job->middle, error) ||
      check_above(job->goal.skeleton, job->middle, job->end, error))
    return SK_ERROR_ARGUMENT;
  if (!(job->soften > 0.0 && job->soften <= 1.0))
    return sk_fail(error, SK_ERROR_ARGUMENT, "soften is %g; expected more than 0 and at most 1", job->soften);
  return goal_validate(&job->goal, error);
}

void sk_two_bone_run(const sk_two_bone_job *job) {
  size_t n;
  for (n = 0; n < job->goal.count; n++) {
    limb limb;
    job->goal.misses[n] = INFINITY;
    if (!limb_open(job, n, &limb)) continue;
    job->goal.misses[n] = limb_solve(&limb, job->soften);
    goal_write(&job->goal, n, job->root, limb.root);
    goal_write(&job->goal, n, job->middle, limb.middle);
  }
}

/* ---- aim --------------------------------------------------------------------------------------- */

#define ON_THE_JOINT \
  1e-7 /* relative to the joint's distance from its parent: nearer, float does not give a direction */

static bool aim(const sk_aim_job *job, size_t n, double q[4]) {
  sk_pose pose = goal_pose(&job->goal, n);
  size_t joint = (size_t)job->joint;
  double to_parent[12], at[3], target[3], pole[3], axis[3], up[3], half[3], rotation[4];
  if (!goal_to_parent(&job->goal, n, job->joint, to_parent)) return false;
  load3(pose.translation, joint, at);
  goal_seen_from(to_parent, job->goal.targets + 3 * n, at, target);
  memcpy(axis, job->axis, sizeof axis);
  memcpy(up, job->up, sizeof up);
  scale_by(pose.scale, joint, axis);
  scale_by(pose.scale, joint, up);
  quat_load(pose.rotation + 4 * joint, q);
  quat_rotate(q, axis, axis);
  if (!(norm(target) > ON_THE_JOINT * norm(at)) || !normalize(axis, 0.0, axis)) return false;
  perpendicular(axis, half);
  quat_between(axis, target, half, rotation);
  quat_product(rotation, q, q);
  if (job->goal.poles) {
    goal_seen_from(to_parent, job->goal.poles + 3 * n, at, pole);
    quat_rotate(q, up, up);
    quat_twist(target, up, pole, q);
  }
  return true;
}

sk_status sk_aim_validate(const sk_aim_job *job, sk_error *error) {
  if (check_joint(job->goal.skeleton, job->joint, error) || check_points("axis", job->axis, 1, error) ||
      check_points("up", job->up, 1, error))
    return SK_ERROR_ARGUMENT;
  return goal_validate(&job->goal, error);
}

void sk_aim_run(const sk_aim_job *job) {
  size_t n;
  for (n = 0; n < job->goal.count; n++) {
    double q[4];
    bool done = aim(job, n, q);
    job->goal.misses[n] = done ? 0.0 : INFINITY;
    if (done) goal_write(&job->goal, n, job->joint, q);
  }
}

/* ---- FABRIK -------------------------------------------------------------------------------------- */

/* One joint of the chain, in the space of the parent of the chain's first joint. */
typedef struct link {
  double position[3];
  double length;      /* to the next joint */
  double rotation[4]; /* local, solved in place */
  int32_t joint;
} link;

typedef struct chain {
  link *links;
  size_t count;
  sk_pose pose;
  double target[3];
  double length; /* of all links */
} chain;

/* global = global * T * R * S of the link. */
static void link_step(const chain *chain, const link *link, double global[12]) {
  size_t joint = (size_t)link->joint;
  double local[12];
  int column, row;
  for (column = 0; column < 3; column++) {
    double axis[3] = {column == 0, column == 1, column == 2};
    scale_by(chain->pose.scale, joint, axis);
    quat_rotate(link->rotation, axis, axis);
    for (row = 0; row < 3; row++) local[4 * row + column] = axis[row];
  }
  for (row = 0; row < 3; row++) local[4 * row + 3] = chain->pose.translation[3 * joint + (size_t)row];
  sk_affine_multiply(global, local, global);
}

/* Positions and lengths that follow from the rotations. */
static void chain_measure(chain *chain) {
  double global[12], step[3];
  size_t i;
  identity(global);
  chain->length = 0.0;
  for (i = 0; i < chain->count; i++) {
    link *link = chain->links + i;
    link_step(chain, link, global);
    link->position[0] = global[3], link->position[1] = global[7], link->position[2] = global[11];
    if (i == 0) continue;
    add(link->position, -1.0, link[-1].position, step);
    link[-1].length = norm(step);
    chain->length += link[-1].length;
  }
}

static double chain_miss(const chain *chain) {
  double step[3];
  add(chain->links[chain->count - 1].position, -1.0, chain->target, step);
  return norm(step);
}

/* Moves `position` to the distance `length` from `fixed`, on the line between them. */
static void pull(const double fixed[3], double length, double position[3]) {
  double step[3];
  add(position, -1.0, fixed, step);
  if (normalize(step, 0.0, step)) add(fixed, length, step, position);
  else memcpy(position, fixed, sizeof step);
}

/* Bends a chain that lies on one line with its target a little: FABRIK would stay on that line forever. */
static void chain_bow(chain *chain) {
  link *links = chain->links;
  double line[3], step[3], side[3], rejected[3];
  size_t i;
  add(chain->target, -1.0, links[0].position, line);
  if (!normalize(line, LINE * chain->length, line)) {
    add(links[1].position, -1.0, links[0].position, line);
    if (!normalize(line, 0.0, line)) return;
  }
  for (i = 1; i < chain->count; i++) {
    add(links[i].position, -1.0, links[0].position, step);
    reject(step, line, rejected);
    if (norm(rejected) > STRAIGHT * chain->length) return;
  }
  perpendicular(line, side);
  for (i = 1; i + 1 < chain->count; i++) add(links[i].position, 0.1 * chain->length, side, links[i].position);
}

/* Finds new positions for the joints; returns the number of iterations that are left. */
static int32_t chain_reach(chain *chain, int32_t iterations, double tolerance) {
  link *links = chain->links;
  size_t last = chain->count - 1, i;
  double root[3], step[3];
  memcpy(root, links[0].position, sizeof root);
  add(chain->target, -1.0, root, step);
  if (norm(step) >= chain->length) { /* out of reach: the chain points straight to the target */
    for (i = 1; i <= last; i++) {
      memcpy(links[i].position, chain->target, sizeof root);
      pull(links[i - 1].position, links[i - 1].length, links[i].position);
    }
    return iterations - 1;
  }
  chain_bow(chain);
  while (iterations > 0 && chain_miss(chain) > tolerance * chain->length) {
    memcpy(links[last].position, chain->target, sizeof root);
    for (i = last; i > 0; i--) pull(links[i].position, links[i - 1].length, links[i - 1].position);
    memcpy(links[0].position, root, sizeof root);
    for (i = 1; i <= last; i++) pull(links[i - 1].position, links[i - 1].length, links[i].position);
    iterations--;
  }
  return iterations;
}

/* From positions to rotations: each joint makes the shortest rotation that points to the next joint's position. */
static void chain_rotate(chain *chain) {
  double global[12], inverse[12], at[3], from[3], to[3], along[3] = {1, 0, 0}, half[3], rotation[4];
  size_t i;
  identity(global);
  for (i = 0; i + 1 < chain->count; i++) {
    link *link = chain->links + i;
    if (sk_affine_inverse(global, inverse)) {
      load3(chain->pose.translation, (size_t)link->joint, at);
      goal_seen_from(inverse, link[1].position, at, to);
      load3(chain->pose.translation, (size_t)link[1].joint, from);
      scale_by(chain->pose.scale, (size_t)link->joint, from);
      quat_rotate(link->rotation, from, from);
      normalize(from, 0.0, along);
      perpendicular(along, half);
      quat_between(from, to, half, rotation);
      quat_product(rotation, link->rotation, link->rotation);
    }
    link_step(chain, link, global);
  }
}

/* Solves a chain of two links as a limb: the law of cosines gives at once what iterations approach slowly, and near a
   straight or folded limb never reach. False where the chain is longer or has no inverse. */
static bool chain_bend(const sk_fabrik_job *job, size_t n, chain *chain) {
  sk_two_bone_job two = {job->goal, job->root, chain->links[1].joint, job->end, 1.0};
  limb limb;
  two.goal.poles = NULL;
  if (chain->count != 3 || !limb_open(&two, n, &limb)) return false;
  limb_solve(&limb, two.soften);
  memcpy(chain->links[0].rotation, limb.root, sizeof limb.root);
  memcpy(chain->links[1].rotation, limb.middle, sizeof limb.middle);
  chain_measure(chain);
  return true;
}

/* Under non-uniform scales inside the chain its lengths change as it rotates, so positions and rotations are found in
   turns; elsewhere a second round changes nothing. */
static double chain_solve(const sk_fabrik_job *job, size_t n, chain *chain) {
  double miss = INFINITY, before, tolerance = job->tolerance;
  int32_t iterations = job->iterations;
  chain_measure(chain);
  if (!(chain->length > 0.0)) return chain_miss(chain) > 0.0 ? INFINITY : 0.0;
  if (chain_miss(chain) <= tolerance * chain->length) return chain_miss(chain) / chain->length;
  if (chain_bend(job, n, chain)) return chain_miss(chain) / chain->length;
  do {
    before = miss;
    iterations = chain_reach(chain, iterations, tolerance);
    chain_rotate(chain);
    chain_measure(chain);
    miss = chain_miss(chain) / chain->length;
  } while (iterations > 0 && miss > tolerance && fabs(miss - before) > 1e-9);
  return miss;
}

static size_t chain_count(const sk_fabrik_job *job) {
  size_t count = 1;
  int32_t joint;
  for (joint = job->end; joint != job->root; joint = job->goal.skeleton->parents[joint]) count++;
  return count;
}

static bool chain_open(const sk_fabrik_job *job, size_t n, chain *chain) {
  double to_parent[12];
  int32_t joint = job->end;
  size_t i;
  chain->pose = goal_pose(&job->goal, n);
  for (i = chain->count; i-- > 0; joint = job->goal.skeleton->parents[joint]) {
    chain->links[i].joint = joint;
    quat_load(chain->pose.rotation + 4 * (size_t)joint, chain->links[i].rotation);
  }
  if (!goal_to_parent(&job->goal, n, job->root, to_parent)) return false;
  map_point(to_parent, job->goal.targets + 3 * n, chain->target);
  return true;
}

sk_status sk_fabrik_validate(const sk_fabrik_job *job, sk_error *error) {
  if (check_above(job->goal.skeleton, job->root, job->end, error)) return SK_ERROR_ARGUMENT;
  if (job->iterations < 1)
    return sk_fail(error, SK_ERROR_ARGUMENT, "iterations is %d; expected at least 1", (int)job->iterations);
  if (!(job->tolerance > 0.0 && isfinite(job->tolerance)))
    return sk_fail(error, SK_ERROR_ARGUMENT, "tolerance is %g; expected more than 0", job->tolerance);
  return goal_validate(&job->goal, error);
}

size_t sk_fabrik_scratch(const sk_fabrik_job *job) { return chain_count(job) * sizeof(link); }

void sk_fabrik_run(const sk_fabrik_job *job) {
  chain chain = {.links = job->scratch, .count = chain_count(job)};
  size_t n, i;
  for (n = 0; n < job->goal.count; n++) {
    job->goal.misses[n] = INFINITY;
    if (!chain_open(job, n, &chain)) continue;
    job->goal.misses[n] = chain_solve(job, n, &chain);
    for (i = 0; i + 1 < chain.count; i++) goal_write(&job->goal, n, chain.links[i].joint, chain.links[i].rotation);
  }
}
