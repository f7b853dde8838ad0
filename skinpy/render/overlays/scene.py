"""Drawing a frame with overlays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property

import moderngl

from ..gpu.uploads import Uploads
from ..scene.drawing import Drawing
from ..scene.mesh import begin_blending
from ..scene.mesh_scene import MeshScene, Scene
from ..scene.paint import Paint, Prepare
from .lines import LinePainter
from .marks import linear
from .plan import Ghost, Plan, Values
from .scale import STEPS, scale_table
from .text import TextPainter

_DEPTH = Paint("overlay_depth.frag")
_GHOST = Paint("overlay_ghost.frag")
_WIRE = Paint("overlay_line.frag", "overlay_wire.geom", of="edges")
_NORMAL = Paint("overlay_line.frag", "overlay_normal.geom", of="vertices")

_WIRE_COLOR, _WIRE_WIDTH = (*linear("#2f6fbe"), 0.9), 0.6  # a mid-tone, which is seen on light and on dark
_OVER_COLOR = (*linear("#10141c"), 0.5)  # of edges on a colored surface
_NORMAL_COLOR, _NORMAL_WIDTH = (*linear("#12a594"), 0.9), 0.8
_NO_VALUE_COLOR = linear("#c3c8cf")
_BEHIND = (2.0, 2.0)  # polygon offset with which an edge of two pixels lies in front of its face
_SCALE_UNIT = 5  # texture unit; image, palette and shape have those below


class OverlayScene:
    """Draws a scene with its overlays. All calls belong on the context's thread.

    Programs and textures are made when they are first needed.
    """

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self.uploads = Uploads(context)
        self._values: tuple[Values, moderngl.Buffer] | None = None

    def draw(self, plan: Plan, scene: Scene, drawing: Drawing) -> None:
        """Draw the figure and the plan of its overlays."""
        framebuffer, projection = drawing.framebuffer, drawing.view.projection()
        if drawing.ground is not None and (plan.ghosts or plan.wireframe):
            drawing.ground()  # the ghosts stand on the floor, and the floor is seen between the edges
            drawing = drawing._replace(ground=None)
        for ghost in plan.ghosts:
            self._ghost(ghost, scene, drawing)
        if plan.ghosts:
            self._clear_depth(framebuffer)
        if plan.values is not None:
            self._heat(plan.values, plan.wireframe, scene, drawing)
        elif not plan.wireframe:
            scene.draw(drawing)
        if plan.wireframe:
            self._wires(_OVER_COLOR if plan.values is not None else _WIRE_COLOR, scene, drawing)
        if plan.normals is not None:
            self._normals(plan.normals, scene, drawing)
        self._lines.draw(plan.lines_inside, projection, framebuffer, on_top=False)
        self._lines.draw(plan.lines_on_top, projection, framebuffer, on_top=True)
        self._lines.draw_flat(plan.lines_flat, framebuffer)
        if plan.letters is not None:
            self._text.draw(*plan.letters, framebuffer)

    # ---- figures ------------------------------------------------------------------------------------

    def _ghost(self, ghost: Ghost, scene: Scene, drawing: Drawing) -> None:
        """Draw a transparent figure whose nearest faces alone are seen; it hides no other figure."""
        framebuffer, view = drawing.framebuffer, drawing.view
        self._clear_depth(framebuffer)
        self._depth(scene, drawing._replace(figure=ghost.figure))

        def prepare(program: moderngl.Program) -> None:
            view.set_projection(program)
            program["eye"] = view.camera.eye
            program["color"] = ghost.color

        framebuffer.depth_mask = False
        scene.stamp(ghost.figure, _GHOST, prepare)
        framebuffer.depth_mask = True

    def _heat(self, values: Values, behind: bool, scene: Scene, drawing: Drawing) -> None:
        """Draw the surface in the colors of values, a little `behind` its place for edges on top of it."""
        view = drawing.view
        assert isinstance(scene, MeshScene)
        attribute = (self._value_buffer(values), "1f", "in_value")
        paint = Paint("overlay_heat.frag", defines={"VALUES": 1}, attributes=(attribute,))

        def prepare(program: moderngl.Program) -> None:
            view.set_projection(program)
            program["eye"] = view.camera.eye
            program["none"], program["none_below"] = _NO_VALUE_COLOR, values.none_below
            program["scale"] = _SCALE_UNIT
            self._scale.use(_SCALE_UNIT)

        with self._offset() if behind else nullcontext():
            scene.draw(drawing, paint, prepare)

    def _depth(self, scene: Scene, drawing: Drawing) -> None:
        """Write the depth of a figure, a little farther than it is."""
        self._context.enable_only(moderngl.DEPTH_TEST)
        begin_blending(self._context, drawing.framebuffer)
        drawing.framebuffer.depth_mask = True
        with self._offset():
            scene.stamp(drawing.figure, _DEPTH, drawing.view.set_projection)

    def _clear_depth(self, framebuffer: moderngl.Framebuffer) -> None:
        framebuffer.color_mask = (False,) * 4
        framebuffer.clear(depth=1.0)
        framebuffer.color_mask = (True,) * 4
        framebuffer.use()  # moderngl applies the mask when it binds the framebuffer

    # ---- lines --------------------------------------------------------------------------------------

    def _wires(self, color: tuple[float, ...], scene: Scene, drawing: Drawing) -> None:
        """Draw the edges of faces, without those that faces hide."""
        if color is _WIRE_COLOR:
            self._depth(scene, drawing)  # otherwise the surface has written its depth

        def prepare(program: moderngl.Program) -> None:
            drawing.view.set_projection(program)
            program["viewport"] = drawing.framebuffer.size
            program["color"], program["width"] = color, _WIRE_WIDTH

        self._blend(_WIRE, prepare, scene, drawing)

    def _normals(self, length: float, scene: Scene, drawing: Drawing) -> None:
        def prepare(program: moderngl.Program) -> None:
            drawing.view.set_projection(program)
            program["viewport"] = drawing.framebuffer.size
            program["color"], program["width"] = _NORMAL_COLOR, _NORMAL_WIDTH
            program["normal_length"] = length

        self._blend(_NORMAL, prepare, scene, drawing)

    def _blend(self, paint: Paint, prepare: Prepare, scene: Scene, drawing: Drawing) -> None:
        self._context.enable_only(moderngl.DEPTH_TEST)
        begin_blending(self._context, drawing.framebuffer)
        scene.stamp(drawing.figure, paint, prepare)
        drawing.framebuffer.depth_mask = True

    # ---- made once, when needed --------------------------------------------------------------------------

    @cached_property
    def _lines(self) -> LinePainter:
        return LinePainter(self.uploads)

    @cached_property
    def _text(self) -> TextPainter:
        return TextPainter(self.uploads)

    @cached_property
    def _scale(self) -> moderngl.Texture:
        texture = self.uploads.texture((STEPS, 1), 3, scale_table(), dtype="f4")
        texture.repeat_x = False
        return texture

    def _value_buffer(self, values: Values) -> moderngl.Buffer:
        """The buffer of values, which are sent when they are first shown."""
        if self._values is None or self._values[0] is not values:
            self._values = values, self.uploads.buffer(values.numbers)
        return self._values[1]

    @contextmanager
    def _offset(self) -> Iterator[None]:
        """Draw faces a little farther than they are."""
        self._context.polygon_offset = _BEHIND
        yield
        self._context.polygon_offset = (0.0, 0.0)
