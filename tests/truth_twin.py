"""The float64 twin of ground truth: rays through pixel centers against every triangle (Moeller, Trumbore),
and points through the camera's own matrices. Slow, and without OpenGL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_CLEAR = 0.02  # barycentric coordinate, and depth by the size, from which a pixel counts as clear


@dataclass(frozen=True)
class Cast:
    """What rays hit: (h, w, ...) each, and where that is beyond doubt."""

    face: Array  # -1 is nothing
    shares: Array  # (h, w, 3)
    depth: Array
    front: Array  # by the winding
    clear: Array  # no edge and no second surface nearby


def matrices(camera: Any, size: tuple[int, int]) -> tuple[Array, Array]:
    """Scene to camera, camera to clip, as OpenGL has them."""
    return camera.view(), camera.projection(size[0] / size[1])


def to_pixels(points: Array, camera: Any, size: tuple[int, int]) -> Array:
    """Points (..., 3) in scene space as pixels (..., 2), y down from the top."""
    view, projection = matrices(camera, size)
    clip = np.concatenate([points, np.ones((*points.shape[:-1], 1))], axis=-1) @ (projection @ view).T
    x, y = clip[..., 0] / clip[..., 3], clip[..., 1] / clip[..., 3]
    return np.stack([(x + 1) / 2 * size[0], (1 - y) / 2 * size[1]], axis=-1)


def rays(camera: Any, size: tuple[int, int]) -> tuple[Array, Array]:
    """The eye (3,) and directions (h, w, 3) through the pixels' centers, of length 1 along the view."""
    view, projection = matrices(camera, size)
    width, height = size
    x = (np.arange(width) + 0.5) / width * 2 - 1
    y = 1 - (np.arange(height) + 0.5) / height * 2
    near = np.stack([*np.meshgrid(x, y), np.zeros((height, width)), np.ones((height, width))], axis=-1)
    points = near @ np.linalg.inv(projection @ view).T
    eye = np.linalg.inv(view)[:3, 3]
    directions = points[..., :3] / points[..., 3:] - eye
    along = -view[2, :3]
    return eye, directions / (directions @ along)[..., None]


def cast(positions: Array, faces: Array, camera: Any, size: tuple[int, int]) -> Cast:
    """The nearest face at each pixel; both sides count."""
    eye, directions = rays(camera, size)
    flat = directions.reshape(-1, 3)
    corner = positions.astype(np.float64)[faces]  # (F, 3, 3)
    first, second = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    depth, u, v = (np.empty((len(flat), len(faces))) for _ in range(3))
    facing = np.empty((len(flat), len(faces)))
    start = eye - corner[:, 0]
    cross_start = np.cross(start, first)
    for i, ray in enumerate(flat):
        across = np.cross(ray, second)
        determinant = np.einsum("fi,fi->f", first, across)
        facing[i] = determinant  # above 0: counterclockwise as the ray sees it
        determinant[determinant == 0] = np.nan  # edge on
        u[i] = np.einsum("fi,fi->f", start, across) / determinant
        v[i] = cross_start @ ray / determinant
        depth[i] = np.einsum("fi,fi->f", second, cross_start) / determinant
    return _nearest(np.stack([1 - u - v, u, v], axis=-1), depth, facing, camera, size, positions)


def _nearest(
    shares: Array, depth: Array, facing: Array, camera: Any, size: tuple[int, int], positions: Array
) -> Cast:
    least = np.nan_to_num(shares.min(axis=2), nan=-np.inf)
    within = (depth > camera.near) & (depth < camera.far) & np.isfinite(depth)
    hit = within & (least >= 0)
    far = np.where(hit, depth, np.inf)
    face = far.argmin(axis=1)
    rows = np.arange(len(face))
    nearest = far[rows, face]
    # What all but hits a face, at the same depth or before it, makes the pixel doubtful.
    extent = float(np.ptp(positions, axis=0).max())
    close = within & (least > -_CLEAR) & (depth < nearest[:, None] + _CLEAR * extent)
    close[rows, face] = False
    nothing = ~np.isfinite(nearest)
    clear = ~close.any(axis=1) & (nothing | (least[rows, face] > _CLEAR))
    shape = size[::-1]
    return Cast(
        np.where(nothing, -1, face).reshape(shape),
        np.where(nothing[:, None], 0, shares[rows, face]).reshape(*shape, 3),
        nearest.reshape(shape),
        (facing[rows, face] > 0).reshape(shape),
        clear.reshape(shape),
    )


def blend(cast_: Cast, faces: Array, values: Array) -> Array:
    """Values of vertices, (V, ...), interpolated at the points that are hit, (h, w, ...)."""
    corners = values.astype(np.float64)[faces[cast_.face]]
    return np.einsum("hwk,hwk...->hw...", cast_.shares, corners)


def largest_joint(cast_: Cast, model: Any) -> tuple[Array, Array]:
    """The joint with the largest weight, (h, w), and the difference to the next weight."""
    result = np.full(cast_.face.shape, -1)
    lead = np.zeros(cast_.face.shape)
    for row, column in np.argwhere(cast_.face >= 0):
        sums: dict[int, float] = {}
        for share, vertex in zip(
            cast_.shares[row, column], model.mesh.faces[cast_.face[row, column]], strict=True
        ):
            for slot, weight in zip(model.mesh.slots[vertex], model.mesh.weights[vertex], strict=True):
                joint = int(model.skin.joints[slot])
                sums[joint] = sums.get(joint, 0.0) + float(share) * float(weight)
        order = sorted(sums.items(), key=lambda entry: -entry[1])
        result[row, column] = order[0][0]
        lead[row, column] = order[0][1] - (order[1][1] if len(order) > 1 else 0.0)
    return result, lead


def mirrored(cast_: Cast, model: Any, palette: Array) -> Array:
    """(h, w): whether the last vertex of the face is mirrored by its skin."""
    blended = np.einsum("vk,vkij->vij", model.mesh.weights.astype(float), palette[model.mesh.slots][..., :3])
    turned = np.linalg.det(blended) < 0
    return turned[model.mesh.faces[cast_.face][..., 2]]
