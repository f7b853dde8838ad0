"""How far the tracks of a layer move the character: their root motions, blended by weight."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array, Loop
from ..clip import Clip

if TYPE_CHECKING:
    from ..clips.root_motion import Rigid

#: What a track did in one section of a step: its (clip, weight) samples, its duration, its positions before
#: and after, its loop mode and its weight.
Leg = tuple[Sequence[tuple[Clip | None, float]], float, float, float, Loop, float]


def traveled(legs: Sequence[Leg]) -> Array:
    """Return the mean of the clips' root motions (4,4) float64: translations linearly, rotations by nlerp.

    A clip without root motion stands still, and counts.
    """
    from ..clips.root_motion import IDENTITY, matrix

    transforms: list[tuple[Rigid, float]] = []
    for samples, duration, old, new, loop, strength in legs:
        for clip, weight in samples:
            if strength * weight <= 0 or clip is None:
                continue
            motion, scale = clip.root_motion, clip.duration / duration if duration > 0 else 1.0
            transform = IDENTITY
            if motion is not None:
                transform = motion._between(old * scale, new * scale, loop, clip.duration)
            transforms.append((transform, strength * weight))
    if not transforms:
        return np.eye(4)
    return np.array(matrix(transforms[0][0] if len(transforms) == 1 else _mean(transforms)), np.float64)


def _mean(transforms: "Sequence[tuple[Rigid, float]]") -> "Rigid":
    """Return the weighted mean of several transforms."""
    total = sum(weight for _, weight in transforms)
    rows = np.array([transform for transform, _ in transforms])
    rows[:, 3:] *= np.where(rows[:, 3:] @ rows[0, 3:] < 0, -1.0, 1.0)[:, None]
    mean = np.array([weight for _, weight in transforms]) @ rows / total
    mean[3:] /= np.linalg.norm(mean[3:])
    x, y, z, a, b, c, d = mean.tolist()
    return x, y, z, a, b, c, d
