"""From what a caller names (a clip and a time, or a pose) to the numbers that a scene draws.

Those are the palette, (S, 3, 4) float32, for a model with a mesh, else the joint positions, (J, 3) float32.
"""

from __future__ import annotations

import operator
import weakref
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skinpy.clip import Clip

from .camera import Camera, Framing

if TYPE_CHECKING:
    from skinpy._types import Loop, Rotation
    from skinpy.model import Model
    from skinpy.pose import Pose

    ClipLike: TypeAlias = Clip | str | int | None
    PoseLike: TypeAlias = Pose | NDArray[np.float32]


# Cameras of clips that were framed before: by model, then by the clip's number (None: rest pose) and aspect.
# Framing walks over the whole clip; a call of `render` for each frame would pay it each time.
_CameraKey: TypeAlias = tuple[int | None, float]
_cameras: weakref.WeakKeyDictionary[Model, dict[_CameraKey, Camera]] = weakref.WeakKeyDictionary()
_CAMERAS = 64  # of one model

_FRAMING_FPS = 30.0
_FRAMING_POINTS = 20_000_000  # looked at for one camera at most, but for eight times of the clip at least
_FRAMING_CHUNK = 1_000_000


class Poser:
    """Poses one model for drawing."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.has_mesh = len(model.mesh.positions) > 0

    def clip(self, clip: ClipLike) -> Clip | None:
        """The clip meant: a Clip, its name or its number; None is the first, or None where there is none.

        Raises KeyError or IndexError for one that the model does not have, TypeError for another type.
        """
        clips = self.model.clips
        if clip is None:
            return clips[0] if len(clips) else None
        if isinstance(clip, str):
            return clips[clip]
        if isinstance(clip, Clip):
            return clip
        try:
            return clips[operator.index(clip)]
        except TypeError:
            raise TypeError(f"clip is {clip!r}; expected a Clip, its name, its number or None") from None

    def at(
        self, clip: Clip | None, time: float, loop: Loop, rotation: Rotation, root: ArrayLike | None
    ) -> NDArray[np.float32]:
        """The numbers to draw at one time of a clip; None is the rest pose."""
        if np.ndim(time) != 0:
            raise ValueError(f"time has shape {np.shape(time)}; expected one number, in seconds")
        if root is not None and np.shape(root) != (4, 4):
            raise ValueError(f"root has shape {np.shape(root)}; expected (4, 4)")
        return self._numbers(clip, time, loop, rotation, root)

    def of(self, pose: PoseLike) -> NDArray[np.float32]:
        """The numbers to draw for a Pose, or for a palette (S, 3|4, 4)."""
        if not isinstance(pose, np.ndarray):
            if not hasattr(pose, "palette"):
                raise TypeError(f"pose is {type(pose).__name__}; expected a Pose or a palette array")
            if not self.has_mesh:
                return _one(np.ascontiguousarray(pose.globals(affine=True)[..., :, 3]), 2)
            return _one(pose.palette(affine=True), 3)
        slots = len(self.model.skin.joints)
        if not self.has_mesh:
            raise ValueError("pose is a palette, but the model has no mesh; expected a Pose")
        if pose.shape not in ((slots, 3, 4), (slots, 4, 4)):
            raise ValueError(f"pose has shape {pose.shape}; expected ({slots}, 3, 4) or ({slots}, 4, 4)")
        return np.ascontiguousarray(pose[:, :3], np.float32)

    def clip_camera(self, clip: Clip | None, root: ArrayLike | None, aspect: float) -> Camera:
        """The camera that has the whole clip in the picture, moved by `root`; None is the rest pose."""
        framing = Framing(up=self.model.up, aspect=aspect)
        number = None if clip is None else next((i for i, c in enumerate(self.model.clips) if c is clip), -1)
        if root is not None or number == -1:  # -1: a clip derived from one of the model's
            return framing.camera(self._extremes(clip, root, framing))
        cameras = _cameras.setdefault(self.model, {})
        if (number, aspect) not in cameras:
            if len(cameras) >= _CAMERAS:
                cameras.clear()
            cameras[number, aspect] = framing.camera(self._extremes(clip, None, framing))
        return cameras[number, aspect]

    def pose_camera(self, data: NDArray[np.float32], aspect: float) -> Camera:
        """The camera that has one pose in the picture: what `of` or `at` gave."""
        framing = Framing(up=self.model.up, aspect=aspect)
        return framing.camera(_farthest(self._points(data), framing))

    def _extremes(self, clip: Clip | None, root: ArrayLike | None, framing: Framing) -> NDArray[np.float64]:
        """Of all points of the clip those that decide about the camera: (N, 3) float64."""
        count = max(len(self.model.mesh.positions), len(self.model.skeleton.parents), 1)
        times = np.zeros(1)
        if clip is not None:
            frames = min(clip.duration * _FRAMING_FPS, max(_FRAMING_POINTS // count, 8))
            times = np.linspace(0.0, clip.duration, int(np.ceil(frames)) + 1)
        step = max(1, _FRAMING_CHUNK // count)
        chunks = []
        for start in range(0, len(times), step):
            data = self._numbers(clip, times[start : start + step], "clamp", "slerp", root)
            chunks.append(_farthest(self._points(data), framing))
        return np.concatenate(chunks)

    def _numbers(
        self, clip: Clip | None, time: ArrayLike, loop: Loop, rotation: Rotation, root: ArrayLike | None
    ) -> NDArray[np.float32]:
        """(..., S, 3, 4) palettes or (..., J, 3) joint positions at times of any shape."""
        options: dict[str, Any] = {"loop": loop, "rotation": rotation, "root": root, "affine": True}
        if self.has_mesh:
            return self.model.palette(clip, time, **options)
        return np.ascontiguousarray(self.model.globals(clip, time, **options)[..., 3])

    def _points(self, data: NDArray[np.float32]) -> NDArray[np.float32]:
        """(N, 3) all points of what `_numbers` gave."""
        points = self.model.deform(data, normals=False)[0] if self.has_mesh else data
        return points.reshape(-1, 3)


def _farthest(points: NDArray[np.float32], framing: Framing) -> NDArray[np.float64]:
    """The points that lie farthest along the framing's directions; the origin where there are none."""
    if not len(points):
        return np.zeros((1, 3))
    directions = framing.directions().astype(np.float32)
    farthest: NDArray[np.intp] = (points @ directions.T).argmax(axis=0)
    return points[farthest].astype(np.float64)


def _one(data: NDArray[np.float32], axes: int) -> NDArray[np.float32]:
    if data.ndim != axes:
        raise ValueError(f"pose holds poses of shape {data.shape[:-axes]}; expected a single one")
    return data
