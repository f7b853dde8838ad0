"""Figures: a model as one frame shows it, in the numbers that a scene draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from skinpy.kinds import VertexAnimation


@dataclass(frozen=True)
class Posed:
    """A model posed by its joints.

    `numbers` are the palette (S, 3, 4) float32 of a model with a mesh, or the joint positions (J, 3) float32
    of a model without one; both C-contiguous. `weights` (M,) float32 are those of the morph targets. `shown`
    (number of submeshes,) says which submeshes are drawn; None: those that are visible at rest.
    """

    numbers: NDArray[np.float32]
    weights: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    shown: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Stored:
    """A model between two frames of a vertex animation: `blend` is 0 at the first, 1 at the second.

    `positions` and `normals` (N, V, 3) in scene space are those of all frames. `rest` is the rest palette.
    """

    animation: VertexAnimation
    first: int
    second: int
    blend: float
    positions: NDArray[Any]
    normals: NDArray[Any]
    rest: NDArray[np.float32]


Figure: TypeAlias = Posed | Stored
