"""The Delaunay triangles of a few points in the plane, and the weights of any point in them.

A triangulation is Delaunay's if no circle through the corners of a triangle has another point inside
(B. Delaunay, "Sur la sphere vide", 1934). First the points are swept from left to right, and each is joined
to the edges of the hull that it sees. Then edges are flipped until every pair of neighbors has the property,
which C. L. Lawson showed to end and to suffice ("Software for C1 surface interpolation", 1977). Both tests
are determinants of integers, as every float is an integer over a power of two. So there is no rounding, and
points on one line or on one circle, as in grids, need no special treatment.
"""

import itertools
from collections.abc import Sequence

Point = tuple[float, float]
Edge = tuple[int, int]
Triangle = tuple[int, int, int]
Share = tuple[int, float]  #: the index of a point, and its weight


def delaunay(points: Sequence[Point]) -> tuple[Triangle, ...]:
    """Return the triangles, counterclockwise, of two or more different points; none if all lie on one line.

    For four points on one circle, the points alone decide which diagonal is taken, not their order.
    """
    whole = _integers(points)
    order = sorted(range(len(whole)), key=whole.__getitem__)
    whole.sort()
    opposite = _sweep(whole)
    _flip(whole, opposite)
    return tuple((order[a], order[b], order[c]) for (a, b), c in sorted(opposite.items()) if a < b and a < c)


def edges_of(triangles: Sequence[Triangle]) -> tuple[Edge, ...]:
    """Return all edges, each once, the lower index first."""
    return tuple(sorted({(min(e), max(e)) for a, b, c in triangles for e in ((a, b), (b, c), (c, a))}))


def area(points: Sequence[Point], triangle: Triangle) -> float:
    """Return the area of a triangle, positive if it is counterclockwise."""
    a, b, c = (points[corner] for corner in triangle)
    return _cross(b, c, a) / 2


def locate(
    points: Sequence[Point], triangles: Sequence[Triangle], edges: Sequence[Edge], at: Point
) -> tuple[Share, ...]:
    """Return the barycentric weights of `at` in its triangle, or of the nearest point of the hull."""
    for triangle in triangles:
        a, b, c = (points[corner] for corner in triangle)
        areas = _cross(b, c, at), _cross(c, a, at), _cross(a, b, at)
        total = sum(areas)
        if min(areas) >= 0.0 and total > 0.0:
            return tuple((corner, area / total) for corner, area in zip(triangle, areas, strict=True))
    # The point is outside, or between two triangles by a rounding error; then an edge is that near.
    return min((_on_edge(points, edge, at) for edge in edges), key=lambda found: found[0])[1]


def _on_edge(points: Sequence[Point], edge: Edge, at: Point) -> tuple[float, tuple[Share, ...]]:
    """Return the squared distance to the nearest point of an edge, and the weights of that point."""
    (ax, ay), (bx, by) = points[edge[0]], points[edge[1]]
    dx, dy = bx - ax, by - ay
    fraction = ((at[0] - ax) * dx + (at[1] - ay) * dy) / (dx * dx + dy * dy)
    fraction = min(max(fraction, 0.0), 1.0)
    away = (ax + fraction * dx - at[0], ay + fraction * dy - at[1])
    return away[0] * away[0] + away[1] * away[1], ((edge[0], 1.0 - fraction), (edge[1], fraction))


def _cross(a: Point, b: Point, at: Point) -> float:
    """Return twice the area of the triangle at, a, b; positive if it is counterclockwise."""
    return (a[0] - at[0]) * (b[1] - at[1]) - (a[1] - at[1]) * (b[0] - at[0])


def _integers(points: Sequence[Point]) -> list[tuple[int, int]]:
    """Return the points times the power of two that makes all of them integers."""
    scale = max(value.as_integer_ratio()[1] for point in points for value in point)

    def whole(value: float) -> int:
        top, bottom = value.as_integer_ratio()
        return top * (scale // bottom)

    return [(whole(x), whole(y)) for x, y in points]


def _orientation(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> int:
    """Return a number that is positive if a, b, c are counterclockwise, and 0 on one line."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _sweep(points: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return a triangulation of sorted points: for each directed edge the third corner of its triangle."""
    opposite: dict[tuple[int, int], int] = {}
    hull: list[int] = []  # counterclockwise, with the points on its edges
    for new in range(2, len(points)):
        if hull:
            hull = _join(points, hull, new, opposite)
            continue
        side = _orientation(points[0], points[1], points[new])
        if side:  # the first point that is not on the line of those before
            line = list(range(new) if side > 0 else range(new)[::-1])
            for a, b in itertools.pairwise(line):
                _add(opposite, a, b, new)
            hull = [*line, new]
    return opposite


def _join(
    points: Sequence[tuple[int, int]], hull: list[int], new: int, opposite: dict[tuple[int, int], int]
) -> list[int]:
    """Return the hull with a point to the right of all others; add the triangles between both."""
    count = len(hull)
    seen = [
        _orientation(points[hull[i]], points[hull[(i + 1) % count]], points[new]) < 0 for i in range(count)
    ]
    first = next(i for i in range(count) if seen[i] and not seen[i - 1])
    last = first
    while seen[last % count]:  # the edges that the point sees are neighbors
        _add(opposite, hull[(last + 1) % count], hull[last % count], new)
        last += 1
    kept = [hull[i % count] for i in range(last, first + count + 1)]
    return [*kept, new]


def _add(opposite: dict[tuple[int, int], int], a: int, b: int, c: int) -> None:
    """Add a triangle."""
    opposite[a, b], opposite[b, c], opposite[c, a] = c, a, b


def _flip(points: Sequence[tuple[int, int]], opposite: dict[tuple[int, int], int]) -> None:
    """Flip edges, in place, until all triangles are Delaunay's."""
    waiting = sorted(opposite)
    while waiting:
        a, b = waiting.pop()
        if (a, b) not in opposite or (b, a) not in opposite:
            continue
        c, d = opposite[a, b], opposite[b, a]
        if _in_circle(points[a], points[b], points[c], points[d]):
            del opposite[a, b], opposite[b, a]
            _add(opposite, a, d, c)
            _add(opposite, d, b, c)
            waiting += [(a, d), (d, b), (b, c), (c, a)]


def _in_circle(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int], d: tuple[int, int]) -> bool:
    """Return whether d lies inside the circle through a, b, c, which are counterclockwise."""
    (ax, ay), (bx, by), (cx, cy) = ((p[0] - d[0], p[1] - d[1]) for p in (a, b, c))
    a2, b2, c2 = ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy
    return a2 * (bx * cy - by * cx) + b2 * (cx * ay - cy * ax) + c2 * (ax * by - ay * bx) > 0
