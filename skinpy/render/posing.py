"""Posing: from a clip, a vertex animation or a pose of the caller to the figure that a scene draws."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skinpy._arguments import integer
from skinpy.clip import Clip
from skinpy.clips.looks import material_values, visible_submeshes
from skinpy.clips.stepping import chosen_vertices
from skinpy.kinds import VertexAnimation
from skinpy.models.drawn import changing_materials, changing_submeshes, drawn_vertices
from skinpy.models.frames import corners
from skinpy.pose import Pose

from .._arguments import any_array, brief, check_model, check_shape, finite, floats, instance
from .camera import Camera, Framing, box_corners
from .facts import MotionFacts
from .figure import Figure, Posed, Stored
from .moment import Moment

if TYPE_CHECKING:
    from skinpy._types import Floats, Loop, Rotation
    from skinpy.model import Model

    ClipLike: TypeAlias = Clip | VertexAnimation | str | int | None
    Motion: TypeAlias = Clip | VertexAnimation | None
    Extent: TypeAlias = NDArray[np.float64]
    PoseLike: TypeAlias = Pose | NDArray[np.float32]


class Poser:
    """Poses one model for drawing."""

    def __init__(self, model: Model) -> None:
        check_model("model", model)
        self.model = model
        self.has_mesh = len(model.mesh.positions) > 0
        changing = changing_submeshes(model)
        self._changes = bool(changing.any())
        self._paints = bool(changing_materials(model))
        visible = np.array([one.visible for one in model.mesh.submeshes], np.bool_)
        self.drawn_vertices = drawn_vertices(model.mesh, visible | changing)

    @property
    def facts(self) -> MotionFacts:
        """Facts about whole motions of the model."""
        return MotionFacts(self)  # not an attribute, which would make a reference cycle

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
        if root is not None:
            check_shape("root", any_array("root", root), (4, 4))
        if isinstance(motion, VertexAnimation):
            if root is not None or moment.morph_weights is not None:
                raise ValueError("root and morph_weights are for clips and poses; this is a vertex animation")
            return self._stored(motion, moment.time, moment.loop)
        if moment.pose_at is None:
            posed = self.posed(moment, moment.time)
        else:
            posed = self._figure_of_pose(moment.pose_at(float(moment.time)), moment.morph_weights)
        if motion is None or not self._changes:
            return posed
        shown = visible_submeshes(self.model, motion, moment.time, moment.loop)
        return dataclasses.replace(posed, shown=shown)

    def material_values(self, moment: Moment) -> Mapping[int, Mapping[str, Floats]]:
        """The values that the clip gives to materials, by their index; see `Clip.material_values`."""
        if not self._paints or not isinstance(moment.motion, Clip):
            return {}
        return material_values(moment.motion, moment.time, moment.loop)

    def _figure_of_pose(self, pose: PoseLike, morph_weights: ArrayLike | None) -> Posed:
        """The figure of a Pose, or of a palette (S, 3|4, 4)."""
        weights = None if morph_weights is None else self._weights(morph_weights)
        if isinstance(pose, np.ndarray):
            palette = self._checked_palette(pose)
            return Posed(palette, self._default_weights() if weights is None else weights)
        instance("pose", pose, Pose, "a Pose or a palette array")
        if pose._block is not self.model._block:
            raise ValueError("pose is of another model; expected one that this model's pose() made")
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

    @property
    def point_count(self) -> int:
        """Number of points at one time: the vertices, or the joints of a model without a mesh."""
        return len(self.model.mesh.positions) if self.has_mesh else len(self.model.skeleton.parents)

    def points(
        self, motion: Motion, times: NDArray[np.float64], chosen: NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        """The points `chosen` (P,), or all that are drawn, at times (N,) within a motion: (N, P, 3) float64.

        Chosen points of a mesh are skinned alone, without morph targets.
        """
        if isinstance(motion, VertexAnimation):
            points = motion.sample(times, loop="clamp")[0]
            return (self.drawn(points) if chosen is None else points[:, chosen]).astype(np.float64)
        figure = self.posed(Moment(motion, loop="clamp"), times)
        if chosen is None or not self.has_mesh:
            points = self.points_of(figure).reshape(len(times), -1, 3)
            return (points if chosen is None else points[:, chosen]).astype(np.float64)
        return chosen_vertices(self.model.mesh, figure.numbers, chosen)

    def posed(self, moment: Moment, times: ArrayLike) -> Posed:
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
        return floats("morph_weights", weights, (self._targets,))

    def morph_weights(self, weights: ArrayLike | None) -> NDArray[np.float32]:
        """Weights of the morph targets as (M,) float32; None is those of the file. Raises ValueError."""
        return self._default_weights() if weights is None else self._weights(weights)

    def _default_weights(self) -> NDArray[np.float32]:
        return np.array([t.default_weight for t in self.model.targets], np.float32)

    def figure_camera(self, figure: Figure, aspect: float, box: bool = False) -> Camera:
        """The camera with one figure in the picture, or with the `box` around it."""
        framing = Framing(up=self.model.up, aspect=aspect)
        if box:
            return framing.camera(box_corners(self.box(figure)))
        return framing.camera(framing.farthest(self.points_of(figure)))

    def box(self, figure: Figure) -> Extent:
        """Lowest and highest corner of one figure, (2, 3) float64; infinite for a figure without points."""
        if isinstance(figure, Stored):
            first, second = figure.positions[figure.first], figure.positions[figure.second]
            points = self.drawn(first + np.float32(figure.blend) * (second - first))
        else:
            points = self.points_of(figure)
        if not len(points):
            return np.stack([np.full(3, np.inf), np.full(3, -np.inf)])
        return corners(points).astype(np.float64)

    def points_of(self, figure: Figure) -> NDArray[np.float32]:
        """All points of a figure that are drawn, (N, 3)."""
        if isinstance(figure, Stored):
            both = figure.positions[[figure.first, figure.second]]
            return self.drawn(both).reshape(-1, 3)
        if not self.has_mesh:
            return figure.numbers.reshape(-1, 3)
        weights = figure.weights if self._targets else None
        points = self.model.deform(figure.numbers, normals=False, morph_weights=weights)[0]
        return self.drawn(points).reshape(-1, 3)

    def drawn(self, points: NDArray[np.float32]) -> NDArray[np.float32]:
        """Those of the points (..., V, 3) of a mesh that are drawn, (..., N, 3)."""
        return points if self.drawn_vertices is None else points[..., self.drawn_vertices, :]


def clip_number(clip: SupportsIndex) -> int:
    """The index of a clip. Raises TypeError if it is not an integer."""
    return integer("clip", clip, "a Clip, its name, its number, a VertexAnimation or None")


def check_time(time: float) -> None:
    """Raise ValueError unless `time` is one finite number, TypeError unless it is a number."""
    shape = any_array("time", time).shape
    if shape:
        raise ValueError(f"time has shape {shape}; expected one number, in seconds")
    if isinstance(time, str) or not hasattr(time, "__float__"):
        raise TypeError(f"time is {brief(time)}; expected a number of seconds")
    finite("time", time)


def _single(data: NDArray[np.float32], axes: int) -> NDArray[np.float32]:
    """The data of a Pose. Raises ValueError unless it has `axes` axes, which is a single pose."""
    if data.ndim != axes:
        raise ValueError(f"pose holds poses of shape {data.shape[:-axes]}; expected a single one")
    return data
