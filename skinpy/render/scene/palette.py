"""Palette transports: how a palette reaches the vertex shader.

Each class has an include file in shaders/. Both take the palette as (S, 3, 4) float32, row-major: three vec4
per slot. It is written once per frame.
"""

from __future__ import annotations

from typing import Protocol

import moderngl
import numpy as np
from numpy.typing import NDArray

from ..._arguments import one_of
from ..gpu.uploads import Uploads

_SLOT_BYTES = 48  # three vec4
# Uniform blocks are given at least 16 kB by OpenGL 3.3; drivers that allow more than this gain nothing.
_UNIFORM_BYTES = 65536
# 256 * 3 texels: within the 1024 that every OpenGL 3.3 texture may be wide.
_SLOTS_PER_ROW = 256
_TEXTURE_UNIT = 1
_UNIFORM_BINDING = 0

TRANSPORTS = ("auto", "uniform", "texture")


class PaletteTransport(Protocol):
    """Storage for the palette of one model in one context. All calls belong on the context's thread."""

    @property
    def defines(self) -> dict[str, int | str]:
        """Macros for the vertex shader: PALETTE (the include file), and the macros of that file."""

    def write(self, palette: NDArray[np.float32]) -> None:
        """Send the frame's palette, (S, 3, 4) float32 and C-contiguous."""

    def bind(self, program: moderngl.Program) -> None:
        """Make `program` read this palette, if it reads any."""


class UniformPalette:
    """The palette as a uniform block: the fastest transport, for up to GL_MAX_UNIFORM_BLOCK_SIZE bytes."""

    def __init__(self, uploads: Uploads, slots: int) -> None:
        self._uploads = uploads
        size = self._block_size(uploads.context)
        self.defines: dict[str, int | str] = {
            "PALETTE": "palette_uniform.glsl",
            "PALETTE_ROWS": size // 16,
        }
        # As large as the declared block: reading a block from a smaller buffer is undefined.
        self._buffer = uploads.context.buffer(reserve=size, dynamic=True)

    @staticmethod
    def _block_size(context: moderngl.Context) -> int:
        limit = min(int(context.info["GL_MAX_UNIFORM_BLOCK_SIZE"]), _UNIFORM_BYTES)
        return limit // _SLOT_BYTES * _SLOT_BYTES

    @classmethod
    def capacity(cls, context: moderngl.Context) -> int:
        """Slots that fit into a uniform block of the context."""
        return cls._block_size(context) // _SLOT_BYTES

    def write(self, palette: NDArray[np.float32]) -> None:
        self._uploads.refill(self._buffer, palette)

    def bind(self, program: moderngl.Program) -> None:
        block = program.get("Palette", None)
        if isinstance(block, moderngl.UniformBlock):
            block.binding = _UNIFORM_BINDING
        self._buffer.bind_to_uniform_block(_UNIFORM_BINDING)


class TexturePalette:
    """The palette as an RGBA32F texture: any number of slots."""

    def __init__(self, uploads: Uploads, slots: int) -> None:
        self._uploads = uploads
        self.defines: dict[str, int | str] = {
            "PALETTE": "palette_texture.glsl",
            "PALETTE_SLOTS_PER_ROW": _SLOTS_PER_ROW,
        }
        rows = -(-slots // _SLOTS_PER_ROW)
        # Whole rows, so that a frame is one write; the shader never reads beyond the last slot.
        self._staging = np.zeros((rows * _SLOTS_PER_ROW, 3, 4), np.float32)
        self._texture = uploads.context.texture((_SLOTS_PER_ROW * 3, rows), 4, dtype="f4")
        self._texture.filter = (moderngl.NEAREST, moderngl.NEAREST)

    def write(self, palette: NDArray[np.float32]) -> None:
        self._staging[: len(palette)] = palette
        self._uploads.fill(self._texture, self._staging)

    def bind(self, program: moderngl.Program) -> None:
        if program.get("palette_texture", None) is not None:
            program["palette_texture"] = _TEXTURE_UNIT
        self._texture.use(_TEXTURE_UNIT)


def check_transport(transport: str) -> None:
    """Raise ValueError unless `transport` is one of TRANSPORTS."""
    one_of("transport", transport, TRANSPORTS)


def make_transport(uploads: Uploads, slots: int, transport: str) -> PaletteTransport:
    """The transport for a palette of `slots` slots, at least one.

    "auto" is the uniform block if that is large enough, else the texture. Raises ValueError for an unknown
    name, and for "uniform" if the block is too small.
    """
    check_transport(transport)
    capacity = UniformPalette.capacity(uploads.context)
    if transport == "texture" or (transport == "auto" and slots > capacity):
        return TexturePalette(uploads, slots)
    if slots > capacity:
        raise ValueError(
            f"transport is 'uniform', which holds {capacity} palette slots here; the model has {slots}. "
            "Expected 'auto' or 'texture'"
        )
    return UniformPalette(uploads, slots)
