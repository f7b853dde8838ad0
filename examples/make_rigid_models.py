"""Makes the two rigid models that skinpy brings along: a crane and an office chair, each with its clips.

    python examples/make_rigid_models.py              writes skinpy/data/crane.glb and chair.glb
    python examples/make_rigid_models.py -o FOLDER    writes them elsewhere
    python examples/make_rigid_models.py --check      compares with the files in the repository

Nothing here is skinned: every part hangs on a node and moves as one piece, which is all that machines
need. Everything is computed with NumPy and the standard library; no asset is read. +Y is up, units are
meters. The crane's boom points to +X, so that raising it is a turn about +Z; the chair faces +Z.

The same bytes come out on every run: numbers are rounded before they are written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from make_character import Array, Buffer, Faces, Keys, pack_glb, rounded, unit

DEFAULT_FOLDER = Path(__file__).resolve().parents[1] / "skinpy" / "data"
GENERATOR = "skinpy examples/make_rigid_models.py"
FLOAT, UINT8, UINT16, ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 5126, 5121, 5123, 34962, 34963

Shape = tuple[Array, Array, Faces]  # points (N,3), unit normals (N,3), triangles (M,3)
Vector = Sequence[float]

# Base colors in sRGB, 0 to 255; the file holds them in linear light.
COLORS = {
    "Yellow": (246, 178, 26),
    "Orange": (238, 104, 36),
    "Steel": (70, 78, 90),
    "Rubber": (34, 37, 43),
    "Glass": (132, 196, 222),
    "Concrete": (158, 162, 168),
    "Red": (214, 54, 48),
    "White": (236, 238, 240),
    "Fabric": (38, 122, 138),
    "Seam": (24, 84, 98),
    "Chrome": (190, 197, 205),
}

# ---------------------------------------------------------------------------------------------
# Shapes. Edges are beveled, and the bevel's vertices are those of the flat sides: it shades round.
# ---------------------------------------------------------------------------------------------


def moved(shape: Shape, offset: Vector = (0, 0, 0), turn: Array | None = None) -> Shape:
    points, normals, faces = shape
    if turn is not None:
        points, normals = points @ turn.T, normals @ turn.T
    return points + np.asarray(offset, float), normals, faces


def about(axis: Vector, degrees: float) -> Array:
    """(3,3) rotation (Rodrigues)."""
    x, y, z = unit(np.asarray([axis], float))[0]
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.radians(degrees)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def box(size: Vector, center: Vector = (0, 0, 0), bevel: float = 0.03) -> Shape:
    """24 vertices: six sides, joined by bevels at the edges and corners."""
    half = np.asarray(size, float) / 2
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    normals = np.concatenate([np.eye(3), -np.eye(3)])
    number = {}
    points, directions = [], []
    for c, corner in enumerate(corners):
        for n, normal in enumerate(normals):
            if corner @ normal > 0:
                number[c, n] = len(points)
                points.append(corner * np.where(normal != 0, half, half - bevel))
                directions.append(normal)
    rings = [[number[c, n] for c in range(8) if (c, n) in number] for n in range(6)]
    for c in range(8):
        rings.append([number[c, n] for n in range(6) if (c, n) in number])
    for n in range(6):
        for m in range(n + 1, 6):
            ring = [number[c, k] for c in range(8) for k in (n, m) if (c, n) in number and (c, m) in number]
            if ring:
                rings.append(ring)
    placed = np.array(points)
    faces = [face for ring in rings for face in fan(placed, ring)]
    return placed + np.asarray(center, float), np.array(directions, float), np.array(faces)


def fan(points: Array, ring: list[int]) -> list[list[int]]:
    """The convex polygon of `ring`, which may be in any order, seen from outside a shape about the origin."""
    middle = points[ring].mean(axis=0)
    spokes = points[ring] - middle
    across = unit(spokes[:1])[0]
    normal = np.cross(spokes[0], spokes[1])
    if np.abs(normal).max() < 1e-12:
        normal = np.cross(spokes[0], spokes[2])
    normal = normal if normal @ middle > 0 else -normal
    other = np.cross(unit(normal[None])[0], across)
    angles = np.round(np.arctan2(spokes @ other, spokes @ across), 6)
    angles[angles == -np.round(np.pi, 6)] *= -1  # half a turn is one angle, whatever the processor rounds
    loop = [ring[i] for i in np.argsort(angles, kind="stable")]
    return [[loop[0], loop[i], loop[i + 1]] for i in range(1, len(loop) - 1)]


def lathe(rows: Sequence[tuple[float, float, float, float]], sides: int) -> Shape:
    """A surface about +Y; each row is radius, height, and the normal's radial and upward part."""
    angle = 2 * np.pi * np.arange(sides) / sides
    around = np.stack([np.sin(angle), np.zeros(sides), np.cos(angle)], axis=1)
    up = np.array([0.0, 1.0, 0.0])
    points = np.concatenate([radius * around + height * up for radius, height, _, _ in rows])
    normals = np.concatenate([out * around + rise * up for _, _, out, rise in rows])
    faces: list[list[int]] = []
    for row in range(len(rows) - 1):
        for i in range(sides):
            a, b = row * sides + i, row * sides + (i + 1) % sides
            faces += [[a, b, b + sides], [a, b + sides, a + sides]]
    last = (len(rows) - 1) * sides
    for i in range(1, sides - 1):
        faces += [[0, i + 1, i], [last, last + i, last + i + 1]]
    return points, unit(normals), np.array(faces)


def cylinder(radius: float, low: float, high: float, sides: int = 20, bevel: float = 0.02) -> Shape:
    return lathe(
        (
            (radius - bevel, low, 0, -1),
            (radius, low + bevel, 1, 0),
            (radius, high - bevel, 1, 0),
            (radius - bevel, high, 0, 1),
        ),
        sides,
    )


def disk(radius: float, low: float, high: float, sides: int) -> Shape:
    """The side and the top of a cylinder."""
    points, normals, faces = lathe(((radius, low, 1, 0), (0.9 * radius, high, 0, 1)), sides)
    return points, normals, faces[(faces >= sides).any(axis=1)]


def slab(size: Vector, center: Vector = (0, 0, 0)) -> Shape:
    """A box without bevels, for thin things."""
    points, normals, faces = box(size, center, 0.0)
    return points, normals, faces[:12]


def lying(shape: Shape, axis: str) -> Shape:
    """A shape about +Y, laid along +X or +Z."""
    return moved(shape, turn=about((0, 0, 1), -90) if axis == "x" else about((1, 0, 0), 90))


def bar(start: Vector, end: Vector, radius: float, sides: int = 4) -> Shape:
    """A thin round bar without ends."""
    a, b = np.asarray(start, float), np.asarray(end, float)
    along = unit((b - a)[None])[0]
    side = unit(np.cross(along, (0.31, 0.23, 0.92))[None])[0]
    other = np.cross(along, side)
    angle = 2 * np.pi * (np.arange(sides) + 0.5) / sides
    around = np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * other
    points = np.concatenate([a + radius * around, b + radius * around])
    faces = []
    for i in range(sides):
        j = (i + 1) % sides
        faces += [[i, j, j + sides], [i, j + sides, i + sides]]
    return points, np.concatenate([around, around]), np.array(faces)


def cushion(
    size: Vector,
    radius: float,
    bend: Callable[[Array], Array] | None = None,
    middle: int = 1,
    fine: bool = True,
) -> Shape:
    """A box with round edges and `middle` extra lines in each direction, bent by a function of its points.

    Edges are rounded in four steps where `fine`, else in two.
    """
    half = np.asarray(size, float) / 2
    lines = []
    for h in half:
        r = min(radius, h)
        inner = np.linspace(-(h - r), h - r, middle + 2)
        inner = np.unique(np.round(inner, 9))
        between = 0.59 * np.array([r] if fine else [])
        lines.append(np.concatenate([[-h], -h + between, inner, h - between, [h]]))
    points, faces = [], []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for sign in (-1.0, 1.0):
            grid = np.zeros((len(lines[u]), len(lines[v]), 3))
            grid[..., axis], grid[..., u], grid[..., v] = sign * half[axis], lines[u][:, None], lines[v]
            ids = np.arange(grid[..., 0].size).reshape(grid.shape[:2]) + sum(map(len, points))
            a, b, c, d = ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:]
            for triangle in ((a, b, c), (a, c, d)):
                faces.append(np.stack(triangle[:: int(sign)], axis=-1).reshape(-1, 3))
            points.append(grid.reshape(-1, 3))
    cube, triangles = np.concatenate(points), np.concatenate(faces)
    core = np.clip(cube, -(half - np.minimum(radius, half)), half - np.minimum(radius, half))
    placed = core + np.minimum(radius, half) * unit(cube - core)
    placed, triangles = welded(placed, triangles)
    placed = bend(placed) if bend else placed
    return placed, smooth(placed, triangles), triangles


def welded(points: Array, faces: Faces) -> tuple[Array, Faces]:
    _, first, place = np.unique(np.round(points, 6), axis=0, return_index=True, return_inverse=True)
    faces = place.reshape(-1)[faces]
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return points[first], faces[whole]


def smooth(points: Array, faces: Faces) -> Array:
    a, b, c = (points[faces[:, corner]] for corner in range(3))
    total = np.zeros_like(points)
    for corner in range(3):
        np.add.at(total, faces[:, corner], np.cross(b - a, c - a))
    return unit(total)


def lattice(length: float, wide: float, tip: float, bays: int, radius: float) -> list[Shape]:
    """Four chords along +X from a square of side `wide` to one of `tip`, with diagonals on all four sides."""

    def corner(k: int, x: float) -> Array:
        y, z = ((1, 1), (1, -1), (-1, -1), (-1, 1))[k % 4]
        side = wide + (tip - wide) * x / length
        return np.array([x, y * side / 2, z * side / 2])

    shapes = [bar(corner(k, 0), corner(k, length), 1.5 * radius, 5) for k in range(4)]
    step = length / bays
    for bay in range(bays):
        for k in range(4):
            first, second = (k, k + 1) if bay % 2 else (k + 1, k)
            shapes.append(bar(corner(first, bay * step), corner(second, (bay + 1) * step), radius, 3))
    return shapes


# ---------------------------------------------------------------------------------------------
# A model: a tree of joints, parts on them, clips
# ---------------------------------------------------------------------------------------------


@dataclass
class Joint:
    name: str
    parent: str
    translation: Vector = (0.0, 0.0, 0.0)
    turn: tuple[Vector, float] = ((0.0, 0.0, 1.0), 0.0)  # axis, degrees
    parts: dict[str, list[Shape]] = field(default_factory=dict)  # by material
    same_as: str = ""  # hangs up the parts of another joint once more

    def add(self, material: str, *shapes: Shape) -> None:
        self.parts.setdefault(material, []).extend(shapes)


Track = tuple[str, str, str, Array, Array]  # joint, path, interpolation, times, values


def quaternions(axis: Vector, degrees: Array) -> Array:
    half = np.radians(np.asarray(degrees, float))[:, None] / 2
    return np.concatenate([np.sin(half) * unit(np.asarray([axis], float)), np.cos(half)], axis=1)


def eased(times: Array, knots: Sequence[tuple[float, float]]) -> Array:
    """From knot (time, value) to knot, starting and stopping softly (smoothstep)."""
    at, value = np.array(knots, float).T
    k = np.clip(np.searchsorted(at, times, side="right") - 1, 0, len(at) - 2)
    u = np.clip((times - at[k]) / (at[k + 1] - at[k]), 0, 1)
    return value[k] + (value[k + 1] - value[k]) * u * u * (3 - 2 * u)


def soft_keys(joint: str, path: str, knots: Sequence[tuple[float, Vector]]) -> Track:
    """Cubic keys that stop at every knot: all tangents are zero."""
    values = np.array([value for _, value in knots], float)
    still = np.zeros_like(values)
    return (
        joint,
        path,
        "CUBICSPLINE",
        np.array([t for t, _ in knots], float),
        np.stack([still, values, still], axis=1),
    )


# ---- the crane ------------------------------------------------------------------------------

BOOM_REST, JIB_REST = 50.0, -22.0  # degrees
BOOM_LENGTH, JIB_LENGTH = 6.4, 2.6
LINE_REST = 3.2  # how far the hook hangs below the jib's tip


def make_crane() -> tuple[list[Joint], dict[str, list[Track]]]:
    base = Joint("base", "")
    for side in (-1, 1):
        base.add("Rubber", moved(cushion((4.3, 0.86, 0.62), 0.43, None, 0), (0, 0.43, 1.32 * side)))
        for x in (-1.5, -0.5, 0.5, 1.5):
            base.add("Steel", wheel_disk(side, x))
    base.add("Steel", box((2.2, 0.42, 2.3), (0, 0.66, 0), 0.08), cylinder(0.95, 0.8, 1.06, 16))
    slew = Joint("slew", "base", (0, 1.02, 0))
    slew.add("Yellow", box((3.5, 0.34, 2.1), (-0.55, 0.24, 0), 0.07))
    slew.add("Yellow", box((1.9, 1.0, 1.15), (-0.9, 0.9, -0.36), 0.1))
    slew.add("Steel", slab((1.5, 0.06, 0.8), (-0.9, 1.42, -0.36)))
    slew.add("Steel", *(slab((0.12, 0.5, 0.02), (-0.4 - 0.3 * i, 0.86, -0.945)) for i in range(3)))
    slew.add("Concrete", box((0.72, 1.0, 2.2), (-2.35, 0.72, 0), 0.09))
    slew.add("Red", box((0.74, 0.16, 2.22), (-2.35, 1.0, 0), 0.05))
    slew.add("Yellow", box((1.12, 0.24, 0.86), (0.56, 0.45, 0.66), 0.06))
    slew.add("Glass", box((0.98, 0.88, 0.76), (0.54, 0.98, 0.66), 0.1))
    slew.add("Yellow", box((1.1, 0.12, 0.86), (0.52, 1.46, 0.66), 0.05))
    slew.add("Yellow", box((0.26, 0.95, 0.82), (0.08, 0.96, 0.66), 0.06))
    for z in (-0.62, 0.18):
        slew.add("Steel", box((0.5, 0.5, 0.12), (0.86, 0.52, z), 0.05))
    slew.add("Steel", moved(lying(cylinder(0.11, -0.5, 0.5, 8), "z"), (0.92, 0.6, -0.22)))
    mast = (-1.55, 2.55, -0.22)
    for z in (-0.5, 0.06):
        slew.add("Red", bar((-0.4, 0.4, z), mast, 0.06, 5), bar((-2.1, 0.4, z), mast, 0.06, 5))
    slew.add("Steel", moved(lying(cylinder(0.16, -0.18, 0.18, 8), "z"), mast))

    boom = Joint("boom", "slew", (0.92, 0.6, -0.22), ((0, 0, 1), BOOM_REST))
    boom.add(
        "Yellow", *lattice(BOOM_LENGTH - 0.5, 0.72, 0.42, 6, 0.034), box((0.5, 0.72, 0.72), (0.05, 0, 0), 0.1)
    )
    boom.add("Steel", moved(lying(cylinder(0.19, -0.3, 0.3, 10), "z"), (BOOM_LENGTH, 0, 0)))
    boom.add("Yellow", box((0.62, 0.46, 0.44), (BOOM_LENGTH - 0.42, 0, 0), 0.07))
    boom.add("White", slab((0.9, 0.4, 0.03), (2.9, 0, 0.31)))
    jib = Joint("jib", "boom", (BOOM_LENGTH, 0, 0), ((0, 0, 1), JIB_REST))
    jib.add(
        "Orange",
        *lattice(JIB_LENGTH - 0.2, 0.40, 0.24, 3, 0.028),
        box((0.34, 0.34, 0.36), (0.04, 0, 0), 0.06),
    )
    jib.add("Steel", moved(lying(cylinder(0.2, -0.11, 0.11, 12), "z"), (JIB_LENGTH, 0, 0)))
    jib.add("Orange", *(box((0.5, 0.2, 0.05), (JIB_LENGTH - 0.16, 0, z), 0.02) for z in (-0.15, 0.15)))
    line = Joint("line", "jib", (JIB_LENGTH, 0, 0), ((0, 0, 1), -BOOM_REST - JIB_REST))
    cable = Joint("cable", "line")
    cable.add("Rubber", *(bar((x, 0, 0), (x, -LINE_REST, 0), 0.022, 5) for x in (-0.07, 0.07)))
    hook = Joint("hook", "line", (0, -LINE_REST, 0))
    hook.add("Red", box((0.44, 0.5, 0.2), (0, -0.08, 0), 0.07))
    hook.add("White", slab((0.45, 0.12, 0.21), (0, -0.08, 0)))
    hook.add("Steel", bar((0, -0.52, 0), (0, -0.3, 0), 0.06, 5), *hook_bow())
    return [base, slew, boom, jib, line, cable, hook], crane_clips()


def wheel_disk(side: int, x: float) -> Shape:
    """The outer face of a wheel inside the tracks."""
    shape = lying(disk(0.31, -0.02, 0.05, 10), "z")
    return moved(shape, (x, 0.43, 1.63 * side), None if side > 0 else about((0, 1, 0), 180))


def hook_bow() -> list[Shape]:
    """The bent part of the hook, a little thinner towards its point."""
    angle = np.radians(np.linspace(90, -150, 7))
    way = np.stack([0.17 * np.cos(angle), -0.68 + 0.17 * np.sin(angle), np.zeros(7)], axis=1)
    return [bar(a, b, r, 5) for a, b, r in zip(way[:-1], way[1:], np.linspace(0.06, 0.035, 6), strict=True)]


def crane_clips() -> dict[str, list[Track]]:
    """The line hangs straight down whatever boom and jib do: all turn about z, on the same key times."""
    slow = np.linspace(0, 8, 33)
    yaw = eased(slow, ((0, 0), (2.4, 70), (5.6, -70), (8, 0)))
    swing = 3.0 * np.sin(2 * np.pi * slow / 4) * np.sin(np.pi * slow / 8)
    rest = np.full(len(slow), -BOOM_REST - JIB_REST)
    slew: list[Track] = [
        ("slew", "rotation", "LINEAR", slow, quaternions((0, 1, 0), yaw)),
        ("line", "rotation", "LINEAR", slow, quaternions((0, 0, 1), rest + swing)),
    ]
    time = np.linspace(0, 6, 25)
    pitch = eased(time, ((0, BOOM_REST), (2.2, 74), (4.4, 24), (6, BOOM_REST)))
    fold = eased(time, ((0, JIB_REST), (2.2, -48), (4.4, -8), (6, JIB_REST)))
    up: list[Track] = [
        ("boom", "rotation", "LINEAR", time, quaternions((0, 0, 1), pitch)),
        ("jib", "rotation", "LINEAR", time, quaternions((0, 0, 1), fold)),
        ("line", "rotation", "LINEAR", time, quaternions((0, 0, 1), -pitch - fold)),
    ]
    knots = ((0.0, LINE_REST), (1.8, 1.1), (4.0, 5.2), (5.0, LINE_REST))
    lift = [
        soft_keys("hook", "translation", [(t, (0, -reach, 0)) for t, reach in knots]),
        soft_keys("cable", "scale", [(t, (1, reach / LINE_REST, 1)) for t, reach in knots]),
    ]
    return {"slew": slew, "raise": up, "lift": lift}


# ---- the chair ------------------------------------------------------------------------------

LEGS = 5
LEG_REACH, WHEEL_RADIUS = 0.30, 0.029
SEAT_HEIGHT, LIFT_REST, BACK_REST = 0.44, 0.14, -8.0  # the last in degrees


def make_chair() -> tuple[list[Joint], dict[str, list[Track]]]:
    base = Joint("base", "")
    joints = [base]
    base.add("Steel", cylinder(0.05, 0.065, 0.15, 14, 0.01))
    for leg in range(LEGS):
        turn = about((0, 1, 0), 360 / LEGS * leg)
        base.add("Steel", moved(chair_leg(), turn=turn))
        joints += caster(leg, turn @ np.array([0, 0.062, LEG_REACH]))
    lift = Joint("lift", "base", (0, LIFT_REST, 0))
    lift.add("Chrome", cylinder(0.021, -0.06, 0.25, 12, 0.004))
    base.add("Rubber", cylinder(0.032, 0.14, 0.25, 14, 0.006))
    seat = Joint("seat", "lift", (0, SEAT_HEIGHT - LIFT_REST, 0))
    seat.add("Steel", box((0.20, 0.05, 0.24), (0, -0.065, -0.02), 0.015))
    seat.add("Rubber", moved(cushion((0.47, 0.03, 0.46), 0.015, seat_bend, 1, False), (0, -0.038, 0)))
    seat.add("Fabric", moved(cushion((0.49, 0.085, 0.48), 0.0425, seat_bend, 2), (0, 0.012, 0)))
    seat.add("Steel", bar((0.07, -0.07, 0.02), (0.27, -0.075, 0.02), 0.006, 6))
    seat.add("Rubber", moved(lying(cylinder(0.012, -0.03, 0.03, 10, 0.004), "x"), (0.28, -0.075, 0.02)))
    for side in (-1, 1):
        x = 0.285 * side
        seat.add("Steel", bar((0.1 * side, -0.065, -0.04), (x, -0.055, -0.04), 0.014, 6))
        seat.add("Steel", box((0.03, 0.24, 0.05), (x, 0.06, -0.04), 0.011))
        seat.add("Rubber", moved(cushion((0.07, 0.032, 0.25), 0.016, None, 0, False), (x, 0.19, -0.01)))
    back = Joint("back", "seat", (0, -0.05, -0.2), ((1, 0, 0), BACK_REST))
    back.add(
        "Steel",
        box((0.07, 0.34, 0.022), (0, 0.14, -0.064), 0.009),
        box((0.07, 0.022, 0.16), (0, -0.018, 0.02), 0.009),
    )
    back.add("Rubber", moved(cushion((0.43, 0.53, 0.022), 0.011, back_bend, 1, False), (0, 0.41, -0.045)))
    back.add("Fabric", moved(cushion((0.45, 0.55, 0.065), 0.0325, back_bend, 2), (0, 0.41, 0.0)))
    back.add("Steel", box((0.05, 0.18, 0.016), (0, 0.715, -0.056), 0.006))
    head = Joint("headrest", "back", (0, 0.80, -0.03))
    head.add("Fabric", cushion((0.27, 0.13, 0.06), 0.03, back_bend, 0))
    return [*joints, lift, seat, back, head], chair_clips()


def seat_bend(p: Array) -> Array:
    """Round corners seen from above, a front edge that falls, a shallow middle."""
    q = p.copy()
    q[:, 0] *= 1 - 0.10 * np.abs(p[:, 2] / 0.24) ** 3 - 0.06 * (p[:, 2] < 0) * np.abs(p[:, 2] / 0.24)
    q[:, 2] *= 1 - 0.08 * np.abs(p[:, 0] / 0.245) ** 3
    q[:, 1] += -0.035 * np.clip((p[:, 2] - 0.08) / 0.16, 0, None) ** 2 + 0.02 * (p[:, 0] / 0.245) ** 2
    return q


def back_bend(p: Array) -> Array:
    """Hollow from side to side, with a bulge for the small of the back; narrower at the top."""
    q = p.copy()
    q[:, 2] += 0.055 * (p[:, 0] / 0.22) ** 2 + 0.03 * np.exp(-(((p[:, 1] + 0.16) / 0.11) ** 2))
    q[:, 0] *= 1 - 0.12 * np.clip(p[:, 1] / 0.27, -0.4, 1) ** 2
    q[:, 1] *= 1 - 0.06 * np.abs(p[:, 0] / 0.225) ** 3
    return q


def chair_leg() -> Shape:
    """Along +Z, lower and thinner towards the caster."""
    points, normals, faces = box((0.05, 0.034, LEG_REACH + 0.02), (0, 0, LEG_REACH / 2), 0.01)
    out = np.clip(points[:, 2] / LEG_REACH, 0, 1)
    points[:, 0] *= 1.0 - 0.35 * out
    points[:, 1] = points[:, 1] * (1.25 - 0.6 * out) + 0.112 - 0.028 * out
    return points, normals, faces


def caster(number: int, place: Array) -> list[Joint]:
    """The fork swivels about +Y; its two wheels turn about the joint's own +X, behind the swivel."""
    fork, wheel = (
        Joint(f"caster{number + 1}", "base", place),
        Joint(f"wheel{number + 1}", f"caster{number + 1}"),
    )
    wheel.translation = (0, WHEEL_RADIUS - place[1], -0.018)
    if number:
        fork.same_as, wheel.same_as = "caster1", "wheel1"
        return [fork, wheel]
    fork.add("Chrome", cylinder(0.008, -0.03, 0.03, 8, 0.002))
    fork.add("Steel", moved(cushion((0.024, 0.03, 0.052), 0.012, None, 0, False), (0, -0.012, -0.014)))
    for x in (-0.02, 0.02):
        wheel.add("Rubber", moved(lying(cylinder(WHEEL_RADIUS, -0.009, 0.009, 12, 0.005), "x"), (x, 0, 0)))
        wheel.add("Chrome", moved(lying(cylinder(0.012, -0.0105, 0.0105, 6, 0.002), "x"), (x, 0, 0)))
    return [fork, wheel]


def chair_clips() -> dict[str, list[Track]]:
    """It spins once, rolls forth and back without slipping, and goes up and down."""
    turn_times = np.linspace(0, 3, 25)
    yaw = eased(turn_times, ((0, 0), (3, 360)))
    lean = BACK_REST - 9.0 * np.sin(np.pi * turn_times / 3) ** 2
    spin: list[Track] = [
        ("seat", "rotation", "LINEAR", turn_times, quaternions((0, 1, 0), yaw)),
        ("back", "rotation", "LINEAR", turn_times, quaternions((1, 0, 0), lean)),
    ]
    time = np.linspace(0, 4, 33)
    reach = 6 * np.pi * WHEEL_RADIUS  # forth and back make six whole turns, so that the clip closes
    way = eased(time, ((0, 0), (0.25, 0), (1.75, reach), (2.25, reach), (3.75, 0), (4, 0)))
    roll: list[Track] = [("base", "translation", "LINEAR", time, np.stack([0 * way, 0 * way, way], axis=1))]
    # Forks trail: they look where the chair goes, and swing round when it turns back.
    swivel = eased(time, ((0, 180), (0.5, 0), (2.0, 0), (2.5, 180), (4, 180)))
    rolled = np.degrees(np.cumsum(np.abs(np.diff(way, prepend=0.0))) / WHEEL_RADIUS)
    for leg in range(LEGS):
        side = -1 if leg % 2 else 1
        roll.append((f"caster{leg + 1}", "rotation", "LINEAR", time, quaternions((0, side, 0), swivel)))
        roll.append((f"wheel{leg + 1}", "rotation", "LINEAR", time, quaternions((1, 0, 0), rolled)))
    knots = ((0.0, 0.0), (1.2, 0.09), (1.7, 0.09), (2.9, -0.04), (3.3, -0.04), (4.0, 0.0))
    height = [soft_keys("lift", "translation", [(t, (0, LIFT_REST + y, 0)) for t, y in knots])]
    return {"spin": spin, "roll": roll, "height": height}


# ---------------------------------------------------------------------------------------------
# The file
# ---------------------------------------------------------------------------------------------


class Parts:
    """Positions, normals and indices of all parts, each in one buffer view."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.views = [buffer.add_bytes(b"", ARRAY_BUFFER) for _ in range(2)]
        self.views.append(buffer.add_bytes(b"", ELEMENT_ARRAY_BUFFER))
        for view in self.views[:2]:
            buffer.views[view]["byteStride"] = 12
        self.data = [bytearray() for _ in self.views]

    def primitive(self, shapes: Sequence[Shape], material: int) -> dict[str, object]:
        starts = np.cumsum([0, *(len(points) for points, _, _ in shapes)])
        faces = np.concatenate(
            [s[2].reshape(-1) + start for s, start in zip(shapes, starts[:-1], strict=True)]
        )
        small = starts[-1] < 256  # 255 itself would end a strip
        columns = (
            (rounded(np.concatenate([points for points, _, _ in shapes]), 4), "VEC3", FLOAT),
            (rounded(unit(np.concatenate([normals for _, normals, _ in shapes])), 4), "VEC3", FLOAT),
            (faces.astype("u1" if small else "<u2"), "SCALAR", UINT8 if small else UINT16),
        )
        numbers = []
        for view, data, (values, kind, component) in zip(self.views, self.data, columns, strict=True):
            numbers.append(
                self.buffer.add_accessor(view, len(data), values, kind, component, limits=not numbers)
            )
            data += values.tobytes() + b"\0" * (-values.nbytes % 4)
        attributes = {"POSITION": numbers[0], "NORMAL": numbers[1]}
        return {"attributes": attributes, "indices": numbers[2], "material": material}

    def write(self) -> None:
        for view, data in zip(self.views, self.data, strict=True):
            start = self.buffer.add_bytes(bytes(data))
            self.buffer.views[view] |= {**self.buffer.views.pop(start)}


def linear(color: tuple[int, int, int]) -> list[float]:
    """sRGB 0 to 255 to linear light, alpha 1."""
    c = np.array(color) / 255
    light = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return [*np.round(light, 4).tolist(), 1.0]


def make_glb(joints: list[Joint], clips: dict[str, list[Track]]) -> bytes:
    buffer = Buffer()
    parts, keys = Parts(buffer), Keys(buffer, buffer.add_bytes(b""))
    used = list(dict.fromkeys(material for joint in joints for material in joint.parts))
    number = {joint.name: i for i, joint in enumerate(joints)}
    nodes, meshes, mesh_of = [], [], {}
    for joint in joints:
        node: dict[str, object] = {"name": joint.name}
        if any(joint.translation):
            node["translation"] = (np.round(np.asarray(joint.translation, float), 5) + 0.0).tolist()
        if joint.turn[1]:
            node["rotation"] = np.round(quaternions(joint.turn[0], np.array([joint.turn[1]]))[0], 7).tolist()
        if joint.parts:
            mesh_of[joint.name] = len(meshes)
            primitives = [parts.primitive(shapes, used.index(name)) for name, shapes in joint.parts.items()]
            meshes.append({"name": joint.name, "primitives": primitives})
        shown = joint.same_as or joint.name
        if shown in mesh_of:
            node["mesh"] = mesh_of[shown]
        children = [i for i, other in enumerate(joints) if other.parent == joint.name]
        nodes.append(node | ({"children": children} if children else {}))
    parts.write()
    animations = [animation(keys, name, tracks, number) for name, tracks in clips.items()]
    start = buffer.add_bytes(bytes(keys.data))
    buffer.views[keys.view] |= buffer.views.pop(start)
    document = {
        "asset": {"version": "2.0", "generator": GENERATOR},
        "scene": 0,
        "scenes": [{"name": "Scene", "nodes": [0]}],
        "nodes": nodes,
        "meshes": meshes,
        "animations": animations,
        "materials": [material_of(name) for name in used],
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
        "buffers": [{"byteLength": len(buffer.data)}],
    }
    return pack_glb(document, bytes(buffer.data))


def material_of(name: str) -> dict[str, object]:
    shiny = name in ("Chrome", "Glass")
    surface = {
        "baseColorFactor": linear(COLORS[name]),
        "metallicFactor": 0.0,
        "roughnessFactor": 0.3 if shiny else 0.8,
    }
    return {"name": name, "pbrMetallicRoughness": surface}


def animation(keys: Keys, name: str, tracks: list[Track], number: dict[str, int]) -> dict[str, object]:
    channels = []
    samplers: dict[tuple[int, str, bytes], int] = {}  # five wheels turn alike and share one
    described = []
    for joint, path, interpolation, times, values in tracks:
        rows = rounded(values.reshape(-1, values.shape[-1]), 6)
        clock = keys.add(rounded(times, 6), "SCALAR")
        same = (clock, interpolation, rows.tobytes())
        if same not in samplers:
            samplers[same] = len(described)
            sampler: dict[str, object] = {"input": clock, "output": keys.add(rows, f"VEC{rows.shape[1]}")}
            described.append(
                sampler | ({} if interpolation == "LINEAR" else {"interpolation": interpolation})
            )
        channels.append({"sampler": samplers[same], "target": {"node": number[joint], "path": path}})
    return {"name": name, "channels": channels, "samplers": described}


MODELS = {"crane": make_crane, "chair": make_chair}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Makes the crane and the chair that skinpy brings along.")
    parser.add_argument("-o", "--output", type=Path, default=DEFAULT_FOLDER, help="folder (%(default)s)")
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    options = parser.parse_args(arguments)
    failed = 0
    for name, make in MODELS.items():
        path, data = options.output / f"{name}.glb", make_glb(*make())
        if options.check:
            same = path.is_file() and path.read_bytes() == data
            print(f"{path}: {'the same' if same else 'different'}")
            failed |= not same
        else:
            path.write_bytes(data)
            print(f"{path}: {len(data)} bytes")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
