"""Drawing lines with widths in pixels, whatever the scale of the scene."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from ..gpu.shader import programs
from ..gpu.uploads import Uploads
from ..scene.mesh import begin_blending
from .marks import Lines

_CONTENT = ("3f 3f 4f 1f/i", "in_from", "in_to", "in_color", "in_width")
_HALO = 1.25  # pixels of dark rim around lines on top, which makes them stand out from any background
_HALO_COLOR = (0.01, 0.01, 0.015, 0.75)


class LinePainter:
    """Draws lines as quads with smooth edges. All calls belong on the context's thread."""

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
        """Draw lines in their order: on top of everything with a dark rim, or behind what is nearer.

        `projection` (4, 4) is the matrix from the space of the lines to clip space.
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
        """Draw lines in pixels from the top left of the picture, on top of everything."""
        width, height = framebuffer.size
        matrix = np.diag([2 / width, -2 / height, 0.0, 1.0])
        matrix[:2, 3] = -1.0, 1.0
        self.draw(lines, matrix, framebuffer, on_top=True)

    def _render(self, lines: Lines, halo: float) -> None:
        self._program["halo"] = halo
        array = self._context.vertex_array(self._program, [(self._uploads.buffer(lines), *_CONTENT)])
        array.render(moderngl.TRIANGLE_STRIP, 4, instances=len(lines))
