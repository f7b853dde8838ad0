"""Which joints are feet and toes, and the two joints above an end that bend to move it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..posing.kinematics import up_vector
from .soles import below, figure_size, sole_of

if TYPE_CHECKING:
    from ..model import Model

#: Without a humanoid the feet are the highest joints within this fraction of the size above the lowest joint.
_FOOT_HEIGHT = 0.12
#: Joints nearer to each other than this fraction of the size are in one place.
_APART = 1e-3

_SIDES = ("left", "right")


@dataclass(frozen=True)
class Limb:
    """A limb of three joints, as indices: it begins at `root`, bends at `middle` and ends at `end`."""

    root: int
    middle: int
    end: int


def feet_of(model: Model) -> list[int]:
    """Return the indices of the feet: those of the humanoid, or else those that the rest pose stands on."""
    found = [_bone(model, f"{side}Foot") for side in _SIDES]
    feet = [joint for joint in found if joint is not None]
    return feet or _lowest_joints(model)


def feet_and_toes(model: Model) -> list[int]:
    """Return the indices of the feet, each with its toes if the humanoid has them."""
    toes = {_bone(model, f"{side}Foot"): _bone(model, f"{side}Toes") for side in _SIDES}
    joints: list[int] = []
    for foot in feet_of(model):
        toe = toes.get(foot)
        joints += [foot] if toe is None else [foot, toe]
    return joints


def foot_above(model: Model, joint: int) -> int:
    """Return the foot that toes of the humanoid belong to; of any other joint, the joint."""
    for side in _SIDES:
        foot = _bone(model, f"{side}Foot")
        if joint == _bone(model, f"{side}Toes") and foot is not None:
            return foot
    return joint


def toe_of(model: Model, foot: int) -> int | None:
    """Return the toes of a foot: those of the humanoid, or the one child that moves the sole's front."""
    for side in _SIDES:
        if foot == _bone(model, f"{side}Foot"):
            return _bone(model, f"{side}Toes")
    sole = sole_of(model, foot)
    if not sole.has_length:
        return None
    owners = sole.owners[sole.front]
    children = np.flatnonzero(model.skeleton.parents == foot)
    toes = [int(child) for child in children if below(model, int(child))[owners].any()]
    return toes[0] if len(toes) == 1 else None


def limb_of(model: Model, end: int) -> Limb:
    """Return the limb that ends at a joint; ValueError where there are no two joints above it.

    The limb of a humanoid's foot or hand is the one that the humanoid names. Of any other joint it is the two
    nearest ancestors that are not in one place with the joint below them.
    """
    for side in _SIDES:
        for upper, lower, last in (("UpperLeg", "LowerLeg", "Foot"), ("UpperArm", "LowerArm", "Hand")):
            bones = [_bone(model, side + part) for part in (upper, lower, last)]
            root, middle, bottom = bones
            if bottom != end or root is None or middle is None:
                continue
            # In a rig for inverse kinematics the foot may hang from the root of the figure.
            if middle in _ancestors(model, end) and root in _ancestors(model, middle):
                return _checked(model, Limb(root, middle, end))
    middle = _apart_above(model, end, end)
    root = _apart_above(model, middle, end)
    return Limb(root, middle, end)


def hips_above(model: Model, limbs: Sequence[Limb]) -> int | None:
    """Return the joint that carries both the limbs and the feet of a figure, or None if there is none.

    It is the hips of the humanoid, or else the nearest common ancestor.
    """
    roots = {limb.root for limb in limbs}
    roots |= {limb_of(model, foot).root for foot in feet_of(model) if has_limb(model, foot)}
    lines = [_ancestors(model, root) for root in roots]
    hips = _bone(model, "hips")
    if hips is not None and all(hips in line for line in lines):
        return hips
    common = set(lines[0]).intersection(*lines[1:])
    return max(common, default=None)


def _ancestors(model: Model, joint: int) -> list[int]:
    """Return the ancestors of a joint, the nearest first."""
    found = []
    joint = int(model.skeleton.parents[joint])
    while joint >= 0:
        found.append(joint)
        joint = int(model.skeleton.parents[joint])
    return found


def bending(model: Model, ends: list[int]) -> list[int]:
    """Return the joints of a list whose limbs have no joint in common with those of others."""
    limbs = [limb_of(model, end) for end in ends if has_limb(model, end)]
    joints = [joint for limb in limbs for joint in (limb.root, limb.middle, limb.end)]
    return [
        limb.end
        for limb in limbs
        if all(joints.count(one) == 1 for one in (limb.root, limb.middle, limb.end))
    ]


def has_limb(model: Model, end: int) -> bool:
    """Return whether there are two joints above a joint that could bend."""
    try:
        limb_of(model, end)
    except ValueError:
        return False
    return True


def _checked(model: Model, limb: Limb) -> Limb:
    """Return the limb; ValueError where two of its joints are in one place."""
    origins = model.skeleton.rest_global[:, :3, 3].astype(np.float64)
    names = model.skeleton.names
    for one, other in ((limb.root, limb.middle), (limb.middle, limb.end)):
        if not np.linalg.norm(origins[one] - origins[other]) > _APART * figure_size(model):
            raise ValueError(
                f"joints {names[one]!r} and {names[other]!r} are in one place; expected a limb whose joints "
                "are apart, so that it can bend"
            )
    return limb


def _apart_above(model: Model, joint: int, end: int) -> int:
    """Return the nearest ancestor that is not in one place with a joint of the limb to `end`."""
    origins = model.skeleton.rest_global[:, :3, 3].astype(np.float64)
    parents = model.skeleton.parents
    above = int(parents[joint])
    while above >= 0:
        if np.linalg.norm(origins[above] - origins[joint]) > _APART * figure_size(model):
            return above
        above = int(parents[above])
    raise ValueError(
        f"joint {model.skeleton.names[end]!r} has no two joints above it, apart from each other, that could "
        "bend; expected the end of a limb, such as a foot or a hand"
    )


def _bone(model: Model, bone: str) -> int | None:
    """Return the index of the joint that is a bone of the humanoid, or None."""
    humanoid = model.humanoid
    return humanoid.joint(bone) if bone in humanoid else None


def _lowest_joints(model: Model) -> list[int]:
    """Return, for each branch of the skeleton that reaches the ground at rest, its highest low joint."""
    skeleton = model.skeleton
    heights = skeleton.rest_global[:, :3, 3].astype(np.float64) @ up_vector(model)
    leaves = np.ones(len(skeleton), bool)
    leaves[skeleton.parents[skeleton.parents >= 0]] = False
    size = figure_size(model)
    # The ends of limbs alone: joints such as a root on the ground carry everything.
    lowest = heights[leaves].min()
    feet: list[int] = []
    for leaf in np.flatnonzero(leaves & (heights <= lowest + _FOOT_HEIGHT * size)):
        joint = int(leaf)
        while True:
            above = int(skeleton.parents[joint])
            if above < 0 or heights[above] > lowest + _FOOT_HEIGHT * size or _carries(model, above):
                break
            joint = above
        if has_limb(model, joint):
            feet.append(joint)
    found = list(dict.fromkeys(feet))
    return found if len(found) > 1 else []  # a lone limb on the ground is a tail, a rope or a sword


def _carries(model: Model, joint: int) -> bool:
    """Return whether a joint carries most of the skeleton, as a root on the ground does."""
    return bool(below(model, joint).sum() > len(model.skeleton) / 2)
