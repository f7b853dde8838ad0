"""How limbs reach where their ends belong: hips that come down, and joints that bend.

The two joints of a limb make the shortest rotations that bring its middle and its end to their positions
(the law of cosines gives the middle's). So a straight limb, whose plane is not known, is not twisted.
"""

from __future__ import annotations

import numpy as np

from .._types import Array
from ..clips.evaluate import shortest_rotation, unit
from ..posing.kinematics import rotated
from .stances import Plan, Track

#: A planted limb is at most as long as in the clip, or this fraction of its length. Nearer to straight a knee
#: would turn by degrees for each millimeter of its foot.
_STRAIGHT = 0.985
#: From this fraction on the hips come down, first a little, so that a knee has no corner at the limit.
_SOFT = 0.95
#: The hips come down by at most this fraction of a leg's length.
_MAX_DROP = 0.15
#: A limb whose middle is less than this fraction of its length off the line bends to the preferred side.
_UNCLEAR = 0.02


def longest(track: Track) -> tuple[Array, Array]:
    """Return the length (N,) of a limb, and how far (N,) its end may be from its root without a jerk."""
    upper = np.linalg.norm(track.middle - track.root, axis=1)
    lower = np.linalg.norm(track.end - track.middle, axis=1)
    length = upper + lower
    apart = np.linalg.norm(track.end - track.root, axis=1)
    return length, np.maximum(apart, _STRAIGHT * length)


def drop_of(track: Track, plan: Plan, up: Array) -> Array:
    """Return how far (N,) the root of a limb must come down so that its planted end gets where it belongs."""
    length, _ = longest(track)
    line = track.root - plan.target
    bounds = _SOFT * length, _STRAIGHT * length
    softened = _softened(np.linalg.norm(line, axis=1), bounds[1], bounds[0])
    reach = np.maximum(np.linalg.norm(track.end - track.root, axis=1), softened)
    height = line @ up
    aside = np.linalg.norm(line - height[:, None] * up, axis=1)
    below = np.sqrt(np.maximum(reach**2 - aside**2, 0.0))
    drop = np.clip(height - below, 0.0, _MAX_DROP * length)
    return np.where(plan.planted, drop, 0.0)


def bent(track: Track, root: Array, target: Array, ahead: Array) -> tuple[Array, Array]:
    """Return the rotations (N,4) in the scene of the two joints of a limb, whose end goes to `target` (N,3).

    `root` (N,3) is where the limb begins, after the hips came down. `ahead` (N,3) are the unit directions to
    which a straight limb bends. A target that is too far is approached as the limb straightens.
    """
    before = track.middle - track.root
    after = track.end - track.middle
    upper, lower = np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1)
    whole = track.end - track.root
    turn = shortest_rotation(whole, target - root)
    line = unit(target - root)
    side = _side(before, unit(whole), ahead, upper + lower)
    side = rotated(turn, side)
    side = unit(side - (side * line).sum(axis=1, keepdims=True) * line)
    distance = _softened(np.linalg.norm(target - root, axis=1), *longest(track))
    distance = np.maximum(distance, np.abs(upper - lower) * (1.0 + 1e-9))
    cosine = (upper**2 + distance**2 - lower**2) / (2.0 * upper * np.maximum(distance, 1e-12))
    cosine = np.clip(cosine, -1.0, 1.0)
    sine = np.sqrt(1.0 - cosine**2)
    middle = upper[:, None] * (cosine[:, None] * line + sine[:, None] * side)
    return shortest_rotation(before, middle), shortest_rotation(after, distance[:, None] * line - middle)


def _side(before: Array, line: Array, ahead: Array, length: Array) -> Array:
    """Return the directions (N,3) to which a limb is bent; those of `ahead` where it is nearly straight."""
    off = before - (before * line).sum(axis=1, keepdims=True) * line
    bend = np.linalg.norm(off, axis=1) / (_UNCLEAR * length)
    return np.asarray(off + (_UNCLEAR * length * np.exp(-(bend**2)))[:, None] * ahead)


def _softened(distance: Array, length: Array, reach: Array) -> Array:
    """Return distances (N,) that approach the length of the limb where they are beyond its reach."""
    rest = np.maximum(length - reach, 1e-12)
    return np.where(distance <= reach, distance, reach + rest * (1.0 - np.exp((reach - distance) / rest)))
