"""Drawing letters, one quad each, from a texture of glyphs."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from ..gpu.shader import programs
from ..gpu.uploads import Uploads
from ..scene.mesh import begin_blending
from .glyphs import Glyphs
from .marks import linear

# By component of the glyphs: the rims first, so that no rim covers the ink of a neighbor.
_COLORS = {1: linear("#10141c"), 0: linear("#ffffff")}


class TextPainter:
    """Draws letters on top of everything. All calls belong on the context's thread."""

    def __init__(self, uploads: Uploads) -> None:
        self._uploads = uploads
        self._context = uploads.context
        self._program = programs(self._context).get("overlay_text.vert", "overlay_text.frag")
        self._table: tuple[Glyphs, moderngl.Texture] | None = None

    def draw(self, glyphs: Glyphs, letters: NDArray[np.float32], framebuffer: moderngl.Framebuffer) -> None:
        """Draw letters (N, 6), as `Glyphs.lay_out` returns them."""
        if not len(letters):
            return
        self._program["glyphs"] = 0
        self._texture(glyphs).use(0)
        self._program["viewport"] = framebuffer.size
        self._context.enable_only(moderngl.NOTHING)
        begin_blending(self._context, framebuffer)
        content = (self._uploads.buffer(letters), "4f 2f/i", "in_box", "in_texel")
        array = self._context.vertex_array(self._program, [content])
        for component, color in _COLORS.items():
            self._program["component"], self._program["color"] = component, color
            array.render(moderngl.TRIANGLE_STRIP, 4, instances=len(letters))
        framebuffer.depth_mask = True

    def _texture(self, glyphs: Glyphs) -> moderngl.Texture:
        """The glyphs as a texture, sent when they are first drawn."""
        if self._table is None or self._table[0] is not glyphs:
            height, width = glyphs.texels.shape[:2]
            texture = self._uploads.texture((width, height), 2, glyphs.texels, alignment=1)
            texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
            self._table = glyphs, texture
        return self._table[1]
