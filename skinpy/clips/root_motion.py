"""Root motion: how a clip carries its character through the scene, kept apart from how it moves its joints.

A rigid transform here is seven floats: translation x y z and unit quaternion x y z w. The arithmetic is in
plain Python floats: a controller asks once a frame, where NumPy calls on arrays of 16 numbers cost more.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .._arguments import check_increasing, finite, first, floats, numbers
from .._types import Array, Loop

__all__ = ["RootMotion"]

Rigid: TypeAlias = tuple[float, float, float, float, float, float, float]

IDENTITY: Rigid = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
_LOOPS = ("wrap", "clamp", "pingpong", "once")


class RootMotion:
    """The way of a character during a clip: a rigid transform of scene space over time, identity at first.

    `Clip.extract_root_motion` and `Clip.root_motion_from_feet` make clips that have one, as
    `clip.root_motion`. Immutable.
    """

    times: Array  #: (K,) float64 seconds, increasing
    translation: Array  #: (K,3) float64 scene units, relative to the first key
    rotation: Array  #: (K,4) float64 unit quaternions x y z w, relative to the first key

    def __init__(self, times: npt.ArrayLike, translation: npt.ArrayLike, rotation: npt.ArrayLike) -> None:
        """Keys at times (K,) seconds: translation (K,3) in scene units, rotation (K,4) x y z w of any length.

        All is taken relative to the first key. Raises ValueError that names the argument: no keys, a wrong
        shape, times that do not increase, numbers that are not finite, a quaternion of length 0.
        """
        line = floats("times", times, ("K",), np.float64)
        if not len(line):
            raise ValueError("times is empty; expected at least one key")
        check_increasing("times", line)
        places = floats("translation", translation, (len(line), 3), np.float64)
        turns = floats("rotation", rotation, (len(line), 4), np.float64)
        lengths = np.linalg.norm(turns, axis=1, keepdims=True)
        if (lengths == 0).any():
            place = first("rotation", lengths[:, 0] == 0)
            raise ValueError(f"{place} is a quaternion of length 0; expected one with a direction")
        rows: list[Rigid] = [tuple(row) for row in np.hstack([places, turns / lengths]).tolist()]
        if rows[0] != IDENTITY:
            back = inverse(rows[0])
            rows = [IDENTITY, *(product(back, row) for row in rows[1:])]
        self._line: list[float] = line.tolist()
        self._rows = rows
        keys = np.array(rows)
        self.times, self.translation, self.rotation = line.copy(), keys[:, :3].copy(), keys[:, 3:].copy()
        for array in (self.times, self.translation, self.rotation):
            array.flags.writeable = False

    @property
    def duration(self) -> float:
        """Seconds, the time of the last key: for a clip's root motion, the clip's duration."""
        return self._line[-1]

    def sample(self, time: npt.ArrayLike) -> Array:
        """(...,4,4) float64: the transform travelled from the start of the clip to `time` (...) seconds.

        The identity at the start; the first key's before it, the last one's after the end (`delta` goes on).
        Translation goes along straight lines between keys, rotation by slerp along the shorter arc. Raises
        ValueError for a time that is not finite.
        """
        times = numbers("time", time)
        if not np.isfinite(times).all():
            raise ValueError(f"time is {time!r}; expected finite seconds")
        found = np.array([matrix(self._at(one)) for one in times.ravel().tolist()], np.float64)
        return found.reshape(*times.shape, 4, 4)

    def delta(
        self,
        start: npt.ArrayLike,
        end: npt.ArrayLike,
        loop: Loop = "wrap",
        duration: float | None = None,
    ) -> Array:
        """(...,4,4) float64: the transform travelled from position `start` to `end`, (...) seconds each.

        Positions are unbounded, as a player counts them: with U(p) = M(d)^floor(p/d) M(p mod d) for "wrap",
        M(min(max(p,0),d)) for "clamp" and "once", and M of the time gone back and forth to for "pingpong",
        where M is `sample` and d the `duration` (default: that of the motion), it is
        inverse(U(start)) U(end). So deltas chain: delta(a,b) @ delta(b,c) is delta(a,c) to 1e-9, over any
        number of loops and backward too, and a character at scene transform X is afterwards at
        X @ delta(start,end).

        The identity where start equals end and where d is 0. Raises ValueError for positions or a duration
        that are not finite, a negative duration and an unknown loop.
        """
        length = self._line[-1] if duration is None else finite("duration", duration)
        if not length >= 0.0:
            raise ValueError(f"duration is {duration!r}; expected seconds, 0 or more")
        if loop not in _LOOPS:
            raise ValueError(f"loop is {loop!r}; expected one of {', '.join(map(repr, _LOOPS))}")
        if isinstance(start, float) and isinstance(end, float):
            return np.array(matrix(self._between(start, end, loop, length)))
        starts, ends = np.broadcast_arrays(numbers("start", start), numbers("end", end))
        pairs = zip(starts.ravel().tolist(), ends.ravel().tolist(), strict=True)
        found = [matrix(self._between(one, other, loop, length)) for one, other in pairs]
        return np.array(found, np.float64).reshape(*starts.shape, 4, 4)

    def _between(self, start: float, end: float, loop: str, duration: float) -> Rigid:
        if not (math.isfinite(start) and math.isfinite(end)):
            raise ValueError(f"start is {start} and end is {end}; expected finite seconds")
        if start == end or duration == 0.0:
            return IDENTITY
        before, first = _place(start, loop, duration)
        after, last = _place(end, loop, duration)
        way = inverse(self._at(first))
        if after != before:
            way = product(way, power(self._at(duration), after - before))
        return product(way, self._at(last))

    def _at(self, time: float) -> Rigid:
        """The transform at a time, between two keys or at the nearer end."""
        line = self._line
        high = bisect_right(line, time)
        if high == 0:
            return self._rows[0]
        if high == len(line):
            return self._rows[-1]
        start = line[high - 1]
        return between(self._rows[high - 1], self._rows[high], (time - start) / (line[high] - start))

    def __repr__(self) -> str:
        x, y, z = self._rows[-1][:3]
        return (
            f"<RootMotion: {self.duration:.3f} s, {len(self._line)} keys, goes ({x:.4g}, {y:.4g}, {z:.4g})>"
        )


def _place(position: float, loop: str, duration: float) -> tuple[int, float]:
    """Loops gone through before an unbounded position, and the time within the one it is in."""
    if loop == "wrap":
        loops = math.floor(position / duration)
        return loops, min(max(position - loops * duration, 0.0), duration)
    if loop == "pingpong":
        within = position % (2.0 * duration)
        return 0, min(within, 2.0 * duration - within)
    return 0, min(max(position, 0.0), duration)


# ---- rigid transforms ------------------------------------------------------------------------------


def turned(q: Rigid, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A vector turned by the rotation of q: v + 2 u x (u x v + w v)."""
    a, b, c, w = q[3], q[4], q[5], q[6]
    i = b * z - c * y + w * x
    j = c * x - a * z + w * y
    k = a * y - b * x + w * z
    return x + 2.0 * (b * k - c * j), y + 2.0 * (c * i - a * k), z + 2.0 * (a * j - b * i)


def product(first: Rigid, second: Rigid) -> Rigid:
    """first @ second; the rotation is made unit again, so that errors do not pile up."""
    x, y, z = turned(first, second[0], second[1], second[2])
    a, b, c, w = first[3], first[4], first[5], first[6]
    d, e, f, v = second[3], second[4], second[5], second[6]
    i = w * d + v * a + b * f - c * e
    j = w * e + v * b + c * d - a * f
    k = w * f + v * c + a * e - b * d
    r = w * v - a * d - b * e - c * f
    length = math.sqrt(i * i + j * j + k * k + r * r)
    return first[0] + x, first[1] + y, first[2] + z, i / length, j / length, k / length, r / length


def inverse(rigid: Rigid) -> Rigid:
    """The way back."""
    back = (0.0, 0.0, 0.0, -rigid[3], -rigid[4], -rigid[5], rigid[6])
    x, y, z = turned(back, -rigid[0], -rigid[1], -rigid[2])
    return x, y, z, back[3], back[4], back[5], back[6]


def power(rigid: Rigid, count: int) -> Rigid:
    """The transform `count` times over, by repeated squaring; backward where count is negative."""
    if count < 0:
        rigid, count = inverse(rigid), -count
    result = rigid if count & 1 else IDENTITY
    while count := count >> 1:
        rigid = product(rigid, rigid)
        if count & 1:
            result = product(result, rigid)
    return result


def between(start: Rigid, end: Rigid, share: float) -> Rigid:
    """Translation on a straight line, rotation by slerp on the shorter arc."""
    x, y, z = (p + share * (q - p) for p, q in zip(start[:3], end[:3], strict=True))
    a, b = start[3:], end[3:]
    if a == b:
        return (x, y, z, *a)
    if sum(p * q for p, q in zip(a, b, strict=True)) < 0.0:
        b = (-b[0], -b[1], -b[2], -b[3])
    # Chord and sum keep their digits for arcs that are tiny and for those that are nearly half a turn.
    angle = 2.0 * math.atan2(math.dist(a, b), math.hypot(*(p + q for p, q in zip(a, b, strict=True))))
    sine = math.sin(angle)
    one, other = (1.0 - share, share)
    if sine > 1e-9:
        one, other = math.sin(one * angle) / sine, math.sin(other * angle) / sine
    i, j, k, r = (one * p + other * q for p, q in zip(a, b, strict=True))
    length = math.sqrt(i * i + j * j + k * k + r * r)
    return x, y, z, i / length, j / length, k / length, r / length


def matrix(rigid: Rigid) -> list[list[float]]:
    """(4,4) for column vectors."""
    tx, ty, tz, x, y, z, w = rigid
    return [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w), tx],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w), ty],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y), tz],
        [0.0, 0.0, 0.0, 1.0],
    ]
