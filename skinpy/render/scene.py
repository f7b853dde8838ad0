"""The GPU's copy of one model, in one context: uploaded once, posed and drawn every frame."""

from __future__ import annotations

from typing import Protocol

import moderngl
import numpy as np
from numpy.typing import NDArray

from .geometry import Draw, Geometry, Surface
from .palette import make_transport
from .shader import programs
from .view import View

_TEXTURE_UNIT = 0
_SRGB8_ALPHA8 = 0x8C43  # OpenGL's name for textures that the sampler decodes to linear light
_ALPHA_MODES = {"opaque": 0, "mask": 1, "blend": 2}
_BOTH_SIDES, _BACK_FACES, _FRONT_FACES = range(3)  # `layer` of lit.frag
_ANISOTROPY = 8.0
_FEEDBACK_FLOATS = 6  # position and normal


class Scene(Protocol):
    """What the renderer draws: a mesh, or the skeleton of a model without one."""

    def draw(self, pose: NDArray[np.float32], view: View, framebuffer: moderngl.Framebuffer) -> None:
        """Draw into the bound framebuffer. `pose` is the palette (S, 3, 4), or joint positions (J, 3)."""


class MeshScene:
    """A model's mesh: vertices, faces and textures on the GPU, and storage for the palette.

    All calls belong on the context's thread. It keeps no reference to the model.
    """

    def __init__(self, context: moderngl.Context, geometry: Geometry, transport: str) -> None:
        self._context = context
        self._geometry = geometry
        self._palette = make_transport(context, geometry.slots, transport)
        self._defines: dict[str, int | str] = {
            **self._palette.defines,
            "INFLUENCES": geometry.influences,
            "HAS_COLOR": int(geometry.has_color),
        }
        self._vertices = context.buffer(geometry.vertices.view(np.uint8))
        self._faces = context.buffer(geometry.faces) if len(geometry.faces) else None
        self._textures = [upload_image(context, image) for image in geometry.images]
        self._white = white_texture(context)
        self._program = programs(context).get("skin.vert", "lit.frag", defines=self._defines)
        self._array = self._vertex_array(self._program, self._faces)

    def _vertex_array(self, program: moderngl.Program, faces: moderngl.Buffer | None) -> moderngl.VertexArray:
        layout, names = self._geometry.layout(set(program))
        return self._context.vertex_array(program, [(self._vertices, layout, *names)], faces)

    def draw(self, pose: NDArray[np.float32], view: View, framebuffer: moderngl.Framebuffer) -> None:
        """Draw the mesh with the palette `pose`, (S, 3, 4) float32 C-contiguous: opaque, then blended."""
        if self._faces is None:
            return
        self._palette.write(pose)
        self._palette.bind(self._program)
        view.set_uniforms(self._program)
        self._program["base_texture"] = _TEXTURE_UNIT
        opaque = [draw for draw in self._geometry.draws if draw.moments is None]
        blended = [draw for draw in self._geometry.draws if draw.moments is not None]
        self._context.enable_only(moderngl.DEPTH_TEST)
        for draw in opaque:
            self._draw_faces(draw, _BOTH_SIDES)
        if blended:
            self._context.enable(moderngl.BLEND)
            self._context.blend_func = (moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA)  # premultiplied
            framebuffer.depth_mask = False
            # The farthest first; within a double-sided one, what faces away lies behind what faces us.
            for draw in sorted(blended, key=lambda draw: view.nearness(draw.center(pose))):
                self._draw_faces(draw, _BACK_FACES)
                self._draw_faces(draw, _FRONT_FACES)
            framebuffer.depth_mask = True

    def _draw_faces(self, draw: Draw, layer: int) -> None:
        if not draw.face_count:
            return
        image = draw.surface.image
        (self._white if image is None else self._textures[image]).use(_TEXTURE_UNIT)
        set_surface(self._program, draw.surface, layer)
        self._array.render(moderngl.TRIANGLES, draw.face_count * 3, first=draw.first_face * 3)

    def skinned_vertices(self, palette: NDArray[np.float32]) -> NDArray[np.float32]:
        """What the vertex shader makes of each vertex: (V, 6) float32, position and normal."""
        context, count = self._context, len(self._geometry.vertices)
        program = programs(context).get(
            "skin.vert", defines=self._defines, varyings=("v_position", "v_normal")
        )
        result = context.buffer(reserve=count * _FEEDBACK_FLOATS * 4)
        # Transform feedback captures nothing, without an error, unless a complete framebuffer is bound.
        framebuffer = context.simple_framebuffer((1, 1))
        framebuffer.use()
        self._palette.write(palette)
        self._palette.bind(program)
        self._vertex_array(program, None).transform(result, moderngl.POINTS, count)
        return np.frombuffer(result.read(), np.float32).reshape(count, _FEEDBACK_FLOATS)


def set_surface(program: moderngl.Program, surface: Surface, layer: int = _BOTH_SIDES) -> None:
    """Set a surface in a program of lit.frag; `layer` limits it to one side of the faces."""
    program["base_color"] = surface.base_color
    program["alpha_mode"] = _ALPHA_MODES[surface.alpha]
    program["alpha_cutoff"] = surface.alpha_cutoff
    program["double_sided"] = surface.double_sided
    program["layer"] = layer


def white_texture(context: moderngl.Context) -> moderngl.Texture:
    """One white texel, for surfaces without an image."""
    return context.texture((1, 1), 4, b"\xff" * 4)


def upload_image(context: moderngl.Context, image: NDArray[np.uint8]) -> moderngl.Texture:
    """A repeating, mipmapped texture of an sRGB image (h, w, 4), row 0 on top.

    Row 0 becomes v = 0: texture coordinates start at the top left, as in glTF. An image larger than the
    context's textures may be loses rows and columns evenly.
    """
    step = -(-max(image.shape[:2]) // int(context.info["GL_MAX_TEXTURE_SIZE"]))
    image = np.ascontiguousarray(image[::step, ::step])
    height, width = image.shape[:2]
    texture = context.texture((width, height), 4, image, internal_format=_SRGB8_ALPHA8)
    texture.build_mipmaps()
    texture.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
    texture.anisotropy = min(_ANISOTROPY, float(context.max_anisotropy))
    return texture
