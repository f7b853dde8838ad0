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

if TYPE_CHECKING:
    from skinpy._types import Loop, Rotation
    from skinpy.model import Model
    from skinpy.pose import Pose

    ClipLike: TypeAlias = Clip | str | int | None
    PoseLike: TypeAlias = Pose | NDArray[np.float32]


# The boxes around clips that were framed before: by model, then by the clip's number (None: rest pose).
# Finding one costs a walk over the whole clip; a call of `render` for each frame would pay it each time.
_boxes: weakref.WeakKeyDictionary[Model, dict[int | None, NDArray[np.float64]]] = weakref.WeakKeyDictionary()


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
        options: dict[str, Any] = {"loop": loop, "rotation": rotation, "root": root, "affine": True}
        if self.has_mesh:
            return self.model.palette(clip, time, **options)
        return np.ascontiguousarray(self.model.globals(clip, time, **options)[:, :, 3])

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

    def clip_bounds(self, clip: Clip | None, root: ArrayLike | None) -> NDArray[np.float64]:
        """The box (2, 3) float64 around the whole clip, moved by `root`."""
        box = self._box(clip)
        if root is None or not np.isfinite(box).all():
            return box
        matrix = np.asarray(root, np.float64)
        corners = np.stack(np.meshgrid(*box.T, indexing="ij"), axis=-1).reshape(-1, 3)
        moved = corners @ matrix[:3, :3].T + matrix[:3, 3]
        return np.stack([moved.min(axis=0), moved.max(axis=0)])

    def _box(self, clip: Clip | None) -> NDArray[np.float64]:
        boxes = _boxes.setdefault(self.model, {})
        number = None if clip is None else next((i for i, c in enumerate(self.model.clips) if c is clip), -1)
        if number == -1:  # a clip derived from one of the model's
            return np.asarray(self.model.bounds(clip), np.float64)
        if number not in boxes:
            boxes[number] = np.asarray(self.model.bounds(clip), np.float64)
        return boxes[number]

    def pose_bounds(self, data: NDArray[np.float32]) -> NDArray[np.float64]:
        """The box (2, 3) float64 around what `of` or `at` gave."""
        points = self.model.deform(data, normals=False)[0] if self.has_mesh else data
        if not len(points):
            return np.full((2, 3), np.nan)
        return np.stack([points.min(axis=0), points.max(axis=0)]).astype(np.float64)


def _one(data: NDArray[np.float32], axes: int) -> NDArray[np.float32]:
    if data.ndim != axes:
        raise ValueError(f"pose holds poses of shape {data.shape[:-axes]}; expected a single one")
    return data
