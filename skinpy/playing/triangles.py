"""Delaunay triangles of a few points of the plane, and where a point lies among them.

A triangulation is Delaunay's when no circle through the corners of a triangle holds another point inside
(B. Delaunay, "Sur la sphere vide", 1934). First the points are swept from left to right, each joined to what
it sees of the hull so far; then edges are flipped until every pair of neighbors has the property, which
C. L. Lawson showed to end and to suffice ("Software for C1 surface interpolation", 1977). Both tests are
determinants of integers, as every float is an integer over a power of two: no rounding, so points on one line
or on one circle, which grids are full of, need no special care.
"""

import itertools
from collections.abc import Sequence

Point = tuple[float, float]
Edge = tuple[int, int]
Triangle = tuple[int, int, int]
Share = tuple[int, float]  #: the number of a point, and its weight


def delaunay(points: Sequence[Point]) -> tuple[Triangle, ...]:
    """The triangles, counterclockwise, of two or more different points; none where all lie on one line.

    Of four points on one circle either diagonal would do; which one it is depends on the points alone, not
    on their order.
    """
    whole = _integers(points)
    order = sorted(range(len(whole)), key=whole.__getitem__)
    whole.sort()
    opposite = _sweep(whole)
    _flip(whole, opposite)
    return tuple((order[a], order[b], order[c]) for (a, b), c in sorted(opposite.items()) if a < b and a < c)


def edges_of(triangles: Sequence[Triangle]) -> tuple[Edge, ...]:
    """All edges, each once, the lower number first."""
    return tuple(sorted({(min(e), max(e)) for a, b, c in triangles for e in ((a, b), (b, c), (c, a))}))


def area(points: Sequence[Point], triangle: Triangle) -> float:
    """Area of a triangle, positive where it is counterclockwise."""
    a, b, c = (points[corner] for corner in triangle)
    return _cross(b, c, a) / 2


def locate(
    points: Sequence[Point], triangles: Sequence[Triangle], edges: Sequence[Edge], at: Point
) -> tuple[Share, ...]:
    """Barycentric weights, in the corners of its triangle, of `at`, or of the nearest point of the hull."""
    for triangle in triangles:
        a, b, c = (points[corner] for corner in triangle)
        areas = _cross(b, c, at), _cross(c, a, at), _cross(a, b, at)
        total = sum(areas)
        if min(areas) >= 0.0 and total > 0.0:
            return tuple((corner, area / total) for corner, area in zip(triangle, areas, strict=True))
    # Outside; or between two triangles by a rounding, and then some edge is as near as that rounding.
    return min((_on_edge(points, edge, at) for edge in edges), key=lambda found: found[0])[1]


def _on_edge(points: Sequence[Point], edge: Edge, at: Point) -> tuple[float, tuple[Share, ...]]:
    """Squared distance to the nearest point of an edge, and that point's weights."""
    (ax, ay), (bx, by) = points[edge[0]], points[edge[1]]
    dx, dy = bx - ax, by - ay
    share = ((at[0] - ax) * dx + (at[1] - ay) * dy) / (dx * dx + dy * dy)
    share = min(max(share, 0.0), 1.0)
    away = (ax + share * dx - at[0], ay + share * dy - at[1])
    return away[0] * away[0] + away[1] * away[1], ((edge[0], 1.0 - share), (edge[1], share))


def _cross(a: Point, b: Point, at: Point) -> float:
    """Twice the area of the triangle at, a, b; positive where that is counterclockwise."""
    return (a[0] - at[0]) * (b[1] - at[1]) - (a[1] - at[1]) * (b[0] - at[0])


def _integers(points: Sequence[Point]) -> list[tuple[int, int]]:
    """The points times a power of two that makes them whole."""
    scale = max(value.as_integer_ratio()[1] for point in points for value in point)

    def whole(value: float) -> int:
        top, bottom = value.as_integer_ratio()
        return top * (scale // bottom)

    return [(whole(x), whole(y)) for x, y in points]


def _turn(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _sweep(points: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Some triangulation of sorted points: by each directed edge, its triangle's third corner."""
    opposite: dict[tuple[int, int], int] = {}
    hull: list[int] = []  # counterclockwise, with the points on its edges
    for new in range(2, len(points)):
        if hull:
            hull = _join(points, hull, new, opposite)
            continue
        side = _turn(points[0], points[1], points[new])
        if side:  # the first that is not on the line of those before
            line = list(range(new) if side > 0 else range(new)[::-1])
            for a, b in itertools.pairwise(line):
                _add(opposite, a, b, new)
            hull = [*line, new]
    return opposite


def _join(
    points: Sequence[tuple[int, int]], hull: list[int], new: int, opposite: dict[tuple[int, int], int]
) -> list[int]:
    """The hull with a point to the right of all; the triangles between both are added."""
    count = len(hull)
    seen = [_turn(points[hull[i]], points[hull[(i + 1) % count]], points[new]) < 0 for i in range(count)]
    first = next(i for i in range(count) if seen[i] and not seen[i - 1])
    last = first
    while seen[last % count]:  # the edges it sees are neighbors
        _add(opposite, hull[(last + 1) % count], hull[last % count], new)
        last += 1
    kept = [hull[i % count] for i in range(last, first + count + 1)]
    return [*kept, new]


def _add(opposite: dict[tuple[int, int], int], a: int, b: int, c: int) -> None:
    opposite[a, b], opposite[b, c], opposite[c, a] = c, a, b


def _flip(points: Sequence[tuple[int, int]], opposite: dict[tuple[int, int], int]) -> None:
    """Lawson's flips, in place."""
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
    """Whether d lies inside the circle through a, b, c, which are counterclockwise."""
    (ax, ay), (bx, by), (cx, cy) = ((p[0] - d[0], p[1] - d[1]) for p in (a, b, c))
    a2, b2, c2 = ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy
    return a2 * (bx * cy - by * cx) + b2 * (cx * ay - cy * ax) + c2 * (ax * by - ay * bx) > 0
