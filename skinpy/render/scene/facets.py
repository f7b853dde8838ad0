"""The triangles of a model in the order of drawing, for ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skinpy.models.drawn import drawn_vertices, is_drawn

if TYPE_CHECKING:
    from skinpy.model import Model


@dataclass(frozen=True)
class Facets:
    """Triangles in the order in which they are drawn, with all that is the same in every frame."""

    faces: NDArray[Any]  # (F, 3): indices of vertices
    joints: NDArray[np.int32]  # (V, K): the joints that each vertex follows
    weights: NDArray[np.float32]  # (V, K)
    uvs: NDArray[np.float32]  # (V, 2): zeros for a mesh without them
    number: NDArray[np.int32]  # (F,): index of the face in the model
    submesh: NDArray[np.int32]  # (F,)
    material: NDArray[np.int32]  # (F,): -1 for none
    drawn: NDArray[np.bool_] | None = None  # (V,): False for hidden vertices; None: there are none

    @cached_property
    def owner(self) -> NDArray[np.int32]:
        """The joint with the largest weight at each vertex, (V,); -1 for hidden vertices."""
        if not len(self.joints):
            return np.zeros(0, np.int32)
        most = self.weights.argmax(axis=1)[:, None]
        owner = np.take_along_axis(self.joints, most, axis=1)[:, 0]
        return owner if self.drawn is None else np.where(self.drawn, owner, np.int32(-1))


@dataclass(frozen=True)
class Vertices:
    """The vertices of facets in one frame, in scene space: (V, 3) float32 each."""

    positions: NDArray[np.float32]
    normals: NDArray[np.float32]


def mesh_facets(model: Model, order: NDArray[np.intp]) -> Facets:
    """The faces of a model's mesh in the order in which they are drawn."""
    mesh = model.mesh
    submesh = np.zeros(len(mesh.faces), np.int32)
    material = np.full(len(mesh.faces), -1, np.int32)
    for number, one in enumerate(mesh.submeshes):
        own = slice(one.face_range.start, one.face_range.stop)
        submesh[own] = number
        material[own] = -1 if one.material is None else one.material
    return Facets(
        mesh.faces[order],
        model.skin.joints[mesh.slots].astype(np.int32),
        mesh.weights,
        np.zeros((len(mesh.positions), 2), np.float32) if mesh.uvs is None else mesh.uvs,
        order.astype(np.int32),
        submesh[order],
        material[order],
        None if drawn_vertices(mesh) is None else is_drawn(mesh),
    )


def loose_facets(joints: NDArray[np.int32]) -> Facets:
    """Triangles that share no vertices, such as those of a drawn skeleton; vertex i follows `joints[i]`."""
    faces = np.arange(len(joints)).reshape(-1, 3)
    no_submesh, no_material = np.zeros(len(faces), np.int32), np.full(len(faces), -1, np.int32)
    return Facets(
        faces,
        joints[:, None],
        np.ones((len(joints), 1), np.float32),
        np.zeros((len(joints), 2), np.float32),
        np.arange(len(faces), dtype=np.int32),
        no_submesh,
        no_material,
    )
