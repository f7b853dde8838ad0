"""Overlays on the GPU: the one thing that a renderer calls for frames that have some."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property

import moderngl

from .figure import Figure
from .mesh import begin_blending
from .overlays_lines import LinePainter
from .overlays_marks import linear
from .overlays_plan import Plan
from .paint import Paint
from .scene import Scene
from .texturing import Texturing
from .uploads import Uploads
from .view import View

_DEPTH = Paint("overlay_depth.frag")
_WIRE = Paint("overlay_line.frag", "overlay_wire.geom", of="edges")
_WIRE_COLOR, _WIRE_WIDTH = (*linear("#2f6fbe"), 0.9), 0.6  # a mid-tone: seen on light and on dark
_BEHIND = (2.0, 2.0)  # polygon offset: an edge two pixels wide still lies in front of its face


class OverlayScene:
    """Draws a scene with its overlays. All calls belong on the context's thread.

    Nothing is made before it is needed.
    """

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self.uploads = Uploads(context)

    @cached_property
    def _lines(self) -> LinePainter:
        return LinePainter(self.uploads)

    def draw(
        self,
        plan: Plan,
        scene: Scene,
        figure: Figure,
        view: View,
        framebuffer: moderngl.Framebuffer,
        texturing: Texturing,
        ground: Callable[[], None] | None,
    ) -> None:
        """Draw the figure and what `plan` adds to it, into the bound framebuffer."""
        if plan.wireframe:
            if ground is not None:
                ground()
            self._wires(scene, figure, view, framebuffer)
        else:
            scene.draw(figure, view, framebuffer, texturing, ground)
        self._lines.draw(plan.lines_on_top, view, framebuffer, on_top=True)

    def _wires(self, scene: Scene, figure: Figure, view: View, framebuffer: moderngl.Framebuffer) -> None:
        """The edges of faces, without those that other faces hide."""
        self._depth(scene, figure, view, framebuffer)

        def prepare(program: moderngl.Program) -> None:
            view.set_projection(program)
            program["viewport"] = framebuffer.size
            program["color"], program["width"] = _WIRE_COLOR, _WIRE_WIDTH

        begin_blending(self._context, framebuffer)
        scene.stamp(figure, _WIRE, prepare)
        framebuffer.depth_mask = True

    def _depth(self, scene: Scene, figure: Figure, view: View, framebuffer: moderngl.Framebuffer) -> None:
        """Put the depth of a figure, a little farther than it is, where nothing nearer is."""
        self._context.enable_only(moderngl.DEPTH_TEST)
        begin_blending(self._context, framebuffer)
        framebuffer.depth_mask = True
        with self._offset():
            scene.stamp(figure, _DEPTH, view.set_projection)

    @contextmanager
    def _offset(self) -> Iterator[None]:
        self._context.polygon_offset = _BEHIND
        yield
        self._context.polygon_offset = (0.0, 0.0)
