"""Reference poses: the pose of the source and the pose of the target that go together.

docs/retargeting.md says which ones are taken, and why.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from .._arguments import brief, check_finite, finite
from .._text import quoted
from .._types import Array
from ..clip import Clip
from ..clips.evaluate import shortest_rotation
from ..pose import Pose
from ..posing.kinematics import conjugate, rotated, up_vector
from .alignment import scene_rotation, to_left
from .bind_pose import bind_rotation
from .frames import nearest_frame
from .limbs import (
    ACROSS_HAND,
    CORNERS,
    EXTREMITIES,
    EXTREMITY_DEGREES,
    FEET,
    LIMBS,
    Figure,
    angle_about,
    degrees_between,
    rotation_about,
    upright,
)
from .rest import Rest, product

if TYPE_CHECKING:
    from ..model import Model

ReferencePose: TypeAlias = Pose | float | Literal["rest", "auto"] | None

_AGREE_DEGREES = 5.0  # limbs that point this nearly the same way are alike
_LEAN_DEGREES = 20.0  # trunks may lean by this against each other: spines are curved differently
_CLIPS = 32  # of a model, at most, among whose frames a reference pose is sought
_MAX_TURN = 100.0  # degrees that a limb may be turned: beyond them the shortest arc says little of its twist


@dataclass(frozen=True)
class PoseMatch:
    """The reference poses of a source and a target, and how they were found.

    Attributes
    ----------
    source : Pose
        The reference pose of the source.
    target : Pose
        The reference pose of the target.
    source_from : str
        Where the source's pose comes from, such as "the rest pose, limbs turned".
    target_from : str
        Where the target's pose comes from.
    degrees : mapping of str to float
        The angle between the limb of the source and that of the target before any was turned, in the aligned
        scene, by the humanoid bone that turns the limb: "leftUpperArm" is the limb from it to the lower arm.
    not_compared : mapping of str to str
        The limbs that were not compared, by bone, and why.
    """

    source: Pose
    target: Pose
    source_from: str
    target_from: str
    degrees: Mapping[str, float]
    not_compared: Mapping[str, str]

    def __repr__(self) -> str:
        worst = max(self.degrees, key=lambda bone: self.degrees[bone], default=None)
        apart = "no limb compared" if worst is None else f"{worst} {self.degrees[worst]:.0f} degrees apart"
        return f"<PoseMatch: source: {self.source_from}; target: {self.target_from}; {apart}>"

    def __str__(self) -> str:
        lines = [f"source: {self.source_from}", f"target: {self.target_from}"]
        lines += [f"{bone:14} {angle:6.1f} degrees apart" for bone, angle in self.degrees.items()]
        lines += [f"{bone:14} not compared: {reason}" for bone, reason in self.not_compared.items()]
        return "\n".join(lines)


@dataclass(frozen=True)
class References:
    """What `retarget` takes from the reference poses."""

    rotation: Array  #: (4,) from the source's scene to the target's
    source: Rest
    target: Rest
    match: PoseMatch
    warning: str  #: empty where the references are good


@dataclass(frozen=True)
class _Choice:
    """The reference pose of one side, and where it comes from."""

    figure: Figure
    words: str
    bad: Mapping[str, float]  #: limbs, by bone, that are too far from any pose that is wanted, in degrees
    is_frame: bool = False  #: of a clip, so that hands may show anywhere
    lies: bool = False  #: neither the rest pose nor any frame of the clip stands upright


def find_references(
    clip: Clip,
    source: Model,
    target: Model,
    pairs: list[tuple[int, int]],
    hips: tuple[int, int],
    poses: tuple[ReferencePose, ReferencePose],
) -> References:
    """Return the reference poses; see `retarget` for what `poses` may be."""
    search = _Search(clip, (source, target), pairs, hips)
    given = (
        search.given(poses[0], 0, "source_pose"),
        search.given(poses[1], 1, "target_pose"),
    )
    rests = search.rests
    starts = given[0] or rests[0], given[1] or rests[1]
    degrees = search.angles(starts[0].figure, starts[1].figure)
    only_rests = all(choice is None or choice is rests[side] for side, choice in enumerate(given))
    if only_rests and (None not in given or search.agree(rests[0].figure, rests[1].figure)):
        chosen = rests
    else:
        chosen = search.found(given)
    figures, words = [choice.figure for choice in chosen], [choice.words for choice in chosen]
    poses_found = figures[0].pose(), figures[1].pose()
    match = PoseMatch(*poses_found, words[0], words[1], degrees, search.not_compared)
    return References(search.rotation, figures[0].rest, figures[1].rest, match, _warning(chosen, rests))


class _Search:
    """Two models, the joints of their limbs, and the rotation (4,) from one scene to the other."""

    def __init__(
        self, clip: Clip, models: tuple[Model, Model], pairs: list[tuple[int, int]], hips: tuple[int, int]
    ) -> None:
        self.models, self.pairs, self.hips = models, pairs, hips
        # All clips of a model are searched, so that each of them gets the same reference.
        self.clip = clip
        self.clips = (
            (clip, *itertools.islice(models[0].clips, _CLIPS)),
            (*itertools.islice(models[1].clips, _CLIPS),),
        )
        joints, self.not_compared = _common_joints(models, pairs)
        self.rests = tuple(
            _Choice(Figure(models[side], joints[side]), "the rest pose", {}) for side in (0, 1)
        )
        self.rotation = self._scene_rotation(True)
        for side, name in enumerate(("source", "target")):
            figure = self.rests[side].figure
            for bone in joints[side].keys() & LIMBS.keys() - self.not_compared.keys():
                fault = figure.fault(bone)
                if fault:
                    self.not_compared[bone] = f"{fault} in the {name}"

    def _scene_rotation(self, by_quarters: bool) -> Array:
        figures = [choice.figure for choice in self.rests]
        return scene_rotation(*self.models, (figures[0].rest, figures[1].rest), self.pairs, by_quarters)

    # ---- what is given ----------------------------------------------------------------------------

    def given(self, pose: ReferencePose, side: int, name: str) -> _Choice | None:
        """Return the choice that an argument states, or None where it is to be found."""
        if pose is None or isinstance(pose, str):
            if pose not in (None, "auto", "rest"):
                raise ValueError(f"{name} is {brief(pose)}; expected a Pose, a time, 'rest' or 'auto'")
            return self.rests[side] if pose == "rest" else None
        words = "the given pose"
        if not isinstance(pose, Pose):
            if side:
                raise TypeError(
                    f"{name} is {brief(pose)}; expected a Pose, 'rest' or 'auto' (a time is of a clip of the "
                    "source; target.pose(clip, time) makes a pose of the target)"
                )
            pose, words = _pose_at(self.clip, pose, name)
        _check_pose(pose, self.models[side], name)
        return _Choice(self.figure(side, pose.rotation), words, {})

    def figure(self, side: int, rotation: Array) -> Figure:
        """Return the model of a side with local rotations (J,4), but with the joints above the hips at rest.

        These move a figure through the scene and are not part of its posture.
        """
        rest, joints = self.rests[side].figure.rest, self.rests[side].figure.joints
        posed = Figure(self.models[side], joints, rotation)
        *above, hips = rest.line(self.hips[side])
        rotation = posed.rotation.copy()
        rotation[above] = rest.rotation[above]
        figure = Figure(self.models[side], joints, rotation)
        figure.turn(hips, product(posed.rest.rotations[hips], conjugate(figure.rest.rotations[hips])))
        return figure

    # ---- comparing --------------------------------------------------------------------------------

    def angles(self, source: Figure, target: Figure) -> dict[str, float]:
        """Return the angle between each limb of both in the aligned scene, in degrees."""
        others = target.directions()
        return {
            bone: degrees_between(rotated(self.rotation, direction), others[bone])
            for bone, direction in source.directions().items()
            if bone in others and bone not in self.not_compared
        }

    def agree(self, source: Figure, target: Figure) -> bool:
        """Return whether limbs, palms and trunk point the same way in both."""
        alike = all(
            angle <= (EXTREMITY_DEGREES if bone in EXTREMITIES else _AGREE_DEGREES)
            for bone, angle in self.angles(source, target).items()
        )
        palms = target.palms()
        for hand, across in source.palms().items():
            if hand in palms:
                angle = degrees_between(rotated(self.rotation, across), palms[hand])
                alike = alike and angle <= EXTREMITY_DEGREES
        bodies = source.body(), target.body()
        if bodies[0] is None or bodies[1] is None:
            return alike
        off = [degrees_between(rotated(self.rotation, bodies[0][row]), bodies[1][row]) for row in (0, 1)]
        return alike and off[0] <= 2 * _AGREE_DEGREES and off[1] <= _LEAN_DEGREES

    # ---- finding ----------------------------------------------------------------------------------

    def found(self, given: tuple[_Choice | None, _Choice | None]) -> tuple[_Choice, ...]:
        """Return the reference poses where the rest poses alone do not do."""
        if any(upright(choice.figure) is False for choice in self.rests):
            self.rotation = self._scene_rotation(False)  # a pose that does not stand faces nowhere
        source, target = given
        if source is None:
            target = target or self._base(1, _STANDING)
            source = self._base(0, self._directions(target.figure))
            source = self._like(source, 0, target.figure, conjugate(self.rotation))
            return source, target
        if target is None:
            target = self._base(1, self._directions(source.figure))
            source = self._facing(source, target.figure)
            if not self.agree(source.figure, target.figure):
                target = self._like(target, 1, source.figure, self.rotation)
            return source, target
        return self._facing(source, target.figure), target

    def _directions(self, figure: Figure) -> dict[str, Array]:
        """Return the directions of the limbs relative to the trunk; without a trunk, in the scene."""
        body = figure.body()
        axes = np.eye(3) if body is None else body
        return {bone: axes @ direction for bone, direction in figure.directions().items()}

    def _base(self, side: int, wanted: Mapping[str, Array]) -> _Choice:
        """Return the bind pose, the rest pose or a frame of a clip: the first whose limbs are near enough.

        The bind pose counts where the limbs of the rest pose point elsewhere.
        """
        rest = self.rests[side]
        bind = self._bind(side)
        if bind is not None and not self._off(bind.figure, side, wanted):
            return bind
        bad, stands = self._off(rest.figure, side, wanted), upright(rest.figure) is not False
        if stands and not bad:
            return rest
        found = [nearest_frame(rest.figure, clip, wanted) for clip in self.clips[side]]
        frames = [frame for frame in found if frame is not None]
        if not bad or not frames:
            return replace(rest, bad=bad, lies=not stands and not frames)
        best = min(frames, key=lambda frame: frame.cost)
        figure = self.figure(side, self.models[side].pose(best.clip, best.time).rotation)
        return _Choice(figure, _at(best.clip, best.time), _too_far(best.degrees), is_frame=True)

    def _bind(self, side: int) -> _Choice | None:
        """Return the bind pose where it stands and its limbs are not those of the rest pose."""
        rest = self.rests[side].figure
        rotation = bind_rotation(self.models[side], self.hips[side])
        if rotation is None:
            return None
        bind = Figure(rest.model, rest.joints, rotation)
        own = bind.directions()
        apart = {
            bone: degrees_between(own[bone], direction)
            for bone, direction in rest.directions().items()
            if bone in own and bone not in EXTREMITIES
        }
        if max(apart.values(), default=0.0) <= _AGREE_DEGREES or not upright(bind):
            return None
        return _Choice(bind, "the bind pose", {})

    def _off(self, figure: Figure, side: int, wanted: Mapping[str, Array]) -> dict[str, float]:
        """Return the limbs that are too far from the directions that are wanted relative to the trunk."""
        if figure.body() is None:  # then they are compared in the scene
            figures = [choice.figure for choice in self.rests]
            figures[side] = figure
            return _too_far(self.angles(figures[0], figures[1]))
        own = self._directions(figure)
        return _too_far(
            {bone: degrees_between(own[bone], wanted[bone]) for bone in own.keys() & wanted.keys()}
        )

    def _like(self, choice: _Choice, side: int, other: Figure, rotation: Array) -> _Choice:
        """Return the pose with hips and limbs turned as those of the other, by way of a scene rotation."""
        figure = Figure(choice.figure.model, choice.figure.joints, choice.figure.rotation)
        bodies = figure.body(), other.body()
        if bodies[0] is not None and bodies[1] is not None:
            wanted = rotated(rotation, bodies[1])
            up = up_vector(figure.model)
            turn = np.array([0.0, 0.0, 0.0, 1.0])
            if degrees_between(bodies[0][1], wanted[1]) > _LEAN_DEGREES:
                turn, up = shortest_rotation(bodies[0][1], wanted[1]), wanted[1]
            angle = angle_about(up, rotated(turn, bodies[0][0]), wanted[0])
            figure.turn(self.hips[side], product(rotation_about(up, angle), turn))
        directions = other.directions()
        figure.point(
            {bone: rotated(rotation, directions[bone]) for bone in directions.keys() - self.not_compared},
            {hand: rotated(rotation, across) for hand, across in other.palms().items()},
            exact_hands=choice.is_frame,
        )
        return replace(choice, figure=figure, words=f"{choice.words}, with limbs turned")

    def _facing(self, source: _Choice, target: Figure) -> _Choice:
        """Return the source's pose turned about the up axis, so that it faces where the target's does."""
        bodies = source.figure.body(), target.body()
        if bodies[0] is not None and bodies[1] is not None:
            left = bodies[0][0], bodies[1][0]
        else:
            told = to_left(*self.models, (source.figure.rest, target.rest), self.pairs)
            if told is None:
                return source
            left = told
        up = up_vector(self.models[0])
        angle = angle_about(up, left[0], rotated(conjugate(self.rotation), left[1]))
        figure = Figure(source.figure.model, source.figure.joints, source.figure.rotation)
        figure.turn(self.hips[0], rotation_about(up, angle))
        return replace(source, figure=figure)


def _common_joints(
    models: tuple[Model, Model], pairs: list[tuple[int, int]]
) -> tuple[tuple[dict[str, int], dict[str, int]], dict[str, str]]:
    """Return the joints of the humanoid bones in both models, and why limbs cannot be compared.

    A bone that one humanoid has is, in the other model, at the joint that the pairs name.
    """
    to_target, to_source = dict(pairs), {other: one for one, other in pairs}
    humanoids = models[0].humanoid, models[1].humanoid
    joints: tuple[dict[str, int], dict[str, int]] = {}, {}
    lacking: dict[str, str] = {}
    fingers = [side + bone for pair in ACROSS_HAND for side in ("left", "right") for bone in pair]
    for bone in dict.fromkeys([*LIMBS, *LIMBS.values(), *CORNERS, *fingers]):
        one, other = (humanoid.joint(bone) if bone in humanoid else None for humanoid in humanoids)
        if one in to_target:
            other = to_target[one]
        elif one is None and other in to_source:
            one = to_source[other]
        if one is not None and other is not None:
            joints[0][bone], joints[1][bone] = one, other
        else:
            sides = [name for name, joint in (("source", one), ("target", other)) if joint is None]
            lacking[bone] = f"the {' and the '.join(sides)} has no {bone}"
    reasons = {}
    for bone, end in LIMBS.items():
        if bone in lacking or end in lacking:
            reasons[bone] = lacking.get(bone) or lacking[end]
        elif to_target.get(joints[0][bone]) != joints[1][bone]:
            reasons[bone] = "its joints are not mapped to each other"
    return joints, reasons


#: Directions of limbs, relative to the trunk (left, up, ahead), of a figure that stands with its arms spread.
_STANDING = {
    bone: np.array([0.0, -1.0, 0.0])
    if not bone.endswith("Arm")
    else np.array([1.0 if bone.startswith("left") else -1.0, -1.0, 0.0]) / np.sqrt(2.0)
    for bone in LIMBS
    if bone not in EXTREMITIES
}


def _too_far(degrees: Mapping[str, float]) -> dict[str, float]:
    """Return the limbs that cannot be turned by these angles without doubt about their twist."""
    return {
        bone: degrees[bone]
        for bone in LIMBS
        if bone not in EXTREMITIES and degrees.get(bone, 0.0) > _MAX_TURN
    }


def _pose_at(clip: Clip, time: object, name: str) -> tuple[Pose, str]:
    """Return the pose of a clip at a time that must lie in it."""
    seconds = finite(name, time)
    if not 0.0 <= seconds <= clip.duration:
        raise ValueError(
            f"{name} is {seconds:g} s; expected a time of clip {quoted(clip.name)}, from 0 to "
            f"{clip.duration:g} s"
        )
    return clip._bound_model().pose(clip, seconds, loop="clamp"), _at(clip, seconds)


def _at(clip: Clip, time: float) -> str:
    """Return the words for a pose of a clip."""
    return f"clip {quoted(clip.name)} at {time:.3g} s"


def _check_pose(pose: Pose, model: Model, name: str) -> None:
    """Raise ValueError unless it is one pose of the model whose rotations are finite and have a length."""
    if pose.model._block.rig is not model._block.rig:
        raise ValueError(f"{name} is a pose of another model; expected a pose of the {name.split('_')[0]}")
    if pose.rotation.ndim != 2:
        raise ValueError(f"{name} holds poses of shape {pose.rotation.shape[:-2]}; expected a single pose")
    check_finite(f"{name}.rotation", pose.rotation)
    lengths = np.linalg.norm(pose.rotation.astype(np.float64), axis=1)
    if (lengths == 0).any():
        joint = model.skeleton.names[int(np.argmin(lengths))]
        raise ValueError(
            f"{name}.rotation of joint {joint!r} has length 0; expected quaternions with a length"
        )


def _walks_backward(figure: Figure) -> bool:
    """Return whether a figure that stands has its toes behind, as seen from its left and right."""
    body, found = figure.body(), figure.directions()
    feet = [found[foot] for foot in FEET if foot in found]
    return body is not None and bool(upright(figure) and feet and np.mean(feet, axis=0) @ body[2] < -0.5)


def _warning(chosen: tuple[_Choice, ...], rests: tuple[_Choice, ...]) -> str:
    """Return what to warn of where no good reference pose was found, or nothing."""
    told = []
    backward = [_walks_backward(rest.figure) for rest in rests]
    if backward[0] != backward[1]:
        told.append(
            f"the toes of the {'source' if backward[0] else 'target'} point backward, as if it were mirrored "
            "or its left and right exchanged; a joint_map that pairs left with right joints puts this right"
        )
    for choice, name in zip(chosen, ("source", "target"), strict=True):
        if choice.lies:
            told.append(
                f"the figure of the {name} stands neither at rest nor in a clip; if another axis points up, "
                "load its file with that axis as up"
            )
        if choice.bad:
            limbs = ", ".join(f"{bone} {angle:.0f}" for bone, angle in choice.bad.items())
            told.append(
                f"no good reference pose of the {name} was found, so its limbs may be twisted: "
                f"{choice.words} was taken, in which limbs are off by (degrees) {limbs}; give {name}_pose"
            )
    return "; ".join(told)
