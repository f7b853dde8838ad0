"""The camera as computer vision has it: intrinsics, extrinsics, pixels. Numbers only, no OpenGL."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..camera import Camera

# Ours looks along -Z with Y up; OpenCV's along +Z with Y down.
_TURNED = np.diag([1.0, -1.0, -1.0, 1.0])


@dataclass(frozen=True)
class Lens:
    """A camera and a picture's size (width, height).

    Pixels: x goes right and y down from the picture's top left corner, so that the pixel in column c of row r
    has its center at (c + 0.5, r + 0.5). The camera's space has x right, y down and z along the view.
    """

    camera: Camera
    size: tuple[int, int]

    @property
    def intrinsics(self) -> NDArray[np.float64]:
        """(3, 3) float64: `intrinsics @ (x, y, z)` of the camera's space is (column, row, 1) times z."""
        width, height = self.size
        focal = height / 2 / math.tan(math.radians(self.camera.fov) / 2)
        return np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]])

    @property
    def extrinsics(self) -> NDArray[np.float64]:
        """(4, 4) float64: scene space to the camera's space."""
        return _TURNED @ self.camera.view()

    def to_camera(self, points: NDArray[np.floating]) -> NDArray[np.float64]:
        """Points (..., 3) of scene space in the camera's space, float64."""
        matrix = self.extrinsics
        moved: NDArray[np.float64] = points.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        return moved

    def to_pixels(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (..., 3) of the camera's space in pixels, (..., 2) float64; NaN behind it."""
        depth = np.where(points[..., 2:] > 0, points[..., 2:], np.nan)
        matrix = self.intrinsics
        pixels: NDArray[np.float64] = points[..., :2] / depth * matrix[[0, 1], [0, 1]] + matrix[:2, 2]
        return pixels

    def rays(self, pixels: NDArray[np.intp]) -> NDArray[np.float64]:
        """(N, 3) float64, camera's space, z 1: through the centers of pixels (N,), counted row by row."""
        width, _ = self.size
        matrix = self.intrinsics
        rays = np.ones((len(pixels), 3))
        rays[:, 0] = (pixels % width + 0.5 - matrix[0, 2]) / matrix[0, 0]
        rays[:, 1] = (pixels // width + 0.5 - matrix[1, 2]) / matrix[1, 1]
        return rays
