/* import_polygon.c: see import_polygon.h. */
#include "import_polygon.h"

#include <math.h>
#include <string.h>

#define MAX_CLIPPED 256 /* corners of a polygon that is cut ear by ear; larger ones are cut as fans */

static const double *point_at(const import_polygon *polygon, uint32_t corner) {
  return polygon->points + 3 * (size_t)polygon->corners[corner];
}

/* Newell's normal of a polygon, not normalized. */
static void normal_of(const import_polygon *polygon, double normal[3]) {
  uint32_t i;
  normal[0] = normal[1] = normal[2] = 0.0;
  for (i = 0; i < polygon->count; i++) {
    const double *a = point_at(polygon, polygon->first + i),
                 *b = point_at(polygon, polygon->first + (i + 1) % polygon->count);
    normal[0] += (a[1] - b[1]) * (a[2] + b[2]);
    normal[1] += (a[2] - b[2]) * (a[0] + b[0]);
    normal[2] += (a[0] - b[0]) * (a[1] + b[1]);
  }
}

/* Twice the signed area of a triangle as seen along the normal. */
static double area(const double normal[3], const double *a, const double *b, const double *c) {
  double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
  return normal[0] * (u[1] * v[2] - u[2] * v[1]) + normal[1] * (u[2] * v[0] - u[0] * v[2]) +
         normal[2] * (u[0] * v[1] - u[1] * v[0]);
}

/* Whether corner k of a list is an ear: convex, with no other corner inside its triangle. */
static bool is_ear(const import_polygon *polygon, const double normal[3], const uint32_t *list, uint32_t count,
                   uint32_t k) {
  const double *a = point_at(polygon, list[(k + count - 1) % count]), *b = point_at(polygon, list[k]);
  const double *c = point_at(polygon, list[(k + 1) % count]);
  uint32_t i;
  if (area(normal, a, b, c) <= 0.0) return false;
  for (i = 2; i + 1 < count; i++) {
    const double *p = point_at(polygon, list[(k + i) % count]);
    if (area(normal, a, b, p) > 0.0 && area(normal, b, c, p) > 0.0 && area(normal, c, a, p) > 0.0) return false;
  }
  return true;
}

static uint32_t *put(uint32_t *out, uint32_t a, uint32_t b, uint32_t c) {
  out[0] = a, out[1] = b, out[2] = c;
  return out + 3;
}

void import_cut_polygon(const import_polygon *polygon, uint32_t *out) {
  uint32_t list[MAX_CLIPPED], count = polygon->count, i, k;
  double normal[3];
  if (count > 3 && count <= MAX_CLIPPED) {
    normal_of(polygon, normal);
    for (i = 0; i < count; i++) list[i] = polygon->first + i;
    while (count > 3) {
      for (k = 1; k <= count && !is_ear(polygon, normal, list, count, k % count); k++) continue;
      k %= count; /* without an ear, the polygon is degenerate: any corner serves */
      out = put(out, list[(k + count - 1) % count], list[k], list[(k + 1) % count]);
      memmove(list + k, list + k + 1, (count - k - 1) * sizeof *list);
      count--;
    }
    put(out, list[0], list[1], list[2]);
    return;
  }
  for (i = 2; i < count; i++) out = put(out, polygon->first, polygon->first + i - 1, polygon->first + i);
}

/* ---- holes ------------------------------------------------------------------------------------ */

/* A polygon in its plane, as seen from the side from which the outline runs counterclockwise. */
typedef struct plane {
  const double *points;
  const uint32_t *corners;
  int u, v; /* axes */
  double sign; /* of v */
} plane;

static double along(const plane *p, uint32_t corner) { return p->points[3 * (size_t)p->corners[corner] + p->u]; }
static double up(const plane *p, uint32_t corner) { return p->sign * p->points[3 * (size_t)p->corners[corner] + p->v]; }

static plane plane_of(const double *points, const uint32_t *corners, const import_ring *outline) {
  double normal[3];
  int axis = 0, i;
  normal_of(&(import_polygon){points, corners, outline->first, outline->count}, normal);
  for (i = 1; i < 3; i++)
    if (fabs(normal[i]) > fabs(normal[axis])) axis = i;
  return (plane){points, corners, (axis + 1) % 3, (axis + 2) % 3, normal[axis] < 0.0 ? -1.0 : 1.0};
}

static double turn(const plane *p, uint32_t a, uint32_t b, uint32_t c) {
  return (along(p, b) - along(p, a)) * (up(p, c) - up(p, a)) - (up(p, b) - up(p, a)) * (along(p, c) - along(p, a));
}

/* Where in the outline a bridge to corner m of a hole may end, which lies furthest along u: at the end of the edge that
   is nearest in this direction, or at a corner in front of it (Eberly, "Triangulation by Ear Clipping", 2002). */
static uint32_t find_bridge(const plane *p, const uint32_t *list, uint32_t count, uint32_t m) {
  double u = along(p, m), v = up(p, m), nearest = INFINITY, slope, best = INFINITY;
  uint32_t i, found = 0, end;
  for (i = 0; i < count; i++) {
    uint32_t a = list[i], b = list[(i + 1) % count];
    double va = up(p, a), vb = up(p, b), at;
    if (va == vb || (va < v) == (vb < v)) continue;
    at = along(p, a) + (v - va) / (vb - va) * (along(p, b) - along(p, a));
    if (at < u || at >= nearest) continue;
    nearest = at;
    found = along(p, a) > along(p, b) ? i : (i + 1) % count;
  }
  if (nearest == INFINITY) return 0; /* the hole is not inside */
  end = list[found];
  slope = (up(p, end) - v) / fmax(along(p, end) - u, 1e-300);
  for (i = 0; i < count; i++) {
    double du = along(p, list[i]) - u, dv = up(p, list[i]) - v, s = du > 0.0 ? dv / du : INFINITY;
    if (list[i] == end || du <= 0.0 || (slope >= 0.0 ? s < 0.0 || s > slope : s > 0.0 || s < slope)) continue;
    if (du > nearest - u + (along(p, end) - nearest) * (slope == 0.0 ? 0.0 : s / slope) || fabs(s) >= best) continue;
    best = fabs(s);
    found = i;
  }
  return found;
}

/* Puts a hole into the list behind corner `at`, from its corner `start` on around to it, and back to corner `at`. */
static bool insert_hole(const plane *p, sk_array *outline, uint32_t at, const import_ring *hole, uint32_t start) {
  double area = 0.0;
  uint32_t i, count = hole->count, *list, behind;
  for (i = 1; i + 1 < count; i++) area += turn(p, hole->first, hole->first + i, hole->first + i + 1);
  if (!sk_array_room(outline, (size_t)count + 2)) return false;
  list = outline->data;
  behind = (uint32_t)outline->count - count - 2 - at - 1;
  memmove(list + at + 1 + count + 2, list + at + 1, behind * sizeof *list);
  for (i = 0; i <= count; i++) /* a hole runs the other way round */
    list[at + 1 + i] = hole->first + (area > 0.0 ? start + count - i % count : start + i) % count;
  list[at + count + 2] = list[at];
  return true;
}

bool import_bridge_rings(const double *points, const uint32_t *corners, const import_ring *rings, size_t count,
                         sk_array *outline, size_t *left_out) {
  plane p = plane_of(points, corners, &rings[0]);
  uint32_t *list = sk_array_room(outline, rings[0].count), i;
  bool done[IMPORT_MAX_RINGS] = {false};
  size_t k, round;
  if (!list) return false;
  for (i = 0; i < rings[0].count; i++) list[i] = rings[0].first + i;
  *left_out = count > IMPORT_MAX_RINGS ? count - IMPORT_MAX_RINGS : 0;
  if (count > IMPORT_MAX_RINGS) count = IMPORT_MAX_RINGS;
  for (round = 1; round < count; round++) { /* the hole furthest along first, so that bridges do not cross others */
    size_t next = 0;
    uint32_t furthest = 0, start = 0;
    for (k = 1; k < count; k++)
      for (i = 0; i < rings[k].count && !done[k]; i++)
        if (!next || along(&p, rings[k].first + i) > along(&p, furthest))
          next = k, start = i, furthest = rings[k].first + i;
    if (!next) break;
    done[next] = true;
    if (rings[next].count < 3 || outline->count + rings[next].count + 2 > IMPORT_MAX_RINGS) {
      ++*left_out;
      continue;
    }
    i = find_bridge(&p, outline->data, (uint32_t)outline->count, furthest);
    if (!insert_hole(&p, outline, i, &rings[next], start)) return false;
  }
  return true;
}
