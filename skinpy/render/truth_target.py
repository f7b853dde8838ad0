"""Where the faces that a picture shows are numbered: one sample per pixel, at its center, and no color."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from skinpy.errors import GraphicsError

from . import context as gl

_DITHER = 0x0BD0  # OpenGL's name for what it may do to colors, though bytes should not need it


class FaceTarget:
    """A framebuffer for faces.frag. All calls belong on the context's thread."""

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
        """The codes of faces.frag, (h, w) uint32, row 0 on top."""
        width, height = self.size
        data = self._framebuffer.read(components=4)
        gl.check(self._context, "numbering the faces of a frame")
        codes = np.frombuffer(data, "<u4").reshape(height, width)
        return np.ascontiguousarray(codes[::-1], np.uint32)
