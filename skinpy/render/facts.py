"""Facts about whole motions: their extents, and the cameras that have all of them in the picture."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skinpy.kinds import VertexAnimation
from skinpy.models.frames import corners
from skinpy.models.overflow import refuse_overflow

from .camera import Camera, Framing, box_corners, moved_box, up_vector
from .moment import Moment

if TYPE_CHECKING:
    from skinpy.clip import Clip

    from .posing import Extent, Motion, Poser

T = TypeVar("T")

# The facts that were found. Each needs all points of a clip, and `render` may be called for every frame. The
# keys are model and index of the clip (None is the rest pose), or the vertex animation.
_facts: weakref.WeakKeyDictionary[Any, dict[tuple[Any, ...], Any]] = weakref.WeakKeyDictionary()
_MAX_FACTS = 256  # about one model

_DERIVED = -1  # index of a clip that is derived from the model's own clips

_FPS = 30.0
_MAX_POINTS = 20_000_000  # of a motion, at most; but at least eight times are sampled
_CHUNK = 1_000_000  # points that are posed together
_MIN_POINTS = 256  # of a pose, as which smaller ones count: a pose takes as long as some hundred points


class MotionFacts:
    """Facts about the motions of one model; each is found once and remembered."""

    def __init__(self, poser: Poser) -> None:
        self._poser = poser
        self._model = poser.model

    def camera(self, motion: Motion, root: ArrayLike | None, aspect: float, box: bool = False) -> Camera:
        """The camera with the whole motion in the picture, moved by `root`; None is the rest pose.

        With `box`, the box around the motion is in the picture too, whose corners lie outside of the model.
        """
        framing = Framing(up=self._model.up, aspect=aspect)
        if box:
            return framing.camera(box_corners(moved_box(self.extent(motion), root)))
        if root is not None:
            return self._framed(framing, motion, root)
        return self.remember(motion, ("camera", aspect), lambda: self._framed(framing, motion, None))

    def _framed(self, framing: Framing, motion: Motion, root: ArrayLike | None) -> Camera:
        return framing.camera(np.concatenate([framing.farthest(one) for one in self._chunks(motion, root)]))

    def remember(self, motion: Motion, what: tuple[Any, ...], find: Callable[[], T]) -> T:
        """The result of `find` about a motion, or its result before. Of derived clips nothing is kept."""
        if isinstance(motion, VertexAnimation):
            found = _facts.setdefault(motion, {})
        else:
            number = self._number(motion)
            if number == _DERIVED:
                return find()
            found = _facts.setdefault(self._model, {})
            what = (*what, number)
        if what not in found:
            if len(found) >= _MAX_FACTS:
                found.clear()
            found[what] = find()
        value: T = found[what]
        return value

    def _number(self, clip: Clip | None) -> int | None:
        """The index of a clip in the model, _DERIVED for a derived clip, None for None."""
        if clip is None:
            return None
        return next((i for i, c in enumerate(self._model.clips) if c is clip), _DERIVED)

    def extent(self, motion: Motion) -> Extent:
        """Lowest and highest corner of all points of a motion, (2, 3) float64; None is the rest pose."""
        return self.remember(motion, ("extent",), lambda: self._extent(motion))

    def _extent(self, motion: Motion) -> Extent:
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for points in self._chunks(motion, None):
            if len(points):
                lowest, highest = corners(points)
                low, high = np.minimum(low, lowest), np.maximum(high, highest)
        return np.stack([low, high])

    def pillar(self, motion: Motion, box: bool = False) -> tuple[NDArray[np.float64], float, float]:
        """The upright cylinder around the middle of the extent that holds the whole motion.

        Returns its middle (3,) float64, its radius, and half its height. With `box` it holds the extent too.
        """
        if box:
            extent = self.extent(motion)
            level = np.ptp(extent, axis=0)[up_vector(self._model.up) == 0]
            middle, _, half_height = self.pillar(motion)
            return middle, float(np.linalg.norm(level)) / 2, half_height
        return self.remember(motion, ("pillar",), lambda: self._pillar(motion))

    def _pillar(self, motion: Motion) -> tuple[NDArray[np.float64], float, float]:
        low, high = self.extent(motion)
        middle, up = (low + high) / 2, up_vector(self._model.up)
        radius = 0.0
        for points in self._chunks(motion, None):
            level = (points - middle) * (1 - np.abs(up))
            radius = max(radius, float(np.linalg.norm(level, axis=1).max(initial=0.0)))
        return middle, radius, float((high - low) @ np.abs(up)) / 2

    def _chunks(self, motion: Motion, root: ArrayLike | None) -> Iterator[NDArray[np.float32]]:
        """All points of a motion that are drawn, in arrays (N, 3)."""
        if isinstance(motion, VertexAnimation):
            yield from map(self._poser.drawn, motion.frames)
            return
        count = max(len(self._model.mesh.positions), len(self._model.skeleton.parents), _MIN_POINTS)
        times = np.zeros(1)
        if motion is not None:
            frames = min(motion.duration * _FPS, max(_MAX_POINTS // count, 8))
            times = np.linspace(0.0, motion.duration, int(np.ceil(frames)) + 1)
        step = max(1, _CHUNK // count)
        moment = Moment(motion, loop="clamp", root=root)
        for start in range(0, len(times), step):
            points = self._poser.points_of(self._poser.posed(moment, times[start : start + step]))
            if not np.isfinite(points).all():
                refuse_overflow(self._model, motion)
                raise ValueError("points of the motion are beyond float32 (3.4e38), so no camera shows them")
            yield points
