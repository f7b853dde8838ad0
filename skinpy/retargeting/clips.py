"""Clips of one skeleton for another: skinpy.retarget, and which joint goes with which.

    clip = skinpy.retarget("walk", source, target, joint_map="auto")
    target.pose(clip, 0.4)

What is carried over is each joint's displacement from the rest pose, so both rest poses should show the same
posture; how the joints' own axes lie does not matter. docs/retargeting.md has the formulas.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from .. import _core
from .._types import Array
from ..clip import Channel, Clip
from ..clips.edit import derived
from ..clips.evaluate import unit
from ..errors import SkinpyWarning, unknown_name
from ..posing.kinematics import quaternion_product, rotated
from .joint_names import labels, same_parts, side_pairs
from .transfer import Change, Rest, Source, Travelling, anchors, changed_motion, transfer

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["JointMatch", "match_joints", "retarget"]

JointMap: TypeAlias = Mapping[str, str] | Literal["auto"] | None

_FACING = 0.5  # how much of the distance between left and right must lie in the ground to say what is ahead


@dataclass(frozen=True)
class JointMatch:
    """Which joints of two skeletons go together, and which are left over: names, in the skeletons' order."""

    pairs: tuple[tuple[str, str], ...]  #: (source, target)
    unmapped_source: tuple[str, ...]
    unmapped_target: tuple[str, ...]

    def __repr__(self) -> str:
        return (
            f"<JointMatch: {len(self.pairs)} pairs; unmapped: {len(self.unmapped_source)} of the source, "
            f"{len(self.unmapped_target)} of the target>"
        )


def match_joints(source: Model, target: Model, joint_map: JointMap = None) -> JointMatch:
    """The pairs of joints that `retarget` with the same joint_map goes by, and the joints without one.

    joint_map: None pairs equal names; "auto" pairs names that say the same part of the body, whatever
    prefix, case, separators, way to say left and right, and common synonyms (UpLeg, thigh) they use, chains
    such as a spine in order and evenly; a mapping has target names for source names. Where several
    joints have one name, None pairs them in order, and a mapping means the first.

    Raises KeyError (with close names) for names that are not in the skeletons, ValueError where two source
    joints go to one target joint, TypeError and ValueError for another joint_map.
    """
    _check_models(source, target)
    names = source.skeleton.names, target.skeleton.names
    pairs = _pairs(source, target, joint_map)
    ours, theirs = ({pair[side] for pair in pairs} for side in (0, 1))
    return JointMatch(
        tuple((names[0][one], names[1][other]) for one, other in pairs),
        tuple(name for place, name in enumerate(names[0]) if place not in ours),
        tuple(name for place, name in enumerate(names[1]) if place not in theirs),
    )


def retarget(clip: Clip | str | int, source: Model, target: Model, joint_map: JointMap = None) -> Clip:
    """The clip of `source` as a clip of `target`, bound to it; see docs/retargeting.md.

    clip is a clip of source (a Clip, a name or an index; one that is bound to no model is bound to source by
    name). joint_map says which joints go together, as in `match_joints`. A target joint gets the rotation
    that its source joint makes from its rest pose, in scene space, turned from the source's up axis (and
    from where it looks, by quarter turns) to the target's; joints between that are not mapped stay at rest.
    The hips, and what is above them, go the source's way times the ratio of hip heights (above the lowest
    mapped joint, at rest); other joints keep the target's lengths, but for what channels add to the
    source's. Scales carry over as ratios to rest, morph weights by the targets' names, and events and root
    motion as they are, the latter turned and scaled.

    Keys stay as they are, cubic and step ones too, wherever one channel of the source alone decides; where
    several do, the motion is sampled at all their key times and at least 30 times a second (or, in a clip
    of more than two hours, 262,144 times).

    A SkinpyWarning says how many of the joints and morph targets that the clip moves have no counterpart
    (not with a mapping, which says so itself). Raises ValueError where nothing is mapped, for a clip of
    another model or an additive one, and what `match_joints` raises.
    """
    _check_models(source, target)
    clip = _clip_of(clip, source)
    if clip.is_additive:
        raise ValueError(f"clip {clip.name!r} is additive; retarget what it was made from, then .additive()")
    pairs = _pairs(source, target, joint_map)
    if not pairs:
        raise ValueError(
            f"no joint of the source is mapped to one of the target (joint_map={joint_map!r}): "
            f"{_some(source.skeleton.names)} and {_some(target.skeleton.names)}"
        )
    followed = np.full(len(target.skeleton), -1)
    for one, other in pairs:
        followed[other] = one
    rests = Rest(source), Rest(target)
    moves = Source(clip, rests[0])
    hips = _hips(source, target, pairs, moves)
    change, lift = _change(source, target, rests, pairs, hips, moves)
    above = np.flatnonzero(anchors(rests[1], followed) < 0)
    travelling = Travelling(frozenset({*above.tolist(), *rests[1].line(hips[1])}), (hips[1], lift))
    channels = transfer(moves, rests[1], followed, change, travelling)
    weights, lost = _weights(clip, target, joint_map)
    if not isinstance(joint_map, Mapping):
        leaders = set(followed.tolist())
        left = [source.skeleton.names[joint] for joint in _moved(moves) if joint not in leaders]
        _warn(clip, [*left, *lost])
    motion = changed_motion(clip._motion, change)
    return derived(clip, [*channels, *weights], clip.duration, motion=motion, model=target)


# ---- pairs ----------------------------------------------------------------------------------------


def _check_models(source: object, target: object) -> None:
    """TypeError, by the argument's name, for what is no Model."""
    for name, value in (("source", source), ("target", target)):
        if not isinstance(value, _core.Model):
            raise TypeError(f"{name} is of type {type(value).__name__}; expected a Model")


def _pairs(ours: Model, theirs: Model, joint_map: JointMap) -> list[tuple[int, int]]:
    """(source, target) joints, in the source's order."""
    source, target = ours.skeleton.names, theirs.skeleton.names
    if joint_map is None:
        free: dict[str, list[int]] = {}
        for place, name in enumerate(target):
            free.setdefault(name, []).append(place)
        return [(place, free[name].pop(0)) for place, name in enumerate(source) if free.get(name)]
    if isinstance(joint_map, str):
        if joint_map != "auto":
            raise ValueError(f"joint_map is {joint_map!r}; expected None, 'auto' or a mapping of names")
        return same_parts(source, target, (_holders(ours), _holders(theirs)))
    if not isinstance(joint_map, Mapping):
        raise TypeError(f"joint_map is a {type(joint_map).__name__}; expected None, 'auto' or a mapping")
    taken: dict[str, str] = {}
    for one, other in joint_map.items():
        for name, known, whose in ((one, source, "source"), (other, target, "target")):
            if name not in known:
                raise unknown_name(f"{whose} joint", name, known)
        if other in taken:
            raise ValueError(f"joint_map has {taken[other]!r} and {one!r} for the same joint {other!r}")
        taken[other] = one
    return sorted((source.index(one), target.index(other)) for one, other in joint_map.items())


def _holders(model: Model) -> frozenset[int]:
    """Nodes that only hold a skinned mesh; what they are called says nothing about the skeleton."""
    return frozenset({part.node for part in model.mesh.submeshes} - set(model.skin.joints.tolist()))


def _clip_of(clip: Clip | str | int, source: Model) -> Clip:
    if not isinstance(clip, Clip):
        return source.clips[clip]
    if clip.model is None:
        return source.add_clips(clip).clips[-1]
    if clip.model._block is not source._block:
        raise ValueError(f"clip {clip.name!r} is of another model; source.add_clips(clip) binds it to source")
    return clip


# ---- rest poses ------------------------------------------------------------------------------------


def _hips(source: Model, target: Model, pairs: list[tuple[int, int]], moves: Source) -> tuple[int, int]:
    """The pair called hips in either skeleton, else the first that is translated, else the first."""
    ours, theirs = labels(source.skeleton.names), labels(target.skeleton.names)
    for one, other in pairs:
        if ("", "hips") in (ours[one].part, theirs[other].part):
            return one, other
    translated = [pair for pair in pairs if moves.differs("translation", pair[0])]
    return (translated or pairs)[0]


def up_vector(model: Model) -> Array:
    """(3,) float64 unit vector that points up in scene space."""
    return np.asarray(np.eye(3)["XYZ".index(model.up[1])] * (-1.0 if model.up[0] == "-" else 1.0))


def _turn_between(start: Array, end: Array) -> Array:
    """(4,) the rotation on the shortest way between unit vectors; any half turn between opposites."""
    if start @ end < -1 + 1e-9:
        aside = np.eye(3)[np.argmin(np.abs(start))]
        return np.append(unit(np.cross(start, aside)), 0.0)
    return unit(np.append(np.cross(start, end), 1.0 + start @ end))


def _change(
    source: Model,
    target: Model,
    rests: tuple[Rest, Rest],
    pairs: list[tuple[int, int]],
    hips: tuple[int, int],
    moves: Source,
) -> tuple[Change, Array]:
    """How the source's scene becomes the target's, and what the hips' way gets added, (3,)."""
    ups = up_vector(source), up_vector(target)
    turn = _turn_between(*ups)
    aside = _asides(source, target, rests, pairs)
    if aside is not None:
        turn = quaternion_product(_quarter_turn(rotated(turn, aside[0]), aside[1], ups[1]), turn)
    places = [rest.origins[[pair[side] for pair in pairs]] for side, rest in enumerate(rests)]
    heights = [
        float(ups[side] @ rest.origins[hips[side]] - (places[side] @ ups[side]).min())
        for side, rest in enumerate(rests)
    ]
    sizes = [float(np.linalg.norm(np.ptp(place, axis=0))) for place in places]
    standing = min(height / max(size, 1e-30) for height, size in zip(heights, sizes, strict=True)) > 0.05
    lengths = heights if standing else sizes
    scale = lengths[1] / lengths[0] if min(lengths) > 0 else 1.0
    matrix = np.stack([rotated(turn, axis) for axis in np.eye(3)], axis=1)
    lift = np.zeros(3)
    if standing:
        lifts = [_hanging(ups[side], rests[side], hips[side], heights[side]) for side in (0, 1)]
        if _rise(moves, hips[0], ups[0]) > lifts[0] / 2 > 0:
            lift = ups[1] * (lifts[1] - scale * lifts[0])
    return Change(turn, matrix, scale), lift


def _hanging(up: Array, rest: Rest, hips: int, height: float) -> float:
    """How far the rest pose would have to be raised to stand on the ground; 0 for one that stands.

    The rest pose of motion capture often has its hips at the origin and the feet below the ground, while
    the clip has the height that they were recorded at.
    """
    above = float(up @ rest.origins[hips])
    return height - above if above < 0.25 * height else 0.0


def _rise(moves: Source, hips: int, up: Array) -> float:
    """How much higher than at rest the hips are in the clip, in the middle of their keys."""
    channel = moves.moving.get(("translation", hips))
    times = np.zeros(1) if channel is None else channel.times
    places = np.broadcast_to(moves.matrix(hips, times)[..., :3, 3], (len(times), 3))
    return float(np.median((places - moves.rest.origins[hips]) @ up))


def _asides(
    source: Model, target: Model, rests: tuple[Rest, Rest], pairs: list[tuple[int, int]]
) -> tuple[Array, Array] | None:
    """From right to left in both figures' scenes; None where names do not say or it is unclear."""
    to_target = dict(pairs)
    to_source = {other: one for one, other in pairs}
    sides = [
        (left, right)
        for left, right in side_pairs(source.skeleton.names)
        if {left, right} <= to_target.keys()
    ] or [
        (to_source[left], to_source[right])
        for left, right in side_pairs(target.skeleton.names)
        if {left, right} <= to_source.keys()
    ]
    found = []
    for rest, up, follow in (
        (rests[0], up_vector(source), {one: one for one in to_target}),
        (rests[1], up_vector(target), to_target),
    ):
        across = [rest.origins[follow[left]] - rest.origins[follow[right]] for left, right in sides]
        total = np.sum(across, axis=0) if across else np.zeros(3)
        level = total - up * (up @ total)
        if not np.linalg.norm(level) > _FACING * sum(np.linalg.norm(one) for one in across):
            return None
        found.append(level)
    return found[0], found[1]


def _quarter_turn(start: Array, end: Array, up: Array) -> Array:
    """(4,) the quarter turns about `up` that bring `start` nearest to `end`; 0 for nearly none."""
    angle = np.arctan2(up @ np.cross(start, end), start @ end)
    half = np.round(angle / (np.pi / 2)) * np.pi / 4
    return np.append(np.sin(half) * up, np.cos(half))


# ---- the result -----------------------------------------------------------------------------------


def _weights(clip: Clip, target: Model, joint_map: JointMap) -> tuple[list[Channel], list[str]]:
    """Weight channels for the target's morph targets, and the names of those it lacks."""

    def said(name: str) -> str:
        return "".join(filter(str.isalnum, name)).lower() if joint_map == "auto" else name

    places = {said(one.name): place for place, one in reversed(list(enumerate(target.targets)))}
    found, lost = [], []
    for channel in clip.channels:
        if channel.target is None:
            continue
        place = places.get(said(channel.name))
        if place is None:
            lost.append(channel.name)
        else:
            found.append(replace(channel, target=place))
    return found, lost


def _moved(moves: Source) -> list[int]:
    """Joints that the clip moves out of their rest pose, in order."""
    return sorted({joint for path, joint in moves.keyed if moves.differs(path, joint)})


def _some(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(map(repr, names[:4])) + (", ..." if len(names) > 4 else "")


def _warn(clip: Clip, left: list[str]) -> None:
    if left:
        words = (
            f"{len(left)} moved joints or morph targets have no counterpart and are left out: {_some(left)}"
        )
        warnings.warn(
            f"retargeting {clip.name!r}: {words}; skinpy.match_joints lists them", SkinpyWarning, stacklevel=3
        )
