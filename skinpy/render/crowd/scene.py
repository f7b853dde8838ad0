"""The GPU's copy of a crowd: one mesh, a placement for each instance, and the palettes of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from skinpy.kinds.baking import BakedTexture

from ..gpu.shader import programs
from ..gpu.uploads import Uploads
from ..scene.geometry import Geometry
from ..scene.mesh import (
    BACK_FACES,
    FEEDBACK,
    FRONT_FACES,
    Attributes,
    MeshBuffers,
    begin_blending,
    feedback_vertices,
)
from ..scene.paint import Paint, Prepare
from ..scene.shape import MorphShape, StillShape
from ..scene.texturing import Texturing
from ..scene.view import View
from .instances import BakedPalettes, InstancePalettes, Staging


class CrowdScene:
    """Many instances of a model's mesh; each surface of all of them is one draw call.

    All calls belong on the context's thread. It keeps no reference to the model.
    """

    def __init__(
        self,
        context: moderngl.Context,
        geometry: Geometry,
        placements: NDArray[np.float32],
        source: BakedTexture | Staging,
        morph_weights: NDArray[np.float32],
    ) -> None:
        """`placements` are (N, 3, 4); `morph_weights` (M,) are those of all instances."""
        self._context = context
        self.uploads = uploads = Uploads(context)
        self._geometry = geometry
        self._count = len(placements)
        self._mesh = MeshBuffers(uploads, geometry)
        if geometry.morph is None:
            self._shape: StillShape | MorphShape = StillShape()
        else:
            self._shape = MorphShape(uploads, geometry.morph)
            self._shape.write(morph_weights)
        self._palettes: BakedPalettes | InstancePalettes
        if isinstance(source, BakedTexture):
            self._palettes = BakedPalettes(uploads, source, self._count)
        else:
            self._palettes = InstancePalettes(uploads, source)
        self._placements = uploads.buffer(placements)
        self._defines = {
            **self._palettes.defines,
            **self._shape.defines,
            **self._mesh.defines(instanced=True),
        }
        self._program = programs(context).get("skin.vert", "lit.frag", defines=self._defines)
        self._array = self._mesh.vertex_array(self._program, self._attributes)

    @property
    def _attributes(self) -> list[Attributes]:
        placements: Attributes = (
            self._placements,
            "4f 4f 4f/i",
            "in_placement0",
            "in_placement1",
            "in_placement2",
        )
        return [*self._shape.attributes, *self._palettes.attributes, placements]

    def place(self, placements: NDArray[np.float32]) -> None:
        """Replace the placements, (N, 3, 4) of as many instances."""
        self.uploads.refill(self._placements, placements)

    def pose(self, numbers: NDArray[Any]) -> None:
        """Pose the instances: `numbers` are `Staging.texels`, or those of `BakedTexture.instances`."""
        self._palettes.write(numbers)

    def stamp(self, paint: Paint, prepare: Prepare) -> None:
        """Draw all faces of all instances in one call by other shaders, with the state of OpenGL as it is."""
        if not len(self._geometry.faces):
            return
        defines = {**self._defines, **paint.defines}
        program = programs(self._context).get("skin.vert", paint.fragment, defines=defines)
        self._bind(program)
        prepare(program)
        array = self._mesh.vertex_array(program, self._attributes)
        array.render(moderngl.TRIANGLES, instances=self._count)

    def draw(
        self,
        view: View,
        framebuffer: moderngl.Framebuffer,
        texturing: Texturing,
        ground: Callable[[], None] | None = None,
    ) -> None:
        """Draw the crowd into the bound framebuffer: opaque faces, the ground, then blended faces."""
        self._bind(self._program)
        view.set_uniforms(self._program)
        self._mesh.begin(self._program)
        for draw in self._geometry.draws:
            if draw.blended is None:
                self._mesh.draw_faces(self._array, draw, texturing, instances=self._count)
        if ground is not None:
            ground()
        blended = [draw for draw in self._geometry.draws if draw.blended is not None]
        if blended:
            begin_blending(self._context, framebuffer)
            for draw in blended:
                self._mesh.draw_faces(self._array, draw, texturing, BACK_FACES, self._count)
                self._mesh.draw_faces(self._array, draw, texturing, FRONT_FACES, self._count)
            framebuffer.depth_mask = True

    def skinned_vertices(self, numbers: NDArray[Any]) -> NDArray[np.float32]:
        """The output of the vertex shader for each vertex: (N, V, 6) float32, position and normal."""
        self.pose(numbers)
        program = programs(self._context).get("skin.vert", defines=self._defines, varyings=FEEDBACK)
        self._bind(program)
        array = self._mesh.vertex_array(program, self._attributes, of="vertices")
        return feedback_vertices(array, len(self._geometry.vertices), self._count)

    def _bind(self, program: moderngl.Program) -> None:
        self._palettes.bind(program)
        self._shape.bind(program)
