"""Find a human figure by its structure alone, whatever the joints are called.

Two legs of equal lengths hang on one joint, the hips; further up, two arms of equal lengths hang on another.
The two longest neighboring segments of a limb are those of the upper and the lower part. Sides come from
names, or from the feet, which point to the front; where neither tells them, the limbs are left out. All else
must fit, or nothing is found.
"""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import numpy as np

from ..._types import Array
from .figure import Figure

_ALIKE = 0.05  # of its length, by which the segments of two limbs of a pair may differ
_SHORTEST = 0.4  # of the longer of upper and lower part: the shorter one is at least this long
_BEYOND = 0.8  # of the shorter part: what follows it, a foot or a hand, has no longer segment
_RIVAL_BEND = 0.9  # of the shorter part: another pair of segments this long makes a limb uncertain
_RIVAL = 0.6  # of the longest pair: another one this long makes a figure a quadruped, a spider or a bird
_LONGEST = 64  # joints of a line
_MOST_PAIRS = 32  # of limbs that are tried, the longest first
_MOST_LIMBS = 16  # that hang on one joint of a figure
_LEG = 0.2  # of the size of the figure: no leg is shorter
_UPRIGHT = -0.5  # cosine between the legs and the trunk at rest
_FACING = 0.15  # of the length of the lower leg: how far the toes are in front of the ankle, at least
_ACROSS = 0.5  # of the distance of two limbs that must be along the direction to the left
_FACE = 3  # children of a head, at least, by which it is known among the joints of a neck
_TOES = 2  # children of a foot: one with more has several toes, and none that is all of them

Line = list[int]


def by_structure(figure: Figure) -> dict[str, int]:
    """Return the joints of hips, spine, neck, head, arms and legs; empty if the structure is not human."""
    if figure.size <= 0:
        return {}
    lines = _longest_lines(figure)
    pairs = {
        joint: pair
        for joint in range(len(figure.names))
        if (pair := _longest_pair(figure, lines, joint)) is not None
    }
    longest = sorted(pairs, key=lambda joint: -_length(figure, pairs[joint][0]))[:_MOST_PAIRS]
    best: tuple[float, dict[str, int]] = (0.0, {})
    for hips, chest in permutations(longest, 2):
        legs, arms = pairs[hips], pairs[chest]
        size = _length(figure, legs[0]) + _length(figure, arms[0])
        if size <= best[0] or not figure.is_above(hips, chest) or _is_in(figure, chest, legs):
            continue
        if _length(figure, legs[0]) < _LEG * figure.size:
            continue
        if found := _assembled(figure, lines, (hips, chest), legs, arms):
            best = size, found
    return best[1]


def _longest_lines(figure: Figure) -> list[Line]:
    """Return, for each joint, the line from it down to the tip that is farthest along the joints.

    Joints that their names call helpers, such as twists, are passed over: their own line begins below them.
    """
    lines: list[Line] = [[] for _ in figure.names]
    lengths = np.zeros(len(figure.names))
    for joint in range(len(figure.names) - 1, -1, -1):
        best: tuple[float, Line] = (-1.0, [])
        for child in figure.children[joint]:
            if lines[child] and child in figure.allowed:
                reach = float(lengths[child]) + figure.distance(joint, lines[child][0])
                best = max(best, (reach, lines[child]), key=lambda one: one[0])
        reach, below = best
        if figure.readings[joint].helper:
            lines[joint] = below
            lengths[joint] = reach - figure.distance(joint, below[0]) if below else 0.0
        else:
            lines[joint], lengths[joint] = [joint, *below[:_LONGEST]], max(reach, 0.0)
    return lines


def _length(figure: Figure, line: Line) -> float:
    """Return the length of a line of joints."""
    return sum(figure.distance(*pair) for pair in pairwise(line))


def _segments(figure: Figure, line: Line) -> Array:
    """Return the lengths of the segments of a line."""
    return np.array([figure.distance(*pair) for pair in pairwise(line)])


def _longest_pair(figure: Figure, lines: list[Line], joint: int) -> tuple[Line, Line] | None:
    """Return the longest two limbs of equal segments below a joint; None if others rival them."""
    pairs: list[tuple[float, tuple[Line, Line]]] = []
    limbs = [lines[child] for child in figure.children[joint] if len(lines[child]) > 2]
    if len(limbs) > _MOST_LIMBS:
        return None
    for one, other in combinations(limbs, 2):
        if len(one) != len(other):
            continue
        length = max(_length(figure, one), _length(figure, other))
        if np.abs(_segments(figure, one) - _segments(figure, other)).max() < _ALIKE * length:
            pairs.append((length, (one, other)))
    pairs.sort(key=lambda pair: -pair[0])
    if not pairs or (len(pairs) > 1 and pairs[1][0] > _RIVAL * pairs[0][0]):
        return None
    return pairs[0][1]


def _is_in(figure: Figure, joint: int, limbs: tuple[Line, Line]) -> bool:
    """Whether a joint belongs to one of two limbs."""
    return any(joint == limb[0] or figure.is_above(limb[0], joint) for limb in limbs)


def _bend(figure: Figure, line: Line) -> int | None:
    """Return where in a line the upper part of a limb begins: the two longest neighboring segments follow."""
    segments = _segments(figure, line)
    if len(segments) < 2:
        return None
    shorter = np.minimum(segments[:-1], segments[1:])
    at = int(shorter.argmax())
    if len(shorter) > 1 and np.sort(shorter)[-2] > _RIVAL_BEND * shorter[at]:
        return None
    both = segments[at : at + 2]
    rest = segments[at + 2 :].max(initial=0.0)
    if both.min() < _SHORTEST * both.max() or rest > _BEYOND * both.min():
        return None
    return at


def _assembled(
    figure: Figure, lines: list[Line], ends: tuple[int, int], legs: tuple[Line, Line], arms: tuple[Line, Line]
) -> dict[str, int]:
    """Return the bones of a figure with these limbs; empty if a part of it does not fit."""
    hips, chest = ends
    bends = [_bend(figure, limb) for limb in (*legs, *arms)]
    trunk = figure.origins[chest] - figure.origins[hips]
    if None in bends or bends[0] != bends[1] or bends[2] != bends[3] or not trunk.any():
        return {}
    knee, elbow = bends[0] or 0, bends[2] or 0
    feet = [limb[knee + 2] for limb in legs]
    fall = np.mean(
        [figure.origins[foot] - figure.origins[leg[knee]] for foot, leg in zip(feet, legs, strict=True)],
        axis=0,
    )
    if trunk @ fall > _UPRIGHT * np.linalg.norm(trunk) * np.linalg.norm(fall):
        return {}
    found = {"hips": hips} | _upper_body(figure, lines, (hips, chest), arms)
    sided = _sided(figure, trunk, (legs, knee), arms)
    if sided is None:
        return found
    for side, leg, arm in zip(("left", "right"), *sided, strict=True):
        found |= {side + part: leg[knee + step] for step, part in enumerate(("UpperLeg", "LowerLeg", "Foot"))}
        found |= {
            side + part: arm[elbow + step] for step, part in enumerate(("UpperArm", "LowerArm", "Hand"))
        }
        if knee + 4 < len(leg) and len(figure.children[leg[knee + 2]]) <= _TOES:
            found[f"{side}Toes"] = leg[knee + 3]
        if elbow:
            found[f"{side}Shoulder"] = arm[elbow - 1]
    return found


def _sided(
    figure: Figure, trunk: Array, legs: tuple[tuple[Line, Line], int], arms: tuple[Line, Line]
) -> tuple[tuple[Line, Line], tuple[Line, Line]] | None:
    """Return legs and arms, the left one first; None where neither names nor feet tell the sides."""
    found = []
    leftward = _leftward(figure, trunk, *legs)
    for pair in (legs[0], arms):
        named = [{figure.readings[joint].side for joint in limb} - {""} for limb in pair]
        if named in ([{"left"}, {"right"}], [{"right"}, {"left"}]):
            found.append(pair if named[0] == {"left"} else pair[::-1])
            continue
        if leftward is None:
            return None
        centers = [figure.origins[limb].mean(axis=0) for limb in pair]
        across = centers[0] - centers[1]
        if abs(across @ leftward) < _ACROSS * np.linalg.norm(across):
            return None
        found.append(pair if across @ leftward > 0 else pair[::-1])
    return found[0], found[1]


def _leftward(figure: Figure, trunk: Array, legs: tuple[Line, Line], knee: int) -> Array | None:
    """Return the direction (3,) to the left of a figure whose feet point to the front; None without feet."""
    up = trunk / np.linalg.norm(trunk)
    forward = np.zeros(3)
    for leg in legs:
        shin, foot, tip = (figure.origins[leg[min(knee + step, len(leg) - 1)]] for step in (1, 2, 99))
        toes = tip - foot
        toes = toes - up * (up @ toes)
        if np.linalg.norm(toes) < _FACING * np.linalg.norm(foot - shin):
            return None
        forward = forward + toes / np.linalg.norm(toes)
    length = float(np.linalg.norm(forward))
    return None if length < 1.0 else np.asarray(np.cross(up, forward / length))


def _upper_body(
    figure: Figure, lines: list[Line], ends: tuple[int, int], arms: tuple[Line, Line]
) -> dict[str, int]:
    """Return spine, chest, neck and head: what lies between hips and arms, and the branch beyond the arms."""
    hips, chest = ends
    spine = [*figure.between(hips, chest), chest]
    names = ("spine", "chest", "upperChest")
    shown = spine if len(spine) <= 3 else [spine[0], spine[(len(spine) - 1) // 2], chest]
    found = dict(zip(names, shown, strict=False))
    up = figure.origins[chest] - figure.origins[hips]
    beyond = [
        lines[child]
        for child in figure.children[chest]
        if child in figure.allowed and lines[child] and not _is_in(figure, child, arms)
    ]
    beyond = [line for line in beyond if (figure.origins[line[-1]] - figure.origins[chest]) @ up > 0]
    if len(beyond) == 1:
        found |= _head(figure, beyond[0])
    return found


def _head(figure: Figure, line: Line) -> dict[str, int]:
    """Return neck and head of the line beyond the arms; eyes, a jaw and hair hang on the head."""
    forks = [at for at, joint in enumerate(line) if len(figure.children[joint]) >= _FACE]
    if not forks and len(line) > 2:
        return {"neck": line[0]}  # one of several joints of a neck, the head, or an end without a name
    head = forks[0] if forks else len(line) - 1
    return {"head": line[head]} | ({"neck": line[0]} if head else {})
