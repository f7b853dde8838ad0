"""Where the joints of a pose are in a picture, and which of them is under the pointer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...render import Camera

if TYPE_CHECKING:
    from ...pose import Pose


def joints_on_screen(pose: Pose, camera: Camera, size: tuple[int, int]) -> NDArray[np.float64]:
    """(J, 2): the joints in pixels from the left and top of the picture, NaN behind the camera."""
    width, height = size
    positions = pose.globals(affine=True)[:, :, 3].astype(np.float64)
    matrix = camera.projection(width / height) @ camera.view()
    clip = positions @ matrix[:, :3].T + matrix[:, 3]  # homogeneous clip space
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = np.where(clip[:, 3:] > 0, clip[:, :2] / clip[:, 3:], np.nan).T
    return np.stack([(1 + x) * width / 2, (1 - y) * height / 2], axis=1)


def nearest_joint(joints: NDArray[np.float64], x: float, y: float, reach: float) -> int | None:
    """The joint that is nearest to (x, y) on the screen; None if it is farther than `reach` pixels."""
    distances = np.hypot(*(joints - (x, y)).T)
    if not len(distances) or not np.nanmin(distances, initial=math.inf) <= reach:
        return None
    return int(np.nanargmin(distances))
