"""How the palettes of a crowd reach the vertex shader: all of them each frame, or from a baked texture.

The classes are palette transports like those of scene/palette.py, for many instances in one draw call. Each
has an include file in shaders/, and each is written once per frame, in one piece.
"""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from skinpy.errors import GraphicsError
from skinpy.kinds.baking import INSTANCE, BakedTexture

from ..gpu.uploads import Uploads, table_limits
from ..scene.mesh import Attributes

_TEXTURE_UNIT = 1
# Powers of two, so that the shader divides by shifting. 256 slots are 768 texels, within the width of every
# OpenGL 3.3 texture; 4,096 are 12,288 texels, for larger crowds, which most implementations have.
_SLOTS_PER_ROW = (256, 4096)


class Staging:
    """Memory for the palettes of a crowd in whole rows of the texture, so that a frame is one write."""

    def __init__(self, instances: int, slots: int, limit: int) -> None:
        """`limit` is the largest side of a texture in texels. Raises GraphicsError if that is too little."""
        count = instances * slots
        for per_row in _SLOTS_PER_ROW:
            rows = -(-count // per_row)
            if 3 * per_row <= limit and rows <= limit:
                break
        else:
            room = max((n * limit for n in _SLOTS_PER_ROW if 3 * n <= limit), default=0)
            raise GraphicsError(
                f"the palettes of {instances} instances take {count} slots of a float texture; this OpenGL "
                f"has room for {room} (GL_MAX_TEXTURE_SIZE {limit}). A baked texture has no such limit"
            )
        self.per_row, self.rows = per_row, rows
        self.texels = np.zeros((rows * per_row, 3, 4), np.float32)
        self.palettes = self.texels[:count].reshape(instances, slots, 3, 4)


class InstancePalettes:
    """One palette per instance, each frame: 48 bytes per instance and slot."""

    def __init__(self, uploads: Uploads, staging: Staging) -> None:
        self._uploads = uploads
        self._slots = staging.palettes.shape[1]
        self.defines: dict[str, int | str] = {
            "PALETTE": "palette_instances.glsl",
            "PALETTE_SLOTS_PER_ROW": staging.per_row,
        }
        self.attributes: list[Attributes] = []
        self._texture = uploads.context.texture((staging.per_row * 3, staging.rows), 4, dtype="f4")
        self._texture.filter = (moderngl.NEAREST, moderngl.NEAREST)

    def write(self, texels: NDArray[Any]) -> None:
        """Send the frame's palettes, `Staging.texels`."""
        self._uploads.fill(self._texture, texels)

    def bind(self, program: moderngl.Program) -> None:
        """Make `program` read these palettes."""
        program["palette_texture"] = _TEXTURE_UNIT
        program["palette_slots"] = self._slots
        self._texture.use(_TEXTURE_UNIT)


class BakedPalettes:
    """A baked texture, which is sent once, and 16 bytes per instance each frame."""

    def __init__(self, uploads: Uploads, baked: BakedTexture, instances: int) -> None:
        """Raises GraphicsError if the texture is larger than the context allows."""
        limit = table_limits(uploads.context)[0]
        height, width = baked.data.shape[:2]
        if max(width, height) > limit:
            raise GraphicsError(
                f"the baked texture is {width} x {height} texels; this OpenGL has room for {limit} x {limit} "
                f"(GL_MAX_TEXTURE_SIZE {limit}). Expected one of bake_texture(limit={limit})"
            )
        self._uploads = uploads
        self._slots = baked.slots
        self.defines: dict[str, int | str] = {"PALETTE": "palette_baked.glsl"}
        dtype = "f4" if baked.data.dtype == np.float32 else "f2"
        self._texture = uploads.texture((width, height), 4, baked.data, dtype=dtype)
        self._texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
        self._instances = uploads.context.buffer(reserve=instances * INSTANCE.itemsize, dynamic=True)
        self.attributes: list[Attributes] = [(self._instances, "3u4 1f/i", "in_clip", "in_blend")]

    def write(self, instances: NDArray[Any]) -> None:
        """Send the instances of a frame, from `BakedTexture.instances`."""
        self._uploads.refill(self._instances, instances)

    def bind(self, program: moderngl.Program) -> None:
        """Make `program` read the texture."""
        program["baked_texture"] = _TEXTURE_UNIT
        program["baked_slots"] = self._slots
        self._texture.use(_TEXTURE_UNIT)
