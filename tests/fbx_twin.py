"""How FBX moves its nodes, by its own formulas: slow, with matrices, and in NumPy."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Vector = Sequence[float] | Matrix

# ---- truth: FBX's own formula --------------------------------------------------------------------------

ORDERS = ["xyz", "xzy", "yzx", "yxz", "zxy", "zyx"]  # which axis is turned about first


def shift(by: Vector) -> Matrix:
    matrix = np.eye(4)
    matrix[:3, 3] = by
    return matrix


def turn(degrees: Vector, order: int = 0) -> Matrix:
    matrix = np.eye(4)
    for name in ORDERS[order]:
        axis = "xyz".index(name)
        i, j, angle = (axis + 1) % 3, (axis + 2) % 3, math.radians(degrees[axis])
        one = np.eye(4)
        one[i, i] = one[j, j] = math.cos(angle)
        one[j, i] = math.sin(angle)
        one[i, j] = -one[j, i]
        matrix = one @ matrix
    return matrix


def local_of(t: Vector, r: Vector, s: Vector, pre: Vector, pivot: Vector, order: int) -> Matrix:
    """T * Rp * Rpre * R * Rp^-1 * S, which is what is left of FBX's chain with the rest of it 0."""
    return (
        shift(t) @ shift(pivot) @ turn(pre) @ turn(r, order) @ shift(np.negative(pivot)) @ np.diag([*s, 1.0])
    )


# ---- curves -------------------------------------------------------------------------------------------


@dataclass
class Key:
    """A key, and what the curve does from it to the next one: slopes in values a second."""

    time: float
    value: float
    kind: str = "linear"
    right: float = 0.0
    next_left: float = 0.0
    right_weight: float = 1 / 3
    next_left_weight: float = 1 / 3
    weighted: bool = False


Outside = tuple[str, int]  # C(onstant), R(epeat), M(irror), K(eep slope), A(dd); how often, -1: for ever


@dataclass
class Curve:
    keys: list[Key]
    before: Outside = ("C", -1)
    after: Outside = ("C", -1)
    has_kinds: bool = field(init=False)

    def __init__(
        self,
        keys: Sequence[Key | tuple[float, float]],
        before: Outside = ("C", -1),
        after: Outside = ("C", -1),
    ) -> None:
        self.keys = [key if isinstance(key, Key) else Key(*key) for key in keys]
        self.has_kinds = isinstance(keys[0], Key)
        self.before, self.after = before, after

    def __call__(self, time: float) -> float:
        first, last = self.keys[0], self.keys[-1]
        if time < first.time:
            return self.outside(time, first.time - time, -1, self.before)
        if time > last.time:
            return self.outside(time, time - last.time, 1, self.after)
        return self.inside(time)

    def inside(self, time: float) -> float:
        for key, end in zip(self.keys, self.keys[1:], strict=False):
            if key.time <= time < end.time:
                return segment(key, end, time)
        return self.keys[-1].value

    def outside(self, time: float, distance: float, side: int, rule: Outside) -> float:
        """Each repetition is walked through, one after the other."""
        kind, count = rule
        first, last = self.keys[0], self.keys[-1]
        edge = last if side > 0 else first
        if kind == "C" or count == 0 or len(self.keys) == 1:
            return edge.value
        if kind == "K":
            slope = end_slope(self.keys[-2], last) if side > 0 else start_slope(first, self.keys[1])
            return edge.value + side * distance * slope
        length, number = last.time - first.time, 0
        while distance > length and number + 1 != count:
            distance, number = distance - length, number + 1
        distance = min(distance, length)
        away = side > 0 if kind != "M" or number % 2 else side < 0
        value = self.inside(first.time + distance if away else last.time - distance)
        return value + (side * (number + 1) * (last.value - first.value) if kind == "A" else 0.0)


def start_slope(key: Key, end: Key) -> float:
    if key.kind == "linear":
        return (end.value - key.value) / (end.time - key.time)
    return key.right if key.kind == "cubic" else 0.0


def end_slope(key: Key, end: Key) -> float:
    if key.kind == "linear":
        return (end.value - key.value) / (end.time - key.time)
    return key.next_left if key.kind == "cubic" else 0.0


def segment(key: Key, end: Key, time: float) -> float:
    """A cubic one is a Bezier curve in time and value, whose parameter is found by halving."""
    if key.kind == "step" or time == key.time:
        return key.value
    if key.kind == "step next":
        return end.value
    span = end.time - key.time
    u = (time - key.time) / span
    if key.kind == "linear":
        return key.value + u * (end.value - key.value)
    out, into = (key.right_weight, key.next_left_weight) if key.weighted else (1 / 3, 1 / 3)
    times = np.array([0, out, 1 - into, 1])
    values = np.array([0, key.right * out * span, end.value - key.value - key.next_left * into * span, 0])
    values[3] = end.value - key.value
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if bezier(times, middle) < u else (low, middle)
    return key.value + bezier(values, low)


def bezier(points: Matrix, s: float) -> float:
    while len(points) > 1:
        points = points[:-1] * (1 - s) + points[1:] * s
    return float(points[0])


# ---- layers -------------------------------------------------------------------------------------------


def part_of(rotation: Matrix, part: float) -> Matrix:
    """The same axis, a part of the angle."""
    axis = np.array(
        [rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]
    )
    sine, cosine = np.linalg.norm(axis) / 2, (np.trace(rotation[:3, :3]) - 1) / 2
    angle = math.atan2(sine, cosine) * part
    x, y, z = axis / (2 * sine) if sine > 1e-12 else (0.0, 0.0, 0.0)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix = np.eye(4)
    matrix[:3, :3] += math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
    return matrix


# ---- nodes --------------------------------------------------------------------------------------------


@dataclass
class Node:
    """The properties of a model; angles in degrees."""

    t: Vector = (0, 0, 0)
    r: Vector = (0, 0, 0)
    s: Vector = (1, 1, 1)
    pre: Vector = (0, 0, 0)
    post: Vector = (0, 0, 0)
    rotation_offset: Vector = (0, 0, 0)
    rotation_pivot: Vector = (0, 0, 0)
    scaling_offset: Vector = (0, 0, 0)
    scaling_pivot: Vector = (0, 0, 0)
    order: int = 0

    def local(self) -> Matrix:
        turned = turn(self.pre) @ turn(self.r, self.order) @ np.linalg.inv(turn(self.post))
        about = shift(self.rotation_offset) @ shift(self.rotation_pivot)
        about = about @ turned @ np.linalg.inv(shift(self.rotation_pivot))
        scaled = shift(self.scaling_offset) @ shift(self.scaling_pivot) @ np.diag([*self.s, 1.0])
        return shift(self.t) @ about @ scaled @ np.linalg.inv(shift(self.scaling_pivot))


def chain_globals(nodes: Sequence[Node], inherit: Sequence[int]) -> list[Matrix]:
    """Globals of nodes without pivots, each below the one before: how scale is inherited."""
    found = []
    above, rotation, scale, own = np.eye(4), np.eye(4), np.eye(4), np.eye(4)
    for node, kind in zip(nodes, inherit, strict=True):
        r, s = turn(node.r, node.order), np.diag([*node.s, 1.0])
        linear = [
            rotation @ r @ scale @ s,
            rotation @ scale @ r @ s,
            rotation @ r @ scale @ np.linalg.inv(own) @ s,
        ][kind]
        above = shift((above @ [*node.t, 1.0])[:3]) @ linear
        rotation, own = rotation @ r, s
        scale = np.linalg.inv(rotation) @ linear
        found.append(above)
    return found
