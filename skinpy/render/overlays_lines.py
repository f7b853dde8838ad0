"""Drawing lines that are so many pixels wide, whatever the scale of the scene."""

from __future__ import annotations

import moderngl

from .mesh import begin_blending
from .overlays_marks import Lines
from .shader import programs
from .uploads import Uploads
from .view import View

_CONTENT = ("3f 3f 4f 1f/i", "in_from", "in_to", "in_color", "in_width")
_HALO = 1.25  # pixels of shade around lines that are on top, to stand out from any ground
_HALO_COLOR = (0.01, 0.01, 0.015, 0.75)


class LinePainter:
    """Draws lines as quads, smooth at the edges without samples. All calls belong on the context's thread."""

    def __init__(self, uploads: Uploads) -> None:
        self._uploads = uploads
        self._context = uploads.context
        self._program = programs(self._context).get("overlay_line.vert", "overlay_line.frag")

    def draw(self, lines: Lines, view: View, framebuffer: moderngl.Framebuffer, *, on_top: bool) -> None:
        """Draw lines in their order: on top of everything and with a dark rim, or behind what is nearer."""
        if not len(lines):
            return
        self._context.enable_only(moderngl.NOTHING if on_top else moderngl.DEPTH_TEST)
        begin_blending(self._context, framebuffer)
        view.set_projection(self._program)
        self._program["viewport"] = framebuffer.size
        if on_top:
            rims = lines.copy()
            rims[:, 6:9], rims[:, 9] = _HALO_COLOR[:3], _HALO_COLOR[3] * lines[:, 9]
            self._render(rims, _HALO)
        self._render(lines, 0.0)
        framebuffer.depth_mask = True

    def _render(self, lines: Lines, halo: float) -> None:
        self._program["halo"] = halo
        array = self._context.vertex_array(self._program, [(self._uploads.buffer(lines), *_CONTENT)])
        array.render(moderngl.TRIANGLE_STRIP, 4, instances=len(lines))
