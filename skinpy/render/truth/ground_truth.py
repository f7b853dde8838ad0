"""Ground truth: a picture, and all that is known of it because it was drawn and not photographed."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skinpy._arguments import flag
from skinpy.files.whole import replacing

from ..._arguments import brief, path_of
from .joints import visible_joints
from .layers import Later, Sight, draw_layers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skinpy.model import Model


@dataclass(frozen=True, eq=False, repr=False)
class GroundTruth:
    """A picture of a model with layers of numbers for its pixels, its joints and its camera.

    `Renderer.render` makes it. Pixels: x goes right and y down from the top left corner of the picture. The
    pixel in column c of row r has its center at (c + 0.5, r + 0.5), so that ``picture[int(y), int(x)]``
    shows the point (x, y). Layers describe the centers of pixels, one sample each, without smooth edges.
    Lengths are in model units.

    Attributes
    ----------
    picture : (h, w, 4) uint8 ndarray
        The picture as `Renderer.frame` returns it, with its smooth edges.
    mask : (h, w) bool ndarray
        Whether the model is seen at the pixel.
    layers : mapping of str to ndarray
        The layers that were asked for, by name.
    joints2d : (J, 2) float64 ndarray, pixels
        x and y of the joints, also outside the picture; NaN behind the camera.
    joints3d : (J, 3) float64 ndarray, scene units
        Positions of the joints in scene space; NaN for a vertex animation and a bare palette, which have
        none.
    visible : (J,) bool ndarray
        Whether the joint is in the picture, and no surface hides it but that of its own limb.
    intrinsics : (3, 3) float64 ndarray
        Matrix from camera space to pixels times z.
    extrinsics : (4, 4) float64 ndarray
        Matrix from scene space to camera space.
    names : tuple of str
        The names of the joints.
    parents : (J,) int32 ndarray
        The parents of the joints, -1 for roots.

    Notes
    -----
    Camera space has x right, y down and z along the view, as OpenCV has it. For functions of OpenCV that put
    the centers of pixels at whole numbers, subtract 0.5 from the pixels, and from x and y of the last column
    of `intrinsics`.
    """

    picture: NDArray[np.uint8]
    mask: NDArray[np.bool_]
    layers: Mapping[str, NDArray[Any]]
    joints2d: NDArray[np.float64]
    joints3d: NDArray[np.float64]
    visible: NDArray[np.bool_]
    intrinsics: NDArray[np.float64]
    extrinsics: NDArray[np.float64]
    names: tuple[str, ...]
    parents: NDArray[np.int32]

    def __reduce__(self) -> tuple[Any, ...]:
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return _read, ({**values, "layers": dict(self.layers)},)

    @property
    def depth(self) -> NDArray[np.float32]:
        """Distance along the view axis, (h, w) float32; infinite where nothing is seen."""
        return self._layer("depth")

    @property
    def position(self) -> NDArray[np.float32]:
        """The point that is seen, in scene space, (h, w, 3) float32; 0 where nothing is seen."""
        return self._layer("position")

    @property
    def normal(self) -> NDArray[np.float32]:
        """Unit normal that lights the side that is seen, in scene space, (h, w, 3) float32; 0 elsewhere."""
        return self._layer("normal")

    @property
    def joint(self) -> NDArray[np.int32]:
        """The joint with the largest weight at the point that is seen, (h, w) int32; -1 elsewhere."""
        return self._layer("joint")

    @property
    def submesh(self) -> NDArray[np.int32]:
        """Index of the submesh that is seen, (h, w) int32; -1 where nothing is seen."""
        return self._layer("submesh")

    @property
    def material(self) -> NDArray[np.int32]:
        """Index of the material that is seen, (h, w) int32; -1 where nothing is seen or it has none."""
        return self._layer("material")

    @property
    def face(self) -> NDArray[np.int32]:
        """Index in `Mesh.faces` of the face that is seen, (h, w) int32; -1 where nothing is seen."""
        return self._layer("face")

    @property
    def barycentric(self) -> NDArray[np.float32]:
        """Barycentric coordinates in the face of the point that is seen, (h, w, 3) float32; 0 elsewhere."""
        return self._layer("barycentric")

    @property
    def uv(self) -> NDArray[np.float32]:
        """Texture coordinates of the mesh, origin at the top left, (h, w, 2) float32; 0 elsewhere.

        No transform of a material or an animation is applied: a point on the body has the same coordinates
        in all frames.
        """
        return self._layer("uv")

    @property
    def flow(self) -> NDArray[np.float32]:
        """Motion of the point that is seen until the other time, (h, w, 2) float32, x and y in pixels.

        The point may be hidden at that time. The flow is NaN where it is behind the camera then, and 0 where
        nothing is seen.
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
        """Write everything to a NumPy archive.

        The arrays have the names of the attributes and of the layers: ``numpy.load(path)["depth"]``. The
        file appears whole or not at all.

        Parameters
        ----------
        path : str or path-like
            The file, which ends in ".npz".
        compressed : bool, default True
            Whether the archive is compressed.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        ValueError
            If the path has another suffix.
        TypeError
            If an argument has the wrong type.
        OSError
            If the file cannot be written.
        """
        write: Any = np.savez_compressed if flag("compressed", compressed) else np.savez
        target = Path(path_of("path", path))
        if target.suffix.lower() != ".npz":
            raise ValueError(f"path ends in {brief(target.suffix)}; expected '.npz'")
        fields = ("picture", "mask", "joints2d", "joints3d", "visible", "intrinsics", "extrinsics", "parents")
        arrays = {name: getattr(self, name) for name in fields} | dict(self.layers)
        archive = io.BytesIO()
        write(archive, names=np.array(self.names, np.str_), **arrays)
        with replacing(target) as file:
            file.write(archive.getbuffer())
        return target

    def to_dict(self) -> dict[str, Any]:
        """Return joints and box in the layout of COCO's person keypoints, in types that JSON has.

        Returns
        -------
        dict of str to object
            "keypoints" are x, y, v of one joint after another: v is 2 for a visible joint, 1 for a hidden
            one in the picture, 0 (with x = y = 0) outside it. "bbox" is the box around the mask: left, top,
            width, height; "area" is the number of its pixels. "keypoints_3d" are positions in scene space,
            None where they are unknown. "skeleton" has pairs of joint numbers from 1, as COCO counts them.
            "intrinsics" and "extrinsics" are the camera's.
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
                point if ok else None for point, ok in zip(self.joints3d.tolist(), known, strict=True)
            ],
            "keypoint_names": list(self.names),
            "skeleton": [[int(p) + 1, j + 1] for j, p in enumerate(self.parents) if p >= 0],
            "bbox": box,
            "area": int(self.mask.sum()),
            "iscrowd": 0,
            "intrinsics": self.intrinsics.tolist(),
            "extrinsics": self.extrinsics.tolist(),
        }


def _read(values: dict[str, Any]) -> GroundTruth:
    """The ground truth of a pickle, which cannot hold the mapping of the layers itself."""
    return GroundTruth(**{**values, "layers": MappingProxyType(values["layers"])})


def ground_truth(
    model: Model,
    picture: NDArray[np.uint8],
    names: Sequence[str],
    sight: Sight,
    later: Later | None,
    joints: NDArray[np.float64],
) -> GroundTruth:
    """The ground truth of a picture, from what its pixels show; `joints` (J, 3) are in scene space."""
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
