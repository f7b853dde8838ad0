"""Makes the character that skinpy brings along: a toy explorer with smooth skin, and its clips.

    python examples/make_character.py                 writes skinpy/data/character.glb
    python examples/make_character.py -o other.glb    writes it elsewhere
    python examples/make_character.py --check         compares with the file in the repository

Everything is computed here with NumPy and the standard library; no asset is read. The shape is a
set of signed distance fields, polygonised once with surface nets; fittings (visor, cuffs, belt)
are grids laid on that surface. Joints rest without rotation, so that every local rotation in a
clip is relative to the global axes: +Y up, the figure faces +Z, its left is +X, units are meters.

The same bytes come out on every run. Numbers are rounded before they are written, so that the last
bit of a sine on another processor does not show.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Faces = NDArray[np.int64]
Field = Callable[[Array], Array]

DEFAULT_PATH = Path(__file__).resolve().parents[1] / "skinpy" / "data" / "character.glb"
GENERATOR = "skinpy examples/make_character.py"

# ---------------------------------------------------------------------------------------------
# Skeleton
# ---------------------------------------------------------------------------------------------

ARM = np.array([np.sqrt(0.5), -np.sqrt(0.5), 0.0])  # the arms rest 45 degrees below the horizon
UPPER_ARM = np.array([0.158, 1.100, 0.0])
ELBOW = UPPER_ARM + 0.205 * ARM
WRIST = ELBOW + 0.185 * ARM
GLOVE_SIZE = 1.12
KNUCKLES = WRIST + 0.080 * GLOVE_SIZE * ARM
UPPER_LEG = np.array([0.097, 0.720, 0.0])
KNEE = np.array([0.102, 0.405, 0.014])
ANKLE = np.array([0.106, 0.100, -0.014])
TOE = np.array([0.114, 0.034, 0.094])

CENTER_JOINTS = (
    ("Hips", "", (0.0, 0.760, 0.0)),
    ("Spine", "Hips", (0.0, 0.860, 0.0)),
    ("Chest", "Spine", (0.0, 0.980, 0.0)),
    ("Neck", "Chest", (0.0, 1.150, -0.005)),
    ("Head", "Neck", (0.0, 1.205, 0.0)),
    ("Antenna", "Head", (0.0, 1.575, -0.01)),
)
SIDE_JOINTS = (
    ("Shoulder", "Chest", (0.050, 1.110, 0.0)),
    ("UpperArm", "Shoulder", tuple(UPPER_ARM)),
    ("LowerArm", "UpperArm", tuple(ELBOW)),
    ("Hand", "LowerArm", tuple(WRIST)),
    ("Fingers", "Hand", tuple(KNUCKLES)),
    ("UpperLeg", "Hips", tuple(UPPER_LEG)),
    ("LowerLeg", "UpperLeg", tuple(KNEE)),
    ("Foot", "LowerLeg", tuple(ANKLE)),
    ("Toe", "Foot", tuple(TOE)),
)


@dataclass(frozen=True)
class Joint:
    name: str
    parent: int
    position: Array  # global, at rest


def make_skeleton() -> tuple[Joint, ...]:
    """Center joints first, then the left side, then its mirror image."""
    rows = list(CENTER_JOINTS)
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        own = {name for name, _, _ in SIDE_JOINTS}
        for name, parent, (x, y, z) in SIDE_JOINTS:
            rows.append((side + name, side + parent if parent in own else parent, (sign * x, y, z)))
    index = {name: i for i, (name, _, _) in enumerate(rows)}
    return tuple(Joint(name, index.get(parent, -1), np.array(at)) for name, parent, at in rows)


SKELETON = make_skeleton()
INDEX = {joint.name: i for i, joint in enumerate(SKELETON)}

# ---------------------------------------------------------------------------------------------
# Signed distance fields (points (N, 3) -> (N,), negative inside)
# ---------------------------------------------------------------------------------------------


def length(v: Array) -> Array:
    return np.sqrt(np.sum(v * v, axis=-1))


def unit(v: Array) -> Array:
    return v / np.maximum(length(v), 1e-12)[..., None]


def capsule(p: Array, a: Array, b: Array, radius_a: float, radius_b: float) -> Array:
    """A capsule whose radius goes from `radius_a` to `radius_b`."""
    t = np.clip((p - a) @ (b - a) / np.dot(b - a, b - a), 0.0, 1.0)
    return length(p - a - t[:, None] * (b - a)) - radius_a - t * (radius_b - radius_a)


def ellipsoid(p: Array, center: tuple[float, float, float], radii: tuple[float, float, float]) -> Array:
    """A close bound of the distance, exact on the surface."""
    q = (p - np.array(center)) / np.array(radii)
    k = length(q)
    return k * (k - 1.0) / np.maximum(length(q / np.array(radii)), 1e-9)


def round_box(
    p: Array, center: tuple[float, float, float], half: tuple[float, float, float], r: float
) -> Array:
    q = np.abs(p - np.array(center)) - (np.array(half) - r)
    return length(np.maximum(q, 0.0)) + np.minimum(np.max(q, axis=1), 0.0) - r


def join(a: Array, b: Array, k: float) -> Array:
    """The union of two fields with a fillet of about `k`."""
    h = np.maximum(k - np.abs(a - b), 0.0)
    return np.minimum(a, b) - h * h / (4.0 * k)


def mirrored(p: Array, soft: float = 0.0) -> Array:
    """Both sides on the left one; `soft` rounds the crease in the middle."""
    q = p.copy()
    q[:, 0] = np.sqrt(p[:, 0] ** 2 + soft * soft)
    return q


def torso(p: Array) -> Array:
    q = p * np.array([1.0, 1.0, 1.22])  # flatter than wide
    trunk = capsule(q, np.array([0.0, 0.830, 0.012]), np.array([0.0, 1.040, 0.0]), 0.136, 0.128)
    pelvis = ellipsoid(q, (0.0, 0.775, -0.004), (0.150, 0.105, 0.138))
    yoke = capsule(mirrored(q), np.array([0.0, 1.075, 0.0]), np.array([0.115, 1.095, 0.0]), 0.090, 0.066)
    neck = capsule(p, np.array([0.0, 1.120, -0.005]), np.array([0.0, 1.250, 0.0]), 0.058, 0.052)
    return join(join(join(trunk, pelvis, 0.06), yoke, 0.07), neck, 0.05)


def arm(p: Array) -> Array:
    """Both arms, from the shoulder into the glove."""
    q = mirrored(p)
    upper = capsule(q, UPPER_ARM, ELBOW, 0.063, 0.052)
    return join(upper, capsule(q, ELBOW, WRIST - 0.005 * ARM, 0.052, 0.045), 0.03)


def leg(p: Array) -> Array:
    """Both legs, from the hip into the boot."""
    q = mirrored(p, 0.013)
    thigh = capsule(q, UPPER_LEG, KNEE, 0.086, 0.065)
    return join(thigh, capsule(q, KNEE, np.array([0.106, 0.150, -0.012]), 0.065, 0.056), 0.03)


def body(p: Array) -> Array:
    return join(join(torso(p), leg(p), 0.05), arm(p), 0.045)


def head(p: Array) -> Array:
    skull = round_box(p, (0.0, 1.395, 0.004), (0.196, 0.172, 0.176), 0.140)
    cheeks = ellipsoid(p, (0.0, 1.345, 0.006), (0.207, 0.135, 0.180))
    return join(skull, cheeks, 0.06)


def glove(p: Array) -> Array:
    """The left glove: along ARM, the thumb towards +Z, the palm towards the body."""
    q = (p - WRIST) / GLOVE_SIZE
    side = np.array([ARM[1], -ARM[0], 0.0])  # out of the palm
    front = np.array([0.0, 0.0, 1.0])
    palm = join(
        capsule(q, 0.02 * ARM + 0.014 * front, 0.068 * ARM + 0.020 * front, 0.036, 0.036),
        capsule(q, 0.02 * ARM - 0.014 * front, 0.068 * ARM - 0.020 * front, 0.036, 0.034),
        0.03,
    )
    shape = join(palm, capsule(q, -0.035 * ARM, 0.02 * ARM, 0.052, 0.038), 0.03)
    for z, reach, spread in ((0.038, 0.068, 0.16), (0.0, 0.076, 0.0), (-0.038, 0.062, -0.18)):
        root = 0.074 * ARM + z * front
        tip = 0.080 * ARM + z * front + reach * unit(ARM + spread * front) + 0.008 * side
        shape = join(shape, capsule(q, root, tip, 0.0215, 0.0195), 0.010)
    thumb_root = 0.036 * ARM + 0.026 * front + 0.006 * side
    thumb_tip = thumb_root + 0.068 * unit(0.55 * ARM + 0.80 * front + 0.10 * side)
    return GLOVE_SIZE * join(shape, capsule(q, thumb_root, thumb_tip, 0.0230, 0.0205), 0.018)


def boot(p: Array) -> Array:
    """The left boot; its sole is flat on y = 0."""
    q = p - np.array([0.110, 0.0, 0.0])
    q[:, 0] -= 0.06 * q[:, 2]  # toes a little outwards
    cap = ellipsoid(q, (0.0, 0.030, 0.094), (0.071, 0.072, 0.088))
    heel = ellipsoid(q, (0.0, 0.034, -0.022), (0.058, 0.064, 0.062))
    shaft = capsule(p, np.array([0.107, 0.075, -0.014]), np.array([0.106, 0.190, -0.012]), 0.060, 0.067)
    instep = capsule(q, np.array([0.0, 0.085, 0.0]), np.array([0.0, 0.045, 0.080]), 0.050, 0.045)
    shape = join(join(join(cap, heel, 0.05), instep, 0.03), shaft, 0.035)
    return -join(-shape, q[:, 1], 0.016)  # cut by the ground with a rounded edge


PACK_CENTER, PACK_HALF, PACK_ROUND = (0.0, 1.025, -0.128), (0.092, 0.092, 0.052), 0.036


def pack(p: Array) -> Array:
    """What the explorer carries on the back."""
    return round_box(p, PACK_CENTER, PACK_HALF, PACK_ROUND)


def everything(p: Array) -> Array:
    """The whole figure, for the ambient occlusion."""
    q = mirrored(p)
    return np.min([body(p), head(p), glove(q), boot(q), pack(p)], axis=0)


def gradient(shape: Field, p: Array) -> Array:
    step = 5e-4
    axes = [shape(p + step * axis) - shape(p - step * axis) for axis in np.eye(3)]
    return np.stack(axes, axis=1) / (2.0 * step)


def onto(shape: Field, p: Array, rounds: int = 3) -> Array:
    """Newton's steps onto the surface."""
    for _ in range(rounds):
        g = gradient(shape, p)
        p = p - g * (shape(p) / np.maximum(np.sum(g * g, axis=1), 1e-6))[:, None]
    return p


# ---------------------------------------------------------------------------------------------
# Polygons
# ---------------------------------------------------------------------------------------------


def surface_nets(
    shape: Field, low: tuple[float, ...], high: tuple[float, ...], h: float
) -> tuple[Array, Faces]:
    """One vertex in every grid cell that the surface crosses, one quad for every crossed edge."""
    count = np.ceil((np.array(high) - np.array(low)) / h).astype(int) + 1
    axes = [start + h * np.arange(n) for start, n in zip(low, count, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    value = shape(grid.reshape(-1, 3)).reshape(grid.shape[:3])
    total = np.zeros((*(count - 1), 3))
    hits = np.zeros(count - 1)
    quads = []
    ids = np.arange(int(np.prod(count - 1))).reshape(count - 1)
    for axis in range(3):
        a, b = np.take(value, range(count[axis] - 1), axis), np.take(value, range(1, count[axis]), axis)
        at = np.argwhere((a < 0) != (b < 0))
        inside = (a < 0)[tuple(at.T)]
        t = (a / np.where(a == b, 1.0, a - b))[tuple(at.T)]
        point = np.array(low) + h * at
        point[:, axis] += h * t
        u, v = np.eye(3, dtype=int)[(axis + 1) % 3], np.eye(3, dtype=int)[(axis + 2) % 3]
        ring = [at - u - v, at - v, at, at - u]
        for cell in ring:
            np.add.at(total, tuple(cell.T), point)
            np.add.at(hits, tuple(cell.T), 1.0)
        quad = np.stack([ids[tuple(cell.T)] for cell in ring], axis=1)
        quads.append(np.where(inside[:, None], quad, quad[:, ::-1]))
    used = np.flatnonzero(hits.ravel())
    place = np.zeros(hits.size, dtype=np.int64)
    place[used] = np.arange(len(used))
    points = total.reshape(-1, 3)[used] / hits.ravel()[used, None]
    return points, split_quads(points, place[np.concatenate(quads)])


def split_quads(points: Array, quads: Faces) -> Faces:
    """Two triangles a quad, along the shorter diagonal; ties always go the same way."""
    a, b, c, d = quads.T
    other = length(points[b] - points[d]) < length(points[a] - points[c]) - 1e-7
    first = np.where(other[:, None], np.stack([a, b, d], axis=1), np.stack([a, b, c], axis=1))
    second = np.where(other[:, None], np.stack([b, c, d], axis=1), np.stack([a, c, d], axis=1))
    return np.concatenate([first, second])


def edges_of(faces: Faces) -> Faces:
    """Every undirected edge once."""
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def neighbor_mean(values: Array, edges: Faces) -> Array:
    total, count = np.zeros_like(values), np.zeros(len(values))
    for a, b in ((0, 1), (1, 0)):
        np.add.at(total, edges[:, a], values[edges[:, b]])
        np.add.at(count, edges[:, a], 1.0)
    return total / count[:, None]


def relax(shape: Field, points: Array, faces: Faces, rounds: int = 12) -> Array:
    """Evens out the triangles along the surface."""
    edges = edges_of(faces)
    for _ in range(rounds):
        normal = unit(gradient(shape, points))
        move = neighbor_mean(points, edges) - points
        move -= normal * np.sum(move * normal, axis=1)[:, None]
        points = onto(shape, points + 0.5 * move, rounds=1)
    return onto(shape, points)


def collapse(shape: Field, points: Array, faces: Faces, size: Field) -> tuple[Array, Faces]:
    """Merges the ends of edges that are shorter than `size` wants them, the shortest first."""
    for _ in range(16):
        edges = edges_of(faces)
        ratio = length(points[edges[:, 0]] - points[edges[:, 1]]) / size(points[edges].mean(axis=1))
        order = np.argsort(np.round(ratio, 6), kind="stable")
        chosen = apart(edges[order[ratio[order] < 0.8]].tolist(), neighbor_sets(edges, len(points)))
        if not chosen:
            break
        for _ in range(4):  # take back what would fold the surface
            keep, drop = np.array(chosen).T
            moved, place = points.copy(), np.arange(len(points))
            moved[keep] = onto(shape, 0.5 * (points[keep] + points[drop]))
            place[drop] = keep
            merged = place[faces]
            whole = (
                (merged[:, 0] != merged[:, 1])
                & (merged[:, 1] != merged[:, 2])
                & (merged[:, 2] != merged[:, 0])
            )
            folded = set(merged[whole & (facing(shape, moved, merged) < 0.5)].ravel().tolist())
            chosen = [pair for pair in chosen if pair[0] not in folded]
            if not folded:
                break
        points, faces = keep_faces(moved, merged, whole)
    return points, faces


def facing(shape: Field, points: Array, faces: Faces) -> Array:
    """1 where a triangle looks the way the surface does, -1 where it is turned over."""
    a, b, c = (points[faces[:, i]] for i in range(3))
    return np.sum(unit(np.cross(b - a, c - a)) * unit(gradient(shape, (a + b + c) / 3.0)), axis=1)


def neighbor_sets(edges: Faces, count: int) -> list[set[int]]:
    sets: list[set[int]] = [set() for _ in range(count)]
    for a, b in edges.tolist():
        sets[a].add(b)
        sets[b].add(a)
    return sets


def apart(edges: list[list[int]], around: list[set[int]]) -> list[list[int]]:
    """The edges, in their order, that can go at the same time and leave a surface."""
    touched: set[int] = set()
    chosen = []
    for a, b in edges:
        ring = around[a] | around[b]
        if touched.isdisjoint(ring) and len(around[a] & around[b]) == 2 and len(ring) < 12:
            touched |= ring
            chosen.append([a, b])
    return chosen


def flip(points: Array, faces: Faces) -> Faces:
    """Turns the shared edge of two triangles where its opposite angles are too wide (Delaunay)."""
    for _ in range(8):
        owner: dict[tuple[int, int], tuple[int, int]] = {}
        for number, (a, b, c) in enumerate(faces.tolist()):
            owner |= {(a, b): (number, c), (b, c): (number, a), (c, a): (number, b)}
        rows = [(a, b, *owner[a, b], *owner[b, a]) for a, b in owner if a < b and (b, a) in owner]
        a, b, left, c, right, d = np.array(rows).T
        gain = -cotangent(points, c, a, b) - cotangent(points, d, a, b)
        up = face_normal(points, a, b, c) + face_normal(points, b, a, d)
        for new in (face_normal(points, c, a, d), face_normal(points, d, b, c)):
            gain[np.sum(up * new, axis=1) < 1.2] = 0.0  # it would bend or fold the surface
        touched: set[int] = set()
        for i in np.argsort(-np.round(gain, 6), kind="stable"):
            if gain[i] < 0.05:
                break
            pair = {int(left[i]), int(right[i])}
            if touched.isdisjoint(pair) and (c[i], d[i]) not in owner and (d[i], c[i]) not in owner:
                touched |= pair
                faces[left[i]], faces[right[i]] = (c[i], a[i], d[i]), (d[i], b[i], c[i])
        if not touched:
            break
    return faces


def face_normal(points: Array, a: Faces, b: Faces, c: Faces) -> Array:
    return unit(np.cross(points[b] - points[a], points[c] - points[a]))


def cotangent(points: Array, at: Faces, a: Faces, b: Faces) -> Array:
    """Of the angle at `at` in the triangles (at, a, b)."""
    u, v = points[a] - points[at], points[b] - points[at]
    return np.sum(u * v, axis=1) / np.maximum(length(np.cross(u, v)), 1e-12)


def cut(shape: Field, points: Array, faces: Faces, side: Field) -> tuple[Array, Faces]:
    """Splits the triangles where `side` changes its sign, so that colors meet along a clean curve."""
    value = side(points)
    edges = edges_of(faces)
    edges = edges[(value[edges[:, 0]] < 0) != (value[edges[:, 1]] < 0)]
    low, high = points[edges[:, 0]], points[edges[:, 1]]
    for _ in range(24):  # bisect along the edge, on the surface
        middle = onto(shape, 0.5 * (low + high), rounds=1)
        left = (side(middle) < 0) == (value[edges[:, 0]] < 0)
        low, high = np.where(left[:, None], middle, low), np.where(left[:, None], high, middle)
    where = {(int(a), int(b)): len(points) + i for i, (a, b) in enumerate(edges)}
    result = []
    for face in faces.tolist():
        below = [value[i] < 0 for i in face]
        if all(below) or not any(below):
            result.append(face)
            continue
        lone = below.index(sum(below) == 1)
        a, b, c = face[lone], face[(lone + 1) % 3], face[(lone + 2) % 3]
        ab, ac = where[min(a, b), max(a, b)], where[min(a, c), max(a, c)]
        result += [[a, ab, ac], [ab, b, c], [ab, c, ac]]
    return np.concatenate([points, 0.5 * (low + high)]), np.array(result)


def grid_faces(rows: int, columns: int, *, pole: bool = False) -> Faces:
    """Triangles of `rows` rings of `columns` points; a pole is one point in front of the rings."""
    first = 1 if pole else 0
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(columns), indexing="ij")
    k, n = (j + 1) % columns, i + 1
    a, b, c, d = (
        first + x.ravel() for x in (i * columns + j, n * columns + j, n * columns + k, i * columns + k)
    )
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    if pole:
        rim_point = np.arange(columns)
        fan = np.stack([0 * rim_point, first + rim_point, first + (rim_point + 1) % columns], axis=1)
        faces = np.concatenate([fan, faces])
    return faces


def face_normals(points: Array, faces: Faces) -> Array:
    """Vertex normals, every triangle counted by its area."""
    a, b, c = (points[faces[:, i]] for i in range(3))
    normal = np.zeros_like(points)
    for i in range(3):
        np.add.at(normal, faces[:, i], np.cross(b - a, c - a))
    return unit(normal)


# ---------------------------------------------------------------------------------------------
# Parts
# ---------------------------------------------------------------------------------------------

# sRGB; each is a column of the palette texture, darker towards the bottom (ambient occlusion).
COLORS = {
    "suit": (70, 140, 212),
    "shell": (255, 252, 243),
    "yellow": (255, 210, 48),
    "dark": (38, 52, 84),
    "sole": (70, 78, 104),
    "coral": (255, 118, 86),
    "visor": (24, 30, 52),
}
COLUMN_WIDTH, RAMP_HEIGHT = 8, 16
DARKEST = 0.50  # of the color, where no light comes


@dataclass
class Part:
    points: Array
    normals: Array
    faces: Faces
    weights: Array  # (N, joints)
    colors: list[str]  # of every face
    material: str = "Toy"


@dataclass
class Figure:
    parts: list[Part] = field(default_factory=list)

    def add(
        self,
        points: Array,
        faces: Faces,
        weights: Array,
        color: str | list[str],
        *,
        normals: Array | None = None,
        material: str = "Toy",
    ) -> None:
        """One color for all faces, or one for each; without normals they are made from the faces."""
        colors = [color] * len(faces) if isinstance(color, str) else color
        normals = face_normals(points, faces) if normals is None else normals
        self.parts.append(Part(points, normals, faces, weights, colors, material))

    def add_mirrored(self, part: Part) -> None:
        """The same on the right side."""
        flip = np.array([-1.0, 1.0, 1.0])
        order = [INDEX[swap_side(joint.name)] for joint in SKELETON]
        mirror = Part(
            part.points * flip,
            part.normals * flip,
            part.faces[:, ::-1],
            part.weights[:, order],
            part.colors,
            part.material,
        )
        self.parts.append(mirror)


def swap_side(name: str) -> str:
    if name.startswith("Left"):
        return "Right" + name[4:]
    return "Left" + name[5:] if name.startswith("Right") else name


def smoothstep(x: Array) -> Array:
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def rigid(count: int, name: str) -> Array:
    weights = np.zeros((count, len(SKELETON)))
    weights[:, INDEX[name]] = 1.0
    return weights


def pass_on(weights: Array, parent: str, child: str, share: Array) -> None:
    """Hands `share` of what the parent moves on to the child: so the sum stays 1."""
    moved = weights[:, INDEX[parent]] * share
    weights[:, INDEX[child]] += moved
    weights[:, INDEX[parent]] -= moved


def beyond(p: Array, origin: Array, direction: Array, width: float) -> Array:
    """0 before the plane through `origin`, 1 behind it, smooth over `width` to both sides."""
    return smoothstep(0.5 + (p - origin) @ unit(direction) / (2.0 * width))


def body_weights(p: Array) -> Array:
    weights = rigid(len(p), "Hips")
    up = np.array([0.0, 1.0, 0.0])
    for parent, child, width in (("Hips", "Spine", 0.06), ("Spine", "Chest", 0.06), ("Chest", "Neck", 0.03)):
        pass_on(weights, parent, child, beyond(p, SKELETON[INDEX[child]].position, up, width))
    pass_on(weights, "Neck", "Head", beyond(p, SKELETON[INDEX["Head"]].position, up, 0.03))
    trunk = torso(p)
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        q = p * np.array([sign, 1.0, 1.0])
        own = q[:, 0] > 0.0
        limb = np.where(own, arm(p), 1.0)
        near = smoothstep((p[:, 1] - 0.98) / 0.10) * beyond(
            q, np.array([0.075, 1.1, 0.0]), np.array([1.0, 0.2, 0.0]), 0.06
        )
        pass_on(weights, "Chest", side + "Shoulder", near * np.where(own, 1.0, 0.0))
        share = smoothstep(0.5 + (trunk - limb) / 0.09) * beyond(
            q, UPPER_ARM + 0.01 * ARM, ARM + 0.35 * np.eye(3)[0], 0.065
        )
        for parent in ("Hips", "Spine", "Chest", side + "Shoulder"):
            pass_on(weights, parent, side + "UpperArm", share)
        pass_on(weights, side + "UpperArm", side + "LowerArm", beyond(q, ELBOW, ARM, 0.05))
        pass_on(weights, side + "LowerArm", side + "Hand", beyond(q, WRIST, ARM, 0.03))
        leg_share = smoothstep(0.5 + (trunk - leg(p)) / 0.11) * beyond(
            q, UPPER_LEG, np.array([0.25, -1.0, 0.0]), 0.085
        )
        leg_share = leg_share * smoothstep(0.5 + q[:, 0] / 0.03)
        for parent in ("Hips", "Spine"):
            pass_on(weights, parent, side + "UpperLeg", leg_share)
        pass_on(weights, side + "UpperLeg", side + "LowerLeg", beyond(q, KNEE, ANKLE - UPPER_LEG, 0.055))
    return weights


def glove_weights(p: Array) -> Array:
    weights = rigid(len(p), "LeftLowerArm")
    pass_on(weights, "LeftLowerArm", "LeftHand", beyond(p, WRIST, ARM, 0.03))
    thumb = smoothstep((p[:, 2] - 0.062) / 0.02) * (1.0 - beyond(p, KNUCKLES + 0.02 * ARM, ARM, 0.012))
    pass_on(weights, "LeftHand", "LeftFingers", beyond(p, KNUCKLES, ARM, 0.02) * (1.0 - thumb))
    return weights


def boot_weights(p: Array) -> Array:
    weights = rigid(len(p), "LeftLowerLeg")
    pass_on(
        weights,
        "LeftLowerLeg",
        "LeftFoot",
        beyond(p, ANKLE + np.array([0.0, 0.015, 0.0]), np.array([0.0, -1.0, 0.12]), 0.04),
    )
    pass_on(weights, "LeftFoot", "LeftToe", beyond(p, TOE, np.array([0.06, -0.1, 1.0]), 0.032))
    return weights


def blended(weights: Array, faces: Faces, rounds: int) -> Array:
    edges = edges_of(faces)
    for _ in range(rounds):
        weights = 0.5 * (weights + neighbor_mean(weights, edges))
    return weights


def carried(p: Array, skin: Array, weights: Array) -> Array:
    """The weights of the skin below: what lies on it moves with it."""
    distance = length(p[:, None, :] - skin[None, :, :])
    near = np.argsort(distance, axis=1, kind="stable")[:, :6]
    share = 1.0 / (np.take_along_axis(distance, near, axis=1) + 0.004) ** 2
    return np.einsum("nk,nkj->nj", share / share.sum(axis=1, keepdims=True), weights[near])


# -- grids that lie on a field


def drop(shape: Field, xy: Array) -> Array:
    """The points of the front of a shape under `xy`, found from z = 0.5 backwards."""
    p = np.concatenate([xy, np.full((len(xy), 1), 0.5)], axis=1)
    for _ in range(80):
        p[:, 2] -= 0.7 * shape(p)
    return p


def superellipse(n: int, half: tuple[float, float], power: float) -> Array:
    angle = 2.0 * np.pi * (np.arange(n) + 0.5) / n
    c, s = np.cos(angle), np.sin(angle)
    return np.stack(
        [np.sign(c) * np.abs(c) ** (2 / power) * half[0], np.sign(s) * np.abs(s) ** (2 / power) * half[1]],
        axis=1,
    )


def badge(
    shape: Field, center: tuple[float, float], outline: Array, rings: tuple[float, ...], height: float
) -> tuple[Array, Faces]:
    """A lens on the front of a shape: a pole, rings outwards, the rim sunk into the shape."""
    rows = [np.zeros((1, 2)), *(outline * r for r in rings)]
    xy = np.array(center) + np.concatenate(rows)
    r = np.concatenate([[0.0], np.repeat(rings, len(outline))])
    base = drop(shape, xy)
    lift = height * (np.sqrt(np.maximum(1.0 - r**6, 0.0)) * 1.4 - 0.4)
    points = base + unit(gradient(shape, base)) * lift[:, None]
    return points, grid_faces(len(rings), len(outline), pole=True)


def rim(curve: Array, outward: Array, half: tuple[float, float], rows: int) -> tuple[Array, Faces]:
    """A closed band that bulges out of a surface: the outer 220 degrees of an ellipse.

    `half` is its half axes, (outward, across); what would lie inside the surface is left out.
    """
    tangent = unit(np.roll(curve, -1, axis=0) - np.roll(curve, 1, axis=0))
    across = unit(np.cross(tangent, outward))
    angle = np.linspace(-110.0, 110.0, rows) * np.pi / 180.0
    ring = np.cos(angle)[:, None, None] * half[0] * outward + np.sin(angle)[:, None, None] * half[1] * across
    return (curve + ring).reshape(-1, 3), grid_faces(rows, len(curve))


def circle(axis: Array, n: int) -> Array:
    """Unit vectors at right angles to `axis`, evenly around it."""
    helper = np.array([0.0, 0.0, 1.0]) if abs(axis[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
    u = unit(np.cross(helper, axis))
    angle = 2.0 * np.pi * np.arange(n) / n
    return np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * np.cross(axis, u)


def around(shape: Field, center: Array, axis: Array, n: int) -> Array:
    """Where rays from `center`, at right angles to `axis`, leave the shape."""
    ray = circle(axis, n)
    inside = np.linspace(0.0, 0.4, 81)
    values = np.stack([shape(center + ray * t) for t in inside])
    first = np.argmax(values > 0.0, axis=0)
    low, high = inside[first - 1], inside[first]
    for _ in range(40):
        middle = 0.5 * (low + high)
        out = shape(center + ray * middle[:, None]) > 0.0
        low, high = np.where(out, low, middle), np.where(out, middle, high)
    return center + ray * low[:, None]


def lathe(origin: Array, axis: Array, profile: list[tuple[float, float]], n: int) -> tuple[Array, Faces]:
    """Turns (height, radius) rows around an axis, from the tip (radius 0) downwards."""
    ring = circle(axis, n)
    rows = [origin + axis * profile[0][0] + np.zeros((1, 3))]
    rows += [origin + axis * h + ring * r for h, r in profile[1:]]
    return np.concatenate(rows), grid_faces(len(profile) - 1, n, pole=True)


# -- the figure, piece by piece


def net(
    shape: Field, low: tuple[float, ...], high: tuple[float, ...], h: float, size: Field | None = None
) -> tuple[Array, Faces]:
    """The surface of a shape in triangles: even ones, or as large as `size` says for every place."""
    points, faces = surface_nets(shape, low, high, h)
    points = relax(shape, points, faces)
    if np.any(facing(shape, points, faces) < 0.0):
        raise ValueError(
            "the net is folded: a crest of the surface touches a plane of the grid; shift the grid"
        )
    if size is not None:
        points, faces = collapse(shape, points, faces, size)
        for _ in range(3):
            faces = flip(points, faces)
            points = relax(shape, points, faces, 2)
    return points, faces


def body_size(p: Array) -> Array:
    """Long edges on the trunk, short ones where a small radius or a hinge needs them."""
    q = mirrored(p)
    limb = np.where(arm(p) < leg(p), 0.0285, 0.033)
    hinge = np.minimum(length(q - ELBOW), length(q - KNEE))
    limb = limb - 0.006 * smoothstep(1.0 - (hinge - 0.05) / 0.05)
    on_limb = smoothstep(0.5 + (torso(p) - np.minimum(arm(p), leg(p))) / 0.06)
    between = smoothstep(1.0 - q[:, 0] / 0.06) * smoothstep((0.70 - p[:, 1]) / 0.06)
    return (0.044 + on_limb * (limb - 0.044)) * (1.0 - 0.35 * between)


def glove_size(p: Array) -> Array:
    fingers = smoothstep(((p - WRIST) @ ARM - 0.03) / 0.03)
    return 0.032 - 0.0140 * fingers


def boot_size(p: Array) -> Array:
    """Fine along the edge of the sole, coarse below it and above."""
    q = p.copy()
    q[:, 1] = 0.02
    inside = smoothstep((-boot(q) - 0.008) / 0.02) * smoothstep(1.0 - p[:, 1] / 0.006)
    return np.maximum(0.0245 + 0.012 * smoothstep((p[:, 1] - 0.03) / 0.05), 0.05 * inside)


def pack_size(p: Array) -> Array:
    """Fine along the round edges, coarse on the flat sides."""
    past = np.abs(p - np.array(PACK_CENTER)) - (np.array(PACK_HALF) - PACK_ROUND)
    return 0.027 + 0.03 * smoothstep(-np.sort(past, axis=1)[:, 1] / 0.02)


def keep_faces(points: Array, faces: Faces, keep: NDArray[np.bool_]) -> tuple[Array, Faces]:
    """Only the triangles of `keep`, and the vertices that they use."""
    faces = faces[keep]
    used, again = np.unique(faces, return_inverse=True)
    return points[used], again.reshape(-1, 3)


def centers(points: Array, faces: Faces) -> Array:
    return points[faces].mean(axis=1)


def add_body(figure: Figure) -> tuple[Array, Array]:
    h = 0.0265
    points, faces = net(body, (-23.5 * h, 0.05, -6.5 * h), (23.5 * h, 1.33, 6.5 * h), h, body_size)
    middle = mirrored(centers(points, faces))
    in_glove = ((middle - WRIST) @ ARM > 0.0) & (middle[:, 0] > 0.3)
    hidden = (middle[:, 1] < 0.150) | (middle[:, 1] > 1.225) | in_glove
    points, faces = keep_faces(points, faces, ~hidden)
    weights = blended(body_weights(points), faces, 3)
    figure.add(points, faces, weights, "suit", normals=unit(gradient(body, points)))
    return points, weights


def add_belt_and_badge(figure: Figure, skin: Array, skin_weights: Array) -> None:
    curve = around(body, np.array([0.0, 0.842, 0.0]), np.array([0.0, 1.0, 0.0]), 30)
    outward = unit(gradient(body, curve) * np.array([1.0, 0.0, 1.0]))
    points, faces = rim(curve, outward, (0.010, 0.019), 4)
    figure.add(points, faces, carried(points, skin, skin_weights), "dark")
    points, faces = badge(body, (0.0, 0.843), superellipse(16, (0.036, 0.028), 4.0), (0.85, 1.0), 0.022)
    figure.add(points, faces, carried(points, skin, skin_weights), "yellow")
    points, faces = badge(body, (0.0, 1.035), superellipse(20, (0.046, 0.046), 2.0), (0.85, 1.0), 0.012)
    figure.add(points, faces, carried(points, skin, skin_weights), "shell")
    points, faces = badge(body, (0.0, 1.035), superellipse(16, (0.026, 0.026), 2.0), (0.8, 1.0), 0.020)
    figure.add(points, faces, carried(points, skin, skin_weights), "coral")


def add_pack(figure: Figure, skin: Array, skin_weights: Array) -> None:
    h = 0.017
    points, faces = net(pack, (-7.5 * h, 0.905, -0.21), (7.5 * h, 1.15, -0.05), h, pack_size)
    points, faces = keep_faces(points, faces, body(centers(points, faces)) > -0.012)
    middle = np.array([[0.0, 1.025, -0.10]])  # it is hard: all of it moves like its middle
    weights = np.repeat(carried(middle, skin, skin_weights), len(points), axis=0)
    figure.add(points, faces, weights, "yellow", normals=unit(gradient(pack, points)))
    profile = [(0.010, 0.0), (0.008, 0.022), (0.0, 0.030)]
    points, faces = lathe(np.array([0.0, 1.040, -0.178]), np.array([0.0, 0.0, -1.0]), profile, 14)
    figure.add(points, faces, np.repeat(weights[:1], len(points), axis=0), "coral")


def add_gloves(figure: Figure) -> None:
    h = 0.0125
    points, faces = net(glove, (0.32, 0.60, -0.10), (0.60, 0.95, 0.14), h, glove_size)
    points, faces = cut(glove, points, faces, lambda p: (p - WRIST) @ ARM + 0.036)
    points, faces = keep_faces(points, faces, (centers(points, faces) - WRIST) @ ARM > -0.036)
    weights = blended(glove_weights(points), faces, 2)
    figure.add(points, faces, weights, "yellow", normals=unit(gradient(glove, points)))
    figure.add_mirrored(figure.parts[-1])
    curve = around(glove, WRIST - 0.036 * ARM, ARM, 15)
    points, faces = rim(curve, unit(curve - (WRIST - 0.036 * ARM)), (0.011, 0.014), 4)
    figure.add(points, faces, glove_weights(points), "shell")
    figure.add_mirrored(figure.parts[-1])


def add_boots(figure: Figure) -> None:
    h = 0.0190
    points, faces = net(boot, (0.0, -0.03, -0.14), (0.24, 0.30, 0.24), h, boot_size)
    points, faces = cut(boot, points, faces, lambda p: p[:, 1] - 0.200)
    points, faces = keep_faces(points, faces, centers(points, faces)[:, 1] < 0.200)
    points, faces = cut(boot, points, faces, lambda p: p[:, 1] - 0.024)
    sole = centers(points, faces)[:, 1] < 0.024
    colors = ["sole" if below else "yellow" for below in sole]
    figure.add(points, faces, boot_weights(points), colors, normals=unit(gradient(boot, points)))
    figure.add_mirrored(figure.parts[-1])
    center = np.array([0.106, 0.200, -0.012])
    curve = around(boot, center, np.array([0.0, 1.0, 0.0]), 17)
    points, faces = rim(curve, unit(curve - center), (0.012, 0.016), 4)
    figure.add(points, faces, boot_weights(points), "shell")
    figure.add_mirrored(figure.parts[-1])


FACE = (0.0, 1.382)  # center of the visor
VISOR_HEIGHT = 0.009


def add_head(figure: Figure) -> None:
    h = 0.0470
    points, faces = net(head, (-6.5 * h, 1.14, -6 * h), (6.5 * h, 1.61, 6 * h), h)
    middle = centers(points, faces) - np.array([*FACE, 0.0])
    behind = (np.abs(middle[:, 0] / 0.115) ** 3 + np.abs(middle[:, 1] / 0.080) ** 3 < 1.0) & (
        middle[:, 2] > 0.0
    )
    points, faces = keep_faces(points, faces, ~behind)
    figure.add(points, faces, rigid(len(points), "Head"), "shell", normals=unit(gradient(head, points)))
    outline = superellipse(36, (0.142, 0.103), 3.2)
    points, faces = badge(head, FACE, outline, (0.7, 0.93, 1.0), VISOR_HEIGHT)
    figure.add(points, faces, rigid(len(points), "Head"), "visor", material="Visor")
    curve = drop(head, np.array(FACE) + outline)
    points, faces = rim(curve, unit(gradient(head, curve)), (0.010, 0.012), 4)
    figure.add(points, faces, rigid(len(points), "Head"), "suit")


def add_face(figure: Figure) -> None:
    def glass(p: Array) -> Array:
        return head(p) - VISOR_HEIGHT

    for x in (-0.056, 0.056):
        points, faces = badge(glass, (x, 1.392), superellipse(18, (0.025, 0.036), 2.2), (0.8, 1.0), 0.006)
        figure.add(points, faces, rigid(len(points), "Head"), "eyes", material="Eyes")
    angle = np.linspace(-1.0, 1.0, 11) * 0.95
    rows = []
    for width in (1.0, -1.0):
        # Never quite closed at the corners, where the two faces at the end would have no area.
        half = 0.0035 * np.maximum(np.cos(angle / 0.95 * np.pi / 2), 0.01) ** 0.5
        radius = 0.030 + width * half
        rows.append(np.stack([radius * np.sin(angle), 1.367 - radius * np.cos(angle)], axis=1))
    base = drop(glass, np.concatenate(rows))
    points = base + unit(gradient(glass, base)) * 0.0015
    i = np.arange(10)
    faces = np.concatenate([np.stack([i, i + 1, i + 12], axis=1), np.stack([i, i + 12, i + 11], axis=1)])
    figure.add(points, faces, rigid(len(points), "Head"), "eyes", material="Eyes")


def add_ears_and_antenna(figure: Figure) -> None:
    profile = [(0.031, 0.0), (0.030, 0.026), (0.023, 0.035), (0.014, 0.052), (-0.03, 0.056)]
    points, faces = lathe(np.array([0.201, 1.378, 0.0]), np.array([1.0, 0.0, 0.0]), profile, 18)
    colors = [
        "coral" if r < 0.037 else "suit" for r in length((centers(points, faces) - [0.0, 1.378, 0.0])[:, 1:])
    ]
    figure.add(points, faces, rigid(len(points), "Head"), colors)
    figure.add_mirrored(figure.parts[-1])
    ball = [(0.128 + 0.027 * np.cos(a), 0.027 * np.sin(a)) for a in np.linspace(0.0, 0.86 * np.pi, 6)]
    stem = [(0.095, 0.0075), (0.055, 0.0085), (0.016, 0.012), (0.008, 0.030), (-0.020, 0.036)]
    points, faces = lathe(
        SKELETON[INDEX["Antenna"]].position - [0.0, 0.012, 0.0], np.array([0.0, 1.0, 0.0]), ball + stem, 12
    )
    up = points[:, 1] - SKELETON[INDEX["Antenna"]].position[1]
    weights = rigid(len(points), "Head")
    pass_on(weights, "Head", "Antenna", smoothstep((up - 0.0) / 0.07))
    colors = ["coral" if y > 1.66 else "suit" for y in centers(points, faces)[:, 1]]
    figure.add(points, faces, weights, colors)


def make_figure() -> Figure:
    figure = Figure()
    skin, weights = add_body(figure)
    add_belt_and_badge(figure, skin, weights)
    add_pack(figure, skin, weights)
    add_gloves(figure)
    add_boots(figure)
    add_head(figure)
    add_face(figure)
    add_ears_and_antenna(figure)
    return figure


def occlusion(points: Array, normals: Array) -> Array:
    """1 in the open, smaller where the figure itself is in the way."""
    shade = np.zeros(len(points))
    for step, weight in ((0.02, 0.30), (0.045, 0.30), (0.09, 0.25), (0.16, 0.15)):
        shade += weight * np.clip(1.0 - everything(points + step * normals) / step, 0.0, 1.0)
    return np.clip(1.0 - 0.9 * shade, 0.0, 1.0)


# ---------------------------------------------------------------------------------------------
# Clips
# ---------------------------------------------------------------------------------------------


def turn(axis: int, angle: Array | float) -> Array:
    """Rotation matrices (..., 3, 3) about the X, Y or Z axis; radians."""
    angle = np.asarray(angle, dtype=np.float64)
    c, s = np.cos(angle), np.sin(angle)
    matrix = np.zeros((*angle.shape, 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[..., axis, axis] = 1.0
    matrix[..., i, i] = matrix[..., j, j] = c
    matrix[..., j, i], matrix[..., i, j] = s, -s
    return matrix


def frame(direction: Array, pole: Array) -> Array:
    """The rotation whose columns are the direction, the pole made square to it, and their product."""
    x = unit(direction)
    y = unit(pole - x * np.sum(x * pole, axis=-1)[..., None])
    return np.stack([x, y, np.cross(x, y)], axis=-1)


def aim(rest: Array, rest_pole: Array, direction: Array, pole: Array) -> Array:
    """Turns a joint so that `rest` points along `direction`, and its pole as near to `pole` as it can."""
    return frame(direction, pole) @ frame(rest, rest_pole).swapaxes(-1, -2)


FORWARD = np.array([0.0, 0.0, 1.0])
LEG = length(np.stack([KNEE - UPPER_LEG, ANKLE - KNEE]))
FULL_STRETCH = 0.995  # of the leg: a knee that locks would snap


@dataclass
class Motion:
    """Rotations in the scene's axes (frames, 3, 3) by joint, and the way of the hips."""

    hips: Array
    turns: dict[str, Array]

    def set_arm(
        self, side: str, direction: Array, flex: Array, bend: Array, twist: Array, curl: Array
    ) -> None:
        """`flex` is where the forearm goes when the elbow bends; directions are the chest's own."""
        sign = 1.0 if side == "Left" else -1.0
        rest = ARM * np.array([sign, 1.0, 1.0])
        hinge = np.cross(rest, FORWARD)
        self.turns.setdefault(side + "Shoulder", self.turns["Chest"])
        upper = self.turns["Chest"] @ aim(rest, FORWARD, direction, flex)
        lower = upper @ about(hinge, bend)
        hand = lower @ about(rest, twist)
        self.turns[side + "UpperArm"], self.turns[side + "LowerArm"] = upper, lower
        self.turns[side + "Hand"] = hand
        self.turns[side + "Fingers"] = hand @ turn(2, -sign * curl)

    def set_leg(self, side: str, ankle: Array, foot: Array, toe: Array, pole: Array) -> None:
        """Two-joint inverse kinematics: the knee goes towards the pole."""
        sign = np.array([1.0 if side == "Left" else -1.0, 1.0, 1.0])
        hip = self.hips + (self.turns["Hips"] @ (UPPER_LEG * sign - SKELETON[0].position)[:, None])[..., 0]
        reach = ankle - hip
        d = np.minimum(length(reach), FULL_STRETCH * LEG.sum())
        basis = frame(reach, pole)
        cosine = (LEG[0] ** 2 + d**2 - LEG[1] ** 2) / (2.0 * LEG[0] * d)
        knee = hip + LEG[0] * (
            basis[..., 0] * cosine[:, None] + basis[..., 1] * np.sqrt(1.0 - cosine**2)[:, None]
        )
        end = hip + basis[..., 0] * d[:, None]
        for name, rest, direction in (
            ("UpperLeg", KNEE - UPPER_LEG, knee - hip),
            ("LowerLeg", ANKLE - KNEE, end - knee),
        ):
            self.turns[side + name] = aim_by_hinge(rest * sign, direction, basis[..., 2])
        self.turns[side + "Foot"], self.turns[side + "Toe"] = foot, toe


def about(axis: Array, angle: Array) -> Array:
    """Rotations about any unit axis (Rodrigues)."""
    x, y, z = axis
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.eye(3) + s * k + (1.0 - c) * (k @ k)


def aim_by_hinge(rest: Array, direction: Array, hinge: Array) -> Array:
    """Like `aim`; thigh and shin share the hinge, so that the knee bends about one axis."""
    rest_hinge = np.array([-1.0, 0.0, 0.0])  # direction x pole, for a leg that hangs down
    return frame(direction, hinge) @ frame(rest, rest_hinge).swapaxes(-1, -2)


def smooth(x: Array) -> Array:
    x = np.clip(x, 0.0, 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)


def hermite(u: Array, a: float, b: float, slope_a: float, slope_b: float) -> Array:
    return (
        (2 * u**3 - 3 * u**2 + 1) * a
        + (u**3 - 2 * u**2 + u) * slope_a
        + (3 * u**2 - 2 * u**3) * b
        + (u**3 - u**2) * slope_b
    )


@dataclass(frozen=True)
class Gait:
    """How the feet go. Phases are parts of the cycle, 0 when the foot touches the ground."""

    period: float  # s
    speed: float  # m/s of the ground under the feet
    stance: float  # phase at which the foot leaves the ground
    flat_from: float
    flat_to: float
    strike: float  # pitch of the foot when it touches, toes up is negative; radians
    push: float  # pitch when it leaves
    front: float  # m, how far in front of the hip the ankle of a flat foot would touch
    lift: float  # m, added to the ankle in the swing
    lift_skew: float  # 1: in the middle of the swing; smaller: earlier
    width: float  # m from the middle to a foot
    drop: float  # m/s, how fast the ankle comes down on the ground


HEEL = np.array([0.0, 0.035, -0.048])  # middle of the heel's rounding, from below the ankle
HEEL_RADIUS = 0.035


def stance_foot(gait: Gait, phase: Array) -> tuple[Array, Array, Array]:
    """(height, forward) of the ankle and the pitch while the foot is on the ground.

    It rolls over the heel, stands, and turns about the toe joint; the ground takes what
    touches it backwards at the gait's speed, so nothing slides.
    """
    flat = gait.front - gait.speed * gait.period * phase
    early = gait.strike * (1.0 - smooth(phase / gait.flat_from))
    late = gait.push * np.clip((phase - gait.flat_to) / (gait.stance - gait.flat_to), 0.0, 1.0) ** 2
    on_heel = phase < gait.flat_from
    pitch = early + late
    # The turning point, and the way from it to the ankle of a flat foot, each (height, forward).
    point_y = np.where(on_heel, HEEL[1], TOE[1])
    point_z = flat + np.where(on_heel, HEEL[2] + HEEL_RADIUS * early, TOE[2] - ANKLE[2])
    arm_y = np.where(on_heel, ANKLE[1] - HEEL[1], ANKLE[1] - TOE[1])
    arm_z = np.where(on_heel, -HEEL[2], ANKLE[2] - TOE[2])
    y = point_y + np.cos(pitch) * arm_y - np.sin(pitch) * arm_z
    z = point_z + np.sin(pitch) * arm_y + np.cos(pitch) * arm_z
    return y, z, pitch


def foot_track(gait: Gait, phase: Array) -> tuple[Array, Array, Array, Array]:
    """Ankle height and forward, pitch of the foot, pitch of the toes; any phase."""
    phase = phase % 1.0
    grounded = phase < gait.stance
    stand = stance_foot(gait, np.minimum(phase, gait.stance))
    u = np.clip((phase - gait.stance) / (1.0 - gait.stance), 0.0, 1.0)  # through the swing
    step = 1e-5  # of the phase: the swing begins and ends as fast as the foot moves on the ground
    ends = stance_foot(gait, np.array([0.0, step, gait.stance - step, gait.stance]))
    scale = (1.0 - gait.stance) / step
    swing = [hermite(u, k[3], k[0], (k[3] - k[2]) * scale, (k[1] - k[0]) * scale) for k in ends]
    swing[0] += gait.lift * np.sin(np.pi * u**gait.lift_skew) ** 2
    swing[0] += (u**2 - u**3) * gait.drop * gait.period * (1.0 - gait.stance)
    y, z, pitch = (np.where(grounded, on, off) for on, off in zip(stand, swing, strict=True))
    level = np.where(phase < gait.flat_to, pitch, 0.0)  # toes: with the rolling foot, then on the ground
    return y, z, pitch, np.where(grounded, level, pitch - gait.push * (1.0 - smooth(u / 0.85)))


def loop_phase(period: float, keys_per_second: int = 25) -> Array:
    count = round(period * keys_per_second)
    return np.arange(count + 1) / count


def wave_of(phase: Array, amplitude: float, shift: float = 0.0, times: int = 1) -> Array:
    """A cosine with its top at `shift` (a phase), `times` in the loop."""
    return amplitude * np.cos(2.0 * np.pi * times * (phase - shift))


@dataclass(frozen=True)
class Step:
    """What one foot does in a clip: where its ankle is, and how foot and toes turn."""

    side: str
    sign: float
    ankle: Array
    foot: Array
    toe: Array


def steps_of(gait: Gait, phase: Array) -> tuple[Step, ...]:
    steps = []
    for side, sign, shift in (("Left", 1.0, 0.0), ("Right", -1.0, 0.5)):
        y, z, pitch, toe_pitch = foot_track(gait, phase + shift)
        ankle = np.stack([np.full_like(y, sign * gait.width), y, z], axis=1)
        steps.append(Step(side, sign, ankle, turn(0, pitch), turn(0, toe_pitch)))
    return tuple(steps)


def standing(phase: Array, width: float) -> tuple[Step, ...]:
    zero = np.zeros_like(phase)
    steps = []
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        ankle = np.stack([zero + sign * width, zero + ANKLE[1], zero + ANKLE[2]], axis=1)
        flat = turn(1, zero + sign * 0.08)
        steps.append(Step(side, sign, ankle, flat, flat))
    return tuple(steps)


def set_legs(motion: Motion, steps: tuple[Step, ...], outward: float) -> None:
    for step in steps:
        pole = FORWARD + np.array([outward * step.sign, 0.0, 0.0]) + np.zeros_like(step.ankle)
        motion.set_leg(step.side, step.ankle, step.foot, step.toe, pole)


def highest_hips(steps: tuple[Step, ...], way: Array, hips: Array, stretch: float = 0.985) -> Array:
    """Lifts the way of the hips until the longest step has `stretch` of the leg."""
    low, high = 0.4, 1.0
    for _ in range(40):
        base = 0.5 * (low + high)
        longest = 0.0
        for step in steps:
            socket = (hips @ (UPPER_LEG * [step.sign, 1.0, 1.0] - SKELETON[0].position)[:, None])[..., 0]
            longest = max(longest, float(length(way + [0.0, base, 0.0] + socket - step.ankle).max()))
        low, high = (base, high) if longest < stretch * LEG.sum() else (low, base)
    return way + np.array([0.0, low, 0.0])


def make_walk() -> tuple[Array, Motion]:
    gait = Gait(
        period=1.0,
        speed=0.74,
        stance=0.60,
        flat_from=0.13,
        flat_to=0.34,
        strike=-0.36,
        push=0.80,
        front=0.215,
        lift=0.040,
        lift_skew=0.75,
        width=0.092,
        drop=0.15,
    )
    phase = loop_phase(gait.period)
    steps = steps_of(gait, phase)
    zero = np.zeros_like(phase)
    yaw, roll = wave_of(phase, -0.13, 0.02), wave_of(phase, 0.055, 0.22)
    hips = turn(1, yaw) @ turn(2, roll) @ turn(0, zero + 0.03)
    way = np.stack([wave_of(phase, 0.016, 0.27), wave_of(phase, 0.010, 0.29, 2), zero + 0.004], axis=1)
    motion = Motion(highest_hips(steps, way, hips), {"Hips": hips})
    motion.turns["Spine"] = turn(1, 0.2 * yaw) @ turn(2, 0.1 * roll) @ turn(0, zero + 0.02)
    motion.turns["Chest"] = (
        turn(1, -1.1 * yaw) @ turn(2, -0.5 * roll) @ turn(0, 0.03 + wave_of(phase, 0.015, 0.1, 2))
    )
    set_head(motion, phase, 0.012, 0.02)
    set_legs(motion, steps, 0.10)
    for side, shift in (("Left", 0.5), ("Right", 0.0)):
        swing = wave_of(phase, 0.52, shift + 0.03) + 0.02
        swing_arm(motion, side, swing, 0.29, 0.42 + wave_of(phase, 0.24, shift + 0.08), 0.25)
    return phase * gait.period, motion


def swing_arm(
    motion: Motion,
    side: str,
    swing: Array,
    spread: float,
    bend: Array,
    inward: Array | float,
    curl: float = 0.45,
) -> None:
    """An arm that hangs `spread` off the body and swings forward by `swing` (radians).

    `inward` is how much the forearm points towards the middle rather than forward.
    """
    sign = 1.0 if side == "Left" else -1.0
    out = np.full_like(swing, np.sin(spread))
    down = [sign * out, -np.cos(spread) * np.cos(swing), np.cos(spread) * np.sin(swing)]
    flex = [-sign * (inward + 0.0 * out), np.sin(swing), np.cos(swing)]
    motion.set_arm(side, np.stack(down, axis=1), np.stack(flex, axis=1), bend, 0.0 * out, curl + 0.0 * out)


def set_head(motion: Motion, phase: Array, nod: float, lean: float) -> None:
    """The head keeps looking ahead; the neck goes half of the way; the antenna follows late."""
    motion.turns["Head"] = turn(0, lean + wave_of(phase, nod, 0.15, 2)) @ turn(2, wave_of(phase, 0.02, 0.3))
    motion.turns["Neck"] = halfway(motion.turns["Chest"], motion.turns["Head"])
    spring = turn(0, wave_of(phase, 10.0 * nod, 0.32, 2) - 0.05) @ turn(2, wave_of(phase, 0.10, 0.45))
    motion.turns["Antenna"] = motion.turns["Head"] @ spring


def halfway(a: Array, b: Array) -> Array:
    p, q = matrix_quaternion(a), matrix_quaternion(b)
    return quaternion_matrix(unit(p + np.where(np.sum(p * q, axis=1) < 0.0, -1.0, 1.0)[:, None] * q))


def make_run() -> tuple[Array, Motion]:
    gait = Gait(
        period=0.7,
        speed=2.1,
        stance=0.33,
        flat_from=0.05,
        flat_to=0.10,
        strike=-0.10,
        push=0.90,
        front=0.120,
        lift=0.150,
        lift_skew=0.80,
        width=0.066,
        drop=0.9,
    )
    phase = loop_phase(gait.period, 40)
    steps = steps_of(gait, phase)
    zero = np.zeros_like(phase)
    yaw, roll = wave_of(phase, -0.20, 0.02), wave_of(phase, 0.05, 0.18)
    hips = turn(1, yaw) @ turn(2, roll) @ turn(0, zero + 0.24)
    way = np.stack([wave_of(phase, 0.010, 0.2), wave_of(phase, 0.042, 0.415, 2), zero - 0.01], axis=1)
    motion = Motion(highest_hips(steps, way, hips), {"Hips": hips})
    motion.turns["Spine"] = turn(1, 0.2 * yaw) @ turn(0, zero + 0.24)
    motion.turns["Chest"] = (
        turn(1, -1.2 * yaw) @ turn(2, -0.4 * roll) @ turn(0, 0.28 + wave_of(phase, 0.03, 0.2, 2))
    )
    set_head(motion, phase, 0.022, 0.04)
    set_legs(motion, steps, 0.10)
    for side, shift in (("Left", 0.5), ("Right", 0.0)):
        swing = wave_of(phase, 0.80, shift + 0.01) - 0.18
        inward = wave_of(phase, 0.32, shift) - 0.02  # the hand that goes back passes outside the hip
        swing_arm(motion, side, swing, 0.36, 1.78 + wave_of(phase, 0.15, shift), inward, 1.5)
    return phase * gait.period, motion


def pulse(phase: Array, start: float, full: float, done: float, end: float) -> Array:
    """0, up to 1 between `start` and `full`, down between `done` and `end`."""
    return smooth((phase - start) / (full - start)) * (1.0 - smooth((phase - done) / (end - done)))


def make_wave() -> tuple[Array, Motion]:
    period = 2.4
    phase = loop_phase(period)
    zero = np.zeros_like(phase)
    up = pulse(phase, 0.02, 0.24, 0.78, 0.99)
    early = pulse(phase, 0.0, 0.20, 0.74, 0.97)
    beat = pulse(phase, 0.16, 0.30, 0.70, 0.82) * np.sin(2.0 * np.pi * 5.0 * (phase - 0.22))
    hips = turn(1, -0.06 * early) @ turn(2, 0.055 * early)
    dip = 0.012 * (1.0 - np.cos(4.0 * np.pi * phase)) * 0.5
    way = np.stack([0.028 * early, -dip, zero - 0.012], axis=1)
    steps = standing(phase, 0.112)
    motion = Motion(highest_hips(steps, way, hips, 0.990), {"Hips": hips})
    motion.turns["Spine"] = turn(2, 0.03 * early) @ turn(1, -0.02 * early)
    motion.turns["Chest"] = turn(2, 0.07 * early + 0.015 * beat) @ turn(1, 0.06 * early) @ turn(0, -0.03 * up)
    motion.turns["Head"] = turn(2, -0.13 * early) @ turn(1, -0.10 * early) @ turn(0, -0.04 * up)
    motion.turns["Neck"] = halfway(motion.turns["Chest"], motion.turns["Head"])
    late = pulse(phase, 0.08, 0.30, 0.84, 1.0) - up
    motion.turns["Antenna"] = (
        motion.turns["Head"] @ turn(2, 0.6 * late + 0.10 * np.roll(beat, 3)) @ turn(0, zero - 0.05)
    )
    set_legs(motion, steps, 0.22)
    swing_arm(motion, "Left", 0.05 + 0.10 * early, 0.30, 0.35 + 0.15 * early, 0.45)
    raise_arm(motion, up, beat)
    return phase * period, motion


def raise_arm(motion: Motion, up: Array, beat: Array) -> None:
    """The right arm goes up sideways while it turns outwards: then the elbow bends upwards."""
    lift = 0.30 + up * 1.42 + 0.05 * beat  # from straight down, radians
    direction = np.stack([-np.sin(lift), -np.cos(lift), 0.10 + 0.10 * up], axis=1)
    opened = 1.15 * up  # how far the bend turns from forward to upward
    # Square to the arm: inwards while it hangs, downwards once it is up.
    inside = np.stack([np.cos(lift), -np.sin(lift), np.zeros_like(lift)], axis=1)
    flex = FORWARD * np.cos(opened)[:, None] + inside * (0.45 * (1.0 - up) - np.sin(opened))[:, None]
    motion.turns["RightShoulder"] = motion.turns["Chest"] @ turn(2, -0.30 * up)
    bend = 0.35 + 0.80 * up + 0.38 * beat
    motion.set_arm("Right", direction, flex, bend, -0.35 * up, 0.45 * (1.0 - up) - 0.10 * up)


# -- to keys


def matrix_quaternion(m: Array) -> Array:
    """(N, 3, 3) to (N, 4), x y z w: the largest of the four is found first, so that no root is small."""
    xx, yy, zz = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]
    rows = np.stack(
        [
            np.stack(
                [1 + xx - yy - zz, m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 2, 1] - m[:, 1, 2]],
                axis=1,
            ),
            np.stack(
                [m[:, 0, 1] + m[:, 1, 0], 1 - xx + yy - zz, m[:, 1, 2] + m[:, 2, 1], m[:, 0, 2] - m[:, 2, 0]],
                axis=1,
            ),
            np.stack(
                [m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1], 1 - xx - yy + zz, m[:, 1, 0] - m[:, 0, 1]],
                axis=1,
            ),
            np.stack(
                [m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1], 1 + xx + yy + zz],
                axis=1,
            ),
        ],
        axis=1,
    )
    best = np.argmax(np.stack([rows[:, i, i] for i in range(4)], axis=1) + [0.0, 0.0, 0.0, 1e-3], axis=1)
    return unit(rows[np.arange(len(m)), best])


def quaternion_matrix(q: Array) -> Array:
    x, y, z, w = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def local_quaternions(motion: Motion) -> dict[str, Array]:
    """Relative to the parent, along one hemisphere, the last key the same as the first."""
    result = {}
    for joint in SKELETON:
        own = motion.turns.get(joint.name)
        if own is None:
            raise KeyError(f"the clip does not say how {joint.name} turns")
        if joint.parent >= 0:
            own = motion.turns[SKELETON[joint.parent].name].swapaxes(1, 2) @ own
        q = matrix_quaternion(own)
        flips = np.cumprod(np.where(np.sum(q[1:] * q[:-1], axis=1) < 0.0, -1.0, 1.0))
        q[1:] *= flips[:, None]
        q *= np.where(q[0, 3] < 0.0, -1.0, 1.0)
        if length(q[-1] - q[0]) > 1e-6:
            raise ValueError(f"{joint.name} does not come back: {q[0]} and {q[-1]}")
        q[-1] = q[0]
        result[joint.name] = q
    return result


# ---------------------------------------------------------------------------------------------
# Binary glTF
# ---------------------------------------------------------------------------------------------

FLOAT, UINT16, UINT8 = 5126, 5123, 5121
ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
MATERIALS = {
    "Toy": {"metallicFactor": 0.0, "roughnessFactor": 0.6, "baseColorTexture": {"index": 0}},
    "Visor": {"metallicFactor": 0.0, "roughnessFactor": 0.15, "baseColorTexture": {"index": 0}},
    "Eyes": {"metallicFactor": 0.0, "roughnessFactor": 0.4, "baseColorFactor": [0.75, 1.0, 0.97, 1.0]},
}


class Buffer:
    """The binary chunk and the accessors into it."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, object]] = []
        self.accessors: list[dict[str, object]] = []

    def add_bytes(self, data: bytes, target: int | None = None) -> int:
        self.data += b"\0" * (-len(self.data) % 4)
        view: dict[str, object] = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)}
        if target:
            view["target"] = target
        self.data += data
        self.views.append(view)
        return len(self.views) - 1

    def set_bytes(self, view: int, data: bytes) -> None:
        """Fills the view that was added last."""
        self.data += data
        self.views[view]["byteLength"] = len(data)

    def add(
        self,
        values: NDArray[np.generic],
        kind: str,
        component: int,
        target: int | None = None,
        *,
        limits: bool = False,
    ) -> int:
        """An accessor with a view of its own."""
        view = self.add_bytes(np.ascontiguousarray(values).tobytes(), target)
        return self.add_accessor(view, 0, values, kind, component, limits=limits)

    def add_accessor(
        self,
        view: int,
        offset: int,
        values: NDArray[np.generic],
        kind: str,
        component: int,
        *,
        limits: bool = False,
    ) -> int:
        accessor: dict[str, object] = {
            "bufferView": view,
            "componentType": component,
            "count": len(values),
            "type": kind,
        }
        if offset:
            accessor["byteOffset"] = offset
        if limits:
            rows = values.reshape(len(values), -1).astype(np.float64)
            accessor["min"], accessor["max"] = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        self.accessors.append(accessor)
        return len(self.accessors) - 1


@dataclass
class Keys:
    """All key times and values of the file, in one view; the same times are stored once."""

    buffer: Buffer
    view: int
    data: bytearray = field(default_factory=bytearray)
    known: dict[bytes, int] = field(default_factory=dict)

    def add(self, values: NDArray[np.float32], kind: str) -> int:
        stored = values.tobytes()
        if kind == "SCALAR" and stored in self.known:
            return self.known[stored]
        number = self.buffer.add_accessor(
            self.view, len(self.data), values, kind, FLOAT, limits=kind == "SCALAR"
        )
        self.data += stored
        if kind == "SCALAR":
            self.known[stored] = number
        return number


def rounded(values: Array, digits: int) -> NDArray[np.float32]:
    """Adding 0 makes -0 the same as 0."""
    return (np.round(values, digits) + 0.0).astype("<f4")


def top_four(weights: Array) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """The four largest; the first takes up what rounding leaves, so that the sum is 1."""
    order = np.argsort(-np.round(weights, 6), axis=1, kind="stable")[:, :4]
    kept = np.take_along_axis(weights, order, axis=1)
    kept[kept < 0.004] = 0.0
    kept = np.round(kept / kept.sum(axis=1, keepdims=True), 4)
    kept[:, 0] = 1.0 - kept[:, 1:].sum(axis=1)
    return np.where(kept > 0.0, order, 0).astype(np.uint8), rounded(kept, 4)


def palette_uv(colors: list[str], shade: Array) -> Array:
    column = np.array([list(COLORS).index(c) if c in COLORS else 0 for c in colors])
    u = (column + 0.5) / len(COLORS)
    v = (0.5 + (1.0 - shade) * (RAMP_HEIGHT - 1)) / RAMP_HEIGHT
    return np.stack([u, v], axis=1)


@dataclass
class Vertices:
    """What one primitive holds; a vertex on the border of two colors is there once for each."""

    rows: list[Array] = field(default_factory=list)
    faces: list[Faces] = field(default_factory=list)
    count: int = 0

    def add(self, part: Part) -> None:
        for color in dict.fromkeys(part.colors):
            mine = part.faces[[c == color for c in part.colors]]
            used, again = np.unique(mine, return_inverse=True)
            shade = occlusion(part.points[used], part.normals[used])
            uv = palette_uv([color] * len(used), shade)
            row = np.concatenate([part.points[used], part.normals[used], uv, part.weights[used]], axis=1)
            self.rows.append(row)
            self.faces.append(again.reshape(-1, 3) + self.count)
            self.count += len(used)


def add_primitive(buffer: Buffer, vertices: Vertices, material: str) -> dict[str, object]:
    rows, faces = np.concatenate(vertices.rows), np.concatenate(vertices.faces)
    if len(rows) > 65535:
        raise ValueError(f"a primitive has {len(rows)} vertices; its indices have 16 bits")
    joints, weights = top_four(rows[:, 8:])
    attributes = {
        "POSITION": buffer.add(rounded(rows[:, :3], 5), "VEC3", FLOAT, ARRAY_BUFFER, limits=True),
        "NORMAL": buffer.add(rounded(unit(rows[:, 3:6]), 5), "VEC3", FLOAT, ARRAY_BUFFER),
        "JOINTS_0": buffer.add(joints, "VEC4", UINT8, ARRAY_BUFFER),
        "WEIGHTS_0": buffer.add(weights, "VEC4", FLOAT, ARRAY_BUFFER),
    }
    if "baseColorTexture" in MATERIALS[material]:
        attributes["TEXCOORD_0"] = buffer.add(rounded(rows[:, 6:8], 4), "VEC2", FLOAT, ARRAY_BUFFER)
    indices = buffer.add(faces.reshape(-1).astype("<u2"), "SCALAR", UINT16, ELEMENT_ARRAY_BUFFER)
    return {"attributes": attributes, "indices": indices, "material": list(MATERIALS).index(material)}


THINNING = 0.0025  # how far a thinned channel may be off; legs a fifth of it, because the ground shows it


def thinned(times: Array, values: Array, tolerance: float) -> tuple[Array, Array]:
    """Fewer keys where straight lines between them are as good: one, or every 4th, 3rd or 2nd."""
    if np.all(np.abs(values - values[0]) < 1e-7):
        return times[:1], values[:1]
    for step in (4, 3, 2):
        keep = np.unique(np.append(np.arange(0, len(times), step), len(times) - 1))
        line = np.stack([np.interp(times, times[keep], column) for column in values[keep].T], axis=1)
        if np.abs(line - values).max() < tolerance:
            return times[keep], values[keep]
    return times, values


def add_clip(keys: Keys, name: str, times: Array, motion: Motion, first_node: int) -> dict[str, object]:
    """A translation of the hips, and a rotation for each joint that is ever turned."""
    channels, samplers = [], []
    way = motion.hips.copy()
    way[-1] = way[0]
    curves = [(first_node, "translation", way, 0.2)]
    for i, (joint, q) in enumerate(local_quaternions(motion).items()):
        if np.any(np.abs(q - [0.0, 0.0, 0.0, 1.0]) > 1e-6):
            exact = joint == "Hips" or joint.endswith(("Leg", "Foot", "Toe"))
            curves.append((first_node + i, "rotation", q, 0.2 if exact else 1.0))
    for node, path, values, part in curves:
        at, kept = thinned(times, values, part * THINNING)
        clock = keys.add(rounded(at, 6), "SCALAR")
        output = keys.add(rounded(kept, 6), "VEC4" if path == "rotation" else "VEC3")
        channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
        samplers.append({"input": clock, "output": output})  # LINEAR is the default
    return {"name": name, "channels": channels, "samplers": samplers}


def palette_png() -> bytes:
    """A column of colors for each entry of COLORS, light on top.

    The stream is stored, not compressed: another zlib would compress to other bytes.
    """
    ramp = np.linspace(1.0, DARKEST, RAMP_HEIGHT)[:, None, None]
    tint = np.array([1.0, 1.0, 1.0]) + (1.0 - ramp) * np.array([-0.04, -0.02, 0.10])  # shade is a little blue
    colors = np.repeat(np.array(list(COLORS.values()), dtype=np.float64), COLUMN_WIDTH, axis=0)
    pixels = np.clip(np.round(colors[None] * ramp * tint), 0, 255).astype(np.uint8)
    height, width = pixels.shape[:2]
    raw = b"".join(b"\0" + row.tobytes() for row in pixels)
    stored = (
        b"\x78\x01\x01"
        + struct.pack("<HH", len(raw), len(raw) ^ 0xFFFF)
        + raw
        + struct.pack(">I", zlib.adler32(raw))
    )

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", stored) + chunk(b"IEND", b"")


def nodes_of(skeleton: tuple[Joint, ...], first: int) -> list[dict[str, object]]:
    nodes = []
    for i, joint in enumerate(skeleton):
        origin = skeleton[joint.parent].position if joint.parent >= 0 else np.zeros(3)
        node: dict[str, object] = {
            "name": joint.name,
            "translation": np.round(joint.position - origin, 6).tolist(),
        }
        children = [first + k for k, other in enumerate(skeleton) if other.parent == i]
        if children:
            node["children"] = children
        nodes.append(node)
    return nodes


def make_glb() -> bytes:
    buffer = Buffer()
    figure = make_figure()
    primitives = []
    for name in MATERIALS:
        vertices = Vertices()
        for part in figure.parts:
            if part.material == name:
                vertices.add(part)
        primitives.append(add_primitive(buffer, vertices, name))
    inverse_bind = np.tile(np.eye(4), (len(SKELETON), 1, 1))
    inverse_bind[:, 3, :3] = [-joint.position for joint in SKELETON]  # column-major: the last row here
    skin = {
        "name": "Skin",
        "inverseBindMatrices": buffer.add(rounded(inverse_bind.reshape(-1, 16), 6), "MAT4", FLOAT),
        "skeleton": 1,
        "joints": list(range(1, 1 + len(SKELETON))),
    }
    keys = Keys(buffer, buffer.add_bytes(b""))
    clips = (("walk", make_walk()), ("run", make_run()), ("wave", make_wave()))
    animations = [add_clip(keys, name, times, motion, 1) for name, (times, motion) in clips]
    buffer.set_bytes(keys.view, bytes(keys.data))
    image = buffer.add_bytes(palette_png())
    document = {
        "asset": {"version": "2.0", "generator": GENERATOR},
        "scene": 0,
        "scenes": [{"name": "Scene", "nodes": [0, 1]}],
        "nodes": [{"name": "Explorer", "mesh": 0, "skin": 0}, *nodes_of(SKELETON, 1)],
        "meshes": [{"name": "Explorer", "primitives": primitives}],
        "skins": [skin],
        "animations": animations,
        "materials": material_list(),
        "textures": [{"source": 0, "sampler": 0}],
        "samplers": [{"magFilter": 9729, "minFilter": 9729, "wrapS": 33071, "wrapT": 33071}],
        "images": [{"name": "Palette", "mimeType": "image/png", "bufferView": image}],
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
        "buffers": [{"byteLength": len(buffer.data)}],
    }
    return pack_glb(document, bytes(buffer.data))


def material_list() -> list[dict[str, object]]:
    materials: list[dict[str, object]] = []
    for name, surface in MATERIALS.items():
        material: dict[str, object] = {"name": name, "pbrMetallicRoughness": surface}
        if name == "Eyes":
            material["emissiveFactor"] = [0.35, 0.6, 0.58]
        materials.append(material)
    return materials


def pack_glb(document: dict[str, object], data: bytes) -> bytes:
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    total = 12 + 8 + len(text) + 8 + len(data)
    head_bytes = struct.pack("<4sII", b"glTF", 2, total)
    return (
        head_bytes
        + struct.pack("<I4s", len(text), b"JSON")
        + text
        + struct.pack("<I4s", len(data), b"BIN\0")
        + data
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Makes the character that skinpy brings along.")
    parser.add_argument(
        "-o", "--output", type=Path, default=DEFAULT_PATH, help="where to write (%(default)s)"
    )
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    options = parser.parse_args(arguments)
    data = make_glb()
    if options.check:
        same = options.output.is_file() and options.output.read_bytes() == data
        print(f"{options.output}: {'the same' if same else 'different'}")
        return 0 if same else 1
    options.output.write_bytes(data)
    print(f"{options.output}: {len(data)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
