"""The rule of skinpy.check for the seam of a loop: whether poses and velocities of both ends match."""

from collections.abc import Iterator

import numpy as np

from .._types import Array
from ..clip import Clip
from ..clips.evaluate import unit
from .findings import Finding, finding
from .subject import VISIBLE, Subject

#: Fraction of the largest movement: a clip whose last pose is that close to its first is meant to be a loop.
#: The fastest point of an even cycle of 12 frames moves a quarter of its range in one of them.
_NEARLY = 0.25

#: Degrees between first and last pose of a joint that count as none where all vertices close: an object in a
#: hand, a fifth of the model long, is then off by less than two thousandths of the size.
_SEAM_DEGREES = 0.5

#: Frames and points at which a clip is measured.
_FRAMES, _POINTS = 33, 2000

#: Seconds over which a velocity is measured, in clips of at least eight times that length.
_SHORT_STEP = 1 / 60

#: A change of velocity at the seam counts if it is this many times the greatest inside the clip, this
#: fraction of the fastest speed, and this many sizes per second.
_HITCH, _HITCH_FRACTION, _HITCH_SPEED = 3.0, 0.5, 0.1


def loop_seam(subject: Subject, clip: Clip) -> Iterator[Finding]:
    """Compare the last pose with the first, and the velocities there."""
    if clip.is_additive or clip.duration <= 0:
        return
    ends = subject.points(clip, np.array([0.0, clip.duration])).astype(np.float64)
    travel = subject.travel(clip)
    away = np.linalg.norm(ends[1] - travel - ends[0], axis=1)
    point = int(away.argmax())
    distance = float(away[point])
    rotated = _rotated(subject, clip)
    degrees = float(rotated.max())
    closed = distance <= VISIBLE * subject.size
    if closed and degrees <= _SEAM_DEGREES:
        yield from _hitch(subject, clip, travel)
        return
    is_loop = closed or distance <= _NEARLY * _range(subject, clip, travel)
    gap = f"{distance:.4g} model units ({100 * distance / subject.size:.2g} % of the size)"
    effect = "the clip jumps there when it loops" if is_loop else "the clip is not a loop"
    remedy = "end the clip with its first pose; a cycle of N frames needs N + 1 poses"
    yield finding(
        "loop_seam" if is_loop else "loop_open",
        "warning" if is_loop else "note",
        f"the last pose is {gap} and {degrees:.3g} degrees away from the first; {effect}",
        remedy if is_loop else "nothing, if the clip is played once",
        clip=clip.name,
        joint=subject.names[int(rotated.argmax())] if closed else subject.joint_of(point),
        time=clip.duration,
        size=distance,
    )


def _rotated(subject: Subject, clip: Clip) -> Array:
    """Return the degrees (J,) between the last and the first local rotation of each joint."""
    rotations = subject.model.pose(clip, [0.0, clip.duration], loop="clamp").rotation.astype(np.float64)
    first, last = unit(rotations)
    last = np.where((first * last).sum(axis=1, keepdims=True) < 0, -last, last)
    # The chord keeps its digits for small angles, the dot product does not.
    return np.asarray(
        np.degrees(4.0 * np.arcsin((np.linalg.norm(last - first, axis=1) / 2.0).clip(0.0, 1.0)))
    )


def _step(subject: Subject) -> int:
    """Return the step between measured vertices that leaves at most _POINTS of them."""
    return max(1, -(-len(subject.model.mesh.positions) // _POINTS))


def _range(subject: Subject, clip: Clip, travel: Array) -> float:
    """Return how far any point gets from one of its positions to another, in model units, without travel."""
    times = np.linspace(0.0, clip.duration, subject.frames(_FRAMES))
    paths = subject.points(clip, times, _step(subject)) - (times / clip.duration)[:, None, None] * travel
    return float(np.linalg.norm(np.ptp(paths, axis=0), axis=1).max())


def _hitch(subject: Subject, clip: Clip, travel: Array) -> Iterator[Finding]:
    """Find a closed loop whose velocity changes at the seam as it does nowhere inside."""
    step = min(_SHORT_STEP, clip.duration / 8)
    inner = _inner_times(subject, clip, step)
    count = len(inner)
    times = np.concatenate(
        [[0.0, step, clip.duration - step, clip.duration], inner - step, inner, inner + step]
    )
    points = subject.points(clip, times, _step(subject)).astype(np.float64)
    first, last = (points[1] - points[0]) / step, (points[3] - points[2]) / step
    before, at, after = points[4:].reshape(3, count, *points.shape[1:])
    inside = np.linalg.norm(after - 2.0 * at + before, axis=-1) / step
    fastest = np.linalg.norm(np.stack([after - at, at - before]), axis=-1).max(initial=0.0) / step
    change = np.linalg.norm(last - first, axis=1)
    point = int(change.argmax())
    jump = float(change[point])
    least = max(
        _HITCH * float(inside.max(initial=0.0)),
        _HITCH_FRACTION * float(fastest),
        _HITCH_SPEED * subject.size,
    )
    if jump > least:
        yield finding(
            "loop_velocity",
            "warning",
            f"the poses match at the seam, but the velocity changes by {jump:.4g} model units per second",
            "give the first and the last key the same slope; nothing, if the clip is played once",
            clip=clip.name,
            joint=subject.joint_of(point * _step(subject)),
            time=clip.duration,
            size=jump,
        )


def _inner_times(subject: Subject, clip: Clip, step: float) -> Array:
    """Return times at which the velocity may change most: keys within the clip, evenly chosen."""
    lines = {channel.times.ctypes.data: channel.times for channel in subject.channels(clip)}
    keys = np.unique(np.concatenate([*lines.values(), [clip.duration / 2]]))
    keys = keys[(keys > step) & (keys < clip.duration - step)]
    wanted = min(len(keys), max(subject.frames(_FRAMES) // 3, 1))
    return np.asarray(keys[np.linspace(0, len(keys) - 1, wanted).round().astype(np.int64)])
