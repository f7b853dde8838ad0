"""How far the tracks of a layer carry the character: their root motions, blended by weight."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array, Loop
from ..clip import Clip

if TYPE_CHECKING:
    from ..clips.root_motion import Rigid

#: What a track did in one piece of a step: its (clip, share) samples, its duration, the positions it went
#: from and to, its loop and its weight.
Leg = tuple[Sequence[tuple[Clip | None, float]], float, float, float, Loop, float]


def travelled(legs: Sequence[Leg]) -> Array:
    """(4,4) float64: the mean of what the clips travelled, translations as they are and rotations by nlerp.

    A clip without root motion stands still, and counts.
    """
    from ..clips.root_motion import IDENTITY, matrix

    ways: list[tuple[Rigid, float]] = []
    for samples, duration, old, new, loop, strength in legs:
        for clip, share in samples:
            if strength * share <= 0 or clip is None:
                continue
            motion, scale = clip.root_motion, clip.duration / duration if duration > 0 else 1.0
            way = (
                IDENTITY if motion is None else motion._between(old * scale, new * scale, loop, clip.duration)
            )
            ways.append((way, strength * share))
    if not ways:
        return np.eye(4)
    return np.array(matrix(ways[0][0] if len(ways) == 1 else _mean(ways)), np.float64)


def _mean(ways: "Sequence[tuple[Rigid, float]]") -> "Rigid":
    total = sum(weight for _, weight in ways)
    rows = np.array([way for way, _ in ways])
    rows[:, 3:] *= np.where(rows[:, 3:] @ rows[0, 3:] < 0, -1.0, 1.0)[:, None]
    mean = np.array([weight for _, weight in ways]) @ rows / total
    mean[3:] /= np.linalg.norm(mean[3:])
    x, y, z, a, b, c, d = mean.tolist()
    return x, y, z, a, b, c, d
