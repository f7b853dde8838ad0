"""Numbers that leave the range of float32: where a model's poses do, and the errors that say so.

Evaluation (poses, palettes, skinned vertices) returns what the numbers give, infinite ones too. What makes a
clip, a model, a picture or a file of them raises ValueError instead, which names the clip and the joint.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._text import quoted
from .._types import Array
from .frames import chunks

if TYPE_CHECKING:
    from ..clip import Channel, Clip
    from ..model import Model

#: Results below this, a hundredth of the largest float32, leave room for sums of a few of them.
_SAFE = 3e36
_SMALLER = "expected smaller translations, scales and positions"
#: Poses of one clip that are looked at, and the numbers in memory at once.
_MAX_TIMES = 400


class Overflow(NamedTuple):
    """The first result that is not finite: its joint, in words what it is, and the time in the clip."""

    joint: str
    what: str
    time: float


def find_overflow(model: Model, clip: Clip | None) -> Overflow | None:
    """The first transform or vertex of a clip, or of the rest pose, that float32 cannot hold.

    The poses at the clip's keys and at three times between any two are looked at, or at some of them if they
    are many. Where the numbers are so small that no result can overflow, nothing is posed.
    """
    channels = () if clip is None else clip._pose_channels
    if _largest_result(model, channels) < _SAFE:
        return None
    times = np.zeros(1) if clip is None else _key_times(channels, clip.duration)
    for span in chunks(len(times), 16 * len(model.skeleton) + 3 * len(model.mesh.positions)):
        found = _first(model, clip, times[span])
        if found is not None:
            return found
    return None


def refuse_overflow(model: Model, clip: Clip | None) -> None:
    """Raise ValueError if a pose of the clip, or the rest pose, overflows."""
    found = find_overflow(model, clip)
    if found is not None:
        raise ValueError(f"{overflow_words(clip, found)}; {_SMALLER}")


def refuse_points(model: Model, positions: Array, clip: Clip | None, times: Array) -> None:
    """Raise ValueError if a skinned vertex (N,V,3) at times (N,) is not finite."""
    if bad := _first_bad(positions):
        frame, vertex = bad
        found = _of_vertex(model, vertex, float(times[frame]))
        raise ValueError(f"{overflow_words(clip, found)}; {_SMALLER}")


def overflow_words(clip: Clip | None, found: Overflow) -> str:
    """What overflows, as the beginning of a sentence."""
    subject = "the rest pose" if clip is None else f"clip {quoted(clip.name)}"
    time = "" if clip is None else f" at {found.time:.6g} s"
    return f"{subject} overflows{time}: {found.what} is beyond float32 (3.4e38)"


# ---- results --------------------------------------------------------------------------------------


def _first(model: Model, clip: Clip | None, times: Array) -> Overflow | None:
    """The first overflow at times (N,): of a joint, of a slot, or of a vertex."""
    names = model.skeleton.names
    pose = model.pose(clip, times, loop="clamp")
    if bad := _first_bad(pose.globals()):
        frame, joint = bad
        return Overflow(names[joint], f"the transform of joint {quoted(names[joint])}", float(times[frame]))
    if bad := _first_bad(pose.palette()):
        frame, slot = bad
        name = names[model.skin.joints[slot]]
        return Overflow(name, f"the palette matrix of joint {quoted(name)}", float(times[frame]))
    if bad := _first_bad(model.deform(pose, normals=False)[0]):
        frame, vertex = bad
        return _of_vertex(model, vertex, float(times[frame]))
    return None


def _of_vertex(model: Model, vertex: int, time: float) -> Overflow:
    name = model.skeleton.names[model.skin.joints[model.mesh.slots[vertex, 0]]]
    return Overflow(name, f"vertex {vertex}, which follows joint {quoted(name)},", time)


def _first_bad(results: Array) -> tuple[int, int] | None:
    """The numbers of the first frame and item of results (N,M,...) that are not all finite."""
    bad = ~np.isfinite(results).all(axis=tuple(range(2, results.ndim)))
    if not bad.any():
        return None
    frame, item = np.unravel_index(int(np.argmax(bad)), bad.shape)
    return int(frame), int(item)


def _key_times(channels: tuple[Channel, ...], duration: float) -> Array:
    """Times of keys within the clip, and of the largest key of each channel where there are too many."""
    lines = {channel.times.tobytes(): channel.times for channel in channels}
    keys = np.unique(np.clip(np.concatenate([[0.0, duration], *lines.values()]), 0.0, duration))
    if 4 * len(keys) <= _MAX_TIMES:
        between = keys[:-1, None] + np.arange(4) / 4 * np.diff(keys)[:, None]
        return np.append(between.ravel(), keys[-1])
    peaks = [one.times[np.abs(one.values).max(axis=1).argmax()] for one in channels]
    peaks = np.clip(np.array(peaks), 0.0, duration)
    return np.unique(np.concatenate([_some(keys), _some(peaks)]))


def _some(times: Array) -> Array:
    """At most half of the times that may be looked at, evenly chosen among these."""
    return np.asarray(times[np.linspace(0, len(times) - 1, _MAX_TIMES // 2).astype(np.int64)])


# ---- bounds ---------------------------------------------------------------------------------------


def _largest_result(model: Model, channels: tuple[Channel, ...]) -> float:
    """A number that no element of a transform, a palette or a skinned vertex exceeds, in float64."""
    skeleton, mesh, skin = model.skeleton, model.mesh, model.skin
    moved = np.linalg.norm(skeleton.translation.astype(np.float64), axis=1)
    linear = np.linalg.norm(skeleton.rest_local[:, :3, :3].astype(np.float64), axis=(1, 2))
    weights = np.array([abs(target.default_weight) for target in model.targets])
    for channel in channels:
        largest = _largest_key(channel)
        if channel.target is not None:
            weights[channel.target] = max(weights[channel.target], largest)
        elif channel.path == "translation":
            moved[channel.joint] = max(moved[channel.joint], largest)
        elif channel.path == "scale":
            linear[channel.joint] = max(linear[channel.joint], largest)
    with np.errstate(over="ignore", invalid="ignore"):
        for joint, parent in enumerate(skeleton.parents.tolist()):
            if parent >= 0:
                moved[joint] = moved[parent] + linear[parent] * moved[joint]
                linear[joint] *= linear[parent]
        binds = skin.inverse_bind.astype(np.float64)
        bound = np.linalg.norm(binds[:, :3, :3], axis=(1, 2)) * linear[skin.joints]
        away = np.linalg.norm(binds[:, :3, 3], axis=1) * linear[skin.joints] + moved[skin.joints]
        reach = _farthest(mesh.positions)
        for target, weight in zip(model.targets, weights, strict=True):
            reach += weight * _farthest(target.positions)
        results = (moved, linear, bound, away, bound * max(reach, 1.0) + away)
        largest = max(float(one.max(initial=0.0)) for one in results)
    return largest if np.isfinite(largest) else np.inf


def _farthest(positions: Array) -> float:
    """A distance that none of the positions (N,3) has from the origin."""
    largest = max(float(positions.max(initial=0.0)), -float(positions.min(initial=0.0)))
    return math.sqrt(3.0) * largest


def _largest_key(channel: Channel) -> float:
    """A length that no value of a channel exceeds, at its keys and between them."""
    values = np.linalg.norm(channel.values.astype(np.float64), axis=1).max()
    if channel.in_tangents is None or channel.out_tangents is None or len(channel.times) < 2:
        return float(values)
    tangents = np.concatenate([channel.in_tangents, channel.out_tangents]).astype(np.float64)
    return float(2 * values + np.diff(channel.times).max() * np.linalg.norm(tangents, axis=1).max())
