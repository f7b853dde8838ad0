"""Clip.mirror: a clip with left and right swapped, as a transfer of motion from the model to itself."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._types import Array
from ..clip import Channel, Clip
from ..errors import unknown_name
from ..posing.kinematics import AxisLike, axis_vector, up_vector
from ..retargeting.joint_names import other_side, side_pairs
from ..retargeting.rest import Rest
from ..retargeting.source_motion import SourceMotion
from ..retargeting.transfer import Change, Travelling, changed_motion, transfer
from .edit import derived

if TYPE_CHECKING:
    from ..model import Model

Pairs: TypeAlias = Mapping[str, str] | Sequence[tuple[str, str]]

_NEAR_AXIS = 0.98  # a direction this much along an axis of the scene is that axis (about 11 degrees)


def mirrored(clip: Clip, axis: AxisLike | None, pairs: Pairs | None) -> Clip:
    """See Clip.mirror."""
    model = clip.model
    if model is None:
        raise ValueError(f"clip {clip.name!r} is bound to no model; model.add_clips(clip) binds it")
    if clip.is_additive:
        raise ValueError(f"clip {clip.name!r} is additive; mirror what it was made from, then .additive()")
    names = model.skeleton.names
    places = side_pairs(names) if pairs is None else _given_pairs(pairs, model)
    rest = Rest(model)
    normal = _across(model, rest, places) if axis is None else axis_vector(axis, ())
    if normal.shape != (3,):
        raise ValueError(f"axis has shape {normal.shape}; expected (3,)")
    partner = np.arange(len(names))
    for one, other in places:
        partner[one], partner[other] = other, one
    # A reflection acts on rotations as the half turn about its normal does: both differ by -1 alone.
    change = Change(np.append(normal, 0.0), np.eye(3) - 2.0 * np.outer(normal, normal), 1.0)
    channels = transfer(SourceMotion(clip, rest), rest, partner, change, Travelling(frozenset()))
    events = [replace(event, name=other_side(event.name)) for event in clip.events]
    motion = changed_motion(clip._motion, change)
    return derived(clip, [*channels, *_weights(clip)], clip.duration, events=events, motion=motion)


def _given_pairs(pairs: Pairs, model: "Model") -> list[tuple[int, int]]:
    """(left, right) joints of the names in `pairs`."""
    named = list(pairs.items()) if isinstance(pairs, Mapping) else list(pairs)
    places, taken = [], set()
    for pair in named:
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"pairs holds {pair!r}; expected two names of joints")
        for name in pair:
            if name not in model.skeleton.names:
                raise unknown_name("joint", name, model.skeleton.names)
            if name in taken:
                raise ValueError(f"pairs has joint {name!r} twice")
            taken.add(name)
        places.append((model.skeleton.index(pair[0]), model.skeleton.index(pair[1])))
    return places


def _across(model: "Model", rest: Rest, places: list[tuple[int, int]]) -> Array:
    """(3,) unit vector from right to left, level: the normal of the plane that halves the rest pose."""
    if not places:
        raise ValueError("no joints are called left and right; give axis, and pairs to swap joints")
    up = up_vector(model)
    total = np.sum([rest.origins[left] - rest.origins[right] for left, right in places], axis=0)
    level = total - up * (up @ total)
    length = np.linalg.norm(level)
    if not length > 1e-6 * np.abs(rest.origins).max():
        raise ValueError("the joints called left and right lie in one place at rest; give axis")
    level = level / length
    nearest = int(np.argmax(np.abs(level)))
    return np.asarray(np.eye(3)[nearest] if abs(level[nearest]) > _NEAR_AXIS else level)


def _weights(clip: Clip) -> list[Channel]:
    """The channels of morph targets; those of a left and a right one change places."""
    partner = {}
    for left, right in side_pairs(clip._target_names):
        partner[left], partner[right] = right, left
    return [
        replace(channel, target=partner.get(channel.target, channel.target))
        for channel in clip.channels
        if channel.target is not None
    ]
