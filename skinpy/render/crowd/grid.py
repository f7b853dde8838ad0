"""Placements of a crowd on a square grid."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skinpy._arguments import brief, check_model, positive, whole
from skinpy.models.bounds import box
from skinpy.models.overflow import refuse_overflow

from ..camera import front_vector, up_vector

if TYPE_CHECKING:
    from skinpy.model import Model

_MAX_INSTANCES = 10_000_000  # of a grid: their placements take 480 MB
_SPACING = 1.25  # from instance to instance, by the width of the model


def grid(model: Model, count: int, *, spacing: float | None = None) -> NDArray[np.float32]:
    """Return placements on a square grid on the ground, around the origin, facing the front.

    Rows are ordered from the back to the front. The last row may be shorter.

    Parameters
    ----------
    model : Model
        The model.
    count : int
        N, the number of instances.
    spacing : float, scene units, optional
        Distance of neighbors. Without it, one and a quarter times the width of the model at rest.

    Returns
    -------
    (N, 3, 4) float32 ndarray
        The placements, for `Crowd`.

    Raises
    ------
    ValueError
        If the count is below 1, or the spacing is not above 0.
    TypeError
        If the count is not an integer.

    Examples
    --------
    >>> skinpy.render.grid(skinpy.character(), 9, spacing=2.0).shape
    (9, 3, 4)
    """
    check_model("model", model)
    number = whole("count", count, 1)
    if number > _MAX_INSTANCES:
        raise ValueError(f"count is {brief(number)}; expected at most {_MAX_INSTANCES}")
    if spacing is None:
        widths = np.ptp(box(model), axis=0)[up_vector(model.up) == 0]
        if not np.isfinite(widths).all():
            refuse_overflow(model, None)
        spacing = _SPACING * float(widths.max()) or 1.0
    spacing = positive("spacing", spacing, "a number above 0, or None")
    side = math.isqrt(number - 1) + 1
    row, column = np.divmod(np.arange(number), side)
    in_row = np.minimum(number - row * side, side)
    front = front_vector(model.up)
    right = np.cross(up_vector(model.up), front)
    across, along = column - (in_row - 1) / 2, row - row[-1] / 2
    placements = np.zeros((number, 3, 4), np.float32)
    placements[:, :, :3] = np.eye(3)
    placements[:, :, 3] = spacing * (across[:, None] * right + along[:, None] * front)
    return placements
