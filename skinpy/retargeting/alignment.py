"""How the scene of one character is aligned with that of another: up axis, facing, size and ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._types import Array
from ..clips.evaluate import shortest_rotation
from ..posing.kinematics import quaternion_product, rotated, up_vector
from .joint_names import labels, side_pairs
from .rest import Rest
from .source_motion import SourceMotion
from .transfer import Change

if TYPE_CHECKING:
    from ..model import Model

_FACING = 0.5  # fraction of the distance between left and right that must be level to tell the front
_STANDING = 0.05  # of the size: hips that are higher above the lowest joint belong to a pose that stands
_HANGING = 0.25  # of the hip height: hips that are lower than this belong to a pose below the ground


def hips_of(
    source: Model, target: Model, pairs: list[tuple[int, int]], motion: SourceMotion
) -> tuple[int, int]:
    """Return the pair of the hips of either skeleton, else the first that is translated, else the first."""
    hips = [model.humanoid.joint("hips") if "hips" in model.humanoid else -1 for model in (source, target)]
    for one, other in pairs:
        if one == hips[0] or other == hips[1]:
            return one, other
    source_labels, target_labels = labels(source.skeleton.names), labels(target.skeleton.names)
    for one, other in pairs:
        if ("", "hips") in (source_labels[one].part, target_labels[other].part):
            return one, other
    translated = [pair for pair in pairs if motion.differs("translation", pair[0])]
    return (translated or pairs)[0]


def scene_rotation(
    source: Model, target: Model, rests: tuple[Rest, Rest], pairs: list[tuple[int, int]], by_quarters: bool
) -> Array:
    """Return the rotation (4,) from the source's scene to the target's.

    The scene is rotated from the source's up axis to the target's and, by quarter turns, from where the
    source faces at rest to where the target faces.
    """
    ups = up_vector(source), up_vector(target)
    rotation = shortest_rotation(*ups)
    leftward = to_left(source, target, rests, pairs) if by_quarters else None
    if leftward is not None:
        quarters = _quarter_turn(rotated(rotation, leftward[0]), leftward[1], ups[1])
        rotation = quaternion_product(quarters, rotation)
    return rotation


def scene_change(
    rotation: Array,
    ups: tuple[Array, Array],
    references: tuple[Rest, Rest],
    pairs: list[tuple[int, int]],
    hips: tuple[int, int],
    motion: SourceMotion,
    target: Rest,
) -> tuple[Change, Array]:
    """Return the transform from the source's scene to the target's, and the offset (3,) of the hips.

    Lengths scale by the ratio of the hip heights above the lowest mapped joint in the reference poses, or of
    the skeletons' sizes where a reference pose does not stand.
    """
    # A joint above the hips, such as a root on the floor of one skeleton, is not part of the figure's height.
    below = [pair for pair in pairs if pair[0] not in references[0].line(hips[0])[:-1]]
    chosen = [[pair[side] for pair in below] for side in (0, 1)]
    heights = [_height(ups[side], references[side], hips[side], chosen[side]) for side in (0, 1)]
    sizes = [float(np.linalg.norm(np.ptp(references[side].origins[chosen[side]], axis=0))) for side in (0, 1)]
    standing = min(height / max(size, 1e-30) for height, size in zip(heights, sizes, strict=True)) > _STANDING
    lengths = heights if standing else sizes
    scale = lengths[1] / lengths[0] if min(lengths) > 0 else 1.0
    matrix = np.stack([rotated(rotation, axis) for axis in np.eye(3)], axis=1)
    lift = np.zeros(3)
    if standing:
        rests = motion.rest, target
        at_rest = [_height(ups[side], rests[side], hips[side], chosen[side]) for side in (0, 1)]
        above = [float(ups[side] @ rests[side].origins[hips[side]]) for side in (0, 1)]
        lift = ups[1] * _lift(heights, at_rest, above, scale, _rise(motion, hips[0], ups[0]))
    return Change(rotation, matrix, scale), lift


def _height(up: Array, rest: Rest, hips: int, joints: list[int]) -> float:
    """Return how high the hips are above the lowest of the joints."""
    return float(up @ rest.origins[hips] - (rest.origins[joints] @ up).min())


def _lift(heights: list[float], at_rest: list[float], above: list[float], scale: float, rise: float) -> float:
    """Return how far the target's hips are raised, so that they stand on the ground as the source's do.

    Each list has the height of the hips of the source and of the target: `heights` and `at_rest` above the
    lowest joint in the reference pose and in the rest pose, `above` above the scene's 0 in the rest pose.
    `rise` is how much higher than at rest the source's hips are in the clip. The ground is below the lowest
    joint of a rest pose that stands, and 0 for any other. The rest pose of motion capture often has its hips
    at the origin and the feet below the ground, while the clip has the hips at the height at which they were
    recorded.
    """
    hanging, straightened = [0.0, 0.0], [0.0, 0.0]
    for side, height in enumerate(heights):
        if above[side] < _HANGING * height or at_rest[side] < height / 2:
            hanging[side] = height - above[side]
        else:
            straightened[side] = height - at_rest[side]
    offsets = straightened
    if rise > hanging[0] / 2 > 0:
        offsets = [sum(both) for both in zip(hanging, straightened, strict=True)]
    return offsets[1] - scale * offsets[0]


def _rise(motion: SourceMotion, hips: int, up: Array) -> float:
    """Return how much higher than at rest the hips are in the clip, by the median of their keys."""
    channel = motion.moving.get(("translation", hips))
    times = np.zeros(1) if channel is None else channel.times
    origins = np.broadcast_to(motion.matrix(hips, times)[..., :3, 3], (len(times), 3))
    return float(np.median((origins - motion.rest.origins[hips]) @ up))


def to_left(
    source: Model, target: Model, rests: tuple[Rest, Rest], pairs: list[tuple[int, int]]
) -> tuple[Array, Array] | None:
    """Return the direction from right to left in both scenes; None where it is not clear."""
    to_target = dict(pairs)
    to_source = {other: one for one, other in pairs}
    sides = [(left, right) for left, right in _side_pairs(source) if {left, right} <= to_target.keys()] or [
        (to_source[left], to_source[right])
        for left, right in _side_pairs(target)
        if {left, right} <= to_source.keys()
    ]
    found = []
    for rest, up, follow in (
        (rests[0], up_vector(source), {one: one for one in to_target}),
        (rests[1], up_vector(target), to_target),
    ):
        across = [rest.origins[follow[left]] - rest.origins[follow[right]] for left, right in sides]
        total = np.sum(across, axis=0) if across else np.zeros(3)
        level = total - up * (up @ total)
        if not np.linalg.norm(level) > _FACING * sum(np.linalg.norm(one) for one in across):
            return None
        found.append(level)
    return found[0], found[1]


def _side_pairs(model: Model) -> list[tuple[int, int]]:
    """Return (left, right) joints: those whose names differ by the side alone, and those of the humanoid."""
    humanoid = model.humanoid
    bones = [bone.removeprefix("left") for bone in humanoid if bone.startswith("left")]
    found = {
        (humanoid.joint("left" + one), humanoid.joint("right" + one))
        for one in bones
        if "right" + one in humanoid
    }
    return sorted(found.union(side_pairs(model.skeleton.names)))


def _quarter_turn(start: Array, end: Array, up: Array) -> Array:
    """Return the quarter turns (4,) about `up` that bring `start` nearest to `end`."""
    angle = np.arctan2(up @ np.cross(start, end), start @ end)
    half = np.round(angle / (np.pi / 2)) * np.pi / 4
    return np.append(np.sin(half) * up, np.cos(half))
