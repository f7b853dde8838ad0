/* import_polygon.h: polygons as triangles. */
#ifndef IMPORT_POLYGON_H
#define IMPORT_POLYGON_H

#include "../core/base/sk_base.h"

typedef struct import_polygon {
  const double *points; /* three numbers each */
  const uint32_t *corners; /* the index in `points` of each corner of a mesh */
  uint32_t first, count; /* which corners are those of the polygon; at least three */
} import_polygon;

/* Cuts a polygon into count - 2 triangles of corners. A quadrilateral is cut along the diagonal that lies inside. */
void import_cut_polygon(const import_polygon *polygon, uint32_t *out);

typedef struct import_ring { /* the outline of a polygon, or a hole in it */
  uint32_t first, count; /* corners */
} import_ring;

#define IMPORT_MAX_RINGS 256 /* corners of an outline with holes */

/* Joins holes to the outline, which is the first ring: *outline becomes a list of corners, uint32_t, that runs around all
   rings. Bridges join the rings; the list runs along each bridge in both directions. Holes beyond IMPORT_MAX_RINGS corners
   are left out, and *left_out counts them. False if there is no memory. */
bool import_bridge_rings(const double *points, const uint32_t *corners, const import_ring *rings, size_t count,
                         sk_array *outline, size_t *left_out);

#endif
