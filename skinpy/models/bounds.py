"""The box around what a clip shows: Model.bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array, Floats
from ..clip import Clip
from .drawn import drawn_vertices
from .frames import corners

if TYPE_CHECKING:
    from ..model import Model

#: Frames per second at which a clip is sampled.
_FPS = 30.0
#: A clip is sampled at no more times than this, however long it is.
_MAX_TIMES = 1000
#: Vertices that are posed for one clip, which takes a second or so; but a clip is sampled at least
#: _MIN_TIMES times.
_MAX_VERTICES = 200_000_000
_MIN_TIMES = 4
#: Vertices that are in memory at once.
_MAX_VERTICES_AT_ONCE = 2_000_000


def box(model: Model, clip: Clip | str | int | None = None) -> Array:
    """(2,3) float64: the lowest and the highest corner; see Model.bounds."""
    count = max(len(model.mesh.positions), len(model.skeleton), 1)
    times, drawn = _sample_times(model, clip, count), drawn_vertices(model.mesh)
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    step = max(1, _MAX_VERTICES_AT_ONCE // count)
    for start in range(0, len(times), step):
        points = _points(model, clip, times[start : start + step])
        lowest, highest = corners((points if drawn is None else points[:, drawn]).reshape(-1, 3))
        low, high = np.minimum(low, lowest), np.maximum(high, highest)
    return np.stack([low, high])


def _sample_times(model: Model, clip: Clip | str | int | None, count: int) -> Array:
    """The times at which a clip of a model of `count` vertices is sampled; 0 for the rest pose."""
    if clip is None:
        return np.zeros(1)
    duration = clip.duration if isinstance(clip, Clip) else model.clips[clip].duration
    most = min(_MAX_TIMES, max(_MAX_VERTICES // count, _MIN_TIMES))
    intervals = max(math.ceil(min(duration * _FPS, most)), 1)
    return np.linspace(0.0, duration, intervals + 1)


def _points(model: Model, clip: Clip | str | int | None, times: Array) -> Floats:
    """The skinned vertices (N,V,3) at times (N,), or the joints of a model without vertices."""
    if not len(model.mesh.positions):
        return model.joint_positions(clip, times, loop="clamp")
    return model.deform(model.pose(clip, times, loop="clamp"), normals=False)[0]
