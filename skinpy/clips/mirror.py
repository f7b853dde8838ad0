"""Clip.mirror: a clip with left and right swapped, computed as a transfer from the model to itself."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._arguments import brief, items_of
from .._text import quoted
from .._types import Array
from ..clip import Channel, Clip
from ..errors import unknown_name
from ..posing.kinematics import AxisLike, axis_vector, up_vector
from ..retargeting.joint_names import other_side, side_pairs
from ..retargeting.rest import Rest
from ..retargeting.source_motion import SourceMotion
from ..retargeting.transfer import Change, Traveling, changed_motion, transfer
from .edit import derived

if TYPE_CHECKING:
    from ..model import Model

Pairs: TypeAlias = Mapping[str, str] | Sequence[tuple[str, str]]

#: A normal is replaced by an axis of the scene if their cosine is above this (about 11 degrees).
_NEAR_AXIS = 0.98


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def mirrored(clip: Clip, axis: AxisLike | None, pairs: Pairs | None) -> Clip:
    """See Clip.mirror."""
    model = clip._bound_model()
    if clip.is_additive:
        raise ValueError(
            f"clip {quoted(clip.name)} is additive; expected the clip that it was made from: mirror that, "
            "then take additive()"
        )
    names = model.skeleton.names
    partners = side_pairs(names) if pairs is None else _given_pairs(pairs, model)
    rest = Rest(model)
    normal = _normal(model, rest, partners) if axis is None else axis_vector(axis, ())
    if normal.shape != (3,):
        raise ValueError(f"axis has shape {normal.shape}; expected (3,)")
    partner_of = np.arange(len(names))
    for one, other in partners:
        partner_of[one], partner_of[other] = other, one
    # A reflection acts on rotations as the rotation by 180 degrees about its normal does, because the two
    # matrices differ only by the factor -1.
    change = Change(np.append(normal, 0.0), np.eye(3) - 2.0 * np.outer(normal, normal), 1.0)
    channels = transfer(SourceMotion(clip, rest), rest, partner_of, change, Traveling(frozenset()))
    events = [replace(event, name=other_side(event.name)) for event in clip.events]
    motion = changed_motion(clip._motion, change)
    return derived(
        clip,
        [*channels, *_mirrored_weights(clip), *_mirrored_looks(clip, partner_of)],
        clip.duration,
        events=events,
        motion=motion,
    )


def _given_pairs(pairs: Pairs, model: "Model") -> list[tuple[int, int]]:
    """The joints of the names in `pairs`: (left, right)."""
    wanted = "a mapping of names of joints, or pairs of them"
    named = list(pairs.items()) if isinstance(pairs, Mapping) else items_of("pairs", pairs, wanted)
    joints, taken = [], set()
    for pair in named:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"pairs holds {brief(pair)}; expected pairs of two names of joints")
        for name in pair:
            if name not in model.skeleton.names:
                raise unknown_name("joint", name, model.skeleton.names, "pairs")
            if name in taken:
                raise ValueError(f"pairs has joint {quoted(name)} twice")
            taken.add(name)
        joints.append((model.skeleton.index(pair[0]), model.skeleton.index(pair[1])))
    return joints


def _normal(model: "Model", rest: Rest, partners: list[tuple[int, int]]) -> Array:
    """(3,): the level unit vector from right to left, the normal of the plane between the two sides."""
    if not partners:
        raise ValueError("no joints are called left and right; give axis, and pairs to swap joints")
    up = up_vector(model)
    total = np.sum([rest.origins[left] - rest.origins[right] for left, right in partners], axis=0)
    level = total - up * (up @ total)
    length = np.linalg.norm(level)
    if not length > 1e-6 * np.abs(rest.origins).max():
        raise ValueError("the joints called left and right have the same positions at rest; give axis")
    level = level / length
    nearest = int(np.argmax(np.abs(level)))
    return np.asarray(np.eye(3)[nearest] if abs(level[nearest]) > _NEAR_AXIS else level)


def _mirrored_looks(clip: Clip, partner_of: Array) -> list[Channel]:
    """The channels of visibility, with left and right joints swapped, and the unchanged ones of materials."""
    return [
        channel if channel.joint is None else replace(channel, joint=int(partner_of[channel.joint]))
        for channel in clip._look_channels
    ]


def _mirrored_weights(clip: Clip) -> list[Channel]:
    """The channels of morph targets, with left and right targets swapped."""
    partner_of = {}
    for left, right in side_pairs(clip._target_names):
        partner_of[left], partner_of[right] = right, left
    return [
        replace(channel, target=partner_of.get(channel.target, channel.target))
        for channel in clip._pose_channels
        if channel.target is not None
    ]
