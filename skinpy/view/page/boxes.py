"""The bounding box of the model in each frame of a page, from which the page finds the area of the shadow."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skinpy.kinds import VertexAnimation
from skinpy.models.frames import chunks, corners

if TYPE_CHECKING:
    from skinpy.clip import Clip

    from ...render.posing import Motion, Poser

_MAX_POINTS = 500_000_000  # vertices posed for all frames of a page, in a few seconds; beyond, boxes of slots


class Boxes:
    """The boxes of a page that has `rows` baked frames in all its clips together."""

    def __init__(self, poser: Poser, rows: int) -> None:
        self._poser, self._rows = poser, rows

    def of(self, motion: Motion, times: NDArray[np.float64]) -> NDArray[np.float32]:
        """(N, 6): lowest and highest corner of each frame, at `times` (N,) or as stored.

        If the frames of the page have too many vertices, the boxes are larger than needed, never smaller.
        """
        if isinstance(motion, VertexAnimation):
            return _box_rows(corners(self._poser.drawn(motion.frames)))
        count = self._poser.point_count
        if not count:
            return np.zeros((len(times), 6), np.float32)
        if self._poser.has_mesh and self._rows * count > _MAX_POINTS:
            return self._slot_boxes.at(motion, times)
        found = np.empty((len(times), 6), np.float32)
        for some in chunks(len(times), 3 * count):
            found[some] = _box_rows(corners(self._poser.points(motion, times[some])))
        return found

    @cached_property
    def _slot_boxes(self) -> _SlotBoxes:
        return _SlotBoxes(self._poser)


class _SlotBoxes:
    """Boxes made from one box per palette slot, so that their cost does not grow with the vertices.

    A skinned vertex is a mean of the positions that its slots give it, with weights of 0 or more, so the box
    around the positions of all slots contains it. Each morph target adds to a position at most its weight
    times the box of its differences. For rigid submeshes that do not rotate these are the exact boxes.
    """

    def __init__(self, poser: Poser) -> None:
        self._model = model = poser.model
        mesh, drawn = model.mesh, poser.drawn_vertices
        chosen = slice(None) if drawn is None else drawn
        low = np.full((3, len(model.skin.joints)), np.inf, np.float32)
        high = -low
        for slots, weights in zip(mesh.slots[chosen].T, mesh.weights[chosen].T, strict=True):
            used = np.flatnonzero(weights)
            for axis, column in enumerate(mesh.positions[chosen].T):
                np.minimum.at(low[axis], slots[used], column[used])
                np.maximum.at(high[axis], slots[used], column[used])
        self._slots = np.flatnonzero(low[0] <= high[0])
        self._rest = np.stack([low, high])[:, :, self._slots].swapaxes(1, 2).astype(np.float64)  # (2, S, 3)
        steps = np.zeros((2, len(model.targets), 3))  # 0 for the vertices that a target does not move
        for number, target in enumerate(model.targets):
            if len(target.positions):
                steps[:, number] = corners(target.positions)
        self._low_step, self._high_step = np.minimum(steps[0], 0.0), np.maximum(steps[1], 0.0)

    def at(self, clip: Clip | None, times: NDArray[np.float64]) -> NDArray[np.float32]:
        """(N, 6): the boxes at times (N,) of the clip."""
        model, found = self._model, np.empty((len(times), 6), np.float32)
        slots = len(self._slots)
        for some in chunks(len(times), 64 * len(model.skeleton) + 48 * slots):
            pose = model.pose(clip, times[some], loop="clamp")
            matrices = pose.palette(affine=True)[:, self._slots].astype(np.float64)
            low, high = self._rest[:, None] + self._steps(pose.morph_weights)[:, :, None]
            middle, half = (high + low) / 2, (high - low) / 2
            middle = np.einsum("nsij,nsj->nsi", matrices[..., :3], middle) + matrices[..., 3]
            extent = np.einsum("nsij,nsj->nsi", np.abs(matrices[..., :3]), half)
            low, high = corners(middle - extent)[:, 0], corners(middle + extent)[:, 1]
            found[some] = np.concatenate([low, high], axis=1)
        return found

    def _steps(self, weights: NDArray[np.float32]) -> NDArray[np.float64]:
        """(2, N, 3): how far morph targets with weights (N, M) can move a vertex down and up each axis."""
        more, less = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
        down = more @ self._low_step + less @ self._high_step
        return np.stack([down, more @ self._high_step + less @ self._low_step])


def _box_rows(box: NDArray[np.floating]) -> NDArray[np.float32]:
    """Corners (N, 2, 3) as (N, 6) float32."""
    return box.reshape(-1, 6).astype(np.float32)
