"""`lock_feet`: a clip whose planted feet stay where they are.

Kovar, Schreiner and Gleicher, "Footskate cleanup for motion capture editing", 2002, take the same steps: find
where each planted foot belongs, lower the hips until the legs reach it, bend the legs, and let the correction
die out before and after each contact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import rotation
from .._arguments import check_clip, finite, floats
from .._progress import working
from .._types import Array
from ..clip import Channel, Clip
from ..clips.edit import derived
from ..clips.evaluate import key_times, key_tolerance, same_signs, unit
from ..models.frames import chunks
from ..posing.kinematics import quaternion_product, rotated, up_vector
from .contacts import checked_model, found_contacts, joint_numbers
from .easing import envelope
from .ground import Ground
from .limbs import Limb, bending, feet_of, foot_above, hips_above, limb_of, toe_of
from .reach import bent, drop_of
from .soles import figure_size, rest_level, sole_of
from .stances import Level, Part, Plan, Track, planned
from .turns import oriented

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["lock_feet"]

#: Seconds between two keys: between those of 30 per second, planted feet would move by 1 or 2 mm.
_MAX_GAP = 1.0 / 60.0
#: A limb whose middle is on average less than this fraction of its upper length off the line is straight.
_CLEAR = 0.01
#: The level at which feet stand in a clip is that of the rest pose if they differ by at most this fraction of
#: the size.
_SAME_LEVEL = 0.05
#: The rise of the whole figure is measured at every so many keys.
_RISE_STEP = 4

Planted: TypeAlias = Sequence[str] | Mapping[str, npt.ArrayLike]


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def lock_feet(clip: Clip, *, joints: Planted | None = None, blend: float = 0.1) -> Clip:
    """Return a clip whose planted feet stand still on the ground.

    Retargeted and captured feet slide, float and sink. During each contact, the sole of a foot goes to the
    level of the ground and does not slide: flat feet keep still, and others roll over their lowest points.
    The leg follows by inverse kinematics. Where it is too short, the hips come down. The correction is eased
    in and out, so what is far from any contact keeps its pose. Unless contacts are given, the whole figure is
    raised or lowered first, so that most knees stay as they are. docs/feet.md explains the steps.

    Parameters
    ----------
    clip : Clip
        A clip that is bound to a model.
    joints : sequence of str, or mapping of str to array_like, shape (n, 2), seconds, optional
        Names of joints at the ends of limbs, such as feet and hands; the toes of a humanoid stand for their
        foot. A mapping has the contacts themselves, as `Clip.contacts` returns them; otherwise they are
        found. By default these are the feet of `Model.humanoid`, or, for other figures, the ends of the limbs
        on which the rest pose stands.
    blend : float, seconds, default 0.1
        How long the correction takes to come before a contact and to go after it; 0 or more.

    Returns
    -------
    Clip
        A clip that is bound to the same model: `clip` itself if nothing has contact. The joints of the limbs
        have linear rotations, and the hips a linear translation if they move, with keys at all key times of
        the joints that move the limbs and at least 60 times a second. All else is as in `clip`.

    Raises
    ------
    ValueError
        If the clip is bound to no model or is additive, its model came out of a pickle without its vertices,
        or all joints are in one point. If a joint has no two joints above it that could bend, joints of a
        limb are in one place, or two joints need the same limb. If `joints` is empty, a contact is not within
        the clip, or `blend` is negative or not finite. The message names the joint.
    KeyError
        If the model has no joint of a name. The message has the closest names.
    TypeError
        If an argument has the wrong type.

    Notes
    -----
    In a clip with root motion feet stand still in the scene through which the root motion moves the
    character; in a walk in place, on the ground that moves below its steps. Both ends of a looping clip
    match.

    Examples
    --------
    >>> model = skinpy.character()
    >>> skinpy.lock_feet(model.clips["walk"])
    <Clip 'walk': 1.000 s, 21 channels>
    """
    check_clip("clip", clip)
    model = checked_model(clip, "lock_feet")
    seconds = finite("blend", blend)
    if not seconds >= 0:
        raise ValueError(f"blend is {seconds:g}; expected 0 or more seconds")
    seconds = min(seconds, clip.duration)
    ends, given = _ends_of(clip, joints)
    limbs = [limb_of(model, end) for end in ends]
    _check_apart(model, limbs)
    soles = [sole_of(model, end) for end in ends]
    found = found_contacts(clip, soles)
    intervals = found.intervals if given is None else given
    if not any(len(one) for one in intervals):
        return clip
    level = Level(found.floor, _wanted_level(model, found.floor), figure_size(model), up_vector(model))
    times = _key_times(clip, limbs)
    tracks = _tracks(clip, limbs, found.ground, times)
    hips = hips_above(model, limbs)
    feet = [sole.is_foot for sole in soles]
    if hips is not None and given is None:
        level = _settled(tracks, feet, intervals, level)
    plans, drop = _plans(tracks, feet, intervals, found.lap, level, seconds)
    if hips is None:
        drop = np.zeros(len(times))
    turns = [
        _turns(model, limb, track, plan, drop, level.up)
        for limb, track, plan in zip(limbs, tracks, plans, strict=True)
    ]
    changes = _Changes(clip, times, found.ground, turns, (hips, drop - level.rise))
    return derived(clip, changes.channels(), clip.duration)


def _ends_of(clip: Clip, joints: Planted | None) -> tuple[list[int], list[Array] | None]:
    """Return the joints to lock, and their contacts where these are given."""
    model = clip._bound_model()
    if joints is None:
        feet = bending(model, feet_of(model))
        if not feet:
            raise ValueError(
                "joints is None and no feet are found whose legs have two joints of their own that bend; "
                "expected the names of the feet"
            )
        return feet, None
    numbers = joint_numbers(model, list(joints) if isinstance(joints, Mapping) else joints)
    if not isinstance(joints, Mapping):
        return list(dict.fromkeys(foot_above(model, number) for number in numbers)), None
    found: dict[int, list[Array]] = {}
    for name, value in joints.items():
        end = foot_above(model, model.skeleton.index(name))
        found.setdefault(end, []).append(_checked_intervals(name, value, clip))
    return list(found), [_united(np.concatenate(rows)) for rows in found.values()]


def _checked_intervals(name: str, value: npt.ArrayLike, clip: Clip) -> Array:
    """Return the contacts (n,2) of a joint; ValueError unless they are intervals within the clip."""
    label = f"joints[{name!r}]"
    rows = floats(label, np.reshape(value, (-1, 2)) if np.size(value) == 0 else value, ("n", 2), np.float64)
    if not ((rows[:, 0] >= 0) & (rows[:, 0] <= rows[:, 1]) & (rows[:, 1] <= clip.duration + 1e-9)).all():
        raise ValueError(
            f"{label} holds an interval that is not within the clip; expected rows of start and end with "
            f"0 <= start <= end <= {clip.duration:g} seconds"
        )
    return rows


def _united(rows: Array) -> Array:
    """Return the union of intervals (n,2), sorted."""
    found: list[list[float]] = []
    for start, end in sorted(rows.tolist()):
        if found and start <= found[-1][1] + 1e-9:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([start, end])
    return np.array(found).reshape(-1, 2)


def _check_apart(model: Model, limbs: list[Limb]) -> None:
    """ValueError if two limbs have a joint in common, which could not bend for both."""
    names = model.skeleton.names
    for number, one in enumerate(limbs):
        for other in limbs[:number]:
            common = {one.root, one.middle, one.end} & {other.root, other.middle, other.end}
            if common:
                raise ValueError(
                    f"joints {names[other.end]!r} and {names[one.end]!r} both need {names[min(common)]!r} to "
                    "bend; expected one joint of each limb"
                )


def _wanted_level(model: Model, measured: float) -> float:
    """Return the level on which feet should stand: that of the rest pose, if the clip's is near to it."""
    lowest = rest_level(model)
    return lowest if abs(lowest - measured) <= _SAME_LEVEL * figure_size(model) else measured


def _key_times(clip: Clip, limbs: list[Limb]) -> Array:
    """Return the key times of all channels that move limbs, at least 60 a second."""
    parents = clip._bound_model().skeleton.parents
    line: set[int] = set()
    for limb in limbs:
        joint = limb.end
        while joint >= 0 and joint not in line:
            line.add(joint)
            joint = int(parents[joint])
    moving = [one for one in clip._pose_channels if one.joint in line and len(one.times) > 1]
    ends = np.unique([0.0, clip.duration])
    if not moving:
        return ends
    slack = key_tolerance(clip)
    times = key_times(moving, slack, False, _MAX_GAP)
    inside = times[(times > slack) & (times < clip.duration - slack)]
    return np.unique(np.concatenate([ends, inside]))


def _tracks(clip: Clip, limbs: list[Limb], ground: Ground, times: Array) -> list[Track]:
    """Return what limbs do on the ground at times (N,)."""
    model, count = clip._bound_model(), len(times)
    tracks = [_empty_track(model, limb, times) for limb in limbs]
    with working("locking feet: looking", count) as work:
        for span in chunks(count, 16 * len(model.skeleton)):
            scene = model.globals(clip, times[span], loop="clamp").astype(np.float64)
            moved = ground.transforms(times[span])[:, None] @ scene
            for track, limb in zip(tracks, limbs, strict=True):
                track.root[span] = moved[:, limb.root, :3, 3]
                track.middle[span] = moved[:, limb.middle, :3, 3]
                track.root_rotation[span] = oriented(moved[:, limb.root, :3, :3])
                for part in track.parts:
                    part.origin[span] = moved[:, part.sole.joint, :3, 3]
                    part.rotation[span] = oriented(moved[:, part.sole.joint, :3, :3])
                    part.points[span] = part.sole.positions(moved)
            work.done += span.stop - span.start
    return tracks


def _empty_track(model: Model, limb: Limb, times: Array) -> Track:
    """Return the track of a limb, whose arrays are yet to be filled."""
    count, toe = len(times), toe_of(model, limb.end)
    soles = [sole_of(model, limb.end)]
    if toe is not None:
        soles = [sole_of(model, limb.end, frozenset({toe})), sole_of(model, toe)]
    parts = [
        Part(sole, np.empty((count, 3)), np.empty((count, 4)), np.empty((count, len(sole.owners), 3)), toes)
        for sole, toes in zip(soles, (False, True), strict=False)
    ]
    return Track(times, np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 4)), parts)


def _settled(tracks: list[Track], feet: list[bool], intervals: list[Array], level: Level) -> Level:
    """Return the level with the rise of the figure that most planted feet need, so that their knees stay.

    Feet that become flat bring their ankles down, and the hips of the whole clip follow.
    """
    rises = [np.zeros(0)]
    for track, is_foot, rows in zip(tracks, feet, intervals, strict=True):
        if is_foot:
            few = track.every(_RISE_STEP)
            plan = planned(few, rows, level, 0.0)
            rises.append(((plan.target - few.end) @ level.up)[plan.planted])
    found = np.concatenate(rises)
    return replace(level, rise=float(np.median(found))) if len(found) else level


def _plans(
    tracks: list[Track],
    feet: list[bool],
    intervals: list[Array],
    lap: Array | None,
    level: Level,
    blend: float,
) -> tuple[list[Plan], Array]:
    """Return where the ends of limbs belong, and how far (N,) the hips come down for those that are feet.

    A loop is planned with a round before and one after it, so that both ends of the clip match.
    """
    times = tracks[0].times
    count, line = len(times), times
    inner = slice(0, count) if lap is None else slice(count - 1, 2 * count - 1)
    plans, drop = [], np.zeros(1)
    for track, is_foot, rows in zip(tracks, feet, intervals, strict=True):
        if lap is not None:
            track = track.repeated(lap)
            rows = _united(np.concatenate([rows - times[-1], rows, rows + times[-1]]))
        line = track.times
        plan = planned(track, rows, level, blend)
        if is_foot:
            drop = np.maximum(drop, drop_of(track, plan, level.up))
        plans.append(plan.within(inner))
    return plans, envelope(line, np.broadcast_to(drop, line.shape), blend)[inner]


def _turns(
    model: Model, limb: Limb, track: Track, plan: Plan, drop: Array, up: Array
) -> list[tuple[int, Array]]:
    """Return joints of a limb, each below the one before, and their rotations (N,4) on the ground."""
    root = track.root - drop[:, None] * up
    ahead = rotated(track.root_rotation, _ahead(model, limb, track))
    upper, lower = bent(track, root, plan.target, ahead)
    ends = [(part.sole.joint, turn) for part, turn in zip(track.parts, plan.turns, strict=True)]
    return [(limb.root, upper), (limb.middle, lower), *ends]


def _ahead(model: Model, limb: Limb, track: Track) -> Array:
    """Return the direction (3,) in the space of a limb's first joint to which the limb bends.

    It is the mean over the clip, or where the limb is always straight, where its end points to at rest.
    """
    whole = unit(track.end - track.root)
    before = track.middle - track.root
    off = before - (before * whole).sum(axis=1, keepdims=True) * whole
    mean = rotated(rotation.inverse(track.root_rotation), off).mean(axis=0)
    length = float(np.linalg.norm(track.middle[0] - track.root[0]))
    if np.linalg.norm(mean) > _CLEAR * length:
        return unit(mean)
    rest = model.skeleton.rest_global.astype(np.float64)
    sole = sole_of(model, limb.end)
    points = sole.positions(rest[None])[0] - rest[limb.end, :3, 3]
    toward = points.mean(axis=0)
    line = unit(rest[limb.end, :3, 3] - rest[limb.root, :3, 3])
    toward -= (toward @ line) * line
    if not np.linalg.norm(toward) > 0:
        toward = np.cross(line, np.eye(3)[np.argmin(np.abs(line))])
    return rotated(rotation.inverse(oriented(rest[limb.root, None, :3, :3])[0]), unit(toward))


class _Changes:
    """The rotations of limbs and the drop of the hips, as channels of the clip."""

    def __init__(
        self,
        clip: Clip,
        times: Array,
        ground: Ground,
        turns: list[list[tuple[int, Array]]],
        drop: tuple[int | None, Array],
    ) -> None:
        self.clip, self.times, self.ground = clip, times, ground
        self.turns, self.drop = turns, drop

    def channels(self) -> list[Channel]:
        """Return all channels of the new clip."""
        names, times, values = self.clip._joint_names, self.times, self._values()
        changed = [one for one in self.clip.channels if (one.joint, one.path) not in values]
        for (joint, path), rows in values.items():
            keys = (same_signs(rows) if path == "rotation" else rows).astype(np.float32)
            changed.append(Channel(joint, None, names[joint], path, "linear", times, keys, None, None))
        return changed

    def _values(self) -> dict[tuple[int, str], Array]:
        """Return the new keys (N,C) of each joint and path that changes."""
        model, count = self.clip._bound_model(), len(self.times)
        values = {(joint, "rotation"): np.empty((count, 4)) for limb in self.turns for joint, _ in limb}
        hips, drop = self.drop
        if hips is not None and drop.any():
            values[hips, "translation"] = np.empty((count, 3))
        with working("locking feet: bending", count) as work:
            for span in chunks(count, 16 * len(model.skeleton)):
                self._fill(values, span)
                work.done += span.stop - span.start
        return values

    def _fill(self, values: dict[tuple[int, str], Array], span: slice) -> None:
        """Compute the keys of a span of times."""
        model = self.clip._bound_model()
        pose = model.pose(self.clip, self.times[span], loop="clamp")
        turned = self.ground.transforms(self.times[span])[:, None, :3, :3]
        linear = turned @ pose.globals()[..., :3, :3].astype(np.float64)

        def parent_of(joint: int) -> Array:
            above = int(model.skeleton.parents[joint])
            return linear[:, above] if above >= 0 else turned[:, 0]

        for limb in self.turns:
            before = np.tile([0.0, 0.0, 0.0, 1.0], (len(linear), 1))
            for joint, turn in limb:
                # The parent has made the rotation `before`, and the joint is to make `turn` on the ground.
                own = rotation.to_matrix(quaternion_product(rotation.inverse(before), turn[span]))
                frame = parent_of(joint)
                local = oriented(np.linalg.inv(frame) @ own @ frame)
                old = unit(pose.rotation[:, joint].astype(np.float64))
                values[joint, "rotation"][span] = quaternion_product(local, old)
                before = turn[span]
        hips, drop = self.drop
        if hips is not None and (hips, "translation") in values:
            down = -drop[span, None] * up_vector(model)
            moved = np.linalg.solve(parent_of(hips), down[:, :, None])[..., 0]
            values[hips, "translation"][span] = pose.translation[:, hips] + moved
