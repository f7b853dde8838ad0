"""A clip in the form that peers can hold: frames of all joints at common times.

A clip whose channels are linear, or of one key, loses nothing: its frames are at all its key times. One with
step or cubic keys is baked at 60 frames a second, as exporters do, and asked at these frames alone, where the
two are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

RATE = 60


def film_times(clip: Any) -> Any:
    """(F,) seconds of every frame of a clip at 60 Hz; one of a clip that is one pose."""
    return np.arange(0.0, max(clip.duration, 1 / RATE), 1 / RATE)


@dataclass
class Baked:
    """Frames of a clip, and which joints it moves; those that it does not stay at rest."""

    times: Any  # (F,) seconds
    translation: Any  # (F, J, 3)
    rotation: Any  # (F, J, 4), neighbors on one side
    scale: Any  # (F, J, 3)
    moved: Any  # (J,) bool
    exact: bool  # the frames are the clip's own keys


def bake(model: Any, clip: Any) -> Baked:
    """The clip's keys where that is exact, else its frames at 60 Hz."""
    channels = [c for c in clip.channels if c.joint is not None]
    exact = all(c.interpolation == "linear" or len(c.times) == 1 for c in channels)
    times = film_times(clip)
    if exact and channels:
        times = np.unique(np.concatenate([c.times for c in channels]))
    return frames(model, clip, times, exact)


def frames(model: Any, clip: Any, times: Any, exact: bool = False) -> Baked:
    """The poses at these times."""
    pose = model.pose(clip, times, loop="clamp")
    rotation = np.array(pose.rotation)
    for i in range(1, len(times)):
        rotation[i] *= np.where(np.einsum("ji,ji->j", rotation[i], rotation[i - 1]) < 0, -1, 1)[:, None]
    moved = np.zeros(len(model.skeleton.names), bool)
    moved[[c.joint for c in clip.channels if c.joint is not None]] = True
    return Baked(times, np.array(pose.translation), rotation, np.array(pose.scale), moved, exact)
