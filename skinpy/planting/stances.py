"""Where planted feet belong: the path of one limb's end whose sole rolls over the ground without sliding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import rotation
from .._types import Array
from ..clips.evaluate import shortest_rotation
from ..posing.kinematics import quaternion_product, rotated
from .easing import eased, envelope, smooth
from .soles import Sole
from .turns import mean_rotation

#: Radians: a planted foot, and its toes, whose sole slopes less lies flat. Toes bend; a foot is stiff.
_FLAT, _FLAT_TOES = np.radians(10.0), np.radians(30.0)
#: Radians: the slope is measured from the usual one of planted feet that tilt by less than _STILL per second.
#: If that is more than _MAX_USUAL, feet stand on their toes, and otherwise as they do in the rest pose.
_MAX_USUAL, _STILL = np.radians(25.0), np.radians(20.0)
#: Radians per second: a foot that turns faster about the vertical swivels, and is not held.
_SWIVELS = np.radians(200.0)
#: Radians: at most so far do they rotate to keep still. A foot that turns further pivots.
_MAX_HELD, _MAX_HELD_TOES = np.radians(15.0), np.radians(30.0)
#: Radians: so far may toes turn sideways on their foot.
_MAX_SWIVEL = np.radians(3.0)
#: Toes that are higher than this fraction of the size above the lowest point of the foot are not planted.
_LOW = 0.02
#: Seconds: how much earlier a foot in the air is lifted before it would be in the ground.
_LIFT_SECONDS = 0.05
#: A contact within this fraction of the size above or below the ground is on the ground, not on a step.
_SNAP = 0.06


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid part of a limb's end at times (N,), on the ground: a foot, or its toes."""

    sole: Sole
    origin: Array  #: (N,3) of its joint
    rotation: Array  #: (N,4) of its joint
    points: Array  #: (N,K,3) of the sole
    is_toes: bool


@dataclass(frozen=True, eq=False)
class Track:
    """One limb at times (N,), on the ground: what the clip does with it."""

    times: Array
    root: Array  #: (N,3) origin of the joint where the limb begins
    middle: Array  #: (N,3)
    root_rotation: Array  #: (N,4) of the first joint
    parts: list[Part]  #: the end of the limb, and its toes if it has any

    @property
    def end(self) -> Array:
        """The origins (N,3) of the end of the limb."""
        return self.parts[0].origin

    def every(self, step: int) -> Track:
        """Return the track at every so many of its times."""
        parts = [
            Part(one.sole, one.origin[::step], one.rotation[::step], one.points[::step], one.is_toes)
            for one in self.parts
        ]
        return Track(
            *(self.times[::step], self.root[::step], self.middle[::step], self.root_rotation[::step]), parts
        )

    def repeated(self, lap: Array) -> Track:
        """Return the track with the round of a loop before it and the one after it.

        `lap` (4,4) is the transform on the ground from one round to the next.
        """
        times, length = self.times, self.times[-1] - self.times[0]
        line = np.concatenate([times[:-1] - length, times, times[1:] + length])
        back = np.linalg.inv(lap)
        turn = rotation.from_matrix(lap[:3, :3])

        def points(rows: Array) -> Array:
            rounds = (rows[:-1] @ back[:3, :3].T + back[:3, 3], rows, rows[1:] @ lap[:3, :3].T + lap[:3, 3])
            return np.concatenate(rounds)

        def turns(rows: Array) -> Array:
            before = quaternion_product(rotation.inverse(turn), rows[:-1])
            return np.concatenate([before, rows, quaternion_product(turn, rows[1:])])

        parts = [
            Part(one.sole, points(one.origin), turns(one.rotation), points(one.points), one.is_toes)
            for one in self.parts
        ]
        return Track(line, points(self.root), points(self.middle), turns(self.root_rotation), parts)


@dataclass(frozen=True, eq=False)
class Plan:
    """Where the end of a limb belongs, at times (N,)."""

    target: Array  #: (N,3)
    turns: list[Array]  #: (N,4) of each part: its additional rotation, on the ground
    planted: Array  #: (N,) bool: times of a contact

    def within(self, span: slice) -> Plan:
        """Return the plan for a span of the times."""
        return Plan(self.target[span], [turn[span] for turn in self.turns], self.planted[span])


@dataclass(frozen=True)
class Level:
    """The ground for planted feet."""

    measured: float  #: the level at which the clip's feet stand
    wanted: float  #: the level at which they should stand
    size: float
    up: Array  #: (3,)
    rise: float = 0.0  #: how far the whole figure is raised afterwards; the levels below are those before

    @property
    def ground(self) -> float:
        """The level of the ground."""
        return self.wanted - self.rise

    def under(self, heights: Array) -> float:
        """Return the level of a contact whose lowest points have these heights: the ground, or a step."""
        mean = float(heights.mean())
        return self.ground if abs(mean - self.measured) <= _SNAP * self.size else mean - self.rise


def planned(track: Track, intervals: Array, level: Level, blend: float) -> Plan:
    """Return where the end of a limb belongs if its sole stands on the ground in `intervals` (n,2)."""
    starts, ends = _frames(track.times, intervals)
    if not len(starts):
        still = np.tile([0.0, 0.0, 0.0, 1.0], (len(track.times), 1))
        return Plan(track.end, [still for _ in track.parts], np.zeros(len(track.times), bool))
    vectors = [_held(track, part, (starts, ends), level, blend) for part in track.parts]
    for toes in vectors[1:]:  # they bend, but do not swivel on the foot
        swivel, yaw = vectors[0] @ level.up, toes @ level.up
        toes += (np.clip(yaw, swivel - _MAX_SWIVEL, swivel + _MAX_SWIVEL) - yaw)[:, None] * level.up
    turns = [rotation.from_rotvec(one) for one in vectors]
    away = _away(track, turns)
    times, planted = track.times, _covered(len(track.times), starts, ends)
    moved = track.end + eased(times, _rolled(track, away, starts, ends, level), starts, ends, blend)
    sole = track.end @ level.up + (away @ level.up).min(axis=1)
    low, lift = _lowest(track, level), np.zeros((len(times), 1))
    for start, end in zip(starts, ends, strict=True):
        lift[start : end + 1, 0] = level.under(low[start : end + 1]) - sole[start : end + 1]
    lift = eased(times, lift, starts, ends, blend)[:, 0]
    lift += _over_ground(times, sole + lift, (starts, ends), level)
    return Plan(moved + lift[:, None] * level.up, turns, planted)


def _over_ground(times: Array, heights: Array, contacts: tuple[Array, Array], level: Level) -> Array:
    """Return how far (N,) a sole at heights (N,) is lifted so that in the air it is not below the ground."""
    sunk = np.where(_covered(len(times), *contacts), 0.0, np.maximum(level.ground - heights, 0.0))
    # The smooth curve begins before a foot is in the ground, but ends where a contact is.
    still = eased(times, np.ones((len(times), 1)), *contacts, _LIFT_SECONDS)[:, 0]
    return np.maximum(sunk, (1.0 - still) * envelope(times, sunk, _LIFT_SECONDS))


def _covered(count: int, starts: Array, ends: Array) -> Array:
    """Return which of `count` frames are in runs of frames."""
    covered = np.zeros(count, bool)
    for start, end in zip(starts, ends, strict=True):
        covered[start : end + 1] = True
    return covered


def _away(track: Track, turns: list[Array]) -> Array:
    """Return the points (N,K,3) of all parts, relative to the end of the limb, after their rotations."""
    found = []
    for part, turn in zip(track.parts, turns, strict=True):
        hinge = rotated(turns[0], part.origin - track.end)
        found.append(hinge[:, None] + rotated(turn[:, None], part.points - part.origin[:, None]))
    return np.concatenate(found, axis=1)


def _frames(times: Array, intervals: Array) -> tuple[Array, Array]:
    """Return the first and the last index of the times in each interval that has any."""
    slack = 1e-9 * max(float(times[-1] - times[0]), 1.0)
    starts = np.searchsorted(times, intervals[:, 0] - slack)
    ends = np.searchsorted(times, intervals[:, 1] + slack, side="right") - 1
    kept = ends >= starts
    return starts[kept], ends[kept]


# ---- rotation --------------------------------------------------------------------------------------


def _held(track: Track, part: Part, contacts: tuple[Array, Array], level: Level, blend: float) -> Array:
    """Return the rotation vectors (N,3) that keep a sole still and level while it lies flat in a contact.

    `contacts` are the first and the last indices of each.
    """
    if not part.sole.has_length:
        return np.zeros((len(track.times), 3))
    slope = _slope(part, level)
    usual = _usual(slope, track.times, _covered(len(slope), *contacts))
    limit, most = (_FLAT_TOES, _MAX_HELD_TOES) if part.is_toes else (_FLAT, _MAX_HELD)
    is_low = (part.points @ level.up).min(axis=1) - _lowest(track, level) <= _LOW * level.size
    flat = is_low & (np.abs(slope - usual) <= limit)
    most += abs(usual)
    if not part.is_toes:
        flat &= _swivel(part.rotation, track.times, level.up) <= _SWIVELS
    turns = np.zeros((len(track.times), 3))
    # A foot that begins to roll is let go as it tilts, or its knee would bend for a heel that is held down.
    share = smooth(1.0 - np.abs(slope - usual) / limit)
    firsts, lasts = _runs(flat, *contacts)
    for start, end in zip(firsts, lasts, strict=True):
        inside = slice(start, end + 1)
        pose = _level_rotation(part, inside, level)
        toward = rotation.to_rotvec(quaternion_product(pose, rotation.inverse(part.rotation[inside])))
        angle = np.maximum(np.linalg.norm(toward, axis=1, keepdims=True), 1e-12)
        turns[inside] = toward * np.minimum(1.0, most / angle) * share[inside, None]
    return eased(track.times, turns, firsts, lasts, blend) if len(firsts) else turns


def _swivel(rotations: Array, times: Array, up: Array) -> Array:
    """Return the speed (N,) in radians per second at which rotations (N,4) turn about an axis."""
    if len(times) < 2:
        return np.zeros(len(times))
    steps = quaternion_product(rotations[1:], rotation.inverse(rotations[:-1]))
    speeds = np.abs(rotation.to_rotvec(steps) @ up) / np.diff(times)
    return np.asarray(np.minimum(np.append(speeds, speeds[-1]), np.append(speeds[0], speeds)))


def _runs(mask: Array, starts: Array, ends: Array) -> tuple[Array, Array]:
    """Return the first and the last indices of the runs of a mask (N,) within runs of frames."""
    inside, first = np.zeros(len(mask), bool), np.zeros(len(mask) + 1, bool)
    for start, end in zip(starts, ends, strict=True):
        inside[start : end + 1], first[start] = mask[start : end + 1], True
    begins = np.flatnonzero(inside & (first[:-1] | ~np.append(False, inside[:-1])))
    finishes = np.flatnonzero(inside & (first[1:] | ~np.append(inside[1:], False)))
    return begins, finishes


def _slope(part: Part, level: Level) -> Array:
    """Return the angle (N,) by which a sole rises from its rear to its front."""
    sole, heights = part.sole, part.points @ level.up
    rise = heights[:, sole.front].min(axis=1) - heights[:, sole.rear].min(axis=1)
    along = part.points[:, sole.front].mean(axis=1) - part.points[:, sole.rear].mean(axis=1)
    length = np.maximum(np.linalg.norm(along, axis=1), 1e-12)
    return np.asarray(np.arcsin(np.clip(rise / length, -1.0, 1.0)))


def _usual(slope: Array, times: Array, planted: Array) -> float:
    """Return the median slope of a planted sole while it does not tilt; 0 if that is not of flat feet."""
    if len(times) < 2:
        return 0.0
    still = planted & (np.abs(np.gradient(slope, times)) <= _STILL)
    usual = float(np.median(slope[still])) if still.any() else 0.0
    return usual if abs(usual) <= _MAX_USUAL else 0.0


def _lowest(track: Track, level: Level) -> Array:
    """Return the height (N,) of the lowest point of all parts."""
    return np.asarray(np.min([(part.points @ level.up).min(axis=1) for part in track.parts], axis=0))


def _level_rotation(part: Part, frames: slice, level: Level) -> Array:
    """Return the rotation (4,) of a part in a contact: the mean of some frames, with a level sole."""
    sole, mean = part.sole, mean_rotation(part.rotation[frames])
    away = part.points[frames] - part.origin[frames, None, :]
    points = rotated(rotation.inverse(part.rotation[frames])[:, None, :], away).mean(axis=0)
    for _ in range(2):  # another point may be the lowest after the first rotation
        held = rotated(mean, points)
        heights = held @ level.up
        rear = held[np.flatnonzero(sole.rear)[heights[sole.rear].argmin()]]
        front = held[np.flatnonzero(sole.front)[heights[sole.front].argmin()]]
        along = front - rear
        flat = along - (along @ level.up) * level.up
        mean = quaternion_product(shortest_rotation(along[None], flat[None])[0], mean)
    return mean


# ---- position --------------------------------------------------------------------------------------


def _rolled(track: Track, away: Array, starts: Array, ends: Array, level: Level) -> Array:
    """Return how the end joint moves over the ground (N,3) in contacts, if the sole rolls without sliding.

    `away` (N,K,3) are the points of the sole relative to the joint, as they will be. From one time to the
    next the lowest point does not move; the whole path is moved so that it is nearest to the clip's.
    """
    heights = away @ level.up
    pivots = (heights[1:] + heights[:-1]).argmin(axis=1)
    rows = np.arange(len(pivots))
    steps = away[rows, pivots] - away[rows + 1, pivots]
    path = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)]) - track.end
    path -= (path @ level.up)[:, None] * level.up
    way = np.zeros_like(path)
    for start, end in zip(starts, ends, strict=True):
        span = slice(start, end + 1)
        seconds = np.gradient(track.times[span]) if end > start else np.ones(1)
        way[span] = path[span] - (seconds @ path[span]) / seconds.sum()
    return way
