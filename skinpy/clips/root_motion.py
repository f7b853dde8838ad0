"""Root motion: how a clip moves its character through the scene, apart from how it moves the joints.

A rigid transform is seven floats in this module: translation x y z and unit quaternion x y z w. The
arithmetic is in plain Python floats, because a controller needs one transform in each frame, and calls of
NumPy cost more for so few numbers.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .._arguments import brief, check_increasing, finite, first, floats, numbers, one_of
from .._strict import Strict
from .._types import Array, Loop

__all__ = ["RootMotion"]

Rigid: TypeAlias = tuple[float, float, float, float, float, float, float]

IDENTITY: Rigid = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
_LOOPS = ("wrap", "clamp", "pingpong", "once")
_MAX_LOOPS = 1e9  # beyond them the time within a loop has no digits left


class RootMotion(Strict):
    """The motion of a character through the scene during a clip: a rigid transform that changes over time.

    The transform is relative to the first key, where it is the identity. `Clip.extract_root_motion` and
    `Clip.root_motion_from_feet` make clips that have a `Clip.root_motion`. Root motion never changes.
    docs/root-motion.md has examples.

    Parameters
    ----------
    times : array_like, shape (K,), seconds
        Times of the keys, increasing.
    translation : array_like, shape (K, 3), scene units
        Translations of the keys.
    rotation : array_like, shape (K, 4), x y z w
        Rotations of the keys, as quaternions of any length but 0.

    Raises
    ------
    ValueError
        If there are no keys, a shape is wrong, times do not increase, a number is not finite, or a quaternion
        has length 0. The message names the argument.
    TypeError
        If an argument does not hold real numbers.

    Examples
    --------
    >>> motion = skinpy.RootMotion([0, 1], [[0, 0, 0], [0, 0, 2]], [[0, 0, 0, 1]] * 2)
    >>> motion.delta(0.5, 3.5)[:3, 3]
    array([0., 0., 6.])
    """

    def __init__(self, times: npt.ArrayLike, translation: npt.ArrayLike, rotation: npt.ArrayLike) -> None:
        line = floats("times", times, ("K",), np.float64)
        if not len(line):
            raise ValueError("times is empty; expected at least one key")
        check_increasing("times", line)
        translations = floats("translation", translation, (len(line), 3), np.float64)
        rotations = floats("rotation", rotation, (len(line), 4), np.float64)
        lengths = np.linalg.norm(rotations, axis=1, keepdims=True)
        if (lengths == 0).any():
            item = first("rotation", lengths[:, 0] == 0)
            raise ValueError(f"{item} is a quaternion of length 0; expected a length above 0")
        rows: list[Rigid] = [tuple(row) for row in np.hstack([translations, rotations / lengths]).tolist()]
        if rows[0] != IDENTITY:
            back = inverse(rows[0])
            rows = [IDENTITY, *(product(back, row) for row in rows[1:])]
        self._line: list[float] = line.tolist()
        self._rows = rows
        keys = np.array(rows)
        self._times, self._translation, self._rotation = line.copy(), keys[:, :3].copy(), keys[:, 3:].copy()
        for array in (self._times, self._translation, self._rotation):
            array.flags.writeable = False

    @property
    def times(self) -> Array:
        """The times of the keys in seconds, (K,) float64, read-only."""
        return self._times

    @property
    def translation(self) -> Array:
        """The translations in scene units, relative to the first key, (K,3) float64, read-only."""
        return self._translation

    @property
    def rotation(self) -> Array:
        """The unit quaternions x y z w, relative to the first key, (K,4) float64, read-only."""
        return self._rotation

    @property
    def duration(self) -> float:
        """The time of the last key in seconds, which is the duration of the clip."""
        return self._line[-1]

    def sample(self, time: npt.ArrayLike) -> Array:
        """Return the transform that the character has traveled since the start of the clip.

        Parameters
        ----------
        time : array_like, shape (...), seconds
            Times in the clip. Before the first key the transform is that of the first key, and after the last
            key that of the last; `delta` continues beyond the end.

        Returns
        -------
        (..., 4, 4) float64 ndarray
            The transforms. Between keys translations are on straight lines, and rotations by slerp along the
            shorter arc.

        Raises
        ------
        ValueError
            If a time is not finite.
        TypeError
            If `time` does not hold real numbers.
        """
        times = numbers("time", time)
        if not np.isfinite(times).all():
            raise ValueError(f"time is {brief(time)}; expected finite seconds")
        found = np.array([matrix(self._at(one)) for one in times.ravel().tolist()], np.float64)
        return found.reshape(*times.shape, 4, 4)

    def delta(
        self,
        start: npt.ArrayLike,
        end: npt.ArrayLike,
        loop: Loop = "wrap",
        duration: float | None = None,
    ) -> Array:
        """Return the transform that the character travels between two positions of a player.

        Positions count on over any number of loops, forward and backward. A character at the scene transform
        X is at ``X @ delta(start, end)`` afterwards. Deltas chain: ``delta(a, b) @ delta(b, c)`` is
        ``delta(a, c)`` within 1e-9.

        Parameters
        ----------
        start, end : array_like, shape (...), seconds
            The positions, which broadcast.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip.
        duration : float, seconds, optional
            The length of one loop. By default it is `duration` of the root motion.

        Returns
        -------
        (..., 4, 4) float64 ndarray
            The transforms: the identity if `start` equals `end` or the duration is 0.

        Raises
        ------
        ValueError
            If a position or the duration is not finite, the duration is negative, or `loop` is unknown.
        TypeError
            If an argument does not hold real numbers.

        Notes
        -----
        With M(t) the result of `sample` and d the duration, let U(p) be ``M(d)^floor(p / d) M(p mod d)`` for
        "wrap", ``M(min(max(p, 0), d))`` for "clamp" and "once", and M of the time that a back and forth
        motion has reached for "pingpong". The result is ``inverse(U(start)) U(end)``.
        """
        length = self._line[-1] if duration is None else finite("duration", duration)
        if not length >= 0.0:
            raise ValueError(f"duration is {brief(duration)}; expected 0 or more seconds")
        one_of("loop", loop, _LOOPS)
        if isinstance(start, float) and isinstance(end, float):
            return np.array(matrix(self._between(start, end, loop, length)))
        before, after = numbers("start", start), numbers("end", end)
        try:
            starts, ends = np.broadcast_arrays(before, after)
        except ValueError:
            raise ValueError(
                f"start has shape {before.shape} and end {after.shape}; expected shapes that broadcast"
            ) from None
        pairs = zip(starts.ravel().tolist(), ends.ravel().tolist(), strict=True)
        found = [matrix(self._between(one, other, loop, length)) for one, other in pairs]
        return np.array(found, np.float64).reshape(*starts.shape, 4, 4)

    def _between(self, start: float, end: float, loop: str, duration: float) -> Rigid:
        """The transform between two positions; see delta."""
        if not (math.isfinite(start) and math.isfinite(end)):
            raise ValueError(f"start is {start} and end is {end}; expected finite seconds")
        if not max(abs(start), abs(end)) <= _MAX_LOOPS * max(duration, 1.0):
            raise ValueError(f"start is {start:g} and end is {end:g}; expected at most {_MAX_LOOPS:g} loops")
        if start == end or duration == 0.0:
            return IDENTITY
        loops_before, first_time = _loops_and_time(start, loop, duration)
        loops_after, last_time = _loops_and_time(end, loop, duration)
        travelled = inverse(self._at(first_time))
        if loops_after != loops_before:
            travelled = product(travelled, power(self._at(duration), loops_after - loops_before))
        return product(travelled, self._at(last_time))

    def _at(self, time: float) -> Rigid:
        """The transform at a time; outside the keys it is that of the nearest key."""
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


def _loops_and_time(position: float, loop: str, duration: float) -> tuple[int, float]:
    """The number of whole loops before a position, and the time within the loop that it is in."""
    if loop == "wrap":
        loops = math.floor(position / duration)
        return loops, min(max(position - loops * duration, 0.0), duration)
    if loop == "pingpong":
        within = position % (2.0 * duration)
        return 0, min(within, 2.0 * duration - within)
    return 0, min(max(position, 0.0), duration)


# ---- rigid transforms ------------------------------------------------------------------------------


def rotated(q: Rigid, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A vector v rotated by the quaternion (u, w) of a transform: v + 2 u x (u x v + w v)."""
    a, b, c, w = q[3], q[4], q[5], q[6]
    i = b * z - c * y + w * x
    j = c * x - a * z + w * y
    k = a * y - b * x + w * z
    return x + 2.0 * (b * k - c * j), y + 2.0 * (c * i - a * k), z + 2.0 * (a * j - b * i)


def product(first: Rigid, second: Rigid) -> Rigid:
    """first @ second. The quaternion is normalized, so that errors do not accumulate."""
    x, y, z = rotated(first, second[0], second[1], second[2])
    a, b, c, w = first[3], first[4], first[5], first[6]
    d, e, f, v = second[3], second[4], second[5], second[6]
    i = w * d + v * a + b * f - c * e
    j = w * e + v * b + c * d - a * f
    k = w * f + v * c + a * e - b * d
    r = w * v - a * d - b * e - c * f
    length = math.sqrt(i * i + j * j + k * k + r * r)
    return first[0] + x, first[1] + y, first[2] + z, i / length, j / length, k / length, r / length


def inverse(rigid: Rigid) -> Rigid:
    """The inverse of a transform."""
    back = (0.0, 0.0, 0.0, -rigid[3], -rigid[4], -rigid[5], rigid[6])
    x, y, z = rotated(back, -rigid[0], -rigid[1], -rigid[2])
    return x, y, z, back[3], back[4], back[5], back[6]


def power(rigid: Rigid, count: int) -> Rigid:
    """The transform applied `count` times, by repeated squaring; its inverse for a negative count."""
    if count < 0:
        rigid, count = inverse(rigid), -count
    result = rigid if count & 1 else IDENTITY
    while count := count >> 1:
        rigid = product(rigid, rigid)
        if count & 1:
            result = product(result, rigid)
    return result


def between(start: Rigid, end: Rigid, fraction: float) -> Rigid:
    """A transform between two: translation on a straight line, rotation by slerp on the shorter arc."""
    x, y, z = (p + fraction * (q - p) for p, q in zip(start[:3], end[:3], strict=True))
    a, b = start[3:], end[3:]
    if a == b:
        return (x, y, z, *a)
    if sum(p * q for p, q in zip(a, b, strict=True)) < 0.0:
        b = (-b[0], -b[1], -b[2], -b[3])
    # The lengths of difference and sum are accurate for tiny arcs and for arcs of nearly 180 degrees.
    angle = 2.0 * math.atan2(math.dist(a, b), math.hypot(*(p + q for p, q in zip(a, b, strict=True))))
    sine = math.sin(angle)
    one, other = (1.0 - fraction, fraction)
    if sine > 1e-9:
        one, other = math.sin(one * angle) / sine, math.sin(other * angle) / sine
    i, j, k, r = (one * p + other * q for p, q in zip(a, b, strict=True))
    length = math.sqrt(i * i + j * j + k * k + r * r)
    return x, y, z, i / length, j / length, k / length, r / length


def matrix(rigid: Rigid) -> list[list[float]]:
    """The transform as a matrix (4,4) for column vectors."""
    tx, ty, tz, x, y, z, w = rigid
    return [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w), tx],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w), ty],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y), tz],
        [0.0, 0.0, 0.0, 1.0],
    ]
