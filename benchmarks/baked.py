"""A clip at 60 frames a second, as exporters write it: for peers that have no cubic keys or no own times for
every channel. They are asked at these frames alone, where the baked clip and the clip are equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

RATE = 60


def film_times(clip: Any) -> Any:
    """(F,) seconds of every frame of a clip; one of a clip that is one pose."""
    return np.arange(0.0, max(clip.duration, 1 / RATE), 1 / RATE)


@dataclass
class Baked:
    """Frames of a clip, and which joints it moves; those that it does not stay at rest."""

    times: Any  # (F,) seconds
    translation: Any  # (F, J, 3)
    rotation: Any  # (F, J, 4), neighbors on one side
    scale: Any  # (F, J, 3)
    moved: Any  # (J,) bool

    @property
    def middle(self) -> int:
        """The frame that stands for "one pose"."""
        return int(0.4 * len(self.times))


def bake(model: Any, clip: Any) -> Baked:
    times = film_times(clip)
    pose = model.pose(clip, times)
    rotation = np.array(pose.rotation)
    for i in range(1, len(times)):
        rotation[i] *= np.where(np.einsum("ji,ji->j", rotation[i], rotation[i - 1]) < 0, -1, 1)[:, None]
    moved = np.zeros(len(model.skeleton.names), bool)
    moved[[c.joint for c in clip.channels if c.joint is not None]] = True
    return Baked(times, np.array(pose.translation), rotation, np.array(pose.scale), moved)
