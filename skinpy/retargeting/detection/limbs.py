"""Find legs and arms: the joints whose names fit the parts of a limb best, in the order of the skeleton."""

from __future__ import annotations

from collections.abc import Sequence

from .figure import Figure
from .vocabulary import JOINT_WORDS, VAGUE

_CONNECTED = 0.5  # what a joint below the one before gains
_APART = -0.4  # what a joint that is not below the one before loses: an IK foot that hangs on the root
_PAIR_OF_WORDS = 0.2  # what "wrist" below "elbow" gains: such a rig names joints, and its hand is a finger
_NEVER = -9.0  # what a leg or an arm of an unknown part loses that hangs elsewhere
_GAP = -0.5  # what a limb loses that lacks a joint between two others
_DEEPER = 1e-3  # what each level of the hierarchy loses: the first of several segments is the bone
_LEAST = 0.3  # a lower score is not evidence
_MOST = 2  # joints of one part and side below one joint
_MOST_CANDIDATES = 64


def find_limb(figure: Figure, side: str, parts: Sequence[str]) -> dict[str, int]:
    """Return the joint of each part of a limb; parts that no name fits are left out.

    The sum of scores is greatest: of the names, and of each joint being below the one before.
    """
    candidates = {part: _candidates(figure, side, part) for part in parts}
    best: list[tuple[float, list[int], list[str]]] = [(0.0, [], [])]
    for part in parts:
        longer = []
        for own, joint in candidates[part]:
            options = [
                (score + own + _relation(figure, parts, (names, joints), (part, joint)), joints, names)
                for score, joints, names in best
                if not joints or (joint not in joints and not figure.is_above(joint, joints[-1]))
            ]
            score, joints, names = max(options, key=lambda one: one[0])
            longer.append((score, [*joints, joint], [*names, part]))
        best += longer
    _, joints, names = max(best, key=lambda one: one[0])
    return dict(zip(names, joints, strict=True))


def _candidates(figure: Figure, side: str, part: str) -> list[tuple[float, int]]:
    """Return scores and joints that may be a part of a limb, without those of which a joint has many.

    Where a foot has several toes, no joint moves them all. A body with several left legs is not human.
    """
    found = []
    beside: dict[tuple[int, str], int] = {}
    for joint in figure.with_part(part, side):
        reading = figure.readings[joint]
        score = reading.score(part) - _DEEPER * float(figure.depth[joint])
        if score >= _LEAST:
            found.append((score, joint))
            key = int(figure.parents[joint]), reading.word
            beside[key] = beside.get(key, 0) + 1
    many: set[int] = set()
    for _, joint in found:
        parent = int(figure.parents[joint])
        if beside[parent, figure.readings[joint].word] > _MOST or parent in many:
            many.add(joint)
    few = [one for one in found if one[1] not in many]
    return sorted(few, key=lambda one: -one[0])[:_MOST_CANDIDATES]


def _relation(
    figure: Figure, parts: Sequence[str], before: tuple[list[str], list[int]], new: tuple[str, int]
) -> float:
    """Return what a joint gains or loses by its relation to the joint of the limb before it."""
    names, joints = before
    part, joint = new
    if not joints:
        return 0.0
    connected = figure.is_above(joints[-1], joint)
    if not connected and figure.readings[joint].word in VAGUE:
        return _NEVER
    score = _CONNECTED if connected else _APART
    if (figure.readings[joints[-1]].word, figure.readings[joint].word) in JOINT_WORDS:
        score += _PAIR_OF_WORDS
    skipped = parts.index(part) - parts.index(names[-1]) - 1
    return score + _GAP * skipped


def between_found(figure: Figure, found: dict[str, int], side: str, parts: Sequence[str]) -> dict[str, int]:
    """Return the missing middle of a limb whose tip is found, if exactly as many joints lie there.

    The limb begins with its upper part (`parts[1]` of an arm, behind the shoulder), or below the trunk.
    """
    *_, upper, lower, tip = parts
    at = found.get(side + tip)
    if at is None or side + lower in found:
        return {}
    taken = set(found.values())
    line = []
    joint = int(figure.parents[at])
    while joint >= 0 and joint not in taken:
        if joint in figure.allowed and not figure.readings[joint].helper:
            line.append(joint)
        joint = int(figure.parents[joint])
    if joint < 0:
        return {}
    if joint == found.get(side + upper):
        return {side + lower: line[0]} if len(line) == 1 else {}
    return {side + lower: line[0], side + upper: line[1]} if len(line) == 2 else {}
