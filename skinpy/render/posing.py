"""Posing: from a clip, a vertex animation or a pose of the caller to the figure that a scene draws."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skinpy._arguments import integer
from skinpy.clip import Clip
from skinpy.clips.stepping import chosen_vertices
from skinpy.kinds import VertexAnimation
from skinpy.models.frames import corners

from .camera import Camera, Framing, up_vector
from .figure import Figure, Posed, Stored
from .moment import Moment

if TYPE_CHECKING:
    from skinpy._types import Loop, Rotation
    from skinpy.model import Model
    from skinpy.pose import Pose

    ClipLike: TypeAlias = Clip | VertexAnimation | str | int | None
    Motion: TypeAlias = Clip | VertexAnimation | None
    Extent: TypeAlias = NDArray[np.float64]
    PoseLike: TypeAlias = Pose | NDArray[np.float32]


T = TypeVar("T")

# Facts about whole motions (extents, cameras). Each needs all points of a clip, and `render` may be called
# for every frame. The keys are model and index of the clip (None is the rest pose), or the vertex animation.
_facts: weakref.WeakKeyDictionary[Any, dict[tuple[Any, ...], Any]] = weakref.WeakKeyDictionary()
_MAX_FACTS = 256  # about one model

_DERIVED = -1  # index of a clip that is derived from the model's own clips

_FRAMING_FPS = 30.0
_FRAMING_POINTS = 20_000_000  # for one camera, at most; but at least eight times of the clip are sampled
_FRAMING_CHUNK = 1_000_000  # points that are posed together


class Poser:
    """Poses one model for drawing."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.has_mesh = len(model.mesh.positions) > 0

    def motion(self, clip: ClipLike) -> Motion:
        """The clip or vertex animation of an argument: itself, or by its name or index.

        None is the first clip, or None for a model without clips. Raises KeyError or IndexError for a clip
        that the model does not have, ValueError for a vertex animation of another model, TypeError for
        another type.
        """
        clips = self.model.clips
        if clip is None:
            return clips[0] if len(clips) else None
        if isinstance(clip, str):
            return clips[clip]
        if isinstance(clip, Clip):
            return clip
        if isinstance(clip, VertexAnimation):
            if clip.model is not self.model:
                raise ValueError(
                    "clip is a vertex animation of another model; expected one whose `model` is this one"
                )
            return clip
        return clips[clip_number(clip)]

    def moment(
        self,
        clip: ClipLike,
        time: float = 0.0,
        *,
        pose: PoseLike | None = None,
        loop: Loop = "wrap",
        rotation: Rotation = "slerp",
        root: ArrayLike | None = None,
        morph_weights: ArrayLike | None = None,
    ) -> Moment:
        """The arguments of a frame, with the clip looked up.

        Raises the errors of `motion`, and ValueError for a pose together with a clip or root.
        """
        if pose is not None and (clip is not None or root is not None):
            raise ValueError("pose is given together with clip or root; expected either a pose or a clip")
        motion = None if pose is not None else self.motion(clip)
        return Moment(motion, time, pose, loop, rotation, root, morph_weights)

    def figure(self, moment: Moment) -> Figure:
        """Pose the model. Raises ValueError or TypeError for a wrong value in the moment."""
        motion, root = moment.motion, moment.root
        check_time(moment.time)
        if moment.pose is not None:
            return self._figure_of_pose(moment.pose, moment.morph_weights)
        if root is not None and np.shape(root) != (4, 4):
            raise ValueError(f"root has shape {np.shape(root)}; expected (4, 4)")
        if isinstance(motion, VertexAnimation):
            if root is not None or moment.morph_weights is not None:
                raise ValueError("root and morph_weights are for clips and poses; this is a vertex animation")
            return self._stored(motion, moment.time, moment.loop)
        return self._posed(moment, moment.time)

    def _figure_of_pose(self, pose: PoseLike, morph_weights: ArrayLike | None) -> Posed:
        """The figure of a Pose, or of a palette (S, 3|4, 4)."""
        weights = None if morph_weights is None else self._weights(morph_weights)
        if isinstance(pose, np.ndarray):
            palette = self._checked_palette(pose)
            return Posed(palette, self._default_weights() if weights is None else weights)
        if not hasattr(pose, "palette"):
            raise TypeError(f"pose is {type(pose).__name__}; expected a Pose or a palette array")
        if not self.has_mesh:
            return Posed(_single(np.ascontiguousarray(pose.globals(affine=True)[..., :, 3]), 2))
        palette = _single(pose.palette(affine=True), 3)
        return Posed(palette, self._weights(pose.morph_weights) if weights is None else weights)

    def _checked_palette(self, palette: NDArray[np.float32]) -> NDArray[np.float32]:
        """A caller's palette as (S, 3, 4) float32, C-contiguous."""
        slots = len(self.model.skin.joints)
        if not self.has_mesh:
            raise ValueError("pose is a palette, but the model has no mesh; expected a Pose")
        if palette.shape not in ((slots, 3, 4), (slots, 4, 4)):
            raise ValueError(f"pose has shape {palette.shape}; expected ({slots}, 3, 4) or ({slots}, 4, 4)")
        return np.ascontiguousarray(palette[:, :3], np.float32)

    def motion_camera(self, motion: Motion, root: ArrayLike | None, aspect: float) -> Camera:
        """The camera with the whole motion in the picture, moved by `root`; None is the rest pose."""
        framing = Framing(up=self.model.up, aspect=aspect)
        if root is not None:
            return framing.camera(_farthest_of(self._chunks(motion, root), framing))
        return self.remember(
            motion,
            ("camera", aspect),
            lambda: framing.camera(_farthest_of(self._chunks(motion, None), framing)),
        )

    def remember(self, motion: Motion, what: tuple[Any, ...], find: Callable[[], T]) -> T:
        """The result of `find` about a motion, or its result before. Of derived clips nothing is kept."""
        if isinstance(motion, VertexAnimation):
            found = _facts.setdefault(motion, {})
        else:
            number = self.number(motion)
            if number == _DERIVED:
                return find()
            found = _facts.setdefault(self.model, {})
            what = (*what, number)
        if what not in found:
            if len(found) >= _MAX_FACTS:
                found.clear()
            found[what] = find()
        value: T = found[what]
        return value

    def number(self, clip: Clip | None) -> int | None:
        """The index of a clip in the model, _DERIVED for a derived clip, None for None."""
        if clip is None:
            return None
        return next((i for i, c in enumerate(self.model.clips) if c is clip), _DERIVED)

    def figure_camera(self, figure: Figure, aspect: float) -> Camera:
        """The camera with one figure in the picture."""
        framing = Framing(up=self.model.up, aspect=aspect)
        return framing.camera(_farthest(self._points(figure), framing))

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

    def pillar(self, motion: Motion) -> tuple[NDArray[np.float64], float, float]:
        """The upright cylinder around the middle of the extent that holds the whole motion.

        Returns its middle (3,) float64, its radius, and half its height.
        """
        return self.remember(motion, ("pillar",), lambda: self._pillar(motion))

    def _pillar(self, motion: Motion) -> tuple[NDArray[np.float64], float, float]:
        low, high = self.extent(motion)
        middle, up = (low + high) / 2, up_vector(self.model.up)
        radius = 0.0
        for points in self._chunks(motion, None):
            level = (points - middle) * (1 - np.abs(up))
            radius = max(radius, float(np.linalg.norm(level, axis=1).max(initial=0.0)))
        return middle, radius, float((high - low) @ np.abs(up)) / 2

    @property
    def point_count(self) -> int:
        """Number of points at one time: the vertices, or the joints of a model without a mesh."""
        return len(self.model.mesh.positions) if self.has_mesh else len(self.model.skeleton.parents)

    def points(
        self, motion: Motion, times: NDArray[np.float64], chosen: NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        """The points `chosen` (P,), or all, at times (N,) within a motion: (N, P, 3) float64.

        Chosen points of a mesh are skinned alone, without morph targets.
        """
        if isinstance(motion, VertexAnimation):
            points = motion.sample(times, loop="clamp")[0]
            return (points if chosen is None else points[:, chosen]).astype(np.float64)
        figure = self._posed(Moment(motion, loop="clamp"), times)
        if chosen is None or not self.has_mesh:
            points = self._points(figure).reshape(len(times), -1, 3)
            return (points if chosen is None else points[:, chosen]).astype(np.float64)
        return chosen_vertices(self.model.mesh, figure.numbers, chosen)

    def _chunks(self, motion: Motion, root: ArrayLike | None) -> Iterator[NDArray[np.float32]]:
        """All points of a motion, in arrays (N, 3)."""
        if isinstance(motion, VertexAnimation):
            yield from motion.frames
            return
        count = max(len(self.model.mesh.positions), len(self.model.skeleton.parents), 1)
        times = np.zeros(1)
        if motion is not None:
            frames = min(motion.duration * _FRAMING_FPS, max(_FRAMING_POINTS // count, 8))
            times = np.linspace(0.0, motion.duration, int(np.ceil(frames)) + 1)
        step = max(1, _FRAMING_CHUNK // count)
        moment = Moment(motion, loop="clamp", root=root)
        for start in range(0, len(times), step):
            yield self._points(self._posed(moment, times[start : start + step]))

    def _posed(self, moment: Moment, times: ArrayLike) -> Posed:
        """Pose the model at times (...) of the moment's clip; the arrays of the result are (..., S, 3, 4)."""
        model, clip = self.model, moment.motion
        assert not isinstance(clip, VertexAnimation)
        weights = None if moment.morph_weights is None else self._weights(moment.morph_weights)
        options: dict[str, Any] = {"loop": moment.loop, "rotation": moment.rotation, "root": moment.root}
        if not self.has_mesh:
            return Posed(np.ascontiguousarray(model.globals(clip, times, affine=True, **options)[..., 3]))
        if not self._targets or weights is not None:
            palette = model.palette(clip, times, affine=True, **options)
            return Posed(palette) if weights is None else Posed(palette, weights)
        pose = model.pose(clip, times, **options)
        return Posed(pose.palette(affine=True), pose.morph_weights)

    def _stored(self, animation: VertexAnimation, time: float, loop: Loop) -> Stored:
        position = float(animation.places(time, loop=loop))  # in frames
        first = int(position)
        second = min(first + 1, len(animation.frames) - 1)
        rest = self.model.palette(None, 0.0, affine=True)
        return Stored(animation, first, second, position - first, animation.frames, animation.normals, rest)

    @property
    def _targets(self) -> int:
        return len(self.model.targets)

    def _weights(self, weights: ArrayLike) -> NDArray[np.float32]:
        """Weights of the morph targets as (M,) float32. Raises ValueError."""
        array = np.ascontiguousarray(weights, np.float32)
        if array.shape != (self._targets,):
            raise ValueError(f"morph_weights has shape {array.shape}; expected ({self._targets},)")
        if not np.isfinite(array).all():
            raise ValueError("morph_weights holds numbers that are not finite")
        return array

    def morph_weights(self, weights: ArrayLike | None) -> NDArray[np.float32]:
        """Weights of the morph targets as (M,) float32; None is those of the file. Raises ValueError."""
        return self._default_weights() if weights is None else self._weights(weights)

    def _default_weights(self) -> NDArray[np.float32]:
        return np.array([t.default_weight for t in self.model.targets], np.float32)

    def box(self, figure: Figure) -> Extent:
        """Lowest and highest corner of one figure, (2, 3) float64; infinite for a figure without points."""
        if isinstance(figure, Stored):
            first, second = figure.positions[figure.first], figure.positions[figure.second]
            points = first + np.float32(figure.blend) * (second - first)
        else:
            points = self._points(figure)
        if not len(points):
            return np.stack([np.full(3, np.inf), np.full(3, -np.inf)])
        return corners(points).astype(np.float64)

    def _points(self, figure: Figure) -> NDArray[np.float32]:
        """All points of a figure, (N, 3)."""
        if isinstance(figure, Stored):
            return np.concatenate([figure.positions[figure.first], figure.positions[figure.second]])
        if not self.has_mesh:
            return figure.numbers.reshape(-1, 3)
        weights = figure.weights if self._targets else None
        points = self.model.deform(figure.numbers, normals=False, morph_weights=weights)[0]
        return points.reshape(-1, 3)


def clip_number(clip: SupportsIndex) -> int:
    """The index of a clip. Raises TypeError if it is not an integer."""
    return integer("clip", clip, "a Clip, its name, its number, a VertexAnimation or None")


def check_time(time: float) -> None:
    """Raise ValueError unless `time` is one finite number, TypeError unless it is a number."""
    if np.ndim(time) != 0:
        raise ValueError(f"time has shape {np.shape(time)}; expected one number, in seconds")
    if isinstance(time, str) or not hasattr(time, "__float__"):
        raise TypeError(f"time is {time!r}; expected a number of seconds")
    if not math.isfinite(time):
        raise ValueError(f"time is {time}; expected a finite number of seconds")


def _farthest_of(chunks: Iterator[NDArray[np.float32]], framing: Framing) -> NDArray[np.float64]:
    """The points, of all chunks, that the camera depends on: (N, 3) float64."""
    return np.concatenate([_farthest(points, framing) for points in chunks])


def _farthest(points: NDArray[np.float32], framing: Framing) -> NDArray[np.float64]:
    """The points farthest along the directions of the framing; the origin if there are no points."""
    if not len(points):
        return np.zeros((1, 3))
    directions = framing.directions().astype(np.float32)
    farthest: NDArray[np.intp] = (points @ directions.T).argmax(axis=0)
    return points[farthest].astype(np.float64)


def _single(data: NDArray[np.float32], axes: int) -> NDArray[np.float32]:
    """The data of a Pose. Raises ValueError unless it has `axes` axes, which is a single pose."""
    if data.ndim != axes:
        raise ValueError(f"pose holds poses of shape {data.shape[:-axes]}; expected a single one")
    return data
