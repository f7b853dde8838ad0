"""How high a retargeted figure stands: on its own ground when the source is on its ground."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array
from ..clip import Channel, Clip
from ..clips.edit import derived
from ..models.frames import chunks
from ..planting.contacts import found_contacts
from ..planting.limbs import feet_of
from ..planting.soles import figure_size, rest_level, sole_of
from ..posing.kinematics import up_vector

if TYPE_CHECKING:
    from ..model import Model

#: Times at which the source is looked at, and those of them at which both figures are measured.
_TIMES, _MEASURED = 512, 64
#: The source is on its ground where its lowest joint is at most this fraction of its size above this
#: percentile of its heights.
_NEAR, _LOW_PERCENTILE = 0.02, 5.0
#: A rest pose stands if its hips are at least this fraction of the size above its lowest point, and the 0 of
#: the scene is at most this fraction of the way from the lowest point to the hips.
_HIP_HEIGHT, _MAX_ORIGIN = 0.3, 0.75
#: Fraction of the size: a figure that is off by less stands well enough, and its keys stay as they are.
_MIN_RISE = 0.003


def standing(clip: Clip, source: Clip, hips: tuple[int, int], scale: float) -> Clip:
    """Return a retargeted clip with its hips raised or lowered, so that it stands as high as the source.

    `hips` are the joints of the source and of the clip's model, and `scale` is a length of the model for one
    of the source. The lowest joint that is mapped is above the sole of its foot, by more or less in each of
    two figures. The ground is below a rest pose that stands. Below a source that does not stand at rest, it
    is where its feet have contact, and below a target, the scene's 0.
    """
    model, up = clip._bound_model(), up_vector(clip._bound_model())
    source_level, level = _level(source), _level(clip)
    if source_level is None or level is None:  # nothing stands: the lowest points of both go together
        times = _low_times(source)
        source_level, level = (float(np.median(_lowest(one, times))) for one in (source, clip))
    ground = _ground(source._bound_model(), hips[0])
    above = 0.0 if ground is None else scale * (source_level - ground)
    rise = (_ground(model, hips[1]) or 0.0) + above - level
    if abs(rise) <= _MIN_RISE * figure_size(model):
        return clip
    return _raised(clip, hips[1], rise * up)


def _level(clip: Clip) -> float | None:
    """Return the height of the soles that have contact with the ground; None if there are none."""
    model = clip._bound_model()
    return found_contacts(clip, [sole_of(model, joint) for joint in feet_of(model)]).level


def _raised(clip: Clip, joint: int, offset: Array) -> Clip:
    """Return a clip with a joint moved by an offset (3,) in the scene."""
    skeleton = clip._bound_model().skeleton
    parent = int(skeleton.parents[joint])
    frame = np.eye(3) if parent < 0 else skeleton.rest_global[parent, :3, :3].astype(np.float64)
    local = np.linalg.pinv(frame) @ offset
    channels = []
    for one in clip.channels:
        moves = one.joint == joint and one.path == "translation"
        channels.append(replace(one, values=(one.values + local).astype(np.float32)) if moves else one)
    if not any(one.joint == joint and one.path == "translation" for one in channels):
        values = (skeleton.translation[joint] + local)[None].astype(np.float32)
        channels.append(Channel(joint, None, "", "translation", "linear", np.zeros(1), values, None, None))
    return derived(clip, channels, clip.duration)


def _low_times(source: Clip) -> Array:
    """Return times at which a clip's figure is on its ground."""
    model = source._bound_model()
    times = np.linspace(0.0, source.duration, _TIMES if source.duration > 0 else 1)
    heights = (model.joint_positions(source, times, loop="clamp") @ up_vector(model)).min(axis=1)
    low = np.percentile(heights, _LOW_PERCENTILE) + _NEAR * figure_size(model)
    found = times[heights <= low]
    return np.asarray(found[:: max(len(found) // _MEASURED, 1)])


def _lowest(clip: Clip, times: Array) -> Array:
    """Return the height (N,) of the lowest vertex, or joint, at times (N,)."""
    model, up = clip._bound_model(), up_vector(clip._bound_model())
    if not len(model.mesh.positions):
        return np.asarray((model.joint_positions(clip, times, loop="clamp") @ up).min(axis=1))
    found = np.empty(len(times))
    for span in chunks(len(times), 3 * len(model.mesh.positions)):
        pose = model.pose(clip, times[span], loop="clamp")
        found[span] = (model.deform(pose, normals=False)[0] @ up).min(axis=1)
    return found


def _ground(model: Model, hips: int) -> float | None:
    """Return the height of the ground below a rest pose that stands; None for one that does not."""
    lowest = rest_level(model)
    hip_height = float(model.skeleton.rest_global[hips, :3, 3] @ up_vector(model)) - lowest
    stands = hip_height >= _HIP_HEIGHT * figure_size(model) and -lowest <= _MAX_ORIGIN * hip_height
    return lowest if stands else None
