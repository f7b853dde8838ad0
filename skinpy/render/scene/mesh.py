"""A mesh on the GPU: vertices, faces and textures, and the drawing of one surface."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal, TypeAlias

import moderngl
import numpy as np
from numpy.typing import NDArray

from ..gpu.uploads import Uploads
from .geometry import Draw, Geometry, Surface, face_edges
from .texturing import Texturing, set_wrap

_TEXTURE_UNIT = 0
_SRGB8_ALPHA8 = 0x8C43  # OpenGL's format of textures that the sampler decodes to linear light
_ALPHA_MODES = {"opaque": 0, "mask": 1, "solid": 1, "blend": 2}  # "solid": a blended one that is cut
_ANISOTROPY = 8.0
_FILTERS = {
    "nearest": moderngl.NEAREST,
    "linear": moderngl.LINEAR,
    "nearest_mipmap_nearest": moderngl.NEAREST_MIPMAP_NEAREST,
    "linear_mipmap_nearest": moderngl.LINEAR_MIPMAP_NEAREST,
    "nearest_mipmap_linear": moderngl.NEAREST_MIPMAP_LINEAR,
    "linear_mipmap_linear": moderngl.LINEAR_MIPMAP_LINEAR,
}

FEEDBACK = ("v_position", "v_normal")  # varyings of skin.vert that transform feedback captures
_FEEDBACK_FLOATS = 6

BOTH_SIDES, BACK_FACES, FRONT_FACES = range(3)  # `layer` of lit.frag

# Buffer, moderngl's format, and the names of the attributes.
Attributes: TypeAlias = tuple[moderngl.Buffer, str, *tuple[str, ...]]
Elements: TypeAlias = Literal["faces", "edges", "vertices"]


class MeshBuffers:
    """A model's vertices, faces and textures in one context. All calls belong on the context's thread."""

    def __init__(self, uploads: Uploads, geometry: Geometry) -> None:
        self._context = uploads.context
        self._uploads = uploads
        self._geometry = geometry
        self._vertices = uploads.buffer(geometry.vertices)
        self._faces = uploads.buffer(geometry.faces) if len(geometry.faces) else None
        self._textures = [upload_image(uploads, image) for image in geometry.images]
        self._white = white_texture(uploads)

    def defines(self, instanced: bool) -> dict[str, int | str]:
        """Macros for the vertex shader: the contents of a vertex, and whether instances have placements."""
        return {
            "INFLUENCES": self._geometry.influences,
            "HAS_COLOR": int(self._geometry.has_color),
            "INSTANCED": int(instanced),
        }

    def vertex_array(
        self, program: moderngl.Program, attributes: Iterable[Attributes], *, of: Elements = "faces"
    ) -> moderngl.VertexArray:
        """The mesh and further attributes as the inputs of a program, which need not use all of them."""
        used = set(program)
        layout, names = self._geometry.layout(used)
        content: list[Any] = [entry for entry in attributes if used.issuperset(entry[2:])]
        if names:  # the positions of stored frames need none
            content.append((self._vertices, layout, *names))
        elements = {"faces": self._faces, "edges": self._edges if of == "edges" else None, "vertices": None}
        return self._context.vertex_array(program, content, elements[of])

    @cached_property
    def _edge_lists(self) -> list[NDArray[np.uint32]]:
        """The vertices at both ends of each edge; where clips show and hide faces, by draw."""
        faces = self._geometry.faces
        if not self._geometry.changes:
            return [face_edges(faces)]
        return [
            face_edges(faces[draw.first_face : draw.first_face + draw.face_count])
            for draw in self._geometry.draws
        ]

    @cached_property
    def _edges(self) -> moderngl.Buffer | None:
        """The edges, sent when first drawn. Faces share the entry of an edge."""
        return self._uploads.buffer(np.concatenate(self._edge_lists)) if len(self._geometry.faces) else None

    def render(self, array: moderngl.VertexArray, of: Elements, shown: NDArray[np.bool_] | None) -> None:
        """Draw all faces, edges or vertices that `shown` (see `Posed`) does not hide, with one look."""
        geometry = self._geometry
        if of == "vertices":
            for some in geometry.drawn_ranges(shown):
                array.render(moderngl.POINTS, len(some), first=some.start)
        elif len(geometry.faces):
            mode, corners = (moderngl.LINES, 2) if of == "edges" else (moderngl.TRIANGLES, 3)
            if not geometry.changes:
                array.render(mode)
                return
            counts = [len(one) for one in self._edge_lists] if of == "edges" else geometry.face_counts
            starts = np.cumsum([0, *counts]).tolist()
            for draw, first, count in zip(geometry.draws, starts, counts, strict=False):
                if count and draw.is_shown(shown):
                    array.render(mode, corners * count, first=corners * first)

    def begin(self, program: moderngl.Program) -> None:
        """Prepare to draw opaque faces with a program of lit.frag."""
        program["base_texture"] = _TEXTURE_UNIT
        self._context.enable_only(moderngl.DEPTH_TEST)

    def draw_faces(
        self,
        array: moderngl.VertexArray,
        draw: Draw,
        texturing: Texturing,
        layer: int = BOTH_SIDES,
        instances: int = 1,
    ) -> None:
        """Draw the faces of one surface with one call. `layer` limits it to one side of them."""
        if not draw.face_count:
            return
        surface = texturing.look(draw.surface)
        texture = self._white if surface.image is None else self._textures[surface.image]
        transform, wrap = texturing.of(surface)
        set_wrap(array.program, texture, wrap)
        if surface.image is not None:
            set_filters(texture, surface.filters)
        texture.use(_TEXTURE_UNIT)
        array.program["uv_transform"] = transform
        set_surface(array.program, surface, layer)
        array.render(moderngl.TRIANGLES, draw.face_count * 3, first=draw.first_face * 3, instances=instances)


def feedback_vertices(array: moderngl.VertexArray, vertices: int, instances: int) -> NDArray[np.float32]:
    """The outputs FEEDBACK of a program for each vertex: (N, V, 6) float32, position and normal."""
    context, count = array.ctx, instances * vertices
    result = context.buffer(reserve=count * _FEEDBACK_FLOATS * 4)
    # Unless a complete framebuffer is bound, transform feedback captures nothing and reports no error.
    framebuffer = context.simple_framebuffer((1, 1))
    framebuffer.use()
    array.transform(result, moderngl.POINTS, vertices, instances=instances)
    return np.frombuffer(result.read(), np.float32).reshape(instances, vertices, _FEEDBACK_FLOATS)


def begin_blending(context: moderngl.Context, framebuffer: moderngl.Framebuffer) -> None:
    """Composite what is drawn next over the frame, with a test of its depth but without writing depth."""
    context.enable(moderngl.BLEND)
    context.blend_func = (moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA)  # premultiplied
    framebuffer.depth_mask = False


def set_surface(program: moderngl.Program, surface: Surface, layer: int = BOTH_SIDES) -> None:
    """Set the uniforms of a surface in a program of lit.frag. `layer` limits it to one side of the faces."""
    program["base_color"] = surface.base_color
    program["alpha_mode"] = _ALPHA_MODES[surface.alpha]
    program["alpha_cutoff"] = surface.alpha_cutoff
    program["double_sided"] = surface.double_sided
    program["layer"] = layer


def set_filters(texture: moderngl.Texture, filters: tuple[str | None, str | None]) -> None:
    """Set how an image is drawn smaller and larger; None leaves the choice to skinpy, which smooths."""
    smaller, larger = filters
    texture.filter = (_FILTERS[smaller or "linear_mipmap_linear"], _FILTERS[larger or "linear"])
    # Anisotropy would smooth what is to stay sharp; and Mesa's software renderer (22.3) ends the process
    # where it meets "nearest" without mipmaps.
    sharp = larger == "nearest" or (smaller or "").startswith("nearest")
    texture.anisotropy = 1.0 if sharp else min(_ANISOTROPY, texture.ctx.max_anisotropy)


def white_texture(uploads: Uploads) -> moderngl.Texture:
    """One white texel, for surfaces without an image."""
    return uploads.texture((1, 1), 4, np.full((1, 1, 4), 255, np.uint8))


def upload_image(
    uploads: Uploads, image: NDArray[np.uint8], anisotropy: float = _ANISOTROPY
) -> moderngl.Texture:
    """A mipmapped texture of an sRGB image (h, w, 4), row 0 on top.

    Row 0 becomes v = 0: texture coordinates start at the top left, as in glTF. An image that is larger than
    the context allows loses rows and columns evenly.
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
