"""Rules of skinpy.check that look at what a clip shows: its seam as a loop, and feet that slide."""

from collections.abc import Iterator

import numpy as np

from .. import _block
from .._types import Array
from ..clip import Clip
from ..clips.evaluate import unit
from ..clips.root_extract import up_vector
from .findings import Finding
from .rest import VISIBLE
from .subject import TRAVELS, Subject

#: Share of how far anything moves: a clip whose last pose is that close to its first is meant to be a loop.
#: The fastest point of an even cycle of 12 frames moves a quarter of its range in one of them.
_NEARLY = 0.25

#: Degrees between first and last pose of a joint that count as none where all vertices close: what is held
#: in a hand, a fifth of the model long, is then off by less than two thousandths of the size.
_SEAM_DEGREES = 0.5

#: Frames and points at which a clip is looked at.
_FRAMES, _POINTS = 33, 2000

#: Seconds over which a velocity is taken, where the clip is not shorter than eight of them.
_SHORT_STEP = 1 / 60

#: A change of velocity at the seam counts if it is this many times the greatest inside the clip, this share
#: of the fastest that anything moves, and this many sizes per second.
_HITCH, _HITCH_SHARE, _HITCH_SPEED = 3.0, 0.5, 0.1

#: Share of the travelling speed at which planted feet slide: feet that roll from heel to toe are never at
#: rest everywhere, so that the estimate is not 0 for them either.
_SLIDES = 0.15

#: Moved joints of what walks: a body and two feet. Less is a thing that tumbles.
_WALKERS = 3

#: Planted points that keep up with the body within this share of its speed are no feet: it flies or rolls.
_CARRIED = 0.3


# ---- the seam ---------------------------------------------------------------------------------------


def loop_seam(subject: Subject, clip: Clip) -> Iterator[Finding]:
    """First against last pose, and the velocities there."""
    if clip.is_additive or clip.duration <= 0:
        return
    ends = subject.points(clip, np.array([0.0, clip.duration])).astype(np.float64)
    travel = subject.travel(clip)
    away = np.linalg.norm(ends[1] - travel - ends[0], axis=1)
    point = int(away.argmax())
    distance = float(away[point])
    turned = _turned(subject, clip)
    degrees = float(turned.max())
    closed = distance <= VISIBLE * subject.size
    if closed and degrees <= _SEAM_DEGREES:
        yield from _hitch(subject, clip, travel)
        return
    joint = subject.names[int(turned.argmax())] if closed else subject.joint_of(point)
    size = f"{distance:.4g} model units ({100 * distance / subject.size:.2g} % of the size)"
    figures = f"{size} and {degrees:.3g} degrees from the first"
    if distance <= _NEARLY * _range(subject, clip, travel) or closed:
        words = f"the last pose is {figures}: played in a loop, it jumps there"
        remedy = "end the clip with the pose that it begins with; a cycle of N frames needs N + 1 poses"
        yield Finding("loop_seam", "warning", clip.name, joint, clip.duration, distance, words, remedy)
    else:
        words = f"the last pose is {figures}: not a loop"
        remedy = "nothing for a clip that is played once"
        yield Finding("loop_open", "note", clip.name, joint, clip.duration, distance, words, remedy)


def _turned(subject: Subject, clip: Clip) -> Array:
    """(J,) degrees that each joint is turned by, to its parent, from the first to the last pose."""
    rotations = subject.model.pose(clip, [0.0, clip.duration], loop="clamp").rotation.astype(np.float64)
    first, last = unit(rotations)
    last = np.where((first * last).sum(axis=1, keepdims=True) < 0, -last, last)
    # By the chord, which keeps its digits for small angles.
    return np.asarray(
        np.degrees(4.0 * np.arcsin((np.linalg.norm(last - first, axis=1) / 2.0).clip(0.0, 1.0)))
    )


def _step(subject: Subject) -> int:
    return max(1, -(-len(subject.model.mesh.positions) // _POINTS))


def _range(subject: Subject, clip: Clip, travel: Array) -> float:
    """Model units: how far any of the points gets from one place of its to another, besides the travel."""
    times = np.linspace(0.0, clip.duration, subject.frames(_FRAMES))
    paths = subject.points(clip, times, _step(subject)) - (times / clip.duration)[:, None, None] * travel
    return float(np.linalg.norm(np.ptp(paths, axis=0), axis=1).max())


def _hitch(subject: Subject, clip: Clip, travel: Array) -> Iterator[Finding]:
    """A closed loop whose velocity changes at the seam as it does nowhere inside."""
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
        _HITCH * float(inside.max(initial=0.0)), _HITCH_SHARE * float(fastest), _HITCH_SPEED * subject.size
    )
    if jump > least:
        joint = subject.joint_of(point * _step(subject))
        words = f"poses meet at the seam, but the velocity changes by {jump:.4g} model units per second"
        remedy = "give the first and the last key the same slope; for a clip that is played once, nothing"
        yield Finding("loop_velocity", "warning", clip.name, joint, clip.duration, jump, words, remedy)


def _inner_times(subject: Subject, clip: Clip, step: float) -> Array:
    """Times at which the velocity may change most: keys within the clip, evenly chosen."""
    lines = {channel.times.ctypes.data: channel.times for channel in subject.channels(clip)}
    keys = np.unique(np.concatenate([*lines.values(), [clip.duration / 2]]))
    keys = keys[(keys > step) & (keys < clip.duration - step)]
    wanted = min(len(keys), max(subject.frames(_FRAMES) // 3, 1))
    return np.asarray(keys[np.linspace(0, len(keys) - 1, wanted).round().astype(np.int64)])


# ---- feet -------------------------------------------------------------------------------------------


def foot_slide(subject: Subject, clip: Clip) -> Iterator[Finding]:
    """Feet that do not stand while the clip, or its root motion, carries the body along.

    What a clip that walks in place should do cannot be told: any steady speed of its feet may be meant.
    """
    if clip.is_additive or clip.duration <= 0:
        return
    records = clip._channel_records
    if len(np.unique(records["joint"][records["path"] != _block.WEIGHT_PATH])) < _WALKERS:
        return
    travel = subject.travel(clip)
    motion = clip.root_motion
    if motion is not None:
        up = up_vector(subject.model)
        way = np.asarray(motion.sample(clip.duration), np.float64)[:3, 3]
        travel = travel + way - (way @ up) * up
    speed = float(np.linalg.norm(travel)) / clip.duration
    if speed * clip.duration <= TRAVELS * subject.size:
        return
    feet = clip._with(motion=None).root_motion_from_feet()._motion
    assert feet is not None
    planted = -feet.values[-1, :3].astype(np.float64) / clip.duration
    if motion is not None:
        planted = planted + (travel - subject.travel(clip)) / clip.duration
    slide = float(np.linalg.norm(planted))
    if slide > _SLIDES * speed and np.linalg.norm(planted - travel / clip.duration) > _CARRIED * speed:
        words = (
            f"planted feet slide at {slide:.4g} model units per second, {100 * slide / speed:.3g} % of the "
            f"speed of {speed:.4g} at which the clip travels"
        )
        remedy = "adapt the way to the steps: Clip.root_motion_from_feet, or inverse kinematics for the feet"
        yield Finding("foot_slide", "warning", clip.name, None, None, slide, words, remedy)
