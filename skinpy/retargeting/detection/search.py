"""The search for a humanoid: limbs first, then the trunk that holds them, fingers and face."""

from __future__ import annotations

from bisect import bisect
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..._types import Array
from ..bones import ARM, BONES, CORE, LEG, SIDES
from .evidence import Search, reason
from .figure import Figure
from .fingers import find_fingers
from .limbs import between_found, find_limb
from .topology import by_structure
from .trunk import find_trunk
from .vocabulary import VAGUE

if TYPE_CHECKING:
    from ...model import Model

_FEWEST = 6  # core bones below which a figure is not human
_FEW_NAMED = 8  # core bones below which structure counts more than names
_MOST_FIGURES = 8  # of a scene that are looked at
_ALONG = 0.7  # cosine of limbs that go the same way
_ACROSS = 0.6  # cosine of limbs that go across the trunk


def detect(model: Model) -> tuple[dict[str, int], dict[str, str]]:
    """Return the joint of each bone that is found, and a sentence for every bone."""
    skeleton = model.skeleton
    holders = {submesh.node for submesh in model.mesh.submeshes} - set(model.skin.joints.tolist())
    origins = np.asarray(skeleton.rest_global[:, :3, 3], np.float64)
    figure = Figure(skeleton.names, skeleton.parents, origins, frozenset(holders))
    result = search(figure)
    joints = {bone: result.found[bone] for bone in BONES if bone in result.found}
    return joints, {bone: reason(figure, result, bone) for bone in BONES}


def search(figure: Figure) -> Search:
    """Return what is found in a skeleton; of several figures, in the first that is complete."""
    whole = _search_one(figure)
    for joint in _several(figure):
        one = _search_one(figure.part(joint))
        if _core(one.found) >= _core(whole.found) > 0:
            return replace(one, found={bone: joint + at for bone, at in one.found.items()})
    return whole


def _core(found: dict[str, int]) -> int:
    """Return how many of the bones that a figure needs are found."""
    return sum(bone in found for bone in CORE)


def _several(figure: Figure) -> list[int]:
    """Return the topmost joints of several figures in one scene; none if there is one figure at most."""
    legs = figure.with_part("UpperLeg", "left")
    if len(legs) < 2:
        return []
    top = [joint for joint, parent in enumerate(figure.parents) if parent < 0]
    while len(top) == 1:
        top = figure.children[top[0]]
    found = sorted({top[bisect(top, leg) - 1] for leg in legs if leg >= top[0]}) if top else []
    return found[:_MOST_FIGURES] if len(found) > 1 else []


def _search_one(figure: Figure) -> Search:
    """Return what is found in a figure: by names, then between what names show, then by structure."""
    named = _by_names(figure)
    found = dict(named)
    for side in SIDES:
        for parts in (LEG[:3], ARM):
            found |= between_found(figure, found, side, parts)
    between = found.keys() - named.keys()
    built = by_structure(figure) if _core(found) < len(CORE) else {}
    found = _merged(found, built)
    rejected = ""
    if _core(found) < _FEWEST and not built:
        rejected = (
            f"The skeleton is not a human figure: names and structure show {_core(found)} of "
            f"{len(CORE)} bones that one needs."
        )
    elif _has_legs_of_an_animal(figure):
        rejected = "The skeleton is not a human figure: its names speak of front or hind legs."
    elif _is_on_all_fours(figure, found):
        rejected = "The skeleton is not a human figure: its arms go the way of its legs, across the trunk."
    if rejected:
        return Search({}, rejected=rejected)
    kept = {bone for bone, joint in named.items() if found.get(bone) == joint}
    return Search(found, frozenset(kept), frozenset(between & found.keys()))


def _by_names(figure: Figure) -> dict[str, int]:
    """Return the bones that names and the order of the joints show."""
    limbs: dict[str, int] = {}
    for side in SIDES:
        for parts in (LEG, ARM):
            limb = find_limb(figure, side, parts)
            if len(limb) > 1 or not any(figure.readings[joint].word in VAGUE for joint in limb.values()):
                limbs |= {side + part: joint for part, joint in limb.items()}
    found = limbs | find_trunk(figure, limbs)
    for side in SIDES:
        found |= find_fingers(figure, side, found.get(f"{side}Hand"))
    face = {f"{side}Eye": figure.with_part("eye", side) for side in SIDES} | {"jaw": figure.with_part("jaw")}
    head = found.get("head", -1)
    for bone, joints in face.items():
        below = [one for one in joints if head < 0 or figure.is_above(head, one)] or joints
        if below:
            found[bone] = below[0]
    return found


def _merged(found: dict[str, int], built: dict[str, int]) -> dict[str, int]:
    """Return what names show, completed by what the structure shows if the two agree.

    If they do not and few of the core bones are named, the structure counts.
    """
    differ = any(bone in built and built[bone] != joint for bone, joint in found.items())
    if differ and _core(found) >= _FEW_NAMED:
        return found
    first, then = (built, found) if differ else (found, built)
    used = set(first.values())
    return first | {bone: joint for bone, joint in then.items() if bone not in first and joint not in used}


def _has_legs_of_an_animal(figure: Figure) -> bool:
    """Whether names speak of front or hind legs: on each side of two parts, for one may be a corrective's."""
    parts = {side: {one.on_fours for one in figure.readings if one.side == side} - {""} for side in SIDES}
    return all(len(found) > 1 for found in parts.values())


def _is_on_all_fours(figure: Figure, found: dict[str, int]) -> bool:
    """Whether limbs that are called arms are front legs: they point where the legs do, across the trunk."""
    legs = _way(figure, found, "UpperLeg", "LowerLeg")
    arms = _way(figure, found, "UpperArm", "LowerArm")
    trunk = _way(figure, found, "hips", "UpperArm" if arms.any() else "head")
    along = legs @ arms > _ALONG if arms.any() else legs.any()
    return bool(along and trunk.any() and abs(trunk @ legs) < _ACROSS)


def _way(figure: Figure, found: dict[str, int], start: str, end: str) -> Array:
    """Return the unit direction (3,) from one part, on both sides, to another; zeros where one is missing."""
    ends = [
        [figure.origins[found[name]] for name in (part, "left" + part, "right" + part) if name in found]
        for part in (start, end)
    ]
    if not all(ends):
        return np.zeros(3)
    way = np.mean(ends[1], axis=0) - np.mean(ends[0], axis=0)
    return np.asarray(way / max(float(np.linalg.norm(way)), 1e-30))
