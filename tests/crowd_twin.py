"""The float64 twin of crowds: instances of one model that blend up to four clips, from the formulas alone.

An instance is a list of sources (motion, time, weight); T and S are sum(w x) / sum(w), R is the
mean_rotation of twin.py. Where the sum of the weights is below 0.1 the rest pose is one more source, with
what is missing to it. What all sources have bit by bit is kept bit by bit, which tells whether a joint is at
rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from twin import Array, Rig, mean_rotation

THRESHOLD = 0.1
PRECISION = 1e-6  # api.md, Precision: of max(size, largest distance from the origin)
DEEP = 64  # joints in a chain up to which that holds; beyond it grows in proportion

Source = tuple[int, float, float]  # number of the clip, time, weight


def blended_pose(
    rig: Rig, sources: Sequence[Source], loop: str = "wrap", rotation: str = "slerp"
) -> tuple[Array, Array, Array]:
    """T, R and S of every joint."""
    rest = rig.pose(None, 0.0)
    live = [
        (rig.pose(clip, time, loop, rotation), weight) for clip, time, weight in sources if clip >= 0 < weight
    ]
    if not live:
        return rest
    total = sum(weight for _, weight in live)
    if total < THRESHOLD:
        live.append((rest, THRESHOLD - total))
        total = THRESHOLD
    weights = [weight / total for _, weight in live]
    t, s = (sum(w * pose[i] for (pose, _), w in zip(live, weights, strict=True)) for i in (0, 2))
    q = np.stack([mean_rotation([pose[1][j] for pose, _ in live], weights) for j in range(len(rest[1]))])
    q = np.where((q * rest[1]).sum(-1, keepdims=True) < 0, -q, q)
    first = live[0][0]
    same = np.all([all_equal(pose, first) for pose, _ in live], axis=0)[:, None]
    t, q, s = (np.where(same, a, b) for a, b in zip(first, (t, q, s), strict=True))
    return t, q, s


def all_equal(a: Sequence[Array], b: Sequence[Array]) -> Any:
    """(J,): whether T, R and S of two poses are the same float32 numbers."""
    parts = [(x.astype(np.float32) == y.astype(np.float32)).all(-1) for x, y in zip(a, b, strict=True)]
    return np.all(parts, axis=0)


def instance_globals(rig: Rig, sources: Sequence[Source], root: Any = None, **options: Any) -> Array:
    """(J, 4, 4)."""
    return rig.chain(rig.locals(*blended_pose(rig, sources, **options)), root)


def instance_palette(rig: Rig, globals_: Array, inverse_root: bool = False) -> Array:
    """(S, 4, 4)."""
    palette = globals_[rig.slot_joints] @ rig.inverse_bind
    return np.linalg.inv(rig.rest_local[0]) @ palette if inverse_root else palette


def reach_of(rig: Rig, globals_: Array) -> float:
    """What PRECISION is meant of: max(size, largest distance of a joint from the origin), times the growth
    for chains deeper than DEEP. Vertices would only make it larger."""
    return rig.reach(globals_, np.zeros((0, 3))) * max(1.0, rig.depth() / DEEP)


def assert_palette(got: Any, want: Any, reach: float, bind_reach: float) -> None:
    """(...,3|4,4): where a point within `bind_reach` of the bind space's origin comes to lie is right within
    PRECISION of `reach`; and no closer than float32 holds the matrices' own entries."""
    if not got.size:
        assert got.shape[-3:] == want.shape[-3:]
        return
    difference = np.abs(np.asarray(got, np.float64) - want)[..., :3, :]
    entries, moved = np.abs(want[..., :3, :3]).max(), np.abs(want[..., :3, 3]).max()
    limit = PRECISION * reach
    assert difference[..., 3].max() <= max(limit, PRECISION * moved)
    assert difference[..., :3].max() <= max(limit / bind_reach, PRECISION * entries)
