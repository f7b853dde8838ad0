"""The copy of a mesh on the GPU: uploaded once, posed and drawn every frame."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import moderngl
import numpy as np
from numpy.typing import NDArray

from skinpy.models.drawn import is_drawn

from ..figure import Figure, Posed, Stored
from ..gpu import context as gl
from ..gpu.shader import programs
from ..gpu.uploads import Uploads
from .drawing import Drawing
from .facets import Facets, Vertices, mesh_facets
from .geometry import Draw, Geometry
from .mesh import BACK_FACES, FEEDBACK, FRONT_FACES, MeshBuffers, begin_blending, feedback_vertices
from .paint import FACE_NUMBERS, Paint, Prepare
from .palette import PaletteTransport, make_transport
from .shape import FrameShape, MorphShape, Shape, StillShape
from .texturing import Texturing
from .view import View

if TYPE_CHECKING:
    from skinpy.model import Model

_SOLID = 0.5  # alpha from which blended faces count as solid, for ground truth


class Scene(Protocol):
    """What a renderer draws: a mesh, or the skeleton of a model without one."""

    @property
    def uploads(self) -> Uploads:
        """The uploads of the scene."""

    def draw(self, drawing: Drawing) -> None:
        """Draw opaque faces, the ground, then blended faces."""

    def stamp(self, figure: Figure, paint: Paint, prepare: Prepare) -> None:
        """Draw the whole figure in one call with other shaders, in the current state of OpenGL.

        A mesh has faces, edges and vertices to draw; a drawn skeleton has faces alone.
        """

    def number_faces(self, figure: Figure, view: View, texturing: Texturing) -> None:
        """Draw the numbers of the faces, as faces.frag writes them, into the bound framebuffer."""

    def facets(self, model: Model, figure: Figure) -> Facets:
        """The faces in the order of their numbers. Any thread may call it."""

    def vertices(self, figure: Figure) -> Vertices:
        """The vertices of the faces."""

    def moved(self, figure: Figure, then: Figure) -> NDArray[np.float32]:
        """The positions of the vertices of `figure` in the figure `then`, (V, 3) float32."""


class MeshScene:
    """The mesh of a model on the GPU, with storage for palettes and shapes.

    All calls belong on the context's thread. It keeps no reference to the model.
    """

    def __init__(self, context: moderngl.Context, geometry: Geometry, transport: str) -> None:
        self._context = context
        self.uploads = uploads = Uploads(context)
        self._geometry = geometry
        self._transport = transport
        self.mesh = MeshBuffers(uploads, geometry)
        shape = StillShape() if geometry.morph is None else MorphShape(uploads, geometry.morph)
        self._skin = _Body(self, shape)
        self._sent: Posed | None = None
        self._facets: Facets | None = None
        self._stored: dict[int, tuple[weakref.ref[Any], _Body]] = {}  # by the id of the vertex animation

    def make_palette(self) -> PaletteTransport:
        """New storage for a palette of the model."""
        return make_transport(self.uploads, self._geometry.slots, self._transport)

    def draw(self, drawing: Drawing, paint: Paint | None = None, prepare: Prepare | None = None) -> None:
        """Draw the mesh: opaque faces, the ground, then blended faces, the farthest first.

        `paint` has a fragment shader that is used in place of lit.frag, and `prepare` sets its uniforms.
        """
        figure, view, framebuffer, texturing, ground = drawing
        body = self._body(figure)
        program, array = body.lit() if paint is None else body.painted(self, paint)
        (prepare or view.set_uniforms)(program)
        self.mesh.begin(program)
        draws = self._draws(figure)
        for draw in draws:
            if draw.blended is None:
                self.mesh.draw_faces(array, draw, texturing)
        blended = [draw for draw in draws if draw.blended is not None]
        if ground is not None:
            ground()
        if blended:
            begin_blending(self._context, framebuffer)
            # The back faces of a double-sided surface lie behind its front faces.
            for draw in sorted(blended, key=lambda draw: view.nearness(_center(draw, figure))):
                self.mesh.draw_faces(array, draw, texturing, BACK_FACES)
                self.mesh.draw_faces(array, draw, texturing, FRONT_FACES)
            framebuffer.depth_mask = True

    def stamp(self, figure: Figure, paint: Paint, prepare: Prepare) -> None:
        """Draw all faces, edges or vertices, in the current state of OpenGL."""
        program, array = self._body(figure).painted(self, paint)
        prepare(program)
        self.mesh.render(array, paint.of, _shown(figure))

    def skinned_vertices(self, figure: Figure) -> NDArray[np.float32]:
        """The output of the vertex shader for each vertex: (V, 6) float32, position and normal."""
        array = self._body(figure).feedback(self)
        vertices: NDArray[np.float32] = feedback_vertices(array, len(self._geometry.vertices), 1)[0]
        return vertices

    def number_faces(self, figure: Figure, view: View, texturing: Texturing) -> None:
        """Draw the numbers of the faces. Blended faces count as solid from an alpha of 0.5."""
        program, array = self._body(figure).painted(self, FACE_NUMBERS)
        view.set_projection(program)
        self.mesh.begin(program)
        for draw in self._draws(figure):
            program["first_face"] = draw.first_face
            self.mesh.draw_faces(array, _solid(draw), texturing)

    def facets(self, model: Model, figure: Figure) -> Facets:
        """The faces of the mesh in the order of drawing."""
        if self._facets is None:
            self._facets = mesh_facets(model, self._geometry.face_order)
        shown = _shown(figure)
        if shown is None:
            return self._facets
        return dataclasses.replace(self._facets, drawn=is_drawn(model.mesh, shown))

    def vertices(self, figure: Figure) -> Vertices:
        """The vertices as the vertex shader computes them."""
        vertices = self.skinned_vertices(figure)
        return Vertices(vertices[:, :3], vertices[:, 3:])

    def moved(self, figure: Figure, then: Figure) -> NDArray[np.float32]:
        """The positions of another figure as the vertex shader computes them."""
        return self.skinned_vertices(then)[:, :3]

    def _draws(self, figure: Figure) -> list[Draw]:
        """The draws that the figure does not hide."""
        shown = _shown(figure)
        return [draw for draw in self._geometry.draws if draw.is_shown(shown)]

    def _body(self, figure: Figure) -> _Body:
        """The mesh in the shape and pose of the figure; sends what it needs."""
        if isinstance(figure, Stored):
            body = self._frames(figure)
            assert isinstance(body.shape, FrameShape)
            body.shape.choose(figure.first, figure.second, figure.blend)
            return body
        if self._sent is not figure:  # a frame may draw the same figure several times
            self._skin.palette.write(figure.numbers)
            if isinstance(self._skin.shape, MorphShape):
                self._skin.shape.write(figure.weights)
            self._sent = figure
        return self._skin

    def _frames(self, figure: Stored) -> _Body:
        """A vertex animation on the GPU: sent when it is first drawn, freed when the animation is gone."""
        key = id(figure.animation)
        if (
            key not in self._stored or self._stored[key][0]() is not figure.animation
        ):  # another object may have the same id later
            shape = FrameShape(self.uploads, figure.positions, figure.normals)
            body = _Body(self, shape)
            body.palette.write(figure.rest)
            gl.check(self._context, "sending a vertex animation to the GPU")
            self._stored[key] = (weakref.ref(figure.animation, self._forgetter(key)), body)
        return self._stored[key][1]

    def _forgetter(self, key: int) -> Callable[[weakref.ref[Any]], None]:
        stored, thread = self._stored, gl.graphics_thread()

        def free(reference: weakref.ref[Any]) -> None:
            if key in stored and stored[key][0] is reference:
                del stored[key]

        return lambda reference: thread.post(lambda context: free(reference))


class _Body:
    """The mesh of a scene in one shape, with the palette that poses it."""

    def __init__(self, scene: MeshScene, shape: Shape) -> None:
        self.shape = shape
        self.palette = scene.make_palette()
        self._context = scene.uploads.context
        self._defines = {**self.palette.defines, **shape.defines, **scene.mesh.defines(instanced=False)}
        self._program = programs(self._context).get("skin.vert", "lit.frag", defines=self._defines)
        self._array = scene.mesh.vertex_array(self._program, shape.attributes)

    def bind(self, program: moderngl.Program) -> None:
        """Make a program read the shape and the palette."""
        self.palette.bind(program)
        self.shape.bind(program)

    def lit(self) -> tuple[moderngl.Program, moderngl.VertexArray]:
        """The program of lit.frag, bound to shape and palette, and its inputs."""
        self.bind(self._program)
        return self._program, self._array

    def painted(self, scene: MeshScene, paint: Paint) -> tuple[moderngl.Program, moderngl.VertexArray]:
        """The program of other shaders, bound to shape and palette, and its inputs."""
        program = programs(self._context).get(
            "skin.vert", paint.fragment, geometry=paint.geometry, defines={**self._defines, **paint.defines}
        )
        self.bind(program)
        attributes = [*self.shape.attributes, *paint.attributes]
        return program, scene.mesh.vertex_array(program, attributes, of=paint.of)

    def feedback(self, scene: MeshScene) -> moderngl.VertexArray:
        """The inputs of the program whose outputs transform feedback captures."""
        program = programs(self._context).get("skin.vert", defines=self._defines, varyings=FEEDBACK)
        self.bind(program)
        return scene.mesh.vertex_array(program, self.shape.attributes, of="vertices")


def _shown(figure: Figure) -> NDArray[np.bool_] | None:
    """The submeshes of a figure that are drawn; None: those that are visible at rest."""
    return figure.shown if isinstance(figure, Posed) else None


def _solid(draw: Draw) -> Draw:
    """A blended draw as one that is cut below an alpha of 0.5."""
    if draw.blended is None:
        return draw
    cut = dataclasses.replace(draw.surface, alpha="solid", alpha_cutoff=_SOLID)
    return dataclasses.replace(draw, surface=cut)


def _center(draw: Draw, figure: Figure) -> NDArray[np.float64]:
    """The center (3,) of the vertices of a blended draw, in scene space, without morph targets."""
    assert draw.blended is not None
    if isinstance(figure, Posed):
        return draw.blended.posed_center(figure.numbers)
    return draw.blended.stored_center(figure.positions[figure.first])
