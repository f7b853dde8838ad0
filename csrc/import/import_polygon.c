/* import_polygon.c: see import_polygon.h. */
#include "import_polygon.h"

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
