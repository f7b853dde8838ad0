"""How fast a motion that walks in place walks: the velocity that makes the planted feet stand still.

The arithmetic alone, for the floor of a picture (skinpy.render) and for root motion from feet.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._types import Array

if TYPE_CHECKING:
    from ..assets import Mesh

#: (N,P,3) points at times (N,) seconds: those whose numbers are given (P,), or all for None.
Points: TypeAlias = Callable[[Array, Array | None], Array]

_SPARSE_POINTS = 10_000_000  # looked at in all, but at four times at least
_LOOKS = 24  # times at which the lowest points of a motion are looked for
_LOWEST = 8  # points taken each time
_RATE = 60.0  # Hz at which those are then followed
_STEPS = (32, 480)  # fewest and most
_CONTACT = 0.012  # of the size: how far above the ground a point's say falls off
_SHORTEST = 1e-9  # seconds: nothing walks in less
_ROUNDS = 12  # of reweighting; the estimate settles in about five
_STILL = 0.01  # of the size: a drift of less in a whole clip is none
_SPREAD = 0.5  # of the speed: planted points that differ by more do not walk


def walking_velocity(
    points: Points, count: int, duration: float, size: float, up: Array, only: Array | None = None
) -> Array:
    """(3,) float64, scene units per second, level: minus the velocity of what touches the ground.

    points gives the places of `count` points at times from 0 to duration; only the numbers of those that
    may touch the ground, by default all. The lowest of them are followed at 60 Hz, weighted by
    exp(-(h / 1.2 % of the size)^2 / 2), h being the height above the lowest of all, and averaged by
    iteratively reweighted least squares with Cauchy weights, so that a heel that lifts does not count. Zero
    where nothing moves on the ground and where what does moves in no common direction.
    """
    if not duration > _SHORTEST or not size > 0:
        return np.zeros(3)
    chosen = _lowest(points, count, duration, up, only)
    steps = max(math.ceil(min(duration * _RATE, _STEPS[1])), _STEPS[0])
    paths = points(np.linspace(0.0, duration, steps + 1), chosen)
    velocities = np.diff(paths, axis=0) / (duration / steps)
    heights = ((paths[1:] + paths[:-1]) / 2) @ up
    velocities -= (velocities @ up)[..., None] * up
    above = (heights - (paths @ up).min()) / (_CONTACT * size)
    contact = np.exp(-(above.ravel() ** 2) / 2)
    if not contact.any():  # every step between two looks is higher than a foot lifts
        return np.zeros(3)
    planted, spread = _common(velocities.reshape(-1, 3), contact)
    speed = float(np.linalg.norm(planted))
    if speed * duration < _STILL * size or spread > _SPREAD * speed:
        return np.zeros(3)
    return np.asarray(-planted)


def _lowest(points: Points, count: int, duration: float, up: Array, only: Array | None) -> Array:
    """Numbers of the points that are among the lowest at some time."""
    looks = int(np.clip(_SPARSE_POINTS // max(count, 1), 4, _LOOKS))
    lowest: set[int] = set()
    for time in np.linspace(0.0, duration, looks, endpoint=False):
        heights = points(np.array([time]), only)[0] @ up
        lowest.update(np.argpartition(heights, min(_LOWEST, len(heights)) - 1)[:_LOWEST].tolist())
    numbers = np.array(sorted(lowest))
    return numbers if only is None else only[numbers]


def _common(velocities: Array, weights: Array) -> tuple[Array, float]:
    """What most of the velocities (N,3) are, and the weighted median of the distance to it."""
    common = np.array([_median(part, weights) for part in velocities.T])
    for _ in range(_ROUNDS):
        off = np.linalg.norm(velocities - common, axis=1)
        scale = max(_median(off, weights), 1e-12)
        sharp = weights / (1 + (off / scale) ** 2)
        common = sharp @ velocities / sharp.sum()
    return common, _median(np.linalg.norm(velocities - common, axis=1), weights)


def _median(values: Array, weights: Array) -> float:
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])


def chosen_vertices(mesh: "Mesh", palettes: Array, chosen: Array) -> Array:
    """(N,P,3) float64: vertices `chosen` (P,) skinned by palettes (N,S,3|4,4), without morph targets."""
    homogeneous = np.concatenate([mesh.positions[chosen], np.ones((len(chosen), 1))], axis=1)
    result = np.zeros((len(palettes), len(chosen), 3))
    for slots, weights in zip(mesh.slots[chosen].T, mesh.weights[chosen].T, strict=True):
        matrices = palettes[:, slots, :3].astype(np.float64)
        result += weights[:, None] * np.einsum("tpij,pj->tpi", matrices, homogeneous)
    return result
