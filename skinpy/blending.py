"""Blending of finished poses. To blend clips, use the controller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import any_array, brief, floats, items_of
from ._types import Array, Floats
from .mask import Mask
from .playing.bounds import MAX_WEIGHT
from .pose import Pose

if TYPE_CHECKING:
    from .model import Model

__all__ = ["blend"]


def blend(
    poses: Sequence[Pose],
    weights: npt.ArrayLike | Sequence[npt.ArrayLike],
    *,
    masks: Sequence[Mask | None] | None = None,
) -> Pose:
    """Return the weighted mean of poses of one model.

    Parameters
    ----------
    poses : sequence of Pose
        N poses of one model with the same leading axes (...).
    weights : array_like, shape (N,) or (N, ...), or sequence of array_like
        The weight of each pose, 0 or more: N entries, each a number or an array (...).
    masks : sequence of Mask or None, optional
        N masks, which scale the weights joint by joint. None stands for a mask of 1 everywhere.

    Returns
    -------
    Pose
        A new pose. The root transform is that of the first pose.

    Raises
    ------
    ValueError
        If there is no pose, the poses are of several models or shapes, a weight is negative or not finite,
        or the number of weights or masks is not that of the poses.
    TypeError
        If `poses` or `masks` holds something else, or `weights` does not hold real numbers.
    KeyError
        If the model lacks a joint that a mask names.

    Notes
    -----
    At each joint, with ``w = weight * mask``, the translation is ``sum(w T) / sum(w)``, and the scale
    likewise. Morph weights are treated as the joint that their mesh hangs on. The rotation of two poses is
    their nlerp along the shorter arc. That of three or more is the eigenvector of ``sum(w q q^T)`` with the
    largest eigenvalue (Markley and others, "Averaging Quaternions", 2007), which depends smoothly on poses
    and weights except where the two largest eigenvalues meet. The order of the poses does not matter. Of
    both signs of a quaternion, the one nearer to the rest rotation is returned.

    If ``sum(w)`` is below 0.1, the rest pose is one more pose, with the weight that is missing to 0.1; if it
    is 0, the joint is at rest. Where a third weight becomes 0, two rotations that are 90 degrees apart can
    change by up to 3.2 degrees, and more if they are farther apart; docs/blending.md has figures.

    Examples
    --------
    >>> model = skinpy.character()
    >>> walk, run = model.pose("walk", 0.2), model.pose("run", 0.2)
    >>> skinpy.blend([walk, run], [0.75, 0.25])
    <Pose: 26 joints>
    """
    given: list[Pose] = items_of("poses", poses, "a sequence of poses")
    if not given:
        raise ValueError("poses is empty; expected one pose or more")
    for number, pose in enumerate(given):
        if not isinstance(pose, Pose):
            raise TypeError(f"poses[{number}] is of type {type(pose).__name__}; expected a Pose")
    model, shape = given[0].model, given[0].translation.shape[:-2]
    for number, pose in enumerate(given):
        if pose._block.rig is not given[0]._block.rig or pose.translation.shape[:-2] != shape:
            raise ValueError(f"poses[{number}] has another model or other leading axes than poses[0]")
    result = given[0].copy()  # the C function overwrites it
    return _core._blend(result, given, _weights(weights, len(given), shape), _masks(masks, len(given), model))


def _weights(
    weights: npt.ArrayLike | Sequence[npt.ArrayLike], count: int, shape: tuple[int, ...]
) -> list[Array]:
    """One float64 array for each pose: a number, or of the leading shape of the poses."""
    rows = list(np.asarray(weights)) if isinstance(weights, np.ndarray) else weights
    if not isinstance(rows, Sequence) or len(rows) != count:
        came = len(rows) if isinstance(rows, Sequence) else brief(weights)
        raise ValueError(f"weights has {came} entries; expected {count}, one per pose")
    arrays = []
    for number, row in enumerate(rows):
        name = f"weights[{number}]"
        array = floats(name, row, shape if any_array(name, row).ndim else (), np.float64)
        if array.size and (array.min() < 0 or array.max() > MAX_WEIGHT):
            worst = array.min() if array.min() < 0 else array.max()
            raise ValueError(f"{name} holds {worst:g}; expected 0 or more, and at most {MAX_WEIGHT:g}")
        arrays.append(array)
    return arrays


def _masks(masks: Sequence[Mask | None] | None, count: int, model: Model) -> list[Floats | None]:
    """The weights (J,) of each mask; None for a pose without a mask."""
    if masks is None:
        return [None] * count
    if not isinstance(masks, Sequence) or len(masks) != count:
        raise ValueError(
            f"masks is {brief(masks)}; expected a sequence of {count} masks or None, one per pose"
        )
    for number, mask in enumerate(masks):
        if mask is not None and not isinstance(mask, Mask):
            raise TypeError(f"masks[{number}] is of type {type(mask).__name__}; expected a Mask or None")
    return [None if mask is None else mask.weights(model) for mask in masks]
