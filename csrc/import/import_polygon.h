/* import_polygon.h: polygons as triangles. */
#ifndef IMPORT_POLYGON_H
#define IMPORT_POLYGON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct import_polygon {
  const double *points; /* three numbers each */
  const uint32_t *corners; /* the point of each corner of a mesh */
  uint32_t first, count; /* which corners are those of the polygon; at least three */
} import_polygon;

/* Cuts a polygon into count - 2 triangles of corners. A quadrilateral is cut along the diagonal that lies inside. */
void import_cut_polygon(const import_polygon *polygon, uint32_t *out);

#endif
