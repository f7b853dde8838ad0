"""`retarget`: the clip of one character as a clip of another.

Each joint keeps its displacement from a reference pose; the directions of the joints' own axes do not matter.
docs/retargeting.md has the formulas.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._text import quoted
from ..clip import Channel, Clip
from ..clips.edit import derived
from ..errors import SkinpyWarning
from ..posing.kinematics import up_vector
from .alignment import hips_of, scene_change
from .matching import JointMap, check_models, paired
from .references import PoseMatch, ReferencePose, find_references
from .rest import Rest
from .source_motion import SourceMotion
from .standing import standing
from .transfer import Traveling, anchors, changed_motion, transfer

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["match_poses", "retarget"]


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def retarget(
    clip: Clip | str | int,
    source: Model,
    target: Model,
    joint_map: JointMap = None,
    *,
    source_pose: ReferencePose = None,
    target_pose: ReferencePose = None,
) -> Clip:
    """Return a clip of one model as a clip of another.

    A target joint gets the rotation that its source joint makes from its reference pose, in scene space. The
    reference poses are the rest poses where their limbs point the same way, and are otherwise found by
    themselves, so that limbs of the result point where those of the source do; `match_poses` shows them.
    The scene is rotated from the source's up axis (and, by quarter turns, from where the source faces) to the
    target's. Target joints that are not mapped stay as in the reference pose. The hips, and the joints above
    them, follow the source's path times the ratio of the hip heights (above the lowest mapped joint, in the
    reference poses). Other joints keep the target's lengths, apart from what channels add to the source's.
    Scales carry over as ratios to rest, and morph weights by the targets' names. Events carry over unchanged,
    and root motion rotated and scaled. `lock_feet` keeps planted feet of the result where they are.

    Parameters
    ----------
    clip : Clip, str or int
        A clip of `source`, its name or its index. A clip that is bound to no model is bound to `source` by
        name.
    source : Model
        The model that the clip belongs to.
    target : Model
        The model that the result belongs to.
    joint_map : mapping of str to str, "auto" or None, default None
        Which joints go together: None pairs equal names, "auto" pairs joints of the same part of the body,
        and a mapping has target names for source names. Where several joints have one name, None pairs them
        in order, and a mapping means the first.
    source_pose : Pose, float, {"rest", "auto"} or None, default None
        The reference pose of the source: a pose of it, the time of a pose of the clip in seconds, or its rest
        pose. "auto" and None find one. Rotations count, translations and scales do not, and the pose may face
        anywhere.
    target_pose : Pose, {"rest", "auto"} or None, default None
        The pose of the target that goes with it.

    Returns
    -------
    Clip
        A clip that is bound to `target`. Channels of visibility and materials are left out: these are of the
        other model.

    Raises
    ------
    KeyError
        If the source has no clip of this name, or a name of the mapping is not in its skeleton.
    IndexError
        If the source has no clip of this index.
    ValueError
        If no joint is mapped, or nothing that the clip moves, two source joints go to one target joint, the
        clip is additive or belongs to another model, or `joint_map` is another word than "auto". If a
        reference pose is of another model, holds several poses, holds a number that is not finite or a
        rotation of length 0, is another word than "rest" or "auto", or is a time outside the clip.
    TypeError
        If an argument has the wrong type.

    Warns
    -----
    SkinpyWarning
        If joints or morph targets that the clip moves have no counterpart. If no good reference pose was
        found; the message names the limbs.

    Notes
    -----
    Wherever one channel of the source alone decides, its keys stay as they are, cubic and step keys too.
    Where several channels do, the motion is sampled at all their key times and at least 30 times a second
    (or, in a clip of more than two hours, at 262,144 times). docs/retargeting.md has the formulas.
    """
    clip, pairs = _checked(clip, source, target, joint_map)
    followed = np.full(len(target.skeleton), -1)
    for one, other in pairs:
        followed[other] = one
    source_motion, rest = SourceMotion(clip, Rest(source)), Rest(target)
    hips = hips_of(source, target, pairs, source_motion)
    found = find_references(clip, source, target, pairs, hips, (source_pose, target_pose))
    if found.warning:
        _warn(clip, found.warning)
    references = found.source, found.target
    ups = up_vector(source), up_vector(target)
    change, lift = scene_change(found.rotation, ups, references, pairs, hips, source_motion, rest)
    above = np.flatnonzero(anchors(rest, followed) < 0)
    traveling = Traveling(frozenset({*above.tolist(), *rest.line(hips[1])}), (hips[1], lift))
    channels = transfer(source_motion, rest, followed, change, traveling, references)
    weights, lost = _weights(clip, target, joint_map)
    leaders = set(followed.tolist())
    left = [source.skeleton.names[joint] for joint in _moved(source_motion) if joint not in leaders]
    if (left or lost) and not channels and not weights:
        raise ValueError(
            f"nothing that clip {quoted(clip.name)} moves has a counterpart in the target "
            f"(joint_map={joint_map!r}): {_listed([*left, *lost])}; skinpy.match_joints lists the pairs, "
            "and a mapping makes others"
        )
    missed = [*left, *lost]
    if missed:
        _warn(
            clip,
            f"{len(missed)} moved joints or morph targets have no counterpart and are left out: "
            f"{_listed(missed)}; skinpy.match_joints lists them",
        )
    motion = changed_motion(clip._motion, change)
    result = derived(clip, [*channels, *weights], clip.duration, motion=motion, model=target)
    return standing(result, clip, hips, change.scale) if lift.any() else result


@np.errstate(over="ignore", invalid="ignore")
def match_poses(
    clip: Clip | str | int,
    source: Model,
    target: Model,
    joint_map: JointMap = None,
    *,
    source_pose: ReferencePose = None,
    target_pose: ReferencePose = None,
) -> PoseMatch:
    """Return the reference poses that `retarget` uses with the same arguments, and how they were found.

    ``print(skinpy.match_poses(...))`` lists how far apart the limbs were. docs/retargeting.md says how the
    poses are found.

    Parameters
    ----------
    clip : Clip, str or int
        A clip of `source`, its name or its index.
    source : Model
        The model that the clip belongs to.
    target : Model
        The model that the clip is retargeted to.
    joint_map : mapping of str to str, "auto" or None, default None
        Which joints go together, as in `retarget`.
    source_pose : Pose, float, {"rest", "auto"} or None, default None
        The reference pose of the source: a pose of it, the time of a pose of the clip in seconds, or its rest
        pose. "auto" and None find one. Rotations count, translations and scales do not, and the pose may face
        anywhere.
    target_pose : Pose, {"rest", "auto"} or None, default None
        The pose of the target that goes with it.

    Returns
    -------
    PoseMatch
        The poses, where they come from, and the angles between the limbs before any was turned.

    Raises
    ------
    KeyError
        If the source has no clip of this name, or a name of the mapping is not in its skeleton.
    IndexError
        If the source has no clip of this index.
    ValueError
        If no joint is mapped, or an argument has a value that `retarget` refuses.
    TypeError
        If an argument has the wrong type.

    Warns
    -----
    SkinpyWarning
        If no good reference pose was found; the message names the limbs.

    Examples
    --------
    >>> model = skinpy.character()
    >>> match = skinpy.match_poses("walk", model, model, target_pose=model.humanoid.t_pose())
    >>> match.source_from, round(match.degrees["leftUpperArm"])
    ('the rest pose, with limbs turned', 45)
    """
    clip, pairs = _checked(clip, source, target, joint_map)
    hips = hips_of(source, target, pairs, SourceMotion(clip, Rest(source)))
    found = find_references(clip, source, target, pairs, hips, (source_pose, target_pose))
    if found.warning:
        _warn(clip, found.warning)
    return found.match


def _checked(
    clip: Clip | str | int, source: Model, target: Model, joint_map: JointMap
) -> tuple[Clip, list[tuple[int, int]]]:
    """Return the clip to retarget, bound to the source, and the pairs of joints."""
    check_models(source, target)
    clip = _clip_of(clip, source)
    if clip.is_additive:
        raise ValueError(
            f"clip {quoted(clip.name)} is additive; retarget what it was made from, then .additive()"
        )
    pairs = paired(source, target, joint_map)
    if not pairs:
        raise ValueError(
            f"no joint of the source is mapped to one of the target (joint_map={joint_map!r}): "
            f"{_listed(source.skeleton.names)} and {_listed(target.skeleton.names)}"
        )
    return clip, pairs


def _clip_of(clip: Clip | str | int, source: Model) -> Clip:
    """Return the clip to retarget, bound to the source."""
    if not isinstance(clip, Clip):
        return source.clips[clip]
    if clip.model is None:
        return source.add_clips(clip).clips[-1]
    if clip.model._block.rig is not source._block.rig:
        raise ValueError(
            f"clip {quoted(clip.name)} is of another model; source.add_clips(clip) binds it to source"
        )
    return clip


def _weights(clip: Clip, target: Model, joint_map: JointMap) -> tuple[list[Channel], list[str]]:
    """Return weight channels for the target's morph targets, and the names of those that it lacks."""

    def key(name: str) -> str:
        """Return what equal names have in common."""
        return "".join(filter(str.isalnum, name)).lower() if joint_map == "auto" else name

    numbers = {key(one.name): number for number, one in reversed(list(enumerate(target.targets)))}
    found, lost = [], []
    for channel in clip.channels:
        if channel.target is None:
            continue
        number = numbers.get(key(channel.name))
        if number is None:
            lost.append(channel.name)
        else:
            found.append(replace(channel, target=number))
    return found, lost


def _moved(motion: SourceMotion) -> list[int]:
    """Return the joints that the clip moves out of their rest pose, in order."""
    return sorted({joint for path, joint in motion.keyed if motion.differs(path, joint)})


def _listed(names: tuple[str, ...] | list[str]) -> str:
    """Return the first names for a message."""
    return ", ".join(map(repr, names[:4])) + (", ..." if len(names) > 4 else "")


def _warn(clip: Clip, message: str) -> None:
    """Warn the caller of `retarget` or `match_poses`."""
    # Above this function are the one that warns, the frame of its decorator, and the caller.
    warnings.warn(f"retargeting {quoted(clip.name)}: {message}", SkinpyWarning, stacklevel=4)
