"""The camera as computer vision describes it: intrinsics, extrinsics, pixels. No OpenGL."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..camera import Camera

# Our cameras look along -Z with Y up, those of OpenCV along +Z with Y down.
_TO_OPENCV = np.diag([1.0, -1.0, -1.0, 1.0])


@dataclass(frozen=True)
class Lens:
    """A camera and the size of a picture (width, height).

    Pixels: x goes right and y down from the top left corner of the picture; the pixel in column c of row r
    has its center at (c + 0.5, r + 0.5). Camera space has x right, y down and z along the view.
    """

    camera: Camera
    size: tuple[int, int]

    @property
    def intrinsics(self) -> NDArray[np.float64]:
        """The matrix (3, 3) float64 from (x, y, z) in camera space to (column, row, 1) times z."""
        width, height = self.size
        focal = height / 2 / math.tan(math.radians(self.camera.fov) / 2)
        return np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]])

    @property
    def extrinsics(self) -> NDArray[np.float64]:
        """The matrix (4, 4) float64 from scene space to camera space."""
        return _TO_OPENCV @ self.camera.view()

    def to_camera(self, points: NDArray[np.floating]) -> NDArray[np.float64]:
        """Points (..., 3) of scene space in camera space, float64."""
        matrix = self.extrinsics
        moved: NDArray[np.float64] = points.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        return moved

    def to_pixels(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (..., 3) of camera space in pixels, (..., 2) float64; NaN behind the camera."""
        depth = np.where(points[..., 2:] > 0, points[..., 2:], np.nan)
        matrix = self.intrinsics
        pixels: NDArray[np.float64] = points[..., :2] / depth * matrix[[0, 1], [0, 1]] + matrix[:2, 2]
        return pixels

    def rays(self, pixels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Rays (N, 3) float64 in camera space, with z = 1, through the centers of pixels (N,)."""
        width, _ = self.size
        matrix = self.intrinsics
        rays = np.ones((len(pixels), 3))
        rays[:, 0] = (pixels % width + 0.5 - matrix[0, 2]) / matrix[0, 0]
        rays[:, 1] = (pixels // width + 0.5 - matrix[1, 2]) / matrix[1, 1]
        return rays
