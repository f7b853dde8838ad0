"""Shapes: where the vertices are before skinning.

A shape is the mesh of the file, the mesh with morph targets, or a frame of a vertex animation. Each class has
an include file shape_*.glsl in shaders/. What a shape stores goes to the GPU once; a frame sends the weights
of morph targets, or nothing but uniforms for a stored frame.
"""

from __future__ import annotations

from typing import Any, Protocol

import moderngl
import numpy as np
from numpy.typing import NDArray

from ..gpu.uploads import TexelTable, Uploads
from .geometry import MorphTable
from .mesh import Attributes

_FIRST_UNIT, _SECOND_UNIT, _THIRD_UNIT = 2, 3, 4  # texture units; 0 is the image's, 1 the palette's


class Shape(Protocol):
    """Storage for the vertices of one model in one context. All calls belong on the context's thread."""

    @property
    def defines(self) -> dict[str, int | str]:
        """Macros for the vertex shader: SHAPE (the include file), the macros of that file, and SKINNED."""

    @property
    def attributes(self) -> list[Attributes]:
        """Vertex attributes besides those of the mesh."""

    def bind(self, program: moderngl.Program) -> None:
        """Make `program` read this shape."""


class StillShape:
    """The mesh as the file has it."""

    def __init__(self) -> None:
        self.defines: dict[str, int | str] = {"SHAPE": "shape_still.glsl", "SKINNED": 1}
        self.attributes: list[Attributes] = []

    def bind(self, program: moderngl.Program) -> None:
        """Do nothing: the program reads no more than the mesh."""


class MorphShape:
    """The mesh with any number of morph targets, which are stored by vertex; a float texture has weights."""

    def __init__(self, uploads: Uploads, table: MorphTable) -> None:
        self._deltas = TexelTable(uploads, table.deltas, "the morph targets")
        self._normals = None
        if table.normals is not None:
            self._normals = TexelTable(uploads, table.normals, "the normals of the morph targets")
        self._sent = np.zeros((table.targets, 1), np.float32)
        self._weights = TexelTable(uploads, self._sent, "the weights of the morph targets")
        self.attributes: list[Attributes] = [(uploads.buffer(table.runs), "2u4", "in_morph")]
        self.defines: dict[str, int | str] = {
            "SHAPE": "shape_morph.glsl",
            "SKINNED": 1,
            "MORPH_NORMALS": int(self._normals is not None),
        }

    def write(self, weights: NDArray[np.float32]) -> None:
        """Send the weights (M,) of the frame, unless they equal those of the frame before."""
        if (weights != self._sent[:, 0]).any():
            self._sent[:, 0] = weights
            self._weights.write(self._sent)

    def bind(self, program: moderngl.Program) -> None:
        self._deltas.bind(program, "morph_deltas", _FIRST_UNIT)
        if self._normals is not None:
            self._normals.bind(program, "morph_normals", _SECOND_UNIT)
        self._weights.bind(program, "morph_weights", _THIRD_UNIT)


class FrameShape:
    """All frames of a vertex animation; two uniforms select what is seen."""

    def __init__(self, uploads: Uploads, positions: NDArray[Any], normals: NDArray[Any]) -> None:
        """`positions` and `normals` are (N, V, 3), in scene space."""
        self.defines: dict[str, int | str] = {"SHAPE": "shape_frames.glsl", "SKINNED": 0}
        self.attributes: list[Attributes] = []
        self._vertices = positions.shape[1]
        self._positions = TexelTable(uploads, _texels(positions), "the frames of a vertex animation")
        self._normals = TexelTable(uploads, _texels(normals), "the normals of a vertex animation")
        self._choice: tuple[tuple[int, int], float] = ((0, 0), 0.0)

    def choose(self, first: int, second: int, blend: float) -> None:
        """Select a point between two frames: `blend` is 0 at the first, 1 at the second."""
        self._choice = ((first * self._vertices, second * self._vertices), blend)

    def bind(self, program: moderngl.Program) -> None:
        self._positions.bind(program, "frame_positions", _FIRST_UNIT)
        self._normals.bind(program, "frame_normals", _SECOND_UNIT)
        program["frame_texels"], program["frame_blend"] = self._choice


def _texels(vectors: NDArray[Any]) -> NDArray[np.float32]:
    return np.ascontiguousarray(vectors, np.float32).reshape(-1, 3)
