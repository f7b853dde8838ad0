"""The ground velocity of an in-place walk: the velocity at which the planted feet stand still.

Pictures use it for their ground plane (skinpy.render), and clips for root motion from feet.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._types import Array

if TYPE_CHECKING:
    from ..assets import Mesh

#: A function of times (N,) in seconds and indices (P,) of points that returns their positions (N,P,3).
#: With None instead of indices it returns all points.
Points: TypeAlias = Callable[[Array, Array | None], Array]

#: Points that are computed to find the lowest ones, over all times; but there are at least 4 times.
_MAX_SPARSE_POINTS = 10_000_000
#: Times at which the lowest points are looked for, and how many are taken at each time.
_SPARSE_TIMES = 24
_LOWEST_POINTS = 8
#: The lowest points are then followed at this rate, in Hz, with a number of steps in this range.
_RATE = 60.0
_MIN_STEPS, _MAX_STEPS = 32, 480
#: The height, as a fraction of the size, over which the weight of a point falls off.
_CONTACT_HEIGHT = 0.012
#: Seconds. A shorter clip does not walk.
_MIN_DURATION = 1e-9
#: Rounds of reweighting; the estimate settles in about five.
_ROUNDS = 12
#: A character that drifts by less than this fraction of its size in a whole clip does not walk.
_MIN_DRIFT = 0.01
#: Planted points whose velocities differ by more than this fraction of the speed do not walk.
_MAX_SPREAD = 0.5


def walking_velocity(
    points: Points, count: int, duration: float, size: float, up: Array, only: Array | None = None
) -> Array:
    """(3,) float64, scene units per second: the level velocity of the character over the ground.

    It is minus the velocity of the points that touch the ground, and zero if these do not move or have no
    common direction. `points` returns positions of `count` points at times from 0 to the duration. `only` are
    the indices of points that may touch the ground, by default of all.

    The lowest points are followed at 60 Hz. They are weighted by exp(-(h / 1.2 % of the size)^2 / 2), with h
    the height above the lowest point of all, and their velocities are averaged by iteratively reweighted
    least squares with Cauchy weights, so that a heel that lifts counts little.
    """
    if not duration > _MIN_DURATION or not size > 0:
        return np.zeros(3)
    chosen = _lowest(points, count, duration, up, only)
    steps = max(math.ceil(min(duration * _RATE, _MAX_STEPS)), _MIN_STEPS)
    paths = points(np.linspace(0.0, duration, steps + 1), chosen)
    velocities = np.diff(paths, axis=0) / (duration / steps)
    heights = ((paths[1:] + paths[:-1]) / 2) @ up
    velocities -= (velocities @ up)[..., None] * up
    above = (heights - (paths @ up).min()) / (_CONTACT_HEIGHT * size)
    contact = np.exp(-(above.ravel() ** 2) / 2)
    if not contact.any():  # no point is near the ground halfway between two times
        return np.zeros(3)
    planted, spread = common_velocity(velocities.reshape(-1, 3), contact)
    speed = float(np.linalg.norm(planted))
    if speed * duration < _MIN_DRIFT * size or spread > _MAX_SPREAD * speed:
        return np.zeros(3)
    return np.asarray(-planted)


def _lowest(points: Points, count: int, duration: float, up: Array, only: Array | None) -> Array:
    """Indices of the points that are among the lowest at one time or another."""
    times = int(np.clip(_MAX_SPARSE_POINTS // max(count, 1), 4, _SPARSE_TIMES))
    lowest: set[int] = set()
    for time in np.linspace(0.0, duration, times, endpoint=False):
        heights = points(np.array([time]), only)[0] @ up
        order = np.argpartition(heights, min(_LOWEST_POINTS, len(heights)) - 1)
        lowest.update(order[:_LOWEST_POINTS].tolist())
    numbers = np.array(sorted(lowest))
    return numbers if only is None else only[numbers]


def common_velocity(velocities: Array, weights: Array) -> tuple[Array, float]:
    """The velocity (3,) that most of the velocities (N,3) have, and the weighted median distance from it."""
    common = np.array([_median(column, weights) for column in velocities.T])
    for _ in range(_ROUNDS):
        distance = np.linalg.norm(velocities - common, axis=1)
        scale = max(_median(distance, weights), 1e-12)
        cauchy = weights / (1 + (distance / scale) ** 2)
        common = cauchy @ velocities / cauchy.sum()
    return common, _median(np.linalg.norm(velocities - common, axis=1), weights)


def _median(values: Array, weights: Array) -> float:
    """The weighted median of values (N,)."""
    order = np.argsort(values)
    cumulated = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(cumulated, cumulated[-1] / 2)])


def chosen_vertices(mesh: "Mesh", palettes: Array, chosen: Array) -> Array:
    """(N,P,3) float64: some vertices (P,), skinned by palettes (N,S,3|4,4) without morph targets."""
    homogeneous = np.concatenate([mesh.positions[chosen], np.ones((len(chosen), 1))], axis=1)
    result = np.zeros((len(palettes), len(chosen), 3))
    for slots, weights in zip(mesh.slots[chosen].T, mesh.weights[chosen].T, strict=True):
        matrices = palettes[:, slots, :3].astype(np.float64)
        result += weights[:, None] * np.einsum("tpij,pj->tpi", matrices, homogeneous)
    return result
