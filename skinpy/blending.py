"""Blending of poses that are there already; the controller blends clips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import any_array, floats
from ._types import Array, Floats
from .mask import Mask
from .playing.tracks import MOST_WEIGHT
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
    """The weighted mean of poses of one model: a new Pose.

    poses is a sequence of N poses with the same leading axes (...); weights has N entries, each a number or
    (...), 0 or more: an array (N,) or (N,...), or a sequence. masks has N masks or None. At each joint, with
    w = weight * mask: T = sum(w T) / sum(w), S likewise, R = normalize(sum(w R)), morph weights as the joint
    of their mesh. Quaternion signs are taken against the rest rotation, for two poses against each other
    (their nlerp along the shorter arc), so the order does not matter. Where sum(w) is below 0.1 the rest
    pose takes what is missing to 0.1; where it is 0, the joint is at rest. The first pose's root is kept.

    Raises ValueError (no pose, poses of several models or shapes, negative or not finite weights, a wrong
    number of weights or masks), TypeError, and KeyError for joints that a mask does not find.
    """
    given = list(poses)
    if not given:
        raise ValueError("poses is empty; expected one pose or more")
    for number, pose in enumerate(given):
        if not isinstance(pose, Pose):
            raise TypeError(f"poses[{number}] is of type {type(pose).__name__}; expected a Pose")
    model, shape = given[0].model, given[0].translation.shape[:-2]
    for number, pose in enumerate(given):
        if pose._block is not given[0]._block or pose.translation.shape[:-2] != shape:
            raise ValueError(f"poses[{number}] has another model or other leading axes than poses[0]")
    result = given[0].copy()
    return _core._blend(result, given, _weights(weights, len(given), shape), _masks(masks, len(given), model))


def _weights(
    weights: npt.ArrayLike | Sequence[npt.ArrayLike], count: int, shape: tuple[int, ...]
) -> list[Array]:
    rows = list(np.asarray(weights)) if isinstance(weights, np.ndarray) else weights
    if not isinstance(rows, Sequence) or len(rows) != count:
        came = len(rows) if isinstance(rows, Sequence) else repr(weights)
        raise ValueError(f"weights has {came} entries; expected {count}, one per pose")
    arrays = []
    for number, row in enumerate(rows):
        name = f"weights[{number}]"
        array = floats(name, row, shape if any_array(name, row).ndim else (), np.float64)
        if array.size and (array.min() < 0 or array.max() > MOST_WEIGHT):
            worst = array.min() if array.min() < 0 else array.max()
            raise ValueError(f"{name} holds {worst:g}; expected 0 or more, and at most {MOST_WEIGHT:g}")
        arrays.append(array)
    return arrays


def _masks(masks: Sequence[Mask | None] | None, count: int, model: Model) -> list[Floats | None]:
    if masks is None:
        return [None] * count
    if not isinstance(masks, Sequence) or len(masks) != count:
        raise ValueError(f"masks is {masks!r}; expected {count} masks or None, one per pose")
    for number, mask in enumerate(masks):
        if mask is not None and not isinstance(mask, Mask):
            raise TypeError(f"masks[{number}] is of type {type(mask).__name__}; expected a Mask or None")
    return [None if mask is None else mask.weights(model) for mask in masks]
