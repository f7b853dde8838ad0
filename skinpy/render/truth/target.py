"""The numbers of the faces that a picture shows: one sample per pixel, at its center."""

from __future__ import annotations

from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from skinpy.errors import GraphicsError

from ..figure import Figure
from ..gpu import context as gl
from ..scene.facets import Vertices
from ..scene.mesh_scene import Scene
from ..scene.texturing import Texturing
from ..scene.view import View

_DITHER = 0x0BD0  # GL_DITHER: OpenGL may change colors by it, which would change numbers


class FaceTarget:
    """A framebuffer for the output of faces.frag. All calls belong on the context's thread."""

    def __init__(self, context: moderngl.Context, size: tuple[int, int]) -> None:
        self.size = size
        self._context = context
        try:
            codes, depth = context.renderbuffer(size, 4), context.depth_renderbuffer(size)
            self._framebuffer = context.framebuffer([codes], depth)
        except moderngl.Error as error:
            raise GraphicsError(f"cannot number the faces of a picture of size {size}: {error}") from None

    def begin(self) -> None:
        """Bind and clear."""
        self._framebuffer.use()
        self._framebuffer.depth_mask = True
        self._framebuffer.clear(0.0, 0.0, 0.0, 0.0)
        self._context.disable_direct(_DITHER)

    def read(self) -> NDArray[np.uint32]:
        """The codes that faces.frag has written, (h, w) uint32, row 0 on top."""
        width, height = self.size
        data = self._framebuffer.read(components=4)
        gl.check(self._context, "numbering the faces of a frame")
        codes = np.frombuffer(data, "<u4").reshape(height, width)
        return np.ascontiguousarray(codes[::-1], np.uint32)


class SeenFaces(NamedTuple):
    """The results of the GPU for the ground truth of one frame."""

    codes: NDArray[np.uint32]  # (h, w): the faces that are seen, as faces.frag writes them
    vertices: Vertices
    moved: NDArray[np.float32] | None  # (V, 3): positions of the vertices in another figure


def draw_faces(
    target: FaceTarget, scene: Scene, figure: Figure, view: View, texturing: Texturing, then: Figure | None
) -> SeenFaces:
    """Draw the numbers of a figure's faces, and compute its vertices, also those in the figure `then`."""
    target.begin()
    scene.number_faces(figure, view, texturing)
    codes = target.read()
    return SeenFaces(codes, scene.vertices(figure), None if then is None else scene.moved(figure, then))
