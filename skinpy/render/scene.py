"""The GPU's copy of one model, in one context: uploaded once, posed and drawn every frame."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Protocol

import moderngl
import numpy as np
from numpy.typing import NDArray

from . import context as gl
from .figure import Figure, Posed, Stored
from .geometry import Draw, Geometry, Surface
from .palette import PaletteTransport, make_transport
from .shader import programs
from .shape import FrameShape, MorphShape, Shape, StillShape
from .texturing import PLAIN, Texturing, set_wrap
from .uploads import Uploads
from .view import View

_TEXTURE_UNIT = 0
_SRGB8_ALPHA8 = 0x8C43  # OpenGL's name for textures that the sampler decodes to linear light
_ALPHA_MODES = {"opaque": 0, "mask": 1, "blend": 2}
_BOTH_SIDES, _BACK_FACES, _FRONT_FACES = range(3)  # `layer` of lit.frag
_ANISOTROPY = 8.0
_FEEDBACK_FLOATS = 6  # position and normal


class Scene(Protocol):
    """What the renderer draws: a mesh, or the skeleton of a model without one."""

    @property
    def uploads(self) -> Uploads:
        """What was sent to the GPU for it."""

    def draw(
        self,
        figure: Figure,
        view: View,
        framebuffer: moderngl.Framebuffer,
        texturing: Texturing = PLAIN,
        ground: Callable[[], None] | None = None,
    ) -> None:
        """Draw into the bound framebuffer. `ground` draws what stands between the opaque and the blended."""


class MeshScene:
    """A model's mesh: vertices, faces and textures on the GPU, and storage for what poses it.

    All calls belong on the context's thread. It keeps no reference to the model.
    """

    def __init__(self, context: moderngl.Context, geometry: Geometry, transport: str) -> None:
        self._context = context
        self.uploads = uploads = Uploads(context)
        self._geometry = geometry
        self._transport = transport
        self._vertices = uploads.buffer(geometry.vertices)
        self._faces = uploads.buffer(geometry.faces) if len(geometry.faces) else None
        self._textures = [upload_image(uploads, image) for image in geometry.images]
        self._white = white_texture(uploads)
        shape = StillShape() if geometry.morph is None else MorphShape(uploads, geometry.morph)
        self._skin = _Body(self, shape)
        self._stored: dict[int, tuple[weakref.ref[Any], _Body]] = {}  # by the id of the vertex animation

    def make_palette(self) -> PaletteTransport:
        """New storage for a palette of the model."""
        return make_transport(self.uploads, self._geometry.slots, self._transport)

    def vertex_array(
        self, program: moderngl.Program, shape: Shape, *, indexed: bool = True
    ) -> moderngl.VertexArray:
        """The mesh as the inputs of a program."""
        used = set(program)
        layout, names = self._geometry.layout(used)
        content: list[Any] = [attribute for attribute in shape.attributes if attribute[2] in used]
        if names:  # the positions of stored frames need none
            content.append((self._vertices, layout, *names))
        return self._context.vertex_array(program, content, self._faces if indexed else None)

    @property
    def vertex_defines(self) -> dict[str, int | str]:
        """Macros that say what is in a vertex."""
        return {"INFLUENCES": self._geometry.influences, "HAS_COLOR": int(self._geometry.has_color)}

    def draw(
        self,
        figure: Figure,
        view: View,
        framebuffer: moderngl.Framebuffer,
        texturing: Texturing = PLAIN,
        ground: Callable[[], None] | None = None,
    ) -> None:
        """Draw the mesh: opaque faces, the ground, then blended faces, the farthest first."""
        body = self._body(figure)
        program, array = body.drawing()
        view.set_uniforms(program)
        program["base_texture"] = _TEXTURE_UNIT
        self._context.enable_only(moderngl.DEPTH_TEST)
        for draw in self._geometry.draws:
            if draw.blended is None:
                self._draw_faces(array, draw, texturing, _BOTH_SIDES)
        blended = [draw for draw in self._geometry.draws if draw.blended is not None]
        if ground is not None:
            ground()
        if blended:
            begin_blending(self._context, framebuffer)
            # The farthest first; within a double-sided one, what faces away lies behind what faces us.
            for draw in sorted(blended, key=lambda draw: view.nearness(_center(draw, figure))):
                self._draw_faces(array, draw, texturing, _BACK_FACES)
                self._draw_faces(array, draw, texturing, _FRONT_FACES)
            framebuffer.depth_mask = True

    def _draw_faces(self, array: moderngl.VertexArray, draw: Draw, texturing: Texturing, layer: int) -> None:
        if not draw.face_count:
            return
        image = draw.surface.image
        texture = self._white if image is None else self._textures[image]
        transform, wrap = texturing.of(draw.surface)
        set_wrap(array.program, texture, wrap)
        texture.use(_TEXTURE_UNIT)
        array.program["uv_transform"] = transform
        set_surface(array.program, draw.surface, layer)
        array.render(moderngl.TRIANGLES, draw.face_count * 3, first=draw.first_face * 3)

    def skinned_vertices(self, figure: Figure) -> NDArray[np.float32]:
        """What the vertex shader makes of each vertex: (V, 6) float32, position and normal."""
        context, count = self._context, len(self._geometry.vertices)
        result = context.buffer(reserve=count * _FEEDBACK_FLOATS * 4)
        # Transform feedback captures nothing, without an error, unless a complete framebuffer is bound.
        framebuffer = context.simple_framebuffer((1, 1))
        framebuffer.use()
        self._body(figure).feedback(self).transform(result, moderngl.POINTS, count)
        return np.frombuffer(result.read(), np.float32).reshape(count, _FEEDBACK_FLOATS)

    def _body(self, figure: Figure) -> _Body:
        """The mesh in the shape and pose of the figure, what it takes being sent."""
        if isinstance(figure, Stored):
            body = self._frames(figure)
            assert isinstance(body.shape, FrameShape)
            body.shape.choose(figure.first, figure.second, figure.blend)
            return body
        self._skin.palette.write(figure.numbers)
        if isinstance(self._skin.shape, MorphShape):
            self._skin.shape.write(figure.weights)
        return self._skin

    def _frames(self, figure: Stored) -> _Body:
        """The vertex animation on the GPU: sent when it is first drawn, freed when nobody has it any more."""
        key = id(figure.animation)
        if key not in self._stored or self._stored[key][0]() is not figure.animation:  # ids are used again
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
    """The mesh of a scene in one shape, and the palette that poses it."""

    def __init__(self, scene: MeshScene, shape: Shape) -> None:
        self.shape = shape
        self.palette = scene.make_palette()
        self._context = scene.uploads.context
        self._defines = {**self.palette.defines, **shape.defines, **scene.vertex_defines}
        self._program = programs(self._context).get("skin.vert", "lit.frag", defines=self._defines)
        self._array = scene.vertex_array(self._program, shape)

    def bind(self, program: moderngl.Program) -> None:
        """Make a program read the shape and the palette."""
        self.palette.bind(program)
        self.shape.bind(program)

    def drawing(self) -> tuple[moderngl.Program, moderngl.VertexArray]:
        """The program that draws it, bound, and its inputs."""
        self.bind(self._program)
        return self._program, self._array

    def feedback(self, scene: MeshScene) -> moderngl.VertexArray:
        """The inputs of the program, bound, whose outputs transform feedback captures."""
        varyings = ("v_position", "v_normal")
        program = programs(self._context).get("skin.vert", defines=self._defines, varyings=varyings)
        self.bind(program)
        return scene.vertex_array(program, self.shape, indexed=False)


def _center(draw: Draw, figure: Figure) -> NDArray[np.float64]:
    """The center (3,) of a blended draw's vertices, in scene space; morph targets hardly move it."""
    assert draw.blended is not None
    if isinstance(figure, Posed):
        return draw.blended.posed_center(figure.numbers)
    return draw.blended.stored_center(figure.positions[figure.first])


def begin_blending(context: moderngl.Context, framebuffer: moderngl.Framebuffer) -> None:
    """Lay what follows over what is there, tested against its depth but adding none of its own."""
    context.enable(moderngl.BLEND)
    context.blend_func = (moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA)  # premultiplied
    framebuffer.depth_mask = False


def set_surface(program: moderngl.Program, surface: Surface, layer: int = _BOTH_SIDES) -> None:
    """Set a surface in a program of lit.frag; `layer` limits it to one side of the faces."""
    program["base_color"] = surface.base_color
    program["alpha_mode"] = _ALPHA_MODES[surface.alpha]
    program["alpha_cutoff"] = surface.alpha_cutoff
    program["double_sided"] = surface.double_sided
    program["layer"] = layer


def white_texture(uploads: Uploads) -> moderngl.Texture:
    """One white texel, for surfaces without an image."""
    return uploads.texture((1, 1), 4, np.full((1, 1, 4), 255, np.uint8))


def upload_image(
    uploads: Uploads, image: NDArray[np.uint8], anisotropy: float = _ANISOTROPY
) -> moderngl.Texture:
    """A mipmapped texture of an sRGB image (h, w, 4), row 0 on top.

    Row 0 becomes v = 0: texture coordinates start at the top left, as in glTF. An image larger than the
    context's textures may be loses rows and columns evenly.
    """
    context = uploads.context
    step = -(-max(image.shape[:2]) // int(context.info["GL_MAX_TEXTURE_SIZE"]))
    image = np.ascontiguousarray(image[::step, ::step])
    height, width = image.shape[:2]
    texture = uploads.texture((width, height), 4, image, internal_format=_SRGB8_ALPHA8)
    texture.build_mipmaps()
    texture.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
    texture.anisotropy = min(anisotropy, float(context.max_anisotropy))
    return texture
