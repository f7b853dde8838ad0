"""The error of a clip at the skin: how far vertices and joints are from where another clip moves them."""

import math

import numpy as np

from .._arguments import check_clip, finite
from .._text import quoted
from .._types import Array, Floats
from ..clip import Clip
from ..models.frames import chunks
from ..models.overflow import refuse_overflow
from ..models.pickling import need_vertices

_DEFAULT_ERROR = 1e-4  # of the size
_STEPS = 4  # measurements in each span between two keys
_MAX_TIMES = 4096  # of all measurements
_MAX_CACHED = 24_000_000  # numbers of the source's points that are kept from one measurement to the next


def size_of(clip: Clip) -> float:
    """Return the longest side of the box around the vertices, or the joints, of a bound clip at its start."""
    assert clip.model is not None
    points = points_at(clip, np.zeros(1))[0]
    count = len(clip.model.mesh.positions)
    return float(np.ptp(points[:count] if count else points, axis=0).max())


def points_at(clip: Clip, times: Array) -> Floats:
    """Return all vertices, and the origins of the joints (N,V+J,3) at times (N,)."""
    assert clip.model is not None
    pose = clip.model.pose(clip, times, loop="clamp")
    joints = pose.globals(affine=True)[..., 3]
    if not len(clip.model.mesh.positions):
        return joints
    return np.concatenate([clip.model.deform(pose, normals=False)[0], joints], axis=1)


class SkinError:
    """Measures how far a clip moves vertices and joints away from where the source moves them.

    Both are sampled in the same way, in float32, at the source's keys and at three times between any two.
    """

    def __init__(self, source: Clip) -> None:
        assert source.model is not None
        self._source = source
        self.times = _dense_times(source)
        self._size = 3 * (len(source.model.mesh.positions) + len(source.model.skeleton))
        self._spans = list(chunks(len(self.times), self._size))
        self._cache: dict[int, Floats] = {}

    def of(self, clip: Clip) -> float:
        """Return the largest distance of any vertex or joint at any of the times, in model units.

        It is infinite where a number is not finite in one of the two clips alone, or in another way.
        """
        largest = 0.0
        for number, span in enumerate(self._spans):
            largest = max(largest, farthest_apart(points_at(clip, self.times[span]), self._wanted(number)))
        return math.sqrt(largest)

    def _wanted(self, number: int) -> Floats:
        """Return the source's points in a span of times; they are kept as long as there is memory."""
        if number not in self._cache:
            points = points_at(self._source, self.times[self._spans[number]])
            if (len(self._cache) + 1) * points.size > _MAX_CACHED:
                return points
            self._cache[number] = points
        return self._cache[number]


def farthest_apart(points: Floats, others: Floats) -> float:
    """Return the square of the largest distance of any point from its partner."""
    with np.errstate(invalid="ignore", over="ignore"):  # infinity from infinity
        away = points - others
        farthest = float(np.einsum("npc,npc->np", away, away).max(initial=0.0))
        if math.isfinite(farthest):
            return farthest
        equal = (points == others) | (np.isnan(points) & np.isnan(others))
        away = points.astype(np.float64) - others
        away[equal] = 0.0
        farthest = float(np.einsum("npc,npc->np", away, away).max(initial=0.0))
    return farthest if math.isfinite(farthest) else math.inf


def _dense_times(clip: Clip) -> Array:
    """Return the times of all keys and three times between any two, evenly thinned where they are many."""
    lines = {channel.times.tobytes(): channel.times for channel in clip._pose_channels}
    ends = np.array([0.0, clip.duration])
    keys = np.unique(np.clip(np.concatenate([ends, *lines.values()]), 0.0, clip.duration))
    fractions = np.arange(_STEPS) / _STEPS
    between = (keys[:-1, None] + fractions * np.diff(keys)[:, None]).ravel()
    times = np.append(between, keys[-1])
    if len(times) > _MAX_TIMES:
        times = times[np.linspace(0, len(times) - 1, _MAX_TIMES).astype(np.int64)]
    return times


def checked_error(max_error: float | None, clip: Clip) -> float:
    """Return the bound as a distance in model units; None stands for the default fraction of the size.

    Raises ValueError for a clip whose errors cannot be measured, and for a bound that is not a distance.
    """
    check_clip("clip", clip)
    need_vertices(clip._bound_model(), "the error of a clip at the skin")
    if clip.is_additive:
        raise ValueError(
            f"clip {quoted(clip.name)} is additive: on its own it has no pose at which errors can be measured"
        )
    if max_error is None:
        size = size_of(clip)
        if not math.isfinite(size):
            refuse_overflow(clip._bound_model(), clip)
            raise ValueError(
                f"clip {quoted(clip.name)} is larger than float32 holds (3.4e38); expected max_error, "
                "as there is "
                "no size to take it from"
            )
        return _DEFAULT_ERROR * size
    bound = finite("max_error", max_error)
    if bound < 0:
        raise ValueError(f"max_error is {bound:g}; expected a distance, 0 or more")
    return bound
