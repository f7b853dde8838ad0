"""Ground truth: a picture, and what is known of it because it was drawn and not taken."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skinpy._arguments import flag
from skinpy.files.whole import replacing

from .joints import visible_joints
from .layers import Later, Sight, draw_layers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skinpy.model import Model


@dataclass(frozen=True, eq=False, repr=False)
class GroundTruth:
    """A picture of a model, layers of numbers for its pixels, its joints and its camera: `Renderer.render`.

    Pixels: x goes right and y down from the picture's top left corner; the pixel in column c of row r has
    its center at (c + 0.5, r + 0.5), so that `picture[int(y), int(x)]` shows the point (x, y). Layers tell
    what is at the centers, one sample each, without smooth edges. The camera's space has x right, y down, z
    along the view (OpenCV's axes; for those of its functions that have centers at whole numbers, take 0.5 off
    the pixels, and off x and y of the last column of `intrinsics`). Lengths are in model units.
    """

    picture: NDArray[np.uint8]
    """(h, w, 4): as `Renderer.frame` gives it, with its smooth edges."""
    mask: NDArray[np.bool_]
    """(h, w): where the model is seen."""
    layers: Mapping[str, NDArray[Any]]
    """The layers that were asked for, by name."""
    joints2d: NDArray[np.float64]
    """(J, 2): x, y of the joints in pixels, also outside the picture; NaN behind the camera."""
    joints3d: NDArray[np.float64]
    """(J, 3): the joints in scene space; NaN for a vertex animation and a bare palette, which have none."""
    visible: NDArray[np.bool_]
    """(J,): whether a joint is in the picture and no surface but its own limb's hides it."""
    intrinsics: NDArray[np.float64]
    """(3, 3): from the camera's space to pixels, times z."""
    extrinsics: NDArray[np.float64]
    """(4, 4): from scene space to the camera's space."""
    names: tuple[str, ...]
    """The names of the joints."""
    parents: NDArray[np.int32]
    """(J,): the joints' parents, -1 for roots."""

    @property
    def depth(self) -> NDArray[np.float32]:
        """(h, w): distance along the view axis; infinite where nothing is."""
        return self._layer("depth")

    @property
    def position(self) -> NDArray[np.float32]:
        """(h, w, 3): the place that is seen, scene space; 0 where nothing is."""
        return self._layer("position")

    @property
    def normal(self) -> NDArray[np.float32]:
        """(h, w, 3): unit normal of the side that is seen, scene space, as it is lit; 0 where nothing is."""
        return self._layer("normal")

    @property
    def joint(self) -> NDArray[np.int32]:
        """(h, w): the joint with the largest weight at the place that is seen; -1 where nothing is."""
        return self._layer("joint")

    @property
    def submesh(self) -> NDArray[np.int32]:
        """(h, w): number of the submesh; -1 where nothing is."""
        return self._layer("submesh")

    @property
    def material(self) -> NDArray[np.int32]:
        """(h, w): number of the material; -1 where nothing is, and for what has none."""
        return self._layer("material")

    @property
    def face(self) -> NDArray[np.int32]:
        """(h, w): number of the face in `mesh.faces`; -1 where nothing is."""
        return self._layer("face")

    @property
    def barycentric(self) -> NDArray[np.float32]:
        """(h, w, 3): the shares of the face's vertices in the place that is seen; 0 where nothing is."""
        return self._layer("barycentric")

    @property
    def uv(self) -> NDArray[np.float32]:
        """(h, w, 2): the mesh's own texture coordinates, origin at the top left, before any transform of the
        material or animation: a place on the body has the same in all frames. 0 where nothing is.
        """
        return self._layer("uv")

    @property
    def flow(self) -> NDArray[np.float32]:
        """(h, w, 2): where the place that is seen goes to until the other time, x and y in pixels, whether
        it is still seen there or not; NaN where it comes to lie behind the camera, 0 where nothing is.
        """
        return self._layer("flow")

    def _layer(self, name: str) -> NDArray[Any]:
        if name not in self.layers:
            raise AttributeError(f"{name!r} was not drawn; ask for it with aov=({name!r}, ...)")
        return self.layers[name]

    def __repr__(self) -> str:
        height, width = self.mask.shape
        layers = ", ".join(self.layers) or "no layers"
        seen = f"{self.visible.sum()} of {len(self.names)} joints seen"
        return f"<GroundTruth: {width}x{height}, {layers}, {seen}>"

    def save(self, path: str | os.PathLike[str], *, compressed: bool = True) -> Path:
        """Write everything to a NumPy archive and return its path: `numpy.load(path)["depth"]`.

        The arrays have the names of the fields and of the layers; `names` are str. The file appears whole or
        not at all. Raises ValueError for another suffix than .npz, TypeError, and OSError where it cannot be
        written.
        """
        write: Any = np.savez_compressed if flag("compressed", compressed) else np.savez
        target = Path(os.fsdecode(path))
        if target.suffix.lower() != ".npz":
            raise ValueError(f"path ends in {target.suffix!r}; ground truth is saved as '.npz'")
        fields = ("picture", "mask", "joints2d", "joints3d", "visible", "intrinsics", "extrinsics", "parents")
        arrays = {name: getattr(self, name) for name in fields} | dict(self.layers)
        archive = io.BytesIO()
        write(archive, names=np.array(self.names, np.str_), **arrays)
        with replacing(target) as file:
            file.write(archive.getbuffer())
        return target

    def to_dict(self) -> dict[str, Any]:
        """Joints and box in the manner of COCO's person keypoints, of types that JSON has.

        "keypoints" are x, y, v one joint after another: v is 2 for a visible joint, 1 for a hidden one in the
        picture, 0 (with x = y = 0) outside it. "bbox" is the box round the mask: left, top, width, height;
        "area" its pixels. "keypoints_3d" are scene space, null where nobody knows; "skeleton" has pairs of
        joint numbers from 1, as COCO counts them.
        """
        height, width = self.mask.shape
        with np.errstate(invalid="ignore"):
            inside = np.all((self.joints2d >= 0) & (self.joints2d < (width, height)), axis=1)
        flags = inside * (1 + self.visible.astype(int))
        points = np.where(inside[:, None], self.joints2d, 0.0)
        rows, columns = np.flatnonzero(self.mask.any(axis=1)), np.flatnonzero(self.mask.any(axis=0))
        box = [0, 0, 0, 0]
        if len(rows):
            left, top = int(columns[0]), int(rows[0])
            box = [left, top, int(columns[-1]) + 1 - left, int(rows[-1]) + 1 - top]
        known = np.all(np.isfinite(self.joints3d), axis=1).tolist()
        return {
            "width": width,
            "height": height,
            "keypoints": [float(n) for row in np.column_stack([points, flags]) for n in row],
            "num_keypoints": int((flags > 0).sum()),
            "keypoints_3d": [
                place if ok else None for place, ok in zip(self.joints3d.tolist(), known, strict=True)
            ],
            "keypoint_names": list(self.names),
            "skeleton": [[int(p) + 1, j + 1] for j, p in enumerate(self.parents) if p >= 0],
            "bbox": box,
            "area": int(self.mask.sum()),
            "iscrowd": 0,
            "intrinsics": self.intrinsics.tolist(),
            "extrinsics": self.extrinsics.tolist(),
        }


def ground_truth(
    model: Model,
    picture: NDArray[np.uint8],
    names: Sequence[str],
    sight: Sight,
    later: Later | None,
    joints: NDArray[np.float64],
) -> GroundTruth:
    """All of it, from what is seen; `joints` (J, 3) are in scene space."""
    lens, parents = sight.lens, np.array(model.skeleton.parents)
    return GroundTruth(
        picture=picture,
        mask=sight.codes != 0,
        layers=MappingProxyType(draw_layers(names, sight, later)),
        joints2d=lens.to_pixels(lens.to_camera(joints)),
        joints3d=joints,
        visible=visible_joints(sight, joints, parents),
        intrinsics=lens.intrinsics,
        extrinsics=lens.extrinsics,
        names=tuple(model.skeleton.names),
        parents=parents,
    )
