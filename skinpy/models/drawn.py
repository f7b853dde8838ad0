"""Which vertices are drawn, and what the clips of a model change about that and about its materials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _block
from .._types import Array

if TYPE_CHECKING:
    from ..assets import Mesh
    from ..model import Model


def is_drawn(mesh: Mesh, shown: Array | None = None) -> Array:
    """(V,) bool: False for the vertices that only hidden submeshes have.

    `shown` (number of submeshes,) bool says which submeshes are drawn; None: those that are visible at rest.
    """
    drawn = np.ones(len(mesh.positions), np.bool_)
    visible = [one.visible for one in mesh.submeshes] if shown is None else shown
    for value in (False, True):
        for one, is_visible in zip(mesh.submeshes, visible, strict=True):
            if is_visible == value:
                drawn[one.vertex_range.start : one.vertex_range.stop] = value
    return drawn


def drawn_vertices(mesh: Mesh, shown: Array | None = None) -> Array | None:
    """Indices of the vertices that are drawn, in ascending order; None for all of them.

    It is also None if every vertex is hidden, so that there is a box around such a model.
    """
    if all([one.visible for one in mesh.submeshes] if shown is None else shown):
        return None
    chosen = np.flatnonzero(is_drawn(mesh, shown))
    return chosen if len(chosen) else None


def changing_submeshes(model: Model) -> Array:
    """(number of submeshes,) bool: whether a clip of the model animates the visibility of a submesh."""
    return model._changing[0]


def changing_materials(model: Model) -> frozenset[int]:
    """The indices of the materials that a clip of the model animates."""
    return model._changing[1]


def find_changing(model: Model) -> tuple[Array, frozenset[int]]:
    """The results of changing_submeshes and changing_materials."""
    joints = np.zeros(len(model.skeleton.parents), np.bool_)
    materials: set[int] = set()
    for clip in model.clips:
        records = clip._channel_records
        looks = records[records["path"] > _block.WEIGHT_PATH]
        of_materials = looks["path"] >= _block.FIRST_MATERIAL_PATH
        materials.update(looks["joint"][of_materials].tolist())
        joints[looks["joint"][~of_materials]] = True
    if joints.any():
        for joint, parent in enumerate(model.skeleton.parents):
            joints[joint] |= parent >= 0 and joints[parent]
    nodes = np.array([one.node for one in model.mesh.submeshes], np.intp)
    return joints[nodes], frozenset(materials)
