"""Which vertices are drawn: all but those of hidden submeshes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._types import Array

if TYPE_CHECKING:
    from ..assets import Mesh


def is_drawn(mesh: Mesh) -> Array:
    """(V,) bool: False for the vertices that only hidden submeshes have."""
    drawn = np.ones(len(mesh.positions), np.bool_)
    for visible in (False, True):
        for one in mesh.submeshes:
            if one.visible == visible:
                drawn[one.vertex_range.start : one.vertex_range.stop] = visible
    return drawn


def drawn_vertices(mesh: Mesh) -> Array | None:
    """Indices of the vertices that are drawn, in ascending order; None for all of them.

    It is also None if every vertex is hidden, so that there is a box around such a model.
    """
    if all(one.visible for one in mesh.submeshes):
        return None
    chosen = np.flatnonzero(is_drawn(mesh))
    return chosen if len(chosen) else None
