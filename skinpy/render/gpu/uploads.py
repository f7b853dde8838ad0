"""Uploads to the GPU: all buffers and textures of a renderer are filled here, and their bytes counted."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from skinpy.errors import GraphicsError

_INT_MAX = 2**31 - 1  # shaders count texels in signed 32-bit numbers


class Uploads:
    """Makes and fills the buffers and textures of one renderer in one context.

    `total` is the number of bytes sent so far. All calls belong on the context's thread.
    """

    def __init__(self, context: moderngl.Context) -> None:
        self.context = context
        self.total = 0

    def buffer(self, data: NDArray[Any]) -> moderngl.Buffer:
        """A buffer that holds `data`, C-contiguous."""
        self.total += data.nbytes
        return self.context.buffer(data.view(np.uint8))

    def refill(self, buffer: moderngl.Buffer, data: NDArray[Any]) -> None:
        """Write the start of a buffer again.

        The old storage is given up first ("orphaned"), so that the driver need not wait until the frame
        before is drawn.
        """
        self.total += data.nbytes
        buffer.orphan()
        buffer.write(data)

    def texture(
        self, size: tuple[int, int], components: int, data: NDArray[Any], **options: Any
    ) -> moderngl.Texture:
        """A texture that holds `data`, (h, w, components); `options` are moderngl's."""
        self.total += data.nbytes
        return self.context.texture(size, components, data, **options)

    def fill(
        self,
        texture: moderngl.Texture | moderngl.TextureArray,
        data: NDArray[Any],
        viewport: Any = None,
    ) -> None:
        """Write a texture, or the region `viewport` of it: its first texel, then its size."""
        self.total += data.nbytes
        texture.write(data, viewport)


def table_limits(context: moderngl.Context) -> tuple[int, int]:
    """Largest width or height, and largest number of layers, that the context allows a `TexelTable`."""
    info = context.info
    return int(info["GL_MAX_TEXTURE_SIZE"]), int(info["GL_MAX_ARRAY_TEXTURE_LAYERS"])


class TexelTable:
    """A long list of float32 texels for texel_table.glsl, with one to four components each.

    Its rows are as wide as the context allows, and fill as many layers as they need: the list may be longer
    than a single texture.
    """

    def __init__(self, uploads: Uploads, texels: NDArray[np.float32], what: str) -> None:
        """`texels` are (N, C) float32, C-contiguous; `what` names them in messages.

        Raises GraphicsError if they are more than the textures of the context hold.
        """
        self._uploads = uploads
        count, components = texels.shape
        self._size = _table_size(uploads.context, count, what)
        self._texture = uploads.context.texture_array(self._size, components, dtype="f4")
        self._texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
        self.write(texels)

    def write(self, texels: NDArray[np.float32]) -> None:
        """Replace the texels by as many others, (N, C) float32 and C-contiguous."""
        width, height, layers = self._size
        for layer in range(layers):
            content = texels[layer * width * height : (layer + 1) * width * height]
            rows = len(content) // width
            if rows:
                self._uploads.fill(self._texture, content[: rows * width], (0, 0, layer, width, rows, 1))
            rest = content[rows * width :]
            if len(rest):
                self._uploads.fill(self._texture, rest, (0, rows, layer, len(rest), 1, 1))

    def bind(self, program: moderngl.Program, name: str, unit: int) -> None:
        """Make the sampler `name` of `program`, if there is one, read this table through a texture unit."""
        if program.get(name, None) is not None:
            program[name] = unit
        self._texture.use(unit)


def _table_size(context: moderngl.Context, count: int, what: str) -> tuple[int, int, int]:
    """Width, height and layers for `count` texels, at least one."""
    side, max_layers = table_limits(context)
    width = min(max(count, 1), side)
    rows = -(-max(count, 1) // width)
    layers = -(-rows // side)
    if layers > max_layers or count > _INT_MAX:
        room = min(side * side * max_layers, _INT_MAX)
        raise GraphicsError(
            f"{what} take {count} texels of a float texture; this OpenGL has room for {room} "
            f"(GL_MAX_TEXTURE_SIZE {side}, GL_MAX_ARRAY_TEXTURE_LAYERS {max_layers})"
        )
    return width, -(-rows // layers), layers
