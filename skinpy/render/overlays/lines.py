"""Drawing lines that are so many pixels wide, whatever the scale of the scene."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from ..gpu.shader import programs
from ..gpu.uploads import Uploads
from ..scene.mesh import begin_blending
from .marks import Lines

_CONTENT = ("3f 3f 4f 1f/i", "in_from", "in_to", "in_color", "in_width")
_HALO = 1.25  # pixels of shade around lines that are on top, to stand out from any ground
_HALO_COLOR = (0.01, 0.01, 0.015, 0.75)


class LinePainter:
    """Draws lines as quads, smooth at the edges without samples. All calls belong on the context's thread."""

    def __init__(self, uploads: Uploads) -> None:
        self._uploads = uploads
        self._context = uploads.context
        self._program = programs(self._context).get("overlay_line.vert", "overlay_line.frag")

    def draw(
        self,
        lines: Lines,
        projection: NDArray[np.float64],
        framebuffer: moderngl.Framebuffer,
        *,
        on_top: bool,
    ) -> None:
        """Draw lines in their order: on top of everything and with a dark rim, or behind what is nearer.

        `projection` (4, 4) leads from the space that they are in to clip space.
        """
        if not len(lines):
            return
        self._context.enable_only(moderngl.NOTHING if on_top else moderngl.DEPTH_TEST)
        begin_blending(self._context, framebuffer)
        self._program["view_projection"] = tuple(projection.T.ravel())
        self._program["viewport"] = framebuffer.size
        if on_top:
            rims = lines.copy()
            rims[:, 6:9], rims[:, 9] = _HALO_COLOR[:3], _HALO_COLOR[3] * lines[:, 9]
            self._render(rims, _HALO)
        self._render(lines, 0.0)
        framebuffer.depth_mask = True

    def draw_flat(self, lines: Lines, framebuffer: moderngl.Framebuffer) -> None:
        """Draw lines that are in pixels from the picture's top left, on top of everything."""
        width, height = framebuffer.size
        matrix = np.diag([2 / width, -2 / height, 0.0, 1.0])
        matrix[:2, 3] = -1.0, 1.0
        self.draw(lines, matrix, framebuffer, on_top=True)

    def _render(self, lines: Lines, halo: float) -> None:
        self._program["halo"] = halo
        array = self._context.vertex_array(self._program, [(self._uploads.buffer(lines), *_CONTENT)])
        array.render(moderngl.TRIANGLE_STRIP, 4, instances=len(lines))
