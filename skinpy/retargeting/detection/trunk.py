"""Find hips, spine, neck and head: the line of joints from where the legs meet, past where the arms begin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..bones import SIDES
from .figure import Figure

_MEETING = 1.5  # what the joint gains where the legs and the upper body meet
_ABOVE_ALL = 0.8  # what a joint gains that is above them
_NEAR = 0.6  # what a joint gains right between the upper legs; one that is a leg away loses it
_RIGIFY = 0.2  # what a joint called DEF-spine gains: Rigify's lowest joint of the spine is the hips
_BACK = 0.2  # of its way up, within which a joint is back where the one before the last is
_LEAST_HIPS = 0.45
_LIKE_HIPS = 0.8  # a joint with such a name is not of the spine: the Hips of a rig with legs on its Body
_LEAST_NAMED = 0.9  # without legs, a name alone must be as certain


def find_trunk(figure: Figure, limbs: dict[str, int]) -> dict[str, int]:
    """Return the joints of hips, spine, chest, upperChest, neck and head, as far as they are found."""
    found: dict[str, int] = {}
    heads = figure.with_part("head")
    necks = figure.with_part("neck")
    arms = _arm_roots(limbs)
    top = heads[:1] or necks[:1] or arms
    hips = _hips(figure, limbs, top)
    if hips is not None:
        found["hips"] = hips
        heads = [one for one in heads if figure.is_above(hips, one)] or heads
        necks = [one for one in necks if figure.is_above(hips, one)] or necks
    if heads:
        found["head"] = max(
            heads, key=lambda one: figure.readings[one].score("head") - 1e-3 * figure.depth[one]
        )
    line = _line(figure, found, limbs, arms, necks)
    return found | _split(figure, line, found, arms)


def _arm_roots(limbs: dict[str, int]) -> list[int]:
    """Return the topmost joint of each arm: the clavicle, or else the upper arm."""
    tops = [(limbs.get(side + "Shoulder"), limbs.get(side + "UpperArm")) for side in SIDES]
    return [one for pair in tops for one in [joint for joint in pair if joint is not None][:1]]


def _hips(figure: Figure, limbs: dict[str, int], top: list[int]) -> int | None:
    """Return the joint where the legs and the upper body meet, or that is named like it and above them."""
    legs = [limbs[name] for name in ("leftUpperLeg", "rightUpperLeg") if name in limbs]
    ends = [*legs, *top]
    meeting = figure.common(ends) if len(ends) > 1 else -1
    length = sum(_length(figure, limbs, side) for side in SIDES) / max(len(legs), 1)
    best = (_LEAST_HIPS if legs else _LEAST_NAMED), -1
    for joint in sorted(figure.allowed - set(limbs.values())):
        reading = figure.readings[joint]
        score = reading.score("hips") + (_RIGIFY * reading.deform if reading.word == "spine" else 0.0)
        if joint != meeting and (reading.side or not score):
            continue
        if legs:
            all_below = all(figure.is_above(joint, one) for one in ends)
            score += _MEETING if joint == meeting else _ABOVE_ALL * all_below
            score += _NEAR * _nearness(figure, joint, legs, length)
        if score > best[0] + 1e-9:
            best = score, joint
    return None if best[1] < 0 else best[1]


def _nearness(figure: Figure, joint: int, legs: list[int], length: float) -> float:
    """Return 1 for a joint right between the upper legs, and -1 for one a leg's length away."""
    away = float(np.linalg.norm(figure.origins[joint] - figure.origins[legs].mean(axis=0)))
    return max(-1.0, 1.0 - 2.0 * away / length) if length > 0 else 0.0


def _length(figure: Figure, limbs: dict[str, int], side: str) -> float:
    """Return the length of a leg at rest from its upper joint to the foot, or to the knee twice."""
    joints = [limbs[side + part] for part in ("UpperLeg", "LowerLeg", "Foot") if side + part in limbs]
    total = sum(figure.distance(*pair) for pair in pairwise(joints))
    return total * (2.0 if len(joints) == 2 else 1.0)


def _line(
    figure: Figure, found: dict[str, int], limbs: dict[str, int], arms: list[int], necks: list[int]
) -> list[int]:
    """Return the joints of the trunk above the hips and below the head, from below.

    Where no head is found, the line ends with the last joint in the middle beyond the arms.
    """
    hips, head = found.get("hips"), found.get("head")
    if hips is not None and head is not None and figure.is_above(hips, head):
        line = figure.between(hips, head)
    elif hips is not None and head is None:
        line = _upward(figure, hips, limbs, arms, necks)
    else:
        line = [
            one
            for one in sorted(figure.allowed)
            if not figure.readings[one].side
            and (figure.readings[one].score("spine") or figure.readings[one].score("neck"))
            and one not in found.values()
        ]
    taken = {*limbs.values(), *found.values()}
    line = [
        one
        for one in line
        if one not in taken
        and not figure.readings[one].helper
        and figure.readings[one].score("hips") < _LIKE_HIPS
    ]
    return line if hips is None else _unfolded(figure, hips, line)


def _unfolded(figure: Figure, hips: int, line: list[int]) -> list[int]:
    """Return the line without pairs of joints that lead up and back again.

    Second Life has such spare joints between mPelvis and mTorso.
    """
    found: list[int] = []
    for joint in line:
        before = found[-2] if len(found) > 1 else hips
        if found and figure.distance(before, joint) < _BACK * figure.distance(before, found[-1]):
            found.pop()
        else:
            found.append(joint)
    return found


def _upward(figure: Figure, hips: int, limbs: dict[str, int], arms: list[int], necks: list[int]) -> list[int]:
    """Return the line of joints from the hips to the neck, or past the arms, to the tip."""
    goals = [*necks[:1], figure.common(arms) if len(arms) > 1 else -1]
    at = next((one for one in goals if one >= 0 and figure.is_above(hips, one)), hips)
    line = [*figure.between(hips, at), at] if at != hips else []
    taken = set(limbs.values())
    while True:
        further = [
            one
            for one in figure.children[at]
            if one in figure.allowed
            and not figure.readings[one].side
            and not figure.readings[one].helper
            and not any(one == joint or figure.is_above(one, joint) for joint in taken)
            and _is_line(figure, one)
        ]
        if len(further) != 1:
            return line
        at = further[0]
        line.append(at)


def _is_line(figure: Figure, joint: int) -> bool:
    """Whether the name of a joint is one of the trunk's."""
    return any(figure.readings[joint].score(part) for part in ("spine", "neck", "head"))


def _split(figure: Figure, line: list[int], found: dict[str, int], arms: list[int]) -> dict[str, int]:
    """Return the bones of the spine and the neck, and of the head where no name states it."""
    branch = figure.common(arms) if len(arms) > 1 else -1
    named = [one for one in line if figure.readings[one].score("neck")]
    if named:
        cut = line.index(named[0])
    elif branch in line:
        cut = line.index(branch) + 1
    elif line and len(arms) > 1:  # arms that hang on no joint of the trunk: by height
        cut = _below_arms(figure, line, arms)
    else:
        cut = len(line)
    spine, neck = line[:cut], line[cut:]
    bones: dict[str, int] = {}
    if "head" not in found and len(neck) > 1 and not figure.readings[neck[-1]].score("neck"):
        bones["head"] = neck.pop()
    if neck:
        bones["neck"] = neck[0]
    return bones | _spine(figure, spine)


def _below_arms(figure: Figure, line: list[int], arms: list[int]) -> int:
    """Return how many joints of the line are not above the arms at rest, along the line."""
    along = figure.origins[line[-1]] - figure.origins[line[0]]
    height = figure.origins[arms].mean(axis=0) @ along
    return sum(bool(figure.origins[one] @ along <= height) for one in line)


def _spine(figure: Figure, joints: list[int]) -> dict[str, int]:
    """Return the bones of the spine: by their names if these are VRM's, else by their number."""
    if not joints:
        return {}
    bones = {"spine": joints[0]}
    if len(joints) > 1:
        others = joints[1:]
        upper = [one for one in others if figure.readings[one].score("upperChest")]
        chests = [one for one in others if figure.readings[one].score("chest")]
        if len(joints) == 2:
            bones["chest"] = joints[1]
        else:
            bones["upperChest"] = upper[-1] if upper else joints[-1]
            middle = [one for one in chests if one < bones["upperChest"]]
            bones["chest"] = middle[0] if middle else joints[(len(joints) - 1) // 2]
    return bones
