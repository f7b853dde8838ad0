"""The float64 twin of crowds: instances of one model that blend up to four clips, from the formulas alone.

An instance is a list of sources (motion, time, weight); T and S are sum(w x) / sum(w), R is
normalize(sum(w q)) with the signs of q taken against the rest rotation, for two sources against each other.
Where the sum of the weights is below 0.1 the rest pose takes what is missing to it. What all sources have bit
by bit is kept bit by bit, which tells whether a joint is at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from twin import Array, Rig, nlerp, unit

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
    total = sum(weight for _, weight in live)
    if not live:
        return rest
    t, s = (sum(w / total * pose[i] for pose, w in live) for i in (0, 2))
    reference = live[0][0][1] if len(live) == 2 else rest[1]
    q = sum(w / total * near(reference, pose[1]) for pose, w in live)
    q = unit(near(rest[1], q))
    first = live[0][0]
    same = np.all([all_equal(pose, first) for pose, _ in live], axis=0)[:, None]
    t, q, s = (np.where(same, a, b) for a, b in zip(first, (t, q, s), strict=True))
    if total < THRESHOLD:
        u = total / THRESHOLD
        t, s = ((1 - u) * rest[i] + u * x for i, x in ((0, t), (2, s)))
        q = np.stack([nlerp(a, b, u) for a, b in zip(rest[1], q, strict=True)])
    return t, q, s


def all_equal(a: Sequence[Array], b: Sequence[Array]) -> Any:
    """(J,): whether T, R and S of two poses are the same float32 numbers."""
    parts = [(x.astype(np.float32) == y.astype(np.float32)).all(-1) for x, y in zip(a, b, strict=True)]
    return np.all(parts, axis=0)


def near(reference: Array, q: Array) -> Array:
    """Each of the quaternions with the sign that is nearer to its reference."""
    return np.where((reference * q).sum(-1, keepdims=True) < 0, -q, q)


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
