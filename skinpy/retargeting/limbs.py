"""The limbs of a humanoid figure: where they point, and poses in which they are turned elsewhere.

A limb is a humanoid bone with the direction to the joint that is its end. Turning a limb rotates its joint in
scene space, along the shortest arc, so that its twist stays; what hangs from it follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array
from ..clips.evaluate import shortest_rotation, unit
from ..posing.kinematics import conjugate, rotated, up_vector
from .rest import Rest, product

if TYPE_CHECKING:
    from ..model import Model
    from ..pose import Pose
    from .humanoid import Humanoid

_CHAIN_OF_ARM = ("UpperArm", "LowerArm", "Hand", "MiddleProximal")
_CHAIN_OF_LEG = ("UpperLeg", "LowerLeg", "Foot", "Toes")

#: The end of each limb by the bone that turns it, parents before their children.
LIMBS: dict[str, str] = {
    side + bone: side + end
    for chain in (_CHAIN_OF_ARM, _CHAIN_OF_LEG)
    for side in ("left", "right")
    for bone, end in pairwise(chain)
}
FEET = ("leftFoot", "rightFoot")
HANDS = ("leftHand", "rightHand")
#: Two bones, on one side, from the second to the first of which a hand is broad, in the order of preference.
ACROSS_HAND = (
    ("IndexProximal", "LittleProximal"),
    ("IndexProximal", "RingProximal"),
    ("ThumbProximal", "Hand"),
)
#: Hands and feet slope differently from figure to figure: they are turned only if they are this far off.
EXTREMITIES = {*HANDS, *FEET}
EXTREMITY_DEGREES = 45.0
#: The four bones between which the trunk is: hips to shoulders, right to left.
CORNERS = ("leftUpperLeg", "rightUpperLeg", "leftUpperArm", "rightUpperArm")

UPRIGHT_DEGREES = 45.0  # a trunk that leans further than this stands on no feet
_NO_LENGTH = 1e-6  # of the size: a limb that is shorter has no direction
_TRUNK = (
    0.3  # of the distances between left and right: less that is perpendicular to the trunk tells no front
)


class Figure:
    """A model in a pose, with the joints of bones, whose limbs can be turned."""

    def __init__(self, model: Model, joints: Mapping[str, int], rotation: Array | None = None) -> None:
        self.model, self.joints = model, joints
        self.rest = Rest(model, rotation)
        self._short = _NO_LENGTH * float(np.linalg.norm(np.ptp(self.rest.origins, axis=0)))

    @property
    def rotation(self) -> Array:
        """The local rotations (J,4)."""
        return self.rest.rotation

    def direction(self, bone: str) -> Array | None:
        """Return the unit vector (3,) from the joint of a bone to its end; None where that is no limb."""
        return None if self.fault(bone) else unit(self._along(bone))

    def fault(self, bone: str) -> str:
        """Return why a bone and its end, both known, are not a limb that can be turned; or nothing."""
        if self.joints[bone] not in self.rest.line(self.joints[LIMBS[bone]]):
            return "its end does not hang from it"
        return "" if np.linalg.norm(self._along(bone)) > self._short else "it has length 0"

    def _along(self, bone: str) -> Array:
        origins = self.rest.origins
        return np.asarray(origins[self.joints[LIMBS[bone]]] - origins[self.joints[bone]])

    def directions(self) -> dict[str, Array]:
        """Return the directions of all limbs that have both joints and a length."""
        found = {
            bone: self.direction(bone) for bone, end in LIMBS.items() if {bone, end} <= self.joints.keys()
        }
        return {bone: direction for bone, direction in found.items() if direction is not None}

    def across(self, hand: str) -> Array | None:
        """Return the unit vector (3,) from the little finger of a hand to the index; None if unknown."""
        side = hand.removesuffix("Hand")
        for one, other in ACROSS_HAND:
            if {side + one, side + other} <= self.joints.keys():
                between = (
                    self.rest.origins[self.joints[side + one]] - self.rest.origins[self.joints[side + other]]
                )
                return unit(between) if np.linalg.norm(between) > self._short else None
        return None

    def palms(self) -> dict[str, Array]:
        """Return the directions across both hands, as far as they are known."""
        found = {hand: self.across(hand) for hand in HANDS}
        return {hand: direction for hand, direction in found.items() if direction is not None}

    def body(self) -> Array | None:
        """Return the axes of the trunk, or None where it has none: see `body_of`."""
        if not self.joints.keys() >= set(CORNERS):
            return None
        axes = body_of(np.stack([self.rest.origins[self.joints[bone]] for bone in CORNERS])[None])[0]
        return axes if np.isfinite(axes).all() else None

    def turn(self, joint: int, rotation: Array) -> None:
        """Rotate a joint, with all that hangs from it, by a rotation (4,) in scene space."""
        rest = self.rest
        local = product(
            conjugate(rest.parent_rotation(joint)),
            rotation,
            rest.rotations[joint],
            conjugate(rest.flip[joint]),
        )
        changed = rest.rotation.copy()
        changed[joint] = local
        self.rest = Rest(self.model, changed)

    def point(
        self, wanted: Mapping[str, Array], palms: Mapping[str, Array], exact_hands: bool = False
    ) -> None:
        """Turn limbs so that they point into the directions (3,) that are wanted, and palms to those across.

        Feet keep their slope against the floor when the legs above them are turned, and are turned only if
        they are far off, like hands unless these are to be exact.
        """
        keep = set(FEET) if exact_hands else EXTREMITIES
        sloping = {foot: self.rest.rotations[self.joints[foot]] for foot in FEET if foot in self.joints}
        for bone in LIMBS:
            if bone in sloping:
                joint = self.joints[bone]
                self.turn(joint, product(sloping[bone], conjugate(self.rest.rotations[joint])))
            direction = self.direction(bone) if bone in wanted else None
            far = direction is not None and (
                bone not in keep or degrees_between(direction, wanted[bone]) > EXTREMITY_DEGREES
            )
            if direction is not None and far:
                self.turn(self.joints[bone], shortest_rotation(direction, wanted[bone]))
        for hand in palms.keys() & self.palms().keys():
            self._roll(hand, palms[hand], 0.0 if exact_hands else EXTREMITY_DEGREES)

    def _roll(self, hand: str, across: Array, tolerance: float) -> None:
        """Turn a hand about its axis, or the forearm's, so that its palm shows where `across` says."""
        forearm = hand.replace("Hand", "LowerArm")
        known = [bone for bone in (hand, forearm) if {bone, LIMBS[bone]} <= self.joints.keys()]
        axis = next((axis for bone in known if (axis := self.direction(bone)) is not None), None)
        own = self.across(hand)
        if axis is None or own is None or hand not in self.joints:
            return
        angle = angle_about(axis, own, across)
        if abs(np.degrees(angle)) > tolerance:
            self.turn(self.joints[hand], rotation_about(axis, angle))

    def pose(self) -> Pose:
        """Return the pose: the rest pose with the rotations of the figure."""
        pose = self.model.pose()
        pose.rotation[:] = self.rotation
        return pose


def body_of(corners: Array) -> Array:
    """Return the axes (N,3,3) of trunks: rows to the left, up the trunk and ahead; NaN where there are none.

    `corners` (N,4,3) are the positions of the bones of `CORNERS`. Up is from the middle of the upper legs to
    the middle of the upper arms, and left is perpendicular to it.
    """
    left_leg, right_leg, left_arm, right_arm = np.moveaxis(corners, 1, 0)
    up = unit(left_arm + right_arm - left_leg - right_leg)
    across = left_leg - right_leg, left_arm - right_arm
    left = across[0] + across[1]
    left = left - up * (up * left).sum(axis=-1, keepdims=True)
    length = np.linalg.norm(left, axis=-1)
    widths = np.linalg.norm(across[0], axis=-1) + np.linalg.norm(across[1], axis=-1)
    there = (length > _TRUNK * widths) & (np.linalg.norm(up, axis=-1) > 0.5)
    axes = np.stack([unit(left), up, np.cross(unit(left), up)], axis=1)
    return np.asarray(np.where(there[:, None, None], axes, np.nan))


def standard_pose(humanoid: Humanoid, degrees: float) -> Pose:
    """Return the pose with straight limbs and arms `degrees` below the horizontal: see Humanoid.t_pose."""
    joints = {bone: humanoid.joint(bone) for bone in humanoid}
    needed = [*CORNERS, *(bone for bone in LIMBS if bone not in EXTREMITIES)]
    for bone in ("hips", *needed, *(LIMBS[bone] for bone in needed)):
        humanoid.joint(bone)  # KeyError, with what was tried
    figure = Figure(humanoid.model, joints)
    names = humanoid.model.skeleton.names
    for bone in LIMBS:
        fault = "" if bone in EXTREMITIES else figure.fault(bone)
        if fault:
            raise ValueError(
                f"the {bone}, from joint {names[joints[bone]]!r} to {names[joints[LIMBS[bone]]]!r}, cannot "
                f"be turned: {fault}"
            )
    body, up = figure.body(), up_vector(humanoid.model)
    if body is None:
        raise ValueError(
            f"the trunk of the figure shows no left and right: {', '.join(CORNERS)} are at "
            f"{[figure.rest.origins[joints[bone]].round(3).tolist() for bone in CORNERS]}"
        )
    if degrees_between(body[1], up) > UPRIGHT_DEGREES:
        figure.turn(joints["hips"], shortest_rotation(body[1], up))
        body = body @ matrix_of(shortest_rotation(body[1], up)).T
    left = unit(body[0] - up * (body[0] @ up))
    ahead = np.cross(left, up)
    figure.point(_straight(figure, left, up, np.radians(degrees)), dict.fromkeys(HANDS, ahead))
    return figure.pose()


def _straight(figure: Figure, left: Array, up: Array, drop: float) -> dict[str, Array]:
    """Return the directions of straight limbs, with arms by an angle below the horizontal."""
    wanted = {}
    ahead = np.cross(left, up)
    for bone in figure.directions():
        if bone.endswith(("Arm", "Hand")):
            aside = left if bone.startswith("left") else -left
            wanted[bone] = np.cos(drop) * aside - np.sin(drop) * up
        else:
            # Feet slope down to the toes; those that do not lie on the floor at all are turned ahead.
            wanted[bone] = unit(2 * ahead - up) if bone in FEET else -up
    return wanted


def degrees_between(one: Array, other: Array) -> float:
    """Return the angle between two unit vectors."""
    return float(np.degrees(2 * np.arctan2(np.linalg.norm(one - other), np.linalg.norm(one + other))))


def matrix_of(rotation: Array) -> Array:
    """Return the matrix (3,3) of a unit quaternion (4,)."""
    return np.stack([rotated(rotation, axis) for axis in np.eye(3)], axis=1)


def rotation_about(up: Array, angle: float) -> Array:
    """Return the rotation (4,) by an angle in radians about a unit vector."""
    return np.append(np.sin(angle / 2) * up, np.cos(angle / 2))


def angle_about(up: Array, start: Array, end: Array) -> float:
    """Return the angle in radians about `up` that brings `start` over `end`."""
    return float(np.arctan2(up @ np.cross(start, end), start @ end - (up @ start) * (up @ end)))


def upright(figure: Figure) -> bool | None:
    """Return whether the trunk stands; None where too few of its bones are known to tell."""
    if not figure.joints.keys() >= set(CORNERS):
        return None
    body = figure.body()
    return body is not None and degrees_between(body[1], up_vector(figure.model)) < UPRIGHT_DEGREES
